// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL lookup_map_state& absent_map_state() {
    static shared<lookup_map_state> const made = [] {
        auto absent = shared<lookup_map_state>::make(
            moved_from_transport("shard map"), std::string{}, virtual_shards{1}, lookup_map_options{});
        absent->absent = true;
        return absent;
    }();
    return *made;
}

ENTITABLE_DECL result<shard_map_ref> lookup_map_state::read(call const& caller) {
    call context;
    context.deadline = caller.deadline;
    context.cancellation = caller.cancellation;
    auto reading = read_shard_map(table).begin(now());
    auto found = run(reading, context, *options.time, catalogue);
    if (!found || ((*found)->identity.empty() && identity.empty())) { return found; }
    std::lock_guard<std::mutex> const guard{lock};
    if (identity.empty()) { // the map has been adopted since
        identity = (*found)->identity;
    }
    if ((*found)->identity != identity) {
        return map_fault(text::joined(
            {"has been replaced since it was opened: its identity is \"", (*found)->identity, "\", not ", identity}));
    }
    return found;
}

ENTITABLE_DECL result<shard_map_ref> lookup_map_state::fresh(call const& context) {
    std::unique_lock<std::mutex> guard{lock};
    std::uint64_t const wanted = begun + 1;
    for (;;) {
        if (held && held_began >= wanted) { return held; }
        ENTITABLE_CHECK(check_call(context));
        if (renewing) {
            changed.wait_for(guard, std::chrono::milliseconds{5}); // a cancellation does not wake a waiter
            continue;
        }
        renewing = true;
        std::uint64_t const number = ++begun;
        guard.unlock();
        auto renewed = [&]() -> result<shard_map_ref> {
            struct at_end {
                lookup_map_state& state;
                ~at_end() {
                    std::lock_guard<std::mutex> const again{state.lock};
                    state.renewing = false;
                    state.changed.notify_all();
                }
            } const end{*this};
            auto found = read(context);
            if (found) {
                std::lock_guard<std::mutex> const again{lock};
                held = *found;
                held_began = number;
            }
            return found;
        }();
        if (!renewed) { return renewed; }
        guard.lock();
    }
}

ENTITABLE_DECL result<shard_map_ref> lookup_map_state::current(call const& context, steady_time at) {
    constexpr std::chrono::seconds longest{1};
    steady_time deadline = context.deadline;
    {
        std::lock_guard<std::mutex> const guard{lock};
        if (held) {
            bool const fresh = at < held->asked_at + std::chrono::milliseconds{held->places.front().row.lease_ms} / 3;
            if (fresh || renewing || at < renews_from) { return held; }
            // The held copy may stay valid for long: a map that does not respond must not block the caller.
            deadline = (std::min)(deadline, system_clock().steady() + longest);
        }
    }
    call asking;
    asking.deadline = deadline;
    asking.cancellation = context.cancellation;
    auto renewed = fresh(asking);
    std::lock_guard<std::mutex> const guard{lock};
    if (!renewed && held) {
        steady_time const ended = now();
        renews_from = ended + (std::max)(steady_time::duration{longest}, 10 * (ended - at));
        return held; // the lease decides whether it is valid
    }
    return renewed;
}

ENTITABLE_DECL result<shard_keys> lookup_map_state::keys_of(std::string_view partition_key) const {
    if (shards.by_ranges()) { return shard_keys{partition_key, nullptr, 0}; }
    auto const found = shards.shard_of(partition_key);
    if (!found) {
        failure refused{error_code::shard_unmapped, "no virtual shard of the map contains the partition key"};
        refused.error().detail = text::printable(text::shortened(partition_key));
        return refused;
    }
    return shard_keys{partition_key, nullptr, static_cast<std::int32_t>(*found)};
}

ENTITABLE_DECL result<shard_place const*> lookup_map_state::place_of(
    shard_map_copy const& map, std::string_view partition_key) const {
    ENTITABLE_TRY(shard_keys const keys, keys_of(partition_key));
    return keys.place_in(map); // a copy contains a place for every number that the function returns
}

ENTITABLE_DECL result<void> lookup_map_state::change(
    call const& caller, function_ref<result<bool>(shard_map_copy const&, shard_map_draft&)> edit) {
    call context;
    context.deadline = caller.deadline;
    context.cancellation = caller.cancellation;
    auto changing = change_shard_map(table, guid::random().to_string(), edit).begin(now());
    return run(changing, context, *options.time, catalogue);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
