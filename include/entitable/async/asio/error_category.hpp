// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The codes of the library as `boost::system::error_code`, and `call_diagnostics`, the whole error of a call.

#include <entitable/core/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <exception>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The category of the library's codes: the value is that of `entitable::error_code`, the message is its name ("ResourceNotFound").
/// DeadlineExceeded is equivalent to the condition `errc::timed_out`, Cancelled to `errc::operation_canceled`, and NotSupported to
/// `errc::not_supported`. Thread safety: safe to use from several threads.
[[nodiscard]] inline boost::system::error_category const& error_category() noexcept {
    class category final : public boost::system::error_category {
    public:
        [[nodiscard]] char const* name() const noexcept override { return "entitable"; }
        [[nodiscard]] std::string message(int value) const override {
            return std::string{to_string(static_cast<error_code>(value))};
        }
        [[nodiscard]] boost::system::error_condition default_error_condition(int value) const noexcept override {
            namespace errc = boost::system::errc;
            switch (static_cast<error_code>(value)) {
                case error_code::cancelled: return errc::make_error_condition(errc::operation_canceled);
                case error_code::deadline_exceeded: return errc::make_error_condition(errc::timed_out);
                case error_code::not_supported: return errc::make_error_condition(errc::not_supported);
                default: return {value, *this};
            }
        }
    };
    static category const only;
    return only;
}

/// Returns the code of a failure. Cancelled is `boost::asio::error::operation_aborted`, as every operation of Asio reports it, so that
/// `code == boost::asio::error::operation_aborted` and `code == entitable::error_code::cancelled` mean the same.
[[nodiscard]] inline boost::system::error_code make_error_code(error_code code) noexcept {
    if (code == error_code::cancelled) { return boost::asio::error::operation_aborted; }
    return {static_cast<int>(code), error_category()};
}

/// The whole error of a call: pass one in front of the completion token. It is written on the executor of the handler, just before the
/// handler is called, and must live until then. Used by one call at a time.
struct call_diagnostics {
    std::optional<error> problem; ///< the error with its messages and its effect; nullopt if the call succeeded
    std::exception_ptr thrown;    ///< exception thrown by a function of the program; the code is InternalError then
};

ENTITABLE_END_NAMESPACE

namespace boost::system {
template <>
struct is_error_code_enum<entitable::error_code> : std::true_type {};
} // namespace boost::system
