// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entry_tree`: entries in the order of their keys, in sorted chunks of up to 64 below chunks of up to 64 (a B+ tree). Designed for few
/// cache misses: a chunk holds eight distinguishing bytes of each key next to the pointer to its entry, so that a search follows one or two
/// pointers in total. A single entry needs no chunk.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The head of the block; the key follows it, then the value. Key and value are each below 4 GiB; larger sizes are treated as out of memory.
/// The code that makes an entry destroys it.
struct alignas(8) entry {
    std::uint32_t key_size;
    std::uint32_t value_size;

    [[nodiscard]] static entry* make(std::string_view key, std::size_t value_size) {
        constexpr std::size_t most = ~std::uint32_t{0};
        std::size_t const size = key.size() <= most && value_size <= most
            ? sizeof(entry) + key.size() + value_size
            : ~std::size_t{0} / 2; // more is never available
        void* const block = ::operator new(size);
        auto* const made =
            ::new (block) entry{static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value_size)};
        if (!key.empty()) { std::memcpy(made->bytes(), key.data(), key.size()); }
        return made;
    }
    [[nodiscard]] static entry* make(std::string_view key, std::string_view value) {
        entry* const made = make(key, value.size());
        if (!value.empty()) { std::memcpy(made->value_bytes(), value.data(), value.size()); }
        return made;
    }
    static void destroy(entry* block) noexcept { ::operator delete(static_cast<void*>(block)); }

    [[nodiscard]] std::string_view key() const noexcept { return {const_cast<entry*>(this)->bytes(), key_size}; }
    [[nodiscard]] std::string_view value() const noexcept {
        return {const_cast<entry*>(this)->value_bytes(), value_size};
    }
    [[nodiscard]] char* value_bytes() noexcept { return bytes() + key_size; }

private:
    [[nodiscard]] char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
};

struct chunk; // impl/entry_tree.ipp

/// Does not own its entries: the owner removes them or visits them before the tree is destroyed. Used by one thread at a time, or several
/// threads that only read.
class entry_tree {
public:
    static constexpr std::size_t most_in_leaf = 64; ///< entries

    /// The position of a walk. Invalid after a change of the tree.
    class position {
    public:
        /// Returns the entry here; null at the end.
        [[nodiscard]] entry* get() const noexcept;
        void next() noexcept;
        /// Returns this entry and the entries after it in the same leaf; none at the end.
        [[nodiscard]] std::span<entry* const> rest_of_leaf() const noexcept;
        void next_leaf() noexcept;
        /// Returns the number of entries from here to `last`, inclusive, or to the end; fewer if they are in many leaves.
        [[nodiscard]] std::size_t entries_ahead(std::optional<std::string_view> last) const noexcept;
        /// Leaves its entry: the next `find_near` searches the tree.
        void leave() noexcept {
            depth_ = 0;
            only_ = nullptr;
        }

    private:
        friend class entry_tree;
        [[nodiscard]] chunk*& leaf() noexcept { return chunks_[depth_ - 1]; }
        [[nodiscard]] std::size_t& index() noexcept { return indexes_[depth_ - 1]; }

        // Chunks are at least a quarter full on average, so 2^64 entries need less.
        static constexpr std::size_t max_depth = 20;
        std::size_t depth_{0}; ///< chunks from the root to a leaf
        entry* only_{};        ///< without chunks: the single entry; null at the end
        chunk* chunks_[max_depth];
        std::size_t indexes_[max_depth];
    };

    entry_tree() = default;
    entry_tree(entry_tree&& other) noexcept : root_(std::exchange(other.root_, 0)) {}
    entry_tree& operator=(entry_tree&&) = delete;
    ~entry_tree();

    [[nodiscard]] bool empty() const noexcept { return root_ == 0; }
    [[nodiscard]] entry* find(std::string_view key) const noexcept;
    /// Starts at the first entry whose key is not less than `key`.
    [[nodiscard]] position lower_bound(std::string_view key) const noexcept;

    /// Finds an entry for a change, and its position; null if there is none, then the position is where it is inserted.
    [[nodiscard]] entry* find(std::string_view key, position& path) const noexcept;
    /// The same, near the entry that the same path inserted or replaced last, in a tree that nothing else changed since: rows that follow
    /// each other need no search. A new path is at no entry.
    [[nodiscard]] entry* find_near(std::string_view key, position& path) const noexcept;
    /// Inserts `fresh` where `find` did not find its key, in the unchanged tree; the path is at it then. Nothing is changed if memory runs out.
    void insert(position& path, entry* fresh);
    /// Replaces the entry that `find` found, in the unchanged tree; returns it.
    entry* replace(position& path, entry* fresh) noexcept;
    /// Removes the entry that `find` found, in the unchanged tree; returns it.
    entry* remove(position& path) noexcept;

    /// Inserts `fresh`; returns the entry with the same key that it replaced, if any. Nothing is changed if memory runs out.
    entry* put(entry* fresh);
    /// Replaces the entry with the key of `fresh`, and returns the old entry; changes nothing if there is no such entry.
    entry* replace(entry* fresh) noexcept;
    /// Removes an entry and returns it; null if there is none.
    entry* remove(std::string_view key) noexcept;

private:
    static constexpr std::uintptr_t is_entry = 1; ///< bit of `root_`: both types are aligned to 8 bytes

    /// The root; null if there is at most one entry.
    [[nodiscard]] chunk* top() const noexcept {
        return (root_ & is_entry) == 0 ? reinterpret_cast<chunk*>(root_) : nullptr;
    }
    void set_top(chunk* to) noexcept { root_ = reinterpret_cast<std::uintptr_t>(to); }
    /// The single entry; null if there are none, or chunks.
    [[nodiscard]] entry* only() const noexcept {
        return (root_ & is_entry) != 0 ? reinterpret_cast<entry*>(root_ - is_entry) : nullptr;
    }
    void set_only(entry* to) noexcept { root_ = reinterpret_cast<std::uintptr_t>(to) + is_entry; }
    void insert_without_chunks(position& path, entry* fresh);
    bool locate(std::string_view key, position& path) const noexcept;
    /// Moves a path to a key next to its entry, or to the place between the two; false if the key is elsewhere.
    [[nodiscard]] bool step_to(std::string_view key, position& path, bool& equal) const noexcept;
    void insert_into_full(position& path, entry* fresh);
    void shrink(position& path) noexcept;

    std::uintptr_t root_{}; ///< of a chunk, or of the single entry
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/memory/impl/entry_tree.ipp>
#endif
