// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/move/detail/shard_table_copy.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reserves one change for the guard row.
inline profile limits_of_copy(profile limits) {
    constexpr std::size_t most_of_guard = 16 * 1024;
    limits.max_operations = limits.max_operations > 1 ? limits.max_operations - 1 : 1;
    limits.max_transaction_size =
        limits.max_transaction_size > 2 * most_of_guard ? limits.max_transaction_size - most_of_guard : most_of_guard;
    return limits;
}

ENTITABLE_DECL shard_table_copy::shard_table_copy(
    std::string from, std::string to, profile const& target, std::uint32_t page_size, key_interval partitions)
    : from_(std::move(from)),
      to_(std::move(to)),
      keys_(std::move(partitions)),
      page_size_(page_size),
      packer_(to_, limits_of_copy(target)) {}

// ---- passes ----

ENTITABLE_DECL resumable<void> shard_table_copy::run(copy_pass pass, std::size_t source, std::size_t target) {
    source_ = source;
    target_ = target;
    ++number_;
    changes_ = met_ = 0;
    bool const reads_target = pass == copy_pass::verify || pass == copy_pass::collect;
    return reads_target ? compare(pass == copy_pass::verify) : copy(pass == copy_pass::whole);
}

ENTITABLE_DECL resumable<void> shard_table_copy::copy(bool whole) {
    page_cursor pages{pages_of(from_, !whole)};
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto const found, pages.take(co_await ask(pages.request(), {.place = source_})));
        if (whole) {
            ENTITABLE_CO_CHECK(take_rows(found.rows, whole));
            ENTITABLE_CO_CHECK(co_await send_all());
        } else { // the page has keys and ETags only: rows that are new or changed are read before the next page
            for (key_range& each : changed_ranges(found.rows)) { ENTITABLE_CO_CHECK(co_await fetch(std::move(each))); }
        }
    }
    // Only now is it known which rows no longer exist: a row of a later page may have been inserted during the pass.
    ENTITABLE_CO_CHECK(remove_the_rest());
    co_return co_await send_all();
}

/// Copies the rows of a range, if they still differ.
ENTITABLE_DECL resumable<void> shard_table_copy::fetch(key_range range) {
    page_cursor pages{query_entities{from_, std::move(range), {}, {}, page_size_, {}}};
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto const found, pages.take(co_await ask(pages.request(), {.place = source_})));
        ENTITABLE_CO_CHECK(take_rows(found.rows, false));
        ENTITABLE_CO_CHECK(co_await send_all()); // before the next page: a few batches of memory are enough
    }
    co_return {};
}

ENTITABLE_DECL resumable<void> shard_table_copy::compare(bool with_content) {
    page_cursor pages{pages_of(to_, !with_content)};
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto const found, pages.take(co_await ask(pages.request(), {.place = target_})));
        ENTITABLE_CO_CHECK(take_target(found.rows, with_content));
    }
    std::uint64_t written = 0;
    for (auto const& [key, partition] : partitions_) { written += partition.rows.size(); }
    changes_ += written > met_ ? written - met_ : 0; // rows that the target has lost
    co_return {};
}

ENTITABLE_DECL query_entities shard_table_copy::pages_of(std::string const& table, bool keys_only) const {
    query_entities pages{table, {keys_, {}}, {}, {}, page_size_, {}};
    if (keys_only) { pages.select = {"PartitionKey", "RowKey"}; }
    return pages;
}

// ---- batches ----

ENTITABLE_DECL resumable<void> shard_table_copy::send_all() {
    std::vector<std::uint64_t> tags;
    while (auto taken = packer_.take(&tags)) {
        guarded_batch const batch = guarded(*std::move(taken), tags);
        ENTITABLE_CO_CHECK(co_await send(batch));
    }
    co_return {};
}

ENTITABLE_DECL resumable<void> shard_table_copy::send(guarded_batch const& batch) {
    for (contention sends{most_resends, resend_backoff};;) {
        auto done = co_await ask(batch.request, {.place = target_});
        if (done) {
            etag guard = done->results.back().etag;
            note(batch, &done->results, std::move(guard));
            co_return {};
        }
        error const& why = done.error();
        if (why.effect == effect::unknown && !sends.is_last()) {
            co_await delay_next{sends.delay(0)}; // the same batch again: if it was applied, its guard row refuses it
            continue;
        }
        if (!was_beaten(why)) { co_return failure{why}; }
        co_return co_await settle(batch);
    }
}

/// Reads the guard row that refused a batch: the batch was applied by an earlier send, or another process writes to the table.
ENTITABLE_DECL resumable<void> shard_table_copy::settle(guarded_batch const& batch) {
    get_entity const asked{to_, batch.partition_key, std::string{system_row::copy}, {}};
    auto guard = co_await ask(asked, {.place = target_});
    if (!guard && guard.error().code != error_code::resource_not_found) { co_return failure{guard.error()}; }
    auto const number = guard ? guard->entity.view().find("Copy_Batch") : std::nullopt;
    if (!number || number->type() != edm_type::int64 || number->as_int64() != batches_) {
        co_return failure{error_code::shard_moving, text::joined({"another process also writes to the table ", to_})};
    }
    note(batch, nullptr, std::move(guard->etag));
    co_return {};
}

/// Adds the guard row of the batch's partition.
ENTITABLE_DECL shard_table_copy::guarded_batch shard_table_copy::guarded(
    transact batch, std::vector<std::uint64_t> rows) {
    std::string partition_key{batch.changes.front().entity.partition_key()};
    copied_partition const& partition = partitions_[partition_key];
    row_builder guard{partition_key, system_row::copy};
    guard.add("Copy_Batch", ++batches_);
    batch.changes.push_back( // after the rows: inserting in front would shift them all
        partition.batch == 0 ? mutation::insert(guard.build()) : mutation::replace(guard.build(), partition.guard));
    return {std::move(batch), std::move(rows), std::move(partition_key)};
}

/// Records that a batch was applied; without results its ETags are unknown.
ENTITABLE_DECL void shard_table_copy::note(guarded_batch const& batch, std::vector<written>* results, etag guard) {
    copied_partition& partition = partitions_[batch.partition_key];
    partition.guard = std::move(guard);
    partition.batch = batches_;
    if (partition.rows.size() == 0) { partition.rows.reserve(batch.rows.size()); }
    for (std::size_t index = 0; index < batch.rows.size(); ++index) {
        mutation const& change = batch.request.changes[index];
        if (change.kind == mutation_kind::remove) {
            partition.rows.erase(change.entity.row_key());
            continue;
        }
        pending_row& read = pending_[batch.rows[index]];
        copied_row& known = partition.rows.at(change.entity.row_key());
        known.seen = number_;
        known.content = read.content;
        known.source = results != nullptr ? std::move(read.source) : etag{};
        known.target = results != nullptr ? std::move((*results)[index].etag) : etag{};
    }
}

// ---- rows ----

ENTITABLE_DECL copied_row* shard_table_copy::find(row_view each) {
    if (last_ == partitions_.end() || last_->first != each.partition_key) {
        last_ = partitions_.find(each.partition_key);
    }
    return last_ == partitions_.end() ? nullptr : last_->second.rows.find(each.row_key);
}

/// Returns the ranges of row keys that hold the new and changed rows of a page.
ENTITABLE_DECL std::vector<key_range> shard_table_copy::changed_ranges(page const& rows) {
    std::vector<key_range> ranges;
    for (row_view const each : rows) {
        if (each.row_key == system_row::copy) { continue; } // left by an earlier move
        copied_row* const known = find(each);
        if (known != nullptr) { known->seen = number_; }
        if (known != nullptr && known->source == each.etag()) { continue; }
        ++changes_; // even if a later read finds the row unchanged
        auto const upper = key_bound::including(std::string{each.row_key});
        if (!ranges.empty() && ranges.back().partition.lower.key == std::string_view{each.partition_key}) {
            ranges.back().row.upper = upper;
        } else {
            ranges.push_back({key_interval::only(std::string{each.partition_key}), {upper, upper}});
        }
    }
    return ranges;
}

/// Packs the rows that differ from their copies.
ENTITABLE_DECL result<void> shard_table_copy::take_rows(page const& rows, bool whole) {
    pending_.clear();
    for (row_view const each : rows) {
        if (each.row_key == system_row::copy) { continue; }
        copied_row* const known = whole ? nullptr : find(each); // the first pass has no known rows
        if (known != nullptr) { known->seen = number_; }
        if (known != nullptr && known->source == each.etag()) { continue; }
        ENTITABLE_CHECK(packer_.add(
            mutation::insert_or_replace(row{each.partition_key, each.row_key, each.payload}), pending_.size()));
        pending_.push_back({each.etag(), digests_.of(each)});
        changes_ += whole ? 1 : 0;
        ++rows_;
        bytes_ += each.partition_key.size() + each.row_key.size() + each.payload.size();
    }
    return {};
}

/// Compares the target's rows with those written. Rows that differ must be copied again.
ENTITABLE_DECL result<void> shard_table_copy::take_target(page const& rows, bool with_content) {
    for (row_view const each : rows) {
        if (each.row_key == system_row::copy) { continue; }
        copied_row* const known = find(each);
        if (known == nullptr) {
            if (each.row_key.starts_with(system_row::operation)) {
                continue; // a transport below keeps its own record of our batches
            }
            ++changes_;
            static_cast<void>(partitions_[std::string{each.partition_key}].rows.at(each.row_key));
            continue;
        }
        ++met_;
        if (!(known->target == each.etag())) {
            ++changes_;
            known->source = {};
        } else if (with_content && known->content != digests_.of(each)) {
            failure differing{error_code::row_mismatch,
                text::joined({"a row of the table ", to_, " differs from its original in the table ", from_})};
            differing.error().detail = text::printable(
                text::joined({text::shortened(each.partition_key), "/", text::shortened(each.row_key)}));
            return differing;
        }
    }
    return {};
}

/// Packs the removal of rows that this pass has not seen.
ENTITABLE_DECL result<void> shard_table_copy::remove_the_rest() {
    result<void> added;
    for (auto const& each : partitions_) {
        each.second.rows.for_each([&](std::string_view row_key, copied_row const& known) {
            if (known.seen != number_ && added) {
                added = packer_.add(mutation::remove(row_builder{each.first, row_key}.build(), any_etag));
                ++changes_;
            }
        });
    }
    return added;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
