// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A circuit breaker: what opens it, what closes it, and what passes while it is open.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>
#include <support/many.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace {

/// A store whose next answers are planned: null for a success, otherwise the error.
struct planned {
    struct state {
        std::optional<error> next;
        std::size_t requests{};
    };
    using is_transport = void;

    memory_backend store;
    state* plan;

    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++plan->requests;
        if (plan->next) { return failure{*plan->next}; }
        return entitable::execute(store, request, context);
    }
};

struct stage {
    explicit stage(circuit_options options = {})
        : through(planned{memory_backend{local_options{.time = &time}}, &plan}, with_clock(options)) {}

    circuit_options with_clock(circuit_options options) {
        options.time = &time;
        return options;
    }
    [[nodiscard]] result<list_tables::response> ask() const {
        call context;
        return through.execute(list_tables{}, context);
    }
    void fails(error problem, std::size_t often) {
        plan.next = std::move(problem);
        for (std::size_t count = 0; count < often; ++count) { CHECK_FALSE(ask()); }
        plan.next.reset();
    }
    testing::manual_clock time;
    planned::state plan;
    breaking<planned> through;
};

error lost() {
    error made{error_code::transport_failed, "connection reset"};
    made.effect = effect::unknown;
    return made;
}
error with_status(error_code code, std::uint16_t status) {
    error made{code, "planned"};
    made.http_status = status;
    return made;
}

} // namespace

TEST_CASE("breaking: consecutive failures open the circuit, and requests no longer reach the store") {
    stage on{{.failures = 3}};
    on.fails(lost(), 2);
    CHECK(on.through.circuit() == circuit_state::closed);
    on.fails(lost(), 1);
    CHECK(on.through.circuit() == circuit_state::open);
    on.time.advance(1500ms);
    auto const refused = on.ask();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::server_busy);
    CHECK(refused.error().effect == effect::none);
    CHECK(refused.error().retry_after == 3500ms);
    CHECK_THAT(refused.error().message, ContainsSubstring("3 requests in a row failed"));
    CHECK(on.plan.requests == 3);
}

TEST_CASE("breaking: a response between failures starts the count again") {
    stage on{{.failures = 2}};
    std::optional<error> const between =
        GENERATE(std::optional<error>{}, std::optional{with_status(error_code::table_not_found, 404)},
            std::optional{with_status(error_code::server_busy, 503)},
            std::optional{with_status(error_code::internal_error, 429)});
    for (int round = 0; round < 5; ++round) {
        on.fails(lost(), 1);
        on.plan.next = between;
        CHECK(static_cast<bool>(on.ask()) == !between);
        on.plan.next.reset();
    }
    CHECK(on.through.circuit() == circuit_state::closed);
}

TEST_CASE("breaking: each error without a usable response counts") {
    stage on{{.failures = 1}};
    std::uint16_t const status = GENERATE(std::uint16_t{0}, std::uint16_t{408}, std::uint16_t{500}, std::uint16_t{502},
        std::uint16_t{503}, std::uint16_t{504});
    on.fails(
        status == 0 ? with_status(error_code::deadline_exceeded, 0) : with_status(error_code::internal_error, status),
        1);
    CHECK(on.through.circuit() == circuit_state::open);
}

TEST_CASE("breaking: a cancelled request neither counts as a failure nor ends a series of failures") {
    stage on{{.failures = 2}};
    on.fails(lost(), 1);
    on.fails(error{error_code::cancelled, "stopped"}, 4);
    CHECK(on.through.circuit() == circuit_state::closed);
    on.fails(lost(), 1);
    CHECK(on.through.circuit() == circuit_state::open);
}

TEST_CASE("breaking: one probe is sent after the open time; a response closes the circuit") {
    stage on{{.failures = 1, .open_for = 2s}};
    on.fails(lost(), 1);
    on.time.advance(2s);
    CHECK(on.through.circuit() == circuit_state::half_open);
    SECTION("a success") { CHECK(on.ask()); }
    SECTION("a refusal") { on.fails(with_status(error_code::resource_not_found, 404), 1); }
    CHECK(on.through.circuit() == circuit_state::closed);
    CHECK(on.ask());
    CHECK(on.ask());
}

TEST_CASE("breaking: each failed probe doubles the open time, up to the limit") {
    stage on{{.failures = 1, .open_for = 1s, .longest = 5s}};
    on.fails(lost(), 1);
    for (auto const expected : {1s, 2s, 4s, 5s, 5s}) {
        on.time.advance(expected - 1ms);
        CHECK_FALSE(on.ask());
        CHECK(on.through.circuit() == circuit_state::open);
        on.time.advance(1ms);
        std::size_t const before = on.plan.requests;
        on.fails(lost(), 1);
        CHECK(on.plan.requests == before + 1);
    }
    on.time.advance(5s);
    CHECK(on.ask());
    on.fails(lost(), 1); // the next outage begins with the first open time again
    on.time.advance(1s);
    CHECK(on.ask());
}

TEST_CASE("breaking: a lost probe does not keep the circuit open forever") {
    stage on{{.failures = 1, .open_for = 1s}};
    on.fails(lost(), 1);
    on.time.advance(1s);
    on.fails(error{error_code::cancelled, "stopped"}, 1); // the probe
    CHECK_FALSE(on.ask());
    on.time.advance(1s);
    CHECK(on.ask());
    CHECK(on.through.circuit() == circuit_state::closed);
}

TEST_CASE("breaking: while a probe is under way, other requests are refused; its response admits them") {
    stage on{{.failures = 1, .open_for = 1s}};
    on.fails(lost(), 1);
    on.time.advance(1s);
    poll_driver io{on.time};
    auto const opened = open_channel(any_store{on.through}, io);
    std::vector<list_tables> const asked(3);
    std::vector<call> calls(3);
    for (std::size_t at = 0; at < 3; ++at) { opened->send(asked[at], calls[at], &calls[at]); }
    std::vector<bool> succeeded(3);
    auto const take = [&](completion& done) {
        succeeded[static_cast<std::size_t>(static_cast<call*>(done.tag) - calls.data())] = done.problem == nullptr;
    };
    for (int turn = 0; turn < 4; ++turn) { opened->poll(on.time.steady(), take); }
    CHECK(succeeded == std::vector{true, false, false});
    opened->send(asked[1], calls[1], &calls[1]);
    for (int turn = 0; turn < 4; ++turn) { opened->poll(on.time.steady(), take); }
    CHECK(succeeded == std::vector{true, true, false});
}

TEST_CASE("breaking: a response to a request from before the outage does not close the circuit") {
    testing::manual_clock time;
    auto const gate = detail::open_circuit_gate({.failures = 1, .open_for = 1s, .time = &time});
    REQUIRE(gate->enter(time.steady(), no_deadline));
    REQUIRE(gate->enter(time.steady(), no_deadline));
    error const problem = lost();
    gate->leave(&problem, time.steady());
    gate->leave(nullptr, time.steady()); // the second request
    CHECK(detail::circuit_of(*gate, time.steady()) == circuit_state::open);
    CHECK_FALSE(gate->enter(time.steady(), no_deadline));
}

TEST_CASE("breaking: below `retrying`, a call waits for the probe and succeeds") {
    testing::manual_clock time;
    planned::state plan;
    breaking const guarded{
        planned{memory_backend{local_options{.time = &time}}, &plan}, {.failures = 2, .open_for = 1s, .time = &time}};
    retrying const through{guarded, {.policy = retry_policy::fixed(5, 10ms), .time = &time, .seed = 1}};
    plan.next = lost();
    call first;
    CHECK_FALSE(through.execute(list_tables{}, first));
    std::size_t const sent = plan.requests;
    CHECK(sent <= 4); // five attempts, of which the open circuit kept some back
    plan.next.reset();
    call second;
    CHECK(through.execute(list_tables{}, second));
}

TEST_CASE("breaking: invalid options are refused by every request") {
    circuit_options const invalid = GENERATE(circuit_options{.failures = 0}, circuit_options{.open_for = 0ns},
        circuit_options{.open_for = -1ns}, circuit_options{.open_for = 2s, .longest = 1s});
    stage on{invalid};
    auto const refused = on.ask();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK(on.plan.requests == 0);
}

TEST_CASE("breaking: the extreme options do not overflow") {
    stage on{
        {.failures = 1, .open_for = std::chrono::hours{24 * 365 * 100}, .longest = std::chrono::hours{24 * 365 * 101}}};
    on.fails(lost(), 1);
    CHECK_FALSE(on.ask());
    on.time.advance(std::chrono::hours{24 * 365 * 100});
    on.fails(lost(), 1); // the probe
    CHECK(on.through.circuit() == circuit_state::open);
}

TEST_CASE("breaking: keeps the contract of the store below") {
    auto const make = []() -> any_store { return breaking{memory_backend{}}; };
    for (std::string const& failure : testing::conformance::run(make)) { FAIL_CHECK(failure.substr(0, 2000)); }
}
