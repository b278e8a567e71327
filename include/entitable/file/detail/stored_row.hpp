// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How a row stands in the file, version 1: its Timestamp and values, the number of its shape (4 bytes), a checksum (8 bytes).
/// With number 0 the bytes in front are those that the store was given: they are no row of version 1, or its shape is too long
/// or one too many.

#include <entitable/file/detail/connection.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The hash of a partition key, seeded with the number of its table, is the seed of the hash of a row key; that and the hash of
/// the shape (seed 0; 0 without a shape), added, are the seed of the hash of the bytes: the checksum.
[[nodiscard]] inline std::uint64_t partition_checksum(std::int64_t table, std::string_view partition) noexcept {
    return row_hash::of(partition, static_cast<std::uint64_t>(table));
}

/// The stored form of `bytes`, made in their place. In a transaction of `on`, which it gives a shape that is new.
/// Nothing when that fails, for which `on` has the reason.
[[nodiscard]] std::optional<std::string_view> pack_row(
    connection& on, std::string& bytes, std::uint64_t partition_hash, std::string_view row);

/// What a stored row is put together from: the bytes that were stored, or its shape and what stands in the row. Valid until the next
/// call or step.
struct stored_parts {
    row_shape const* shape; ///< null for those bytes
    std::string_view bytes;

    [[nodiscard]] std::size_t size() const noexcept {
        return bytes.size() + (shape == nullptr ? 0 : shape->bytes.size());
    }
    /// Writes the bytes that were stored.
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
        if (!rest.empty()) {
            std::memcpy(to, rest.data(), rest.size());
        }
    }
};

/// The parts of a row; nothing when they are not those of this row, or `on` is broken.
[[nodiscard]] std::optional<stored_parts> check_row(
    connection& on, std::string_view stored, std::uint64_t partition_hash, std::string_view row);

/// The bytes that were stored; nothing when they are not those of this row, or `on` is broken. Valid until the next call or step.
[[nodiscard]] std::optional<std::string_view> unpack_row(
    connection& on, std::string_view stored, std::uint64_t partition_hash, std::string_view row);

/// Why these gave nothing.
[[nodiscard]] failure unreadable_row(connection& on, std::string_view partition, std::string_view row);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/stored_row.ipp>
#endif
