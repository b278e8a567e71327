// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/transport/sweep.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL operation_sweep::operation_sweep(
    std::string table, sweep_options const& options, std::chrono::seconds late, call const& context)
    : context_(&context), retention_(options.retention) {
    reading_.table = std::move(table);
    if (options.partition_key) { reading_.range.partition = key_interval::only(*options.partition_key); }
    std::string behind{operation_row::row_key_prefix};
    ++behind.back();
    reading_.range.row = {
        key_bound::including(std::string{operation_row::row_key_prefix}), key_bound::excluding(std::move(behind))};
    reading_.filter.nodes.push_back(
        {filter_operator::less, "Timestamp", value{value_view{before(options.time->now())}}});
    bool const bounded = late != profile::unbounded;
    if (retention_ < std::chrono::nanoseconds{} || (bounded && retention_ < late)) {
        outcome_.emplace(failure{error_code::out_of_range_input,
            text::joined({"the retention of operation rows must be at least the longest delay of an attempt: ",
                std::to_string(bounded ? late.count() : 0), " s"})});
    }
}

ENTITABLE_DECL date_time operation_sweep::before(date_time now) const noexcept {
    std::int64_t const age = retention_.count() / 100;
    return {now.ticks > age ? now.ticks - age : 0};
}

ENTITABLE_DECL void operation_sweep::answer(result<query_entities::response> page, steady_time) {
    if (!page) {
        outcome_.emplace(std::move(page).as_failure());
        return;
    }
    old_.clear();
    at_ = 0;
    date_time const served = context_->server_date;
    for (std::size_t index = 0; index < page->rows.size(); ++index) {
        row_view const each = page->rows[index];
        // If this program's clock is fast, the filter accepts too many rows.
        bool const old = served == date_time{} || each.timestamp() < before(served);
        if (old && operation_row::is_one(each)) {
            old_.push_back({reading_.table, mutation::remove(row{each.partition_key, each.row_key, {}}, each.etag())});
        }
    }
    reading_.continuation = std::move(page->continuation);
    end_page();
}

ENTITABLE_DECL void operation_sweep::answer(result<written> removed, steady_time) {
    // Another sweep may have removed the row, and a new write may use the id again.
    bool const passed = !removed &&
        (removed.error().code == error_code::resource_not_found ||
            removed.error().code == error_code::update_condition_not_satisfied);
    if (!removed && !passed) {
        outcome_.emplace(std::move(removed).as_failure());
        return;
    }
    removed_ += removed ? 1U : 0U;
    ++at_;
    end_page();
}

ENTITABLE_DECL void operation_sweep::end_page() {
    if (at_ == old_.size() && !reading_.continuation) { outcome_.emplace(removed_); }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
