// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `bulk_copy`: a bulk load of the results of a query into another table.

#include <entitable/bulk/bulk_load.hpp>
#include <entitable/client/detail/row_of_change.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// `change` returns the row to insert, or nullopt.
template <class Query, class Target, class Change>
[[nodiscard]] result<bulk_report> bulk_copy_rows(
    Query const& found, table<Target> const& to, Change const& change, bulk_options const& options) {
    std::string_view const table = query_rows::table_of(found);
    auto const take = [&](row_view stored, bulk_item& item) -> bulk_input {
        if (auto whole = check_not_wide(stored, table, "copy it with copy_rows"); !whole) {
            item.why.emplace(whole.error());
            return bulk_input::stopped;
        }
        result<std::optional<row>> made = change(stored);
        if (!made) {
            item.why.emplace(made.error());
            return bulk_input::refused;
        }
        if (!*made) { return bulk_input::passed; }
        item.change = mutation::insert(**std::move(made));
        return bulk_input::row;
    };
    return bulk_from(found, false, to, bulk_mode::insert, take, nullptr, options);
}

} // namespace detail

/// Inserts the results of a query into another table, including properties that the type does not declare. Nothing in the target is
/// overwritten: a row that exists with different properties is refused with EntityAlreadyExists; a row with the same properties counts as
/// already there. A second run therefore verifies the first run and writes nothing. Source and target may be on different transports, but
/// must not be the same table.
///
/// A query finds entities, but does not find system rows: the table of a queue or a view is refused with NotSupported, and so is the first
/// wide entity. `copy_rows` copies all of these, as well as outboxes and states of indexes, which this function omits.
template <class Entity, access_path Path>
[[nodiscard]] result<bulk_report> bulk_copy(
    query<Entity, Path> const& found, table<Entity> const& to, bulk_options const& options = {}) {
    return detail::bulk_copy_rows(
        found, to, [](row_view each) -> result<std::optional<row>> { return std::optional<row>{row{each}}; }, options);
}
/// Does the same into a table of several types, with indexes and sums.
template <class Entity, access_path Path, class First, class Second, class... More>
[[nodiscard]] result<bulk_report> bulk_copy(
    query<Entity, Path> const& found, table<First, Second, More...> const& to, bulk_options const& options = {}) {
    return bulk_copy(found, to.template of<Entity>(), options);
}

/// Inserts the result of `change` for each entity that a query finds: a `Target`, an optional `Target`, or a result of either. An empty
/// optional skips the entity, which counts as already there; an error refuses it. Properties that `Source` does not declare are not copied.
template <class Source, access_path Path, class Target, class Change>
    requires std::invocable<Change const&, Source const&>
[[nodiscard]] result<bulk_report> bulk_copy(
    query<Source, Path> const& found, table<Target> const& to, Change const& change, bulk_options const& options = {}) {
    Source read;
    return detail::bulk_copy_rows(
        found, to,
        [&](row_view stored) -> result<std::optional<row>> {
            read = Source{};
            ENTITABLE_CHECK(from_row(stored, read, to.options().reading));
            return detail::row_of_change<Target>(change(std::as_const(read)));
        },
        options);
}

ENTITABLE_END_NAMESPACE
