// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Feeds: announcements and their stored rows, groups that join and leave, workers that lose their lane, errors, limits, effects in other
// tables after every crash, and requests.

#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/copy.hpp>
#include <entitable/core/try.hpp>
#include <entitable/feed.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/contents.hpp>
#include <entitable/testing/crash_points.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <map>
#include <set>

using namespace entitable;

namespace {

struct order {
    std::string city;
    std::int32_t number{};
    std::string customer;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(city), row_key(literal("ORDER:"), number), properties(customer, cents))

struct city_total {
    std::string city;
    std::int64_t orders{};
    std::int64_t cents{};
};
ENTITABLE(city_total, partition_key(literal("TOTALS")), row_key(city), properties(orders, cents))

struct by_customer_row {
    std::string city;
    std::string customer;
    std::int32_t number{};
};
ENTITABLE(by_customer_row, partition_key(city), row_key(escaped(customer), number))

using orders_table = table<order, announced>;
using laned_table = table<order, logged_with<log_options{.lanes = 3, .announced = true, .feed_lanes = 2}>>;

order make(std::string city, std::int32_t number, std::int64_t cents = 5, std::string customer = "ann") {
    return {std::move(city), number, std::move(customer), cents};
}

/// A store, a clock and a table.
template <class Table = orders_table>
struct opened {
    testing::manual_clock time;
    memory_backend store{[this] {
        local_options options;
        options.time = &time;
        return options;
    }()};
    table_options how{.time = &time};
    Table orders{store, "orders", how};

    opened() { orders.create().value(); }
    feed_options options(std::uint64_t seed = 0) {
        feed_options made;
        made.time = &time;
        made.seed = seed;
        return made;
    }
    feed group(std::string name) { return feed{orders, std::move(name), options()}; }
    std::vector<std::string> rows_of_feed(char kind) {
        std::vector<std::string> found;
        auto const all = testing::read_contents(store, {"ordersfeed"}).value();
        std::string const prefix = detail::feed_prefix(kind);
        for (auto const& [keys, each] : all.tables.at("ordersfeed")) {
            if (keys.second.starts_with(prefix)) { found.push_back(keys.second.substr(prefix.size())); }
        }
        return found;
    }
};

/// "Kiel:+1+2 Bonn:all": what a worker gets until there is nothing.
std::string drain(feed const& changes, bool done = true) {
    std::multiset<std::string> found;
    while (auto batch = changes.next().value()) {
        for (partition_changes const& each : batch->partitions()) {
            std::string made = each.partition_key + ":";
            if (each.needs_full_read) { made += "all"; }
            for (logged_change const& change : each.changes) {
                for (logged_row const& one : change.rows) {
                    made += (one.removed ? "-" : "+") + std::to_string(std::stoi(one.row_key.substr(6)));
                }
            }
            found.insert(made);
        }
        if (!done) { break; }
        batch->done().value();
    }
    std::string all;
    for (std::string const& each : found) { all += (all.empty() ? "" : " ") + each; }
    return all;
}

} // namespace

TEST_CASE("feed: a group gets all partitions when it joins, and then the changes") {
    opened<> shop;
    shop.orders.insert(make("Kiel", 1)).value();
    shop.orders.insert(make("Bonn", 1)).value();
    auto const changes = shop.group("search");
    CHECK(changes.create().value());
    CHECK_FALSE(changes.create().value());
    CHECK(drain(changes) == "Bonn:all Kiel:all");
    CHECK(drain(changes) == "");
    shop.orders.insert(make("Kiel", 2)).value();
    shop.orders.remove("Kiel", 1, any_etag).value();
    shop.orders.insert(make("Mainz", 7)).value(); // a new partition is not read as a whole
    CHECK(drain(changes) == "Kiel:+2-1 Mainz:+7");
    CHECK(drain(changes) == "");
}

TEST_CASE("feed: rows from before the log are handed over as well") {
    opened<> shop;
    shop.orders.unmaintained().insert(make("Kiel", 1)).value();
    auto const changes = shop.group("search");
    changes.create().value();
    CHECK(drain(changes) == "Kiel:all");
}

TEST_CASE("feed: a change that is not done is handed over again") {
    opened<> shop;
    auto const changes = shop.group("search");
    changes.create().value();
    shop.orders.insert(make("Kiel", 1)).value();
    CHECK(drain(changes, false) == "Kiel:+1");
    CHECK(drain(changes, false) == "Kiel:+1");
    CHECK(drain(changes) == "Kiel:+1");
    CHECK(drain(changes) == "");
}

TEST_CASE("feed: groups are independent, and the last one removes the announcements") {
    opened<> shop;
    auto const search = shop.group("search");
    auto const cache = shop.group("cache");
    search.create().value();
    cache.create().value();
    shop.orders.insert(make("Kiel", 1)).value();
    CHECK(drain(search) == "Kiel:+1");
    CHECK(shop.rows_of_feed('a').size() == 1);
    shop.time.advance(std::chrono::seconds{1});
    auto const status = search.status().value();
    REQUIRE(status.groups.size() == 2);
    CHECK(status.groups[0].name == "cache");
    CHECK(status.groups[0].partitions_behind == 1);
    CHECK(status.groups[1].partitions_behind == 0);
    CHECK(status.groups[0].processed_until < status.groups[1].processed_until);
    CHECK(drain(cache) == "Kiel:+1");
    CHECK(shop.rows_of_feed('a').empty());
    shop.orders.insert(make("Kiel", 2)).value();
    CHECK(drain(cache) == "Kiel:+2");
    search.leave().value();
    shop.time.advance(std::chrono::minutes{1}); // the other group looks at the partition again
    CHECK(drain(cache) == "");
    shop.time.advance(std::chrono::minutes{1});
    CHECK(drain(cache) == ""); // a block of numbers was announced: what is left of it is voided
    CHECK(shop.rows_of_feed('a').empty());
    CHECK(shop.rows_of_feed('p').size() == 1);
}

TEST_CASE("feed: a group that was never created, or has left, is an error that names it") {
    opened<> shop;
    auto const changes = shop.group("search");
    auto const none = changes.next();
    REQUIRE_FALSE(none);
    CHECK(none.error().code == error_code::group_missing);
    CHECK(none.error().message.find("\"search\"") != std::string::npos);
    CHECK(none.error().message.find("\"orders\"") != std::string::npos);
    CHECK(shop.rows_of_feed('l').empty());
    changes.create().value();
    shop.orders.insert(make("Kiel", 1)).value();
    auto const batch = changes.next().value();
    REQUIRE(batch);
    shop.group("search").leave().value();
    CHECK(shop.rows_of_feed('g').empty());
    auto const late = batch->done();
    REQUIRE_FALSE(late);
    CHECK((late.error().code == error_code::lane_lost || late.error().code == error_code::group_missing));
    CHECK(changes.next().error().code == error_code::group_missing);
    CHECK(shop.rows_of_feed('p').empty());
    changes.create().value();
    CHECK(drain(changes) == "Kiel:all");
}

TEST_CASE("feed: a worker that is too slow loses its lane") {
    opened<> shop;
    auto const slow = shop.group("search");
    auto const other = shop.group("search");
    slow.create().value();
    shop.orders.insert(make("Kiel", 1)).value();
    auto const batch = slow.next().value();
    REQUIRE(batch);
    CHECK(drain(other) == ""); // the lanes are held
    shop.time.advance(std::chrono::seconds{31});
    CHECK(drain(other) == "Kiel:+1");
    auto const late = batch->done();
    REQUIRE_FALSE(late);
    CHECK(late.error().code == error_code::lane_lost);
    CHECK(late.error().message.find("\"search\"") != std::string::npos);
    CHECK(batch->done().error().code == error_code::lane_lost);
    CHECK(drain(slow) == "");
    other.release().value();
    shop.orders.insert(make("Kiel", 2)).value();
    shop.time.advance(std::chrono::seconds{31}); // it learned when the lease would end
    CHECK(drain(slow) == "Kiel:+2");
}

TEST_CASE("feed: workers share the lanes") {
    opened<> shop;
    feed_options how = shop.options();
    how.max_lanes = 4;
    feed const one{shop.orders, "search", how};
    feed const two{shop.orders, "search", how};
    one.create().value();
    for (std::int32_t city = 0; city < 40; ++city) {
        shop.orders.insert(make("city" + std::to_string(city), 1)).value();
    }
    auto const cities = [](std::string const& text) { return std::count(text.begin(), text.end(), ':'); };
    auto const first = cities(drain(one));
    auto const second = cities(drain(two));
    CHECK(first > 5);
    CHECK(second > 5);
    CHECK(first + second == 40);
}

TEST_CASE("feed: a trimmed log is a full read, or an error that names the partition and the group") {
    opened<> shop;
    auto const trims = [&] {
        auto const heads = changes_of(shop.orders, "Kiel").value();
        trim_changes(shop.orders, "Kiel", heads.position, {.keep = {}}).value();
    };
    auto const changes = shop.group("search");
    feed_options how = shop.options();
    how.full_reads = false;
    feed const strict{shop.orders, "billing", how};
    shop.orders.insert(make("Kiel", 1)).value();
    changes.create().value();
    strict.create().value();
    CHECK(drain(changes) == "Kiel:all");
    CHECK(drain(strict) == ""); // begins with later changes
    shop.orders.insert(make("Kiel", 2)).value();
    CHECK(drain(strict) == "Kiel:+2");
    shop.orders.insert(make("Kiel", 3)).value();
    trims();
    CHECK(drain(changes) == "Kiel:all");
    auto const refused = strict.next();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::log_trimmed);
    CHECK(refused.error().message.find("\"Kiel\"") != std::string::npos);
    CHECK(refused.error().message.find("\"billing\"") != std::string::npos);
}

TEST_CASE("feed: a group that is behind is reported by its name, and nothing is trimmed for it") {
    opened<> shop;
    auto const search = shop.group("search");
    auto const cache = shop.group("cache");
    search.create().value();
    cache.create().value();
    shop.time.advance(std::chrono::hours{1});
    for (std::int32_t number = 1; number <= 80; ++number) { shop.orders.insert(make("Kiel", number)).value(); }
    CHECK(drain(search) != "");
    CHECK(search.check_lag());
    shop.time.advance(std::chrono::hours{8 * 24});
    auto const behind = search.check_lag();
    REQUIRE_FALSE(behind);
    CHECK(behind.error().code == error_code::group_behind);
    CHECK(behind.error().message.find("\"cache\"") != std::string::npos);
    CHECK(search.check_lag(std::chrono::hours{30 * 24}));
    shop.orders.insert(make("Kiel", 81)).value();
    CHECK(drain(search) == "Kiel:+81");
    CHECK(changes_of(shop.orders, "Kiel", {detail::first_position(*shop.orders.logged_family()).value()})
              .value()
              .changes.size() == 81);
    CHECK(drain(cache) != "");
    CHECK(search.check_lag());
}

TEST_CASE("feed: what all groups have processed is trimmed") {
    opened<> shop;
    auto const search = shop.group("search");
    search.create().value();
    for (std::int32_t number = 1; number <= 100; ++number) { shop.orders.insert(make("Kiel", number)).value(); }
    shop.time.advance(std::chrono::hours{1});
    CHECK(drain(search) != "");
    auto const left = testing::read_contents(shop.store, {"orders"}).value();
    std::size_t entries = 0;
    for (auto const& [keys, each] : left.tables.at("orders")) {
        entries += keys.second.starts_with(system_row::log) ? 1U : 0U;
    }
    CHECK(entries == 1); // the head
    shop.orders.insert(make("Kiel", 101)).value();
    CHECK(drain(search) == "Kiel:+101");
}

TEST_CASE("feed: a number that is announced and never written is voided") {
    opened<> shop;
    auto const search = shop.group("search");
    search.create().value();
    shop.orders.insert(make("Kiel", 1)).value();
    CHECK(drain(search) == "Kiel:+1");
    call context;
    any_store const raw{shop.store};
    raw.execute(write_entity{"ordersfeed", mutation::insert(detail::announcement_row("Kiel", 8, 0, 2))}, context)
        .value();
    raw.execute(write_entity{"ordersfeed", mutation::insert(detail::announcement_row("Bonn", 8, 0, 1))}, context)
        .value();
    CHECK(drain(search) == "");
    CHECK(shop.rows_of_feed('a').size() == 2);
    shop.time.advance(std::chrono::seconds{31});
    CHECK(drain(search) == ""); // voids
    CHECK(drain(search) == "");
    CHECK(shop.rows_of_feed('a').empty());
    shop.orders.insert(make("Kiel", 2)).value(); // by a writer that knew the head from before
    shop.orders.insert(make("Bonn", 2)).value();
    CHECK(drain(search) == "Bonn:+2 Kiel:+2");
}

TEST_CASE("feed: long, empty and odd partition keys, and lanes of the log") {
    opened<laned_table> shop;
    std::string const large(500, 'x');
    std::vector<std::string> const cities{"", "a!b", "~", large, large.substr(1) + "y", "a/b"};
    auto const changes = shop.group("search");
    changes.create().value();
    std::set<std::string> found;
    std::set<std::string> expected;
    for (std::string const& city : cities) {
        auto const made = shop.orders.insert(make(city, 1));
        if (!made) { continue; } // a key that no store takes
        shop.orders.insert(make(city, 2)).value();
        expected.insert(city);
    }
    CHECK(expected.size() >= 5);
    std::size_t rows = 0;
    while (auto batch = changes.next().value()) {
        for (partition_changes const& each : batch->partitions()) {
            found.insert(each.partition_key);
            for (logged_change const& change : each.changes) { rows += change.rows.size(); }
        }
        batch->done().value();
    }
    CHECK(found == expected);
    CHECK(rows == 2 * expected.size());
}

TEST_CASE("feed: batches of at most max_partitions, and pages of at most max_changes") {
    opened<> shop;
    feed_options how = shop.options();
    how.max_partitions = 1;
    how.max_changes = 2;
    feed const changes{shop.orders, "search", how};
    changes.create().value();
    for (std::int32_t number = 1; number <= 5; ++number) {
        shop.orders.insert(make("Kiel", number)).value();
        shop.orders.insert(make("city" + std::to_string(number), 1)).value();
    }
    CHECK(drain(changes) == "Kiel:+1+2 Kiel:+3+4 Kiel:+5 city1:+1 city2:+1 city3:+1 city4:+1 city5:+1");
}

TEST_CASE("feed: a page of changes that names no rows does not end the look") {
    memory_backend const store{local_options{.page_bytes = 1}}; // one row in each page
    orders_table const orders{store, "orders"};
    orders.create().value();
    feed const changes{orders, "search"};
    changes.create().value();
    orders.insert(make("Kiel", 1)).value();
    CHECK(drain(changes) == "Kiel:+1");
    testing::faulty<any_store> bad{any_store{store}, testing::faulty_options{}};
    bad.plan({testing::fault::lost_before(), 1, "transact"});
    orders_table{any_store{bad}, "orders"}.insert(make("Kiel", 2)).value(); // the number of the lost request is void
    CHECK(drain(changes) == "Kiel:+2");
}

TEST_CASE("feed: wrong names and options are refused before any request") {
    opened<> shop;
    auto const code = [&](std::string name, auto change) {
        feed_options how = shop.options();
        change(how);
        return feed{shop.orders, std::move(name), how}.next().error().code;
    };
    auto const none = [](feed_options&) {};
    CHECK(code("", none) == error_code::invalid_input);
    CHECK(code("a!b", none) == error_code::invalid_input);
    CHECK(code(std::string(51, 'a'), none) == error_code::invalid_input);
    CHECK(code("a", [](feed_options& how) { how.lease = std::chrono::seconds{1}; }) == error_code::out_of_range_input);
    CHECK(code("a", [](feed_options& how) { how.max_partitions = 50; }) == error_code::out_of_range_input);
    CHECK(code("a", [](feed_options& how) { how.max_changes = 0; }) == error_code::out_of_range_input);
    CHECK(code("a", [](feed_options& how) { how.max_lanes = 0; }) == error_code::out_of_range_input);
    CHECK(code("a", [](feed_options& how) { how.calls.operation_id = "x"; }) == error_code::invalid_input);
}

TEST_CASE("feed: the table of announcements comes and goes with the table, and is not copied") {
    opened<> shop;
    shop.orders.insert(make("Kiel", 1)).value();
    shop.group("search").create().value();
    memory_backend other;
    table<order>{other, "ordersfeed"}.create().value();
    CHECK(copy_rows(shop.store, "ordersfeed", other, "ordersfeed", copy_options{}).error().code ==
        error_code::not_supported);
    shop.orders.drop().value();
    CHECK(table<order>{shop.store, "ordersfeed"}.create_if_absent().value());
}

TEST_CASE("feed: a logged table is announced after it was built again, and other declarations are refused") {
    opened<table<order, logged>> shop;
    shop.orders.insert(make("Kiel", 1)).value();
    orders_table const announcing{shop.store, "orders", shop.how};
    CHECK(announcing.insert(make("Kiel", 2)).error().code == error_code::index_definition_differs);
    announcing.build().value();
    shop.time.advance(std::chrono::hours{1});
    announcing.insert(make("Kiel", 2)).value();
    CHECK_FALSE(shop.orders.insert(make("Kiel", 3)));
    feed const changes{announcing, "search", shop.options()};
    changes.create().value();
    CHECK(drain(changes) == "Kiel:all");
    announcing.insert(make("Kiel", 3)).value();
    CHECK(drain(changes) == "Kiel:+3");
}

// ---- stored rows ------------------------------------------------------------------------------------

TEST_CASE("announcements: golden values") {
    opened<> shop;
    shop.orders.insert(make("Kiel", 1)).value();
    auto const all = testing::read_contents(shop.store, {"orders", "ordersfeed"}).value();
    auto const& announcements = all.tables.at("ordersfeed");
    REQUIRE(announcements.size() == 1);
    auto const& [keys, one] = *announcements.begin();
    CHECK(keys.first == "~!feed!00");
    CHECK(keys.second == "~!feed!a!Kiel!00!0000000000000001");
    CHECK(one.view().find("Partition")->bytes() == "Kiel");
    auto const& head = all.tables.at("orders").at({"Kiel", "~!log!head"});
    CHECK(head.view().find("Number")->bits() == 1);
    CHECK(head.view().find("Announced")->bits() == 1);
    CHECK(detail::feed_partition_text(std::string(500, 'x')) == "~25b7adcdae9e47c5b0012c661dd6eca38");
    CHECK(detail::feed_partition_text("a!b/c") == "a\"21b.1c");
    CHECK(detail::shape_of_log(1, 0).definition == 7163082334141743105U);
    CHECK(detail::shape_of_log(1, 8).definition == 7163082334141743105U + 8 * 256);

    auto const search = shop.group("search");
    search.create().value();
    CHECK(drain(search) == "Kiel:all");
    auto const later = testing::read_contents(shop.store, {"ordersfeed"}).value().tables.at("ordersfeed");
    auto const& position = later.at({"~!feed!00", "~!feed!p!search!Kiel"}).view();
    CHECK(position.find("Partition")->bytes() == "Kiel");
    CHECK(position.find("Position")->bytes().starts_with("1!"));
    CHECK(position.find("Position")->bytes().ends_with("!1"));
    CHECK(position.find("Trimmed")->bits() == 0);
    CHECK(later.at({"~!feed!00", "~!feed!g!search"}).view().find("Joined")->bits() == 1);
    CHECK(later.contains({"~!feed!00", "~!feed!l!search"}));
}

TEST_CASE("logged: a table without announcements stores and sends what it did before") {
    opened<table<order, logged>> shop;
    shop.orders.insert(make("Kiel", 1)).value();
    shop.orders.insert(make("Kiel", 2)).value();
    auto const all = testing::read_contents(shop.store).value();
    CHECK(all.tables.size() == 1);
    CHECK_FALSE(all.tables.at("orders").at({"Kiel", "~!log!head"}).view().find("Announced"));
}

// ---- requests ---------------------------------------------------------------------------------------

namespace {

/// Counts requests by kind.
struct counting {
    using is_transport = void;
    any_store below;
    std::map<std::string, std::size_t>* sent;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++(*sent)[std::string{Request::name}];
        return below.execute(request, context);
    }
};
std::size_t sum_of(std::map<std::string, std::size_t> const& all) {
    std::size_t sum = 0;
    for (auto const& [name, times] : all) { sum += times; }
    return sum;
}

} // namespace

TEST_CASE("announcements: a first write takes one more request, and later ones one in 32") {
    opened<> shop;
    std::map<std::string, std::size_t> sent;
    orders_table const orders{counting{shop.store, &sent}, "orders", shop.how};
    orders.insert(make("Bonn", 1)).value(); // reads the declaration
    sent.clear();
    orders.insert(make("Kiel", 1)).value();
    CHECK(sum_of(sent) == 3); // head, announcement, transaction
    sent.clear();
    for (std::int32_t number = 2; number <= 65; ++number) { orders.insert(make("Kiel", number)).value(); }
    CHECK(sum_of(sent) == 64 + 2);
    shop.time.advance(std::chrono::minutes{1});
    sent.clear();
    orders.insert(make("Kiel", 66)).value();
    orders.insert(make("Mainz", 1)).value();
    shop.time.advance(std::chrono::seconds{30});
    orders.insert(make("Mainz", 2)).value(); // not written for a while: one number
    CHECK(shop.rows_of_feed('a').back() == "Mainz!00!0000000000000002");
}
