// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The parts of a memory_store: tables, their partitions, and the hash of all partitions.

#include <entitable/core/atomic.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/local/detail/rw_lock.hpp>
#include <entitable/local/memory/detail/entry_tree.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table, and the directory of its partitions that hold rows. A lookup of one partition does not use the directory.
struct memory_table : counted {
    memory_table(std::string_view table_key, std::string_view name) : key(table_key), shown_name(name) {}

    std::string const key;
    std::string const shown_name;
    atomic<bool> dropped{false}; ///< set under the directory's lock; afterwards the directory stays empty

    rw_lock directory_lock;
    entry_tree directory; ///< the values of its entries are the partitions; guarded by directory_lock
};

/// The rows of one partition, under its own lock. Lives in the value of an entry that holds its key.
class partition {
public:
    /// Owns a partition together with its copies.
    class owner {
    public:
        owner() = default;
        /// Adds an owner to a partition that already has an owner.
        explicit owner(partition& shared) noexcept : partition_(&shared) { shared.lock.own(); }
        owner(owner&& other) noexcept : partition_(std::exchange(other.partition_, nullptr)) {}
        owner& operator=(owner other) noexcept {
            std::swap(partition_, other.partition_);
            return *this;
        }
        ~owner() {
            if (partition_ != nullptr && partition_->lock.disown()) { destroy(partition_); }
        }
        explicit operator bool() const noexcept { return partition_ != nullptr; }
        [[nodiscard]] partition* get() const noexcept { return partition_; }
        [[nodiscard]] partition& operator*() const noexcept { return *partition_; }
        [[nodiscard]] partition* operator->() const noexcept { return partition_; }

    private:
        partition* partition_{};
    };

    /// Owns a partition and holds its lock for reading. Made without waiting; call `wait` before the first access to rows.
    class reading {
    public:
        explicit reading(partition* shared) noexcept
            : partition_(shared), before_(shared != nullptr ? shared->lock.own_shared() : 0) {}
        ~reading() {
            if (partition_ != nullptr && partition_->lock.disown_shared()) { destroy(partition_); }
        }
        reading(reading const&) = delete;
        reading& operator=(reading const&) = delete;

        explicit operator bool() const noexcept { return partition_ != nullptr; }
        void wait() const noexcept { partition_->lock.wait_shared(before_); }
        [[nodiscard]] partition* operator->() const noexcept { return partition_; }

    private:
        partition* partition_;
        std::uint64_t before_;
    };

    /// Owns a partition for an update: `wait` excludes other updates, `shut_out_readers` comes before the first change.
    class writing {
    public:
        writing() = default;
        explicit writing(partition* shared) noexcept
            : partition_(shared), inside_(shared != nullptr && shared->lock.own_and_try_shut_out_writers()) {}
        writing(writing&& other) noexcept
            : partition_(std::exchange(other.partition_, nullptr)), inside_(other.inside_), alone_(other.alone_) {}
        writing& operator=(writing&& other) noexcept {
            std::swap(partition_, other.partition_);
            std::swap(inside_, other.inside_);
            return *this;
        }
        ~writing() { leave(); }

        explicit operator bool() const noexcept { return partition_ != nullptr; }
        [[nodiscard]] partition* operator->() const noexcept { return partition_; }
        [[nodiscard]] partition& operator*() const noexcept { return *partition_; }
        void wait() noexcept {
            if (!inside_) {
                partition_->lock.shut_out_writers();
                inside_ = true;
            }
        }
        void shut_out_readers() noexcept {
            if (alone_) { return; }
            partition_->lock.shut_out_readers();
            alone_ = true;
        }
        void leave() noexcept {
            partition* const left = std::exchange(partition_, nullptr);
            if (left != nullptr && (inside_ ? left->lock.disown_and_unlock(alone_) : left->lock.disown())) {
                destroy(left);
            }
        }

    private:
        partition* partition_{};
        bool inside_{false};
        bool alone_{false};
    };

    [[nodiscard]] static owner make(shared<memory_table> table, std::string_view key);
    [[nodiscard]] static partition& in(entry& name) noexcept {
        return *reinterpret_cast<partition*>(name.value_bytes() + padding(name.key_size));
    }
    partition(partition const&) = delete;
    partition& operator=(partition const&) = delete;

    /// Returns the entry whose value contains this object.
    [[nodiscard]] entry* name() const noexcept {
        return reinterpret_cast<entry*>(const_cast<char*>(reinterpret_cast<char const*>(this)) - behind_name_);
    }
    [[nodiscard]] std::string_view key() const noexcept { return name()->key(); }

    shared<memory_table> const table;

    rw_lock lock; ///< also counts the owners
    // guarded by `lock`
    entry_tree rows;
    bool dead{false};   ///< the partition was empty and is being removed: look it up again
    bool listed{false}; ///< whether the partition is in the directory

private:
    partition(std::uint32_t behind_name, shared<memory_table> own_table) noexcept
        : table(std::move(own_table)), behind_name_(behind_name) {}
    ~partition();
    /// Returns the bytes between the key of an entry and the object.
    [[nodiscard]] static constexpr std::size_t padding(std::size_t key_size) noexcept {
        return (alignof(partition) - key_size % alignof(partition)) % alignof(partition);
    }
    static void destroy(partition* last) noexcept;

    std::uint32_t const behind_name_; ///< bytes from the entry's head to here
};

/// Finds partitions by the keys of table and partition. It has shards, each with a short lock, and owns its partitions. Safe to use from
/// several threads.
class partition_map {
public:
    [[nodiscard]] static std::uint64_t hash_of(std::string_view table, std::string_view key) noexcept;

    /// Returns the partition; empty if the table was dropped or does not contain the partition.
    [[nodiscard]] partition::reading read(std::uint64_t hash, std::string_view table, std::string_view key) noexcept;
    [[nodiscard]] partition::writing write(std::uint64_t hash, std::string_view table, std::string_view key) noexcept;
    /// Adds `fresh`, or returns the partition with its key if the table already has one. Nothing is changed if memory runs out.
    [[nodiscard]] partition::writing add(std::uint64_t hash, partition& fresh);
    /// Releases the ownership of a partition; has no effect if the partition is not here.
    void remove(partition& gone) noexcept;

private:
    struct slot {
        std::uint64_t hash;
        partition::owner held; ///< empty: the slot is free
    };
    struct alignas(64) shard {
        rw_lock lock;
        std::size_t used{0};
        std::vector<slot> all_slots; ///< empty or a power of two, open addressing, at most seven eighths used

        [[nodiscard]] partition* find(std::uint64_t hash, std::string_view table, std::string_view key) noexcept;
        void insert(std::uint64_t hash, partition::owner fresh) noexcept;
        void reserve_one();
        [[nodiscard]] partition::owner take(std::uint64_t hash, partition& gone) noexcept;
    };
    [[nodiscard]] shard& shard_of(std::uint64_t hash) noexcept { return shards_[hash >> 58U]; }

    shard shards_[64];
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/memory/impl/partition.ipp>
#endif
