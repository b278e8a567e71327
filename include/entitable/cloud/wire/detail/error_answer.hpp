// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the error response of a service (JSON, XML, a page of a proxy or an empty body) into one form, and converts it to an `error` with
/// a code.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/core/result.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A response that is not a success. Texts are shortened to fit in a log.
struct error_answer {
    std::uint16_t status{};
    std::string code;                 ///< the service's error code; empty if absent
    std::string message;              ///< first line of the message
    std::string request_id;           ///< request id from the header fields, or from the message
    std::optional<std::size_t> index; ///< index of the failed operation of a batch, if the message begins with one
    std::optional<std::chrono::milliseconds> retry_after;
};

/// Reads a body by its first character, whatever its Content-Type: services and emulators send XML when JSON was accepted.
void read_error_body(error_answer& out, std::string_view body, json_reader& reader);

/// Reads a whole response.
[[nodiscard]] error_answer read_error_answer(http_response const& response, json_reader& reader);

/// Returns the delay that the service requests before a retry: `Retry-After` in seconds or as a date, or one of the two forms in
/// milliseconds. Returns nothing if the delay cannot be parsed, and at most a billion seconds.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after_of(http_headers const& headers) noexcept;

/// Maps a service's error code; uses the status if there is no code, or if the code is unknown and the status is unambiguous.
[[nodiscard]] error_code code_of(std::string_view word, std::uint16_t status) noexcept;

/// Returns the error of a request called `request`. The effect of a failed write is `unknown` if a service may send the status after it has
/// started to process: 5xx except 501 and 505, 408, and statuses below 300.
[[nodiscard]] failure to_failure(error_answer answer, std::string_view request, bool writes);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/error_answer.ipp>
#endif
