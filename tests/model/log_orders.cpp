// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Writers of a logged table, a reader of its changes and a program that trims them, in every order in which their requests can reach the
// store, with lost and late requests and programs that end. And the same with defects, each of which is detected.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include <entitable/changes.hpp>
#include <entitable/core/try.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/work/sync/detail/sync_rows.hpp>

#include <algorithm>
#include <functional>
#include <map>

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_defect;
using entitable_test::with_transactions;

namespace {

struct stock {
    std::string shop;
    std::int32_t item{};
    std::int64_t pieces{};
};
ENTITABLE(stock, partition_key(shop), row_key(literal("S:"), item), properties(pieces))

struct total {
    std::string shop;
    std::int64_t pieces{};
    static total key(stock const& of) { return {of.shop}; }
    void add(stock const& one) { pieces += one.pieces; }
    void subtract(stock const& one) { pieces -= one.pieces; }
};
ENTITABLE(total, partition_key(shop), row_key(literal("TOTAL")), properties(pieces))

using only_logged = table<stock, logged>;
using with_lanes = table<stock, logged_with<log_options{.lanes = 3}>>;
using with_sums = table<stock, total, logged>;

template <class Table>
Table open(any_store const& through, entitable::clock& time, std::uint64_t seed, std::uint32_t attempts) {
    table_options how;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = attempts;
    return Table{through, "stocks", how};
}

/// What the reader has stored: a copy of the rows, and the position that the copy is from.
struct mirror {
    std::map<std::string, std::int64_t> rows;
    log_position at;

    [[nodiscard]] std::string text() const {
        std::string made = at.to_string();
        for (auto const& [key, pieces] : rows) { made += " " + key + "=" + std::to_string(pieces); }
        return made;
    }
};

std::map<std::string, std::int64_t> rows_of(any_store const& store) {
    std::map<std::string, std::int64_t> found;
    for (stock const& one : table<stock, as_entity<total>>{store, "stocks"}.scan_table<stock>()) {
        found[row_key_of(one).value()] = one.pieces;
    }
    return found;
}

/// Reads the changes since the position of the mirror, and changes the mirror.
template <class Table>
result<void> follow(Table const& stocks, mirror& copy) {
    ENTITABLE_TRY(auto const page, changes_of(stocks, "Kiel", copy.at));
    mirror next = copy;
    if (page.needs_full_read) {
        next.rows.clear();
        auto const all = stocks.where(fields<stock>::shop == "Kiel");
        ENTITABLE_CHECK(all.for_each([&](stock const& one) { next.rows[row_key_of(one).value()] = one.pieces; }));
    }
    for (logged_change const& change : page.changes) {
        for (logged_row const& each : change.rows) {
            ENTITABLE_TRY(auto const one, stocks.template find<stock>(reference<stock>{"Kiel", each.row_key}));
            if (one) {
                next.rows[each.row_key] = one->pieces;
            } else {
                next.rows.erase(each.row_key);
            }
        }
    }
    next.at = page.position;
    copy = std::move(next); // both at once, as a program does in one transaction
    return {};
}

/// The writes that were reported as done, or as not done; others may have been applied.
struct told_writes {
    std::map<std::string, int> done; ///< number of entries that name a row: at least
    std::map<std::string, int> most; ///< and at most
    std::map<std::string, std::int64_t> added;

    [[nodiscard]] std::string text() const {
        std::string made;
        for (auto const& [key, times] : done) { made += key + std::to_string(times); }
        for (auto const& [key, times] : most) { made += key + std::to_string(times); }
        return made;
    }
};

template <class Table>
struct actor {
    std::string name;
    std::string row; ///< the row key that it writes; empty for others
    std::function<result<void>(Table const&, mirror&)> does;
    through_defect defect{};
    std::uint32_t attempts{4};
};

template <class Result>
result<void> only_error(Result const& made) {
    return made ? result<void>{} : result<void>{failure{made.error()}};
}
std::string key_of(std::int32_t item) { return row_key_of(stock{"Kiel", item, 0}).value(); }

template <class Table>
actor<Table> inserts(std::int32_t item) {
    return {"insert " + std::to_string(item), key_of(item),
        [=](Table const& stocks, mirror&) { return only_error(stocks.insert(stock{"Kiel", item, 5})); }};
}
template <class Table>
actor<Table> replaces(std::int32_t item, std::int64_t pieces) {
    return {"replace " + std::to_string(item), key_of(item), [=](Table const& stocks, mirror&) {
                return only_error(stocks.insert_or_replace(stock{"Kiel", item, pieces}));
            }};
}
template <class Table>
actor<Table> removes(std::int32_t item) {
    return {"remove " + std::to_string(item), key_of(item),
        [=](Table const& stocks, mirror&) { return only_error(stocks.remove(stock{"Kiel", item, 0}, any_etag)); }};
}
template <class Table>
actor<Table> changes(std::int32_t item) {
    return {"transaction " + std::to_string(item), key_of(item), [=](Table const& stocks, mirror&) {
                return only_error(stocks.transact("Kiel", [=](auto& all) -> result<void> {
                    ENTITABLE_TRY(auto one, all.template get<stock>(item));
                    ++one.pieces;
                    all.replace(one);
                    return {};
                }));
            }};
}
template <class Table>
actor<Table> follows() {
    return {"follow", "", [](Table const& stocks, mirror& copy) { return follow(stocks, copy); }};
}
/// Removes all entries that it finds.
template <class Table>
actor<Table> trims() {
    return {"trim", "", [](Table const& stocks, mirror&) -> result<void> {
                ENTITABLE_TRY(auto const heads, changes_of(stocks, "Kiel"));
                return only_error(trim_changes(stocks, "Kiel", heads.position, {std::chrono::nanoseconds{}}));
            }};
}

/// What is wrong with the entries of the log: their number for each row, if nothing was trimmed.
std::string wrong_in_log(any_store const& store, told_writes const& told) {
    call context;
    query_entities asked;
    asked.table = "stocks";
    asked.range.partition = key_interval::only("Kiel");
    auto const page = store.execute(asked, context).value();
    std::map<std::string, int> named;
    for (std::size_t at = 0; at < page.rows.size(); ++at) {
        row_view const each = page.rows[at];
        if (!each.row_key.starts_with(system_row::log) || each.row_key.ends_with("head")) { continue; }
        for (logged_row const& one : detail::read_log_entry(each, 0).value().change.rows) { ++named[one.row_key]; }
    }
    for (auto const& [key, times] : told.done) {
        if (named[key] < times) { return "an acknowledged change has no entry: " + key; }
    }
    for (auto const& [key, times] : named) {
        auto const most = told.most.find(key);
        if (most != told.most.end() && times > most->second) { return "a refused change has an entry: " + key; }
    }
    return {};
}

template <class Table>
testing::interleaving_report walk(
    std::vector<actor<Table>> const& actors, testing::interleaving_limits limits, std::uint64_t drawn = 0) {
    limits.most_states = entitable_test::rounds(300, 300'000, 10'000);
    limits.most_requests = 500;
    auto const begin = [&](testing::stage& on) {
        auto const copy = std::make_shared<mirror>();
        auto const told = std::make_shared<told_writes>();
        auto const first = open<Table>(on.store(), on.time(), 98, 4);
        first.create().value();
        first.insert(stock{"Kiel", 1, 100}).value();
        follow(first, *copy).value();
        told->done[key_of(1)] = told->most[key_of(1)] = 1;
        bool trimmed = false;
        for (actor<Table> const& each : actors) {
            trimmed = trimmed || each.name == "trim";
            if (!each.row.empty()) { told->most[each.row] += 1; }
        }
        std::uint64_t seed = 0;
        for (actor<Table> const& each : actors) {
            ++seed;
            on.add(
                each.name,
                [&on, each, seed, copy] {
                    auto const runs = [each, seed, copy](any_store way, entitable::clock& time) {
                        return each.does(
                            open<Table>(each.defect ? each.defect(way) : way, time, seed, each.attempts), *copy);
                    };
                    return testing::program<result<void>>{runs, on.time().steady()};
                },
                [each, told](result<void> const& outcome) {
                    if (each.row.empty()) { return; }
                    if (outcome) { ++told->done[each.row]; }
                    if (!outcome && outcome.error().effect == effect::none) { --told->most[each.row]; }
                });
        }
        on.remember([copy, told] { return copy->text() + told->text(); });
        bool const crashes = limits.again > 0;
        on.always([&on, copy, told, trimmed, crashes]() -> std::string {
            // A read that nobody disturbs makes the copy equal, in every state.
            mirror next = *copy;
            if (auto const followed = follow(open<Table>(on.store(), on.time(), 97, 4), next); !followed) {
                return "the log cannot be read: " + followed.error().to_string();
            }
            if (next.rows != rows_of(on.store())) { return "a reader misses a change"; }
            return trimmed || crashes ? std::string{} : wrong_in_log(on.store(), *told);
        });
    };
    return drawn == 0 ? testing::interleavings(begin, limits) : testing::random_interleaving(begin, limits, drawn);
}

void check_walk(testing::interleaving_report const& seen) {
    CAPTURE(seen.schedule, seen.states);
    CHECK(seen.problem == "");
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};
testing::interleaving_limits const lost{.faults = 1, .late = 0};
testing::interleaving_limits const late{.faults = 0, .late = 1};
testing::interleaving_limits const ends{.faults = 0, .late = 0, .crashes = 1};

bool is_head(mutation const& one) { return one.entity.row_key().ends_with("head"); }
bool is_log_row(mutation const& one) { return one.entity.row_key().starts_with(system_row::log); }
bool is_void(transact const& sent) {
    return std::ranges::any_of(
        sent.changes, [](mutation const& each) { return each.entity.view().find("Void").has_value(); });
}

template <class Table>
actor<Table> with(through_defect defect, actor<Table> one, std::uint32_t attempts = 4) {
    one.defect = std::move(defect);
    one.attempts = attempts;
    return one;
}

/// Sends the log rows and the other changes in two transactions.
through_defect split(bool log_first) {
    return with_defect([log_first]<class Request>(any_store const& below, Request const& request,
                           call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, transact>) {
            transact log{request.table, {}};
            transact rest{request.table, {}};
            for (mutation const& each : request.changes) { (is_log_row(each) ? log : rest).changes.push_back(each); }
            if (log.changes.empty() || rest.changes.empty()) { return below.execute(request, context); }
            auto made = below.execute(log_first ? log : rest, context);
            if (!made) { return made; }
            auto more = below.execute(log_first ? rest : log, context);
            if (!more) { return more; }
            made->results.insert(
                log_first ? made->results.end() : made->results.begin(), more->results.begin(), more->results.end());
            return made;
        } else {
            return below.execute(request, context);
        }
    });
}
through_defect without(bool (*left_out)(mutation const&)) {
    return with_defect([left_out]<class Request>(any_store const& below, Request const& request,
                           call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, transact>) {
            transact sent{request.table, {}};
            for (mutation const& each : request.changes) {
                if (!left_out(each)) { sent.changes.push_back(each); }
            }
            auto answered = below.execute(sent, context);
            if (answered) { answered->results.resize(request.changes.size(), written{}); }
            return answered;
        } else {
            return below.execute(request, context);
        }
    });
}

} // namespace

TEMPLATE_TEST_CASE("logged: writers, a reader and a trimmer in every order", "", only_logged, with_lanes, with_sums) {
    using all = std::vector<actor<TestType>>;
    for (all const& each : {
             all{inserts<TestType>(2), inserts<TestType>(3), follows<TestType>()},
             all{changes<TestType>(1), replaces<TestType>(1, 7), follows<TestType>()},
             all{removes<TestType>(1), changes<TestType>(1), follows<TestType>()},
             all{inserts<TestType>(2), trims<TestType>(), follows<TestType>()},
         }) {
        INFO(each[0].name << ", " << each[1].name);
        check_walk(walk<TestType>(each, quiet));
    }
}

TEMPLATE_TEST_CASE(
    "logged: lost responses, late requests and programs that end", "", only_logged, with_lanes, with_sums) {
    using all = std::vector<actor<TestType>>;
    for (auto const& limits : {lost, late, ends}) {
        check_walk(walk<TestType>(all{inserts<TestType>(2), replaces<TestType>(1, 7)}, limits));
        check_walk(walk<TestType>(all{changes<TestType>(1), removes<TestType>(1)}, limits));
        check_walk(walk<TestType>(all{inserts<TestType>(2), follows<TestType>()}, limits));
        check_walk(walk<TestType>(all{replaces<TestType>(1, 7), trims<TestType>(), follows<TestType>()}, limits));
    }
}

TEST_CASE("logged: random histories of three writers, a reader and a trimmer") {
    testing::interleaving_limits const limits{.faults = 2, .late = 2, .crashes = 1};
    std::vector<actor<with_lanes>> const actors{inserts<with_lanes>(2), changes<with_lanes>(1),
        replaces<with_lanes>(2, 9), follows<with_lanes>(), follows<with_lanes>(), trims<with_lanes>()};
    for (std::uint64_t seed = 1; seed <= entitable_test::rounds(300, 100'000, 10'000); ++seed) {
        auto const seen = walk(actors, limits, seed);
        CAPTURE(seed, seen.schedule);
        REQUIRE(seen.problem == "");
    }
}

TEST_CASE("logged: walks detect each planted defect") {
    using table_type = only_logged;
    using all = std::vector<actor<table_type>>;
    auto const problem = [](all const& actors, testing::interleaving_limits const& limits) {
        return walk(actors, limits).problem;
    };
    SECTION("the head is written under any version") {
        auto const defect = with_transactions([](transact& sent) {
            for (mutation& each : sent.changes) {
                if (!is_log_row(each)) { continue; }
                each.condition = any_etag;
                each.kind = mutation_kind::insert_or_replace;
            }
        });
        CHECK(problem({with(defect, inserts<table_type>(2)), with(defect, inserts<table_type>(3))}, quiet) != "");
    }
    SECTION("no head: an insert of the entry is the only guard") {
        // The number is that of the last entry that is there: after a trim it is given again.
        auto const defect = without(is_head);
        CHECK(
            problem({with(defect, inserts<table_type>(2)), trims<table_type>(), inserts<table_type>(3)}, quiet) != "");
    }
    SECTION("the entry is left out") {
        auto const defect = without([](mutation const& one) { return is_log_row(one) && !is_head(one); });
        CHECK(problem({with(defect, inserts<table_type>(2)), follows<table_type>()}, quiet) != "");
    }
    SECTION("the head is left out, and the entry with it") {
        CHECK(problem({with(without(is_log_row), inserts<table_type>(2)), follows<table_type>()}, quiet) != "");
    }
    SECTION("logged before the change, in another transaction") {
        CHECK(problem({with(split(true), inserts<table_type>(2)), follows<table_type>()}, quiet) != "");
    }
    SECTION("logged after the change, in another transaction") {
        CHECK(problem({with(split(false), inserts<table_type>(2)), follows<table_type>()}, ends) != "");
    }
    SECTION("a number is voided without the version of the head") {
        auto const defect = with_transactions([](transact& sent) {
            if (!is_void(sent)) { return; }
            for (mutation& each : sent.changes) {
                each.condition = any_etag;
                each.kind = mutation_kind::insert_or_replace;
            }
        });
        CHECK(problem({with(defect, inserts<table_type>(2)), inserts<table_type>(3)}, lost) != "");
    }
    SECTION("a lost request is not stopped by a void entry") {
        auto const defect = with_defect([]<class Request>(any_store const& below, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            if constexpr (std::same_as<Request, transact>) {
                if (is_void(request)) {
                    transact::response made;
                    made.results.resize(request.changes.size());
                    return made;
                }
            }
            return below.execute(request, context);
        });
        CHECK(problem({with(defect, inserts<table_type>(2), 1)}, late) != "");
    }
    SECTION("any entry with the number counts as one's own") {
        auto const defect = [](any_store below) {
            auto const own = std::make_shared<guid>();
            return with_defect([own]<class Request>(any_store const& to, Request const& request,
                                   call& context) -> result<response_of<Request>> {
                if constexpr (std::same_as<Request, transact>) {
                    if (!is_void(request)) { *own = request.changes[1].entity.view().find("Id")->as_guid(); }
                }
                auto answered = to.execute(request, context);
                if constexpr (std::same_as<Request, get_entity>) {
                    if (answered && answered->entity.view().find("Prev")) {
                        detail::log_entry entry;
                        entry.id = *own;
                        entry.rows = "wS:x";
                        answered->entity = detail::log_entry_row(request.partition_key, request.row_key, entry);
                    }
                }
                return answered;
            })(std::move(below));
        };
        CHECK(problem({with(through_defect{defect}, inserts<table_type>(2)), inserts<table_type>(3)}, lost) != "");
    }
    SECTION("a refusal after a repetition counts as that of the first attempt") {
        auto const defect = with_defect([]<class Request>(any_store const& below, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            auto answered = below.execute(request, context);
            if constexpr (std::same_as<Request, transact>) {
                if (!answered && answered.error().effect == effect::unknown) {
                    answered = below.execute(request, context); // attempts is 1 all the same
                }
            }
            return answered;
        });
        CHECK(problem({with(defect, inserts<table_type>(2))}, lost) != "");
    }
    SECTION("a trimmed log is taken for a quiet one") {
        auto const defect = with_defect([]<class Request>(any_store const& below, Request const& request,
                                            call& context) -> result<response_of<Request>> {
            auto answered = below.execute(request, context);
            if constexpr (std::same_as<Request, query_entities>) {
                std::string const& from = request.range.row.lower.key;
                if (answered && from.starts_with(system_row::log)) {
                    std::int64_t before = std::stoll(from.substr(system_row::log.size()), nullptr, 16) - 1;
                    page made;
                    for (std::size_t at = 0; at < answered->rows.size(); ++at) {
                        row_view const each = answered->rows[at];
                        if (each.row_key.ends_with("head")) {
                            made.append(detail::log_head_row(
                                each.partition_key, each.row_key, before, each.find("Log")->as_guid())
                                    .view());
                            continue;
                        }
                        auto const stored = detail::read_log_entry(each, 0).value();
                        detail::log_entry entry;
                        entry.previous = before;
                        entry.id = stored.change.id;
                        for (logged_row const& one : stored.change.rows) {
                            entry.rows = (one.removed ? "r" : "w") + one.row_key;
                        }
                        made.append(detail::log_entry_row(each.partition_key, each.row_key, entry).view());
                        before = stored.change.number;
                    }
                    answered->rows = std::move(made);
                }
            }
            return answered;
        });
        all const actors{
            inserts<table_type>(2), trims<table_type>(), inserts<table_type>(3), with(defect, follows<table_type>())};
        std::string found;
        for (std::uint64_t seed = 1; seed < 5'000 && found.empty(); ++seed) {
            found = walk(actors, quiet, seed).problem;
        }
        CHECK(found == "a reader misses a change");
    }
}

namespace {

/// Synchronises the table "here" with the logged table "there".
result<sync_report> synchronize_in(any_store const& store, entitable::clock& time) {
    table_options how;
    how.time = &time;
    how.seed = 5;
    sync_options options;
    options.partitions = {"Kiel"};
    options.time = &time;
    options.seed = 6;
    return synchronize(only_logged{store, "here", how}, only_logged{store, "there", how}, options);
}
std::map<std::string, std::int64_t> rows_in(any_store const& store, std::string const& name) {
    std::map<std::string, std::int64_t> found;
    for (stock const& one : table<stock>{store, name}.scan_table()) { found[key_of(one.item)] = one.pieces; }
    return found;
}
/// What a program in the cloud does.
struct cloud_edit {
    std::string name;
    std::function<result<void>(only_logged const&)> does;
};
cloud_edit edits_both() {
    return {"edit both", [](only_logged const& there) {
                return only_error(there.transact("Kiel", [](auto& all) -> result<void> {
                    for (std::int32_t item : {1, 2}) {
                        ENTITABLE_TRY(stock one, all.get(item));
                        ++one.pieces;
                        all.replace(one);
                    }
                    return {};
                }));
            }};
}
cloud_edit trims_all() {
    return {"trim", [](only_logged const& there) -> result<void> {
                ENTITABLE_TRY(auto const heads, changes_of(there, "Kiel"));
                return only_error(trim_changes(there, "Kiel", heads.position, {std::chrono::nanoseconds{}}));
            }};
}

testing::interleaving_report walk_sync(std::vector<cloud_edit> const& edits, testing::interleaving_limits limits,
    through_defect const& defect = {}, std::uint64_t drawn = 0) {
    limits.most_states = entitable_test::rounds(200, 100'000, 10'000);
    limits.most_requests = 500;
    auto const begin = [&](testing::stage& on) {
        only_logged const here{on.store(), "here", {.time = &on.time(), .seed = 1}};
        only_logged const there{on.store(), "there", {.time = &on.time(), .seed = 2}};
        here.create().value();
        there.create().value();
        for (std::int32_t item : {1, 2}) { there.insert(stock{"Kiel", item, 100}).value(); }
        synchronize_in(on.store(), on.time()).value();
        // The identity of a device is random: one that is the same in each run.
        row_table const raw{on.store(), "here"};
        call context;
        auto const state =
            on.store().execute(get_entity{"here", "Kiel", std::string{system_row::synced}, {}}, context).value();
        detail::sync_state fixed = detail::state_of_row(state.entity.view()).value();
        CHECK(!fixed.seen.empty());
        fixed.device = "device";
        on.store()
            .execute(write_entity{"here", mutation::replace(detail::row_of_state("Kiel", fixed), any_etag)}, context)
            .value();
        std::uint64_t seed = 10;
        for (cloud_edit const& each : edits) {
            on.add(
                each.name,
                [&on, each, own = ++seed] {
                    auto const runs = [each, own](any_store way, entitable::clock& time) {
                        return each.does(only_logged{way, "there", {.max_attempts = 4, .time = &time, .seed = own}});
                    };
                    return testing::program<result<void>>{runs, on.time().steady()};
                },
                [](result<void> const&) {});
        }
        for (int run = 0; run < 2; ++run) {
            on.add(
                "synchronize",
                [&on, defect] {
                    auto const runs = [defect](any_store way, entitable::clock& time) {
                        return only_error(synchronize_in(defect ? defect(way) : way, time));
                    };
                    return testing::program<result<void>>{runs, on.time().steady()};
                },
                [](result<void> const&) {});
        }
        on.always([&on]() -> std::string {
            auto const rows = rows_in(on.store(), "here");
            return rows.at(key_of(1)) == rows.at(key_of(2)) ? std::string{} : "half of a transaction is here";
        });
        on.at_end([&on]() -> std::string {
            for (int run = 0; run < 2; ++run) { synchronize_in(on.store(), on.time()).value(); }
            return rows_in(on.store(), "here") == rows_in(on.store(), "there") ? std::string{}
                                                                               : "here and there differ for good";
        });
    };
    return drawn == 0 ? testing::interleavings(begin, limits) : testing::random_interleaving(begin, limits, drawn);
}

} // namespace

TEST_CASE("synchronize: pulls by the change log in every order, with lost responses and programs that end") {
    check_walk(walk_sync({edits_both()}, quiet));
    check_walk(walk_sync({edits_both(), edits_both()}, quiet));
    check_walk(walk_sync({edits_both(), trims_all()}, quiet));
    for (auto const& limits : {lost, late, ends}) { check_walk(walk_sync({edits_both()}, limits)); }
}

TEST_CASE("synchronize: pulls by the change log in random orders") {
    // As many as the next test draws at most until it finds its defect.
    std::uint64_t const last = entitable_test::rounds(1'000, 20'000, 3'000);
    for (std::uint64_t seed = 1; seed < last; ++seed) {
        CHECK(walk_sync({edits_both(), edits_both()}, quiet, {}, seed).problem == "");
    }
}

TEST_CASE("synchronize: random orders detect a pull that does not ask the log again after the rows") {
    auto const defect = [](any_store below) {
        auto const asked = std::make_shared<std::string>();
        return with_defect([asked]<class Request>(any_store const& to, Request const& request,
                               call& context) -> result<response_of<Request>> {
            auto answered = to.execute(request, context);
            if constexpr (std::same_as<Request, query_entities>) {
                std::string const& from = request.range.row.lower.key;
                if (answered && request.table == "there" && from.starts_with(system_row::log)) {
                    if (!asked->empty() && *asked != from) { // the second look: nothing new
                        std::int64_t const before = std::stoll(from.substr(system_row::log.size()), nullptr, 16) - 1;
                        page made;
                        for (std::size_t at = 0; at < answered->rows.size(); ++at) {
                            row_view const each = answered->rows[at];
                            if (!each.row_key.ends_with("head")) { continue; }
                            made.append(detail::log_head_row(
                                each.partition_key, each.row_key, before, each.find("Log")->as_guid())
                                    .view());
                        }
                        answered->rows = std::move(made);
                    }
                    *asked = from;
                }
            }
            return answered;
        })(std::move(below));
    };
    std::string found;
    for (std::uint64_t seed = 1; seed < 3'000 && found.empty(); ++seed) {
        found = walk_sync({edits_both(), edits_both()}, quiet, defect, seed).problem;
    }
    CHECK(found == "half of a transaction is here");
}
