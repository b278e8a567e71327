// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stored form of a row in the file, version 1: its Timestamp and values, the number of its shape (4 bytes), a checksum (8 bytes). With
/// number 0 the row's original bytes come first: they are not a row of version 1, or the shape is too long, or the file has too many
/// shapes.

#include <entitable/local/file/detail/connection.hpp>

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

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/stored_row.ipp>
#endif
