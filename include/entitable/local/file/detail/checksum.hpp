// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The checksum of each stored row: SQLite does not detect bits that the disk has changed.

#include <entitable/core/config.hpp>
#include <entitable/core/row/format.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A 64-bit hash for rows of a few hundred bytes. Four lanes process eight bytes at a time, with the steps of XXH64 (Y. Collet, "xxHash
/// fast digest algorithm", version 0.1.1); the finalization is shorter. Each step is invertible, so that a change within eight bytes always
/// changes its lane. Protects against accidents, not against attackers.
class row_hash {
public:
    [[nodiscard]] static std::uint64_t of(std::string_view bytes, std::uint64_t seed) noexcept {
        // Four variables: GCC keeps the elements of an array in memory.
        std::uint64_t one = seed + prime1;
        std::uint64_t two = seed + prime2;
        std::uint64_t three = seed + prime3;
        std::uint64_t four = seed + prime4;
        char const* at = bytes.data();
        char const* const end = at + bytes.size();
        if (bytes.size() >= 16) {
            for (; end - at > 32; at += 32) {
                step(one, at);
                step(two, at + 8);
                step(three, at + 16);
                step(four, at + 24);
            }
            // Hashes the rest; if it is less than four words, some bytes are hashed twice.
            char const* const last = bytes.size() >= 32 ? end - 32 : at;
            step(one, last);
            step(two, last + 8);
            step(three, end - 16);
            step(four, end - 8);
        } else if (bytes.size() >= 8) {
            step(one, at);
            step(two, end - 8);
        } else {
            char word[8] = {};
            for (std::size_t index = 0; index < bytes.size(); ++index) { word[index] = at[index]; }
            step(one, word);
        }
        std::uint64_t hash = bytes.size() * prime2;
        hash = std::rotl(hash ^ one, 27) * prime1;
        hash = std::rotl(hash ^ two, 27) * prime1;
        hash = std::rotl(hash ^ three, 27) * prime1;
        hash = std::rotl(hash ^ four, 27) * prime1;
        hash = (hash ^ (hash >> 33U)) * prime2;
        hash = (hash ^ (hash >> 29U)) * prime3;
        return hash ^ (hash >> 32U);
    }

private:
    // Odd constants with irregular bits, from XXH64.
    static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87U;
    static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FU;
    static constexpr std::uint64_t prime3 = 0x165667B19E3779F9U;
    static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63U;

    static void step(std::uint64_t& lane, char const* from) noexcept {
        lane = std::rotl(lane + row_format::load<std::uint64_t>(from) * prime2, 31) * prime1;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
