// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Aggregates, computed in one pass over a query: `fold(count(), min(r::celsius), average(r::celsius))`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/folds.hpp>
#include <entitable/core/detail/exact_sum.hpp>

#include <cstdint>
#include <tuple>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A type that takes rows one by one; `finish` sets the value at the end, and returns false if a sum does not fit.
template <class T>
concept aggregate = requires { typename T::is_aggregate; };

struct counting {
    using is_aggregate = void;
    using field = void;
    using value_type = std::uint64_t;
    std::uint64_t rows{};

    template <class Row>
    void take(Row const&) noexcept {
        ++rows;
    }
    [[nodiscard]] bool finish(value_type& to) const noexcept {
        to = rows;
        return true;
    }
};

template <class Field, bool Greatest>
struct extreme {
    using is_aggregate = void;
    using field = Field;
    using type = present_type<Field>;
    using value_type = std::optional<type>;
    std::optional<type> best;

    template <class Row>
    void take(Row const& row) {
        auto&& held = value_of(row, Field{});
        type const* const value = present(held);
        constexpr ordering better = Greatest ? ordering::greater : ordering::less;
        bool const counts =
            value != nullptr && order_of_values(*value, *value) == ordering::equal; // a NaN does not count
        if (counts && (!best || order_of_values(*value, *best) == better)) { best = *value; }
    }
    [[nodiscard]] bool finish(value_type& to) {
        to = std::move(best);
        return true;
    }
};

template <class Field>
struct summing {
    using is_aggregate = void;
    using field = Field;
    using type = present_type<Field>;
    using value_type = std::conditional_t<is_integer_field<Field>, std::int64_t, double>;
    value_type sum{};
    std::int64_t left_range{}; ///< negative once a sum overflowed

    template <class Row>
    void take(Row const& row) {
        auto&& held = value_of(row, Field{});
        type const* const value = present(held);
        auto const more = value != nullptr ? static_cast<value_type>(*value) : value_type{};
        if constexpr (is_integer_field<Field>) {
            auto const next =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(more));
            left_range |= (sum ^ next) & (more ^ next); // negative if both have the opposite sign
            sum = next;
        } else {
            sum += more;
        }
    }
    [[nodiscard]] bool finish(value_type& to) const noexcept {
        to = sum;
        return left_range >= 0;
    }
};

/// The type of a mean. Depends on the field, so that a file without a mean does not compile it.
template <class>
struct mean_value {
    using type = std::optional<double>;
};

/// The mean of integers, exact until the end.
template <class Field, bool Integers = is_integer_field<Field>>
struct averaging {
    using is_aggregate = void;
    using field = Field;
    using value_type = typename mean_value<Field>::type;
    exact_sum sum;
    std::uint64_t values{};

    template <class Row>
    void take(Row const& row) {
        auto&& held = value_of(row, Field{});
        if (auto const* const value = present(held)) {
            sum.add(static_cast<std::int64_t>(*value));
            ++values;
        }
    }
    [[nodiscard]] bool finish(value_type& to) const {
        if (values != 0) { to = sum.mean_of(values); }
        return true;
    }
};

template <class Field>
struct averaging<Field, false> {
    using is_aggregate = void;
    using field = Field;
    using type = present_type<Field>;
    using value_type = typename mean_value<Field>::type;
    double sum{};
    double lost{}; // the rounding error of the sum (Kahan and Babuska)
    std::uint64_t values{};

    template <class Row>
    void take(Row const& row) {
        auto&& held = value_of(row, Field{});
        if (type const* const value = present(held)) {
            double const more = static_cast<double>(*value);
            double const next = sum + more;
            double const larger = sum < 0 ? -sum : sum;
            lost += larger >= (more < 0 ? -more : more) ? (sum - next) + more : (more - next) + sum;
            sum = next;
            ++values;
        }
    }
    [[nodiscard]] bool finish(value_type& to) const noexcept {
        double const whole = lost == lost ? sum + lost : sum; // after an infinity there is no remainder
        if (values != 0) { to = whole / static_cast<double>(values); }
        return true;
    }
};

/// The error of a sum that left the range of its type.
ENTITABLE_LAZY [[nodiscard]] failure sum_out_of_range();

template <std::size_t Index, class Aggregate>
struct aggregate_at {
    Aggregate one;
};
template <class Indices, class... Aggregates>
struct aggregate_set;
/// Several aggregates. Bases instead of a tuple, whose elements compile several functions each.
template <std::size_t... Index, class... Aggregates>
struct aggregate_set<std::index_sequence<Index...>, Aggregates...> : aggregate_at<Index, Aggregates>... {
    using values = std::tuple<typename Aggregates::value_type...>;

    template <class Row>
    void take([[maybe_unused]] Row const& row) {
        (aggregate_at<Index, Aggregates>::one.take(row), ...);
    }
    /// False if a sum does not fit.
    [[nodiscard]] bool finish([[maybe_unused]] values& to) {
        return (aggregate_at<Index, Aggregates>::one.finish(std::get<Index>(to)) && ...);
    }
};
template <class... Aggregates>
using aggregates_of = aggregate_set<std::index_sequence_for<Aggregates...>, Aggregates...>;

/// Makes a group without aggregates: only its value is returned.
struct value_of_group {
    using is_aggregate = void;
    using field = void;
    using value_type = bool;

    template <class Row>
    void take(Row const&) noexcept {}
};

} // namespace detail

/// The number of entities.
[[nodiscard]] inline detail::counting count() noexcept { return {}; }
/// The smallest value of a field; nullopt if there is none. Absent values and NaN do not count. Like `std::min`, it conflicts with the
/// macro of that name in windows.h: define NOMINMAX.
template <class Field>
    requires requires { typename Field::entity_type; }
[[nodiscard]] auto(min)(Field) noexcept {
    return detail::extreme<Field, false>{};
}
/// The largest value of a field; see `min`.
template <class Field>
    requires requires { typename Field::entity_type; }
[[nodiscard]] auto(max)(Field) noexcept {
    return detail::extreme<Field, true>{};
}
/// The sum of a field: std::int64_t for integers, with OutOfRangeInput if the sum or a partial sum overflows; double for others. Absent
/// values do not count.
template <class Field>
    requires requires { typename Field::entity_type; }
[[nodiscard]] auto sum(Field) noexcept {
    constexpr bool is_number = detail::is_summable<Field>;
    static_assert(is_number, "sum needs a numeric member that fits into std::int64_t or double");
    return detail::summing<Field>{};
}
/// The mean of a field, as a double; nullopt if there is no value. The mean of integers is exact and rounded once, even
/// beyond 2^53 or if `sum` would overflow. Absent values do not count.
template <class Field>
    requires requires { typename Field::entity_type; }
[[nodiscard]] auto average(Field) noexcept {
    constexpr bool is_number = detail::is_summable<Field>;
    static_assert(is_number, "average needs a numeric member that fits into std::int64_t or double");
    return detail::averaging<Field>{};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/aggregate.ipp>
#endif

#endif
