// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Producers, workers and keepers of a queue in every order in which their requests can reach the store, with lost and late requests and
// programs that end; and the same with defects, each of which is found.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/entities.hpp"
#include "support/long.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <algorithm>
#include <functional>
#include <map>

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_defect;
using entitable_test::with_transactions;
using namespace std::chrono_literals;
using entitable_test::chore;

namespace {

/// What an actor tells at its end.
struct told {
    int claimed{};
    int completed{};
    bool lost{};
    date_time until{}; ///< how long the claim held, as the worker knows
    bool failed{};
};

struct cast {
    std::string name;
    std::function<told(table_queue<chore> const&)> does;
    std::uint64_t seed{};
    through_defect defect{};
};

queue_options small(entitable::clock& time, std::uint64_t seed) {
    queue_options how;
    how.lanes = 1;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    how.max_deliveries = 3;
    how.polling = {.base = 40s, .least = 40s, .most = 40s, .jitter = 0};
    how.delays = {}; // no waits: the walk says what comes when
    return how;
}

/// What the queue holds of each id.
struct holding {
    bool identity{};
    bool done{};
    int messages{};
    int dead{};
    std::int32_t deliveries{};
};
std::map<std::string, holding> holdings(memory_backend const& store) {
    std::map<std::string, holding> all;
    row_table const rows{store, "chores"};
    rows.for_each(
            {key_interval::only("lane000"), {}}, {},
            [&](entity const& each) {
                std::string const& key = each.row_key();
                if (key.starts_with("~!id!")) {
                    auto& one = all[key.substr(5)];
                    one.identity = true;
                    one.done = each.find("Queue_State") != nullptr;
                } else if (key.starts_with("~!q!")) {
                    ++all[key.substr(4 + 19 + 1)].messages;
                } else if (key.starts_with("~!dead!")) {
                    auto& one = all[key.substr(7)];
                    ++one.dead;
                    one.deliveries = each.get<std::int32_t>("Queue_Deliveries").value();
                }
            },
            system_rows::shown)
        .value();
    return all;
}
/// Whether each message is in one place, or done.
std::string misplaced(memory_backend const& store) {
    for (auto const& [id, one] : holdings(store)) {
        if (!one.identity) { return "a message without an identity"; }
        if (one.messages + one.dead != (one.done ? 0 : 1)) {
            return one.done ? "a message that is done is there" : "a message is lost, or there twice";
        }
        if (one.dead != 0 && one.deliveries != 3) { return "a dead letter that was not delivered three times"; }
    }
    return "";
}

/// Watches the store: whoever completes a message has it.
struct watched {
    using is_transport = void;
    memory_backend below;
    std::string* wrong;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::string has;
        std::string completes;
        if constexpr (std::same_as<Request, transact>) {
            for (mutation const& each : request.changes) {
                row_view const made = each.entity;
                if (each.kind == mutation_kind::remove && made.row_key.starts_with("~!q!")) {
                    call own;
                    auto const before = below.execute(
                        get_entity{request.table, std::string{made.partition_key}, std::string{made.row_key}, {}}, own);
                    has = before ? std::string{detail::text_in(before->entity, "Queue_Claim")} : "";
                }
                if (detail::text_in(made, "Queue_State") == "done") {
                    completes = detail::text_in(made, "Queue_Claim");
                }
            }
        }
        auto answer = below.execute(request, context);
        if (answer && !completes.empty() && has != completes) {
            *wrong = "a message was completed by a worker that does not have it";
        }
        return answer;
    }
};

testing::interleaving_report walk(std::vector<cast> const& actors, testing::interleaving_limits limits,
    std::function<void(table_queue<chore> const&)> const& begin,
    std::function<std::string(memory_backend const&, told const&)> const& end = {}, std::size_t most = 0) {
    limits.most_states = most != 0 ? most : entitable_test::rounds(300, 200'000, 4'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            table_queue<chore> const chores{on.store(), "chores", small(on.time(), 97)};
            chores.create().value();
            begin(chores);
            int const messages = std::max(1, static_cast<int>(holdings(on.store()).size()));
            auto& all = on.keep<told>();
            auto& wrong = on.keep<std::string>();
            on.deliver_to(watched{on.store(), &wrong});
            for (cast const& each : actors) {
                on.add(
                    each.name,
                    [&on, each] {
                        auto const runs = [each](any_store way, entitable::clock& time) {
                            return each.does(table_queue<chore>{
                                each.defect ? each.defect(way) : way, "chores", small(time, each.seed)});
                        };
                        return testing::program<told>{runs, on.time().steady()};
                    },
                    [&on, &all, &wrong](told const& done) {
                        all.claimed += done.claimed;
                        all.completed += done.completed;
                        all.failed = all.failed || done.failed;
                        if (done.lost && done.until > on.time().now()) {
                            wrong = "a worker lost its message before its time was over";
                        }
                    });
            }
            on.remember(
                [&all, &wrong] { return std::to_string(all.claimed) + ' ' + std::to_string(all.completed) + wrong; });
            on.always([&on, &wrong, &all, messages] {
                if (wrong.empty() && all.completed > messages) { return std::string{"a message was completed twice"}; }
                return wrong.empty() ? misplaced(on.store()) : wrong;
            });
            on.at_end([&on, &all, end] { return end ? end(on.store(), all) : std::string{}; });
        },
        limits);
}

/// Takes one message, maybe renews it, and completes it.
told work(table_queue<chore> const& chores, bool renews = false, std::chrono::nanoseconds wait = {}) {
    told made;
    auto item = chores.claim({.wait = wait});
    if (!item || !*item) {
        made.failed = !item.has_value();
        return made;
    }
    made.claimed = 1;
    made.until = detail::claimed_access::receipt_of(**item).visible_at;
    auto done = renews ? (*item)->renew(60s) : result<void>{};
    if (done) {
        made.until = detail::claimed_access::receipt_of(**item).visible_at;
        done = (*item)->complete();
    }
    made.completed = done ? 1 : 0;
    made.lost = !done && done.error().code == error_code::receipt_lost;
    made.failed = !done && !made.lost;
    return made;
}
cast worker(std::string name, std::uint64_t seed, bool renews = false, std::chrono::nanoseconds wait = {}) {
    return {
        std::move(name), [renews, wait](table_queue<chore> const& chores) { return work(chores, renews, wait); }, seed};
}
cast producer(std::uint64_t seed) {
    return {"producer",
        [](table_queue<chore> const& chores) {
            told made;
            made.failed = !chores.enqueue({"wash"}, {.id = "x"}).has_value();
            return made;
        },
        seed};
}
cast with(through_defect defect, cast one) {
    one.defect = std::move(defect);
    return one;
}
void one_message(table_queue<chore> const& chores) { chores.enqueue({"wash"}, {.id = "x"}).value(); }

bool is_claim(mutation const& one) {
    return one.kind == mutation_kind::insert && one.entity.row_key().starts_with("~!q!") &&
        one.entity.view().find("Queue_Claim");
}

/// A point read of a message finds nothing.
through_defect blind() {
    return with_defect([]<class Request>(any_store const& below, Request const& request, call& context) {
        if constexpr (std::same_as<Request, query_entities>) {
            if (request.range.is_point() && request.range.row.lower.key.starts_with("~!q!")) {
                return result<query_entities::response>{std::in_place};
            }
        }
        return below.execute(request, context);
    });
}

void check(testing::interleaving_report const& seen) {
    CAPTURE(seen.schedule);
    CHECK(seen.problem == "");
    CHECK((seen.complete || entitable_test::rounds(0, 1) == 0)); // all of them in the long run
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};

std::string all_done(memory_backend const& store, told const&) {
    for (auto const& [id, one] : holdings(store)) {
        if (!one.done) { return "a message was not done"; }
    }
    return "";
}

} // namespace

TEST_CASE("queue: two workers compete for one message") {
    check(walk({worker("A", 1), worker("B", 2)}, {.faults = 0, .late = 0}, one_message, all_done));
    check(walk({worker("A", 1), worker("B", 2)}, {.faults = 1, .late = 1}, one_message));
}

TEST_CASE("queue: one worker is too slow while another worker waits") {
    cast const waiting = worker("B", 2, false, 90s);
    check(walk({worker("A", 1, true), waiting}, {.faults = 0, .late = 0}, one_message, all_done));
    check(walk({worker("A", 1, true), waiting}, {.faults = 0, .late = 1, .crashes = 1}, one_message));
    check(walk({worker("A", 1, true), waiting}, {.faults = 1, .late = 0}, one_message));
}

TEST_CASE("queue: two workers each read ahead of their own claim") {
    auto const three = [](table_queue<chore> const& chores) {
        for (char const* id : {"x", "y", "z"}) { chores.enqueue({"wash"}, {.id = id}).value(); }
    };
    auto const several = [](std::string name, std::uint64_t seed) {
        return cast{std::move(name),
            [](table_queue<chore> const& chores) { // the second and the third claim take what the first one has read
                told all;
                for (int turn = 0; turn < 3; ++turn) {
                    told const one = work(chores);
                    all.claimed += one.claimed;
                    all.completed += one.completed;
                    all.failed = all.failed || one.failed;
                    if (one.lost) {
                        all.lost = true;
                        all.until = one.until;
                        break;
                    }
                }
                return all;
            },
            seed};
    };
    check(walk({several("A", 1), several("B", 2)}, {.faults = 0, .late = 0}, three, all_done));
    check(walk({several("A", 1), several("B", 2)}, {.faults = 1, .late = 0}, three));
    check(walk({several("A", 1), several("B", 2)}, {.faults = 0, .late = 1, .crashes = 1}, three));
}

TEST_CASE("queue: a producer and a worker can run in any order") {
    check(walk({producer(1), worker("B", 2)}, {.faults = 1, .late = 1}, [](auto const&) {}));
    check(walk({producer(1), producer(3), worker("B", 2)}, {.faults = 0, .late = 1}, [](auto const&) {}));
}

namespace {

/// A message that was claimed as often as it may be.
void used_up(table_queue<chore> const& chores) {
    one_message(chores);
    for (int time = 0; time < 3; ++time) { chores.claim().value()->release().value(); }
}
void dead(table_queue<chore> const& chores) {
    used_up(chores);
    static_cast<void>(chores.claim().value());
}
cast keeper(std::string name, std::uint64_t seed, std::function<result<void>(table_queue<chore> const&)> does) {
    return {std::move(name),
        [does](table_queue<chore> const& chores) {
            told made;
            auto const ended = does(chores);
            made.failed = !ended && ended.error().code != error_code::receipt_lost;
            return made;
        },
        seed};
}
result<void> each_dead_letter(table_queue<chore> const& chores, bool purges) {
    auto const all = chores.dead_letters();
    if (!all) { return failure{all.error()}; }
    for (auto const& each : *all) {
        auto done = purges ? chores.purge(each) : chores.requeue(each);
        if (!done) { return done; }
    }
    return {};
}
cast requeuer() {
    return keeper("requeue", 4, [](auto const& chores) { return each_dead_letter(chores, false); });
}
cast purger() {
    return keeper("purge", 5, [](auto const& chores) { return each_dead_letter(chores, true); });
}
cast sweeper() {
    return keeper("sweep", 6, [](auto const& chores) { return result<void>{chores.sweep(-1s)}; });
}

} // namespace

TEST_CASE("queue: a message that was claimed too often becomes a dead letter once") {
    check(walk({worker("A", 1), worker("B", 2)}, {.faults = 1, .late = 1}, used_up));
    check(walk({worker("A", 1), requeuer()}, {.faults = 1, .late = 1}, used_up));
}

TEST_CASE("queue: dead letters are concurrently requeued, purged and forgotten") {
    check(walk({requeuer(), purger()}, {.faults = 1, .late = 1}, dead));
    check(walk({purger(), sweeper(), requeuer()}, {.faults = 0, .late = 0}, dead));
    check(walk({requeuer(), worker("A", 1), sweeper()}, {.faults = 0, .late = 0}, dead));
}

TEST_CASE("queue: planted defects are found") {
    auto const finds = [](std::vector<cast> const& actors, testing::interleaving_limits limits,
                           std::function<void(table_queue<chore> const&)> const& begin) {
        auto const seen = walk(actors, limits, begin, all_done, 20'000);
        CAPTURE(seen.schedule);
        return seen.problem;
    };
    cast const slow = worker("A", 1);
    cast const waiting = worker("B", 2, false, 90s);
    SECTION("a claim does not check the version") {
        auto const any = with_transactions([](transact& request) {
            for (mutation& each : request.changes) {
                each.condition = each.kind == mutation_kind::remove ? etag_condition{any_etag} : each.condition;
            }
        });
        CHECK(finds({worker("A", 1, true), with(any, waiting)}, quiet, one_message) ==
            "a worker lost its message before its time was over"); // which it had renewed
    }
    SECTION("a claim does not remove the message from its old row") {
        auto const copies = with_transactions([](transact& request) {
            if (request.changes.size() == 2 && is_claim(request.changes[1])) {
                request.changes[0] = mutation::insert_or_merge(row_builder{"lane000", "elsewhere"}.build());
            }
        });
        CHECK(finds({with(copies, slow)}, quiet, one_message) == "a message is lost, or there twice");
    }
    SECTION("enqueue() does not write the identity") {
        auto const without = with_transactions([](transact& request) {
            if (request.changes[0].kind == mutation_kind::insert) { request.changes.erase(request.changes.begin()); }
        });
        CHECK(finds({with(without, producer(1)), worker("B", 2)}, {.faults = 0, .late = 1}, [](auto const&) {}) ==
            "a message without an identity");
    }
    SECTION("complete() does not change the identity") {
        auto const without = with_transactions([](transact& request) {
            if (request.changes[0].kind == mutation_kind::remove &&
                request.changes[1].entity.row_key().starts_with("~!id!")) {
                request.changes.pop_back();
            }
        });
        CHECK(finds({with(without, slow)}, quiet, one_message) == "a message is lost, or there twice");
    }
    SECTION("a claim does not draw a new id") { // the same numbers are drawn
        CHECK(finds({worker("A", 7), worker("B", 7)}, {.faults = 1, .late = 0}, one_message) ==
            "a message was completed twice");
    }
    SECTION("a late renewal is mistaken for a loss") {
        CHECK(finds({with(blind(), worker("A", 1, true))}, {.faults = 0, .late = 1}, one_message) ==
            "a worker lost its message before its time was over");
    }
    SECTION("a dead letter is written in two transactions") {
        auto const in_two =
            with_defect([]<class Request>(any_store const& below, Request const& request, call& context) {
                if constexpr (std::same_as<Request, transact>) {
                    if (request.changes.size() == 2 && request.changes[1].entity.row_key().starts_with("~!dead!")) {
                        auto first = below.execute(transact{request.table, {request.changes[0]}}, context);
                        return first ? below.execute(transact{request.table, {request.changes[1]}}, context)
                                     : std::move(first);
                    }
                }
                return below.execute(request, context);
            });
        CHECK(finds({with(in_two, slow)}, quiet, used_up) == "a message is lost, or there twice");
    }
    SECTION("the visibility is computed from the worker's clock") {
        auto const own_clock = with_transactions([](transact& request) {
            for (mutation& each : request.changes) {
                if (is_claim(each)) {
                    row_builder made{each.entity.partition_key(), each.entity.row_key()};
                    property_cursor cursor{each.entity.payload()};
                    property_view property;
                    while (cursor.next(property)) {
                        bool const time = property.name == "Queue_VisibleAt";
                        made.add(property.name, time ? value_view{date_time{1}} : property.value); // far behind
                    }
                    each.entity = made.build();
                }
            }
        });
        CHECK(finds({with(own_clock, slow), worker("B", 2)}, quiet, one_message) ==
            "a worker lost its message before its time was over");
    }
}
