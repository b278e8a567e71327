// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "books.hpp"
#include <entitable/expiry.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace bulk_test;

namespace {

struct shelf {
    testing::manual_clock time;
    memory_backend store{local_options{.time = &time}};
    testing::faulty<memory_backend> service{store, {.time = &time}};
    table<book> books{service, "books"};

    shelf() {
        books.create().value();
        bulk_insert(table<book>{store, "books"}, some_books(300), options()).value();
        time.advance(std::chrono::hours{24});
    }
    [[nodiscard]] bulk_options options() {
        bulk_options made;
        made.seed = 1;
        made.time = &time;
        return made;
    }
};
using b = fields<book>;

} // namespace

TEST_CASE("expire() removes only rows that have not been written for longer than the period") {
    shelf all;
    auto const fresh = some_books(40);
    for (book const& each : fresh) { all.books.insert_or_replace(each).value(); }
    all.time.advance(std::chrono::hours{1});
    CHECK(expire(all.books, all.books.scan_table(), std::chrono::hours{26}, all.options()).value().written == 0);
    auto const done = expire(all.books, all.books.scan_table(), std::chrono::hours{2}, all.options()).value();
    CHECK(done.written == 260);
    CHECK(done.read == 260); // the service filters out the others
    CHECK(all.books.scan_table().count().value() == 40);
    CHECK(expire(all.books, all.books.scan_table(), std::chrono::hours{2}, all.options()).value().written == 0);
    // A row of exactly this age has not expired.
    shelf same;
    auto const age = std::chrono::hours{24};
    auto const at = same.books.get_stored(fresh[0].year, fresh[0].id).value().timestamp;
    auto const exactly = std::chrono::nanoseconds{(same.time.now().ticks - at.ticks) * 100};
    CHECK(exactly >= age);
    using p = fields<book>;
    auto const one = same.books.where(p::year == fresh[0].year && p::id == fresh[0].id);
    CHECK(expire(same.books, one, exactly, same.options()).value().written == 0);
    CHECK(expire(same.books, one, exactly - std::chrono::nanoseconds{100}, same.options()).value().written == 1);
}

TEST_CASE("expire() respects the query and the comparison limit of the service") {
    shelf all;
    auto const year = some_books(1)[0].year;
    auto const in_year = all.books.where(b::year == year).count().value();
    REQUIRE(in_year > 0);
    REQUIRE(in_year < 300);
    CHECK(expire(all.books, all.books.where(b::year == year), std::chrono::hours{1}, all.options()).value().written ==
        in_year);
    CHECK(all.books.scan_table().count().value() == 300 - in_year);
    // A query with as many comparisons as the service allows.
    local_options narrow;
    narrow.time = &all.time;
    narrow.limits.max_comparisons = 6; // four of them for keys
    memory_backend const strict{narrow};
    table<book> const few{strict, "books"};
    few.create().value();
    for (book const& each : some_books(20)) { few.insert(each).value(); }
    all.time.advance(std::chrono::hours{2});
    few.insert_or_replace(some_books(1)[0]).value();
    auto const done =
        expire(few, few.scan_table(b::title != "a" && b::title != "b"), std::chrono::hours{1}, all.options());
    CHECK(done.value().written == 19);
    CHECK(done.value().already_there == 1);
}

TEST_CASE("expire: rows that are written during the run stay, and an interrupted run can be repeated") {
    shelf all;
    all.service.plan_random(
        3, 60, 200, {testing::fault::lost_before(), testing::fault::lost_after(), testing::fault::busy()});
    bulk_options how = all.options();
    bool once = false;
    how.in_flight = 1;
    auto const kept = some_books(300).back();
    how.watch_every = {};
    how.watch = [&](bulk_progress const& at) {
        if (!std::exchange(once, at.written > 0)) { (void)table<book>{all.store, "books"}.merge(kept, any_etag); }
    };
    auto const done = expire(all.books, all.books.scan_table(), std::chrono::hours{1}, how);
    if (done) { CHECK(done->written + done->already_there + done->refused == 300); }
    (void)expire(table<book>{all.store, "books"}, table<book>{all.store, "books"}.scan_table(), std::chrono::hours{1},
        all.options())
        .value();
    REQUIRE(once);
    CHECK(table<book>{all.store, "books"}.scan_table().count().value() == 1);
}
