// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/batch_answer.hpp>
#include <entitable/testing/rows.hpp>

#include <support/vectors.hpp>

#include <algorithm>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

std::vector<mutation> changes(std::size_t count, std::vector<std::size_t> const& removals = {}) {
    std::vector<mutation> made;
    for (std::size_t index = 0; index < count; ++index) {
        bool const removal = std::find(removals.begin(), removals.end(), index) != removals.end();
        row const entity = make_row("p", std::to_string(index));
        made.push_back(removal ? mutation::remove(entity, any_etag) : mutation::insert_or_replace(entity));
    }
    return made;
}

result<transact::response> read(std::string body, std::vector<mutation> const& sent,
    std::string_view type = "multipart/mixed; boundary=batchresponse_1") {
    http_response response;
    response.status = 202;
    response.body = std::move(body);
    CHECK(response.headers.add("Content-Type", type));
    detail::json_reader reader;
    return detail::read_batch_answer(response, sent, reader);
}

std::string part(std::string_view status, std::string_view fields = "ETag: W/\"1\"\r\n", std::string_view body = "") {
    return "--changesetresponse_2\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: "
           "binary\r\n\r\nHTTP/1.1 " +
        std::string{status} + "\r\n" + std::string{fields} + "\r\n" + std::string{body} + "\r\n";
}

std::string answer(std::string_view parts) {
    return "--batchresponse_1\r\nContent-Type: multipart/mixed; boundary=changesetresponse_2\r\n\r\n" +
        std::string{parts} + "--changesetresponse_2--\r\n--batchresponse_1--\r\n";
}

void unclear(
    std::string const& body, std::size_t sent, std::string_view type = "multipart/mixed; boundary=batchresponse_1") {
    CAPTURE(body.substr(0, 300));
    auto const outcome = read(body, changes(sent), type);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == error_code::transport_failed);
    CHECK(outcome.error().effect == effect::unknown);
}

std::string failed(std::string_view message, std::string_view status = "409 Conflict") {
    return answer(part(status, "Content-Type: application/json\r\n",
        R"({"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":")" + std::string{message} +
            "\"}}}"));
}

} // namespace

TEST_CASE("vectors: answers to transactions are read") {
    vectors const all{"batch.json"};
    if (!all) { return; }
    std::size_t count = 0;
    for (auto const each : all.list("responses")) {
        std::string const id = text_of(each, "id");
        CAPTURE(id);
        auto const expected = each["expect"].value();
        if (has(expected, "quirk") || id == "service-single-get" || number_of(each, "http_status") != 202) {
            continue; // reads in batches are not sent; other statuses are answers to any request
        }
        std::size_t sent = 20;
        std::vector<std::size_t> removals;
        simdjson::dom::array parts;
        std::vector<std::string> etags;
        if (expected["parts"].get(parts) == simdjson::SUCCESS) {
            sent = parts.size();
            etags.assign(sent, {});
            std::size_t index = 0;
            for (auto const one : parts) {
                std::string const place = text_of(one, "content_id");
                std::size_t const at = place.empty() ? index : std::stoul(place) - 1;
                etags[at] = text_of(one, "etag");
                if (etags[at].empty()) { removals.push_back(at); }
                ++index;
            }
        } else if (has(each, "operations_sent")) {
            sent = static_cast<std::size_t>(number_of(each, "operations_sent"));
        }
        auto const outcome = read(text_of(each, "body"), changes(sent, removals), text_of(each, "content_type"));
        if (has(expected, "malformed")) {
            REQUIRE_FALSE(outcome);
            CHECK(outcome.error().effect == effect::unknown);
        } else if (has(expected, "error")) {
            auto const problem = expected["error"].value();
            REQUIRE_FALSE(outcome);
            CHECK(outcome.error().http_status == number_of(problem, "status"));
            CHECK(to_string(outcome.error().code) == text_of(problem, "code"));
            CHECK(outcome.error().server_message == text_of(problem, "message"));
            CHECK(outcome.error().request_id == text_of(problem, "request_id"));
            CHECK(outcome.error().operation_index.has_value() == has(problem, "index"));
            if (has(problem, "index")) {
                CHECK(outcome.error().operation_index == static_cast<std::size_t>(number_of(problem, "index")));
            }
            CHECK((outcome.error().effect == effect::unknown) == (number_of(problem, "status") >= 500));
        } else {
            REQUIRE(outcome);
            REQUIRE(outcome->results.size() == etags.size());
            for (std::size_t index = 0; index < etags.size(); ++index) {
                CHECK(outcome->results[index].etag.to_string() == etags[index]);
            }
        }
        ++count;
    }
    CHECK(count >= 19);
}

TEST_CASE("each operation has its ETag") {
    auto const outcome =
        read(answer(part("204 No Content", "ETag: \"a\"\r\n") + part("201 Created", "etag:\"b\"\r\n", "{}") +
                 part("204", "DataServiceVersion: 1.0;\r\n")),
            changes(3, {2}));
    REQUIRE(outcome);
    REQUIRE(outcome->results.size() == 3);
    CHECK(outcome->results[0].etag.to_string() == "\"a\"");
    CHECK(outcome->results[1].etag.to_string() == "\"b\"");
    CHECK(outcome->results[2].etag.empty());
}

TEST_CASE("the index of the failed operation is read if the answer contains it") {
    auto const index_of = [](std::string_view message) {
        auto const outcome = read(failed(message), changes(3));
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == error_code::entity_already_exists);
        CHECK(outcome.error().effect == effect::none);
        return outcome.error().operation_index;
    };
    CHECK(index_of("2:It exists.") == 2);
    CHECK(index_of("0:It exists.") == 0);
    CHECK_FALSE(index_of("3:It exists."));
    CHECK_FALSE(index_of("4294967296:It exists."));
    CHECK_FALSE(index_of("99999999999999999999999:It exists."));
    CHECK_FALSE(index_of("-1:It exists."));
    CHECK_FALSE(index_of("It exists: 1:"));
    CHECK_FALSE(index_of("1 It exists."));
    CHECK_FALSE(index_of(""));
    // A missing table is not the fault of an operation.
    auto const missing =
        read(answer(part("404 Not Found", "", R"({"odata.error":{"code":"TableNotFound","message":{"value":"0:x"}}})")),
            changes(3));
    CHECK(missing.error().code == error_code::table_not_found);
    CHECK_FALSE(missing.error().operation_index);
}

TEST_CASE("a malformed answer leaves the effect unknown") {
    std::string const two = answer(part("204 No Content") + part("204 No Content"));
    REQUIRE(read(two, changes(2)));
    for (std::size_t size = 0; size + 2 < two.size(); ++size) { // all except the last line break
        auto const outcome = read(two.substr(0, size), changes(2));
        CAPTURE(size);
        // After the last boundary nothing is missing.
        bool const whole = size >= two.size() - 2;
        CHECK(outcome.has_value() == whole);
        CHECK((outcome.has_value() || outcome.error().effect == effect::unknown));
    }
    unclear("", 1);
    unclear("<html></html>", 1);
    unclear(answer(""), 0);
    unclear(answer(""), 1);
    unclear(answer(part("204")), 2);
    unclear(two, 1);
    unclear(two, 2, "application/json");
    unclear(two, 2, "multipart/mixed");
    unclear(two, 2, "multipart/mixed; boundary=");
    unclear(two, 2, "multipart/mixed; boundary=other");
    unclear(two, 2, "");
    std::string many;
    for (int index = 0; index < 2000; ++index) { many += part("204"); }
    unclear(answer(many), 100);
    unclear(answer(part("204") + part("409 Conflict")), 2);
    unclear(answer(part("409 Conflict") + part("409 Conflict")), 2);
    unclear(answer(part("")), 1);
    unclear(answer(part("99999999999")), 1);
    unclear(answer(part("99")), 1);
    unclear(answer(part("abc")), 1);
    unclear(answer(part("204x")), 1);
    unclear(answer(part("-204")), 1);
    unclear(answer(part("204", "")), 1);               // no ETag
    unclear(answer(part("204", "ETag: junk\r\n")), 1); // an ETag that could not be sent back
    unclear(answer(part("204", "no colon\r\n")), 1);
    unclear(answer("--changesetresponse_2\r\n\r\n"), 1);
    unclear(answer("--changesetresponse_2\r\nContent-Type: application/http\r\n\r\n"), 1);
    unclear(
        answer(part("204", "Content-ID: 1\r\nETag: \"a\"\r\n") + part("204", "Content-ID: 1\r\nETag: \"b\"\r\n")), 2);
    unclear(
        answer(part("204", "Content-ID: 1\r\nETag: \"a\"\r\n") + part("204", "Content-ID: 3\r\nETag: \"b\"\r\n")), 2);
    unclear("--batchresponse_1\r\nContent-Type: multipart/mixed; "
            "boundary=changesetresponse_2\r\n\r\n--batchresponse_1--\r\n",
        1);
    std::string const outer_twice = "--batchresponse_1\r\n\r\n\r\n" + two;
    unclear(outer_twice, 2);
}

TEST_CASE("an answer inside a value is not mistaken for an answer") {
    auto const outcome = read(answer(part("204", "ETag: \"a\"\r\nLocation: HTTP/1.1 200 --changesetresponse_2\r\n",
                                  "HTTP/1.1 409 Conflict\r\nx--changesetresponse_2")),
        changes(1));
    REQUIRE(outcome);
    CHECK(outcome->results[0].etag.to_string() == "\"a\"");
}

TEST_CASE("a throttled transaction reports when to retry") {
    auto const throttled =
        read("--batchresponse_1\r\nContent-Type: multipart/mixed; boundary=changesetresponse_2\r\n\r\n" +
                part("429 ?", "Retry-After: 3\r\n", R"({"odata.error":{"code":"429","message":{"value":"x"}}})") +
                "--changesetresponse_2--\r\n--batchresponse_1--\r\n",
            changes(2));
    REQUIRE_FALSE(throttled);
    CHECK(throttled.error().code == error_code::server_busy);
    CHECK(throttled.error().effect == effect::none);
    CHECK(throttled.error().retry_after == std::chrono::seconds{3});
}
