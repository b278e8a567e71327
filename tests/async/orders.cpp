// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Orders of completion drawn from a seed, with faults, timeouts, stops at every turn and loops that are destroyed at every turn. Each task uses
// keys of its own and knows what may be stored there: no outcome contradicts it, whenever it arrives. Uses a manual clock.

#include <entitable/retrying.hpp>

#include <async/books.hpp>
#include <async/shuffled.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

#include <algorithm>
#include <map>
#include <memory>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::shuffled;
using b = fields<book>;

namespace {

struct world : entitable_test::shuffled_world {
    using shuffled_world::shuffled_world;
    std::size_t frames{};  ///< living coroutines
    std::int32_t prices{}; ///< drawn
};

/// What may be stored under the keys of one task: prices, or nothing.
class beliefs {
public:
    using state = std::optional<std::int32_t>;

    [[nodiscard]] std::vector<state>& at(std::string const& isbn) {
        auto& all = keys_[isbn];
        if (all.empty()) { all.push_back(std::nullopt); }
        return all;
    }
    /// The stored state is this one, which was possible.
    void saw(std::string const& isbn, state seen) {
        auto& all = at(isbn);
        INFO("key " << isbn << " is " << (seen ? std::to_string(*seen) : "absent"));
        REQUIRE(std::find(all.begin(), all.end(), seen) != all.end());
        all = {seen};
    }
    void is(std::string const& isbn, state now) { at(isbn) = {now}; }
    /// A write of unknown effect changed each state to this, or nothing.
    template <class Make>
    void may(std::string const& isbn, Make const& make) {
        auto& all = at(isbn);
        for (std::size_t index = 0, count = all.size(); index < count; ++index) { all.push_back(make(all[index])); }
    }
    /// Removes the states for which it is true.
    template <class Not>
    void not_those(std::string const& isbn, Not const& impossible) {
        auto& all = at(isbn);
        std::erase_if(all, impossible);
        REQUIRE_FALSE(all.empty());
    }
    [[nodiscard]] auto const& all() const { return keys_; }

private:
    std::map<std::string, std::vector<state>> keys_;
};

struct frame_count {
    explicit frame_count(world& of) : in(of) { ++in.frames; }
    frame_count(frame_count const&) = delete;
    frame_count& operator=(frame_count const&) = delete;
    ~frame_count() { --in.frames; }
    world& in;
};

bool unknown(error const& problem) { return problem.effect == effect::unknown; }

task<result<book>> get(world& in, async_table<book> books, std::string shelf, std::string isbn) {
    frame_count const counted{in};
    co_return co_await books.get(shelf, isbn);
}

void judge_read(beliefs& mine, std::string const& isbn, result<book> const& found) {
    if (found) {
        mine.saw(isbn, found->price);
    } else if (found.error().code == error_code::resource_not_found) {
        mine.saw(isbn, std::nullopt);
    }
}

task<> one_task(world& in, event_loop& loop, async_semaphore& limit, async_table<book> books, std::string shelf,
    beliefs& mine, int steps) {
    frame_count const counted{in};
    for (int step = 0; step < steps; ++step) {
        std::string const isbn = std::to_string(in.below(3));
        std::int32_t const price =
            1000 * ++in.prices; // after a lost answer an insert of an existing row counts as applied
        book const made{shelf, isbn, price};
        switch (in.below(12)) {
            case 0: {
                auto const done = co_await books.insert(made);
                if (done) {
                    mine.not_those(isbn, [](auto state) { return state.has_value(); });
                    mine.is(isbn, price);
                } else if (unknown(done.error())) {
                    mine.may(isbn, [&](auto state) { return state ? state : beliefs::state{price}; });
                } else if (done.error().code == error_code::entity_already_exists) {
                    mine.not_those(isbn, [](auto state) { return !state.has_value(); });
                }
                break;
            }
            case 1: {
                auto const done = co_await books.insert_or_replace(made);
                if (done) {
                    mine.is(isbn, price);
                } else if (unknown(done.error())) {
                    mine.may(isbn, [&](auto) { return beliefs::state{price}; });
                }
                break;
            }
            case 2: judge_read(mine, isbn, co_await books.get(shelf, isbn)); break;
            case 3: {
                auto const done = co_await books.update(shelf, isbn, [](book& it) { it.price += 1; });
                if (done) {
                    mine.saw(isbn, done->entity.price - 1);
                    mine.is(isbn, done->entity.price);
                } else if (unknown(done.error())) {
                    mine.may(isbn, [](auto state) { return state ? beliefs::state{*state + 1} : state; });
                } else if (done.error().code == error_code::resource_not_found) {
                    mine.saw(isbn, std::nullopt);
                }
                break;
            }
            case 4: {
                auto const done = co_await books.remove_if_present(shelf, isbn, any_etag);
                if (done) {
                    mine.is(isbn, std::nullopt);
                } else if (unknown(done.error())) {
                    mine.may(isbn, [](auto) { return beliefs::state{}; });
                }
                break;
            }
            case 5: {
                auto pages = books.where(b::shelf == shelf).page_size(2).pages();
                std::map<std::string, std::int32_t> found;
                for (bool more = true; more;) {
                    auto page = co_await pages.next();
                    more = page && *page;
                    if (more) {
                        for (book const& each : **page) { found.emplace(each.isbn, each.price); }
                    } else if (page) { // all rows were read
                        for (std::string const key : {"0", "1", "2"}) {
                            auto const at = found.find(key);
                            mine.saw(key, at == found.end() ? beliefs::state{} : beliefs::state{at->second});
                        }
                    }
                }
                break;
            }
            case 6: {
                auto const found = co_await with_timeout(loop, in.below(4) * 1ms, get(in, books, shelf, isbn));
                judge_read(mine, isbn, found);
                break;
            }
            case 7: {
                std::vector<task<result<book>>> reads;
                for (std::string const key : {"0", "1", "2"}) { reads.push_back(get(in, books, shelf, key)); }
                auto const all = co_await when_all(std::move(reads));
                for (std::size_t key = 0; key < all.size(); ++key) { judge_read(mine, std::to_string(key), all[key]); }
                break;
            }
            case 8: {
                std::vector<task<result<book>>> reads;
                for (std::string const key : {"0", "1", "2"}) { reads.push_back(get(in, books, shelf, key)); }
                auto const first = co_await when_any(loop, std::move(reads));
                judge_read(mine, std::to_string(first.index), first.value);
                break;
            }
            case 9: {
                auto const permit = co_await limit.acquire();
                judge_read(mine, isbn, co_await books.get(shelf, isbn));
                break;
            }
            case 10: {
                beliefs::state seen;
                auto const body = [&](transaction<book>& all) -> result<void> {
                    auto found = all.find(isbn);
                    if (!found) { return std::move(found).as_failure(); }
                    seen = *found ? beliefs::state{(*found)->price} : beliefs::state{};
                    book after = made;
                    after.price = *found ? (*found)->price + 10 : price;
                    *found ? all.replace(after) : all.insert(after);
                    return {};
                };
                transaction_options options;
                options.seed = in.random.bits();
                auto const done = co_await books.transact(shelf, body, options);
                auto const after = [&](auto state) { return beliefs::state{state ? *state + 10 : price}; };
                if (done) {
                    mine.saw(isbn, seen);
                    mine.is(isbn, after(seen));
                } else if (unknown(done.error())) {
                    mine.may(isbn, after);
                }
                break;
            }
            default: (void)co_await sleep_for(loop, in.below(3) * 1ms); break;
        }
    }
}

constexpr std::size_t tasks = 4;

/// Runs one schedule. The loop is stopped at the turn `stop_at` and destroyed at `destroy_at`. Returns the number
/// of turns.
std::size_t run_schedule(std::uint64_t seed, std::size_t faults, std::size_t stop_at, std::size_t destroy_at) {
    INFO("seed " << seed << ", faults " << faults << ", stopped at " << stop_at << ", destroyed at " << destroy_at);
    world in{seed};
    in.fault_of = [&](request_ref) { return in.drawn_fault(in.random, faults); };
    REQUIRE(table<book>{in.store, "Books"}.create());
    retrying_options patient;
    patient.time = &in.time;
    patient.seed = seed + 1;
    any_store const through = in.one_in(3) ? any_store{retrying{shuffled{&in}, patient}} : any_store{shuffled{&in}};
    std::vector<beliefs> known(tasks);
    auto loop = std::make_unique<event_loop>(
        loop_options{.in_flight = 1 + in.below(tasks), .time = &in.time, .letters = false});
    async_semaphore limit{*loop, 1 + in.below(2)};
    for (std::size_t each = 0; each < tasks; ++each) {
        loop->spawn(
            one_task(in, *loop, limit, {*loop, through, "Books"}, "shelf" + std::to_string(each), known[each], 6));
    }
    std::size_t turn = 0;
    bool more = true;
    while (more && turn < destroy_at) {
        if (turn == stop_at) { loop->stop(); }
        ++turn;
        more = loop->turn();
        REQUIRE(turn < 10'000);
        if (more) {
            steady_time const wakes = loop->wakes_at();
            REQUIRE(wakes != (steady_time::max)()); // it is waiting for something
            in.time.wait_until(wakes);
        }
    }
    bool const ended = !more;
    CHECK((ended || destroy_at != ~std::size_t{0}));
    loop.reset();
    CHECK(in.frames == 0);
    if (ended) {
        CHECK(in.sent == in.completed);
        for (std::size_t each = 0; each < tasks; ++each) {
            for (auto const& [isbn, states] : known[each].all()) {
                auto const found = table<book>{in.store, "Books"}.get("shelf" + std::to_string(each), isbn);
                judge_read(known[each], isbn, found);
            }
        }
    }
    return turn;
}

constexpr auto never = ~std::size_t{0};
constexpr std::size_t faults_of(std::uint64_t seed) {
    return seed % 4 == 0 ? 0 : 2 + static_cast<std::size_t>(seed % 4);
}

} // namespace

TEST_CASE("in any completion order, each task sees its own writes, with and without faults") {
    std::size_t const schedules = entitable_test::rounds(300, 100'000, 20'000);
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) { run_schedule(seed, faults_of(seed), never, never); }
}

TEST_CASE("a loop can be stopped at every turn, and every task ends") {
    std::size_t const seeds = entitable_test::rounds(5, 600, 150);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        std::size_t const turns = run_schedule(seed, faults_of(seed), never, never);
        for (std::size_t at = 0; at < turns; ++at) { run_schedule(seed, faults_of(seed), at, never); }
    }
}

TEST_CASE("a loop can be destroyed at every turn, and nothing leaks") {
    std::size_t const seeds = entitable_test::rounds(5, 600, 150);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        std::size_t const turns = run_schedule(seed, faults_of(seed), never, never);
        for (std::size_t at = 0; at < turns; ++at) { run_schedule(seed, faults_of(seed), never, at); }
    }
}
