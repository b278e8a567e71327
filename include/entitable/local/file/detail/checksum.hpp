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
        std::uint64_t lanes[4] = {seed + prime1, seed + prime2, seed + prime3, seed + prime4};
        char const* at = bytes.data();
        char const* const end = at + bytes.size();
        if (bytes.size() >= 16) {
            for (; end - at > 32; at += 32) { step(lanes, at, at + 8, at + 16, at + 24); }
            // Hashes the rest; if it is less than four words, some bytes are hashed twice.
            char const* const last = bytes.size() >= 32 ? end - 32 : at;
            step(lanes, last, last + 8, end - 16, end - 8);
        } else if (bytes.size() >= 8) {
            step(lanes[0], at);
            step(lanes[1], end - 8);
        } else {
            char word[8] = {};
            for (std::size_t index = 0; index < bytes.size(); ++index) { word[index] = at[index]; }
            step(lanes[0], word);
        }
        std::uint64_t hash = bytes.size() * prime2;
        for (std::uint64_t const lane : lanes) { hash = std::rotl(hash ^ lane, 27) * prime1; }
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
    static void step(
        std::uint64_t* lanes, char const* first, char const* second, char const* third, char const* fourth) noexcept {
        step(lanes[0], first);
        step(lanes[1], second);
        step(lanes[2], third);
        step(lanes[3], fourth);
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
