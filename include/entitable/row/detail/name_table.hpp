// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The names of a row's properties in a hash table, so that a name is found without a walk over all of them.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Different names, each with a number of its user. Refers to the bytes of the names. Up to 32 names need no allocation. When searches
/// take too many steps, because names were chosen that share a slot, it hashes all names by another seed: no choice of names makes it quadratic.
class name_table {
public:
    /// A name and what its user keeps with it.
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

    /// Hashes a name, eight bytes at once.
    ENTITABLE_LAZY [[nodiscard]] static std::uint32_t hash_of(std::string_view name, std::uint64_t seed) noexcept;
    /// The seed that every table begins with.
    static constexpr std::uint64_t first_seed = 0x656E7469746C65U;

    /// Makes room for `names` of them, before the first.
    ENTITABLE_LAZY void reserve(std::size_t names);

    /// The entry of a name; null when it has none.
    ENTITABLE_LAZY [[nodiscard]] entry* find(std::string_view name) noexcept;
    /// The entry that the name had before; null when it had none, and then gets one with `number`.
    ENTITABLE_LAZY entry* add(std::string_view name, std::size_t number) noexcept;

    /// By what the names are hashed now.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

private:
    static constexpr std::size_t few = 32;
    static constexpr std::int64_t steps_for_each = 4; // half of the slots are free: most searches take one or two
    static constexpr std::int64_t steps_at_first = 64;

    /// Where the name stands, or the free slot in which its search ends.
    ENTITABLE_LAZY [[nodiscard]] std::size_t slot_of(std::string_view name, std::uint32_t hash) noexcept;
    /// The hash of a name, by a seed that makes the searches short.
    ENTITABLE_LAZY [[nodiscard]] std::uint32_t hash_for_search(std::string_view name) noexcept;

    entry* entries_{};
    std::uint32_t* slots_{}; // the number of an entry, from 1; 0 in a free one
    std::size_t mask_{};
    std::uint64_t seed_{first_seed};
    std::int64_t steps_left_{steps_at_first};
    std::uint32_t count_{};
    std::uint32_t few_slots_[2 * few];
    entry few_entries_[few];
    std::vector<std::uint32_t> more_slots_;
    std::vector<entry> more_entries_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/row/impl/name_table.ipp>
#endif
