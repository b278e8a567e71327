// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/operation_row.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
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
      limits_(limits_of_copy(target)),
      asked_{from_, {std::move(partitions), {}}, {}, {}, page_size, {}},
      packer_(to_, limits_),
      batch_{to_, {}},
      guard_{to_, {}, std::string{system_row::copy}, {}} {}

ENTITABLE_DECL void shard_table_copy::begin(copy_pass pass) {
    pass_ = pass;
    ++number_;
    bool const reads_target = pass == copy_pass::verify || pass == copy_pass::collect;
    asked_.table = reads_target ? to_ : from_;
    asked_.continuation.reset();
    asked_.select.clear();
    if (pass == copy_pass::catch_up || pass == copy_pass::collect) { asked_.select = {"PartitionKey", "RowKey"}; }
    scanned_ = removed_ = false;
    fetch_.reset();
    fetches_.clear();
    changes_ = met_ = 0;
    outcome_.reset();
}

ENTITABLE_DECL operation_step shard_table_copy::next() const noexcept {
    if (outcome_) { return {}; }
    if (settles_) { return {guard_, not_before_, 1}; }
    if (sends_) { return {batch_, not_before_, 1}; }
    bool const reads_target = pass_ == copy_pass::verify || pass_ == copy_pass::collect;
    return {fetch_ ? request_ref{*fetch_} : request_ref{asked_}, (steady_time::min)(), reads_target ? 1U : 0U};
}

ENTITABLE_DECL copied_row* shard_table_copy::find(row_view each) {
    if (last_ == partitions_.end() || last_->first != each.partition_key) {
        last_ = partitions_.find(each.partition_key);
    }
    return last_ == partitions_.end() ? nullptr : last_->second.rows.find(each.row_key);
}

/// Finds the rows that are new or changed, and the ranges of row keys that hold them.
ENTITABLE_DECL void shard_table_copy::take_keys(page const& rows) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
        if (each.row_key == system_row::copy) {
            continue; // left by an earlier move
        }
        copied_row* const known = find(each);
        if (known != nullptr) { known->seen = number_; }
        if (known != nullptr && known->source == each.etag()) { continue; }
        ++changes_; // even if a later read finds the row unchanged
        bool const goes_on =
            !fetches_.empty() && fetches_.back().partition.lower.key == std::string_view{each.partition_key};
        if (goes_on) {
            fetches_.back().row.upper = key_bound::including(std::string{each.row_key});
        } else {
            std::string const row_key{each.row_key};
            fetches_.push_back({key_interval::only(std::string{each.partition_key}),
                {key_bound::including(row_key), key_bound::including(row_key)}});
        }
    }
}

ENTITABLE_DECL result<void> shard_table_copy::take_rows(page const& rows) {
    pending_.clear();
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
        if (each.row_key == system_row::copy) { continue; }
        copied_row* const known = pass_ == copy_pass::whole ? nullptr : find(each); // the first pass has no known rows
        if (known != nullptr) { known->seen = number_; }
        if (known == nullptr || !(known->source == each.etag())) {
            ENTITABLE_CHECK(packer_.add(
                mutation::insert_or_replace(row{each.partition_key, each.row_key, each.payload}), pending_.size()));
            pending_.push_back({each.etag(), quick_content_digest(each)});
            changes_ += pass_ == copy_pass::whole ? 1 : 0;
            ++rows_;
            bytes_ += each.partition_key.size() + each.row_key.size() + each.payload.size();
        }
    }
    return {};
}

/// Compares the target's rows with those written. Rows that differ must be copied again.
ENTITABLE_DECL result<void> shard_table_copy::take_target(page const& rows) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
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
        } else if (pass_ == copy_pass::verify && known->content != quick_content_digest(each)) {
            failure differing{error_code::row_mismatch,
                text::joined({"a row of the table ", to_, " differs from its original in the table ", from_})};
            differing.error().detail = text::printable(
                text::joined({text::shortened(each.partition_key), "/", text::shortened(each.row_key)}));
            return differing;
        }
    }
    return {};
}

ENTITABLE_DECL void shard_table_copy::answer(result<query_entities::response> found, steady_time) {
    if (!found) { return stop(failure{found.error()}); }
    if (pass_ == copy_pass::verify || pass_ == copy_pass::collect) {
        if (auto taken = take_target(found->rows); !taken) { return stop(std::move(taken).as_failure()); }
        asked_.continuation = std::move(found->continuation);
        if (!asked_.continuation) {
            std::uint64_t written = 0;
            for (auto const& [key, partition] : partitions_) { written += partition.rows.size(); }
            changes_ += written > met_ ? written - met_ : 0;
            outcome_.emplace();
        }
        return;
    }
    if (fetch_) {
        if (auto taken = take_rows(found->rows); !taken) { return stop(std::move(taken).as_failure()); }
        fetch_->continuation = std::move(found->continuation);
        if (!fetch_->continuation) { fetch_.reset(); }
        return go_on();
    }
    if (pass_ == copy_pass::catch_up) {
        take_keys(found->rows);
    } else if (auto taken = take_rows(found->rows); !taken) {
        return stop(std::move(taken).as_failure());
    }
    asked_.continuation = std::move(found->continuation);
    scanned_ = !asked_.continuation;
    go_on();
}

/// Sends batches first, then fetches changed rows, then the next page; after the last page, removes rows deleted at the source.
ENTITABLE_DECL void shard_table_copy::go_on() {
    if (send_next() || fetch_) { return; }
    if (!fetches_.empty()) {
        fetch_.emplace(query_entities{from_, std::move(fetches_.front()), {}, {}, asked_.page_size, {}});
        fetches_.pop_front();
        return;
    }
    if (!scanned_) { return; }
    if (!std::exchange(removed_, true)) {
        remove_the_rest();
        if (outcome_ || send_next()) { return; }
    }
    outcome_.emplace();
}

ENTITABLE_DECL void shard_table_copy::remove_the_rest() {
    result<void> added;
    for (auto const& each : partitions_) {
        each.second.rows.for_each([&](std::string_view row_key, copied_row const& known) {
            if (known.seen != number_ && added) {
                added = packer_.add(mutation::remove(row_builder{each.first, row_key}.build(), any_etag));
                ++changes_;
            }
        });
    }
    if (!added) { stop(std::move(added).as_failure()); }
}

ENTITABLE_DECL bool shard_table_copy::send_next() {
    auto taken = packer_.take(&tags_);
    sends_ = taken.has_value();
    if (!sends_) { return false; }
    batch_ = *std::move(taken);
    sendings_ = 0;
    not_before_ = (steady_time::min)();
    std::string const partition_key{batch_.changes.front().entity.partition_key()};
    copied_partition const& partition = partitions_[partition_key];
    row_builder guard{partition_key, system_row::copy};
    guard.add("Copy_Batch", ++batches_);
    batch_.changes.push_back( // after the rows: inserting in front would shift them all
        partition.batch == 0 ? mutation::insert(guard.build()) : mutation::replace(guard.build(), partition.guard));
    guard_.partition_key = partition_key;
    return true;
}

/// Records that the batch in flight was applied; without results its ETags are unknown.
ENTITABLE_DECL void shard_table_copy::note(std::vector<written>* results) {
    copied_rows& rows = partitions_[guard_.partition_key].rows;
    for (std::size_t index = 0; index < tags_.size(); ++index) {
        mutation const& change = batch_.changes[index];
        if (change.kind == mutation_kind::remove) {
            rows.erase(change.entity.row_key());
            continue;
        }
        pending_row& read = pending_[tags_[index]];
        copied_row& known = rows.at(change.entity.row_key());
        known.seen = number_;
        known.content = read.content;
        known.source = results != nullptr ? std::move(read.source) : etag{};
        known.target = results != nullptr ? std::move((*results)[index].etag) : etag{};
    }
    sends_ = settles_ = false;
}

ENTITABLE_DECL void shard_table_copy::answer(result<transact::response> done, steady_time now) {
    constexpr std::size_t most_sendings = 50;
    if (done) {
        copied_partition& partition = partitions_[guard_.partition_key];
        partition.guard = done->results.back().etag;
        partition.batch = batches_;
        note(&done->results);
        return go_on();
    }
    error const& why = done.error();
    if (why.effect == effect::unknown && ++sendings_ < most_sendings) {
        not_before_ = now + std::chrono::milliseconds{sendings_ < 10 ? 1 << sendings_ : 1000};
        return; // the same batch again
    }
    if (why.code == error_code::entity_already_exists || why.code == error_code::update_condition_not_satisfied ||
        why.code == error_code::resource_not_found) {
        not_before_ = (steady_time::min)();
        settles_ = true;
        return;
    }
    stop(failure{why});
}

ENTITABLE_DECL void shard_table_copy::answer(result<get_entity::response> guard, steady_time) {
    auto const number = guard ? guard->entity.view().find("Copy_Batch") : std::nullopt;
    if (!guard && guard.error().code != error_code::resource_not_found) { return stop(failure{guard.error()}); }
    if (!number || number->type() != edm_type::int64 || number->as_int64() != batches_) {
        return stop(
            failure{error_code::shard_moving, text::joined({"another process also writes to the table ", to_})});
    }
    copied_partition& partition = partitions_[guard_.partition_key];
    partition.guard = guard->etag;
    partition.batch = batches_;
    note(nullptr);
    go_on();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
