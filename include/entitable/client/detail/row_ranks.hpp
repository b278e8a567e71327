// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_ranks`: the first n rows of an order, in a heap, or all rows, sorted by a stable merge sort. Does not use
/// `<algorithm>`, which would cost each file with a query more compile time.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/ordering.hpp>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the numbers from 0 to `count`, stably sorted. `before(of, left, right)` is a strict weak order of the numbers. Sorts numbers
/// rather than what they stand for, so that no file compiles a sort.
ENTITABLE_LAZY [[nodiscard]] std::vector<std::size_t> sorted_numbers(
    std::size_t count, bool (*before)(void const* of, std::size_t left, std::size_t right), void const* of);

/// The keys of rows, by slot.
class ranked_keys {
public:
    struct pair {
        std::string partition;
        std::string row;
    };

    ranked_keys();
    ranked_keys(ranked_keys const&) = delete;
    ranked_keys& operator=(ranked_keys const&) = delete;
    ~ranked_keys();

    ENTITABLE_LAZY void add(pair&& keys);
    ENTITABLE_LAZY void set(std::size_t slot, pair&& keys);
    ENTITABLE_LAZY [[nodiscard]] pair const& at(std::size_t slot) const;
    /// In the order of queries.
    ENTITABLE_LAZY [[nodiscard]] static bool is_before(pair const& left, pair const& right);

private:
    std::vector<pair> all_;
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
    using values = std::tuple<typename ranked_term<Row, Terms>::held...>;
    using key_pair = ranked_keys::pair;
    struct ranked {
        values of;
        std::uint64_t arrival;
        std::size_t slot;
    };

public:
    row_ranks(std::tuple<Terms...> const& terms, std::uint64_t limit, bool by_keys)
        : terms_(&terms), limit_(limit), by_keys_(by_keys) {}

    /// Starts with these rows, at most `limit` of them.
    void begin_with(std::vector<Row>&& rows) {
        rows_ = std::move(rows);
        arrivals_ = rows_.size();
    }
    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

    /// Adds a row, which is copied or moved only if it is one of the first.
    template <class Given>
    void add(Given&& row) {
        std::uint64_t const arrival = arrivals_++;
        if (rows_.size() < limit_) {
            rows_.emplace_back() = std::forward<Given>(row); // as below: one function less for each type of row
            if (rows_.size() == limit_) { make_heap(); }
            return;
        }
        if (limit_ == 0) { return; }
        ranked candidate = rank(row, arrival, rows_.size());
        key_pair keys;
        auto const keys_of_candidate = [&]() -> key_pair const& { return keys = keys_of(row); };
        if (!is_before(candidate, heap_.front(), keys_of_candidate)) { return; }
        std::size_t const slot = heap_.front().slot;
        rows_[slot] = std::forward<Given>(row);
        if (by_keys_) { keys_.set(slot, keys_of(rows_[slot])); }
        heap_.front() = rank(rows_[slot], arrival, slot);
        sink(0);
    }

    /// Returns the rows in order.
    [[nodiscard]] std::vector<Row> finish() {
        if (heap_.empty()) { rank_all(); }
        auto const before = [](void const* of, std::size_t left, std::size_t right) {
            auto const& self = *static_cast<row_ranks const*>(of);
            return self.is_before(self.heap_[left], self.heap_[right]);
        };
        std::vector<std::size_t> const order = sorted_numbers(heap_.size(), before, this);
        std::vector<Row> made;
        made.reserve(rows_.size());
        for (std::size_t const number : order) { made.emplace_back() = std::move(rows_[heap_[number].slot]); }
        heap_.clear();
        rows_.clear();
        return made;
    }

private:
    [[nodiscard]] ranked rank(Row const& row, std::uint64_t arrival, std::size_t slot) const {
        return std::apply(
            [&](auto const&... term) {
                return ranked{values{typename ranked_term<Row, Terms>::held(
                                  sorting_value<typename ranked_term<Row, Terms>::by>::of(row, by_of(term)))...},
                    arrival, slot};
            },
            *terms_);
    }
    [[nodiscard]] key_pair keys_of(Row const& row) const {
        using map = mapping<Entity>;
        return {
            key_text_of<Entity, key_part::partition>(row, map::partition_layout, typename map::partition_components{}),
            key_text_of<Entity, key_part::row>(row, map::row_layout, typename map::row_components{})};
    }
    template <std::size_t... Index>
    [[nodiscard]] static int compare(values const& left, values const& right, std::index_sequence<Index...>) {
        int order = 0;
        static_cast<void>(((order = typename ranked_term<Row, Terms>::comparison{}(
                                std::get<Index>(left).get(), std::get<Index>(right).get()),
                               order == 0) &&
            ...));
        return order;
    }
    /// `keys_of_left` returns the keys of a row without a slot.
    template <class KeysOfLeft>
    [[nodiscard]] bool is_before(ranked const& left, ranked const& right, KeysOfLeft const& keys_of_left) const {
        int const order = compare(left.of, right.of, std::index_sequence_for<Terms...>{});
        if (order != 0) { return order < 0; }
        if (!by_keys_) { return left.arrival < right.arrival; }
        key_pair const& ours = keys_of_left();
        return ranked_keys::is_before(ours, keys_.at(right.slot));
    }
    [[nodiscard]] bool is_before(ranked const& left, ranked const& right) const {
        return is_before(left, right, [&]() -> key_pair const& { return keys_.at(left.slot); });
    }
    void rank_all() {
        heap_.reserve(rows_.size());
        for (std::size_t slot = 0; slot < rows_.size(); ++slot) {
            if (by_keys_) { keys_.add(keys_of(rows_[slot])); }
            heap_.push_back(rank(rows_[slot], slot, slot));
        }
    }
    /// Makes a heap whose first row is the last in the order.
    void make_heap() {
        rank_all();
        for (std::size_t at = heap_.size() / 2; at > 0; --at) { sink(at - 1); }
    }
    void sink(std::size_t at) {
        for (;;) {
            std::size_t child = 2 * at + 1;
            if (child >= heap_.size()) { return; }
            if (child + 1 < heap_.size() && is_before(heap_[child], heap_[child + 1])) { ++child; }
            if (!is_before(heap_[at], heap_[child])) { return; }
            std::swap(heap_[at], heap_[child]);
            at = child;
        }
    }

    std::tuple<Terms...> const* terms_;
    std::uint64_t limit_;
    bool by_keys_;
    std::uint64_t arrivals_{};
    std::vector<Row> rows_;
    ranked_keys keys_;         ///< by slot; empty unless `by_keys_`
    std::vector<ranked> heap_; ///< empty until `limit_` rows were added
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/row_ranks.ipp>
#endif

#endif
