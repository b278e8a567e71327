// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables, queries and transports that were moved from: whatever sends or reads returns InvalidInput. `tests/tools/moved_from` checks
// that each class of a public header is in one of these files, or has a reason not to be.

#include <entitable/bulk/expire/period_tables.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/core/decorators/metered.hpp>
#include <entitable/expiry.hpp>
#include <entitable/local/local.hpp>
#include <entitable/local/memory/memory_store.hpp>
#include <entitable/once.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/wide.hpp>

#include <support/dying.hpp>
#include <support/moved_from.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

struct note {
    std::string event;
    std::string distance;
    std::string text;
};
ENTITABLE(note, partition_key(event, distance), row_key(literal("NOTE:"), text))
struct mark {
    std::string event;
    std::string distance;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(mark, partition_key(event, distance), row_key(literal("MARK:"), number), properties(text))

runner const ann{"Boston", "Full", 7, "Ann", 30, 4.5};
auto const in_boston = r::event == "Boston" && r::distance == "Full";

/// Every kind of request.
template <class Transport>
void check_transport(Transport const& gone) {
    call context;
    row const one = to_row(ann).value();
    CHECK_GONE(execute(gone, create_table{"runners"}, context));
    CHECK_GONE(execute(gone, delete_table{"runners"}, context));
    CHECK_GONE(execute(gone, list_tables{}, context));
    CHECK_GONE(execute(gone, get_entity{"runners", "Boston__Full", "0000000007", {}}, context));
    CHECK_GONE(execute(gone, query_entities{"runners", {}, {}, {}, 1000, {}}, context));
    CHECK_GONE(execute(gone, write_entity{"runners", mutation::insert(one)}, context));
    CHECK_GONE(execute(gone, transact{"runners", {mutation::insert(one)}}, context));
    static_cast<void>(gone.profile());
    table<runner> const over{gone, "runners"};
    CHECK_GONE(over.get("Boston", "Full", 7));
    CHECK_GONE(over.where(in_boston).to());
    CHECK_GONE(over.where(in_boston).in_flight(3).to());
}

/// Every call of a query.
template <class Query>
void check_query(Query const& gone) {
    CHECK_GONE(gone.to());
    CHECK_GONE(gone.first());
    CHECK_GONE(gone.count());
    CHECK_GONE(gone.for_each([](auto const&) {}));
    CHECK_GONE(gone.pages().next());
    CHECK_GONE(gone.fold(0, [](int all, auto const&) { return all; }));
    CHECK_GONE(gone.sum(r::bib));
    CHECK_GONE((gone.min)(r::bib));
    CHECK_GONE((gone.max)(r::bib));
    CHECK_GONE(gone.group_by(r::bib, count()));
    CHECK_GONE(gone.take(1).to());
    CHECK_GONE(gone.page_size(3).to());
    CHECK_GONE(gone.in_flight(3).to());
    CHECK_GONE(gone.select(r::name).to());
    CHECK_THROWS_AS(gone.begin(), error);
    static_cast<void>(gone.analyze());
}

} // namespace

TEST_CASE("moved from: any_store, memory_backend, local") {
    memory_backend store;
    auto const kept = moved(store);
    check_transport(store);
    any_store any{kept};
    auto const kept_any = moved(any);
    check_transport(any);
    local<memory_store> own;
    auto const kept_own = moved(own);
    check_transport(own);
    CHECK_THAT(last_words([&] { static_cast<void>(own.store()); }),
        StartsWith("entitable: the store of a moved-from backend was used: "));
}

TEST_CASE("moved from: limited, breaking") {
    limited slow{memory_backend{}, {.requests_a_second = 10}};
    auto const kept_slow = moved(slow);
    check_transport(slow);
    breaking guarded{memory_backend{}};
    auto const kept_guarded = moved(guarded);
    check_transport(guarded);
    CHECK(guarded.circuit() == circuit_state::closed);
}

TEST_CASE("moved from: retrying, metered, faulty, spy, scripted") {
    retrying patient{memory_backend{}};
    auto const kept_patient = moved(patient);
    check_transport(patient);
    CHECK(patient.quota_left() == 0);
    metered counting{memory_backend{}};
    auto const kept_counting = moved(counting);
    check_transport(counting);
    CHECK(counting.counted().empty());
    counting.clear();
    static_cast<void>(counting.to_openmetrics());
    testing::faulty failing{memory_backend{}};
    auto const kept_failing = moved(failing);
    check_transport(failing);
    auto const* const words = " of a moved-from transport was used: ";
    CHECK_THAT(last_words([&] { static_cast<void>(failing.requests()); }), ContainsSubstring(words));
    CHECK_THAT(last_words([&] { failing.plan({testing::fault::busy(), 1}); }), ContainsSubstring(words));
    testing::spy watching{memory_backend{}};
    auto const kept_watching = moved(watching);
    check_transport(watching);
    CHECK_THAT(last_words([&] { static_cast<void>(watching.seen()); }), ContainsSubstring(words));
    testing::scripted played;
    auto const kept_played = moved(played);
    check_transport(played);
    CHECK_THAT(last_words([&] { static_cast<void>(played.finished()); }), ContainsSubstring(words));
}

TEST_CASE("moved from: table") {
    auto all = runners(memory_backend{}, 3);
    auto const kept = moved(all);
    CHECK_GONE(all.create());
    CHECK_GONE(all.create_if_absent());
    CHECK_GONE(all.drop());
    CHECK_GONE(all.drop_if_present());
    CHECK_GONE(all.partitions());
    CHECK_GONE(all.insert(ann));
    CHECK_GONE(all.replace(ann, any_etag));
    CHECK_GONE(all.merge(ann, any_etag));
    CHECK_GONE(all.merge(at("Boston", "Full", 7), r::name = "Bob", any_etag));
    CHECK_GONE(all.merge(at("Boston", "Full", 7), r::age = absent, any_etag));
    CHECK_GONE(all.insert_or_replace(ann));
    CHECK_GONE(all.insert_or_merge(ann));
    CHECK_GONE(all.remove(ann, any_etag));
    CHECK_GONE(all.remove("Boston", "Full", 7, any_etag));
    CHECK_GONE(all.remove_if_present("Boston", "Full", 7, any_etag));
    CHECK_GONE(all.get("Boston", "Full", 7));
    CHECK_GONE(all.find("Boston", "Full", 7));
    CHECK_GONE(all.get_stored("Boston", "Full", 7));
    CHECK_GONE(all.update("Boston", "Full", 7, [](runner&) {}));
    CHECK_GONE(all.update_if_present("Boston", "Full", 7, [](runner&) {}));
    CHECK_GONE(all.transact("Boston", "Full", [](transaction<runner>& in) -> result<void> {
        ENTITABLE_CHECK(in.find(7));
        return {};
    }));
    CHECK_GONE(all.batch().insert(ann).submit());
    CHECK_GONE(all.with({}).get("Boston", "Full", 7));
    check_query(all.where(in_boston));
    check_query(all.scan_table());
    check_query(all.scan_table(r::age > 3));
}

TEST_CASE("moved from: reader") {
    reader<runner> all{memory_backend{}, "runners"};
    reader<runner> const taken{std::move(all)};
    CHECK_GONE(all.get("Boston", "Full", 7));
    CHECK_GONE(all.find("Boston", "Full", 7));
    CHECK_GONE(all.get_stored("Boston", "Full", 7));
    CHECK_GONE(all.partitions());
    CHECK_GONE(all.where(in_boston).to());
    CHECK_GONE(all.scan_table().to());
    CHECK_GONE(all.with({}).get("Boston", "Full", 7));
}

TEST_CASE("moved from: tables") {
    table<note, mark> both{memory_backend{}, "notes"};
    both.create().value();
    auto const kept = moved(both);
    CHECK_GONE(both.create());
    CHECK_GONE(both.create_if_absent());
    CHECK_GONE(both.drop());
    CHECK_GONE(both.get<note>("Boston", "Full", "a"));
    CHECK_GONE(both.batch().insert(note{"Boston", "Full", "a"}).submit());
    CHECK_GONE(both.for_each_in_partition("Boston__Full", [](auto const&) {}));
    CHECK_GONE(both.transact("Boston", "Full", [](transaction<note, mark>& in) -> result<void> {
        in.insert(note{"Boston", "Full", "a"});
        return {};
    }));
}

TEST_CASE("moved from: row_table") {
    row_table rows{memory_backend{}, "rows"};
    rows.create().value();
    auto const kept = moved(rows);
    entity const one = entity{"p", "r"}.set("name", "Ann");
    CHECK_GONE(rows.create());
    CHECK_GONE(rows.create_if_absent());
    CHECK_GONE(rows.drop());
    CHECK_GONE(rows.insert(one));
    CHECK_GONE(rows.replace(one, any_etag));
    CHECK_GONE(rows.merge(one, any_etag));
    CHECK_GONE(rows.insert_or_replace(one));
    CHECK_GONE(rows.insert_or_merge(one));
    CHECK_GONE(rows.remove("p", "r", any_etag));
    CHECK_GONE(rows.get("p", "r"));
    CHECK_GONE(rows.for_each({}, {}, [](entity const&) {}));
}

TEST_CASE("moved from: ordered_query") {
    auto const all = runners(memory_backend{}, 3);
    auto sorted = all.where(in_boston).order_by(r::name);
    auto const kept = moved(sorted);
    CHECK(kept.to().value().size() == 3);
    CHECK_GONE(sorted.to());
    CHECK_GONE(sorted.first());
    CHECK_GONE(sorted.count());
    CHECK_GONE(sorted.exists());
    CHECK_GONE(sorted.explain());
    CHECK_GONE(sorted.take(0).to());
}

TEST_CASE("moved from: query, query_pages") {
    auto const all = runners(memory_backend{}, 3);
    auto asked = all.where(in_boston);
    auto const kept = moved(asked);
    check_query(asked);
    CHECK_GONE(asked.explain());
    auto pages = kept.pages();
    auto const kept_pages = moved(pages);
    CHECK_GONE(pages.next());
    CHECK_GONE(pages.next());
}

TEST_CASE("moved from: batch") {
    auto const all = runners(memory_backend{}, 3);
    auto changes = all.batch();
    changes.insert(ann);
    auto const kept = moved(changes);
    auto const empty = changes.submit();
    REQUIRE(!empty);
    CHECK(empty.error().code == error_code::invalid_input); // it is empty
    changes.insert(ann);
    CHECK_GONE(changes.submit());
}

TEST_CASE("moved from: sequence, sharded_sequence") {
    sequence numbers{memory_backend{}, "orders"};
    auto const kept = moved(numbers);
    CHECK_GONE(numbers.next());
    CHECK_GONE(numbers.reserve(3));
    sharded_sequence many{memory_backend{}, "orders", 4};
    auto const kept_many = moved(many);
    CHECK_GONE(many.next());
    CHECK_GONE(many.total());
}

TEST_CASE("moved from: once") {
    once mails{memory_backend{}, "mail"};
    auto const kept = moved(mails);
    CHECK_GONE(mails.run("ann", [](once_run const&) -> result<void> { return {}; }));
}

TEST_CASE("moved from: period_tables, wide_table, which is now table<wide<E>>") {
    period_tables<runner> days{memory_backend{}, "days", {.length = period::day, .keep = std::chrono::hours{24}}};
    date_time const now = system_clock().now();
    REQUIRE(days.at(now)); // known to the copies, which the moved-from one must not use
    auto const kept = moved(days);
    CHECK_GONE(days.at(now));
    CHECK_GONE(days.between(now, now));
    CHECK_GONE(days.drop_old());

    table<wide<runner>> wide{memory_backend{}, "wide"};
    wide.create().value();
    auto const kept_wide = moved(wide);
    CHECK_GONE(wide.create());
    CHECK_GONE(wide.create_if_absent());
    CHECK_GONE(wide.drop());
    CHECK_GONE(wide.insert(ann));
    CHECK_GONE(wide.replace(ann, any_etag));
    CHECK_GONE(wide.insert_or_replace(ann));
    CHECK_GONE(wide.get("Boston", "Full", 7));
    CHECK_GONE(wide.find("Boston", "Full", 7));
    CHECK_GONE(wide.get_stored("Boston", "Full", 7));
    CHECK_GONE(wide.remove("Boston", "Full", 7, any_etag));
    CHECK_GONE(wide.update("Boston", "Full", 7, [](runner&) {}));
}

TEST_CASE("moved from: cancellation_source, whose move is a copy") {
    cancellation_source source;
    auto const token = source.token();
    auto const kept = moved(source);
    CHECK_FALSE(token.cancelled());
    source.cancel();
    CHECK(token.cancelled());
}
