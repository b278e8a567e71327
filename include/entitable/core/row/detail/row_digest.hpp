// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Digests of rows: of a key, to distinguish rows in progress; of all rows of an input so far, to recognise the input. The second digest is
/// part of the stored formats.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/row/row.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Hashes numbers and texts, eight bytes at once.
class row_digest {
public:
    row_digest() = default;
    explicit row_digest(std::uint64_t so_far) noexcept : value_(so_far) {}

    void add(std::uint64_t number) noexcept {
        value_ = (value_ ^ number) * 0x9E3779B97F4A7C15U;
        value_ ^= value_ >> 32U;
    }
    void add(std::string_view bytes) noexcept {
        add(static_cast<std::uint64_t>(bytes.size()));
        char const* at = bytes.data();
        std::size_t left = bytes.size();
        for (; left >= 8; left -= 8, at += 8) { add(row_format::load<std::uint64_t>(at)); }
        if (left > 0) {
            bool const follows = bytes.size() > 8;
            add(follows ? row_format::load<std::uint64_t>(at + left - 8) >> (8 * (8 - left)) : few_bytes(at, left));
        }
    }
    void add(row_view each) noexcept {
        add(each.partition_key);
        add(each.row_key);
        add(each.payload);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    /// Returns less than eight bytes as a number, the first byte lowest.
    [[nodiscard]] static std::uint64_t few_bytes(char const* at, std::size_t size) noexcept {
        std::uint64_t made = 0;
        unsigned shift = 0;
        if ((size & 4U) != 0) {
            made = row_format::load<std::uint32_t>(at);
            at += 4;
            shift = 32;
        }
        if ((size & 2U) != 0) {
            made |= std::uint64_t{row_format::load<std::uint16_t>(at)} << shift;
            at += 2;
            shift += 16;
        }
        if ((size & 1U) != 0) { made |= std::uint64_t{static_cast<unsigned char>(*at)} << shift; }
        return made;
    }

    std::uint64_t value_{0x656E7469746C65U};
};

/// Digest of the keys of a row. Two keys may share a digest: code that compares digests may then wait needlessly, but stays correct.
[[nodiscard]] inline std::uint64_t key_digest(row_view each) noexcept {
    row_digest made;
    made.add(each.partition_key);
    made.add(each.row_key);
    return made.value() == 0 ? 1 : made.value();
}

/// Digest of the properties of a row, in any order.
[[nodiscard]] inline std::uint64_t properties_digest(row_view each) noexcept {
    std::uint64_t properties = 0;
    property_cursor cursor{each.payload};
    for (property_view one; cursor.next(one);) {
        if (one.present) {
            row_digest of;
            of.add(one.name);
            of.add(static_cast<std::uint64_t>(one.type));
            of.add(static_cast<std::uint64_t>(one.value.bits()));
            of.add(one.value.bytes());
            properties += of.value();
        }
    }
    return properties;
}

/// Digest of the keys and properties of a row. The order of properties, the Timestamp and the ETag are ignored: stores differ in these.
[[nodiscard]] inline std::uint64_t content_digest(row_view each) noexcept {
    row_digest whole;
    whole.add(each.partition_key);
    whole.add(each.row_key);
    whole.add(properties_digest(each));
    return whole.value();
}

/// Digest of bytes, in four independent lanes of eight bytes. Valid only in this process.
[[nodiscard]] inline std::uint64_t bytes_digest(std::string_view bytes) noexcept {
    constexpr std::size_t lanes = 4;
    row_digest each[lanes] = {row_digest{1}, row_digest{2}, row_digest{3}, row_digest{4}};
    std::size_t const size = bytes.size();
    for (; bytes.size() >= 8 * lanes; bytes.remove_prefix(8 * lanes)) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            each[lane].add(row_format::load<std::uint64_t>(bytes.data() + 8 * lane));
        }
    }
    row_digest whole{size};
    for (row_digest const& one : each) { whole.add(one.value()); }
    whole.add(bytes);
    return whole.value();
}

/// Digests of the properties of rows, faster than `content_digest`; must not be stored. For comparing rows with equal keys. Names are hashed
/// once for consecutive rows of one layout. The order of properties, absent properties, the Timestamp and the ETag are ignored.
class quick_digests {
public:
    ENTITABLE_LAZY [[nodiscard]] std::uint64_t of(row_view each);

private:
    struct column {
        std::uint64_t name_and_type; ///< their digest
        std::uint8_t size;           ///< bytes of the value, or of its length
        bool has_length;
        bool nullable;
    };

    ENTITABLE_LAZY void learn(std::size_t properties);

    std::size_t properties_{};
    std::string descriptor_; ///< descriptor of the last row
    std::vector<column> columns_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/row/impl/row_digest.ipp>
#endif

#endif
