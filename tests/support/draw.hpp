// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Random values for property tests. RapidCheck draws a seed, and a seed gives a hundred values: RapidCheck's own generators
/// take 50 times as long with sanitizers, and the properties here need 100,000 values each.

#include <entitable/core/text.hpp>

#include <rapidcheck.h>
#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/utf8.hpp>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

namespace entitable_test {

/// Draws from a seed (splitmix64).
class draw {
public:
    explicit draw(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t bits() noexcept {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    /// 0 to `count` - 1.
    std::size_t below(std::size_t count) noexcept { return static_cast<std::size_t>(bits() % count); }
    bool one_in(std::size_t count) noexcept { return below(count) == 0; }

    /// Any integer: extreme, small, and of any magnitude.
    template <class T>
    T integer() noexcept {
        using limits = std::numeric_limits<T>;
        auto const random = static_cast<T>(bits() >> below(sizeof(T) * 8));
        switch (below(8)) {
            case 0: return limits::min();
            case 1: return limits::max();
            case 2: return static_cast<T>(below(20));
            case 3: return static_cast<T>(limits::max() - static_cast<T>(below(20)));
            case 4: return static_cast<T>(limits::min() + static_cast<T>(below(20)));
            default: return std::is_signed_v<T> && one_in(2) ? static_cast<T>(~random) : random;
        }
    }

    /// A code point, usually one that is difficult for keys or an order.
    char32_t code_point() noexcept {
        constexpr char32_t hard[] = {0, 1, 9, 0x1F, U' ', U'!', U'"', U'#', U'$', U'.', U'/', U'0', U'>', U'?', U'@',
            U'[', U'\\', U']', U'_', U'~', 0x7F, 0x80, 0x9F, 0xA0, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFF5E, 0xFFFD, 0xFFFF,
            0x10000, 0x1F600, 0x10FFFF};
        switch (below(4)) {
            case 0: return U'_';
            case 1: return static_cast<char32_t>(U'a' + below(3));
            default: return hard[below(std::size(hard))];
        }
    }
    /// Valid UTF-8 of a few code points; sometimes with separators and marks of absence, sometimes long.
    std::string text() {
        constexpr std::string_view hard[] = {"_", "__", "___", "~", "~!", "!", "a_", "a__", "_a", "__a", "-"};
        std::string drawn{one_in(4) ? hard[below(std::size(hard))] : std::string_view{}};
        if (one_in(500)) { drawn.append(300, 'a'); }
        for (std::size_t left = below(6); left > 0; --left) { drawn += utf8(code_point()); }
        return drawn;
    }
    /// A text that often begins like `other`.
    std::string text_like(std::string const& other) {
        switch (below(3)) {
            case 0: return other + text();
            case 1: {
                std::size_t at = below(other.size() + 1);
                while (at > 0 && at < other.size() && (static_cast<unsigned char>(other[at]) & 0xC0U) == 0x80) { --at; }
                return other.substr(0, at) + text();
            }
            default: return text();
        }
    }

private:
    std::uint64_t state_;
};

/// Ends the property unless `holds`, and then prints the texts; RC_ASSERT and RC_LOG take as long as the tested code.
template <class... Texts>
void require(bool holds, std::string_view rule, Texts const&... texts) {
    if (!holds) {
        ((RC_LOG() << entitable::text::printable(texts) << '\n'), ...);
        RC_FAIL(std::string{rule});
    }
}

/// Runs `body(draw&)` with 100,000 draws in the optimized build, and 6,000 with sanitizers: a hundred for each seed, or as many seeds
/// as RC_PARAMS requests, if more. A failure shows the seed, and the texts that `body` passed to `require`.
template <class Body>
void check_draws(Body const& body) {
    auto const property = [&body] {
        auto const seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
        draw from{seed};
        for (int round = 0; round < 100; ++round) { body(from); }
    };
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    int const seeds = static_cast<int>(rounds(60, 1'000, 1'000));
    params.maxSuccess = params.maxSuccess < seeds ? seeds : params.maxSuccess;
    params.disableShrinking = true; // a smaller seed is not a smaller value
    auto const found = rc::detail::checkTestable(property, rc::detail::TestMetadata{}, params);
    if (!found.template is<rc::detail::SuccessResult>()) {
        std::ostringstream shown;
        rc::detail::printResultMessage(found, shown);
        FAIL(shown.str());
    }
    SUCCEED();
}

} // namespace entitable_test
