// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Keys converted to the form in which stores keep and compare them.

#include <entitable/core/text.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A key as bytes whose memcmp order is the service's order of keys (UTF-16 code units): the lead bytes EE and EF become FE and FF, which
/// do not occur in valid UTF-8. Most keys need no copy; this object is then valid as long as the key.
class stored_key {
public:
    enum folding : std::uint8_t { folded };

    explicit stored_key(std::string_view key) : view_(key) {
        if (!text::all_eights(key, [](std::uint64_t eight) { return (eight & 0x8080808080808080U) == 0; })) {
            convert();
        }
    }
    /// Stores the name of a table, ignoring case.
    stored_key(folding, std::string_view table) : view_(table) {
        // Among letters and digits, only capitals have the bit 0x40 without the bit 0x20.
        if (!text::all_eights(
                table, [](std::uint64_t eight) { return (eight & ~(eight << 1U) & 0x4040404040404040U) == 0; })) {
            fold();
        }
    }
    stored_key(stored_key const&) = delete;
    stored_key& operator=(stored_key const&) = delete;

    operator std::string_view() const noexcept { return view_; }

private:
    ENTITABLE_LAZY void convert();
    ENTITABLE_LAZY void fold();

    std::string copy_;
    std::string_view view_;
};

ENTITABLE_LAZY [[nodiscard]] std::string_view unconverted_key(std::string_view bytes, std::string& buffer);
/// Returns the key that was stored as `bytes`; `buffer` holds it if it had to be changed.
[[nodiscard]] inline std::string_view shown_key(std::string_view bytes, std::string& buffer) {
    bool const ascii = text::all_eights(bytes, [](std::uint64_t eight) { return (eight & 0x8080808080808080U) == 0; });
    return ascii ? bytes : unconverted_key(bytes, buffer);
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/impl/stored_key.ipp>
#endif
