// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/row/system_rows.hpp>
#include <entitable/shards/detail/shard_mover.hpp>
#include <entitable/shards/detail/sharded_state.hpp>
#include <entitable/shards/shard_move.hpp>
#include <entitable/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct moved_size {
    std::uint64_t rows{};
    std::uint64_t bytes{};
};
/// Of a physical table, without the guard rows of moves.
inline result<moved_size> shard_table_size(any_transport const& from, std::string const& table) {
    moved_size made;
    query_entities asked{table, {}, {}, {}, 1000, {}};
    do {
        call context;
        ENTITABLE_TRY(auto found, from.execute(asked, context));
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            row_view const each = found.rows[index];
            if (each.row_key != system_row::copy) {
                ++made.rows;
                made.bytes += each.partition_key.size() + each.row_key.size() + each.payload.size();
            }
        }
        asked.continuation = std::move(found.continuation);
    } while (asked.continuation);
    return made;
}

/// Drives a move to its end on the calling thread.
inline result<move_progress> drive(shard_mover& moving, sharded_state& state, clock& time, move_watcher const& watch) {
    std::optional<move_progress> told;
    for (;;) {
        operation_step const due = moving.next();
        if (due.done()) {
            if (watch && told && told->step != moving.progress().step) {
                static_cast<void>(watch(moving.progress())); // of what is over
            }
            return moving.finish();
        }
        move_progress const& at = moving.progress();
        if (watch && (!told || told->step != at.step || told->rows != at.rows)) {
            told = at;
            if (!watch(at)) {
                moving.abandon(error{error_code::cancelled, "the move was stopped"});
                continue;
            }
        }
        call context;
        if (due.not_before > (steady_time::min)()) {
            if (auto waited = wait_until(due.not_before, context, time); !waited) {
                moving.abandon(waited.error());
                continue;
            }
        }
        auto const way =
            due.place == 0 ? result<any_transport>{state.map.state().catalogue} : state.store(moving.store(due.place));
        if (!way) {
            moving.abandon(way.error());
            continue;
        }
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<shard_mover, Request>) {
                auto answer = way->execute(request, context);
                moving.answer(std::move(answer), time.steady());
            }
        });
    }
}

} // namespace detail

ENTITABLE_DECL std::string_view to_string(move_step step) noexcept {
    constexpr std::string_view words[] = {"taking over", "registering", "copying", "catching up", "verifying",
        "closing", "waiting", "draining", "sealing", "flipping", "dropping", "done"};
    return words[static_cast<std::size_t>(step)];
}

ENTITABLE_DECL result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options) {
    detail::sharded_state& state = cloud.state();
    ENTITABLE_TRY(auto const map, state.map.state().fresh({}));
    if (shard < 0 || static_cast<std::size_t>(shard) >= map->places.size() || !detail::is_store_name(target)) {
        return failure{error_code::invalid_input, "there is no such virtual shard, or this is no name of a store"};
    }
    detail::shard_place const& place = map->places[static_cast<std::size_t>(shard)];
    if (place.row.store == target) {
        return failure{
            error_code::invalid_input, text::joined({"the virtual shard is in the store ", target, " already"})};
    }
    ENTITABLE_TRY(auto const source, state.store(place.row.store));
    ENTITABLE_TRY(auto const reached, state.store(target));
    {
        call context;
        ENTITABLE_CHECK(reached.execute(list_tables{{}, 1}, context));
    }
    move_plan plan{cloud};
    plan.shard = shard;
    plan.source = place.row.store;
    plan.target = std::move(target);
    plan.lease = std::chrono::milliseconds{place.row.open_lease_ms};
    for (detail::shard_table const& each : map->tables) {
        if (!each.dropping) {
            ENTITABLE_TRY(auto const size,
                detail::shard_table_size(
                    source, detail::shard_table_name(each.name, shard, (std::max)(place.row.epoch, each.epoch))));
            plan.rows += size.rows;
            plan.bytes += size.bytes;
            ++plan.tables;
        }
    }
    plan.options_ = std::move(options);
    if (plan.options_.owner.empty()) {
        plan.options_.owner = guid::random().to_string();
    }
    return plan;
}

ENTITABLE_DECL std::string move_plan::explain() const {
    std::uint64_t const pages = rows / options_.page_size + tables;
    std::string const wait =
        std::to_string((options_.off_line ? lease : (std::min)(lease, options_.short_lease)).count());
    std::string out = text::joined({"move virtual shard ", std::to_string(shard), " from ", source, " to ", target,
        ": ", std::to_string(tables), " tables, ", std::to_string(rows), " rows, ", std::to_string(bytes), " bytes\n",
        "  reads: about ", std::to_string(8 * pages), " pages, 5 of them keys only; writes: ",
        std::to_string((rows + 98) / 99), " to ", std::to_string(rows), " batches, one at least for each partition\n"});
    if (options_.off_line) {
        return text::joined({out, "  nobody reads or writes the shard for the lease of ", wait,
            " ms and the time of the copy; other shards go on\n"});
    }
    return text::joined({out, "  it waits for the lease of ", std::to_string(lease.count()),
        " ms while clients read and write; then writes pause for ", wait, " ms and ", std::to_string(3 * pages),
        " pages of keys, reads for ", std::to_string(2 * pages), " of these pages\n"});
}

ENTITABLE_DECL result<void> cancel_move(sharded const& cloud, std::int32_t shard) {
    detail::sharded_state& state = cloud.state();
    detail::lookup_map_state& map = state.map.state();
    detail::shard_mover_order order;
    order.map = map.table;
    order.shard = shard;
    order.name = guid::random().to_string();
    detail::shard_mover ending{std::move(order), map.now()};
    auto ended = detail::drive(ending, state, *map.options.time, {});
    return ended ? result<void>{} : std::move(ended).as_failure();
}

ENTITABLE_DECL result<move_progress> move_plan::run(move_watcher const& watch) {
    detail::sharded_state& state = cloud_.state();
    ENTITABLE_TRY(auto const to, state.store(target));
    detail::shard_mover_order order;
    order.map = state.map.state().table;
    order.shard = shard;
    order.source = source;
    order.target = target;
    order.name = guid::random().to_string();
    order.limits = to.profile();
    order.options = options_;
    detail::shard_mover moving{std::move(order), options_.time->steady()};
    return detail::drive(moving, state, *options_.time, watch);
}

ENTITABLE_END_NAMESPACE
