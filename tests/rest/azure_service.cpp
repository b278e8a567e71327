// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/rest/azure_service.hpp>
#include <entitable/cloud/wire/detail/xml.hpp>

#include <support/canned_client.hpp>
#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

struct fixture {
    fixture() {
        where.primary = "https://a.table.core.windows.net";
        where.secondary = "https://a-secondary.table.core.windows.net";
        where.account = "a";
    }
    rest_service<canned_client> service() { return rest_service{rest<canned_client>{client, where, credential{}}}; }

    canned_client client;
    endpoint where;
    call context;
};

template <class T>
void fails(result<T> const& outcome, error_code code, effect left = effect::none) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == code);
    CHECK(outcome.error().effect == left);
}

std::string walk(std::string_view xml) {
    std::string seen;
    bool const good = detail::read_xml(xml, [&](detail::xml_event event, std::string_view path, std::string_view text) {
        if (event == detail::xml_event::closes) { seen.append(path).append("=").append(text).append(";"); }
    });
    return good ? seen : "refused";
}

} // namespace

TEST_CASE("xml: valid documents are read, and invalid documents are refused") {
    CHECK(walk("<a><b>x &amp; y</b><c/><d k='v' l=\"w\">1</d></a>") == "a/b=x & y;a/c=;a/d=1;a=;");
    CHECK(walk("\xEF\xBB\xBF<?xml version='1.0'?><!-- c --><x:a xmlns:x='u'>&#233;&#x1F600;</x:a>\n") ==
        "a=\xC3\xA9\xF0\x9F\x98\x80;");
    CHECK(walk("<a>1<b/>2</a>") == "a/b=;a=12;");
    for (std::string const& bad : {std::string{}, std::string{"x"}, std::string{"<a>"}, std::string{"<a></b>"},
             std::string{"<a/><b/>"}, std::string{"<a>&nbsp;</a>"}, std::string{"<a>&#xD800;</a>"},
             std::string{"<a>&#0;</a>"}, std::string{"<a>&amp</a>"},
             std::string{"<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"}, std::string{"<a"}, std::string{"</a>"},
             std::string{"<a/>x"}, std::string{"<>"}, std::string{"<a><![CDATA[x]]></a>"}, std::string{"<!-- "}}) {
        CAPTURE(bad);
        CHECK(walk(bad) == "refused");
    }
    std::string deep;
    for (int level = 0; level < 100'000; ++level) { deep += "<a>"; }
    CHECK(walk(deep) == "refused");
}

TEST_CASE("azure_service: properties are written and read back") {
    fixture f;
    service_properties wanted;
    wanted.logging = logging_settings{true, false, true, 7};
    wanted.hour_metrics = metrics_settings{true, true, std::nullopt};
    wanted.minute_metrics = metrics_settings{};
    wanted.cors = {{{"https://a.example", "*"}, {"GET", "MERGE"}, {"x-ms-*"}, {}, std::chrono::seconds{60}}};
    f.client.then(202);
    REQUIRE(f.service().set_properties(wanted, f.context));
    CHECK(f.client.last().method == http_method::put);
    CHECK(f.client.last().url == "https://a.table.core.windows.net/?restype=service&comp=properties&timeout=30");
    CHECK(f.client.last().headers.find("Content-Type") == "application/xml");
    std::string const sent = f.client.last().body;
    CHECK(sent ==
        R"(<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete>)"
        R"(<Read>true</Read><Write>false</Write><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>)"
        R"(<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy>)"
        R"(<Enabled>false</Enabled></RetentionPolicy></HourMetrics><MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled>)"
        R"(<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics><Cors><CorsRule>)"
        R"(<AllowedOrigins>https://a.example,*</AllowedOrigins><AllowedMethods>GET,MERGE</AllowedMethods>)"
        R"(<MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders></ExposedHeaders><AllowedHeaders>x-ms-*</AllowedHeaders></CorsRule></Cors>)"
        R"(</StorageServiceProperties>)");
    f.client.then(200, sent);
    auto const read = f.service().properties(f.context);
    REQUIRE(read);
    CHECK(detail::write_xml(*read).value() == sent);
    // A setting that is not given is not sent, so it stays unchanged.
    f.client.then(202);
    REQUIRE(f.service().set_properties({}, f.context));
    CHECK_THAT(f.client.last().body, EndsWith("<StorageServiceProperties></StorageServiceProperties>"));
}

TEST_CASE("azure_service: limits are checked before anything is sent") {
    fixture f;
    service_properties bad;
    bad.logging = logging_settings{true, true, true, 366};
    fails(f.service().set_properties(bad, f.context), error_code::invalid_input);
    bad.logging.reset();
    bad.minute_metrics = metrics_settings{true, true, 0};
    fails(f.service().set_properties(bad, f.context), error_code::invalid_input);
    bad.minute_metrics.reset();
    bad.cors.emplace(6);
    fails(f.service().set_properties(bad, f.context), error_code::invalid_input);
    for (auto const& policies :
        {std::vector<access_policy>(6, {"id", {}, {}, "r"}), std::vector<access_policy>{{"", {}, {}, "r"}},
            std::vector<access_policy>{{std::string(65, 'i'), {}, {}, "r"}},
            std::vector<access_policy>{{"id", {}, {}, "ar"}}, std::vector<access_policy>{{"id", {}, {}, "rr"}},
            std::vector<access_policy>{{"id", date_time{-1}, {}, "r"}}}) {
        fails(f.service().set_access_policies("Orders", policies, f.context), error_code::invalid_input);
    }
    fails(f.service().set_access_policies("a", {}, f.context), error_code::out_of_range_input);
    f.where.secondary.clear();
    fails(f.service().statistics(f.context), error_code::not_supported);
    f.where.kind = service::cosmos;
    fails(f.service().properties(f.context), error_code::not_supported);
    CHECK(f.client.asked().empty());
}

TEST_CASE(
    "azure_service: the staleness of the secondary follows from its last synchronization and the service's clock") {
    fixture f;
    auto const answered = [&](std::string const& status, std::string const& time) {
        f.client.then(200,
            "<StorageServiceStats><GeoReplication><Status>" + status + "</Status><LastSyncTime>" + time +
                "</LastSyncTime></GeoReplication></StorageServiceStats>",
            {{"Date", "Wed, 04 Mar 2026 10:00:00 GMT"}});
        return f.service().staleness(f.context).value();
    };
    using std::chrono::seconds;
    CHECK(answered("live", "Wed, 04 Mar 2026 09:55:30 GMT") == seconds{270});
    CHECK_THAT(
        f.client.last().url, StartsWith("https://a-secondary.table.core.windows.net/?restype=service&comp=stats"));
    CHECK(answered("live", "Wed, 04 Mar 2026 10:00:00 GMT") == seconds{0});
    CHECK(answered("live", "Wed, 04 Mar 2026 10:00:05 GMT") == seconds{0});
    CHECK(answered("unavailable", "Wed, 04 Mar 2026 09:00:00 GMT") == seconds{3'600}); // what is there is that old
    CHECK(answered("bootstrap", "Wed, 04 Mar 2026 09:00:00 GMT") == std::nullopt);
    CHECK(answered("live", "") == std::nullopt);
    service_statistics known;
    known.replication = service_statistics::state::live;
    known.last_sync = date_time{10'000'001};
    CHECK(known.staleness(date_time{20'000'000}) == seconds{1}); // rounded up
    f.client.then(403);
    CHECK_FALSE(f.service().staleness(f.context));
}

TEST_CASE("azure_service: the access policies of a table are written and read back") {
    fixture f;
    f.client.then(204);
    std::vector<access_policy> const wanted = {{"policy & 1", date_time::parse("2026-01-01T00:00:00Z"),
                                                   date_time::parse("2036-01-01T00:00:00.1234567Z"), "raud"},
        {"two", {}, {}, ""}};
    REQUIRE(f.service().set_access_policies("Orders", wanted, f.context));
    CHECK(f.client.last().url == "https://a.table.core.windows.net/Orders?comp=acl&timeout=30");
    CHECK(f.client.last().body ==
        R"(<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers><SignedIdentifier><Id>policy &amp; 1</Id><AccessPolicy>)"
        R"(<Start>2026-01-01T00:00:00.0000000Z</Start><Expiry>2036-01-01T00:00:00.1234567Z</Expiry><Permission>raud</Permission>)"
        R"(</AccessPolicy></SignedIdentifier><SignedIdentifier><Id>two</Id><AccessPolicy /></SignedIdentifier></SignedIdentifiers>)");
    f.client.then(200,
        "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>2026-01-01</"
        "Start><Expiry>2026-01-02T03:04Z</Expiry>"
        "</AccessPolicy></SignedIdentifier><SignedIdentifier><Id>b</Id></SignedIdentifier></SignedIdentifiers>");
    auto const read = f.service().access_policies("Orders", f.context);
    REQUIRE(read);
    REQUIRE(read->size() == 2);
    CHECK((*read)[0].start == date_time::parse("2026-01-01T00:00:00Z"));
    CHECK((*read)[0].expiry == date_time::parse("2026-01-02T03:04:00Z"));
    CHECK((*read)[1].id == "b");
    f.client.then(404, R"(<Error><Code>TableNotFound</Code><Message>m</Message></Error>)");
    fails(f.service().access_policies("Orders", f.context), error_code::table_not_found);
}

TEST_CASE("azure_service: malformed answers are refused") {
    fixture f;
    for (std::string const bad : {"", "<html></html>", "<StorageServiceProperties>", "{\"a\":1}",
             "<StorageServiceProperties><Logging><RetentionPolicy><Days>x</Days></RetentionPolicy></Logging></"
             "StorageServiceProperties>"}) {
        CAPTURE(bad);
        f.client.then(200, bad);
        fails(f.service().properties(f.context), error_code::transport_failed);
        f.client.then(200, bad);
        fails(f.service().statistics(f.context), error_code::transport_failed);
        f.client.then(200, bad);
        fails(f.service().access_policies("Orders", f.context), error_code::transport_failed);
    }
    f.client.then(200);
    fails(f.service().set_properties({}, f.context), error_code::transport_failed, effect::unknown);
    f.client.then(500);
    fails(f.service().set_access_policies("Orders", {}, f.context), error_code::internal_error, effect::unknown);
    f.client.then(500);
    fails(f.service().properties(f.context), error_code::internal_error);
    CHECK(f.context.attempts > 10);
}

TEST_CASE("vectors: answers to service requests are read") {
    vectors const all{"responses.json"};
    if (!all) { return; }
    fixture f;
    std::size_t count = 0;
    for (std::string_view const list : {"azurite", "service"}) {
        for (auto const each : all.list(list)) {
            std::string const id = text_of(each, "id");
            CAPTURE(id);
            f.client.then(static_cast<std::uint16_t>(number_of(each, "status")), text_of(each, "body"));
            if (id == "get-service-properties") {
                auto const read = f.service().properties(f.context);
                REQUIRE(read);
                CHECK(read->logging->retention_days == 7U);
                CHECK_FALSE(read->hour_metrics->enabled);
                CHECK(read->cors->empty());
                ++count;
            } else if (id == "get-acl") {
                auto const read = f.service().access_policies("ResAcl", f.context);
                REQUIRE(read);
                CHECK(read->front().permissions == "raud");
                ++count;
            } else if (id == "set-acl") {
                CHECK(f.service().set_access_policies("ResAcl", {}, f.context));
                ++count;
            } else if (id.find("stats") != std::string::npos) {
                auto const read = f.service().statistics(f.context);
                REQUIRE(read);
                if (has(each, "expect")) {
                    auto const expected = each["expect"].value();
                    CHECK((read->replication == service_statistics::state::live) ==
                        (text_of(expected, "status") == "live"));
                    CHECK(read->last_sync.has_value() == has(expected, "last_sync_time_unix"));
                    if (read->last_sync) {
                        CHECK((read->last_sync->ticks - date_time::unix_epoch) / date_time::ticks_per_second ==
                            number_of(expected, "last_sync_time_unix"));
                    }
                }
                ++count;
            } else {
                static_cast<void>(f.service().statistics(f.context));
            }
        }
    }
    CHECK(count == 6);
}
