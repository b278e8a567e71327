// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What went wrong, as a value: a code to switch on, the effect on the stored data, and the texts.

#include <entitable/core/chrono.hpp>
#include <entitable/core/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// What a failed write did to the stored data.
enum class effect : std::uint8_t {
    none,    ///< nothing was applied
    unknown, ///< the answer was lost: it was applied as a whole, or not at all
};

/// A failure. Plain data; it derives from std::exception so that `result::value()` can throw it and
/// `catch (std::exception const&)` prints it.
struct ENTITABLE_VISIBLE error : std::exception {
    error() = default; ///< InternalError without words
    /// With the HTTP status that belongs to the code.
    error(error_code reason, std::string text)
        : code(reason), http_status(http_status_of(reason)), message(static_cast<std::string&&>(text)) {}

    error_code code{error_code::internal_error};          ///< what went wrong
    std::uint16_t http_status{};                          ///< of the answer; without one, that of the code, 0 for ours
    entitable::effect effect{effect::none};               ///< what became of the data
    std::uint32_t attempts{1};                            ///< how often it was sent; 1 where it was refused before, too
    std::optional<std::size_t> operation_index;           ///< the failed operation of a batch, from 0; not always known
    std::optional<std::chrono::milliseconds> retry_after; ///< the delay the service asks for, if it does
    std::string message;                                  ///< names the offender and the limit; no user data
    std::string detail;                                   ///< values of user data, cut short; keep it out of logs
    std::string server_message; ///< words of the service (REST: the first line), database or system
    std::string request_id;     ///< the service's id of the request, for its support
    std::string operation_id;   ///< names a write of unknown effect that kept an operation row

    /// On one line: code, status, message, operation, an unknown effect, `server_message` and the request's id. Never `detail`.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    /// Throws a copy of this error; prints it and ends the program where exceptions are switched off.
    ENTITABLE_LAZY [[noreturn]] void raise() const;

    /// `to_string()` of an error that `raise()` has thrown; else the message.
    [[nodiscard]] char const* what() const noexcept override { return what_.empty() ? message.c_str() : what_.c_str(); }

private:
    std::string what_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/error.ipp>
#endif
