// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The answer of a service that refuses: JSON, XML, a page of a proxy or nothing at all, read into one form and turned into an `error`
/// with a code.

#include <entitable/core/result.hpp>
#include <entitable/http/http_message.hpp>
#include <entitable/wire/detail/json_reader.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An answer that is not a success. Texts are cut to sizes that fit into a log.
struct error_answer {
    std::uint16_t status{};
    std::string code;                 ///< the service's word; empty when it gave none
    std::string message;              ///< its first line
    std::string request_id;           ///< from the header fields, or from the message
    std::optional<std::size_t> index; ///< of the operation of a batch, when the message begins with one
    std::optional<std::chrono::milliseconds> retry_after;
};

/// Reads a body by its first character, whatever its Content-Type: services and emulators send XML where JSON was accepted.
void read_error_body(error_answer& out, std::string_view body, json_reader& reader);

/// Reads a whole answer.
[[nodiscard]] error_answer read_error_answer(http_response const& response, json_reader& reader);

/// The delay the service asks for before a retry: `Retry-After` in seconds or as a date, or one of the two forms in milliseconds. Nothing
/// where it cannot be read; a billion seconds at most.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after_of(http_headers const& headers) noexcept;

/// The code for a word of a service; for the status where there is no word, or an unknown one with a status that is clear by itself.
[[nodiscard]] error_code code_of(std::string_view word, std::uint16_t status) noexcept;

/// The error of a request called `request`. The effect of a failed write is `unknown` where a service may answer so after it has begun to
/// work: 5xx but 501 and 505, 408, and statuses below 300.
[[nodiscard]] failure to_failure(error_answer answer, std::string_view request, bool writes);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/error_answer.ipp>
#endif
