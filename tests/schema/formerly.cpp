// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Members with a former name or type (`formerly`, `retyped`): reads, writes, conditions, indexes and sums while programs use the former
// struct, and the migration that ends it.

#include <entitable/async.hpp>
#include <entitable/bulk.hpp>
#include <entitable/csv.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/print.hpp>
#include <entitable/schema.hpp>
#include <entitable/server.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/unit_of_work.hpp>

#include <server/served.hpp>
#include <support/catch.hpp>
#include <support/held_checkpoint.hpp>
#include <support/meddled.hpp>
#include <support/temporary_folder.hpp>

#include <random>
#include <sstream>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace {

namespace before {

struct song {
    std::string artist;
    std::int32_t number{};
    std::string name;
    std::string seconds;
    std::string genre;
};
ENTITABLE(song, partition_key(artist), row_key(literal("S:"), number), properties(name, seconds, genre))

struct by_genre : song {};
ENTITABLE(by_genre, partition_key(artist), row_key(literal("G:"), escaped(genre), number), properties())

struct songs_of_genre {
    std::string artist;
    std::string genre;
    std::int64_t songs{};
    std::int64_t seconds{};

    static songs_of_genre key(song const& of) { return {of.artist, of.genre}; }
    void add(song const& one) { ++songs, seconds += std::stoll(one.seconds); }
    void subtract(song const& one) { --songs, seconds -= std::stoll(one.seconds); }
};
ENTITABLE(songs_of_genre, partition_key(artist), row_key(literal("T:"), genre), properties(songs, seconds))

} // namespace before

namespace after {

result<std::int32_t> seconds_of_text(std::string_view text) {
    std::int32_t made = 0;
    for (char const each : text) {
        if (each < '0' || each > '9') { return failure{error_code::invalid_input, "no number"}; }
        made = made * 10 + (each - '0');
    }
    return made;
}

struct song {
    std::string artist;
    std::int32_t number{};
    std::string title;
    std::int32_t seconds{};
    std::string genre;
};
ENTITABLE(song, partition_key(artist), row_key(literal("S:"), number),
    properties(formerly(property(title, "Title"), "name"), retyped(seconds, seconds_of_text), genre))

struct by_genre : song {};
ENTITABLE(by_genre, partition_key(artist), row_key(literal("G:"), escaped(genre), number), properties())

struct songs_of_genre {
    std::string artist;
    std::string genre;
    std::int64_t songs{};
    std::int64_t seconds{};

    static songs_of_genre key(song const& of) { return {of.artist, of.genre}; }
    void add(song const& one) { ++songs, seconds += one.seconds; }
    void subtract(song const& one) { --songs, seconds -= one.seconds; }
};
ENTITABLE(songs_of_genre, partition_key(artist), row_key(literal("T:"), genre), properties(songs, seconds))

} // namespace after

/// Retyped and renamed at once, numbers of all widths.
std::int64_t wider(std::int32_t from) { return from; }
std::optional<double> halves(std::int32_t const& from) { return from < 0 ? std::optional<double>{} : from / 2.0; }
struct narrow {
    std::string all;
    std::string key;
    std::int32_t count{};
    std::int32_t weight{};
};
ENTITABLE(narrow, partition_key(all), row_key(key), properties(property(count, "Number"), weight))
struct wide_numbers {
    std::string all;
    std::string key;
    std::int64_t count{};
    std::optional<double> kilos;
};
ENTITABLE(wide_numbers, partition_key(all), row_key(key),
    properties(formerly(retyped(property(count, "Count"), wider), "Number"), formerly(retyped(kilos, halves), "weight")))

template <class Test>
void on_each_store(Test const& test) {
    SECTION("memory") { test(memory_backend{}); }
    SECTION("file") {
        entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
        test(file_backend{folder / "songs.db"});
    }
    SECTION("served") {
        memory_backend const below;
        test(entitable_test::served(below));
    }
}

using s = fields<after::song>;

/// A table with rows of both structs.
struct songs {
    explicit songs(any_store to) : store(std::move(to)) { old.create().value(); }

    any_store store;
    table<before::song> old{store, "songs"};
    table<after::song> now{store, "songs"};
};

/// Names of the properties of a row.
std::string names_in(any_store const& store, std::string_view partition, std::string_view key) {
    call context;
    auto const found =
        store.execute(get_entity{"songs", std::string{partition}, std::string{key}, {}}, context).value();
    std::string names;
    property_cursor cursor{found.entity.payload()};
    for (property_view each; cursor.next(each);) {
        if (each.present) { names += std::string{each.name} + " "; }
    }
    return names;
}

} // namespace

TEST_CASE("each write removes the former name, and keeps what no struct declares") {
    on_each_store([](any_store const& store) {
        songs t{store};
        std::string const key = "S:0000000001";
        using write = std::function<bool(after::song)>;
        std::vector<write> const writes = {
            [&](after::song const& made) { return t.now.insert_or_replace(made).has_value(); },
            [&](after::song const& made) { return t.now.replace(made, any_etag).has_value(); },
            [&](after::song const& made) { return t.now.merge(made, any_etag).has_value(); },
            [&](after::song const& made) {
                return t.now.merge(at("x", 1), s::title = made.title, s::seconds = made.seconds, any_etag).has_value();
            },
            [&](after::song const& made) {
                return t.now.update("x", 1, [&](after::song& of) { of = made; }).has_value();
            },
            [&](after::song const& made) { return t.now.batch().merge(made, any_etag).submit().has_value(); },
            [&](after::song const& made) {
                return t.now.batch()
                    .merge(at("x", 1), s::title = made.title, s::seconds = made.seconds, any_etag)
                    .submit()
                    .has_value();
            },
            [&](after::song const& made) { return t.now.batch().replace(made, any_etag).submit().has_value(); },
            [&](after::song const& made) { return bulk_upsert(t.now, std::vector{made}).value().all().has_value(); },
            [&](after::song const& made) {
                return bulk_update(t.now, t.now.where(s::artist == "x"), [&](after::song& of) { of = made; })
                    .value()
                    .all()
                    .has_value();
            },
            [&](after::song const& made) {
                return t.now
                    .transact("x",
                        [&](auto& work) -> result<void> {
                            return work.update(1, [&](after::song& of) { of = made; }).has_value()
                                ? result<void>{}
                                : failure{error_code::invalid_input, ""};
                        })
                    .has_value();
            },
            [&](after::song const& made) {
                return t.now
                    .transact("x",
                        [&](auto& work) -> result<void> {
                            work.replace(made, any_etag);
                            return {};
                        })
                    .has_value();
            },
            [&](after::song const& made) {
                unit_of_work work{t.now};
                *work.find("x", 1).value() = made;
                return work.save().value().good();
            },
            [&](after::song const& made) {
                unit_of_work work{t.now};
                work.find("x", 1).value()->seconds = made.seconds;
                return work.save().value().good();
            },
        };
        for (std::size_t index = 0; index < writes.size(); ++index) {
            INFO("write " << index);
            t.old.insert_or_replace({"x", 1, "old title", "12", "rock"}).value();
            after::song made{"x", 1, "old title", 13, "rock"};
            CHECK(writes[index](made));
            CHECK(t.now.get("x", 1).value().title == "old title");
            CHECK(t.now.get("x", 1).value().seconds == 13);
            CHECK(names_in(store, "x", key).find("name") == std::string::npos);
            CHECK(schema_drift(t.now).value().migrated());
        }
        CHECK_FALSE(bulk_upsert(t.now, std::vector{after::song{}}, {.merge = true}));
        t.old.insert_or_replace({"x", 1, "kept", "12", "rock"}).value();
        t.now.merge(at("x", 1), s::genre = "pop", any_etag)
            .value(); // one request, which does not touch the former name
        CHECK(t.now.get("x", 1).value().title == "kept");
    });
}

TEST_CASE("with both names the new one wins, and schema_drift reports the row") {
    on_each_store([](any_store const& store) {
        songs t{store};
        t.now.insert({"x", 1, "new", 1, "a"}).value();
        t.old.merge({"x", 1, "old", "7", "a"}, any_etag).value();
        t.old.insert({"x", 2, "only", "8", "a"}).value();
        CHECK(t.now.get("x", 1).value().title == "new");
        CHECK(t.now.get("x", 1).value().seconds == 7);
        CHECK(t.now.where(s::artist == "x" && s::title == "new").count().value() == 1);
        CHECK(t.now.where(s::artist == "x" && s::title == "old").count().value() == 0);
        CHECK(t.now.where(s::artist == "x" && s::title == "only").select(s::title).first().value()->get<0>() == "only");
        auto strict = t.now.options();
        strict.reading = reading::strict;
        CHECK(t.now.with(strict).get("x", 1).has_value());
        auto const drift = schema_drift(t.now).value();
        CHECK(drift.good());
        CHECK_FALSE(drift.migrated());
        CHECK_THAT(drift.to_string(),
            ContainsSubstring(
                "1 row: \"name\": the row has the property under both names, and reads take the current name; "
                "first x / S:0000000001\n") &&
                ContainsSubstring("1 row: \"name\": the property has its former name; first x / S:0000000002\n") &&
                ContainsSubstring(
                    "2 rows: \"seconds\": the property has its former type, stored as Edm.String, declared "
                    "as Edm.Int32"));
        CHECK(migrate(t.now).value().all().value().written == 2);
        CHECK(t.now.get("x", 1).value().title == "new");
        CHECK(schema_drift(t.now).value().differences.empty());
    });
}

TEST_CASE("explain and select show both names until the table is marked") {
    songs t{memory_backend{}};
    auto const asked = t.now.where(s::artist == "x" && s::title == "a").select(s::genre);
    auto const plan = asked.explain().value();
    CHECK(plan.server_filter.empty());
    CHECK(plan.client_filter == R"(artist == "x" && Title (formerly name) == "a")");
    CHECK(plan.meets_former);
    CHECK(plan.properties == projection{"genre", "Title", "name"});
    CHECK_THAT(plan.to_string(), ContainsSubstring("former names   checked by the client"));
    CHECK(t.now.where(s::artist == "x").select(s::title).explain().value().properties == projection{"Title", "name"});
    CHECK(t.now.where(s::artist == "x" && s::seconds > 5).explain().value().client_filter ==
        R"(artist == "x" && seconds (formerly Edm.String) > 5)");
    CHECK_FALSE(t.now.where(s::artist == "x" && s::genre == "a").explain().value().meets_former);

    CHECK_FALSE(is_migrated(t.now).value());
    CHECK(migrate(t.now, {.dry_run = true}));
    CHECK_FALSE(is_migrated(t.now).value());
    CHECK(migrate(t.now));
    CHECK(is_migrated(t.now).value());
    CHECK(asked.to().value().empty()); // reads the mark
    CHECK(asked.explain().value().server_filter == R"(Title == "a")");
    CHECK(t.now.where(s::artist == "x" && s::title == "b").explain().value().client_filter.empty());
    // A new program reads the mark once.
    auto const counts = std::make_shared<entitable_test::meddling>();
    table<after::song> const fresh{entitable_test::meddled{t.store, counts}, "songs"};
    CHECK(fresh.where(s::artist == "x" && s::title == "a").count().value() == 0);
    CHECK(counts->seen == 2);
    CHECK(fresh.where(s::artist == "x" && s::title == "b").count().value() == 0);
    CHECK(counts->seen == 3);
}

TEST_CASE("the mark of a migration is stored as documented") {
    songs t{memory_backend{}};
    migrate(t.now).value();
    call context;
    std::vector<std::string> keys;
    query_entities asked;
    asked.table = "songs";
    auto const found = t.store.execute(asked, context).value();
    for (std::size_t index = 0; index < found.rows.size(); ++index) {
        CHECK(found.rows[index].partition_key == "~!former!");
        CHECK(row_format::header_size == found.rows[index].payload.size());
        keys.emplace_back(found.rows[index].row_key);
    }
    CHECK(keys ==
        std::vector<std::string>{
            "~!former!Title!name!Edm.String!Edm.String!S:", "~!former!seconds!seconds!Edm.String!Edm.Int32!S:"});
    CHECK(t.now.scan_table().count().value() == 0);
    CHECK(t.now.partitions().value().empty());
    CHECK(schema_drift(t.now).value().rows == 0);
}

TEST_CASE("types change with a function; what it refuses is never skipped") {
    on_each_store([](any_store const& store) {
        table<narrow> const old{store, "numbers"};
        old.create().value();
        table<wide_numbers> const now{store, "numbers"};
        using w = fields<wide_numbers>;
        old.insert({"a", "1", 5, 3}).value();
        now.insert({"a", "2", 5'000'000'000, {}}).value();
        CHECK(now.get("a", "1").value().count == 5);
        CHECK(now.get("a", "1").value().kilos == 1.5);
        CHECK(now.where(w::all == "a" && w::kilos > 1).count().value() == 1);
        CHECK(now.where(w::all == "a" && w::count < 6).to().value().size() == 1);
        CHECK(now.where(w::all == "a" && w::kilos == std::nullopt).to().value().size() == 1);
        CHECK(std::get<0>(now.where(w::all == "a").fold(sum(w::count)).value()) == 5'000'000'005);
        old.insert({"a", "3", 1, -1}).value(); // its weight is refused
        CHECK(now.get("a", "3").error().code == error_code::row_mismatch);
        CHECK(now.where(w::all == "a" && w::kilos > 100).to().error().code == error_code::row_mismatch);
        CHECK(now.where(w::all == "a" && !(w::kilos > 0)).to().error().code == error_code::row_mismatch);
        auto const drift = schema_drift(now).value();
        CHECK(drift.unreadable == 1);
        auto const report = migrate(now).value();
        CHECK(report.refused == 1);
        CHECK_FALSE(is_migrated(now).value());
        old.remove("a", "3", any_etag).value();
        CHECK(migrate(now).value().all());
        CHECK(is_migrated(now).value());
        CHECK(now.where(w::all == "a" && w::kilos > 1).count().value() == 1);
    });
}

TEST_CASE("a token from before the migration continues after it") {
    songs t{memory_backend{}};
    for (std::int32_t number = 0; number < 6; ++number) { t.old.insert({"x", number, "a", "1", "g"}).value(); }
    auto const asked = t.now.where(s::artist == "x" && s::title == "a").page_size(2);
    auto pages = asked.pages();
    auto const first = pages.next().value();
    REQUIRE(first);
    CHECK(first->size() == 2);
    migrate(t.now).value();
    CHECK(asked.resume(*first->token).to().value().size() == 4);
    table<after::song> const other{t.store, "songs"};
    auto const again = other.where(s::artist == "x" && s::title == "a").page_size(2).resume(*first->token);
    CHECK(again.to().value().size() == 4);
    auto const rest = pages.next().value(); // the run continues as it began
    REQUIRE(rest);
    CHECK(rest->size() == 2);
    auto pages_after = other.where(s::artist == "x" && s::title == "a").page_size(2).pages();
    auto const first_after = pages_after.next().value();
    REQUIRE(first_after);
    table<after::song> const fresh{t.store, "songs"};
    auto const fresh_query = fresh.where(s::artist == "x" && s::title == "a").page_size(2);
    CHECK(fresh_query.resume(*first_after->token).to().value().size() == 4);
    CHECK(fresh_query.resume("1!0123456789abcdef!0!0").to().error().code == error_code::continuation_invalid);
}

TEST_CASE("a migration of former names that is killed at any request resumes, and marks the table once all rows are "
          "rewritten") {
    std::size_t killed = 0;
    for (std::size_t at = 1; at < 60; ++at) {
        for (bool const behind : {false, true}) {
            INFO("request " << at << (behind ? " applied" : " lost"));
            memory_backend const memory;
            songs t{memory};
            for (std::int32_t number = 0; number < 40; ++number) {
                t.old.insert({"x", number, "title " + std::to_string(number), std::to_string(number), "g"}).value();
            }
            t.now.insert({"y", 1, "new", 1, "g"}).value();
            auto plan = std::make_shared<entitable_test::meddling>();
            plan->at = at;
            plan->behind = behind;
            plan->dies = true;
            bulk_options how;
            how.window = 10;
            how.in_flight = 2;
            how.wait_budget = std::chrono::nanoseconds{1};
            entitable_test::held_checkpoint const kept;
            how.checkpoint = kept;
            auto const compare = [&] {
                table<after::song> const fresh{memory, "songs"};
                auto const all = fresh.where(s::artist == "x").to().value();
                CHECK(all.size() == 40);
                for (auto const& each : all) {
                    CHECK(each.title == "title " + std::to_string(each.number));
                    CHECK(each.seconds == each.number);
                    CHECK(fresh.where(s::artist == "x" && s::title == each.title).count().value() == 1);
                }
                CHECK(fresh.where(s::artist == "x" && s::seconds >= 20).count().value() == 20);
            };
            bool const was_killed =
                !migrate(table<after::song>{entitable_test::meddled{memory, plan}, "songs"}, how).has_value();
            killed += was_killed ? 1U : 0U;
            CHECK(was_killed == plan->met);
            compare();
            if (is_migrated(t.now).value()) { CHECK(schema_drift(t.now).value().migrated()); }
            // A program of the former struct writes behind the checkpoint before the migration resumes.
            t.old.insert_or_replace({"x", 0, "title 0", "0", "g"}).value();
            bool const late = is_migrated(t.now).value();
            how.wait_budget = std::chrono::minutes{5};
            CHECK(migrate(t.now, how).value().all());
            CHECK(is_migrated(t.now).value());
            CHECK(schema_drift(t.now).value().migrated());
            if (!late) { compare(); }
        }
    }
    CHECK(killed > 20);
}

TEST_CASE("a migration that finds former names in each pass does not mark the table") {
    memory_backend const memory;
    songs t{memory};
    auto plan = std::make_shared<entitable_test::meddling>();
    entitable_test::meddled const watched{memory, plan};
    table<after::song> const now{watched, "songs"};
    int passes = 0;
    bulk_options how;
    how.watch = [&](bulk_progress const& of) {
        if (of.ended && ++passes < 20) { t.old.insert_or_replace({"x", passes, "late", "1", "g"}).value(); }
    };
    t.old.insert({"x", 0, "first", "1", "g"}).value();
    auto const report = migrate(now, how);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == error_code::update_condition_not_satisfied);
    CHECK_THAT(report.error().message, ContainsSubstring("still writing to the table"));
    CHECK_FALSE(is_migrated(now).value());
}

TEST_CASE("a table with indexes or sums is not migrated in place") {
    memory_backend const memory;
    testing::manual_clock time; // for the wait of retire
    table_options quick;
    quick.time = &time;
    table<before::song, before::by_genre, before::songs_of_genre> const all{memory, "songs", quick};
    all.create().value();
    all.insert({"x", 1, "a", "1", "g"}).value();
    table<after::song> const now{memory, "songs"};
    table<before::song> const old{memory, "songs"};
    auto const refused = migrate(now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::not_supported);
    CHECK_THAT(refused.error().message,
        ContainsSubstring("the table \"songs\" has the index or the sums \"by_genre\"") &&
            ContainsSubstring("bulk_copy"));
    auto const with_function = migrate(old.scan_table(), now,
        [](before::song const& from) { return after::song{from.artist, from.number, from.name, 0, from.genre}; });
    CHECK(with_function.error().code == error_code::not_supported);
    CHECK_FALSE(is_migrated(now).value());
    CHECK(all.retire("by_genre"));
    CHECK(all.retire("songs_of_genre"));
    CHECK(bulk_remove(all.unmaintained<before::by_genre>(), all.unmaintained<before::by_genre>().scan_table())
            .value()
            .all());
    CHECK(
        bulk_remove(all.unmaintained<before::songs_of_genre>(), all.unmaintained<before::songs_of_genre>().scan_table())
            .value()
            .all());
    CHECK(migrate(now).value().all());
}

TEST_CASE("indexes and sums have the same content, whichever program writes") {
    on_each_store([](any_store const& store) {
        using before_table = table<before::song, before::by_genre, before::songs_of_genre>;
        using after_table = table<after::song, after::by_genre, after::songs_of_genre>;
        before_table const old{store, "songs"};
        old.create().value();
        after_table const now{store, "songs"};
        std::mt19937 random{11};
        auto const draw = [&](int below) { return std::uniform_int_distribution<int>{0, below - 1}(random); };
        std::string const genres[] = {"jazz", "rock"};
        std::map<std::int32_t, std::pair<after::song, bool>> model; // whether the former program can read it
        using g = fields<after::by_genre>;
        for (int step = 0; step < 150; ++step) {
            INFO("step " << step);
            std::int32_t const number = draw(5);
            std::string const genre = genres[draw(2)];
            std::string const title = "t" + std::to_string(draw(3));
            std::int32_t const seconds = draw(100);
            bool const there = model.contains(number);
            bool const fits = there && model[number].second;
            after::song const made{"x", number, title, seconds, genre};
            before::song const made_before{"x", number, title, std::to_string(seconds), genre};
            switch (draw(8)) {
                case 0:
                    CHECK(old.insert(made_before).has_value() == !there);
                    if (!there) { model[number] = {made, true}; }
                    break;
                case 1: // the former program cannot tell the sums of a row that it cannot read
                    if (old.insert_or_replace(made_before)) {
                        CHECK((fits || !there));
                        model[number] = {made, true};
                    } else {
                        CHECK((there && !fits));
                    }
                    break;
                case 2: {
                    auto const done = old.update("x", number, [&](before::song& of) { of = made_before; });
                    CHECK(done.has_value() == fits);
                    if (fits) { model[number] = {made, true}; }
                    break;
                }
                case 3:
                    CHECK(now.insert(made).has_value() == !there);
                    if (!there) { model[number] = {made, false}; }
                    break;
                case 4:
                    CHECK(now.insert_or_replace(made));
                    model[number] = {made, false};
                    break;
                case 5:
                    CHECK(now.update("x", number, [&](after::song& of) { of = made; }).has_value() == there);
                    if (there) { model[number] = {made, false}; }
                    break;
                case 6:
                    CHECK(now.merge(made, any_etag).has_value() == there);
                    if (there) { model[number] = {made, false}; }
                    break;
                default:
                    CHECK(now.remove<after::song>("x", number, any_etag).has_value() == there);
                    model.erase(number);
            }
            for (std::string const& each : genres) {
                std::size_t expected = 0;
                std::int64_t expected_seconds = 0;
                std::size_t titled = 0;
                for (auto const& [at, one] : model) {
                    expected += one.first.genre == each ? 1U : 0U;
                    expected_seconds += one.first.genre == each ? one.first.seconds : 0;
                    titled += one.first.title == "t1" ? 1U : 0U;
                }
                auto const found = now.by<after::by_genre>().where(g::artist == "x" && g::genre == each).to().value();
                CHECK(found.size() == expected);
                for (auto const& one : found) { CHECK(one.title == model[one.number].first.title); }
                auto const summed = now.sum({"x", each}).value();
                CHECK(summed.songs == static_cast<std::int64_t>(expected));
                CHECK(summed.seconds == expected_seconds);
                CHECK(now.where(s::artist == "x" && s::title == "t1").count().value() == titled);
            }
        }
        CHECK(now.verify().value().good());
    });
}

TEST_CASE("a key changes: the tables stand side by side, and a copy that is repeated loses nothing") {
    on_each_store([](any_store const& store) {
        songs t{store};
        table<narrow> const moved{store, "moved"}; // another key: the number is in the partition
        moved.create().value();
        auto const copy = [&] {
            return bulk_copy(t.now.scan_table(), moved, [](after::song const& from) {
                return narrow{"songs", from.artist + "-" + std::to_string(from.number), from.seconds, 0};
            }).value();
        };
        for (std::int32_t number = 0; number < 10; ++number) { t.old.insert({"x", number, "t", "5", "g"}).value(); }
        CHECK(copy().all().value().written == 10);
        t.now.insert({"y", 1, "late", 6, "g"}).value();
        auto const again = copy().all().value();
        CHECK(again.written == 1);
        CHECK(again.already_there == 10);
        t.now.merge(at("y", 1), s::seconds = 7, any_etag)
            .value(); // a row that was copied changes: reported, and not overwritten
        auto const third = copy();
        CHECK(third.refused == 1);
        CHECK(moved.where(fields<narrow>::all == "songs").count().value() == 11);
    });
}

TEST_CASE("awaited calls read both names, and read the mark before the first page") {
    songs t{memory_backend{}};
    t.old.insert({"x", 1, "a", "5", "g"}).value();
    for (bool const marked : {false, true}) {
        if (marked) { migrate(t.now).value(); }
        event_loop loop;
        async_table<after::song> const now{loop, t.store, "songs"};
        auto const read = [&]() -> task<std::size_t> {
            auto const one = co_await now.get("x", 1);
            CHECK(one.value().title == "a");
            auto const asked = now.where(s::artist == "x" && s::title == "a");
            auto const found = co_await asked.to();
            co_return found.value().size();
        };
        CHECK(loop.run(read()) == 1);
    }
}

TEST_CASE("former members in CSV, in print, and in an entity that is read while the store shows its rows") {
    songs t{memory_backend{}};
    std::istringstream file{"artist,number,Title,seconds,genre\r\nx,1,a,5,g\r\n"};
    auto reader = read_csv<after::song>(file).value();
    CHECK(bulk_insert(t.now, reader).value().written == 1);
    std::ostringstream out;
    out << t.now.get("x", 1).value();
    CHECK_THAT(out.str(), ContainsSubstring("Title"));
    write_csv(out, t.now.scan_table()).value();
    CHECK_THAT(out.str(), ContainsSubstring("artist,number,Title,seconds,genre"));
}
