// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The shapes of rows that a connection has cached. The common part of similar rows, the names and types of their properties, is stored once in
/// the file, as their shape; a row refers to it by its number.

#include <entitable/core/row/format.hpp>
#include <entitable/local/file/detail/checksum.hpp>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A shape: the bytes of a row of version 1 before its Timestamp, and its descriptor.
struct row_shape {
    std::uint32_t number; ///< number in the file, from 1
    std::uint64_t hash;   ///< hash of the bytes
    std::string bytes;
};

/// Used by one thread at a time. A reference to a shape is valid until the next shape is added.
class shape_memory {
public:
    /// Returns the shape; null if it is unknown.
    [[nodiscard]] row_shape const* find(std::uint32_t number) const noexcept {
        for (row_shape const& each : known_) {
            if (each.number == number) { return &each; }
        }
        return nullptr;
    }
    /// Returns the shape with these bytes, given as parts to concatenate.
    [[nodiscard]] row_shape const* find(std::string_view head, std::string_view descriptor) const noexcept {
        for (row_shape const& each : known_) {
            std::string_view const bytes = each.bytes;
            if (bytes.size() == head.size() + descriptor.size() && bytes.starts_with(head) &&
                bytes.ends_with(descriptor)) {
                return &each;
            }
        }
        return nullptr;
    }
    row_shape const& add(std::uint32_t number, std::string bytes) {
        if (known_.size() == most_) { known_.erase(known_.begin()); }
        std::uint64_t const hash = row_hash::of(bytes, 0);
        return known_.emplace_back(row_shape{number, hash, std::move(bytes)});
    }
    /// Forgets all shapes: those added in a transaction that is rolled back are not in the file.
    void forget() noexcept {
        known_.clear();
        in_whole_ = 0;
    }

    /// Returns the row with this Timestamp and these values; valid until the next call.
    [[nodiscard]] std::string_view whole(row_shape const& shape, std::string_view timestamp_and_values) {
        constexpr std::size_t timestamp_size = row_format::header_size - row_format::timestamp_offset;
        std::string_view const bytes = shape.bytes;
        std::string_view const timestamp = timestamp_and_values.substr(0, timestamp_size);
        if (in_whole_ != shape.number) {
            whole_.assign(bytes.substr(0, row_format::timestamp_offset)).append(timestamp);
            whole_.append(bytes.substr(row_format::timestamp_offset));
            in_whole_ = shape.number;
        }
        whole_.resize(timestamp_size + bytes.size());
        std::memcpy(whole_.data() + row_format::timestamp_offset, timestamp.data(), timestamp_size);
        return whole_.append(timestamp_and_values.substr(timestamp_size));
    }

private:
    static constexpr std::size_t most_ = 64;

    std::vector<row_shape> known_;
    std::string whole_;         ///< the last row returned
    std::uint32_t in_whole_{0}; ///< its shape
};

} // namespace detail
ENTITABLE_END_NAMESPACE
