// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// One or two devices and a cloud: what each side has after a synchronisation, what is reported, and what is refused.

#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/copy.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing.hpp>
#include <entitable/work/sync/detail/sync_rows.hpp>

#include <map>

using namespace entitable;

namespace {

struct note {
    std::string owner;
    std::string name;
    std::string text;
    std::int32_t stars{};
};
ENTITABLE(note, partition_key(owner), row_key(name), properties(text, stars))

/// A table of notes on a store of its own.
struct side {
    memory_backend store{};
    table<note> notes{store, "notes"};
    side() { notes.create().value(); }
    void put(std::string name, std::string text, std::int32_t stars = 0) const {
        notes.upsert({"ann", std::move(name), std::move(text), stars}).value();
    }
    void remove(std::string name) const { notes.remove("ann", name, any_etag).value(); }
    [[nodiscard]] std::string all() const {
        std::string text;
        for (note const& each : notes.where(fields<note>::owner == "ann").to_vector().value()) {
            text += each.name + "=" + each.text + (each.stars != 0 ? std::to_string(each.stars) : "") + " ";
        }
        return text;
    }
};

sync_options of_ann(sync_policy conflicts = keep_theirs) {
    sync_options how;
    how.partitions = {"ann"};
    how.conflicts = std::move(conflicts);
    return how;
}
sync_report sync(side const& device, side const& cloud, sync_options const& how = of_ann()) {
    auto made = synchronize(device.notes, cloud.notes, how).value();
    for (auto const& each : made.failed) { UNSCOPED_INFO(each.error.to_string()); }
    return made;
}

struct counted_cloud {
    side behind{};
    testing::spy<memory_backend> store{behind.store};
    table<note> notes{store, "notes"};
    [[nodiscard]] std::size_t requests_of(side const& device, sync_options const& how = of_ann()) {
        std::size_t const before = store.seen().size();
        CHECK(synchronize(device.notes, notes, how).value().good());
        return store.seen().size() - before;
    }
};

/// A cloud during whose first transaction another call synchronises the same device.
struct intruding {
    using is_transport = void;
    side* device;
    side* cloud;
    std::shared_ptr<int> calls{std::make_shared<int>(0)};
    [[nodiscard]] entitable::profile profile() const { return cloud->store.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            if (++*calls == 1) { CHECK(sync(*device, *cloud).good()); }
        }
        return cloud->store.execute(request, context);
    }
};

sync_conflict only_conflict(sync_report const& of) {
    REQUIRE(of.conflicts.size() == 1);
    return of.conflicts.front().sides;
}
std::string text_of_side(std::optional<row> const& of) {
    return of ? std::string{of->view().find("text")->as_string()} : "-";
}

} // namespace

TEST_CASE("synchronize: rows travel both ways, and removals too") {
    side cloud;
    side laptop;
    side phone;
    laptop.put("a", "one");
    laptop.put("b", "two");
    auto const sent = sync(laptop, cloud);
    CHECK(sent.good());
    CHECK(sent.pushed == 2);
    CHECK(cloud.all() == "a=one b=two ");
    auto const received = sync(phone, cloud);
    CHECK(received.good());
    CHECK(received.pulled == 2);
    CHECK(phone.all() == "a=one b=two ");
    phone.remove("a");
    phone.put("c", "three");
    CHECK(sync(phone, cloud).pushed == 2);
    CHECK(cloud.all() == "b=two c=three ");
    CHECK(sync(laptop, cloud).pulled == 2);
    CHECK(laptop.all() == "b=two c=three ");
    auto const quiet = sync(laptop, cloud);
    CHECK(quiet.good());
    CHECK(quiet.pulled + quiet.pushed == 0);
    CHECK(quiet.partitions == 1);
}

TEST_CASE("synchronize: the first time, equal rows are adopted and others are conflicts without a base") {
    side cloud;
    side device;
    cloud.put("same", "x");
    device.put("same", "x");
    cloud.put("there", "y");
    device.put("here", "z");
    cloud.put("both", "cloud");
    device.put("both", "device");
    auto const done = sync(device, cloud);
    CHECK(done.good());
    CHECK(done.pulled == 2);
    CHECK(done.pushed == 1);
    auto const seen = only_conflict(done);
    CHECK(seen.row_key == "both");
    CHECK_FALSE(seen.base);
    CHECK(text_of_side(seen.here) == "device");
    CHECK(text_of_side(seen.there) == "cloud");
    CHECK(done.conflicts[0].choice == sync_choice::theirs);
    CHECK(device.all() == "both=cloud here=z same=x there=y ");
    CHECK(cloud.all() == device.all());
}

TEST_CASE("synchronize: policies decide conflicts") {
    side cloud;
    side device;
    device.put("a", "old", 3);
    CHECK(sync(device, cloud).good());
    SECTION("mine") {
        device.put("a", "mine");
        cloud.put("a", "theirs");
        auto const done = sync(device, cloud, of_ann(keep_mine));
        CHECK(done.conflicts.at(0).choice == sync_choice::mine);
        CHECK(text_of_side(only_conflict(done).base) == "old");
        CHECK(cloud.all() == "a=mine ");
        CHECK(device.all() == "a=mine ");
        CHECK(done.pushed == 1);
    }
    SECTION("a removal against an edit") {
        device.remove("a");
        cloud.put("a", "theirs");
        CHECK_FALSE(only_conflict(sync(device, cloud)).here);
        CHECK(device.all() == "a=theirs ");
        device.put("a", "mine");
        cloud.remove("a");
        CHECK_FALSE(only_conflict(sync(device, cloud, of_ann(keep_mine))).there);
        CHECK(cloud.all() == "a=mine ");
    }
    SECTION("removed on both sides is no conflict") {
        device.remove("a");
        cloud.remove("a");
        CHECK(sync(device, cloud).conflicts.empty());
        device.put("a", "again");
        CHECK(sync(device, cloud).pushed == 1);
    }
    SECTION("property by property") {
        device.put("a", "mine", 3);
        cloud.put("a", "old", 5);
        auto const done = sync(device, cloud, of_ann(merge_properties()));
        CHECK(done.conflicts.at(0).choice == sync_choice::merged);
        CHECK(cloud.all() == "a=mine5 ");
        device.put("a", "one", 6);
        cloud.put("a", "two", 7);
        CHECK(sync(device, cloud, of_ann(merge_properties(keep_mine))).conflicts.at(0).choice == sync_choice::mine);
        CHECK(cloud.all() == "a=one6 ");
        device.put("a", "x", 6);
        cloud.remove("a");
        CHECK(sync(device, cloud, of_ann(merge_properties())).conflicts.at(0).choice == sync_choice::theirs);
        CHECK(device.all().empty());
    }
    SECTION("by a function of three entities") {
        device.put("a", "old", 4);
        cloud.put("a", "new", 5);
        auto const added = merged_by<note>(
            [](std::optional<note> const& base, std::optional<note> const& here, std::optional<note> const& there) {
                note merged = *there;
                merged.stars += here->stars - base->stars;
                return merged;
            });
        CHECK(sync(device, cloud, of_ann(added)).conflicts.at(0).choice == sync_choice::merged);
        CHECK(cloud.all() == "a=new6 ");
        CHECK(device.all() == "a=new6 ");
        device.put("a", "x");
        cloud.put("a", "y");
        auto const gone = merged_by<note>([](auto const&, auto const&, auto const&) { return std::optional<note>{}; });
        CHECK(sync(device, cloud, of_ann(gone)).good());
        CHECK(cloud.all().empty());
        CHECK(device.all().empty());
    }
    SECTION("both are kept, under another key") {
        device.put("a", "mine");
        cloud.put("a", "theirs");
        auto const both = kept_both<note>([](note& mine) { mine.name += "-2"; });
        CHECK(sync(device, cloud, of_ann(both)).conflicts.at(0).choice == sync_choice::both);
        CHECK(device.all() == "a=theirs a-2=mine ");
        CHECK(cloud.all() == device.all());
        device.put("a", "m");
        cloud.put("a", "t");
        auto const taken = sync(device, cloud, of_ann(both)); // a-2 exists
        REQUIRE(taken.held.size() == 1);
        CHECK(taken.held[0].error.code == error_code::entity_already_exists);
        CHECK(device.all() == "a=m a-2=mine ");
        auto const same = sync(device, cloud, of_ann(kept_both<note>([](note&) {})));
        REQUIRE(same.held.size() == 1);
        CHECK(same.held[0].error.code == error_code::invalid_input);
        CHECK_FALSE(same.good());
    }
    SECTION("a policy that fails holds the row back, and nothing else") {
        device.put("a", "mine");
        cloud.put("a", "theirs");
        device.put("b", "two");
        auto const asked = [](sync_conflict const&) -> result<sync_decision> {
            return failure{error_code::cancelled, "the user has not decided yet"};
        };
        auto const done = sync(device, cloud, of_ann(asked));
        REQUIRE(done.held.size() == 1);
        CHECK(done.held[0].row_key == "a");
        CHECK(done.held[0].error.message == "the user has not decided yet");
        CHECK(done.conflicts.empty());
        CHECK(done.pushed == 1);
        CHECK(cloud.all() == "a=theirs b=two ");
        CHECK(device.all() == "a=mine b=two ");
        CHECK(sync(device, cloud, of_ann(keep_mine)).good());
        CHECK(cloud.all() == "a=mine b=two ");
    }
}

TEST_CASE("synchronize: properties that the program does not declare come along and stay") {
    side cloud;
    side device;
    call context;
    auto stored = testing::make_row("ann", "a",
        {{"text", value{value_view{"old"}}}, {"stars", value{value_view{std::int32_t{1}}}},
            {"colour", value{value_view{"red"}}}, {"size", value{value_view{2.5}}}});
    cloud.store.execute(write_entity{"notes", mutation::insert(stored)}, context).value();
    CHECK(sync(device, cloud).pulled == 1);
    CHECK(same_properties(
        device.store.execute(get_entity{"notes", "ann", "a", {}}, context).value().entity.view(), stored.view()));
    device.notes.update("ann", "a", [](note& each) { each.text = "mine"; }).value();
    cloud.notes.update("ann", "a", [](note& each) { each.stars = 9; }).value();
    auto const merged =
        merged_by<note>([](auto const&, std::optional<note> const& here, std::optional<note> const& there) {
            return note{"ann", "a", here->text, there->stars};
        });
    CHECK(sync(device, cloud, of_ann(merged)).good());
    row const now = cloud.store.execute(get_entity{"notes", "ann", "a", {}}, context).value().entity;
    CHECK(now.view().find("colour")->as_string() == "red");
    CHECK(now.view().find("text")->as_string() == "mine");
    CHECK(now.view().find("stars")->as_int32() == 9);
}

TEST_CASE("synchronize: many rows, in transactions and pages") {
    side cloud;
    side device;
    side other;
    std::size_t const rows = GENERATE(1, 48, 49, 50, 97, 98, 195, 1500);
    CAPTURE(rows);
    for (std::size_t index = 0; index < rows; ++index) { device.put("n" + std::to_string(10'000 + index), "t"); }
    auto const sent = sync(device, cloud);
    CHECK(sent.good());
    CHECK(sent.pushed == rows);
    CHECK(sent.split.empty() == (rows <= 97));
    auto const received = sync(other, cloud);
    CHECK(received.good());
    CHECK(received.pulled == rows);
    CHECK(received.split.empty() == (rows <= 49));
    CHECK(other.all() == device.all());
    CHECK(sync(device, cloud).pulled == 0);
    if (rows < 20) { return; }
    for (std::size_t index = 0; index < rows; ++index) { other.remove("n" + std::to_string(10'000 + index)); }
    auto const refused = sync(other, cloud);
    REQUIRE(refused.failed.size() == 1);
    CHECK(refused.failed[0].error.code == error_code::many_removals);
    CHECK(cloud.all() == device.all());
    auto allowed = of_ann();
    allowed.allow_many_removals = true;
    CHECK(sync(other, cloud, allowed).pushed == rows);
    CHECK(sync(device, cloud).failed.at(0).error.code == error_code::many_removals);
    CHECK(sync(device, cloud, allowed).pulled == rows);
    CHECK(device.all().empty());
}

TEST_CASE("synchronize: a cloud that was dropped removes nothing here") {
    side cloud;
    side device;
    for (int index = 0; index < 30; ++index) { device.put("n" + std::to_string(index), "t"); }
    CHECK(sync(device, cloud).good());
    std::string const all = device.all();
    cloud.notes.drop().value();
    CHECK(sync(device, cloud).failed.at(0).error.code == error_code::table_not_found);
    cloud.notes.create().value();
    CHECK(sync(device, cloud).failed.at(0).error.code == error_code::many_removals);
    CHECK(device.all() == all);
}

TEST_CASE("synchronize: rows that cannot be synchronised are held back, and block nothing") {
    side cloud;
    side device;
    call context;
    row_builder large{"ann", "large"};
    for (int part = 0; part < 9; ++part) {
        large.add("p" + std::to_string(part), value_view{edm_type::binary, std::string(60'000, 'x')});
    }
    cloud.store.execute(write_entity{"notes", mutation::insert(large.build())}, context).value();
    std::string const key(506, 'k');
    device.put(key, "t");
    device.put("a", "t");
    for (int round = 0; round < 2; ++round) {
        auto const done = sync(device, cloud);
        REQUIRE(done.held.size() == 2);
        CHECK(done.held[0].row_key == key);
        CHECK(done.held[0].error.code == error_code::key_value_too_large);
        CHECK(done.held[1].row_key == "large");
        CHECK(done.held[1].error.code == error_code::entity_too_large);
        CHECK(done.failed.empty());
        CHECK(done.pushed == (round == 0 ? 1 : 0));
    }
    CHECK(cloud.notes.get("ann", "a"));
}

TEST_CASE("synchronize: requests to the cloud") {
    counted_cloud cloud;
    side device;
    device.put("a", "t");
    CHECK(cloud.requests_of(device) == 2); // the rows, and the push with its receipt
    CHECK(cloud.requests_of(device) == 1);
    for (int index = 0; index < 97; ++index) { device.put("n" + std::to_string(index), "t"); }
    CHECK(cloud.requests_of(device) == 2);
    cloud.behind.put("a", "u");
    CHECK(cloud.requests_of(device) == 1);
    device.put("b", "t");
    cloud.behind.put("a", "v");
    device.put("a", "w");
    CHECK(cloud.requests_of(device, of_ann(keep_mine)) == 2);
    for (int index = 0; index < 1000; ++index) { cloud.behind.put("m" + std::to_string(index), "t"); }
    CHECK(cloud.requests_of(device) == 5); // two pages, twice, so that no transaction is seen in part; the receipt
    CHECK(cloud.requests_of(device) == 3);
    sync_options hundred;
    for (int index = 0; index < 100; ++index) { hundred.partitions.push_back("p" + std::to_string(index)); }
    CHECK(cloud.requests_of(device, hundred) == 100);
}

TEST_CASE("synchronize: requests to the cloud after a lost response") {
    for (bool const applied : {false, true}) {
        counted_cloud cloud;
        side device;
        device.put("a", "t");
        CHECK(cloud.requests_of(device) == 2);
        device.put("a", "u");
        testing::faulty bad{cloud.behind.store};
        bad.plan({applied ? testing::fault::lost_after() : testing::fault::lost_before(), 2, ""});
        CHECK_FALSE(synchronize(device.notes, table<note>{bad, "notes"}, of_ann()).value().good());
        // The receipt and the rows; if the push was not applied, also the receipt again, so that it never will be, and the push.
        CHECK(cloud.requests_of(device) == (applied ? 2 : 4));
        CHECK(cloud.behind.all() == "a=u ");
    }
}

TEST_CASE("synchronize: after a fault at each request the next calls finish the work") {
    using testing::fault;
    for (fault const& what : {fault::lost_before(), fault::lost_after()}) {
        for (std::uint64_t at = 1; at < 12; ++at) {
            for (bool in_cloud : {true, false}) {
                CAPTURE(at, in_cloud);
                side cloud;
                side device;
                for (side const* each : {&cloud, &device}) { each->put("a", "old"); }
                CHECK(sync(device, cloud).good());
                device.put("a", "mine");
                device.put("b", "new");
                cloud.put("c", "there");
                testing::faulty bad{in_cloud ? cloud.store : device.store};
                bad.plan({what, at, ""});
                table<note> const through{bad, "notes"};
                auto const first = in_cloud ? synchronize(device.notes, through, of_ann()).value()
                                            : synchronize(through, cloud.notes, of_ann()).value();
                CHECK(first.conflicts.empty());
                CHECK(sync(device, cloud).conflicts.empty());
                CHECK(device.all() == "a=mine b=new c=there ");
                CHECK(cloud.all() == device.all());
            }
        }
    }
}

TEST_CASE("synchronize: a restored file is recognised, and what it would bring back is reported") {
    side cloud;
    side device;
    side backup;
    device.put("a", "one");
    CHECK(sync(device, cloud).good());
    copy_rows(device.store, "notes", backup.store, "notes").value(); // bases and the state are copied as well
    device.remove("a");
    device.put("b", "two");
    CHECK(sync(device, cloud).good());
    CHECK(cloud.all() == "b=two ");
    backup.put("a", "edited in the old file");
    auto const seen = sync(backup, cloud, of_ann(keep_mine));
    CHECK(seen.restored == std::vector<std::string>{"ann"});
    auto const lost = only_conflict(seen);
    CHECK(lost.restored);
    CHECK(text_of_side(lost.here) == "edited in the old file");
    CHECK(backup.all() == "b=two ");
    CHECK(cloud.all() == "b=two ");
    auto const after = sync(backup, cloud);
    CHECK(after.restored.empty());
    backup.put("c", "three");
    CHECK(sync(backup, cloud).pushed == 1);
    CHECK(sync(device, cloud).restored.empty());
}

TEST_CASE("synchronize: a second call for the same local partition is refused") {
    side cloud;
    side device;
    device.put("a", "one");
    table<note> const through{intruding{&device, &cloud}, "notes"};
    auto const first = synchronize(device.notes, through, of_ann()).value();
    REQUIRE(first.failed.size() == 1);
    CHECK(first.failed[0].error.code == error_code::sync_running);
    CHECK(cloud.all() == "a=one ");
    CHECK(sync(device, cloud).good());
}

TEST_CASE("synchronize: invalid options and tables that are not supported") {
    side cloud;
    side device;
    sync_options how;
    CHECK(synchronize(device.notes, cloud.notes, how).error().code == error_code::invalid_input);
    how = of_ann();
    how.max_attempts = 0;
    CHECK(synchronize(device.notes, cloud.notes, how).error().code == error_code::out_of_range_input);
    how = of_ann();
    how.conflicts = nullptr;
    CHECK(synchronize(device.notes, cloud.notes, how).error().code == error_code::invalid_input);
    how = of_ann();
    how.calls.operation_id = "x";
    CHECK(synchronize(device.notes, cloud.notes, how).error().code == error_code::invalid_input);
    call context;
    cloud.store.execute(write_entity{"notes", mutation::insert(testing::make_row("ann", "~!w!a!1", {}))}, context)
        .value();
    auto const refused = sync(device, cloud);
    REQUIRE(refused.failed.size() == 1);
    CHECK(refused.failed[0].error.code == error_code::not_supported);
    CHECK(refused.failed[0].error.message.find("wide entities") != std::string::npos);
}

TEST_CASE("synchronize: a whole table, with partitions that only one side has") {
    side cloud;
    side device;
    device.notes.insert({"ann", "a", "1", 0}).value();
    device.notes.insert({"bob", "b", "2", 0}).value();
    cloud.notes.insert({"cid", "c", "3", 0}).value();
    sync_options whole;
    whole.whole_table = true;
    CHECK(sync(device, cloud, whole).partitions == 3);
    CHECK(cloud.notes.partitions().value() == std::vector<std::string>{"ann", "bob", "cid"});
    CHECK(device.notes.get("cid", "c"));
    device.notes.remove("bob", "b", any_etag).value(); // only a base is left in its partition
    CHECK(sync(device, cloud, whole).pushed == 1);
    CHECK_FALSE(cloud.notes.get("bob", "b"));
}

TEST_CASE("synchronize: stored rows, golden values") {
    side cloud;
    side device;
    device.put("a", "one");
    auto how = of_ann();
    how.seed = 7;
    CHECK(sync(device, cloud, how).good());
    call context;
    auto const get = [&](side const& from, std::string const& key) {
        return from.store.execute(get_entity{"notes", "ann", key, {}}, context).value().entity;
    };
    row const state = get(device, "~!sync!");
    std::string const name{state.view().find("Device")->as_string()};
    CHECK(name.size() == 32);
    CHECK(state.view().find("Push")->as_string() == "");
    row const receipt = get(cloud, "~!sync!" + name);
    CHECK(receipt.view().find("Push")->as_string() == state.view().find("Receipt")->as_string());
    row const base = get(device, "~!base!a");
    row const stored = get(device, "a");
    std::string payload{base.view().find("Row")->bytes()};
    CHECK(date_time{row_format::load<std::int64_t>(payload.data() + row_format::timestamp_offset)} == date_time{});
    CHECK(same_properties(row_view{"ann", "a", payload}, stored.view()));
    CHECK_FALSE(base.view().find("Push"));
    // Written by hand: a base whose push was applied, and one of another push.
    detail::base_row noted;
    noted.content = payload;
    noted.push = "p";
    noted.pushed = std::string(150'000, 'x');
    row const wide = detail::row_of_base("ann", "a", noted);
    CHECK(wide.view().find("Pushed")->bytes().size() == 60'000);
    CHECK(wide.view().find("Pushed_2")->bytes().size() == 30'000);
    CHECK_FALSE(wide.view().find("Pushed_3"));
}
