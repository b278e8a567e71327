// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/impl/plan.ipp>
#include <entitable/client/query/reading.hpp>
#include <entitable/core/row/system_rows.hpp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE

/// The state of a range: `slot index == range % number of slots`.
struct query_reading::slot {
    std::size_t range{};
    bool begun{};
    bool asked{};     ///< its page was requested in this round
    bool last_page{}; ///< there is no further page
    std::optional<result<entitable::page>> page;
    std::optional<std::string> continuation; ///< continuation of the request for the page
    query_entities request;
    partition_count partitions;
};

ENTITABLE_DECL query_reading::query_reading(query_reading&& other) noexcept = default;
ENTITABLE_DECL query_reading& query_reading::operator=(query_reading&& other) noexcept = default;
ENTITABLE_DECL query_reading::~query_reading() = default;

ENTITABLE_LAZY_BODY bool query_reading::page_is_here() const noexcept {
    return at_end() || slots_[range_ % slots_.size()].page;
}

ENTITABLE_LAZY_BODY operation_step query_reading::next() {
    return page_is_here() ? operation_step{} : operation_step{std::as_const(prepare(range_))};
}

ENTITABLE_LAZY_BODY void query_reading::answer(result<query_entities::response> response, steady_time) {
    answer(range_ % slots_.size(), std::move(response));
}

ENTITABLE_LAZY_BODY std::string query_cost::to_string() const {
    return text::joined({"requests made       ", std::to_string(requests), "\nrows examined       ",
        std::to_string(examined), "\nrows received       ", std::to_string(received), "\nrows accepted       ",
        std::to_string(accepted), "\npartitions crossed  ", std::to_string(partitions), "\n"});
}

ENTITABLE_LAZY_BODY void query_reading::partition_count::add(std::string_view partition_key) {
    if (count == 0) { first = partition_key; }
    if (count == 0 || !text::are_equal(last, partition_key)) {
        ++count;
        if (last.size() == partition_key.size() && !last.empty()) { // the usual case, and cheaper than an assignment
            std::memcpy(last.data(), partition_key.data(), last.size());
        } else {
            last = partition_key;
        }
    }
}

ENTITABLE_LAZY_BODY void query_reading::partition_count::add(partition_count const& behind) {
    if (behind.count == 0) { return; }
    bool const goes_on = count > 0 && last == behind.first;
    count += behind.count - (goes_on ? 1 : 0);
    last = behind.last;
}

ENTITABLE_LAZY_BODY query_reading::query_reading(query_parts const& parts, projection select, std::size_t in_flight)
    : parts_(&parts), select_(std::move(select)), end_(parts.plan.ranges.size()) {
    slots_.resize(in_flight < 1 ? 1 : in_flight < end_ ? in_flight : end_);
}

ENTITABLE_LAZY_BODY query_entities& query_reading::prepare(std::size_t range) {
    slot& at = slots_[range % slots_.size()];
    if (!at.begun || at.range != range) {
        at.range = range;
        at.begun = true;
        at.last_page = false;
        at.page.reset();
        at.partitions = {};
        at.request.table = parts_->table;
        at.request.range = parts_->plan.ranges[range];
        at.request.filter = parts_->plan.server;
        at.request.select = properties_read(parts_->plan, select_);
        at.request.continuation.reset();
        at.request.kept = {};
    }
    at.request.page_size = page_size_;
    return at.request;
}

ENTITABLE_LAZY_BODY void query_reading::go_to(query_position position) {
    range_ = position.range < end_ ? position.range : end_;
    if (!at_end()) { prepare(range_).continuation = std::move(position.continuation); }
}

ENTITABLE_LAZY_BODY query_position query_reading::position() const {
    query_position here;
    here.range = range_;
    if (!at_end()) {
        slot const& at = slots_[range_ % slots_.size()];
        if (at.begun && at.range == range_) { here.continuation = at.page ? at.continuation : at.request.continuation; }
    }
    return here;
}

namespace detail {

/// Removes system rows and rows of other types from a page, which usually has none.
ENTITABLE_LAZY void leave_out(page& rows, bool system_rows, type_pattern const* type) {
    auto const stays = [&](row_view const& each) {
        return !(system_rows && system_row::is_one(each.row_key)) &&
            (type == nullptr || type->matches(each.partition_key, each.row_key));
    };
    std::size_t first = 0;
    while (first < rows.size() && stays(rows[first])) { ++first; }
    if (first == rows.size()) { return; }
    page kept;
    kept.reserve(rows.size(), rows.bytes());
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if (index < first || stays(rows[index])) { kept.append(rows[index]); }
    }
    rows = std::move(kept);
}

} // namespace detail

ENTITABLE_LAZY_BODY void query_reading::answer(std::size_t index, result<query_entities::response> response) {
    ++cost_.requests;
    slot& at = slots_[index];
    bool const stuck = response && response->continuation && response->continuation == at.request.continuation;
    if (stuck) {
        response = failure{error_code::transport_failed,
            "the service returned the same continuation token twice; the query would never end"};
    }
    at.continuation = at.request.continuation;
    if (!response) {
        at.page.emplace(std::move(response).as_failure());
        at.last_page = true;
        end_ = at.range < end_ ? at.range + 1 : end_; // the rows after it will not be read
        return;
    }
    cost_.examined += response->examined;
    cost_.received += response->rows.size();
    cost_.stale += response->stale ? 1 : 0;
    cost_.request_charge += response->request_charge;
    std::size_t const different = at.request.range.partition.is_point() ? 1 : response->rows.size();
    for (std::size_t row = 0; row < different && row < response->rows.size(); ++row) {
        at.partitions.add(response->rows[row].partition_key);
    }
    if (parts_->plan.meets_system_rows || parts_->type != nullptr) {
        detail::leave_out(response->rows, parts_->plan.meets_system_rows, parts_->type);
    }
    if (parts_->plan.client.empty()) {
        at.page.emplace(std::move(response->rows));
    } else {
        page accepted;
        for (std::size_t row = 0; row < response->rows.size(); ++row) {
            if (satisfies(response->rows[row], parts_->plan.client, parts_->partition_layout, parts_->row_layout)) {
                accepted.append(response->rows[row]);
            }
        }
        at.page.emplace(std::move(accepted));
    }
    cost_.accepted += (*at.page)->size();
    at.last_page = !response->continuation;
    at.request.continuation = std::move(response->continuation);
    at.request.kept = std::move(response->kept);
}

ENTITABLE_LAZY_BODY query_entities const& query_reading::page_to_show() {
    query_entities const& asked = prepare(range_);
    partitions_shown_ = asked.range.partition.is_point() ? nullptr : &slots_[range_ % slots_.size()].partitions;
    refused_ = 0;
    return asked;
}

ENTITABLE_LAZY_BODY std::span<row_view const> query_reading::accept(std::span<row_view const>& run) {
    query_plan const& plan = parts_->plan;
    if (partitions_shown_ != nullptr) { partitions_shown_->add(run.front().partition_key); }
    // Keys are in order: usually the first byte of the last key shows that no row is a system row.
    std::string_view const last = run.back().row_key;
    bool const looks = plan.meets_system_rows && !last.empty() &&
        static_cast<unsigned char>(last.front()) >= static_cast<unsigned char>(system_row::prefix.front());
    auto const accepts = [&](row_view const& each) {
        return !(looks && system_row::is_one(each.row_key)) && is_of_type(each) &&
            (plan.client.empty() || satisfies(each, plan.client, parts_->partition_layout, parts_->row_layout));
    };
    std::size_t accepted = run.size();
    if (looks || parts_->type != nullptr || !plan.client.empty()) {
        for (accepted = 0; accepted < run.size() && accepts(run[accepted]);) { ++accepted; }
    }
    auto const taken = run.first(accepted);
    refused_ += accepted < run.size() ? 1 : 0;
    run = run.subspan(accepted < run.size() ? accepted + 1 : accepted);
    return taken;
}

ENTITABLE_LAZY_BODY result<void> query_reading::finish(result<read_entities::response> response) {
    slot& at = slots_[range_ % slots_.size()];
    result<query_entities::response> page{std::in_place};
    if (response) {
        page->continuation = std::move(response->continuation);
        page->examined = response->examined;
        page->stale = response->stale;
        page->request_charge = response->request_charge;
        page->kept = std::move(response->kept);
        cost_.received += response->shown;
        cost_.accepted += response->shown - refused_;
        if (partitions_shown_ == nullptr && response->shown > 0) {
            at.partitions.add(at.request.range.partition.lower.key);
        }
    } else {
        page = std::move(response).as_failure();
    }
    answer(range_ % slots_.size(), std::move(page));
    auto done = finish();
    return done ? result<void>{} : std::move(done).as_failure();
}

ENTITABLE_LAZY_BODY void query_reading::abandon(error const& reason) {
    if (at_end()) { return; }
    prepare(range_);
    slot& at = slots_[range_ % slots_.size()];
    at.page.emplace(failure{reason});
    at.last_page = true;
    end_ = range_ + 1;
}

ENTITABLE_LAZY_BODY result<page> query_reading::finish() {
    if (at_end()) { return page{}; }
    slot& at = slots_[range_ % slots_.size()];
    result<page> done = *std::move(at.page);
    at.page.reset();
    partitions_.add(at.partitions);
    at.partitions = {};
    cost_.partitions = partitions_.count;
    if (at.last_page) { ++range_; }
    return done;
}

ENTITABLE_LAZY_BODY void query_reading::begin_round() noexcept {
    for (slot& at : slots_) { at.asked = false; }
}

ENTITABLE_LAZY_BODY query_entities const* query_reading::next_request(std::size_t& index) {
    for (std::size_t range = range_; range < end_ && range < range_ + slots_.size(); ++range) {
        query_entities& due = prepare(range);
        slot& at = slots_[range % slots_.size()];
        // An empty page of a later range is skipped; the first range's page goes to its caller.
        bool const wanted =
            !at.page || (range != range_ && !at.last_page && at.page->has_value() && (*at.page)->empty());
        if (wanted && !at.asked) {
            at.asked = true;
            at.page.reset();
            index = range % slots_.size();
            return &due;
        }
    }
    return nullptr;
}

ENTITABLE_END_NAMESPACE
