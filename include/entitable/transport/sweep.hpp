// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sweep_operation_rows`: removes operation rows that are no longer needed.

#include <entitable/request/operation_row.hpp>
#include <entitable/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Which operation rows are swept.
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
    /// `late`: how long an attempt may be late; `context`: the call that it is driven with, which has the service's clock.
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

/// Removes operation rows that were written longer ago than the retention, by this program's clock and by the service's where it tells
/// it. Returns how many; stops at the first error. Any number of programs may do it at any time. A row that is removed too early lets a
/// late attempt be applied a second time, or after it was given up: choose a retention longer than a call with its retries takes, than
/// an operation id is used again, and than an attempt may be late. Errors: OutOfRangeInput for a retention shorter than an attempt may
/// be late (`profile::longest_late_application`, where that is bounded); those of the requests.
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
