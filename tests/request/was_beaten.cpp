// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/detail/was_beaten.hpp>

#include <support/catch.hpp>

using namespace entitable;
using detail::rival_change;
using detail::was_beaten;

TEST_CASE("a writer was beaten if the row is no longer as it was read", "[request]") {
    CHECK(was_beaten(error_code::update_condition_not_satisfied));
    CHECK(was_beaten(error_code::resource_not_found));
    CHECK(was_beaten(error_code::entity_already_exists));
    CHECK(was_beaten(error{error_code::resource_not_found, "gone"}));
    for (error_code const other : {error_code::table_not_found, error_code::server_busy, error_code::transport_failed,
             error_code::table_already_exists, error_code::internal_error}) {
        CHECK_FALSE(was_beaten(other));
    }
}

TEST_CASE("a refusal counts only if the other writer may have caused it", "[request]") {
    CHECK(was_beaten(error_code::update_condition_not_satisfied, rival_change::changed_or_removed));
    CHECK(was_beaten(error_code::resource_not_found, rival_change::changed_or_removed));
    CHECK_FALSE(was_beaten(error_code::entity_already_exists, rival_change::changed_or_removed));
    CHECK(was_beaten(error_code::update_condition_not_satisfied, rival_change::changed_or_inserted));
    CHECK_FALSE(was_beaten(error_code::resource_not_found, rival_change::changed_or_inserted));
    CHECK(was_beaten(error_code::entity_already_exists, rival_change::changed_or_inserted));
}

TEST_CASE("a row or its table is absent by the code of the error", "[request]") {
    CHECK(detail::is_absent(error{error_code::resource_not_found, {}}));
    CHECK(detail::is_absent(error{error_code::table_not_found, {}}));
    CHECK_FALSE(detail::is_absent(error{error_code::update_condition_not_satisfied, {}}));
    CHECK(detail::is_absent(result<int>{failure{error_code::table_not_found, {}}}));
    CHECK_FALSE(detail::is_absent(result<int>{failure{error_code::entity_already_exists, {}}}));
    CHECK_FALSE(detail::is_absent(result<int>{1}));
}
