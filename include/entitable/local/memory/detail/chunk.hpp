// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `chunk`: the nodes of an entry_tree. Only its implementation includes this.

#include <entitable/local/memory/detail/entry_tree.hpp>

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A leaf holds entries. An inner chunk holds chunks and, before each except the first, a separator: an entry without a value whose key is
/// at most every key below that child and greater than every key below the child before it. Arrays of `capacity` follow the head in the
/// same block: heads, entries, and in inner chunks children.
struct alignas(8) chunk {
    static constexpr std::size_t full = entry_tree::most_in_leaf;
    /// Neighbours are joined if together they have at most this many keys; well below `full`, so that alternating inserts and removals do
    /// not split and join in turn.
    static constexpr std::size_t few = 32;

    std::uint16_t count;
    std::uint8_t capacity;
    std::uint8_t level; ///< 0 for a leaf
    std::uint32_t skip; ///< at most the number of bytes that all keys of the chunk have in common

    [[nodiscard]] static chunk* make(std::size_t capacity, std::size_t level) {
        std::size_t const each = sizeof(std::uint64_t) + sizeof(entry*) + (level > 0 ? sizeof(chunk*) : 0);
        void* const block = ::operator new(sizeof(chunk) + capacity * each);
        return ::new (block) chunk{0, static_cast<std::uint8_t>(capacity), static_cast<std::uint8_t>(level), 0};
    }
    static void destroy(chunk* block) noexcept { ::operator delete(static_cast<void*>(block)); }
    /// Destroys the chunk with all chunks below it, and the separators.
    static void destroy_all(chunk* top) noexcept {
        for (std::size_t index = 0; top->level > 0 && index < top->count; ++index) {
            destroy_all(top->children()[index]);
            entry::destroy(top->entries()[index]);
        }
        destroy(top);
    }

    [[nodiscard]] std::uint64_t* heads() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
    [[nodiscard]] entry** entries() noexcept { return reinterpret_cast<entry**>(heads() + capacity); }
    [[nodiscard]] chunk** children() noexcept { return reinterpret_cast<chunk**>(entries() + capacity); }
    /// Returns the index of the first key: the first child of an inner chunk does not have a separator.
    [[nodiscard]] std::size_t first() const noexcept { return level > 0 ? 1 : 0; }

    /// Returns the eight bytes of `key` after `skip`, as a number that compares like them; padded with zeros.
    [[nodiscard]] static std::uint64_t head_of(std::string_view key, std::size_t skip) noexcept {
        if (key.size() <= skip) { return 0; }
        std::size_t const left = key.size() - skip;
        std::uint64_t bits = 0;
        if (left >= sizeof bits) {
            std::memcpy(&bits, key.data() + skip, sizeof bits);
            return from_big_endian(bits);
        }
        if (key.size() >= sizeof bits) { // loads eight bytes and shifts: faster than copying a variable number
            std::memcpy(&bits, key.data() + key.size() - sizeof bits, sizeof bits);
            return from_big_endian(bits) << 8U * (sizeof bits - left);
        }
        std::memcpy(&bits, key.data() + skip, left);
        return from_big_endian(bits);
    }
    [[nodiscard]] static std::uint64_t from_big_endian(std::uint64_t bits) noexcept {
        if constexpr (std::endian::native == std::endian::little) {
            bits = (bits & 0x00FF00FF00FF00FFU) << 8U | (bits >> 8U & 0x00FF00FF00FF00FFU);
            bits = (bits & 0x0000FFFF0000FFFFU) << 16U | (bits >> 16U & 0x0000FFFF0000FFFFU);
            bits = bits << 32U | bits >> 32U;
        }
        return bits;
    }

    [[nodiscard]] static std::size_t common_prefix(std::string_view left, std::string_view right) noexcept {
        std::size_t const end = left.size() < right.size() ? left.size() : right.size();
        std::size_t index = 0;
        while (index < end && left[index] == right[index]) { ++index; }
        return index;
    }

    /// Compares the key at `index` with a key that has the common bytes and this head.
    [[nodiscard]] int compare(std::size_t index, std::uint64_t head, std::string_view key) noexcept {
        std::uint64_t const ours = heads()[index];
        return ours < head ? -1 : ours > head ? 1 : entries()[index]->key().compare(key);
    }

    /// Returns the index of the first key that is not less than `key`, and whether it is equal; for a key with the common bytes.
    [[nodiscard]] std::pair<std::size_t, bool> bisect(std::string_view key) noexcept {
        std::uint64_t const head = head_of(key, skip);
        std::size_t low = first();
        std::size_t high = count;
        while (low < high) {
            std::size_t const middle = (low + high) / 2;
            int const order = compare(middle, head, key);
            if (order == 0) { return {middle, true}; }
            (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
        }
        return {low, false};
    }

    /// Searches for a key, which need not have the common bytes.
    [[nodiscard]] std::pair<std::size_t, bool> search(std::string_view key) noexcept {
        if (first() < count && skip > 0) {
            char const* const common = entries()[first()]->key().data(); // at least `skip` bytes
            if (key.size() < skip || std::memcmp(key.data(), common, skip) != 0) {
                int const order = key.substr(0, skip).compare({common, skip});
                return {order < 0 ? first() : count, false};
            }
        }
        return bisect(key);
    }

    /// Returns the entry of `key` in a leaf. A key without the common prefix cannot match, wherever the search ends, so the prefix is not
    /// compared, which would cause a cache miss.
    [[nodiscard]] entry* find(std::string_view key) noexcept {
        auto const [index, equal] = bisect(key);
        return equal ? entries()[index] : nullptr;
    }

    /// Returns the index of the child that covers `key`.
    [[nodiscard]] std::size_t child_for(std::string_view key) noexcept {
        auto const [index, equal] = search(key);
        return equal ? index : index - 1;
    }

    void use_skip(std::size_t value) noexcept {
        skip = static_cast<std::uint32_t>(value);
        for (std::size_t index = first(); index < count; ++index) {
            heads()[index] = head_of(entries()[index]->key(), skip);
        }
    }
    /// Recomputes `skip` so that the heads distinguish more keys, if that is worth reading all keys.
    void refresh_skip() noexcept {
        if (first() < count) {
            std::size_t const common = common_prefix(entries()[first()]->key(), entries()[count - 1]->key());
            if (common < skip || common >= skip + sizeof(std::uint64_t) / 2) { use_skip(common); }
        }
    }

    void insert(std::size_t index, entry* fresh, chunk* child) noexcept {
        bool const between = index > first() && index < count;
        std::memmove(heads() + index + 1, heads() + index, (count - index) * sizeof(std::uint64_t));
        std::memmove(entries() + index + 1, entries() + index, (count - index) * sizeof(entry*));
        entries()[index] = fresh;
        if (level > 0) {
            std::memmove(children() + index + 1, children() + index, (count - index) * sizeof(chunk*));
            children()[index] = child;
        }
        ++count;
        if (index < first()) {
            return; // the first child has no key
        }
        std::string_view const key = fresh->key();
        heads()[index] = head_of(key, skip);
        if (!between) {
            std::size_t const other = index == first() ? count - 1U : first();
            std::size_t const common = common_prefix(key, entries()[other]->key());
            if (common < skip || count == first() + 1) { use_skip(common); }
        }
    }

    void remove(std::size_t index) noexcept {
        std::size_t const behind = count - index - 1;
        std::memmove(heads() + index, heads() + index + 1, behind * sizeof(std::uint64_t));
        std::memmove(entries() + index, entries() + index + 1, behind * sizeof(entry*));
        if (level > 0) { std::memmove(children() + index, children() + index + 1, behind * sizeof(chunk*)); }
        --count;
    }

    /// Removes the child at `index`; it is empty, or its content has moved to the child before it.
    void remove_child(std::size_t index) noexcept {
        entry*& separator = entries()[index == 0 && count > 1 ? 1 : index];
        entry::destroy(std::exchange(separator, nullptr));
        destroy(children()[index]);
        remove(index);
    }

    /// Appends a copy of the content of `other`, starting at `begin`.
    void append(chunk& other, std::size_t begin) noexcept {
        std::size_t const added = other.count - begin;
        std::memcpy(heads() + count, other.heads() + begin, added * sizeof(std::uint64_t));
        std::memcpy(entries() + count, other.entries() + begin, added * sizeof(entry*));
        if (level > 0) { std::memcpy(children() + count, other.children() + begin, added * sizeof(chunk*)); }
        count = static_cast<std::uint16_t>(count + added);
    }

    /// Moves the child after `index` into the child at `index` if both are small; returns whether it did.
    bool join_children(std::size_t index) noexcept {
        if (index + 1 >= count) { return false; }
        chunk& left = *children()[index];
        chunk& right = *children()[index + 1];
        if (std::size_t{left.count} + right.count > few) { return false; }
        if (left.level > 0) { // the first child of the right chunk needs a separator again
            right.entries()[0] = std::exchange(entries()[index + 1], nullptr);
        }
        left.append(right, 0);
        if (left.first() < left.count) {
            left.use_skip(common_prefix(left.entries()[left.first()]->key(), left.entries()[left.count - 1]->key()));
        }
        remove_child(index + 1);
        return true;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
