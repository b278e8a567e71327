// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/query/reading.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY query_reading::query_reading(
    std::string table, query_plan plan, key_layout partition_layout, key_layout row_layout, std::uint32_t page_size)
    : plan_(std::move(plan)), partition_layout_(partition_layout), row_layout_(row_layout) {
    request_.table = std::move(table);
    request_.filter = plan_.server;
    request_.page_size = page_size;
    begin_range();
}

ENTITABLE_LAZY_BODY void query_reading::begin_range() {
    request_.continuation.reset();
    if (!at_end()) {
        request_.range = plan_.ranges[range_];
    }
}

ENTITABLE_LAZY_BODY void query_reading::answer(result<query_entities::response> response) {
    ++cost_.requests;
    if (!response) {
        answer_.emplace(std::move(response).as_failure());
        range_ = plan_.ranges.size();
        return;
    }
    cost_.examined += response->examined;
    cost_.received += response->rows.size();
    bool const stuck = response->continuation && response->continuation == request_.continuation;
    if (stuck) {
        answer_.emplace(failure{
            error_code::transport_failed, "the service gave the same continuation twice; the query would never end"});
        range_ = plan_.ranges.size();
        return;
    }
    if (plan_.client.empty()) {
        answer_.emplace(std::move(response->rows));
    } else {
        page accepted;
        for (std::size_t index = 0; index < response->rows.size(); ++index) {
            if (satisfies(response->rows[index], plan_.client, partition_layout_, row_layout_)) {
                accepted.append(response->rows[index]);
            }
        }
        answer_.emplace(std::move(accepted));
    }
    cost_.accepted += (*answer_)->size();
    if (response->continuation) {
        request_.continuation = std::move(response->continuation);
    } else {
        ++range_;
        begin_range();
    }
}

ENTITABLE_LAZY_BODY void query_reading::abandon(error const& reason) {
    answer_.emplace(failure{reason});
    range_ = plan_.ranges.size();
}

ENTITABLE_LAZY_BODY result<page> query_reading::finish() {
    if (!answer_) {
        return page{};
    }
    result<page> done = *std::move(answer_);
    answer_.reset();
    return done;
}

ENTITABLE_END_NAMESPACE
