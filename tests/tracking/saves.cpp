// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a save sends and reports, and what stays: states and verbs, combined changes, batches, lost answers.

#include "orders.hpp"
#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>

using namespace entitable;
using namespace tracking;

namespace {

/// A table with two orders of ann, of which the first has an undeclared property.
struct scene {
    scene() {
        outside.create().value();
        row_builder first{"ann", key_of(17)};
        first.add("status", value_view{std::string_view{"new"}});
        first.add("total", value_view{std::int32_t{1}});
        first.add("note", value_view{std::string_view{"call"}});
        first.add("secret", value_view{std::int32_t{42}});
        call context;
        store.execute(write_entity{"orders", mutation::insert(first.build())}, context).value();
        outside.insert({"ann", 18, "new", 2, {}}).value();
    }
    static std::string key_of(std::int32_t id) { return row_key_of(order{"ann", id, {}, 0, {}}).value(); }
    [[nodiscard]] std::int32_t secret() const {
        call context;
        auto const found = store.execute(get_entity{"orders", "ann", key_of(17), {}}, context);
        auto const held = found ? found->entity.view().find("secret") : std::nullopt;
        return held ? held->as_int32() : 0;
    }
    [[nodiscard]] std::string all() const {
        std::string text;
        outside.where(o::customer == "ann").for_each([&](order const& each) { text += shown(each) + " "; }).value();
        return text;
    }

    memory_backend const store;
    losing const way{store};
    orders_table const outside{store, "orders"};
    orders_table const orders{way, "orders"};
    work_on_orders work{orders, {.merge = merge_option::preserve_changes}};
};

std::string told(work_on_orders::saved const& saved) {
    std::string text;
    for (auto const& each : saved.changes) {
        text += std::string{to_string(each.state())} + " " + std::string{to_string(each.outcome)} + ", ";
    }
    return text;
}

} // namespace

TEST_CASE("unit of work: a save sends only the changes") {
    scene at;
    order& one = *at.work.find("ann", 17).value();
    CHECK(at.work.find("ann", 17).value() == &one);
    CHECK(at.work.tracked("ann", 17) == &one);
    CHECK(at.work.tracked("ann", 18) == nullptr);
    one.status = "paid";
    // Another property, changed by another writer who ignores ETags, is not reverted by the merge.
    at.way.told->requests = 0;
    auto const saved = at.work.save().value();
    CHECK(saved.good());
    CHECK(at.way.told->requests == 1);
    CHECK(stored_order(at.outside) == "paid/1/call");
    CHECK(at.secret() == 42);
    CHECK(at.work.state_of(one) == entity_state::unchanged);
    CHECK(at.work.save().value().changes.empty());
    CHECK(at.way.told->requests == 1);

    one.note.reset(); // a merge cannot remove it
    CHECK(at.work.save().value().good());
    CHECK(stored_order(at.outside) == "paid/1");
    CHECK(at.secret() == 42);
    one.total = 5; // under the ETag of the last save
    CHECK(at.work.save().value().good());
    CHECK(stored_order(at.outside) == "paid/5");
}

TEST_CASE("unit of work: several changes of an entity are combined") {
    scene at;
    SECTION("an insert and an update are an insert") {
        order& fresh = at.work.add({"ann", 19, "new", 3, {}});
        fresh.total = 4;
        CHECK(told(at.work.save().value()) == "added saved, ");
        CHECK(stored_order(at.outside, 19) == "new/4");
    }
    SECTION("an insert and a removal cancel out") {
        order& fresh = at.work.add({"ann", 19, "new", 3, {}});
        at.work.remove(fresh);
        CHECK(at.work.pending().empty());
        CHECK(at.work.save().value().changes.empty());
    }
    SECTION("an update and a removal are a removal") {
        order& one = *at.work.find("ann", 17).value();
        one.total = 9;
        at.work.remove(one);
        CHECK(at.work.tracked("ann", 17) == nullptr);
        CHECK(told(at.work.save().value()) == "removed saved, ");
        CHECK(stored_order(at.outside) == "gone");
        CHECK(at.work.state_of(one) == entity_state::detached); // and the reference is valid until clear()
    }
    SECTION("a removal followed by an insert becomes a replacement under the removed version") {
        order& one = *at.work.find("ann", 17).value();
        at.work.remove(one);
        order& again = at.work.add({"ann", 17, "again", 1, {}});
        CHECK(&again == &one);
        CHECK(at.work.state_of(one) == entity_state::modified);
        CHECK(told(at.work.save().value()) == "modified saved, ");
        CHECK(stored_order(at.outside) == "again/1");
        CHECK(at.secret() == 0); // a different entity
        at.work.remove(one);
        at.work.add({"ann", 17, "third", 1, {}});
        at.outside.merge(entitable::at("ann", 17), o::total = 7, any_etag).value();
        CHECK(told(at.work.save().value()) == "modified failed, ");
        CHECK(stored_order(at.outside) == "again/7");
    }
    SECTION("without a version a removal and an insert become insert_or_replace") {
        order& one = at.work.attach({"ann", 20, "", 0, {}}, any_etag);
        at.work.remove(one);
        at.work.add({"ann", 20, "new", 6, {}});
        CHECK(told(at.work.save().value()) == "modified saved, ");
        CHECK(stored_order(at.outside, 20) == "new/6");
    }
    SECTION("a removal of a missing row counts as done") {
        order& one = *at.work.find("ann", 17).value();
        at.outside.remove("ann", 17, any_etag).value();
        at.work.remove(one);
        CHECK(told(at.work.save().value()) == "removed saved, ");
    }
    SECTION("a changed key returns an error that explains what to do") {
        order& one = *at.work.find("ann", 17).value();
        one.id = 99;
        auto const saved = at.work.save().value();
        REQUIRE(saved.failed.size() == 1);
        CHECK(saved.failed[0].error->code == error_code::invalid_input);
        CHECK_THAT(saved.failed[0].error->message, entitable_test::ContainsSubstring("remove it, and add an entity"));
        at.work.remove(one);
        at.work.add({"ann", 99, one.status, one.total, one.note});
        CHECK(at.work.save(save_mode::batch).value().good());
        CHECK(stored_order(at.outside, 99) == "new/1/call");
        CHECK(stored_order(at.outside, 17) == "gone");
    }
}

TEST_CASE("unit of work: attached entities are not read") {
    scene at;
    auto const version = at.outside.get_stored("ann", 17).value().etag;
    order& known = at.work.attach({"ann", 17, "new", 1, "call"}, version);
    CHECK(at.work.state_of(known) == entity_state::unchanged);
    SECTION("attached entities are saved under their version") {
        known.total = 3;
        at.way.told->requests = 0;
        CHECK(at.work.save().value().good());
        CHECK(at.way.told->requests == 1);
        CHECK(stored_order(at.outside) == "new/3/call");
    }
    SECTION("another writer may have changed the version") {
        at.outside.merge(entitable::at("ann", 17), o::total = 8, any_etag).value();
        known.status = "mine";
        CHECK(told(at.work.save().value()) == "modified failed, ");
        CHECK(stored_order(at.outside) == "new/8/call");
    }
    SECTION("a cleared property is removed from the stored row") {
        known.note.reset();
        CHECK(at.work.save().value().good());
        CHECK(stored_order(at.outside) == "new/1");
        CHECK(at.secret() == 42);
    }
    SECTION("without a version the property is removed regardless of another writer's changes") {
        order& other = at.work.attach({"ann", 18, "", 0, {}}, any_etag);
        at.outside.merge(entitable::at("ann", 18), o::total = 8, any_etag).value();
        other.status = "forced";
        CHECK(at.work.save().value().good());
        CHECK(stored_order(at.outside, 18) == "forced/8");
        other.status = "twice"; // from now on it has a version
        at.outside.merge(entitable::at("ann", 18), o::total = 9, any_etag).value();
        CHECK_FALSE(at.work.save().value().good());
    }
}

TEST_CASE("unit of work: a mistake is reported by the next save, which sends nothing") {
    scene at;
    order& one = *at.work.find("ann", 17).value();
    one.total = 3;
    auto const refuses = [&](error_code code) {
        auto const saved = at.work.save();
        REQUIRE_FALSE(saved);
        CHECK(saved.error().code == code);
        CHECK(stored_order(at.outside) == "new/1/call");
        CHECK(at.work.save().value().good()); // once
        CHECK(stored_order(at.outside) == "new/3/call");
    };
    SECTION("an entity is added twice") {
        order& second = at.work.add({"ann", 17, "second", 5, {}});
        CHECK(&second != &one);
        refuses(error_code::entity_already_exists);
    }
    SECTION("an entity is attached twice") {
        at.work.attach({"ann", 17, "second", 5, {}}, any_etag);
        refuses(error_code::invalid_input);
    }
    SECTION("an entity is removed without being tracked") {
        at.work.remove(order{"ann", 44, {}, 0, {}});
        refuses(error_code::invalid_input);
    }
    SECTION("an entity without a conflict is resolved") {
        at.work.resolve(one, keep::mine);
        refuses(error_code::invalid_input);
    }
    SECTION("a query for a different table is tracked") {
        auto const tracked = at.work.track(orders_table{at.store, "others"}.where(o::customer == "ann"));
        REQUIRE_FALSE(tracked);
        CHECK(tracked.error().code == error_code::invalid_input);
    }
}

TEST_CASE("unit of work: a conflict has three versions and can be resolved") {
    scene at;
    order& one = *at.work.find("ann", 17).value();
    one.status = "mine";
    one.total = 5;
    at.outside
        .update("ann", 17,
            [](order& each) {
                each.status = "theirs";
                each.note = "write";
            })
        .value();
    auto const saved = at.work.save().value();
    REQUIRE(saved.failed.size() == 1);
    CHECK(saved.failed[0].error->code == error_code::update_condition_not_satisfied);
    REQUIRE(saved.failed[0].in_conflict());
    REQUIRE(at.work.conflicts().size() == 1);
    auto const met = at.work.conflict_of(one).value();
    REQUIRE(met);
    CHECK(shown(*met->original) == "new/1/call");
    CHECK(shown(met->mine) == "mine/5/call");
    CHECK(shown(*met->theirs) == "theirs/1/write");
    CHECK(met->properties == std::vector<std::string>{"status"});
    CHECK_FALSE(met->may_be_mine);
    at.way.told->requests = 0;
    CHECK_FALSE(at.work.save().value().good());
    CHECK(at.way.told->requests == 0); // the request would be refused
    SECTION("keep::mine gives the unchanged members the stored values") {
        at.work.resolve(one, keep::mine);
        CHECK(shown(one) == "mine/5/write");
        CHECK(at.work.save().value().good());
        CHECK(stored_order(at.outside) == "mine/5/write");
    }
    SECTION("theirs") {
        at.work.resolve(saved.failed[0].entity(), keep::theirs);
        CHECK(shown(one) == "theirs/1/write");
        CHECK(at.work.state_of(one) == entity_state::unchanged);
        CHECK(at.work.save().value().changes.empty());
    }
    SECTION("the conflict is resolved with a given value") {
        at.work.resolve(one, {"ann", 17, "both", 5, "write"});
        CHECK(at.work.save().value().good());
        CHECK(stored_order(at.outside) == "both/5/write");
    }
    SECTION("another writer changes the entity once more") {
        at.work.resolve(one, keep::mine);
        at.outside.merge(entitable::at("ann", 17), o::total = 77, any_etag).value();
        CHECK_FALSE(at.work.save().value().good());
        CHECK(stored_order(at.outside) == "theirs/77/write");
    }
    CHECK(at.secret() == 42);
}

TEST_CASE("unit of work: rows that were removed or added cause conflicts") {
    scene at;
    SECTION("an entity was changed here and removed there") {
        order& one = *at.work.find("ann", 17).value();
        one.total = 5;
        at.outside.remove("ann", 17, any_etag).value();
        CHECK_FALSE(at.work.save().value().good());
        CHECK_FALSE(at.work.conflict_of(one).value()->theirs);
        SECTION("mine") {
            at.work.resolve(one, keep::mine);
            CHECK(at.work.state_of(one) == entity_state::added);
            CHECK(at.work.save().value().good());
            CHECK(stored_order(at.outside) == "new/5/call");
        }
        SECTION("theirs") {
            at.work.resolve(one, keep::theirs);
            CHECK(at.work.state_of(one) == entity_state::detached);
        }
    }
    SECTION("an entity was added here and there") {
        order& one = at.work.add({"ann", 20, "mine", 1, {}});
        at.outside.insert({"ann", 20, "theirs", 2, "x"}).value();
        auto const saved = at.work.save().value();
        CHECK(saved.failed.at(0).error->code == error_code::entity_already_exists);
        CHECK_FALSE(at.work.conflict_of(one).value()->original);
        at.work.resolve(one, keep::mine);
        CHECK(at.work.save().value().good());
        CHECK(stored_order(at.outside, 20) == "mine/1");
    }
    SECTION("an entity was removed here and changed there") {
        order& one = *at.work.find("ann", 17).value();
        at.work.remove(one);
        at.outside.merge(entitable::at("ann", 17), o::total = 8, any_etag).value();
        CHECK_FALSE(at.work.save().value().good());
        SECTION("mine") {
            at.work.resolve(one, keep::mine);
            CHECK(at.work.save().value().good());
            CHECK(stored_order(at.outside) == "gone");
        }
        SECTION("theirs") {
            at.work.resolve(one, keep::theirs);
            CHECK(shown(one) == "new/8/call");
            CHECK(at.work.state_of(one) == entity_state::unchanged);
        }
    }
}

TEST_CASE("unit of work: a batch is applied completely or not at all, and the error names the change that failed") {
    scene at;
    order& one = *at.work.find("ann", 17).value();
    order& other = *at.work.find("ann", 18).value();
    order& fresh = at.work.add({"ann", 19, "new", 3, {}});
    one.status = "paid";
    other.status = "paid";
    at.outside.merge(entitable::at("ann", 18), o::total = 8, any_etag).value();
    auto const saved = at.work.save(save_mode::batch).value();
    CHECK(at.all() == "new/1/call new/8 ");
    REQUIRE(saved.failed.size() == 3);
    for (auto const& each : saved.failed) {
        CHECK(each.outcome == (&each.entity() == &other ? save_outcome::failed : save_outcome::not_sent));
        CHECK(each.error->code == error_code::update_condition_not_satisfied);
    }
    SECTION("an unresolved conflict holds up the whole batch") {
        CHECK(at.work.save(save_mode::batch).value().failed.size() == 3);
        CHECK(at.all() == "new/1/call new/8 ");
        at.work.resolve(other, keep::mine);
        at.way.told->requests = 0;
        CHECK(at.work.save(save_mode::batch).value().good());
        CHECK(at.way.told->requests == 1);
        CHECK(at.all() == "paid/1/call paid/8 new/3 ");
    }
    SECTION("the other changes are saved without it") {
        auto const then = at.work.save({.mode = save_mode::batch, .without_failed = true}).value();
        CHECK(then.failed.size() == 1);
        CHECK(at.all() == "paid/1/call new/8 new/3 ");
        CHECK(at.work.state_of(fresh) == entity_state::unchanged);
    }
    SECTION("the failed change is discarded") {
        at.work.detach(other);
        CHECK(at.work.save(save_mode::batch).value().good());
        CHECK(at.all() == "paid/1/call new/8 new/3 ");
    }
    CHECK(at.secret() == 42);
}

TEST_CASE("unit of work: removing a missing row does not hold up a batch") {
    scene at;
    order& one = *at.work.find("ann", 17).value();
    order& other = *at.work.find("ann", 18).value();
    at.work.remove(one);
    other.total = 7;
    at.outside.remove("ann", 17, any_etag).value();
    CHECK(at.work.save(save_mode::batch).value().good());
    CHECK(at.all() == "new/7 ");
}

TEST_CASE("unit of work: changes are saved individually, or until the first failure") {
    scene at;
    at.work.find("ann", 17).value()->total = 5;
    at.work.find("ann", 18).value()->total = 5;
    at.outside.merge(entitable::at("ann", 17), o::status = "theirs", any_etag).value();
    SECTION("changes are saved individually") {
        CHECK(told(at.work.save().value()) == "modified failed, modified saved, ");
        CHECK(at.all() == "theirs/1/call new/5 ");
    }
    SECTION("changes are saved until the first failure") {
        CHECK(told(at.work.save({.stop_at_failure = true}).value()) == "modified failed, modified not sent, ");
        CHECK(at.all() == "theirs/1/call new/2 ");
    }
}

TEST_CASE("unit of work: more changes than fit in a transaction are refused unless the batch may be split") {
    scene at;
    at.way.told->operations = 99; // the remains of a transport with operation rows
    for (std::int32_t id = 100; id < 350; ++id) { at.work.add({"bob", id, "new", id, {}}); }
    for (std::int32_t id = 0; id < 10; ++id) { at.work.add({"cecil", id, "new", id, {}}); }
    auto const refused = at.work.save(save_mode::batch);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(at.outside.where(o::customer == "cecil").count().value() == 0); // nothing was sent
    at.way.told->requests = 0;
    CHECK(at.work.save({.mode = save_mode::batch, .split = true}).value().good());
    CHECK(at.way.told->requests == 3 + 1); // sum over partitions of ceil(changes / operations)
    CHECK(at.outside.where(o::customer == "bob").count().value() == 250);
    for (order& each : at.work.track(at.orders.where(o::customer == "bob" && o::id < 199)).value()) { each.total = 0; }
    at.way.told->requests = 0;
    CHECK(at.work.save(save_mode::batch).value().good());
    CHECK(at.way.told->requests == 1);
}

TEST_CASE("unit of work: a lost answer is resolved before anything is sent") {
    scene at;
    auto const loss = GENERATE(losing::loss::request, losing::loss::answer);
    auto const mode = GENERATE(save_mode::each, save_mode::batch);
    bool const applied = loss == losing::loss::answer;
    CAPTURE(applied, static_cast<int>(mode));
    at.way.told->next = loss;
    SECTION("the outcome of an insert is resolved by a read") {
        order& fresh = at.work.add({"ann", 19, "new", 3, {}});
        CHECK(told(at.work.save(mode).value()) == "added unknown, ");
        CHECK(at.work.state_of(fresh) == entity_state::unknown);
        CHECK(at.work.pending().size() == 1);
        SECTION("the insert is sent again if it was not applied") {
            CHECK(told(at.work.save(mode).value()) == "added saved, ");
            CHECK(at.work.state_of(fresh) == entity_state::unchanged);
            fresh.total = 4;
            CHECK(at.work.save(mode).value().good());
            CHECK(stored_order(at.outside, 19) == "new/4");
        }
        SECTION("the inserted row was changed in the meantime") {
            fresh.total = 5;
            CHECK(at.work.save(mode).value().good());
            CHECK(stored_order(at.outside, 19) == "new/5");
        }
        SECTION("an entity that was removed in the meantime is resolved as a removal") {
            at.work.remove(fresh);
            CHECK(told(at.work.save(mode).value()) == "removed saved, ");
            CHECK(stored_order(at.outside, 19) == "gone");
        }
    }
    SECTION("the outcome of a removal is resolved by a read") {
        order& one = *at.work.find("ann", 17).value();
        at.work.remove(one);
        CHECK(told(at.work.save(mode).value()) == "removed unknown, ");
        SECTION("the removal is sent again if it was not applied") {
            CHECK(told(at.work.save(mode).value()) == "removed saved, ");
            CHECK(stored_order(at.outside) == "gone");
        }
        SECTION("the removed entity was added again in the meantime") {
            at.work.add({"ann", 17, "again", 9, {}});
            CHECK(at.work.save(mode).value().good());
            CHECK(stored_order(at.outside) == "again/9");
        }
    }
    SECTION("a change that may have been made by another writer is a conflict") {
        order& one = *at.work.find("ann", 17).value();
        one.total = 5;
        CHECK(told(at.work.save(mode).value()) == "modified unknown, ");
        auto const then = at.work.save(mode).value();
        CHECK(then.good() == !applied);
        CHECK(stored_order(at.outside) == "new/5/call");
        if (applied) {
            CHECK(at.work.conflict_of(one).value()->may_be_mine);
            at.work.resolve(one, keep::mine);
            CHECK(at.work.save(mode).value().good());
        }
    }
    SECTION("two answers are lost") {
        at.work.find("ann", 17).value()->total = 5;
        at.work.add({"ann", 19, "new", 3, {}});
        CHECK(at.work.save(save_mode::batch).value().failed.size() == 2);
        CHECK(at.work.save(save_mode::batch).value().good()); // the insert settles both
        CHECK(at.all() == "new/5/call new/2 new/3 ");
    }
    CHECK(at.secret() == (stored_order(at.outside).starts_with("new") ? 42 : 0));
}

TEST_CASE("unit of work: with operation rows the outcome of every lost answer is known") {
    memory_backend const store;
    losing const way{store};
    retrying_options how;
    how.operation_rows = true;
    how.policy.max_attempts = 1;
    table<order> const orders{retrying{way, how}, "orders"};
    orders_table const outside{store, "orders"};
    outside.create().value();
    outside.insert({"ann", 17, "new", 1, {}}).value();
    auto const loss = GENERATE(losing::loss::request, losing::loss::answer);
    unit_of_work work{orders};
    order& one = *work.find("ann", 17).value();
    one.total = 5;
    way.told->next = loss;
    auto const saved = work.save().value();
    REQUIRE(told(saved) == "modified unknown, ");
    CHECK_FALSE(saved.failed[0].error->operation_id.empty());
    SECTION("the entity was not changed again") {
        CHECK(work.save().value().good());
        CHECK(stored_order(outside) == "new/5");
    }
    SECTION("the entity was changed once more") {
        one.status = "paid";
        CHECK(work.save().value().good());
        CHECK(stored_order(outside) == "paid/5");
    }
    SECTION("the entity was changed by another writer in the meantime") {
        bool const applied = loss == losing::loss::answer;
        outside.merge(at("ann", 17), o::status = "theirs", any_etag).value();
        CHECK(work.save().value().good() == applied);
        CHECK(stored_order(outside) == (applied ? "theirs/5" : "theirs/1"));
        CHECK(shown(one) == (applied ? "theirs/5" : "new/5"));
    }
}
