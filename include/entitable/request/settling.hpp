// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `settling`: finds out, for good, what became of a write that keeps an operation row. It inserts the row, void and alone: where that
/// succeeds no attempt of the write was applied, and each one that is still on its way will be refused. Where it is refused the row
/// is there already, and says what became of the write. Reading the row is not enough: a row that is absent may still arrive.

#include <entitable/request/fate.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/request/operation_row.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// Settles one operation; a resumable operation. An error of a request ends it with nothing settled; it may be begun anew, with the same
/// answer in the end. Thread safety: one thread at a time.
class settling {
public:
    /// Of the operation with this id in a partition. `is_there`: the row was met, so it is read at once.
    settling(std::string table, std::string_view partition_key, std::string_view operation_id, bool is_there = false);

    /// The request to send; none when all is known.
    [[nodiscard]] operation_step next() const noexcept {
        return outcome_ ? operation_step{} : reads_ ? operation_step{reading_} : operation_step{writing_};
    }
    /// The answer to the insert of the void row.
    void answer(result<written> voided, steady_time now = {});
    /// The answer to the read.
    void answer(result<get_entity::response> found, steady_time now = {});
    /// Ends it early.
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    /// What became of the write: applied, or never to be. Unknown where the row was met and then removed before it was read.
    [[nodiscard]] result<fate> finish() { return *std::move(outcome_); }

    /// The operation row of the write that was applied.
    [[nodiscard]] row const& found() const noexcept { return found_; }

private:
    write_entity writing_;
    get_entity reading_;
    row found_;
    bool reads_;
    std::optional<result<fate>> outcome_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/settling.ipp>
#endif
