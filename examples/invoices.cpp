// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// The books of a tenant in one table: a counter, invoices, two indexes, one of them in another table, and sums of each day. Writes, a load,
/// an edit form and a unit of work keep them right.

#include <entitable/async_tables.hpp>
#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/print.hpp>
#include <entitable/unit_of_work.hpp>

#include <iostream>
#include <vector>

struct counter {
    std::string tenant;
    std::int32_t last{}, edits{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("COUNTER")), properties(last, edits))

struct invoice {
    std::string tenant;
    std::int32_t number{};
    std::string customer, day;
    std::int64_t cents{};
};
ENTITABLE(invoice, partition_key(tenant), row_key(literal("INVOICE:"), number), properties(customer, day, cents))

// An index is a struct derived from its entity, with keys of its own.
struct by_customer : invoice {};
ENTITABLE(by_customer, partition_key(tenant), row_key(literal("CUSTOMER:"), escaped(customer), number), properties(cents))

struct by_day : invoice {}; // of all tenants: in other partitions, so in a table of its own
ENTITABLE(by_day, partition_key(day), row_key(escaped(tenant), number), properties(cents))

// Sums are a struct with three functions.
struct daily_sales {
    std::string tenant, day;
    std::int64_t cents{}, invoices{};

    static daily_sales key(invoice const& of) { return {of.tenant, of.day}; } // where an invoice counts
    void add(invoice const& one) { cents += one.cents, ++invoices; }
    void subtract(invoice const& one) { cents -= one.cents, --invoices; }
};
ENTITABLE(daily_sales, partition_key(tenant), row_key(literal("SALES:"), day), properties(cents, invoices))

using books_table = entitable::table<counter, invoice, by_customer, entitable::elsewhere<by_day>, daily_sales>;
using c = entitable::fields<by_customer>;
using d = entitable::fields<by_day>;

static void show(books_table const& books, char const* what) {
    auto const ann = books.by<by_customer>().where(c::tenant == "ACME" && c::customer == "ann").to().value();
    auto const monday = books.sum(daily_sales{"ACME", "2026-11-23"}).value();
    auto const all_tenants = books.by<by_day>().where(d::day == "2026-11-23").to().value();
    std::cout << what << ": ann has " << ann.size() << ", " << monday << ", of all tenants " << all_tenants.size()
              << '\n';
}

int main() {
    entitable::memory_backend const store;
    books_table const books{store, "books", entitable::in_table<by_day>{store, "days"}};
    books.create().value();
    books.insert(counter{"ACME", 0}).value();

    // The next number and the invoice with it, its index rows and the sums: one transaction.
    auto const bill = [&](std::string const& customer, std::int64_t cents) {
        return books.transact("ACME", [&](entitable::transaction<counter, invoice>& all) -> entitable::result<void> {
            ENTITABLE_TRY(auto next, all.get<counter>());
            ++next.last;
            all.replace(next).insert(invoice{"ACME", next.last, customer, "2026-11-23", cents});
            return {};
        });
    };
    bill("ann", 12'50).value();
    bill("bob", 3'00).value();
    show(books, "two invoices");

    // An edit form: it carries the version as text, and is saved only if nobody was faster; and counted, in the same transaction.
    auto const read = books.get_stored<invoice>("ACME", 2).value();
    std::string const version = read.etag.to_string();
    auto const save = [&](std::string const& customer, std::int64_t cents) {
        return books.transact("ACME", [&](entitable::transaction<counter, invoice>& all) -> entitable::result<void> {
            all.replace(invoice{"ACME", 2, customer, read.entity.day, cents}, entitable::etag{version});
            ENTITABLE_CHECK(all.update<counter>([](counter& one) { ++one.edits; }));
            return {};
        });
    };
    save("ann", 4'00).value();
    show(books, "an edit");
    std::cout << "the same form again: " << save("bob", 5'00).error().code << ", " << books.get<counter>("ACME")
              << '\n';

    // A load, of another tenant.
    std::vector<invoice> imported;
    for (std::int32_t number = 1; number <= 500; ++number) {
        imported.push_back({"Initech", number, "ann", "2026-11-23", number});
    }
    auto const loaded = entitable::bulk_insert(books, imported).value();
    auto const day = books.sum(daily_sales{"Initech", "2026-11-23"}).value();
    std::cout << "imported " << loaded.written << ": " << day << '\n';

    // Objects that are read, changed and saved together.
    entitable::unit_of_work work{books};
    work.find<invoice>("ACME", 1).value()->cents = 10'00;
    work.remove(*work.find<invoice>("ACME", 2).value());
    work.save_all(entitable::save_mode::batch).value();
    show(books, "saved, one removed");

    // The same books in an event loop, where coroutines await their calls: here one report.
    entitable::event_loop loop;
    entitable::async_table<counter, invoice, by_customer, entitable::elsewhere<by_day>, daily_sales> const awaited{
        loop, store, "books", entitable::in_table<by_day>{store, "days"}};
    std::cout << "awaited: " << loop.run(awaited.by<by_customer>().where(c::tenant == "ACME").to()).value().size()
              << '\n';

    std::cout << "verified: " << (books.verify().value().good() ? "all index rows and sums are right" : "faults")
              << '\n';
}
