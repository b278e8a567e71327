// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// One or two devices and a cloud: what each side has after a synchronisation, what is reported, and what is refused.

#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>

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
    for (auto const& each : made.failed) { UNSCOPED_INFO(each.why.to_string()); }
    return made;
}

} // namespace

TEST_CASE("synchronize: rows travel both ways, and removals too") {
    side cloud;
    side laptop;
    side phone;
    laptop.put("a", "one");
    laptop.put("b", "two");
    auto const sent = sync(laptop, cloud);
    CHECK(sent.complete());
    CHECK(sent.pushed == 2);
    CHECK(cloud.all() == "a=one b=two ");
    auto const received = sync(phone, cloud);
    CHECK(received.complete());
    CHECK(received.pulled == 2);
    CHECK(phone.all() == "a=one b=two ");
    phone.remove("a");
    phone.put("c", "three");
    CHECK(sync(phone, cloud).pushed == 2);
    CHECK(cloud.all() == "b=two c=three ");
    CHECK(sync(laptop, cloud).pulled == 2);
    CHECK(laptop.all() == "b=two c=three ");
    auto const quiet = sync(laptop, cloud);
    CHECK(quiet.complete());
    CHECK(quiet.pulled + quiet.pushed == 0);
    CHECK(quiet.partitions == 1);
}
