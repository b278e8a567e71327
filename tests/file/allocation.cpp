// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Memory runs out at each allocation of the first call of each kind on an opened file: the call throws std::bad_alloc or
// returns its answer, the program never ends, and the file stays usable.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <support/catch.hpp>
#include <support/entities.hpp>
#include <support/failing_new_definitions.hpp>
#include <support/temporary_folder.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <new>

using namespace entitable;
using namespace entitable_test;

namespace {

using notes = table<note>;

/// A call on an opened file. Returns whether it was done.
struct first_call {
    char const* name;
    std::function<bool(file_backend const&, notes const&)> run;
};

std::vector<first_call> const& first_calls() {
    static std::vector<first_call> const all{
        {"get", [](file_backend const&, notes const& in) { return in.get("a", 1).has_value(); }},
        {"get of an absent row", [](file_backend const&, notes const& in) { return !in.get("a", 1'000'000); }},
        {"scan", [](file_backend const&, notes const& in) { return in.scan_table().count().has_value(); }},
        {"list tables",
            [](file_backend const& store, notes const&) {
                call context;
                return store.execute(list_tables{}, context).has_value();
            }},
        {"insert",
            [](file_backend const&, notes const& in) {
                auto const made = in.insert({"b", 1, std::string(3'000, 'x')});
                return made || made.error().code == error_code::entity_already_exists;
            }},
        {"replace",
            [](file_backend const&, notes const& in) { return in.insert_or_replace({"a", 1, "new"}).has_value(); }},
        {"remove",
            [](file_backend const&, notes const& in) {
                auto const gone = in.remove("a", 3, any_etag);
                return gone || gone.error().code == error_code::resource_not_found;
            }},
        {"batch",
            [](file_backend const&, notes const& in) {
                auto changes = in.batch();
                for (std::int32_t number = 0; number < 5; ++number) {
                    changes.insert_or_replace({"c", number, "text"});
                }
                return changes.submit().has_value();
            }},
        {"create and drop a table",
            [](file_backend const& store, notes const&) {
                notes const other{store, "others"};
                return other.create_if_absent() && other.drop();
            }},
        {"verify", [](file_backend const& store, notes const&) { return store.verify().value().sound(); }},
        {"checkpoint", [](file_backend const& store, notes const&) { return store.checkpoint().has_value(); }},
    };
    return all;
}

} // namespace

TEST_CASE("file: a failed allocation in the first call on an opened file throws std::bad_alloc") {
    for (auto const journal : {file_journal::automatic, file_journal::rollback}) {
        temporary_folder const folder{temporary_folder::memory()};
        std::string const path = folder / "notes.db";
        file_options options;
        options.journal = journal;
        {
            file_backend const store{path, options};
            notes const all{store, "notes"};
            all.create().value();
            for (std::int32_t number = 0; number < 8; ++number) { all.insert({"a", number, "text"}).value(); }
        }
        std::size_t failures = 0;
        for (first_call const& each : first_calls()) {
            CAPTURE(each.name);
            bool done = false;
            std::size_t allowed = 0;
            for (; !done; ++allowed) {
                REQUIRE(allowed < 2'000);
                file_backend const store{path, options};
                notes const all{store, "notes"};
                bool failed = false;
                bool right = false;
                {
                    allocation_limit const limit{allowed};
                    try {
                        right = each.run(store, all);
                    } catch (std::bad_alloc const&) { failed = true; }
                }
                done = !failed;
                CHECK((failed || right));
                CHECK(all.get("a", 0));
            }
            failures += allowed - 1;
        }
        CHECK(failures > 50);
        // Opening can fail as well.
        bool opened = false;
        for (std::size_t allowed = 0; !opened; ++allowed) {
            REQUIRE(allowed < 2'000);
            allocation_limit const limit{allowed};
            try {
                opened = file_backend::open(path, options).has_value();
            } catch (std::bad_alloc const&) { continue; }
        }
    }
}

TEST_CASE("file: a checkpoint that runs out of memory fails") {
    temporary_folder const folder{temporary_folder::memory()};
    file_backend const store{folder / "notes.db"};
    std::filesystem::remove(folder / "notes.db"); // reporting that takes memory
    std::size_t failures = 0;
    for (bool told = false; !told; failures += told ? 0U : 1U) {
        REQUIRE(failures < 1'000);
        bool moved = false;
        {
            allocation_limit const limit{failures};
            try {
                moved = store.checkpoint().has_value();
                told = true;
            } catch (std::bad_alloc const&) { told = false; }
        }
        REQUIRE_FALSE(moved);
    }
    CHECK(failures > 0);
}

TEST_CASE("file: closing a deleted file needs no memory") {
    temporary_folder const folder{temporary_folder::memory()};
    auto store = std::make_unique<file_backend>(folder / "notes.db");
    std::filesystem::remove(folder / "notes.db");
    allocation_limit const limit{0};
    store.reset();
}
