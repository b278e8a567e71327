// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/bulk_part.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <iterator>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::uint8_t bulk_refusals = 3;      // refused rows removed from one transaction before it is split
inline constexpr std::uint32_t bulk_failures = 5;     // consecutive failures of one transaction before it is split
inline constexpr std::uint32_t bulk_repetitions = 50; // attempts for one row while other writers change it first
inline constexpr std::size_t bulk_pages = 4;          // pages read to find the rows of one transaction

ENTITABLE_DECL bool is_pressure(error const& problem) noexcept {
    return problem.http_status == 429 || problem.http_status == 503 || problem.code == error_code::server_busy ||
        problem.retry_after.has_value();
}

ENTITABLE_DECL bool ends_load(error const& problem, bulk_mode mode) noexcept {
    switch (problem.code) {
        case error_code::table_not_found:
        case error_code::table_being_deleted:
        case error_code::invalid_resource_name:
        case error_code::not_implemented:
        case error_code::not_supported:
        case error_code::authentication_failed:
        case error_code::authorization_failure:
        case error_code::store_full:
        case error_code::store_corrupt:
        case error_code::store_foreign:
        case error_code::store_newer:
        case error_code::store_read_only:
        case error_code::store_failed: return true;
        case error_code::resource_not_found: // some services return this for a missing table
            return mode != bulk_mode::remove && mode != bulk_mode::update;
        default: return problem.http_status == 401 || problem.http_status == 403;
    }
}

ENTITABLE_DECL bulk_part::bulk_part(
    bulk_mode mode, transact rows, std::vector<std::uint64_t> indexes, bulk_change const* change)
    : mode_(mode), rows_(std::move(rows)), indexes_(std::move(indexes)), change_(change) {
    begin_write();
}

ENTITABLE_DECL operation_step bulk_part::next() const noexcept {
    if (all_written_ || done_ || ended_) { return {}; }
    switch (phase_) {
        case phase::look: return {asking_->looking.request(), not_before_};
        case phase::read: return {asking_->reading, not_before_};
        default: break;
    }
    return single_ ? operation_step{one_, not_before_} : operation_step{rows_, not_before_};
}

ENTITABLE_DECL void bulk_part::begin_write() {
    phase_ = phase::write;
    if (!single_ && indexes_.size() == 1) {
        one_.table = rows_.table;
        one_.change = std::move(rows_.changes.front());
        single_ = true;
    }
}

// ---- responses ----------------------------------------------------------------------------------------

ENTITABLE_DECL void bulk_part::answer(result<transact::response> done, steady_time now) {
    if (done) {
        all_written_ = true;
    } else {
        take_failure(done.error(), now);
    }
}

ENTITABLE_DECL void bulk_part::answer(result<written> done, steady_time now) {
    if (done) {
        all_written_ = true;
    } else {
        take_failure(done.error(), now);
    }
}

/// Returns the error of a row, with the known effect of all its attempts.
ENTITABLE_DECL error bulk_part::loss(error why) const {
    why.operation_index.reset();
    why.effect = lost_ ? effect::unknown : effect::none;
    return why;
}

ENTITABLE_DECL void bulk_part::take_failure(error const& why, steady_time now) {
    if (phase_ == phase::write && why.effect == effect::unknown) { lost_ = true; }
    if (is_pressure(why)) {
        return; // the sender waits
    }
    if (worth_retrying(why) || why.code == error_code::deadline_exceeded || why.code == error_code::cancelled) {
        static constexpr entitable::backoff pauses{.base = std::chrono::milliseconds{25},
            .least = std::chrono::milliseconds{25},
            .most = std::chrono::seconds{10},
            .jitter = 0.3};
        failing_since_ = failures_ == 0 ? now : failing_since_;
        ++failures_;
        if (phase_ == phase::write && indexes_.size() > 1 && failures_ >= bulk_failures) { return split(false); }
        double const random = static_cast<double>((indexes_.front() + failures_) * 2654435761U % 1000U) / 1000;
        not_before_ = now + std::chrono::duration_cast<steady_time::duration>(pauses.delay(failures_, random));
        return;
    }
    if (ends_load(why, mode_) && phase_ == phase::write) {
        ended_.emplace(why);
        return;
    }
    if (phase_ == phase::look) {
        looked_ = true; // the service rejected the query: continues row by row
        return begin_write();
    }
    std::size_t const at = phase_ == phase::read ? asking_->at : single_ ? 0 : why.operation_index.value_or(size());
    // The operation at which a transaction becomes too large is not at fault.
    bool const together = phase_ == phase::write && size() > 1 && why.code == error_code::request_body_too_large;
    if (at >= size() || together) { return split(false); }
    bool const conflict = mode_ == bulk_mode::insert && why.code == error_code::entity_already_exists;
    bool const gone = mode_ == bulk_mode::remove && why.code == error_code::resource_not_found;
    bool const beaten = mode_ == bulk_mode::update && was_beaten(why, rival_change::changed_or_removed);
    if (phase_ == phase::write && (conflict || gone || beaten)) { return ask_about(at, why); }
    refuse(at, why);
    end_row();
}

/// Records that the row at `at` may need no write.
ENTITABLE_DECL void bulk_part::ask_about(std::size_t at, error const& why) {
    if (!asking_) {
        asking_.emplace();
        asking_->looking.request().table = asking_->reading.table = single_ ? one_.table : rows_.table;
    }
    asking_->why.emplace(why);
    if (!looked_ && size() > 1 && (mode_ != bulk_mode::update || lost_)) { return look(); }
    if (mode_ == bulk_mode::remove) {
        settle(at, bulk_end::already_there);
        ++refusals_;
        return end_row();
    }
    if (mode_ == bulk_mode::update && size() > 1) {
        split_.push_back(part_of(at, at + 1)); // reads and changes this row separately from the other rows
        split_.back()->ask_about(0, why);
        take_out(at);
        ++refusals_;
        return end_row();
    }
    read(at);
}

ENTITABLE_DECL void bulk_part::read(std::size_t at) {
    asking_->at = at;
    asking_->reading.partition_key = change(at).entity.partition_key();
    asking_->reading.row_key = change(at).entity.row_key();
    phase_ = phase::read;
}

ENTITABLE_DECL void bulk_part::answer(result<get_entity::response> found, steady_time now) {
    error_code const code = found ? error_code{} : found.error().code;
    if (!found && code != error_code::resource_not_found) { return take_failure(found.error(), now); }
    std::size_t const at = asking_->at;
    if (mode_ == bulk_mode::update) {
        if (found) { return change_again(*std::move(found)); }
        refuse(at, found.error());
        return end_row();
    }
    if (!found && ++changes_ < bulk_repetitions) {
        return begin_write(); // the row was removed in between
    }
    if (found && same_properties(found->entity, change(at).entity)) {
        settle(at, bulk_end::already_there);
        ++refusals_;
    } else {
        refuse(at, *asking_->why);
    }
    end_row();
}

/// Repeats an update after another writer changed the row first.
ENTITABLE_DECL void bulk_part::change_again(get_entity::response found) {
    if (same_properties(found.entity, one_.change.entity)) {
        settle(0, lost_ ? bulk_end::written : bulk_end::already_there);
        return end_row();
    }
    if (lost_ || ++changes_ >= bulk_repetitions) {
        refuse(0, *asking_->why); // the row may have been changed once, and must not be changed twice
        return end_row();
    }
    auto made = (*change_)(found.entity);
    if (!made) {
        refuse(0, made.error());
        return end_row();
    }
    if (!*made) {
        settle(0, bulk_end::already_there);
        return end_row();
    }
    one_.change = mutation::replace(std::move(**made), std::move(found.etag));
    begin_write();
}

// ---- finding the rows of a transaction ----------------------------------------------------------------

/// Requests the rows from the smallest to the largest row key, including all rows between them.
ENTITABLE_DECL void bulk_part::look() {
    bulk_questions& asked = *asking_;
    asked.order.resize(size());
    asked.found.assign(size(), 0);
    for (std::size_t at = 0; at < size(); ++at) { asked.order[at] = at; }
    std::sort(asked.order.begin(), asked.order.end(), [&](std::size_t left, std::size_t right) {
        return text::compare_utf16(change(left).entity.row_key(), change(right).entity.row_key()) < 0;
    });
    key_range& range = asked.looking.request().range;
    range.partition = key_interval::only(std::string{partition_key()});
    range.row = {key_bound::including(std::string{change(asked.order.front()).entity.row_key()}),
        key_bound::including(std::string{change(asked.order.back()).entity.row_key()})};
    if (mode_ == bulk_mode::remove) { asked.looking.request().select = {"PartitionKey", "RowKey"}; }
    phase_ = phase::look;
}

ENTITABLE_DECL void bulk_part::answer(result<query_entities::response> page, steady_time now) {
    bulk_questions& asked = *asking_;
    auto const here = asked.looking.take(std::move(page));
    if (!here) { return take_failure(here.error(), now); }
    for (row_view const found : here->rows) {
        auto const at = std::lower_bound(
            asked.order.begin(), asked.order.end(), found.row_key, [&](std::size_t left, std::string_view key) {
                return text::compare_utf16(change(left).entity.row_key(), key) < 0;
            });
        if (at != asked.order.end() && change(*at).entity.row_key() == found.row_key) {
            asked.found[*at] = same_properties(found, change(*at).entity) ? 1 : 2;
        }
    }
    ++asked.pages;
    if (!asked.looking.more() || asked.pages >= bulk_pages) { end_look(!asked.looking.more()); }
}

ENTITABLE_DECL void bulk_part::end_look(bool complete) {
    looked_ = true;
    std::vector<std::uint8_t> const found = std::move(asking_->found);
    std::size_t at = 0;
    for (std::uint8_t const each : found) {
        if (mode_ == bulk_mode::insert && each == 2) {
            refuse(at, *asking_->why);
        } else if (mode_ == bulk_mode::remove ? complete && each == 0 : each == 1) {
            settle(at, mode_ == bulk_mode::update ? bulk_end::written : bulk_end::already_there);
        } else {
            ++at;
        }
    }
    refusals_ = 0; // rows found together do not count
    end_row();
}

// ---- settled rows -------------------------------------------------------------------------------------

ENTITABLE_DECL void bulk_part::take_out(std::size_t at) {
    if (!single_) { rows_.changes.erase(rows_.changes.begin() + static_cast<std::ptrdiff_t>(at)); }
    indexes_.erase(indexes_.begin() + static_cast<std::ptrdiff_t>(at));
}

ENTITABLE_DECL void bulk_part::settle(std::size_t at, bulk_end end, std::optional<error> why) {
    mutation& settled = single_ ? one_.change : rows_.changes[at];
    settled_.push_back({indexes_[at], std::move(settled), end, std::move(why)});
    take_out(at);
}

ENTITABLE_DECL void bulk_part::refuse(std::size_t at, error why) {
    ++refusals_;
    settle(at, bulk_end::refused, loss(std::move(why)));
}

ENTITABLE_DECL void bulk_part::give_up(error const& why) {
    refuse(0, why);
    done_ = true;
}

ENTITABLE_DECL void bulk_part::end_row() {
    failures_ = 0;
    if (indexes_.empty()) {
        done_ = true;
    } else if (refusals_ >= bulk_refusals && size() > 1) {
        split(level_ > 0);
    } else {
        begin_write();
    }
}

ENTITABLE_DECL shared<bulk_part> bulk_part::part_of(std::size_t from, std::size_t to) {
    auto const first = rows_.changes.begin() + static_cast<std::ptrdiff_t>(from);
    auto const last = rows_.changes.begin() + static_cast<std::ptrdiff_t>(to);
    auto made = shared<bulk_part>::make(mode_,
        transact{rows_.table, {std::make_move_iterator(first), std::make_move_iterator(last)}},
        std::vector<std::uint64_t>{
            indexes_.begin() + static_cast<std::ptrdiff_t>(from), indexes_.begin() + static_cast<std::ptrdiff_t>(to)},
        change_);
    made->lost_ = lost_;
    made->looked_ = looked_;
    made->level_ = static_cast<std::uint8_t>(level_ < 2 ? level_ + 1 : 2);
    return made;
}

/// Splits a part into halves, or into single rows.
ENTITABLE_DECL void bulk_part::split(bool into_rows) {
    std::size_t const rows = size();
    std::size_t const step = into_rows ? 1 : (rows + 1) / 2;
    for (std::size_t from = 0; from < rows; from += step) {
        split_.push_back(part_of(from, (std::min)(rows, from + step)));
    }
    rows_.changes.clear();
    indexes_.clear();
    done_ = true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
