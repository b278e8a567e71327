// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The answer to a transaction, multipart/mixed: read tolerantly in its form (line ends, order of fields, text before and
/// after the parts), strictly in what it says.

#include <entitable/http/http_message.hpp>
#include <entitable/request/requests.hpp>
#include <entitable/wire/detail/json_reader.hpp>

#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads the answer of status 202 to `changes`. It is a success only when there is exactly one part of success for each of
/// them. One single part of failure is the error of the whole, with the index that its message names, if it names one of
/// the operations. All else is TransportFailed with the effect `unknown`.
[[nodiscard]] result<transact::response> read_batch_answer(
    http_response const& response, std::span<mutation const> changes, json_reader& reader);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/batch_answer.ipp>
#endif
