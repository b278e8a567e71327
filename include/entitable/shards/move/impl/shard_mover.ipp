// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The length of a wait for a lease, by the waiter's clock: the lease and three margins of 2 % for clock drift.
inline std::chrono::nanoseconds length_of_wait(std::chrono::milliseconds lease) {
    return lease.count() == 0 ? std::chrono::nanoseconds{}
                              : std::chrono::nanoseconds{lease} * 106 / 100 + std::chrono::milliseconds{1};
}

ENTITABLE_DECL shard_mover::shard_mover(shard_mover_order order, steady_time now) : order_(std::move(order)) {
    change(stage::looking, move_step::taking_over, &shard_mover::look, now);
}

ENTITABLE_DECL operation_step shard_mover::next() const {
    if (outcome_) { return {}; }
    operation_step due;
    if (change_) {
        due = change_->next();
    } else if (create_) {
        due = {*create_, (steady_time::min)(), place_of(order_.target)};
    } else if (delete_) {
        due = {*delete_, (steady_time::min)(), place_of(dropping_->store)};
    } else if (erase_) {
        due = erase_->next();
        due.place = place_of(dropping_->store);
    } else {
        due = tables_[table_].copy->next();
        due.place = place_of(due.place == 0 ? tables_[table_].source : order_.target);
    }
    due.not_before = (std::max)(due.not_before, not_before_);
    return due;
}

ENTITABLE_DECL std::size_t shard_mover::place_of(std::string const& store) const {
    auto const known = std::find(stores_.begin(), stores_.end(), store);
    if (known == stores_.end()) {
        stores_.push_back(store);
        return stores_.size();
    }
    return static_cast<std::size_t>(known - stores_.begin()) + 1;
}

/// Whether to send the request again: nothing was applied, and the failure may be temporary.
ENTITABLE_DECL bool shard_mover::again_later(error const* problem, bool reads, steady_time now) {
    not_before_ = (steady_time::min)();
    if (waits_for_) { progress_.step = *std::exchange(waits_for_, std::nullopt); }
    if (problem == nullptr) {
        failures_ = 0;
        return false;
    }
    constexpr std::size_t most_of_drops = 2; // gives up early on an unreachable store
    std::size_t const most =
        at_ == stage::dropping ? (std::min)(most_of_drops, order_.options.failures) : order_.options.failures;
    bool const unsettled = !reads && problem->effect == effect::unknown;
    if (unsettled || !worth_retrying(*problem) || ++failures_ > most) { return false; }
    std::chrono::milliseconds const pause{(std::min)(std::int64_t{5} << failures_, std::int64_t{5000})};
    not_before_ = now + (std::max)(pause, problem->retry_after.value_or(pause));
    return true;
}

ENTITABLE_DECL void shard_mover::pass_on(result<query_entities::response> answered, steady_time now) {
    if (change_) {
        change_->answer(std::move(answered), now);
    } else if (erase_) {
        erase_->answer(std::move(answered), now);
    } else {
        tables_[table_].copy->answer(std::move(answered), now);
    }
}
ENTITABLE_DECL void shard_mover::pass_on(result<get_entity::response> answered, steady_time now) {
    if (change_) {
        change_->answer(std::move(answered), now);
    } else {
        tables_[table_].copy->answer(std::move(answered), now);
    }
}
ENTITABLE_DECL void shard_mover::pass_on(result<transact::response> answered, steady_time now) {
    if (change_) {
        change_->answer(std::move(answered), now);
    } else if (erase_) {
        erase_->answer(std::move(answered), now);
    } else {
        tables_[table_].copy->answer(std::move(answered), now);
    }
}

ENTITABLE_DECL void shard_mover::pass_on(result<create_table::response> answered, steady_time now) {
    if (!answered && answered.error().effect == effect::unknown && ++failures_ <= order_.options.failures) {
        not_before_ = now + std::chrono::milliseconds{10};
        return; // send again: the name is unique to this attempt
    }
    if (!answered && answered.error().code != error_code::table_already_exists) {
        return stop(failure{answered.error()});
    }
    create_.reset();
    ++table_;
}
ENTITABLE_DECL void shard_mover::pass_on(result<delete_table::response> answered, steady_time now) {
    constexpr std::size_t most = 2;
    if (!answered && answered.error().effect == effect::unknown && ++failures_ <= most) {
        not_before_ = now + std::chrono::milliseconds{10};
        return;
    }
    delete_.reset();
    if (!answered && answered.error().code != error_code::resource_not_found &&
        answered.error().code != error_code::table_not_found) {
        leave_drop(now);
    }
}

ENTITABLE_DECL void shard_mover::go_on(steady_time now) {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    for (auto const& each : tables_) {
        rows += each.copy->rows();
        bytes += each.copy->bytes();
    }
    progress_.rows = rows;
    progress_.bytes = bytes;
    while (!outcome_ && step(now)) {}
}

/// Takes the next step; false if a request is due.
ENTITABLE_DECL bool shard_mover::step(steady_time now) {
    if (change_) {
        if (!change_->next().done()) { return false; }
        auto done = change_->finish();
        change_.reset();
        if (!done) {
            leave(std::move(done).as_failure());
        } else {
            after_change(now);
        }
        return true;
    }
    if (create_ || delete_) { return false; }
    if (at_ == stage::creating) {
        if (table_ < tables_.size()) {
            create_.emplace(create_table{tables_[table_].copy->target(), true});
            return false;
        }
        pass(stage::copying, move_step::copying, copy_pass::whole);
        return true;
    }
    if (at_ == stage::dropping) {
        if (erase_) {
            if (!erase_->next().done()) { return false; }
            auto done = erase_->finish();
            erase_.reset();
            if (!done) { leave_drop(now); }
            return true;
        }
        if (!drops_.empty()) {
            dropped_table last = std::move(drops_.back());
            drops_.pop_back();
            if (last.whole) {
                delete_.emplace(delete_table{std::move(last.name)});
            } else {
                erase_.emplace(std::move(last.name), std::move(last.keys), order_.options.page_size);
            }
            return !last.whole;
        }
        if (left_) {
            stop(*std::move(left_));
            return true;
        }
        dropped_ = dropping_;
        change(stage::forgetting, move_step::dropping, &shard_mover::forget_dropped, now);
        if (!flipped_) { progress_.step = move_step::taking_over; }
        return true;
    }
    if (table_ < tables_.size()) {
        if (!tables_[table_].copy->next().done()) { return false; }
        if (auto done = tables_[table_].copy->finish(); !done) {
            if (done.error().code == error_code::table_not_found) {
                missing_ = done.error(); // a takeover drops tables
                change(stage::checking, progress_.step, &shard_mover::check_own, now);
            } else {
                stop(std::move(done).as_failure());
            }
            return true;
        }
        found_ += tables_[table_].copy->changes();
        if (++table_ < tables_.size()) { tables_[table_].copy->begin(*pass_); }
        return true;
    }
    after_pass(now);
    return true;
}

ENTITABLE_DECL void shard_mover::change(stage at, move_step told, edit_type edit, steady_time now) {
    at_ = at;
    progress_.step = told;
    change_.emplace(
        order_.map, text::joined({order_.name, "-", std::to_string(++changes_)}),
        [this, edit](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
            shard_row_draft* const own = draft.edit(map, order_.shard);
            if (own == nullptr && at_ == stage::forgetting) {
                // The shard was merged into another shard, whose row lists the tables to drop.
                dropping_.reset();
                return false;
            }
            if (own == nullptr && epoch_ != 0) { return taken_over(nullptr); }
            if (own == nullptr) {
                return failure{
                    error_code::invalid_input, text::joined({"no virtual shard ", std::to_string(order_.shard)})};
            }
            return (this->*edit)(map, draft, *own);
        },
        now);
}

ENTITABLE_DECL void shard_mover::pass(stage at, move_step told, copy_pass what) {
    at_ = at;
    if (waits_for_) {
        waits_for_ = told;
    } else {
        progress_.step = told;
    }
    pass_ = what;
    table_ = 0;
    found_before_ = found_;
    found_ = 0;
    if (!tables_.empty()) { tables_.front().copy->begin(what); }
}

ENTITABLE_DECL void shard_mover::wait_for(std::chrono::milliseconds lease, steady_time now) {
    auto const length = length_of_wait(lease);
    if (length.count() == 0) { return; }
    not_before_ = now + length;
    progress_.waited += length;
    waits_for_ = progress_.step;
    progress_.step = move_step::waiting;
}

ENTITABLE_DECL void shard_mover::begin_tables() {
    tables_.clear();
    for (shard_table const& each : moved_) {
        for (shard_place const& source : sources_) {
            tables_.push_back({source.row.store,
                std::make_unique<shard_table_copy>(source.table_name(each),
                    shard_table_name(each.name, order_.shard, (std::max)(epoch_, each.epoch)), order_.limits,
                    order_.options.page_size, source.keys())});
        }
    }
    table_ = 0;
}

ENTITABLE_DECL void shard_mover::end() {
    at_ = stage::over;
    progress_.step = move_step::done;
    outcome_.emplace(progress_);
}

ENTITABLE_DECL void shard_mover::after_change(steady_time now) {
    switch (at_) {
        case stage::looking:
            if (watches_) {
                change(stage::looking, move_step::taking_over, &shard_mover::look, now);
                not_before_ = now + order_.options.patience;
                return;
            }
            return drop_or(stage::registering, now);
        case stage::forgetting: return drop_or(flipped_ ? stage::over : stage::registering, now);
        case stage::registering:
            if (epoch_ == 0) { // the shard is already there
                return end();
            }
            begin_tables();
            at_ = stage::creating;
            if (order_.options.off_line) {
                writes_stopped_ = reads_stopped_ = now;
                progress_.step = move_step::sealing;
                wait_for(lease_, now);
            }
            return;
        case stage::closing:
            wait_for(lease_, now);
            return pass(stage::catching_up_closed, move_step::catching_up, copy_pass::catch_up);
        case stage::draining:
            writes_stopped_ = now;
            wait_for(lease_, now);
            return pass(stage::catching_up_drained, move_step::draining, copy_pass::catch_up);
        case stage::sealing:
            reads_stopped_ = now;
            return pass(stage::catching_up_sealed, move_step::sealing, copy_pass::catch_up);
        case stage::checking: return stop(failure{missing_});
        case stage::giving_up:
            return stop(failure{error_code::row_mismatch,
                text::joined({"source and copy still differed after ", std::to_string(order_.options.rounds),
                    " rounds: a program that does not use the map is writing; the shard is open in its "
                    "old store"})});
        case stage::flipping:
            flipped_ = true;
            progress_.writes_paused = writes_stopped_ ? now - *writes_stopped_ : std::chrono::nanoseconds{};
            progress_.reads_paused = reads_stopped_ ? now - *reads_stopped_ : std::chrono::nanoseconds{};
            if (order_.options.keep_old_tables) { return end(); }
            return drop_or(stage::over, now);
        default: return end();
    }
}

ENTITABLE_DECL void shard_mover::after_pass(steady_time now) {
    switch (at_) {
        case stage::copying: rounds_ = 0; return pass(stage::catching_up, move_step::catching_up, copy_pass::catch_up);
        case stage::catching_up:
            if (found_ != 0) { ++rounds_; }
            if (found_ != 0 && rounds_ < order_.options.rounds && (rounds_ == 1 || found_ < found_before_)) {
                return pass(stage::catching_up, move_step::catching_up, copy_pass::catch_up);
            }
            return pass(stage::verifying, move_step::verifying, copy_pass::verify);
        case stage::verifying:
            rounds_ = 0;
            if (order_.options.off_line) {
                return pass(stage::catching_up_sealed, move_step::sealing, copy_pass::catch_up);
            }
            return change(stage::closing, move_step::closing, &shard_mover::close, now);
        case stage::catching_up_closed: return change(stage::draining, move_step::draining, &shard_mover::drain, now);
        case stage::catching_up_drained:
            rounds_ = 0;
            return change(stage::sealing, move_step::sealing, &shard_mover::seal, now);
        case stage::catching_up_sealed:
        case stage::collecting:
            if (found_ == 0) {
                return at_ == stage::collecting ? change(stage::flipping, move_step::flipping, &shard_mover::flip, now)
                                                : pass(stage::collecting, move_step::sealing, copy_pass::collect);
            }
            if (++rounds_ > order_.options.rounds) {
                return change(stage::giving_up, move_step::sealing, &shard_mover::give_up, now);
            }
            return pass(stage::catching_up_sealed, move_step::sealing, copy_pass::catch_up);
        default: return end();
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
