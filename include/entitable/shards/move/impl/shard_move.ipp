// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>
#include <entitable/shards/move/shard_move.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>
#include <entitable/shards/route/detail/sharded_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct moved_size {
    std::uint64_t rows{};
    std::uint64_t bytes{};
};
/// Returns the size of a physical table, without the guard rows of moves.
inline result<moved_size> shard_table_size(any_store const& from, std::string const& table, key_interval const& keys) {
    moved_size made;
    page_cursor pages{query_entities{table, {keys, {}}, {}, {}, 1000, {}}};
    while (pages.more()) {
        call context;
        ENTITABLE_TRY(auto const found, pages.take(from.execute(pages.request(), context)));
        for (row_view const each : found.rows) {
            if (each.row_key != system_row::copy) {
                ++made.rows;
                made.bytes += each.partition_key.size() + each.row_key.size() + each.payload.size();
            }
        }
    }
    return made;
}

/// Drives a move to its end on the calling thread.
inline result<move_progress> drive(
    shard_mover& moving, sharded_state& state, clock& time, move_progress_callback const& watch) {
    std::optional<move_progress> told;
    for (;;) {
        operation_step const due = moving.next();
        if (due.done()) {
            if (watch && told && told->step != moving.progress().step) {
                static_cast<void>(watch(moving.progress())); // reports the finished step
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
            due.place == 0 ? result<any_store>{state.map.state().catalogue} : state.store(moving.store(due.place));
        due.request.visit([&]<class Request>(Request const& request) {
            if constexpr (takes_answer_to<shard_mover, Request>) {
                auto answer = way ? way->execute(request, context) : failure{way.error()};
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

ENTITABLE_DECL move_plan::move_plan(sharded cloud, std::string to, move_options options)
    : target(std::move(to)), cloud_(std::move(cloud)), options_(std::move(options)) {
    if (options_.owner.empty()) { options_.owner = guid::random().to_string(); }
}

/// Checks that the target responds.
ENTITABLE_DECL result<void> move_plan::reach() {
    ENTITABLE_TRY(auto const reached, cloud_.state().store(target));
    call context;
    ENTITABLE_CHECK(reached.execute(list_tables{{}, 1}, context));
    return {};
}

/// Counts the rows of a virtual shard.
ENTITABLE_DECL result<void> move_plan::count(detail::shard_map_copy const& map, detail::shard_place const& place) {
    ENTITABLE_TRY(auto const from, cloud_.state().store(place.row.store));
    lease = (std::max)(lease, std::chrono::milliseconds{place.row.open_lease_ms});
    for (detail::shard_table const& each : map.tables) {
        if (!each.dropping) {
            ENTITABLE_TRY(auto const size, detail::shard_table_size(from, place.table_name(each), place.keys()));
            rows += size.rows;
            bytes += size.bytes;
            ++tables;
        }
    }
    return {};
}

namespace detail {

/// Finds the place of a virtual shard that is to move to a store.
inline result<shard_place const*> place_to_move(
    shard_map_copy const& map, std::int32_t shard, std::string_view target) {
    shard_place const* const found = map.find_shard(shard);
    if (found == nullptr) {
        return failure{error_code::invalid_input, text::joined({"no virtual shard ", std::to_string(shard)})};
    }
    if (!is_store_name(target)) {
        return failure{
            error_code::invalid_input, text::joined({"\"", text::printable(target), "\" is not a valid store name"})};
    }
    return found;
}

/// Checks that the rules of the map, except the one named `but`, allow a shard in a store; and the shard above it, if both are merged.
inline result<void> check_placement(lookup_map const& map, std::int32_t shard, std::optional<std::int32_t> upper,
    std::string_view target, std::string_view but = {}) {
    ENTITABLE_TRY(auto const rules, rules_of(map));
    for (placement_rule const& each : rules.all()) {
        if (each.name == but) { continue; }
        placement_rules const one{{each}};
        ENTITABLE_CHECK(one.allows(shard, target));
        if (!upper) { continue; }
        ENTITABLE_CHECK(one.allows(*upper, target));
        bool const names_lower = list_contains(each.shards, std::to_string(shard));
        if (names_lower != list_contains(each.shards, std::to_string(*upper))) {
            return failure{error_code::placement_forbidden,
                text::joined({"the rule \"", each.name, "\" names the virtual shard ",
                    std::to_string(names_lower ? shard : *upper), " but not ",
                    std::to_string(names_lower ? *upper : shard), ": they cannot be merged"})};
        }
    }
    return {};
}

ENTITABLE_DECL result<move_plan> move_planning::move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options, std::string_view but) {
    ENTITABLE_TRY(auto const map, cloud.state().map.state().fresh({}));
    ENTITABLE_TRY(auto const place, place_to_move(*map, shard, target));
    ENTITABLE_CHECK(check_placement(cloud.map(), shard, {}, target, but));
    if (place->row.store == target) {
        return failure{error_code::invalid_input, text::joined({"the virtual shard is already in the store ", target})};
    }
    move_plan plan{cloud, std::move(target), std::move(options)};
    plan.shard = shard;
    plan.source = place->row.store;
    ENTITABLE_CHECK(plan.reach());
    ENTITABLE_CHECK(plan.count(*map, *place));
    return plan;
}

ENTITABLE_DECL result<move_plan> move_planning::merge(
    sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options) {
    ENTITABLE_TRY(auto const map, cloud.state().map.state().fresh({}));
    ENTITABLE_TRY(auto const below, place_to_move(*map, lower, target));
    ENTITABLE_TRY(auto const above, place_to_move(*map, upper, target));
    if (!map->by_ranges || below->row.high.empty() || below->row.high != above->row.low) {
        return failure{error_code::invalid_input,
            text::joined({"the virtual shards ", std::to_string(lower), " and ", std::to_string(upper),
                " must be adjacent ranges, with the lower range first"})};
    }
    ENTITABLE_CHECK(check_placement(cloud.map(), lower, upper, target));
    move_plan plan{cloud, std::move(target), std::move(options)};
    plan.shard = lower;
    plan.upper = upper;
    plan.high_ = above->row.high;
    plan.source = below->row.store == above->row.store ? below->row.store
                                                       : text::joined({below->row.store, " and ", above->row.store});
    ENTITABLE_CHECK(plan.reach());
    ENTITABLE_CHECK(plan.count(*map, *below));
    ENTITABLE_CHECK(plan.count(*map, *above));
    return plan;
}

} // namespace detail

ENTITABLE_DECL result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options) {
    return detail::move_planning::move(cloud, shard, std::move(target), std::move(options), {});
}

ENTITABLE_DECL result<move_plan> plan_merge(
    sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options) {
    return detail::move_planning::merge(cloud, lower, upper, std::move(target), std::move(options));
}

ENTITABLE_DECL result<std::int32_t> split_shard(sharded const& cloud, std::int32_t shard, std::string key) {
    return detail::split_range(cloud.map(), shard, std::move(key));
}

ENTITABLE_DECL std::string move_plan::to_string() const {
    std::uint64_t const pages = rows / options_.page_size + tables;
    auto const pages_of = [&](auto const& has) {
        return pages * detail::move_phases::count([&](detail::move_phase const& each) {
            return (each.off_line || !options_.off_line) && has(each);
        });
    };
    using phase = detail::move_phase const&;
    std::uint64_t const reads =
        pages + pages_of([](phase) { return true; }); // the plan has read the rows to count them
    std::string const wait =
        std::to_string((options_.off_line ? lease : (std::min)(lease, options_.short_lease)).count());
    std::string const what = upper
        ? text::joined({"merge the virtual shards ", std::to_string(shard), " and ", std::to_string(*upper), ","})
        : text::joined({"move virtual shard ", std::to_string(shard)});
    std::string out = text::joined({what, " from ", source, " to ", target, ": ", std::to_string(tables), " tables, ",
        std::to_string(rows), " rows, ", std::to_string(bytes), " bytes\n", "  reads: about ", std::to_string(reads),
        " pages, ", std::to_string(pages_of([](phase each) { return each.keys_only(); })),
        " of them keys only; writes: ", std::to_string((rows + 98) / 99), " to ", std::to_string(rows),
        " batches, at least one for each partition\n"});
    if (options_.off_line) {
        return text::joined({out, "  reads and writes of the shard are refused for the lease of ", wait,
            " ms and the time of the copy; other shards continue\n"});
    }
    return text::joined({out, "  waits for the lease of ", std::to_string(lease.count()),
        " ms while clients read and write; then writes pause for ", wait, " ms plus the time to read ",
        std::to_string(pages_of([](phase each) { return each.is_drained; })), " pages of keys; reads pause while ",
        std::to_string(pages_of([](phase each) { return each.is_sealed; })), " of these pages are read\n"});
}

ENTITABLE_DECL result<move_progress> cancel_move(sharded const& cloud, std::int32_t shard) {
    detail::sharded_state& state = cloud.state();
    detail::lookup_map_state& map = state.map.state();
    detail::shard_mover_order order;
    order.map = map.table;
    order.shard = shard;
    order.name = guid::random().to_string();
    detail::shard_mover ending{std::move(order), map.now()};
    return detail::drive(ending, state, *map.options.time, {});
}

ENTITABLE_DECL result<move_progress> move_plan::run(move_progress_callback const& watch) {
    detail::sharded_state& state = cloud_.state();
    ENTITABLE_CHECK(detail::check_placement(cloud_.map(), shard, upper, target));
    ENTITABLE_CHECK(detail::list_store(state, target));
    ENTITABLE_TRY(auto const to, state.store(target));
    detail::shard_mover_order order;
    order.map = state.map.state().table;
    order.shard = shard;
    order.source = upper ? std::string{} : source;
    order.target = target;
    order.upper = upper;
    order.high = high_;
    order.name = guid::random().to_string();
    order.limits = to.profile();
    order.options = options_;
    detail::shard_mover moving{std::move(order), options_.time->steady()};
    return detail::drive(moving, state, *options_.time, watch);
}

ENTITABLE_END_NAMESPACE
