// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Receipts of devices that are gone are removed from the cloud; devices that come back afterwards lose nothing without a report.

#include "support/catch.hpp"
#include "support/synced_texts.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/manual_clock.hpp>

using namespace entitable;
using entitable_test::sync_of_ann;
using entitable_test::sync_texts;
using entitable_test::synced_text;

namespace {

struct side : entitable_test::synced_texts {
    using synced_texts::synced_texts;
    [[nodiscard]] std::string all() const {
        std::string text;
        for (synced_text const& each : items.where(fields<synced_text>::owner == "ann").to_vector().value()) {
            text += each.name + "=" + each.text + " ";
        }
        return text;
    }
    [[nodiscard]] std::size_t receipts() const {
        std::size_t count = 0;
        auto const add = [&](entity const& each) { count += each.row_key().size() == 39 ? 1U : 0U; };
        row_table{store, "items"}.for_each({}, {}, add, system_rows::shown).value();
        return count;
    }
};
receipt_options receipts_of_ann() {
    receipt_options how;
    how.partitions = {"ann"};
    how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
    return how;
}
constexpr std::chrono::hours one_day{24};

/// A cloud with a clock of its own.
struct timed_cloud {
    testing::manual_clock time{};
    side table{any_store{memory_backend{local_options{.time = &time}}}};
    /// Removes all receipts.
    receipt_expiry expire() {
        time.advance(one_day * 100);
        return expire_receipts(table.items, one_day, receipts_of_ann()).value();
    }
};

/// A cloud before whose first transaction a device pushes.
struct pushing_first {
    using is_transport = void;
    side const* device;
    side const* behind;
    std::shared_ptr<int> calls{std::make_shared<int>(0)};
    [[nodiscard]] entitable::profile profile() const { return behind->store.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            if (++*calls == 1) {
                device->put("a", "2");
                CHECK(sync_texts(*device, *behind).good());
            }
        }
        return behind->store.execute(request, context);
    }
};

} // namespace

TEST_CASE("expire_receipts removes the receipts of devices that have not pushed for some time") {
    testing::manual_clock time;
    side cloud{any_store{memory_backend{local_options{.time = &time}}}};
    side gone;
    side used;
    gone.put("a", "1");
    used.put("b", "2");
    CHECK(sync_texts(gone, cloud).good());
    time.advance(one_day * 100);
    CHECK(sync_texts(used, cloud).good());
    CHECK(cloud.receipts() == 2);
    auto const kept = expire_receipts(cloud.items, one_day * 200, receipts_of_ann()).value();
    CHECK(kept.removed == 0);
    CHECK(kept.kept == 2);
    auto const done = expire_receipts(cloud.items, one_day * 50, receipts_of_ann()).value();
    CHECK(done.partitions == 1);
    CHECK(done.removed == 1);
    CHECK(done.kept == 1);
    CHECK(cloud.receipts() == 1);
    CHECK(expire_receipts(cloud.items, one_day * 50, receipts_of_ann()).value().removed == 0);
    // Devices whose receipt is there notice nothing.
    used.put("c", "3");
    auto const next = sync_texts(used, cloud);
    CHECK(next.restored.empty());
    CHECK(next.pushed == 1);
    side const fresh;
    CHECK(sync_texts(fresh, cloud).restored.empty());
    fresh.put("d", "4");
    CHECK(sync_texts(fresh, cloud).restored.empty());
    CHECK(fresh.all() == "a=1 b=2 c=3 d=4 ");
}

TEST_CASE("expire_receipts: a device that comes back reports its unsent changes and brings nothing back") {
    timed_cloud timed;
    side const& cloud = timed.table;
    side gone;
    side other;
    for (char const* name : {"a", "b", "c"}) { gone.put(name, "1"); }
    CHECK(sync_texts(gone, cloud).good());
    CHECK(sync_texts(other, cloud).good());
    other.remove("a");
    CHECK(sync_texts(other, cloud).good());
    gone.put("b", "not sent");
    gone.put("n", "new");
    gone.remove("c");
    CHECK(timed.expire().removed >= 1);
    auto const asked = sync_texts(gone, cloud); // a was removed there: is this the right table?
    REQUIRE(asked.failed.size() == 1);
    CHECK(asked.failed[0].error.code == error_code::many_removals);
    CHECK(gone.all() == "a=1 b=not sent n=new ");
    auto how = sync_of_ann();
    how.allow_many_removals = true;
    auto const back = sync_texts(gone, cloud, how);
    CHECK(back.good());
    CHECK(back.restored == std::vector<std::string>{"ann"});
    CHECK(back.conflicts.size() == 3); // b, c and n, with what was not sent
    for (auto const& each : back.conflicts) { CHECK(each.sides.restored); }
    CHECK(gone.all() == "b=1 c=1 ");
    CHECK(cloud.all() == "b=1 c=1 ");
    gone.put("b", "2");
    auto const after = sync_texts(gone, cloud);
    CHECK(after.restored.empty());
    CHECK(after.pushed == 1);
    CHECK(cloud.all() == "b=2 c=1 ");
}

TEST_CASE("expire_receipts: a first push whose response was lost is not sent again after its receipt was removed") {
    auto const late = GENERATE(false, true);
    CAPTURE(late);
    timed_cloud timed;
    side const& cloud = timed.table;
    side device;
    side other;
    testing::faulty<any_store> bad{cloud.store, testing::faulty_options{}};
    side const through{any_store{bad}};
    device.put("a", "1");
    bad.plan({late ? testing::fault::late() : testing::fault::lost_after(), 1, "transact"});
    CHECK_FALSE(sync_texts(device, through).good());
    if (!late) {
        CHECK(sync_texts(other, cloud).good());
        other.remove("a");
        CHECK(sync_texts(other, cloud).good());
    }
    other.put("b", "2");
    CHECK(sync_texts(other, cloud).good());
    CHECK(timed.expire().removed >= 1);
    auto how = sync_of_ann();
    how.allow_many_removals = true;
    auto const back = sync_texts(device, cloud, how);
    CHECK(back.good());
    CHECK(back.conflicts.size() == 1); // reported, whether it was sent or not
    bad.arrive();
    CHECK(sync_texts(device, cloud).good());
    CHECK(device.all() == "b=2 ");
    CHECK(cloud.all() == "b=2 ");
}

TEST_CASE("expire_receipts: a device that pushes at the same time keeps its receipt") {
    testing::manual_clock time;
    side behind{any_store{memory_backend{local_options{.time = &time}}}};
    side device;
    side gone;
    device.put("a", "1");
    gone.put("b", "1");
    CHECK(sync_texts(device, behind).good());
    CHECK(sync_texts(gone, behind).good());
    time.advance(one_day * 100);
    table<synced_text> const through{pushing_first{&device, &behind}, "items"};
    auto const done = expire_receipts(through, one_day, receipts_of_ann()).value();
    CHECK(done.removed == 1);
    CHECK(done.kept == 1);
    device.put("a", "3");
    CHECK(sync_texts(device, behind).restored.empty());
    auto once = receipts_of_ann();
    once.max_attempts = 1;
    time.advance(one_day * 100);
    table<synced_text> const again{pushing_first{&device, &behind}, "items"};
    auto const lost = expire_receipts(again, one_day, once);
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code == error_code::update_condition_not_satisfied);
}

TEST_CASE("expire_receipts: more receipts than fit into one transaction, and the limits of options") {
    profile few = local_profile();
    few.max_operations = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{100});
    testing::manual_clock time;
    side cloud{any_store{memory_backend{local_options{.time = &time, .limits = few}}}};
    for (int index = 0; index < 120; ++index) {
        side const device;
        device.put("n" + std::to_string(index), "1");
        device.items.insert({"bob", "n" + std::to_string(index), "1"}).value();
        auto how = sync_of_ann();
        how.partitions.push_back("bob");
        CHECK(sync_texts(device, cloud, how).good());
    }
    receipt_options whole;
    whole.whole_table = true;
    time.advance(one_day * 2);
    auto const done = expire_receipts(cloud.items, one_day, whole).value();
    CHECK(done.removed == 240);
    CHECK(done.partitions == 2);
    CHECK(cloud.receipts() == 0);
    CHECK(expire_receipts(cloud.items, one_day, receipt_options{}).error().code == error_code::invalid_input);
    CHECK(expire_receipts(cloud.items, -one_day, whole).error().code == error_code::out_of_range_input);
    CHECK(expire_receipts(cloud.items, {}, whole).error().code == error_code::out_of_range_input);
    whole.calls.operation_id = "x";
    CHECK(expire_receipts(cloud.items, one_day, whole).error().code == error_code::invalid_input);
    whole = {};
    whole.whole_table = true;
    whole.max_attempts = 0;
    CHECK(expire_receipts(cloud.items, one_day, whole).error().code == error_code::out_of_range_input);
    side const none;
    none.items.drop().value();
    CHECK(expire_receipts(none.items, one_day, receipts_of_ann()).error().code == error_code::table_not_found);
}

TEST_CASE("synchronize: progress is shown, and a cancellation ends the call") {
    side cloud;
    side device;
    for (int index = 0; index < 250; ++index) { device.put("n" + std::to_string(index), "1"); }
    for (char const* owner : {"bob", "cid"}) { device.items.insert({owner, "a", "1"}).value(); }
    auto how = sync_of_ann();
    how.partitions = {"ann", "bob", "cid"};
    std::vector<sync_progress> seen;
    cancellation_source stop;
    bool const cancels = GENERATE(false, true);
    how.calls.cancellation = stop.token();
    how.watch = [&](sync_progress const& now) {
        seen.push_back(now);
        if (cancels && now.pushed > 100) { stop.cancel(); }
    };
    auto const done = sync_texts(device, cloud, how);
    REQUIRE_FALSE(seen.empty());
    CHECK(seen.front().pushed == 97);
    CHECK(seen.front().partitions == 0);
    CHECK(seen.front().total == 3);
    CHECK(seen.front().partition_key == "ann");
    if (cancels) {
        CHECK(done.failed.size() == 3);
        for (auto const& each : done.failed) { CHECK(each.error.code == error_code::cancelled); }
        CHECK(done.pushed == 194);
    } else {
        CHECK(done.good());
        CHECK(seen.back().partitions == 3);
        CHECK(seen.back().pushed == 252);
    }
    how = sync_of_ann();
    how.whole_table = true;
    CHECK(sync_texts(device, cloud, how).good());
    CHECK(cloud.all() == device.all());
    how.watch = [](sync_progress const&) { throw 7; };
    CHECK_THROWS_AS(synchronize(device.items, cloud.items, how), int);
}
