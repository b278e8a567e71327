// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// HTTP classes, moved from: backends, the server, queues of the service, clients and credentials.

#include <entitable/azure.hpp>
#include <entitable/azure_queue.hpp>
#include <entitable/core/text.hpp>
#include <entitable/identity.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>

#include <server/served.hpp> // after the headers that it needs
#include <support/moved_from.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

runner const ann{"Boston", "Full", 7, "Ann", 30, 4.5};

template <class Store>
void check_backend(Store const& gone) {
    call context;
    CHECK_GONE(gone.execute(create_table{"runners"}, context));
    CHECK_GONE(gone.execute(list_tables{}, context));
    table<runner> const over{any_store{gone}, "runners"};
    CHECK_GONE(over.get("Boston", "Full", 7));
    CHECK_GONE(over.insert(ann));
    CHECK_GONE(over.scan_table().to());
    CHECK_GONE(over.scan_table().in_flight(3).to());
    static_cast<void>(gone.profile());
}

template <class Service>
void check_service(Service const& gone) {
    call context;
    CHECK_GONE(gone.properties(context));
    CHECK_GONE(gone.set_properties({}, context));
    CHECK_GONE(gone.statistics(context));
    CHECK_GONE(gone.access_policies("runners", context));
    CHECK_GONE(gone.set_access_policies("runners", {}, context));
}

http_request asking() {
    http_request made;
    made.url = "http://acct.table.core.windows.net/Tables";
    return made;
}

} // namespace

TEST_CASE("moved from: rest, rest_service") {
    auto store = served(memory_backend{});
    auto const kept = moved(store);
    check_backend(store);
    check_service(rest_service{store});
    rest_service service{kept};
    auto const kept_service = moved(service);
    check_service(service);
}

TEST_CASE("moved from: azure_backend, azure_service, curl_client") {
    azure_backend store{"UseDevelopmentStorage=true"};
    auto const kept = moved(store);
    check_backend(store);
    azure_service service{kept};
    auto const kept_service = moved(service);
    check_service(service);
    curl_client client;
    auto const kept_client = moved(client);
    CHECK_GONE(client.send(asking(), {}));
}

TEST_CASE("moved from: table_server") {
    table_server server{memory_backend{}, with_account()};
    auto const kept = moved(server);
    CHECK_GONE(server.send(asking(), {}));
    http_response const answer = server.answer(asking());
    CHECK(answer.status == 500);
    CHECK(answer.body == "this server was moved from");
    CHECK(server.refusal(asking(), 1).value().status == 500);
    table<runner> const over{rest{server, connection()}, "runners"};
    CHECK_GONE(over.get("Boston", "Full", 7));
}

TEST_CASE("moved from: azure_queue") {
    azure_queue<runner> queue{connection(), "errands", {}, queue_text::plain, table_server{memory_backend{}}};
    auto const kept = moved(queue);
    CHECK(queue.name().empty());
    CHECK_GONE(queue.create());
    CHECK_GONE(queue.remove());
    CHECK_GONE(queue.enqueue(ann));
    CHECK_GONE(queue.claim());
    CHECK_GONE(queue.claim_some(3));
    CHECK_GONE(queue.peek());
    CHECK_GONE(queue.approximate_count());
    CHECK_GONE(queue.dead_letters().claim());
}

TEST_CASE("moved from: identity, whose move is a copy") {
    identity who{token_source{
        [](std::string_view) -> result<access_token> { return failure{error_code::cancelled, "no token"}; }}};
    identity const to = std::move(who);
    CHECK(who.request_token("scope").error().code == error_code::cancelled);
    CHECK(to.request_token("scope").error().code == error_code::cancelled);
}

TEST_CASE("moved from: credential, whose move is a copy") {
    credential who = credential::account_key("acct", planted_key).value();
    auto const kept = moved(who);
    CHECK(who.account() == "acct"); // and not the empty credential
    std::string signature;
    CHECK(who.sign("text", signature));
}
