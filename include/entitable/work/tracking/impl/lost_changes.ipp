// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/compare.hpp>
#include <entitable/core/transport/resolve.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/tracking/detail/save_run.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void save_run::settle_all() {
    std::vector<std::shared_ptr<unsettled_save>> lost;
    std::vector<tracked_entity*> of;
    for (auto const& each : all_.all()) {
        if (each && each->unsettled) {
            of.push_back(each.get());
            if (std::find(lost.begin(), lost.end(), each->unsettled) == lost.end()) { lost.push_back(each->unsettled); }
        }
    }
    for (auto const& request : lost) {
        auto const told = outcome_of_lost(*request);
        for (tracked_entity* const each : of) {
            if (each->unsettled != request) { continue; }
            mutation const& sent = request->changes[each->unsettled_at];
            if (told) {
                settle(*each, sent, *told);
            } else {
                tell(*each, state_of_change(sent.kind), save_outcome::unknown, told.error());
                hold_up(*each);
            }
        }
    }
    settled_ = told_.size();
}

ENTITABLE_DECL result<write_outcome> save_run::outcome_of_lost(unsettled_save const& lost) {
    call context = fresh_call();
    if (!lost.why.operation_id.empty()) {
        return resolve(
            through_, all_.core().name(), lost.changes.front().entity.partition_key(), lost.why.operation_id, context);
    }
    return resolve_by_reading(through_, all_.core().name(), lost.changes, context);
}

ENTITABLE_DECL void save_run::settle(tracked_entity& of, mutation const& sent, write_outcome told) {
    if (told == write_outcome::applied) {
        of.unsettled.reset();
        return take_as_applied(of, sent);
    }
    bool const by_row = !of.unsettled->why.operation_id.empty();
    if (told == write_outcome::unknown) { return settle_by_reading(of, sent); }
    of.unsettled.reset();
    of.came_late = of.came_late || !by_row;
    if (!of.there && of.removed) { // the row never existed
        tell(of, entity_state::removed, save_outcome::saved);
        all_.release(of);
    }
}

ENTITABLE_DECL void save_run::settle_by_reading(tracked_entity& of, mutation const& sent) {
    bool const unconditional = sent.kind != mutation_kind::insert && sent.condition.any();
    if (unconditional) { // repeating the request has the same effect
        of.unsettled.reset();
        of.came_late = true;
        return;
    }
    auto found = read(of);
    if (!found) {
        tell(of, state_of_change(sent.kind), save_outcome::unknown, found.error());
        hold_up(of);
        return;
    }
    of.unsettled.reset();
    of.came_late = true;
    if (*found) { return all_.conflict(of, (*found)->entity.view(), (*found)->etag); }
    if (of.removed) { // the entity was removed by this or another writer
        tell(of, entity_state::removed, save_outcome::saved);
        all_.release(of);
    } else if (of.there) {
        all_.conflict(of, std::nullopt, {});
    }
}

ENTITABLE_DECL void save_run::take_as_applied(tracked_entity& of, mutation const& sent) {
    entity_state const was = state_of_change(sent.kind);
    if (sent.kind == mutation_kind::remove) {
        if (of.removed) {
            tell(of, was, save_outcome::saved);
            return all_.release(of);
        }
        of.there = of.replaces = of.complete = false; // the entity was added again in the meantime
        return;
    }
    bool const merged = sent.kind == mutation_kind::merge;
    bool const removed = of.removed;
    row base = merged ? row{of.partition_key(), of.row_key(), merged_payload(of.base.payload(), sent.entity.payload())}
                      : sent.entity;
    auto own = of.encoded_as_read(base.view(), all_.core().options().reading);
    of.base = std::move(base);
    of.own_row = own ? *std::move(own) : row{};
    of.complete = of.complete || !merged;
    of.there = of.must_read = true;
    of.replaces = false;
    of.version = etag{};
    of.removed = removed;
    tell(of, was, save_outcome::saved);
    (void)read_version(of); // if this read fails, the row is read before it is written again
}

ENTITABLE_DECL result<void> save_run::read_version(tracked_entity& of) {
    ENTITABLE_TRY(auto found, read(of));
    if (!found) {
        all_.gone(of, merge_option::preserve_changes);
        return {};
    }
    row_view const theirs = found->entity.view();
    if (of.removed) {
        if (!same_properties(theirs, of.base.view())) { all_.conflict(of, theirs, found->etag); }
        of.version = found->etag;
        of.must_read = false;
        return {};
    }
    return all_.state(of) == entity_state::unchanged ? all_.take(of, theirs, found->etag)
                                                     : all_.merge_properties(of, theirs, found->etag);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
