// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `ordered_query`: a query whose rows the client sorts: the result of `order_by`, `top` and `bottom`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/query_folds.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/client/detail/row_ranks.hpp>
#include <entitable/core/iterator.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

template <class Entity, access_path Path, class Row>
class query;

namespace detail {

/// The query that an ordered query runs: it also reads the members that it sorts by.
template <class Entity, class Query, class... Terms>
struct ordered_reading {
    using type = Query;
    static constexpr bool plain = false; ///< whether it can be limited to a number of rows
};
template <class Entity, access_path Path, class... Terms>
struct ordered_reading<Entity, query<Entity, Path, Entity>, Terms...> {
    using type = query<Entity, Path, Entity>;
    static constexpr bool plain = std::is_copy_constructible_v<Entity>;
};
/// The members of a term as a list of fields.
template <class Fields, class... Terms>
struct fields_of_terms {
    using type = Fields;
};
template <class... Fields, class... Own, class... More>
struct fields_of_terms<std::tuple<Fields...>, std::tuple<Own...>, More...>
    : fields_of_terms<typename distinct_fields<std::tuple<Fields...>, Own...>::type, More...> {};
template <class... Fields, class... More>
struct fields_of_terms<std::tuple<Fields...>, void, More...> : fields_of_terms<std::tuple<Fields...>, More...> {};
template <class Entity, access_path Path, class... Fields, class... Terms>
struct ordered_reading<Entity, query<Entity, Path, selected<Entity, Fields...>>, Terms...> {
    using fields = typename fields_of_terms<std::tuple<Fields...>,
        typename sorting_value<typename without_direction<Terms>::type>::fields...>::type;
    using type = query<Entity, Path, typename selected_of<Entity, fields>::type>;
    static constexpr bool plain = true;
};

/// The rows of an iteration.
template <class Row>
struct sorted_rows : counted {
    explicit sorted_rows(std::vector<Row>&& rows) : all(std::move(rows)) {}
    std::vector<Row> all;
};

/// Appends the name of a term.
template <class Term>
void append_term(std::string& out, Term const& term) {
    using by = typename without_direction<Term>::type;
    out += out.empty() ? "" : ", ";
    out += sorting_value<by>::name(by_of(term));
    out += without_direction<Term>::descending ? " descending" : "";
}

} // namespace detail

/// A query whose rows the client sorts, because the store returns them in key order only. It reads all rows of the query, and works the
/// same over every store. Text is in the order of its UTF-16 code units, as in comparisons. Absent values come last, and a NaN after all
/// numbers, in both directions. Rows with equal values keep the order of the query, which is key order, or index order; if the store returns
/// rows in no order, they are in key order.
///
/// Memory: with `take(n)`, n rows; otherwise all rows. Errors: those of the query; QueryTooComplex without `take` if the query has more than
/// `most_rows` rows. Cost: all pages of the query. Thread safety: one thread at a time.
template <class Entity, class Query, class... Terms>
class ordered_query
    : public detail::entity_folds<ordered_query<Entity, Query, Terms...>, Entity, typename Query::value_type> {
    using folds = detail::entity_folds<ordered_query, Entity, typename Query::value_type>;
    using reading = detail::ordered_reading<Entity, Query, Terms...>;
    using read_query = typename reading::type;
    using read_row = typename read_query::value_type;
    static_assert((detail::can_order<read_query, Entity, Terms> && ...),
        "order_by(...) of selected members cannot mix functions of a row with members that were not selected: add them "
        "to "
        "select(...)");

public:
    using value_type = typename Query::value_type; ///< the type of its elements

    /// Made by a query.
    ordered_query(Query all, std::tuple<Terms...> terms) : all_(std::move(all)), terms_(std::move(terms)) {}

    // ---- options ----

    /// Returns at most `count` rows, the first in the order. Memory: `count` rows.
    [[nodiscard]] ordered_query take(std::uint64_t count) const {
        ordered_query changed{*this};
        if (!changed.take_ || *changed.take_ > count) { changed.take_ = count; }
        return changed;
    }
    /// Sorts at most that many rows without `take`; if there are more, the query fails with QueryTooComplex. Default:
    /// `default_most_sorted_rows`.
    [[nodiscard]] ordered_query most_rows(std::uint64_t rows) const {
        ordered_query changed{*this};
        changed.most_rows_ = rows;
        return changed;
    }
    /// See `query::page_size`.
    [[nodiscard]] ordered_query page_size(std::uint32_t rows) const { return over(all_.page_size(rows)); }
    /// See `query::in_flight`.
    [[nodiscard]] ordered_query in_flight(std::size_t ranges) const { return over(all_.in_flight(ranges)); }
    /// See `query::select`. The members of the order need not be selected.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        using selected_query = decltype(all_.select(fields...));
        constexpr bool sortable = (detail::can_order<selected_query, Entity, Terms> && ...) &&
            !(std::is_void_v<typename detail::sorting_value<typename detail::without_direction<Terms>::type>::fields> ||
                ...);
        static_assert(sortable,
            "select(...) after order_by(...) needs an order of members of the same type: sort by members, day(...) or "
            "computed(...); select fields of an index before order_by(...)");
        if constexpr (sortable) {
            ordered_query<Entity, selected_query, Terms...> changed{all_.select(fields...), terms_};
            changed.take_ = take_;
            changed.most_rows_ = most_rows_;
            return changed;
        } else {
            return *this;
        }
    }

    /// Explains how the query would run, with its order and the maximum number of rows in memory. Sends nothing.
    [[nodiscard]] auto explain() const {
        auto made = read().explain();
        if (made) {
            std::apply([&](auto const&... term) { (detail::append_term(made->sorted_by, term), ...); }, terms_);
            made->sorted_rows = take_ ? *take_ : most_rows_;
        }
        return made;
    }

    // ---- running ----

    /// Returns all rows in order, in a container with push_back.
    template <class Container = std::vector<value_type>>
    [[nodiscard]] result<Container> to() const {
        auto sorted = run(take_);
        if (!sorted) { return std::move(sorted).as_failure(); }
        if constexpr (std::same_as<Container, std::vector<read_row>>) {
            return sorted;
        } else {
            result<Container> all{std::in_place};
            for (read_row& each : *sorted) { all->push_back(value_type(std::move(each))); }
            return all;
        }
    }
    /// Calls `function(row)` for each row in order, after all rows were read.
    template <class Function>
    [[nodiscard]] result<void> for_each(Function&& function) const {
        auto sorted = to();
        if (!sorted) { return std::move(sorted).as_failure(); }
        for (value_type const& each : *sorted) { function(each); }
        return {};
    }
    /// Returns the first row in the order, or nullopt. Memory: one row.
    [[nodiscard]] result<std::optional<value_type>> first() const {
        auto sorted = take(1).to();
        if (!sorted) { return std::move(sorted).as_failure(); }
        result<std::optional<value_type>> found{std::in_place};
        if (!sorted->empty()) { found->emplace(std::move(sorted->front())); }
        return found;
    }
    /// See `query::count`. Sorts nothing.
    [[nodiscard]] result<std::uint64_t> count() const {
        auto rows = all_.count();
        if (rows && take_ && *rows > *take_) { rows = *take_; }
        return rows;
    }
    /// See `query::exists`. Sorts nothing.
    [[nodiscard]] result<bool> exists() const {
        if (take_ && *take_ == 0) { return all_.take(0).exists(); }
        return all_.exists();
    }

    using folds::fold;
    /// Like `query::fold`, over the rows that `take` leaves. Without `take` it sorts nothing.
    template <detail::aggregate... Aggregates>
    [[nodiscard]] result<std::tuple<typename Aggregates::value_type...>> fold(Aggregates... aggregates) const {
        return take_ ? folds::fold(aggregates...) : all_.fold(aggregates...);
    }
    /// Like `query::group_by`, over the rows that `take` leaves. Without `take` it sorts nothing.
    template <class By, class... Aggregates>
    [[nodiscard]] auto group_by(By by, Aggregates... aggregates) const {
        return take_ ? folds::group_by(by, aggregates...) : all_.group_by(by, aggregates...);
    }

    // ---- what a sorted query does not have ----

    /// Does not compile: the query is sorted already.
    template <class... More>
    ordered_query order_by(More const&...) const {
        static_assert(sizeof...(More) > sizeof...(Terms) + 1000,
            "this query is sorted already: name all members in one order_by(a, descending(b))");
        return *this;
    }
    /// Does not compile: the query is sorted already.
    template <class By>
    ordered_query top(std::uint64_t, By const&) const {
        return order_by(By{});
    }
    /// Does not compile: the query is sorted already.
    template <class By>
    ordered_query bottom(std::uint64_t, By const&) const {
        return order_by(By{});
    }
    /// Does not compile: the rows of a page are sorted only after all pages were read.
    template <class... Arguments>
    ordered_query pages(Arguments const&...) const {
        static_assert(sizeof...(Arguments) > 1000,
            "a sorted query has no pages and no token, because the client sorts all rows: use take(n), or an index "
            "with "
            "this order");
        return *this;
    }
    /// Does not compile: see `pages`.
    template <class... Arguments>
    ordered_query resume(Arguments const&... token) const {
        return pages(token...);
    }

    /// An input iterator over the sorted rows.
    class iterator {
    public:
        using iterator_concept = std::input_iterator_tag; ///< single pass
        using value_type = typename Query::value_type;    ///< the type of its elements
        using difference_type = std::ptrdiff_t;           ///< required of an iterator

        iterator() = default;
        [[nodiscard]] value_type const& operator*() const { return rows_->all[at_]; } ///< the row
        [[nodiscard]] value_type const* operator->() const { return &**this; }        ///< the row
        /// Moves to the next row.
        iterator& operator++() {
            ++at_;
            return *this;
        }
        void operator++(int) { ++at_; } ///< moves to the next row
        [[nodiscard]] friend bool operator==(iterator const& at, std::default_sentinel_t) noexcept {
            return !at.rows_ || at.at_ >= at.rows_->all.size();
        }

    private:
        friend class ordered_query;
        explicit iterator(shared<detail::sorted_rows<value_type>> rows) noexcept : rows_(std::move(rows)) {}

        shared<detail::sorted_rows<value_type>> rows_;
        std::size_t at_{};
    };
    /// Reads and sorts the rows; throws the error if one cannot be read.
    [[nodiscard]] iterator begin() const {
        return iterator{shared<detail::sorted_rows<value_type>>::make(to().value())};
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; } ///< end of the rows

private:
    template <class, class, class...>
    friend class ordered_query;

    [[nodiscard]] ordered_query over(Query all) const {
        ordered_query changed{*this};
        changed.all_ = std::move(all);
        return changed;
    }
    [[nodiscard]] read_query read() const {
        if constexpr (std::same_as<read_query, Query>) {
            return all_;
        } else {
            return detail::query_rows::reading<read_query>(all_);
        }
    }
    [[nodiscard]] static bool comes_in_order(read_query const& all) {
        if constexpr (requires { all.unverified(); }) {
            return detail::in_key_order(detail::query_rows::source_of(all.unverified()));
        } else {
            return detail::in_key_order(detail::query_rows::source_of(all));
        }
    }
    /// Reads the rows, keeps the first of them in the order, and sorts these.
    [[nodiscard]] result<std::vector<read_row>> run(std::optional<std::uint64_t> take) const {
        read_query const all = read();
        if (take && *take == 0) { return all.take(0).to(); }
        constexpr auto no_limit = static_cast<std::uint64_t>(-1);
        detail::row_ranks<Entity, read_row, Terms...> ranks{terms_, take ? *take : no_limit, !comes_in_order(all)};
        if constexpr (reading::plain) {
            auto const& limits = detail::query_rows::limits_of(all);
            if (!take && limits.read == nullptr) { // a token counts rows before it
                auto const most = most_rows_ == no_limit ? no_limit : most_rows_ + 1;
                auto rows = all.take(limits.take && *limits.take < most ? *limits.take : most).to();
                if (!rows) { return rows; }
                if (rows->size() > most_rows_) { return detail::too_many_to_sort(most_rows_); }
                ranks.begin_with(*std::move(rows));
                return ranks.finish();
            }
            auto const most = take ? no_limit : most_rows_;
            auto done = all.for_each([&](read_row const& row) {
                if (ranks.size() <= most) { ranks.add(row); }
            });
            if (!done) { return std::move(done).as_failure(); }
            if (ranks.size() > most) { return detail::too_many_to_sort(most_rows_); }
            return ranks.finish();
        } else {
            auto pages = all.pages();
            for (;;) {
                auto page = pages.next();
                if (!page) { return std::move(page).as_failure(); }
                if (!*page) { return ranks.finish(); }
                for (read_row& row : (*page)->items) {
                    ranks.add(std::move(row));
                    if (!take && ranks.size() > most_rows_) { return detail::too_many_to_sort(most_rows_); }
                }
            }
        }
    }

    Query all_;
    std::tuple<Terms...> terms_;
    std::optional<std::uint64_t> take_;
    std::uint64_t most_rows_{default_most_sorted_rows};
};

ENTITABLE_END_NAMESPACE

#endif
