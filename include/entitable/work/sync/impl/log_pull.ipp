// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companion_writer.hpp>
#include <entitable/client/companions/log/logged_changes.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Most rows that are read one by one; more are read as a whole partition.
inline constexpr std::size_t most_read_alone = 20;

ENTITABLE_DECL bool partition_sync::is_unchanged_here() const {
    for (auto const& [row_key, base] : here_.bases) {
        auto const here = here_.rows.find(row_key);
        if (!base.push.empty()) { return false; }
        bool const is_here = here != here_.rows.end();
        if (is_here != base.content.has_value()) { return false; }
        // As `decide` compares: the sides may store their properties in different orders.
        bool const same = !is_here || *base.content == content_of(here->second) ||
            same_properties(here->second, row_view{of_.partition_key, row_key, *base.content});
        if (!same) { return false; }
    }
    for (auto const& [row_key, stored] : here_.rows) {
        if (!here_.bases.contains(row_key)) { return false; }
    }
    return true;
}

ENTITABLE_DECL result<bool> partition_sync::is_unchanged_there() const {
    auto const seen = log_position::parse(seen_);
    if (of_.log == nullptr || !seen) { return false; }
    ENTITABLE_TRY(auto const since, of_.log->changes(of_.partition_key, *seen));
    return !since.needs_full_read && since.position == *seen;
}

ENTITABLE_DECL resumable<bool> partition_sync::read_changes_there() {
    if (of_.log == nullptr) { co_return false; }
    auto const seen = tried_log_ ? std::nullopt : log_position::parse(state_.seen);
    tried_log_ = true;
    if (!seen || seen->numbers.empty() || !is_unchanged_here()) {
        if (seen_.empty()) { // from before the rows are read: later changes are read again next time
            ENTITABLE_CO_TRY(auto const heads, of_.log->changes(of_.partition_key, {}));
            seen_ = heads.position.to_string();
        }
        co_return false;
    }
    ENTITABLE_CO_TRY(auto const changed, of_.log->changes(of_.partition_key, *seen));
    seen_ = changed.position.to_string();
    std::set<std::string> named;
    for (logged_change const& each : changed.changes) {
        for (logged_row const& one : each.rows) { named.insert(one.row_key); }
    }
    if (changed.needs_full_read || changed.more || named.size() > most_read_alone) { co_return false; }
    synced_rows found;
    page& rows = found.pages.emplace_back();
    for (std::string const& row_key : named) {
        get_entity const reading{of_.there, of_.partition_key, row_key, {}};
        auto const one = co_await ask(reading, at_place(sync_place::there));
        if (one) {
            rows.append(one->entity.view());
        } else if (one.error().code != error_code::resource_not_found) {
            co_return failure{one.error()};
        }
    }
    if (!named.empty()) {
        // After the rows. A file that was restored finds another receipt, and compares everything.
        ENTITABLE_CO_CHECK(co_await read_receipt());
        std::optional<row_view> const receipt = receipt_ ? std::optional{receipt_->view()} : std::nullopt;
        if (push_of_receipt(receipt) != state_.receipt) { co_return false; }
        // The rows show one point in time if nothing has changed since the changes were read.
        ENTITABLE_CO_TRY(auto const again, of_.log->changes(of_.partition_key, changed.position));
        if (again.needs_full_read || again.position != changed.position) { co_return false; }
    } else {
        // Each push is in the log, so nothing was pushed from here since then.
        receipt_ = row_of_receipt(of_.partition_key, state_.device, state_.receipt);
        if (state_.receipt.empty()) { receipt_.reset(); }
    }
    for (auto const& [row_key, base] : here_.bases) {
        if (base.content && !named.contains(std::string{row_key})) {
            rows.append(row_view{of_.partition_key, row_key, *base.content});
        }
    }
    ENTITABLE_CO_CHECK(sort_rows(found, receipt_key(state_.device)));
    there_ = std::move(found);
    settled_there_ = true;
    co_return true;
}

ENTITABLE_DECL resumable<void> partition_sync::note_position() {
    if (seen_.empty() || seen_ == state_.seen || !held_.empty()) { co_return {}; }
    sync_state next = state_;
    next.seen = seen_;
    // Without the position the next run reads everything. So it does not matter if a local program was faster.
    ENTITABLE_CO_TRY(bool const noted, co_await write_here({}, {}, std::move(next)));
    static_cast<void>(noted);
    co_return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
