// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Stored access policies, settings and CORS rules: they survive a restart, are hidden from clients, and end with their table.

#include "served.hpp"
#include <entitable/cloud/account/sas.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>

#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr auto get = http_method::get;
constexpr auto put = http_method::put;
constexpr auto remove_ = http_method::delete_;
constexpr std::string_view acl = "/Orders?comp=acl";
constexpr std::string_view settings = "/?restype=service&comp=properties";

asker serving(any_store const& store) { return {table_server{store, with_account()}}; }

std::string policies(std::string_view id, std::string_view permissions) {
    return text::joined({"<SignedIdentifiers><SignedIdentifier><Id>", id,
        "</Id><AccessPolicy><Expiry>2099-01-01T00:00:00Z</Expiry><Permission>", permissions,
        "</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"});
}

std::string rule_for(std::string_view origin) {
    return text::joined({"<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>", origin,
        "</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders>"
        "x-ms-*,ETag</ExposedHeaders><AllowedHeaders>x-ms-*</AllowedHeaders></CorsRule></Cors></"
        "StorageServiceProperties>"});
}

/// A path with a signature that names a policy.
std::string by_policy(std::string path, std::string id) {
    table_sas terms;
    terms.table = "Orders";
    terms.policy = std::move(id);
    terms.protocols = "https,http";
    auto const key = credential::account_key("acct", planted_key).value();
    return path + (path.find('?') == std::string::npos ? "?" : "&") + make_signature(key, terms).value();
}

std::string signed_read(asker const& by, std::string_view path = "/Orders") {
    return said(by.server.answer(by.request(get, by_policy(std::string{path}, "readers"))));
}

http_response from_page(
    asker const& by, std::string_view origin, http_method method = get, std::string_view path = "/Orders") {
    return by.ask(method, path, {}, {{"Origin", origin}});
}

/// A store whose reads of one row fail.
class unreadable {
public:
    using is_transport = void;
    explicit unreadable(memory_backend inner) : inner_(std::move(inner)) {}
    entitable::profile profile() const { return inner_.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, get_entity>) {
            if (request.partition_key == system_row::policies || request.table == detail::settings_table) {
                return failure{error_code::store_busy, "the store is busy"};
            }
        }
        return inner_.execute(request, context);
    }

private:
    memory_backend inner_;
};

} // namespace

TEST_CASE("stored settings: golden values") {
    memory_backend const store;
    asker const by = serving(store);
    REQUIRE(said(by.post("/Tables", R"({"TableName":"Orders"})")) == "201");
    REQUIRE(said(by.ask(put, acl, policies("readers", "r"))) == "204");
    REQUIRE(said(by.ask(put, settings, rule_for("http://a.example"))) == "202");
    call context;
    auto const row = store.execute(get_entity{"Orders", "~!policies!", "~!policies!", {}}, context);
    REQUIRE(row);
    CHECK(row->entity.view().find("Version")->as_int32() == 1);
    CHECK(row->entity.view().find("Policies")->as_string() ==
        R"(<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy>)"
        R"(<Expiry>2099-01-01T00:00:00.0000000Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>)");
    auto const service = store.execute(get_entity{"EntitableServiceSettings", "service", "settings", {}}, context);
    REQUIRE(service);
    CHECK(service->entity.view().find("Version")->as_int32() == 1);
    CHECK(service->entity.view().find("Cors")->as_string() ==
        R"(<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Cors><CorsRule>)"
        R"(<AllowedOrigins>http://a.example</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds>)"
        R"(<ExposedHeaders>x-ms-*,ETag</ExposedHeaders><AllowedHeaders>x-ms-*</AllowedHeaders></CorsRule></Cors></StorageServiceProperties>)");
    CHECK_FALSE(service->entity.view().find("Logging"));
    // Settings of a newer version are never guessed.
    row_builder newer{"~!policies!", "~!policies!"};
    newer.add("Version", value_view{std::int32_t{2}});
    REQUIRE(store.execute(write_entity{"Orders", mutation::insert_or_replace(newer.build())}, context));
    CHECK(said(by.get(acl)) == "501 NotImplemented");
    CHECK(signed_read(by) == "501 NotImplemented");
}

TEST_CASE("stored settings: a restart loses none") {
    temporary_folder const folder;
    std::string const path = folder / "served.db";
    {
        asker const by = serving(file_backend{path});
        REQUIRE(said(by.post("/Tables", R"({"TableName":"Orders"})")) == "201");
        CHECK(signed_read(by) == "403 AuthenticationFailed");
        REQUIRE(said(by.ask(put, acl, policies("readers", "r"))) == "204");
        REQUIRE(said(by.ask(put, settings, rule_for("http://a.example"))) == "202");
        REQUIRE(said(by.ask(put, settings,
                    "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read>"
                    "<Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy></"
                    "Logging></StorageServiceProperties>")) == "202");
        CHECK(signed_read(by) == "200");
    }
    asker const by = serving(file_backend{path});
    CHECK(signed_read(by) == "200");
    CHECK(by.get(acl).body.find("<Id>readers</Id>") != std::string::npos);
    std::string const held = by.get(settings).body;
    CHECK(held.find("http://a.example") != std::string::npos); // settings that a request omits are kept
    CHECK(held.find("<Delete>true</Delete>") != std::string::npos);
    CHECK(field(from_page(by, "http://a.example"), "Access-Control-Allow-Origin") == "http://a.example");
    REQUIRE(said(by.ask(put, acl, policies("readers", "a"))) == "204");
    CHECK(signed_read(by) == "403 AuthorizationPermissionMismatch");
    REQUIRE(said(by.ask(put, acl)) == "204");
    CHECK(signed_read(by) == "403 AuthenticationFailed");
}

TEST_CASE("stored settings: a table made again does not accept an old signature") {
    memory_backend const store;
    asker const by = serving(store);
    for (bool const through_server : {true, false}) {
        REQUIRE(said(by.post("/Tables", R"({"TableName":"Orders"})")) == "201");
        REQUIRE(said(by.ask(put, acl, policies("readers", "r"))) == "204");
        CHECK(signed_read(by) == "200");
        call context;
        if (through_server) {
            REQUIRE(said(by.ask(remove_, "/Tables('ORDERS')")) == "204");
        } else {
            REQUIRE(store.execute(delete_table{"Orders"}, context)); // by another program on the same store
        }
        CHECK(signed_read(by) == "403 AuthenticationFailed");
        REQUIRE(said(by.post("/Tables", R"({"TableName":"orders"})")) == "201");
        CHECK(signed_read(by) == "403 AuthenticationFailed");
        REQUIRE(said(by.ask(remove_, "/Tables('Orders')")) == "204");
    }
}

TEST_CASE("stored settings: clients neither see nor change them") {
    memory_backend const store;
    asker const by = serving(store);
    REQUIRE(said(by.post("/Tables", R"({"TableName":"Orders"})")) == "201");
    REQUIRE(said(by.ask(put, acl, policies("readers", "raud"))) == "204");
    REQUIRE(said(by.ask(put, settings, rule_for("*"))) == "202");
    for (std::string const partition : {"a", "~", "~!policies", "~!policies!!", "~~"}) {
        REQUIRE(said(by.ask(put, "/Orders(PartitionKey='" + partition + "',RowKey='1')", "{}")) == "204");
    }
    // Queries: all rows, a range that has it, its own partition, by its properties; page by page.
    for (std::string const query : {"", "?$filter=PartitionKey%20ge%20'~'%20or%20PartitionKey%20eq%20'a'",
             "?$filter=Version%20eq%201", "?$filter=PartitionKey%20eq%20'~!policies!'", "?$top=1"}) {
        CAPTURE(query);
        std::string next;
        std::string seen;
        for (int pages = 0; pages < 20; ++pages) {
            auto const page = by.get("/Orders" + query + next);
            REQUIRE(page.status == 200);
            seen += page.body;
            CHECK(page.body.find("[,") == std::string::npos);
            CHECK(page.body.find(",]") == std::string::npos);
            CHECK(page.body.find("}{") == std::string::npos);
            std::string const token = field(page, "x-ms-continuation-NextPartitionKey");
            if (token.empty()) { break; }
            next = (query.empty() ? "?" : "&") + ("NextPartitionKey=" + token);
        }
        CHECK(seen.find("SignedIdentifiers") == std::string::npos);
        CHECK(seen.find("\"~!policies!\"") == std::string::npos);
        CHECK((seen.find("\"~!policies!!\"") != std::string::npos) ==
            (query.empty() || query == "?$top=1" || query.find("ge") != std::string::npos));
    }
    std::string const hidden = "/Orders(PartitionKey='~!policies!',RowKey='~!policies!')";
    CHECK(said(by.get(hidden)) == "404 ResourceNotFound");
    CHECK(said(by.ask(put, hidden, "{}")) == "400 InvalidInput");
    CHECK(said(by.ask(http_method::patch, hidden, R"({"Policies":""})", {{"If-Match", "*"}})) == "400 InvalidInput");
    CHECK(said(by.ask(remove_, hidden, {}, {{"If-Match", "*"}})) == "400 InvalidInput");
    CHECK(said(by.post("/Orders", R"({"PartitionKey":"~!policies!","RowKey":"x"})")) == "400 InvalidInput");
    CHECK(said(by.server.answer(by.request(put, by_policy(hidden, "readers"), "{}"))) == "400 InvalidInput");
    auto const batch = [&](std::string const& line) {
        return by
            .post("/$batch",
                "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: "
                "application/http\r\n\r\n" +
                    line + " HTTP/1.1\r\n\r\n{}\r\n--c--\r\n--b--\r\n",
                {{"Content-Type", "multipart/mixed; boundary=b"}})
            .body;
    };
    CHECK(batch("PUT /acct" + hidden).find("400 Bad Request") != std::string::npos);
    std::string const other = "/EntitableServiceSettings(PartitionKey='service',RowKey='settings')";
    CHECK(batch("PUT /acct" + other).find("404 Not Found") != std::string::npos);
    CHECK(batch("PUT http://127.0.0.1:10002/acct/entitableservicesettings(PartitionKey='service',RowKey='settings')")
              .find("404 Not Found") != std::string::npos);
    CHECK(by.post("/$batch",
                "--b\r\nContent-Type: application/http\r\n\r\nGET /acct" + other + " HTTP/1.1\r\n\r\n--b--\r\n",
                {{"Content-Type", "multipart/mixed; boundary=b"}})
              .body.find("CorsRule") == std::string::npos);
    CHECK(said(by.get(other)) == "404 TableNotFound");
    CHECK(said(by.ask(put, other, "{}")) == "404 TableNotFound");
    CHECK(said(by.get("/entitableSERVICEsettings")) == "404 TableNotFound");
    CHECK(said(by.get("/EntitableServiceSettings?comp=acl")) == "404 TableNotFound");
    CHECK(said(by.ask(remove_, "/Tables('EntitableServiceSettings')")) == "404 TableNotFound");
    CHECK(said(by.get("/Tables('EntitableServiceSettings')")) == "404 TableNotFound");
    CHECK(said(by.post("/Tables", R"({"TableName":"entitableServiceSettings"})")) == "400 InvalidResourceName");
    CHECK(by.get("/Tables").body.find("Settings") == std::string::npos);
}

TEST_CASE("stored settings: a policy that cannot be read grants nothing") {
    memory_backend const store;
    REQUIRE(said(serving(store).post("/Tables", R"({"TableName":"Orders"})")) == "201");
    REQUIRE(said(serving(store).ask(put, acl, policies("readers", "r"))) == "204");
    REQUIRE(said(serving(store).ask(put, settings, rule_for("*"))) == "202");
    asker const by = serving(unreadable{store});
    CHECK(signed_read(by) == "503 ServerBusy");
    CHECK(said(by.get(acl)) == "503 ServerBusy");
    CHECK(said(by.get(settings)) == "503 ServerBusy");
    CHECK(said(by.get("/Orders")) == "200");
    CHECK(field(from_page(by, "http://a.example"), "Access-Control-Allow-Origin").empty());
}

TEST_CASE("stored settings: bounds") {
    asker const by = serving(memory_backend{});
    REQUIRE(said(by.post("/Tables", R"({"TableName":"Orders"})")) == "201");
    CHECK(said(by.ask(put, "/Nothing?comp=acl", policies("x", "r"))) == "404 TableNotFound");
    CHECK(said(by.get("/Nothing?comp=acl")) == "404 TableNotFound");
    std::string const at_limit(64, 'i');
    CHECK(said(by.ask(put, acl, policies(at_limit, "raud"))) == "204");
    CHECK(by.get(acl).body.find(at_limit) != std::string::npos);
    CHECK(said(by.ask(put, acl, policies(at_limit + "i", "raud"))) == "400 InvalidXmlDocument");
    CHECK(said(by.ask(put, acl, policies("x", "dr"))) == "400 InvalidXmlDocument");
    CHECK(said(by.ask(put, acl, policies("\xFF", "r"))).starts_with("400 "));
    CHECK(by.get(acl).body.find(at_limit) != std::string::npos); // unchanged
    CHECK(said(by.ask(put, settings, rule_for(std::string(40'000, 'o')))).starts_with("400 "));
    CHECK(said(by.ask(put, settings, rule_for("\xFF"))).starts_with("400 "));
    CHECK(by.get(settings).body.find("CorsRule") == std::string::npos);
}

TEST_CASE("stored settings: a page in a browser may read answers, by the rules") {
    asker const by = serving(memory_backend{});
    REQUIRE(said(by.post("/Tables", R"({"TableName":"Orders"})")) == "201");
    CHECK(field(from_page(by, "http://a.example"), "Access-Control-Allow-Origin").empty());
    REQUIRE(said(by.ask(put, settings, rule_for("http://a.example"))) == "202");
    auto const read = from_page(by, "http://a.example");
    CHECK(field(read, "Access-Control-Allow-Origin") == "http://a.example");
    CHECK(field(read, "Access-Control-Allow-Credentials") == "true");
    CHECK(field(read, "Vary") == "Origin");
    CHECK(field(read, "Access-Control-Expose-Headers").find("x-ms-request-id") != std::string::npos);
    CHECK(field(read, "Access-Control-Expose-Headers").find("Content-Type") == std::string::npos);
    // Errors too: otherwise a page cannot tell what went wrong.
    auto const missing = from_page(by, "http://a.example", get, "/Nothing");
    CHECK(said(missing) == "404 TableNotFound");
    CHECK(field(missing, "Access-Control-Allow-Origin") == "http://a.example");
    auto const stranger = by.server.answer(by.request(get, "/Orders", {}, {{"Origin", "http://a.example"}}));
    CHECK(stranger.status == 403);
    CHECK(field(stranger, "Access-Control-Allow-Origin") == "http://a.example");
    // Another origin or method gets the answer without the fields, and a cache learns why.
    auto const other = from_page(by, "http://b.example");
    CHECK(other.status == 200);
    CHECK(field(other, "Access-Control-Allow-Origin").empty());
    CHECK(field(other, "Vary") == "Origin");
    auto const post = by.post("/Orders", R"({"PartitionKey":"p","RowKey":"r"})", {{"Origin", "http://a.example"}});
    CHECK(post.status == 201);
    CHECK(field(post, "Access-Control-Allow-Origin").empty());
    CHECK(field(by.get("/Orders"), "Vary").empty()); // no page asked
    REQUIRE(said(by.ask(put, settings, rule_for("*"))) == "202");
    auto const all = from_page(by, "http://c.example");
    CHECK(field(all, "Access-Control-Allow-Origin") == "*");
    CHECK(field(all, "Vary").empty());
    CHECK(field(all, "Access-Control-Allow-Credentials").empty());
    REQUIRE(said(by.ask(put, settings, "<StorageServiceProperties><Cors/></StorageServiceProperties>")) == "202");
    CHECK(field(from_page(by, "http://c.example"), "Access-Control-Allow-Origin").empty());
}
