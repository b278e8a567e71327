// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Ranges that are split and merged: what the map says, which tables there are, and what clients see who hold a copy of it from before.

#include "shards.hpp"
#include "support/around.hpp"
#include "support/catch.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/expiry.hpp>
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <support/maps.hpp>

#include <set>

using namespace entitable;
using entitable_test::around;

namespace {

struct entry {
    std::string month;
    std::int32_t number{};
    std::string text;
    friend bool operator==(entry const&, entry const&) = default;
};
ENTITABLE(entry, partition_key(month), row_key(width(number, 4)), properties(text))
using e = fields<entry>;

/// Twelve months in the ranges [, 05), [05, 09) and [09, ), and the same in one store.
struct months {
    testing::manual_clock time;
    sharding::world all;
    lookup_map_options lease{std::chrono::seconds{60}, &time};
    sharded cloud{all.open(virtual_shards::ranges({"05", "09"}), lease)};
    table<entry> entries{cloud, "entries"};
    memory_backend one;
    table<entry> oracle{one, "entries"};
    move_options options;

    months() {
        entries.create().value();
        oracle.create().value();
        options.time = &time;
        for (std::int32_t month = 1; month <= 12; ++month) {
            for (std::int32_t number = 0; number < 5; ++number) {
                put({(month < 10 ? "0" : "") + std::to_string(month), number, "text"});
            }
        }
    }
    void put(entry const& each) {
        entries.insert_or_replace(each).value();
        oracle.insert_or_replace(each).value();
    }
    void move(std::int32_t shard, std::string const& store) {
        plan_move(cloud, shard, store, options).value().run().value();
    }
    void merge(std::int32_t lower, std::int32_t upper, std::string const& store) {
        plan_merge(cloud, lower, upper, store, options).value().run().value();
    }
    /// Another client, which has read the map by now.
    [[nodiscard]] sharded client() const {
        sharded const made{
            lookup_map::open(all.catalogue, "shardmap", virtual_shards::ranges(), lease).value(), all.opener()};
        made.map().state().fresh({}).value();
        return made;
    }
    /// Everybody sees the rows of the oracle, in pages of any size.
    [[nodiscard]] std::string differs(sharded const& through) const {
        table<entry> const seen{through, "entries"};
        auto const wanted = oracle.scan_table().to().value();
        for (std::uint32_t const size : {1U, 3U, 7U, 1000U}) {
            if (seen.scan_table().page_size(size).to().value() != wanted) { return "pages of " + std::to_string(size); }
        }
        if (seen.scan_table(e::month > "03" && e::month <= "10").to().value() !=
            oracle.scan_table(e::month > "03" && e::month <= "10").to().value()) {
            return "a range";
        }
        for (entry const& each : wanted) {
            if (seen.get(each.month, each.number).value() != each ||
                seen.where(e::month == each.month).to().value().size() !=
                    oracle.where(e::month == each.month).to().value().size()) {
                return each.month;
            }
        }
        return {};
    }
    [[nodiscard]] std::set<std::string> tables_of(std::string const& store) const {
        return entitable_test::tables_in(all.opener()(store).value());
    }
    /// Rows of a physical table, but for those of moves.
    [[nodiscard]] std::size_t rows_of(std::string const& store, std::string const& stored) const {
        call context;
        auto const found =
            all.opener()(store).value().execute(query_entities{stored, {}, {}, {}, 1000, {}}, context).value();
        std::size_t rows = 0;
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            rows += found.rows[index].row_key == system_row::copy ? 0U : 1U;
        }
        return rows;
    }
    [[nodiscard]] std::string map() const { return cloud.map().to_string().value(); }
    [[nodiscard]] shard_map_row row(std::int32_t shard) const {
        auto const read = cloud.map().state().fresh({}).value();
        return read->find_shard(shard) != nullptr ? read->find_shard(shard)->row : shard_map_row{};
    }
};

bool names(error const& why, error_code code, std::string_view what) {
    return why.code == code && why.message.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("ranges: a split only changes the map, and clients do not notice it") {
    months world;
    sharded const before = world.client();
    std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
    CHECK(upper == 3);
    CHECK(world.map() ==
        "map version 4, 4 virtual shards by ranges\n"
        "  0 below \"05\" -> alpha (open, epoch 1)\n"
        "  1 from \"05\" below \"07\" -> beta (open, epoch 1)\n"
        "  3 from \"07\" below \"09\" -> beta (open, epoch 1, in the tables of shard 1)\n"
        "  2 from \"09\" -> gamma (open, epoch 1)\n");
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.differs(world.client()) == "");
    // Who holds a copy from before asks the same tables, and believes what they answer without another look at the map.
    CHECK(world.differs(before) == "");
    table<entry> const old{before, "entries"};
    auto const stored = old.get_stored("08", 1).value();
    old.replace({"08", 1, "by an old copy"}, stored.etag).value();
    world.oracle.replace({"08", 1, "by an old copy"}, any_etag).value();
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.tables_of("beta") == std::set<std::string>{"entries0001x2"});
}

TEST_CASE("ranges: impossible splits and merges are refused, and the error names the shard") {
    months world;
    CHECK(names(split_shard(world.cloud, 7, "07").error(), error_code::invalid_input, "virtual shard 7"));
    for (auto const* key : {"05", "09", "04", "10"}) {
        auto const refused = split_shard(world.cloud, 1, key).error();
        CHECK(names(refused, error_code::invalid_input, "virtual shard 1 can only be split between its first key"));
        CHECK(refused.detail.find(key) != std::string::npos);
    }
    CHECK(split_shard(world.cloud, 0, "").error().code == error_code::invalid_input);
    CHECK(split_shard(world.cloud, 0, "a/b").error().code == error_code::out_of_range_input);
    CHECK(names(
        plan_merge(world.cloud, 0, 2, "delta").error(), error_code::invalid_input, "shards 0 and 2 must be adjacent"));
    CHECK(names(
        plan_merge(world.cloud, 1, 0, "delta").error(), error_code::invalid_input, "shards 1 and 0 must be adjacent"));
    CHECK(names(plan_merge(world.cloud, 2, 9, "delta").error(), error_code::invalid_input, "virtual shard 9"));
    CHECK(names(plan_merge(world.cloud, 0, 1, "no name").error(), error_code::invalid_input, "no name"));

    sharding::world const other;
    auto const hashed = other.open(virtual_shards{2}, world.lease);
    CHECK(names(split_shard(hashed, 0, "5").error(), error_code::invalid_input, "by a function"));
    CHECK(plan_merge(hashed, 0, 1, "delta").error().code == error_code::invalid_input);
    CHECK(names(lookup_map::open(other.catalogue, "shardmap", virtual_shards::ranges()).error(),
        error_code::invalid_input, "by function"));

    auto moving = plan_move(world.cloud, 1, "delta", world.options).value();
    static_cast<void>(moving.run([](move_progress const& at) { return at.step != move_step::verifying; }));
    CHECK(names(split_shard(world.cloud, 1, "07").error(), error_code::shard_moving, "virtual shard 1 is being moved"));
    cancel_move(world.cloud, 1).value();
    set_access(fleet{world.cloud, {.time = &world.time}}, "beta", store_access::read_only, {"repairs", {}}).value();
    CHECK(names(split_shard(world.cloud, 1, "07").error(), error_code::shard_moving, "repairs"));
    CHECK(names(plan_merge(world.cloud, 1, 2, "delta", world.options).value().run().error(), error_code::shard_moving,
        "virtual shard 1 is offline or read-only: repairs"));
    CHECK(world.differs(world.cloud) == "");
}

TEST_CASE("ranges: a half moves away, and the last half to move drops the shared table") {
    months world;
    world.options.off_line = GENERATE(false, true);
    bool const lower_first = GENERATE(true, false);
    std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
    auto const stored = world.entries.get_stored("08", 1).value();
    auto const kept = world.entries.get_stored("05", 1).value();
    sharded const old = world.client();
    world.move(lower_first ? 1 : upper, "delta");
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.differs(old) == "");
    CHECK(world.tables_of("beta") == std::set<std::string>{"entries0001x2"});
    CHECK(world.rows_of("beta", "entries0001x2") == 10); // those of the other half are erased
    CHECK(world.tables_of("delta").size() == 1);
    // ETags of the half that moved are refused, those of the other one are not.
    CHECK(world.entries.replace({"08", 1, "x"}, stored.etag).has_value() == lower_first);
    CHECK(world.entries.replace({"05", 1, "x"}, kept.etag).has_value() == !lower_first);
    world.put({"08", 1, "x"});
    world.put({"05", 1, "x"});
    // What arrives late to the table, for keys that have left it, is seen by nobody.
    call late;
    row_builder ghost{lower_first ? "05" : "08", "9999"};
    ghost.add("text", std::string_view{"late"});
    world.all.stores->at("beta").execute(write_entity{"entries0001x2", mutation::insert(ghost.build())}, late).value();
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.differs(world.client()) == "");
    world.move(lower_first ? upper : 1, "delta");
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.differs(old) == "");
    CHECK(world.tables_of("beta").empty());
    CHECK(world.tables_of("delta").size() == 2);
    CHECK_FALSE(world.row(1).tables_of);
    CHECK_FALSE(world.row(upper).tables_of);
    CHECK(world.map().find("in the tables of") == std::string::npos);
}

TEST_CASE("ranges: neighbouring shards are merged, whatever their origin") {
    months world;
    world.options.off_line = GENERATE(false, true);
    sharded const old = world.client();
    SECTION("two shards are merged into a third store") {
        auto plan = plan_merge(world.cloud, 0, 1, "delta", world.options).value();
        CHECK(plan.to_string().starts_with(
            "merge the virtual shards 0 and 1, from alpha and beta to delta: 2 tables, 40 rows, "));
        plan.run().value();
        CHECK(world.map() ==
            "map version " + std::to_string(world.options.off_line ? 8 : 11) +
                ", 2 virtual shards by ranges\n"
                "  0 below \"09\" -> delta (open, epoch 3)\n"
                "  2 from \"09\" -> gamma (open, epoch 1)\n");
        CHECK(world.tables_of("alpha").empty());
        CHECK(world.tables_of("beta").empty());
        plan.run().value(); // again is nothing
    }
    SECTION("two halves are merged into the store of one of them") {
        world.merge(1, 2, "beta");
        CHECK(world.tables_of("beta").size() == 1);
        CHECK(world.tables_of("gamma").empty());
    }
    SECTION("two halves that share a table are merged") {
        std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
        world.merge(1, upper, "beta");
        CHECK(world.tables_of("beta").size() == 1);
        CHECK(world.tables_of("beta") != std::set<std::string>{"entries0001x2"});
    }
    SECTION("a half is merged with its other neighbour, and the other half keeps the table") {
        std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
        world.merge(upper, 2, "delta");
        CHECK(world.rows_of("beta", "entries0001x2") == 10);
        CHECK(world.row(upper).high.empty());
        CHECK_FALSE(world.row(upper).tables_of);
        CHECK(split_shard(world.cloud, upper, "11").value() == 4); // a number is never given twice
        world.merge(0, 1, "alpha");
        CHECK(world.tables_of("beta").empty());
        CHECK(world.tables_of("alpha").size() == 1);
    }
    SECTION("all shards are merged and split again") {
        world.merge(0, 1, "alpha");
        world.merge(0, 2, "alpha");
        CHECK(world.differs(world.cloud) == "");
        std::int32_t const upper = split_shard(world.cloud, 0, "06").value();
        world.move(upper, "beta");
        std::int32_t const middle = split_shard(world.cloud, 0, "03").value();
        world.merge(middle, upper, "gamma");
    }
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.differs(old) == "");
    CHECK(world.differs(world.client()) == "");
    CHECK(check_fleet(fleet{world.cloud}).value().healthy());
    CHECK(schema_drift(fleet{world.cloud}).value().empty());
}

TEST_CASE("ranges: tables are created and dropped while two shards share a table") {
    months world;
    table<entry> const others{world.cloud, "others"};
    std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
    others.create().value();
    CHECK(world.tables_of("beta").size() == 2);
    for (auto const* month : {"01", "05", "08", "12"}) { others.insert({month, 1, "other"}).value(); }
    world.move(upper, "delta");
    CHECK(others.scan_table().to().value().size() == 4);
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.tables_of("beta").size() == 2);
    others.drop().value();
    CHECK(world.tables_of("beta").size() == 1);
    CHECK(world.tables_of("delta").size() == 1);
    // A table that is made later has a number of its own in its name: both halves may have it, though they have others apart.
    world.merge(1, upper, "beta");
    std::int32_t const again = split_shard(world.cloud, 1, "06").value();
    world.move(1, "delta");
    others.create().value();
    for (auto const* month : {"01", "05", "08", "12"}) { others.insert({month, 1, "other"}).value(); }
    world.move(1, "beta");
    others.drop().value();
    others.create().value(); // in beta one table for both
    for (auto const* month : {"01", "05", "08", "12"}) { others.insert({month, 1, "other"}).value(); }
    CHECK(world.tables_of("beta").size() == 3);
    CHECK(check_fleet(fleet{world.cloud}).value().healthy());
    world.move(1, "alpha");
    CHECK(world.tables_of("beta").size() == 2);
    CHECK(others.scan_table().to().value().size() == 4);
    world.move(again, "alpha");
    CHECK(world.tables_of("beta").empty());
    CHECK(others.scan_table().to().value().size() == 4);
    CHECK(world.differs(world.cloud) == "");
    world.entries.drop().value();
    others.drop().value();
    for (auto const* store : {"alpha", "beta", "gamma", "delta"}) { CHECK(world.tables_of(store).empty()); }
}

TEST_CASE("ranges: pages continue across splits, moves and merges") {
    for (std::uint32_t const size : {1U, 2U, 4U, 9U}) {
        CAPTURE(size);
        months world;
        std::vector<std::function<void()>> const changes{[&] { CHECK(split_shard(world.cloud, 1, "07").value() == 3); },
            [&] { world.move(3, "delta"); }, [&] { CHECK(split_shard(world.cloud, 2, "11").value() == 4); },
            [&] { world.merge(0, 1, "gamma"); }, [&] { world.merge(3, 2, "alpha"); },
            [&] { CHECK(split_shard(world.cloud, 0, "02").value() == 5); }, [&] { world.move(5, "beta"); },
            [&] { world.merge(5, 3, "delta"); }};
        table<entry> const seen{world.client(), "entries"};
        std::vector<entry> found;
        std::optional<std::string> token;
        for (std::size_t page = 0;; ++page) {
            auto asked = seen.scan_table().page_size(size);
            auto pages = token ? asked.resume(*token).pages() : asked.pages();
            auto const next = pages.next().value();
            if (!next) { break; }
            found.insert(found.end(), next->begin(), next->end());
            token = next->token;
            if (!token) { break; }
            if (page < changes.size()) { changes[page](); }
        }
        CHECK(found == world.oracle.scan_table().to().value());
        CHECK(world.differs(world.cloud) == "");
    }
}

TEST_CASE("ranges: a query with the bounds of a shard stays within the service's limits") {
    testing::manual_clock time;
    local_options strict{.time = &time};
    strict.limits.max_comparisons = 15;
    sharding::world all;
    for (std::string const store : {"alpha", "beta", "gamma"}) {
        all.stores->emplace(store, any_store{memory_backend{strict}});
    }
    sharded const cloud = all.open(virtual_shards::ranges({"05", "09"}), {std::chrono::seconds{60}, &time});
    table<entry> const entries{cloud, "entries"};
    entries.create().value();
    for (std::string const month : {"04", "05", "06", "08", "09"}) {
        for (std::int32_t number = 0; number < 5; ++number) { entries.insert({month, number, "text"}).value(); }
    }
    auto const long_one = entries.scan_table(e::number >= 1 && e::number < 4 && e::text != "a" && e::text != "b" &&
        e::text != "c" && e::text != "d" && e::text != "f" && e::text != "g" && e::text != "h" && e::text != "i" &&
        e::text != "j" && e::text != "k" && e::text != "l");
    for (std::uint32_t const size : {1U, 2U, 1000U}) {
        auto query = long_one;
        CHECK(std::move(query).page_size(size).to().value().size() == 15);
    }
    time.advance(std::chrono::hours{2});
    bulk_options how;
    how.time = &time;
    CHECK(expire(entries, long_one, std::chrono::hours{1}, how).value().written == 15);
}

TEST_CASE("ranges: shards are split and merged while a page is in flight") {
    for (int const change : {0, 1, 2, 3}) {
        for (std::size_t when = 1; when <= 12; ++when) {
            CAPTURE(change, when);
            months world;
            std::size_t asked = 0;
            sharded const slow{
                lookup_map::open(world.all.catalogue, "shardmap", virtual_shards::ranges(), world.lease).value(),
                [&](std::string_view name) -> result<any_store> {
                    return any_store{around{world.all.opener()(name).value(), {}, [&](std::string_view request, bool) {
                                                if (request != query_entities::name || ++asked != when) { return; }
                                                if (change == 1) {
                                                    world.merge(0, 1, "delta");
                                                    return;
                                                }
                                                auto const upper = split_shard(world.cloud, 1, "07").value();
                                                if (change == 2) {
                                                    world.move(upper, "alpha");
                                                } else if (change == 3) {
                                                    world.move(1, "alpha");
                                                    world.merge(upper, 2, "beta");
                                                }
                                            }}};
                }};
            table<entry> const seen{slow, "entries"};
            CHECK(seen.scan_table().page_size(6).to().value() == world.oracle.scan_table().to().value());
            CHECK(seen.scan_table(e::month >= "06" && e::month < "09").page_size(2).to().value() ==
                world.oracle.scan_table(e::month >= "06" && e::month < "09").to().value());
        }
    }
}

TEST_CASE("ranges: a write does not succeed in a table that its key has left") {
    months world;
    std::function<void()> meanwhile;
    sharded const slow{lookup_map::open(world.all.catalogue, "shardmap", virtual_shards::ranges(), world.lease).value(),
        [&](std::string_view name) -> result<any_store> {
            return any_store{around{world.all.opener()(name).value(), [&](std::string_view request, bool) {
                                        if (request == write_entity::name && meanwhile) {
                                            std::exchange(meanwhile, nullptr)();
                                        }
                                    }}};
        }};
    table<entry> const seen{slow, "entries"};
    CHECK(seen.get("08", 1));
    meanwhile = [&] { CHECK(split_shard(world.cloud, 1, "07").value() == 3); };
    seen.insert({"08", 100, "while it was split"}).value(); // it stays where it was: it counts
    world.oracle.insert({"08", 100, "while it was split"}).value();
    meanwhile = [&] { world.move(3, "delta"); };
    auto const late = seen.insert({"08", 101, "late"}); // the table is there still, with the other half
    REQUIRE_FALSE(late);
    CHECK(late.error().code == error_code::shard_moved);
    CHECK(late.error().effect == effect::unknown);
    CHECK(world.differs(world.cloud) == "");
    CHECK(world.differs(slow) == "");
}

TEST_CASE("ranges: a merge that is stopped at any step is taken over by a call that names either shard") {
    for (std::size_t stop = 0;; ++stop) {
        CAPTURE(stop);
        months world;
        std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
        auto plan = plan_merge(world.cloud, 1, upper, "delta", world.options).value();
        std::size_t step = 0;
        auto const first = plan.run([&](move_progress const&) { return step++ != stop; });
        if (first) {
            CHECK(stop > 12);
            break;
        }
        bool const merged = world.row(upper).state.empty();
        switch (stop % 4) {
            case 0:
                cancel_move(world.cloud, merged || stop % 8 == 0 ? 1 : upper).value();
                CHECK(world.row(1).state == "open");
                break;
            case 1: plan.run().value(); break;
            case 2: world.move(merged ? 1 : upper, "gamma"); break;
            default: world.merge(0, 1, "alpha"); break;
        }
        CHECK(world.differs(world.cloud) == "");
        CHECK(world.row(1).attempt_owner.empty());
        CHECK(world.row(upper).attempt_owner.empty());
        if (stop % 4 == 0 && merged) { CHECK(world.tables_of("beta").empty()); }
        CHECK(schema_drift(fleet{world.cloud}).value().empty());
        // What is left of it goes with the next one.
        for (std::int32_t const shard : {0, 1, upper, 2}) {
            if (!world.row(shard).state.empty()) { cancel_move(world.cloud, shard).value(); }
        }
        std::size_t const tables = world.tables_of("alpha").size() + world.tables_of("beta").size() +
            world.tables_of("gamma").size() + world.tables_of("delta").size();
        auto const read = world.cloud.map().state().fresh({}).value();
        std::set<std::string> used;
        for (auto const& place : read->places) {
            used.insert(place.row.store + place.table_name(read->tables.front()));
        }
        CHECK(tables == used.size());
    }
}

TEST_CASE("ranges: a map of an earlier version has rows without the number of their tables") {
    sharding::world const all;
    any_store const catalogue{all.catalogue};
    call context;
    catalogue.execute(create_table{"shardmap"}, context).value();
    auto const put = [&](std::string_view key, auto const& fill) {
        row_builder made{"map", key};
        fill(made);
        catalogue.execute(write_entity{"shardmap", mutation::insert(made.build())}, context).value();
    };
    put("header", [](row_builder& made) {
        made.add("strategy", std::string_view{"ranges"});
        made.add("hash_version", std::int32_t{1});
        made.add("fingerprint", static_cast<std::int64_t>(virtual_shards::ranges({"m"}).fingerprint()));
        made.add("number", std::int32_t{2});
        made.add("version", std::int64_t{1});
        made.add("next_epoch", std::int64_t{2});
        made.add("tables", std::string_view{""});
        made.add("nonce", std::string_view{""});
    });
    for (int shard = 0; shard < 2; ++shard) {
        put("shard000" + std::to_string(shard), [&](row_builder& made) {
            made.add("low", std::string_view{shard == 0 ? "" : "m"});
            made.add("high", std::string_view{shard == 0 ? "m" : ""});
            made.add("state", std::string_view{"open"});
            made.add("store", std::string_view{"alpha"});
            made.add("epoch", std::int64_t{1});
            made.add("lease_ms", std::int64_t{0});
            made.add("open_lease_ms", std::int64_t{0});
            made.add("attempt_owner", std::string_view{""});
            made.add("attempt_store", std::string_view{""});
            made.add("attempt_epoch", std::int64_t{0});
            made.add("retired", std::string_view{shard == 0 ? "" : "beta:1:2"});
            made.add("reason", std::string_view{""});
            made.add("until", date_time{});
            made.add("nonce", std::string_view{""});
        });
    }
    sharded const cloud{lookup_map::open(catalogue, "shardmap", virtual_shards::ranges({"m"})).value(), all.opener()};
    auto const read = cloud.map().state().fresh({}).value();
    CHECK(read->places[1].tables_of() == 1);
    CHECK(read->places[1].retired.at(0).shard == 1);
    table<entry> const entries{cloud, "entries"};
    entries.create().value();
    entries.insert({"a", 1, "x"}).value();
    entries.insert({"z", 1, "x"}).value();
    CHECK(split_shard(cloud, 1, "s").value() == 2);
    plan_move(cloud, 2, "beta").value().run().value();
    plan_merge(cloud, 0, 1, "alpha").value().run().value();
    CHECK(entries.scan_table().to().value().size() == 2);
}

TEST_CASE("ranges: a map with gaps or overlapping ranges is invalid") {
    months world;
    auto const broken = [&](std::string_view property, std::string_view value) {
        row_builder wrong{"map", "shard0001"};
        wrong.add(property, value);
        call context;
        world.all.catalogue.execute(write_entity{"shardmap", mutation::merge(wrong.build(), any_etag)}, context)
            .value();
        return lookup_map::open(world.all.catalogue, "shardmap", virtual_shards::ranges()).error().code ==
            error_code::shard_map_invalid;
    };
    CHECK(broken("high", "08"));
    CHECK(broken("high", "10"));
    CHECK(broken("high", ""));
    CHECK(broken("low", "06"));
}

TEST_CASE("ranges: fleet functions work with shards that share a table") {
    months world;
    fleet const stores{world.cloud, {.time = &world.time}};
    std::int32_t const upper = split_shard(world.cloud, 1, "07").value();
    auto const found = check_fleet(stores).value();
    CHECK(found.healthy());
    CHECK(found.of_table("entries").rows == 60);
    CHECK(found.contents.size() == 4);
    auto const sizes = sizes_of(stores).value();
    for (store_size const& each : sizes.stores) {
        CHECK(each.shards == (each.store == "beta" ? 2U : 1U));
        CHECK(each.rows == 20U);
    }
    CHECK(schema_drift(stores).value().empty());

    memory_backend const archive;
    CHECK(back_up(stores, archive, "nightly").value().rows == 60);
    months other;
    other.entries.drop().value();
    restore(archive, "nightly", fleet{other.cloud, {.time = &other.time}}).value();
    CHECK(world.differs(other.cloud) == "");
    CHECK(audit(stores, fleet{other.cloud}).value().at(0).same());

    // A row in one shard's table whose key belongs to another shard is reported; in a shared table only rows that clients see are read.
    world.move(upper, "delta");
    call context;
    row_builder stray{"01", "7777"};
    world.all.stores->at("gamma")
        .execute(write_entity{"entries0002x2", mutation::insert(stray.build())}, context)
        .value();
    auto const told = check_fleet(stores).value();
    REQUIRE(told.misplaced.size() == 1);
    CHECK(told.misplaced[0].belongs_to == 0U);
    CHECK(told.of_table("entries").rows == 60); // without it

    auto const plan =
        plan_rebalance(stores, {.by = balance_by::rows, .drain = {"gamma"}, .moves = world.options}).value();
    plan.run().value();
    CHECK(world.tables_of("gamma").empty());
    CHECK(world.differs(world.cloud) == "");
    CHECK(place(stores, "08", "alpha", world.options).value().shard == upper);
    CHECK(unplace(stores, "08").has_value());
}

TEST_CASE("ranges: a backup resumes after splits and merges") {
    months world;
    fleet const stores{world.cloud, {.in_flight = 1, .time = &world.time}};
    memory_backend const archive;
    int parts = 0;
    backup_options cut;
    cut.snapshot = [&](std::string_view, any_store const& there) -> result<any_store> {
        if (++parts == 3) { return failure{error_code::cancelled, "cut"}; }
        return there;
    };
    CHECK_FALSE(back_up(stores, archive, "nightly", cut));
    std::int32_t const upper = split_shard(world.cloud, 0, "03").value();
    world.merge(1, 2, "delta");
    bool again = true;
    backup_options meanwhile;
    meanwhile.snapshot = [&](std::string_view, any_store const& there) -> result<any_store> {
        if (std::exchange(again, false)) {
            world.merge(upper, 1, "alpha");
            CHECK(split_shard(world.cloud, upper, "10").has_value());
        }
        return there;
    };
    auto const made = back_up(stores, archive, "nightly", meanwhile).value();
    CHECK(made.rows == 60);
    CHECK(made.parts.size() == 3);
    CHECK(verify_backup(archive, "nightly").value().rows == 60);
    months other;
    other.entries.drop().value();
    CHECK(restore(archive, "nightly", fleet{other.cloud, {.time = &other.time}}).value().rows == 60);
    CHECK(world.differs(other.cloud) == "");
}

TEST_CASE("ranges: rules apply to both halves, and shards with equal rules can be merged") {
    months world;
    fleet const stores{world.cloud, {.time = &world.time}};
    put_rule(world.cloud.map(), placement_rule::only("by law", {1}, {"beta", "gamma"})).value();
    put_rule(world.cloud.map(), placement_rule::never("far away", {0, 1, 2}, {"moon"})).value();
    CHECK(place(stores, "06", "gamma", world.options).value().shard == 1);
    std::string const key = split_key(stores, 1).value();
    CHECK(key == "07");
    std::int32_t const upper = split_shard(stores.cloud(), 1, key).value();
    CHECK(upper == 3);
    CHECK(names(
        plan_move(stores.cloud(), upper, "delta", world.options).error(), error_code::placement_forbidden, "by law"));
    CHECK(names(
        plan_move(stores.cloud(), upper, "beta", world.options).error(), error_code::placement_forbidden, "placed 3"));
    CHECK(names(plan_merge(stores.cloud(), upper, 2, "gamma", world.options).error(), error_code::placement_forbidden,
        "names the virtual shard 3 but not 2"));
    CHECK(unplace(stores, "08").has_value());
    CHECK(plan_move(stores.cloud(), upper, "beta", world.options).value().run().has_value());
    CHECK(names(plan_merge(stores.cloud(), 1, upper, "delta", world.options).error(), error_code::placement_forbidden,
        "by law"));
    CHECK(unplace(stores, "06").has_value());
    plan_merge(stores.cloud(), 1, upper, "beta", world.options).value().run().value();
    CHECK(world.differs(world.cloud) == "");
    remove_rule(world.cloud.map(), "by law").value();
    CHECK(names(
        plan_move(stores.cloud(), 1, "moon", world.options).error(), error_code::placement_forbidden, "far away"));
    CHECK(names(split_key(stores, 9).error(), error_code::invalid_input, "virtual shard 9"));
    sharding::world const other;
    sharded const single = other.open(virtual_shards::ranges());
    table<entry> const few{single, "entries"};
    few.create().value();
    few.insert({"01", 1, "x"}).value();
    CHECK(names(split_key(fleet{single}, 0).error(), error_code::invalid_input, "fewer than two partitions"));
    few.insert({"02", 1, "x"}).value();
    CHECK(split_key(fleet{single}, 0).value() == "02");
}
