// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] ENTITABLE_DECL std::string_view bulk_mode_text(bulk_mode mode) noexcept {
    switch (mode) {
        case bulk_mode::insert: return "insert";
        case bulk_mode::insert_or_replace: return "insert_or_replace";
        case bulk_mode::insert_or_merge: return "insert_or_merge";
        case bulk_mode::remove: return "remove";
        default: return "update";
    }
}

ENTITABLE_DECL bulk_run::bulk_run(any_store through, std::string table, call_options calls, bulk_mode mode,
    bulk_source source, bulk_change const* change, bulk_options const& options)
    : through_(std::move(through)),
      table_(std::move(table)),
      calls_(std::move(calls)),
      mode_(mode),
      source_(source),
      change_(change),
      options_(options),
      limits_(through_.profile()),
      time_(options.time),
      begun_(options.time->steady()),
      packer_(table_, limits_),
      random_(options.seed != 0 ? options.seed : static_cast<std::uint64_t>(begun_.time_since_epoch().count())),
      pressure_(options.in_flight != 0 ? options.in_flight : usual_in_flight, options.budget, random_.bits()),
      io_(*options.time) {}

// ---- the run ------------------------------------------------------------------------------------------

ENTITABLE_DECL result<void> bulk_run::begin() {
    if (!calls_.operation_id.empty()) {
        return failure{error_code::invalid_input, "an operation id identifies one write, but a bulk load makes many"};
    }
    if (through_.identity() == nullptr) { // otherwise each row would be refused, and the load would succeed
        return moved_from("table or transport");
    }
    if (options_.checkpoint && (mode_ == bulk_mode::remove || mode_ == bulk_mode::update)) {
        return failure{error_code::not_supported,
            "a bulk load over a query does not support a checkpoint: run it again, and the query finds the remaining "
            "rows"};
    }
    if (options_.timeout != no_timeout) {
        auto const timeout = std::chrono::duration_cast<steady_time::duration>(options_.timeout);
        deadline_ = timeout > no_deadline - begun_ ? no_deadline : begun_ + timeout;
    }
    bool const decides = options_.in_flight == 0; // the store
    if (decides) { options_.in_flight = usual_in_flight; }
    options_.window = (std::max)(options_.window, std::size_t{1});
    options_.window_bytes = (std::max)(options_.window_bytes, std::size_t{1}); // the limit excludes the last row
    identity_ = {limits_.table_names_without_case ? text::ascii_lower(table_) : table_,
        std::string{bulk_mode_text(mode_)}, options_.input};
    way_ = open_channel(through_, io_);
    if (std::size_t const group = way_->group_size(); group > 1) { // such a store does not throttle
        std::size_t const most = decides ? (std::max)(group, usual_in_flight) : options_.in_flight;
        transaction_weight_ = (std::max)(most / usual_in_flight, std::size_t{1});
        pressure_.begin_at(most);
    }
    report_.total = options_.total;
    told_ = saved_ = last_good_ = begun_;
    if (!options_.checkpoint || options_.dry_run) {
        options_.checkpoint = {};
        return {};
    }
    ENTITABLE_TRY(auto kept, options_.checkpoint.load());
    if (kept) {
        ENTITABLE_TRY(auto read, read_bulk_position(*kept, identity_));
        resumed_ = std::move(read);
        report_.written = resumed_->counts.written;
        report_.already_there = resumed_->counts.already_there;
        report_.superseded = resumed_->counts.superseded;
        report_.refused = resumed_->counts.refused;
        report_.bytes = resumed_->counts.bytes;
    }
    return {};
}

ENTITABLE_DECL result<bulk_report> bulk_run::run() {
    ENTITABLE_CHECK(begin());
    for (;;) {
        look_for_stop(time_->steady());
        if (wants_rows()) { read_rows(); }
        send_due(time_->steady());
        if (running_.empty() && (stopped_ || (input_ended_ && !has_rows()))) { break; }
        std::uint64_t const answered = report_.transactions;
        auto const sink = [this](completion& done) { take(done); };
        way_->poll(time_->steady(), sink);
        steady_time const now = time_->steady();
        if (now - told_ >= options_.watch_every) { tell(now, false); }
        if (options_.checkpoint && now - saved_ >= std::chrono::seconds{5}) { save_checkpoint(); }
        if (answered != report_.transactions) { continue; }
        if (options_.dry_run && wants_rows()) { continue; } // its rows are settled without a request
        steady_time const wakes = wakes_at(now);
        if (wakes == (steady_time::max)() && !io_.watches()) {
            bool const sent = !running_.empty() || !waiting_.empty() || !paused_.empty();
            stop(sent ? error{error_code::transport_failed, "the transport never responded to a request"}
                      : error{error_code::internal_error,
                            "the load has no pending requests although its input has not ended: this is a bug in the "
                            "library"});
            break;
        }
        constexpr auto slice = std::chrono::milliseconds{5}; // a cancellation does not end a wait, so it is polled
        io_.wait((std::min)(wakes, now + slice));
    }
    return finish();
}

ENTITABLE_DECL result<bulk_report> bulk_run::finish() {
    if (options_.checkpoint) {
        if (stopped_) {
            save_checkpoint();
        } else if (auto cleared = options_.checkpoint.clear(); !cleared) {
            stop(cleared.error());
        }
    }
    tell(time_->steady(), true);
    if (!stopped_) {
        std::sort(report_.refusals.begin(), report_.refusals.end(),
            [](refused_row const& left, refused_row const& right) { return left.index < right.index; });
        return std::move(report_);
    }
    std::uint64_t const settled = report_.read - report_.held;
    stopped_->message += text::joined({"; the bulk load ended with ", std::to_string(settled), " rows settled"});
    // If the table does not exist, nothing was stored, even if requests were sent.
    bool const no_table = stopped_->code == error_code::table_not_found && report_.written == 0;
    stopped_->effect = sent_ && !no_table ? effect::unknown : effect::none;
    return failure{*std::move(stopped_)};
}

ENTITABLE_DECL void bulk_run::stop(error why) {
    if (!stopped_) { stopped_.emplace(std::move(why)); }
}

ENTITABLE_DECL void bulk_run::look_for_stop(steady_time now) {
    if (stopped_) { return; }
    if (options_.cancellation.cancelled() || calls_.cancellation.cancelled()) {
        stop(error{error_code::cancelled, "the bulk load was cancelled"});
    } else if (deadline_ != no_deadline && now >= deadline_) {
        stop(error{error_code::deadline_exceeded, "the deadline of the bulk load has passed"});
    } else if (report_.refused > options_.max_refused) {
        stop(report_.refusals.empty() ? error{error_code::other_service_error, "rows were refused"}
                                      : report_.refusals.back().error);
    }
}

ENTITABLE_DECL bool bulk_run::has_rows() const noexcept { return report_.held > 0; }

ENTITABLE_DECL void bulk_run::save_checkpoint() {
    saved_ = time_->steady();
    if (!changed_ || (resumed_ && position_.rows() < resumed_->read)) {
        return; // the existing error is more specific
    }
    changed_ = false;
    bulk_counts const counts{
        report_.written, report_.already_there, report_.superseded, report_.refused, report_.bytes};
    if (auto saved = options_.checkpoint.save(position_.text(identity_, counts)); !saved) { stop(saved.error()); }
}

ENTITABLE_DECL void bulk_run::tell(steady_time now, bool at_end) {
    std::uint64_t const settled = report_.read - report_.held;
    double const passed = seconds_of(now - told_);
    double const lately = passed > 0 ? static_cast<double>(settled - told_settled_) / passed : 0;
    if (at_end) {
        double const all = seconds_of(now - begun_);
        report_.rows_a_second = all > 0 ? static_cast<double>(settled) / all : 0;
    } else {
        report_.rows_a_second = report_.rows_a_second > 0 ? (report_.rows_a_second + lately) / 2 : lately;
    }
    told_ = now;
    told_settled_ = settled;
    report_.in_flight = running_.size();
    report_.ended = at_end;
    report_.elapsed = now - begun_;
    report_.left.reset();
    if (report_.total && report_.rows_a_second > 0) {
        double const rows = *report_.total > settled ? static_cast<double>(*report_.total - settled) : 0;
        report_.left =
            std::chrono::nanoseconds{static_cast<std::int64_t>((std::min)(rows / report_.rows_a_second, 3e9) * 1e9)};
    }
    if (options_.watch) { options_.watch(report_); }
}

// ---- settled rows -------------------------------------------------------------------------------------

ENTITABLE_DECL void bulk_run::settle_index(std::uint64_t index) {
    changed_ = true;
    if (options_.checkpoint) { position_.settle(index); }
}

ENTITABLE_DECL void bulk_run::refuse(row_view keys, std::uint64_t index, error const& why) {
    ++report_.refused;
    refused_row const made{index, std::string{keys.partition_key}, std::string{keys.row_key}, why};
    settle_index(index);
    if (report_.refusals.size() < options_.keep_refused) { report_.refusals.push_back(made); }
    if (options_.on_refused) { options_.on_refused(made); }
}

/// Settles a row that was held.
ENTITABLE_DECL void bulk_run::settle(mutation const& change, std::uint64_t index, bulk_end end, error const* why) {
    row_view const keys = change.entity;
    std::size_t const size = stored_bytes(keys);
    --report_.held;
    held_bytes_ -= size;
    std::uint64_t const key = key_digest(keys);
    keys_.erase(key);
    if (end == bulk_end::refused) {
        refuse(keys, index, *why);
    } else {
        ++(end == bulk_end::written ? report_.written : report_.already_there);
        report_.bytes += end == bulk_end::written ? size : 0;
        settle_index(index);
    }
    if (!followers_.empty()) { release(key); }
}

/// Releases the next row with this key.
ENTITABLE_DECL void bulk_run::release(std::uint64_t key) {
    auto const found = followers_.find(key);
    if (found == followers_.end()) { return; }
    waiting_row next = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) { followers_.erase(found); }
    keys_.insert(key);
    transact alone{table_, {}};
    alone.changes.push_back(std::move(next.change));
    auto part = shared<bulk_part>::make(mode_, std::move(alone), std::vector<std::uint64_t>{next.index}, change_);
    if (options_.dry_run) {
        try_out(part);
    } else {
        ready_.push_back(std::move(part));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
