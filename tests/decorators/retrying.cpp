// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/transport/any_store.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/wide.hpp>

#include <functional>
#include <limits>
#include <map>

using namespace entitable;
using namespace std::chrono_literals;
using testing::fault;
using testing::make_row;

namespace {

static_assert(transport<retrying<memory_backend>>);
static_assert(transport<retrying<any_store>>);

/// A table with faults and retries, on a manual clock.
struct stage {
    explicit stage(
        retry_policy policy = retry_policy::fixed(4, 1s), bool operation_rows = false, std::uint32_t quota = 100)
        : backend(local_options{.time = &time}),
          service(backend, {.time = &time}),
          through(
              service, {.policy = policy, .quota = quota, .operation_rows = operation_rows, .time = &time, .seed = 1}) {
        call own;
        (void)backend.execute(create_table{"Orders"}, own).value();
    }

    result<written> write(mutation change) {
        return through.execute(write_entity{"Orders", std::move(change)}, context);
    }
    result<get_entity::response> read(std::string key) {
        call own;
        return backend.execute(get_entity{"Orders", "p", std::move(key), {}}, own);
    }

    testing::manual_clock time;
    memory_backend backend;
    testing::faulty<memory_backend> service;
    retrying<testing::faulty<memory_backend>> through;
    call context;
};

row one(std::int32_t age = 55) { return make_row("p", "r", {{"Age", age}}); }

/// Loses the first transaction, which arrives when it is released.
struct delayed {
    using is_transport = void;
    memory_backend below;
    std::function<void()>* late;
    std::size_t* sent;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            if (++*sent == 1) {
                *late = [below = below, request] {
                    call own;
                    (void)below.execute(request, own);
                };
                failure lost{error_code::transport_failed, "lost"};
                lost.error().effect = effect::unknown;
                return lost;
            }
        }
        return below.execute(request, context);
    }
};

/// Sends each transaction twice, as HTTP libraries do when a connection was closed.
struct twice {
    using is_transport = void;
    memory_backend below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) { (void)below.execute(request, context); }
        return below.execute(request, context);
    }
};

std::size_t rows_of(memory_backend const& backend) {
    call own;
    query_entities query;
    query.table = "Orders";
    return backend.execute(query, own)->rows.size();
}

} // namespace

TEST_CASE("retrying: an immediate success is returned unchanged") {
    stage on;
    auto const inserted = on.write(mutation::insert(one()));
    REQUIRE(inserted);
    CHECK_FALSE(inserted->after_retry);
    CHECK(on.service.requests() == 1);
    CHECK(on.through.quota_left() == 100);
}

TEST_CASE("retrying: waits only on its own clock") {
    stage on;
    on.service.plan({fault::busy(), 1});
    on.service.plan({fault::throttled(7s), 2});
    auto const begun = on.time.steady();
    CHECK(on.write(mutation::insert(one())));
    CHECK(on.time.steady() - begun == 8s);
    CHECK(on.service.all_fired());
}

TEST_CASE("retrying: survives a lost answer to an insert") {
    stage on;
    on.service.plan({fault::lost_after(), 1});
    auto const inserted = on.write(mutation::insert(one()));
    REQUIRE(inserted);
    CHECK(inserted->after_retry);
    CHECK(inserted->etag == on.read("r")->etag);
    CHECK(on.service.requests() == 3); // lost, 409, read
}

TEST_CASE("retrying: a late first attempt does not undo the second") {
    stage on;
    on.service.plan({fault::late(), 1});
    auto const inserted = on.write(mutation::insert(one()));
    REQUIRE(inserted);
    CHECK(on.service.arrive() == 0);
    CHECK(on.read("r")->etag == inserted->etag);
}

TEST_CASE("retrying: with an invalid policy every request returns the policy's error and nothing is sent") {
    auto const refused = [](retry_policy policy) {
        stage on{policy};
        auto const outcome = on.write(mutation::insert(one()));
        call context;
        CHECK(on.through.execute(list_tables{}, context).error().code == error_code::out_of_range_input);
        CHECK(on.service.requests() == 0);
        CHECK(policy.validate().error().code == error_code::out_of_range_input);
        return !outcome && outcome.error().code == error_code::out_of_range_input;
    };
    CHECK(refused(retry_policy::fixed(0, 1s)));
    CHECK(refused(retry_policy::fixed(-1, 1s)));
    CHECK(refused(retry_policy::fixed(std::int64_t{1} << 31, 1s)));
    CHECK(refused(retry_policy::fixed(std::numeric_limits<std::int64_t>::max(), 1s)));
    CHECK(refused(retry_policy::fixed(3, -1s)));
    CHECK(refused(retry_policy::fixed(3, 25h)));
    CHECK(refused(retry_policy::exponential(3, 100s, 3s, 90s)));
    CHECK(refused(retry_policy::exponential(3, 1s, 91s, 90s)));
    CHECK(refused(retry_policy::exponential(3, -1s, 3s, 90s)));
    auto jittery = retry_policy::patient();
    jittery.delays.jitter = 1.5;
    CHECK(refused(jittery));
    auto wishful = retry_policy::patient();
    wishful.longest_wish = -1s;
    CHECK(refused(wishful));
    CHECK(retry_policy::patient().validate());
    CHECK(retry_policy::interactive().validate());
    CHECK(retry_policy::none().validate());
    CHECK(retry_policy::fixed(retry_policy::most_attempts, 0s).validate());
}

TEST_CASE("retrying: the presets match their documented values") {
    CHECK(retry_policy::patient().delays == backoff{.base = 30s, .least = 3s, .most = 90s});
    CHECK_FALSE(retry_policy::patient().delays.jitter_at_cap);
    auto const quick = retry_policy::interactive();
    std::chrono::nanoseconds all{};
    for (std::uint64_t repetition = 1; repetition < static_cast<std::uint64_t>(quick.max_attempts); ++repetition) {
        all += quick.delays.delay(repetition, 0.5);
    }
    CHECK(all == 2'900ms);
    CHECK(quick.delays.jitter_at_cap);
}

TEST_CASE("retrying: can be cancelled in the middle of a wait") {
    struct cancelling_clock final : entitable::clock {
        date_time now() noexcept override { return inner.now(); }
        steady_time steady() noexcept override { return inner.steady(); }
        void wait_until(steady_time time) noexcept override {
            inner.wait_until(time);
            if (inner.steady() - begun >= 1s && cancelled_at == steady_time{}) {
                cancelled_at = inner.steady();
                source.cancel();
            }
        }
        testing::manual_clock inner;
        steady_time begun = inner.steady();
        steady_time cancelled_at{};
        cancellation_source source;
    } time;
    testing::faulty service{memory_backend{}};
    service.plan({fault::lost_after(), 1});
    retrying through{service, {.policy = retry_policy::fixed(3, 90s), .time = &time}};
    call context;
    context.cancellation = time.source.token();
    auto const outcome = through.execute(create_table{"Orders"}, context);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == error_code::cancelled);
    CHECK(outcome.error().effect == effect::unknown);
    CHECK(time.inner.steady() - time.cancelled_at < 50ms);
    CHECK(service.requests() == 1);
}

TEST_CASE("retrying: the deadline of the call limits all attempts together") {
    stage on{retry_policy::fixed(100, 1s)};
    testing::faulty_options always{.time = &on.time, .target = testing::partition_target{0, 1h}};
    testing::faulty down{on.backend, always};
    retrying through{down, {.policy = retry_policy::fixed(100, 1s), .quota = 0, .time = &on.time}};
    on.context.deadline = on.time.steady() + 10s;
    auto const outcome = through.execute(write_entity{"Orders", mutation::insert(one())}, on.context);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == error_code::server_busy);
    CHECK(outcome.error().attempts == 10);
    CHECK(on.time.steady() <= on.context.deadline);
    CHECK(down.requests() == 10);
}

TEST_CASE("retrying: copies share the quota") {
    stage on{retry_policy::fixed(5, 1s), false, 4};
    auto const copy = on.through;
    on.service.plan({fault::busy(), 1});
    on.service.plan({fault::busy(), 1});
    on.service.plan({fault::busy(), 1});
    on.service.plan({fault::busy(), 1});
    CHECK(on.write(mutation::insert(one())));
    CHECK(copy.quota_left() == 0);
    on.service.plan({fault::busy(), 1});
    auto const outcome = copy.execute(get_entity{"Orders", "p", "r", {}}, on.context);
    CHECK(outcome.error().attempts == 1);
}

// ---- operation rows ---------------------------------------------------------------------------------

TEST_CASE("operation rows: the outcome of an update whose answer is lost is resolved") {
    stage on{retry_policy::fixed(4, 1s), true};
    auto const version = on.write(mutation::insert(one()))->etag;
    on.service.plan({fault::lost_after(), 1});
    auto const updated = on.write(mutation::merge(one(56), version));
    REQUIRE(updated);
    CHECK(updated->after_retry);
    CHECK(on.read("r")->entity.view().find("Age")->as_int32() == 56);
    CHECK(rows_of(on.backend) == 3); // the entity and two operation rows
}

TEST_CASE("operation rows: an update that lost a race with another writer is a plain conflict") {
    stage on{retry_policy::fixed(4, 1s), true};
    auto const version = on.write(mutation::insert(one()))->etag;
    on.service.plan({fault::lost_before(), 1});
    call own;
    (void)on.backend.execute(write_entity{"Orders", mutation::merge(one(56), version)}, own).value();
    auto const updated = on.write(mutation::merge(one(56), version)); // the same content, from another writer
    REQUIRE_FALSE(updated);
    CHECK(updated.error().code == error_code::update_condition_not_satisfied);
    CHECK(updated.error().effect == effect::none);
    CHECK_FALSE(updated.error().operation_index);
}

TEST_CASE("operation rows: an insert is refused if another writer inserted an equal entity") {
    stage on{retry_policy::fixed(4, 1s), true};
    on.service.plan({fault::lost_before(), 1});
    call own;
    (void)on.backend.execute(write_entity{"Orders", mutation::insert(one())}, own).value();
    auto const inserted = on.write(mutation::insert(one()));
    REQUIRE_FALSE(inserted);
    CHECK(inserted.error().code == error_code::entity_already_exists);
    CHECK(inserted.error().effect == effect::none);
}

TEST_CASE(
    "operation rows: the outcome of a batch whose answer is lost is resolved, and its results omit the operation row") {
    stage on{retry_policy::fixed(4, 1s), true};
    on.service.plan({fault::lost_after(), 1});
    auto const done = on.through.execute(
        transact{"Orders", {mutation::insert(make_row("p", "1")), mutation::insert(make_row("p", "2"))}}, on.context);
    REQUIRE(done);
    REQUIRE(done->results.size() == 2);
    CHECK(done->results[0].after_retry);
    CHECK(done->results[0].etag.empty());
    auto const plain = on.through.execute(transact{"Orders", {mutation::insert(make_row("p", "3"))}}, on.context);
    REQUIRE(plain->results.size() == 1);
    CHECK_FALSE(plain->results[0].after_retry);
    CHECK_FALSE(plain->results[0].etag.empty());
}

TEST_CASE("operation rows: a batch can have one operation fewer than without operation rows") {
    stage on{retry_policy::fixed(4, 1s), true};
    CHECK(on.through.profile().max_operations == 99);
    transact batch{"Orders", {}};
    CHECK(on.through.execute(batch, on.context).error().code == error_code::invalid_input);
    for (int index = 0; index < 99; ++index) {
        batch.changes.push_back(mutation::insert(make_row("p", std::to_string(index))));
    }
    CHECK(on.through.execute(batch, on.context));
    batch.changes.push_back(mutation::insert(make_row("p", "99")));
    CHECK(on.through.execute(batch, on.context).error().code == error_code::invalid_input);
}

TEST_CASE("operation id: with an id from the caller a write is applied once across all processes") {
    stage on;
    call first;
    first.operation_id = "order-17";
    CHECK(on.through.execute(write_entity{"Orders", mutation::insert(one())}, first));
    call again;
    again.operation_id = "order-17";
    auto const repeated = on.through.execute(write_entity{"Orders", mutation::insert(one())}, again);
    REQUIRE(repeated);
    CHECK(repeated->after_retry);
    call other;
    other.operation_id = "order-17";
    auto const reused = on.through.execute(write_entity{"Orders", mutation::insert(make_row("p", "x"))}, other);
    REQUIRE_FALSE(reused);
    CHECK(reused.error().code == error_code::operation_id_taken);
    CHECK(reused.error().effect == effect::none);
    CHECK_FALSE(on.read("x"));
}

TEST_CASE("operation rows: a late first attempt finds its own operation row") {
    stage on{retry_policy::fixed(4, 1s), true};
    on.service.plan({fault::late(), 1});
    CHECK(on.write(mutation::insert_or_merge(one())));
    call own;
    (void)on.backend.execute(write_entity{"Orders", mutation::insert_or_merge(one(99))}, own).value();
    CHECK(on.service.arrive() == 0);
    CHECK(on.read("r")->entity.view().find("Age")->as_int32() == 99);
}

TEST_CASE("operation rows: a write reported as not applied stays not applied, however late an attempt arrives") {
    // Each of them fails for now, after a late attempt; then the obstacle is removed.
    struct obstacle {
        mutation change;
        std::function<void(stage&)> clear;
        error_code code;
    };
    auto const write = [](stage& on, mutation change) {
        call own;
        (void)on.backend.execute(write_entity{"Orders", std::move(change)}, own).value();
    };
    obstacle const obstacles[] = {
        {mutation::insert(one()), [&](stage& on) { write(on, mutation::remove(one(), any_etag)); },
            error_code::entity_already_exists},
        {mutation::merge(make_row("p", "x", {{"A", 1}}), any_etag),
            [&](stage& on) { write(on, mutation::insert(make_row("p", "x"))); }, error_code::resource_not_found},
        {mutation::merge(make_row("p", "full", {{"B", 1}}), any_etag),
            [&](stage& on) { write(on, mutation::replace(make_row("p", "full"), any_etag)); },
            error_code::too_many_properties},
    };
    for (obstacle const& each : obstacles) {
        stage on{retry_policy::fixed(4, 1s), true};
        write(on, mutation::insert(one()));
        row_builder full{"p", "full"};
        for (int index = 0; index < 252; ++index) { full.add("P" + std::to_string(index), value_view{index}); }
        write(on, mutation::insert(full.build()));
        std::function<void()> late;
        std::size_t sent = 0;
        delayed const service{on.backend, &late, &sent};
        retrying const through{service, {.policy = retry_policy::fixed(4, 0s), .operation_rows = true, .seed = 1}};
        auto const told = through.execute(write_entity{"Orders", each.change}, on.context);
        REQUIRE_FALSE(told);
        CHECK(told.error().code == each.code);
        CHECK(told.error().effect == effect::none);
        CHECK_FALSE(told.error().operation_index);
        CHECK(sent == 2);
        each.clear(on);
        auto const before = testing::read_contents(on.backend).value();
        late();
        CHECK(testing::difference(before, testing::read_contents(on.backend).value()) == "");
    }
}

TEST_CASE(
    "operation rows: a version that no longer exists proves that no attempt will be applied, so nothing is voided") {
    stage on{retry_policy::fixed(4, 1s), true};
    auto const version = on.write(mutation::insert(one()))->etag;
    for (bool const removed : {false, true}) {
        call own;
        (void)on.backend
            .execute(
                write_entity{"Orders", removed ? mutation::remove(one(), any_etag) : mutation::merge(one(1), any_etag)},
                own)
            .value();
        std::size_t const rows = rows_of(on.backend);
        std::size_t const requests = on.service.requests();
        on.service.plan({fault::lost_before(), 1});
        auto const told = on.write(mutation::merge(one(56), version));
        CHECK(told.error().effect == effect::none);
        CHECK(on.service.requests() == requests + 2);
        CHECK(rows_of(on.backend) == rows);
    }
}

TEST_CASE("operation rows: a write that finds its own row was applied, even if no answer was lost") {
    stage on;
    retrying const through{twice{on.backend}, {.operation_rows = true, .time = &on.time}};
    auto const told = through.execute(write_entity{"Orders", mutation::insert(one())}, on.context);
    REQUIRE(told);
    CHECK(told->after_retry);
}

TEST_CASE("operation rows: the reported index of a refused operation is its index in the caller's batch") {
    stage on{retry_policy::fixed(4, 1s), true};
    (void)on.write(mutation::insert(one()));
    auto const refused = on.through.execute(
        transact{"Orders", {mutation::insert(make_row("p", "a")), mutation::insert(one())}}, on.context);
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(refused.error().operation_index == 1);
}

TEST_CASE("operation rows: a transaction that contains its own operation row uses it") {
    stage on{retry_policy::fixed(4, 1s), true};
    std::vector<mutation> changes{mutation::insert(one())};
    changes.insert(
        changes.begin(), mutation::insert(operation_row::make("p", "own", operation_row::content_of(changes))));
    on.service.plan({fault::lost_after(), 1});
    auto const done = on.through.execute(transact{"Orders", changes}, on.context);
    REQUIRE(done);
    CHECK(done->results.size() == 2);
    CHECK(rows_of(on.backend) == 2);
}

TEST_CASE("operation id: a write that was abandoned under an id stays abandoned, and the error reports that") {
    stage on;
    (void)on.write(mutation::insert(one()));
    auto const send = [&](mutation change) {
        call context;
        context.operation_id = "order-17";
        return on.through.execute(write_entity{"Orders", std::move(change)}, context);
    };
    CHECK(send(mutation::insert(one(56))).error().code == error_code::entity_already_exists);
    (void)on.write(mutation::remove(one(), any_etag));
    auto const again = send(mutation::insert(one(56)));
    REQUIRE_FALSE(again);
    CHECK(again.error().code == error_code::operation_void);
    CHECK(again.error().effect == effect::none);
    CHECK(rows_of(on.backend) == 1);
}

TEST_CASE("operation id: an id that is not a valid key is refused before anything is sent") {
    stage on;
    on.context.operation_id = "a/b";
    auto const refused = on.write(mutation::insert(one()));
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK(refused.error().effect == effect::none);
    CHECK_THAT(refused.error().message, entitable_test::ContainsSubstring("the operation id holds \"/\" at byte 1"));
    on.context.operation_id = std::string(508, 'i'); // its row key has five characters more
    auto const longer = on.write(mutation::insert(one()));
    CHECK(longer.error().code == error_code::key_value_too_large);
    CHECK_THAT(longer.error().message,
        entitable_test::ContainsSubstring("the operation id has 508 UTF-16 units; the limit is 507"));
    CHECK(on.service.requests() == 0);
    on.context.operation_id.pop_back();
    CHECK(on.write(mutation::insert(one())));
}

// ---- resolve ----------------------------------------------------------------------------------------

TEST_CASE("resolve: finds the outcome by the operation id") {
    stage on{retry_policy::none(), true};
    on.service.plan({fault::lost_after(), 1});
    on.service.plan({fault::lost_before(), 2});
    call own;
    auto const applied = on.write(mutation::insert_or_replace(one()));
    auto const not_applied = on.write(mutation::insert_or_replace(one(56)));
    REQUIRE_FALSE(applied);
    REQUIRE_FALSE(not_applied);
    CHECK(applied.error().effect == effect::unknown);
    CHECK(applied.error().operation_id.size() == 32);
    CHECK(resolve(on.backend, "Orders", "p", applied.error().operation_id, own).value() == write_outcome::applied);
    for (int again = 0; again < 2; ++again) {
        CHECK(resolve(on.backend, "Orders", "p", not_applied.error().operation_id, own).value() ==
            write_outcome::not_applied);
    }
    // A resolved operation is final: the late attempt finds the row.
    own.operation_id = not_applied.error().operation_id;
    CHECK(on.through.execute(write_entity{"Orders", mutation::insert_or_replace(one(56))}, own).error().code ==
        error_code::operation_void);
    own.operation_id.clear();
    on.service.plan({fault::lost_after(), 1}); // also if the answer is lost, and through a transport that stores rows
    retrying const patient{
        on.service, {.policy = retry_policy::fixed(3, 0s), .operation_rows = true, .time = &on.time}};
    CHECK(resolve(patient, "Orders", "p", "never sent", own).value() == write_outcome::not_applied);
    CHECK(on.service.all_fired());
    CHECK(rows_of(on.backend) == 4); // an entity, its row, two void ones
    CHECK(resolve(on.backend, "Missing", "p", "x", own).error().code == error_code::table_not_found);
}

TEST_CASE("resolve: finds the outcome by reading and comparing") {
    stage on;
    call own;
    auto const told = [&](mutation change) {
        return resolve(on.backend, write_entity{"Orders", std::move(change)}, own).value();
    };
    etag const stale = etag::of(date_time{1});
    CHECK(told(mutation::insert(one())) == write_outcome::unknown);
    CHECK(told(mutation::remove(one(), stale)) == write_outcome::applied);
    CHECK(told(mutation::remove(one(), any_etag)) == write_outcome::applied);
    CHECK(told(mutation::merge(one(), stale)) == write_outcome::unknown);
    etag const version = on.write(mutation::insert(one()))->etag;
    CHECK(told(mutation::insert(one())) == write_outcome::applied);
    CHECK(told(mutation::insert(one(56))) == write_outcome::unknown);
    CHECK(told(mutation::merge(one(56), version)) == write_outcome::not_applied);
    CHECK(told(mutation::remove(one(), version)) == write_outcome::not_applied);
    CHECK(told(mutation::remove(one(), stale)) == write_outcome::unknown);
    CHECK(told(mutation::remove(one(), any_etag)) == write_outcome::unknown);
    CHECK(told(mutation::merge(one(), stale)) ==
        write_outcome::unknown); // the content is there, maybe from another writer
    CHECK(told(mutation::replace(one(), any_etag)) == write_outcome::applied);
    CHECK(told(mutation::insert_or_merge(make_row("p", "r"))) == write_outcome::applied);
    CHECK(told(mutation::insert_or_replace(make_row("p", "r"))) == write_outcome::unknown);

    auto const batch = [&](std::vector<mutation> changes) {
        return resolve(on.backend, transact{"Orders", std::move(changes)}, own).value();
    };
    auto const other = mutation::insert(make_row("p", "x", {{"A", 1}}));
    CHECK(batch({other, mutation::insert(one())}) == write_outcome::applied);
    CHECK(batch({other, mutation::merge(one(), version)}) == write_outcome::not_applied);
    CHECK(batch({other, mutation::remove(make_row("p", "y"), any_etag)}) == write_outcome::unknown);
    CHECK(batch({}) == write_outcome::unknown);
}

TEST_CASE("resolve: operation rows are swept by age") {
    stage on{retry_policy::fixed(3, 1s), true};
    for (int index = 0; index < 5; ++index) {
        (void)on.write(mutation::insert(make_row("p", std::to_string(index)))).value();
        on.time.advance(1h);
    }
    CHECK(rows_of(on.backend) == 10);
    sweep_options how{.partition_key = "p", .retention = 2h, .time = &on.time};
    call own;
    CHECK(sweep_operation_rows(on.backend, "Orders", own).value() == 0); // a fast clock of the client decides nothing
    on.time.advance(24h);
    CHECK(sweep_operation_rows(on.backend, "Orders", own).value() == 5); // on the clock of the store a day has passed
    (void)on.write(mutation::insert(make_row("p", "x"))).value();
    CHECK(rows_of(on.backend) == 7);
    on.time.advance(2h);
    how.partition_key = "q";
    CHECK(sweep_operation_rows(on.backend, "Orders", own, how).value() == 0);
    how.partition_key = "p";
    CHECK(sweep_operation_rows(on.backend, "Orders", own, how).value() == 0);
    on.time.advance(1s);
    (void)on.write(mutation::insert(make_row("p", "y"))).value();
    how.partition_key.reset();
    CHECK(sweep_operation_rows(on.through, "Orders", own, how).value() == 1); // the sweep itself leaves no rows
    CHECK(rows_of(on.backend) == 8);
    how.retention = -1s;
    CHECK(sweep_operation_rows(on.through, "Orders", own, how).error().code == error_code::out_of_range_input);
    how.retention = 2h;
    testing::manual_clock fast;
    fast.advance(1'000h);
    how.time = &fast;
    CHECK(
        sweep_operation_rows(on.backend, "Orders", own, how).value() == 0); // on the clock of the store nothing is old
    on.time.advance(3h);
    how.time = &on.time;
    CHECK(sweep_operation_rows(on.backend, "Orders", own, how).value() == 1);
}

TEST_CASE("resolve: a sweep that could precede a late attempt is refused") {
    call const own;
    auto const late = storage_profile().longest_late_application();
    auto early = detail::sweep_pages("Orders", {.retention = 15min}, late, own);
    CHECK(early.next().done());
    auto good = detail::sweep_pages("Orders", {.retention = 16min}, late, own);
    CHECK_FALSE(good.next().done());
    auto unbounded = detail::sweep_pages("Orders", {.retention = 1min}, profile::unbounded, own);
    CHECK_FALSE(unbounded.next().done());
}

TEST_CASE("resolve: a sweep continues after empty pages") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        testing::manual_clock time;
        local_options nasty;
        nasty.time = &time;
        nasty.nasty.emplace();
        nasty.nasty->seed = seed;
        memory_backend const store{nasty};
        retrying const through{store, {.operation_rows = true, .time = &time, .seed = 1}};
        call own;
        (void)store.execute(create_table{"Orders"}, own).value();
        for (int index = 0; index < 30; ++index) {
            (void)through.execute(write_entity{"Orders", mutation::insert_or_merge(one())}, own).value();
        }
        time.advance(1h);
        sweep_options const all{.retention = 0s, .time = &time};
        CHECK(sweep_operation_rows(store, "Orders", own, all).value() == 30);
        CHECK(testing::read_contents(store)->tables.at("Orders").size() == 1);
    }
}

// ---- many at once -----------------------------------------------------------------------------------

namespace {

/// Fails the first answer to every row range that begins with an odd digit.
struct flaky_wide {
    using is_transport = void;
    entitable_test::wide_transport inner;
    std::shared_ptr<std::map<std::string, int>> attempts = std::make_shared<std::map<std::string, int>>();

    [[nodiscard]] entitable::profile profile() const { return inner.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        return inner.execute(request, context);
    }
    [[nodiscard]] shared<channel> open(io_driver&) const {
        return shared<channel>{new entitable_test::latest_first{
            [this_one = *this](request_ref request, call& context, void* tag, completion_sink sink) {
                auto const& query = *request.as<query_entities>();
                std::string const& key = query.range.row.lower.key;
                bool const fails = ++(*this_one.attempts)[key] == 1 && (key[0] - '0') % 2 == 1;
                auto answer = fails ? result<query_entities::response>{failure{error_code::server_busy, "flaky"}}
                                    : this_one.execute(query, context);
                completion done{query, answer, context, tag, {}};
                sink(done);
            },
            &inner.log->most}};
    }
};

std::vector<query_entities> nine_queries() {
    std::vector<query_entities> queries(9);
    for (std::size_t index = 0; index < queries.size(); ++index) {
        queries[index].table = "Orders";
        queries[index].range.row.lower = key_bound::including(std::to_string(index + 1));
    }
    return queries;
}

} // namespace

TEST_CASE("retrying: many concurrent requests are each answered once") {
    testing::manual_clock time;
    flaky_wide wide;
    call context;
    (void)wide.execute(create_table{"Orders"}, context);
    retrying through{wide, {.policy = retry_policy::fixed(3, 1s), .time = &time}};
    auto const all = entitable_test::send_all(through, nine_queries(), 4, {}, time);
    CHECK(wide.inner.log->most == 4);
    CHECK(all.successes() == 9);

    retrying wrong{wide, {.policy = retry_policy::fixed(0, 1s), .time = &time}};
    auto const refused = entitable_test::send_all(wrong, nine_queries(), 4, {}, time);
    CHECK(refused.order.size() == 9);
    CHECK(refused.successes() == 0);
}
