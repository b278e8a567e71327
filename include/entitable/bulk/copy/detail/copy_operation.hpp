// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The steps of a copy, as a resumable operation over two transports.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/core/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a copy.
struct copy_options {
    std::uint32_t page_size{1000}; ///< rows per request, 1 to 1000
    bool verify{true};             ///< whether written rows are read back and compared
    bool overwrite{}; ///< whether a different row of the target is overwritten; otherwise the copy ends there
    std::optional<std::string>
        from{};           ///< `copy_progress::next` of an earlier copy of the same table; absent: from the start
    call_options calls{}; ///< options of each request
};

/// Progress of a copy.
struct copy_progress {
    std::uint64_t pages{};             ///< pages read from the source
    std::uint64_t read{};              ///< rows read from the source
    std::uint64_t left_out{};          ///< rows that `change` skipped, included in `read`
    std::uint64_t written{};           ///< rows that were missing in the target, or differed
    std::uint64_t present{};           ///< rows that the target already had with the same properties
    std::uint64_t verified{};          ///< rows that were read back and compared
    std::uint64_t system_rows{};       ///< system rows that are data, included in `read`: see `system_row::copying`
    std::optional<std::string> next{}; ///< position to resume from; absent at the end
};

/// Called after each page, on the thread of the copy. May throw, which ends the copy after that page.
using copy_progress_callback = function_ref<void(copy_progress const&)>;

namespace detail {

/// Returns the row to write for a row that was read; nullopt skips it.
using row_replacement = function_ref<result<std::optional<row>>(row_view)>;

/// Returns the row unchanged.
[[nodiscard]] inline result<std::optional<row>> same_row(row_view each) { return std::optional<row>{row{each}}; }

/// The tables and the callbacks of a copy. All that they refer to must outlive the copy.
struct copied_table {
    std::string from;
    std::string to;
    row_replacement change;
    copy_progress_callback watch;
    bool changes{}; ///< whether the copy changes rows or keys
};

using copy_operation = resumable<copy_progress>;

/// Copies a table, page after page, over two transports: the source is 0, the target 1.
copy_operation copy_table_pages(copied_table table, profile target, copy_options options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/copy/impl/copy_operation.ipp>
#endif
