// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/batch.hpp>
#include <entitable/client/companion_writer.hpp>
#include <entitable/client/contention.hpp>
#include <entitable/client/detail/table_operations.hpp>
#include <entitable/client/update.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>

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

/// Reads the rows that lose properties, one after the other, and returns the changes with these merges as replacements under the ETags that
/// were read: a merge of the service cannot remove a property.
ENTITABLE_LAZY result<transact> with_replacements(
    any_store const& through, transact const& given, std::vector<std::size_t> const& removing, call& context) {
    result<transact> made{given};
    for (std::size_t const index : removing) {
        mutation const& wanted = given.changes[index];
        std::string partition_key{wanted.entity.partition_key()};
        std::string row_key{wanted.entity.row_key()};
        auto found =
            through.execute(get_entity{given.table, std::move(partition_key), std::move(row_key), {}}, context);
        if (found && !wanted.condition.accepts(found->etag)) {
            found = failure{error_code::update_condition_not_satisfied,
                "the entity has a different version: it was changed since its ETag was read"};
        }
        if (!found) {
            failure problem = std::move(found).as_failure();
            problem.error().operation_index = index;
            return problem;
        }
        made->changes[index] =
            mutation::replace(changed_row(found->entity, wanted.entity), etag_condition{std::move(found->etag)});
    }
    return made;
}

/// Whether a row that was read was changed before the replacement. It satisfied the caller's condition when it was read, so only a later
/// writer can be the cause.
ENTITABLE_LAZY bool was_replaced(error const& refused, std::vector<std::size_t> const& removing) noexcept {
    if (refused.effect != effect::none || !was_beaten(refused, rival_change::changed_or_removed)) { return false; }
    for (std::size_t const index : removing) {
        if (index == refused.operation_index) { return true; }
    }
    return false;
}

/// Submits changes that include merges which remove properties: reads, and submits under the ETags. Starts over if another writer was
/// faster.
ENTITABLE_LAZY result<transact::response> submit_removing(
    table_core const& table, transact const& given, std::vector<std::size_t> const& removing, clock& time) {
    constexpr std::uint32_t max_attempts = 50; // including the first
    ENTITABLE_CHECK(table.check_operation_id());
    random_source random{static_cast<std::uint64_t>(time.steady().time_since_epoch().count())};
    call context{table.options(), time};
    context.location = read_location::primary;
    get_entity const first{given.table, {}, {}, {}}; // for the report of a wait
    for (contention rivals{max_attempts, contention_backoff};;) {
        ENTITABLE_TRY(transact const request, with_replacements(table.store(), given, removing, context));
        auto sent = table.store().execute(request, context);
        if (sent || rivals.is_last() || !was_replaced(sent.error(), removing)) { return sent; }
        ENTITABLE_CHECK(rivals.wait(random.unit(), context, time, first));
    }
}

ENTITABLE_LAZY_BODY result<std::vector<written>> change_list::submit(table_core const& table, clock& time) const {
    if (!problem_) { return failure{problem_.error()}; }
    request_.table = table.name();
    if (removing_.empty()) { return each_written{}(table.submit(request_)); }
    if (table.writer() != nullptr) { return each_written{}(table.writer()->write(request_, removing_)); }
    return each_written{}(submit_removing(table, request_, removing_, time));
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

} // namespace detail
ENTITABLE_END_NAMESPACE
