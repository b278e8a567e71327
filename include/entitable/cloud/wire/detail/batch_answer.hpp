// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the response to a transaction, multipart/mixed: tolerant of its form (line ends, order of fields, text before and after the
/// parts), strict in its content.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/core/request/requests.hpp>

#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the response with status 202 to `changes`. The batch succeeded only if there is exactly one successful part for each operation. A
/// single failed part is the error of the whole, with the index from its message, if that is the index of one of the operations. Anything
/// else fails with TransportFailed and the effect `unknown`.
[[nodiscard]] result<transact::response> read_batch_answer(
    http_response const& response, std::span<mutation const> changes, json_reader& reader);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/batch_answer.ipp>
#endif
