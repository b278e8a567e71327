// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a memory_store is made of: tables, their partitions, and the hash of all partitions.

#include <entitable/backends/detail/entry_tree.hpp>
#include <entitable/backends/detail/rw_lock.hpp>
#include <entitable/core/shared.hpp>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table, and the directory of its partitions that hold rows. A lookup of one partition does not come here.
struct memory_table : counted {
    memory_table(std::string_view table_key, std::string_view name) : key(table_key), shown_name(name) {}

    std::string const key;
    std::string const shown_name;
    std::atomic<bool> dropped{false}; ///< set under the directory's lock; afterwards the directory stays empty

    rw_lock directory_lock;
    entry_tree directory; ///< the values of its entries are the partitions; guarded by directory_lock
};

/// The rows of one partition, under a lock of their own. Lives in the value of an entry that carries its key.
class partition {
public:
    /// Owns a partition together with its copies.
    class owner {
    public:
        owner() = default;
        /// One more owner of a partition that has one.
        explicit owner(partition& shared) noexcept : partition_(&shared) {
            shared.owners_.fetch_add(1, std::memory_order_relaxed);
        }
        owner(owner&& other) noexcept : partition_(std::exchange(other.partition_, nullptr)) {}
        owner& operator=(owner other) noexcept {
            std::swap(partition_, other.partition_);
            return *this;
        }
        ~owner() {
            if (partition_ != nullptr && partition_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                destroy(partition_);
            }
        }
        explicit operator bool() const noexcept { return partition_ != nullptr; }
        [[nodiscard]] partition* get() const noexcept { return partition_; }
        [[nodiscard]] partition& operator*() const noexcept { return *partition_; }
        [[nodiscard]] partition* operator->() const noexcept { return partition_; }

    private:
        partition* partition_{};
    };

    [[nodiscard]] static owner make(shared<memory_table> table, std::string_view key, std::uint64_t hash);
    [[nodiscard]] static partition& in(entry& name) noexcept {
        return *reinterpret_cast<partition*>(name.value_bytes());
    }
    partition(partition const&) = delete;
    partition& operator=(partition const&) = delete;

    [[nodiscard]] std::string_view key() const noexcept { return name->key(); }

    entry* const name;
    std::uint64_t const hash; ///< of the table's key and the partition's
    shared<memory_table> const table;

private:
    std::atomic<std::uint32_t> owners_{0};

public:
    rw_lock lock;
    // guarded by `lock`
    entry_tree rows;
    bool dead{false};   ///< it was empty and is on its way out: look up again
    bool listed{false}; ///< it was put into the directory

private:
    partition(entry* own_name, std::uint64_t own_hash, shared<memory_table> own_table) noexcept
        : name(own_name), hash(own_hash), table(std::move(own_table)) {}
    ~partition();
    static void destroy(partition* last) noexcept;
};

/// Finds partitions by the keys of table and partition. Shards with a short lock each; owns its partitions. Safe to use
/// from several threads.
class partition_map {
public:
    [[nodiscard]] static std::uint64_t hash_of(std::string_view table, std::string_view key) noexcept;

    /// The partition of a table that is not dropped; empty when there is none.
    [[nodiscard]] partition::owner find(std::uint64_t hash, std::string_view table, std::string_view key) noexcept;
    /// Adds `fresh`, unless its table has a partition of that key: returns that one then. Nothing is changed when memory
    /// runs out.
    [[nodiscard]] partition::owner add(partition& fresh);
    /// Gives up the ownership of a partition; nothing happens when it is not here.
    void remove(partition& gone) noexcept;

private:
    struct slot {
        std::uint64_t hash;
        partition::owner held; ///< empty: the slot is free
    };
    struct alignas(64) shard {
        rw_lock lock;
        std::size_t used{0};
        std::vector<slot> slots; ///< none or a power of two, open addressing, at most three quarters used

        [[nodiscard]] partition* find(std::uint64_t hash, std::string_view table, std::string_view key) noexcept;
        void insert(partition::owner fresh) noexcept;
        void reserve_one();
        [[nodiscard]] partition::owner take(partition& gone) noexcept;
    };
    [[nodiscard]] shard& shard_of(std::uint64_t hash) noexcept { return shards_[hash >> 58U]; }

    shard shards_[64];
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/backends/impl/partition.ipp>
#endif
