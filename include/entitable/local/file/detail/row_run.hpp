// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_run`: some rows of a scan. SQLite's memory of a row is valid only until the next step, so rows are copied into one block, and
/// passed to a visitor together.

#include <entitable/core/row/row.hpp>
#include <entitable/local/file/detail/connection.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the hash of a partition key, seeded with the number of its table. This hash seeds the hash of a row key. The hash of the row key
/// plus the hash of the shape (seed 0; 0 without a shape) seeds the hash of the bytes, which is the checksum.
[[nodiscard]] inline std::uint64_t partition_checksum(std::int64_t table, std::string_view partition) noexcept {
    return row_hash::of(partition, static_cast<std::uint64_t>(table));
}

/// Converts `bytes` in place to the stored form. Runs in a transaction of `on`, and stores a new shape in it. Returns nothing on failure;
/// `on` contains the reason.
[[nodiscard]] std::optional<std::string_view> pack_row(
    connection& on, std::string& bytes, std::uint64_t partition_hash, std::string_view row);

/// The parts of a stored row: its original bytes, or its shape and the rest of the row. Valid until the next call or step.
struct stored_parts {
    row_shape const* shape; ///< null for original bytes
    std::string_view bytes;

    [[nodiscard]] std::size_t size() const noexcept {
        return bytes.size() + (shape == nullptr ? 0 : shape->bytes.size());
    }
    /// Writes the original bytes.
    void copy_to(char* to) const noexcept {
        constexpr std::size_t head_size = row_format::timestamp_offset;
        constexpr std::size_t timestamp_size = row_format::header_size - head_size;
        std::string_view rest = bytes;
        if (shape != nullptr) {
            std::memcpy(to, shape->bytes.data(), head_size);
            std::memcpy(to + head_size, bytes.data(), timestamp_size);
            to += row_format::header_size;
            std::memcpy(to, shape->bytes.data() + head_size, shape->bytes.size() - head_size);
            to += shape->bytes.size() - head_size;
            rest.remove_prefix(timestamp_size);
        }
        if (!rest.empty()) { std::memcpy(to, rest.data(), rest.size()); }
    }
};

/// Returns the parts of a row; nullopt if their checksum does not match, or `on` is broken.
[[nodiscard]] std::optional<stored_parts> check_row(
    connection& on, std::string_view stored, std::uint64_t partition_hash, std::string_view row);

/// Returns the original bytes; nullopt if their checksum does not match, or `on` is broken. Valid until the next call or step.
[[nodiscard]] std::optional<std::string_view> unpack_row(
    connection& on, std::string_view stored, std::uint64_t partition_hash, std::string_view row);

/// Returns the error of a failed `check_row` or `unpack_row`.
[[nodiscard]] failure unreadable_row(connection& on, std::string_view partition, std::string_view row);

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

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/stored_row.ipp>
#endif
