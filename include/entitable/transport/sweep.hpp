// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sweep_operation_rows`: the removal of operation rows that nobody needs any more.

#include <entitable/request/operation_row.hpp>
#include <entitable/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What is swept, and how old it is.
struct sweep_options {
    std::optional<std::string>
        partition_key{}; ///< of one partition; nothing: of the whole table, which is a scan of it
    std::chrono::nanoseconds retention{operation_row::retention}; ///< younger rows stay
    clock* time{&system_clock()};                                 ///< must outlive the sweep
};

namespace detail {

/// Reads operation rows page by page and removes those that are old enough, each under its ETag. The call and the clock must outlive it.
class operation_sweep {
public:
    /// `late`: how long a sending may be late; `context`: the call that it is driven with, which knows the service's clock.
    operation_sweep(std::string table, sweep_options const& options, std::chrono::seconds late, call const& context);

    [[nodiscard]] operation_step next() const noexcept {
        return outcome_ ? operation_step{} : at_ < old_.size() ? operation_step{old_[at_]} : operation_step{reading_};
    }
    void answer(result<query_entities::response> page, steady_time now);
    void answer(result<written> removed, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<std::size_t> finish() { return *std::move(outcome_); }

private:
    [[nodiscard]] date_time before(date_time now) const noexcept;
    void end_page();

    call const* context_;
    std::chrono::nanoseconds retention_;
    query_entities reading_;
    std::vector<write_entity> old_; ///< removals of the present page
    std::size_t at_{};
    std::size_t removed_{};
    std::optional<result<std::size_t>> outcome_;
};

} // namespace detail

/// Removes operation rows that were written longer ago than the retention, by this program's clock and by the service's; how many.
/// Stops at the first error. OutOfRangeInput for a retention that is shorter than a sending may be late
/// (`profile::longest_late_application`); where nothing bounds that, the retention is the program's to choose. Any program may do it, at any time, several at once. A row that is removed too early lets a late sending
/// be applied a second time, or after it was given up: the retention is longer than a call with its repetitions goes on, than an
/// operation id is asked with again, and than a sending may be late.
template <transport T>
[[nodiscard]] result<std::size_t> sweep_operation_rows(
    T& through, std::string table, call& context, sweep_options const& options = {}) {
    detail::operation_sweep sweeping{std::move(table), options, through.profile().longest_late_application(), context};
    return run(sweeping, context, *options.time, through);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/transport/impl/sweep.ipp>
#endif
