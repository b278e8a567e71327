// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stored form of an entity's properties, version 1 (docs/stored_formats.md), and helpers for its readers and writers. Little-endian:
///
///     0   u8   version
///     1   u8   reserved, 0
///     2   u16  number of properties
///     4   u32  bytes of the descriptor
///     8   i64  Timestamp, ticks of 100 ns
///     16  the descriptor: per property u8 type (bit 7: nullable), u16 bytes of the name, the name
///     ..  the values in the same order: a nullable value begins with u8 present; bool u8, int32 4 bytes, int64, double
///         and date_time 8, guid 16; string and binary u32 bytes, then the bytes. An absent value has no bytes.
///
/// Keys are not part of it: a store holds them separately. A type always writes the same descriptor, so a reader that has seen the
/// descriptor compares it once and reads the values without comparing names.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>
#include <entitable/core/edm_type.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace row_format {

inline constexpr unsigned char version = 1;         ///< the first byte of a row
inline constexpr std::size_t header_size = 16;      ///< bytes before the descriptors
inline constexpr std::size_t timestamp_offset = 8;  ///< offset of the Timestamp
inline constexpr unsigned char nullable_bit = 0x80; ///< set in the type of a property that may be absent

/// Returns the bytes of a value of `type`, excluding the bytes of a string or a binary.
[[nodiscard]] constexpr std::size_t fixed_size(edm_type type) noexcept {
    switch (type) {
        case edm_type::boolean: return 1;
        case edm_type::string:
        case edm_type::binary:
        case edm_type::int32: return 4;
        case edm_type::guid: return 16;
        default: return 8;
    }
}

/// Whether the length of a value of `type` is stored with it.
[[nodiscard]] constexpr bool has_length(edm_type type) noexcept {
    return type == edm_type::string || type == edm_type::binary;
}

/// Reads a little-endian number from the stored bytes.
template <class T>
[[nodiscard]] inline T load(char const* from) noexcept {
    T number{};
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(&number, from, sizeof number);
    } else {
        for (std::size_t index = sizeof number; index > 0; --index) {
            number = static_cast<T>((number << 8) | static_cast<unsigned char>(from[index - 1]));
        }
    }
    return number;
}

/// Writes a little-endian number to the stored bytes.
template <class T>
inline void store(char* to, T number) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(to, &number, sizeof number);
    } else {
        for (std::size_t index = 0; index < sizeof number; ++index) {
            to[index] = static_cast<char>(static_cast<unsigned char>(number >> (8 * index)));
        }
    }
}

} // namespace row_format
ENTITABLE_END_NAMESPACE

#endif
