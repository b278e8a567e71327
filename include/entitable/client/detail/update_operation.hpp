// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The update of one row as a resumable operation.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/table_core.hpp>
#include <entitable/client/update_options.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/operation.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Converts the row that was read into the row to write; nullopt leaves it unchanged.
using row_change = function_ref<result<std::optional<row>>(row_view)>;

/// Reads a row, calls `change`, and replaces the row under the ETag that was read; repeats if another writer changed
/// the row first. The change must outlive it.
class update_operation {
public:
    /// `under_id`: the call has an operation id, so an earlier call may have been applied. `seed`: the seed for the delays. If `allowed` is
    /// an error, it sends nothing.
    ENTITABLE_LAZY update_operation(get_entity reading, row_change change, bool forced, bool under_id,
        std::uint32_t max_attempts, entitable::backoff const& delays, std::uint64_t seed, result<void> allowed = {});

    [[nodiscard]] operation_step next() const noexcept {
        return outcome_ ? operation_step{}
            : writes_   ? operation_step{writing_}
                        : operation_step{reading_, not_before_, 0, wait_cause::contention};
    }
    /// Begins after a first attempt that the caller made, whose write was answered with `done`.
    ENTITABLE_LAZY void begin_after(result<written> done, steady_time now);
    ENTITABLE_LAZY void answer(result<get_entity::response> found, steady_time now);
    ENTITABLE_LAZY void answer(result<written> done, steady_time now);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<update_outcome> finish();

private:
    /// Under an operation id only a response to the write can show that nothing was applied: an earlier call may have been.
    ENTITABLE_LAZY void end_before_write(failure why);

    std::uint32_t max_attempts_;
    entitable::backoff delays_;
    random_source random_;
    row_change change_;
    get_entity reading_;
    write_entity writing_;
    steady_time not_before_{(steady_time::min)()};
    etag version_;
    std::uint32_t attempts_{};
    bool forced_;
    bool under_id_;
    bool writes_{};
    std::optional<result<update_outcome>> outcome_;
};

/// Returns the row to write for a changed entity; `made` may be a conversion error. Errors: InvalidInput if its keys differ from those of
/// `stored`.
ENTITABLE_LAZY [[nodiscard]] result<std::optional<row>> changed_entity(row_view stored, result<row>&& made);

/// Updates one row of a table, which must outlive it. The keys may be conversion errors. `time`: the clock that seeds the delays if the
/// options have no seed.
ENTITABLE_LAZY [[nodiscard]] update_operation to_update(table_core const& table, result<std::string>& partition_key,
    result<std::string>& row_key, row_change change, bool forced, update_options const& options, clock& time);

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
