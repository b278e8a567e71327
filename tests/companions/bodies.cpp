// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Bodies of transactions that read indexes and sums of their table.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include <entitable/testing.hpp>

using namespace companion_tests;

namespace {

invoice const first{"ACME", 1, "ann", {}, "red", "mon", 100};
invoice const second{"ACME", 2, "bob", {}, "red", "mon", 250};

using all_of_books = transaction<all_books>;
using day = fields<daily_sales>;

struct opened {
    memory_backend store;
    testing::spy<memory_backend> watched{store};
    testing::manual_clock time;
    all_books books = open_books(store, {.time = &time});
    int runs{};

    opened() {
        books.create().value();
        books.insert(counter{"ACME", 2}).value();
        books.insert(first).value();
        books.insert(second).value();
    }
    template <class Body>
    result<transacted> run(Body body, std::uint32_t attempts = 5) {
        runs = 0;
        return open_books(watched).transact("ACME",
            [&](auto& all) {
                ++runs;
                return body(all);
            },
            {.max_attempts = attempts, .time = &time, .seed = 1});
    }
    void check() const {
        found_rows const found{store};
        CHECK(found.companions == found.entities.companions());
        CHECK((books.verify)().value().good());
    }
};

} // namespace

TEST_CASE("bodies: a body can read rows of indexes and sums and change entities") {
    opened in;
    REQUIRE(in.run([&](all_of_books& all) -> result<void> {
        ENTITABLE_TRY(auto const monday, all.get<daily_sales>("mon"));
        CHECK(monday.cents == 350);
        CHECK_FALSE(all.find<daily_sales>("tue").value());
        CHECK(all.get<daily_sales>("tue").error().code == error_code::resource_not_found);
        CHECK(all.get<by_reference>(250)->number == 2);
        CHECK(all.get<by_customer>("ann", 1)->cents == 100);
        ENTITABLE_TRY(auto const of_ann, all.where(of_customer::customer == "ann"));
        ENTITABLE_TRY(auto const days, all.where(day::cents > 0));
        CHECK(days.size() == 1);
        ENTITABLE_TRY(auto const counters, all.where(fields<counter>::last >= 0)); // and no row of another type
        CHECK(counters.size() == 1);
        for (by_customer const& each : of_ann) {
            ENTITABLE_CHECK(all.update<invoice>(each.number, [&](invoice& one) { one.cents = monday.cents; }));
        }
        return {};
    }));
    CHECK(in.runs == 1);
    CHECK(in.books.get<invoice>("ACME", 1)->cents == 350);
    CHECK(in.books.sum(daily_sales{"ACME", "mon"})->cents == 600);
    in.check();
    // A row of sums that the body reads and its changes change is one row of the request; so is an index row.
    auto const sent = in.watched.all<transact>().back().changes;
    std::map<std::string, int> rows;
    for (auto const& each : sent) { ++rows[std::string{each.entity.row_key()}]; }
    for (auto const& [key, times] : rows) { CHECK(times == 1); }
    CHECK(rows.count(row_key_of(daily_sales{"ACME", "mon"}).value()) == 1);
}

TEST_CASE("bodies: a transaction that lists only entity types does not see rows of companions") {
    memory_backend const store;
    table<invoice, by_customer, daily_sales> const books{store, "books"};
    books.create().value();
    books.insert(first).value();
    auto const count = [](auto& all) -> result<void> {
        ENTITABLE_TRY(auto const found, all.where(i::cents >= 0));
        CHECK(found.size() == 1);
        return {};
    };
    CHECK(books.transact("ACME", [&](transaction<invoice>& all) { return count(all); }));
    CHECK(books.transact("ACME", [&](auto& all) { return count(all); }));
    CHECK(books.of<invoice>().transact("ACME", [&](transaction<invoice>& all) { return count(all); }));
}

TEST_CASE("bodies: a body starts over if an index row or a sum row that it has read has changed") {
    opened in;
    auto const read = GENERATE(0, 1, 2, 3, 4);
    auto other = first; // what another writer does
    other.number = 7;
    other.cents = 7;
    std::size_t seen = 0;
    auto const done = in.run([&](all_of_books& all) -> result<void> {
        switch (read) {
            case 0:
                seen =
                    all.where(of_customer::customer == "ann")->size() + (all.find<by_reference>(100).value() ? 0U : 1U);
                break;
            case 1: seen = static_cast<std::size_t>(all.get<daily_sales>("mon")->cents); break;
            case 2: seen = all.find<by_customer>("ann", 1).value() ? 1 : 0; break;
            case 3: seen = static_cast<std::size_t>(all.where(day::cents > 0)->front().cents); break;
            default: seen = all.find<by_reference>(100).value() ? 1 : 0;
        }
        if (in.runs == 1) {
            if (read == 1 || read == 3) {
                in.books.insert(other).value();
            } else {
                in.books.remove(first, any_etag).value();
            }
        }
        all.replace(counter{"ACME", static_cast<std::int64_t>(seen)}, any_etag);
        return {};
    });
    REQUIRE(done);
    CHECK(done->attempts == 2);
    CHECK(in.books.get<counter>("ACME")->last == (read == 1 || read == 3 ? 357 : read == 0 ? 1 : 0));
    in.check();
}

TEST_CASE("bodies: a body can look for missing companion rows and then write them") {
    opened in;
    // A day without sums, a key of a unique index that is free, an index row that is not there.
    REQUIRE(in.run([&](all_of_books& all) -> result<void> {
        CHECK(all.find<daily_sales>("tue").value().has_value() == (in.runs == 2));
        CHECK_FALSE(all.find<by_reference>(999).value());
        CHECK_FALSE(all.find<by_customer>("eve", 3).value());
        all.insert(invoice{"ACME", 3, "eve", {}, "blue", "tue", 999});
        if (in.runs == 1) { in.books.insert(invoice{"ACME", 4, "joe", {}, "blue", "tue", 5}).value(); }
        return {};
    }));
    CHECK(in.runs == 2); // the row of sums was inserted by the other writer
    CHECK(in.books.sum(daily_sales{"ACME", "tue"})->cents == 1004);
    in.check();
    // An index row that is missing, and found missing by the body that then removes the entity.
    in.books.unmaintained<by_customer>().remove(by_customer{first}, any_etag).value();
    REQUIRE(in.run([&](all_of_books& all) -> result<void> {
        CHECK_FALSE(all.find<by_customer>("ann", 1).value());
        all.remove(first, any_etag);
        return {};
    }));
    in.check();
}

TEST_CASE("bodies: a body can change entities whose index rows and sums it has read") {
    opened in;
    REQUIRE(in.run([&](all_of_books& all) -> result<void> {
        ENTITABLE_TRY(auto const of_bob, all.where(of_customer::customer == "bob"));
        ENTITABLE_CHECK(all.get<daily_sales>("mon"));
        ENTITABLE_CHECK(all.get<by_reference>(250));
        for (by_customer const& each : of_bob) {
            all.remove(invoice{each.tenant, each.number, {}, {}, {}, {}, 0}, any_etag);
        }
        ENTITABLE_CHECK(all.update<invoice>(1, [](invoice& one) { one.customer = "bob"; }));
        return {};
    }));
    CHECK(in.runs == 1);
    CHECK_FALSE(in.books.find<invoice>("ACME", 2).value());
    CHECK(in.books.by<by_customer>()
              .where(of_customer::tenant == "ACME" && of_customer::customer == "bob")
              .to()
              ->size() == 1);
    in.check();
}

TEST_CASE("bodies: a body replaces an entity under the caller's ETag and reads sums") {
    opened in;
    auto const form = in.books.get_stored<invoice>("ACME", 1).value();
    auto const save = [&](bool beaten, bool by_same) {
        return in.run([&, beaten, by_same](all_of_books& all) -> result<void> {
            ENTITABLE_TRY(auto const monday, all.get<daily_sales>("mon"));
            auto edited = form.entity;
            edited.cents = monday.cents;
            all.replace(edited, form.etag);
            if (beaten && in.runs == 1) {
                auto other = by_same ? first : second;
                other.cents += 1;
                in.books.replace(other, any_etag).value();
            }
            return {};
        });
    };
    REQUIRE(save(true, false)); // another invoice of that day: the sum has changed
    CHECK(in.runs == 2);
    CHECK(in.books.get<invoice>("ACME", 1)->cents == 351);
    CHECK(save(false, false).error().code == error_code::update_condition_not_satisfied);
    CHECK(in.runs == 1);
    in.check();
}

TEST_CASE("bodies: a companion that is not ready is not read") {
    opened in;
    in.books.retire<daily_sales>().value();
    auto const run = [&](auto body) { return open_books(in.store).transact("ACME", body).error(); };
    CHECK(run([](all_of_books& all) -> result<void> {
        CHECK(all.find<daily_sales>("mon").error().code == error_code::index_not_ready);
        return {}; // an error of a read ends the transaction, even if the body ignores it
    }).code == error_code::index_not_ready);
    CHECK(run([](all_of_books& all) -> result<void> {
        ENTITABLE_CHECK(all.where(day::cents > 0));
        return {};
    }).message.find("daily_sales") != std::string::npos);
    CHECK(in.run([](all_of_books& all) -> result<void> { return all.where(of_customer::customer == "ann"); }));
}

TEST_CASE("bodies: a query that finds more than one page of index rows is refused") {
    opened in;
    for (std::int32_t number = 10; number < 1100; ++number) {
        in.books.unmaintained<by_customer>().insert(by_customer{{"ACME", number, "many", {}, "red", "mon", 1}}).value();
    }
    auto const refused = in.run([](all_of_books& all) -> result<void> {
        ENTITABLE_CHECK(all.where(of_customer::customer == "many"));
        return {};
    });
    CHECK(refused.error().code == error_code::query_too_complex);
}
