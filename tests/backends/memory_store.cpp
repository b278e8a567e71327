// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/backends/memory_store.hpp>

#include <support/catch.hpp>

using namespace entitable;

static_assert(ordered_store<memory_store>);

TEST_CASE("memory_store keeps what it is given") {
    memory_store store;
    REQUIRE(store.create_table("runners", "Runners").value());
    CHECK_FALSE(store.create_table("runners", "Other").value());
    auto const put = [&](memory_store::transaction& rows) {
        rows.put("b", std::string{"bytes"});
        return true;
    };
    CHECK(store.update("runners", "a", put).value() == lookup::found);
    CHECK(store.update("walkers", "a", put).value() == lookup::no_table);
    std::string bytes;
    CHECK(store.get("runners", "a", "b", [&](std::string_view row) { bytes = row; }).value() == lookup::found);
    CHECK(bytes == "bytes");
    CHECK(store.drop_table("runners").value());
    CHECK(store.get("runners", "a", "b", [](std::string_view) {}).value() == lookup::no_table);
}
