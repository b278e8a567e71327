// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads a transaction request, multipart/mixed: tolerant of its form (line ends, quotes around a boundary, text before the parts), strict
/// in its content.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/result.hpp>

#include <optional>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The header fields that determine how an entity is changed, by reference.
struct change_fields {
    std::optional<std::string_view> if_match;
    std::optional<std::string_view> if_none_match;
    std::optional<std::string_view> content_type;
    std::optional<std::string_view> prefer;
    std::optional<std::string_view> other_method; ///< X-HTTP-Method
    bool several_if_match{};                      ///< more than one If-Match, which is ambiguous

    /// Stores a field if it is one of the known fields; if several have the same name, stores the first one.
    void take(std::string_view name, std::string_view value) noexcept;
};

/// One operation, by reference to the body.
struct sent_operation {
    http_method method{http_method::get};
    std::string_view url; ///< absolute, or the part after the service's address
    change_fields fields;
    std::string_view body;
    std::string_view content_id; ///< empty if the operation has no body
};

/// The content of a body: the operations of one change set, or one query.
struct sent_batch {
    bool is_query{};
    std::vector<sent_operation> operations;
};

/// Reads a body, up to `most` operations and one more. Errors, as `refused` makes them: InvalidInput for no change set or more than one, a
/// truncated change set, and a part without a request.
[[nodiscard]] result<sent_batch> read_batch(std::string_view content_type, std::string_view body, std::size_t most);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/batch_request.ipp>
#endif
