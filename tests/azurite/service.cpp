// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The parts of a storage account other than tables, and many requests in flight.

#include "emulator.hpp"
#include <entitable/testing/rows.hpp>

#include <support/many.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("azure_service works on the emulator") {
    if (!has_emulator()) { return; }
    auto const store = emulator();
    azure_service const service{store};
    call context;
    auto const before = service.properties(context);
    REQUIRE(before);
    service_properties changed;
    changed.logging = logging_settings{true, true, false, 30};
    REQUIRE(service.set_properties(changed, context));
    auto const after = service.properties(context);
    REQUIRE(after);
    CHECK(after->logging->retention_days == 30U);
    CHECK(after->hour_metrics.has_value() == before->hour_metrics.has_value());
    auto const statistics = service.statistics(context);
    REQUIRE(statistics);
    CHECK(statistics->replication == service_statistics::state::live);

    REQUIRE(store.execute(create_table{"Policies"}, context));
    REQUIRE(service.set_access_policies("Policies",
        {{"one", date_time::parse("2026-01-01T00:00:00Z"), date_time::parse("2036-01-01T00:00:00Z"), "r"}}, context));
    auto const policies = service.access_policies("Policies", context);
    REQUIRE(policies);
    REQUIRE(policies->size() == 1);
    CHECK(policies->front().id == "one");
    CHECK(policies->front().expiry == date_time::parse("2036-01-01T00:00:00Z"));
    auto const missing = service.access_policies("NoSuchTable", context);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == error_code::table_not_found);
}

TEST_CASE("a wrong key is refused, and a read from the secondary location is marked") {
    if (!has_emulator()) { return; }
    std::string wrong = std::getenv("ENTITABLE_AZURITE");
    wrong.replace(wrong.find("Eby8"), 4, "Abcd");
    call context;
    auto const refused = azure_backend{wrong}.execute(list_tables{}, context);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::authorization_failure);

    auto const store = emulator();
    REQUIRE(store.execute(create_table{"Stale"}, context));
    REQUIRE(store.execute(write_entity{"Stale", mutation::insert(testing::make_row("p", "r"))}, context));
    context.location = read_location::secondary;
    auto const read = store.execute(get_entity{"Stale", "p", "r", {}}, context);
    REQUIRE(read);
    CHECK(read->stale);
    CHECK(context.server_date > date_time::from_date(2020, 1, 1));
}

TEST_CASE("one thread has many writes in flight") {
    if (!has_emulator()) { return; }
    auto const store = emulator();
    call context;
    REQUIRE(store.execute(create_table{"Many"}, context));
    std::vector<write_entity> inserts;
    for (std::size_t index = 0; index < 500; ++index) {
        inserts.push_back(
            {"Many", mutation::insert(testing::make_row("p" + std::to_string(index % 7), std::to_string(index)))});
    }
    CHECK(entitable_test::send_all(store, inserts, 64).successes() == 500);
}
