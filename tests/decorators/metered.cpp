// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/decorators/metered.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/scripted.hpp>

#include <support/catch.hpp>
#include <support/many.hpp>

#include <thread>

using namespace entitable;
using testing::make_row;

namespace {

static_assert(transport<metered<memory_backend>>);
static_assert(transport<metered<metered<any_store>>>);

std::string shown(std::vector<traffic> const& lines) {
    std::string text;
    for (traffic const& line : lines) {
        text += line.table + (line.partition ? "/" + *line.partition : "") + " " + std::to_string(line.operations) +
            " " + std::to_string(line.errors) + "\n";
    }
    return text;
}

template <class Store>
void some_traffic(Store const& store, call& context) {
    (void)store.execute(create_table{"Orders"}, context);
    (void)store.execute(write_entity{"Orders", mutation::insert(make_row("p", "r"))}, context);
    (void)store.execute(write_entity{"ORDERS", mutation::insert(make_row("p", "r"))}, context);
    (void)store.execute(get_entity{"Orders", "q", "r", {}}, context);
    (void)store.execute(transact{"Orders", {mutation::merge(make_row("p", "r"), any_etag)}}, context);
    (void)store.execute(query_entities{"Orders", {}, {}, {}, 10, {}}, context);
    (void)store.execute(list_tables{}, context);
}

} // namespace

TEST_CASE("metered: counts per table and partition") {
    metered<memory_backend> const watched{memory_backend{}};
    call context;
    some_traffic(watched, context);
    CHECK(shown(watched.counted()) == " 1 0\norders 2 0\norders/p 3 1\norders/q 1 1\n");
    watched.clear();
    CHECK(watched.counted().empty());
}

TEST_CASE("metered: measures latency with its clock") {
    testing::manual_clock time;
    metered_options options;
    options.time = &time;
    testing::scripted service;
    for (int seconds = 1; seconds <= 3; ++seconds) {
        service.expect<get_entity>().does([&time, seconds](get_entity const&) {
            time.advance(std::chrono::seconds{seconds});
            return result<get_entity::response>{std::in_place};
        });
    }
    metered<testing::scripted> const watched{service, options};
    for (int count = 0; count < 3; ++count) {
        call context;
        CHECK(watched.execute(get_entity{"Orders", "p", "r", {}}, context));
    }
    auto const lines = watched.counted();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].total == std::chrono::seconds{6});
    CHECK(lines[0].longest == std::chrono::seconds{3});
}

TEST_CASE("metered: counts several requests in flight") {
    metered const watched{entitable_test::reversed{memory_backend{}}};
    std::vector<get_entity> const two{{"Orders", "p", "r", {}}, {"Orders", "q", "r", {}}};
    CHECK(entitable_test::send_all(watched, two, 2).order == std::vector<std::size_t>{1, 0});
    CHECK(shown(watched.counted()) == "orders/p 1 1\norders/q 1 1\n");
}

TEST_CASE("metered: memory is bounded, and every request is counted") {
    metered_options options;
    options.max_lines = 10;
    metered<memory_backend> const watched{memory_backend{}, options};
    call context;
    for (int index = 0; index < 1000; ++index) {
        (void)watched.execute(get_entity{"Orders", std::to_string(index), "r", {}}, context);
        (void)watched.execute(get_entity{"Table" + std::to_string(index), "p", "r", {}}, context);
    }
    auto const lines = watched.counted();
    CHECK(lines.size() <= 11);
    std::uint64_t operations = 0;
    for (traffic const& line : lines) {
        operations += line.operations;
        CHECK(line.errors == line.operations);
    }
    CHECK(operations == 2000);
}

TEST_CASE("metered: several threads can use it") {
    metered<memory_backend> const watched{memory_backend{}};
    std::vector<std::thread> running;
    for (int thread = 0; thread < 4; ++thread) {
        running.emplace_back([&] {
            call context;
            for (int index = 0; index < 200; ++index) {
                (void)watched.execute(get_entity{"Orders", std::to_string(index % 7), "r", {}}, context);
            }
        });
    }
    for (std::thread& each : running) { each.join(); }
    std::uint64_t operations = 0;
    for (traffic const& line : watched.counted()) { operations += line.operations; }
    CHECK(operations == 800);
}
