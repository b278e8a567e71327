// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The error responses of a service, in the protocol's wording, which distinguishes more cases than the codes of `error`.

#include <entitable/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Status, code and text of an error response.
struct service_error {
    std::uint16_t status{500};
    std::string word{"InternalError"};
    std::string message;              ///< readable text; contains no secret and no stored data
    std::optional<std::size_t> index; ///< index of the failed operation of a transaction
};

/// An error returned by the readers of requests. `service_error_of_refusal` converts it back.
[[nodiscard]] failure refused(std::uint16_t status, std::string_view word, std::string_view message);
/// Returns InvalidInput, with this text.
[[nodiscard]] failure refused_input(std::string_view message);

/// Converts an error made by `refused`, or any other error of reading a request.
[[nodiscard]] service_error service_error_of_refusal(error const& refusal);
/// Converts the error of a transport to the service's code. Codes that only this library defines become InternalError, and no text of
/// another service or of a store is sent.
[[nodiscard]] service_error service_error_of_transport(error const& problem);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/service_error.ipp>
#endif
