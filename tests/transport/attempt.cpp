// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/table.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/attempt.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/watcher.hpp>

#include <set>
#include <stdexcept>

using namespace entitable;
using entitable_test::watcher;
using testing::make_row;
using namespace std::chrono_literals;

namespace {

/// Fails the test that reads it.
struct no_clock final : entitable::clock {
    date_time now() noexcept override { return ++looks, date_time{}; }
    steady_time steady() noexcept override { return ++looks, steady_time{}; }
    void wait_until(steady_time) noexcept override { ++looks; }
    int looks{};
};

/// In front of a transport, sends each request twice.
struct twice {
    using is_transport = void;
    memory_backend inner;
    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        return as_operation(request, context, system_clock(), [&] {
            static_cast<void>(inner.execute(request, context));
            return inner.execute(request, context);
        });
    }
};

} // namespace

TEST_CASE("without an observer attempts are only counted") {
    no_clock time;
    call context;
    get_entity const asked{"Orders", "p", "r", {}};
    auto const answer = [] { return result<get_entity::response>{std::in_place}; };
    CHECK(count_attempt(asked, context, time, answer));
    CHECK(count_attempt(asked, context, time, answer));
    CHECK(context.attempts == 2);
    CHECK(time.looks == 0);
    CHECK(context.spans.drawn == 0);
    CHECK(context.spans.operation == 0);
}

TEST_CASE("each request is an operation whose attempts count from 1") {
    memory_backend const store;
    watcher eyes;
    call context;
    context.watch = &eyes;
    static_cast<void>(store.execute(create_table{"Orders"}, context));
    static_cast<void>(store.execute(write_entity{"Orders", mutation::insert(make_row("p", "r"))}, context));
    static_cast<void>(store.execute(write_entity{"ORDERS", mutation::insert(make_row("p", "r"))}, context));
    static_cast<void>(store.execute(get_entity{"Orders", "q", "r", {}}, context));
    static_cast<void>(store.execute(transact{"Orders", {mutation::remove(make_row("p", "r"), any_etag)}}, context));
    static_cast<void>(store.execute(list_tables{}, context));
    CHECK(eyes.lines ==
        std::vector<std::string>{"attempt create_table Orders 1 ok", "operation create_table Orders attempts 1 ok",
            "attempt insert Orders 1 ok", "operation insert Orders attempts 1 ok",
            "attempt insert ORDERS 1 EntityAlreadyExists", "operation insert ORDERS attempts 1 EntityAlreadyExists",
            "attempt get_entity Orders 1 ResourceNotFound", "operation get_entity Orders attempts 1 ResourceNotFound",
            "attempt transact Orders 1 ok", "operation transact Orders attempts 1 ok", "attempt list_tables  1 ok",
            "operation list_tables  attempts 1 ok"});
    CHECK(context.attempts == 6);
    CHECK(eyes.events[0].system == "entitable.memory");
    CHECK(eyes.events[1].system == "entitable.memory");
}

TEST_CASE("a request that is refused before it is sent is an operation without an attempt") {
    memory_backend const store;
    watcher eyes;
    call context;
    context.watch = &eyes;
    CHECK_FALSE(store.execute(get_entity{"Orders", "a/b", "r", {}}, context));
    CHECK(eyes.lines.size() == 1);
    CHECK(eyes.events[0].what == "operation");
    CHECK(eyes.events[0].operation.attempts == 0);
    CHECK(eyes.events[0].operation.outcome.error);
    CHECK(eyes.events[0].system.empty());
}

TEST_CASE("a record contains rows, batch size, code, status and effect") {
    memory_backend const store;
    watcher eyes;
    call context;
    context.watch = &eyes;
    static_cast<void>(store.execute(create_table{"Orders"}, context));
    transact three{"Orders", {}};
    for (char const* const key : {"1", "2", "3"}) { three.changes.push_back(mutation::insert(make_row("p", key))); }
    static_cast<void>(store.execute(three, context));
    query_entities query;
    query.table = "Orders";
    static_cast<void>(store.execute(query, context));
    static_cast<void>(store.execute(get_entity{"Orders", "p", "1", {}}, context));
    auto const look = [](row_view const&, etag const&, bool) { return result<void>{}; };
    entity_visitor const visit = look;
    static_cast<void>(store.execute(read_entity{"Orders", "p", "1", &visit}, context));
    static_cast<void>(store.execute(get_entity{"Orders", "p", "4", {}}, context));
    auto const done = eyes.all("operation");
    REQUIRE(done.size() == 6);
    CHECK(done[0].operation.batch_size == 0);
    CHECK_FALSE(done[0].operation.outcome.rows);
    CHECK(done[1].operation.batch_size == 3);
    CHECK(done[2].operation.outcome.rows == 3U);
    CHECK(done[3].operation.outcome.rows == 1U);
    CHECK(done[4].name == "get_entity");
    CHECK(done[4].operation.outcome.rows == 1U);
    CHECK_FALSE(done[5].operation.outcome.rows);
    CHECK(done[5].operation.outcome.error == error_code::resource_not_found);
    CHECK(done[5].operation.outcome.status == 404);
    CHECK(done[5].operation.outcome.effect == effect::none);
    CHECK(eyes.all("attempt")[1].attempt.batch_size == 3);
}

TEST_CASE("times are measured with the clock of the transport") {
    testing::manual_clock time;
    watcher eyes;
    call context;
    context.watch = &eyes;
    steady_time const start = time.steady();
    get_entity const asked{"Orders", "p", "r", {}};
    static_cast<void>(count_attempt(asked, context, time, [&] {
        time.advance(3s);
        return result<get_entity::response>{std::in_place};
    }));
    REQUIRE(eyes.events.size() == 2);
    CHECK(eyes.events[0].attempt.begun == start);
    CHECK(eyes.events[0].attempt.ended == start + 3s);
    CHECK(eyes.events[1].operation.begun == start);
    CHECK(eyes.events[1].operation.ended == start + 3s);
}

TEST_CASE("spans: the caller's span contains the span of the operation, which contains the spans of its attempts") {
    watcher eyes;
    call_options options;
    options.watch = &eyes;
    options.trace = trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").value();
    call context{options};
    any_store const store{twice{}};
    static_cast<void>(store.execute(list_tables{}, context));
    static_cast<void>(store.execute(list_tables{}, context));
    CHECK(eyes.lines ==
        std::vector<std::string>{"attempt list_tables  1 ok", "attempt list_tables  2 ok",
            "operation list_tables  attempts 2 ok", "attempt list_tables  1 ok", "attempt list_tables  2 ok",
            "operation list_tables  attempts 2 ok"});
    std::set<std::uint64_t> ids;
    for (auto const& each : eyes.events) {
        span_ids const& span = each.what == "attempt" ? each.attempt.span : each.operation.span;
        CHECK(span.own.trace_id() == options.trace.trace_id());
        CHECK(span.own.flags == trace_context::sampled);
        CHECK(span.own.span_id != 0);
        ids.insert(span.own.span_id);
    }
    CHECK(ids.size() == 6);
    for (std::size_t const first : {0U, 3U}) {
        std::uint64_t const operation = eyes.events[first + 2].operation.span.own.span_id;
        CHECK(eyes.events[first].attempt.span.parent == operation);
        CHECK(eyes.events[first + 1].attempt.span.parent == operation);
        CHECK(eyes.events[first + 2].operation.span.parent == options.trace.span_id);
    }
}

TEST_CASE("without a trace, ids exist only for this call") {
    watcher eyes;
    call one;
    call two;
    one.watch = two.watch = &eyes;
    memory_backend const store;
    static_cast<void>(store.execute(list_tables{}, one));
    static_cast<void>(store.execute(list_tables{}, two));
    auto const done = eyes.all("operation");
    CHECK_FALSE(static_cast<bool>(done[0].operation.span.own));
    CHECK(done[0].operation.span.own.span_id != 0);
    CHECK(done[0].operation.span.parent == 0);
    CHECK(done[0].operation.span.own.span_id != done[1].operation.span.own.span_id);
}

TEST_CASE("answers may arrive later and in a different order on one thread") {
    // Like a channel: one call object for each request; the sender stores times and ids.
    struct sent {
        get_entity request;
        call context{};
        bool opened{};
        steady_time begun{};
        std::uint64_t span{};
    };
    testing::manual_clock time;
    watcher eyes;
    sent under_way[3] = {{{"A", "p", "r", {}}}, {{"B", "p", "r", {}}}, {{"C", "p", "r", {}}}};
    steady_time const start = time.steady();
    for (sent& each : under_way) {
        each.context.watch = &eyes;
        each.opened = detail::begin_operation(each.context);
        CHECK(each.opened);
        CHECK_FALSE(detail::begin_operation(each.context)); // the channel below
        each.begun = time.steady();
        each.span = detail::draw_span_id(each.context);
        time.advance(1s);
    }
    for (std::size_t const index : {2U, 0U, 1U}) {
        sent& each = under_way[index];
        time.advance(10s);
        ++each.context.attempts;
        attempt_record done;
        done.span.own.span_id = each.span;
        done.begun = each.begun;
        done.ended = time.steady();
        detail::tell_attempt(each.request, done, each.context);
        result<get_entity::response> const answered{std::in_place};
        detail::end_operation(
            each.request, each.context, each.begun, time.steady(), detail::outcome_of(each.request, answered));
    }
    CHECK(eyes.lines ==
        std::vector<std::string>{"attempt get_entity C 1 ok", "operation get_entity C attempts 1 ok",
            "attempt get_entity A 1 ok", "operation get_entity A attempts 1 ok", "attempt get_entity B 1 ok",
            "operation get_entity B attempts 1 ok"});
    for (std::size_t index = 0; index < eyes.events.size(); index += 2) {
        CHECK(eyes.events[index].attempt.span.parent == eyes.events[index + 1].operation.span.own.span_id);
    }
    CHECK(eyes.events[0].attempt.begun == start + 2s);
    CHECK(eyes.events[0].attempt.ended == start + 13s);
    CHECK(eyes.events[5].operation.begun == start + 1s);
    CHECK(eyes.events[5].operation.ended == start + 33s);
}

#if ENTITABLE_HAS_EXCEPTIONS
TEST_CASE("an exception leaves no operation open") {
    watcher eyes;
    call context;
    context.watch = &eyes;
    list_tables const asked;
    auto const throwing = []() -> result<list_tables::response> { throw std::runtime_error{"out of something"}; };
    CHECK_THROWS(count_attempt(asked, context, system_clock(), throwing));
    CHECK(eyes.lines.empty());
    static_cast<void>(memory_backend{}.execute(asked, context));
    CHECK(eyes.lines.back() == "operation list_tables  attempts 1 ok");
}
#endif

TEST_CASE("no user data reaches an observer") {
    memory_backend const store;
    watcher eyes;
    call context;
    context.watch = &eyes;
    auto const row = make_row("SECRETp", "SECRETr", {{"SECRETname", "SECRETvalue"}});
    static_cast<void>(store.execute(create_table{"Orders"}, context));
    static_cast<void>(store.execute(write_entity{"Orders", mutation::insert(row)}, context));
    static_cast<void>(store.execute(write_entity{"Orders", mutation::insert(row)}, context));
    static_cast<void>(store.execute(get_entity{"Orders", "SECRETp", "SECRETq", {"SECRETname"}}, context));
    static_cast<void>(store.execute(get_entity{"Orders", "SECRET/", "SECRETq", {}}, context));
    static_cast<void>(store.execute(transact{"Orders", {mutation::insert(row)}}, context));
    CHECK(eyes.events.size() == 11);
    CHECK(eyes.texts().find("SECRET") == std::string::npos);
}
