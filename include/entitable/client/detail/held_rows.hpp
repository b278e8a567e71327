// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows that one attempt of a partition transaction has read and changed: for the bodies of `row_transaction`.

#include <entitable/core/request/requests.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// State of a row of the partition in an attempt.
struct held_row {
    explicit held_row(std::string_view key) : row_key(key) {}

    std::string row_key;
    row stored;        ///< the row as read, if it exists
    row laid_over;     ///< `stored`, with the properties of `change`
    etag version;      ///< ETag of `stored`
    bool read{};       ///< set once the row was read
    bool there{};      ///< set if the row was read and exists
    bool required{};   ///< set if the row must exist
    bool changed{};    ///< `change` is to be made
    mutation change{}; ///< result of all changes of the row; its condition is the version of an existing row

    /// Version of the stored row that the caller requires.
    etag_condition expected{any_etag};

    [[nodiscard]] bool found() const noexcept { return read && there; }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
