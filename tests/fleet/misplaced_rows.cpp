// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Rows that came late to a table whose keys have left are removed, and nothing else is: while shards move, are split and merged, at each request,
// and where the caller ends at each request and is called again.

#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <support/catch.hpp>

#include <functional>
#include <map>
#include <memory>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct item {
    std::string place;
    std::int32_t number{};
    std::int32_t value{};
};
ENTITABLE(item, partition_key(place), row_key(width(number, 4)), properties(value))

/// What happens around the requests of one program.
struct hooks {
    std::function<void()> before;
    std::size_t sent{};
    std::size_t ends_at{static_cast<std::size_t>(-1)}; ///< from this request on the program has ended
    bool behind{};                                     ///< the request is still applied
};
struct hooked {
    using is_transport = void;
    any_store below;
    std::shared_ptr<hooks> with;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::size_t const at = with->sent++;
        if (with->before) { with->before(); }
        if (at < with->ends_at) { return below.execute(request, context); }
        if (at == with->ends_at && with->behind) { (void)below.execute(request, context); }
        failure ended{error_code::cancelled, "the program has ended"};
        ended.error().effect = Request::writes ? effect::unknown : effect::none;
        return ended;
    }
};

using rows_by_key = std::map<std::pair<std::string, std::int32_t>, std::int32_t>;

/// Two stores and a map, through which several programs go.
struct world {
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, memory_backend>> stores =
        std::make_shared<std::map<std::string, memory_backend>>();
    virtual_shards shards;
    std::shared_ptr<hooks> const watched = std::make_shared<hooks>();
    sharded cloud;   ///< of the programs in between
    sharded hooked_; ///< of the program that is watched
    rows_by_key expected;

    explicit world(virtual_shards how)
        : shards(std::move(how)), cloud(open(std::make_shared<hooks>(), true)), hooked_(open(watched, false)) {}

    [[nodiscard]] sharded open(std::shared_ptr<hooks> const& with, bool first) const {
        lookup_map_options brief;
        brief.lease = 1ms;
        any_store const map{hooked{any_store{catalogue}, with}};
        store_opener const opener = [stores = stores, with](std::string_view name) -> result<any_store> {
            return any_store{hooked{any_store{(*stores)[std::string{name}]}, with}};
        };
        return sharded{first ? lookup_map::make(map, "shardmap", shards, {"one", "two"}, opener, brief).value()
                             : lookup_map::open(map, "shardmap", shards, brief).value(),
            opener};
    }
    [[nodiscard]] static fleet_options one_thread() {
        fleet_options made;
        made.in_flight = 1;
        return made;
    }
    [[nodiscard]] fleet all() const { return fleet{cloud, one_thread()}; }
    [[nodiscard]] fleet watched_one() const { return fleet{hooked_, one_thread()}; }
    [[nodiscard]] table<item> items() const { return table<item>{cloud, "items"}; }

    void put(std::string const& place, std::int32_t number, std::int32_t value) {
        items().insert_or_replace({place, number, value}).value();
        expected[{place, number}] = value;
    }
    void move(std::int32_t shard, std::string const& to) const {
        move_options brief;
        brief.short_lease = 1ms;
        plan_move(cloud, shard, to, brief).value().run().value();
    }
    void merge(std::int32_t lower, std::int32_t upper, std::string const& to) const {
        move_options brief;
        brief.short_lease = 1ms;
        plan_merge(cloud, lower, upper, to, brief).value().run().value();
    }
    /// The tables of a logical table in a store.
    [[nodiscard]] std::vector<std::string> tables_in(std::string const& store, std::string const& name) const {
        call context;
        std::vector<std::string> found;
        for (std::string const& each : (*stores)[store].execute(list_tables{}, context).value().tables) {
            if (each.starts_with(name)) { found.push_back(each); }
        }
        return found;
    }
    /// A row straight into a table of a store: what a write does that arrives late.
    void stray(
        std::string const& store, std::string const& stored, std::string const& place, std::string const& row) const {
        call context;
        row_builder late{place, row};
        (*stores)[store].execute(write_entity{stored, mutation::insert_or_replace(late.build())}, context).value();
    }
    /// What clients read.
    [[nodiscard]] rows_by_key found() const {
        rows_by_key all;
        for (item const& each : items().scan_table().to().value()) { all[{each.place, each.number}] = each.value; }
        return all;
    }
};

/// Shard 0 holds the keys from "d" to "m" in the store "one", in a table that had all keys once; the others are in "two". Rows came late to what left.
struct split_world : world {
    std::int32_t middle{};
    std::int32_t upper{};

    split_world() : world(virtual_shards::ranges({})) {
        items().create().value();
        table<item>{cloud, "more"}.create().value();
        for (char letter = 'a'; letter <= 'z'; ++letter) {
            put(std::string(1, letter), 1, letter);
            put(std::string(1, letter), 2, letter);
        }
        upper = split_shard(cloud, 0, "m").value();
        move(upper, "two");
        middle = split_shard(cloud, 0, "d").value();
        move(0, "two");
        std::string const stored = tables_in("one", "items").at(0);
        stray("one", stored, "a", "0001");
        stray("one", stored, "c", "0009");
        stray("one", stored, "m", "0002");
        for (int number = 0; number < 12; ++number) { stray("one", stored, "zz", std::to_string(number)); }
        stray("one", stored, "q", "~!wide!1");
        stray("one", tables_in("one", "more").at(0), "x", "1");
    }
};
constexpr std::uint64_t strays_of_items = 16;

struct meddler {
    char const* name;
    std::function<void(split_world&)> act;
};

std::vector<meddler> meddlers() {
    return {
        {"a split", [](split_world& on) { split_shard(on.cloud, on.middle, "g").value(); }},
        {"a split, and one half moves",
            [](split_world& on) { on.move(split_shard(on.cloud, on.middle, "g").value(), "two"); }},
        {"a move", [](split_world& on) { on.move(on.middle, "two"); }},
        {"a move there and back",
            [](split_world& on) {
                on.move(on.middle, "two");
                on.move(on.middle, "one");
            }},
        {"a merge with the lower one", [](split_world& on) { on.merge(0, on.middle, "one"); }},
        {"a merge with the upper one",
            [](split_world& on) {
                on.merge(on.middle, on.upper, "one");
                on.put("zz", 3, 7);
                on.put("q", 3, 7);
            }},
        {"all merged, and split again",
            [](split_world& on) {
                on.merge(0, on.middle, "one");
                on.merge(0, on.upper, "one");
                on.move(split_shard(on.cloud, 0, "h").value(), "two");
                on.put("a", 9, 9);
            }},
        {"the table is dropped and made again",
            [](split_world& on) {
                on.items().drop().value();
                on.items().create().value();
                on.expected.clear();
                on.put("a", 1, 3);
                on.put("f", 1, 3);
                on.put("zz", 1, 3);
            }},
        {"clients write",
            [](split_world& on) {
                on.put("zz", 1, 1);
                on.put("a", 9, 1);
                on.put("f", 9, 1);
                on.put("m", 2, 9);
            }},
        {"the same call", [](split_world& on) { remove_misplaced(on.all()).value().whole().value(); }},
    };
}

} // namespace

TEST_CASE("misplaced rows: only late rows of a split range are removed") {
    split_world on;
    auto const before = check_fleet(on.all()).value();
    CHECK(before.misplaced_rows == strays_of_items + 1);
    auto const removed = remove_misplaced(on.all()).value().whole().value();
    CHECK(removed.rows == strays_of_items + 1);
    CHECK(removed.by_table == std::map<std::string, std::uint64_t>{{"items", strays_of_items}, {"more", 1}});
    CHECK(check_fleet(on.all())->healthy());
    CHECK(on.found() == on.expected);
    auto const again = remove_misplaced(on.all()).value();
    CHECK(again.rows == 0);
    CHECK(again.by_table.empty());
}

TEST_CASE("misplaced rows: are removed from ranges without a lower or upper bound") {
    world on{virtual_shards::ranges({"d", "m"})};
    on.items().create().value();
    for (auto const* place : {"", "a", "c", "d", "l", "m", "z"}) { on.put(place, 1, 1); }
    std::size_t strays = 0;
    for (auto const* store : {"one", "two"}) {
        for (std::string const& stored : on.tables_in(store, "items")) {
            for (auto const* place : {"", "a", "c", "d", "l", "m", "z"}) {
                on.stray(store, stored, place, "late");
                ++strays;
            }
        }
    }
    // Of each place one table is the right one: there the row is one that a client may read.
    call context;
    CHECK(check_fleet(on.all())->misplaced_rows == strays - 7);
    CHECK(remove_misplaced(on.all())->rows == strays - 7);
    CHECK(check_fleet(on.all())->healthy());
    CHECK(on.cloud.execute(query_entities{"items", {}, {}, {}, 1000, {}}, context)->rows.size() == 14);
}

TEST_CASE("misplaced rows: a table shared by two shards is skipped until one shard has moved") {
    world on{virtual_shards::ranges({})};
    on.items().create().value();
    for (char letter = 'a'; letter <= 'z'; ++letter) { on.put(std::string(1, letter), 1, letter); }
    std::int32_t const upper = split_shard(on.cloud, 0, "m").value();
    CHECK(remove_misplaced(on.all())->rows == 0);
    CHECK(on.found() == on.expected);
    // The upper half has moved, and its keys are not erased yet.
    move_options keeps;
    keeps.short_lease = 1ms;
    keeps.keep_old_tables = true;
    plan_move(on.cloud, upper, "two", keeps).value().run().value();
    CHECK(remove_misplaced(on.all())->rows == 0);
    CHECK(on.found() == on.expected);
    on.move(upper, "one");
    CHECK(remove_misplaced(on.all())->whole().has_value());
    CHECK(on.found() == on.expected);
    CHECK(check_fleet(on.all())->healthy());
}

TEST_CASE("misplaced rows: are removed from hashed shards, with and without a map") {
    world on{virtual_shards{5}};
    auto const fixed = hash_stores::make({"red", "green", "blue"}, [stores = on.stores](std::string_view name) {
        return result<any_store>{any_store{(*stores)[std::string{name}]}};
    }).value();
    bool const by_map = GENERATE(true, false);
    sharded const cloud = by_map ? on.cloud : sharded{fixed};
    fleet const all{cloud, world::one_thread()};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < 40; ++number) { items.insert({"p" + std::to_string(number), number, 1}).value(); }
    std::size_t tables = 0;
    for (auto const* store : {"one", "two", "red", "green", "blue"}) {
        for (std::string const& stored : on.tables_in(store, "items")) {
            ++tables;
            for (int number = 0; number < 7; ++number) {
                on.stray(store, stored, "p" + std::to_string(number), "late");
                on.stray(store, stored, "late" + std::to_string(number), "late");
            }
            for (int number = 0; number < 2100; ++number) { // more than a page
                on.stray(store, stored, "large", std::to_string(number));
            }
        }
    }
    CHECK(tables == (by_map ? 5 : 3));
    CHECK(check_fleet(all)->misplaced_rows == (tables - 1) * (14 + 2100));
    CHECK(remove_misplaced(all)->rows == (tables - 1) * (14 + 2100));
    CHECK(check_fleet(all)->healthy());
    call context;
    std::size_t left = 0;
    query_entities asked{"items", {}, {}, {}, 1000, {}};
    do {
        auto page = cloud.execute(asked, context).value();
        left += page.rows.size();
        asked.continuation = std::move(page.continuation);
    } while (asked.continuation);
    CHECK(left == 40 + 14 + 2100);
}

TEST_CASE("misplaced rows: removal is not supported if a user function assigns the shards") {
    world const on{virtual_shards{3, [](std::string_view key) { return static_cast<std::uint32_t>(key.size() % 3); }}};
    auto const refused = remove_misplaced(on.all());
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::not_supported);
}

TEST_CASE("misplaced rows: a failed store is reported, and the others are completed") {
    split_world on;
    sharded const half{on.cloud.map(), [stores = on.stores](std::string_view name) -> result<any_store> {
                           if (name == "two") { return failure{error_code::transport_failed, "no route"}; }
                           return any_store{(*stores)[std::string{name}]};
                       }};
    auto const removed = remove_misplaced(fleet{half}).value();
    CHECK(removed.rows == strays_of_items + 1);
    CHECK(removed.unread.size() == 2);
    auto const whole = removed.whole();
    REQUIRE(!whole);
    CHECK(whole.error().code == error_code::transport_failed);
    CHECK_THAT(whole.error().message, entitable_test::ContainsSubstring("two"));
}

TEST_CASE("misplaced rows: other programs may act between any two requests") {
    std::size_t tried = 0;
    for (meddler const& each : meddlers()) {
        for (std::size_t at = 0;; ++at) {
            split_world on;
            bool acted = false;
            on.watched->before = [&] {
                if (on.watched->sent == at + 1 && !std::exchange(acted, true)) { each.act(on); }
            };
            on.watched->sent = 0;
            CAPTURE(each.name, at);
            auto const removed = remove_misplaced(on.watched_one());
            on.watched->before = nullptr;
            REQUIRE(removed);
            CHECK(removed->unread.empty());
            CHECK(on.found() == on.expected);
            if (!acted) { break; }
            ++tried;
            CHECK(remove_misplaced(on.all())->whole().has_value());
            CHECK(check_fleet(on.all())->healthy());
            CHECK(on.found() == on.expected);
        }
    }
    std::printf("misplaced rows: %zu times somebody else acted in between\n", tried);
    CHECK(tried > 100);
}

TEST_CASE("misplaced rows: a removal that was interrupted at any request can be repeated") {
    for (bool const behind : {false, true}) {
        for (std::size_t at = 0;; ++at) {
            split_world on;
            on.watched->sent = 0;
            on.watched->ends_at = at;
            on.watched->behind = behind;
            CAPTURE(behind, at);
            (void)remove_misplaced(on.watched_one());
            bool const ended = on.watched->sent > at;
            CHECK(on.found() == on.expected);
            CHECK(remove_misplaced(on.all())->whole().has_value());
            CHECK(check_fleet(on.all())->healthy());
            CHECK(on.found() == on.expected);
            if (!ended) { break; }
        }
    }
}

TEST_CASE("misplaced rows: can be removed at each request of a move, a split that moves, and a merge") {
    struct moving {
        char const* name;
        std::function<void(split_world&, sharded const&)> act;
    };
    move_options brief;
    brief.short_lease = 1ms;
    brief.page_size = 7;
    std::vector<moving> const all{
        {"a move",
            [&](split_world& on, sharded const& by) { plan_move(by, on.middle, "two", brief).value().run().value(); }},
        {"a half that moves",
            [&](split_world& on, sharded const& by) {
                plan_move(by, split_shard(by, on.middle, "g").value(), "two", brief).value().run().value();
            }},
        {"a merge",
            [&](split_world& on, sharded const& by) {
                plan_merge(by, on.middle, on.upper, "one", brief).value().run().value();
            }},
    };
    for (moving const& each : all) {
        for (std::size_t at = 0;; ++at) {
            split_world on;
            bool acted = false;
            on.watched->before = [&] {
                if (on.watched->sent == at + 1 && !std::exchange(acted, true)) {
                    remove_misplaced(on.all()).value().whole().value();
                }
            };
            on.watched->sent = 0;
            CAPTURE(each.name, at);
            each.act(on, on.hooked_);
            on.watched->before = nullptr;
            CHECK(on.found() == on.expected);
            if (!acted) { break; }
            CHECK(remove_misplaced(on.all())->whole().has_value());
            CHECK(check_fleet(on.all())->healthy());
            CHECK(on.found() == on.expected);
        }
    }
}
