// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `trace_context`: the place of a span in a trace that runs through several programs, as the header `traceparent` of W3C Trace
/// Context carries it.

#include <entitable/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A trace, a span of it, and flags. Plain data. One without a trace id or without a span id is none at all.
struct trace_context {
    /// The caller may have recorded the trace.
    static constexpr std::uint8_t sampled = 0x01;
    /// The trace id was drawn at random (W3C Trace Context, level 2).
    static constexpr std::uint8_t random = 0x02;

    std::uint64_t trace_high{}; ///< the first half of the trace id
    std::uint64_t trace_low{};  ///< the second half
    std::uint64_t span_id{};    ///< the span that others are children of; `parent-id` in the header
    std::uint8_t flags{};       ///< of `sampled` and `random`; what else is set is not sent

    /// Reads the value of a header `traceparent`, strictly: 55 characters for version 00, lower-case digits, no id of zeros. A later
    /// version may have more after a further hyphen, which is not read. Unknown flags are left out. Errors: InvalidInput for all else; a
    /// program that receives such a header begins a trace of its own, or none.
    [[nodiscard]] static result<trace_context> parse(std::string_view traceparent);

    /// Whether there is one.
    [[nodiscard]] constexpr explicit operator bool() const noexcept {
        return (trace_high | trace_low) != 0 && span_id != 0;
    }
    /// 32 digits.
    [[nodiscard]] std::string trace_id() const;
    /// The value of the header: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(trace_context const&, trace_context const&) = default;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/trace_context.ipp>
#endif
