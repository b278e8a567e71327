// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/transaction_scope.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY result<std::optional<row_view>> transaction_scope::find(result<std::string> const& row_key) {
    if (!row_key) {
        rows.refuse(failure{row_key.error()});
        return failure{row_key.error()};
    }
    return find_row(*row_key);
}

ENTITABLE_LAZY_BODY result<std::optional<row_view>> transaction_scope::find_row(std::string_view row_key) {
    return rows.has_to_read(row_key) ? read_row(row_key) : rows.now_at(row_key);
}

ENTITABLE_LAZY_BODY result<std::optional<row_view>> transaction_scope::read_row(std::string_view row_key) {
    result<get_entity::response> found{std::in_place};
    auto const keep = [&](row_view const& stored, etag const& version, bool) {
        found->entity = row{stored};
        found->etag = version;
        return result<void>{};
    };
    entity_visitor const visit{keep};
    found.fail_if(through_.execute(read_entity{rows.table(), rows.partition_key(), row_key, &visit}, call_));
    return rows.take(row_key, std::move(found));
}

ENTITABLE_LAZY_BODY result<std::optional<row_view>> transaction_scope::find_now(std::string const& row_key) {
    bool const remembered = rows.remembers_absence(row_key);
    auto found = find_row(row_key);
    if (!found || *found || !remembered) { return found; }
    auto const again = through_.execute(get_entity{rows.table(), rows.partition_key(), row_key, {}}, call_);
    if (again) {
        rows.begin_again();
        return failure{error_code::update_condition_not_satisfied,
            "an entity was inserted between two reads of this transaction, which starts over"};
    }
    return again.error().code == error_code::resource_not_found ? result<std::optional<row_view>>{std::move(found)}
                                                                : failure{again.error()};
}

ENTITABLE_LAZY_BODY void transaction_scope::change(
    mutation_kind kind, result<row>&& entity, bool forced, etag_condition const& expected, entitable::removal sums) {
    if (entity) {
        rows.add(kind, *std::move(entity), expected, sums, forced);
    } else {
        rows.refuse(std::move(entity).as_failure());
    }
}

ENTITABLE_LAZY_BODY result<void> transaction_scope::exclusive() {
    if (exclusive_) { return {}; }
    if (rows.reads() > 0 || rows.writes()) {
        failure late{error_code::invalid_input, "call exclusive() first in a body, before it reads or writes"};
        rows.refuse(failure{late.error()});
        return late;
    }
    exclusive_ = true;
    auto found = find_row(system_row::exclusive);
    if (!found) { return std::move(found).as_failure(); }
    rows.exclude_others();
    return {};
}

/// Returns the smallest range within a partition that contains all given ranges.
ENTITABLE_LAZY key_range around(std::vector<key_range> const& ranges, std::string const& partition_key) {
    key_range whole = ranges.front();
    for (key_range const& each : ranges) {
        if (compare_lower(each.row.lower, whole.row.lower) < 0) { whole.row.lower = each.row.lower; }
        if (compare_upper(whole.row.upper, each.row.upper) < 0) { whole.row.upper = each.row.upper; }
    }
    whole.partition = key_interval::only(partition_key);
    return whole;
}

ENTITABLE_LAZY_BODY result<void> transaction_scope::for_each(predicate_nodes const& predicate, key_layout partition,
    key_layout row, type_pattern const* type, function_ref<result<void>(row_view)> visit) {
    auto const refused = [&](failure problem) {
        rows.refuse(failure{problem.error()});
        return problem;
    };
    if (rows.changes()) {
        return refused(failure{
            error_code::invalid_input, "a query does not see the changes of this body: query first, then change"});
    }
    profile const limits = through_.profile();
    auto plan = make_plan(predicate, access_path::partition, partition, row, limits);
    if (!plan) { return refused(std::move(plan).as_failure()); }
    std::erase_if(plan->ranges, [&](key_range const& each) { return !each.partition.contains(rows.partition_key()); });
    if (plan->ranges.empty()) { return {}; }
    bool const several = plan->ranges.size() > 1;
    query_entities asked;
    asked.table = rows.table();
    asked.range = several ? around(plan->ranges, rows.partition_key()) : std::move(plan->ranges.front());
    asked.range.partition = key_interval::only(rows.partition_key());
    if (type != nullptr) { asked.range.row = intersection(asked.range.row, type->row.interval()); }
    if (asked.range.is_empty()) { return {}; }
    asked.filter = std::move(plan->server);
    asked.page_size = static_cast<std::uint32_t>(limits.max_page_size);
    predicate_nodes const& client = several ? predicate : plan->client;
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        auto found = pages.take(through_.execute(pages.request(), call_));
        rows.count_read();
        if (!found) { return refused(std::move(found).as_failure()); }
        if (pages.more() && !exclusive_) {
            return refused(failure{error_code::query_too_complex,
                "the results of a query in a body are consistent only if they fit on one page: query fewer rows, or "
                "call "
                "exclusive() first"});
        }
        for (std::size_t index = 0; index < found->rows.size(); ++index) {
            row_view const each = found->rows[index];
            bool const other = type != nullptr && !type->matches(each.partition_key, each.row_key);
            if (other || system_row::is_one(each.row_key) || !satisfies(each, client, partition, row)) { continue; }
            if (!rows.take(each)) {
                return failure{error_code::update_condition_not_satisfied,
                    "an entity was changed between two reads of this body, which starts over"};
            }
            if (auto shown = visit(each); !shown) { return refused(std::move(shown).as_failure()); }
        }
    }
    return {};
}

ENTITABLE_LAZY_BODY result<bool> transaction_scope::confirm() {
    if (!rows.has_to_confirm()) { return true; }
    ENTITABLE_TRY(auto found, through_.execute(rows.confirmation(through_.profile()), call_));
    return rows.confirmed(found);
}

ENTITABLE_LAZY_BODY result<bool> transaction_scope::was_applied() {
    auto found = through_.execute(
        get_entity{rows.table(), rows.partition_key(), operation_row::row_key(call_.operation_id), {}}, call_);
    if (!found) {
        if (found.error().code == error_code::resource_not_found) { return false; }
        return std::move(found).as_failure();
    }
    if (operation_row::is_one(found->entity) && operation_row::is_void(found->entity)) {
        return failure{
            error_code::operation_void, "this operation id was abandoned: no transaction will be applied under it"};
    }
    return true;
}

ENTITABLE_LAZY_BODY etag transaction_scope::version_of(std::string_view row_key) const {
    return rows.version_of(row_key);
}

ENTITABLE_LAZY_BODY changed_row_views transaction_scope::look_at(std::string_view row_key) {
    changed_row_views found = rows.look_at(row_key);
    if (!found.unread) { return found; }
    (void)read_row(row_key);
    return rows.problem() ? rows.look_at(row_key) : found;
}

ENTITABLE_LAZY_BODY result<transact::response> transaction_scope::send(transact const& request) {
    return through_.execute(request, call_);
}

/// Returns the change whose row does not have the version that the caller expects, for a refusal that does not name it.
ENTITABLE_LAZY std::optional<std::size_t> changed_under_the_caller(transaction_scope& all, transact const& request) {
    for (std::size_t at = 0; at < request.changes.size(); ++at) {
        std::string row_key{request.changes[at].entity.row_key()};
        if (!all.rows.expects_version(row_key)) { continue; }
        auto const now = all.store().execute(
            get_entity{request.table, all.rows.partition_key(), std::move(row_key), {}}, all.context());
        bool const missing = !now && now.error().code == error_code::resource_not_found;
        if (missing || (now && !request.changes[at].condition.accepts(now->etag))) { return at; }
    }
    return std::nullopt;
}

ENTITABLE_LAZY_BODY sent_transaction told_refusal(transaction_scope& all, transact const& request, error refused) {
    bool const made_elsewhere = !all.context().operation_id.empty() && refused.effect == effect::none &&
        refused.code == error_code::operation_id_taken;
    bool beaten = made_elsewhere || all.rows.was_beaten(refused, request);
    if (refused.effect == effect::none && !made_elsewhere && !refused.operation_index) {
        refused.operation_index = changed_under_the_caller(all, request);
        beaten = beaten && !refused.operation_index;
    }
    if (refused.operation_index && *refused.operation_index < request.changes.size() && refused.detail.empty()) {
        refused.detail =
            keys_text(all.rows.partition_key(), request.changes[*refused.operation_index].entity.row_key());
    }
    refused.operation_index.reset();
    return {failure{std::move(refused)}, beaten};
}

ENTITABLE_LAZY_BODY sent_transaction send_transaction(transaction_scope& all, bool announces) {
    auto request = all.rows.request(announces, all.store().profile());
    if (!request) { return {std::move(request).as_failure()}; }
    auto made = all.send(*request);
    return made ? sent_transaction{std::move(made)} : told_refusal(all, *request, made.error());
}

/// The result of one attempt: the outcome, or the reason to start over.
struct attempt_outcome {
    transacted made;
    std::optional<error> beaten;
    bool earlier{}; ///< another call has applied it
};

ENTITABLE_LAZY result<attempt_outcome> attempt_transaction(table_core const& core, std::string const& partition_key,
    call& context, bool announces, function_ref<result<void>(transaction_scope&)> body, transaction_sender send) {
    transaction_scope all{core, partition_key, context};
    if (!context.operation_id.empty()) {
        auto const applied = all.was_applied();
        if (!applied) { // an earlier call under the id may have been applied: only the operation row, not read here, would show it
            failure why{applied.error()};
            if (why.error().code != error_code::operation_void) { why.error().effect = effect::unknown; }
            return why;
        }
        if (*applied) { return attempt_outcome{{0, true, true}, {}, true}; }
    }
    result<void> said = body(all);
    if (said) { all.rows.check_required(); }
    if (!all.rows.problem()) { said = failure{all.rows.problem().error()}; }
    if (!all.rows.in_vain() && said && all.rows.writes()) {
        auto sent = send(all, announces);
        if (sent.made) {
            return attempt_outcome{
                {0, true, !sent.made->results.empty() && sent.made->results.front().after_retry}, {}};
        }
        if (sent.beaten) { return attempt_outcome{{}, std::move(sent.made).error()}; }
        return std::move(sent.made).as_failure();
    }
    auto const confirmed = all.rows.in_vain() ? result<bool>{false} : all.confirm();
    if (!confirmed) { return failure{confirmed.error()}; }
    if (!*confirmed) {
        return attempt_outcome{
            {}, error{error_code::update_condition_not_satisfied, "entities were changed while they were read"}};
    }
    if (!said) { return std::move(said).as_failure(); }
    return attempt_outcome{{0, false, false}, {}};
}

ENTITABLE_LAZY_BODY result<transacted> run_transaction(table_core const& core, result<std::string> partition_key,
    transaction_options const& options, function_ref<result<void>(transaction_scope&)> body, transaction_sender send) {
    if (!partition_key) { return std::move(partition_key).as_failure(); }
    ENTITABLE_CHECK(core.check_operation_id());
    std::uint64_t seed = options.seed;
    call context{core.options(), *options.time};
    context.location = read_location::primary;
    for (contention rivals{options.max_attempts, options.delays};;) {
        auto outcome = attempt_transaction(core, *partition_key, context, options.announces, body, send);
        if (!outcome) { return std::move(outcome).as_failure(); }
        if (!outcome->beaten) {
            outcome->made.attempts = rivals.attempt() - (outcome->earlier ? 1 : 0);
            return outcome->made;
        }
        if (rivals.is_last()) { return rivals.lost(*std::move(outcome->beaten)); }
        if (rivals.attempt() == 1 && seed == 0) {
            seed = static_cast<std::uint64_t>(options.time->steady().time_since_epoch().count());
        }
        random_source random{seed + rivals.attempt()};
        ENTITABLE_CHECK(rivals.wait(random.unit(), context, *options.time));
    }
}

ENTITABLE_LAZY_BODY result<transacted> run_transaction(table_core const& core, result<std::string> partition_key,
    transaction_options const& options, function_ref<result<void>(transaction_scope&)> body) {
    if (companion_writer const* const writer = core.writer()) {
        return writer->run(std::move(partition_key), options, body);
    }
    auto const send = [](transaction_scope& all, bool announces) { return send_transaction(all, announces); };
    return run_transaction(core, std::move(partition_key), options, body, send);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
