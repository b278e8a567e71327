// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/error.hpp>
#include <entitable/core/result.hpp>

#include <support/catch.hpp>

#include <set>
#include <string>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace {

constexpr auto last_of_the_service = static_cast<int>(error_code::other_service_error);
constexpr auto first_of_ours = static_cast<int>(error_code::not_supported);
constexpr auto last_of_ours = static_cast<int>(error_code::group_missing);

} // namespace

TEST_CASE("every error code has a unique name") {
    std::set<std::string_view> names;
    auto const check = [&](int number) {
        auto const name = to_string(static_cast<error_code>(number));
        CAPTURE(number, name);
        CHECK(name != "UnknownError");
        CHECK_FALSE(name.empty());
        CHECK(names.insert(name).second);
    };
    for (int number = 1; number <= last_of_the_service; ++number) { check(number); }
    for (int number = first_of_ours; number <= last_of_ours; ++number) { check(number); }
    CHECK(to_string(static_cast<error_code>(0)) == "UnknownError");
    CHECK(to_string(static_cast<error_code>(last_of_the_service + 1)) == "UnknownError");
    CHECK(to_string(static_cast<error_code>(last_of_ours + 1)) == "UnknownError");
}

TEST_CASE("every service code has the name and the status that the service uses") {
    struct expectation {
        error_code code;
        std::string_view name;
        int status;
    };
    auto const expected = GENERATE(values<expectation>({
        {error_code::entity_already_exists, "EntityAlreadyExists", 409},
        {error_code::table_already_exists, "TableAlreadyExists", 409},
        {error_code::table_being_deleted, "TableBeingDeleted", 409},
        {error_code::resource_not_found, "ResourceNotFound", 404},
        {error_code::table_not_found, "TableNotFound", 404},
        {error_code::update_condition_not_satisfied, "UpdateConditionNotSatisfied", 412},
        {error_code::entity_too_large, "EntityTooLarge", 400},
        {error_code::property_value_too_large, "PropertyValueTooLarge", 400},
        {error_code::property_name_too_long, "PropertyNameTooLong", 400},
        {error_code::property_name_invalid, "PropertyNameInvalid", 400},
        {error_code::too_many_properties, "TooManyProperties", 400},
        {error_code::duplicate_properties_specified, "DuplicatePropertiesSpecified", 400},
        {error_code::properties_need_value, "PropertiesNeedValue", 400},
        {error_code::key_value_too_large, "KeyValueTooLarge", 400},
        {error_code::invalid_input, "InvalidInput", 400},
        {error_code::out_of_range_input, "OutOfRangeInput", 400},
        {error_code::invalid_resource_name, "InvalidResourceName", 400},
        {error_code::invalid_duplicate_row, "InvalidDuplicateRow", 400},
        {error_code::commands_in_batch_act_on_different_partitions, "CommandsInBatchActOnDifferentPartitions", 400},
        {error_code::request_body_too_large, "RequestBodyTooLarge", 413},
        {error_code::not_implemented, "NotImplemented", 501},
        {error_code::authentication_failed, "AuthenticationFailed", 403},
        {error_code::authorization_failure, "AuthorizationFailure", 403},
        {error_code::internal_error, "InternalError", 500},
        {error_code::operation_timed_out, "OperationTimedOut", 500},
        {error_code::server_busy, "ServerBusy", 503},
    }));
    CHECK(to_string(expected.code) == expected.name);
    CHECK(http_status_of(expected.code) == expected.status);
    error const made{expected.code, "text"};
    CHECK(made.code == expected.code);
    CHECK(made.http_status == expected.status);
}

TEST_CASE("codes of the library have no status, since no service answered") {
    for (int number = first_of_ours; number <= last_of_ours; ++number) {
        CAPTURE(number);
        CHECK(http_status_of(static_cast<error_code>(number)) == 0);
    }
    CHECK(error{error_code::cancelled, "stop"}.to_string() == "Cancelled: stop");
}

TEST_CASE("a new error has the effect none, one attempt and no further details") {
    error const made{error_code::server_busy, "busy"};
    CHECK(made.effect == effect::none);
    CHECK(made.attempts == 1);
    CHECK_FALSE(made.operation_index);
    CHECK_FALSE(made.retry_after);
    CHECK(made.detail.empty());
    CHECK(made.server_message.empty());
    CHECK(made.request_id.empty());
}

TEST_CASE("the text of an error contains everything except the data of the user") {
    error made{error_code::update_condition_not_satisfied, "the entity was changed"};
    made.detail = "secret row key";
    CHECK(made.to_string() == "UpdateConditionNotSatisfied (412): the entity was changed");
    made.operation_index = 0;
    made.effect = effect::unknown;
    made.server_message = "The update condition was not met.";
    made.request_id = "c9da6455";
    auto const text = made.to_string();
    CHECK_THAT(text, ContainsSubstring("operation 0"));
    CHECK_THAT(text, ContainsSubstring("may have been applied"));
    CHECK_THAT(text, ContainsSubstring("The update condition was not met."));
    CHECK_THAT(text, ContainsSubstring("c9da6455"));
    CHECK_THAT(text, !ContainsSubstring("secret"));
    CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("the text of an error is one line, whatever the service sends") {
    error made{error_code::store_failed, "the statement failed"};
    made.server_message = "ERROR:  relation \"x\" does not exist\nLINE 1: select * from x\r\n";
    made.request_id = "a\nb";
    CHECK(made.to_string() ==
        "StoreFailed: the statement failed; the server reported: ERROR:  relation \"x\" does not exist\\x0aLINE 1: "
        "select * from x\\x0d\\x0a; request a\\x0ab");
}

TEST_CASE("what() returns the message, or the text of to_string() once the error has been thrown") {
    error made{error_code::table_not_found, "there is no table"};
    CHECK(std::string{made.what()} == "there is no table");
    made.detail = "secret";
    try {
        made.raise();
    } catch (std::exception const& thrown) {
        CHECK(std::string{thrown.what()} == "TableNotFound (404): there is no table");
        REQUIRE(dynamic_cast<error const*>(&thrown) != nullptr);
        CHECK(dynamic_cast<error const&>(thrown).detail == "secret");
    }
    CHECK(std::string{made.what()} == "there is no table");
}
