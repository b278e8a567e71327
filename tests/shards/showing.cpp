// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Rows of shards that are shown while their stores are being read, one shard after the other: the same rows as by merged pages, each once,
// whatever moves or expires in between.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/core/random.hpp>
#include <entitable/memory.hpp>

#include <algorithm>
#include <functional>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::int32_t size{};
    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties(size))
using i = fields<item>;

struct versioned {
    std::string group;
    std::int32_t number{};
    std::int32_t size{};
    etag version;
};
ENTITABLE(versioned, partition_key(group), row_key(width(number, 4)), properties(size, etag(version)))

/// A store in memory that does something after each row it shows, with the number of rows shown so far.
struct meddled_store {
    using is_transport = void;
    using visits_entities = meddled_store;
    using visits_pages = meddled_store;
    using hook = std::function<void(std::size_t)>;

    any_store below;
    std::shared_ptr<hook> behind = std::make_shared<hook>();

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, read_entities>) {
            // Collected first, because the hook may call the store.
            page rows;
            auto const collect = [&](std::span<row_view const> run) {
                for (row_view const& each : run) { rows.append(each); }
            };
            page_visitor const visit{collect};
            auto answer = below.execute(read_entities{request.table, request.asked, &visit}, context);
            for (std::size_t at = 0; at < rows.size(); ++at) {
                row_view const each = rows[at];
                (*request.visit)({&each, 1});
                if (*behind) { (*behind)(at + 1); }
            }
            return answer;
        } else {
            return below.execute(request, context);
        }
    }
};

struct shown_row {
    std::string partition;
    std::string row;
    std::string version;
    friend auto operator<=>(shown_row const&, shown_row const&) = default;
};

shown_row shown_of(row_view const& each) {
    return {std::string{each.partition_key}, std::string{each.row_key}, each.etag().to_string()};
}

/// All rows by pages shown in any order; `between` is called between pages.
std::vector<shown_row> all_shown(any_store const& from, query_entities asked, bool any_order,
    std::function<void()> const& between = {}, std::size_t* pages = nullptr) {
    std::vector<shown_row> all;
    auto const collect = [&](std::span<row_view const> run) {
        for (row_view const& each : run) {
            REQUIRE(each.partition_key == run.front().partition_key);
            all.push_back(shown_of(each));
        }
    };
    page_visitor const visit{collect};
    for (;;) {
        std::size_t const before = all.size();
        call context;
        read_entities request{asked.table, &asked, &visit};
        request.any_order = any_order;
        auto const done = from.execute(request, context);
        REQUIRE(done);
        REQUIRE(done->shown == all.size() - before);
        if (!any_order) { REQUIRE(done->shown <= asked.page_size); }
        if (pages != nullptr) { ++*pages; }
        if (!done->continuation) { return all; }
        REQUIRE(done->continuation != asked.continuation);
        asked.continuation = done->continuation;
        if (between) { between(); }
    }
}

/// All rows by merged pages.
std::vector<shown_row> all_merged(any_store const& from, query_entities asked) {
    std::vector<shown_row> all;
    for (;;) {
        call context;
        auto const page = from.execute(asked, context).value();
        for (std::size_t at = 0; at < page.rows.size(); ++at) { all.push_back(shown_of(page.rows[at])); }
        if (!page.continuation) { return all; }
        asked.continuation = page.continuation;
    }
}

virtual_shards shards_of(std::uint64_t seed) {
    return seed % 3 == 0 ? virtual_shards::ranges({"g2", "g30", "g5"})
                         : virtual_shards{static_cast<std::uint32_t>(1 + seed % 7)};
}

struct filled_world {
    explicit filled_world(std::uint64_t seed, random_source& random, bool small_pages)
        : cloud(all.open(shards_of(seed), {std::chrono::seconds{60}, &time})), items(cloud, "items") {
        local_options how;
        how.time = &time;
        if (small_pages) { how.page_examined = 1 + random.bits() % 9; }
        for (std::string const name : {"alpha", "beta", "gamma", "delta"}) {
            if (!all.stores->contains(name)) { all.stores->emplace(name, any_store{memory_backend{how}}); }
        }
        items.create().value();
        for (std::size_t left = random.bits() % 120; left > 0; --left) {
            items
                .insert_or_replace({"g" + std::to_string(random.bits() % 60),
                    static_cast<std::int32_t>(random.bits() % 7), static_cast<std::int32_t>(random.bits() % 10)})
                .value();
        }
        for (std::string const group : {"g1", "g30", "g7"}) { // system rows
            call context;
            REQUIRE(
                cloud.execute(write_entity{"items", mutation::insert(row_builder{group, "~!tx!"}.build())}, context));
        }
    }

    void move(std::int32_t shard, std::string const& to) {
        move_options how;
        how.time = &time;
        how.off_line = true;
        sharded const mover{cloud.map(), all.opener()};
        if (auto plan = plan_move(mover, shard, to, how)) { plan->run().value(); }
    }

    testing::manual_clock time;
    sharding::world all;
    sharded cloud;
    table<item> items;
};

} // namespace

TEST_CASE("shown shards: counts, folds and loops have the results of merged pages") {
    for (std::uint64_t seed = 1; seed <= rounds(8, 2'000, 100); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        filled_world world{seed, random, seed % 2 == 0};
        for (std::uint32_t const size : {1U, 3U, 1000U}) {
            auto const compare = [&](auto const& asked) {
                auto const shown = asked.page_size(size);
                auto const merged = shown.in_flight(2);
                CHECK(shown.count().value() == merged.count().value());
                CHECK(shown.sum(i::size).value() == merged.sum(i::size).value());
                CHECK(shown.fold(min(i::size), max(i::number), count(), average(i::size)).value() ==
                    merged.fold(min(i::size), max(i::number), count(), average(i::size)).value());
                CHECK(shown.group_by(i::group, count(), sum(i::size)).value() ==
                    merged.group_by(i::group, count(), sum(i::size)).value());
                CHECK(shown.to().value() == merged.to().value());
                auto any = shown.in_any_order().to().value();
                std::stable_sort(any.begin(), any.end(), [](item const& left, item const& right) {
                    return std::pair{left.group, left.number} < std::pair{right.group, right.number};
                });
                CHECK(any == merged.to().value());
                std::size_t rows = 0;
                CHECK(shown.in_any_order().for_each([&](item const&) { ++rows; }));
                CHECK(rows == any.size());
            };
            compare(world.items.scan_table());
            compare(world.items.scan_table(i::size > 4));
            compare(world.items.scan_table(i::group >= "g3"));
            compare(world.items.scan_table(i::group < "g4" && i::number > 2));
            compare(world.items.scan_table(i::size > 4).take(5));
            compare(world.items.scan_table().take(0));
            auto const one = world.items.where(i::group == "g7").page_size(size);
            CHECK(one.count().value() == one.in_flight(2).count().value());
            CHECK(one.to().value() == one.in_flight(2).to().value());
        }
        query_entities const whole{"items", {}, {}, {}, static_cast<std::uint32_t>(1 + random.bits() % 40), {}};
        auto merged = all_merged(world.cloud, whole);
        auto const ordered = all_shown(world.cloud, whole, false);
        CHECK(ordered == merged);
        auto any = all_shown(world.cloud, whole, true);
        std::sort(any.begin(), any.end());
        std::sort(merged.begin(), merged.end());
        CHECK(any == merged); // with the same ETags
    }
}

TEST_CASE("shown shards: each row is shown once, through moves between pages") {
    for (std::uint64_t seed = 1; seed <= rounds(6, 1'000, 60); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        filled_world world{seed, random, seed % 2 == 0};
        std::int32_t const shards = seed % 3 == 0 ? 4 : static_cast<std::int32_t>(1 + seed % 7);
        query_entities const whole{"items", {}, {}, {}, static_cast<std::uint32_t>(1 + random.bits() % 9), {}};
        auto merged = all_merged(world.cloud, whole);
        std::string const stores[] = {"alpha", "beta", "gamma", "delta"};
        auto any = all_shown(world.cloud, whole, true, [&] {
            if (random.bits() % 2 == 0) {
                world.move(static_cast<std::int32_t>(random.bits() % static_cast<std::uint32_t>(shards)),
                    stores[random.bits() % 4]);
            }
        });
        std::erase_if(any, [](shown_row const& each) { return each.row.starts_with(system_row::copy); }); // of moves
        for (auto* rows : {&any, &merged}) {
            for (shown_row& each : *rows) { each.version.clear(); } // moves change them
            std::sort(rows->begin(), rows->end());
        }
        CHECK(any == merged);
    }
}

TEST_CASE("shown shards: rows that arrive after the lease has ended are not shown, and a shard may move while it is "
          "being read") {
    for (std::size_t after = 0; after < 9; ++after) {
        for (bool const moves : {false, true}) {
            for (bool const one_partition : {false, true}) {
                CAPTURE(after, moves, one_partition);
                testing::manual_clock time;
                sharding::world const all;
                local_options how;
                how.time = &time;
                meddled_store const alpha{any_store{memory_backend{how}}};
                meddled_store const beta{any_store{memory_backend{how}}};
                all.stores->emplace("alpha", any_store{alpha});
                all.stores->emplace("beta", any_store{beta});
                auto const map = entitable_test::map_of(all.catalogue, "shardmap", virtual_shards{1}, {"alpha"},
                    all.opener(), {std::chrono::seconds{60}, &time});
                sharded const cloud{map, all.opener()};
                sharded const mover{
                    lookup_map::open(all.catalogue, "shardmap", virtual_shards{1}, {std::chrono::seconds{60}, &time})
                        .value(),
                    all.opener()};
                table<item> const items{cloud, "items"};
                items.create().value();
                for (std::int32_t number = 0; number < 8; ++number) { items.insert({"g", number, 1}).value(); }
                bool once = false;
                *alpha.behind = [&](std::size_t shown) {
                    if (shown < after || std::exchange(once, true)) { return; }
                    if (moves) {
                        move_options off;
                        off.time = &time;
                        off.off_line = true;
                        plan_move(mover, 0, "beta", off).value().run().value();
                        table<item>{mover, "items"}.insert({"g", 100, 1}).value();
                    } else {
                        time.advance(std::chrono::seconds{61});
                    }
                };
                query_entities asked{"items", {}, {}, {}, 1000, {}};
                if (one_partition) { asked.range.partition = key_interval::only("g"); }
                auto const shown = all_shown(cloud, asked, true);
                std::vector<std::string> keys;
                for (shown_row const& each : shown) {
                    if (!system_row::is_one(each.row)) { keys.push_back(each.row); }
                }
                std::vector<std::string> expected{"0000", "0001", "0002", "0003", "0004", "0005", "0006", "0007"};
                CHECK(once);
                if (moves) { expected.push_back("0100"); }
                CHECK(keys == expected);
            }
        }
    }
}

TEST_CASE("shown shards: a lease that is always over still lets a query end") {
    testing::manual_clock time;
    sharding::world const all;
    local_options how;
    how.time = &time;
    meddled_store const alpha{any_store{memory_backend{how}}};
    all.stores->emplace("alpha", any_store{alpha});
    bool const ranges = GENERATE(false, true);
    sharded const cloud{entitable_test::map_of(all.catalogue, "shardmap",
                            ranges ? virtual_shards::ranges({"g2", "g3"}) : virtual_shards{3}, {"alpha"}, all.opener(),
                            {std::chrono::seconds{60}, &time}),
        all.opener()};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t number = 0; number < 40; ++number) {
        items.insert({"g" + std::to_string(number / 4), number, 2}).value();
    }
    *alpha.behind = [&](std::size_t) { time.advance(std::chrono::seconds{61}); };
    for (std::uint32_t const size : {1U, 2U, 3U, 1000U}) {
        auto const asked = items.scan_table().page_size(size);
        CHECK(asked.count().value() == 40);
        CHECK(asked.sum(i::size).value() == 80);
        CHECK(asked.to().value().size() == 40);
        CHECK(items.where(i::group == "g3").page_size(size).sum(i::size).value() == 8);
    }
}

TEST_CASE("shown shards: tokens are those of their query alone, and a page of rows continues them") {
    random_source random{5};
    filled_world world{4, random, false}; // five hashed shards
    for (std::int32_t number = 0; number < 50; ++number) {
        world.items.insert_or_replace({"h" + std::to_string(number), 1, number}).value();
    }
    query_entities asked{"items", {}, {}, {}, 7, {}};
    auto const nothing = [](std::span<row_view const>) {};
    page_visitor const visit{nothing};
    std::size_t seen = 0;
    std::vector<std::string> tokens;
    for (bool more = true; more; more = asked.continuation.has_value()) {
        call context;
        read_entities request{"items", &asked, &visit};
        request.any_order = true;
        auto const done = world.cloud.execute(request, context).value();
        seen += done.shown;
        asked.continuation = done.continuation;
        if (!done.continuation) { break; }
        tokens.push_back(*done.continuation);
        auto const rest = all_merged(world.cloud, asked); // by pages
        query_entities const all{"items", {}, {}, {}, 1000, {}};
        CHECK(rest.size() + seen == all_merged(world.cloud, all).size());
    }
    REQUIRE(tokens.size() > 5);
    for (std::string const& token : tokens) {
        for (std::size_t at = 0; at < token.size(); ++at) {
            query_entities wrong{"items", {}, {}, {}, 7, token};
            (*wrong.continuation)[at] = (*wrong.continuation)[at] == '1' ? '2' : '1';
            call context;
            read_entities request{"items", &wrong, &visit};
            request.any_order = true;
            auto const refused = world.cloud.execute(request, context);
            REQUIRE_FALSE(refused);
            CHECK(refused.error().code == error_code::continuation_invalid);
            auto const refused_page = world.cloud.execute(wrong, context);
            REQUIRE_FALSE(refused_page);
            CHECK(refused_page.error().code == error_code::continuation_invalid);
        }
        query_entities other{"items", {key_interval{key_bound::including("a"), {}}, {}}, {}, {}, 7, token};
        call context;
        CHECK(world.cloud.execute(other, context).error().code == error_code::continuation_invalid);
    }
}

TEST_CASE("shown shards: an error of a shard is named, and a call that has ended sends nothing") {
    random_source random{5};
    filled_world world{4, random, false};
    query_entities const asked{"items", {}, {}, {}, 1000, {}};
    auto const nothing = [](std::span<row_view const>) {};
    page_visitor const visit{nothing};
    cancellation_source stop;
    call context;
    context.cancellation = stop.token();
    stop.cancel();
    read_entities request{"items", &asked, &visit};
    request.any_order = true;
    CHECK(world.cloud.execute(request, context).error().code == error_code::cancelled);
    CHECK(table<item>{world.cloud, "nothing"}.scan_table().count().error().code == error_code::table_not_found);
    for (auto const& [name, store] : *world.all.stores) {
        for (std::string const& each : entitable_test::tables_in(store)) {
            call own;
            REQUIRE(store.execute(delete_table{each}, own)); // an emptied store
        }
        if (world.items.scan_table().count().has_value()) { continue; }
        CHECK(world.items.scan_table().count().error().code == error_code::wrong_store);
        CHECK(world.items.scan_table().sum(i::size).error().code == error_code::wrong_store);
        CHECK(world.items.scan_table().to().error().code == error_code::wrong_store);
        break;
    }
}

TEST_CASE("shown shards: a point read shows its row with the ETag of the shard") {
    random_source random{5};
    filled_world world{4, random, false};
    world.items.insert_or_replace({"p", 1, 5}).value();
    call context;
    auto const got = world.cloud.execute(get_entity{"items", "p", "0001", {}}, context).value();
    std::size_t calls = 0;
    auto const look = [&](row_view const& entity, etag const& version, bool stale) -> result<void> {
        ++calls;
        CHECK(version == got.etag);
        CHECK(entity.etag() == got.etag);
        CHECK(entity.payload == got.entity.view().payload);
        CHECK_FALSE(stale);
        return failure{error_code::invalid_input, "of the visitor"};
    };
    entity_visitor const visit{look};
    auto const refused = world.cloud.execute(read_entity{"items", "p", "0001", &visit}, context);
    CHECK(calls == 1);
    CHECK(refused.error().message == "of the visitor");
    CHECK(world.cloud.execute(read_entity{"items", "p", "0002", &visit}, context).error().code ==
        error_code::resource_not_found);
    CHECK(world.cloud.execute(read_entity{"none", "p", "0002", &visit}, context).error().code ==
        error_code::table_not_found);
    CHECK(calls == 1);
}

TEST_CASE("shown shards: a loop sets the ETags that writes need, if the entity has a member for them") {
    std::map<std::string, memory_backend> stores;
    sharded const cloud = entitable_test::cloud_of(memory_backend{}, "shardmap", virtual_shards{3}, {"a", "b", "c"},
        [&](std::string_view name) -> result<any_store> { return any_store{stores[std::string{name}]}; });
    table<versioned> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < 60; ++number) {
        items.insert({"g" + std::to_string(number % 9), number, 0, {}}).value();
    }
    for (bool const in_order : {true, false}) {
        std::vector<versioned> all;
        auto const add = [&](versioned const& each) { all.push_back(each); };
        in_order ? items.scan_table().for_each(add).value() : items.scan_table().in_any_order().for_each(add).value();
        REQUIRE(all.size() == 60);
        for (versioned const& each : all) {
            CHECK(items.get_stored(each.group, each.number).value().etag == each.version);
            CHECK(items.replace(each, each.version));
        }
    }
}

namespace {

/// All rows by merged pages that pass kept rows on; `between` is called between pages.
std::vector<shown_row> all_kept(any_store const& from, query_entities asked, bool shows,
    std::function<void(std::vector<shown_row> const&)> const& between = {}) {
    std::vector<shown_row> all;
    auto const collect = [&](std::span<row_view const> run) {
        for (row_view const& each : run) {
            REQUIRE(each.partition_key == run.front().partition_key);
            all.push_back(shown_of(each));
        }
    };
    page_visitor const visit{collect};
    for (;;) {
        call context;
        std::size_t const before = all.size();
        if (shows) {
            auto done = from.execute(read_entities{asked.table, &asked, &visit}, context);
            REQUIRE(done);
            REQUIRE(done->shown == all.size() - before);
            asked.continuation = std::move(done->continuation);
            asked.kept = std::move(done->kept);
        } else {
            auto page = from.execute(asked, context);
            REQUIRE(page);
            for (row_view const each : page->rows) { all.push_back(shown_of(each)); }
            asked.continuation = std::move(page->continuation);
            asked.kept = std::move(page->kept);
        }
        REQUIRE(all.size() - before <= asked.page_size);
        if (!asked.continuation) { return all; }
        REQUIRE(all.size() * 2 >= before * 2 + asked.page_size); // at least half of a page
        if (between) { between(all); }
    }
}

/// A store in memory that counts the rows it passes on.
struct counted_store {
    using is_transport = void;
    using visits_pages = counted_store;

    memory_backend below;
    std::shared_ptr<std::size_t> rows = std::make_shared<std::size_t>(0);

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, read_entities>) { *rows += answer ? answer->shown : 0; }
        if constexpr (std::same_as<Request, query_entities>) { *rows += answer ? answer->rows.size() : 0; }
        return answer;
    }
};

} // namespace

TEST_CASE("kept rows: pages that pass them on have the rows of pages by tokens") {
    for (std::uint64_t seed = 1; seed <= rounds(8, 2'000, 100); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        filled_world const world{seed, random, seed % 2 == 0};
        for (std::uint32_t const size : {1U, 2U, 7U, 13U, 1000U}) {
            for (bool const filtered : {false, true}) {
                query_entities asked{"items", {}, {}, {}, size, {}};
                if (filtered) { asked.range.partition = {key_bound::including("g2"), key_bound::excluding("g5")}; }
                auto const merged = all_merged(world.cloud, asked);
                CHECK(all_kept(world.cloud, asked, false) == merged);
                CHECK(all_kept(world.cloud, asked, true) == merged);
                asked.select = {"size"};
                CHECK(all_kept(world.cloud, asked, false) == merged);
            }
        }
    }
}

TEST_CASE("kept rows: pages that are returned and pages that are shown pass them on to each other") {
    for (std::uint64_t seed = 1; seed <= rounds(8, 2'000, 100); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        filled_world const world{seed, random, seed % 2 == 0};
        for (std::uint32_t const size : {2U, 7U, 13U}) {
            query_entities asked{"items", {}, {}, {}, size, {}};
            auto const merged = all_merged(world.cloud, asked);
            std::vector<shown_row> all; // with their ETags
            auto const collect = [&](std::span<row_view const> run) {
                for (row_view const& each : run) { all.push_back(shown_of(each)); }
            };
            page_visitor const visit{collect};
            for (bool shows = seed % 3 == 0;; shows = !shows) {
                call context;
                if (shows) {
                    auto done = world.cloud.execute(read_entities{asked.table, &asked, &visit}, context).value();
                    asked.continuation = std::move(done.continuation);
                    asked.kept = std::move(done.kept);
                } else {
                    auto page = world.cloud.execute(asked, context).value();
                    for (row_view const each : page.rows) { all.push_back(shown_of(each)); }
                    asked.continuation = std::move(page.continuation);
                    asked.kept = std::move(page.kept);
                }
                if (!asked.continuation) { break; }
            }
            CHECK(all == merged);
        }
    }
}

TEST_CASE("kept rows: a row that this program changes between two pages is shown as it is then") {
    for (std::uint64_t seed = 1; seed <= rounds(8, 2'000, 100); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        filled_world world{seed, random, false};
        std::map<std::pair<std::string, std::string>, std::string> latest; // versions of rows behind the place
        bool removed = false;
        for (bool const shows : {false, true}) {
            query_entities const asked{"items", {}, {}, {}, static_cast<std::uint32_t>(1 + random.bits() % 9), {}};
            latest.clear();
            auto const all = all_kept(world.cloud, asked, shows, [&](std::vector<shown_row> const& so_far) {
                std::string const group = "g" + std::to_string(random.bits() % 60);
                auto const number = static_cast<std::int32_t>(random.bits() % 7);
                item const changed{group, number, 77};
                call context;
                row made = row_builder{group, "000" + std::to_string(number)}.build();
                if (random.bits() % 4 == 0) {
                    removed =
                        world.cloud.execute(write_entity{"items", mutation::remove(std::move(made), any_etag)}, context)
                            .has_value() ||
                        removed;
                    latest[{group, "000" + std::to_string(number)}] = "";
                    return;
                }
                std::pair const here{std::string{so_far.back().partition}, std::string{so_far.back().row}};
                auto const version = world.items.insert_or_replace(changed).value();
                if (here < std::pair{group, "000" + std::to_string(number)}) {
                    latest[{group, "000" + std::to_string(number)}] = version.etag.to_string();
                }
            });
            std::map<std::pair<std::string, std::string>, std::string> seen;
            for (shown_row const& each : all) { seen[{each.partition, each.row}] = each.version; }
            CHECK(seen.size() == all.size());
            for (auto const& [key, version] : latest) {
                CAPTURE(key.first, key.second);
                if (!version.empty()) { CHECK(seen[key] == version); }
            }
        }
        CHECK((removed || seed > 1));
    }
}

TEST_CASE("kept rows: each row is shown once, through moves between pages, and old tokens stay valid") {
    for (std::uint64_t seed = 1; seed <= rounds(6, 1'000, 60); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        filled_world world{seed, random, seed % 2 == 0};
        std::int32_t const shards = seed % 3 == 0 ? 4 : static_cast<std::int32_t>(1 + seed % 7);
        std::string const stores[] = {"alpha", "beta", "gamma", "delta"};
        for (bool const shows : {false, true}) {
            query_entities const asked{"items", {}, {}, {}, static_cast<std::uint32_t>(1 + random.bits() % 9), {}};
            auto merged = all_merged(world.cloud, asked);
            auto moved = all_kept(world.cloud, asked, shows, [&](std::vector<shown_row> const&) {
                if (random.bits() % 2 == 0) {
                    world.move(static_cast<std::int32_t>(random.bits() % static_cast<std::uint32_t>(shards)),
                        stores[random.bits() % 4]);
                }
                world.time.advance(std::chrono::milliseconds{random.bits() % 30'000});
            });
            for (auto* rows : {&moved, &merged}) {
                std::erase_if(*rows, [](shown_row const& each) { return each.row.starts_with(system_row::copy); });
                for (shown_row& each : *rows) { each.version.clear(); } // moves change them
            }
            CHECK(moved == merged);
        }
    }
}

TEST_CASE("kept rows: they serve one request, of their query, and each row is read about once") {
    sharding::world const all;
    counted_store const alpha;
    counted_store const beta;
    all.stores->emplace("alpha", alpha);
    all.stores->emplace("beta", beta);
    all.stores->emplace("gamma", beta);
    sharded const cloud{map_without_identity(
                            all.catalogue, "shardmap", virtual_shards{192}, {"alpha", "beta"}, {std::chrono::hours{1}}),
        all.opener()};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t number = 0; number < 3'000; ++number) {
        items.insert({"group " + std::to_string(number / 3), number, number % 7}).value();
    }
    auto const read = [&] { return *alpha.rows + *beta.rows; };
    query_entities const asked{"items", {}, {}, {}, 100, {}};
    auto const merged = all_merged(cloud, asked);
    REQUIRE(merged.size() == 3'000);
    std::size_t before = read();
    CHECK(all_kept(cloud, asked, false) == merged);
    CHECK(read() - before == 3'000);
    before = read();
    CHECK(all_kept(cloud, asked, true) == merged);
    CHECK(read() - before == 3'000);
    before = read();
    CHECK(items.scan_table().page_size(100).to().value().size() == 3'000);
    CHECK(read() - before == 3'000);
    // The same kept rows a second time, without their token, with a token or a query that is not theirs.
    call context;
    auto const first = cloud.execute(asked, context).value();
    REQUIRE(first.kept);
    auto const rows_of = [&](query_entities const& request) {
        std::vector<shown_row> rows;
        auto const page = cloud.execute(request, context).value();
        for (row_view const each : page.rows) { rows.push_back(shown_of(each)); }
        return rows;
    };
    query_entities next = asked;
    next.kept = first.kept;
    auto const start = rows_of(next);
    CHECK(std::equal(start.begin(), start.end(), merged.begin()));
    query_entities other = asked;
    other.range.partition = {key_bound::including("group 2"), {}};
    other.kept = first.kept;
    CHECK(rows_of(other).front().partition == "group 2");
    next.continuation = first.continuation;
    auto const second = rows_of(next);
    CHECK(std::equal(second.begin(), second.end(), merged.begin() + static_cast<std::ptrdiff_t>(first.rows.size())));
    auto const again = rows_of(next);
    CHECK(std::equal(again.begin(), again.end(), merged.begin() + static_cast<std::ptrdiff_t>(first.rows.size())));
    // Pages by tokens alone, of a page from before.
    query_entities by_token = asked;
    by_token.continuation = first.continuation;
    CHECK(rows_of(by_token) == again);
}

namespace {

/// A store with a secondary: what that location serves is stale.
struct two_locations {
    using is_transport = void;
    using visits_pages = two_locations;

    memory_backend below;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, read_entities> || std::same_as<Request, query_entities>) {
            if (answer) { answer->stale = context.location == read_location::secondary; }
        }
        return answer;
    }
};

} // namespace

TEST_CASE("kept rows: pages of rows that a secondary served say so, and a page of the primary does not use them") {
    sharding::world const all;
    for (std::string const name : {"alpha", "beta", "gamma"}) { all.stores->emplace(name, two_locations{}); }
    sharded const cloud{
        map_without_identity(all.catalogue, "shardmap", virtual_shards{16}, {"alpha", "beta"}, {std::chrono::hours{1}}),
        all.opener()};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t number = 0; number < 200; ++number) {
        items.insert({"group " + std::to_string(number), number, 0}).value();
    }
    std::size_t shown = 0;
    auto const count = [&](std::span<row_view const> run) { shown += run.size(); };
    page_visitor const visit{count};
    for (bool const shows : {false, true}) {
        for (bool const changes : {false, true}) {
            query_entities asked{"items", {}, {}, {}, 20, {}};
            shown = 0;
            for (std::size_t number = 0; number == 0 || asked.continuation; ++number) {
                call context;
                context.location = changes && number % 2 == 1 ? read_location::primary : read_location::secondary;
                bool stale = false;
                if (shows) {
                    auto done = cloud.execute(read_entities{asked.table, &asked, &visit}, context).value();
                    stale = done.stale;
                    asked.continuation = std::move(done.continuation);
                    asked.kept = std::move(done.kept);
                } else {
                    auto done = cloud.execute(asked, context).value();
                    shown += done.rows.size();
                    stale = done.stale;
                    asked.continuation = std::move(done.continuation);
                    asked.kept = std::move(done.kept);
                }
                CAPTURE(shows, changes, number);
                CHECK(stale == (context.location == read_location::secondary));
            }
            CHECK(shown == 200);
        }
    }
}
