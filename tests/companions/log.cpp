// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// The change log of a table: what each write logs, what readers get, trimming, lost responses, limits, costs, and the stored rows.

#include "support/catch.hpp"
#include <entitable/async_tables.hpp>
#include <entitable/bulk.hpp>
#include <entitable/changes.hpp>
#include <entitable/copy.hpp>
#include <entitable/expiry.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/unit_of_work.hpp>

using namespace entitable;

namespace {

struct order {
    std::string city;
    std::int32_t number{};
    std::string customer;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(city), row_key(literal("ORDER:"), number), properties(customer, cents))

struct by_customer : order {};
ENTITABLE(by_customer, partition_key(city), row_key(literal("CUSTOMER:"), escaped(customer), number), properties(cents))

struct by_buyer : order {};
ENTITABLE(by_buyer, partition_key(customer), row_key(literal("BUYER:"), escaped(city), number), properties(cents))

struct takings {
    std::string city;
    std::int64_t cents{};
    static takings key(order const& of) { return {of.city}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
};
ENTITABLE(takings, partition_key(city), row_key(literal("TAKINGS")), properties(cents))

using orders_table = table<order, logged>;
using laned_table = table<order, logged_with<log_options{.lanes = 8}>>;

order make(std::int32_t number, std::int64_t cents = 5) { return {"Kiel", number, "ann", cents}; }

/// "1:+ORDER:0000000001 2:-ORDER:0000000001"
std::string text_of(std::vector<logged_change> const& changes) {
    std::string made;
    for (logged_change const& each : changes) {
        made += (made.empty() ? "" : " ") + std::to_string(each.number) + ":";
        for (logged_row const& one : each.rows) {
            std::string key = one.row_key;
            if (key.starts_with("ORDER:")) { key = std::to_string(std::stoi(key.substr(6))); }
            made += (one.removed ? "-" : "+") + key;
        }
    }
    return made;
}

/// Follows the log of a partition.
template <class Table>
struct follower {
    Table const& of;
    log_position at{};
    std::size_t full_reads{};
    std::string next(std::uint32_t most = 1000) {
        auto page = changes_of(of, "Kiel", at, {most}).value();
        at = page.position;
        full_reads += page.needs_full_read ? 1 : 0;
        CHECK((!page.needs_full_read || page.changes.empty()));
        return page.needs_full_read ? "read all" : text_of(page.changes);
    }
};

/// Counts the requests that pass, and can lose the response to one of them.
struct meddler {
    std::size_t requests{};
    std::size_t operations{};     ///< of the last transaction
    std::size_t lose{};           ///< number of the request whose response is lost, from 1
    bool applied{true};           ///< whether that request is applied
    std::function<void()> then{}; ///< called after it
};
struct meddling {
    using is_transport = void;
    any_store below;
    meddler* to;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++to->requests;
        if constexpr (std::same_as<Request, transact>) { to->operations = request.changes.size(); }
        if (to->requests != to->lose) { return below.execute(request, context); }
        if (to->applied) { (void)below.execute(request, context); }
        if (to->then) { to->then(); }
        failure lost{error_code::transport_failed, "lost"};
        lost.error().effect = Request::writes ? effect::unknown : effect::none;
        return lost;
    }
};

template <class Table = orders_table>
struct opened {
    memory_backend store;
    meddler meddled;
    Table orders;
    follower<Table> log{orders};

    explicit opened(table_options how = {}) : orders(meddling{store, &meddled}, "orders", std::move(how)) {
        orders.create().value();
        CHECK(log.next() == "read all");
        meddled = {};
    }
    std::vector<row> system_rows() {
        std::vector<row> found;
        for (row const& each : rows()) {
            if (each.row_key().starts_with(system_row::log)) { found.push_back(each); }
        }
        return found;
    }
    std::vector<row> rows() {
        call context;
        query_entities asked;
        asked.table = "orders";
        asked.range.partition = key_interval::only("Kiel");
        auto const page = any_store{store}.execute(asked, context).value();
        std::vector<row> found;
        for (std::size_t at = 0; at < page.rows.size(); ++at) { found.emplace_back(page.rows[at]); }
        return found;
    }
};

} // namespace

TEST_CASE("changes_of: each verb logs its row once") {
    opened<> shop;
    auto& orders = shop.orders;
    orders.insert(make(1)).value();
    CHECK(shop.log.next() == "1:+1");
    CHECK(shop.log.next() == "");
    auto const version = orders.replace(make(1, 6), any_etag).value().etag;
    orders.replace(make(1, 7), version).value();
    orders.merge(make(1, 8), any_etag).value();
    orders.merge(at("Kiel", 1), fields<order>::cents = 9, any_etag).value();
    CHECK(shop.log.next() == "2:+1 3:+1 4:+1 5:+1");
    orders.upsert(make(2)).value();
    orders.insert_or_merge(make(2)).value();
    CHECK(orders.update("Kiel", 2, [](order& one) { ++one.cents; })->changed);
    CHECK(orders.update_if_present("Kiel", 2, [](order& one) { ++one.cents; })->has_value());
    CHECK(shop.log.next() == "6:+2 7:+2 8:+2 9:+2");
    orders.remove("Kiel", 1, any_etag).value();
    CHECK(orders.remove_if_present("Kiel", 2, any_etag)->has_value());
    CHECK_FALSE(orders.remove_if_present("Kiel", 2, any_etag)->has_value());
    CHECK(shop.log.next() == "10:-1 11:-2");
    orders.insert(make(3)).value();
    orders.rekey(make(3), make(4)).value();
    CHECK(shop.log.next() == "12:+3 13:-3+4");
}

TEST_CASE("changes_of: a batch and a transaction are one change each") {
    opened<> shop;
    auto batch = shop.orders.batch();
    batch.insert(make(1)).insert(make(2));
    batch.submit().value();
    shop.orders
        .transact("Kiel",
            [](auto& all) -> result<void> {
                ENTITABLE_TRY(order one, all.get(1));
                one.cents = 7;
                all.replace(one).remove(make(2), any_etag).insert(make(3));
                return {};
            })
        .value();
    CHECK(shop.log.next() == "1:+1+2 2:+1-2+3");
    shop.orders
        .transact("Kiel",
            [](auto& all) -> result<void> {
                return all.get(1).has_value() ? result<void>{} : result<void>{failure{error_code::internal_error, ""}};
            })
        .value();
    CHECK(shop.log.next() == "");
}

TEST_CASE("changes_of: refused writes log nothing") {
    opened<> shop;
    shop.orders.insert(make(1)).value();
    CHECK(shop.orders.insert(make(1)).error().code == error_code::entity_already_exists);
    CHECK_FALSE(shop.orders.insert(make(1)).error().operation_index);
    CHECK(shop.orders.replace(make(9), any_etag).error().code == error_code::resource_not_found);
    CHECK(shop.orders.replace(make(1), etag::of({5})).error().code == error_code::update_condition_not_satisfied);
    CHECK(shop.orders.remove("Kiel", 9, any_etag).error().code == error_code::resource_not_found);
    order large = make(2);
    large.customer.assign(40'000, 'x');
    CHECK(shop.orders.insert(large).error().code == error_code::property_value_too_large);
    auto batch = shop.orders.batch();
    batch.insert(make(3)).insert(make(1));
    auto const refused = batch.submit();
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(refused.error().operation_index == std::optional<std::size_t>{1});
    CHECK(shop.log.next() == "1:+1");
}

TEST_CASE("changes_of: units of work, bulk loads, removals, expiry and copies are logged") {
    opened<> shop;
    unit_of_work work{shop.orders};
    work.add(make(1));
    work.add(make(2));
    CHECK(work.save()->good());
    CHECK(shop.log.next() == "1:+1 2:+2");
    std::vector<order> many;
    for (std::int32_t number = 10; number < 160; ++number) { many.push_back(make(number)); }
    CHECK(bulk_insert(shop.orders, many)->written == 150);
    CHECK(shop.orders.scan_table().count().value() == 152);
    auto page = changes_of(shop.orders, "Kiel", shop.log.at).value();
    std::size_t rows = 0;
    for (logged_change const& each : page.changes) { rows += each.rows.size(); }
    CHECK(rows == 150);
    shop.log.at = page.position;
    CHECK(bulk_remove(shop.orders, shop.orders.where(fields<order>::number >= 10 && fields<order>::city == "Kiel"))
              ->written == 150);
    page = changes_of(shop.orders, "Kiel", shop.log.at).value();
    rows = 0;
    for (logged_change const& each : page.changes) {
        for (logged_row const& one : each.rows) { rows += one.removed ? 1U : 0U; }
    }
    CHECK(rows == 150);
    shop.log.at = page.position;
    table<order> plain{shop.store, "plain"};
    plain.create().value();
    plain.insert(make(7)).value();
    bulk_copy(plain.scan_table(), shop.orders).value();
    CHECK(shop.log.next().ends_with(":+7"));
}

TEST_CASE("changes_of: index rows and sums are not logged, and stay right") {
    opened<table<order, by_customer, takings, logged>> shop;
    shop.orders.insert(make(1)).value();
    shop.orders.update("Kiel", 1, [](order& one) { one.customer = "bob"; }).value();
    shop.orders.remove("Kiel", 1, any_etag).value();
    auto batch = shop.orders.batch();
    batch.insert(make(2)).insert(make(3));
    batch.submit().value();
    CHECK(shop.log.next() == "1:+1 2:+1 3:-1 4:+2+3");
    CHECK((shop.orders.verify)()->good());
    CHECK(shop.orders.sum(takings{"Kiel"})->cents == 10);
    CHECK(shop.orders.repair()->found.good());
    CHECK(shop.log.next() == "");
}

TEST_CASE("changes_of: a table with an index elsewhere") {
    memory_backend store;
    table<order, elsewhere<by_buyer>, logged> const orders{store, "orders", in_table<by_buyer>{store, "buyers"}};
    orders.create().value();
    follower<table<order, elsewhere<by_buyer>, logged>> log{orders};
    CHECK(log.next() == "read all");
    orders.insert(make(1)).value();
    orders.update("Kiel", 1, [](order& one) { one.customer = "bob"; }).value();
    orders.remove("Kiel", 1, any_etag).value();
    CHECK(log.next() == "1:+1 2:+1 3:-1");
    CHECK((orders.verify)()->good());
}

TEST_CASE("changes_of: lanes keep the order of each row") {
    opened<laned_table> shop;
    for (std::int32_t number = 0; number < 40; ++number) { shop.orders.insert(make(number)).value(); }
    auto batch = shop.orders.batch();
    for (std::int32_t number = 0; number < 40; ++number) { batch.replace(make(number, 9), any_etag); }
    batch.submit().value();
    auto const page = changes_of(shop.orders, "Kiel", shop.log.at).value();
    CHECK(page.position.numbers.size() == 8);
    std::map<std::string, std::vector<std::uint32_t>> lanes;
    for (logged_change const& each : page.changes) {
        for (logged_row const& one : each.rows) { lanes[one.row_key].push_back(each.lane); }
    }
    CHECK(lanes.size() == 40);
    for (auto const& [key, of] : lanes) {
        CHECK(of.size() == 2);
        CHECK(of.front() == of.back());
    }
    auto const text = page.position.to_string();
    CHECK(log_position::parse(text) == page.position);
    CHECK(changes_of(shop.orders, "Kiel", page.position)->changes.empty());
}

TEST_CASE("changes_of: 64 lanes") {
    opened<table<order, logged_with<log_options{.lanes = 64}>>> shop;
    std::vector<order> many;
    for (std::int32_t number = 0; number < 500; ++number) { many.push_back(make(number)); }
    CHECK(bulk_insert(shop.orders, many)->written == 500);
    std::size_t rows = 0;
    auto const page = changes_of(shop.orders, "Kiel", shop.log.at).value();
    for (logged_change const& each : page.changes) { rows += each.rows.size(); }
    CHECK(rows == 500);
    auto batch = shop.orders.batch();
    for (std::int32_t number = 0; number < 60; ++number) { batch.replace(make(number, 9), any_etag); }
    auto const refused = batch.submit();
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(refused.error().message.find("the limit is 100:") != std::string::npos);
    CHECK(refused.error().message.find("rows of the change log") != std::string::npos);
}

TEST_CASE("changes_of: a transaction has 98 changes at most, and says so") {
    opened<> shop;
    auto batch = shop.orders.batch();
    for (std::int32_t number = 0; number < 98; ++number) { batch.insert(make(number)); }
    batch.submit().value();
    CHECK(shop.meddled.operations == 100);
    auto more = shop.orders.batch();
    for (std::int32_t number = 100; number < 200; ++number) { more.insert(make(number)); }
    auto const refused = more.submit();
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(refused.error().effect == effect::none);
    CHECK(refused.error().message ==
        "the transaction has 102 operations; the limit is 100: 100 changes, and 2 rows of the change log");
    auto const body = shop.orders.transact("Kiel", [](auto& all) -> result<void> {
        for (std::int32_t number = 100; number < 199; ++number) { all.insert(make(number)); }
        return {};
    });
    CHECK(body.error().code == error_code::invalid_input);
    CHECK(body.error().message.find("2 rows of the change log") != std::string::npos);
    auto const page = changes_of(shop.orders, "Kiel", shop.log.at).value();
    CHECK(page.changes.size() == 1);
    CHECK(page.changes.front().rows.size() == 98);
}

TEST_CASE("changes_of: long row keys take several properties of an entry") {
    auto const key = [](int number) { return std::string(500, 'k') + std::to_string(number); };
    detail::log_entry entry;
    entry.number = 1;
    for (int number = 0; number < 98; ++number) { entry.rows += (number == 0 ? "w" : "/r") + key(number); }
    row const made = detail::log_entry_row("p", detail::log_entry_key(1, 0, 1), entry);
    CHECK(made.view().find("Keys")->bytes().size() <= 32'768);
    CHECK(made.view().find("Keys_1").has_value());
    auto const read = detail::read_log_entry(made.view(), 0).value();
    CHECK(read.change.rows.size() == 98);
    CHECK(read.change.rows[0] == logged_row{key(0), false});
    CHECK(read.change.rows[97] == logged_row{key(97), true});
}

TEST_CASE("changes_of: pages of one change, and a position as a text") {
    opened<> shop;
    for (std::int32_t number = 1; number <= 3; ++number) { shop.orders.insert(make(number)).value(); }
    std::string found;
    for (int page = 0; page < 3; ++page) {
        shop.log.at = log_position::parse(shop.log.at.to_string()).value();
        found += shop.log.next(1) + ";";
    }
    CHECK(found == "1:+1;2:+2;3:+3;");
    CHECK(shop.log.next(1) == "");
    auto const first = changes_of(shop.orders, "Kiel", {shop.log.at.log, {0}}, {1}).value();
    CHECK(first.more);
    CHECK_FALSE(changes_of(shop.orders, "Kiel", {shop.log.at.log, {2}}, {2})->more);
    CHECK(changes_of(shop.orders, "Kiel", shop.log.at, {0}).error().code == error_code::invalid_input);
    CHECK(changes_of(shop.orders, "Kiel", shop.log.at, {1001}).error().code == error_code::invalid_input);
    CHECK(changes_of(shop.orders, "Kiel", {shop.log.at.log, {0, 0}}).error().code == error_code::invalid_input);
    std::string const log = shop.log.at.log.to_string();
    for (std::string const& text : std::vector<std::string>{
             "1", "1!", "2!" + log + "!1", "1!" + log, "1!" + log + "!", "1!" + log + "!-1", "1!" + log + "!1x"}) {
        CHECK_FALSE(log_position::parse(text).has_value());
    }
    CHECK(log_position::parse("") == log_position{});
}

TEST_CASE("changes_of: a quiet partition is one request, also without any row") {
    opened<> shop;
    CHECK(shop.log.next() == "");
    shop.meddled = {};
    CHECK(shop.log.next() == "");
    CHECK(shop.meddled.requests == 2); // a partition without a log has no head on the page
    shop.orders.insert(make(1)).value();
    CHECK(shop.log.next() == "1:+1");
    shop.meddled = {};
    CHECK(shop.log.next() == "");
    CHECK(shop.meddled.requests == 1);
    shop.orders.insert(make(2)).value();
    shop.meddled = {};
    CHECK(shop.log.next() == "2:+2");
    CHECK(shop.meddled.requests == 1);
}

TEST_CASE("changes_of: requests and operations of a write") {
    opened<> shop;
    shop.orders.insert(make(1)).value();
    CHECK(shop.meddled.requests == 2); // the head is read
    CHECK(shop.meddled.operations == 3);
    auto const requests = [&](auto const& write) {
        shop.meddled = {};
        CHECK(write().has_value());
        return shop.meddled.requests;
    };
    CHECK(requests([&] { return shop.orders.insert(make(2)); }) == 1);
    auto const version = shop.orders.get_stored("Kiel", 2)->etag;
    CHECK(requests([&] { return shop.orders.replace(make(2), version); }) == 1);
    CHECK(requests([&] { return shop.orders.merge(make(2), any_etag); }) == 1);
    CHECK(requests([&] { return shop.orders.upsert(make(3)); }) == 1);
    CHECK(requests([&] { return shop.orders.remove("Kiel", 3, any_etag); }) == 1);
    CHECK(requests([&] { return shop.orders.update("Kiel", 2, [](order& one) { ++one.cents; }); }) == 2);
    CHECK(requests([&] { return shop.orders.with({.reading = reading::lenient}).insert(make(4)); }) ==
        2); // the declaration
    // Another program has written since: a refusal, and the head again.
    orders_table const other{shop.store, "orders"};
    other.insert(make(5)).value();
    CHECK(requests([&] { return shop.orders.insert(make(6)); }) == 3);
    CHECK(shop.log.next() == "1:+1 2:+2 3:+2 4:+2 5:+3 6:-3 7:+2 8:+4 9:+5 10:+6");
}

TEST_CASE("trim_changes: readers that are behind are asked for a full read") {
    testing::manual_clock time;
    memory_backend store{{.time = &time}};
    table_options how;
    how.time = &time;
    orders_table const orders{store, "orders", how};
    orders.create().value();
    follower<orders_table> early{orders};
    follower<orders_table> late{orders};
    CHECK(early.next() == "read all");
    CHECK(late.next() == "read all");
    for (std::int32_t number = 1; number <= 5; ++number) { orders.insert(make(number)).value(); }
    CHECK(early.next(3) == "1:+1 2:+2 3:+3");
    CHECK(trim_changes(orders, "Kiel", early.at).value() == 0); // they are young
    time.advance(std::chrono::minutes{11});
    CHECK(trim_changes(orders, "Kiel", early.at).value() == 3);
    CHECK(trim_changes(orders, "Kiel", early.at).value() == 0);
    CHECK(early.next() == "4:+4 5:+5");
    CHECK(late.next() == "read all");
    CHECK(late.next() == "");
    orders.insert(make(6)).value();
    CHECK(late.next() == "6:+6");
    CHECK(early.next() == "6:+6");
    // The whole log is trimmed: the head remains, and with it the numbers.
    time.advance(std::chrono::minutes{11});
    CHECK(trim_changes(orders, "Kiel", early.at).value() == 3);
    CHECK(early.next() == "");
    CHECK(changes_of(orders, "Kiel", {early.at.log, {5}})->needs_full_read);
    orders.insert(make(7)).value();
    CHECK(early.next() == "7:+7");
    CHECK(changes_of(orders, "Kiel", {early.at.log, {5}})->needs_full_read);
    CHECK(trim_changes(orders, "Kiel", {}).error().code == error_code::invalid_input);
    CHECK(trim_changes(orders, "Kiel", {guid::random(), {1}}).error().code == error_code::invalid_input);
    CHECK(trim_changes(orders, "Kiel", early.at, {std::chrono::nanoseconds{}}).value() == 1);
}

TEST_CASE("trim_changes: more entries than a transaction removes, and two programs at once") {
    opened<> shop;
    for (std::int32_t number = 1; number <= 250; ++number) { shop.orders.insert(make(number)).value(); }
    shop.log.next();
    orders_table const other{shop.store, "orders"};
    // The other program trims between the query and the removal.
    shop.meddled = {};
    shop.meddled.lose = 1;
    shop.meddled.then = [&] {
        CHECK(trim_changes(other, "Kiel", {shop.log.at.log, {40}}, {std::chrono::nanoseconds{}}).value() == 40);
    };
    CHECK_FALSE(trim_changes(shop.orders, "Kiel", shop.log.at, {std::chrono::nanoseconds{}}).has_value());
    CHECK(trim_changes(shop.orders, "Kiel", shop.log.at, {std::chrono::nanoseconds{}}).value() == 210);
    CHECK(shop.system_rows().size() == 1);
    CHECK(shop.log.next() == "");
}

TEST_CASE("changes_of: a table that was dropped and made again has another log") {
    opened<> shop;
    orders_table const other{shop.store, "orders"};
    shop.orders.insert(make(1)).value();
    shop.orders.insert(make(2)).value();
    CHECK(shop.log.next() == "1:+1 2:+2");
    other.drop().value();
    other.create().value();
    for (std::int32_t number = 1; number <= 4; ++number) { other.insert(make(number)).value(); }
    CHECK(shop.log.next() == "read all"); // although its lease still names the former log
    CHECK(shop.log.next() == "");
    CHECK(shop.log.at.numbers == std::vector<std::int64_t>{4});
    other.insert(make(5)).value();
    CHECK(shop.log.next() == "5:+5");
}

TEST_CASE("changes_of: an emptied store asks for a full read") {
    opened<> shop;
    shop.orders.insert(make(1)).value();
    CHECK(shop.log.next() == "1:+1");
    call context;
    for (row const& each : shop.rows()) {
        any_store{shop.store}
            .execute(write_entity{"orders", mutation::remove(row{each.partition_key(), each.row_key(), {}}, any_etag)},
                context)
            .value();
    }
    CHECK(shop.log.next() == "read all");
    CHECK(shop.log.next() == "");
    shop.orders.insert(make(2)).value(); // under the version of a head that is gone: begins again
    CHECK(shop.log.next() == "1:+2");
}

TEST_CASE("logged: a program without the log cannot write, nor one with other lanes") {
    opened<> shop;
    table<order, by_customer> const without{shop.store, "orders"};
    CHECK(without.insert(make(1)).error().code == error_code::declaration_differs);
    CHECK(without.insert(make(1)).error().message.find("change log") != std::string::npos);
    laned_table const laned{shop.store, "orders"};
    CHECK(laned.insert(make(1)).error().code == error_code::index_definition_differs);
    CHECK(changes_of(laned, "Kiel").error().code == error_code::index_definition_differs);
    orders_table const missing{shop.store, "other"};
    table<order>{shop.store, "other"}.create().value();
    CHECK(missing.insert(make(1)).error().code == error_code::declaration_missing);
}

TEST_CASE("logged: adopted, retired and built again") {
    testing::manual_clock time;
    memory_backend store{{.time = &time}};
    table_options how;
    how.time = &time;
    table<order> plain{store, "orders"};
    plain.create().value();
    plain.insert(make(1)).value();
    orders_table const orders{store, "orders", how};
    CHECK(changes_of(orders, "Kiel").error().code == error_code::index_not_ready);
    orders.adopt().value();
    CHECK(orders.state<logged>().value() == index_state::ready);
    follower<orders_table> log{orders};
    CHECK(log.next() == "read all");
    orders.insert(make(2)).value();
    CHECK(log.next() == "1:+2");
    orders.retire<logged>().value();
    CHECK(changes_of(orders, "Kiel", log.at).error().code == error_code::index_not_ready);
    orders.insert(make(3)).value(); // is not logged
    CHECK(orders.build<logged>().has_value());
    CHECK(log.next() == "read all"); // it missed the change
    orders.insert(make(4)).value();
    CHECK(log.next() == "2:+4"); // numbers are never given twice
    CHECK((orders.verify)()->good());
    orders.retire("change log").value();
    CHECK(orders.state<logged>().value() == index_state::retired);
}

TEST_CASE("logged: a lost response is decided at each request") {
    for (bool const applied : {true, false}) {
        for (std::size_t lose = 1; lose <= 2; ++lose) {
            CAPTURE(applied, lose);
            opened<> shop;
            shop.meddled.lose = lose;
            shop.meddled.applied = applied;
            auto const made = shop.orders.insert(make(1));
            if (lose == 1) { // the head: nothing was sent
                CHECK(made.error().effect == effect::none);
                CHECK(shop.log.next() == "");
                continue;
            }
            CHECK(made.has_value());
            CHECK(shop.orders.get("Kiel", 1)->cents == 5);
            // The number of a request that was not applied is void, so that the request cannot arrive later.
            CHECK(shop.log.next() == (applied ? "1:+1" : "2:+1"));
            CHECK(made->after_retry == applied);
        }
    }
}

TEST_CASE("logged: a lost response, and another writer takes the number") {
    opened<> shop;
    orders_table const other{shop.store, "orders"};
    shop.meddled.lose = 2;
    shop.meddled.applied = false;
    shop.meddled.then = [&] { other.insert(make(7)).value(); };
    shop.orders.insert(make(1)).value();
    CHECK(shop.log.next() == "1:+7 2:+1");
}

TEST_CASE("logged: a lost response whose entry was trimmed stays unknown") {
    opened<> shop;
    orders_table const other{shop.store, "orders"};
    shop.meddled.lose = 2;
    shop.meddled.then = [&] {
        CHECK(trim_changes(other, "Kiel", {shop.log.at.log, {1}}, {std::chrono::nanoseconds{}}).value() == 1);
    };
    auto const made = shop.orders.insert(make(1));
    CHECK(made.error().effect == effect::unknown);
}

TEST_CASE("logged: lost responses in transactions, with indexes and sums") {
    for (bool const applied : {true, false}) {
        opened<table<order, by_customer, takings, logged>> shop;
        shop.orders.insert(make(1)).value();
        CHECK(shop.log.next() == "1:+1");
        shop.meddled = {};
        auto const change = [&] {
            return shop.orders.transact("Kiel", [](auto& all) -> result<void> {
                ENTITABLE_TRY(order one, all.get(1));
                one.cents += 10;
                all.replace(one);
                return {};
            });
        };
        change().value();
        std::size_t const requests = shop.meddled.requests;
        shop.meddled = {};
        shop.meddled.lose = requests; // the transaction is the last
        shop.meddled.applied = applied;
        change().value();
        CHECK(shop.orders.get("Kiel", 1)->cents == 25);
        CHECK(shop.orders.sum(takings{"Kiel"})->cents == 25);
        CHECK(shop.log.next() == (applied ? "2:+1 3:+1" : "2:+1 4:+1"));
        CHECK((shop.orders.verify)()->good());
    }
}

TEST_CASE("logged: under a store that repeats requests") {
    // The first attempt is applied and its response is lost; the repetition is refused at the head by the first.
    for (bool const operation_rows : {false, true}) {
        memory_backend store;
        meddler meddled;
        orders_table const orders{
            retrying{any_store{meddling{store, &meddled}},
                {.policy = retry_policy::fixed(3, std::chrono::milliseconds{1}), .operation_rows = operation_rows}},
            "orders"};
        orders.create().value();
        follower<orders_table> log{orders};
        CHECK(log.next() == "read all");
        orders.insert(make(1)).value();
        for (bool const applied : {true, false}) {
            meddled = {};
            meddled.lose = 1;
            meddled.applied = applied;
            orders.insert(make(applied ? 2 : 3)).value();
        }
        CHECK(log.next() == "1:+1 2:+2 3:+3");
        CHECK(orders.scan_table().count().value() == 3);
    }
}

TEST_CASE("logged: an operation id applies a write once") {
    memory_backend store;
    orders_table const orders{
        retrying{
            any_store{store}, {.policy = retry_policy::fixed(3, std::chrono::milliseconds{1}), .operation_rows = true}},
        "orders"};
    orders.create().value();
    follower<orders_table> log{orders};
    CHECK(log.next() == "read all");
    call_options once;
    once.operation_id = "order-1";
    CHECK(orders.with(once).insert(make(1)));
    CHECK(orders.with(once).insert(make(1)));
    CHECK(orders.with(once).insert(make(1))->after_retry);
    CHECK(log.next() == "1:+1");
    once.operation_id = "order-2";
    CHECK(orders.with(once).insert(make(2)));
    CHECK(log.next() == "2:+2");
}

TEST_CASE("logged: writers that contend for a head all end") {
    memory_backend store;
    orders_table const first{store, "orders"};
    first.create().value();
    orders_table const second{store, "orders"};
    follower<orders_table> log{first};
    CHECK(log.next() == "read all");
    for (std::int32_t number = 1; number <= 20; number += 2) {
        first.insert(make(number)).value();
        second.insert(make(number + 1)).value();
    }
    auto const page = changes_of(first, "Kiel", log.at).value();
    CHECK(page.changes.size() == 20);
    table_options once;
    once.max_attempts = 1;
    orders_table const impatient{store, "orders", once};
    impatient.insert(make(30)).value();
    first.insert(make(31)).value();
    auto const lost = impatient.insert(make(32));
    CHECK(lost.error().code == error_code::update_condition_not_satisfied);
    CHECK(lost.error().effect == effect::none);
    CHECK(lost.error().message.find("lost to other writers") != std::string::npos);
    impatient.insert(make(32)).value(); // it has forgotten the head
}

TEST_CASE("logged: the stored rows") {
    opened<> shop;
    shop.orders.insert(make(1)).value();
    auto batch = shop.orders.batch();
    batch.insert(make(2)).remove(make(1), any_etag);
    batch.submit().value();
    auto const rows = shop.system_rows();
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].row_key() == "~!log!0000000000000001");
    CHECK(rows[0].view().find("Prev")->bits() == 0);
    CHECK(rows[0].view().find("Keys")->bytes() == "wORDER:0000000001");
    CHECK(rows[0].view().find("Id")->type() == edm_type::guid);
    CHECK_FALSE(rows[0].view().find("Void").has_value());
    CHECK(rows[1].row_key() == "~!log!0000000000000002");
    CHECK(rows[1].view().find("Prev")->bits() == 1);
    CHECK(rows[1].view().find("Keys")->bytes() == "wORDER:0000000002/rORDER:0000000001");
    CHECK(rows[2].row_key() == "~!log!head");
    CHECK(rows[2].view().find("Number")->bits() == 2);
    CHECK(rows[2].view().find("Log")->as_guid() == shop.log.at.log);
    CHECK(detail::log_entry_key(8, 7, 0x1F).view() == "~!log!07!000000000000001f");
    CHECK(detail::log_head_key(64, 63).view() == "~!log!63!head");
    CHECK(detail::log_lane_of("ORDER:0000000001", 8) == detail::log_lane_of("ORDER:0000000001", 8));
    CHECK(detail::log_lane_of("foobar", 1000) == 720);
    CHECK(detail::log_lane_of("a", 11) == 7);
    call context;
    auto const declared =
        any_store{shop.store}.execute(get_entity{"orders", "~!index!", "~!index!change log", {}}, context).value();
    CHECK(declared.entity.view().find("State")->bytes() == "ready");
    CHECK(declared.entity.view().find("Kind")->bytes() == "log");
    CHECK(declared.entity.view().find("Definition")->bits() == 7163082334141743105);
    CHECK(declared.entity.view().find("Entities")->bytes() == "");
    CHECK(declared.entity.view().find("Log")->as_guid() == shop.log.at.log);
    guid id;
    for (std::size_t at = 0; at < 16; ++at) { id.bytes[at] = static_cast<unsigned char>(at); }
    CHECK((log_position{id, {3, 0}}.to_string()) == "1!00010203-0405-0607-0809-0a0b0c0d0e0f!3!0");
    // Rows of the log as a program writes them property by property are the same bytes.
    detail::log_entry entry;
    entry.previous = 4;
    entry.id = id;
    entry.rows = "wA";
    row_builder built{"p", "r"};
    built.add("Prev", value_view{std::int64_t{4}});
    built.add("Id", detail::value_of_guid(id));
    built.add("Keys", value_view{"wA"});
    CHECK(detail::log_entry_row("p", "r", entry).payload() == built.build().payload());
    row_builder head{"p", "r"};
    head.add("Number", value_view{std::int64_t{9}});
    head.add("Log", detail::value_of_guid(id));
    CHECK(detail::log_head_row("p", "r", 9, id).payload() == head.build().payload());
    // A void entry has no keys.
    entry.is_void = true;
    auto const read =
        detail::read_log_entry(detail::log_entry_row("p", detail::log_entry_key(1, 0, 5), entry).view(), 0);
    CHECK(read->is_void);
    CHECK(read->change.number == 5);
    CHECK(read->change.rows.empty());
}

TEST_CASE("changes_of: rows of the log that are malformed") {
    opened<> shop;
    shop.orders.insert(make(1)).value();
    call context;
    auto const put = [&](std::string_view key, std::string_view property, value_view value) {
        row_builder made{"Kiel", key};
        made.add("Prev", value_view{std::int64_t{0}});
        made.add("Id", detail::value_of_guid({}));
        made.add(property, value);
        any_store{shop.store}
            .execute(write_entity{"orders", mutation::insert_or_replace(made.build())}, context)
            .value();
    };
    put("~!log!0000000000000001", "Keys", value_view{"xA"});
    CHECK(changes_of(shop.orders, "Kiel", shop.log.at).error().code == error_code::row_mismatch);
    put("~!log!0000000000000001", "Keys", value_view{std::int64_t{1}});
    CHECK(changes_of(shop.orders, "Kiel", shop.log.at).error().code == error_code::row_mismatch);
    put("~!log!0000000000000001", "Keys", value_view{"wA"});
    put("~!log!head", "Other", value_view{"x"});
    CHECK(changes_of(shop.orders, "Kiel", shop.log.at).error().code == error_code::row_mismatch);
    orders_table const other{shop.store, "orders"};
    CHECK(other.insert(make(2)).error().code == error_code::row_mismatch);
}

TEST_CASE("changes_of: a copy of the table continues with the same positions") {
    opened<> shop;
    shop.orders.insert(make(1)).value();
    CHECK(shop.log.next() == "1:+1");
    shop.orders.insert(make(2)).value();
    memory_backend target;
    table<order>{target, "orders"}.create().value();
    copy_rows(shop.store, "orders", target, "orders").value();
    orders_table const there{target, "orders"};
    follower<orders_table> log{there, shop.log.at};
    CHECK(log.next() == "2:+2");
    there.insert(make(3)).value();
    CHECK(log.next() == "3:+3");
}

namespace {
task<bool> insert_awaited(async_table<order, logged> const orders) {
    order const one = make(1);
    auto const made = co_await orders.insert(one);
    co_return made.has_value();
}
} // namespace

TEST_CASE("changes_of: awaited writes are logged") {
    opened<> shop;
    event_loop loop;
    CHECK(loop.run(insert_awaited(async_table<order, logged>{loop, shop.store, "orders"})));
    CHECK(shop.log.next() == "1:+1");
}

TEST_CASE("changes_of: a synchronisation logs what it writes, on both sides") {
    opened<> cloud;
    opened<> device;
    device.orders.insert(make(1)).value();
    cloud.orders.insert(make(2)).value();
    sync_options how;
    how.partitions = {"Kiel"};
    auto const report = synchronize(device.orders, cloud.orders, how).value();
    CHECK(report.good());
    CHECK(report.pushed == 1);
    CHECK(report.pulled == 1);
    CHECK(device.log.next() == "1:+1 2:+2");
    CHECK(cloud.log.next() == "1:+2 2:+1");
    device.orders.remove("Kiel", 2, any_etag).value();
    synchronize(device.orders, cloud.orders, how).value();
    CHECK(device.log.next() == "3:-2");
    CHECK(cloud.log.next() == "3:-2");
    cloud.meddled = {};
    synchronize(device.orders, cloud.orders, how).value();
    CHECK(cloud.meddled.requests == 4); // the log names its own push: the row, the receipt, and the log again
    cloud.meddled = {};
    synchronize(device.orders, cloud.orders, how).value();
    CHECK(cloud.meddled.requests == 1); // nothing has changed
    cloud.orders.update("Kiel", 1, [](order& one) { one.cents = 77; }).value();
    CHECK(cloud.log.next() == "4:+1");
    cloud.meddled = {};
    CHECK(synchronize(device.orders, cloud.orders, how)->pulled == 1);
    CHECK(cloud.meddled.requests == 4);
    CHECK(device.orders.get("Kiel", 1)->cents == 77);
    CHECK(device.log.next() == "4:+1");
    CHECK(device.log.next() == "");
    CHECK(cloud.log.next() == "");
}

TEST_CASE("changes_of: a quiet synchronisation of 100 logged partitions is 100 requests") {
    opened<> cloud;
    opened<> device;
    sync_options how;
    for (int partition = 0; partition < 100; ++partition) {
        how.partitions.push_back("c" + std::to_string(partition));
        device.orders.insert(order{how.partitions.back(), 1, "ann", 5}).value();
    }
    CHECK(synchronize(device.orders, cloud.orders, how)->good());
    CHECK(cloud.orders.scan_table().count().value() == 100);
    CHECK(synchronize(device.orders, cloud.orders, how)->good()); // its own pushes
    cloud.meddled = {};
    CHECK(synchronize(device.orders, cloud.orders, how)->good());
    CHECK(cloud.meddled.requests == 100);
}

TEST_CASE("synchronize: only what the log names is read, and everything if the log was trimmed") {
    opened<> cloud;
    opened<> device;
    sync_options how;
    how.partitions = {"Kiel"};
    std::vector<order> many;
    for (std::int32_t number = 1; number <= 2'500; ++number) { many.push_back(make(number)); }
    CHECK(bulk_insert(cloud.orders, many)->written == 2'500);
    CHECK(synchronize(device.orders, cloud.orders, how)->pulled == 2'500);
    auto const requests = [&] {
        cloud.meddled = {};
        CHECK(synchronize(device.orders, cloud.orders, how)->good());
        return cloud.meddled.requests;
    };
    CHECK(requests() == 1);
    cloud.orders.remove("Kiel", 7, any_etag).value();
    cloud.orders.insert(make(3'000)).value();
    CHECK(requests() == 5);
    CHECK_FALSE(device.orders.find("Kiel", 7)->has_value());
    CHECK(device.orders.find("Kiel", 3'000)->has_value());
    CHECK(requests() == 1);
    // Many changes are read as a whole partition.
    for (std::int32_t number = 100; number < 130; ++number) { cloud.orders.replace(make(number, 9), any_etag).value(); }
    CHECK(requests() > 4);
    CHECK(device.orders.get("Kiel", 129)->cents == 9);
    CHECK(requests() == 1);
    // A local change is compared with everything, and its own push is read once afterwards.
    device.orders.replace(make(1, 11), any_etag).value();
    CHECK(requests() > 4);
    CHECK(cloud.orders.get("Kiel", 1)->cents == 11);
    CHECK(requests() == 4);
    CHECK(requests() == 1);
    // A trimmed log.
    cloud.orders.replace(make(2, 12), any_etag).value();
    auto const heads = changes_of(cloud.orders, "Kiel").value().position;
    CHECK(trim_changes(cloud.orders, "Kiel", heads, {std::chrono::nanoseconds{}}).value() > 0);
    CHECK(requests() > 4);
    CHECK(device.orders.get("Kiel", 2)->cents == 12);
    CHECK(requests() == 1);
    CHECK(device.orders.scan_table().count().value() == 2'500);
}

TEST_CASE("synchronize: a push that is overtaken by an undone edit does not make later calls read everything") {
    for (bool const removes : {false, true}) {
        for (bool const applied : {false, true}) {
            for (std::size_t lose = 1; lose <= 3; ++lose) { // the log, the rows, the push
                INFO("removes " << removes << ", applied " << applied << ", request " << lose);
                opened<> cloud;
                opened<> device;
                sync_options how;
                how.partitions = {"Kiel"};
                cloud.orders.insert(make(1)).value();
                cloud.orders.insert(make(2)).value();
                for (int round = 0; round < 2; ++round) { synchronize(device.orders, cloud.orders, how).value(); }
                if (removes) {
                    device.orders.remove("Kiel", 1, any_etag).value();
                } else {
                    device.orders.replace(make(1, 9), any_etag).value();
                }
                cloud.meddled = {};
                cloud.meddled.lose = lose;
                cloud.meddled.applied = applied;
                cloud.meddled.then = [&] { // the connection ends
                    cloud.meddled.lose = cloud.meddled.requests + 1;
                    cloud.meddled.applied = false;
                };
                CHECK_FALSE(synchronize(device.orders, cloud.orders, how)->good());
                cloud.meddled = {};
                device.orders.upsert(make(1)).value(); // the content of the base
                for (int round = 0; round < 2; ++round) {
                    CHECK(synchronize(device.orders, cloud.orders, how)->good());
                }
                cloud.meddled = {};
                CHECK(synchronize(device.orders, cloud.orders, how)->good());
                CHECK(cloud.meddled.requests == 1);
                CHECK(cloud.orders.get("Kiel", 1)->cents == 5);
                for (row const& each : device.rows()) {
                    bool const is_base = each.row_key().starts_with(system_row::base);
                    CHECK_FALSE((is_base && each.view().find("Push")));
                }
            }
        }
    }
}

TEST_CASE("synchronize: rows with the same properties in another order are unchanged for the log, too") {
    opened<> cloud;
    opened<> device;
    sync_options how;
    how.partitions = {"Kiel"};
    cloud.orders.insert(make(2)).value();
    auto const put_reversed = [](opened<> const& side, std::int64_t cents) {
        row_builder made{"Kiel", "ORDER:0000000001"};
        made.add("cents", value_view{cents});
        made.add("customer", value_view{"ann"});
        call context;
        any_store{side.store}
            .execute(write_entity{"orders", mutation::insert_or_replace(made.build())}, context)
            .value();
    };
    auto const quiet_requests = [&] {
        for (int round = 0; round < 2; ++round) {
            auto const report = synchronize(device.orders, cloud.orders, how).value();
            CHECK(report.good());
            CHECK(report.conflicts.empty());
        }
        cloud.meddled = {};
        CHECK(synchronize(device.orders, cloud.orders, how)->good());
        return cloud.meddled.requests;
    };
    device.orders.insert(make(1)).value();
    put_reversed(cloud, 5);
    CHECK(quiet_requests() == 1); // the two rows are adopted
    device.orders.replace(make(1, 6), any_etag).value();
    CHECK(quiet_requests() == 1);
    put_reversed(device, 6); // a local program that writes no new content
    CHECK(quiet_requests() == 1);
    put_reversed(device, 7);
    CHECK(quiet_requests() == 1);
    CHECK(cloud.orders.get("Kiel", 1)->cents == 7);
}

TEST_CASE("synchronize: a restored file and another cloud are not taken for quiet by the log") {
    opened<> cloud;
    opened<> device;
    sync_options how;
    how.partitions = {"Kiel"};
    cloud.orders.insert(make(1)).value();
    for (int round = 0; round < 3; ++round) { synchronize(device.orders, cloud.orders, how).value(); }
    memory_backend backup;
    table<order>{backup, "orders"}.create().value();
    copy_rows(device.store, "orders", backup, "orders").value(); // a second device, or a backup
    device.orders.insert(make(2)).value();
    for (int round = 0; round < 3; ++round) { synchronize(device.orders, cloud.orders, how).value(); }
    device.orders.remove("Kiel", 2, any_etag).value();
    for (int round = 0; round < 3; ++round) { synchronize(device.orders, cloud.orders, how).value(); }
    orders_table const restored{backup, "orders"};
    for (int round = 0; round < 3; ++round) { CHECK(synchronize(restored, cloud.orders, how)->good()); }
    CHECK_FALSE(restored.find("Kiel", 2)->has_value());
    CHECK_FALSE(cloud.orders.find("Kiel", 2)->has_value());
    restored.replace(make(1, 9), any_etag).value();
    synchronize(restored, cloud.orders, how).value();
    CHECK(cloud.orders.get("Kiel", 1)->cents == 9); // an edit after the restoration is an ordinary one
    opened<> other;                                 // has the same rows, and another log
    other.orders.insert(make(1, 9)).value();
    other.orders.insert(make(5)).value();
    synchronize(device.orders, cloud.orders, how).value();
    synchronize(device.orders, other.orders, how).value();
    CHECK(device.orders.find("Kiel", 5)->has_value());
}
