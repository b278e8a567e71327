// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `stress_test<E>`: the provider's stress test of a partition, in its four steps: a test table; entities in one partition of this table;
/// the application's own mix of calls at increasing rates; and a verdict against the target of a partition. The table is removed at the
/// end, even after an error or an exception thrown by a call.
///
///     entitable::stress_test<order> test{store, "stressOrders", orders_of_one_customer};
///     auto outcome = test.reads(9).writes(1).run({.peak = 1'500});

#include <entitable/advice/stress_outcome.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>

#include <functional>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a stress test.
struct stress_options {
    double peak{1000};      ///< entities a second that the partition must carry
    double target{2000};    ///< entities a second that the service promises for one partition
    double most{};          ///< entities a second in the last step; 0: 1.25 times the larger of `peak` and `target`
    std::uint32_t steps{8}; ///< number of steps in the ramp, all of equal height
    std::chrono::nanoseconds step{std::chrono::seconds{5}}; ///< duration of each step
    bool poisson{true};                 ///< whether calls arrive at random, as from many clients, or at equal intervals
    std::uint32_t workers{16};          ///< threads that make calls; 1: only the caller's own
    std::chrono::nanoseconds latency{}; ///< limit for 99 of 100 calls in the steps up to the peak; 0: no limit
    std::uint64_t seed{1};              ///< seed for the arrivals and for the choice of each call
    clock* time{&system_clock()};       ///< must outlive the test

    /// Errors: OutOfRangeInput names the invalid option.
    [[nodiscard]] result<void> validate() const;
};

/// One kind of call of an application.
struct stress_action {
    std::string name;                                       ///< display label
    double weight{1};                                       ///< relative frequency
    double entities{1};                                     ///< number of entities that one call costs the service
    std::function<result<void>(std::uint64_t random)> call; ///< makes one call; called by several threads concurrently
};

/// Makes calls by the clock, at increasing rates until a rate is not reached. Latencies count from the moment at which a call was due, so
/// that the wait for a busy client is included. `attempts` returns the number of attempts so far, including first attempts. Errors:
/// InvalidInput without actions.
[[nodiscard]] result<stress_outcome> run_stress(
    std::vector<stress_action> const& actions, stress_options const& options, function_ref<std::uint64_t()> attempts);

namespace detail {

/// Counts attempts. Safe to use from several threads.
class attempt_counter final : public observer {
public:
    void on_attempt(attempt_record const&) noexcept override { count_.fetch_add(1, memory_order::relaxed); }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(memory_order::relaxed); }

private:
    atomic<std::uint64_t> count_{0};
};

/// Creates the table, fills it, makes the calls and removes the table. Errors: TableAlreadyExists if the table exists; the table is not
/// changed then.
[[nodiscard]] result<stress_outcome> stress_a_table(any_store const& through, std::string const& table,
    std::vector<row> const& rows, std::vector<stress_action> const& actions, stress_options const& options,
    attempt_counter const& attempts);

} // namespace detail

/// A stress test of one partition with some entities. `run` may be called again. Used by one thread at a time; its calls are made by
/// `stress_options::workers` threads, so the transport and the functions passed to `does` must support that.
template <mapped_entity Entity>
class stress_test {
public:
    /// `table` must not exist; `run` creates and removes it. The entities must be in one partition.
    stress_test(any_store through, std::string table, std::vector<Entity> entities)
        : through_(std::move(through)), table_(std::move(table)), entities_(std::move(entities)) {}

    /// Adds point reads of any of the entities.
    stress_test& reads(double weight) { return add("read", weight, 1, {}); }
    /// Adds writes of any of the entities, unchanged (`insert_or_replace`).
    stress_test& writes(double weight) {
        return does("write", weight, 1,
            [](entitable::table<Entity> const& into, Entity const& any) { return into.insert_or_replace(any); });
    }
    /// Adds a call of the application: `function(table, entity)` returns a result of any type. `entities`: number of entities that one call
    /// costs the service.
    template <class Function>
    stress_test& does(std::string name, double weight, double entities, Function function) {
        return add(std::move(name), weight, entities,
            [function](entitable::table<Entity> const& into, Entity const& any) -> result<void> {
                auto done = function(into, any);
                return done ? result<void>{} : std::move(done).as_failure();
            });
    }

    /// Runs the test. Failed calls are part of the outcome. An exception thrown by a call ends its worker, and is rethrown after the step
    /// has ended and the table was removed; with one worker it ends the step.
    ///
    /// Errors: those of the entities' keys; InvalidInput without entities or calls, or with entities in two partitions; OutOfRangeInput for
    /// invalid options; TableAlreadyExists; those of creating, filling and removing the table. If the effect of the creation is unknown,
    /// the table may remain.
    [[nodiscard]] result<stress_outcome> run(stress_options const& options = {}) const {
        std::vector<row> rows;
        for (Entity const& each : entities_) {
            ENTITABLE_TRY(auto made, to_row(each));
            rows.push_back(std::move(made));
        }
        detail::attempt_counter attempts;
        call_options watched;
        watched.watch = &attempts;
        watched.retry =
            retry::by_caller; // the answers of the service are counted; an explicit `retrying` is part of the test
        entitable::table<Entity> const into{through_, table_, watched};
        std::vector<stress_action> actions;
        for (action const& each : actions_) {
            actions.push_back({each.name, each.weight, each.entities, [&, this](std::uint64_t random) -> result<void> {
                                   std::size_t const index = random % rows.size();
                                   if (each.function) { return each.function(into, entities_[index]); }
                                   call context{watched};
                                   auto read =
                                       through_.execute(get_entity{table_, std::string{rows[index].partition_key()},
                                                            std::string{rows[index].row_key()}, {}},
                                           context);
                                   return read ? result<void>{} : std::move(read).as_failure();
                               }});
        }
        return detail::stress_a_table(through_, table_, rows, actions, options, attempts);
    }

private:
    using function_type = std::function<result<void>(entitable::table<Entity> const&, Entity const&)>;
    struct action {
        std::string name;
        double weight;
        double entities;
        function_type function; ///< empty: a point read
    };
    stress_test& add(std::string name, double weight, double entities, function_type function) {
        actions_.push_back({std::move(name), weight, entities, std::move(function)});
        return *this;
    }

    any_store through_;
    std::string table_;
    std::vector<Entity> entities_;
    std::vector<action> actions_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/measured/impl/stress_test.ipp>
#endif
