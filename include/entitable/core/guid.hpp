// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `guid`: 128 bits, compared as bytes, written in lower case.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/date_time.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A globally unique identifier; `bytes` are in the order of the text.
struct guid {
    std::array<unsigned char, 16> bytes{}; ///< bytes in the order of the text

    /// Makes a random GUID: 122 bits from the operating system (version 4 of RFC 9562). Not for secrets.
    ENTITABLE_LAZY [[nodiscard]] static guid random() noexcept;
    /// Makes a GUID that sorts after the GUIDs of earlier times, as bytes and as text: the time since 1970 in 4096ths of a millisecond,
    /// and 62 bits from the operating system (version 7 of RFC 9562). The order within a quarter of a microsecond, or between clocks that
    /// differ, is arbitrary. A time before 1970 counts as 1970.
    ENTITABLE_LAZY [[nodiscard]] static guid ordered(date_time time = date_time::now()) noexcept;

    /// Parses "c9da6455-213d-42c9-9a79-3e9149a57833", hexadecimal digits in either case; nullopt for any other text.
    ENTITABLE_LAZY [[nodiscard]] static std::optional<guid> parse(std::string_view text) noexcept;

    /// Formats as 32 digits in groups: "12345678-9abc-def0-1234-56789abcdef0".
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;
    /// Appends the same text.
    ENTITABLE_LAZY void append_to(std::string& out) const;

    friend constexpr auto operator<=>(guid const&, guid const&) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/guid.ipp>
#endif

#endif
