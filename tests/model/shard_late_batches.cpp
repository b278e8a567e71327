// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A mover dies with a batch in flight, and another mover takes over; the batch arrives at any step of the second mover. Table names that
// are used twice let it in.

#include "shard_world.hpp"

using namespace shard_world;

namespace {

/// One order: the first mover ends with a batch in flight, which arrives after a number of requests of the second.
struct late_batch {
    std::size_t batch{};
    std::size_t behind{};
};
struct outcome {
    std::string problem;
    bool has_batch{}; ///< requests of the first mover
    bool has_step{};  ///< requests of the second one
};

/// Sends the requests of an operation when they are due.
template <class Op>
void step(Op& op, any_store const& way, testing::manual_clock& time) {
    operation_step const due = op.next();
    if (due.not_before > time.steady()) { time.wait_until(due.not_before); }
    due.request.visit([&]<class Asked>(Asked const& request) {
        if constexpr (takes_answer_to<Op, Asked>) {
            call context;
            op.answer(way.execute(request, context), time.steady());
        }
    });
}

outcome run(late_batch const& at, move_defect planted) {
    testing::manual_clock time;
    local_options by_clock;
    by_clock.time = &time;
    memory_backend const store{by_clock};
    scene all;
    set_up(store, time, all);
    call context;
    any_store const way{store};
    // A partition that is empty when the second mover reaches it: nothing else of that mover would conflict with the
    // batch there.
    mutation const other = mutation::insert(row_builder{"q", "x"}.build());
    store.execute(write_entity{"items0000x2", other}, context).value();

    outcome seen;
    saboteur first{order_of_move("first", true, store.profile()), move_defect::none, time.steady()};
    std::optional<transact> held;
    for (std::size_t batches = 0; !first.next().done() && !held;) {
        transact const* const sent = first.next().request.as<transact>();
        if (sent != nullptr && first.next().place != 0 && batches++ == at.batch) {
            held = *sent; // and the process ends
        } else {
            step(first, way, time);
        }
    }
    seen.has_batch = held.has_value();
    if (!held) { return seen; }
    store.execute(write_entity{"items0000x2", mutation::remove(other.entity, any_etag)}, context).value();
    saboteur second{order_of_move("second", true, store.profile()), planted, time.steady()};
    std::size_t steps = 0;
    for (; !second.next().done() || steps <= at.behind; ++steps) {
        if (steps == at.behind) { static_cast<void>(store.execute(*held, context)); }
        if (second.next().done()) { break; }
        seen.has_step = steps >= at.behind;
        step(second, way, time);
    }
    if (!second.finish()) {
        return seen; // it conflicted with the batch, and moved nothing
    }
    seen.problem = differs(store, all);
    return seen;
}

/// All of them.
std::string walk_late_batches(move_defect planted, int& orders) {
    std::string problem;
    for (late_batch at{0, 0};; ++at.batch) {
        bool more = true;
        for (at.behind = 0; more; ++at.behind) {
            outcome const seen = run(at, planted);
            if (!seen.has_batch) { return problem; }
            ++orders;
            problem = problem.empty() ? seen.problem : problem;
            more = seen.has_step;
        }
    }
}

} // namespace

TEST_CASE("shard moves: a late batch of a dead mover never reaches a table of another move") {
    int orders = 0;
    CHECK(walk_late_batches(move_defect::none, orders) == "");
    CHECK(orders == 56); // two batches at each of 28 states of the second mover
    SECTION("a table name is used twice") { CHECK(walk_late_batches(move_defect::uses_names_again, orders) != ""); }
    SECTION("a takeover continues in the same table") {
        CHECK(walk_late_batches(move_defect::takes_over_tables, orders) != "");
    }
}
