// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The steps of a copy, as a resumable operation over two transports.

#include <entitable/core/function_ref.hpp>
#include <entitable/request/batch_packer.hpp>
#include <entitable/request/call.hpp>
#include <entitable/request/operation.hpp>
#include <entitable/request/profile.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a copy.
struct copy_options {
    std::uint32_t page_size{1000}; ///< rows a request, 1 to 1000
    bool verify{true};             ///< read back what was written, and compare it
    bool overwrite{};              ///< overwrite a row of the target that differs; without it the copy stops there
    std::optional<std::string>
        from{};           ///< `copy_progress::next` of an earlier copy of the same table; absent: the start
    call_options calls{}; ///< of each request
};

/// What a copy has done.
struct copy_progress {
    std::uint64_t pages{};       ///< of the source
    std::uint64_t read{};        ///< rows of the source
    std::uint64_t left_out{};    ///< of these, those that `change` left out
    std::uint64_t written{};     ///< rows that were missing in the target, or differed
    std::uint64_t present{};     ///< rows that the target had already with the same properties
    std::uint64_t verified{};    ///< rows that were read back and compared
    std::uint64_t system_rows{}; ///< of the rows read, those of the library that are data: see `system_row::copying`
    std::optional<std::string> next{}; ///< where to resume; absent at the end
};

/// Called after each page, on the thread of the copy. May throw, which ends the copy after that page.
using copy_watcher = function_ref<void(copy_progress const&)>;

namespace detail {

/// The row to write for one that was read; nothing to leave it out.
using row_replacement = function_ref<result<std::optional<row>>(row_view)>;

/// The row as it is.
[[nodiscard]] inline result<std::optional<row>> same_row(row_view each) { return std::optional<row>{row{each}}; }

/// A resumable operation over two places: the source is 0, the target 1.
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
    bool const changes_; ///< rows or keys
    copy_watcher watch_;
    copy_options const options_;
    phase phase_{phase::read};
    copy_progress progress_;
    std::optional<result<copy_progress>> outcome_;

    query_entities reading_;
    batch_packer packer_; ///< holds the rows of the page that are to be written, by partition and key
    transact batch_;      ///< the one at hand; without changes before the first of a page
    std::size_t at_{};    ///< within it, one by one
    write_entity one_;
    get_entity comparing_;
    query_entities looking_;
    std::vector<bool> found_; ///< of the rows of the batch: the target has them as they should be
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/copy_operation.ipp>
#endif
