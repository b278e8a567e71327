// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `expire`: removes entities that a query finds and that were not written for some time.

#include <entitable/bulk/bulk_load.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Removes the entities that a query of the table finds and that were last written longer ago than `older_than`, by their Timestamp and the
/// clock of the load. An entity that is written during the run is not removed (refused, UpdateConditionNotSatisfied); a younger entity
/// counts as already there. After an error, call `expire` again: it finds the remaining entities.
///
/// Errors: as for `bulk_remove`, including wide entities, queues and views; and OutOfRangeInput for a time before 1601. Cost: reads the
/// keys of the entities that the query finds, and the keys of younger entities only if the service cannot filter by Timestamp; one request
/// for up to 100 removals in a partition.
template <class Entity, access_path Path>
[[nodiscard]] result<bulk_report> expire(table<Entity> const& from, query<Entity, Path> const& found,
    std::chrono::nanoseconds older_than, bulk_options const& options = {}) {
    date_time const limit{options.time->now().ticks - older_than.count() / 100};
    if (!limit.is_valid()) {
        return failure{error_code::out_of_range_input, "the expiry time must be in the years 1601 to 9999"};
    }
    auto const take = [&](row_view each, detail::bulk_item& item) {
        if (each.timestamp() >= limit) { return detail::bulk_input::passed; }
        return detail::take_removal(each, from.name(), options.sums, item);
    };
    return detail::bulk_over(from, detail::query_rows::written_before(found, limit), detail::bulk_mode::remove, true,
        take, nullptr, options);
}
/// Does the same in a table of several types, with indexes and sums.
template <class First, class Second, class... More, class Entity, access_path Path>
[[nodiscard]] result<bulk_report> expire(table<First, Second, More...> const& from, query<Entity, Path> const& found,
    std::chrono::nanoseconds older_than, bulk_options const& options = {}) {
    return expire(from.template of<Entity>(), found, older_than, options);
}
/// Does not compile: a reader cannot write.
template <class Reader, class... Rest>
    requires detail::is_reader<Reader>
result<bulk_report> expire(Reader const&, Rest&&...) {
    detail::refuse_reader<Reader>();
    return failure{error_code::invalid_input, {}};
}

ENTITABLE_END_NAMESPACE
