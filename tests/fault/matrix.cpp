// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Every request under every fault, at the first, a middle and the last attempt, with every kind of policy: the result of the
// caller, the content of the store, and whether the fault happened.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using testing::fault;
using testing::make_row;

namespace {

enum class request : std::uint8_t {
    get,
    query,
    list,
    insert,
    replace,
    merge,
    forced_merge,
    insert_or_replace,
    insert_or_merge,
    remove,
    forced_remove,
    batch,
    create,
    drop,
};
constexpr int requests = 14;

struct named_fault {
    fault what;
    bool applied; ///< the final state
    bool lost;    ///< for a write: the effect is unknown
};

std::vector<named_fault> all_faults() {
    return {{fault::refused(), false, false}, {fault::lost_before(), false, true}, {fault::lost_after(), true, true},
        {fault::half_answer(), true, true}, {fault::late(), true, true}, {fault::throttled(), false, false},
        {fault::throttled(700ms), false, false}, {fault::busy(), false, false}, {fault::busy(700ms), false, false},
        {fault::status(503, false), false, true}, {fault::status(503, true), true, true},
        {fault::status(500, false), false, true}, {fault::status(500, true), true, true},
        {fault::status(504, true), true, true}, {fault::status(408, false), false, true},
        {fault::slow(2s), true, false}};
}

struct outcome {
    bool good{};
    bool after_retry{};
    error_code code{};
    effect left{};
};

template <class T>
outcome outcome_of(result<T> const& answered) {
    outcome made;
    made.good = answered.has_value();
    if constexpr (std::same_as<T, written>) { made.after_retry = answered && answered->after_retry; }
    if (!answered) {
        made.code = answered.error().code;
        made.left = answered.error().effect;
    }
    return made;
}

struct stage {
    stage(retry_policy policy, bool with_rows)
        : through(service, {.policy = policy, .quota = 0, .operation_rows = with_rows, .time = &time, .seed = 1}) {
        call own;
        (void)store.execute(create_table{"Orders"}, own).value();
        version = store.execute(write_entity{"Orders", mutation::insert(make_row("p", "old", {{"A", 1}}))}, own)->etag;
    }

    outcome send(request what) {
        auto const write = [this](mutation change) {
            return outcome_of(through.execute(write_entity{"Orders", std::move(change)}, context));
        };
        row const changed = make_row("p", "old", {{"A", 2}});
        row const fresh = make_row("p", "new", {{"A", 2}});
        query_entities everything;
        everything.table = "Orders";
        switch (what) {
            case request::get: return outcome_of(through.execute(get_entity{"Orders", "p", "old", {}}, context));
            case request::query: return outcome_of(through.execute(everything, context));
            case request::list: return outcome_of(through.execute(list_tables{}, context));
            case request::insert: return write(mutation::insert(fresh));
            case request::replace: return write(mutation::replace(changed, version));
            case request::merge: return write(mutation::merge(changed, version));
            case request::forced_merge: return write(mutation::merge(changed, any_etag));
            case request::insert_or_replace: return write(mutation::insert_or_replace(fresh));
            case request::insert_or_merge: return write(mutation::insert_or_merge(changed));
            case request::remove: return write(mutation::remove(changed, version));
            case request::forced_remove: return write(mutation::remove(changed, any_etag));
            case request::batch:
                return outcome_of(through.execute(
                    transact{"Orders", {mutation::insert(fresh), mutation::merge(changed, version)}}, context));
            case request::create: return outcome_of(through.execute(create_table{"Others"}, context));
            case request::drop: return outcome_of(through.execute(delete_table{"Orders"}, context));
        }
        return {};
    }
    /// Everything except operation rows.
    std::string held() { return testing::to_text(testing::without_system_rows(testing::read_contents(store).value())); }

    testing::manual_clock time;
    memory_backend store;
    testing::faulty<memory_backend> service{store, {.time = &time}};
    retrying<testing::faulty<memory_backend>> through;
    call context;
    etag version;
};

bool reads(request what) { return what <= request::list; }

/// The answer of the second attempt if the first was applied and its answer was lost.
enum class meeting { itself, success, unknown };
meeting second_try(request what, bool with_rows) {
    switch (what) {
        case request::replace:
        case request::merge:
        case request::batch: return with_rows ? meeting::success : meeting::unknown;
        case request::forced_merge:
        case request::insert_or_replace:
        case request::insert_or_merge: return with_rows ? meeting::success : meeting::itself;
        default: return meeting::success;
    }
}

struct counts {
    std::size_t cases{}, succeeded{}, unknown{}, failed{};
};

void one_case(request what, named_fault const& planned, std::size_t at, std::size_t attempts, retry_policy policy,
    bool with_rows, counts& sum) {
    stage untouched{retry_policy::none(), false};
    std::string const before = untouched.held();
    (void)untouched.send(what);
    std::string const after = untouched.held();

    stage on{policy, with_rows};
    for (std::size_t earlier = 1; earlier < at; ++earlier) { on.service.plan({fault::busy(), 1}); }
    on.service.plan({planned.what, 1});
    steady_time const begun = on.time.steady();
    outcome const told = on.send(what);
    (void)on.service.arrive();

    CHECK(on.service.all_fired());
    bool const slow = !planned.what.answer;
    bool const last = at == attempts && !slow;
    bool const lost = planned.lost && !reads(what);
    bool const applied_by_lost = lost && planned.applied;
    bool const late = planned.what.applied == fault::commit::late;
    bool const settled = !last && applied_by_lost && !late;
    meeting const then = second_try(what, with_rows);
    bool const good = !last && (!settled || then != meeting::unknown);
    CHECK(told.good == good);
    CHECK(on.time.steady() - begun < 10s);
    ++sum.cases;
    if (good) {
        ++sum.succeeded;
        CHECK(on.held() == after);
    } else {
        CHECK(told.left == (lost ? effect::unknown : effect::none));
        ++(lost ? sum.unknown : sum.failed);
        CHECK(on.held() == (applied_by_lost ? after : before));
        if (last) { CHECK(told.code == planned.what.answer->code); }
    }
    bool const single = what >= request::insert && what <= request::forced_remove;
    if (good && single) { CHECK(told.after_retry == (with_rows ? settled : lost)); }
}

counts matrix(bool with_rows) {
    counts sum;
    auto const faults = all_faults();
    CHECK(faults.size() == 16);
    for (int index = 0; index < requests; ++index) {
        for (named_fault const& each : faults) {
            for (std::size_t const place : {1U, 2U, 3U}) {
                auto const what = static_cast<request>(index);
                bool const single = what >= request::insert && what <= request::batch;
                if (with_rows && !single) { continue; }
                CAPTURE(index, each.what.name, place, with_rows);
                one_case(what, each, 1, 1, retry_policy::none(), with_rows, sum);
                one_case(what, each, place, 3, retry_policy::fixed(3, 100ms), with_rows, sum);
                one_case(what, each, place, 3, retry_policy::exponential(3, 50ms, 10ms, 2s), with_rows, sum);
            }
        }
    }
    return sum;
}

} // namespace

TEST_CASE("matrix: every answer is correct for 14 requests, 16 faults, three places and three policies") {
    counts const sum = matrix(false);
    CHECK(sum.cases == 2'016);
    CHECK(sum.succeeded > 900);
    CHECK(sum.unknown > 400);
    CHECK(sum.failed > 200);
}

TEST_CASE("matrix: with operation rows the outcome of every lost write is resolved unless the attempts run out") {
    counts const sum = matrix(true);
    CHECK(sum.cases == 9 * 16 * 3 * 3);
}

TEST_CASE("matrix: every answer is also correct with two faults in one call") {
    auto const faults = all_faults();
    std::size_t unknown = 0;
    for (int index = 0; index < requests; ++index) {
        auto const what = static_cast<request>(index);
        stage untouched{retry_policy::none(), false};
        std::string const before = untouched.held();
        (void)untouched.send(what);
        std::string const after = untouched.held();
        for (named_fault const& first : faults) {
            for (named_fault const& second : faults) {
                for (std::int64_t const attempts : {2, 3}) {
                    stage on{retry_policy::fixed(attempts, 100ms), false};
                    on.service.plan({first.what, 1});
                    on.service.plan({second.what, 2});
                    outcome const told = on.send(what);
                    (void)on.service.arrive();
                    std::string const held = on.held();
                    bool const honest = told.good   ? held == after
                        : told.left == effect::none ? held == before
                                                    : held == before || held == after;
                    unknown += !told.good && told.left == effect::unknown ? 1U : 0U;
                    if (!honest) {
                        CAPTURE(index, first.what.name, second.what.name, attempts);
                        CHECK(honest);
                    }
                }
            }
        }
    }
    CHECK(unknown > 1'000);
}

TEST_CASE("matrix: an unconditional write can undo a write by another client, and a conditional write cannot") {
    // The first attempt arrives after the second, and another writer was in between.
    for (bool const conditional : {false, true}) {
        stage on{retry_policy::none(), false};
        on.service.plan({fault::late(), 1});
        row const mine = make_row("p", "old", {{"A", 2}});
        call own;
        (void)on.through.execute(
            write_entity{"Orders", conditional ? mutation::merge(mine, on.version) : mutation::insert_or_merge(mine)},
            own);
        (void)on.store.execute(write_entity{"Orders", mutation::merge(make_row("p", "old", {{"A", 3}}), any_etag)}, own)
            .value();
        CHECK(on.service.arrive() == 1);
        auto const held = on.store.execute(get_entity{"Orders", "p", "old", {}}, own);
        CHECK(testing::has_property(held->entity, "A", conditional ? 3 : 2));
    }
}
