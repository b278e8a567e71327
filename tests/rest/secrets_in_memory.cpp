// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Account keys, shared access signatures and tokens are erased from memory when their last holder is destroyed: the writable
// memory of the process is searched for pieces of them, including freed blocks. The HTTP client of these tests stores nothing;
// copies inside libcurl are not covered.

#if defined(__linux__)

#include <entitable/cloud/account/sas.hpp>
#include <entitable/cloud/rest/azure_service.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/hidden_memory.hpp>
#include <support/many.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

using namespace entitable;
using entitable_test::hidden_memory;
using testing::make_row;

namespace {

/// Returns prepared answers and stores no part of its requests.
struct forgetful_client {
    using is_http_client = void;
    using answer = std::function<result<http_response>()>;
    std::shared_ptr<std::deque<answer>> answers{std::make_shared<std::deque<answer>>()};

    result<http_response> send(http_request const& request, http_call const&) const {
        REQUIRE_FALSE(request.url.empty());
        if (answers->empty()) { return failure{error_code::transport_failed, "no answer"}; }
        auto const next = std::move(answers->front());
        answers->pop_front();
        return next();
    }
    void then(std::uint16_t status, std::string body = {}, std::string_view field = {}, std::string_view value = {}) {
        answers->push_back([=, field = std::string{field}, value = std::string{value}]() -> result<http_response> {
            http_response made;
            made.status = status;
            made.body = body;
            if (!field.empty()) { REQUIRE(made.headers.add(field, value)); }
            return made;
        });
    }
};

std::string const an_entity =
    R"({"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})";

/// One credential in hidden memory, and how to create it.
struct planted {
    char const* name;
    std::string_view searched;
    std::function<credential()> make;
};

/// The secondary has the longer address: data written after it in the same place does not cover all of it.
endpoint account() {
    return endpoint::parse("https://acct.table.core.windows.net",
        "https://the-secondary-location-of-this-account-has-a-name-of-its-own.example.net")
        .value();
}

date_time a_day() { return date_time::from_date(2026, 11, 20); }

/// Sends every kind of request, and gets every kind of answer.
void use(credential const& who, testing::manual_clock& time) {
    rest_options options;
    options.time = &time;
    options.retries = retry_policy::none();
    forgetful_client client;
    rest<forgetful_client> const store{client, account(), who, options};
    rest<forgetful_client> const copy = store; // NOLINT: tests a copy
    call context;
    auto const get = [&](std::string key) {
        return store.execute(get_entity{"Orders", "p", std::move(key), {}}, context);
    };
    auto const insert = [&] {
        return store.execute(write_entity{"Orders", mutation::insert(make_row("p", "r", {{"N", 1}}))}, context);
    };
    // alternately short and long, so that the buffer for the next request grows
    for (std::size_t const length : {1U, 40U, 3U, 200U, 2U, 500U}) {
        client.then(404);
        CHECK_FALSE(get(std::string(length, '\'')));
        query_entities asked;
        asked.table = "Orders";
        asked.filter.nodes.push_back({filter_operator::equal, "N", value_view{std::string(20 * length, '%')}});
        client.then(200, R"({"value":[]})");
        CHECK(store.execute(asked, context));
    }
    client.then(200, an_entity);
    CHECK(get("r"));
    client.then(204, "", "ETag", "W/\"1\"");
    CHECK(insert());
    client.then(204);
    CHECK(store.execute(create_table{"Orders"}, context));
    client.then(200, R"({"value":[]})");
    CHECK(copy.execute(list_tables{}, context));
    transact batch{"Orders", {}};
    for (int index = 0; index < 100; ++index) {
        batch.changes.push_back(mutation::insert(make_row("p", std::to_string(index), {{"N", 1}})));
    }
    client.then(202, "not a batch");
    CHECK_FALSE(store.execute(batch, context));
    // redirects, refusals, no answer at all
    for (int const status : {301, 302, 307, 308, 400, 401, 403, 429, 500, 503}) {
        client.then(static_cast<std::uint16_t>(status), "", "Location", "https://127.0.0.2/");
        CHECK_FALSE(insert());
        time.advance(std::chrono::minutes{2}); // a refused token is fetched again
    }
    CHECK_FALSE(insert());
    // the secondary lacks the row, and the primary is read
    context.location = read_location::secondary;
    client.then(404, R"({"odata.error":{"code":"ResourceNotFound","message":{"value":"x"}}})");
    client.then(200, an_entity);
    CHECK(get("r"));
    context.location = read_location::primary;
    // many at once
    client.then(200, an_entity);
    client.then(403);
    entitable_test::send_all(store, std::vector<get_entity>(5, get_entity{"Orders", "p", "r", {}}), 2, context);
    // settings of the service
    rest_service<forgetful_client> const service{store};
    client.then(200, "<StorageServiceProperties/>");
    static_cast<void>(service.properties(context));
    client.then(403);
    CHECK_FALSE(service.set_access_policies("Orders", {}, context));
    // a client that throws
    client.answers->push_back([]() -> result<http_response> { throw std::runtime_error{"thrown"}; });
    CHECK_THROWS(insert());
    // along with a backend: one request repeatedly, whose fields and address have other lengths by then
    http_request request;
    request.url = account().primary + "/Orders";
    for (int times = 0; times < 3; ++times) {
        CHECK(who.authorize(request, account(), time.now()));
        CHECK(request.headers.add("x-more-" + std::to_string(times), std::string(4000, 'x')));
        who.refused(request, time.now());
        time.advance(std::chrono::minutes{2});
    }
    request.headers.remove("Authorization"); // from the middle, then from the end
    CHECK(who.authorize(request, account(), time.now()));
    request.headers.remove("Authorization");
    wipe(request.url.data(), request.url.size()); // a copy that the caller owns
}

} // namespace

TEST_CASE("the search finds secrets in freed memory") {
    hidden_memory hidden;
    std::string_view const text = hidden.make_secret(96);
    CHECK(hidden.pieces_elsewhere(text) == 0);
    {
        std::string const copy{text};
        CHECK(hidden.pieces_elsewhere(text) >= 8);
    }
    CHECK(hidden.pieces_elsewhere(text) >= 6); // except where the allocator writes there
}

TEST_CASE("no key, signature or token remains in memory") {
    hidden_memory hidden;
    testing::manual_clock time;
    time.set(a_day());
    std::string_view const key = hidden.make_secret(88); // base64 of 66 bytes
    std::string_view const signature = hidden.make_secret(88);
    std::string_view const parameters =
        hidden.add({"sv=2019-02-02&ss=t&srt=sco&sp=r&se=2036-01-01T00%3A00%3A00Z&sig=", signature});
    std::string_view const tokens = hidden.make_secret(4000);
    std::string_view const bytes = hidden.add(detail::decode_account_key(key).value().reveal());
    std::size_t asked = 0;
    auto const source = [&](std::string_view) -> result<access_token> {
        ++asked;
        date_time const later{time.now().ticks + std::int64_t{3600} * date_time::ticks_per_second};
        std::size_t const length = 1200 + asked * 7 % 90; // varying lengths, so that header fields change theirs
        switch (asked % 5) {
            case 3: return access_token{std::string{tokens.substr(asked % 100, length)}, {}}; // has ended
            case 4: return failure{error_code::transport_failed, "no way to the issuer"};
            default: return access_token{std::string{tokens.substr(asked % 100, length)}, later};
        }
    };
    planted const all[] = {
        {"key", key, [&] { return credential::account_key("acct", key).value(); }},
        {"bytes of the key", bytes, [&] { return credential::account_key("acct", key).value(); }},
        {"light key", key, [&] { return credential::account_key("acct", key, key_scheme::shared_key_lite).value(); }},
        {"signature", signature, [&] { return credential::shared_access_signature(parameters).value(); }},
        {"token", tokens, [&] { return credential::bearer(source); }},
    };
    // Functions called for the first time are bound then, and the dynamic linker saves registers on the stack for that.
    use(credential::account_key("acct", "a2V5").value(), time);
    use(credential::shared_access_signature("sig=a").value(), time);
    use(credential::bearer([&](std::string_view) { return access_token{"t", date_time::from_date(2036, 1, 1)}; }),
        time);
    for (planted const& each : all) {
        INFO(each.name);
        {
            credential who = each.make();
            use(who, time);
            credential const copy = who; // NOLINT: tests a copy
            credential const moved = std::move(who);
            use(moved, time);
        }
        CHECK(hidden.pieces_elsewhere(each.searched) == 0);
    }
    CHECK(asked > 5);
}

TEST_CASE("a token that is invalid in a header field, or discarded by the source, does not remain in memory") {
    hidden_memory hidden;
    auto const refuse = [](std::string_view token, date_time ends) {
        http_request request;
        request.url = account().primary + "/Tables";
        auto const source = [&](std::string_view) { return access_token{std::string{token}, ends}; };
        CHECK_FALSE(credential::bearer(source).authorize(request, account(), a_day()));
    };
    auto const later = date_time::from_date(2027, 1, 1);
    auto const over = date_time::from_date(2020, 1, 1);
    std::string_view const token = hidden.make_secret(1200);
    std::string_view const broken = hidden.add({token, "\r\n"});
    // Functions called for the first time are bound then, as in the case before; with a token as long as the secret one.
    refuse(std::string(1200, 't') + "\r\n", later);
    refuse(std::string(1200, 't'), over);
    CHECK(hidden.pieces_elsewhere(token) == 0);
    refuse(broken, later);
    CHECK(hidden.pieces_elsewhere(token) == 0);
    refuse(token, over);
    CHECK(hidden.pieces_elsewhere(token) == 0);
}

TEST_CASE("no connection string leaves its secret in memory, whether it is valid or not") {
    hidden_memory hidden;
    for (char const* const form : {"AccountName=acct;AccountKey=*", "AccountName=acct;AccountKey=*\r\n",
             "AccountName=acct;SharedAccessSignature=sig=*", "AccountName=acct;AccountKey=*!", "*", "*=1",
             "AccountName=*;AccountKey=*", "AccountName=acct;AccountKey=*;DefaultEndpointsProtocol=*",
             "AccountName=acct;AccountKey=*;EndpointSuffix=*?",
             "TableEndpoint=https://acct.table.core.windows.net?sig=*;SharedAccessSignature=sig=*",
             "TableEndpoint=https://*@acct.table.core.windows.net;SharedAccessSignature=sig=*",
             "TableEndpoint=https://acct.table.core.windows.net;TableSecondaryEndpoint=https://x?sig=*;"
             "SharedAccessSignature=sig=*",
             "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://*@x", "UseDevelopmentStorage=*",
             "AccountName=acct;AccountKey=*;AccountKey=*", "AccountName=acct;AccountKey=\"*\"",
             "AccountName=acct;SharedAccessSignature=sig=*+", "AccountName=acct;SharedAccessSignature=sig=*&se=*",
             "AccountEndpoint=https://acct.documents.azure.com:443/;AccountKey=*;"}) {
        INFO(form);
        std::string_view const secret = hidden.make_secret(88);
        std::string text;
        text.reserve(2000); // the caller's: it does not grow, and is wiped
        for (char const* at = form; *at != '\0'; ++at) { *at == '*' ? text.append(secret) : text.append(1, *at); }
        {
            auto const settings = parse_connection_string(text);
            auto const store = rest<forgetful_client>{text};
            auto const connected = rest<forgetful_client>::connect(text);
            wipe(text.data(), text.size());
            call context;
            static_cast<void>(store.execute(list_tables{}, context));
            if (connected) { static_cast<void>(connected->execute(list_tables{}, context)); }
        }
        CHECK(hidden.pieces_elsewhere(secret) == 0);
    }
}

TEST_CASE("a new signature remains in memory only with its caller") {
    hidden_memory hidden;
    auto const make = [&](std::string_view key, bool of_table) {
        auto const who = credential::account_key("acct", key).value();
        account_sas of_account;
        of_account.permissions = "rl";
        of_account.resource_types = "sco";
        of_account.expiry = date_time::from_date(2036, 1, 1);
        table_sas terms;
        terms.table = "Orders";
        terms.permissions = "raud";
        terms.expiry = of_account.expiry;
        auto query = of_table ? make_signature(who, terms) : make_signature(who, of_account);
        REQUIRE(query);
        auto const made = hidden.add(std::string_view{*query}.substr(query->find("sig=") + 4));
        wipe(query->data(), query->size());
        return made;
    };
    std::string_view const other = hidden.make_secret(88);
    std::string_view const key = hidden.make_secret(88);
    for (bool const of_table : {false, true}) {
        static_cast<void>(make(other, of_table)); // binds every function, as above
        CHECK(hidden.pieces_elsewhere(key) == 0);
        std::string_view const made = make(key, of_table);
        CHECK(hidden.pieces_elsewhere(made) == 0);
        CHECK(hidden.pieces_elsewhere(key) == 0);
    }
}

#endif
