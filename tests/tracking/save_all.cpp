// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// save_all: a success means that every change was saved, and an error keeps the whole report.

#include "orders.hpp"
#include "support/catch.hpp"

using namespace entitable;
using namespace tracking;
using entitable_test::ContainsSubstring;
using entitable_test::StartsWith;

namespace {

struct scene {
    scene() {
        outside.create().value();
        for (std::int32_t id = 1; id <= 3; ++id) { outside.insert({"ann", id, "new", id, {}}).value(); }
    }
    /// Reads all three, and changes the second one outside the unit of work.
    void meet_another_writer() {
        for (order& each : work.track(orders.where(o::customer == "ann")).value()) { each.status = "paid"; }
        outside.update("ann", 2, [](order& each) { each.status = "theirs"; }).value();
    }

    memory_backend const store;
    losing const way{store};
    orders_table const outside{store, "orders"};
    orders_table const orders{way, "orders"};
    work_on_orders work{orders, {.merge = merge_option::preserve_changes}};
};

} // namespace

TEST_CASE("save_all() returns the report if every change was saved") {
    scene at;
    CHECK(at.work.save_all().value().changes.empty());
    at.work.add({"ann", 4, "new", 4, {}});
    auto const saved = at.work.save_all().value();
    CHECK(saved.changes.size() == 1);
    CHECK(at.work.last_report().changes.empty());
}

TEST_CASE("save_all() returns the error of the first refused change and keeps the report") {
    scene at;
    at.meet_another_writer();
    auto const saved = at.work.save_all();
    REQUIRE_FALSE(saved);
    error const& why = saved.error();
    CHECK(why.code == error_code::update_condition_not_satisfied);
    CHECK(why.effect == effect::none);
    CHECK_THAT(why.message, ContainsSubstring("1 of 3 changes were not saved"));
    std::string const key = row_key_of(order{"ann", 2, {}, 0, {}}).value();
    CHECK_THAT(why.detail, StartsWith("PartitionKey \"ann\", RowKey \"" + key + "\""));
    CHECK(why.message.find("ann") == std::string::npos); // keys are user data

    auto const& report = at.work.last_report();
    REQUIRE(report.changes.size() == 3);
    REQUIRE(report.failed.size() == 1);
    CHECK(report.failed[0].entity().id == 2);
    CHECK(stored_order(at.outside, 1) == "paid/1"); // saved changes stay saved
    CHECK(stored_order(at.outside, 2) == "theirs/2");

    at.work.resolve(report.failed[0].entity(), keep::mine);
    CHECK(at.work.save_all().value().changes.size() == 1);
    CHECK(at.work.last_report().changes.empty());
    CHECK(stored_order(at.outside, 2) == "paid/2");
}

TEST_CASE("save_all() in batches reports the refused change and not a change that it blocked") {
    scene at;
    at.meet_another_writer();
    auto const saved = at.work.save_all(save_mode::batch);
    CHECK(saved.error().code == error_code::update_condition_not_satisfied);
    CHECK_THAT(saved.error().message, ContainsSubstring("3 of 3 changes were not saved"));
    CHECK_THAT(saved.error().detail, ContainsSubstring(row_key_of(order{"ann", 2, {}, 0, {}}).value()));
    CHECK(stored_order(at.outside, 1) == "new/1");
}

TEST_CASE("save_all() has an unknown effect if an answer was lost") {
    scene at;
    at.work.add({"ann", 4, "new", 4, {}});
    at.way.told->next = losing::loss::answer;
    auto const saved = at.work.save_all();
    CHECK(saved.error().code == error_code::transport_failed);
    CHECK(saved.error().effect == effect::unknown);
    CHECK(at.work.save_all().value().good()); // resolves it
}

TEST_CASE("save_all() refuses invalid verbs and changed keys") {
    scene at;
    order const stranger{"bob", 1, "new", 1, {}};
    at.work.remove(stranger);
    CHECK(at.work.save_all().error().code == error_code::invalid_input);
    CHECK(at.work.last_report().changes.empty()); // nothing was sent

    at.work.find("ann", 1).value()->customer = "bob";
    auto const saved = at.work.save_all();
    CHECK(saved.error().code == error_code::invalid_input);
    CHECK_THAT(saved.error().message, ContainsSubstring("1 of 1 changes"));
    CHECK(at.work.last_report().failed.size() == 1);

    SECTION("detach() empties the report, whose entities no longer exist") {
        at.work.detach(at.work.last_report().failed[0].entity());
        CHECK(at.work.last_report().changes.empty());
    }
    SECTION("clear() empties the report, too") {
        at.work.clear();
        CHECK(at.work.last_report().changes.empty());
    }
}
