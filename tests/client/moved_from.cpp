// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A handle that was moved from: its next call returns InvalidInput and never crashes or succeeds.

#include "support/catch.hpp"
#include "support/runners.hpp"
#include "support/temporary_folder.hpp"
#include <entitable/core/decorators/metered.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

struct remark {
    std::string name;
    std::string text;
};
ENTITABLE(remark, partition_key(name), row_key(literal("REMARK:"), text))

template <class Result>
void check_refused(Result const& answer) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == error_code::invalid_input);
    CHECK(answer.error().effect == effect::none);
    CHECK_THAT(answer.error().message, ContainsSubstring("moved from"));
}

/// A transport that was moved from refuses each kind of request, alone and among many.
template <class Transport>
void check_transport(Transport through) {
    Transport const taken = std::move(through);
    static_cast<void>(through.profile()); // NOLINT: tests the moved-from state
    call context;
    query_entities scan;
    scan.table = "runners";
    check_refused(through.execute(create_table{"runners"}, context));
    check_refused(through.execute(list_tables{}, context));
    check_refused(through.execute(get_entity{"runners", "p", "r", {}}, context));
    check_refused(through.execute(scan, context));
    check_refused(through.execute(write_entity{"runners", mutation::insert(row{"p", "r", {}})}, context));
    check_refused(through.execute(transact{"runners", {mutation::insert(row{"p", "r", {}})}}, context));
    table<runner> const late{through, "runners"};
    check_refused(late.insert({"Boston", "Full", 1, "", {}, 0}));
    check_refused(late.where(r::event == "Boston" && r::distance == "Full" && in(r::bib, {1, 2, 3})).in_flight(3).to());
    through = taken; // has a value again
    CHECK(through.execute(create_table{"runners"}, context).has_value());
}

} // namespace

TEST_CASE("a table that was moved from returns InvalidInput, and the new table works") {
    memory_backend store;
    auto all = runners(store, 3);
    auto const taken = std::move(all);
    check_refused(all.get("Boston", "Full", 1)); // NOLINT: tests the moved-from state
    check_refused(all.find("Boston", "Full", 1));
    check_refused(all.get_stored("Boston", "Full", 1));
    check_refused(all.create());
    check_refused(all.create_if_absent());
    check_refused(all.drop_if_present());
    check_refused(all.insert({"Boston", "Full", 1, "", {}, 0}));
    check_refused(all.remove("Boston", "Full", 1, any_etag));
    check_refused(all.remove_if_present("Boston", "Full", 1, any_etag));
    check_refused(all.update("Boston", "Full", 1, [](runner& who) { who.pace = 0; }));
    check_refused(all.update_if_present("Boston", "Full", 1, [](runner& who) { who.pace = 0; }));
    check_refused(all.where(r::event == "Boston" && r::distance == "Full").count());
    check_refused(all.scan_table().to());
    check_refused(all.batch().insert({"Boston", "Full", 1, "", {}, 0}).submit());
    check_refused(all.with({}).get("Boston", "Full", 1));
    CHECK(taken.get("Boston", "Full", 1));
    all = taken;
    CHECK(all.get("Boston", "Full", 1));
}

TEST_CASE("batches, pages, queries and sequences that were moved from return InvalidInput") {
    memory_backend store;
    auto const all = runners(store, 3);
    auto batch = all.batch();
    batch.insert({"Boston", "Full", 9, "", {}, 0});
    auto const full = std::move(batch);
    check_refused(batch.submit()); // NOLINT: tests the moved-from state
    CHECK(full.submit().value().size() == 1);

    auto query = all.where(r::event == "Boston" && r::distance == "Full");
    auto const asks = std::move(query);
    check_refused(query.count()); // NOLINT
    check_refused(query.explain());
    check_refused(query.take(2).first());
    check_refused(query.select(r::name).to());
    check_refused(query.pages().next());
    CHECK_THROWS_AS(query.begin(), error);
    CHECK(query.analyze().requests == 0);
    CHECK(asks.count().value() == 4);

    auto pages = asks.page_size(2).pages();
    CHECK(pages.next().value()->size() == 2);
    auto more = std::move(pages);
    check_refused(pages.next()); // NOLINT
    CHECK(more.next().value()->size() == 2);

    sequence numbers{store, "tickets"};
    sequence const counts = std::move(numbers);
    check_refused(numbers.next()); // NOLINT
    check_refused(numbers.reserve(3));
    CHECK(counts.next().value().value == 1);
    sharded_sequence shards{store, "tickets", 2};
    sharded_sequence const spread = std::move(shards);
    check_refused(shards.next()); // NOLINT
    check_refused(shards.total());
    CHECK(spread.next().has_value());
}

TEST_CASE("a table and a batch of several types that were moved from return InvalidInput") {
    memory_backend store;
    row_table rows{store, "runners"};
    rows.create().value();
    row_table const taken = std::move(rows);
    check_refused(rows.get("p", "r")); // NOLINT
    check_refused(rows.for_each({}, {}, [](entity const&) {}));
    table<counter, remark> several{store, "runners"};
    auto mixed = several.batch();
    mixed.insert(counter{"one", 1, 1});
    auto const full = std::move(mixed);
    check_refused(mixed.submit()); // NOLINT
    CHECK(full.submit().has_value());
    auto const kept = std::move(several);
    check_refused(several.get<counter>("one", 1)); // NOLINT
    check_refused(several.for_each_in_partition("one", [](auto const&) {}));
    CHECK(kept.get<counter>("one", 1));
}

TEST_CASE("a transport that was moved from returns InvalidInput") {
    check_transport(memory_backend{});
    check_transport(any_store{memory_backend{}});
    check_transport(retrying{memory_backend{}});
    check_transport(retrying{any_store{memory_backend{}}, {.operation_rows = true}});
    check_transport(metered{memory_backend{}});
    temporary_folder const folder;
    check_transport(file_backend{folder / "a.db"});

    file_backend open{folder / "b.db"};
    file_backend const taken = std::move(open);
    check_refused(open.verify()); // NOLINT
    check_refused(open.checkpoint());
    CHECK(taken.checkpoint().has_value());

    // A cancelled source stays cancelled: a source is copied when it is moved.
    cancellation_source stop;
    auto const token = stop.token();
    cancellation_source const other = std::move(stop);
    stop.cancel(); // NOLINT
    CHECK(token.cancelled());
    CHECK(other.token().cancelled());
}
