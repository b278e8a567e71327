// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "scripted.hpp"
#include <entitable/core/transport/channel.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <stdexcept>

using namespace entitable;
using namespace entitable_test;

namespace {

std::vector<get_entity> reads(std::initializer_list<char const*> keys) {
    std::vector<get_entity> all;
    for (char const* const key : keys) { all.push_back({"Orders", "p", key, {}}); }
    return all;
}

} // namespace

TEST_CASE("a transport without channels executes requests one by one in the order they are sent") {
    events log;
    one_by_one const plain{&log};
    auto const three = reads({"0", "1!", "2"});
    auto const answered = send_all(plain, three, 10);
    CHECK(log == events{"0", "1!", "2"});
    CHECK(answered.order == std::vector<std::size_t>{0, 1, 2});
    CHECK(answered.successes() == 2);
}

TEST_CASE("a transport with channels uses its own channel") {
    events log;
    std::size_t most = 0;
    many_at_once const wide{{&log}, &most};
    auto const three = reads({"0", "1", "2"});
    CHECK(send_all(wide, three, 2).order == std::vector<std::size_t>{1, 2, 0});
    CHECK(most == 2);
}

TEST_CASE("requests of all kinds can be sent in one channel, and an unsupported request returns NotSupported") {
    memory_backend const store;
    poll_driver io;
    auto const opened = open_channel(store, io);
    create_table const creates{"Orders"};
    write_entity const writes{"Orders", mutation::insert(testing::make_row("p", "r"))};
    transact const batch{"Orders", {mutation::insert(testing::make_row("p", "s"))}};
    query_entities query;
    query.table = "Orders";
    std::size_t shown = 0;
    auto const count = [&](row_view const&, etag const&, bool) {
        ++shown;
        return result<void>{};
    };
    entity_visitor const visit = count;
    read_entity const look{"Orders", "p", "r", &visit};
    request_ref const all[] = {creates, writes, batch, query, look};
    call context;
    for (request_ref const& each : all) { opened->send(each, context, const_cast<request_ref*>(&each)); }
    std::string seen;
    opened->poll(io.time().steady(), [&](completion& done) {
        CHECK(done.problem == nullptr);
        seen += std::string{done.request.name()} + " ";
        if (done.request.as<query_entities>() != nullptr) { CHECK(done.answer<query_entities>()->rows.size() == 2); }
    });
    CHECK(seen == "create_table write_entity transact query_entities get_entity ");
    CHECK(shown == 1);
    CHECK(opened->wakes_at() == steady_time::max());

    events log;
    auto const unknown = send_all(one_by_one{&log}, std::vector<transact>(2, batch), 2);
    for (auto const& each : unknown.answers) { CHECK(each->error().code == error_code::not_supported); }
}

TEST_CASE("a request that was cancelled before its turn is not executed") {
    events log;
    poll_driver io;
    auto const opened = open_channel(one_by_one{&log}, io);
    auto const two = reads({"0", "1"});
    call context;
    char tags[2] = {};
    opened->send(two[0], context, &tags[0]);
    opened->send(two[1], context, &tags[1]);
    opened->cancel(&tags[0], error{error_code::cancelled, "not wanted"});
    opened->cancel(&io, error{error_code::cancelled, "nobody's tag"});
    std::vector<error_code> codes;
    opened->poll(io.time().steady(),
        [&](completion& done) { codes.push_back(done.problem != nullptr ? done.problem->code : error_code{}); });
    CHECK(codes == std::vector<error_code>{error_code::cancelled, error_code{}});
    CHECK(log == events{"1"});
}

TEST_CASE("requests sent from a sink are queued until the next poll, and a sink that throws loses no other answers") {
    events log;
    poll_driver io;
    auto const opened = open_channel(one_by_one{&log}, io);
    auto const three = reads({"0", "1", "2"});
    call context;
    opened->send(three[0], context, &log);
    opened->poll({}, [&](completion&) { opened->send(three[1], context, &log); });
    CHECK(log == events{"0"}); // the next one waits for the next poll
    opened->send(three[2], context, &io);
    CHECK_THROWS(opened->poll({}, [](completion&) { throw std::runtime_error{"thrown"}; }));
    CHECK(log == events{"0", "1"});
    int more = 0;
    opened->poll({}, [&](completion& done) { more += done.tag == &io ? 1 : 100; });
    CHECK(more == 1);
    for (int round = 0; round < 1000; ++round) { // the read answer was released
        opened->send(three[0], context, &log);
        opened->poll({}, [&](completion&) { opened->send(three[1], context, &io); });
    }
    CHECK(opened->wakes_at() == steady_time::min());
}

TEST_CASE("a poll_driver waits on its clock if nothing is watched, and has one guest of each type") {
    testing::manual_clock time;
    poll_driver io{time};
    steady_time const then = time.steady() + std::chrono::hours{1};
    io.wait(then);
    CHECK(time.steady() == then);
    struct first final : io_guest {};
    struct second final : io_guest {};
    int made = 0;
    auto& one = io.guest<first>([&] { return ++made, new first; });
    CHECK(&io.guest<first>([&] { return ++made, new first; }) == &one);
    static_cast<void>(io.guest<second>([&] { return ++made, new second; }));
    CHECK(made == 2);
}
