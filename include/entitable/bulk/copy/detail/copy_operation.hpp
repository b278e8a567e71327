// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The steps of a copy, as a resumable operation over two transports.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/operation.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/request/requests.hpp>
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
using copy_watcher = function_ref<void(copy_progress const&)>;

namespace detail {

/// Returns the row to write for a row that was read; nullopt skips it.
using row_replacement = function_ref<result<std::optional<row>>(row_view)>;

/// Returns the row unchanged.
[[nodiscard]] inline result<std::optional<row>> same_row(row_view each) { return std::optional<row>{row{each}}; }

/// A resumable operation over two transports: the source is 0, the target 1.
class copy_operation {
public:
    copy_operation(std::string from_table, std::string to_table, row_replacement change, copy_watcher watch,
        profile const& target, copy_options const& options, bool changes = false);

    [[nodiscard]] operation_step next() const noexcept;

    void answer(result<query_entities::response> page, steady_time now);
    void answer(result<transact::response> done, steady_time now);
    void answer(result<written> done, steady_time now);
    void answer(result<get_entity::response> found, steady_time now);
    void abandon(error const& reason) { outcome_.emplace(failure{reason}); }
    [[nodiscard]] result<copy_progress> finish() { return *std::move(outcome_); }

private:
    enum class phase : std::uint8_t { read, write_batch, look, write_one, compare, verify };

    void take_page(query_entities::response page);
    [[nodiscard]] failure refused(system_row::kind const& kind) const;
    void begin_batch();
    void look_for_rows(phase why);
    void write_rest(std::size_t from);
    void write_one();
    void begin_verifying();
    void end_verifying();
    void end_page();
    void stop(failure why) { outcome_.emplace(std::move(why)); }
    [[nodiscard]] failure about(row const& offender, error_code code, std::string message) const;
    [[nodiscard]] row const& current() const { return batch_.changes[at_].entity; }

    row_replacement change_;
    bool const changes_; ///< whether the copy changes rows or keys
    copy_watcher watch_;
    copy_options const options_;
    phase phase_{phase::read};
    copy_progress progress_;
    std::optional<result<copy_progress>> outcome_;

    query_entities reading_;
    batch_packer packer_; ///< the rows of the page to write, by partition and key
    transact batch_;      ///< the current batch; empty before the first batch of a page
    std::size_t at_{};    ///< index within the batch, when rows are written one by one
    write_entity one_;
    get_entity comparing_;
    query_entities looking_;
    std::vector<bool> found_; ///< for each row of the batch: whether the target already has it
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/copy/impl/copy_operation.ipp>
#endif
