// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `settling`: determines the final outcome of a write that has an operation row. It inserts a void row in a separate
/// request: if that succeeds, no attempt of the write was applied, and every attempt still in flight will be refused.
/// If the insert is refused, the row already exists and shows the outcome. Reading the row is not enough: an absent row
/// may still be inserted.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/compare.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Outcome of a write.
enum class write_outcome : std::uint8_t {
    applied,     ///< the write was applied
    not_applied, ///< the write was not applied, and never will be
    unknown,     ///< the outcome is not known
};

namespace detail {

/// Concludes from `found` (null if there is no entity) whether `change` was applied. In a transaction equal rows of other writers prove
/// nothing, so the conclusion is weaker for a change that is not `alone`.
write_outcome outcome_by_comparing(mutation const& change, get_entity::response const* found, bool alone) noexcept;

} // namespace detail

/// Settles one operation; a resumable operation. An error of a request ends the operation without an outcome; a new operation can settle
/// the write later. Thread safety: one thread at a time.
class settling {
public:
    /// Settles the operation with this id in a partition. `is_there`: the row is known to exist, so it is read immediately.
    settling(std::string table, std::string_view partition_key, std::string_view operation_id, bool is_there = false);

    /// The request to send; none once the outcome is known.
    [[nodiscard]] operation_step next() const noexcept {
        return outcome_ ? operation_step{} : reads_ ? operation_step{reading_} : operation_step{writing_};
    }
    /// Takes the response to the insert of the void row.
    void answer(result<written> voided, steady_time now = {});
    /// Takes the response to the read.
    void answer(result<get_entity::response> found, steady_time now = {});
    /// Ends the operation with this error.
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    /// Returns the outcome: applied or not_applied. Unknown if the row existed and was removed before it was read.
    [[nodiscard]] result<write_outcome> finish() { return *std::move(outcome_); }

    /// The operation row of a write that was applied.
    [[nodiscard]] row const& found() const noexcept { return found_; }

private:
    write_entity writing_;
    get_entity reading_;
    row found_;
    bool reads_;
    std::optional<result<write_outcome>> outcome_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/settling.ipp>
#endif

#endif
