// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/copy/copy.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure about_copied(row const& offender, error_code code, std::string message) {
    failure made{code, std::move(message)};
    made.error().detail = keys_text(offender.partition_key(), offender.row_key());
    return made;
}

// ---- the rows of a page -----------------------------------------------------------------------------

ENTITABLE_DECL failure not_copied(copied_table const& table, system_row::kind const& kind) {
    bool const whole = kind.copied == system_row::copying::taken_along; // an unchanged copy could include them
    return failure{error_code::not_supported,
        text::joined({"the table \"", table.from, "\" holds ", kind.holds,
            whole ? "; a copy that changes rows would lose them: copy the table as it is, or use "
                  : ", and cannot be copied: use ",
            kind.keeper, whole ? "" : " at the target"})};
}

/// Adds what becomes of a row of the source to the rows to write.
ENTITABLE_DECL result<void> add_copied(
    copied_table const& table, row_view each, copy_progress& progress, std::vector<row>& rows) {
    system_row::kind const* const kind = system_row::kind_of(each.row_key);
    system_row::copying const how = kind == nullptr ? system_row::copying::taken_along
        : table.changes                             ? kind->changed
                                                    : kind->copied;
    if (how == system_row::copying::left_behind) { return {}; }
    if (how == system_row::copying::refused) { return not_copied(table, *kind); }
    ENTITABLE_CHECK(check_payload(each.payload));
    if (kind != nullptr) {
        ++progress.read;
        ++progress.system_rows;
        rows.emplace_back(each);
        return {};
    }
    ENTITABLE_TRY(auto made, table.change(each));
    ++progress.read;
    if (made && system_row::is_one(made->row_key())) {
        return about_copied(*made, error_code::key_reserved,
            text::joined({"the row key of a changed row begins with \"", system_row::prefix,
                "\", which is reserved for the library"}));
    }
    if (made) {
        rows.push_back(*std::move(made));
    } else {
        ++progress.left_out;
    }
    return {};
}

/// Sorts the rows of a page: those of one partition together, each in key order.
ENTITABLE_DECL result<void> sort_copied(std::vector<row>& rows) {
    auto const compare = [](row const& left, row const& right) {
        int const partitions = text::compare_utf16(left.partition_key(), right.partition_key());
        return partitions != 0 ? partitions : text::compare_utf16(left.row_key(), right.row_key());
    };
    std::sort(rows.begin(), rows.end(), [&](row const& left, row const& right) { return compare(left, right) < 0; });
    for (std::size_t at = 1; at < rows.size(); ++at) {
        if (compare(rows[at - 1], rows[at]) == 0) {
            return about_copied(rows[at], error_code::invalid_duplicate_row,
                "two rows of the source would get the same key in the copy");
        }
    }
    return {};
}

/// Packs the rows of a page of the source into batches.
ENTITABLE_DECL result<void> pack_copied(
    copied_table const& table, page const& found, copy_progress& progress, batch_packer& packer) {
    std::vector<row> rows;
    for (std::size_t index = 0; index < found.size(); ++index) {
        ENTITABLE_CHECK(add_copied(table, found[index], progress, rows));
    }
    ENTITABLE_CHECK(sort_copied(rows));
    for (row& each : rows) { ENTITABLE_CHECK(packer.add(mutation::insert(std::move(each)))); }
    return {};
}

// ---- one batch --------------------------------------------------------------------------------------

inline constexpr ask_options of_target{.place = 1};

/// Which rows of a batch the target has, with the same properties. Reads them, and the rows between them. The batch must outlive it.
ENTITABLE_DECL resumable<std::vector<bool>> look_at_copied(transact const& batch) {
    row const& least = batch.changes.front().entity;
    row const& most = batch.changes.back().entity;
    page_cursor pages{query_entities{batch.table,
        {key_interval::only(std::string{least.partition_key()}),
            {key_bound::including(std::string{least.row_key()}), key_bound::including(std::string{most.row_key()})}},
        {}, {}, 1000, {}}};
    std::vector<bool> there(batch.changes.size());
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto const found, pages.take(co_await ask(pages.request(), of_target)));
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            row_view const stored = found.rows[index];
            for (std::size_t at = 0; at < there.size(); ++at) {
                row const& wanted = batch.changes[at].entity;
                if (wanted.row_key() == stored.row_key && same_properties(wanted, stored)) { there[at] = true; }
            }
        }
    }
    co_return there;
}

/// Writes one row, unless the target has the same. Row and progress must outlive it.
ENTITABLE_DECL resumable<void> write_copied_row(
    std::string table, row const& wanted, bool overwrite, copy_progress& progress) {
    get_entity const comparing{table, std::string{wanted.partition_key()}, std::string{wanted.row_key()}, {}};
    write_entity writing{std::move(table), mutation::insert(wanted)};
    for (;;) {
        auto const done = co_await ask(writing, of_target);
        if (done) {
            ++progress.written;
            co_return result<void>{};
        }
        bool const taken = done.error().code == error_code::entity_already_exists;
        if (!taken || writing.change.kind != mutation_kind::insert) { co_return failure{done.error()}; }
        auto const found = co_await ask(comparing, of_target);
        if (!found && found.error().code == error_code::resource_not_found) { continue; } // removed in between
        if (!found) { co_return failure{found.error()}; }
        if (same_properties(found->entity, wanted)) {
            ++progress.present;
            co_return result<void>{};
        }
        if (!overwrite) {
            co_return about_copied(wanted, error_code::entity_already_exists,
                text::joined({"the table \"", writing.table, "\" already has this row, with different properties"}));
        }
        writing.change = mutation::insert_or_replace(wanted);
    }
}

/// Writes the rows of a batch, together if the target has none of them. Returns whether the target had all of them. Batch and progress
/// must outlive it.
ENTITABLE_DECL resumable<bool> write_copied(transact const& batch, bool overwrite, copy_progress& progress) {
    std::vector<bool> there(batch.changes.size());
    if (batch.changes.size() > 1) {
        auto const done = co_await ask(batch, of_target);
        if (done) {
            progress.written += batch.changes.size();
            co_return false;
        }
        if (done.error().code != error_code::entity_already_exists) { co_return failure{done.error()}; }
        // An earlier copy has reached or passed this position.
        ENTITABLE_CO_TRY(there, co_await look_at_copied(batch));
        progress.present += static_cast<std::uint64_t>(std::count(there.begin(), there.end(), true));
    }
    for (std::size_t at = 0; at < there.size(); ++at) {
        if (there[at]) { continue; }
        ENTITABLE_CO_CHECK(co_await write_copied_row(batch.table, batch.changes[at].entity, overwrite, progress));
    }
    co_return std::find(there.begin(), there.end(), false) == there.end();
}

/// Writes a batch and reads it back. Batch and progress must outlive it.
ENTITABLE_DECL resumable<void> copy_batch(transact const& batch, bool verify, bool overwrite, copy_progress& progress) {
    ENTITABLE_CO_TRY(bool const had_all, co_await write_copied(batch, overwrite, progress));
    if (!verify && !had_all) { co_return result<void>{}; }
    if (!had_all) {
        ENTITABLE_CO_TRY(std::vector<bool> const there, co_await look_at_copied(batch));
        for (std::size_t at = 0; at < there.size(); ++at) {
            if (there[at]) { continue; }
            co_return about_copied(batch.changes[at].entity, error_code::row_mismatch,
                text::joined({"a row of the table \"", batch.table, "\" differs from the row that was just copied"}));
        }
    }
    progress.verified += batch.changes.size();
    co_return result<void>{};
}

// ---- the copy ---------------------------------------------------------------------------------------

ENTITABLE_DECL copy_operation copy_table_pages(copied_table table, profile target, copy_options options) {
    copy_progress progress;
    batch_packer packer{table.to, target};
    query_entities asked;
    asked.table = table.from;
    asked.page_size = options.page_size;
    asked.continuation = options.from;
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto const found, pages.take(co_await ask(pages.request())));
        ENTITABLE_CO_CHECK(pack_copied(table, found.rows, progress, packer));
        while (auto const batch = packer.take()) {
            ENTITABLE_CO_CHECK(co_await copy_batch(*batch, options.verify, options.overwrite, progress));
        }
        ++progress.pages;
        progress.next = pages.request().continuation;
        table.watch(progress);
    }
    co_return progress;
}

} // namespace detail

ENTITABLE_DECL result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, detail::row_replacement change, copy_progress_callback watch, copy_options const& options) {
    auto copying = detail::copy_table_pages(
        {std::move(from_table), std::move(to_table), change, watch, true}, to.profile(), options);
    return run(copying, options.calls, system_clock(), from, to);
}

ENTITABLE_DECL result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, copy_progress_callback watch, copy_options const& options) {
    auto copying = detail::copy_table_pages(
        {std::move(from_table), std::move(to_table), detail::same_row, watch, false}, to.profile(), options);
    return run(copying, options.calls, system_clock(), from, to);
}

ENTITABLE_END_NAMESPACE
