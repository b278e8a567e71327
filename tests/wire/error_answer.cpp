// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/error_answer.hpp>

#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;
using detail::error_answer;

namespace {

http_response answer(std::uint16_t status, std::string body) {
    http_response made;
    made.status = status;
    made.body = std::move(body);
    return made;
}

error problem_of(http_response const& response, bool writes = false) {
    detail::json_reader reader;
    auto made = detail::to_failure(detail::read_error_answer(response, reader), "get_entity", writes);
    return made.error();
}

} // namespace

TEST_CASE("vectors: error answers are read") {
    vectors const all{"errors.json"};
    if (!all) { return; }
    detail::json_reader reader;
    std::size_t count = 0;
    for (auto const each : all.list("responses")) {
        CAPTURE(text_of(each, "id"));
        auto response = answer(static_cast<std::uint16_t>(number_of(each, "status")), text_of(each, "body"));
        simdjson::dom::object const fields = each["headers"].get_object().value();
        for (auto const field : fields) { REQUIRE(response.headers.add(field.key, std::string_view{field.value})); }
        auto const expected = each["expect"].value();
        error_answer const read = detail::read_error_answer(response, reader);
        CHECK(read.status == number_of(expected, "status"));
        CHECK(read.code == text_of(expected, "code"));
        if (has(expected, "message")) { CHECK(read.message == text_of(expected, "message")); }
        if (has(expected, "request_id")) { CHECK(read.request_id == text_of(expected, "request_id")); }
        if (has(expected, "retry_after_ms")) {
            REQUIRE(read.retry_after);
            CHECK(read.retry_after->count() == number_of(expected, "retry_after_ms"));
        } else {
            CHECK_FALSE(read.retry_after);
        }
        ++count;
    }
    CHECK(count >= 38);
    for (auto const each : all.list("codes")) {
        std::string const word = text_of(each, "code");
        CAPTURE(word);
        error_code const code = detail::code_of(word, 400);
        CHECK((to_string(code) == word || code == error_code::other_service_error || http_status_of(code) != 0));
    }
}

TEST_CASE("error answers can be JSON, XML or empty") {
    auto const json = problem_of(answer(409,
        R"({"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"The specified entity already exists.\nRequestId:1-2\nTime:x"}}})"));
    CHECK(json.code == error_code::entity_already_exists);
    CHECK(json.http_status == 409);
    CHECK(json.server_message == "The specified entity already exists.");
    CHECK(json.request_id == "1-2");
    CHECK(json.effect == effect::none);
    auto const xml = problem_of(answer(404,
        "\xEF\xBB\xBF<?xml version=\"1.0\"?><m:error xmlns:m=\"x\"><m:code>TableNotFound</m:code><m:message "
        "xml:lang=\"en\">a &lt;b&gt; &#x41;</m:message></m:error>"));
    CHECK(xml.code == error_code::table_not_found);
    CHECK(xml.server_message == "a <b> A");
    auto const unknown = problem_of(answer(400, R"({"odata.error":{"code":"NeverHeardOf","message":{"value":"x"}}})"));
    CHECK(unknown.code == error_code::other_service_error);
    CHECK_THAT(unknown.message, ContainsSubstring("NeverHeardOf"));
    CHECK(problem_of(answer(404, "<html>not here</html>")).code == error_code::other_service_error);
    CHECK(problem_of(answer(404, "")).http_status == 404);
}

TEST_CASE("statuses and bodies that no service sends are treated as errors") {
    for (std::string const& body :
        {std::string{}, std::string{"<html><p>"}, std::string{"{\"odata.error\":"}, std::string{"{\"odata.error\":[]}"},
            std::string{"{\"odata.error\":{\"code\":5,\"message\":7}}"}, std::string{"<Error><Code>A</Error>"},
            std::string{"<!DOCTYPE x>"}, std::string{"{\"odata.error\":{\"code\":\"\xFF\"}}"},
            std::string(100'000, '<'), std::string(100'000, '{'), std::string{"\0\0", 2}}) {
        for (int const status : {301, 400, 404, 500, 503, 599, 600, 999}) {
            auto const problem = problem_of(answer(static_cast<std::uint16_t>(status), body), true);
            CHECK(problem.http_status == status);
            CHECK((problem.effect == effect::unknown) == (status >= 500 || status == 408));
            CHECK(problem.to_string().size() < 1000);
        }
    }
    CHECK(problem_of(answer(501, ""), true).effect == effect::none);
    CHECK(problem_of(answer(503, ""), false).effect == effect::none);
    std::string large = R"({"odata.error":{"code":"InvalidInput","message":{"value":")";
    large.append(10 * 1024 * 1024, 'x').append("\"}}}");
    auto const problem = problem_of(answer(400, large));
    CHECK(problem.server_message.size() <= 1100);
    std::string medium = R"({"odata.error":{"code":"InvalidInput","message":{"value":")";
    medium.append(500'000, 'x').append("\"}}}");
    CHECK(problem_of(answer(400, medium)).code == error_code::invalid_input);
    CHECK(problem_of(answer(400, medium)).server_message.size() <= 1100);
}

TEST_CASE("Retry-After is parsed in both forms, and ignored if malformed") {
    auto const wish = [](std::string_view name, std::string_view value) {
        http_headers headers;
        REQUIRE(headers.add("Date", "Mon, 27 Jul 2026 12:28:53 GMT"));
        REQUIRE(headers.add(name, value));
        auto const read = detail::retry_after_of(headers);
        return read ? read->count() : -1;
    };
    CHECK(wish("Retry-After", "5") == 5000);
    CHECK(wish("retry-after", " 0 ") == 0);
    CHECK(wish("x-ms-retry-after-ms", "137") == 137);
    CHECK(wish("Retry-After", "Mon, 27 Jul 2026 12:29:03 GMT") == 10'000);
    CHECK(wish("Retry-After", "Mon, 27 Jul 2026 12:28:03 GMT") == 0);
    CHECK(wish("Retry-After", "99999999999999999999") == 1'000'000'000'000);
    CHECK(wish("Retry-After", "86400") == 86'400'000);
    for (std::string_view const junk :
        {"soon", "-5", "5s", "", "1.5", "Mon, 99 Jul 2026 12:29:03 GMT", "0x10", "Mon, 27 Jux 2026 12:29:03 GMT"}) {
        CAPTURE(junk);
        CHECK(wish("Retry-After", junk) == -1);
    }
}

TEST_CASE("an unknown error code falls back to the status if that is unambiguous") {
    struct expected {
        int status;
        std::string_view word;
        error_code code;
    };
    for (expected const& each : {expected{429, "429", error_code::server_busy}, // Cosmos DB
             {429, "TooManyRequests", error_code::server_busy}, {403, "Forbidden", error_code::authorization_failure},
             {401, "NoAuthenticationInformation", error_code::authentication_failed}, // Storage
             {408, "Slow", error_code::operation_timed_out}, {503, "Away", error_code::server_busy},
             {504, "Away", error_code::operation_timed_out}, {404, "Gone", error_code::other_service_error},
             {409, "NewConflict", error_code::other_service_error}, {412, "X", error_code::other_service_error},
             {500, "X", error_code::other_service_error}, {400, "429", error_code::other_service_error}}) {
        CAPTURE(each.status, each.word);
        auto const problem = problem_of(answer(static_cast<std::uint16_t>(each.status),
            text::joined({R"({"odata.error":{"code":")", each.word, R"(","message":{"value":"x"}}})"})));
        CHECK(problem.code == each.code);
        CHECK_THAT(problem.message, ContainsSubstring(std::string{each.word}));
    }
}
