// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_run`: some rows of a scan. SQLite's memory of a row is valid only until the next step, so rows are copied into one block, and
/// passed to a visitor together.

#include <entitable/core/row/row.hpp>
#include <entitable/local/file/detail/stored_row.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Rows of one partition, in the order in which they were added.
class row_run {
public:
    explicit row_run(std::string_view partition) : partition_(partition) {}

    [[nodiscard]] std::string_view partition() const noexcept { return partition_; }
    [[nodiscard]] std::span<row_view const> rows() const noexcept { return {rows_, count_}; }
    /// Clears the run and begins a new run for this partition.
    void begin(std::string_view partition) {
        clear();
        partition_ = partition;
    }
    void clear() noexcept {
        count_ = 0;
        used_ = 0;
    }

    /// Adds a row, unless it does not fit; the first row always fits.
    [[nodiscard]] bool add(std::string_view row, stored_parts const& parts) {
        std::size_t const payload_size = parts.size();
        std::size_t const size = row.size() + payload_size;
        if (count_ == most_rows || size > size_ - used_) {
            if (count_ > 0) { return false; }
            size_ = size < usual_size ? usual_size : size;
            block_.reset(new char[size_]);
        }
        char* const begin = block_.get() + used_;
        if (!row.empty()) { std::memcpy(begin, row.data(), row.size()); }
        parts.copy_to(begin + row.size());
        rows_[count_++] = {partition_, {begin, row.size()}, {begin + row.size(), payload_size}};
        used_ += size;
        return true;
    }

private:
    static constexpr std::size_t most_rows = 32;
    static constexpr std::size_t usual_size = 16384; ///< the size of the fastest cache

    std::string partition_;
    std::unique_ptr<char[]> block_;
    std::size_t size_{};
    std::size_t used_{};
    std::size_t count_{};
    row_view rows_[most_rows];
};

} // namespace detail
ENTITABLE_END_NAMESPACE
