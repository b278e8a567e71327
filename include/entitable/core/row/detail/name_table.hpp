// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The names of a row's properties in a hash table, so that a lookup does not search all of them.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A map from names to numbers. Refers to the bytes of the names. Up to 32 names need no allocation. If lookups take too many steps,
/// because names were chosen to collide, it rehashes all names with a new seed: no choice of names makes it quadratic.
class name_table {
public:
    /// A name and its number.
    struct entry {
        char const* name;
        std::size_t number;
        std::uint32_t size;
        std::uint32_t hash;

        [[nodiscard]] std::string_view text() const noexcept { return {name, size}; }
    };

    name_table() = default;
    name_table(name_table const&) = delete;
    name_table& operator=(name_table const&) = delete;
    ~name_table() { ::operator delete(more_); }

    /// Hashes a name, eight bytes at once.
    ENTITABLE_LAZY [[nodiscard]] static std::uint32_t hash_of(std::string_view name, std::uint64_t seed) noexcept;
    /// The initial seed of every table.
    static constexpr std::uint64_t first_seed = 0x656E7469746C65U;

    /// Allocates memory for `names` names, before the first is added.
    ENTITABLE_LAZY void reserve(std::size_t names);

    /// Returns the entry of a name; null if there is none.
    ENTITABLE_LAZY [[nodiscard]] entry* find(std::string_view name) noexcept;
    /// Returns the existing entry of the name; if there is none, adds one with `number` and returns null.
    ENTITABLE_LAZY entry* add(std::string_view name, std::size_t number) noexcept;

    /// The current seed.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

private:
    static constexpr std::size_t few = 32;
    static constexpr std::int64_t steps_for_each = 4; // half the slots are free: most lookups take one or two
    static constexpr std::int64_t steps_at_first = 64;

    /// The slot of the name, or the free slot at which its lookup ends.
    ENTITABLE_LAZY [[nodiscard]] std::size_t slot_of(std::string_view name, std::uint32_t hash) noexcept;
    /// Hashes a name with the current seed; changes the seed first if lookups take too many steps.
    ENTITABLE_LAZY [[nodiscard]] std::uint32_t hash_for_search(std::string_view name) noexcept;

    entry* entries_{};
    std::uint32_t* slots_{}; // the number of an entry, from 1; 0 in a free slot
    std::size_t mask_{};
    std::uint64_t seed_{first_seed};
    std::int64_t steps_left_{steps_at_first};
    std::uint32_t count_{};
    std::uint32_t few_slots_[2 * few];
    entry few_entries_[few];
    void* more_{}; // the entries, and then the slots, of a table of many names
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/impl/name_table.ipp>
#endif

#endif
