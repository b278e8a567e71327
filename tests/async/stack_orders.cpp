// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Code on stacks of its own, by schedules that are drawn from a seed: a transaction, a load, a queue, a saga, a unit of work, writes with
// indexes and a copy, together in one loop. The fault of a request depends only on its content and on how often it was sent, so each piece has
// the same result as without a loop. The loop is stopped and destroyed at every turn: changes are then complete or absent, and a second run
// completes them.

#include <entitable/bulk.hpp>
#include <entitable/copy.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/unit_of_work.hpp>

#include <async/books.hpp>
#include <async/shuffled.hpp>
#include <index/runners.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::mishap;
using entitable_test::shuffled;
using entitable_test::shuffled_world;
using b = fields<book>;

namespace {

/// Runs one piece of work.
struct site {
    any_store through;
    entitable::clock* time;
    std::uint64_t seed;

    [[nodiscard]] table<book> books(char const* name) const { return {through, name}; }
};
using told = result<std::string>;

result<void> move_once(transaction<book>& all) {
    auto moved = all.find("moved");
    auto one = all.find("0");
    auto other = all.find("1");
    for (auto* const each : {&moved, &one, &other}) {
        if (!*each) { return std::move(*each).as_failure(); }
    }
    if (!*moved) {
        (*one)->price -= 30;
        (*other)->price += 30;
        all.replace(**one);
        all.replace(**other);
        all.insert(book{"shelf", "moved", 30});
    }
    return {};
}
told transfer(site const& at) {
    transaction_options how;
    how.time = at.time;
    how.seed = at.seed;
    auto done = at.books("Accounts").transact("shelf", move_once, how);
    return done ? std::to_string(done->attempts) + (done->changed ? " changed" : "")
                : told{std::move(done).as_failure()};
}

std::vector<book> load_of() {
    std::vector<book> rows;
    for (int shelf = 0; shelf < 5; ++shelf) {
        for (int number = 0; number < 3; ++number) {
            rows.push_back(book_of("load" + std::to_string(shelf), number, shelf));
        }
    }
    return rows;
}
told load(site const& at) {
    bulk_options how;
    how.time = at.time;
    how.seed = at.seed;
    how.in_flight = 3;
    auto done = bulk_insert(at.books("Loaded"), load_of(), how);
    return done ? std::to_string(done->written) + " " + std::to_string(done->already_there) + " " +
            std::to_string(done->refused)
                : told{std::move(done).as_failure()};
}

queue_options queue_at(site const& at) {
    queue_options how;
    how.time = at.time;
    how.seed = at.seed;
    how.lanes = 1;
    how.max_deliveries = 100;
    return how;
}
told take_jobs(site const& at) {
    table_queue<book> const jobs{at.through, "Jobs", queue_at(at)};
    if (auto made = jobs.create(); !made) { return std::move(made).as_failure(); }
    for (int number = 0; number < 2; ++number) {
        enqueue_options named;
        named.id = "job" + std::to_string(number);
        if (auto put = jobs.enqueue(book_of("job", number), named); !put) { return std::move(put).as_failure(); }
    }
    std::vector<std::string> done;
    for (;;) {
        auto job = jobs.claim();
        if (!job) { return std::move(job).as_failure(); }
        if (!*job) { break; }
        book const& message = (*job)->message();
        if (auto kept = at.books("Done").insert_or_replace(message); !kept) { return std::move(kept).as_failure(); }
        if (auto ended = (*job)->complete(); !ended) { return std::move(ended).as_failure(); }
        done.push_back(message.isbn);
    }
    std::sort(done.begin(), done.end());
    std::string text;
    for (std::string const& each : done) { text += each; }
    return text;
}

told travel(site const& at) {
    table_queue<book> const trips{at.through, "Trips", queue_at(at)};
    if (auto made = trips.create(); !made) { return std::move(made).as_failure(); }
    enqueue_options named;
    named.id = "trip";
    if (auto put = trips.enqueue(book_of("trip", 1), named); !put) { return std::move(put).as_failure(); }
    auto const note = [&](char const* what) {
        return [&at, what](book const& trip) -> result<void> {
            auto kept = at.books("Ledger").insert_or_replace(book{trip.isbn, what, 1});
            return kept ? result<void>{} : std::move(kept).as_failure();
        };
    };
    auto const once = [](book const&, lane_changes& changes) -> result<void> {
        // A second time would be an error.
        changes.add(mutation::insert(to_row(book{changes.partition_key(), "seat", 1}).value()));
        return {};
    };
    auto const program =
        saga_for<book>("travel", step("room", note("room")), step("seat", once), step("train", note("train")));
    auto trip = trips.claim();
    if (!trip || !*trip) { return trip ? told{"nothing"} : told{std::move(trip).as_failure()}; }
    auto ended = program.resume(**trip);
    if (!ended) { return std::move(ended).as_failure(); }
    auto complete = (*trip)->complete();
    return !complete                        ? told{std::move(complete).as_failure()}
        : ended->end == saga_end::completed ? "completed"
                                            : "compensated " + ended->reason;
}

told work_as_unit(site const& at) {
    unit_of_work<book> unit{at.books("Units")};
    std::array<book*, 2> found{};
    for (std::size_t each = 0; each < found.size(); ++each) {
        auto one = unit.find("shelf", std::to_string(each));
        if (!one) { return std::move(one).as_failure(); }
        found[each] = *one;
        found[each]->price = 70;
    }
    auto saved = unit.save(save_mode::batch);
    if (!saved) { return std::move(saved).as_failure(); }
    std::string text;
    for (auto const& each : saved->changes) {
        text += std::string{to_string(each.outcome)} + (each.error ? each.error->to_string() : "") + ";";
    }
    return text;
}

using indexed_runners = table<marathon::runner, marathon::by_age, elsewhere<marathon::by_club>>;
indexed_runners runners_at(site const& at) {
    table_options how;
    how.time = at.time;
    how.seed = at.seed;
    return {at.through, "Runners", how, in_table<marathon::by_club>{at.through, "Clubs"}};
}
told run_indexed(site const& at) {
    auto const runners = runners_at(at);
    if (auto made = runners.create_if_absent(); !made) { return std::move(made).as_failure(); }
    std::string text;
    for (auto const* const club : {"red", "blue"}) {
        marathon::runner const one{"NYC", 7, "Ann", 30, club, "ann@example.org", {}};
        auto done = runners.insert_or_replace(one);
        if (!done) { return std::move(done).as_failure(); }
        text += std::to_string(done->attempts) + "written" + std::to_string(done->unsettled) + ";";
    }
    return text;
}

told copy_all(site const& at) {
    copy_options how;
    how.page_size = 2;
    auto done = copy(at.books("Source"), at.books("Target"), how);
    return done ? std::to_string(done->written + done->present) + " of " + std::to_string(done->read)
                : told{std::move(done).as_failure()};
}

constexpr std::array<told (*)(site const&), 7> pieces{
    transfer, load, take_jobs, travel, work_as_unit, run_indexed, copy_all};

std::string rows_of(site const& at, char const* name) {
    std::string text = name;
    for (book const& each : at.books(name).scan_table().to().value()) {
        text += " " + each.shelf + "/" + each.isbn + "=" + std::to_string(each.price);
    }
    return text + "\n";
}

/// A store and its clients.
struct schedule : shuffled_world {
    explicit schedule(std::uint64_t drawn, std::size_t faults) : shuffled_world(drawn), seed(drawn) {
        for (auto const* const name : {"Accounts", "Loaded", "Done", "Ledger", "Units", "Source", "Target"}) {
            plain.books(name).create().value();
        }
        for (int number = 0; number < 5; ++number) {
            plain.books("Source").insert(book_of("shelf" + std::to_string(number / 2), number, number)).value();
            plain.books("Accounts").insert(book_of("shelf", number, 100)).value();
            plain.books("Units").insert(book_of("shelf", number, number)).value();
        }
        fault_of = [this, faults](request_ref asked) {
            std::string text;
            asked.visit([&]<class Request>(Request const& request) {
                text = Request::name;
                text += ' ';
                if constexpr (requires { request.table; }) { text += request.table; }
                text += ' ';
                if constexpr (requires { request.partition_key; }) {
                    text += request.partition_key;
                } else if constexpr (requires { request.change; }) {
                    text += request.change.entity.partition_key();
                } else if constexpr (requires { request.changes; }) {
                    text += request.changes.front().entity.partition_key();
                }
            });
            std::uint64_t number = seed * 1'000'003 + ++times[text];
            for (char const each : text) { number = number * 1'000'003 + static_cast<unsigned char>(each); }
            random_source of_this{number};
            return drawn_fault(of_this, faults);
        };
        retrying_options patient;
        patient.time = &time;
        patient.seed = seed + 1;
        through = seed % 3 == 0 ? any_store{retrying{shuffled{this}, patient}} : any_store{shuffled{this}};
    }

    /// The result of all pieces, after unfinished ones were completed.
    [[nodiscard]] std::string content() {
        std::string text;
        for (auto const* const name : {"Accounts", "Loaded", "Done", "Ledger", "Units", "Target"}) {
            text += rows_of(plain, name);
        }
        text += "seats " +
            std::to_string(table<book>{store, "Trips"}.scan_table(b::isbn == "seat").count().value_or(0)) + "\n";
        auto const runners = runners_at(plain);
        if (runners.scan_table().count()) {
            for (auto const& each : runners.scan_table().to().value()) { text += each.name + " " + each.club + "\n"; }
        }
        return text;
    }
    /// Invariants that hold whenever the loop is stopped.
    void check_whole() {
        auto const accounts = plain.books("Accounts");
        bool const moved = accounts.get("shelf", "moved").has_value();
        CHECK(accounts.get("shelf", "0").value().price == (moved ? 70 : 100));
        CHECK(accounts.get("shelf", "1").value().price == (moved ? 130 : 100));
        auto const units = plain.books("Units");
        CHECK((units.get("shelf", "0").value().price == 70) == (units.get("shelf", "1").value().price == 70));
    }
    /// Repeats everything later, without faults and loops.
    [[nodiscard]] std::string complete() {
        time.advance(1h);
        for (auto const piece : pieces) {
            auto const done = piece(plain);
            INFO((done ? *done : done.error().to_string()));
            CHECK(done.has_value());
        }
        auto const runners = runners_at(plain);
        CHECK(runners.apply_pending().has_value());
        CHECK(runners.repair().has_value());
        CHECK(runners.verify().value().good());
        CHECK(table_queue<book>{store, "Jobs", queue_at(plain)}.approximate_size().value().ready == 0);
        return content();
    }

    std::uint64_t seed;
    site plain{store, &time, seed + 100};
    any_store through{store};
    std::map<std::string, std::uint64_t> times;
    int begun{}; ///< pieces
    int ended{};
};

std::string text_of(told const& outcome) { return outcome ? *outcome : outcome.error().to_string(); }

/// A piece on a stack, which reports its end however it ends.
struct stacked {
    schedule* in;
    site at;
    told (*piece)(site const&);

    told operator()() const {
        struct counted {
            int& ends;
            ~counted() { ++ends; }
        };
        ++in->begun;
        counted const end{in->ended};
        return piece(at);
    }
};
task<> keep(event_loop& loop, stacked work, std::optional<std::string>& into) {
    auto const outcome = co_await on_own_stack(loop, work);
    into = text_of(outcome);
}

/// A coroutine type that is not from the library, whose owner may destroy it at any time.
class lone {
public:
    struct promise_type {
        [[nodiscard]] lone get_return_object() {
            return lone{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
        [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { throw; }
    };
    explicit lone(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    lone(lone&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    lone& operator=(lone&&) = delete;
    ~lone() {
        if (frame_) { frame_.destroy(); }
    }
    [[nodiscard]] bool done() const { return frame_.done(); }

private:
    std::coroutine_handle<promise_type> frame_;
};
lone keep_alone(event_loop& loop, stacked work, std::optional<std::string>& into) {
    auto const outcome = co_await on_own_stack(loop, work);
    into = text_of(outcome);
}

constexpr auto never = ~std::size_t{0};
struct moment {
    std::size_t stopped{never};   ///< destroys the loop at this turn
    std::size_t destroyed{never}; ///< stops the loop
    std::size_t alone{never};     ///< destroys one coroutine
};
using outcomes = std::array<std::optional<std::string>, pieces.size()>;

/// The result without a loop.
struct blocking {
    outcomes told_by;
    std::string content; ///< after the pieces
    std::string all;     ///< after the second run
};
blocking without_loop(std::uint64_t seed, std::size_t faults) {
    schedule in{seed, faults};
    blocking made;
    for (std::size_t each = 0; each < pieces.size(); ++each) {
        made.told_by[each] = text_of(pieces[each]({in.through, &in.time, seed}));
    }
    made.content = in.content();
    made.all = in.complete();
    return made;
}

/// The number of turns.
std::size_t in_a_loop(std::uint64_t seed, std::size_t faults, blocking const& as, moment at) {
    INFO("seed " << seed << ", faults " << faults << ", stopped at " << at.stopped << ", destroyed at " << at.destroyed
                 << ", one alone at " << at.alone);
    schedule in{seed, faults};
    auto loop = std::make_unique<event_loop>(
        loop_options{.in_flight = 1 + in.below(pieces.size()), .time = &in.time, .letters = false});
    site const near{loop_transport{*loop, in.through}, &loop_clock(*loop), seed};
    outcomes come_to;
    std::size_t const one = seed % pieces.size();
    std::optional<lone> single;
    for (std::size_t each = 0; each < pieces.size(); ++each) {
        stacked const work{&in, near, pieces[each]};
        if (each == one) {
            single.emplace(keep_alone(*loop, work, come_to[each]));
        } else {
            loop->spawn(keep(*loop, work, come_to[each]));
        }
    }
    std::size_t turn = 0;
    bool more = true;
    for (; more && turn < at.destroyed; ++turn) {
        if (turn == at.stopped) { loop->stop(); }
        if (turn == at.alone) { single.reset(); }
        more = loop->turn() || (single && !single->done());
        REQUIRE(turn < 20'000);
        if (more) {
            steady_time const wakes = loop->wakes_at();
            REQUIRE(wakes != (steady_time::max)()); // it is waiting for something
            in.time.wait_until(wakes);
        }
    }
    bool const whole = !more;
    single.reset(); // the loop outlives the coroutine, which it does not own
    loop.reset();
    CHECK(in.begun == in.ended);
    in.check_whole();
    if (at.stopped == never && at.destroyed == never) {
        REQUIRE(whole);
        CHECK(in.sent == in.completed);
        for (std::size_t each = 0; each < pieces.size(); ++each) {
            if (each != one || at.alone == never) {
                INFO("piece " << each);
                CHECK(come_to[each] == as.told_by[each]);
            }
        }
        if (at.alone == never) { CHECK(in.content() == as.content); }
    }
    CHECK(in.complete() == as.all);
    return turn;
}

constexpr std::size_t faults_of(std::uint64_t seed) {
    return seed % 4 == 0 ? 0 : 4 + 6 * static_cast<std::size_t>(seed % 4);
}

/// At every n-th turn, starting from another one for each seed.
template <class At>
void at_turns(std::size_t seeds, std::size_t apart, At const& at) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        blocking const as = without_loop(seed, faults_of(seed));
        std::size_t const turns = in_a_loop(seed, faults_of(seed), as, {});
        for (std::size_t turn = seed % apart; turn < turns; turn += apart) {
            in_a_loop(seed, faults_of(seed), as, at(turn));
        }
    }
}

} // namespace

TEST_CASE("calls on stacks of a loop have the same results as without a loop, with any lost or refused request") {
    std::size_t const seeds = entitable_test::rounds(8, 500, 300);
    std::size_t failed = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        blocking const as = without_loop(seed, faults_of(seed));
        in_a_loop(seed, faults_of(seed), as, {});
        failed += as.content != as.all ? 1U : 0U;
    }
    CHECK(failed > seeds / 4); // there were faults
    CHECK(failed < seeds);
}

TEST_CASE("if a loop is stopped at any turn, the calls on its stacks end cleanly and can be completed later") {
    at_turns(entitable_test::rounds(3, 10, 5), entitable_test::rounds(60, 1, 4),
        [](std::size_t turn) { return moment{.stopped = turn}; });
}

TEST_CASE("if a loop is destroyed at any turn, the calls on its stacks end cleanly and can be completed later") {
    at_turns(entitable_test::rounds(3, 10, 5), entitable_test::rounds(60, 1, 4),
        [](std::size_t turn) { return moment{.destroyed = turn}; });
}

TEST_CASE("a coroutine that is destroyed at any point ends its stack, and other stacks are not affected") {
    at_turns(entitable_test::rounds(3, 10, 5), entitable_test::rounds(60, 1, 4),
        [](std::size_t turn) { return moment{.alone = turn}; });
}
