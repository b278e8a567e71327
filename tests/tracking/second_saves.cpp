// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What the second save sends after a first one failed: each merge option after a 409, a 412, a 503 and a lost answer. The table of the guide.

#include "support/catch.hpp"
#include <entitable/core/decorators/metered.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/spy.hpp>
#include <entitable/unit_of_work.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace entitable;

namespace second_save_test {

struct post {
    std::string channel, posted, text;
};
ENTITABLE(post, partition_key(channel), row_key(posted), properties(text))

enum class refusal { conflict, precondition, busy, lost };

/// The requests of the second save, and whether everything was saved then. What stood in the way is gone before it.
std::string second_save(merge_option option, refusal why, failed_changes failed = failed_changes::settle) {
    memory_backend const memory;
    testing::faulty const faults{memory};
    metered const store{faults, {}};
    table<post> const outside{memory, "posts"};
    table<post> const posts{store, "posts"};
    outside.create().value();
    unit_of_work work{posts, {.merge = option, .failed = failed}};
    if (why == refusal::conflict) {
        outside.insert({"c", "1", "theirs"}).value();
        work.add({"c", "1", "mine"});
    } else {
        outside.insert({"c", "1", "old"}).value();
        work.find("c", "1").value()->text = "mine";
        if (why == refusal::precondition) {
            outside.replace({"c", "1", "theirs"}, any_etag).value();
        } else {
            faults.plan(
                {why == refusal::busy ? testing::fault::status(503, false, effect::none) : testing::fault::lost_after(),
                    1, {}, {}, false});
        }
    }
    auto const first = work.save();
    if (first && first->good()) { return "saved at once"; }
    if (why == refusal::conflict) { outside.remove("c", "1", any_etag).value(); }
    store.clear();
    auto const second = work.save();
    std::uint64_t sent = 0;
    for (traffic const& each : store.counted()) { sent += each.operations; }
    bool const good = second && second->good();
    return std::to_string(sent) + (good ? " saved" : " refused");
}

} // namespace second_save_test

using namespace second_save_test;

TEST_CASE("what the second save sends, by merge option and failure") {
    constexpr std::string_view expected[][4] = {{"0 refused", "0 refused", "1 saved", "2 refused"}, // append_only
        {"0 refused", "0 refused", "1 saved", "2 refused"},                                         // overwrite_changes
        {"0 refused", "0 refused", "1 saved", "2 refused"},                                         // preserve_changes
        {"0 refused", "0 refused", "1 saved", "2 refused"},                // preserve_changes_silently
        {"0 refused", "saved at once", "saved at once", "saved at once"}}; // no_tracking: what was read is not saved
    for (merge_option const option : {merge_option::append_only, merge_option::overwrite_changes,
             merge_option::preserve_changes, merge_option::preserve_changes_silently, merge_option::no_tracking}) {
        for (refusal const why : {refusal::conflict, refusal::precondition, refusal::busy, refusal::lost}) {
            INFO(static_cast<int>(option) << ", " << static_cast<int>(why));
            CHECK(
                second_save(option, why) == expected[static_cast<std::size_t>(option)][static_cast<std::size_t>(why)]);
        }
    }
}

TEST_CASE("what the second save sends if failed changes are sent again, by merge option and failure") {
    // The row of a 409 is gone. The version of a 412, or after a lost answer the row that was written here, is another one.
    constexpr std::string_view expected[] = {"1 saved", "1 refused", "1 saved", "1 refused"};
    for (merge_option const option : {merge_option::append_only, merge_option::overwrite_changes,
             merge_option::preserve_changes, merge_option::preserve_changes_silently, merge_option::no_tracking}) {
        for (refusal const why : {refusal::conflict, refusal::precondition, refusal::busy, refusal::lost}) {
            INFO(static_cast<int>(option) << ", " << static_cast<int>(why));
            bool const tracked = option != merge_option::no_tracking || why == refusal::conflict;
            CHECK(second_save(option, why, failed_changes::send_again) ==
                (tracked ? expected[static_cast<std::size_t>(why)] : "saved at once"));
        }
    }
}

TEST_CASE("failed changes that are sent again are the same requests, until the row is read again") {
    memory_backend const memory;
    testing::spy const store{memory};
    table<post> const outside{memory, "posts"};
    table<post> const posts{store, "posts"};
    outside.create().value();
    outside.insert({"c", "1", "old"}).value();
    outside.insert({"c", "2", "old"}).value();
    unit_of_work work{posts, {.merge = merge_option::preserve_changes_silently, .failed = failed_changes::send_again}};
    post& tracked = *work.find("c", "1").value();
    work.remove(*work.find("c", "2").value());
    tracked.text = "mine";
    outside.replace({"c", "1", "theirs"}, any_etag).value();
    outside.remove("c", "2", any_etag).value();
    store.forget();
    for (int save = 0; save < 3; ++save) {
        auto const saved = work.save().value();
        CHECK(saved.failed.size() == 2);
        CHECK_FALSE(work.conflict_of(tracked).value());
        for (auto const& each : work.pending()) {
            CHECK(each.state() == (each.entity().posted == "1" ? entity_state::modified : entity_state::removed));
        }
    }
    auto const sent = store.all<write_entity>();
    REQUIRE(sent.size() == 6);
    CHECK(store.seen().size() == 6); // no reads
    for (std::size_t at = 2; at < 6; ++at) {
        mutation const& first = sent[at % 2].change;
        mutation const& again = sent[at].change;
        CHECK(again.kind == first.kind);
        CHECK(again.condition.version() == first.condition.version());
        CHECK(again.entity.row_key() == first.entity.row_key());
        CHECK(again.entity.payload() == first.entity.payload());
    }
    CHECK(store.seen()[0].failed == error_code::update_condition_not_satisfied);
    CHECK(store.seen()[5].failed == error_code::resource_not_found);
    // A row that was read again gives its ETag, and the next save overwrites the other writer.
    work.find("c", "1").value();
    CHECK(tracked.text == "mine");
    store.forget();
    CHECK(work.save().value().failed.size() == 1);
    CHECK(outside.get("c", "1").value().text == "mine");
    CHECK(store.seen().size() == 2);
}

TEST_CASE("a lost response of a change that is sent again is unknown, then refused by the row that was written") {
    memory_backend const memory;
    testing::faulty const faults{memory};
    table<post> const posts{faults, "posts"};
    posts.create().value();
    for (save_mode const mode : {save_mode::each, save_mode::batch}) {
        std::string const channel = mode == save_mode::each ? "one" : "two";
        unit_of_work work{posts, {.failed = failed_changes::send_again}};
        work.add({channel, "1", "mine"});
        if (mode == save_mode::batch) { work.add({channel, "2", "mine"}); }
        faults.plan({testing::fault::lost_after(), 1, {}, {}, false});
        auto const lost = work.save({.mode = mode}).value();
        REQUIRE_FALSE(lost.changes.empty());
        CHECK(lost.changes[0].outcome == save_outcome::unknown);
        CHECK(work.pending()[0].state() == entity_state::added);
        auto const second = work.save({.mode = mode}).value();
        CHECK(second.failed[0].error->code == error_code::entity_already_exists);
        posts.remove(channel, "1", any_etag).value();
        if (mode == save_mode::batch) { posts.remove(channel, "2", any_etag).value(); }
        CHECK(work.save({.mode = mode}).value().good());
        CHECK(work.pending().empty());
    }
}
