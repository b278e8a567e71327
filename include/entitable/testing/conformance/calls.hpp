// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours that concern a call and not its data: deadlines, cancellation and the observer.

#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

inline void ended_calls_do_nothing(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r", {{"A", 1}}));
    auto const before = t.now(table);
    write_entity const change{table, mutation::remove(make_row("p", "r"), any_etag)};

    cancellation_source source;
    source.cancel();
    call cancelled;
    cancelled.cancellation = source.token();
    t.no(t.store().execute(change, cancelled), error_code::cancelled, "a write of a cancelled call");
    t.no(t.store().execute(get_entity{table, "p", "r", {}}, cancelled), error_code::cancelled,
        "a read of a cancelled call");
    call late;
    late.deadline = steady_time{};
    t.no(t.store().execute(change, late), error_code::deadline_exceeded, "a write behind its deadline");
    t.unchanged(before, table, "calls that had ended before they began");
}

inline void tries_are_told(trial& t) {
    struct tries final : observer {
        void on_attempt(attempt const& done) noexcept override {
            all += std::string{done.request} + " of " + std::string{done.table} +
                (done.error != nullptr ? " " + std::string{to_string(done.error->code)} : "") + ", try " +
                std::to_string(done.number) + "\n";
        }
        std::string all;
    };
    std::string const table = t.new_table();
    tries watch;
    call context;
    context.watch = &watch;
    t.yes(t.store().execute(write_entity{table, mutation::insert(make_row("p", "r"))}, context), "an insert");
    t.no(t.store().execute(get_entity{table, "p", "absent", {}}, context), error_code::resource_not_found, "a read");
    t.same(watch.all, "write_entity of " + table + ", try 1\nget_entity of " + table + " ResourceNotFound, try 2\n",
        "what the observer was told");
    t.check(context.attempts == 2, "two tries of one call are counted as " + std::to_string(context.attempts));
}

inline constexpr behaviour behaviours_of_calls[] = {
    {"a call that has ended does nothing", ended_calls_do_nothing},
    {"each try is counted and told", tries_are_told},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
