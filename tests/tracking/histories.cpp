// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random histories of one unit of work, an outside writer and a plain map: the stored rows are the saved changes and the outside
// writes, in that order; no acknowledged change is lost.

#include "orders.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/core/random.hpp>

#include <map>

using namespace entitable;
using namespace tracking;

namespace {

/// The stored rows according to the outcomes.
using plain_map = std::map<std::int32_t, order>;

std::string contents(plain_map const& all) {
    std::string text;
    for (auto const& [id, each] : all) { text += std::to_string(id) + " " + shown(each) + "; "; }
    return text;
}

void run_history(any_store const& store, std::uint64_t seed, int steps) {
    orders_table const orders{store, "orders"};
    (void)orders.drop_if_present();
    orders.create().value();
    random_source random{seed};
    auto const below = [&](std::uint64_t limit) { return random.bits() % limit; };
    plain_map model; // the rows
    unit_of_work work{orders, {.merge = merge_option::preserve_changes}};
    auto const read_all = [&] {
        plain_map all;
        orders.where(o::customer == "ann").for_each([&](order const& each) { all.emplace(each.id, each); }).value();
        return all;
    };
    for (int step = 0; step < steps; ++step) {
        auto const id = static_cast<std::int32_t>(below(6));
        auto const number = static_cast<std::int32_t>(below(1000));
        CAPTURE(seed, step, id);
        switch (below(9)) {
            case 0: // outside: one property
                if (model.contains(id)) {
                    if (below(2) == 0) {
                        orders.merge(at("ann", id), o::total = number, any_etag).value();
                        model[id].total = number;
                    } else {
                        orders.merge(at("ann", id), o::status = "theirs", any_etag).value();
                        model[id].status = "theirs";
                    }
                }
                break;
            case 1: // outside: inserted or removed
                if (model.erase(id) > 0) {
                    orders.remove("ann", id, any_etag).value();
                } else {
                    model[id] = {"ann", id, "outside", number, "x"};
                    orders.insert(model[id]).value();
                }
                break;
            case 2: (void)work.find("ann", id).value(); break;
            case 3: (void)work.track(orders.where(o::customer == "ann")).value(); break;
            case 4:
            case 5:
                if (order* const one = work.tracked("ann", id)) {
                    if (below(3) == 0) {
                        one->note = below(2) == 0 ? std::optional<std::string>{} : std::to_string(number);
                    } else if (below(2) == 0) {
                        one->total = number;
                    } else {
                        one->status = "mine";
                    }
                } else {
                    bool gone = true; // it is not tracked, or will be removed: in both cases it may be added
                    for (auto const& each : work.pending()) {
                        gone = gone && (each.entity().id != id || each.state() == entity_state::removed);
                    }
                    if (gone) { work.add({"ann", id, "added", number, {}}); }
                }
                break;
            case 6:
                if (order* const one = work.tracked("ann", id)) { work.remove(*one); }
                break;
            default: {
                // The expected effect of the save, by the current rows and objects.
                struct wanted {
                    entity_state state;
                    order value;
                };
                std::map<std::int32_t, wanted> wish;
                for (auto const& each : work.pending()) {
                    wish.emplace(each.entity().id, wanted{each.state(), each.entity()});
                }
                auto const before = read_all();
                REQUIRE(contents(before) == contents(model));
                auto const saved = work.save(below(2) == 0 ? save_mode::each : save_mode::batch).value();
                auto const after = read_all();
                CHECK(saved.changes.size() == wish.size());
                for (auto const& each : saved.changes) {
                    std::int32_t const of = each.entity().id;
                    REQUIRE(wish.contains(of));
                    if (each.outcome == save_outcome::saved) {
                        if (wish.at(of).state == entity_state::removed) {
                            model.erase(of);
                        } else {
                            model[of] = wish.at(of).value; // no writer was faster: it equals the object
                        }
                    }
                }
                CHECK(contents(after) == contents(model)); // and no unsaved change is stored
                for (auto const& each : work.conflicts()) {
                    order& mine = each.entity();
                    auto const met = work.conflict_of(mine).value();
                    REQUIRE(met);
                    switch (below(4)) {
                        case 0: work.resolve(mine, keep::mine); break;
                        case 1: work.resolve(mine, keep::theirs); break;
                        case 2: work.resolve(mine, {"ann", mine.id, "both", number, {}}); break;
                        default: work.detach(mine); break;
                    }
                }
                break;
            }
        }
    }
    CHECK(contents(read_all()) == contents(model));
}

} // namespace

TEMPLATE_TEST_CASE("unit of work: random histories match a map", "", in_memory, in_file) {
    TestType const at;
    for (std::uint64_t seed = 1; seed <= entitable_test::rounds(20, 2'000, 100); ++seed) {
        run_history(at.store, seed, 120);
    }
}
