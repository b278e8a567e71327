// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The errors of requests that break a rule.

#include <entitable/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes a refusal whose invalid value goes into `error::detail`, with the other user data.
ENTITABLE_LAZY [[nodiscard]] failure refusal(error_code code, std::string message, std::string_view offender = {});

/// Formats "the batch has 101 operations; the limit is 100".
ENTITABLE_LAZY [[nodiscard]] std::string limit_text(
    std::string_view what, std::size_t found, std::size_t limit, std::string_view unit);

/// Formats the keys of an entity, shortened, for `error::detail`.
ENTITABLE_LAZY [[nodiscard]] std::string keys_text(std::string_view partition_key, std::string_view row_key);

/// Puts the keys of the invalid entity in front of `error::detail`, unless they are already there.
ENTITABLE_LAZY void name_keys(error& of, std::string_view partition_key, std::string_view row_key);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/refusal.ipp>
#endif
