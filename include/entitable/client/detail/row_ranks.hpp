// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_ranks`: the first n rows of an order, in a heap, or all rows, sorted by a merge sort.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/ordering.hpp>
#include <entitable/core/shared.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The error of a query that would sort too many rows.
ENTITABLE_LAZY [[nodiscard]] failure too_many_to_sort(std::uint64_t most);

/// Whether the store returns rows in key order, so that equal rows are in order as they come.
ENTITABLE_LAZY [[nodiscard]] bool in_key_order(query_source const* source);

/// The order of rows in slots, without their types, so that no file compiles a heap or a sort. Compares objects in an array: the rows
/// themselves, or values of them. `objects` is the address of the first.
class slot_ranks {
public:
    struct keys {
        std::string partition;
        std::string row;
    };
    /// A negative result means that `left` comes first.
    using comparison = int (*)(void const* left, void const* right);
    using keys_of_row = keys (*)(void const* row);

    /// Objects have this size. Without `keys_of`, equal rows are in the order of their arrival.
    ENTITABLE_LAZY slot_ranks(comparison compare, std::size_t size, keys_of_row keys_of);
    slot_ranks(slot_ranks const&) = delete;
    slot_ranks& operator=(slot_ranks const&) = delete;
    ~slot_ranks();

    /// Takes the rows of all slots in the order of their arrival.
    ENTITABLE_LAZY void begin(std::size_t count, void const* rows, std::size_t size_of_row);
    /// Makes a heap whose first slot is the last in the order.
    ENTITABLE_LAZY void make_heap(void const* objects);
    /// Returns the slot that a new row replaces; `no_slot` if the row is after all others.
    ENTITABLE_LAZY [[nodiscard]] std::size_t replaced_by(void const* object, void const* row, void const* objects);
    /// Takes the new row, which is in its slot.
    ENTITABLE_LAZY void replace(void const* row, void const* objects);
    /// Returns all slots in order. Valid until the next call.
    ENTITABLE_LAZY [[nodiscard]] std::size_t* sorted(void const* objects);

    static constexpr auto no_slot = static_cast<std::size_t>(-1);

private:
    struct state;
    shared<state> state_;
};

/// Compares two values: absent values are last, and NaN before them; all others are in the order of queries, or its reverse. A negative
/// result means that `left` comes first.
template <bool Descending>
struct compare_sorted {
    template <class T>
    [[nodiscard]] int operator()(std::optional<T> const& left, std::optional<T> const& right) const {
        if (left && right) { return (*this)(*left, *right); }
        return (left ? 0 : 1) - (right ? 0 : 1);
    }
    [[nodiscard]] int operator()(std::string_view left, std::string_view right) const {
        return Descending ? text::compare_utf16(right, left) : text::compare_utf16(left, right);
    }
    template <class T>
        requires(!std::convertible_to<T const&, std::string_view>)
    [[nodiscard]] int operator()(T const& left, T const& right) const {
        ordering const order = order_of_values(left, right);
        if (order == ordering::unordered) {
            return (order_of_values(left, left) == ordering::equal ? 0 : 1) -
                (order_of_values(right, right) == ordering::equal ? 0 : 1);
        }
        if (order == ordering::equal) { return 0; }
        return (order == ordering::less) != Descending ? -1 : 1;
    }
};

/// Holds the value of a row to compare: small values, computed values and views of text. Other members are referred to.
template <class T, bool Reference>
struct ranked_value {
    T value;
    explicit ranked_value(T from) : value(std::move(from)) {}
    [[nodiscard]] T const& get() const noexcept { return value; }
};
template <class T>
struct ranked_value<T, true> {
    T const* value;
    explicit ranked_value(T const& from) noexcept : value(&from) {}
    [[nodiscard]] T const& get() const noexcept { return *value; }
};
template <class Row, class Term>
struct ranked_term {
    using by = typename without_direction<Term>::type;
    using taken = decltype(sorting_value<by>::of(std::declval<Row const&>(), std::declval<by const&>()));
    using type = std::remove_cvref_t<taken>;
    /// Whether the row itself holds the value, and the term has no state.
    static constexpr bool is_member =
        std::is_lvalue_reference_v<taken> && requires { typename sorting_value<by>::field; };
    static constexpr bool refers =
        std::is_lvalue_reference_v<taken> && !(std::is_trivially_copyable_v<type> && sizeof(type) <= 16);
    static constexpr bool is_text = refers && std::is_same_v<type, std::string>;
    using held = std::conditional_t<is_text, ranked_value<std::string_view, false>,
        std::conditional_t<refers, ranked_value<type, true>, ranked_value<owned_value<type>, false>>>;
    using comparison = compare_sorted<without_direction<Term>::descending>;
};

/// Returns the value of a term; for `order_term`, that of its `by`.
template <class By>
[[nodiscard]] By const& by_of(By const& by) noexcept {
    return by; // NOLINT(bugprone-return-const-ref-from-parameter): callers keep their terms
}
template <class By, bool Descending>
[[nodiscard]] By const& by_of(order_term<By, Descending> const& term) noexcept {
    return term.by;
}

/// The keys of a row as text, to sort rows with equal values if the store returns them in no order.
template <class Entity, key_part Part, class Row, class... Components>
[[nodiscard]] std::string key_text_of(Row const& row, key_layout layout, components<void, Components...>) {
    key_source const sources[] = {
        member_source<typename Components::codec>(value_of(row, key_field<Entity, Part, Components>{}))...,
        key_source{}};
    auto made = write_key(layout, sources);
    return made ? *std::move(made) : std::string{};
}

/// Collects rows, and returns the first `limit` of them in the order of the terms. Rows with equal values keep the order in which they were
/// added; with `by_keys`, the order of their keys. Memory: `limit` rows, or all if there are fewer.
template <class Entity, class Row, class... Terms>
class row_ranks {
    /// Whether rows are compared by their members, so that no values are copied.
    static constexpr bool by_rows = (ranked_term<Row, Terms>::is_member && ...);
    using values = std::tuple<typename ranked_term<Row, Terms>::held...>;
    using object = std::conditional_t<by_rows, Row, values>;

public:
    row_ranks(std::tuple<Terms...> const& terms, std::uint64_t limit, bool by_keys)
        : terms_(&terms), limit_(limit), ranks_(&compare, sizeof(object), by_keys ? &keys_of : nullptr) {}

    /// Starts with these rows, at most `limit` of them.
    void begin_with(std::vector<Row>&& rows) { rows_ = std::move(rows); }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

    /// Adds a row, which is copied or moved only if it is one of the first. The limit is not 0.
    template <class Given>
    void add(Given&& row) {
        if (rows_.size() < limit_) {
            rows_.emplace_back() = std::forward<Given>(row); // as below: one function less for each type of row
            if (rows_.size() == limit_) { ranks_.make_heap(rank_all()); }
            return;
        }
        std::size_t slot{};
        if constexpr (by_rows) {
            slot = ranks_.replaced_by(&row, &row, objects());
        } else {
            values const candidate = rank(row);
            slot = ranks_.replaced_by(&candidate, &row, objects());
        }
        if (slot == slot_ranks::no_slot) { return; }
        rows_[slot] = std::forward<Given>(row);
        if constexpr (!by_rows) { values_[slot] = rank(rows_[slot]); }
        ranks_.replace(&rows_[slot], objects());
    }

    /// Returns the rows in order.
    [[nodiscard]] std::vector<Row> finish() {
        std::size_t* const order = ranks_.sorted(rows_.size() == limit_ ? objects() : rank_all());
        for (std::size_t begin = 0; begin < rows_.size(); ++begin) {
            if (order[begin] == begin) { continue; }
            Row held = std::move(rows_[begin]);
            std::size_t at = begin;
            while (order[at] != begin) {
                std::size_t const from = std::exchange(order[at], at);
                rows_[at] = std::move(rows_[from]);
                at = from;
            }
            rows_[at] = std::move(held);
            order[at] = at;
        }
        return std::move(rows_);
    }

private:
    [[nodiscard]] void const* objects() const noexcept {
        if constexpr (by_rows) {
            return rows_.data();
        } else {
            return values_.data();
        }
    }
    [[nodiscard]] void const* rank_all() {
        if constexpr (!by_rows) {
            values_.reserve(rows_.size());
            for (Row const& row : rows_) { values_.push_back(rank(row)); }
        }
        ranks_.begin(rows_.size(), rows_.data(), sizeof(Row));
        return objects();
    }
    [[nodiscard]] values rank(Row const& row) const {
        return std::apply(
            [&](auto const&... term) {
                return values{typename ranked_term<Row, Terms>::held(
                    sorting_value<typename ranked_term<Row, Terms>::by>::of(row, by_of(term)))...};
            },
            *terms_);
    }
    [[nodiscard]] static slot_ranks::keys keys_of(void const* of) {
        using map = mapping<Entity>;
        auto const& row = *static_cast<Row const*>(of);
        return {
            key_text_of<Entity, key_part::partition>(row, map::partition_layout, typename map::partition_components{}),
            key_text_of<Entity, key_part::row>(row, map::row_layout, typename map::row_components{})};
    }
    template <class Term>
    [[nodiscard]] static decltype(auto) member(Row const& row) {
        using by = typename ranked_term<Row, Term>::by;
        return sorting_value<by>::of(row, by{});
    }
    template <std::size_t... Index>
    [[nodiscard]] static int compare_values(values const& left, values const& right, std::index_sequence<Index...>) {
        int order = 0;
        static_cast<void>(((order = typename ranked_term<Row, Terms>::comparison{}(
                                std::get<Index>(left).get(), std::get<Index>(right).get()),
                               order == 0) &&
            ...));
        return order;
    }
    [[nodiscard]] static int compare(void const* left, void const* right) {
        auto const& first = *static_cast<object const*>(left);
        auto const& second = *static_cast<object const*>(right);
        if constexpr (by_rows) {
            int order = 0;
            static_cast<void>(
                ((order = typename ranked_term<Row, Terms>::comparison{}(member<Terms>(first), member<Terms>(second)),
                     order == 0) &&
                    ...));
            return order;
        } else {
            return compare_values(first, second, std::index_sequence_for<Terms...>{});
        }
    }

    std::tuple<Terms...> const* terms_;
    std::uint64_t limit_;
    slot_ranks ranks_;
    std::vector<Row> rows_;
    std::conditional_t<by_rows, std::nullptr_t, std::vector<values>>
        values_; ///< by slot; empty until they are compared
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/row_ranks.ipp>
#endif

#endif
