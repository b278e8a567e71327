// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "client/entities.hpp"
#include "support/catch.hpp"
#include <entitable/memory.hpp>

using namespace entitable;
using client_tests::runner;

namespace {

struct race {
    memory_backend store;
    table<runner> runners{store, "runners"};

    race() { runners.create().value(); }
};

} // namespace

TEST_CASE("a batch is applied as a whole and reports each change") {
    race on;
    auto const old = on.runners.insert({"Boston", 1, "Ann", 31}).value();
    auto batch = on.runners.batch();
    batch.insert({"Boston", 2, "Bob", {}})
        .replace({"Boston", 1, "Anna", {}}, old.etag)
        .insert_or_merge({"Boston", 3, "Cid", 20});
    auto const done = batch.submit().value();
    REQUIRE(done.size() == 3);
    CHECK(done[1].etag == on.runners.get_stored("Boston", 1).value().etag);
    CHECK(on.runners.get("Boston", 3).value().name == "Cid");
}

TEST_CASE("a batch with one invalid change applies no change and reports the index of the invalid change") {
    race on;
    on.runners.insert({"Boston", 2, "Bob", {}}).value();
    auto batch = on.runners.batch();
    batch.insert({"Boston", 1, "Ann", {}}).insert({"Boston", 2, "Bert", {}}).insert({"Boston", 3, "Cid", {}});
    auto const refused = batch.submit();
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(refused.error().operation_index == 1);
    CHECK_FALSE(on.runners.find("Boston", 1).value());
    CHECK_FALSE(on.runners.find("Boston", 3).value());
}

TEST_CASE("a batch of two partitions is refused before anything is sent") {
    race on;
    auto batch = on.runners.batch();
    batch.insert({"Boston", 1, "Ann", {}}).insert({"Berlin", 1, "Bob", {}});
    auto const refused = batch.submit();
    CHECK(refused.error().code == error_code::commands_in_batch_act_on_different_partitions);
    CHECK(refused.error().operation_index == 1);
}

TEST_CASE("a batch of 0 or 101 changes is refused, and a batch of 100 changes is accepted") {
    race on;
    auto batch = on.runners.batch();
    CHECK(batch.submit().error().code == error_code::invalid_input);
    for (std::int32_t bib = 0; bib < 100; ++bib) { batch.insert({"Boston", bib, "x", {}}); }
    CHECK(batch.submit().value().size() == 100);
    batch.insert({"Boston", 100, "x", {}});
    CHECK(batch.submit().error().code == error_code::invalid_input);
}

TEST_CASE("an entity that cannot be encoded is reported when the batch is submitted") {
    race on;
    auto batch = on.runners.batch();
    batch.insert({std::string("Bos\x01ton"), 1, "Ann", {}});
    CHECK(batch.submit().error().operation_index == 0);
    batch.clear();
    CHECK(batch.empty());
    batch.insert({"Boston", 1, "Ann", {}});
    CHECK(batch.submit());
}

TEST_CASE("a batch is a value and can be submitted again") {
    race on;
    auto batch = on.runners.batch();
    batch.insert_or_replace({"Boston", 1, "Ann", {}});
    CHECK(batch.submit());
    auto const copy = batch;
    CHECK(copy.submit());
    CHECK(batch.size() == 1);
}
