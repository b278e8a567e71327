// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/idempotency.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

namespace {

row entity() { return row_builder{"p", "r"}.build(); }
etag_condition const version = etag::of(date_time{1});

constexpr bool in_order() {
    for (std::size_t index = 0; index < std::size(idempotency_table); ++index) {
        if (static_cast<std::size_t>(idempotency_table[index].kind) != index) { return false; }
    }
    return std::size(idempotency_table) == static_cast<std::size_t>(request_kind::delete_table) + 1;
}
static_assert(in_order());

conclusion said(error_code code, request_kind kind) { return concluded_from(error{code, "an answer"}, kind); }
conclusion status(std::uint16_t http, request_kind kind) {
    error answer{error_code::other_service_error, "an answer"};
    answer.http_status = http;
    return concluded_from(answer, kind);
}

constexpr auto as_answered = conclusion::as_answered;
constexpr auto success = conclusion::success;
constexpr auto unknown = conclusion::unknown;
constexpr auto compare = conclusion::compare;
constexpr auto settle = conclusion::settle;

} // namespace

TEST_CASE("each request has a kind with its own retry rules") {
    auto const of = [](mutation change) { return kind_of(write_entity{"table", std::move(change)}); };
    CHECK(kind_of(get_entity{}) == request_kind::read);
    CHECK(kind_of(query_entities{}) == request_kind::read);
    CHECK(kind_of(list_tables{}) == request_kind::read);
    CHECK(of(mutation::insert(entity())) == request_kind::insert);
    CHECK(of(mutation::replace(entity(), version)) == request_kind::conditional_replace);
    CHECK(of(mutation::merge(entity(), version)) == request_kind::conditional_merge);
    CHECK(of(mutation::replace(entity(), any_etag)) == request_kind::forced_replace);
    CHECK(of(mutation::merge(entity(), any_etag)) == request_kind::forced_merge);
    CHECK(of(mutation::insert_or_replace(entity())) == request_kind::insert_or_replace);
    CHECK(of(mutation::insert_or_merge(entity())) == request_kind::insert_or_merge);
    CHECK(of(mutation::remove(entity(), version)) == request_kind::conditional_remove);
    CHECK(of(mutation::remove(entity(), any_etag)) == request_kind::forced_remove);
    CHECK(kind_of(transact{}) == request_kind::batch);
    CHECK(kind_of(transact{"table", {mutation::insert(entity()), mutation::remove(entity(), version)}}) ==
        request_kind::batch);
    CHECK(kind_of(transact{"table", {mutation::insert(entity()), mutation::merge(entity(), version)}}) ==
        request_kind::merging_batch);
    CHECK(kind_of(transact{"table", {mutation::insert_or_merge(entity())}}) == request_kind::merging_batch);
    CHECK(kind_of(create_table{}) == request_kind::create_table);
    CHECK(kind_of(delete_table{}) == request_kind::delete_table);
}

TEST_CASE("each request is marked as safe to repeat or not, assuming that there may be other writers") {
    auto const of = [](mutation change) { return idempotency_of(write_entity{"table", std::move(change)}); };
    CHECK(idempotency_of(get_entity{}) == idempotency::safe);
    CHECK(idempotency_of(query_entities{}) == idempotency::safe);
    CHECK(idempotency_of(list_tables{}) == idempotency::safe);
    CHECK(of(mutation::insert_or_replace(entity())) == idempotency::repeatable);
    CHECK(of(mutation::insert_or_merge(entity())) == idempotency::repeatable);
    CHECK(of(mutation::replace(entity(), any_etag)) == idempotency::repeatable);
    CHECK(of(mutation::merge(entity(), any_etag)) == idempotency::repeatable);
    CHECK(of(mutation::remove(entity(), any_etag)) == idempotency::repeatable);
    CHECK(of(mutation::insert(entity())) == idempotency::conditional);           // 409 the second time
    CHECK(of(mutation::remove(entity(), version)) == idempotency::conditional);  // 404 the second time
    CHECK(of(mutation::replace(entity(), version)) == idempotency::conditional); // 412 the second time
    CHECK(of(mutation::merge(entity(), version)) == idempotency::conditional);
    CHECK(idempotency_of(transact{}) == idempotency::conditional);
    CHECK(idempotency_of(create_table{}) == idempotency::conditional);
    CHECK(idempotency_of(delete_table{}) == idempotency::conditional);
}

TEST_CASE("an answer shows for each row whether a lost attempt was applied") {
    struct expected {
        request_kind kind;
        conclusion not_found, exists, condition, content, other;
    };
    expected const rows[] = {
        {request_kind::read, as_answered, as_answered, as_answered, as_answered, as_answered},
        {request_kind::insert, unknown, compare, unknown, as_answered, unknown},
        {request_kind::conditional_replace, unknown, unknown, unknown, as_answered, unknown},
        {request_kind::conditional_merge, unknown, unknown, unknown, unknown, unknown},
        {request_kind::forced_replace, unknown, unknown, unknown, as_answered, unknown},
        {request_kind::forced_merge, unknown, unknown, unknown, unknown, unknown},
        {request_kind::insert_or_replace, unknown, unknown, unknown, as_answered, unknown},
        {request_kind::insert_or_merge, unknown, unknown, unknown, unknown, unknown},
        {request_kind::conditional_remove, success, unknown, unknown, as_answered, unknown},
        {request_kind::forced_remove, success, unknown, unknown, as_answered, unknown},
        {request_kind::batch, unknown, unknown, unknown, as_answered, unknown},
        {request_kind::merging_batch, unknown, unknown, unknown, unknown, unknown},
        {request_kind::batch_with_operation, settle, settle, as_answered, as_answered, settle},
        {request_kind::merging_batch_with_operation, settle, settle, as_answered, settle, settle},
        {request_kind::create_table, unknown, success, unknown, as_answered, unknown},
        {request_kind::delete_table, success, unknown, unknown, as_answered, unknown},
    };
    CHECK(std::size(rows) == std::size(idempotency_table));
    for (expected const& row : rows) {
        CAPTURE(static_cast<int>(row.kind));
        CHECK(said(error_code::resource_not_found, row.kind) == row.not_found);
        CHECK(said(error_code::entity_already_exists, row.kind) == row.exists);
        CHECK(said(error_code::table_already_exists, row.kind) == row.exists);
        CHECK(said(error_code::update_condition_not_satisfied, row.kind) == row.condition);
        // The rules of entities: the result of a merge with the stored entity may break them.
        for (error_code const code : {error_code::entity_too_large, error_code::too_many_properties,
                 error_code::property_value_too_large, error_code::property_name_too_long,
                 error_code::property_name_invalid, error_code::duplicate_properties_specified,
                 error_code::out_of_range_input, error_code::invalid_input, error_code::request_body_too_large}) {
            CHECK(said(code, row.kind) == row.content);
        }
        // A rule that the request alone breaks is broken each time.
        for (error_code const code : {error_code::properties_need_value, error_code::key_value_too_large,
                 error_code::invalid_resource_name, error_code::invalid_duplicate_row,
                 error_code::commands_in_batch_act_on_different_partitions, error_code::not_implemented}) {
            CHECK(said(code, row.kind) == as_answered);
        }
        for (int const http : {411, 414, 415, 501, 505}) {
            CHECK(status(static_cast<std::uint16_t>(http), row.kind) == as_answered);
        }
        for (error_code const code : {error_code::table_not_found, error_code::authentication_failed,
                 error_code::authorization_failure, error_code::not_supported, error_code::cancelled,
                 error_code::deadline_exceeded, error_code::row_malformed, error_code::store_full,
                 error_code::store_corrupt, error_code::store_failed}) {
            CHECK(said(code, row.kind) == row.other);
        }
        for (int const http : {0, 301, 400, 402, 404, 405, 409, 410, 412, 413, 418, 431, 499}) {
            CHECK(status(static_cast<std::uint16_t>(http), row.kind) == row.other);
        }
        if (row.kind != request_kind::delete_table) {
            CHECK(said(error_code::table_being_deleted, row.kind) == row.other);
        }
    }
    CHECK(said(error_code::table_being_deleted, request_kind::delete_table) == success);
}

TEST_CASE("the operation at which a transaction failed is known") {
    transact const batch{"table",
        {mutation::insert(entity()), mutation::insert(entity()), mutation::merge(entity(), version),
            mutation::merge(entity(), any_etag), mutation::remove(entity(), version)}};
    auto const at = [&](error_code code, std::optional<std::size_t> index) {
        error answer{code, "an answer"};
        answer.operation_index = index;
        return place_of_refusal(answer, batch);
    };
    CHECK(at(error_code::entity_already_exists, 0) == refused_at::operation_row);
    CHECK(at(error_code::entity_already_exists, 1) == refused_at::somewhere);
    CHECK(at(error_code::entity_already_exists, {}) == refused_at::somewhere);
    CHECK(at(error_code::invalid_input, 0) == refused_at::somewhere);
    for (error_code const code : {error_code::resource_not_found, error_code::update_condition_not_satisfied}) {
        CHECK(at(code, 2) == refused_at::exact_version);
        CHECK(at(code, 4) == refused_at::exact_version);
        CHECK(at(code, 0) == refused_at::somewhere);
        CHECK(at(code, 1) == refused_at::somewhere);
        CHECK(at(code, 3) == refused_at::somewhere);
        CHECK(at(code, 5) == refused_at::somewhere);
        CHECK(at(code, {}) == refused_at::somewhere);
    }
    CHECK(at(error_code::entity_too_large, 2) == refused_at::somewhere);
}

TEST_CASE("only transient errors are repeated") {
    for (std::uint16_t http = 100; http < 600; ++http) {
        error answer{error_code::other_service_error, "an answer"};
        answer.http_status = http;
        bool const passes = http == 408 || http == 429 || http == 500 || http == 502 || http == 503 || http == 504;
        CHECK(worth_retrying(answer) == passes);
    }
    CHECK(worth_retrying({error_code::transport_failed, ""}));
    CHECK(worth_retrying({error_code::server_busy, ""}));
    CHECK(worth_retrying({error_code::store_busy, ""}));
    CHECK_FALSE(worth_retrying({error_code::store_full, ""}));
    CHECK(worth_retrying({error_code::operation_timed_out, ""}));
    CHECK(worth_retrying({error_code::internal_error, ""}));
    for (error_code const code : {error_code::cancelled, error_code::deadline_exceeded, error_code::not_supported,
             error_code::row_malformed, error_code::other_service_error, error_code::continuation_invalid,
             error_code::entity_already_exists, error_code::not_implemented, error_code::authentication_failed}) {
        CHECK_FALSE(worth_retrying({code, ""}));
    }
}
