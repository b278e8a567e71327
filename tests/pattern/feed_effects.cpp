// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// A cache and a view that a feed keeps in other tables: equal to the source after every crash, and each change counted once. And the
// requests of a feed over a million partitions.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include <entitable/bulk.hpp>
#include <entitable/core/try.hpp>
#include <entitable/feed.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/crash_points.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/views.hpp>

#include <iostream>
#include <map>

using namespace entitable;

namespace {

struct order {
    std::string city;
    std::int32_t number{};
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(city), row_key(literal("ORDER:"), number), properties(cents))

/// A copy of an order.
struct cached {
    std::string city;
    std::int32_t number{};
    std::int64_t cents{};
};
ENTITABLE(cached, partition_key(city), row_key(literal("CACHED:"), number), properties(cents))

/// The sum of a city, and how many changes were counted.
struct total {
    std::string city;
    std::int64_t orders{};
    std::int64_t cents{};
    std::int64_t changes{};
};
ENTITABLE(total, partition_key(city), row_key(literal("TOTAL")), properties(orders, cents, changes))

/// The same sum as a view that is refreshed as a whole.
struct refreshed {
    std::string city;
    std::int64_t orders{};
    std::int64_t cents{};

    static refreshed key(order const& of) { return {of.city, 0, 0}; }
    void add(order const& of) {
        ++orders;
        cents += of.cents;
    }
};
ENTITABLE(refreshed, partition_key(city), row_key(literal("TOTAL")), properties(orders, cents))

using orders_table = table<order, announced>;
using views_table = table<cached, total>;

table_options options_with(entitable::clock& time) {
    table_options how;
    how.time = &time;
    return how;
}

/// Brings the copy of an order, and the sum, to the state of the order.
template <class Transaction>
result<void> refresh(
    Transaction& all, orders_table const& orders, std::string const& city, std::int32_t number, total& sum) {
    ENTITABLE_TRY(auto const before, all.template find<cached>(number));
    ENTITABLE_TRY(auto const now, orders.find(city, number));
    if (before) {
        --sum.orders;
        sum.cents -= before->cents;
    }
    if (now) {
        ++sum.orders;
        sum.cents += now->cents;
        all.insert_or_replace(cached{city, number, now->cents});
    } else if (before) {
        all.remove(*before, any_etag);
    }
    return {};
}

result<void> keep_view(feed_batch const& batch, partition_changes const& each, orders_table const& orders,
    views_table const& views, bool once = true) {
    std::string const city = each.partition_key;
    return views
               .transact(city,
                   [&](auto& all) -> result<void> {
                       partition_changes fresh = each;
                       if (once) { ENTITABLE_TRY(fresh, batch.done_with(all, each)); }
                       if (!fresh.needs_full_read && fresh.changes.empty()) { return {}; }
                       ENTITABLE_TRY(auto const known, all.template find<total>());
                       total sum = known.value_or(total{city});
                       std::map<std::int32_t, bool> numbers;
                       if (fresh.needs_full_read) {
                           for (std::int32_t number = 1; number < 9; ++number) { numbers[number] = true; }
                       }
                       for (logged_change const& change : fresh.changes) {
                           for (logged_row const& row : change.rows) {
                               numbers[std::stoi(row.row_key.substr(6))] = true;
                           }
                           ++sum.changes;
                       }
                       for (auto const& [number, is_changed] : numbers) {
                           ENTITABLE_CHECK(refresh(all, orders, city, number, sum));
                       }
                       all.insert_or_replace(sum);
                       return {};
                   })
               .has_value()
        ? result<void>{}
        : result<void>{failure{error_code::internal_error, "not kept"}};
}

result<void> run_worker(any_store const& through, entitable::clock& time, bool once = true) {
    orders_table const orders{through, "orders", options_with(time)};
    views_table const views{through, "views"};
    feed_options how;
    how.time = &time;
    feed const changes{orders, "view", how};
    ENTITABLE_CHECK(changes.create());
    for (int rounds = 0; rounds < 2; ++rounds) { // changes that come while the first are processed
        for (;;) {
            ENTITABLE_TRY(auto const batch, changes.next());
            if (!batch) { break; }
            for (partition_changes const& each : batch->partitions()) {
                ENTITABLE_CHECK(keep_view(*batch, each, orders, views, once));
            }
            ENTITABLE_CHECK(batch->done());
        }
    }
    return {};
}

void pass_a_minute(entitable::clock& time) {
    static_cast<testing::manual_clock&>(time).advance(std::chrono::minutes{1});
}

testing::crash_point_world world_of_orders() {
    testing::crash_point_world world;
    world.begin = [](any_store const& store, entitable::clock& time) {
        orders_table const orders{store, "orders", options_with(time)};
        orders.create().value();
        views_table{store, "views"}.create().value();
        orders.insert(order{"Kiel", 1, 10}).value();
        run_worker(store, time).value();
        pass_a_minute(time); // the lease of that worker ends
        orders.insert(order{"Kiel", 2, 20}).value();
        orders.insert(order{"Bonn", 1, 30}).value();
        orders.replace(order{"Kiel", 1, 15}, any_etag).value();
        orders.remove("Bonn", 1, any_etag).value();
    };
    world.meanwhile = [](any_store const& store, entitable::clock& time) {
        orders_table const orders{store, "orders", options_with(time)};
        orders.insert(order{"Kiel", 3, 1}).value();
        orders.insert(order{"Mainz", 1, 2}).value();
        for (int worker = 0; worker < 2; ++worker) {
            pass_a_minute(time);
            static_cast<void>(run_worker(store, time));
        }
    };
    world.shows = [](any_store const& store) {
        std::string made;
        views_table const views{store, "views"};
        for (total const& each : views.scan_table<total>()) {
            made += each.city + " " + std::to_string(each.orders) + " " + std::to_string(each.cents) + " " +
                std::to_string(each.changes) + "\n";
        }
        for (cached const& each : views.scan_table<cached>()) {
            made += each.city + " " + std::to_string(each.number) + " " + std::to_string(each.cents) + "\n";
        }
        return made;
    };
    world.wrong = [](any_store const& store) -> std::string {
        std::map<std::pair<std::string, std::int32_t>, std::int64_t> expected;
        std::map<std::pair<std::string, std::int32_t>, std::int64_t> found;
        for (order const& each : table<order>{store, "orders"}.scan_table()) {
            expected[{each.city, each.number}] = each.cents;
        }
        for (cached const& each : views_table{store, "views"}.scan_table<cached>()) {
            found[{each.city, each.number}] = each.cents;
        }
        return expected == found ? "" : "the cache differs from the table";
    };
    return world;
}

} // namespace

TEST_CASE("feed: a cache and a view are equal to the source after every crash, and count each change once") {
    auto const found = testing::every_crash_point(
        [](any_store through, entitable::clock& time) { static_cast<void>(run_worker(through, time)); },
        world_of_orders());
    CAPTURE(found.point);
    CHECK(found.problem == "");
    CHECK(found.points > 300);
}

TEST_CASE("feed: without done_with, a crash counts changes twice") {
    auto const found = testing::every_crash_point(
        [](any_store through, entitable::clock& time) { static_cast<void>(run_worker(through, time, false)); },
        world_of_orders());
    CHECK(found.problem != "");
}

TEST_CASE("feed: a position that is saved without the transaction of the effect is detected") {
    auto const defect = entitable_test::with_defect(
        []<class Request>(any_store const& to, Request const& request, call& context) -> result<response_of<Request>> {
            if constexpr (std::same_as<Request, transact>) {
                transact position{request.table, {}};
                transact effect{request.table, {}};
                for (mutation const& each : request.changes) {
                    bool const is_position = each.entity.row_key().starts_with(system_row::fed);
                    (is_position ? position : effect).changes.push_back(each);
                }
                if (!position.changes.empty() && !effect.changes.empty()) {
                    auto first = to.execute(position, context);
                    if (!first) { return first; }
                    auto second = to.execute(effect, context);
                    if (!second) { return second; }
                    second->results.resize(request.changes.size());
                    return second;
                }
            }
            return to.execute(request, context);
        });
    auto world = world_of_orders();
    world.meanwhile = {};
    auto const found = testing::every_crash_point(
        [&](any_store through, entitable::clock& time) {
            // The defect is in front of the interruption, so that it can end between the two.
            static_cast<void>(run_worker(defect(std::move(through)), time));
        },
        world);
    CHECK(found.problem != "");
}

namespace {

struct counting {
    using is_transport = void;
    any_store below;
    std::size_t* sent;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++*sent;
        return below.execute(request, context);
    }
};

} // namespace

TEST_CASE("feed: requests for a million partitions and ten changes a second") {
    constexpr std::size_t seconds = 60;
    constexpr std::size_t changes_a_second = 10;
    double const span = seconds;
    for (bool const is_second_there : {false, true}) {
        testing::manual_clock time;
        local_options made;
        made.time = &time;
        memory_backend const store{made};
        std::size_t written = 0;
        std::size_t by_one = 0;
        std::size_t by_two = 0;
        table_options how = options_with(time);
        how.lease = std::chrono::hours{1};
        auto const open = [&](std::size_t& count) { return orders_table{counting{store, &count}, "orders", how}; };
        auto const writer = open(written);
        writer.create().value();
        feed_options options;
        options.time = &time;
        feed const one{open(by_one), "search", options};
        feed const two{open(by_two), "cache", options};
        one.create().value();
        if (is_second_there) { two.create().value(); }
        // The first look claims the lanes.
        CHECK_FALSE(one.next().value());
        if (is_second_there) { CHECK_FALSE(two.next().value()); }
        writer.insert(order{"warm", 1, 1}).value();
        written = by_one = by_two = 0;
        random_source random{7};
        std::size_t partitions = 0;
        auto const drain = [&](feed const& changes) {
            std::size_t found = 0;
            while (auto const batch = changes.next().value()) {
                found += batch->partitions().size();
                batch->done().value();
            }
            return found;
        };
        for (std::size_t second = 0; second < seconds; ++second) {
            for (std::size_t change = 0; change < changes_a_second; ++change) {
                // The store has only the partitions that are written: the others cost nothing.
                writer.insert(order{"city" + std::to_string(random.bits() % 1'000'000), 1, 1}).value();
            }
            partitions += drain(one);
            if (is_second_there) { partitions += drain(two); }
            time.advance(std::chrono::seconds{1});
        }
        double const groups = is_second_there ? 2 : 1;
        CHECK(double(partitions) >= groups * seconds * changes_a_second);
        CAPTURE(double(written) / span, double(by_one) / span, double(by_two) / span);
        CHECK(double(written) / span <= 30.1);
        CHECK(double(by_one) / span <= (is_second_there ? 55 : 45)); // 10 reads of positions of the other group
        CHECK(double(by_two) / span <= 55);
        std::cout << "requests a second: writers " << double(written) / span << ", groups " << double(by_one) / span
                  << " and " << double(by_two) / span << '\n';
        by_one = 0; // idle: a look at each lane, and now and then a lease
        for (std::size_t second = 0; second < seconds; ++second) {
            CHECK_FALSE(one.next().value());
            time.advance(std::chrono::seconds{1});
        }
        CHECK(double(by_one) / span <= 9);
        by_one = 0;
        CHECK_FALSE(one.next(std::chrono::minutes{10}).value());
        CHECK(double(by_one) / 600 <= 1.5);
        std::cout << "idle: " << double(by_one) / 600 << '\n';
    }
}

TEST_CASE("feed: requests of sums that are kept with done_with, and of a full refresh") {
    constexpr std::size_t cities = 1'000;
    constexpr std::int32_t orders_of_a_city = 8; // as many as `keep_view` reads
    testing::manual_clock time;
    local_options made;
    made.time = &time;
    memory_backend const store{made};
    std::size_t requests = 0;
    table_options how = options_with(time);
    how.lease = std::chrono::hours{10};
    orders_table const writer{store, "orders", how};
    writer.create().value();
    orders_table const orders{counting{store, &requests}, "orders", how};
    views_table const views{counting{store, &requests}, "views"};
    views.create().value();
    std::vector<order> all;
    for (std::size_t city = 0; city < cities; ++city) {
        for (std::int32_t number = 1; number <= orders_of_a_city; ++number) {
            all.push_back({"city" + std::to_string(city), number, number});
        }
    }
    bulk_insert(writer, all).value();
    feed_options options;
    options.time = &time;
    feed const changes{orders, "view", options};
    changes.create().value();
    auto const drain = [&] {
        while (auto const batch = changes.next().value()) {
            for (partition_changes const& each : batch->partitions()) {
                CHECK(keep_view(*batch, each, orders, views).has_value());
            }
            batch->done().value();
        }
    };
    drain();
    time.advance(std::chrono::seconds{20});
    CHECK_FALSE(changes.next().value()); // renews the leases
    materialized_view<refreshed> const view{counting{store, &requests}, "refreshed"};
    view.create().value();
    for (std::size_t const changed : {std::size_t{10}, std::size_t{100}, cities}) {
        for (std::size_t at = 0; at < changed; ++at) {
            writer.replace(order{"city" + std::to_string(at * (cities / changed)), 1, 100}, any_etag).value();
        }
        requests = 0;
        drain();
        double const a_change = double(requests) / double(changed);
        requests = 0;
        view.refresh(orders.scan_table()).value();
        std::cout << "sums of " << changed << " changed orders, each in another city: " << a_change
                  << " requests a change; a refresh of " << cities * std::size_t{orders_of_a_city} << " orders in "
                  << cities << " groups: " << requests << '\n';
        CHECK(requests <= cities + cities * std::size_t{orders_of_a_city} / 1'000 + 10);
        if (changed > 10) { CHECK(a_change <= 6.5); } // the looks at the lanes are shared
        for (total const& each : views.scan_table<total>()) { CHECK(each.orders == orders_of_a_city); }
    }
}
