// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Memory runs out at each allocation of a batch of 100 changes and of a query: all or nothing, and nothing leaks.
// memory_store_allocation.cpp defines the operators.

#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/contents.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/failing_new.hpp>

#include <new>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

std::string number(std::size_t value) { return std::to_string(1'000 + value).substr(1); }

struct fixture {
    explicit fixture(std::size_t rows) {
        call context;
        REQUIRE(store.execute(create_table{"Orders"}, context));
        for (std::size_t row = 0; row < rows; ++row) {
            auto const entity = make_row("p", number(row * 2), {{"Old", std::string(40, 'o')}});
            REQUIRE(store.execute(write_entity{"Orders", mutation::insert(entity)}, context));
        }
        REQUIRE(store.execute(write_entity{"Orders", mutation::insert(make_row("q", "r"))}, context));
    }
    [[nodiscard]] std::string dump() const { return testing::dump(store, testing::shown::versions); }

    memory_backend store;
};

/// Runs `action`, which does not use Catch, with 0, 1, 2, ... allocations until it succeeds, and `check` after each
/// failure. Returns the number of failures. The store may keep two layouts that it knows now, in two blocks each, and a tree that undone
/// changes have split into three more chunks; nothing else leaks.
template <class Action, class Check>
std::size_t fail_each_allocation(Action const& action, Check const& check) {
    std::size_t kept = 0;
    for (std::size_t allowed = 0;; ++allowed) {
        bool failed = false;
        std::size_t const before = blocks_in_use();
        {
            allocation_limit const limit{allowed};
            try {
                action();
            } catch (std::bad_alloc const&) { failed = true; }
        }
        std::size_t const after = blocks_in_use();
        if (!failed) { return allowed; }
        CAPTURE(allowed);
        kept += after - before;
        CHECK(kept <= 7);
        check();
    }
}

/// 100 changes of all forms. `rows` lists the existing keys.
transact batch_of_all_forms(std::size_t rows) {
    transact batch{"Orders", {}};
    for (std::size_t index = 0; index < 100; ++index) {
        bool const there = index % 2 == 0 && index / 2 < rows;
        auto const kind = !there ? (index % 3 == 0          ? mutation_kind::insert
                                           : index % 3 == 1 ? mutation_kind::insert_or_merge
                                                            : mutation_kind::insert_or_replace)
                                 : static_cast<mutation_kind>(1 + index / 2 % 5);
        batch.changes.push_back({kind, make_row("p", number(index), {{"New", std::string(50, 'n')}}), any_etag});
    }
    return batch;
}

void fail_batch(std::size_t rows) {
    fixture const f{rows};
    transact const batch = batch_of_all_forms(rows);
    std::string const untouched = f.dump();
    std::size_t const failures = fail_each_allocation(
        [&] {
            call context;
            (void)f.store.execute(batch, context);
        },
        [&] { CHECK(f.dump() == untouched); });
    CAPTURE(rows, failures);
    CHECK(failures > 100);
    CHECK(f.dump() != untouched);
    // Everything was applied: every row except the removed ones exists.
    call context;
    for (mutation const& change : batch.changes) {
        auto const read = f.store.execute(get_entity{"Orders", "p", std::string{change.entity.row_key()}, {}}, context);
        CHECK(read.has_value() == (change.kind != mutation_kind::remove));
    }
}

} // namespace

TEST_CASE("local: memory runs out in a batch of 100 changes") {
    fail_batch(0);
    fail_batch(50);
}

TEST_CASE("local: memory runs out in a batch that is refused at its end") {
    fixture const f{50};
    transact batch = batch_of_all_forms(50);
    batch.changes.back().condition = etag{"W/\"other\""};
    batch.changes.back() = mutation::insert(make_row("p", "000"));
    batch.changes.front() = mutation::insert(make_row("p", "new"));
    std::string const untouched = f.dump();
    std::size_t const failures = fail_each_allocation(
        [&] {
            call context;
            (void)f.store.execute(batch, context);
        },
        [&] { CHECK(f.dump() == untouched); });
    CHECK(failures > 100);
    CHECK(f.dump() == untouched);
}

TEST_CASE("local: memory runs out in reads, in single writes and in table requests") {
    fixture const f{50};
    std::string const untouched = f.dump();
    auto const same = [&] { CHECK(f.dump() == untouched); };
    auto const fails = [&](auto const& request) {
        return fail_each_allocation(
            [&] {
                call context;
                (void)f.store.execute(request, context);
            },
            same);
    };
    query_entities query;
    query.table = "Orders";
    query.page_size = 20;
    query.select = {"Old"};
    query.filter = filter{{{filter_operator::greater, "Old", value_view{std::string_view{"a"}}}}};
    CHECK(fails(query) > 10);
    call context;
    query.continuation = f.store.execute(query, context).value().continuation;
    CHECK(fails(query) > 10);
    CHECK(fails(get_entity{"Orders", "p", "000", {"Old"}}) > 0);
    CHECK(fails(get_entity{"Orders", "p", "none", {}}) > 0);
    CHECK(fails(list_tables{{}, 1000}) > 0);
    CHECK(fails(write_entity{"Orders", mutation::insert(make_row("p", "000"))}) > 0);
    same();
    CHECK(fails(write_entity{"Orders", mutation::merge(make_row("p", "000", {{"A", 1}}), any_etag)}) > 0);
    CHECK(f.dump() != untouched);
    auto const changed = f.dump();
    auto const still = [&] { CHECK(f.dump() == changed); };
    auto const without = [&](auto const& request) {
        return fail_each_allocation(
            [&] {
                call at;
                (void)f.store.execute(request, at);
            },
            still);
    };
    CHECK(without(create_table{"Fresh"}) > 0);
    CHECK(f.dump() == "table Fresh\n" + changed);
    CHECK(fail_each_allocation(
              [&] {
                  call at;
                  (void)f.store.execute(delete_table{"Orders"}, at);
              },
              [&] { CHECK(f.dump() == "table Fresh\n" + changed); }) < 100);
    CHECK(f.dump() == "table Fresh\n");
}
