// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `dictionary`: numbers texts 0, 1, 2... in order of first appearance. Uses one block of bytes and one table of numbers, so that a million
/// texts cost about 20 bytes each in addition to their content.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Mixes 64 bits; a step of SplitMix64.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31U);
}

/// Returns a hash of bytes; the same on all machines with the same byte order.
[[nodiscard]] std::uint32_t hash_of(std::string_view bytes) noexcept;

/// Used by one thread at a time.
class dictionary {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU; ///< not the number of any text

    /// Returns the number of a text; adds the text if it is new.
    [[nodiscard]] std::uint32_t number_of(std::string_view text);
    /// Returns the number of a text, or `none` if the text is unknown.
    [[nodiscard]] std::uint32_t find(std::string_view text) const noexcept;
    [[nodiscard]] std::string_view operator[](std::uint32_t number) const noexcept {
        std::size_t const begin = number == 0 ? 0 : ends_[number - 1];
        return std::string_view{bytes_}.substr(begin, ends_[number] - begin);
    }
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ends_.size()); }

private:
    struct slot {
        std::uint32_t number{none};
        std::uint32_t hash{}; ///< text hash: avoids most comparisons of texts, and reading texts when the table grows
    };
    [[nodiscard]] std::size_t place_of(std::string_view text, std::uint32_t hash) const noexcept;
    void grow();

    std::string bytes_;
    std::vector<std::uint64_t> ends_;
    std::vector<slot> slots_; ///< the number of slots is a power of two; at most half are used
};

/// Numbers pairs of numbers 0, 1, 2...: rows that agree in several columns get one number.
class pair_numbers {
public:
    explicit pair_numbers(std::size_t expected);
    [[nodiscard]] std::uint32_t number_of(std::uint32_t first, std::uint32_t second);
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

private:
    struct slot {
        std::uint64_t pair{};
        std::uint32_t number{dictionary::none};
    };
    std::vector<slot> slots_;
    std::uint32_t size_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/dictionary.ipp>
#endif
