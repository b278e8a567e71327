// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// `create_if_absent` of a table that exists, and `drop_if_present` of one that does not, are successes to observers and metrics, over every
// kind of store.

#include <entitable/core/decorators/metered.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/sequence.hpp>
#include <entitable/shards.hpp>

#include <support/catch.hpp>
#include <support/maps.hpp>
#include <support/temporary_folder.hpp>
#include <support/watcher.hpp>

#include <map>

using namespace entitable;

namespace expected_outcomes {

struct errand {
    std::string kind;
    std::int32_t number{};
};
ENTITABLE(errand, partition_key(kind), row_key(number), properties())

/// The failed operations and attempts that an observer has seen, as text.
std::string failures(entitable_test::watcher const& seen) {
    std::string all;
    for (auto const& each : seen.all("operation")) {
        if (each.operation.outcome.error) {
            all += each.name + ": " + std::string{to_string(*each.operation.outcome.error)} + "\n";
        }
    }
    for (auto const& each : seen.all("attempt")) {
        if (each.attempt.outcome.error) {
            all += each.name + ": " + std::string{to_string(*each.attempt.outcome.error)} + "\n";
        }
    }
    return all;
}

void creates_quietly(any_store const& store) {
    entitable_test::watcher seen;
    metered<any_store> const counted{store};
    call_options how;
    how.watch = &seen;
    table<errand> const errands{counted, "errands", how};
    CHECK(errands.create_if_absent().value());
    CHECK_FALSE(errands.create_if_absent().value());
    CHECK(errands.drop_if_present().value());
    CHECK_FALSE(errands.drop_if_present().value());
    CHECK(failures(seen) == "");
    CHECK_FALSE(seen.all("operation").empty());
    std::uint64_t errors = 0;
    for (auto const& line : counted.counted()) { errors += line.errors; }
    CHECK(errors == 0);
    // What is not expected is recorded.
    CHECK(errands.create());
    CHECK(errands.create().error().code == error_code::table_already_exists);
    CHECK(failures(seen).find("create_table: TableAlreadyExists") != std::string::npos);
    CHECK(errands.drop());
    CHECK(errands.drop().error().code == error_code::resource_not_found);
    CHECK(failures(seen).find("delete_table: ResourceNotFound") != std::string::npos);
}

} // namespace expected_outcomes
using namespace expected_outcomes;

TEST_CASE("create_if_absent and drop_if_present record no expected error: memory, file, shards") {
    creates_quietly(memory_backend{});
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    creates_quietly(file_backend{folder / "a.db"});
    std::map<std::string, memory_backend> stores;
    auto const open = [&stores](
                          std::string_view name) -> result<any_store> { return any_store{stores[std::string{name}]}; };
    memory_backend const catalogue;
    creates_quietly(entitable_test::cloud_of(catalogue, "shards", virtual_shards{4}, {"red", "green"}, open));
    std::map<std::string, memory_backend> spread;
    auto const open_spread = [&spread](std::string_view name) -> result<any_store> {
        return any_store{spread[std::string{name}]};
    };
    creates_quietly(sharded{hash_stores::make({"red", "green", "blue"}, open_spread).value()});
}

TEST_CASE("creating a queue that exists, and a sequence in a table that exists, records no error") {
    memory_backend const store;
    entitable_test::watcher seen;
    queue_options how;
    how.calls.watch = &seen;
    table_queue<errand> const first{store, "jobs", how};
    CHECK(first.create().value());
    entitable_test::watcher again;
    how.calls.watch = &again;
    table_queue<errand> const second{store, "jobs", how};
    CHECK_FALSE(second.create().value());
    CHECK(failures(again) == "");
    CHECK(second.enqueue({"a", 1}));
}
