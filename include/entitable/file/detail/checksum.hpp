// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The checksum that stands beside each stored row: SQLite does not notice a bit that the disk has changed.

#include <entitable/core/config.hpp>
#include <entitable/row/format.hpp>

#include <bit>
#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// XXH64 (Y. Collet, "xxHash fast digest algorithm", version 0.1.1): 64 bits, several bytes in each cycle of the processor.
class xxh64 {
public:
    [[nodiscard]] static std::uint64_t of(std::string_view bytes, std::uint64_t seed) noexcept {
        char const* at = bytes.data();
        std::size_t left = bytes.size();
        std::uint64_t hash = seed + prime5;
        if (left >= 32) {
            std::uint64_t lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
            for (; left >= 32; at += 32, left -= 32) {
                for (int lane = 0; lane < 4; ++lane) {
                    lanes[lane] = round(lanes[lane], row_format::load<std::uint64_t>(at + 8 * lane));
                }
            }
            hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
            for (std::uint64_t const lane : lanes) {
                hash = (hash ^ round(0, lane)) * prime1 + prime4;
            }
        }
        hash += bytes.size();
        for (; left >= 8; at += 8, left -= 8) {
            hash = std::rotl(hash ^ round(0, row_format::load<std::uint64_t>(at)), 27) * prime1 + prime4;
        }
        if (left >= 4) {
            hash = std::rotl(hash ^ (row_format::load<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
            at += 4;
            left -= 4;
        }
        for (; left > 0; ++at, --left) {
            hash = std::rotl(hash ^ (static_cast<unsigned char>(*at) * prime5), 11) * prime1;
        }
        hash = (hash ^ (hash >> 33U)) * prime2;
        hash = (hash ^ (hash >> 29U)) * prime3;
        return hash ^ (hash >> 32U);
    }

private:
    static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87U;
    static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FU;
    static constexpr std::uint64_t prime3 = 0x165667B19E3779F9U;
    static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63U;
    static constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5U;

    [[nodiscard]] static std::uint64_t round(std::uint64_t lane, std::uint64_t input) noexcept {
        return std::rotl(lane + input * prime2, 31) * prime1;
    }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
