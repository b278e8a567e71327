// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/batch.hpp>
#include <entitable/client/companion_writer.hpp>
#include <entitable/client/detail/removing_batch.hpp>
#include <entitable/client/detail/table_operations.hpp>
#include <entitable/client/update.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void change_list::add(
    mutation_kind kind, result<row> entity, etag_condition condition, entitable::removal sums) {
    if (entity) {
        request_.changes.push_back({kind, *std::move(entity), std::move(condition), sums});
    } else if (problem_) {
        failure refused = std::move(entity).as_failure();
        refused.error().operation_index = request_.changes.size();
        problem_ = std::move(refused);
    }
}

ENTITABLE_LAZY_BODY void change_list::add_removing(result<row> entity, etag_condition condition) {
    if (entity) { removing_.push_back(request_.changes.size()); }
    add(mutation_kind::merge, std::move(entity), std::move(condition));
}

ENTITABLE_LAZY_BODY void change_list::clear() noexcept {
    request_.changes.clear();
    removing_.clear();
    problem_ = {};
}

ENTITABLE_LAZY_BODY result<std::vector<written>> change_list::submit(table_core const& table, clock& time) const {
    if (!problem_) { return failure{problem_.error()}; }
    request_.table = table.name();
    if (removing_.empty()) { return each_written{}(table.submit(request_)); }
    if (table.writer() != nullptr) { return each_written{}(table.writer()->write(request_, removing_)); }
    removing_batch submission{request_, removing_, static_cast<std::uint64_t>(time.steady().time_since_epoch().count()),
        table.check_operation_id()};
    call context{table.options(), time};
    context.location = read_location::primary;
    auto through = table.transport();
    return each_written{}(run(submission, context, time, through));
}

ENTITABLE_LAZY_BODY result<written> change_list::submit_one(table_core const& table, clock& time) const {
    auto all = submit(table, time);
    if (!all) {
        failure refused = std::move(all).as_failure();
        refused.error().operation_index.reset(); // the caller did not write a batch
        return refused;
    }
    return std::move(all->front());
}

ENTITABLE_LAZY_BODY own_submission change_list::to_submit(table_core const& table) && {
    auto allowed = problem_ ? table.check_operation_id() : std::move(problem_);
    if (allowed && !removing_.empty()) {
        allowed = failure{error_code::not_supported,
            "a batch that removes properties (member = absent) must read first: submit it with batch::submit"};
    }
    if (!allowed) { return own_submission{own_request<transact>{std::move(allowed).as_failure()}}; }
    return own_submission{own_request<transact>{std::in_place, table.name(), std::move(request_.changes)}};
}

ENTITABLE_LAZY_BODY removing_batch::removing_batch(
    transact changes, std::vector<std::size_t> removing, std::uint64_t seed, result<void> allowed)
    : given_(std::move(changes)), removing_(std::move(removing)), random_(seed) {
    reading_.table = given_.table;
    if (!allowed) { outcome_.emplace(std::move(allowed).as_failure()); }
    begin();
}

ENTITABLE_LAZY_BODY operation_step removing_batch::next() const noexcept {
    if (outcome_) { return {}; }
    return at_ < removing_.size()
        ? operation_step{reading_, at_ == 0 ? not_before_ : (steady_time::min)(), 0, wait_cause::contention}
        : operation_step{sending_};
}

ENTITABLE_LAZY_BODY void removing_batch::begin() {
    at_ = 0;
    ++attempts_;
    sending_ = given_;
    read_next();
}

ENTITABLE_LAZY_BODY void removing_batch::read_next() {
    if (at_ < removing_.size()) {
        row const& keys = given_.changes[removing_[at_]].entity;
        reading_.partition_key = keys.partition_key();
        reading_.row_key = keys.row_key();
    }
}

ENTITABLE_LAZY_BODY void removing_batch::answer(result<get_entity::response> found, steady_time) {
    std::size_t const index = removing_[at_];
    mutation const& wanted = given_.changes[index];
    if (found && !wanted.condition.accepts(found->etag)) {
        found = failure{error_code::update_condition_not_satisfied,
            "the entity has a different version: it was changed since its ETag was read"};
    }
    if (!found) {
        failure problem = std::move(found).as_failure();
        problem.error().operation_index = index;
        outcome_.emplace(std::move(problem));
        return;
    }
    sending_.changes[index] =
        mutation::replace(changed_row(found->entity, wanted.entity), etag_condition{std::move(found->etag)});
    ++at_;
    read_next();
}

ENTITABLE_LAZY_BODY void removing_batch::abandon(error const& reason) { outcome_.emplace(failure{reason}); }

ENTITABLE_LAZY_BODY result<transact::response> removing_batch::finish() { return *std::move(outcome_); }

ENTITABLE_LAZY_BODY bool removing_batch::beaten(error const& problem) const noexcept {
    if (problem.effect != effect::none || !problem.operation_index || attempts_ >= max_attempts ||
        (problem.code != error_code::update_condition_not_satisfied &&
            problem.code != error_code::resource_not_found)) {
        return false;
    }
    // The row satisfied the caller's condition when it was read, so only a later writer can be the cause.
    for (std::size_t const index : removing_) {
        if (index == *problem.operation_index) { return true; }
    }
    return false;
}

ENTITABLE_LAZY_BODY void removing_batch::answer(result<transact::response> sent, steady_time now) {
    if (!sent && beaten(sent.error())) {
        not_before_ = now +
            std::chrono::duration_cast<steady_time::duration>(contention_backoff.delay(attempts_, random_.unit()));
        begin();
        return;
    }
    outcome_.emplace(std::move(sent));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
