// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/tracking/detail/save_run.hpp>

#include <algorithm>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline error not_saved() { return {error_code::other_service_error, "changes were not saved"}; }

inline error error_of(change_refusal const& change) {
    error why = *change.problem ? **change.problem : not_saved();
    why.operation_index.reset(); // an index in a transaction that the caller did not make
    name_keys(why, change.partition_key, change.row_key);
    return why;
}

ENTITABLE_DECL failure refusal_of(std::vector<change_refusal> const& changes) {
    std::size_t at = changes.size();
    std::size_t count = 0;
    bool lost = false;
    for (std::size_t index = 0; index < changes.size(); ++index) {
        save_outcome const outcome = changes[index].outcome;
        if (outcome == save_outcome::saved || outcome == save_outcome::dropped) { continue; }
        ++count;
        lost = lost || outcome == save_outcome::unknown;
        // The order is that of the enumeration: refused, lost, not sent.
        if (at == changes.size() || outcome < changes[at].outcome) { at = index; }
    }
    error why = at < changes.size() ? error_of(changes[at]) : not_saved();
    why.effect = lost ? effect::unknown : effect::none;
    why.message += text::joined({"; ", std::to_string(count), " of ", std::to_string(changes.size()),
        " changes were not saved; detail contains the keys of the first"});
    return failure{std::move(why)};
}

// ---- from the beginning to the end ------------------------------------------------------------------

ENTITABLE_DECL result<std::vector<row_outcome>> save_run::run() {
    ENTITABLE_CHECK(all_.take_problem());
    if (!all_.core().options().operation_id.empty()) {
        return failure{
            error_code::invalid_input, "an operation id identifies one write, but a unit of work makes many"};
    }
    settle_all();
    plan();
    ENTITABLE_TRY(auto parts, transactions());
    send_all(std::move(parts));
    for (dropped_change& each : all_.take_dropped()) {
        told_.push_back({each.of, entity_state::unknown, save_outcome::dropped, std::move(each.why)});
    }
    return std::move(told_);
}

ENTITABLE_DECL void save_run::tell(
    tracked_entity& of, entity_state was, save_outcome outcome, std::optional<error> problem) {
    auto const settled = told_.begin() + static_cast<std::ptrdiff_t>(settled_);
    auto const before = std::find_if(told_.begin(), settled, [&](row_outcome const& each) { return each.of == &of; });
    if (before != settled) {
        *before = {&of, was, outcome, std::move(problem)};
    } else {
        told_.push_back({&of, was, outcome, std::move(problem)});
    }
}

ENTITABLE_DECL void save_run::fail(tracked_entity& of, entity_state was, error problem) {
    hold_up(of);
    tell(of, was, save_outcome::failed, std::move(problem));
}

ENTITABLE_DECL void save_run::hold_up(tracked_entity const& of) {
    failed_ = true;
    if (!how_.without_failed) { blocked_.emplace(of.partition_key()); }
}

ENTITABLE_DECL call save_run::fresh_call() const {
    call context{all_.core().options()};
    context.location = read_location::primary;
    return context;
}

ENTITABLE_DECL result<std::optional<get_entity::response>> save_run::read(tracked_entity const& of) {
    call context = fresh_call();
    auto found = through_.execute(
        get_entity{all_.core().name(), std::string{of.partition_key()}, std::string{of.row_key()}, {}}, context);
    if (found) { return std::optional{*std::move(found)}; }
    if (found.error().code == error_code::resource_not_found) { return std::optional<get_entity::response>{}; }
    return std::move(found).as_failure();
}

// ---- what is to be sent -----------------------------------------------------------------------------

ENTITABLE_DECL void save_run::plan() {
    // Uses an index instead of an iterator, because removed entities are null.
    for (std::size_t at = 0; at < all_.all().size(); ++at) {
        tracked_entity* const each = all_.all()[at].get();
        if (each != nullptr && !each->unsettled) { plan_one(*each); }
    }
}

/// The error of a change whose conflict must be resolved first.
[[nodiscard]] inline error not_resolved(tracked_entity const& of) {
    return error{!of.conflict->theirs ? error_code::resource_not_found
            : of.there                ? error_code::update_condition_not_satisfied
                                      : error_code::entity_already_exists,
        "the entity has an unresolved conflict with another writer"};
}

ENTITABLE_DECL void save_run::plan_one(tracked_entity& of) {
    auto const encoded = of.removed ? result<void>{} : of.encode(scratch_);
    bool const same_keys =
        of.removed || (scratch_.partition_key() == of.partition_key() && scratch_.row_key() == of.row_key());
    bool const plain = of.there && !of.removed && !of.replaces;
    if (plain && encoded && same_keys && same_stored_bytes(scratch_.payload(), of.own().payload)) { return; }
    if (of.must_read) {
        bool const removed = of.removed;
        if (auto known = read_version(of); !known) { return fail(of, all_.state(of), known.error()); }
        if (all_.at(of.partition_key(), of.row_key()) == &of) { return plan_one(of); }
        if (removed) { tell(of, entity_state::removed, save_outcome::saved); }
        return;
    }
    entity_state const was = of.removed ? entity_state::removed
        : of.there                      ? entity_state::modified
                                        : entity_state::added;
    if (of.conflict) { return fail(of, was, not_resolved(of)); }
    if (!encoded) { return fail(of, was, encoded.error()); }
    if (!same_keys) {
        return fail(of, was,
            error{error_code::invalid_input,
                "the keys of a tracked entity were changed: remove it, and add an entity with the new keys"});
    }
    auto change = change_of(of, scratch_.view());
    if (!change) { return fail(of, was, change.error()); }
    planned_.push_back({&of, was, *std::move(change)});
}

ENTITABLE_DECL result<mutation> save_run::change_of(tracked_entity& of, row_view now) {
    if (of.removed) { return mutation::remove(row{of.partition_key(), of.row_key(), {}}, of.version, of.sums); }
    if (!of.there) { return mutation::insert(row{now}); }
    if (of.replaces) {
        return of.version.any() ? mutation::insert_or_replace(row{now}) : mutation::replace(row{now}, of.version);
    }
    auto changes = changes_between(of.own(), now);
    add_renames(changes, now, of.renamed());
    if (!changes.removes) { return mutation::merge(changes_alone(now, changes), of.version); }
    if (!of.complete) { ENTITABLE_CHECK(read_base(of)); }
    return mutation::replace(with_changes(of.base.view(), changes), of.version);
}

ENTITABLE_DECL result<void> save_run::read_base(tracked_entity& of) {
    ENTITABLE_TRY(auto found, read(of));
    if (!found) {
        all_.conflict(of, std::nullopt, {});
        return failure{not_resolved(of)};
    }
    if (!of.version.accepts(found->etag)) {
        all_.conflict(of, found->entity.view(), found->etag);
        return failure{not_resolved(of)};
    }
    of.own_row = row{of.own()};
    of.base = std::move(found->entity);
    of.version = std::move(found->etag); // the replacement is based on the version read
    of.complete = true;
    return {};
}

/// Position of a change in a transaction: exact versions first, so that a refusal of any other change shows that these
/// versions matched.
[[nodiscard]] inline int rank_in_transaction(mutation const& change) noexcept {
    return change.kind == mutation_kind::insert ? 3 : !change.needs_existing() ? 2 : change.condition.any() ? 1 : 0;
}

ENTITABLE_DECL result<std::vector<std::vector<save_run::planned>>> save_run::transactions() {
    std::vector<std::vector<planned>> parts;
    if (how_.mode == save_mode::each) {
        for (planned& each : planned_) { parts.emplace_back().push_back(std::move(each)); }
        return parts;
    }
    std::stable_sort(planned_.begin(), planned_.end(), [](planned const& one, planned const& other) {
        return rank_in_transaction(one.change) < rank_in_transaction(other.change);
    });
    batch_packer packer{all_.core().name(), through_.profile()};
    for (std::size_t at = 0; at < planned_.size(); ++at) {
        planned& each = planned_[at];
        if (auto taken = packer.add(std::move(each.change), at); !taken) {
            fail(*each.of, each.was, taken.error());
            each.of = nullptr;
        }
    }
    std::map<std::string, std::size_t, std::less<>> of_partition;
    std::vector<std::uint64_t> tags;
    while (auto next = packer.take(&tags)) {
        std::string const partition{next->changes.front().entity.partition_key()};
        std::size_t const before = of_partition[partition]++;
        if (before > 0 && !how_.split) {
            return failure{error_code::invalid_input,
                text::joined({"the changes in one partition do not fit into one transaction of ",
                    std::to_string(through_.profile().max_operations), " operations and ",
                    std::to_string(through_.profile().max_transaction_size),
                    " bytes: nothing was sent; set save_options::split to send several transactions"})};
        }
        bool const blocked = blocked_.contains(partition);
        std::vector<planned> part;
        for (std::size_t at = 0; at < tags.size(); ++at) {
            planned& each = planned_[tags[at]];
            if (blocked) {
                tell(*each.of, each.was, save_outcome::not_sent);
            } else {
                part.push_back({each.of, each.was, std::move(next->changes[at])});
            }
        }
        if (!part.empty()) { parts.push_back(std::move(part)); }
    }
    return parts;
}

// ---- sending ----------------------------------------------------------------------------------------

ENTITABLE_DECL void save_run::send_all(std::vector<std::vector<planned>> parts) {
    bool stopped = how_.stop_at_failure && failed_;
    for (std::vector<planned>& each : parts) {
        if (stopped) {
            for (planned const& one : each) { tell(*one.of, one.was, save_outcome::not_sent); }
        } else {
            stopped = !send(each) && how_.stop_at_failure;
        }
    }
}

ENTITABLE_DECL result<std::vector<written>> save_run::execute(std::vector<planned> const& part) {
    call context = fresh_call();
    std::string const& table = all_.core().name();
    if (part.size() == 1) {
        auto made = through_.execute(write_entity{table, part.front().change}, context);
        return made ? result<std::vector<written>>{std::vector<written>{*std::move(made)}}
                    : result<std::vector<written>>{std::move(made).as_failure()};
    }
    transact request{table, {}};
    request.changes.reserve(part.size());
    for (planned const& each : part) { request.changes.push_back(each.change); }
    auto made = through_.execute(request, context);
    return made ? result<std::vector<written>>{std::move(made->results)}
                : result<std::vector<written>>{std::move(made).as_failure()};
}

ENTITABLE_DECL bool save_run::send(std::vector<planned>& part) {
    while (!part.empty()) {
        auto made = execute(part);
        if (made) {
            for (std::size_t at = 0; at < part.size(); ++at) { done(part[at], (*made)[at]); }
            return true;
        }
        error const& problem = made.error();
        if (problem.effect == effect::unknown && again_) {
            for (planned const& each : part) { tell(*each.of, each.was, save_outcome::unknown, problem); }
            return false;
        }
        if (problem.effect == effect::unknown) {
            auto lost = std::make_shared<unsettled_save>();
            lost->why = problem;
            for (std::size_t at = 0; at < part.size(); ++at) {
                lost->changes.push_back(std::move(part[at].change));
                part[at].of->unsettled = lost;
                part[at].of->unsettled_at = at;
                tell(*part[at].of, part[at].was, save_outcome::unknown, problem);
            }
            return false;
        }
        auto const culprit = part.size() == 1 ? std::optional<std::size_t>{0} : problem.operation_index;
        bool const named = culprit && *culprit < part.size();
        if (named && !again_ && part[*culprit].change.kind == mutation_kind::remove &&
            problem.code == error_code::resource_not_found) { // the row is already removed, as intended
            planned const one = std::move(part[*culprit]);
            part.erase(part.begin() + static_cast<std::ptrdiff_t>(*culprit));
            tell(*one.of, one.was, save_outcome::saved);
            all_.release(*one.of);
            continue;
        }
        for (std::size_t at = 0; at < part.size(); ++at) {
            if (named && at == *culprit) {
                refused(part[at], problem);
            } else {
                tell(*part[at].of, part[at].was, save_outcome::not_sent, problem);
            }
        }
        return false;
    }
    return true;
}

ENTITABLE_DECL void save_run::done(planned& one, written const& made) {
    tell(*one.of, one.was, save_outcome::saved);
    if (one.change.kind == mutation_kind::remove) { return all_.release(*one.of); }
    tracked_entity& of = *one.of;
    bool const merged = one.change.kind == mutation_kind::merge;
    row base = merged
        ? row{of.partition_key(), of.row_key(), merged_payload(of.base.payload(), one.change.entity.payload())}
        : std::move(one.change.entity);
    all_.written_as(of, std::move(base), of.complete || !merged, made.etag);
}

ENTITABLE_DECL void save_run::refused(planned const& one, error problem) {
    tracked_entity& of = *one.of;
    bool const beaten = was_beaten(problem);
    tell(of, one.was, save_outcome::failed, std::move(problem));
    if (beaten && !again_) {
        // Reads the current row, so that the conflict can be resolved.
        if (auto found = read(of); found && *found) {
            all_.conflict(of, (*found)->entity.view(), (*found)->etag);
        } else if (found && of.there) {
            all_.conflict(of, std::nullopt, {});
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
