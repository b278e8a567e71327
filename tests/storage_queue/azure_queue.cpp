// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Queues of Queue Storage: the bytes that go out, the suite of all queues, answers that are lost or garbled, and what is refused.

#include <entitable/azure_queue.hpp>
#include <entitable/identity.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/canned_client.hpp>
#include <support/fake_queue_service.hpp>
#include <support/queue_conformance.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
using mishap = fake_queue_service::mishap;

namespace {

constexpr std::string_view account = "AccountName=a;AccountKey=a2V5";

struct fixture {
    testing::manual_clock time;
    fake_queue_service service{time};
    queue_options how = [&] {
        queue_options made;
        made.visibility = 4s;
        made.max_deliveries = 3;
        made.time = &time;
        made.seed = 3;
        return made;
    }();
    azure_queue<errand> queue{account, "errands", how, queue_text::plain, service};
};

queue_world<azure_queue<errand>> world_on(
    fake_queue_service const& service, testing::manual_clock& time, queue_text text) {
    queue_options how;
    how.visibility = 4s;
    how.max_deliveries = 3;
    how.time = &time;
    azure_queue<errand> const queue{account, "errands", how, text, service};
    queue.create().value();
    return {queue, [&time](std::chrono::nanoseconds by) { time.advance(by); },
        [](azure_queue<errand> const& of) {
            auto dead = of.dead_letters().claim().value();
            std::string told = dead ? std::string{dead->id()} + ": " + dead->reason().value() : "none";
            if (dead) {
                dead->complete().value(); // and there is no other
            }
            return of.dead_letters().claim().value() ? "several" : told;
        },
        &time,
        [service, how, text](entitable::clock& own) {
            queue_options with = how;
            with.time = &own;
            return azure_queue<errand>{account, "errands", with, text, service};
        }};
}

} // namespace

TEST_CASE("message_queue: azure_queue as JSON") {
    testing::manual_clock time;
    check_message_queue<azure_queue<errand>>(
        [&] { return world_on(fake_queue_service{time}, time, queue_text::plain); });
}

TEST_CASE("message_queue: azure_queue in base64") {
    testing::manual_clock time;
    check_message_queue<azure_queue<errand>>(
        [&] { return world_on(fake_queue_service{time}, time, queue_text::base64); });
}

namespace {

/// Cancels at the third wait.
struct stopping_clock final : clock {
    testing::manual_clock time;
    cancellation_source stop;
    int waits = 0;

    date_time now() noexcept override { return time.now(); }
    steady_time steady() noexcept override { return time.steady(); }
    void wait_until(steady_time until) noexcept override {
        if (++waits == 3) { stop.cancel(); }
        time.wait_until(until);
    }
};

} // namespace

TEST_CASE("azure_queue: a waiting claim ends when its stop token is set, and messages can be completed after any "
          "cancellation") {
    stopping_clock time;
    cancellation_source everything;
    queue_options how;
    how.time = &time;
    how.calls.cancellation = everything.token();
    how.calls.timeout = 5s; // of a request, not of the wait
    azure_queue<errand> const queue{account, "errands", how, queue_text::plain, fake_queue_service{time.time}};
    queue.create().value();
    for (std::int32_t number = 0; number < 4; ++number) { queue.enqueue({"Ulm", number}).value(); }
    auto held = queue.claim_some(4).value();
    REQUIRE(held.size() == 4);
    auto const none = queue.claim({.wait = no_timeout, .stop = time.stop.token()});
    REQUIRE(none);
    CHECK_FALSE(none->has_value());
    CHECK(time.waits == 3);

    everything.cancel();
    CHECK(queue.claim().error().code == error_code::cancelled);
    CHECK(held[0].complete());
    CHECK(held[1].release());
    CHECK(held[2].fail("no"));
    CHECK(held[3].renew());
}

TEST_CASE("azure_queue: a claim waits for longer than one request may take") {
    testing::manual_clock time;
    queue_options how;
    how.time = &time;
    how.calls.timeout = 5s;
    azure_queue<errand> const queue{account, "errands", how, queue_text::plain, fake_queue_service{time}};
    queue.create().value();
    queue.enqueue({"Ulm", 1}, {.delay = 20s}).value();
    auto const item = queue.claim({.wait = 1min});
    REQUIRE(item);
    CHECK(item->has_value());
}

TEST_CASE("azure_queue: requests match byte for byte") {
    testing::manual_clock time{date_time::from_date(2026, 3, 4)};
    canned_client const client;
    queue_options how;
    how.time = &time;
    how.seed = 3;
    azure_queue<errand> const queue{account, "errands", how, queue_text::plain, client};
    client.then(201);
    CHECK(queue.create().value());
    CHECK(client.last().method == http_method::put);
    CHECK(client.last().url == "https://a.queue.core.windows.net/errands?timeout=30");
    CHECK(client.last().headers.find("x-ms-date") == "Wed, 04 Mar 2026 00:00:00 GMT");

    client.then(201);
    queue.enqueue({"Ulm", 1, "<&>", 0.5, 7, date_time::from_date(2026, 1, 2), true}, {.delay = 1500ms, .id = "x"})
        .value();
    CHECK(client.last().method == http_method::post);
    CHECK(client.last().url ==
        "https://a.queue.core.windows.net/errands/messages?messagettl=-1&visibilitytimeout=2&timeout=30");
    CHECK(client.last().body ==
        "<QueueMessage><MessageText>{&quot;PartitionKey&quot;:&quot;Ulm&quot;,&quot;RowKey&quot;:&quot;0000000001&quot;"
        ","
        "&quot;what&quot;:&quot;&lt;&amp;&gt;&quot;,"
        "&quot;price@odata.type&quot;:&quot;Edm.Double&quot;,&quot;price&quot;:0.5,"
        "&quot;large@odata.type&quot;:&quot;Edm.Int64&quot;,&quot;large&quot;:&quot;7&quot;,"
        "&quot;due@odata.type&quot;:&quot;Edm.DateTime&quot;,&quot;due&quot;:&quot;2026-01-02T00:00:00.0000000Z&quot;,"
        "&quot;urgent&quot;:true,&quot;Queue_Id&quot;:&quot;x&quot;}</MessageText></QueueMessage>");

    client.then(200,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><QueueMessagesList><QueueMessage><MessageId>m-1</MessageId>"
        "<InsertionTime>Wed, 04 Mar 2026 00:00:00 GMT</InsertionTime><ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT"
        "</ExpirationTime><PopReceipt>Ag+A/=</PopReceipt><TimeNextVisible>Wed, 04 Mar 2026 00:00:30 "
        "GMT</TimeNextVisible>"
        "<DequeueCount>2</DequeueCount><MessageText>{\"PartitionKey\":\"Ulm\",\"RowKey\":\"0000000001\",\"what\":\"\","
        "\"large\":0,\"due@odata.type\":\"Edm.DateTime\",\"due\":\"2026-01-02T00:00:00Z\",\"urgent\":false}</"
        "MessageText>"
        "</QueueMessage></QueueMessagesList>",
        {{"Date", "Wed, 04 Mar 2026 00:00:10 GMT"}});
    auto claimed = queue.claim().value();
    REQUIRE(claimed);
    auto& item = *claimed;
    CHECK(client.last().method == http_method::get);
    CHECK(client.last().url ==
        "https://a.queue.core.windows.net/errands/messages?numofmessages=1&visibilitytimeout=30&timeout=30");
    CHECK(item.id() == "m-1"); // another program's, which gave it none
    CHECK(item.deliveries() == 2);
    CHECK(item.remaining() == 19s); // by the clock of the service

    client.then(204, {},
        {{"x-ms-popreceipt", "new"}, {"x-ms-time-next-visible", "Wed, 04 Mar 2026 00:01:10 GMT"},
            {"Date", "Wed, 04 Mar 2026 00:00:10 GMT"}});
    CHECK(item.renew(1min));
    CHECK(client.last().method == http_method::put);
    CHECK(client.last().url ==
        "https://a.queue.core.windows.net/errands/messages/"
        "m-1?popreceipt=Ag%2BA%2F%3D&visibilitytimeout=60&timeout=30");
    CHECK(client.last().body.empty());
    CHECK(item.remaining() == 59s);

    client.then(204);
    CHECK(item.complete());
    CHECK(client.last().method == http_method::delete_);
    CHECK(client.last().url == "https://a.queue.core.windows.net/errands/messages/m-1?popreceipt=new&timeout=30");
}

TEST_CASE("azure_queue: tokens of an identity authorize every kind of request, and one token serves them all") {
    testing::manual_clock time{date_time::from_date(2026, 3, 4)};
    fake_queue_service const service{time};
    std::vector<std::string> scopes;
    identity const who{[&](std::string_view scope) -> result<access_token> {
        scopes.emplace_back(scope);
        return access_token{"the token", date_time::from_date(2026, 3, 5)};
    }};
    queue_options how;
    how.time = &time;
    how.max_deliveries = 1;
    azure_queue<errand> const queue{
        "https://a.queue.core.windows.net", who, "errands", how, queue_text::plain, service};
    CHECK(queue.create().value());
    queue.enqueue({"Ulm", 1}).value();
    CHECK(queue.peek().value().size() == 1);
    CHECK(queue.approximate_count().value() == 1);
    auto claimed = queue.claim().value();
    REQUIRE(claimed);
    claimed->renew(1min).value();
    claimed->fail("no").value();
    CHECK_FALSE(queue.claim().value()); // it becomes a dead letter
    CHECK(queue.dead_letters().peek().value().size() == 1);
    CHECK(queue.remove().value());
    CHECK(scopes == std::vector<std::string>{"https://storage.azure.com/.default"});
    REQUIRE(service.asked().size() > 10);
    for (http_request const& each : service.asked()) {
        CAPTURE(each.url);
        CHECK(each.headers.find("Authorization") == "Bearer the token");
        CHECK(each.headers.find("x-ms-version") == "2019-02-02"); // tokens need 2017-11-09 or later
        CHECK(each.url.starts_with("https://a.queue.core.windows.net/errands"));
    }
}

TEST_CASE("azure_queue: a token that the service refuses is requested again, and never part of an error") {
    testing::manual_clock time{date_time::from_date(2026, 3, 4)};
    canned_client const client;
    int tokens = 0;
    identity const who{[&](std::string_view) -> result<access_token> {
        return access_token{"token" + std::to_string(++tokens), date_time::from_date(2026, 3, 5)};
    }};
    queue_options how;
    how.time = &time;
    azure_queue<errand> const queue{"https://a.queue.core.windows.net", who, "errands", how, queue_text::plain, client};
    client.then(401, "<Error><Code>AuthenticationFailed</Code><Message>no</Message></Error>");
    auto const refused = queue.create();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::authentication_failed);
    CHECK(refused.error().to_string().find("token1") == std::string::npos);
    time.advance(1min);
    client.then(201);
    CHECK(queue.create().value());
    CHECK(client.last().headers.find("Authorization") == "Bearer token2");
}

TEST_CASE("azure_queue: addresses that are not those of a queue service are refused by every request") {
    canned_client const client;
    auto const refusal = [&](std::string_view address) {
        identity const who{[](std::string_view) -> result<access_token> {
            return access_token{"the token", date_time::from_date(2226, 3, 5)};
        }};
        azure_queue<errand> const queue{address, who, "errands", {}, queue_text::plain, client};
        auto const made = queue.create();
        return made ? std::string{"accepted"} : made.error().message;
    };
    CHECK(refusal("https://a.table.core.windows.net") ==
        "the endpoint is the address of tables; the address of queues is https://ACCOUNT.queue.core.windows.net");
    CHECK(refusal("https://a.queue.core.windows.net/errands") ==
        "the endpoint must be the address of the service only: remove the queue");
    CHECK(refusal("https://a.table.cosmos.azure.com") == "Cosmos DB does not have queues");
    CHECK(refusal("http://a.queue.core.windows.net") == "a bearer token can only be sent over https");
    CHECK_THAT(refusal("ftp://a.queue.core.windows.net"), entitable_test::ContainsSubstring("the endpoint"));
    client.then(201);
    CHECK(refusal("https://127.0.0.1:10001/devstoreaccount1") == "accepted");
    CHECK(client.last().url.starts_with("https://127.0.0.1:10001/devstoreaccount1/errands"));
}

TEST_CASE("azure_queue: the signed text has the documented form") {
    // Authorize with Shared Key: verb, eleven fields, x-ms- fields in order, the resource, parameters in order and not escaped.
    http_request request;
    request.method = http_method::put;
    request.url =
        "https://a.queue.core.windows.net/errands/messages/m%2D1?popreceipt=Ag%2BA%2F%3D&Visibilitytimeout=60&comp=x";
    request.body = "<a/>";
    REQUIRE(request.headers.add("X-Ms-Version", "2019-02-02"));
    REQUIRE(request.headers.add("x-ms-date", "Wed, 04 Mar 2026 00:00:00 GMT"));
    REQUIRE(request.headers.add("Content-Type", "application/xml"));
    REQUIRE(request.headers.add("Accept", "application/xml"));
    std::string text;
    detail::append_storage_string_to_sign(text, "a", request, parse_url(request.url, "the request").value());
    CHECK(text ==
        "PUT\n\n\n4\n\napplication/xml\n\n\n\n\n\n\n"
        "x-ms-date:Wed, 04 Mar 2026 00:00:00 GMT\nx-ms-version:2019-02-02\n"
        "/a/errands/messages/m%2D1\ncomp:x\npopreceipt:Ag+A/=\nvisibilitytimeout:60");
    request.method = http_method::delete_;
    request.body.clear();
    text.clear();
    detail::append_storage_string_to_sign(text, "a", request, parse_url(request.url, "the request").value());
    CHECK_THAT(text, entitable_test::StartsWith("DELETE\n\n\n\n\n")); // no length where there is no body
}

TEST_CASE("azure_queue: busy, lost and unanswered requests lose no message") {
    for (mishap const each : {mishap::busy, mishap::never_sent, mishap::answer_lost}) {
        for (std::size_t number = 1; number <= 8; ++number) {
            fixture in;
            in.service.plan(number, each);
            CAPTURE(number, static_cast<int>(each));
            in.queue.create().value();
            std::string const id = in.queue.enqueue({"Ulm", 1}).value().id;
            std::size_t completed = 0;
            for (int round = 0; round < 4; ++round) {
                while (auto item = in.queue.claim().value()) {
                    CHECK(item->id() == id);
                    auto const renewed = item->renew(4s);
                    if (!renewed) { // its answer was lost, and the receipt with it
                        CHECK(renewed.error().code == error_code::receipt_lost);
                        CHECK(each == mishap::answer_lost);
                        continue;
                    }
                    item->complete().value();
                    ++completed;
                }
                in.time.advance(5s);
            }
            // Twice where nobody knew whether it had been put in.
            CHECK(completed == (each == mishap::answer_lost && number == 2 ? 2U : 1U));
            CHECK(in.service.texts("errands").empty());
            CHECK_FALSE(in.queue.dead_letters().claim().has_value()); // there is no such queue
        }
    }
}

TEST_CASE("azure_queue: a message becomes a dead letter even if requests for it fail") {
    for (mishap const each : {mishap::busy, mishap::never_sent, mishap::answer_lost}) {
        for (std::size_t number = 9; number <= 13; ++number) { // the claim that finds it used up, and what follows
            fixture in;
            in.service.plan(number, each);
            CAPTURE(number, static_cast<int>(each));
            in.queue.create().value();
            std::string const id = in.queue.enqueue({"Ulm", 1}, {.id = "x"}).value().id;
            for (int round = 0; round < 3; ++round) { in.queue.claim().value()->fail("no").value(); }
            for (int round = 0; round < 3; ++round) {
                CHECK_FALSE(in.queue.claim().value());
                in.time.advance(5s);
            }
            CHECK(in.service.texts("errands").empty());
            std::size_t dead = 0;
            while (auto item = in.queue.dead_letters().claim().value()) {
                CHECK(item->id() == "x");
                CHECK(item->reason().value() == "no");
                item->complete().value();
                ++dead;
            }
            CHECK(dead >= 1);
            CHECK(dead <= (each == mishap::answer_lost ? 2U : 1U));
        }
    }
}

TEST_CASE("azure_queue: a malformed message becomes a dead letter, and a missing queue is an error") {
    fixture in;
    CHECK(in.queue.claim().error().code == error_code::resource_not_found);
    CHECK(in.queue.enqueue({"Ulm", 1}).error().code == error_code::resource_not_found);
    CHECK_FALSE(in.queue.remove().value());
    in.queue.create().value();
    CHECK_FALSE(in.queue.create().value());
    in.service.put("errands", "<not json>");
    for (int round = 0; round < 4; ++round) {
        CHECK_FALSE(in.queue.claim().value());
        in.time.advance(5s);
    }
    CHECK(in.service.texts("errands").empty());
    CHECK(in.service.texts("errands-poison") == std::vector<std::string>{"<not json>"});
    in.queue.enqueue({"Ulm", 2}).value();
    CHECK(in.queue.approximate_count().value() == 1);
    CHECK(in.queue.peek(5).value().at(0).number == 2);
    CHECK(in.queue.peek().value().size() == 1); // nobody has claimed it
    CHECK(in.queue.remove().value());
}

TEST_CASE("azure_queue: invalid messages and options are refused before anything is sent") {
    fixture in;
    auto const named = [&](std::string name) {
        return azure_queue<errand>{account, std::move(name), in.how, queue_text::plain, in.service};
    };
    for (std::string const& bad : {std::string{"ab"}, std::string{"Errands"}, std::string{"a--b"}, std::string{"-abc"},
             std::string{"abc-"}, std::string(64, 'a'), std::string{"a/b?c"}}) {
        CAPTURE(bad);
        CHECK(named(bad).create().error().code == error_code::invalid_input);
        CHECK(named(bad).claim().error().code == error_code::invalid_input);
    }
    CHECK(in.queue.enqueue({"Ulm", 1, "\xFF"}).error().code == error_code::invalid_input);
    auto const large = in.queue.enqueue({"Ulm", 1, std::string(66'000, 'x')});
    CHECK(large.error().code == error_code::request_body_too_large);
    CHECK(large.error().effect == effect::none);
    CHECK_THAT(large.error().message, entitable_test::ContainsSubstring("65536"));
    in.how.visibility = 1s;
    CHECK(named("errands").claim().error().code == error_code::out_of_range_input);
    azure_queue<errand> const lost{"nonsense", "errands", {}, queue_text::plain, in.service};
    CHECK(lost.claim().error().code == error_code::invalid_input);
    CHECK(in.service.requests() == 0);
}

TEST_CASE("azure_queue: malformed answers are refused") {
    for (std::string const& body : {std::string{}, std::string{"<QueueMessagesList>"}, std::string{"{}"},
             std::string{"<QueueMessagesList><QueueMessage><MessageId>m</MessageId><PopReceipt>p</PopReceipt>"
                         "<TimeNextVisible>soon</TimeNextVisible></QueueMessage></QueueMessagesList>"},
             std::string{"<QueueMessagesList><QueueMessage><MessageId>m</MessageId><DequeueCount>1x</DequeueCount>"
                         "</QueueMessage></QueueMessagesList>"},
             std::string{"<QueueMessagesList><QueueMessage></QueueMessage></QueueMessagesList>"}}) {
        canned_client const client;
        client.then(200, body);
        azure_queue<errand> const queue{account, "errands", {}, queue_text::plain, client};
        auto const claimed = queue.claim();
        CAPTURE(body);
        REQUIRE_FALSE(claimed);
        CHECK(claimed.error().code == error_code::transport_failed);
        CHECK(claimed.error().effect == effect::unknown);
    }
}

TEST_CASE("connection strings: the address of Queue Storage is found") {
    auto const at = [](std::string_view text) {
        auto const read = parse_connection_string(text, account_service::queues);
        return read ? read->endpoint.primary : read.error().message;
    };
    CHECK(at("AccountName=a;AccountKey=a2V5") == "https://a.queue.core.windows.net");
    CHECK(at("AccountName=a;AccountKey=a2V5;TableEndpoint=http://t.example;QueueEndpoint=http://q.example/") ==
        "http://q.example");
    CHECK(at("UseDevelopmentStorage=true") == "http://127.0.0.1:10001/devstoreaccount1");
    CHECK(at("SharedAccessSignature=sig=x;TableEndpoint=http://t.example") ==
        "connection string: AccountName or QueueEndpoint is missing");
    CHECK(at("AccountName=a;AccountKey=a2V5;QueueSecondaryEndpoint=http://q.example/") ==
        "connection string: QueueSecondaryEndpoint needs QueueEndpoint");
    CHECK(parse_connection_string("UseDevelopmentStorage=true")->endpoint.primary ==
        "http://127.0.0.1:10002/devstoreaccount1");
}
