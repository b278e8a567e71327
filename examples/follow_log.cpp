// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A cache of the open orders of a city, elsewhere, that follows a table by its change log: it reads what has changed, not everything.

#include <entitable/changes.hpp>
#include <entitable/memory.hpp>

#include <iostream>
#include <map>

using namespace entitable;

struct order {
    std::string city;
    std::int32_t number{};
    std::string customer;
    bool open{};
};
ENTITABLE(order, partition_key(city), row_key(number), properties(customer, open))

using orders_table = table<order, logged>;

// The cache and its position. A program stores both together: the position as `at.to_string()`.
struct cache {
    std::map<std::string, std::string> customers; // by row key
    log_position at;
};

void put(cache& to, order const& one) {
    std::string const key = row_key_of(one).value();
    if (one.open) {
        to.customers[key] = one.customer;
    } else {
        to.customers.erase(key);
    }
}

void catch_up(orders_table const& orders, cache& known) {
    logged_changes page;
    do {
        page = changes_of(orders, "Kiel", known.at).value();
        std::size_t rows = 0;
        if (page.needs_full_read) { // the first time, or the cache is older than the log
            known.customers.clear();
            for (order const& one : orders.where(fields<order>::city == "Kiel")) {
                put(known, one);
                ++rows;
            }
        }
        for (logged_change const& change : page.changes) {
            for (logged_row const& each : change.rows) {
                auto const one = orders.find(reference<order>{"Kiel", each.row_key}).value();
                ++rows;
                if (one) {
                    put(known, *one);
                } else {
                    known.customers.erase(each.row_key);
                }
            }
        }
        known.at = page.position;
        std::cout << (page.needs_full_read ? "everything: " : "changes: ") << rows << " rows read, open:";
        for (auto const& [key, customer] : known.customers) { std::cout << ' ' << customer; }
        std::cout << '\n';
    } while (page.more);
}

int main() {
    memory_backend store;
    orders_table const orders{store, "orders"};
    orders.create().value();
    orders.insert(order{"Kiel", 1, "ann", true}).value();
    orders.insert(order{"Kiel", 2, "bob", true}).value();

    cache known;
    catch_up(orders, known);

    orders.insert(order{"Kiel", 3, "eve", true}).value();
    orders.update("Kiel", 1, [](order& one) { one.open = false; }).value();
    orders.remove("Kiel", 2, any_etag).value();
    catch_up(orders, known);
    catch_up(orders, known);

    // What every reader has read can go. A cache that is behind reads everything again.
    cache behind = known;
    orders.insert(order{"Kiel", 4, "dan", true}).value();
    catch_up(orders, known);
    auto const removed = trim_changes(orders, "Kiel", known.at, {.keep = std::chrono::seconds{0}}).value();
    std::cout << removed << " changes trimmed\n";
    catch_up(orders, behind);
}
