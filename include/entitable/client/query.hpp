// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `query<E, Path>`: a typed query. A range of entities, and folds over it that return results.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/aggregate.hpp>
#include <entitable/client/detail/query_folds.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/ordered_query.hpp>
#include <entitable/client/pages.hpp>
#include <entitable/client/row_walk.hpp>
#include <entitable/client/selected.hpp>
#include <entitable/core/iterator.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct query_rows;

/// \cond
template <class Entity>
result<std::optional<Entity>> instantiated_entity<Entity>::first(any_query const& asked) {
    result<std::optional<Entity>> found{std::in_place, std::in_place};
    auto read = asked.read_first(nullptr, &**found, &instantiated_entity<Entity>::read);
    if (!read) {
        found = std::move(read).as_failure();
    } else if (!*read) {
        found->reset();
    }
    return found;
}
template <class Entity>
result<std::vector<Entity>> instantiated_entity<Entity>::all(any_query const& asked) {
    result<std::vector<Entity>> found{std::in_place};
    found.fail_if(
        asked.read_all(nullptr, &*found, &add, &instantiated_entity<Entity>::read, is_read_by_library<Entity>));
    return found;
}
/// \endcond

} // namespace detail

/// A query over entities of one type. It owns its state; the table may be destroyed before it. Copies are cheap, so a query is a view.
/// Single pass: each `begin()` runs it again. `call_options::timeout` bounds each page, not the run. Thread safety: one thread at a time;
/// copies are independent.
template <class Entity, access_path Path, class Row = Entity>
class query : public std::ranges::view_base,
              public detail::query_folds<query<Entity, Path, Row>, Entity>,
              private detail::any_query {
public:
    /// The access path of the query.
    static constexpr access_path access = Path;
    using value_type = Row; ///< the type of its elements

    /// An empty query: InvalidInput when it runs. For views, which are constructed before they are assigned.
    query() = default;
    /// Made by a table.
    query(detail::table_core const& table, predicate_nodes const& condition)
        : any_query(table, condition, Path, detail::kind_of_entity<Entity>) {}
    explicit query(shared<detail::query_source>&& source) : any_query(std::move(source)) {}
    query(any_store through, call_options options, std::string table, result<query_plan> plan)
        : any_query(shared<detail::query_source>::make(std::move(through), std::move(options), std::move(table),
              std::move(plan), mapping<Entity>::partition_layout, mapping<Entity>::row_layout)) {}

    // ---- options ----

    /// Returns at most `count` entities in total.
    [[nodiscard]] query take(std::uint64_t count) const {
        query changed{*this};
        changed.limits_.take = count;
        return changed;
    }
    /// Requests at most `rows` rows at a time, 1 to 1000, otherwise the first request is InvalidInput; the total number of entities does
    /// not change.
    [[nodiscard]] query page_size(std::uint32_t rows) const {
        query changed{*this};
        changed.limits_.page_size = rows;
        return changed;
    }
    /// Reads up to `ranges` key ranges concurrently, if there are several and the transport supports it; the order of the results does not
    /// change. Holds up to that many pages in memory. Default: 1.
    [[nodiscard]] query in_flight(std::size_t ranges) const {
        query changed{*this};
        changed.limits_.in_flight = ranges < 1 ? 1 : ranges;
        return changed;
    }
    /// Lets the results come in any order, partition by partition, if that costs less: over shards in files or in memory the stores are then
    /// read one after the other, and their pages are not merged. With `take`, and page by page, the order is kept.
    [[nodiscard]] query in_any_order() const {
        query changed{*this};
        changed.limits_.any_order = true;
        return changed;
    }
    /// Continues after the page of this token; entities returned before that count towards `take`. Errors: ContinuationInvalid when it
    /// runs, unless the token is from a query with the same table, predicate and select.
    [[nodiscard]] query resume(std::string token) const {
        query changed{*this};
        changed.limits_.token = std::move(token);
        changed.limits_.read = [](query_parts const& parts, projection const& select, std::string_view text) {
            return read_token(parts, select, text);
        };
        return changed;
    }
    /// Returns only these members, the keys and the ETag: the service sends only these, and the properties of the part of the
    /// predicate that the client checks. The elements are `selected<Entity, Fields...>`.
    template <class... Fields>
    [[nodiscard]] auto select(Fields...) const {
        constexpr bool fields = sizeof...(Fields) > 0 && (detail::is_field_of<Entity, Fields> && ...);
        constexpr bool once = detail::are_distinct<Fields...>;
        static_assert(fields, "select(...) needs fields of the query's entity");
        constexpr bool one_property_each = !(detail::is_field_in_parts<Fields> || ...);
        static_assert(one_property_each,
            "select(...) cannot take a member that is stored as several properties (chunked, or a reference): read the "
            "entity");
        static_assert(once, "select(...) must name each field once");
        if constexpr (fields && one_property_each && once) {
            return query<Entity, Path, selected<Entity, Fields...>>{source_, limits_};
        } else {
            return *this;
        }
    }

    /// Explains how the query would run; returns its error if it could not be planned. Sends nothing.
    [[nodiscard]] result<explanation> explain() const { return explain_with(names); }
    /// Cost of this object's last run so far; zeros before the first. Runs of a copy are not counted.
    [[nodiscard]] query_cost analyze() const { return last_.walk ? last_.walk->cost() : query_cost{}; }

    // ---- running ----

    /// Calls `function(entity)` for each entity; returns the error of a failed page, after the entities before it. Exceptions thrown by the
    /// function are propagated and end the query. The function may write to the table: it is called while no page is
    /// being read, with the entities of each page as they were when the page was read.
    template <class Function>
    [[nodiscard]] result<void> for_each(Function&& function) const {
        return each_of(detail::is_read_by_library<Row>, function);
    }

    /// Returns the first entity, or nullopt.
    [[nodiscard]] result<std::optional<Row>> first() const {
        if constexpr (std::same_as<Row, Entity>) {
            return detail::instantiated_entity<Entity>::first(*this);
        } else {
            result<std::optional<Row>> found{std::in_place, std::in_place};
            auto read = read_first(names, &**found, detail::read_row<Entity, Row>);
            if (!read) {
                found = std::move(read).as_failure();
            } else if (!*read) {
                found->reset();
            }
            return found;
        }
    }

    /// Returns the number of entities. Cost: one request per page of the result; the service sends only keys, and the properties of the
    /// client's part of the predicate.
    [[nodiscard]] result<std::uint64_t> count() const { return count_with(names); }

    /// Whether there is an entity. Cost: one row is read; the service sends only keys, and the properties of the client's part of the
    /// predicate.
    [[nodiscard]] result<bool> exists() const { return exists_with(names); }

    /// Returns all entities in a container with push_back.
    template <class Container = std::vector<Row>>
    [[nodiscard]] result<Container> to() const {
        constexpr bool copied = std::is_copy_constructible_v<Row> || !std::same_as<Container, std::vector<Row>>;
        static_assert(copied, "to() copies each entity, but this type cannot be copied: use for_each");
        if constexpr (copied && std::same_as<Container, std::vector<Entity>>) {
            return detail::instantiated_entity<Entity>::all(*this);
        } else {
            result<Container> all{std::in_place};
            if constexpr (copied && std::same_as<Container, std::vector<Row>>) {
                all.fail_if(read_all(names, &*all, &detail::add_row<Row>, detail::read_row<Entity, Row>,
                    detail::is_read_by_library<Row>));
            } else if constexpr (copied) {
                all.fail_if(for_each([&](Row const& entity) { all->push_back(entity); }));
            }
            return all;
        }
    }
    /// The same as `to` without a container.
    [[nodiscard]] result<std::vector<Row>> to_vector() const { return to(); }

    using detail::query_folds<query, Entity>::fold;
    /// Computes several aggregates in one pass: `auto [n, least] = readings.fold(count(), min(r::celsius)).value()`. The service sends only
    /// the members that they need.
    template <detail::aggregate... Aggregates>
    [[nodiscard]] result<std::tuple<typename Aggregates::value_type...>> fold(Aggregates... aggregates) const {
        constexpr bool own = detail::are_of_fields<Entity, Aggregates...>;
        static_assert(own, "fold(...) needs aggregates of fields of the query's entity");
        result<std::tuple<typename Aggregates::value_type...>> values{std::in_place};
        if constexpr (own) {
            using read = detail::selected_with<Entity, std::tuple<>, typename Aggregates::field...>;
            detail::aggregates_of<Aggregates...> all{{aggregates}...};
            auto done = show_members<read, true>([&](typename read::shown_type const& row) { all.take(row); });
            if (done && !all.finish(*values)) { done = detail::sum_out_of_range(); }
            values.fail_if(std::move(done));
        }
        return values;
    }
    /// Computes the aggregates of each group of entities with equal values of a field, a computed value (`day(r::at)`, `computed(...)`) or a
    /// function of the entity, in the order of these values: pairs of the value and a tuple. An absent value comes first, a NaN last.
    /// Cost: all groups are in memory at the end; if the entities are in the order of the field, groups need no lookup. A function of the
    /// entity needs the whole entity; otherwise the service sends only the members that are used.
    template <class By, class... Aggregates>
    [[nodiscard]] auto group_by(By by, Aggregates... aggregates) const {
        constexpr bool own = detail::can_group<Entity, Row, By, Aggregates...>();
        using sorting = detail::sorting_value<By>;
        if constexpr (own && std::is_void_v<typename sorting::fields>) {
            return detail::groups_of<Row>(by, detail::aggregates_of<Aggregates...>{{aggregates}...},
                [&](auto const& visit) { return for_each(visit); });
        } else if constexpr (own) {
            using read = detail::selected_with<Entity, typename sorting::fields, typename Aggregates::field...>;
            return detail::groups_of<typename read::shown_type>(by,
                detail::aggregates_of<Aggregates...>{{aggregates}...},
                [&](auto const& visit) { return show_members<read, sorting::by_library>(visit); });
        } else {
            return typename detail::no_groups<By>::type{std::in_place};
        }
    }
    /// Returns the result page by page, to stop and continue with `resume(token)`.
    [[nodiscard]] query_pages<Entity, Row> pages() const { return query_pages<Entity, Row>{start(names)}; }

    /// An input iterator over the entities. Throws the error of a failed page, as `value()` would.
    class iterator : public detail::row_iterator {
    public:
        using iterator_concept = std::input_iterator_tag; ///< single pass
        using value_type = Row;                           ///< the type of its elements
        using difference_type = std::ptrdiff_t;           ///< required of a view's iterator

        iterator() = default;
        /// Valid until the next step.
        [[nodiscard]] Row const& operator*() const { return *static_cast<Row const*>(row()); }
        [[nodiscard]] Row const* operator->() const { return &**this; } ///< valid until the next step
        /// Moves to the next row; throws the error if it cannot be read, and throws it again on every later step. Past the end, this and
        /// `*` end the program, by `ENTITABLE_ASSERT`; `*` after an error ends it too.
        iterator& operator++() {
            step();
            return *this;
        }
        void operator++(int) { step(); } ///< the next row

    private:
        friend class query;

        using detail::row_iterator::row_iterator;
    };

    /// Runs the query; throws its error if it cannot run.
    [[nodiscard]] iterator begin() const { return iterator{*this, names, detail::kind_of_row<Entity, Row>}; }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; } ///< sentinel for `at_end`

private:
    template <class, access_path, class>
    friend class query;
    friend struct detail::query_rows;

    query(shared<detail::query_source> source, detail::query_limits limits)
        : any_query(std::move(source), std::move(limits)) {}

    /// The function that returns the names of the requested properties; null for whole entities.
    static constexpr names_of_row names = detail::names_of_row_of<Entity, Row>;
    /// Calls `function(row)` for each row, after its page was read.
    template <class Function>
    [[nodiscard]] result<void> each_of(bool shown, Function& function) const {
        Function* target = &function; // may point to a function, which is not an object
        auto const call = [](void* to, void const* row) {
            (**static_cast<Function**>(to))(*static_cast<Row const*>(row));
        };
        return call_all(names, detail::kind_of_row<Entity, Row>, shown, &target, call);
    }
    /// Calls `function(row)` for the members of each row, without its version; counts as a run of this object. `ByLibrary`: the function
    /// runs no code of the user, which may call the store, and is called while the store is being read, if possible.
    template <class Selected, bool ByLibrary, class Function>
    [[nodiscard]] result<void> show_members(Function const& function) const {
        using shown = typename Selected::shown_type;
        constexpr bool reads_shown = detail::is_read_by_library<Selected>;
        // A token belongs to a query with this select.
        names_of_row const asked = limits_.read != nullptr ? names : detail::names_of_row_of<Entity, Selected>;
        if constexpr (ByLibrary) {
            auto walk = start(asked);
            if (!walk) { return std::move(walk).as_failure(); }
            return detail::fold_shown<shown, reads_shown>(**walk, function);
        } else {
            auto const call = [](void* to, void const* row) {
                (*static_cast<Function const*>(to))(*static_cast<shown const*>(row));
            };
            return call_all(asked, detail::kind_of_row<Entity, shown>, reads_shown,
                const_cast<void*>(static_cast<void const*>(&function)), call);
        }
    }
};

ENTITABLE_END_NAMESPACE

#endif
