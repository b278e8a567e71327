// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/schema.hpp>
#include <entitable/server.hpp>
#include <entitable/tables.hpp>

#include <server/served.hpp>
#include <support/catch.hpp>
#include <support/held_checkpoint.hpp>
#include <support/meddled.hpp>
#include <support/temporary_folder.hpp>

#include <map>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace {

/// The struct as it was.
struct old_book {
    std::string shelf;
    std::int32_t number{};
    std::string name;
    std::int32_t cents{};
    std::optional<std::string> note;
    double weight{};
};
ENTITABLE(old_book, partition_key(shelf), row_key(literal("B"), number), properties(name, cents, note, weight))

/// A member is renamed, one has a larger type, one is removed, two are new.
struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int64_t cents{};
    bool lent{};
    std::optional<std::string> language;
    double weight{};

    friend bool operator==(book const&, book const&) = default;
};
ENTITABLE(book, partition_key(shelf), row_key(literal("B"), number), properties(title, cents, lent, language, weight))

struct by_title : book {};
ENTITABLE(by_title, partition_key(shelf), row_key(literal("T"), escaped(title), number), properties(cents))

book from_old(old_book const& from) {
    return {from.shelf, from.number, from.name, from.cents, from.note == "lent", {}, from.weight};
}

old_book old_number(std::int32_t number) {
    old_book made{
        "shelf " + std::to_string(number % 3), number, "book " + std::to_string(number), number * 100, {}, 0.5};
    if (number % 4 == 0) { made.note = "lent"; }
    return made;
}

/// Programs of both versions on one table.
struct stage {
    explicit stage(any_store to) : store(std::move(to)) { books.create().value(); }

    any_store store;
    table<old_book> before{store, "books"};
    table<book> books{store, "books"};

    void insert_old(std::int32_t count) {
        std::vector<old_book> rows;
        for (std::int32_t number = 0; number < count; ++number) { rows.push_back(old_number(number)); }
        CHECK(bulk_insert(before, rows).value().all());
    }
    [[nodiscard]] std::map<std::int32_t, book> content() const {
        std::map<std::int32_t, book> made;
        for (book const& each : books.scan_table().to().value()) { made[each.number] = each; }
        return made;
    }
};

/// Runs a test on each store.
template <class Test>
void on_each_store(Test const& test) {
    SECTION("memory") { test(memory_backend{}); }
    SECTION("file") {
        entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
        test(file_backend{folder / "books.db"});
    }
    SECTION("served") { test(entitable_test::served(memory_backend{})); }
}

schema_difference const* find(schema_drift_report const& in, schema_difference_kind kind, std::string_view property) {
    for (schema_difference const& each : in.differences) {
        if (each.kind == kind && each.property == property) { return &each; }
    }
    return nullptr;
}

} // namespace

TEST_CASE("schema_drift lists the rows of an earlier struct, and migrate rewrites them without losing a value") {
    on_each_store([](any_store const& store) {
        stage s{store};
        s.insert_old(50);
        auto const drift = schema_drift(s.books, {.keep_keys = 2}).value();
        CHECK(drift.rows == 50);
        CHECK(drift.unreadable == 50);
        CHECK_FALSE(drift.good());
        CHECK(drift.differences.size() == 4);
        using kind = schema_difference_kind;
        REQUIRE(find(drift, kind::property_missing, "title") != nullptr);
        CHECK(find(drift, kind::property_missing, "title")->rows == 50);
        CHECK(find(drift, kind::property_missing, "title")->first.size() == 2);
        CHECK(find(drift, kind::property_missing, "title")->declared == edm_type::string);
        REQUIRE(find(drift, kind::property_missing, "lent") != nullptr);
        REQUIRE(find(drift, kind::property_unknown, "name") != nullptr);
        CHECK(find(drift, kind::property_unknown, "name")->stored == edm_type::string);
        REQUIRE(find(drift, kind::property_unknown, "note") != nullptr);
        CHECK(find(drift, kind::property_unknown, "note")->rows == 13);
        CHECK_THAT(drift.to_string(),
            ContainsSubstring("50 rows, 50 of them are unreadable\n") &&
                ContainsSubstring(
                    "13 rows: \"note\": the property is not declared, stored as Edm.String; first shelf 0 / "));

        auto const old_sum = s.before.scan_table().fold(sum(fields<old_book>::cents)).value();
        auto const report = migrate(s.before.scan_table(), s.books, from_old).value().all().value();
        CHECK(report.read == 50);
        CHECK(report.written == 50);
        auto const after = schema_drift(s.books).value();
        CHECK(after.rows == 50);
        CHECK(after.good());
        CHECK(after.differences.empty());
        for (auto const& [number, each] : s.content()) { CHECK(each == from_old(old_number(number))); }
        CHECK(s.content().size() == 50);
        CHECK(std::get<0>(s.books.scan_table().fold(sum(fields<book>::cents)).value()) == std::get<0>(old_sum));
        CHECK(s.books.scan_table(fields<book>::lent == true).count().value() == 13);

        auto const again = migrate(s.before.scan_table(), s.books, from_old).value().all().value();
        CHECK(again.written == 0);
        CHECK(again.already_there == 50);
    });
}

TEST_CASE("programs of both versions write to one table, and no value is lost") {
    on_each_store([](any_store const& store) {
        stage s{store};
        s.insert_old(10);
        book const fresh{"shelf 9", 100, "new", 5'000'000'000, true, "fr", 1};
        CHECK(s.books.insert(fresh));
        CHECK(s.books.get("shelf 0", 0).error().code == error_code::row_mismatch);
        CHECK(s.before.get("shelf 9", 100).error().code == error_code::row_mismatch); // never a partly filled struct

        CHECK(migrate(s.before.scan_table(), s.books, from_old).value().all().value().written == 10);
        CHECK(s.content().at(100) == fresh);

        // The old program replaces a row, changes a property of another one, and cannot read a third.
        old_book changed = old_number(1);
        changed.cents = 7;
        CHECK(s.before.insert_or_replace(changed));
        CHECK(s.before.merge(at("shelf 2", 2), fields<old_book>::name = "renamed", any_etag));
        CHECK_FALSE(s.before.update("shelf 0", 3, [](old_book& of) { of.cents = 1; }));

        auto const drift = schema_drift(s.books).value();
        CHECK(drift.unreadable == 1);
        CHECK(find(drift, schema_difference_kind::property_unknown, "name")->rows == 2);
        auto const report = migrate(s.before.scan_table(), s.books, from_old).value();
        CHECK(report.written == 1);
        REQUIRE(report.refusals.size() == 1);
        CHECK(report.refusals.front().partition_key == "shelf 2");
        CHECK(report.refusals.front().row_key == "B0000000002");
        CHECK(report.refusals.front().error.code == error_code::row_mismatch);
        CHECK_THAT(report.refusals.front().error.message,
            ContainsSubstring("the property \"name\" of old_book and the property \""));
        CHECK(s.content().at(1).cents == 7);
        CHECK(s.content().at(2).title == "book 2");
        CHECK(s.content().size() == 11);
    });
}

TEST_CASE("a migration that is killed at any request continues from its checkpoint") {
    for (std::size_t at = 1; at < 40; ++at) {
        for (bool const behind : {false, true}) {
            memory_backend const memory;
            stage s{memory};
            s.insert_old(60);
            auto plan = std::make_shared<entitable_test::meddling>();
            plan->at = at;
            plan->behind = behind;
            plan->dies = true;
            entitable_test::meddled const dying{memory, plan};
            bulk_options how;
            how.window = 10;
            how.in_flight = 2;
            how.wait_budget = std::chrono::nanoseconds{1};
            entitable_test::held_checkpoint const kept;
            how.checkpoint = kept;
            table<old_book> const before{dying, "books"};
            table<book> const books{dying, "books"};
            auto const ended = migrate(before.scan_table().page_size(7), books, from_old, how);
            bool const was_killed = !ended;
            CHECK(kept.text->has_value() == (was_killed && at > 3 && kept.text->has_value()));

            how.wait_budget = std::chrono::minutes{5};
            bulk_progress last;
            how.watch = [&](bulk_progress const& of) { last = of; };
            auto const report =
                migrate(s.before.scan_table().page_size(7), s.books, from_old, how).value().all().value();
            CHECK(report.read == 60);
            CHECK(report.written + report.already_there == 60);
            CHECK(last.read == 60);
            CHECK(last.ended);
            CHECK_FALSE(kept.text->has_value());
            for (auto const& [number, each] : s.content()) { CHECK(each == from_old(old_number(number))); }
            CHECK(s.content().size() == 60);
        }
    }
}

TEST_CASE("a checkpoint saves the work before it, and belongs to one table, query and input") {
    stage s{memory_backend{}};
    s.insert_old(60);
    bulk_options how;
    how.window = 20;
    entitable_test::held_checkpoint const kept;
    how.checkpoint = kept;
    how.max_refused = 0;
    std::size_t calls = 0;
    auto const failing = [&](old_book const& from) -> result<book> {
        if (++calls == 45) { return failure{error_code::out_of_range_input, "not this one"}; }
        return from_old(from);
    };
    auto const old_rows = s.before.scan_table().page_size(10);
    CHECK(migrate(old_rows, s.books, failing, how).error().code == error_code::out_of_range_input);
    REQUIRE(kept.text->has_value());
    CHECK_THAT(**kept.text, ContainsSubstring("entitable migration 1\ntable books\n"));
    CHECK_THAT(**kept.text, ContainsSubstring("\nread 40\nwritten 40\nalready_there 0\nrefused 0\n"));

    auto const refused = [&](auto const& found, auto const& to, bulk_options const& options) {
        auto const made = migrate(found, to, from_old, options);
        return !made && made.error().code == error_code::checkpoint_invalid;
    };
    table<old_book> const other_before{s.store, "others"};
    table<book> const others{s.store, "others"};
    others.create().value();
    CHECK(refused(other_before.scan_table(), others, how));
    CHECK(refused(s.before.scan_table(fields<old_book>::cents > 5), s.books, how));
    bulk_options other_input = how;
    other_input.input = "x";
    CHECK(refused(old_rows, s.books, other_input));
    std::string const good = **kept.text;
    for (std::string const& bad : {std::string{"x"}, good + "x", good.substr(0, good.size() - 1),
             std::string{"entitable migration 2\n"}, std::string{"entitable bulk load 1\n"}, std::string{}}) {
        kept.save(bad).value();
        CHECK(refused(old_rows, s.books, how));
    }
    kept.save(good).value();

    calls = 1'000;
    auto const report = migrate(old_rows, s.books, failing, how).value();
    CHECK(calls <= 1'020);
    CHECK(report.read == 60);
    CHECK(report.written + report.already_there == 60);
    CHECK_FALSE(kept.text->has_value());
}

TEST_CASE("migrate: results, undeclared properties, keys, and rows that are changed in between") {
    stage s{memory_backend{}};
    s.insert_old(4);
    row_table const rows{s.store, "books"};
    entity extra = rows.get("shelf 1", "B0000000001").value();
    extra.set("extra", 5);
    CHECK(rows.insert_or_replace(extra));

    SECTION("properties that neither type declares stay") {
        CHECK(migrate(s.before.scan_table(), s.books, from_old).value().all());
        entity const after = rows.get("shelf 1", "B0000000001").value();
        CHECK(after.get<std::int32_t>("extra").value() == 5);
        CHECK(after.find("name") == nullptr);
        CHECK(after.find("title") != nullptr);
    }
    SECTION("an empty optional leaves the row, an error refuses it") {
        auto const report =
            migrate(s.before.scan_table(), s.books, [](old_book const& from) -> result<std::optional<book>> {
                if (from.number == 0) { return std::optional<book>{}; }
                if (from.number == 1) { return failure{error_code::invalid_input, "no"}; }
                return std::optional{from_old(from)};
            }).value();
        CHECK(report.written == 2);
        CHECK(report.already_there == 1);
        REQUIRE(report.refusals.size() == 1);
        CHECK(report.refusals.front().row_key == "B0000000001");
        CHECK(s.before.get("shelf 0", 0));
        CHECK(s.before.get("shelf 1", 1));
    }
    SECTION("a change of keys is refused") {
        auto const report = migrate(s.before.scan_table(), s.books, [](old_book const& from) {
            book made = from_old(from);
            made.number += 1000;
            return made;
        }).value();
        CHECK(report.refused == 4);
        CHECK(report.refusals.front().error.code == error_code::invalid_input);
    }
    SECTION("a row that another program changes in between is converted again") {
        bool was_changed = false;
        CHECK(migrate(s.before.scan_table(), s.books,
            [&](old_book const& from) {
                if (!std::exchange(was_changed, true)) {
                    s.before.update(from.shelf, from.number, [](old_book& of) { of.cents = 77; }).value();
                }
                return from_old(from);
            })
                .value()
                .all());
        CHECK(s.content().at(0).cents == 77);
    }
    SECTION("a row that neither type reads is refused with its keys") {
        CHECK(rows.insert(entity{"shelf 0", "B0000000009"}.set("cents", "many")));
        CHECK(rows.insert(entity{"shelf 0", "X"}.set("cents", 1)));
        auto const report = migrate(s.before.scan_table(), s.books, from_old).value();
        CHECK(report.written == 4);
        CHECK(report.refused == 1); // no query finds the other row
        CHECK(report.refusals.front().row_key == "B0000000009");
        CHECK(schema_drift(s.books.scan_table()).value().unreadable == 1);
        auto const drift = schema_drift(s.books).value();
        using kind = schema_difference_kind;
        CHECK(drift.unreadable == 2);
        CHECK(find(drift, kind::type_differs, "cents")->stored == edm_type::string);
        CHECK(find(drift, kind::type_differs, "cents")->declared == edm_type::int64);
        CHECK(find(drift, kind::key_differs, "")->first == std::vector<row_keys>{{"shelf 0", "X"}});
    }
    SECTION("a dry run writes nothing, and a query of another table is refused") {
        bulk_options how;
        how.dry_run = true;
        entitable_test::held_checkpoint const kept;
        how.checkpoint = kept;
        how.window = 1;
        auto const tried = migrate(s.before.scan_table().page_size(1), s.books, from_old, how);
        CHECK((tried ? std::string{} : tried.error().to_string()) == "");
        CHECK(s.before.scan_table().count().value() == 4);
        CHECK(s.before.get("shelf 0", 0));
        table<book> const others{s.store, "others"};
        CHECK(migrate(s.before.scan_table(), others, from_old).error().code == error_code::invalid_input);
    }
}

TEST_CASE("schema_drift has bounded memory, and names values that a member refuses") {
    stage s{memory_backend{}};
    row_table const rows{s.store, "books"};
    for (int number = 0; number < 20; ++number) {
        entity made{"shelf", "B000000000" + std::to_string(number % 10)};
        made.set("p" + std::to_string(number), number);
        CHECK(rows.insert_or_replace(made));
    }
    auto const drift = schema_drift(s.books, {.keep_keys = 0, .max_differences = 5}).value();
    CHECK(drift.rows == 10);
    CHECK(drift.differences.size() == 5);
    CHECK(drift.more > 0);
    CHECK(drift.differences.front().first.empty());
    std::uint64_t all = drift.more;
    for (auto const& each : drift.differences) { all += each.rows; }
    CHECK(all == 10 * 5); // title, cents, lent, weight and one unknown property of each row
    CHECK_THAT(drift.to_string(), ContainsSubstring("more differences"));
    CHECK(schema_drift(table<book>{s.store, "absent"}).error().code == error_code::table_not_found);
    CHECK(schema_drift(s.books.where(fields<book>::shelf == "other")).value().rows == 0);
}

TEST_CASE("rows whose keys change are copied into a table with an index, which answers as a filter does") {
    on_each_store([](any_store const& store) {
        stage s{store};
        s.insert_old(30);
        table<book, by_title> const copy{s.store, "copied"};
        copy.create().value();
        auto const report = bulk_copy(s.before.scan_table(), copy.of<book>(), [](old_book const& from) {
            book made = from_old(from);
            made.shelf = "all";
            return made;
        });
        CHECK(report.value().all().value().written == 30);
        CHECK(copy.scan_table<book>().count().value() == 30);
        CHECK(copy.by<by_title>()
                  .where(fields<by_title>::shelf == "all" && fields<by_title>::title == "book 7")
                  .count()
                  .value() == 1);
    });
}
