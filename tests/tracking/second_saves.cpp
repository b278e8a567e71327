// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What the second save sends after a first one failed: each merge option after a 409, a 412, a 503 and a lost answer. The table of the guide.

#include "support/catch.hpp"
#include <entitable/core/decorators/metered.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/faulty.hpp>
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
std::string second_save(merge_option option, refusal why) {
    memory_backend const memory;
    testing::faulty const faults{memory};
    metered const store{faults, {}};
    table<post> const outside{memory, "posts"};
    table<post> const posts{store, "posts"};
    outside.create().value();
    unit_of_work work{posts, {.merge = option}};
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
