// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A cancelled write removes its intent and the keys that it was about to write: the cleanup ignores the stop token.

#include "runners.hpp"
#include <entitable/memory.hpp>

#include <support/around.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;
using marathon::by_club;
using marathon::by_name;
using marathon::runner;

namespace {

using runners_elsewhere = table<runner, elsewhere<by_club>, elsewhere<unique<by_name>>>;

runners_elsewhere open(any_store const& store, cancellation_token token = {}) {
    table_options how;
    how.calls.cancellation = std::move(token);
    return {store, "runners", how, in_table<by_club>{store, "clubs"}, in_table<by_name>{store, "names"}};
}

/// Intents are left by writers that did not finish.
std::uint64_t intents_in(memory_backend const& store) {
    call context;
    auto const all = store.execute(query_entities{"runners", {}, {}, {}, 1000, {}}, context).value();
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < all.rows.size(); ++at) {
        count += std::string_view{all.rows[at].row_key}.starts_with("~!ix!") ? 1U : 0U;
    }
    return count;
}

} // namespace

TEST_CASE("index: a write that is cancelled after any of its requests leaves no intent and no index row") {
    bool cancelled_once = false;
    bool written_once = false;
    for (int behind = 0; behind < 16; ++behind) {
        for (int const kind : {0, 1, 2}) {
            INFO("kind " << kind << ", behind request " << behind);
            memory_backend const store;
            open(store).create().value();
            open(store).insert({"NYC", 1, "Ann", 20, "Reds", "ann@x", {}}).value();
            cancellation_source everything;
            int requests = 0;
            around const way{store, {}, [&](std::string_view, bool) {
                                 if (requests++ == behind) { everything.cancel(); }
                             }};
            auto const runners = open(way, everything.token());
            auto const code = [&]() -> std::optional<error> {
                auto const told = [](auto made) { return made ? std::optional<error>{} : std::optional{made.error()}; };
                switch (kind) {
                    case 0: return told(runners.insert({"NYC", 2, "Bob", 20, "Reds", "bob@x", {}}));
                    case 1:
                        return told(runners.update("NYC", 1, [](runner& each) {
                            each.club = "Blues";
                            each.name = "Eve";
                        }));
                    default: return told(runners.remove("NYC", 1, any_etag));
                }
            }();
            cancelled_once = cancelled_once || code;
            written_once = written_once || (!code && requests > behind);
            CHECK((!code || code->code == error_code::cancelled));
            CHECK(intents_in(store) == 0);
            auto const found = (open(store).verify)().value().indexes;
            CHECK(found.good());
        }
    }
    CHECK(cancelled_once);
    CHECK(written_once); // cancelled after its transaction, and completed
}
