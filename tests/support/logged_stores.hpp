// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One suite of logged tables, and of feeds, for every kind of store.

#include <entitable/changes.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/core/random.hpp>
#include <entitable/entitable.hpp>
#include <entitable/feed.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#define LOGGED_TEN(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8, p##9
#define LOGGED_FIFTY(p) LOGGED_TEN(p##0), LOGGED_TEN(p##1), LOGGED_TEN(p##2), LOGGED_TEN(p##3), LOGGED_TEN(p##4)

namespace entitable_test {

struct logged_item {
    std::string shop;
    std::string name;
    std::int64_t cents{};
};
ENTITABLE(logged_item, partition_key(shop), row_key(literal("I:"), name), properties(cents))
struct logged_by_cents : logged_item {};
ENTITABLE(logged_by_cents, partition_key(shop), row_key(literal("C:"), cents, name), properties())
struct logged_sum {
    std::string shop;
    std::int64_t cents{};

    static logged_sum key(logged_item const& of) { return {of.shop}; }
    void add(logged_item const& one) { cents += one.cents; }
    void subtract(logged_item const& one) { cents -= one.cents; }
};
ENTITABLE(logged_sum, partition_key(shop), row_key(literal("SUM")), properties(cents))

/// 250 properties.
struct logged_columns {
    std::string shop;
    std::string name;
    std::int32_t LOGGED_FIFTY(p), LOGGED_FIFTY(q), LOGGED_FIFTY(r), LOGGED_FIFTY(s), LOGGED_FIFTY(t);
};
ENTITABLE(logged_columns, partition_key(shop), row_key(literal("I:"), name), properties(LOGGED_FIFTY(p)),
    properties(LOGGED_FIFTY(q)), properties(LOGGED_FIFTY(r)), properties(LOGGED_FIFTY(s)), properties(LOGGED_FIFTY(t)))

/// "1:+a 2:-a": numbers of changes, and the names of the rows that were written or removed.
inline std::string logged_text(std::vector<entitable::logged_change> const& changes) {
    std::string made;
    for (auto const& each : changes) {
        made += (made.empty() ? "" : " ") + std::to_string(each.number) + ":";
        for (auto const& one : each.rows) { made += (one.removed ? "-" : "+") + one.row_key.substr(2); }
    }
    return made;
}

/// A table, and a reader of the log of one partition.
template <class Table>
struct logged_place {
    Table items;
    std::string shop;
    entitable::log_position at{};
    bool reads_all{};

    logged_place(entitable::any_store const& store, std::string const& name, std::string of = "Kiel")
        : items(store, name), shop(std::move(of)) {
        items.create().value();
        CHECK(next() == "read all");
    }
    ~logged_place() { static_cast<void>(items.drop_if_present()); }
    logged_place(logged_place const&) = delete;
    logged_place& operator=(logged_place const&) = delete;

    /// At most so many changes. A store may return fewer at once.
    std::vector<entitable::logged_change> changes(std::uint32_t most) {
        std::vector<entitable::logged_change> all;
        for (bool more = true; more && all.size() < most;) {
            auto page = changes_of(items, shop, at, {most - static_cast<std::uint32_t>(all.size())}).value();
            at = page.position;
            reads_all = page.needs_full_read;
            more = page.more && !reads_all;
            all.insert(all.end(), page.changes.begin(), page.changes.end());
        }
        return all;
    }
    std::string next(std::uint32_t most = 1000) {
        std::string made = logged_text(changes(most));
        return reads_all ? "read all" : made;
    }
    void remove(std::string const& name) const {
        items.remove(logged_item{shop, name, 0}, entitable::any_etag).value();
    }
};

inline void check_logged_verbs_on(entitable::any_store const& store, std::string const& name) {
    using namespace entitable;
    logged_place<table<logged_item, logged>> on{store, name};
    auto const& items = on.items;
    items.insert(logged_item{"Kiel", "a", 1}).value();
    auto const version = items.replace(logged_item{"Kiel", "a", 2}, any_etag).value().etag;
    items.replace(logged_item{"Kiel", "a", 3}, version).value();
    items.merge(logged_item{"Kiel", "a", 4}, any_etag).value();
    items.upsert(logged_item{"Kiel", "b", 5}).value();
    CHECK(items.update("Kiel", "b", [](logged_item& one) { ++one.cents; })->changed);
    on.remove("a");
    CHECK(on.next() == "1:+a 2:+a 3:+a 4:+a 5:+b 6:+b 7:-a");
    // A refused write leaves no change.
    CHECK(items.insert(logged_item{"Kiel", "b", 9}).error().code == error_code::entity_already_exists);
    CHECK(
        items.replace(logged_item{"Kiel", "b", 9}, version).error().code == error_code::update_condition_not_satisfied);
    CHECK(items.remove("Kiel", "a", any_etag).error().code == error_code::resource_not_found);
    CHECK(on.next() == "");
    // A batch and a transaction are one change each.
    auto batch = items.batch();
    batch.insert(logged_item{"Kiel", "c", 1}).insert(logged_item{"Kiel", "d", 1});
    batch.submit().value();
    items
        .transact("Kiel",
            [](auto& all) -> result<void> {
                auto one = all.get("c");
                if (!one) { return failure{one.error()}; }
                one->cents = 7;
                all.replace(*one).remove(logged_item{"Kiel", "d", 0}, any_etag).insert(logged_item{"Kiel", "e", 1});
                return {};
            })
        .value();
    CHECK(on.next(1) == "8:+c+d");
    CHECK(on.next(1) == "9:+c-d+e");
    // Another handle, which has not seen the head, and one whose head is old.
    table<logged_item, logged> const other{store, name};
    other.insert(logged_item{"Kiel", "f", 1}).value();
    items.insert(logged_item{"Kiel", "g", 1}).value();
    other.insert(logged_item{"Kiel", "h", 1}).value();
    CHECK(on.next() == "10:+f 11:+g 12:+h");
    CHECK(items.scan_table().count().value() == 6);
}

inline void check_logged_trims_on(entitable::any_store const& store, std::string const& name) {
    using namespace entitable;
    logged_place<table<logged_item, logged>> on{store, name};
    log_position const begin = on.at;
    for (int number = 0; number < 105; ++number) {
        on.items.upsert(logged_item{"Kiel", std::to_string(number % 3), number}).value();
    }
    CHECK(on.next(100).ends_with(" 100:+0"));
    trim_options const everything{std::chrono::nanoseconds{}};
    CHECK(trim_changes(on.items, "Kiel", on.at).value() == 0); // they are young
    CHECK(trim_changes(on.items, "Kiel", on.at, everything).value() == 100);
    CHECK(on.next() == "101:+1 102:+2 103:+0 104:+1 105:+2");
    CHECK(changes_of(on.items, "Kiel", begin)->needs_full_read);
    CHECK(trim_changes(on.items, "Kiel", on.at, everything).value() == 5);
    CHECK(on.next() == "");
    on.remove("1");
    CHECK(on.next() == "106:-1");
    // The position of a table that was made again is that of another log.
    log_position const before = on.at;
    on.items.drop().value();
    if (!on.items.create_if_absent()) { return; } // a name may not be usable for a while
    on.items.insert(logged_item{"Kiel", "a", 1}).value();
    CHECK(changes_of(on.items, "Kiel", before)->needs_full_read);
}

/// Entries, keys and rows of the greatest sizes.
inline void check_logged_limits_on(entitable::any_store const& store, std::string const& name) {
    using namespace entitable;
    // A partition key and row keys of 400 characters, of which one takes two bytes: the entry of 98 changes takes several properties.
    std::string const shop = std::string(399, 'p') + "\xC3\xBC";
    logged_place<table<logged_item, logged>> on{store, name, shop};
    auto const named = [](int number) { return std::string(396, 'k') + std::to_string(100 + number); };
    auto batch = on.items.batch();
    for (int number = 0; number < 98; ++number) { batch.insert(logged_item{shop, named(number), number}); }
    batch.submit().value();
    auto page = changes_of(on.items, shop, on.at).value();
    REQUIRE(page.changes.size() == 1);
    REQUIRE(page.changes[0].rows.size() == 98);
    for (int number = 0; number < 98; ++number) {
        CHECK(page.changes[0].rows[static_cast<std::size_t>(number)] == logged_row{"I:" + named(number), false});
    }
    on.at = page.position;
    auto more = on.items.batch();
    for (int number = 0; number < 99; ++number) {
        more.replace(logged_item{shop, named(number % 98) + (number < 98 ? "" : "x"), number}, any_etag);
    }
    CHECK(more.submit().error().code == error_code::invalid_input);
    CHECK(on.next() == "");
    auto removal = on.items.batch();
    for (int number = 0; number < 98; ++number) { removal.remove(logged_item{shop, named(number), 0}, any_etag); }
    removal.submit().value();
    page = changes_of(on.items, shop, on.at).value();
    REQUIRE(page.changes.size() == 1);
    CHECK(page.changes[0].rows.size() == 98);
    CHECK(page.changes[0].rows[97] == logged_row{"I:" + named(97), true});
    CHECK(trim_changes(on.items, shop, page.position, {std::chrono::nanoseconds{}}).value() == 2);
}

inline void check_logged_columns_on(entitable::any_store const& store, std::string const& name) {
    using namespace entitable;
    logged_place<table<logged_columns, logged>> on{store, name};
    logged_columns one{};
    one.shop = "Kiel";
    one.name = "a";
    one.p00 = 1;
    one.t49 = 250;
    on.items.insert(one).value();
    CHECK(on.items.update("Kiel", "a", [](logged_columns& each) { each.r25 = 7; })->changed);
    CHECK(on.items.get("Kiel", "a")->r25 == 7);
    CHECK(on.items.get("Kiel", "a")->t49 == 250);
    on.items
        .transact("Kiel",
            [&](auto& all) -> result<void> {
                for (char const* each : {"b", "c"}) {
                    one.name = each;
                    all.insert(one);
                }
                return {};
            })
        .value();
    CHECK(on.next() == "1:+a 2:+a 3:+b+c");
}

/// Lanes, indexes and sums, and lost responses.
inline void check_logged_companions_on(entitable::any_store const& store, std::string const& name) {
    using namespace entitable;
    {
        logged_place<table<logged_item, logged_with<log_options{.lanes = 8}>>> on{store, name + "Lanes"};
        std::map<std::string, std::string> seen;
        for (int number = 0; number < 24; ++number) {
            on.items.upsert(logged_item{"Kiel", std::to_string(number % 12), number}).value();
        }
        on.remove("5");
        for (logged_change const& each : on.changes(1000)) {
            for (logged_row const& row : each.rows) { seen[row.row_key] += row.removed ? "-" : "+"; }
        }
        CHECK(seen.size() == 12);
        for (auto const& [key, order] : seen) { CHECK(order == (key == "I:5" ? "++-" : "++")); }
    }
    {
        logged_place<table<logged_item, logged_by_cents, logged_sum, logged>> on{store, name + "Sums"};
        on.items.insert(logged_item{"Kiel", "a", 5}).value();
        on.items.update("Kiel", "a", [](logged_item& one) { one.cents = 7; }).value();
        on.items.insert(logged_item{"Kiel", "b", 1}).value();
        CHECK(on.items.template get<logged_sum>("Kiel")->cents == 8);
        on.items.remove(logged_item{"Kiel", "b", 1}, any_etag).value();
        CHECK(on.next() == "1:+a 2:+a 3:+b 4:-b"); // index rows and sums are not listed
        CHECK(on.items.template get<logged_sum>("Kiel")->cents == 7);
    }
    using items = table<logged_item, logged>;
    for (bool const transaction : {false, true}) { // the read of the head, or the write
        for (bool const applied : {false, true}) {
            CAPTURE(transaction, applied);
            logged_place<items> on{
                store, name + (transaction ? "LostWrite" : "LostHead") + (applied ? "Done" : "Undone")};
            testing::faulty<any_store> bad{store, testing::faulty_options{}};
            items const through{any_store{bad}, on.items.name()};
            bad.plan({applied ? testing::fault::lost_after() : testing::fault::lost_before(), 1,
                transaction ? "transact" : ""});
            auto const made = through.insert(logged_item{"Kiel", "a", 1});
            INFO((made ? "" : made.error().to_string()));
            CHECK(made.has_value() == transaction);
            CHECK(on.items.find("Kiel", "a")->has_value() == made.has_value());
            // The number of a request that was not applied is void.
            CHECK(on.next() == (!transaction ? "" : applied ? "1:+a" : "2:+a"));
        }
    }
}

/// Random writes by two handles, trims and lost responses: a copy that follows the log is equal to the table.
inline void check_logged_history_on(entitable::any_store const& store, std::string const& name, std::uint64_t seed) {
    using namespace entitable;
    INFO("seed " << seed);
    random_source random{seed};
    using items = table<logged_item, logged>;
    logged_place<items> on{store, name};
    std::map<std::string, std::int64_t> copy;
    items const second{store, name};
    auto const follow = [&](items const& by, std::uint32_t most) {
        auto const page = changes_of(by, "Kiel", on.at, {most}).value();
        CHECK_FALSE(page.needs_full_read); // trimmed only up to this position
        for (logged_change const& each : page.changes) {
            for (logged_row const& row : each.rows) {
                if (auto const found = by.find("Kiel", row.row_key.substr(2)).value()) {
                    copy[row.row_key] = found->cents;
                } else {
                    copy.erase(row.row_key);
                }
            }
        }
        on.at = page.position;
        return page.more;
    };
    for (int step = 0; step < 60; ++step) {
        items const& by = random.bits() % 2 == 0 ? on.items : second;
        std::string const key(1, static_cast<char>('a' + random.bits() % 4));
        switch (random.bits() % 6) {
            case 0: static_cast<void>(by.remove_if_present("Kiel", key, any_etag).value()); break;
            case 1: {
                testing::faulty<any_store> bad{store, testing::faulty_options{}};
                bad.plan({random.bits() % 2 == 0 ? testing::fault::lost_after() : testing::fault::lost_before(),
                    1 + random.bits() % 3, ""});
                static_cast<void>(items{any_store{bad}, name}.upsert(logged_item{"Kiel", key, step}));
                break;
            }
            case 2: static_cast<void>(trim_changes(by, "Kiel", on.at, {std::chrono::nanoseconds{}})); break;
            case 3: follow(by, 1 + static_cast<std::uint32_t>(random.bits() % 3)); break;
            default: by.upsert(logged_item{"Kiel", key, step}).value(); break;
        }
    }
    std::map<std::string, std::int64_t> last;
    for (bool more = true; more;) { more = follow(on.items, 1000); }
    for (logged_item const& each : on.items.scan_table()) { last["I:" + each.name] = each.cents; }
    CHECK(copy == last);
}

/// A group that keeps a copy of a table in another store.
class copying_group {
public:
    using items = entitable::table<logged_item,
        entitable::logged_with<entitable::log_options{.announced = true, .feed_lanes = 2}>>;

    copying_group(items const& of, std::string const& name) : items_(of), changes_(of, name) {
        copies_.create().value();
        changes_.create().value();
    }
    /// Copies what has changed; without `done` as a worker that ends before it says so.
    void follow(bool done) {
        while (auto const batch = changes_.next().value()) {
            for (auto const& each : batch->partitions()) { copy(*batch, each); }
            if (!done) { return; }
            batch->done().value();
        }
    }
    [[nodiscard]] static std::map<std::string, std::int64_t> rows_of(auto&& scan) {
        std::map<std::string, std::int64_t> rows;
        for (logged_item const& each : scan) { rows[each.shop + "/" + each.name] = each.cents; }
        return rows;
    }
    [[nodiscard]] std::map<std::string, std::int64_t> copies() const { return rows_of(copies_.scan_table()); }
    [[nodiscard]] entitable::feed const& changes() const noexcept { return changes_; }

private:
    void copy(entitable::feed_batch const& batch, entitable::partition_changes const& of) {
        using namespace entitable;
        auto const body = [&](transaction<logged_item>& to) -> result<void> {
            auto const fresh = batch.done_with(to, of);
            if (!fresh) { return failure{fresh.error()}; }
            std::set<std::string> names;
            if (fresh->needs_full_read) { // rows that were removed in the meantime are in the copy alone
                auto const of_partition = fields<logged_item>::shop == of.partition_key;
                for (logged_item const& each : items_.where(of_partition)) { names.insert(each.name); }
                for (logged_item const& each : copies_.where(of_partition)) { names.insert(each.name); }
            }
            for (logged_change const& each : fresh->changes) {
                for (logged_row const& one : each.rows) { names.insert(one.row_key.substr(2)); }
            }
            for (std::string const& name : names) {
                auto const now = items_.find(of.partition_key, name).value();
                auto const before = to.find(name).value();
                if (now) { to.insert_or_replace(*now); }
                if (!now && before) { to.remove(*before, any_etag); }
            }
            return {};
        };
        copies_.transact(of.partition_key, body).value();
    }

    items const& items_;
    entitable::feed changes_;
    entitable::memory_backend elsewhere_;
    entitable::table<logged_item> copies_{elsewhere_, "copies"};
};

/// Two groups, one of which joins late and leaves; partitions with keys of 400 characters; lost responses; workers that end.
inline void check_feed_on(entitable::any_store const& store, std::string const& name, std::uint64_t seed) {
    using namespace entitable;
    INFO("seed " << seed);
    random_source random{seed};
    copying_group::items const items{store, name};
    items.create().value();
    std::vector<std::string> const shops{"Kiel", "Bonn", "M!inz", std::string(398, 'p') + "\xC3\xBC"};
    auto const write = [&](int step) {
        std::string const& shop = shops[random.bits() % shops.size()];
        std::string const key(1, static_cast<char>('a' + random.bits() % 3));
        testing::faulty<any_store> bad{store, testing::faulty_options{}};
        switch (random.bits() % 5) {
            case 0: static_cast<void>(items.remove_if_present(shop, key, any_etag).value()); break;
            case 1:
                bad.plan({random.bits() % 2 == 0 ? testing::fault::lost_after() : testing::fault::lost_before(),
                    1 + random.bits() % 4, ""});
                static_cast<void>(copying_group::items{any_store{bad}, name}.upsert(logged_item{shop, key, step}));
                break;
            default: items.upsert(logged_item{shop, key, step}).value(); break;
        }
    };
    for (int step = 0; step < 5; ++step) { write(step); }
    copying_group first{items, "first"};
    std::optional<copying_group> second;
    for (int step = 5; step < 45; ++step) {
        if (step == 20) { second.emplace(items, "second"); }
        write(step);
        if (step % 4 == 0) { first.follow(random.bits() % 2 == 0); }
        if (step % 9 == 0 && second) { second->follow(random.bits() % 2 == 0); }
    }
    first.follow(true);
    second->follow(true);
    auto const last = copying_group::rows_of(items.scan_table());
    CHECK(first.copies() == last);
    CHECK(second->copies() == last);
    feed_status const status = first.changes().status().value();
    for (group_status const& each : status.groups) { CHECK(each.partitions_behind == 0); }
    CHECK(first.changes().check_lag(std::chrono::hours{1}));
    second->changes().leave().value();
    CHECK(second->changes().next().error().code == error_code::group_missing);
    CHECK(first.changes().status()->groups.size() == 1);
    items.drop().value();
}

/// Runs the suite. Its tables are dropped at the end. `histories`: random ones.
inline void check_log_on(entitable::any_store const& store, std::string const& prefix, std::uint64_t histories) {
    check_logged_verbs_on(store, prefix + "Verbs");
    check_logged_trims_on(store, prefix + "Trims");
    check_logged_limits_on(store, prefix + "Limits");
    check_logged_columns_on(store, prefix + "Columns");
    check_logged_companions_on(store, prefix);
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        check_logged_history_on(store, prefix + "History" + std::to_string(seed), seed);
        check_feed_on(store, prefix + "Feed" + std::to_string(seed), seed);
    }
}

} // namespace entitable_test
