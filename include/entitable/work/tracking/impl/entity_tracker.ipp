// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/tracking/detail/entity_tracker.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Stores the object's encoding separately only if it differs from the base.
inline void set_own(tracked_entity& of, row own) {
    of.own_row = same_stored_bytes(of.base.payload(), own.payload()) ? row{} : std::move(own);
}

/// Whether the object's values or keys differ from its row.
[[nodiscard]] inline bool differs_from_row(tracked_entity const& of, row& scratch) {
    if (!of.encode(scratch)) {
        return true; // save reports the reason
    }
    return scratch.partition_key() != of.partition_key() || scratch.row_key() != of.row_key() ||
        !same_stored_bytes(scratch.payload(), of.own().payload);
}

// ---- the identity map -------------------------------------------------------------------------------

ENTITABLE_DECL tracked_entity* entity_tracker::of(void const* address, result<row> const& keys) const {
    tracked_entity* const by_keys = keys ? at(keys->partition_key(), keys->row_key()) : nullptr;
    if (by_keys != nullptr && by_keys->address() == address) { return by_keys; }
    for (auto const& each : list_) { // the object's keys were changed
        if (each && each->address() == address) { return each.get(); }
    }
    return by_keys;
}

ENTITABLE_DECL entity_state entity_tracker::state(tracked_entity const& of) const {
    if (of.unsettled) { return entity_state::unknown; }
    if (of.removed) { return entity_state::removed; }
    if (!of.there) { return entity_state::added; }
    return of.replaces || differs_from_row(of, scratch_) ? entity_state::modified : entity_state::unchanged;
}

ENTITABLE_DECL tracked_entity& entity_tracker::keep_aside(std::unique_ptr<tracked_entity> object) {
    return *aside_.emplace_back(std::move(object));
}

ENTITABLE_DECL tracked_entity& entity_tracker::begin(std::unique_ptr<tracked_entity> object) {
    if (list_.size() >= 64 && list_.size() >= 2 * index_.size()) { // compacts the list once most entities were removed
        std::erase(list_, nullptr);
        for (std::size_t at = 0; at < list_.size(); ++at) { list_[at]->place = at; }
    }
    tracked_entity& one = *list_.emplace_back(std::move(object));
    one.place = list_.size() - 1;
    index_.insert({&one, hash_of_keys(one.partition_key(), one.row_key())});
    return one;
}

ENTITABLE_DECL std::unique_ptr<tracked_entity> entity_tracker::take_out(tracked_entity& of) {
    index_.erase(identity{&of, hash_of_keys(of.partition_key(), of.row_key())});
    std::erase_if(dropped_, [&](dropped_change const& each) { return each.of == &of; });
    return std::move(list_[of.place]);
}

// ---- verbs ------------------------------------------------------------------------------------------

ENTITABLE_DECL void entity_tracker::refuse(failure problem) {
    if (problem_) { problem_ = std::move(problem); }
}

ENTITABLE_DECL tracked_entity& entity_tracker::add(std::unique_ptr<tracked_entity> fresh) {
    if (auto encoded = fresh->encode(fresh->base); !encoded) {
        refuse(std::move(encoded).as_failure());
        return keep_aside(std::move(fresh));
    }
    tracked_entity* const before = at(fresh->partition_key(), fresh->row_key());
    if (before == nullptr) { return begin(std::move(fresh)); }
    if (!before->removed || before->type() != fresh->type()) {
        failure taken{error_code::entity_already_exists, "this unit of work already tracks an entity with these keys"};
        taken.error().detail = keys_text(fresh->partition_key(), fresh->row_key());
        refuse(std::move(taken));
        return keep_aside(std::move(fresh));
    }
    // The row that was to be removed is replaced, under the same version.
    auto const decoded = before->decode(fresh->base.view(), core_.options().reading);
    before->removed = false;
    before->replaces = true;
    if (!decoded) { refuse(failure{decoded.error()}); }
    return *before;
}

ENTITABLE_DECL tracked_entity& entity_tracker::attach(std::unique_ptr<tracked_entity> known, etag_condition version) {
    if (auto encoded = known->encode(known->base); !encoded) {
        refuse(std::move(encoded).as_failure());
        return keep_aside(std::move(known));
    }
    if (at(known->partition_key(), known->row_key()) != nullptr) {
        failure taken{error_code::invalid_input, "this unit of work already tracks an entity with these keys"};
        taken.error().detail = keys_text(known->partition_key(), known->row_key());
        refuse(std::move(taken));
        return keep_aside(std::move(known));
    }
    known->version = std::move(version);
    known->there = true;
    return begin(std::move(known));
}

ENTITABLE_DECL void entity_tracker::remove(tracked_entity& of, entitable::removal sums) {
    if (!of.there && !of.unsettled) {
        return release(of); // the object was never visible to the program
    }
    of.removed = true;
    of.sums = sums;
    of.replaces = false;
}

ENTITABLE_DECL void entity_tracker::detach(tracked_entity& of) { (void)take_out(of); }

ENTITABLE_DECL void entity_tracker::release(tracked_entity& of) { keep_aside(take_out(of)); }

ENTITABLE_DECL void entity_tracker::clear() {
    index_.clear();
    list_.clear();
    aside_.clear();
    dropped_.clear();
    problem_ = {};
}

// ---- rows that were read ----------------------------------------------------------------------------

ENTITABLE_DECL result<tracked_entity*> entity_tracker::read(
    row_view found, etag const& version, merge_option how, entity_maker make) {
    tracked_entity* const before = how == merge_option::no_tracking ? nullptr : at(found.partition_key, found.row_key);
    if (before != nullptr) {
        ENTITABLE_CHECK(merge(*before, found, version, how));
        return before;
    }
    auto fresh = make();
    if (how == merge_option::no_tracking) {
        ENTITABLE_CHECK(fresh->decode(found, core_.options().reading));
        return &keep_aside(std::move(fresh));
    }
    ENTITABLE_CHECK(take(*fresh, found, version));
    return &begin(std::move(fresh));
}

ENTITABLE_DECL result<void> entity_tracker::take(tracked_entity& into, row_view found, etag const& version) {
    ENTITABLE_CHECK(into.decode(found, core_.options().reading));
    row own;
    ENTITABLE_CHECK(into.encode(own));
    into.base = row{found};
    set_own(into, std::move(own));
    into.version = version;
    into.there = into.complete = true;
    into.removed = into.replaces = into.must_read = into.came_late = false;
    into.conflict.reset();
    into.unsettled.reset();
    return {};
}

ENTITABLE_DECL result<void> entity_tracker::rebase(tracked_entity& of, row_view onto, etag const& version) {
    ENTITABLE_TRY(row own, of.encoded_as_read(onto, core_.options().reading));
    row base{onto};
    of.base = std::move(base);
    set_own(of, std::move(own));
    of.version = version;
    of.there = of.complete = true;
    of.must_read = of.came_late = false;
    of.conflict.reset();
    return {};
}

ENTITABLE_DECL void entity_tracker::conflict(tracked_entity& of, std::optional<row_view> theirs, etag version) {
    of.conflict.emplace(
        row_conflict{theirs ? std::optional<row>{row{*theirs}} : std::nullopt, std::move(version), of.came_late});
}

ENTITABLE_DECL result<void> entity_tracker::merge_properties(
    tracked_entity& into, row_view found, etag const& version) {
    row now;
    if (auto encoded = into.encode(now); !encoded) {
        return {}; // save reports the reason
    }
    auto const mine = changes_between(into.own(), now.view());
    row own;
    bool const has_former_names = !into.renamed().empty();
    if (has_former_names) { // the other writer may have changed a member under its former name
        ENTITABLE_TRY(own, into.encoded_as_read(found, core_.options().reading));
    }
    if (!changed_by_both(mine, has_former_names ? into.own() : into.base.view(), has_former_names ? own.view() : found)
            .empty()) {
        conflict(into, found, version);
        return {};
    }
    row merged = with_changes(found, mine);
    row const shown{merged.partition_key(), merged.row_key(), merged.payload(), version.to_string()};
    if (!has_former_names) { ENTITABLE_TRY(own, into.encoded_as_read(found, core_.options().reading)); }
    ENTITABLE_CHECK(into.decode(shown.view(), core_.options().reading));
    into.base = row{found};
    set_own(into, std::move(own));
    into.version = version;
    into.complete = true;
    into.must_read = into.came_late = false;
    into.conflict.reset();
    return {};
}

ENTITABLE_DECL result<void> entity_tracker::merge(
    tracked_entity& into, row_view found, etag const& version, merge_option how) {
    bool const same = !into.version.any() && into.version.version() == version;
    entity_state const now = state(into);
    switch (how) {
        case merge_option::overwrite_changes: {
            auto const lost = into.unsettled;
            ENTITABLE_CHECK(take(into, found, version));
            if (lost) { dropped_.push_back({&into, lost->why}); }
            return {};
        }
        case merge_option::preserve_changes:
            switch (now) {
                case entity_state::unchanged: return take(into, found, version);
                case entity_state::modified:
                    if (!same && into.replaces) { conflict(into, found, version); }
                    return same || into.replaces ? result<void>{} : merge_properties(into, found, version);
                case entity_state::added: conflict(into, found, version); return {};
                case entity_state::removed:
                    if (!same) { conflict(into, found, version); }
                    return {};
                default: return {};
            }
        case merge_option::preserve_changes_silently:
            switch (now) {
                case entity_state::unchanged: return take(into, found, version);
                case entity_state::modified: return rebase(into, found, version);
                case entity_state::removed:
                    ENTITABLE_CHECK(take(into, found, version));
                    into.removed = true;
                    return {};
                default: return {};
            }
        default: return {};
    }
}

ENTITABLE_DECL void entity_tracker::gone(tracked_entity& of, merge_option how) {
    if (how == merge_option::no_tracking) { return; }
    switch (state(of)) {
        case entity_state::unchanged:
        case entity_state::removed: return release(of);
        case entity_state::modified:
            return how == merge_option::overwrite_changes ? release(of) : conflict(of, std::nullopt, {});
        default: return;
    }
}

ENTITABLE_DECL void entity_tracker::written_as(tracked_entity& of, row base, bool complete, etag version) {
    row own;
    (void)of.encode(own); // cannot fail: the entity was encoded for the write
    of.base = std::move(base);
    set_own(of, std::move(own));
    of.must_read = version.empty();
    of.take_version(row{of.partition_key(), of.row_key(), of.base.payload(), version.to_string()}.view());
    of.version = std::move(version);
    of.there = true;
    of.complete = complete;
    of.removed = of.replaces = of.came_late = false;
    of.conflict.reset();
    of.unsettled.reset();
}

// ---- conflicts --------------------------------------------------------------------------------------

ENTITABLE_DECL result<bool> entity_tracker::resolve(tracked_entity& of, keep which) {
    if (!of.conflict) { return false; }
    row_conflict const met = *of.conflict;
    if (!met.theirs) {
        of.conflict.reset();
        if (which == keep::theirs || of.removed) {
            release(of);
        } else {
            of.there = of.replaces = of.complete = of.must_read = false;
        }
        return true;
    }
    row_view const theirs = met.theirs->view();
    if (which == keep::theirs) {
        ENTITABLE_CHECK(take(of, theirs, met.version));
        return true;
    }
    if (of.there && !of.removed &&
        !of.replaces) { // the changes are applied to the stored row, which provides all other properties
        row now;
        ENTITABLE_CHECK(of.encode(now));
        row const merged = with_changes(theirs, changes_between(of.own(), now.view()));
        ENTITABLE_CHECK(rebase(of, theirs, met.version));
        ENTITABLE_CHECK(
            of.decode(row{merged.partition_key(), merged.row_key(), merged.payload(), met.version.to_string()}.view(),
                core_.options().reading));
        return true;
    }
    ENTITABLE_CHECK(rebase(of, theirs, met.version));
    return true;
}

ENTITABLE_DECL result<bool> entity_tracker::resolve_by_value(tracked_entity& of) {
    if (!of.conflict) { return false; }
    row_conflict const met = *of.conflict;
    of.removed = of.replaces = false;
    if (met.theirs) {
        ENTITABLE_CHECK(rebase(of, met.theirs->view(), met.version));
        return true;
    }
    of.conflict.reset();
    of.there = of.complete = of.must_read = false;
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
