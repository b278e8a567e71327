// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Maximum number of rows read ahead of the first unsettled row. Settled rows are dropped in complete strides, so a bound below two strides
/// could be reached by settled rows only.
ENTITABLE_DECL std::uint64_t bulk_run::most_span() const noexcept {
    return (std::max)(std::uint64_t{8} * options_.window, options_.window + 2 * bulk_position::stride);
}

/// Reads more rows only after all rows read were sent and the window has room for more than a few: many rows together fill transactions
/// better.
ENTITABLE_DECL bool bulk_run::wants_rows() const noexcept {
    if (input_ended_ || stopped_ || !queue_.empty() || !ready_.empty()) { return false; }
    bool const idle = running_.empty() && waiting_.empty() && paused_.empty();
    std::uint64_t const window = options_.window;
    return idle ||
        (report_.held <= window - window / 4 && held_bytes_ <= options_.window_bytes / 4 * 3 &&
            position_.span() <= most_span());
}

/// Fills the window. After a checkpoint it first reads up to the checkpoint's read position, so that the input is
/// verified before anything is sent.
ENTITABLE_DECL void bulk_run::read_rows() {
    std::uint64_t const window = options_.window;
    std::size_t rows = 0;
    pressure_.forget(time_->steady(), [&](std::string const& each) { return waiting_.find(each) == waiting_.end(); });
    // Reading may stop once there are enough full transactions. For a throttling service, and to shuffle, the whole window is filled first.
    auto const known = [&] { return !resumed_ || next_index_ >= resumed_->read; };
    auto const enough = [&] {
        return known() && !options_.shuffle && pressure_.quiet() && packer_.full() >= options_.in_flight;
    };
    auto const room = [&] {
        return !known() ||
            (report_.held < window && held_bytes_ < options_.window_bytes && position_.span() <= most_span() + window);
    };
    while (!stopped_ && room() && !enough()) {
        bulk_input const what = source_(item_);
        if (what == bulk_input::end) {
            input_ended_ = true;
            break;
        }
        if (what == bulk_input::stopped) {
            stop(*std::move(item_.why));
            break;
        }
        std::uint64_t const index = next_index_++;
        ++report_.read;
        if (options_.checkpoint) {
            if (what == bulk_input::row) {
                digest_.add(item_.change.entity.view());
            } else {
                digest_.add(static_cast<std::uint64_t>(what));
            }
            static_cast<void>(position_.read(digest_.value()));
            if (resumed_) {
                check_resumed();
                if (stopped_) { break; }
                if (resumed_->is_settled(index)) {
                    settle_index(index);
                    continue;
                }
            }
            changed_ = true;
        }
        if (what == bulk_input::row) {
            hold(std::move(item_.change), index);
        } else if (what == bulk_input::passed) {
            ++report_.already_there;
            settle_index(index);
        } else {
            refuse(what == bulk_input::barred ? item_.change.entity.view() : row_view{}, index, *item_.why);
        }
        if (++rows % 512 == 0) {
            look_for_stop(time_->steady()); // an input may be slow
        }
    }
    if (input_ended_ && resumed_ && next_index_ < resumed_->read) {
        stop(error{
            error_code::checkpoint_invalid, "the checkpoint belongs to a different input: this input ends earlier"});
    }
    if (input_ended_ && !report_.total) { report_.total = report_.read; }
    for (waiting_row& each : gathered_) { pack(std::move(each.change), each.index); }
    gathered_.clear();
    gathered_at_.clear();
    std::size_t const before = packer_.held();
    make_parts(input_ended_ || stopped_ || !room());
    unsaved_ += before - packer_.held();
    if (options_.checkpoint && !stopped_ && unsaved_ > window) {
        save_checkpoint(); // limits what is sent again to a window
        unsaved_ = report_.held - packer_.held();
    }
}

ENTITABLE_DECL void bulk_run::check_resumed() {
    bool const wrong = (next_index_ == resumed_->from && digest_.value() != resumed_->from_digest) ||
        (next_index_ == resumed_->read && digest_.value() != resumed_->read_digest);
    if (wrong) {
        stop(error{error_code::checkpoint_invalid,
            text::joined({"the checkpoint belongs to a different input: one of the first ", std::to_string(next_index_),
                " rows has changed"})});
    }
}

ENTITABLE_DECL void bulk_run::hold(mutation&& change, std::uint64_t index) {
    row_view const entity = change.entity;
    ++report_.held;
    held_bytes_ += stored_bytes(entity);
    std::uint64_t const key = key_digest(entity);
    if (!keys_.insert(key)) { return take_duplicate(std::move(change), index, key); }
    if (options_.duplicates == bulk_duplicates::in_order) { return pack(std::move(change), index); }
    gathered_at_.emplace(key, gathered_.size());
    gathered_.push_back({std::move(change), index});
}

ENTITABLE_DECL void bulk_run::take_duplicate(mutation&& change, std::uint64_t index, std::uint64_t key) {
    auto const found = gathered_at_.find(key);
    if (found != gathered_at_.end()) {
        waiting_row& other = gathered_[found->second];
        if (other.change.entity.row_key() == change.entity.row_key() &&
            other.change.entity.partition_key() == change.entity.partition_key()) {
            bool const later = options_.duplicates == bulk_duplicates::last_wins;
            mutation const& dropped = later ? other.change : change;
            --report_.held;
            held_bytes_ -= stored_bytes(dropped.entity);
            if (later) {
                ++report_.superseded;
                settle_index(other.index);
                other = {std::move(change), index};
            } else {
                refuse(change.entity, index,
                    error{error_code::invalid_duplicate_row, "an earlier row of the input has the same keys"});
            }
            return;
        }
    }
    followers_[key].push_back({std::move(change), index});
}

ENTITABLE_DECL void bulk_run::pack(mutation&& change, std::uint64_t index) {
    if (auto added = packer_.add(std::move(change), index); !added) {
        std::uint64_t const key = key_digest(change.entity); // NOLINT: a refused item was not moved from
        --report_.held;
        held_bytes_ -= stored_bytes(change.entity);
        keys_.erase(key);
        refuse(change.entity, index, added.error());
        release(key);
    }
}

/// Packs the rows read into transactions, in their order, which is the fastest for a tree of pages. A service that throttles, or a shuffled
/// load, gets them in random order: neighbours of the input are often neighbours on a server.
ENTITABLE_DECL void bulk_run::make_parts(bool all) {
    std::vector<std::uint64_t> indexes;
    while (auto next = all ? packer_.take(&indexes) : packer_.take_full(&indexes)) {
        auto part = shared<bulk_part>::make(mode_, *std::move(next), std::exchange(indexes, {}), change_);
        if (options_.dry_run) {
            try_out(part);
        } else {
            queue_.push_back(std::move(part));
        }
    }
    if (!options_.shuffle && pressure_.quiet()) {
        std::reverse(queue_.begin(), queue_.end()); // they are taken from the end
        return;
    }
    for (std::size_t left = queue_.size(); left > 1; --left) {
        std::swap(queue_[left - 1], queue_[random_.bits() % left]);
    }
}

/// In a dry run, determines which rows would be refused before they are sent, and which would be sent.
ENTITABLE_DECL void bulk_run::try_out(shared<bulk_part> const& part) {
    bool sends = false;
    for (std::size_t at = 0; at < part->size(); ++at) {
        auto good = validate(write_entity{table_, part->change(at)}, limits_);
        bool const refused = !good;
        sends = sends || !refused;
        settle(part->change(at), part->index(at), refused ? bulk_end::refused : bulk_end::written,
            refused ? &good.error() : nullptr);
    }
    report_.transactions += sends ? 1 : 0;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
