// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/shards/move/detail/shard_table_erasure.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL shard_table_erasure::shard_table_erasure(
    std::string table, std::vector<key_interval> partitions, std::uint32_t page_size)
    : left_(std::move(partitions)),
      asked_{table, {}, {}, {"PartitionKey", "RowKey"}, page_size, {}},
      packer_(std::move(table), storage_profile()) {
    ask_next();
}

ENTITABLE_DECL void shard_table_erasure::ask_next() {
    if (left_.empty()) {
        outcome_.emplace();
        return;
    }
    asked_.range.partition = std::move(left_.back());
    asked_.continuation.reset();
    left_.pop_back();
}

ENTITABLE_DECL operation_step shard_table_erasure::next() const noexcept {
    if (outcome_) { return {}; }
    return {batch_ ? request_ref{*batch_} : request_ref{asked_}, not_before_, 0};
}

ENTITABLE_DECL void shard_table_erasure::answer(result<query_entities::response> found, steady_time) {
    not_before_ = (steady_time::min)();
    if (!found) {
        bool const gone = found.error().code == error_code::table_not_found;
        outcome_.emplace(gone ? result<void>{} : result<void>{failure{found.error()}});
        return;
    }
    if (found->rows.empty()) { // an empty page need not be the last page
        asked_.continuation = std::move(found->continuation);
        if (!asked_.continuation) { ask_next(); }
        return;
    }
    asked_.continuation.reset();
    for (std::size_t index = 0; index < found->rows.size(); ++index) {
        row_view const each = found->rows[index];
        if (auto added = packer_.add(mutation::remove(row{each.partition_key, each.row_key, {}}, any_etag)); !added) {
            outcome_.emplace(std::move(added).as_failure());
            return;
        }
    }
    batch_ = packer_.take();
}

ENTITABLE_DECL void shard_table_erasure::answer(result<transact::response> done, steady_time now) {
    constexpr std::size_t most_refusals = 50;
    if (done) {
        refusals_ = 0;
        erased_ += done->results.size();
        batch_ = packer_.take();
        return;
    }
    error_code const code = done.error().code;
    bool const met = code == error_code::resource_not_found || done.error().effect == effect::unknown;
    if (code == error_code::table_not_found) {
        outcome_.emplace();
    } else if (!met || ++refusals_ == most_refusals) {
        outcome_.emplace(failure{done.error()});
    } else { // the next query shows the remaining rows
        not_before_ = now + std::chrono::milliseconds{refusals_ < 10 ? 1 << refusals_ : 1000};
        while (packer_.take()) {}
        batch_.reset();
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
