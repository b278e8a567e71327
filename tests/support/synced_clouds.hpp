// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One suite of synchronisation for every pair of stores: devices on one kind of store, the cloud on another.

#include <entitable/client/row_table.hpp>
#include <entitable/copy.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/entitable.hpp>
#include <entitable/sync.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace entitable_test {

struct synced_item {
    std::string owner;
    std::string name;
    std::string text;
    std::int32_t number{};
};
ENTITABLE(synced_item, partition_key(owner), row_key(literal("I:"), name), properties(text, number))
struct synced_by_number : synced_item {};
ENTITABLE(synced_by_number, partition_key(owner), row_key(literal("N:"), number, name), properties())
struct synced_sum {
    std::string owner;
    std::int64_t number{};

    static synced_sum key(synced_item const& of) { return {of.owner}; }
    void add(synced_item const& one) { number += one.number; }
    void subtract(synced_item const& one) { number -= one.number; }
};
ENTITABLE(synced_sum, partition_key(owner), row_key(literal("SUM")), properties(number))

/// The stores of a run of the suite.
struct synced_stores {
    entitable::any_store cloud;
    entitable::any_store other_cloud; ///< may be `cloud`
    std::function<entitable::any_store()> new_device;
    std::string prefix{"Sync"}; ///< of the tables in the clouds
    int histories{20};          ///< random ones
};

/// The tables of a run.
template <class Table>
struct synced_side {
    entitable::any_store store;
    Table items;

    synced_side(entitable::any_store on, std::string const& name) : store(on), items(std::move(on), name) {
        items.create_if_absent().value();
    }
    void put(std::string const& name, std::string const& text, std::int32_t number = 0) const {
        items.upsert(synced_item{"ann", name, text, number}).value();
    }
    void remove(std::string const& name) const {
        items.remove(synced_item{"ann", name, {}, {}}, entitable::any_etag).value();
    }
    [[nodiscard]] std::string all() const {
        std::string made;
        entitable::row_table{store, items.name()}
            .for_each(entitable::key_range{entitable::key_interval::only("ann"), {}}, {},
                [&](entitable::entity const& each) {
                    if (!each.row_key().starts_with("I:")) { return; }
                    made += each.row_key().substr(2) + "=" + each.template get<std::string>("text").value_or("") + " ";
                })
            .value();
        return made;
    }
};

inline entitable::sync_options synced_ann(entitable::sync_policy conflicts = entitable::keep_theirs) {
    entitable::sync_options how;
    how.partitions = {"ann"};
    how.conflicts = std::move(conflicts);
    how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
    return how;
}
template <class Side>
entitable::sync_report synced(
    Side const& device, Side const& cloud, entitable::sync_options const& how = synced_ann()) {
    auto made = synchronize(device.items, cloud.items, how).value();
    for (auto const& each : made.failed) { UNSCOPED_INFO(each.error.to_string()); }
    for (auto const& each : made.held) { UNSCOPED_INFO(each.row_key << ": " << each.error.to_string()); }
    return made;
}

using plain_side = synced_side<entitable::table<synced_item>>;
using maintained_side = synced_side<entitable::table<synced_item, synced_by_number, synced_sum>>;

/// Random edits on three devices and in the cloud, and synchronisations whose requests to the cloud are lost: all become equal.
inline void check_synced_history(synced_stores const& on, std::string const& name, std::uint64_t seed) {
    using namespace entitable;
    INFO("seed " << seed);
    random_source random{seed};
    plain_side const cloud{on.cloud, name};
    auto const through_fault = [&](std::uint64_t number) {
        testing::faulty<any_store> bad{cloud.store, testing::faulty_options{}};
        plain_side made{any_store{bad}, name};
        bad.plan(
            {number % 2 == 0 ? testing::fault::lost_after() : testing::fault::lost_before(), 1 + number / 2 % 4, ""});
        return made;
    };
    std::vector<plain_side> devices;
    for (int count = 0; count < 3; ++count) { devices.emplace_back(on.new_device(), "items"); }
    for (int step = 0; step < 30; ++step) {
        plain_side const& device = devices[random.bits() % 3];
        plain_side const& at = random.bits() % 4 == 0 ? cloud : device;
        synced_item const item{"ann", std::string(1, static_cast<char>('a' + random.bits() % 4)), std::to_string(step),
            static_cast<std::int32_t>(random.bits() % 9)};
        switch (random.bits() % 4) {
            case 0: static_cast<void>(at.items.remove_if_present("ann", item.name, any_etag).value()); break;
            case 1: at.items.upsert(item).value(); break;
            case 2:
                static_cast<void>(
                    synced(device, through_fault(random.bits()), synced_ann(merge_properties(keep_mine))));
                break;
            default: CHECK(synced(device, cloud, synced_ann(keep_mine)).failed.empty()); break;
        }
    }
    auto last = synced_ann();
    last.allow_many_removals = true;
    for (int round = 0; round < 2; ++round) {
        for (plain_side const& each : devices) { CHECK(synced(each, cloud, last).good()); }
    }
    for (plain_side const& each : devices) { CHECK(each.all() == cloud.all()); }
}

/// Runs the suite. The tables of the clouds are dropped at the end.
inline void check_synchronisation_on(synced_stores const& on) {
    using namespace entitable;
    int tables = 0;
    auto const named = [&] { return on.prefix + std::to_string(++tables); };
    { // Rows of both sides, removals, policies.
        plain_side const cloud{on.cloud, named()};
        plain_side const laptop{on.new_device(), "items"};
        plain_side const phone{on.new_device(), "items"};
        laptop.put("a", "1");
        laptop.put("b", "1");
        CHECK(synced(laptop, cloud).pushed == 2);
        CHECK(synced(phone, cloud).pulled == 2);
        phone.remove("a");
        phone.put("c", "2");
        cloud.put("d", "3");
        auto const both = synced(phone, cloud);
        CHECK(both.pushed == 2);
        CHECK(both.pulled == 1);
        CHECK(synced(laptop, cloud).pulled == 3);
        CHECK(laptop.all() == "b=1 c=2 d=3 ");
        CHECK(phone.all() == laptop.all());
        CHECK(cloud.all() == laptop.all());
        CHECK(synced(laptop, cloud).good());
        std::map<std::string, sync_policy> const policies{{"mine", keep_mine}, {"theirs", keep_theirs},
            {"merged", merge_properties()},
            {"both", kept_both<synced_item>([](synced_item& mine) { mine.name += "2"; })},
            {"added", merged_by<synced_item>([](auto const&, auto const& here, auto const& there) {
                 synced_item made = *there;
                 made.text += here->text;
                 return made;
             })}};
        for (auto const& [name, policy] : policies) {
            laptop.put(name, "old", 1);
            CHECK(synced(laptop, cloud).good());
            laptop.put(name, "mine", 1);
            cloud.put(name, name == "merged" ? "old" : "theirs", 2);
            auto const settled = synced(laptop, cloud, synced_ann(policy));
            CHECK(settled.good());
            CHECK(settled.conflicts.size() == 1);
        }
        CHECK(
            cloud.all() == "added=theirsmine b=1 both=theirs both2=mine c=2 d=3 merged=mine mine=mine theirs=theirs ");
        CHECK(synced(phone, cloud).good());
        CHECK(phone.all() == cloud.all());
        CHECK(laptop.all() == cloud.all());
        cloud.items.drop().value();
        CHECK(synced(laptop, cloud).failed.at(0).error.code == error_code::table_not_found);
        CHECK(laptop.all() == phone.all());
    }
    { // Every type, and as many columns as a row may have.
        plain_side const cloud{on.cloud, named()};
        plain_side const laptop{on.new_device(), "items"};
        plain_side const phone{on.new_device(), "items"};
        row_builder wide{"ann", "I:wide"};
        wide.add("text", std::string_view{"w"});
        for (int index = 0; index < 251; ++index) {
            wide.add("p" + std::to_string(index), value_view{std::int32_t{index}});
        }
        row_builder types{"ann", "I:types"};
        types.add("text", std::string_view{"t"});
        types.add("Long", value_view{std::int64_t{1} << 60});
        types.add("Double", value_view{0.1});
        types.add("Bool", value_view{true});
        types.add("Bytes", value_view{edm_type::binary, std::string_view{"\x00\xff\x01", 3}});
        types.add("Time", value_view{date_time{639000000000000000}});
        types.add("Guid", value_view{edm_type::guid, std::string_view{"0123456789abcdef"}});
        call context;
        for (row const& each : {wide.build(), types.build()}) {
            laptop.store.execute(write_entity{"items", mutation::insert(each)}, context).value();
        }
        CHECK(synced(laptop, cloud).good());
        CHECK(synced(phone, cloud).pulled == 2);
        for (char const* key : {"I:wide", "I:types"}) {
            auto const here = laptop.store.execute(get_entity{"items", "ann", key, {}}, context).value().entity;
            auto const there = phone.store.execute(get_entity{"items", "ann", key, {}}, context).value().entity;
            CHECK(same_properties(here.view(), there.view()));
        }
        auto const quiet = synced(laptop, cloud);
        CHECK(quiet.pulled + quiet.pushed == 0);
        cloud.items.drop().value();
    }
    { // Several pages and transactions.
        plain_side const cloud{on.cloud, named()};
        plain_side const laptop{on.new_device(), "items"};
        plain_side const phone{on.new_device(), "items"};
        for (int index = 0; index < 1'100; ++index) { laptop.put(std::to_string(10'000 + index), "x"); }
        CHECK(synced(laptop, cloud).pushed == 1'100);
        CHECK(synced(phone, cloud).pulled == 1'100);
        for (int index = 0; index < 1'100; index += 10) { phone.remove(std::to_string(10'000 + index)); }
        CHECK(synced(phone, cloud).pushed == 110);
        CHECK(synced(laptop, cloud).pulled == 110);
        CHECK(laptop.all() == phone.all());
        // Emptied.
        for (int index = 0; index < 1'100; ++index) {
            if (index % 10 != 0) { laptop.remove(std::to_string(10'000 + index)); }
        }
        auto how = synced_ann();
        CHECK(synced(laptop, cloud, how).failed.at(0).error.code == error_code::many_removals);
        how.allow_many_removals = true;
        CHECK(synced(laptop, cloud, how).good());
        CHECK(cloud.all().empty());
        CHECK(synced(phone, cloud, how).good());
        CHECK(phone.all().empty());
        cloud.items.drop().value();
    }
    // A fault at each request to the cloud.
    for (testing::fault const& what : {testing::fault::lost_before(), testing::fault::lost_after()}) {
        for (std::uint64_t at = 1; at < 6; ++at) {
            CAPTURE(what.name, at);
            std::string const name = named();
            plain_side const cloud{on.cloud, name};
            plain_side const laptop{on.new_device(), "items"};
            laptop.put("a", "old");
            CHECK(synced(laptop, cloud).good());
            laptop.put("a", "mine");
            laptop.put("b", "new");
            cloud.put("c", "there");
            testing::faulty<any_store> bad{cloud.store, testing::faulty_options{}};
            plain_side const through{any_store{bad}, name};
            bad.plan({what, at, ""});
            CHECK(synced(laptop, through).conflicts.empty());
            laptop.put("b", "newer");
            CHECK(synced(laptop, cloud).conflicts.empty());
            CHECK(laptop.all() == "a=mine b=newer c=there ");
            CHECK(cloud.all() == laptop.all());
            cloud.items.drop().value();
        }
    }
    { // Two clouds: the first is copied, and the devices continue with the copy.
        std::string const first = named();
        plain_side const cloud{on.cloud, first};
        plain_side const laptop{on.new_device(), "items"};
        plain_side const phone{on.new_device(), "items"};
        for (char const* name : {"a", "b", "c"}) { laptop.put(name, "1"); }
        CHECK(synced(laptop, cloud).good());
        CHECK(synced(phone, cloud).good());
        laptop.remove("a");
        CHECK(synced(laptop, cloud).good());
        laptop.put("b", "not sent");
        phone.put("c", "not sent");
        phone.remove("b");
        std::string const second = named();
        plain_side const moved{on.other_cloud, second};
        copy_rows(on.cloud, first, on.other_cloud, second).value();
        auto const from_laptop = synced(laptop, moved);
        CHECK(from_laptop.good());
        CHECK(from_laptop.restored.empty());
        CHECK(from_laptop.pushed == 1);
        auto const from_phone = synced(phone, moved, synced_ann(keep_theirs));
        CHECK(from_phone.good());
        CHECK(from_phone.conflicts.size() == 1); // b: edited here, removed there
        CHECK(synced(laptop, moved).good());
        for (plain_side const* each : {&laptop, &phone, &moved}) { CHECK(each->all() == "b=not sent c=not sent "); }
        cloud.items.drop().value();
        moved.items.drop().value();
    }
    { // A file that is restored, and receipts that are removed.
        plain_side const cloud{on.cloud, named()};
        plain_side const laptop{on.new_device(), "items"};
        plain_side const backup{on.new_device(), "items"};
        laptop.put("a", "1");
        laptop.put("b", "1");
        CHECK(synced(laptop, cloud).good());
        copy_rows(laptop.store, "items", backup.store, "items").value();
        laptop.remove("a");
        CHECK(synced(laptop, cloud).good());
        backup.put("a", "old");
        auto const seen = synced(backup, cloud, synced_ann(keep_mine));
        CHECK(seen.restored.size() == 1);
        CHECK(seen.conflicts.size() == 1);
        CHECK(backup.all() == "b=1 ");
        receipt_options old;
        old.partitions = {"ann"};
        CHECK(expire_receipts(cloud.items, std::chrono::hours{1}, old).value().kept == 1);
        backup.put("c", "1");
        CHECK(synced(backup, cloud).pushed == 1);
        cloud.items.drop().value();
    }
    { // Indexes and sums.
        maintained_side const cloud{on.cloud, named()};
        maintained_side const laptop{on.new_device(), "items"};
        maintained_side const phone{on.new_device(), "items"};
        for (int index = 0; index < 30; ++index) { laptop.put("n" + std::to_string(index), "x", index); }
        CHECK(synced(laptop, cloud).pushed == 30);
        CHECK(synced(phone, cloud).pulled == 30);
        for (int index = 0; index < 10; ++index) { phone.remove("n" + std::to_string(index)); }
        phone.put("n20", "y", 5);
        cloud.put("n21", "z", 6);
        CHECK(synced(phone, cloud).good());
        CHECK(synced(laptop, cloud).good());
        for (maintained_side const* each : {&laptop, &phone, &cloud}) {
            CHECK(each->all() == cloud.all());
            CHECK(each->items.verify().value().good());
            CHECK(each->items.sum(synced_sum{"ann", 0}).value().number == 390 - 15 - 15);
        }
        cloud.items.drop().value();
    }
    for (int seed = 1; seed <= on.histories; ++seed) {
        std::string const name = named();
        check_synced_history(on, name, static_cast<std::uint64_t>(seed));
        row_table{on.cloud, name}.drop().value();
    }
}

} // namespace entitable_test
