// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A transaction as it is sent, multipart/mixed: read tolerantly in its form (line ends, quotes around a boundary, text before the
/// parts), strictly in what it says.

#include <entitable/core/result.hpp>
#include <entitable/http/http_message.hpp>

#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// One operation, by reference to the body.
struct sent_operation {
    http_method method{http_method::get};
    std::string_view url; ///< absolute, or the part behind the service's address
    http_headers headers;
    std::string_view body;
    std::string_view content_id; ///< empty when it has none
};

/// What a body holds: the operations of one change set, or one query.
struct sent_batch {
    bool is_query{};
    std::vector<sent_operation> operations;
};

/// Reads a body, up to `most` operations and one more. InvalidInput as `refused` makes it for what is no batch: no or more than
/// one change set, one that is cut, a part that is no request.
[[nodiscard]] result<sent_batch> read_batch(std::string_view content_type, std::string_view body, std::size_t most);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/batch_request.ipp>
#endif
