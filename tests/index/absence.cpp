// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Decisions of a transaction that depend on a missing row: a body may have looked for it before it existed, and missing rows are not
// guarded.

#include "runners.hpp"
#include <entitable/memory.hpp>

#include <support/around.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

using runners_by_mail = table<marathon::runner, unique<marathon::by_mail>>;

marathon::runner with_mail(std::int32_t bib, std::string const& mail) { return {"NYC", bib, "", 20, "", mail, {}}; }

/// Whether each key belongs to one entity, and the index contains all.
void check_keys(memory_backend const& store) {
    runners_by_mail const all{store, "runners"};
    std::map<std::string, int> owners;
    for (marathon::runner const& each : all.scan_table()) { ++owners[each.mail]; }
    for (auto const& [mail, count] : owners) {
        INFO(mail);
        CHECK(count == 1);
    }
    auto const found = (all.verify)().value().indexes;
    CHECK(found.violations == 0);
    CHECK(found.missing == 0);
    CHECK(found.dangling == 0);
}

} // namespace

TEST_CASE("index: a unique key has one owner even if another writer takes it after the lookup") {
    // The other writer comes after each of the requests of the transaction, in turn.
    for (int behind = 0; behind < 8; ++behind) {
        INFO("behind request " << behind);
        memory_backend const store;
        runners_by_mail{store, "runners"}.create().value();
        int requests = 0;
        bool done = false;
        around const watched{store, {}, [&](std::string_view, bool) {
                                 if (requests++ == behind && !std::exchange(done, true)) {
                                     static_cast<void>(runners_by_mail{store, "runners"}.insert(with_mail(2, "x@y")));
                                 }
                             }};
        runners_by_mail const runners{watched, "runners"};
        auto const made = runners.transact("NYC", [&](transaction<marathon::runner>& all) -> result<void> {
            ENTITABLE_TRY(auto const two, all.find(2)); // absent
            if (!two) { all.insert(with_mail(1, "x@y")); }
            return {};
        });
        CHECK((made || made.error().code == error_code::entity_already_exists));
        check_keys(store);
    }
}

TEST_CASE("index: a unique key moves to another entity after a body has looked up both") {
    for (int behind = 0; behind < 10; ++behind) {
        INFO("behind request " << behind);
        memory_backend const store;
        {
            runners_by_mail const first{store, "runners"};
            first.create().value();
            first.insert(with_mail(3, "x@y")).value();
        }
        int requests = 0;
        bool done = false;
        around const watched{store, {}, [&](std::string_view, bool) {
                                 if (requests++ == behind && !std::exchange(done, true)) {
                                     runners_by_mail const other{store, "runners"};
                                     static_cast<void>(other.remove("NYC", 3, any_etag));
                                     static_cast<void>(other.insert(with_mail(2, "x@y")));
                                 }
                             }};
        runners_by_mail const runners{watched, "runners"};
        auto const made = runners.transact("NYC", [&](transaction<marathon::runner>& all) -> result<void> {
            ENTITABLE_TRY(auto const two, all.find(2)); // absent, at first
            ENTITABLE_TRY(auto const three, all.find(3));
            if (!two && !three) {
                all.insert(with_mail(1, "x@y"));
            } else if (!two) {
                all.insert(with_mail(4, "x@y")); // refused: 3 has it
            }
            return {};
        });
        CHECK((made || made.error().code == error_code::entity_already_exists));
        check_keys(store);
    }
}
