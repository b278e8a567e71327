// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Orders of many cities, and two groups that follow them: "search" keeps an index by customer, "cache" counts open orders in another
// table. Neither knows the cities, and neither reads what has not changed.

#include <entitable/feed.hpp>
#include <entitable/memory.hpp>

#include <iostream>
#include <map>
#include <set>

using namespace entitable;

struct order {
    std::string city;
    std::int32_t number{};
    std::string customer;
    bool open{};
};
ENTITABLE(order, partition_key(city), row_key(number), properties(customer, open))

using orders_table = table<order, announced>;
struct open_orders {
    std::string city;
    std::int64_t count{};
};
ENTITABLE(open_orders, partition_key(city), row_key(literal("OPEN")), properties(count))

struct seen_order {
    std::string city;
    std::int32_t number{};
    bool open{};
};
ENTITABLE(seen_order, partition_key(city), row_key(literal("SEEN:"), number), properties(open))

using caches_table = table<open_orders, seen_order>;

using search_index = std::map<std::string, std::string>; // customer, by city and number; an order may be put twice

void work_for_search(orders_table const& orders, feed const& changes, search_index& index) {
    while (auto const batch = changes.next().value()) {
        for (partition_changes const& each : batch->partitions()) {
            if (each.needs_full_read) { // the group has joined, or is behind the log: replaces what it has
                std::erase_if(index, [&](auto const& one) { return one.first.starts_with(each.partition_key + " "); });
                for (order const& one : orders.where(fields<order>::city == each.partition_key)) {
                    index[one.city + " " + std::to_string(one.number)] = one.customer;
                }
            }
            for (logged_change const& change : each.changes) {
                for (logged_row const& row : change.rows) {
                    auto const one = orders.find(reference<order>{each.partition_key, row.row_key}).value();
                    std::string const key = each.partition_key + " " + std::to_string(std::stoi(row.row_key));
                    index.erase(key);
                    if (one) { index[key] = one->customer; }
                }
            }
            std::cout << "search: " << each.partition_key << (each.needs_full_read ? ", everything\n" : ", changes\n");
        }
        batch->done().value();
    }
}

// A count must not be changed twice: the changes and the note that they were counted are one transaction.
void work_for_cache(orders_table const& orders, caches_table const& caches, feed const& changes, bool crashes) {
    while (auto const batch = changes.next().value()) {
        for (partition_changes const& each : batch->partitions()) {
            caches
                .transact(each.partition_key,
                    [&](auto& all) -> result<void> {
                        ENTITABLE_TRY(auto const fresh, batch->done_with(all, each));
                        ENTITABLE_TRY(auto const known, all.template find<open_orders>());
                        open_orders now = known.value_or(open_orders{each.partition_key});
                        std::set<std::int32_t> numbers;
                        if (fresh.needs_full_read) { // also of orders that were removed in the meantime
                            auto const in_city = fields<order>::city == each.partition_key;
                            auto const known_in_city = fields<seen_order>::city == each.partition_key;
                            for (order const& one : orders.where(in_city)) { numbers.insert(one.number); }
                            for (seen_order const& one : caches.where(known_in_city)) { numbers.insert(one.number); }
                        }
                        for (logged_change const& change : fresh.changes) {
                            for (logged_row const& row : change.rows) { numbers.insert(std::stoi(row.row_key)); }
                        }
                        for (std::int32_t const number : numbers) {
                            ENTITABLE_TRY(auto const one, orders.find(each.partition_key, number));
                            ENTITABLE_TRY(auto const before, all.template find<seen_order>(number));
                            now.count += std::int64_t{one && one->open} - std::int64_t{before && before->open};
                            all.insert_or_replace(seen_order{each.partition_key, number, one && one->open});
                        }
                        if (!numbers.empty()) { all.insert_or_replace(now); }
                        std::cout << "cache: " << each.partition_key << ", " << fresh.changes.size()
                                  << " new changes\n";
                        return {};
                    })
                .value();
        }
        if (crashes) { return; }
        batch->done().value();
    }
}

int main() {
    memory_backend const store;
    orders_table const orders{store, "orders"};
    caches_table const caches{store, "caches"};
    orders.create().value();
    caches.create().value();
    feed const cache{orders, "cache"};
    cache.create().value();
    orders.insert(order{"Kiel", 1, "ann", true}).value();
    orders.insert(order{"Bonn", 1, "bob", true}).value();
    work_for_cache(orders, caches, cache, true); // its program ends before it says that it is done
    work_for_cache(orders, caches, cache, false);

    feed const search{orders, "search"};
    search.create().value();
    search_index index;
    work_for_search(orders, search, index);
    orders.insert(order{"Kiel", 2, "eve", true}).value();
    orders.update("Bonn", 1, [](order& one) { one.open = false; }).value();
    work_for_cache(orders, caches, cache, false);
    work_for_search(orders, search, index);
    for (open_orders const& each : caches.scan_table<open_orders>()) {
        std::cout << each.city << ": " << each.count << " open\n";
    }
    for (auto const& [key, customer] : index) { std::cout << key << ": " << customer << '\n'; }
    cache.check_lag(std::chrono::hours{1}).value(); // neither group is behind
}
