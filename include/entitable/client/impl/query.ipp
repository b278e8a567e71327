// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY row_walk::row_walk(any_transport const& through, call_options const& options, query_reading reading,
    std::optional<std::uint64_t> take, std::uint32_t page_size)
    : through_(through), options_(options), reading_(std::move(reading)), left_(take), page_size_(page_size) {}

ENTITABLE_LAZY_BODY result<std::optional<row_view>> row_walk::next() {
    if (left_ && *left_ == 0) {
        return std::optional<row_view>{};
    }
    while (at_ == page_.size()) {
        if (left_ && *left_ < page_size_ && reading_.plan().client.empty()) {
            reading_.set_page_size(static_cast<std::uint32_t>(*left_)); // nothing is read that will not be used
        }
        if (reading_.at_end()) {
            return std::optional<row_view>{};
        }
        call context{options_};
        auto read = run(reading_, through_, context);
        if (!read) {
            return std::move(read).as_failure();
        }
        page_ = *std::move(read);
        at_ = 0;
    }
    if (left_) {
        --*left_;
    }
    return std::optional{page_[at_++]};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
