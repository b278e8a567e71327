// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A budget in request units, over a service whose charges are known.

#include "books.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/delayed.hpp>

#include <limits>

using namespace entitable;
using namespace bulk_test;
using namespace std::chrono_literals;

namespace {

/// Charges 6 to 14 units for each row, 10 on average, and counts them; or reports nothing.
struct charging {
    using is_transport = void;
    memory_backend below;
    double* units{};
    bool reports{true};
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::size_t rows = 0;
        if constexpr (std::same_as<Request, transact>) { rows = request.changes.size(); }
        if constexpr (std::same_as<Request, write_entity>) { rows = 1; }
        auto const call_number = static_cast<std::size_t>(*units) % 9;
        double const charge = static_cast<double>(rows) * (6.0 + static_cast<double>(call_number));
        *units += charge;
        if (reports) { context.request_charge += charge; }
        return below.execute(request, context);
    }
};

struct spent {
    double units{};
    double seconds{};
};

/// Loads rows within 4,000 units a second, from a guess of the units of one row; each response takes 50 ms.
spent load(double guess, bool reports = true, double entities_a_second = 0) {
    testing::manual_clock clock;
    spent made;
    memory_backend const store;
    table<book>{store, "books"}.create().value();
    charging const service{store, &made.units, reports};
    table<book> const books{entitable_test::delayed{service, clock, [] { return 50ms; }}, "books"};
    bulk_options options;
    options.seed = 1;
    options.time = &clock;
    options.budget = {
        .entities_a_second = entities_a_second, .request_units_a_second = 4'000, .units_an_entity = guess};
    steady_time const begun = clock.steady();
    REQUIRE(bulk_upsert(books, some_books(60'000), options).value().all());
    made.seconds = std::chrono::duration<double>(clock.steady() - begun).count();
    return made;
}

} // namespace

TEST_CASE("bulk: a budget of request units holds within 2 % from a guess that is ten times wrong") {
    for (double const guess : {10.0, 1.0, 100.0}) {
        spent const made = load(guess);
        INFO("guess " << guess << ": " << made.units << " units in " << made.seconds << " s");
        CHECK(made.units / made.seconds > 0.98 * 4'000);
        CHECK(made.units / made.seconds < 1.02 * 4'000);
    }
}

TEST_CASE("bulk: without reported charges the guess holds") {
    spent const made = load(20, false);
    CHECK(made.seconds > 0.98 * 60'000 * 20 / 4'000);
    CHECK(made.seconds < 1.02 * 60'000 * 20 / 4'000);
}

TEST_CASE("bulk: both limits of a budget hold") {
    spent const made = load(1, true, 200);
    CHECK(made.seconds > 0.98 * 60'000 / 200);
    CHECK(made.units / made.seconds < 4'000);
}

TEST_CASE("bulk: absurd charges and budgets pause a load, and never overflow its clock") {
    for (double const units_a_second : {1e-300, 1e-9, 1e300}) {
        for (double const charge : {1e-300, 1.0, 1e300, std::numeric_limits<double>::infinity()}) {
            detail::bulk_unit_pace pace{units_a_second, charge};
            steady_time const now = steady_time{} + 1h;
            for (int request = 0; request < 3; ++request) {
                double const booked = pace.sent(100, now);
                pace.charged(100, booked, charge);
                INFO(units_a_second << " units a second, charge " << charge);
                CHECK(pace.next_at() >= now - 24h * 9);
                CHECK(pace.next_at() <= now + 24h * 9);
            }
        }
    }
}
