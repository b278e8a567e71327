// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/fleet.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void in_parallel(std::size_t count, std::size_t in_flight, function_ref<void(std::size_t)> body) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr thrown;
    [[maybe_unused]] std::mutex lock;
    auto const work = [&] {
        for (std::size_t at = next++; at < count; at = next++) {
#if ENTITABLE_HAS_EXCEPTIONS
            try {
                body(at);
            } catch (...) {
                std::lock_guard<std::mutex> const guard{lock};
                thrown = thrown ? thrown : std::current_exception();
            }
#else
            body(at);
#endif
        }
    };
    std::vector<std::thread> others;
    for (std::size_t made = 1; made < (std::min)(count, in_flight); ++made) { others.emplace_back(work); }
    work(); // the calling thread takes part
    for (std::thread& each : others) { each.join(); }
#if ENTITABLE_HAS_EXCEPTIONS
    if (thrown) { std::rethrow_exception(thrown); }
#endif
}

} // namespace detail

ENTITABLE_DECL result<std::vector<std::string>> fleet::stores() const {
    ENTITABLE_TRY(auto const map, cloud_.state().map.state().fresh({}));
    std::set<std::string> names{options_.stores.begin(), options_.stores.end()};
    for (detail::shard_place const& each : map->places) { names.insert(each.row.store); }
    return std::vector<std::string>{names.begin(), names.end()};
}

ENTITABLE_DECL result<any_store> fleet::store(std::string_view name) const { return cloud_.state().store(name); }

ENTITABLE_DECL result<std::size_t> set_access(
    fleet const& of, std::string_view store, store_access access, access_reason const& reason) {
    constexpr std::string_view states[] = {"open", "draining", "sealed"};
    std::string_view const state = states[static_cast<std::size_t>(access)];
    detail::lookup_map_state& source = of.cloud().state().map.state();
    constexpr int most_rounds = 10;
    std::size_t changed = 0;
    std::int64_t lease_ms = 0;
    bool ended = false;
    for (int round = 0; round < most_rounds && !ended; ++round) { // a split may have made another shard in the meantime
        ENTITABLE_TRY(auto const map, source.fresh({}));
        ended = true;
        for (detail::shard_place const& place : map->places) {
            // A mover uses the same states, which end with the move.
            bool const is_done = place.row.state == state && place.row.attempt_owner.empty();
            if (place.row.store != store || (round > 0 && is_done)) { continue; }
            ended = false;
            bool changes = false;
            ENTITABLE_CHECK(source.change(
                {}, [&](detail::shard_map_copy const& now, detail::shard_map_draft& draft) -> result<bool> {
                    auto* const changed_row = draft.edit(now, place.row.shard);
                    if (changed_row == nullptr || changed_row->row.store != store) {
                        return false; // the shard has moved away, or was merged into another shard
                    }
                    shard_map_row& row = changed_row->row;
                    if (!row.attempt_owner.empty()) {
                        return failure{error_code::shard_moving,
                            text::joined({"the virtual shard ", std::to_string(row.shard),
                                " is being moved: finish or cancel that move first"})};
                    }
                    lease_ms = (std::max)(lease_ms, row.open_lease_ms);
                    date_time const until =
                        access == store_access::open ? date_time{} : reason.until.value_or(date_time{});
                    std::string const why = access == store_access::open ? std::string{} : reason.reason;
                    changes = changes || row.state != state;
                    if (row.state == state && row.reason == why && row.until == until) { return false; }
                    row.state = state;
                    row.lease_ms = access == store_access::open ? row.open_lease_ms : 0;
                    row.reason = why;
                    row.until = until;
                    return true;
                }));
            changed += changes ? 1U : 0U;
        }
    }
    if (!ended) {
        return failure{error_code::shard_moving,
            text::joined(
                {"shards keep being moved to the store ", store, " or reopened: some may be unchanged; call again"})};
    }
    if (access != store_access::open) {
        // Counts from the response to the last change, by the local clock, with three margins of 2 % for the drift of
        // both clocks. Waits even if nothing was changed, because the process that changed it may have ended before
        // waiting.
        std::chrono::milliseconds const lease{lease_ms};
        of.options().time->wait_until(
            of.options().time->steady() + lease + lease * 6 / 100 + std::chrono::milliseconds{1});
    }
    return changed;
}

ENTITABLE_END_NAMESPACE
