// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Wide entities in a list: each in several rows, beside entities with companions in the same partition.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include <entitable/async_tables.hpp>
#include <entitable/unit_of_work.hpp>
#include <entitable/wide.hpp>

using namespace companion_tests;

namespace {

struct scan {
    std::string tenant;
    std::int32_t number{};
    std::string front, back;
};
ENTITABLE(scan, partition_key(tenant), row_key(literal("SCAN:"), number), properties(chunked(front), chunked(back)))

using scanned_books = table<counter, invoice, wide<scan>, by_customer, daily_sales>;
using s = fields<by_customer>;

scan scan_of(std::int32_t number, std::size_t size) {
    return {"ACME", number, std::string(size, 'f'), std::string(size, 'b')};
}
bool same(scan const& one, scan const& other) {
    return one.tenant == other.tenant && one.number == other.number && one.front == other.front &&
        one.back == other.back;
}
std::size_t rows_of(any_store const& store, std::string_view begins) {
    std::size_t count = 0;
    detail::table_core{store, "books", {}}
        .for_each_row({}, {}, true, [&](row_view each) { count += each.row_key.starts_with(begins) ? 1U : 0U; })
        .value();
    return count;
}

task<result<written>> inserted(async_table<invoice> bills, invoice one) { co_return co_await bills.insert(one); }

} // namespace

TEST_CASE("wide entities in a list: each is read and written by its keys, in several rows of the partition") {
    memory_backend store;
    scanned_books const books{store, "books"};
    books.create().value();
    auto const first = books.insert(scan_of(7, 400'000)).value();
    CHECK(first.parts == 2);
    CHECK(rows_of(store, "~!w!SCAN:") == 2);
    CHECK(books.insert(scan_of(7, 1)).error().code == error_code::entity_already_exists);
    CHECK(same(books.get<scan>("ACME", 7).value(), scan_of(7, 400'000)));
    CHECK(books.get_stored<scan>("ACME", 7).value().etag == first.etag);
    CHECK(same(books.get(books.reference_to<scan>("ACME", 7).value()).value(), scan_of(7, 400'000)));
    CHECK_FALSE(books.find<scan>("ACME", 8).value());
    CHECK_FALSE(books.find(books.reference_to<scan>("ACME", 8).value()).value());
    CHECK(books.get<scan>("ACME", 8).error().code == error_code::resource_not_found);
    auto const second = books.replace(scan_of(7, 10), first.etag).value();
    CHECK(second.parts == 1);
    CHECK(rows_of(store, "~!w!SCAN:") == 1);
    CHECK(books.replace(scan_of(7, 11), first.etag).error().code == error_code::update_condition_not_satisfied);
    CHECK(books.insert_or_replace(scan_of(8, 3)).value().parts == 1);
    books.update<scan>("ACME", 8, [](scan& each) { each.front = "new"; }).value();
    CHECK(books.get<scan>("ACME", 8).value().front == "new");
    CHECK_FALSE(books.update_if_present<scan>("ACME", 9, [](scan&) {}).value());
    CHECK(books.remove(scan_of(8, 0), second.etag).error().code == error_code::update_condition_not_satisfied);
    CHECK(books.remove(scan_of(8, 0), any_etag));
    CHECK(books.remove<scan>("ACME", 7, second.etag));
    CHECK_FALSE(books.remove_if_present<scan>("ACME", 7, any_etag).value());
    CHECK(rows_of(store, "~!w!") == 0);
    CHECK(rows_of(store, "SCAN:") == 0);
}

TEST_CASE("wide entities in a list: other types do not see their rows, and companions stay correct") {
    memory_backend store;
    scanned_books const books{store, "books"};
    books.create().value();
    invoice const bill{"ACME", 1, "ann", {}, "red", "mon", 100};
    books.insert(bill).value();
    books.insert(scan_of(1, 400'000)).value();
    books.insert(counter{"ACME", 3}).value();
    CHECK(books.where(i::tenant == "ACME").count().value() == 1);
    CHECK(books.scan_table<counter>().count().value() == 1);
    CHECK(books.by<by_customer>().where(s::tenant == "ACME").to().value().size() == 1);
    CHECK(books.sum(daily_sales{"ACME", "mon", {}, {}}).value().cents == 100);
    std::size_t bills = 0;
    std::size_t others = 0;
    books
        .for_each_in_partition("ACME",
            [&](scanned_books::any_entity const& each) {
                bills += std::holds_alternative<invoice>(each) ? 1U : 0U;
                others += std::holds_alternative<entity>(each) ? 1U : 0U;
            })
        .value();
    CHECK(bills == 1);
    CHECK(others == 1); // the main row
    CHECK((books.verify)().value().good());
    auto const doubled = [](transaction<counter, invoice>& all) -> result<void> {
        return all.update<invoice>(1, [](invoice& each) { each.cents *= 2; }) ? result<void>{}
                                                                              : failure{error_code::internal_error, ""};
    };
    books.transact("ACME", doubled).value();
    auto several = books.batch();
    several.insert(counter{"ACME", 4});
    CHECK(several.submit().error().code == error_code::entity_already_exists);
    unit_of_work work{books};
    work.find<invoice>("ACME", 1).value()->cents = 7;
    work.save_all(save_mode::batch).value();
    CHECK(books.sum(daily_sales{"ACME", "mon", {}, {}}).value().cents == 7);
    CHECK(same(books.get<scan>("ACME", 1).value(), scan_of(1, 400'000)));
}

TEST_CASE("wide entities in a list: are stored as in a table<wide<E>>") {
    memory_backend store;
    table<wide<scan>> const alone{store, "books"};
    alone.create().value();
    alone.insert(scan_of(1, 400'000)).value();
    table<counter, wide<scan>> const books{store, "books"};
    CHECK(same(books.get<scan>("ACME", 1).value(), scan_of(1, 400'000)));
    books.insert(counter{"ACME", 1}).value();
    CHECK(books.get("ACME").value().last == 1); // the only entity of one row
    books.replace(scan_of(1, 5), any_etag).value();
    CHECK(same(alone.get("ACME", 1).value(), scan_of(1, 5)));
}

TEST_CASE("async_table of several types: with(), unmaintained() and read() work as in the blocking table") {
    memory_backend store;
    event_loop loop;
    async_table<counter, invoice, by_customer> const books{loop, store, "books"};
    loop.run(books.create()).value();
    call_options expired;
    expired.timeout = std::chrono::nanoseconds{0};
    auto const hurried = books.with(expired);
    CHECK(hurried.name() == "books");
    CHECK(hurried.options().timeout == expired.timeout);
    invoice const bill{"ACME", 1, "ann", {}, "red", "mon", 100};
    CHECK(loop.run(hurried.insert(bill)).error().code == error_code::deadline_exceeded);
    CHECK(loop.run(inserted(books.unmaintained<invoice>(), bill)));
    CHECK_FALSE(loop.run((books.verify)()).value().good());
    CHECK(loop.run(books.repair()));
    CHECK(loop.run((books.verify)()).value().good());
    CHECK(std::holds_alternative<invoice>(books.read(to_row(bill).value().view()).value()));
}

TEST_CASE("async_table of several types: wide entities are read and written") {
    memory_backend store;
    event_loop loop;
    async_table<counter, invoice, wide<scan>, by_customer, daily_sales> const books{loop, store, "books"};
    loop.run(books.create()).value();
    CHECK(loop.run(books.insert(scan_of(1, 400'000))).value().parts == 2);
    CHECK(same(loop.run(books.get<scan>("ACME", 1)).value(), scan_of(1, 400'000)));
    loop.run(books.update<scan>("ACME", 1, [](scan& each) { each.front = "new"; })).value();
    CHECK(loop.run(books.get_stored<scan>("ACME", 1)).value().entity.front == "new");
    CHECK(loop.run(books.remove<scan>("ACME", 1, any_etag)));
    CHECK_FALSE(loop.run(books.find<scan>("ACME", 1)).value());
    CHECK(rows_of(store, "~!w!") == 0);
}
