// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/logged_writes.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <span>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] inline call log_call_of(index_family const& family) {
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    return context;
}

/// Waits before the next attempt of a writer that others have beaten.
ENTITABLE_DECL result<void> wait_for_log(
    index_family const& family, contention& rivals, call const& context, error&& beaten, std::uint64_t& seed) {
    if (rivals.is_last()) { return rivals.lost(std::move(beaten)); }
    if (seed == 0) { seed = family.fresh_seed(); }
    random_source random{seed + rivals.attempt()};
    return rivals.wait(random.unit(), context, *family.options.time);
}

/// Adds an entry for changes that were acknowledged without one: their writer relied on a state whose lease ended during the request.
ENTITABLE_DECL result<void> log_late(index_family const& family, transact const& request, call& context) {
    ENTITABLE_TRY(shared<index_states> const now, family.read_states(context));
    if (!now->keeps(family.log->companion)) { return {}; }
    std::vector<std::string> entities;
    for (mutation const& each : request.changes) {
        if (!system_row::is_one(each.entity.row_key())) { entities.emplace_back(each.entity.row_key()); }
    }
    return log_again(family, std::string{request.changes.front().entity.partition_key()}, entities);
}

ENTITABLE_DECL result<transact::response> write_logged(index_family const& family, transact request) {
    call context = log_call_of(family);
    log_writer writer{family.main, *family.log, family.seed_of_ids(), *family.options.time};
    std::size_t const changes = request.changes.size();
    std::uint64_t seed = 0;
    bool asked = false;
    for (contention rivals{family.options.max_attempts, family.options.delays};;) {
        ENTITABLE_TRY(shared<index_states> const states, family.states_to_write(context));
        bool const logs = states->keeps(family.log->companion);
        if (logs) { ENTITABLE_CHECK(writer.add(request, nullptr, states->log, context)); }
        if (logs && writer.met_other_log() && !std::exchange(asked, true)) {
            ENTITABLE_TRY(shared<index_states> const now, family.read_states(context));
            if (now->log != states->log) { // readers would take the entry for one of the earlier log
                writer.remove(request);
                continue;
            }
        }
        if (!states->has_lease(*family.options.time)) { // it ended while the head was read
            writer.remove(request);
            error late{error_code::update_condition_not_satisfied, "the lease of the declaration has ended"};
            ENTITABLE_CHECK(wait_for_log(family, rivals, context, std::move(late), seed));
            continue;
        }
        auto made = family.main.store().execute(request, context);
        if (made) {
            writer.note(*made);
            made->results.erase(
                made->results.begin(), made->results.begin() + static_cast<std::ptrdiff_t>(writer.added()));
            for (written& each : made->results) { each.attempts = static_cast<std::uint16_t>(rivals.attempt()); }
            if (!logs && !states->has_lease(*family.options.time)) {
                if (auto late = log_late(family, request, context); !late) {
                    failure not_acknowledged = std::move(late).as_failure();
                    not_acknowledged.error().effect = effect::unknown; // written, and perhaps not logged
                    return not_acknowledged;
                }
            }
            return made;
        }
        log_verdict const verdict = writer.judge(made.error(), context);
        if (verdict == log_verdict::applied) {
            result<transact::response> concluded{std::in_place};
            concluded->results.assign(changes, written{{}, true, static_cast<std::uint16_t>(rivals.attempt())});
            return concluded;
        }
        failure refused = std::move(made).as_failure();
        auto& index = refused.error().operation_index;
        if (index) { index = *index < writer.added() ? std::nullopt : std::optional{*index - writer.added()}; }
        if (verdict != log_verdict::begin_again) { return refused; }
        refused.error().effect = effect::none; // it never will be applied
        writer.remove(request);
        ENTITABLE_CHECK(wait_for_log(family, rivals, context, std::move(refused.error()), seed));
    }
}

/// Adds an entry for some rows.
ENTITABLE_DECL result<void> log_some_again(
    index_family const& family, std::string const& partition_key, std::span<std::string const> entities) {
    call context = log_call_of(family);
    context.operation_id.clear();
    log_writer writer{family.main, *family.log, family.seed_of_ids(), *family.options.time};
    std::uint64_t seed = 0;
    for (contention rivals{family.options.max_attempts, family.options.delays};;) {
        ENTITABLE_TRY(shared<index_states> const states, family.states(context));
        if (!states->keeps(family.log->companion)) { return {}; }
        transact request{family.main.name(), {}};
        for (std::string const& each : entities) {
            request.changes.push_back(mutation::insert(row{partition_key, each, {}})); // only their keys are used
        }
        ENTITABLE_CHECK(writer.add(request, nullptr, states->log, context));
        request.changes.resize(writer.added());
        auto made = family.main.store().execute(request, context);
        if (made) {
            writer.note(*made);
            return {};
        }
        log_verdict const verdict = writer.judge(made.error(), context);
        if (verdict == log_verdict::applied) { return {}; }
        if (verdict != log_verdict::begin_again) { return std::move(made).as_failure(); }
        failure refused = std::move(made).as_failure();
        ENTITABLE_CHECK(wait_for_log(family, rivals, context, std::move(refused.error()), seed));
    }
}

ENTITABLE_DECL result<void> log_again(
    index_family const& family, std::string const& partition_key, std::vector<std::string> const& entities) {
    // A transaction without the log has more changes than one with it: each part fits, whatever lanes it touches.
    std::size_t const most = (std::max)(std::size_t{1}, family.main.store().profile().max_operations / 3);
    for (std::span<std::string const> left{entities}; !left.empty();) {
        std::size_t const part = (std::min)(most, left.size());
        ENTITABLE_CHECK(log_some_again(family, partition_key, left.first(part)));
        left = left.subspan(part);
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
