// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The decisions of a retry, step by step: no transport, and a clock that does not advance.

#include <entitable/core/decorators/detail/retry_operation.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;
using testing::make_row;

namespace {

using detail::retry_ledger;
using detail::retry_operation;

static_assert(operation<retry_operation<write_entity>>);
static_assert(operation<retry_operation<get_entity>>);
static_assert(operation<retry_operation<transact>>);
static_assert(operation<retry_operation<create_table>>);

failure lost(error_code code = error_code::transport_failed) {
    error problem{code, "lost"};
    problem.effect = effect::unknown;
    return failure{std::move(problem)};
}
failure said(error_code code) { return failure{code, "said"}; }

/// A retry of one request, and what it depends on.
template <class Request>
struct stage {
    explicit stage(Request asked, retry_policy policy = retry_policy::fixed(5, 1s), std::uint32_t quota = 100,
        steady_time deadline = no_deadline)
        : request(std::move(asked)), ledger(policy, quota, 1), op(request, kind_of(request), ledger, deadline) {}

    /// The answer to the request.
    void fails(failure problem) { op.answer(result<response_of<Request>>{std::move(problem)}, time.steady()); }
    /// The requested wait, which then is over.
    std::chrono::nanoseconds waited() {
        REQUIRE_FALSE(op.next().done());
        REQUIRE(op.next().not_before > time.steady());
        auto const wait = op.next().not_before - time.steady();
        time.wait_until(op.next().not_before);
        return wait;
    }
    /// The request it would send, or the key that it reads.
    std::string sends() {
        operation_step const due = op.next();
        REQUIRE_FALSE(due.done());
        REQUIRE(due.not_before <= time.steady());
        auto const* const reads = due.request.template as<get_entity>();
        return reads != nullptr ? "get " + reads->row_key : std::string{due.request.name()};
    }
    error failed() {
        REQUIRE(op.next().done());
        auto outcome = op.finish();
        REQUIRE_FALSE(outcome);
        return outcome.error();
    }

    Request request;
    testing::manual_clock time;
    retry_ledger ledger;
    retry_operation<Request> op;
};

write_entity insert() { return {"Orders", mutation::insert(make_row("p", "r", {{"Age", 55}}))}; }
write_entity update() { return {"Orders", mutation::merge(make_row("p", "r", {{"Age", 55}}), etag::of(date_time{7}))}; }
write_entity one_removal() { return {"Orders", mutation::remove(make_row("p", "r"), etag::of(date_time{7}))}; }
get_entity read() { return {"Orders", "p", "r", {}}; }

} // namespace

TEST_CASE("retry: waits between attempts and takes the first success") {
    stage on{read()};
    CHECK(on.sends() == "get r");
    on.fails(said(error_code::server_busy));
    CHECK(on.waited() == 1s);
    on.fails(said(error_code::internal_error));
    CHECK(on.waited() == 1s);
    on.op.answer(get_entity::response{make_row("p", "r"), etag::of(date_time{9}), false}, on.time.steady());
    CHECK(on.op.next().done());
    CHECK(on.op.attempts() == 3);
    CHECK(on.op.finish()->etag == etag::of(date_time{9}));
}

TEST_CASE("retry: a definite answer is the outcome immediately") {
    for (error_code const code : {error_code::resource_not_found, error_code::invalid_input,
             error_code::authorization_failure, error_code::not_implemented, error_code::entity_already_exists}) {
        stage on{insert()};
        on.fails(said(code));
        error const problem = on.failed();
        CHECK(problem.code == code);
        CHECK(problem.effect == effect::none);
        CHECK(problem.attempts == 1);
        CHECK(problem.message == "said");
    }
}

TEST_CASE("retry: returns the last error when the attempts are used up") {
    stage on{read(), retry_policy::fixed(3, 1s)};
    on.fails(said(error_code::server_busy));
    (void)on.waited();
    on.fails(said(error_code::server_busy));
    (void)on.waited();
    on.fails(said(error_code::internal_error));
    error const problem = on.failed();
    CHECK(problem.code == error_code::internal_error);
    CHECK(problem.attempts == 3);
    CHECK(problem.effect == effect::none);
    CHECK(problem.message == "said; gave up after attempt 3: the retry policy allows no more attempts");
}

TEST_CASE("retry: without retries the request is sent once, and its answer is returned unchanged") {
    stage on{insert(), retry_policy::none()};
    on.fails(lost());
    error const problem = on.failed();
    CHECK(problem.effect == effect::unknown);
    CHECK(problem.message == "lost");
    CHECK(problem.attempts == 1);
}

TEST_CASE("retry: an unknown effect stays unknown after an attempt that was not executed") {
    stage on{insert(), retry_policy::fixed(2, 1s)};
    on.fails(lost());
    (void)on.waited();
    on.fails(said(error_code::server_busy)); // this attempt was not applied, the first may have been
    error const problem = on.failed();
    CHECK(problem.code == error_code::server_busy);
    CHECK(problem.effect == effect::unknown);
    CHECK(problem.attempts == 2);
}

TEST_CASE("retry: an insert that finds its own row is a success with its ETag") {
    stage on{insert()};
    on.fails(lost());
    (void)on.waited();
    on.fails(said(error_code::entity_already_exists));
    CHECK(on.sends() == "get r");
    on.op.answer(
        get_entity::response{make_row("p", "r", {{"Age", 55}}), etag::of(date_time{9}), false}, on.time.steady());
    auto const outcome = on.op.finish();
    REQUIRE(outcome);
    CHECK(outcome->after_retry);
    CHECK(outcome->etag == etag::of(date_time{9}));
}

TEST_CASE("retry: another writer's entity is not mistaken for the entity that the call itself inserted") {
    for (row const& other : {make_row("p", "r", {{"Age", 56}}), make_row("p", "r", {{"Age", std::int64_t{55}}}),
             make_row("p", "r"), make_row("p", "r", {{"Age", 55}, {"Name", "John"}})}) {
        stage on{insert()};
        on.fails(lost());
        (void)on.waited();
        on.fails(said(error_code::entity_already_exists));
        on.op.answer(get_entity::response{other, etag::of(date_time{9}), false}, on.time.steady());
        error const problem = on.failed();
        CHECK(problem.code == error_code::entity_already_exists);
        CHECK(problem.effect == effect::unknown); // it may be its own row, changed since
    }
}

TEST_CASE("retry: an insert has an unknown effect if its entity is missing when it is read back") {
    stage on{insert()};
    on.fails(lost());
    (void)on.waited();
    on.fails(said(error_code::entity_already_exists));
    on.op.answer(result<get_entity::response>{said(error_code::resource_not_found)}, on.time.steady());
    CHECK(on.failed().effect == effect::unknown);
}

TEST_CASE("retry: the read that settles a write is also repeated, and without its answer the effect is unknown") {
    stage on{insert(), retry_policy::fixed(4, 1s)};
    on.fails(lost());
    (void)on.waited();
    on.fails(said(error_code::entity_already_exists));
    on.op.answer(result<get_entity::response>{said(error_code::server_busy)}, on.time.steady());
    CHECK(on.waited() == 1s);
    CHECK(on.sends() == "get r");
    on.op.answer(result<get_entity::response>{said(error_code::server_busy)}, on.time.steady());
    error const problem = on.failed();
    CHECK(problem.effect == effect::unknown);
    CHECK(problem.attempts == 4);
    CHECK_THAT(problem.message, ContainsSubstring("find out whether a lost write was applied"));
}

TEST_CASE("retry: without a lost attempt EntityAlreadyExists is returned unchanged") {
    stage on{insert()};
    on.fails(said(error_code::server_busy)); // certainly not applied
    (void)on.waited();
    on.fails(said(error_code::entity_already_exists));
    error const problem = on.failed();
    CHECK(problem.code == error_code::entity_already_exists);
    CHECK(problem.effect == effect::none);
}

TEST_CASE("retry: a removal that finds no row is a success, and a different version leaves the effect unknown") {
    stage gone{one_removal()};
    gone.fails(lost());
    (void)gone.waited();
    gone.fails(said(error_code::resource_not_found));
    auto const outcome = gone.op.finish();
    REQUIRE(outcome);
    CHECK(outcome->after_retry);
    CHECK(outcome->etag.empty());

    stage first{one_removal()};
    first.fails(said(error_code::resource_not_found));
    CHECK(first.failed().code == error_code::resource_not_found);

    stage changed{one_removal()};
    changed.fails(lost());
    (void)changed.waited();
    changed.fails(said(error_code::update_condition_not_satisfied));
    CHECK(changed.failed().effect == effect::unknown);
}

TEST_CASE("retry: an update that finds a different version may have written that version itself") {
    stage on{update()};
    on.fails(lost());
    (void)on.waited();
    on.fails(said(error_code::update_condition_not_satisfied));
    error const problem = on.failed();
    CHECK(problem.code == error_code::update_condition_not_satisfied);
    CHECK(problem.effect == effect::unknown);

    stage plain{update()};
    plain.fails(said(error_code::update_condition_not_satisfied));
    CHECK(plain.failed().effect == effect::none);
}

TEST_CASE("retry: a success after a lost attempt is marked as such") {
    stage on{update()};
    on.fails(lost());
    (void)on.waited();
    on.op.answer(written{etag::of(date_time{9}), false}, on.time.steady());
    CHECK(on.op.finish()->after_retry);
}

TEST_CASE("retry: table requests are repeated") {
    stage created{create_table{"Orders"}};
    created.fails(lost());
    (void)created.waited();
    created.fails(said(error_code::table_already_exists));
    CHECK(created.op.finish());

    stage first{create_table{"Orders"}};
    first.fails(said(error_code::table_already_exists));
    CHECK(first.failed().code == error_code::table_already_exists);

    stage being{create_table{"Orders"}};
    being.fails(lost());
    (void)being.waited();
    being.fails(said(error_code::table_being_deleted));
    CHECK(being.failed().effect == effect::unknown); // it may be the table it created

    stage deleted{delete_table{"Orders"}};
    deleted.fails(lost());
    (void)deleted.waited();
    deleted.fails(said(error_code::resource_not_found));
    CHECK(deleted.op.finish());
}

TEST_CASE("retry: a batch without an operation row has an unknown effect unless no attempt can have been applied") {
    transact const batch{"Orders", {mutation::insert(make_row("p", "1")), mutation::insert(make_row("p", "2"))}};
    for (error_code const code : {error_code::entity_already_exists, error_code::resource_not_found,
             error_code::update_condition_not_satisfied}) {
        stage on{batch};
        on.fails(lost());
        (void)on.waited();
        on.fails(said(code));
        CHECK(on.failed().effect == effect::unknown);
    }
    stage on{batch};
    on.fails(lost());
    (void)on.waited();
    on.fails(said(error_code::invalid_input));
    CHECK(on.failed().effect == effect::none);
}

TEST_CASE("retry: the error for an invalid merge result proves nothing about a lost attempt") {
    row const part = make_row("p", "r", {{"Age", 55}});
    auto const told = [&](mutation change, error_code code) {
        stage on{write_entity{"Orders", std::move(change)}};
        on.fails(lost());
        (void)on.waited();
        on.fails(said(code));
        return on.failed().effect;
    };
    for (error_code const code : {error_code::entity_too_large, error_code::too_many_properties}) {
        CHECK(told(mutation::merge(part, any_etag), code) == effect::unknown);
        CHECK(told(mutation::merge(part, etag::of(date_time{7})), code) == effect::unknown);
        CHECK(told(mutation::insert_or_merge(part), code) == effect::unknown);
        CHECK(told(mutation::replace(part, any_etag), code) == effect::none);
        CHECK(told(mutation::insert_or_replace(part), code) == effect::none);
        CHECK(told(mutation::insert(part), code) == effect::none);
    }
}

TEST_CASE("retry: Retry-After is respected up to a cap") {
    auto const wait_for = [](std::chrono::milliseconds wish, retry_policy policy) {
        stage on{read(), policy};
        error busy{error_code::server_busy, "busy"};
        busy.retry_after = wish;
        on.fails(failure{busy});
        return on.waited();
    };
    auto const policy = retry_policy::fixed(3, 1s);
    CHECK(wait_for(7s, policy) == 7s);
    CHECK(wait_for(0s, policy) == 1s);
    CHECK(wait_for(-5s, policy) == 1s);
    CHECK(wait_for(24h, policy) == 2min);
    CHECK(wait_for(std::chrono::milliseconds::max(), policy) == 2min);
    CHECK(wait_for(std::chrono::milliseconds::min(), policy) == 1s);
    auto shorter = policy;
    shorter.longest_wish = 3s;
    CHECK(wait_for(7s, shorter) == 3s);
}

TEST_CASE("retry: a wait that would outlast the deadline is not started, and the hint stays in the error") {
    testing::manual_clock time;
    stage on{read(), retry_policy::fixed(3, 1s), 100, time.steady() + 5s};
    error busy{error_code::server_busy, "busy"};
    busy.retry_after = 1min;
    on.fails(failure{busy});
    error const problem = on.failed();
    CHECK(problem.code == error_code::server_busy);
    CHECK(problem.retry_after == 1min);
    CHECK(problem.attempts == 1);
    CHECK(problem.message ==
        "busy; gave up after attempt 1: the next attempt would start after the deadline of the call");
}

TEST_CASE("retry: the quota limits repetitions, and each success refills a tenth") {
    retry_ledger ledger{retry_policy::fixed(10, 1s), 2, 1};
    CHECK(ledger.left() == 2);
    CHECK(ledger.spend());
    CHECK(ledger.spend());
    CHECK_FALSE(ledger.spend());
    for (int success = 0; success < 9; ++success) { ledger.earn(); }
    CHECK_FALSE(ledger.spend());
    ledger.earn();
    CHECK(ledger.spend());
    CHECK_FALSE(ledger.spend());
    for (int success = 0; success < 100; ++success) { ledger.earn(); }
    CHECK(ledger.left() == 2); // never more than full

    stage on{read(), retry_policy::fixed(10, 1s), 1};
    on.fails(said(error_code::server_busy));
    (void)on.waited();
    on.fails(said(error_code::server_busy));
    CHECK(on.failed().message == "said; gave up after attempt 2: the retry quota is spent");

    retry_ledger unbounded{retry_policy::fixed(10, 1s), 0, 1};
    for (int count = 0; count < 1000; ++count) { CHECK(unbounded.spend()); }
}

TEST_CASE("retry: the effect is unknown if the call is abandoned after a lost attempt") {
    stage on{insert()};
    on.fails(lost());
    on.op.abandon(error{error_code::cancelled, "cancelled"});
    error const problem = on.failed();
    CHECK(problem.code == error_code::cancelled);
    CHECK(problem.effect == effect::unknown);

    stage known{insert()};
    known.fails(said(error_code::server_busy));
    known.op.abandon(error{error_code::cancelled, "cancelled"});
    CHECK(known.failed().effect == effect::none);
}

TEST_CASE("retry: operation ids differ, and are the same for the same seed") {
    retry_ledger one{retry_policy::none(), 1, 5};
    retry_ledger same{retry_policy::none(), 1, 5};
    retry_ledger other{retry_policy::none(), 1, 6};
    std::string const first = one.new_operation_id();
    CHECK(first.size() == 32);
    CHECK(first == same.new_operation_id());
    CHECK(first != one.new_operation_id());
    CHECK(first != other.new_operation_id());
}
