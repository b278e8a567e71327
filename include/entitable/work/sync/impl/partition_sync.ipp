// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Most rows of one push: the transaction also has the receipt, and keeps room for two rows of a log.
inline constexpr std::size_t most_pushed = 97;
/// How often several pages are read again because they changed.
inline constexpr std::size_t most_unsteady = 5;

ENTITABLE_DECL partition_sync::partition_sync(synced_partition of, sync_report& report)
    : of_(std::move(of)), report_(report), rivals_(of_.max_attempts, of_.delays), rows_a_push_(most_rows_a_push()) {}

ENTITABLE_DECL std::size_t partition_sync::most_rows_a_push() const {
    return (std::min)({most_pushed, of_.cloud.max_operations - 1, of_.local.max_operations - 1});
}

ENTITABLE_DECL void partition_sync::end(result<void> const& ran) {
    ++report_.partitions;
    for (auto& [row_key, why] : held_) { report_.held.push_back({of_.partition_key, row_key, std::move(why)}); }
    if (!ran) { report_.failed.push_back({of_.partition_key, ran.error()}); }
}

ENTITABLE_DECL std::optional<row_view> partition_sync::known_row(bool local, std::string_view row_key) const {
    synced_rows const* const side = local ? &here_ : there_ ? &*there_ : nullptr;
    if (side == nullptr) { return std::nullopt; }
    auto const found = side->rows.find(row_key);
    return found != side->rows.end() ? std::optional{found->second} : std::nullopt;
}

// ---- reads ------------------------------------------------------------------------------------------------

ENTITABLE_DECL resumable<synced_rows> partition_sync::read(sync_place from) {
    bool const local = from == sync_place::here;
    query_entities all;
    all.table = local ? of_.here : of_.there;
    all.range.partition = key_interval::only(of_.partition_key);
    page_cursor pages{std::move(all)};
    synced_rows found;
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto answered, pages.take(co_await ask(std::as_const(pages).request(), at_place(from))));
        found.pages.push_back(std::move(answered.rows));
    }
    std::string const state_key = local ? std::string{system_row::synced} : receipt_key(state_.device);
    ENTITABLE_CO_CHECK(sort_rows(found, state_key));
    if (found.foreign) {
        auto const* const kind = system_row::kind_of(found.foreign->row_key);
        co_return failure{error_code::not_supported,
            text::joined({"the table \"", local ? of_.here : of_.there, "\" has ", kind->holds,
                ", which synchronize does not support"})};
    }
    if (of_.companions != nullptr) {
        // Each side makes its own rows of indexes and sums.
        std::erase_if(found.rows, [&](auto const& each) {
            return of_.companions->kind_of(of_.partition_key, each.first) == maintained_row::companion;
        });
    }
    co_return found;
}

ENTITABLE_DECL result<void> partition_sync::know_version() {
    std::optional<etag> const version = here_.state ? std::optional{here_.state->etag()} : std::nullopt;
    if (version_known_ && version != version_) {
        return failure{error_code::sync_running,
            "the partition is being synchronised by another call: the state of its synchronisation has changed"};
    }
    version_ = version;
    version_known_ = true;
    return {};
}

ENTITABLE_DECL resumable<void> partition_sync::read_here() {
    bool const first = !version_known_;
    ENTITABLE_CO_TRY(here_, co_await read(sync_place::here));
    ENTITABLE_CO_CHECK(know_version());
    settled_here_ = here_.pages.size() == 1;
    if (first && !settled_here_) {
        // Another call may have written rows, bases and the state between two pages: a row would be older than its base. From here on
        // the version of the state shows that.
        synced_rows const before = std::move(here_);
        ENTITABLE_CO_TRY(here_, co_await read(sync_place::here));
        ENTITABLE_CO_CHECK(know_version());
        settled_here_ = same_versions(before, here_);
    }
    if (here_.state) {
        ENTITABLE_CO_TRY(state_, state_of_row(*here_.state));
    } else {
        // Nothing in the cloud has this name before the state is stored: a push follows its note.
        if (state_.device.empty()) { state_.device = of_.ids->next(); }
        state_.receipt.clear();
        state_.push.clear();
    }
    co_return {};
}

ENTITABLE_DECL resumable<void> partition_sync::read_receipt() {
    get_entity const reading{of_.there, of_.partition_key, receipt_key(state_.device), {}};
    auto found = co_await ask(reading, at_place(sync_place::there));
    if (found) {
        receipt_ = std::move(found->entity);
    } else if (found.error().code == error_code::resource_not_found) {
        receipt_.reset();
    } else {
        co_return failure{found.error()};
    }
    co_return {};
}

ENTITABLE_DECL resumable<void> partition_sync::read_there() {
    ENTITABLE_CO_TRY(there_, co_await read(sync_place::there));
    settled_there_ = there_->pages.size() == 1;
    if (settled_there_) {
        receipt_ = there_->state ? std::optional{row{*there_->state}} : std::nullopt;
        co_return {};
    }
    // The receipt must not be older than a row: a push of a time before a restoration may have come in between.
    co_return co_await read_receipt();
}

ENTITABLE_DECL resumable<bool> partition_sync::is_steady(sync_place of) {
    bool const local = of == sync_place::here;
    bool& settled = local ? settled_here_ : settled_there_;
    if (settled) { co_return true; }
    if (!local) {
        ENTITABLE_CO_TRY(settled, is_unchanged_there());
        if (settled) { co_return true; }
    }
    // Without a log, two equal readings in succession show one point in time between them.
    ENTITABLE_CO_TRY(auto again, co_await read(of));
    bool same = same_versions(again, local ? here_ : *there_);
    if (!same && ++unsteady_ > most_unsteady) {
        list_once(report_.torn, of_.partition_key);
        same = true; // row by row: each is written under its own version
    }
    settled = same;
    if (!local && !same) { there_.reset(); }
    co_return same;
}

// ---- the protocol -----------------------------------------------------------------------------------------

ENTITABLE_DECL std::vector<mutation> partition_sync::bases_of_push(bool is_known) const {
    std::vector<mutation> made;
    for (auto const& [row_key, base] : here_.bases) {
        if (base.push != state_.push) { continue; }
        std::optional<row_view> content;
        if (base.pushed) { content = row_view{of_.partition_key, row_key, *base.pushed}; }
        made.push_back(is_known ? base_to(row_key, content)
                                : mutation::insert_or_replace(
                                      row_of_base(of_.partition_key, row_key, base_row{base.pushed, base.push, {}})));
    }
    return made;
}

ENTITABLE_DECL resumable<void> partition_sync::settle() {
    ENTITABLE_CO_CHECK(co_await read_receipt());
    std::optional<row_view> const receipt = receipt_ ? std::optional{receipt_->view()} : std::nullopt;
    std::string_view const last = push_of_receipt(receipt);
    sync_state next = state_;
    next.push.clear();
    std::vector<mutation> bases;
    bool unknown = false;
    if (last == state_.push) {
        bases = bases_of_push(true);
        next.receipt = state_.push;
    } else if (last == state_.receipt) {
        // Not applied so far. The receipt gets another version, so that the push is refused if it arrives late.
        row same = row_of_receipt(of_.partition_key, state_.device, last);
        write_entity const touch{of_.there,
            receipt ? mutation::replace(std::move(same), receipt->etag()) : mutation::insert(std::move(same))};
        auto const touched = co_await ask(touch, at_place(sync_place::there_once));
        if (!touched) {
            if (touched.error().effect == effect::unknown) { co_return failure{touched.error()}; }
            ENTITABLE_CO_TRY(bool const never, refused(touched.error(), {}, false));
            static_cast<void>(never);
            co_return co_await begin_again(true);
        }
        if (last.empty()) {
            // The first push from here. If receipts were removed, its own may be among them: then the push was applied, and others may
            // have removed its rows since.
            get_entity const reading{of_.there, of_.partition_key, expired_receipts_key(), {}};
            auto const mark = co_await ask(reading, at_place(sync_place::there));
            unknown = mark.has_value();
            if (!unknown && mark.error().code != error_code::resource_not_found) { co_return failure{mark.error()}; }
        }
    } else {
        unknown = true; // the receipt is of another history, and its version refuses the push
    }
    if (unknown) {
        // The push may have been applied, and no receipt has its name: the local rows count as restored.
        bases = bases_of_push(false);
        next.receipt = state_.push;
    }
    ENTITABLE_CO_TRY(bool const wrote, co_await write_here(std::move(bases), {}, std::move(next)));
    if (!wrote) { co_return co_await begin_again(true); }
    co_return {};
}

ENTITABLE_DECL resumable<void> partition_sync::run() {
    for (;;) {
        // The local rows are read again after each change of them: a program may write them at any time.
        ENTITABLE_CO_CHECK(co_await read_here());
        if (!state_.push.empty() && !cleared_) {
            // Before anything is compared: the rows of a push that was applied would look like changes of others.
            ENTITABLE_CO_CHECK(co_await settle());
            continue;
        }
        if (!there_) {
            ENTITABLE_CO_TRY(by_log_, co_await read_changes_there());
            if (!by_log_) { ENTITABLE_CO_CHECK(co_await read_there()); }
        }
        std::optional<row_view> const receipt = receipt_ ? std::optional{receipt_->view()} : std::nullopt;
        bool const restored = push_of_receipt(receipt) != state_.receipt;
        ENTITABLE_CO_TRY(auto planned, decide(restored));
        if (by_log_ && !planned.pushes.empty()) { // a local program has changed a row since
            there_.reset();
            continue;
        }
        if (planned.pulls > 0) {
            // A transaction of another device must not be seen in part, not even if the rest of it is on a page that was read before.
            ENTITABLE_CO_TRY(bool const steady, co_await is_steady(sync_place::there));
            if (!steady) { continue; }
        }
        if (!planned.changes.empty() || restored) {
            ENTITABLE_CO_TRY(bool const applied, co_await apply(std::move(planned.changes), restored));
            if (!applied) { ENTITABLE_CO_CHECK(co_await begin_again(false)); }
            continue;
        }
        if (!planned.pushes.empty()) {
            ENTITABLE_CO_TRY(bool const steady, co_await is_steady(sync_place::here));
            if (!steady) { continue; }
        }
        ENTITABLE_CO_TRY(bool const pushed, co_await push(std::move(planned.pushes)));
        if (pushed) { co_return co_await note_position(); }
        ENTITABLE_CO_CHECK(co_await begin_again(true));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
