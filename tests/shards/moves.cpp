// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Hashes and routes, leases, and offline moves; and the model: one table in one store is the oracle of one table over shards, with moves and
// faults in between.

#include "shards.hpp"
#include "support/around.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/core/random.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>

#include <support/maps.hpp>

#include <algorithm>
#include <map>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::string text;
    std::int32_t size{};
    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties(text, size))
using i = fields<item>;

lookup_map_options with_clock(entitable::clock& time) { return {std::chrono::seconds{60}, &time}; }

/// A store behind which somebody does something once, between a request of that name and its answer.
any_store interrupted(any_store store, std::string wanted, std::shared_ptr<std::function<void()>> meanwhile) {
    return any_store{around{std::move(store), {}, [=](std::string_view request, bool) {
                                if (request == wanted && *meanwhile) { std::exchange(*meanwhile, nullptr)(); }
                            }}};
}

/// Does not answer while it is away: who asks waits as long as the call may take.
struct hanging {
    using is_transport = void;
    any_store below;
    testing::manual_clock* time;
    std::shared_ptr<bool> away;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!*away) { return below.execute(request, context); }
        auto const left =
            context.deadline == no_deadline ? std::chrono::seconds{100} : context.deadline - system_clock().steady();
        time->advance(left);
        return failure{error_code::transport_failed, "no answer"};
    }
};

} // namespace

static_assert(sharded_by<item, &item::group>);
static_assert(same_shard<item, item>);

TEST_CASE("shards: hash values never change") {
    CHECK(shard_hash("") == 0xEFD01F60BA992926U);
    CHECK(shard_hash("NYC__Full") == 0xFDC0DFB218A59681U);
    CHECK(shard_hash("tenant-42") == 0x2109A24510BB8A82U);
    CHECK(jump_hash(0, 1) == 0);
    CHECK(jump_hash(10863919174838991U, 11) == 6); // of the Guava tests
    CHECK(jump_hash(2016238256797177309U, 11) == 3);
    CHECK(jump_hash(1673758223894951030U, 11) == 5);
    CHECK(jump_hash(2, 100001) == 80343);
    // From 10 to 11 one key of 11 moves, to the new bucket only; and the buckets are even.
    int moved = 0;
    std::vector<int> in_bucket(10);
    for (int key = 0; key < 20'000; ++key) {
        auto const hash = shard_hash("key" + std::to_string(key));
        auto const before = jump_hash(hash, 10);
        auto const after = jump_hash(hash, 11);
        ++in_bucket[before];
        CHECK((after == before || after == 10));
        moved += after == before ? 0 : 1;
    }
    CHECK(moved > 20'000 / 11 * 8 / 10);
    CHECK(moved < 20'000 / 11 * 12 / 10);
    CHECK(*std::max_element(in_bucket.begin(), in_bucket.end()) < 2'200);
}

TEST_CASE("shards: names of tables are unambiguous") {
    CHECK(detail::shard_table_name("books", 17, 3) == "books0017x3");
    CHECK(detail::shard_table_name("books1", 7, 3) != detail::shard_table_name("books", 17, 3));
    std::string const longest(63, 'a');
    CHECK(detail::shard_table_name(longest, 9999, 999'999'999'999).size() <= 63);
    CHECK(detail::shard_table_name(longest, 1, 1) != detail::shard_table_name(longest.substr(1), 1, 1));
}

TEST_CASE("shards: ranges and functions assign the keys, and an unmapped key or a map with a gap is refused") {
    sharding::world const all;
    auto const by_month = virtual_shards::ranges({"2024-07", "2025"});
    CHECK(by_month.shard_of("2024-06") == 0U);
    CHECK(by_month.shard_of("2024-07") == 1U);
    CHECK(by_month.shard_of("2025-01") == 2U);
    auto const cloud = all.open(by_month);
    table<item> const items{cloud, "items"};
    items.create().value();
    for (auto const* month : {"2024-01", "2024-08", "2025-02", "2025-03"}) { items.insert({month, 1, "x", 1}).value(); }
    CHECK(cloud.explain("items", {{key_bound::including("2024-02"), key_bound::excluding("2024-09")}, {}})
            .value()
            .starts_with("fan-out: 2 of 3 tables in 2 stores"));
    CHECK(cloud.explain("items", {key_interval::only("2025"), {}}).value().starts_with("one shard: 1 of 3"));
    CHECK(items.scan_table(i::group >= "2024-02").to().value().size() == 3);

    CHECK(lookup_map::open(all.catalogue, "shardmap", virtual_shards{3}).error().code == error_code::invalid_input);
    auto const odd = [](std::string_view key) -> std::optional<std::uint32_t> {
        return key == "none" ? std::nullopt : std::optional{0U};
    };
    sharding::world const other;
    table<item> const some{other.open({1, odd}), "items"};
    some.create().value();
    CHECK(some.insert({"none", 1, {}, 0}).error().code == error_code::shard_unmapped);
    auto const all_of_them = virtual_shards{2, odd}.otherwise(1);
    CHECK(all_of_them.shard_of("none") == 1U);
    CHECK(all_of_them.shard_of("some") == 0U);
    CHECK(virtual_shards{2, odd}.otherwise(2).shard_of("none") == std::nullopt);
    CHECK(all_of_them.fingerprint() != virtual_shards{2, odd}.fingerprint()); // another map

    row_table{all.catalogue, "shardmap"}.remove("map", "shard0001", any_etag).value();
    CHECK(lookup_map::open(all.catalogue, "shardmap", by_month).error().code == error_code::shard_map_invalid);
}

TEST_CASE("shards: an unreachable map is an error only after the lease has expired") {
    testing::manual_clock time;
    sharding::world const all;
    testing::faulty<any_store> const catalogue{any_store{all.catalogue}};
    auto const map =
        entitable_test::map_of(catalogue, "shardmap", virtual_shards{4}, {"a", "b"}, all.opener(), with_clock(time));
    table<item> const items{sharded{map, all.opener()}, "items"};
    items.create().value();
    items.insert({"g", 1, "x", 1}).value();
    for (int each = 0; each < 200; ++each) { catalogue.plan({testing::fault::refused(), 1, "query_entities"}); }
    time.advance(std::chrono::seconds{50});
    CHECK(items.get("g", 1));
    time.advance(std::chrono::seconds{11});
    auto const refused = items.insert({"g", 2, "x", 1});
    CHECK(refused.error().code == error_code::map_unavailable);
    CHECK(refused.error().effect == effect::none);
}

TEST_CASE("shards: an unresponsive map does not delay requests for long") {
    testing::manual_clock time;
    sharding::world const all;
    auto const away = std::make_shared<bool>(false);
    auto const map = entitable_test::map_of(
        hanging{all.catalogue, &time, away}, "shardmap", virtual_shards{4}, {"a", "b"}, all.opener(), with_clock(time));
    table<item> const items{sharded{map, all.opener()}, "items"};
    items.create().value();
    items.insert({"g", 1, "x", 1}).value();
    auto const begun = time.steady();
    *away = true;
    std::chrono::nanoseconds waited{};
    for (int second = 0; second < 59 && time.steady() - begun < std::chrono::seconds{58}; ++second) {
        auto const asked = time.steady();
        CHECK(items.get("g", 1));
        CHECK(items.insert_or_replace({"g", 2, "x", 1}));
        waited += time.steady() - asked;
        CHECK(time.steady() - asked < std::chrono::milliseconds{1'100});
        time.advance(std::chrono::seconds{1});
    }
    CHECK(waited < std::chrono::seconds{5});
    CHECK(waited > std::chrono::seconds{2}); // it was asked again
    time.advance(std::chrono::seconds{10});
    CHECK(items.get("g", 1).error().code == error_code::map_unavailable);
    *away = false;
    CHECK(items.get("g", 1));
}

TEST_CASE("shards: an answer is not used if it arrives after the lease has expired and the map is unreachable") {
    testing::manual_clock time;
    sharding::world const all;
    testing::faulty<any_store> const catalogue{any_store{all.catalogue}};
    auto const meanwhile = std::make_shared<std::function<void()>>();
    std::string const asked = GENERATE(std::string{"get_entity"}, std::string{"write_entity"});
    auto const map =
        entitable_test::map_of(catalogue, "shardmap", virtual_shards{1}, {"a"}, all.opener(), with_clock(time));
    table<item> const items{sharded{map,
                                [&](std::string_view name) -> result<any_store> {
                                    return interrupted(all.opener()(name).value(), asked, meanwhile);
                                }},
        "items"};
    items.create().value();
    *meanwhile = [&] {
        time.advance(std::chrono::seconds{61});
        for (int each = 0; each < 10; ++each) { catalogue.plan({testing::fault::refused(), 1, "query_entities"}); }
    };
    if (asked == "get_entity") { // there is none; but who knows
        auto const read = items.get("g", 1);
        CHECK(read.error().code == error_code::map_unavailable);
        CHECK(read.error().effect == effect::none);
    } else {
        auto const written = items.insert({"g", 1, "x", 1});
        CHECK(written.error().code == error_code::shard_moved);
        CHECK(written.error().effect == effect::unknown);
    }
    CHECK(!*meanwhile);
}

TEST_CASE("shards: a shard is moved offline") {
    testing::manual_clock time;
    sharding::world const all;
    auto const cloud = all.open(virtual_shards{4}, with_clock(time));
    table<item> const items{cloud, "items"};
    table<item> const others{cloud, "others"};
    items.create().value();
    others.create().value();
    for (int number = 0; number < 300; ++number) {
        items.insert({"g" + std::to_string(number % 40), number, "text", number}).value();
    }
    auto const whole = items.scan_table().to().value();
    auto const shard = static_cast<std::int32_t>(*virtual_shards{4}.shard_of("g7"));
    auto const stored = items.get_stored("g7", 7).value();
    auto const map_before = cloud.map().to_string().value();

    move_options options;
    options.time = &time;
    options.off_line = true;
    auto plan = plan_move(cloud, shard, "delta", options).value();
    CHECK(plan.tables == 2);
    CHECK(plan.to_string().find("delta") != std::string::npos);

    SECTION("the shard moves away and back") {
        int pages = 0;
        auto const done =
            plan.run([&](move_progress const& at) {
                    pages += at.step == move_step::copying ? 1 : 0;
                    if (at.step == move_step::waiting || at.step == move_step::copying) {
                        // another client, which reads the map now
                        table<item> const elsewhere{all.open(virtual_shards{4}, with_clock(time)), "items"};
                        CHECK(elsewhere.get("g7", 7).error().code == error_code::shard_moving);
                        CHECK(elsewhere.insert({"g7", 9999, {}, 0}).error().code == error_code::shard_moving);
                    }
                    return true;
                })
                .value();
        CHECK(done.step == move_step::done);
        CHECK(done.rows == plan.rows);
        CHECK(pages >= 1);
        CHECK(items.scan_table().to().value() == whole);
        // an ETag from before is refused, nothing is sent
        auto const refused = items.replace({"g7", 7, "changed", 1}, stored.etag);
        CHECK(refused.error().code == error_code::update_condition_not_satisfied);
        CHECK(refused.error().message.starts_with("ShardMoved"));
        items.update("g7", 7, [](item& each) { each.text = "changed"; }).value();
        auto back = plan_move(cloud, shard, plan.source, options).value();
        back.run().value();
        CHECK(items.get("g7", 7).value().text == "changed");
        CHECK(items.scan_table().to().value().size() == whole.size());
        CHECK(entitable_test::tables_in(all.stores->at("delta")).empty());
        CHECK(items.drop());
        CHECK(others.drop());
        for (auto const& [name, store] : *all.stores) { CHECK(entitable_test::tables_in(store).empty()); }
    }
    SECTION("the move is stopped at any step, and repeated by another program or cancelled") {
        for (int stop = 0; stop < 12; ++stop) {
            int step = 0;
            bool cut = false;
            auto const stopped = plan.run([&](move_progress const&) {
                cut = step++ == stop;
                return !cut;
            });
            if (stopped) { break; }
            CHECK(stopped.error().code == error_code::cancelled);
            cancel_move(cloud, shard).value();
            CHECK(items.scan_table().to().value() == whole);
            if (plan_move(cloud, shard, "delta", options)) {
                auto again = plan_move(cloud, shard, "delta", options).value();
                CHECK(
                    again.run([step = 0, stop](move_progress const&) mutable { return step++ != stop; }).has_value() ==
                    false);
                auto third = plan_move(cloud, shard, "delta", options);
                if (third) { third->run().value(); }
                CHECK(items.scan_table().to().value() == whole);
                auto back = plan_move(cloud, shard, plan.source, options).value();
                back.run().value();
            } else {
                auto back = plan_move(cloud, shard, plan.source, options).value();
                back.run().value();
            }
            CHECK(items.scan_table().to().value() == whole);
        }
    }
    SECTION("a client has an old copy of the map") {
        table<item> const stale{all.open(virtual_shards{4}, with_clock(time)), "items"};
        CHECK(stale.get("g7", 7));
        plan.run().value();
        CHECK(stale.get("g7", 7).value().text == "text");
        CHECK(stale.insert({"g7", 9998, "new", 1}));
        CHECK(items.get("g7", 9998).value().text == "new");
    }
}

TEST_CASE("shards: an answer that arrives after a move is not used") {
    testing::manual_clock time;
    sharding::world const all;
    auto const meanwhile = std::make_shared<std::function<void()>>();
    std::string const asked =
        GENERATE(std::string{"get_entity"}, std::string{"write_entity"}, std::string{"query_entities"});
    auto const map =
        entitable_test::map_of(all.catalogue, "shardmap", virtual_shards{1}, {"a"}, all.opener(), with_clock(time));
    sharded const slow{map, [&](std::string_view name) -> result<any_store> {
                           return interrupted(all.opener()(name).value(), asked, meanwhile);
                       }};
    sharded const mover{
        lookup_map::open(all.catalogue, "shardmap", virtual_shards{1}, with_clock(time)).value(), all.opener()};
    table<item> const items{slow, "items"};
    table<item> const direct{mover, "items"};
    items.create().value();
    items.insert({"g", 1, "before", 1}).value();
    move_options options;
    options.time = &time;
    *meanwhile = [&] {
        plan_move(mover, 0, "b", options).value().run().value();
        direct.insert_or_replace({"g", 1, "after", 1}).value();
    };
    if (asked == "get_entity") {
        CHECK(slow.execute(get_entity{"items", "g", "0001", {}}, *std::make_unique<call>())
                  .value()
                  .entity.view()
                  .find("text")
                  ->bytes() == "after");
    } else if (asked == "query_entities") {
        CHECK(items.scan_table().to().value().at(0).text == "after");
    } else {
        auto const lost = items.insert({"g", 2, "lost", 1});
        REQUIRE(!lost);
        CHECK(lost.error().code == error_code::shard_moved);
        CHECK(lost.error().effect == effect::unknown);
    }
    CHECK(!*meanwhile);
}

TEST_CASE("shards: retries with operation rows find a write in its new store") {
    testing::manual_clock time;
    sharding::world const all;
    auto const meanwhile = std::make_shared<std::function<void()>>();
    auto const map =
        entitable_test::map_of(all.catalogue, "shardmap", virtual_shards{1}, {"a"}, all.opener(), with_clock(time));
    sharded const slow{map, [&](std::string_view name) -> result<any_store> {
                           return interrupted(all.opener()(name).value(), "transact", meanwhile);
                       }};
    sharded const mover{
        lookup_map::open(all.catalogue, "shardmap", virtual_shards{1}, with_clock(time)).value(), all.opener()};
    retrying_options patience;
    patience.operation_rows = true;
    patience.policy = retry_policy::fixed(5, std::chrono::milliseconds{1});
    table<item> const items{retrying{any_store{slow}, patience}, "items"};
    items.create().value();
    move_options options;
    options.time = &time;
    *meanwhile = [&] { plan_move(mover, 0, "b", options).value().run().value(); };
    call_options named;
    named.operation_id = "insert-1";
    auto const written = items.with(named).insert({"g", 1, "once", 1});
    REQUIRE(written);
    CHECK(!*meanwhile);
    CHECK(items.scan_table().to().value().size() == 1);
    // The ETag is from before the move: that is no proof that nothing was written.
    *meanwhile = [&] { plan_move(mover, 0, "a", options).value().run().value(); };
    CHECK(items.update("g", 1, [](item& each) { ++each.size; }));
    CHECK(!*meanwhile);
    CHECK(items.get("g", 1).value().size == 2);
}

TEST_CASE("shards: partial() names the missing shards") {
    sharding::world const all;
    std::map<std::string, testing::faulty<any_store>> stores;
    for (auto const* name : {"alpha", "beta", "gamma"}) {
        stores.emplace(name, testing::faulty<any_store>{any_store{memory_backend{}}});
    }
    sharded const cloud =
        entitable_test::cloud_of(all.catalogue, "shardmap", virtual_shards{6}, {"alpha", "beta", "gamma"},
            [&](std::string_view name) -> result<any_store> { return stores.at(std::string{name}); });
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < 100; ++number) {
        items.insert({"g" + std::to_string(number), 1, "x", number}).value();
    }
    auto const ask = [](any_store const& there) { return table<item>{there, "items"}.scan_table().to(); };
    CHECK(partial(cloud, ask).value().good());
    CHECK(partial(cloud, ask).value().whole().value().size() == 100);
    stores.at("beta").plan({testing::fault::refused(), 1, "query_entities"});
    auto const named = items.scan_table().to();
    CHECK(named.error().message.find("in the store beta") != std::string::npos);
    for (int each = 0; each < 2; ++each) { stores.at("beta").plan({testing::fault::refused(), 1, "query_entities"}); }
    auto const some = partial(cloud, ask).value();
    REQUIRE(some.missing().size() == 2);
    CHECK(!some.whole());
    std::size_t expected = 0;
    for (int number = 0; number < 100; ++number) {
        auto const shard = static_cast<std::int32_t>(*virtual_shards{6}.shard_of("g" + std::to_string(number)));
        bool const missing = shard == some.missing()[0].shard || shard == some.missing()[1].shard;
        expected += missing ? 0U : 1U;
    }
    CHECK(some.value().size() == expected);
    for (auto& [name, store] : stores) {
        for (int each = 0; each < 6; ++each) { store.plan({testing::fault::refused(), 1, "query_entities"}); }
    }
    CHECK(!partial(cloud, ask)); // all failed
}

TEST_CASE("shards: have the same results as one table in one store") {
    for (std::uint64_t seed = 1; seed <= rounds(6, 300); ++seed) {
        CAPTURE(seed);
        random_source random{seed};
        testing::manual_clock time;
        sharding::world const all;
        auto const routes = [&] {
            return seed % 3 == 0 ? virtual_shards::ranges({"g2", "g30", "g5"})
                                 : virtual_shards{static_cast<std::uint32_t>(1 + seed % 7)};
        };
        sharded const cloud = all.open(routes(), with_clock(time));
        sharded const mover = all.open(routes(), with_clock(time));
        table<item> const items{cloud, "items"};
        memory_backend const one;
        table<item> const oracle{one, "items"};
        items.create().value();
        oracle.create().value();
        std::size_t moves = 0;
        for (int step = 0; step < 150; ++step) {
            item const each{"g" + std::to_string(random.bits() % 60), static_cast<std::int32_t>(random.bits() % 5),
                "t" + std::to_string(random.bits() % 9), static_cast<std::int32_t>(random.bits() % 10)};
            time.advance(std::chrono::seconds{random.bits() % 20});
            switch (random.bits() % 8) {
                case 0: CHECK(items.insert(each).has_value() == oracle.insert(each).has_value()); break;
                case 1:
                    CHECK(items.remove(each.group, each.number, any_etag).has_value() ==
                        oracle.remove(each.group, each.number, any_etag).has_value());
                    break;
                case 2:
                    CHECK(items.replace(each, any_etag).has_value() == oracle.replace(each, any_etag).has_value());
                    break;
                case 3:
                case 4:
                    CHECK(items.insert_or_replace(each).has_value() == oracle.insert_or_replace(each).has_value());
                    break;
                case 5:
                    CHECK(items.find(each.group, each.number).value() == oracle.find(each.group, each.number).value());
                    break;
                case 6: {
                    auto const limit = static_cast<std::int32_t>(random.bits() % 10);
                    CHECK(items.scan_table(i::size >= limit).count().value() ==
                        oracle.scan_table(i::size >= limit).count().value());
                    CHECK(items.scan_table(i::group >= each.group).to().value() ==
                        oracle.scan_table(i::group >= each.group).to().value());
                    CHECK(items.where(i::group == each.group).to().value() ==
                        oracle.where(i::group == each.group).to().value());
                    break;
                }
                default: {
                    // pages with moves between them, by tokens
                    auto const size = static_cast<std::uint32_t>(1 + random.bits() % 20);
                    std::vector<item> found;
                    std::optional<std::string> token;
                    do {
                        auto asked = items.scan_table().page_size(size);
                        auto pages = token ? asked.resume(*token).pages() : asked.pages();
                        auto page = pages.next().value();
                        if (!page) { break; }
                        found.insert(found.end(), page->begin(), page->end());
                        token = page->token;
                        if (random.bits() % 2 == 0) {
                            auto const shard = static_cast<std::int32_t>(random.bits() % routes().number());
                            move_options options;
                            options.time = &time;
                            auto plan = plan_move(mover, shard, "store" + std::to_string(random.bits() % 4), options);
                            if (plan) {
                                plan->run().value();
                                ++moves;
                            }
                        }
                    } while (token);
                    CHECK(found == oracle.scan_table().to().value());
                }
            }
        }
        CHECK(items.scan_table().to().value() == oracle.scan_table().to().value());
        CHECK(moves > 0);
    }
}
