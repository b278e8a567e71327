// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/around.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/crash_points.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/views.hpp>

#include <algorithm>

using namespace entitable;

namespace {

struct post {
    std::string channel;
    std::int32_t number{};
    std::string author;
    std::int32_t words{};
};
ENTITABLE(post, partition_key(channel), row_key(number), properties(author, words))

/// A ranking: its row key contains the result of the fold.
struct top_author {
    std::string board;
    std::int32_t posts{};
    std::string author;
    std::int64_t words{};

    static top_author key(post const& of) { return {"all", 0, of.author, 0}; }
    void add(post const& one) { ++posts, words += one.words; }
};
ENTITABLE(top_author, partition_key(board), row_key(descending(width(posts, 6)), author), properties(words))
using t = fields<top_author>;

using authors_view = materialized_view<top_author>;

view_options quiet(entitable::clock& time, std::uint64_t seed = 7) {
    view_options how;
    how.load.time = &time;
    how.load.seed = seed;
    return how;
}

struct world {
    testing::manual_clock time;
    memory_backend store{local_options{.time = &time}};
    table<post> posts{store, "posts"};
    authors_view view{store, "authors", quiet(time)};

    world() {
        posts.create().value();
        view.create().value();
        posts.insert({"harbour", 1, "Ann", 10}).value();
        posts.insert({"harbour", 2, "Bob", 20}).value();
        posts.insert({"market", 1, "Bob", 5}).value();
    }
    [[nodiscard]] std::vector<std::string> tables() const {
        call context;
        return any_store{store}.execute(list_tables{}, context).value().tables;
    }
};

/// What a reader sees, as text.
std::string shown(authors_view const& view) {
    auto const seen = view.read([](reader<top_author> const& rows) { return rows.scan_table().to(); });
    if (!seen) { return std::string{to_string(seen.error().code)}; }
    std::string text;
    for (top_author const& each : seen->value) {
        text += each.author + ' ' + std::to_string(each.posts) + ' ' + std::to_string(each.words) + ';';
    }
    return text;
}

} // namespace

TEST_CASE("a view contains the result of its fold in key order") {
    world w;
    CHECK(w.view.open().error().code == error_code::view_not_ready);
    CHECK((w.view.verify)(w.posts.scan_table()).error().code == error_code::view_not_ready);
    auto const before = w.time.now();
    auto const told = w.view.refresh(w.posts.scan_table()).value();
    CHECK(told.shown);
    CHECK(told.entities == 3);
    CHECK(told.rows == 2);
    CHECK(told.from >= before);
    CHECK(told.until >= told.from);
    CHECK(shown(w.view) == "Bob 2 25;Ann 1 10;");

    auto const top = w.view.read([](auto const& rows) { return rows.where(t::board == "all").take(1).to(); }).value();
    CHECK(top.value.at(0).author == "Bob");
    CHECK(top.from == told.from);
    w.time.advance(std::chrono::seconds{90});
    CHECK(top.age(w.time.now()) >= std::chrono::seconds{90});
    CHECK(w.view.read([](auto const& rows) { return rows.get("all", 9, "Eve"); }).error().code ==
        error_code::resource_not_found);

    CHECK((w.view.verify)(w.posts.scan_table()).value().same());
    w.posts.insert({"market", 2, "Ann", 1}).value();
    w.posts.update("market", 1, [](post& each) { each.words = 6; }).value();
    w.posts.insert({"market", 3, "Cid", 1}).value();
    auto const seen = (w.view.verify)(w.posts.scan_table()).value();
    CHECK(seen.entities == 5);
    CHECK(seen.missing == 2); // Ann has another key now, Cid is new
    CHECK(seen.dangling == 1);
    CHECK(seen.different == 1);
    CHECK(seen.rows == 0);
    CHECK(seen.samples.size() == 4);
    CHECK(shown(w.view) == "Bob 2 25;Ann 1 10;");
    w.view.refresh(w.posts.scan_table()).value();
    CHECK(shown(w.view) == "Ann 2 11;Bob 2 26;Cid 1 1;");
}

TEST_CASE("a view can be built from several queries, from no entities, and from more rows than fit in a transaction") {
    world w;
    table<post> const others{w.store, "others"};
    others.create().value();
    others.insert({"hall", 1, "Ann", 100}).value();
    w.view.refresh(w.posts.scan_table(), others.scan_table()).value();
    CHECK(shown(w.view) == "Ann 2 110;Bob 2 25;");
    using p = fields<post>;
    w.view.refresh(w.posts.where(p::channel == "nowhere")).value();
    CHECK(shown(w.view) == "");
    for (std::int32_t number = 0; number < 250; ++number) {
        w.posts.insert({"crowd", number, "author " + std::to_string(number), 1}).value();
    }
    CHECK(w.view.refresh(w.posts.scan_table()).value().rows == 252);
    CHECK((w.view.verify)(w.posts.scan_table()).value().rows == 252);
}

namespace {

/// A defect in user code: the part that distinguishes its groups is lost.
struct forgetful {
    std::string board;
    std::int32_t posts{};
    std::string author;

    static forgetful key(post const& of) { return {"all", 0, of.author}; }
    void add(post const&) { ++posts, author = "somebody"; }
};
ENTITABLE(forgetful, partition_key(board), row_key(descending(width(posts, 6)), author), properties())

} // namespace

TEST_CASE("groups with the same keys are reported, and no table is left behind") {
    world w;
    materialized_view<forgetful> const view{w.store, "authors", quiet(w.time)};
    using p = fields<post>;
    auto const told = view.refresh(w.posts.where(p::channel == "harbour"));
    REQUIRE(told.error().code == error_code::invalid_duplicate_row);
    CHECK(told.error().message.find("somebody") != std::string::npos);
    CHECK(view.open().error().code == error_code::view_not_ready);
    CHECK(w.tables() == std::vector<std::string>{"authors", "posts"});
}

TEST_CASE("a generation is retained for an hour after the next generation, then its table is dropped") {
    world w;
    w.view.refresh(w.posts.scan_table()).value();
    auto const old = w.view.open().value();
    auto pages = old.value.scan_table().page_size(1).pages();
    auto const token = pages.next().value()->token;
    REQUIRE(token);
    w.posts.insert({"market", 2, "Ann", 1}).value();
    w.view.refresh(w.posts.scan_table()).value();
    CHECK(w.tables().size() == 4);                            // posts, the view, two generations
    table<top_author> const again{w.store, old.value.name()}; // another program, using the name it remembered
    CHECK(again.scan_table().page_size(1).resume(*token).to().value().at(0).author == "Ann");
    w.time.advance(std::chrono::minutes{59});
    w.view.refresh(w.posts.scan_table()).value();
    CHECK(w.tables().size() == 5);
    w.time.advance(std::chrono::minutes{61});
    w.view.refresh(w.posts.scan_table()).value();
    CHECK(w.tables().size() == 4);
    CHECK(again.scan_table().count().error().code == error_code::table_not_found);
    CHECK(shown(w.view) == "Ann 2 11;Bob 2 25;");
    w.view.drop().value();
    CHECK(w.tables() == std::vector<std::string>{"posts"});
}

TEST_CASE("a refresh makes no more requests than necessary") {
    world w;
    testing::spy<memory_backend> service{w.store};
    authors_view const view{service, "authors", quiet(w.time)};
    view.refresh(w.posts.scan_table()).value();
    // Ticket 2, table 1, rows 1, the row for readers 2, remains of others 2. The entities are read from another store.
    CHECK(service.seen().size() == 8);
    auto const before = service.seen().size();
    CHECK(shown(view) == "Bob 2 25;Ann 1 10;");
    CHECK(service.seen().size() - before == 2);
}

// ---- in every order ---------------------------------------------------------------------------------

namespace {

/// Forwards requests, with a defect.
struct defective {
    enum class defect : std::uint8_t { none, any_version, one_table };
    using is_transport = void;
    any_store behind;
    defect which{};

    [[nodiscard]] entitable::profile profile() const { return behind.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        Request changed = request;
        if constexpr (requires { changed.table; }) {
            if (which == defect::one_table && changed.table.size() == std::string_view{"authorsv"}.size() + 16) {
                changed.table = "authorsv"; // each refresh overwrites the table that is read
            }
        }
        if constexpr (std::same_as<Request, transact>) {
            for (mutation& each : changed.changes) {
                bool const points = each.entity.row_key() == system_row::view && each.kind == mutation_kind::merge;
                if (which == defect::any_version && points) { each.condition = any_etag; }
            }
        }
        return behind.execute(changed, context);
    }
};
using defect = defective::defect;

/// An entity belongs to a group in each of two partitions: a reader that sees it in one of them sees half of a view.
struct by_sides {
    std::string side;
    std::int32_t posts{};
    static by_sides key(post const& of) { return {of.author, 0}; }
    void add(post const&) { ++posts; }
};
ENTITABLE(by_sides, partition_key(side), row_key(literal("sum")), properties(posts))
using sides_view = materialized_view<by_sides>;

sides_view sides(any_store through, entitable::clock& time, std::uint64_t seed) {
    view_options how;
    how.keep = {}; // at once: readers of an old generation notice its end
    how.max_attempts = 4;
    how.load.time = &time;
    how.load.seed = seed;
    return {std::move(through), "authors", how};
}

/// "left 2 right 2": both are even, or the view is inconsistent.
result<std::string> look_at(sides_view const& view) {
    auto const seen = view.read([](reader<by_sides> const& rows) { return rows.scan_table().page_size(1).to(); });
    if (!seen) {
        return seen.error().code == error_code::view_not_ready ? result<std::string>{"not ready"}
                                                               : result<std::string>{failure{seen.error()}};
    }
    std::string text;
    for (by_sides const& each : seen->value) { text += each.side + ' ' + std::to_string(each.posts) + ' '; }
    return text;
}
bool is_whole(std::string const& seen) {
    return seen == "not ready" || seen == "left 1 right 1 " || seen == "left 2 right 2 " || seen == "left 3 right 3 ";
}

struct view_actor {
    std::string name;
    std::function<std::string(any_store, entitable::clock&, std::uint64_t)> does; // the problem, or empty
};

/// Writes an entity of both sides, in one transaction.
bool write_both(any_store const& through, std::int32_t number) {
    table<post> const posts{through, "posts"};
    auto both = posts.batch();
    both.insert({"all", number, "left", 1});
    both.insert({"all", 1000 + number, "right", 1});
    return both.submit().has_value();
}
result<view_refresh> refresh_sides(any_store const& through, entitable::clock& time, std::uint64_t seed) {
    return sides(through, time, seed).refresh(table<post>{through, "posts"}.scan_table());
}

testing::interleaving_report walk(
    std::vector<view_actor> const& actors, testing::interleaving_limits limits, defect which = defect::none) {
    return testing::interleavings(
        [&](testing::stage& on) {
            any_store const way{defective{on.store(), which}};
            table<post>{on.store(), "posts"}.create().value();
            (void)write_both(way, 1);
            sides(way, on.time(), 90).create().value();
            (void)refresh_sides(way, on.time(), 91).value();
            auto& wrong = on.keep<std::string>();
            std::uint64_t seed = 0;
            for (view_actor const& each : actors) {
                ++seed;
                on.add(
                    each.name,
                    [&on, each, seed, which] {
                        auto const runs = [each, seed, which](any_store through, entitable::clock& time) {
                            return each.does(defective{through, which}, time, seed);
                        };
                        return testing::program<std::string>{runs, on.time().steady()};
                    },
                    [&wrong](std::string const& told) { wrong += told; });
            }
            on.always([&on, &wrong, way] {
                auto const seen = look_at(sides(way, on.time(), 92));
                return !wrong.empty() ? wrong
                    : !seen           ? seen.error().message
                    : is_whole(*seen) ? ""
                                      : "half of a view: " + *seen;
            });
        },
        limits);
}

view_actor const refreshes{"refresh", [](any_store through, entitable::clock& time, std::uint64_t seed) {
                               auto const told = refresh_sides(through, time, seed);
                               return told && told->until < told->from ? std::string{"ends before it begins"} : "";
                           }};
view_actor const reads{"read", [](any_store through, entitable::clock& time, std::uint64_t seed) {
                           auto const seen = look_at(sides(through, time, seed));
                           return seen && !is_whole(*seen) ? "seen by a reader: " + *seen : "";
                       }};
/// A view contains everything acknowledged before its refresh, whoever else refreshes it.
view_actor writes(std::int32_t number, std::string name) {
    return {std::move(name), [number](any_store through, entitable::clock& time, std::uint64_t seed) -> std::string {
                if (!write_both(through, number)) { return ""; }
                if (!refresh_sides(through, time, seed)) { return ""; }
                auto const seen = look_at(sides(through, time, seed));
                return seen && *seen == "left 1 right 1 " ? "what was acknowledged is not in the view" : "";
            }};
}

} // namespace

namespace {

/// Invariants of the view at each instant, checked next to the worker by a reader of its own.
struct watch_over_views {
    any_store store{memory_backend{}};
    entitable::clock* time{};
    std::int32_t written{};      ///< posts on each side
    std::int32_t acknowledged{}; ///< the number that existed at the start of a refresh that succeeded
    std::string problem;

    void look() {
        auto const seen = look_at(sides(store, *time, 92));
        std::string const told = seen ? *seen : seen.error().message;
        std::string whole;
        for (std::int32_t posts = acknowledged; posts <= written && whole != told; ++posts) {
            whole = "left " + std::to_string(posts) + " right " + std::to_string(posts) + ' ';
        }
        if (told != whole && problem.empty()) {
            problem = "seen by a reader: " + told + ", acknowledged " + std::to_string(acknowledged);
        }
    }
};

/// Checks after each request.
struct watched {
    using is_transport = void;
    any_store behind;
    watch_over_views* watch;

    [[nodiscard]] entitable::profile profile() const { return behind.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = behind.execute(request, context);
        watch->look();
        return answer;
    }
};

/// Every worker writes a post on each side and refreshes the view. At each request of the first worker its program ends, or its answer is
/// lost, or another worker does all of that.
testing::crash_point_report each_point(defect which) {
    watch_over_views watch;
    auto const write = [&watch](any_store const& store) {
        if (write_both(store, watch.written + 1)) { ++watch.written; }
    };
    auto const hourly = [&watch, which](any_store through, entitable::clock& time, std::uint64_t seed) {
        view_options how;
        how.max_attempts = 4;
        how.load.time = &time;
        how.load.seed = seed;
        return sides_view{defective{watched{std::move(through), &watch}, which}, "authors", how};
    };
    testing::crash_point_world world;
    world.begin = [&](any_store const& store, entitable::clock& time) {
        watch = {store, &time, 0, 0, {}};
        table<post>{store, "posts"}.create().value();
        write(store);
        auto const view = hourly(store, time, 91);
        watch.acknowledged = 0;
        view.create().value();
        watch.problem.clear(); // before the first refresh there is nothing to see
        view.refresh(table<post>{store, "posts"}.scan_table()).value();
        watch.problem.clear();
        watch.acknowledged = 1;
    };
    world.shows = [](any_store const&) { return std::string{}; };
    world.wrong = [&](any_store const& store) {
        auto& time = static_cast<testing::manual_clock&>(*watch.time);
        time.advance(std::chrono::hours{2});
        auto const view = hourly(store, time, 93);
        auto const posts = table<post>{store, "posts"};
        auto const told = view.refresh(posts.scan_table());
        if (!told || !told->shown || !(view.verify)(posts.scan_table()).value().same()) {
            return std::string{"the last refresh is not what is read"};
        }
        call context;
        auto const tables = store.execute(list_tables{}, context).value().tables;
        std::string problem = watch.problem;
        // The previous generation is kept for an hour, and no other generation remains.
        if (problem.empty() && tables.size() != 4) { problem = std::to_string(tables.size()) + " tables are left"; }
        return problem;
    };
    return testing::every_crash_point(
        [&](any_store through, entitable::clock& time) {
            write(watch.store);
            std::int32_t const before = watch.written;
            auto const told = hourly(through, time, static_cast<std::uint64_t>(10 + before))
                                  .refresh(table<post>{through, "posts"}.scan_table());
            if (told) {
                watch.acknowledged = (std::max)(watch.acknowledged, before);
                watch.look();
            }
        },
        world);
}

} // namespace

TEST_CASE("a refresh that is interrupted or overtaken at any of its requests never shows a partial or older view") {
    auto const told = each_point(defect::none);
    CHECK(told.problem == "");
    CAPTURE(told.point);
    CHECK(told.points > 60);
    CHECK(each_point(defect::any_version).problem != "");
}

TEST_CASE("readers and refreshes of a view are correct in any order") {
    testing::interleaving_limits limits;
    limits.crashes = 1;
    limits.most_states = entitable_test::rounds(60, 100'000, 1'000);
    for (auto const& actors : std::vector<std::vector<view_actor>>{
             {refreshes, reads}, {writes(2, "first"), refreshes}, {writes(2, "first"), writes(3, "second"), reads}}) {
        auto const found = walk(actors, limits);
        CHECK(found.problem == "");
    }
    limits = {};
    limits.faults = limits.late = 0;
    limits.most_states = 200;
    CHECK(walk({writes(2, "writer"), reads}, limits, defect::one_table).problem != "");
}

TEST_CASE("view: a cancelled refresh removes the table that it created") {
    world w;
    w.view.refresh(w.posts.scan_table()).value();
    auto const before = w.tables();
    cancellation_source stop;
    entitable_test::around const way{w.store, {}, [&](std::string_view name, bool) {
                                         if (name == "create_table") { stop.cancel(); }
                                     }};
    call_options calls;
    calls.cancellation = stop.token();
    authors_view const view{way, "authors", quiet(w.time, 8), calls};
    CHECK(view.refresh(w.posts.scan_table()).error().code == error_code::cancelled);
    CHECK(w.tables() == before);
}
