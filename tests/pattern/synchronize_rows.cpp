// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables of rows without a declared entity: what travels, how conflicts are decided, and what is refused.

#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing.hpp>

#include <string>
#include <utility>

using namespace entitable;

namespace {

struct place {
    memory_backend store{};
    row_table rows{store, "rows"};
    place() { rows.create().value(); }
    void put(std::string const& partition, std::string const& key, std::string const& text) const {
        entity made{partition, key};
        made.set("Text", text);
        rows.upsert(made).value();
    }
    void remove(std::string const& partition, std::string const& key) const {
        rows.remove(partition, key, any_etag).value();
    }
    [[nodiscard]] std::string all() const {
        std::string text;
        auto const add = [&](entity const& each) {
            auto const found = each.find("Text");
            text += each.partition_key() + "/" + each.row_key() + "=" +
                (found ? std::string{found->view().as_string()} : std::string{"?"}) + " ";
        };
        rows.for_each({}, {}, add).value();
        return text;
    }
};

sync_options of_all(sync_policy conflicts = keep_theirs) {
    sync_options how;
    how.whole_table = true;
    how.conflicts = std::move(conflicts);
    return how;
}

struct document {
    std::string owner;
    std::string name;
    std::string text;
};
ENTITABLE(document, partition_key(owner), row_key(name), properties(property(text, "Text")))

} // namespace

TEST_CASE("synchronize of rows: inserts, changes and removals travel both ways, with any properties") {
    place cloud;
    place laptop;
    place phone;
    laptop.put("ann", "a", "one");
    laptop.put("bo", "b", "two");
    entity many{"ann", "many"};
    for (int number = 0; number < 252; ++number) { many.set("P" + std::to_string(number), std::int32_t{number}); }
    REQUIRE(laptop.rows.insert(many));
    auto const sent = synchronize(laptop.rows, cloud.rows, of_all()).value();
    CHECK(sent.good());
    CHECK(sent.partitions == 2);
    CHECK(sent.pushed == 3);
    CHECK(synchronize(phone.rows, cloud.rows, of_all()).value().pulled == 3);
    CHECK(phone.all() == "ann/a=one ann/many=? bo/b=two ");
    CHECK(phone.rows.get("ann", "many").value().get<std::int32_t>("P251").value() == 251);

    phone.remove("ann", "many");
    phone.put("bo", "b", "three");
    CHECK(synchronize(phone.rows, cloud.rows, of_all()).value().pushed == 2);
    CHECK(synchronize(laptop.rows, cloud.rows, of_all()).value().pulled == 2);
    CHECK(laptop.all() == "ann/a=one bo/b=three ");
    CHECK(cloud.all() == laptop.all());
    auto const idle = synchronize(laptop.rows, cloud.rows, of_all()).value();
    CHECK(idle.pulled + idle.pushed == 0);
}

TEST_CASE("synchronize of rows: policies that name no entity decide conflicts") {
    place cloud;
    place laptop;
    laptop.put("ann", "a", "base");
    REQUIRE(synchronize(laptop.rows, cloud.rows, of_all()).value().good());
    laptop.put("ann", "a", "here");
    cloud.put("ann", "a", "there");
    SECTION("theirs") {
        auto const done = synchronize(laptop.rows, cloud.rows, of_all()).value();
        REQUIRE(done.conflicts.size() == 1);
        sync_conflict const& sides = done.conflicts[0].sides;
        CHECK(sides.base->view().find("Text")->as_string() == "base");
        CHECK(sides.here->view().find("Text")->as_string() == "here");
        CHECK(sides.there->view().find("Text")->as_string() == "there");
        CHECK(laptop.all() == "ann/a=there ");
    }
    SECTION("mine") {
        CHECK(synchronize(laptop.rows, cloud.rows, of_all(keep_mine)).value().good());
        CHECK(cloud.all() == "ann/a=here ");
    }
    SECTION("a function keeps both") {
        auto const both = [](sync_conflict const& of) -> result<sync_decision> {
            return sync_decision{sync_choice::both, row{of.partition_key, of.row_key + "~2", of.here->view().payload}};
        };
        CHECK(synchronize(laptop.rows, cloud.rows, of_all(both)).value().good());
        CHECK(cloud.all() == "ann/a=there ann/a~2=here ");
    }
    CHECK(laptop.all() == cloud.all());
}

TEST_CASE("synchronize of rows and of entities share their bases and receipts") {
    place cloud;
    place laptop;
    table<document> const local{laptop.store, "rows"};
    table<document> const remote{cloud.store, "rows"};
    laptop.put("ann", "a", "one");
    REQUIRE(synchronize(laptop.rows, cloud.rows, of_all()).value().good());
    REQUIRE(local.upsert({"ann", "a", "two"}));
    auto const typed = synchronize(local, remote, of_all()).value();
    CHECK(typed.pushed == 1);
    CHECK(typed.conflicts.empty());
    cloud.remove("ann", "a");
    auto const untyped = synchronize(laptop.rows, cloud.rows, of_all()).value();
    CHECK(untyped.conflicts.empty());
    CHECK(laptop.all().empty());
}

TEST_CASE("synchronize of rows: queues, calls without partitions and tables that were moved from are refused") {
    place cloud;
    place laptop;
    CHECK(synchronize(laptop.rows, cloud.rows, {}).error().code == error_code::invalid_input);

    table_queue<document> const queue{laptop.store, "parcels"};
    REQUIRE(queue.create());
    REQUIRE(queue.enqueue({"ann", "a", "text"}));
    row_table const there{cloud.store, "parcels"};
    REQUIRE(there.create());
    auto const refused = synchronize(row_table{laptop.store, "parcels"}, there, of_all()).value();
    REQUIRE(refused.failed.size() == 1);
    CHECK(refused.failed[0].error.code == error_code::not_supported);

    row_table from{laptop.store, "rows"};
    row_table const other = std::move(from);
    auto const moved = synchronize(from, cloud.rows, of_all()); // NOLINT(bugprone-use-after-move)
    CHECK((!moved || !moved->good()));
    CHECK(synchronize(other, cloud.rows, of_all()).value().good());
}
