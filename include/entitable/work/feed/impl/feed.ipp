// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/feed/feed.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The declaration of a change log, as a table stores it.
struct stored_log {
    std::size_t lanes{};
    std::size_t feed_lanes{};
};

/// Reads how many lanes the log of a table and its announcements have; see `shape_of_log`.
[[nodiscard]] inline result<stored_log> read_stored_log(row_table const& table) {
    call context{table.options()};
    std::string const key = text::joined({system_row::index, shape_of_log(1, 0).name});
    auto const found =
        table.store().execute(get_entity{table.name(), std::string{system_row::index}, key, {}}, context);
    if (!found && found.error().code != error_code::resource_not_found) { return failure{found.error()}; }
    stored_log made;
    if (found) {
        row_view const stored = found->entity;
        auto const state = stored.find("State");
        auto const definition = stored.find("Definition");
        bool const retired =
            state && state->type() == edm_type::string && state->as_string() == to_string(index_state::retired);
        if (!retired && definition && definition->type() == edm_type::int64) {
            auto const bits = static_cast<std::uint64_t>(definition->bits());
            std::size_t const lanes = bits & 0xFFU;
            std::size_t const feed_lanes = (bits >> 8U) & 0xFFU;
            // Another version of the log would have another definition.
            if (shape_of_log(lanes, feed_lanes).definition == bits) {
                made.lanes = lanes;
                made.feed_lanes = feed_lanes;
            }
        }
    }
    if (made.lanes != 0 && made.feed_lanes != 0) { return made; }
    return failure{error_code::declaration_missing,
        text::joined({"the table \"", table.name(),
            made.lanes == 0 ? "\" has no declared change log" : "\" logs its changes and does not announce them",
            ": declare it as table<E, announced>"})};
}

} // namespace detail

ENTITABLE_DECL result<feed> feed::of_stored(row_table const& table, std::string group, feed_options options) {
    ENTITABLE_TRY(detail::stored_log const log, detail::read_stored_log(table));
    table_options how;
    how.time = options.time;
    how.calls = options.calls;
    detail::table_core const core{table.store(), table.name(), table.options()};
    auto family = shared<detail::index_family>::make(core,
        std::vector<detail::index_shape>{detail::shape_of_log(log.lanes, log.feed_lanes)},
        std::vector<detail::table_core>{core}, nullptr, std::vector<detail::entity_type>{}, std::move(how),
        shared<detail::log_of_table>::make(log.lanes, std::size_t{0}, log.feed_lanes));
    return feed{shared<detail::feed_core>::make(std::move(family), std::move(group), std::move(options))};
}

ENTITABLE_DECL result<void> feed::check_lag(std::chrono::nanoseconds most) const {
    ENTITABLE_TRY(feed_status const now, status());
    for (group_status const& each : now.groups) {
        std::chrono::nanoseconds const age{(now.time.ticks - each.processed_until.ticks) * 100};
        if (each.partitions_behind == 0 || age <= most) { continue; }
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
        return failure{error_code::group_behind,
            text::joined({"the group \"", each.name, "\" of the feed of the table \"", core_->table(), "\" is ",
                std::to_string(seconds), " s behind, in ", std::to_string(each.partitions_behind),
                " partitions: run its workers, or call leave()"})};
    }
    return {};
}

ENTITABLE_END_NAMESPACE
