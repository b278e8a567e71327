// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A table is copied into another by a bulk load: unchanged, changed, with faults on both sides, and repeated.

#include "books.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace bulk_test;
using testing::fault;

namespace {

struct two_tables {
    two_tables() {
        from.create().value();
        to.create().value();
        bulk_insert(plain, some_books(500))->all().value();
    }

    memory_backend source;
    memory_backend target;
    testing::manual_clock clock;
    testing::faulty<memory_backend> reading{source, {.time = &clock}};
    testing::faulty<memory_backend> writing{target, {.time = &clock}};
    table<book> plain{source, "books"};
    table<book> from{reading, "books"};
    table<book> to{writing, "copies"};

    [[nodiscard]] bulk_options options() {
        bulk_options made;
        made.seed = 1;
        made.time = &clock;
        return made;
    }
};

} // namespace

TEST_CASE("bulk copy: copies a table with undeclared properties and without system rows") {
    two_tables stage;
    row_table const raw{stage.source, "books"};
    stage.plain.insert({2001, 7777, "with more", 4.5}).value();
    auto stored = raw.get("0000002001", "0000007777").value();
    stored.set("shelf", 12);
    raw.replace(stored, any_etag).value();
    call own;
    REQUIRE(execute(
        stage.source, write_entity{"books", mutation::insert(row_builder{"0000002001", "~!op!1"}.build())}, own));

    auto const copied = bulk_copy(stage.from.scan_table(), stage.to, stage.options()).value();
    CHECK(copied.written == 501);
    CHECK(copied.refused == 0);
    row_table const made{stage.target, "copies"};
    CHECK(made.get("0000002001", "0000007777").value().get<std::int32_t>("shelf").value() == 12);

    auto const again = bulk_copy(stage.from.scan_table(), stage.to, stage.options()).value();
    CHECK(again.written == 0);
    CHECK(again.already_there == 501);
}

TEST_CASE(
    "bulk copy: rows that differ in the target are refused, and rows that the change function drops are not copied") {
    two_tables stage;
    stage.to.insert({2003, 3, "another", {}}).value();
    auto const finer = [](book const& each) -> result<std::optional<book>> {
        if (each.id == 10) { return failure{error_code::invalid_input, "nobody wants it"}; }
        return each.id % 2 == 0 ? std::nullopt : std::optional{each};
    };
    auto const copied = bulk_copy(stage.from.scan_table(), stage.to, finer, stage.options()).value();
    CHECK(copied.read == 500);
    CHECK(copied.written == 249);
    CHECK(copied.already_there == 249);
    REQUIRE(copied.refusals.size() == 2);
    CHECK(copied.refusals[0].error.code == error_code::entity_already_exists);
    CHECK(copied.refusals[1].error.message == "nobody wants it");
    CHECK(stage.to.get(2003, 3).value().title == "another");
}

TEST_CASE("bulk copy: survives faults on both sides, and reports a source that fails") {
    two_tables stage;
    stage.writing.plan_random(3, 5, 8, {fault::lost_before(), fault::lost_after(), fault::busy(), fault::throttled()});
    auto const copied = bulk_copy(stage.from.where(fields<book>::year >= 2002), stage.to, stage.options()).value();
    CHECK(copied.refused == 0);
    CHECK(copied.written + copied.already_there == copied.read);
    CHECK(stage.writing.all_fired());
    CHECK(stage.to.scan_table().count().value() == copied.read);

    stage.reading.plan({fault::refused(), 1, "query_entities"});
    auto const ended = bulk_copy(stage.from.scan_table(), stage.to, stage.options());
    REQUIRE(!ended);
    CHECK(ended.error().code == error_code::transport_failed);
    CHECK(bulk_copy(stage.from.scan_table(), stage.to, stage.options()).value().all());
    CHECK(stage.to.scan_table().count().value() == 500);
}
