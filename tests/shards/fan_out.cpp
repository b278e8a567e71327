// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a query over shards sends, how long it waits, by a clock that waits for nobody, and how long its tokens are.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/delayed.hpp"

#include <support/maps.hpp>

#include <map>
#include <set>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::int32_t size{};
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties(size))
using i = fields<item>;

/// Stores whose every 17th answer takes ten times as long.
struct slow_world {
    testing::manual_clock time;
    std::map<std::string, any_store, std::less<>> stores;
    int asked = 0;

    [[nodiscard]] sharded open(virtual_shards shards, sharded_options how = {}) {
        how.time = &time;
        return sharded{entitable_test::map_without_identity(
                           memory_backend{}, "shardmap", shards, {"a", "b", "c"}, {std::chrono::hours{1}, &time}),
            [this](std::string_view name) -> result<any_store> {
                delayed const made{any_store{memory_backend{}}, time,
                    [this] { return std::chrono::milliseconds{asked++ % 17 == 16 ? 200 : 20}; }};
                return stores.emplace(std::string{name}, made).first->second;
            },
            how};
    }
};

/// Charges 1.5 request units for each page of a query.
struct charging_pages {
    using is_transport = void;
    memory_backend below;
    int* pages{};
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, query_entities>) {
            ++*pages;
            context.request_charge += 1.5;
            if (answer) { answer->request_charge = context.request_charge; }
        }
        return answer;
    }
};

} // namespace

TEST_CASE("shards: a page costs what its requests to all stores cost together") {
    int asked = 0;
    std::map<std::string, any_store, std::less<>> stores;
    sharded const cloud{
        entitable_test::map_without_identity(memory_backend{}, "shardmap", virtual_shards{12}, {"a", "b", "c"}, {}),
        [&](std::string_view name) -> result<any_store> {
            return stores.emplace(std::string{name}, charging_pages{memory_backend{}, &asked}).first->second;
        }};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t number = 0; number < 60; ++number) {
        items.insert({"group " + std::to_string(number), number, 1}).value();
    }
    asked = 0;
    auto pages = items.scan_table().pages();
    double charged = 0;
    std::size_t rows = 0;
    for (;;) {
        auto const page = pages.next().value();
        if (!page) { break; }
        charged += page->request_charge;
        rows += page->size();
    }
    CHECK(rows == 60);
    CHECK(asked >= 12);
    CHECK(charged == 1.5 * asked);
}

TEST_CASE("shards: a fan-out takes as long as the slowest answer") {
    std::uint32_t const number = GENERATE(17U, 48U, 192U);
    slow_world all;
    table<item> const items{all.open(virtual_shards{number}), "items"};
    items.create().value();
    for (std::int32_t each = 0; each < 300; ++each) { items.insert({"g" + std::to_string(each), 1, each}).value(); }
    all.asked = 0;
    auto const begun = all.time.steady();
    CHECK(items.scan_table(i::size < 100).to().value().size() == 100);
    CHECK(all.time.steady() - begun == std::chrono::milliseconds{200});
    CHECK(all.asked == static_cast<int>(number)); // each once
    all.asked = 0;
    auto const one = all.time.steady();
    CHECK(items.where(i::group == "g7").to().value().size() == 1);
    CHECK(all.time.steady() - one == std::chrono::milliseconds{20});
    CHECK(all.asked == 1);
}

TEST_CASE("shards: the size of a token does not depend on the number of shards or the page") {
    std::set<std::size_t> lengths;
    for (std::uint32_t const number : {1U, 11U, 192U}) {
        slow_world all;
        auto const cloud = all.open(virtual_shards{number});
        table<item> const items{cloud, "items"};
        items.create().value();
        for (std::int32_t each = 0; each < 100; ++each) {
            items.insert({"g" + std::to_string(100 + each), 1, each}).value();
        }
        query_entities asked{"items", {}, {}, {}, 10, {}};
        do {
            call context;
            asked.continuation = cloud.execute(asked, context).value().continuation;
            if (asked.continuation) {
                std::string_view const token = *asked.continuation;
                lengths.insert(
                    token.size() - (token.find('!', 2) - 2)); // without the checksum, which has 20 digits or fewer
            }
        } while (asked.continuation);
    }
    CHECK(lengths == std::set<std::size_t>{2 + 1 + 2 * 4 + 1 + 2 * 4});
}

TEST_CASE("shards: a page over several partitions is at least half full, however small the pages of the stores are") {
    bool const ranges = GENERATE(false, true);
    local_options small;
    small.page_examined = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
    std::map<std::string, memory_backend> stores;
    sharded const cloud = entitable_test::cloud_of(memory_backend{}, "shardmap",
        ranges ? virtual_shards::ranges({"g12", "g20"}) : virtual_shards{3}, {"a", "b", "c"},
        [&](std::string_view name) -> result<any_store> {
            return any_store{stores.try_emplace(std::string{name}, small).first->second};
        });
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t each = 0; each < 40; ++each) {
        items.insert({"g" + std::to_string(10 + each % 20), each, each % 5}).value();
    }
    filter const few{{{filter_operator::equal, "size", value{value_view{std::int32_t{0}}}}}};
    for (filter const& condition : {filter{}, few}) {
        for (std::uint32_t const size : {1U, 2U, 3U, 5U, 7U, 8U, 40U, 1000U}) {
            CAPTURE(ranges, small.page_examined, size, condition.empty());
            query_entities asked{"items", {}, condition, {}, size, {}};
            std::size_t rows = 0;
            do {
                call context;
                auto const page = cloud.execute(asked, context).value();
                CHECK((page.rows.size() * 2 >= size || !page.continuation));
                rows += page.rows.size();
                asked.continuation = page.continuation;
            } while (asked.continuation);
            CHECK(rows == (condition.empty() ? 40 : 8));
        }
    }
}

TEST_CASE("shards: by ranges, a page does not query the shards after it") {
    slow_world all;
    table<item> const items{all.open(virtual_shards::ranges({"b", "c", "d"})), "items"};
    items.create().value();
    for (auto const* group : {"a1", "a2", "b1", "c1", "d1", "d2", "d3", "d4"}) { items.insert({group, 1, 1}).value(); }
    all.asked = 0;
    auto pages = items.scan_table().page_size(4).pages();
    auto page = pages.next().value();
    REQUIRE(page);
    std::vector<int> asked;
    std::size_t rows = 0;
    for (; page; page = pages.next().value()) {
        rows += page->size();
        asked.push_back(std::exchange(all.asked, 0));
    }
    CHECK(rows == 8);
    REQUIRE(asked.size() >= 2);
    CHECK(asked.front() == 4);
    CHECK(asked.back() < 4);
}

TEST_CASE("shards: a late page is requested a second time, and the first answer is used") {
    std::uint32_t const number = GENERATE(1U, 17U, 48U);
    slow_world all;
    sharded_options how;
    how.hedge = hedged_reads{std::chrono::milliseconds{40}, 1};
    sharded const cloud = all.open(virtual_shards{number}, how);
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t each = 0; each < 100; ++each) { items.insert({"g" + std::to_string(each), 1, each}).value(); }
    all.asked = number == 1 ? 16 : 0; // the 17th is slow, and what is asked for after the others is not
    int const before = all.asked;
    auto const begun = all.time.steady();
    call context;
    auto const page = cloud.execute(query_entities{"items", {}, {}, {}, 1000, {}}, context).value();
    CHECK(page.rows.size() == 100);
    int const late = number == 48 ? 2 : 1;
    CHECK(all.time.steady() - begun == std::chrono::milliseconds{60});
    CHECK(all.asked - before == static_cast<int>(number) + late);
    CHECK(context.attempts == number); // of those that counted
    // A write is sent once, however late it is.
    all.asked = 16;
    auto const wrote = all.time.steady();
    items.insert({"late", 1, 1}).value();
    CHECK(all.asked == 17);
    CHECK(all.time.steady() - wrote == std::chrono::milliseconds{200});
}

TEST_CASE("shards: hedged requests respect their limit, and end with their call") {
    double const share = GENERATE(0.0, 0.01, 0.05);
    slow_world all;
    sharded_options how;
    how.hedge = hedged_reads{std::chrono::milliseconds{40}, share};
    sharded const cloud = all.open(virtual_shards{17}, how);
    table<item> const items{cloud, "items"};
    items.create().value();
    items.insert({"g", 1, 1}).value();
    all.asked = 0;
    constexpr int rounds = 100;
    int late = 0;
    for (int round = 0; round < rounds; ++round) {
        all.asked = 0; // the 17th of each round is slow
        auto const begun = all.time.steady();
        CHECK(items.scan_table().count().value() == 1);
        late += all.asked - 17;
        auto const took = all.time.steady() - begun;
        CHECK(took == std::chrono::milliseconds{all.asked > 17 ? 60 : 200});
    }
    CHECK(late <= static_cast<int>(17 * rounds * share) + 1);
    CHECK(late >= static_cast<int>(17 * rounds * share));
    // A deadline ends both.
    all.asked = 0;
    call_options brief;
    brief.timeout = std::chrono::milliseconds{50};
    call context{brief, all.time};
    (void)cloud.execute(query_entities{"items", {}, {}, {}, 1000, {}}, context);
    CHECK(cloud.execute(query_entities{"items", {}, {}, {}, 1000, {}}, context));
}

TEST_CASE("shards: the first request for a page fails, or the second request fails, or both do") {
    struct trial {
        int first_takes;     ///< ms; the second is sent after 40, and takes 20
        std::size_t failing; ///< of the two, in the order of their answers
        int ends;
        bool comes;
    };
    auto const tried = GENERATE(trial{80, 0, 60, true}, trial{80, 1, 80, true}, trial{80, 2, 80, false},
        trial{50, 0, 50, true}, trial{50, 1, 60, true}, trial{50, 2, 60, false});
    CAPTURE(tried.first_takes, tried.failing);
    testing::manual_clock time;
    int asked = 0;
    sharded_options how;
    how.time = &time;
    how.hedge = hedged_reads{std::chrono::milliseconds{40}, 1};
    testing::faulty<any_store> const store{any_store{memory_backend{}}};
    sharded const cloud{entitable_test::map_without_identity(memory_backend{}, "shardmap", virtual_shards{1}, {"a"}),
        [&](std::string_view) -> result<any_store> {
            return any_store{delayed{any_store{store}, time,
                [&] { return std::chrono::milliseconds{asked++ == 0 ? tried.first_takes : 20}; }}};
        },
        how};
    table<item> const items{cloud, "items"};
    items.create().value();
    items.insert({"g", 1, 1}).value();
    for (std::size_t number = 1; number <= tried.failing; ++number) {
        store.plan({testing::fault::refused(), number, "query_entities"});
    }
    asked = 0;
    auto const begun = time.steady();
    auto const page = items.scan_table().to();
    CHECK(asked == 2);
    CHECK(time.steady() - begun == std::chrono::milliseconds{tried.ends});
    if (tried.comes) {
        CHECK(page.value().size() == 1);
    } else {
        REQUIRE(!page);
        CHECK(page.error().code != error_code::cancelled);
    }
    CHECK(items.scan_table().to().value().size() == 1); // the lane is good for the next one
}
