// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The walker with protocols whose faults are known: a counter that two programs increment.

#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <algorithm>

using namespace entitable;
using namespace std::chrono_literals;
using testing::make_row;

namespace {

/// Reads, adds one, writes: under the ETag that was read, or unconditionally.
class raise {
public:
    raise(bool careful, steady_time not_before) : careful_(careful), not_before_(not_before) {}
    [[nodiscard]] operation_step next() const {
        return outcome_ ? operation_step{}
            : writes_   ? operation_step{write_, not_before_}
                        : operation_step{read_, not_before_};
    }
    void answer(result<get_entity::response> found, steady_time) {
        if (!found) {
            outcome_.emplace(std::move(found).as_failure());
            return;
        }
        std::int32_t const held = found->entity.view().find("N")->as_int32();
        write_ = {"Counts",
            mutation::replace(make_row("p", "r", {{"N", held + 1}}),
                careful_ ? etag_condition{found->etag} : etag_condition{any_etag})};
        writes_ = true;
    }
    void answer(result<written> done, steady_time) {
        if (done) {
            outcome_.emplace();
        } else {
            outcome_.emplace(std::move(done).as_failure());
        }
    }
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    result<void> finish() { return *std::move(outcome_); }

private:
    bool careful_;
    steady_time not_before_;
    bool writes_{};
    get_entity read_{"Counts", "p", "r", {}};
    write_entity write_;
    std::optional<result<void>> outcome_;
};

struct tally {
    int good{};
    int unknown{};
    int left{2};
};

testing::interleaving_report walk(bool careful, testing::interleaving_limits const& limits,
    std::chrono::nanoseconds wait = {}, std::chrono::nanoseconds deadline = 1h) {
    return testing::interleavings(
        [=](testing::stage& on) {
            auto& count = on.keep<tally>();
            call own;
            (void)on.store().execute(create_table{"Counts"}, own);
            (void)on.store().execute(write_entity{"Counts", mutation::insert(make_row("p", "r", {{"N", 0}}))}, own);
            steady_time const begun = on.time().steady();
            for (char const* name : {"one", "other"}) {
                on.add(
                    name, [&] { return raise{careful, begun + wait}; },
                    [&count](result<void> const& done) {
                        count.good += done ? 1 : 0;
                        count.unknown += !done && done.error().effect == effect::unknown ? 1 : 0;
                        --count.left;
                    },
                    begun + deadline);
            }
            on.remember([&] {
                return std::to_string(count.good) + ' ' + std::to_string(count.unknown) + ' ' +
                    std::to_string(count.left);
            });
            on.always([&]() -> std::string {
                call context;
                auto const now = on.store().execute(get_entity{"Counts", "p", "r", {}}, context);
                int const held = now->entity.view().find("N")->as_int32();
                return held < count.good                                   ? "an addition is gone"
                    : count.left == 0 && held > count.good + count.unknown ? "one addition too many"
                                                                           : "";
            });
        },
        limits);
}

} // namespace

TEST_CASE("interleavings: a lost update is found with the shortest schedule") {
    auto const told = walk(false, {.faults = 0, .late = 0});
    CHECK(told.problem == "an addition is gone");
    CHECK(told.schedule ==
        std::vector<std::string>{"one: get_entity", "other: get_entity", "one: write_entity", "other: write_entity"});
    CHECK(walk(false, {.faults = 0, .late = 0}).schedule == told.schedule);
}

TEST_CASE("interleavings: every state of a correct protocol is visited once") {
    auto const told = walk(true, {.faults = 0, .late = 0});
    CHECK(told.problem == "");
    CHECK(told.complete);
    // Of each: not begun, read (0 or 1), written, failed. After the beginning: R0 -, - R0, R0 R0, W -, - W, W R0, R0 W, W R1, R1 W,
    // W F, F W, and both written, one first or the other.
    CHECK(told.states == 13);
    CHECK(told.ends == 4);
    CHECK(walk(true, {.faults = 2, .late = 2, .twice = 1, .crashes = 1}).problem == "");
    auto const cut = walk(true, {.faults = 0, .late = 0, .most_states = 5});
    CHECK_FALSE(cut.complete);
    CHECK(cut.states == 5);
}

TEST_CASE("interleavings: time passes when an operation waits, and late requests expire") {
    CHECK(walk(true, {.faults = 0, .late = 0}, 1min).states == 14);
    // After their deadline operations send nothing, and nothing is added.
    auto const overdue = walk(true, {.faults = 0, .late = 0}, 2h);
    CHECK(overdue.problem == "");
    CHECK(overdue.states == 4); // time, either, both
    // A write that nobody waits for arrives late: the sum stays within the unknown writes.
    CHECK(walk(false, {.faults = 0, .late = 1}).problem == "an addition is gone");
}
