// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/profile.hpp>

#include <support/catch.hpp>

using namespace entitable;

TEST_CASE("the profile of the service has its documented limits") {
    constexpr profile storage = storage_profile();
    STATIC_REQUIRE(storage.kind == service::storage);
    STATIC_REQUIRE(storage.max_key_units == 512);
    STATIC_REQUIRE(storage.max_properties == 252);
    STATIC_REQUIRE(storage.max_name_units == 255);
    STATIC_REQUIRE(storage.max_string_units == 32'768);
    STATIC_REQUIRE(storage.max_binary_size == 65'536);
    STATIC_REQUIRE(storage.max_entity_size == 1'048'576);
    STATIC_REQUIRE(storage.max_operations == 100);
    STATIC_REQUIRE(storage.max_transaction_size == 4'194'304);
    STATIC_REQUIRE(storage.max_page_size == 1000);
    STATIC_REQUIRE(storage.max_comparisons == 15);
    STATIC_REQUIRE(storage.ordered);
    STATIC_REQUIRE(storage.table_names_without_case);
}

TEST_CASE("the local backends have the limits of the service except for the number of comparisons") {
    constexpr profile local = local_profile();
    STATIC_REQUIRE(local.kind == service::storage);
    STATIC_REQUIRE(local.max_comparisons == 0);
    STATIC_REQUIRE(local.max_key_units == storage_profile().max_key_units);
    STATIC_REQUIRE(local.max_properties == storage_profile().max_properties);
    STATIC_REQUIRE(local.max_entity_size == storage_profile().max_entity_size);
    STATIC_REQUIRE(local.max_page_size == storage_profile().max_page_size);
}

TEST_CASE("the latest time for a write is the maximum age of a request plus its processing time") {
    STATIC_REQUIRE(storage_profile().longest_late_application() == std::chrono::seconds{15 * 60 + 30});
    STATIC_REQUIRE(azurite_profile().longest_late_application() == storage_profile().longest_late_application());
    STATIC_REQUIRE(cosmos_profile().longest_late_application() == profile::unbounded);
    STATIC_REQUIRE(local_profile().longest_late_application() == std::chrono::seconds{0});
    profile one = local_profile();
    one.longest_work = profile::unbounded;
    CHECK(one.longest_late_application() == profile::unbounded);
    one.longest_work = std::chrono::seconds{7};
    CHECK(one.longest_late_application() == std::chrono::seconds{7});
    one.longest_delivery = profile::unbounded;
    CHECK(one.longest_late_application() == profile::unbounded);
}
