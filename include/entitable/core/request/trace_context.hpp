// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `trace_context`: position of a span in a trace across programs, as in the header `traceparent` of W3C Trace Context.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Ids of a trace and of one of its spans, and flags. Plain data. It is empty without a trace id or without a span id.
struct trace_context {
    /// The caller may have recorded the trace.
    static constexpr std::uint8_t sampled = 0x01;
    /// The trace id is random (W3C Trace Context, level 2).
    static constexpr std::uint8_t random = 0x02;

    std::uint64_t trace_high{}; ///< the first half of the trace id
    std::uint64_t trace_low{};  ///< the second half
    std::uint64_t span_id{};    ///< id of the span, the parent of spans below it; `parent-id` in the header
    std::uint8_t flags{};       ///< `sampled` and `random`; other flags are not sent

    /// Parses the value of a header `traceparent`, strictly: 55 characters for version 00, lower-case digits, no all-zero id. A later
    /// version may continue after another hyphen; the rest is ignored. Unknown flags are dropped. Errors: InvalidInput for all other
    /// values; a program that receives such a header starts its own trace, or none.
    ENTITABLE_LAZY [[nodiscard]] static result<trace_context> parse(std::string_view traceparent);

    /// Whether it is not empty.
    [[nodiscard]] constexpr explicit operator bool() const noexcept {
        return (trace_high | trace_low) != 0 && span_id != 0;
    }
    /// Returns the trace id as 32 digits.
    ENTITABLE_LAZY [[nodiscard]] std::string trace_id() const;
    /// Returns the value of the header: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(trace_context const&, trace_context const&) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/trace_context.ipp>
#endif

#endif
