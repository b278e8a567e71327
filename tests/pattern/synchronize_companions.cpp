// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Synchronisation of tables with indexes and sums, and of tables of several types: each side maintains its own index rows and sums.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <map>

using namespace entitable;

namespace {

/// A tool of a club. No two tools of a club have one label, and no two tools at all have one serial number.
struct tool {
    std::string club;
    std::string name;
    std::string label;
    std::string serial;
    std::int32_t worth{};
    std::string text{};
};
ENTITABLE(tool, partition_key(club), row_key(literal("TOOL:"), name), properties(label, serial, worth, text))
struct by_worth : tool {};
ENTITABLE(by_worth, partition_key(club), row_key(literal("WORTH:"), worth, name), properties(text))
struct by_label : tool {};
ENTITABLE(by_label, partition_key(club), row_key(literal("LABEL:"), label), properties(name))
struct by_serial : tool {};
ENTITABLE(by_serial, partition_key(serial), row_key(literal("TOOL")), properties(club, name))
struct worth_of_club {
    std::string club;
    std::int64_t tools{};
    std::int64_t worth{};

    static worth_of_club key(tool const& of) { return {of.club}; }
    void add(tool const& one) {
        ++tools;
        worth += one.worth;
    }
    void subtract(tool const& one) {
        --tools;
        worth -= one.worth;
    }
};
ENTITABLE(worth_of_club, partition_key(club), row_key(literal("SUM")), properties(tools, worth))
/// A member, in the same table and without an index.
struct member {
    std::string club;
    std::string name;
    std::int32_t age{};
};
ENTITABLE(member, partition_key(club), row_key(literal("MEMBER:"), name), properties(age))

using tools = table<tool, member, by_worth, unique<by_label>, elsewhere<unique<by_serial>>, worth_of_club>;

table_options at_once() {
    table_options how;
    how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
    return how;
}

struct side {
    any_store store;
    tools all{store, "tools", at_once(), in_table<by_serial>{store, "serials"}};

    explicit side(any_store on = any_store{memory_backend{}}) : store(std::move(on)) { all.create_if_absent().value(); }
    void put(std::string const& name, std::int32_t worth, std::string const& label = "") const {
        tool one{"club", name, label.empty() ? "l" + name : label, "s" + name, worth};
        all.upsert(one).value();
    }
    void remove(std::string const& name) const { all.remove<tool>("club", name, any_etag).value(); }
    [[nodiscard]] std::string text() const {
        std::string made;
        for (tool const& each : all.of<tool>().where(fields<tool>::club == "club").to_vector().value()) {
            made += each.name + "=" + std::to_string(each.worth) + each.label + " ";
        }
        for (member const& each : all.of<member>().where(fields<member>::club == "club").to_vector().value()) {
            made += each.name + "@" + std::to_string(each.age) + " ";
        }
        return made;
    }
    /// Whether the indexes and sums are those of the entities.
    [[nodiscard]] bool sound() const {
        auto const found = all.verify().value();
        UNSCOPED_INFO("wrong sums " << found.wrong_sums);
        return found.good();
    }
    [[nodiscard]] std::vector<std::string> by_worth_now() const {
        std::vector<std::string> names;
        for (auto const& each : all.by<by_worth>().where(fields<by_worth>::club == "club").to_vector().value()) {
            names.push_back(each.name);
        }
        return names;
    }
};

sync_options of_club(sync_policy conflicts = keep_theirs) {
    sync_options how;
    how.partitions = {"club"};
    how.conflicts = std::move(conflicts);
    how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
    return how;
}
sync_report sync(side const& device, side const& cloud, sync_options const& how = of_club()) {
    auto made = synchronize(device.all, cloud.all, how).value();
    for (auto const& each : made.failed) { UNSCOPED_INFO(each.error.to_string()); }
    for (auto const& each : made.held) { UNSCOPED_INFO(each.row_key << ": " << each.error.to_string()); }
    return made;
}

} // namespace

TEST_CASE("synchronize: indexes and sums are maintained on both sides") {
    side cloud;
    side laptop;
    side phone;
    laptop.put("saw", 30);
    laptop.put("axe", 20);
    laptop.all.insert(member{"club", "ann", 40}).value();
    auto const sent = sync(laptop, cloud);
    CHECK(sent.good());
    CHECK(sent.pushed == 3);
    CHECK(cloud.sound());
    CHECK(cloud.all.sum(worth_of_club{"club"}).value().worth == 50);
    CHECK(cloud.by_worth_now() == std::vector<std::string>{"axe", "saw"});

    phone.put("pan", 5);
    auto const received = sync(phone, cloud);
    CHECK(received.good());
    CHECK(received.pulled == 3);
    CHECK(received.pushed == 1);
    phone.put("saw", 10); // changes the index and the sum
    phone.remove("axe");
    laptop.put("pan", 7); // not here yet: a conflict without a base
    CHECK(sync(phone, cloud).good());
    CHECK(sync(laptop, cloud, of_club(keep_mine)).good());
    CHECK(sync(phone, cloud).good());
    for (side const* each : {&cloud, &laptop, &phone}) {
        CHECK(each->text() == "pan=7lpan saw=10lsaw ann@40 ");
        CHECK(each->sound());
        CHECK(each->all.sum(worth_of_club{"club"}).value().worth == 17);
        CHECK(each->all.sum(worth_of_club{"club"}).value().tools == 2);
    }
    auto const quiet = sync(laptop, cloud);
    CHECK(quiet.pulled + quiet.pushed == 0);
}

TEST_CASE("synchronize: a key of a unique index that another entity has holds the row back, on both sides") {
    side cloud;
    side laptop;
    side phone;
    laptop.put("saw", 30, "red");
    phone.put("axe", 20, "red");
    phone.put("pan", 1, "blue");
    CHECK(sync(laptop, cloud).good());
    for (int round = 0; round < 2; ++round) {
        auto const done = sync(phone, cloud);
        CHECK(done.failed.empty());
        REQUIRE(done.held.size() == 2); // the saw cannot come, the axe cannot go
        CHECK(done.held[0].row_key == "TOOL:axe");
        CHECK(done.held[1].row_key == "TOOL:saw");
        for (auto const& each : done.held) {
            CHECK(each.error.code == error_code::entity_already_exists);
            CHECK(each.error.message.find("by_label") != std::string::npos);
        }
        CHECK(cloud.text() == "pan=1blue saw=30red ");
        CHECK(phone.text() == "axe=20red pan=1blue ");
    }
    phone.put("axe", 20, "green");
    CHECK(sync(phone, cloud).good());
    CHECK(sync(laptop, cloud).good());
    for (side const* each : {&cloud, &laptop, &phone}) {
        CHECK(each->text() == "axe=20green pan=1blue saw=30red ");
        CHECK(each->sound());
    }
    // Two labels change places: one transaction on each side.
    phone.all
        .transact("club",
            [](auto& within) -> result<void> {
                auto saw = within.template get<tool>("saw").value();
                auto axe = within.template get<tool>("axe").value();
                std::swap(saw.label, axe.label);
                within.replace(saw);
                within.replace(axe);
                return {};
            })
        .value();
    CHECK(sync(phone, cloud).good());
    CHECK(sync(laptop, cloud).good());
    for (side const* each : {&cloud, &laptop, &phone}) {
        CHECK(each->text() == "axe=20red pan=1blue saw=30green ");
        CHECK(each->sound());
    }
    // The same for an index in other partitions.
    laptop.all.upsert(tool{"club", "bow", "bow", "number", 1}).value();
    phone.all.upsert(tool{"club", "cup", "cup", "number", 1}).value();
    CHECK(sync(laptop, cloud).good());
    auto const done = sync(phone, cloud);
    CHECK(done.failed.empty());
    CHECK(done.held.size() == 2);
    phone.remove("cup");
    CHECK(sync(phone, cloud).good());
    CHECK(phone.text() == cloud.text());
    CHECK(phone.sound());
    CHECK(cloud.sound());
}

TEST_CASE("synchronize: many rows with companions, in transactions that fit") {
    side cloud;
    side device;
    side other;
    std::size_t const rows = GENERATE(1, 9, 10, 98, 300);
    CAPTURE(rows);
    for (std::size_t index = 0; index < rows; ++index) {
        device.put(std::to_string(10'000 + index), static_cast<std::int32_t>(index));
    }
    CHECK(sync(device, cloud).pushed == rows);
    CHECK(sync(other, cloud).pulled == rows);
    CHECK(other.text() == device.text());
    for (std::size_t index = 0; index < rows; index += 2) { other.remove(std::to_string(10'000 + index)); }
    for (std::size_t index = 1; index < rows; index += 2) { other.put(std::to_string(10'000 + index), 7); }
    auto how = of_club();
    how.allow_many_removals = true;
    CHECK(sync(other, cloud, how).good());
    CHECK(sync(device, cloud, how).good());
    CHECK(other.text() == device.text());
    for (side const* each : {&cloud, &device, &other}) { CHECK(each->sound()); }
}

TEST_CASE("synchronize: large rows with companions fit the transactions") {
    side cloud;
    side device;
    side other;
    for (int index = 0; index < 20; ++index) {
        std::string const name = std::to_string(10 + index);
        device.all.upsert(tool{"club", name, "l" + name, "s" + name, index, std::string(30'000, 'x')}).value();
    }
    CHECK(sync(device, cloud).good());
    CHECK(sync(other, cloud).good());
    CHECK(other.text() == device.text());
    for (side const* each : {&cloud, &other}) { CHECK(each->sound()); }
}

TEST_CASE("synchronize: after a fault at each request, tables with companions are sound") {
    using testing::fault;
    for (fault const& what : {fault::lost_before(), fault::lost_after(), fault::late()}) {
        for (std::uint64_t at = 1; at < 40; ++at) {
            for (bool in_cloud : {true, false}) {
                CAPTURE(what.name, at, in_cloud);
                side cloud;
                side device;
                for (side const* each : {&cloud, &device}) { each->put("saw", 1); }
                device.put("axe", 1);
                CHECK(sync(device, cloud).good());
                device.put("saw", 2);
                device.put("pan", 3);
                device.remove("axe");
                cloud.put("cup", 4);
                testing::faulty<any_store> bad{in_cloud ? cloud.store : device.store, testing::faulty_options{}};
                bad.plan({what, at, ""});
                {
                    tools const through{
                        any_store{bad}, "tools", at_once(), in_table<by_serial>{any_store{bad}, "serials"}};
                    auto const first = in_cloud ? synchronize(device.all, through, of_club())
                                                : synchronize(through, cloud.all, of_club());
                    if (first) { CHECK(first->conflicts.empty()); }
                }
                device.put("saw", 5);
                CHECK(sync(device, cloud).conflicts.empty());
                bad.arrive();
                CHECK(sync(device, cloud).good());
                CHECK(sync(device, cloud).good());
                CHECK(device.text() == "cup=4lcup pan=3lpan saw=5lsaw ");
                CHECK(cloud.text() == device.text());
                // What a lost program leaves behind, as after any write of the table.
                for (side const* each : {&device, &cloud}) {
                    each->all.repair().value();
                    CHECK(each->sound());
                }
            }
        }
    }
}

TEST_CASE("synchronize: sums that other writers change do not hold a push up") {
    side behind;
    side device;
    auto const writes = std::make_shared<int>(0);
    side cloud{entitable_test::with_defect(
        [=, &behind]<class Request>(any_store const& below, Request const& request, call& context) {
            if constexpr (std::same_as<Request, transact>) {
                int const count = ++*writes;
                if (count > 1 && count < 8) { behind.put("other" + std::to_string(count), 1); }
            }
            return below.execute(request, context);
        })(behind.store)};
    device.put("saw", 1);
    device.put("axe", 2);
    CHECK(sync(device, cloud).pushed == 2);
    CHECK(behind.sound());
    CHECK(sync(device, behind).good());
    CHECK(device.text() == behind.text());
    CHECK(device.sound());
}

TEST_CASE("synchronize: with companions, others write between any two requests") {
    for (int at = 1; at < 30; ++at) {
        for (bool const in_cloud : {true, false}) {
            for (bool const synchronises : {false, true}) {
                CAPTURE(at, in_cloud, synchronises);
                side there;
                side here;
                here.put("saw", 1);
                there.put("axe", 1);
                CHECK(sync(here, there).good());
                here.put("saw", 2);
                here.remove("axe");
                there.put("cup", 3);
                // Before the request with this number, another program writes, or synchronises the same device.
                auto const seen = std::make_shared<int>(0);
                auto const hasty = entitable_test::with_defect(
                    [&, seen]<class Request>(any_store const& below, Request const& request, call& context) {
                        if (++*seen == at) {
                            side const& changed = in_cloud ? there : here;
                            if (synchronises) {
                                static_cast<void>(sync(here, there));
                            } else {
                                changed.put("saw", 7);
                                changed.put("cup", 8);
                            }
                        }
                        return below.execute(request, context);
                    });
                side const through{hasty((in_cloud ? there : here).store)};
                *seen = 0; // the declaration was read
                auto const first =
                    in_cloud ? sync(here, through, of_club(keep_mine)) : sync(through, there, of_club(keep_mine));
                CHECK(first.held.empty());
                CHECK(first.restored.empty());
                for (auto const& each : first.failed) { CHECK(each.error.code == error_code::sync_running); }
                *seen = 1'000;
                CHECK(sync(here, there).good());
                CHECK(here.text() == there.text());
                CHECK(here.sound());
                CHECK(there.sound());
                CHECK(sync(here, there).pulled == 0);
            }
        }
    }
}

TEST_CASE("synchronize: rows that the list does not have are held back") {
    side cloud;
    side device;
    device.put("saw", 1);
    call context;
    cloud.store.execute(write_entity{"tools", mutation::insert(testing::make_row("club", "x", {}))}, context).value();
    auto const done = sync(device, cloud);
    CHECK(done.failed.empty());
    CHECK(done.pushed == 1);
    REQUIRE(done.held.size() == 1);
    CHECK(done.held[0].row_key == "x");
    CHECK(done.held[0].error.code == error_code::invalid_input);
    auto const renamed = [](sync_conflict const&) -> result<sync_decision> {
        return sync_decision{sync_choice::both, testing::make_row("club", "WORTH:1", {})};
    };
    device.put("saw", 2);
    cloud.put("saw", 3);
    auto const refused = sync(device, cloud, of_club(renamed));
    CHECK(refused.held.size() == 2);
    CHECK(device.sound());
}

TEST_CASE("synchronize: a table without its declaration, and the entities of one type, are refused") {
    side cloud;
    memory_backend const bare;
    tools const undeclared{bare, "tools", at_once(), in_table<by_serial>{bare, "serials"}};
    row_table{bare, "tools"}.create().value();
    row_table{bare, "serials"}.create().value();
    cloud.put("saw", 1);
    auto const done = synchronize(undeclared, cloud.all, of_club()).value();
    REQUIRE(done.failed.size() == 1);
    CHECK(done.failed[0].error.code == error_code::declaration_missing);
    auto const one = synchronize(cloud.all.of<tool>(), cloud.all.of<tool>(), of_club());
    REQUIRE_FALSE(one);
    CHECK(one.error().code == error_code::not_supported);
    tools moved = cloud.all;
    tools const other = std::move(moved);
    auto const from_moved = synchronize(moved, cloud.all, of_club());
    CHECK((!from_moved || !from_moved->good()));
    auto const to_moved = synchronize(cloud.all, moved, of_club());
    CHECK((!to_moved || !to_moved->good()));
}

TEST_CASE("synchronize: several types without indexes") {
    memory_backend const here;
    memory_backend const there;
    table<tool, member> const local{here, "all"};
    table<tool, member> const cloud{there, "all"};
    local.create().value();
    cloud.create().value();
    local.insert(tool{"club", "saw", "l", "s", 1}).value();
    local.insert(member{"club", "ann", 40}).value();
    cloud.insert(member{"club", "bob", 50}).value();
    auto const merged = merged_by<member>([](auto const&, auto const& mine, auto const&) { return mine; });
    auto const done = synchronize(local, cloud, of_club(merged)).value();
    CHECK(done.good());
    CHECK(done.pushed == 2);
    CHECK(done.pulled == 1);
    CHECK(cloud.get<tool>("club", "saw"));
    CHECK(local.get<member>("club", "bob")->age == 50);
}
