// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a service says when it refuses a request, with the words of the protocol, which are more than the codes of `error`.

#include <entitable/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Status, word and text of a refusal.
struct service_error {
    std::uint16_t status{500};
    std::string word{"InternalError"};
    std::string message;              ///< for a person; no secret, no stored data
    std::optional<std::size_t> index; ///< of the operation of a transaction
};

/// A refusal on its way out of the readers of requests. `service_error_of_refusal` has it back.
[[nodiscard]] failure refused(std::uint16_t status, std::string_view word, std::string_view message);
/// InvalidInput, with this text.
[[nodiscard]] failure refused_input(std::string_view message);

/// Of what `refused` made, and what validation says in the same places.
[[nodiscard]] service_error service_error_of_refusal(error const& refusal);
/// Of what a transport answered: its code as the service knows it. What only this library knows is InternalError, and no text
/// of another service or of a store goes out.
[[nodiscard]] service_error service_error_of_transport(error const& problem);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/service_error.ipp>
#endif
