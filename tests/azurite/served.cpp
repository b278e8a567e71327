// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Sends the same requests, byte for byte, to the emulator and to this library's server: filters, values as clients write them,
// options of queries and conditions, first one by one and then in random sequences. Status, code and entities are equal except for
// the listed differences. ENTITABLE_MODEL_SEED=seed runs only one sequence.

#include "differences.hpp"
#include "emulator.hpp"
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/server.hpp>

#include <simdjson.h>
#include <support/long.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr http_method get = http_method::get;
constexpr http_method post = http_method::post;
constexpr http_method put = http_method::put;
constexpr http_method merge = http_method::merge;
constexpr http_method remove_ = http_method::delete_;

/// One of the two servers, with the versions that it issued.
struct answerer {
    std::function<http_response(http_request const&)> send;
    std::string latest; ///< ETag of the last write that returned one
    std::string former;
};

/// A JSON value with its members in order, without naturally different parts: times, versions, addresses.
std::string canonical(simdjson::dom::element value) {
    simdjson::dom::object object;
    simdjson::dom::array array;
    double number = 0;
    std::vector<std::string> parts;
    if (value.get(object) == simdjson::SUCCESS) {
        for (auto const member : object) {
            std::string const name{member.key};
            if (!name.starts_with("odata.") && !name.starts_with("Timestamp")) {
                parts.push_back(name + ":" + canonical(member.value));
            }
        }
        std::sort(parts.begin(), parts.end());
    } else if (value.get(array) == simdjson::SUCCESS) {
        for (auto const each : array) { parts.push_back(canonical(each)); }
    } else if (value.is_double() && value.get(number) == simdjson::SUCCESS) {
        return std::to_string(number);
    } else {
        return simdjson::minify(value);
    }
    std::string made;
    for (std::string const& each : parts) { made += (made.empty() ? "" : ",") + each; }
    return "{" + made + "}";
}

/// "404 ResourceNotFound", or "200" and the result.
std::string outcome(http_response const& response) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    bool const json = parser.parse(response.body.data(), response.body.size()).get(root) == simdjson::SUCCESS;
    std::string made = std::to_string(response.status);
    if (response.status < 300) { return made + (json ? " " + canonical(root) : ""); }
    std::string_view code = response.headers.find("x-ms-error-code").value_or("");
    if (code.empty() && json && root.at_pointer("/odata.error/code").get(code) != simdjson::SUCCESS) { code = ""; }
    return made + " " + std::string{code};
}

class two_services {
public:
    two_services()
        : address_(parse_connection_string(std::getenv("ENTITABLE_AZURITE")).value().endpoint),
          key_(credential::account_key("devstoreaccount1", served_account::development().key).value()),
          ours_{
              [server = table_server{memory_backend{}}](http_request const& request) { return server.answer(request); },
              {}, {}},
          theirs_{[client = curl_client{}](http_request const& request) { return client.send(request, {}).value(); },
              {}, {}} {}

    /// Sends one request to both. `what` is the text for the list of differences. Preparing requests may have different
    /// answers.
    void ask(std::string const& what, http_method method, std::string_view path, std::string const& body = {},
        std::string_view if_match = {}, std::string_view accept = "application/json;odata=minimalmetadata") {
        std::string found[2];
        for (answerer* const each : {&theirs_, &ours_}) {
            http_request request;
            request.method = method;
            request.url = address_.primary + std::string{path};
            request.body = body;
            std::string_view const version = if_match == "latest" ? each->latest
                : if_match == "former"                            ? each->former
                                                                  : if_match;
            bool good = request.headers.add("Accept", accept) && request.headers.add("x-ms-version", "2019-02-02") &&
                (body.empty() || request.headers.add("Content-Type", "application/json")) &&
                (version.empty() || request.headers.add("If-Match", version));
            REQUIRE(good);
            REQUIRE(key_.authorize(request, address_, system_clock().now()));
            http_response const answer = each->send(request);
            if (auto const tag = answer.headers.find("ETag"); tag && method != get) {
                each->former = std::exchange(each->latest, *tag);
            }
            found[each == &ours_ ? 1 : 0] = outcome(answer);
        }
        ++asked_;
        (found[1][0] == '2' ? accepted_ : refused_) += 1;
        same_ = found[0] == found[1];
        if (!same_ && what != "prepare" && !is_known("served", what + ": " + found[0] + " / " + found[1])) {
            FAIL_CHECK(what << "\nazurite: " << found[0].substr(0, 1000) << "\nserved:  " << found[1].substr(0, 1000));
        }
    }
    [[nodiscard]] bool same() const { return same_; } ///< whether the last answers were equal
    [[nodiscard]] std::size_t accepted() const { return accepted_; }
    [[nodiscard]] std::size_t refused() const { return refused_; }

private:
    endpoint address_;
    credential key_;
    answerer ours_;
    answerer theirs_;
    std::size_t asked_{};
    std::size_t accepted_{};
    std::size_t refused_{};
    bool same_{};
};

std::string filtered(std::string_view filter) {
    std::string path = "/Served()?$filter=";
    detail::append_url_escaped(path, filter);
    return path;
}

std::string place(std::string_view row) { return text::joined({"/Served(PartitionKey='p',RowKey='", row, "')"}); }

void fill(two_services& both) {
    both.ask("prepare", remove_, "/Tables('Served')");
    both.ask("prepare", post, "/Tables", R"({"TableName":"Served"})");
    for (int row = 0; row < 8; ++row) {
        std::string const n = std::to_string(row);
        both.ask("fill", post, "/Served",
            R"({"PartitionKey":")" + std::string{row < 6 ? "p" : "q"} + R"(","RowKey":")" + n + R"(","I":)" + n +
                R"(,"L@odata.type":"Edm.Int64","L":")" + n + R"(","D":)" + n + R"(.5,"B":)" +
                (row % 2 == 0 ? "true" : "false") + R"(,"S":"it's )" + n +
                R"(","T@odata.type":"Edm.DateTime","T":"2020-01-0)" + std::to_string(row + 1) +
                R"(T00:00:00Z","G@odata.type":"Edm.Guid","G":"0000000)" + n + R"(-0000-0000-0000-000000000000")" +
                (row < 4 ? R"(,"Some":1})" : "}"));
    }
}

constexpr char const* conditions[] = {"I eq 3", "I ne 3", "I gt 3", "I ge 3", "I lt 3", "I le 3", "3 lt I", "I eq -1",
    "L eq 3L", "L gt 3L", "L ne 3L", "D eq 3.5", "D lt 3.5", "D ge 2.5", "B eq true", "B eq false", "B", "not B",
    "S eq 'it''s 3'", "S gt 'it''s 3'", "S ne 'x'", "T eq datetime'2020-01-03T00:00:00Z'",
    "T gt datetime'2020-01-03T00:00:00Z'", "T le datetime'2020-01-03T00:00:00.0000000Z'",
    "G eq guid'00000003-0000-0000-0000-000000000000'", "PartitionKey eq 'p'", "PartitionKey gt 'p'", "RowKey ge '3'",
    "RowKey lt '5'", "PartitionKey eq 'p' and RowKey eq '2'", "Some eq 1", "not (I eq 3)", "not (PartitionKey eq 'p')",
    "(I eq 3)", "((I eq 3) or (I eq 4))", "I gt 1 and I lt 5 or I eq 7",
    // accepted by only one of them
    "D ge 2.5e0", "I EQ 3", "I eq 3.0", "I eq '3'", "I eq 3L", "L eq 3", "S eq null", "S eq 'x", "I eq", "(I eq 3",
    "I eq 3)", "startswith(S,'i')", "I add 1 eq 3", "Some ne 1", "Some lt 5", "None eq 1", "None ne 1", "true", "I",
    "eq", "I eq 3 and", "I == 3", "I eq 99999999999", "D eq 3", "G gt guid'00000003-0000-0000-0000-000000000000'",
    "G eq guid'nonsense'", "T eq datetime'nonsense'", "T eq '2020-01-03T00:00:00Z'", "B eq 'true'", "B eq 1",
    "Timestamp gt datetime'2000-01-01T00:00:00Z'", "S eq 'it''s 3' or", ""};

constexpr char const* values[] = {R"("V":1)", R"("V":-2147483648)", R"("V":1.5)", R"("V":1.0)", R"("V":1e3)",
    R"("V":"x")", R"("V":"")", R"("V":true)", R"("V":null)", R"("V":"\u00e4\ud83d\ude00")", R"("V":2147483648)",
    R"("V@odata.type":"Edm.Int64","V":"5")", R"("V@odata.type":"Edm.Int64","V":5)",
    R"("V@odata.type":"Edm.Int64","V":"x")", R"("V@odata.type":"Edm.Int64","V":"9223372036854775808")",
    R"("V@odata.type":"Edm.Int32","V":5)", R"("V@odata.type":"Edm.Int32","V":"5")",
    R"("V@odata.type":"Edm.Double","V":1)", R"("V@odata.type":"Edm.Double","V":"NaN")",
    R"("V@odata.type":"Edm.Double","V":"x")", R"("V@odata.type":"Edm.Boolean","V":true)",
    R"("V@odata.type":"Edm.Boolean","V":"true")", R"("V@odata.type":"Edm.Boolean","V":1)",
    R"("V@odata.type":"Edm.DateTime","V":"2020-01-01T00:00:00Z")", R"("V@odata.type":"Edm.DateTime","V":"nonsense")",
    R"("V@odata.type":"Edm.Guid","V":"00000003-0000-0000-0000-000000000000")",
    R"("V@odata.type":"Edm.Guid","V":"nonsense")", R"("V@odata.type":"Edm.Binary","V":"AP8=")",
    R"("V@odata.type":"Edm.Binary","V":"!")", R"("V@odata.type":"Edm.String","V":"x")",
    R"("V@odata.type":"Edm.String","V":1)", R"("V@odata.type":"Edm.Nothing","V":"x")", R"("V":[1])", R"("V":{"a":1})",
    R"("V":1,"V":2)", R"("V" 1)"};

} // namespace

TEST_CASE("served: each condition, value and option behaves as in the emulator, or the difference is listed") {
    if (!has_emulator()) { return; }
    two_services both;
    fill(both);
    for (std::string const condition : conditions) { both.ask("filter " + condition, get, filtered(condition)); }
    for (std::string const option :
        {"$top=0", "$top=1", "$top=1000", "$top=1001", "$top=-1", "$top=x", "$select=I", "$select=I,S",
            "$select=RowKey", "$select=None", "$select=*", "$select=Some", "$filter=I%20eq%203&$select=S"}) {
        both.ask("option " + option, get, "/Served()?" + option);
    }
    for (std::string const accept : {"application/json;odata=nometadata", "application/json;odata=fullmetadata",
             "application/json", "application/atom+xml", "*/*"}) {
        both.ask("accept " + accept, get, place("3"), {}, {}, accept);
    }
    for (std::string const value : values) {
        std::string const body = R"({"PartitionKey":"p","RowKey":"v",)" + value + "}";
        both.ask("insert " + value, post, "/Served", body);
        if (both.same()) { both.ask("after insert " + value, get, place("v")); }
        both.ask("prepare", remove_, place("v"), {}, "*");
        both.ask("put " + value, put, place("v"), "{" + value + "}");
        if (both.same()) {
            both.ask("merge " + value, merge, place("v"), "{" + value + "}", "*");
            both.ask("after merge " + value, get, place("v"));
        }
        both.ask("prepare", remove_, place("v"), {}, "*");
    }
    CHECK(both.accepted() > 100);
    CHECK(both.refused() > 30);
}

TEST_CASE("served: random sequences of requests behave as in the emulator") {
    if (!has_emulator()) { return; }
    char const* const chosen = std::getenv("ENTITABLE_MODEL_SEED");
    std::uint64_t const first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
    std::size_t const sequences = chosen != nullptr ? 1 : rounds(2, 100);
    two_services both;
    for (std::uint64_t seed = first; seed < first + sequences; ++seed) {
        INFO("ENTITABLE_MODEL_SEED=" << seed);
        fill(both);
        std::mt19937_64 random{seed};
        auto const one_of = [&](auto const& choices, std::size_t most) {
            return std::string{choices[random() % most]};
        };
        for (int step = 0; step < 150; ++step) {
            constexpr char const* versions[] = {
                "", "*", "latest", "former", "W/\"datetime'2020-01-01T00%3A00%3A00Z'\""};
            constexpr char const* rows[] = {"0", "1", "2", "new", "a''b", "%C3%A4"};
            std::string const row = one_of(rows, 6);
            std::string const version = one_of(versions, 5);
            std::string const body = "{" + one_of(values, 8) + R"(,"W":)" + std::to_string(step) + "}";
            switch (random() % 6) {
                case 0:
                    both.ask("random insert", post, "/Served",
                        R"({"PartitionKey":"p","RowKey":")" + row.substr(0, 1) + R"(","I":5})");
                    break;
                case 1: both.ask("random put " + version, put, place(row), body, version); break;
                case 2: both.ask("random merge " + version, merge, place(row), body, version); break;
                case 3: both.ask("random remove " + version, remove_, place(row), {}, version); break;
                case 4: both.ask("random get", get, place(row)); break;
                default: { // both agree on the first conditions
                    std::string condition = one_of(conditions, 36);
                    for (std::size_t more = random() % 3; more > 0; --more) {
                        condition =
                            "(" + condition + (random() % 2 == 0 ? ") and (" : ") or (") + one_of(conditions, 36) + ")";
                    }
                    both.ask("random filter " + condition, get, filtered(condition));
                }
            }
        }
        both.ask("all at the end", get, "/Served()");
    }
}
