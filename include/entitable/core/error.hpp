// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `error`: a failure as a value, with a code, the effect on the stored data, and messages.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Effect of a failed write on the stored data.
enum class effect : std::uint8_t {
    none,    ///< nothing was applied
    unknown, ///< the response was lost: the write was applied as a whole, or not at all
};

/// A failure: plain data. Derives from std::exception so that `result::value()` can throw it and `catch (std::exception const&)` can print
/// it.
struct ENTITABLE_VISIBLE error : std::exception {
    error() = default; ///< InternalError without messages
    /// Sets the HTTP status that belongs to the code.
    error(error_code reason, std::string text)
        : code(reason), http_status(http_status_of(reason)), message(static_cast<std::string&&>(text)) {}

    error_code code{error_code::internal_error}; ///< reason of the failure
    std::uint16_t http_status{}; ///< HTTP status of the response, or else of the code; 0 for the library's codes
    entitable::effect effect{effect::none};     ///< effect on the stored data
    std::uint32_t attempts{1};                  ///< number of attempts; 1 if the request was refused before it was sent
    std::optional<std::size_t> operation_index; ///< the failed operation of a batch, from 0; not always known
    std::optional<std::chrono::milliseconds> retry_after; ///< delay requested by the service, if any
    std::string message;                                  ///< names the invalid item and the limit; no user data
    std::string detail;                                   ///< values of user data, shortened; keep it out of logs
    std::string server_message; ///< message of the service (REST: first line), database or system
    std::string request_id;     ///< the service's request id, for its support
    std::string operation_id;   ///< id of a write whose effect is unknown, if it has an operation row

    /// Formats on one line: code, status, message, operation, an unknown effect, `server_message` and the request id.
    /// Never contains `detail`.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    /// Throws a copy of this error; without exceptions, prints it and ends the program.
    ENTITABLE_LAZY [[noreturn]] void raise() const;

    /// Returns `to_string()` of an error thrown by `raise()`, otherwise the message.
    [[nodiscard]] char const* what() const noexcept override { return what_.empty() ? message.c_str() : what_.c_str(); }

    /// Prints `to_string()`; requires `<ostream>`.
    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, error const& printed) {
        return out << printed.to_string();
    }

private:
    std::string what_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/error.ipp>
#endif

#endif
