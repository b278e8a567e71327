// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/resumable.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;
using testing::make_row;

namespace {

static_assert(operation<resumable<int>> && std::movable<resumable<int>> && !std::copyable<resumable<int>>);
static_assert(takes_answer_to<resumable<int>, create_table> && takes_answer_to<resumable<int>, query_entities>);

steady_time steady_at(std::chrono::nanoseconds since) { return steady_time{} + since; }

/// Notes its end.
struct noted {
    std::vector<std::string>* ends;
    std::string name;
    noted(std::vector<std::string>& into, std::string own) : ends(&into), name(std::move(own)) {}
    noted(noted const&) = delete;
    noted& operator=(noted const&) = delete;
    ~noted() { ends->push_back(name); }
};

resumable<std::uint64_t> count_rows(std::string table) {
    query_entities pages{std::move(table), {}, {}, {}, 2, {}};
    std::uint64_t rows = 0;
    do {
        ENTITABLE_CO_TRY(auto const found, co_await ask(pages));
        rows += found.rows.size();
        pages.continuation = found.continuation;
    } while (pages.continuation);
    co_return rows;
}

resumable<void> add_row(std::string table, std::string key) {
    write_entity const request{std::move(table), mutation::insert(make_row("p", key, {{"N", 1}}))};
    ENTITABLE_CO_CHECK(co_await ask(request));
    co_return {};
}

resumable<std::uint64_t> add_and_count(std::string table, int rows) {
    for (int each = 0; each < rows; ++each) { ENTITABLE_CO_CHECK(co_await add_row(table, std::to_string(each))); }
    co_return co_await count_rows(table);
}

/// Asks for a row until it is found, with a longer wait each time.
resumable<int> wait_for_row() {
    get_entity const request{"Counts", "p", "r", {}};
    for (int attempt = 0;; ++attempt) {
        if (attempt > 1) { co_await if_abandoned{effect::unknown}; }
        auto const found =
            co_await ask(request, {.after = attempt * 10ms, .place = 1, .because = wait_cause::retry_after});
        if (found) { co_return attempt; }
    }
}

template <class T>
void answer_missing(resumable<T>& op, steady_time now) {
    op.answer(result<get_entity::response>{failure{error_code::resource_not_found, "absent"}}, now);
}

resumable<int> one() { co_return 1; }

resumable<int> sum(int count) {
    int all = 0;
    for (int each = 0; each < count; ++each) {
        ENTITABLE_CO_TRY(int const part, co_await one());
        all += part;
    }
    co_return all;
}

resumable<int> deep(int levels) {
    if (levels == 0) { co_return 0; }
    ENTITABLE_CO_TRY(int const below, co_await deep(levels - 1));
    co_return below + 1;
}

resumable<int> inner(std::vector<std::string>& ends, bool throws) {
    noted const own{ends, "inner"};
    get_entity const request{"Counts", "p", "r", {}};
    auto const found = co_await ask(request);
    if (throws) { throw std::runtime_error{"inner"}; }
    co_return found ? 1 : 0;
}

resumable<int> outer(std::vector<std::string>& ends, bool throws) {
    noted const own{ends, "outer"};
    co_return co_await inner(ends, throws);
}

resumable<int> catching(std::vector<std::string>& ends) {
    std::string text;
    try {
        auto const made = co_await inner(ends, true);
        text = made ? "none" : "error";
    } catch (std::runtime_error const& thrown) { text = thrown.what(); }
    co_return text == "inner" ? 7 : 0;
}

} // namespace

TEST_CASE("resumable: a coroutine runs like any operation, over pages and nested operations") {
    memory_backend store;
    call context;
    REQUIRE(store.execute(create_table{"Counts"}, context));
    testing::manual_clock time;
    auto adding = add_and_count("Counts", 5);
    auto const counted = run(adding, context, time, store);
    CHECK(counted.value() == 5);

    auto again = add_and_count("Counts", 5);
    auto const refused = run(again, context, time, store);
    CHECK(refused.error().code == error_code::entity_already_exists);
}

TEST_CASE("resumable: next() called twice returns the same step; delays count from the latest response") {
    auto op = wait_for_row();
    operation_step const first = op.next();
    operation_step const same = op.next();
    CHECK(first.request.as<get_entity>() == same.request.as<get_entity>());
    CHECK(first.request.as<get_entity>()->row_key == "r");
    CHECK(first.not_before == (steady_time::min)());
    CHECK(first.place == 1);
    CHECK(first.because == wait_cause::retry_after);

    answer_missing(op, steady_at(1s));
    CHECK(op.next().not_before == steady_at(1s + 10ms));
    answer_missing(op, steady_at(2s));
    CHECK(op.next().not_before == steady_at(2s + 20ms));
    op.answer(result<get_entity::response>{std::in_place}, steady_at(3s));
    CHECK(op.next().done());
    CHECK(op.finish().value() == 2);
}

TEST_CASE("resumable: begin() sets the time before the first response; delay_next() delays the next request of any "
          "function") {
    auto const waiting = [](std::vector<steady_time>& seen) -> resumable<void> {
        seen.push_back(co_await answer_time{});
        co_await delay_next{30ms};
        co_await delay_next{10ms}; // the longer delay counts
        ENTITABLE_CO_CHECK(co_await wait_for_row());
        seen.push_back(co_await answer_time{});
        ENTITABLE_CO_CHECK(co_await wait_for_row());
        co_return {};
    };
    std::vector<steady_time> seen;
    auto op = waiting(seen).begin(steady_at(5s));
    CHECK(op.next().not_before == steady_at(5s + 30ms));
    op.begin(steady_at(9s)); // was begun before
    answer_missing(op, steady_at(6s));
    CHECK(op.next().not_before == steady_at(6s + 10ms));
    op.answer(result<get_entity::response>{std::in_place}, steady_at(7s));
    CHECK(op.next().not_before == (steady_time::min)()); // the delay was used
    CHECK(seen == std::vector{steady_at(5s), steady_at(7s)});
}

TEST_CASE("resumable: abandon() destroys the coroutines from the inside out, and reports an unsettled write") {
    std::vector<std::string> ends;
    auto op = outer(ends, false);
    CHECK_FALSE(op.next().done());
    op.abandon(error{error_code::cancelled, "stopped"});
    CHECK(ends == std::vector<std::string>{"inner", "outer"});
    CHECK(op.next().done());
    op.abandon(error{error_code::deadline_exceeded, "later"}); // the first reason counts
    auto const ended = op.finish();
    CHECK(ended.error().code == error_code::cancelled);
    CHECK(ended.error().effect == effect::none);

    auto unsettled = wait_for_row();
    static_cast<void>(unsettled.next());
    answer_missing(unsettled, steady_at(1s));
    answer_missing(unsettled, steady_at(2s));
    unsettled.abandon(error{error_code::cancelled, "stopped"});
    CHECK(unsettled.finish().error().effect == effect::unknown);

    auto never_begun = outer(ends, false);
    never_begun.abandon(error{error_code::cancelled, "stopped"});
    CHECK(never_begun.next().done());
    CHECK(never_begun.finish().error().code == error_code::cancelled);
    CHECK(ends.size() == 2);

    auto done = one();
    CHECK(done.next().done());
    done.abandon(error{error_code::cancelled, "too late"});
    CHECK(done.finish().value() == 1);
}

TEST_CASE("resumable: an operation that is destroyed before its end destroys the coroutines from the inside out") {
    std::vector<std::string> ends;
    {
        auto op = outer(ends, false);
        static_cast<void>(op.next());
    }
    CHECK(ends == std::vector<std::string>{"inner", "outer"});
    { auto const never_begun = outer(ends, false); }
    CHECK(ends.size() == 2);
    auto op = outer(ends, false);
    static_cast<void>(op.next());
    op = one();
    CHECK(ends.size() == 4);
    CHECK(op.next().done());
    CHECK(op.finish().value() == 1);
}

TEST_CASE("resumable: an operation that was begun cannot be nested any more") {
    std::vector<std::string> ends;
    auto const awaits = [](resumable<int> begun) -> resumable<int> { co_return co_await std::move(begun); };
    auto begun = outer(ends, false);
    static_cast<void>(begun.next());
    auto nesting = awaits(std::move(begun));
    CHECK(nesting.next().done());
    CHECK(nesting.finish().error().code == error_code::internal_error);
}

TEST_CASE("resumable: a response to another request ends the operation with InternalError") {
    std::vector<std::string> ends;
    auto op = outer(ends, false);
    static_cast<void>(op.next());
    CHECK(op.finish().error().code == error_code::internal_error); // it has not ended
    op.answer(result<void>{}, {});
    CHECK(ends.size() == 2);
    CHECK(op.next().done());
    CHECK(op.finish().error().message == "response to a request that the operation did not send");
}

TEST_CASE("resumable: exceptions reach the coroutine that awaits, then the caller of answer()") {
    std::vector<std::string> ends;
    auto op = outer(ends, true);
    static_cast<void>(op.next());
    CHECK_THROWS_AS(answer_missing(op, {}), std::runtime_error);
    CHECK(ends == std::vector<std::string>{"inner", "outer"});
    CHECK(op.next().done());
    CHECK(op.finish().error().code == error_code::internal_error);

    auto handled = catching(ends);
    static_cast<void>(handled.next());
    answer_missing(handled, {});
    CHECK(handled.finish().value() == 7);

    auto const at_once = []() -> resumable<int> {
        throw std::runtime_error{"at once"};
        co_return 1;
    };
    auto thrown = at_once();
    CHECK_THROWS_AS(thrown.next(), std::runtime_error);
    CHECK(thrown.next().done());
}

TEST_CASE("resumable: the stack grows neither with operations that end without a request nor with nesting") {
    auto op = sum(200'000);
    CHECK(op.next().done());
    CHECK(op.finish().value() == 200'000);

    auto nested = deep(2'000);
    CHECK(nested.next().done());
    CHECK(nested.finish().value() == 2'000);
}

TEST_CASE("resumable: never leaves too many rows, whatever happens at each step") {
    auto const found = testing::steps([](testing::stage& on) {
        call own;
        static_cast<void>(on.store().execute(create_table{"Counts"}, own));
        on.add("adding", [] { return add_and_count("Counts", 2); }, [](result<std::uint64_t> const&) {});
        on.always([&on] {
            call context;
            auto const rows = on.store().execute(query_entities{"Counts", {}, {}, {}, 9, {}}, context);
            return rows && rows->rows.size() <= 2 ? std::string{} : std::string{"too many rows"};
        });
    });
    CHECK(found.problem.empty());
    CHECK(found.complete);
}
