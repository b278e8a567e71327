// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The effect of repeating a request, as data: one row for each kind of request. All code that retries or settles writes uses this table.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/kinds.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Whether a request may be sent again if its response was lost.
enum class idempotency : std::uint8_t {
    safe,        ///< reads: no changes
    repeatable,  ///< ends in the same state, but may undo another writer's change since the first attempt
    conditional, ///< its own first attempt may cause a repetition to be refused
};

/// Kinds of requests with the same rules for repetition.
enum class request_kind : std::uint8_t {
    read,                         ///< get_entity, query_entities, list_tables
    insert,                       ///< insert of an entity
    conditional_replace,          ///< replace under an ETag
    conditional_merge,            ///< merge under an ETag
    forced_replace,               ///< replace under `any_etag`
    forced_merge,                 ///< merge under `any_etag`
    insert_or_replace,            ///< insert or replace of an entity
    insert_or_merge,              ///< insert or merge of an entity
    conditional_remove,           ///< removal under an ETag
    forced_remove,                ///< removal under `any_etag`
    batch,                        ///< a transaction without merges
    merging_batch,                ///< a transaction with a merge or insert_or_merge
    batch_with_operation,         ///< a transaction that inserts its operation row first
    merging_batch_with_operation, ///< a transaction as above, with a merge or insert_or_merge
    create_table,                 ///< creation of a table
    delete_table,                 ///< deletion of a table with all its entities
};

/// Conclusion from a definite response if an earlier attempt of the same call was lost.
enum class conclusion : std::uint8_t {
    as_answered, ///< the response is the outcome: the lost attempt changed nothing
    success,     ///< the lost attempt was applied
    compare,     ///< read the entity: the attempt was applied if every property is as sent
    look_up,     ///< read the operation row, which exists
    settle,      ///< void the operation row, or read it if the insert is refused: see `settling`
    unknown,     ///< the outcome is not known
};

/// A row of the table: for each response that depends on stored data, the conclusion about the lost attempt. A response that depends only on the request shows that no attempt was applied, and has no column.
struct idempotency_rule {
    request_kind kind;           ///< the kind of request
    idempotency alone;           ///< idempotency of a repetition, if nothing is known about other writers
    conclusion not_found;        ///< ResourceNotFound
    conclusion conflict;         ///< EntityAlreadyExists, TableAlreadyExists
    conclusion condition_failed; ///< UpdateConditionNotSatisfied
    conclusion content; ///< EntityTooLarge, TooManyProperties, ...: of the sent entity, or of the result of a merge
    conclusion other;   ///< TableNotFound, a refused signature, and everything else that may have changed since
};

/// The rows in the order of `request_kind`. A transaction that inserts its operation row first is refused with UpdateConditionNotSatisfied
/// only if no attempt was applied: otherwise its row would have caused the refusal. No attempt will be applied later either: a version that
/// is no longer stored never returns.
inline constexpr idempotency_rule idempotency_table[] = {
    {request_kind::read, idempotency::safe, conclusion::as_answered, conclusion::as_answered, conclusion::as_answered,
        conclusion::as_answered, conclusion::as_answered},
    {request_kind::insert, idempotency::conditional, conclusion::unknown, conclusion::compare, conclusion::unknown,
        conclusion::as_answered, conclusion::unknown},
    {request_kind::conditional_replace, idempotency::conditional, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
    {request_kind::conditional_merge, idempotency::conditional, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::unknown, conclusion::unknown},
    {request_kind::forced_replace, idempotency::repeatable, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
    {request_kind::forced_merge, idempotency::repeatable, conclusion::unknown, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::unknown},
    {request_kind::insert_or_replace, idempotency::repeatable, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
    {request_kind::insert_or_merge, idempotency::repeatable, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::unknown, conclusion::unknown},
    {request_kind::conditional_remove, idempotency::conditional, conclusion::success, conclusion::unknown,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
    {request_kind::forced_remove, idempotency::repeatable, conclusion::success, conclusion::unknown,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
    {request_kind::batch, idempotency::conditional, conclusion::unknown, conclusion::unknown, conclusion::unknown,
        conclusion::as_answered, conclusion::unknown},
    {request_kind::merging_batch, idempotency::conditional, conclusion::unknown, conclusion::unknown,
        conclusion::unknown, conclusion::unknown, conclusion::unknown},
    {request_kind::batch_with_operation, idempotency::conditional, conclusion::settle, conclusion::settle,
        conclusion::as_answered, conclusion::as_answered, conclusion::settle},
    {request_kind::merging_batch_with_operation, idempotency::conditional, conclusion::settle, conclusion::settle,
        conclusion::as_answered, conclusion::settle, conclusion::settle},
    {request_kind::create_table, idempotency::conditional, conclusion::unknown, conclusion::success,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
    {request_kind::delete_table, idempotency::conditional, conclusion::success, conclusion::unknown,
        conclusion::unknown, conclusion::as_answered, conclusion::unknown},
};

/// Returns the entry of `idempotency_table` for a kind of request.
[[nodiscard]] constexpr idempotency_rule const& rule_of(request_kind kind) noexcept {
    return idempotency_table[static_cast<std::size_t>(kind)];
}

/// Whether a change is merged with the stored entity: its response then depends on that entity too.
[[nodiscard]] inline bool merges(mutation const& change) noexcept {
    return change.kind == mutation_kind::merge || change.kind == mutation_kind::insert_or_merge;
}

/// Returns the kind of a request. It depends on the condition: an update of any version differs in kind from an update of one version.
[[nodiscard]] inline request_kind kind_of(mutation const& change) noexcept {
    bool const any = change.condition.any();
    switch (change.kind) {
        case mutation_kind::insert: return request_kind::insert;
        case mutation_kind::replace: return any ? request_kind::forced_replace : request_kind::conditional_replace;
        case mutation_kind::merge: return any ? request_kind::forced_merge : request_kind::conditional_merge;
        case mutation_kind::insert_or_replace: return request_kind::insert_or_replace;
        case mutation_kind::remove: return any ? request_kind::forced_remove : request_kind::conditional_remove;
        default: return request_kind::insert_or_merge;
    }
}
template <table_request Request>
[[nodiscard]] request_kind kind_of(Request const& request) noexcept {
    if constexpr (std::same_as<Request, write_entity>) {
        return kind_of(request.change);
    } else if constexpr (std::same_as<Request, transact>) {
        for (mutation const& change : request.changes) {
            if (merges(change)) { return request_kind::merging_batch; }
        }
        return request_kind::batch;
    } else if constexpr (std::same_as<Request, create_table>) {
        return request_kind::create_table;
    } else if constexpr (std::same_as<Request, delete_table>) {
        return request_kind::delete_table;
    } else {
        return request_kind::read;
    }
}

/// Whether the request may be sent again if its response was lost.
template <table_request Request>
[[nodiscard]] idempotency idempotency_of(Request const& request) noexcept {
    return rule_of(kind_of(request)).alone;
}

/// Concludes from `answer`, a definite refusal, whether an earlier attempt of the same call with a lost response was applied.
[[nodiscard]] inline conclusion concluded_from(error const& answer, request_kind kind) noexcept {
    idempotency_rule const& rule = rule_of(kind);
    switch (answer.code) {
        case error_code::resource_not_found: return rule.not_found;
        case error_code::entity_already_exists:
        case error_code::table_already_exists: return rule.conflict;
        // The table that is being deleted may be the one that the lost attempt created.
        case error_code::table_being_deleted:
            return kind == request_kind::delete_table ? conclusion::success : rule.other;
        case error_code::update_condition_not_satisfied: return rule.condition_failed;
        // Limits of entities: a merge is checked together with the stored entity.
        case error_code::entity_too_large:
        case error_code::too_many_properties:
        case error_code::property_value_too_large:
        case error_code::property_name_too_long:
        case error_code::property_name_invalid:
        case error_code::duplicate_properties_specified:
        case error_code::out_of_range_input:
        case error_code::invalid_input:
        case error_code::request_body_too_large: return rule.content;
        // Limits of keys, names and batches: the request itself breaks them, at every attempt.
        case error_code::properties_need_value:
        case error_code::key_value_too_large:
        case error_code::invalid_resource_name:
        case error_code::invalid_duplicate_row:
        case error_code::commands_in_batch_act_on_different_partitions: return conclusion::as_answered;
        default: break;
    }
    switch (answer.http_status) {
        case 411:
        case 414:
        case 415:
        case 501:
        case 505: return conclusion::as_answered;
        default: return rule.other; // an unknown code may depend on stored data, even with 400
    }
}

/// Position at which a transaction was refused, if the response shows it.
enum class refused_at : std::uint8_t {
    somewhere,     ///< the response does not show it, or another attempt may be accepted there
    operation_row, ///< at its first change, the operation row: an earlier attempt was applied or abandoned
    exact_version, ///< at a change under an ETag that is not the stored one and never will be again
};

/// Returns the position at which `request`, which inserts its operation row first, was refused.
[[nodiscard]] inline refused_at place_of_refusal(error const& answer, transact const& request) noexcept {
    if (!answer.operation_index || *answer.operation_index >= request.changes.size()) { return refused_at::somewhere; }
    mutation const& refused = request.changes[*answer.operation_index];
    if (*answer.operation_index == 0 && answer.code == error_code::entity_already_exists) {
        return refused_at::operation_row;
    }
    bool const gone = detail::was_beaten(answer, detail::rival_change::changed_or_removed);
    return gone && refused.needs_existing() && !refused.condition.any() ? refused_at::exact_version
                                                                        : refused_at::somewhere;
}

/// Whether a failure is transient: a lost or unusable response, a busy store, a moving shard, an unreadable map, 408, 429, 500, 502, 503
/// and 504. Any other 4xx, 501 and 505 are permanent.
[[nodiscard]] inline bool worth_retrying(error const& problem) noexcept {
    switch (problem.http_status) {
        case 408:
        case 429:
        case 500:
        case 502:
        case 503:
        case 504: return true;
        case 0:
            return problem.code == error_code::transport_failed || problem.code == error_code::store_busy ||
                problem.code == error_code::shard_moving || problem.code == error_code::shard_moved ||
                problem.code == error_code::map_unavailable;
        default: return false;
    }
}

ENTITABLE_END_NAMESPACE

#endif
