// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The requirements of an aggregate of an entity, and `salted_aggregate`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/key_pattern.hpp>

#include <concepts>

ENTITABLE_BEGIN_NAMESPACE

/// An aggregate in `Buckets` rows: a bucket of the entity's row key determines the row in which an entity is counted,
/// so writers of different buckets do not wait for each other. `Part` is an integer member and the last component of
/// the aggregate's row key; the library sets it, from 0. The aggregate's `combine(other)` adds the rows.
///
///     table<order, salted_aggregate<daily_sales, &daily_sales::part, 8>> orders{store, "orders"};
template <class Aggregate, auto Part, std::size_t Buckets>
struct salted_aggregate {
    static_assert(Buckets >= 2 && Buckets <= 100, "salted_aggregate needs 2 to 100 buckets");
};

namespace detail {

template <class Declared>
struct aggregate_declaration {
    using type = Declared;
    static constexpr std::size_t buckets = 1;
    static void put_part(type&, std::size_t) noexcept {}
};
template <class Aggregate, auto Part, std::size_t Buckets>
struct aggregate_declaration<salted_aggregate<Aggregate, Part, Buckets>> {
    using type = Aggregate;
    static constexpr std::size_t buckets = Buckets;
    static void put_part(type& to, std::size_t part) noexcept { to.*Part = static_cast<member_type<Part>>(part); }
};

template <class Entity, class Aggregate>
concept aggregates = requires(Aggregate& sums, Entity const& entity) {
    { Aggregate::key(entity) } -> std::same_as<Aggregate>;
    sums.add(entity);
    sums.subtract(entity);
};
template <class Aggregate>
concept combines = requires(Aggregate& sums, Aggregate const& others) { sums.combine(others); };

/// Reports in one line the error in an aggregate.
template <class Declared>
consteval void allow_aggregate() {
    constexpr bool whole =
        aggregate_declaration<Declared>::buckets == 1 || combines<typename aggregate_declaration<Declared>::type>;
    static_assert(whole, "a salted aggregate needs a function void combine(daily_sales const&), which adds its parts");
}
/// Reports in one line that a type is not a sum.
template <bool IsSum>
consteval void allow_sum() {
    static_assert(IsSum,
        "this type is not a sum of the table: a sum has static daily_sales key(order const&), void add(order const&) "
        "and void subtract(order const&)");
}

/// Whether two rows contain the same sums; doubles may differ by `bound`.
ENTITABLE_LAZY [[nodiscard]] bool same_sums(row_view one, row_view other, double bound);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/aggregate/impl/aggregate_declarations.ipp>
#endif

#endif
