// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/cloud/wire/detail/request_writer.hpp>
#include <entitable/testing/rows.hpp>

#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

detail::request_target target(service kind = service::storage) {
    detail::request_target to;
    to.base = "https://a.table.core.windows.net";
    to.kind = kind;
    to.merge_by_post = kind == service::cosmos;
    to.request_id = "id";
    return to;
}

/// The whole request as one text.
std::string shown(http_request const& request) {
    std::string text = std::string{to_string(request.method)} + " " + request.url + "\n";
    request.headers.for_each([&](std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\n");
    });
    return text + "\n" + request.body;
}

constexpr std::string_view common = "Accept: application/json;odata=minimalmetadata\nDataServiceVersion: 3.0\n"
                                    "x-ms-version: 2019-02-02\nx-ms-client-request-id: id\n";

template <class Request, class... More>
std::string as_text(Request const& request, detail::request_target const& to, More const&... more) {
    http_request out;
    // Earlier contents leave no trace.
    out.body = "old";
    out.url = "old";
    CHECK(out.headers.add("Old", "old"));
    static_cast<void>(detail::write_request(out, request, to, more...));
    return shown(out);
}

template <class Request>
void plain(Request const& request, std::string_view first, std::string_view fields, std::string_view body) {
    http_request out;
    detail::write_request(out, request, target());
    CHECK(
        shown(out) == std::string{first} + "\n" + std::string{common} + std::string{fields} + "\n" + std::string{body});
}

std::string change(mutation made, service kind = service::storage) {
    std::string text = as_text(write_entity{"Orders", std::move(made)}, target(kind));
    std::size_t const at = text.find(common);
    REQUIRE(at != std::string::npos);
    return text.erase(at, common.size());
}

} // namespace

TEST_CASE("requests that concern tables are written") {
    plain(create_table{"Orders"}, "POST https://a.table.core.windows.net/Tables",
        "Content-Type: application/json\nPrefer: return-no-content\n", R"({"TableName":"Orders"})");
    plain(delete_table{"Orders"}, "DELETE https://a.table.core.windows.net/Tables('Orders')", "", "");
    CHECK(as_text(list_tables{std::nullopt, 100}, target(), detail::service_token{})
            .starts_with("GET https://a.table.core.windows.net/Tables?$top=100\n"));
    CHECK(as_text(list_tables{std::nullopt, 100}, target(), detail::service_token{{}, {}, {}, "1!20!T3JkZXJz"})
            .starts_with("GET https://a.table.core.windows.net/Tables?$top=100&NextTableName=1%2120%21T3JkZXJz\n"));
}

TEST_CASE("reads always request keys and ETags") {
    plain(get_entity{"Orders", "O'Hara", "", {}},
        "GET https://a.table.core.windows.net/Orders(PartitionKey='O%27%27Hara',RowKey='')", "", "");
    plain(get_entity{"Orders", "p", "r", {"N", "RowKey", "\xC3\xA4"}},
        "GET https://a.table.core.windows.net/"
        "Orders(PartitionKey='p',RowKey='r')?$select=PartitionKey%2CRowKey%2CTimestamp%2CN%2C%C3%A4",
        "", "");
    query_entities query;
    query.table = "Orders";
    query.page_size = 7;
    auto const first_line = [&](detail::service_token const& token) {
        std::string const text = as_text(query, target(), token);
        return text.substr(0, text.find('\n'));
    };
    CHECK(first_line({}) == "GET https://a.table.core.windows.net/Orders()?$top=7");
    query.range.partition = key_interval::only("a&b");
    query.select = {"N"};
    query.filter.nodes.push_back({filter_operator::greater, "N", value_view{1}});
    CHECK(first_line({}) ==
        "GET https://a.table.core.windows.net/Orders()?$filter=PartitionKey%20eq%20%27a%26b%27%20and%20N%20gt%201"
        "&$select=PartitionKey%2CRowKey%2CTimestamp%2CN&$top=7");
    // page two sends the whole query again, without an empty NextRowKey
    CHECK(first_line({{}, "1!4!cA--", std::nullopt, std::nullopt}) ==
        "GET https://a.table.core.windows.net/Orders()?$filter=PartitionKey%20eq%20%27a%26b%27%20and%20N%20gt%201"
        "&$select=PartitionKey%2CRowKey%2CTimestamp%2CN&$top=7&NextPartitionKey=1%214%21cA--");
}

TEST_CASE("each of the six forms of write has a condition only if the form allows it") {
    row const entity = make_row("p'", "r", {{"N", 1}});
    std::string const at = " https://a.table.core.windows.net/Orders(PartitionKey='p%27%27',RowKey='r')\n";
    std::string const type = "Content-Type: application/json\n";
    std::string const body = R"({"PartitionKey":"p'","RowKey":"r","N":1})";
    etag const version{R"(W/"datetime'2020-11-07T01%3A23%3A13.3773350Z'")"};
    CHECK(change(mutation::insert(entity)) ==
        "POST https://a.table.core.windows.net/Orders\n" + type + "Prefer: return-no-content\n\n" + body);
    CHECK(change(mutation::replace(entity, any_etag)) == "PUT" + at + type + "If-Match: *\n\n" + body);
    CHECK(change(mutation::merge(entity, version)) ==
        "PATCH" + at + type + "If-Match: " + version.to_string() + "\n\n" + body);
    CHECK(change(mutation::insert_or_replace(entity)) == "PUT" + at + type + "\n" + body);
    CHECK(change(mutation::insert_or_merge(entity)) == "PATCH" + at + type + "\n" + body);
    CHECK(change(mutation::remove(entity, version)) == "DELETE" + at + "If-Match: " + version.to_string() + "\n\n");
    // Cosmos DB takes a merge as POST with a header
    CHECK(change(mutation::merge(entity, any_etag), service::cosmos) ==
        "POST" + at + "X-HTTP-Method: MERGE\n" + type + "If-Match: *\n\n" + body);
    CHECK(change(mutation::insert_or_merge(entity), service::cosmos) ==
        "POST" + at + "X-HTTP-Method: MERGE\n" + type + "\n" + body);
    CHECK(change(mutation::replace(entity, any_etag), service::cosmos).starts_with("PUT"));
}

TEST_CASE("an ETag with a line break is not sent") {
    http_request out;
    for (std::string const bad : {"\"a\r\nb\"", "\"a\nX-Other: 1\"", "\"\x01\""}) {
        auto const change = mutation::remove(make_row("p", "r"), etag{bad});
        auto const alone = detail::write_request(out, write_entity{"Orders", change}, target());
        REQUIRE_FALSE(alone);
        CHECK(alone.error().code == error_code::invalid_input);
        CHECK_FALSE(detail::write_request(out, transact{"Orders", {change}}, target()));
    }
}

namespace {

/// The operation of a vector. Its body is not compared: properties are checked elsewhere, so they are parsed here.
mutation operation_of(simdjson::dom::element each, detail::json_reader& reader) {
    std::string json = text_of(each, "json");
    row entity = make_row(text_of(each, "partition_key"), text_of(each, "row_key"));
    if (!json.empty()) { entity = reader.read_entity(json).value().entity; }
    std::string const match = text_of(each, "if_match");
    etag_condition condition = any_etag;
    if (!match.empty() && match != "*") { condition = etag{match}; }
    std::string const kind = text_of(each, "kind");
    constexpr std::pair<std::string_view, mutation_kind> kinds[] = {{"insert", mutation_kind::insert},
        {"update", mutation_kind::replace}, {"merge", mutation_kind::merge},
        {"insert_or_replace", mutation_kind::insert_or_replace}, {"insert_or_merge", mutation_kind::insert_or_merge},
        {"delete", mutation_kind::remove}};
    for (auto const& [name, made] : kinds) {
        if (name == kind) { return {made, entity, condition}; }
    }
    FAIL("no such kind: " << kind);
    return mutation::insert(entity);
}

/// The boundaries of vectors have two ids, ours one.
std::string with_our_boundaries(std::string text, std::string const& batch, std::string const& changeset) {
    for (auto const& [from, to] : {std::pair{batch, "batch_id"}, std::pair{changeset, "changeset_id"}}) {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
            text.replace(at, from.size(), to);
        }
    }
    return text;
}

} // namespace

TEST_CASE("vectors: requests for transactions are written") {
    vectors const all{"batch.json"};
    if (!all) { return; }
    detail::json_reader reader;
    std::size_t count = 0;
    for (auto const each : all.list("requests")) {
        CAPTURE(text_of(each, "id"));
        if (text_of(each, "id") == "single-get") {
            continue; // reads are not sent in batches
        }
        transact request;
        for (auto const one : list_of(each, "operations")) {
            request.table = text_of(one, "table");
            request.changes.push_back(operation_of(one, reader));
        }
        detail::request_target to = target();
        std::string const base = text_of(each, "base_url");
        to.base = base;
        http_request out;
        REQUIRE(detail::write_request(out, request, to));
        CHECK(out.url == base + "/$batch");
        CHECK(out.method == http_method::post);
        std::string const batch = text_of(each, "batch_boundary");
        std::string const changeset = text_of(each, "changeset_boundary");
        CHECK(out.headers.find("Content-Type") == with_our_boundaries(text_of(each, "content_type"), batch, changeset));
        CHECK(out.body == with_our_boundaries(text_of(each, "body"), batch, changeset));
        ++count;
    }
    CHECK(count >= 9);
}

TEST_CASE("a transaction can be written for a service that refuses PATCH") {
    http_request out;
    row const entity = make_row("p", "a\r\n--changeset_id--", {{"V", "\r\n--changeset_id--\r\n--batch_id--"}});
    transact const request{"Orders", {mutation::insert_or_merge(entity), mutation::remove(entity, any_etag)}};
    REQUIRE(detail::write_request(out, request, target(service::cosmos)));
    CHECK(out.body ==
        "--batch_id\r\nContent-Type: multipart/mixed; boundary=changeset_id\r\n\r\n"
        "--changeset_id\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        "POST https://a.table.core.windows.net/Orders(PartitionKey='p',RowKey='a%0D%0A--changeset_id--') HTTP/1.1\r\n"
        "Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\nx-ms-version: 2019-02-02\r\n"
        "X-HTTP-Method: MERGE\r\n"
        "Content-Type: application/json\r\n\r\n"
        R"({"PartitionKey":"p","RowKey":"a\r\n--changeset_id--","V":"\r\n--changeset_id--\r\n--batch_id--"})"
        "\r\n--changeset_id\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        "DELETE https://a.table.core.windows.net/Orders(PartitionKey='p',RowKey='a%0D%0A--changeset_id--') HTTP/1.1\r\n"
        "Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\nx-ms-version: 2019-02-02\r\n"
        "If-Match: *\r\n\r\n"
        "\r\n--changeset_id--\r\n--batch_id--\r\n");
}
