// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows that one attempt of a partition transaction has read and changes: for the bodies of `row_transaction`.

#include <entitable/core/shared.hpp>
#include <entitable/request/requests.hpp>

#include <map>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A row of the partition, as an attempt knows it.
struct held_row {
    row stored;        ///< as it was read, where it is there
    row laid_over;     ///< that, with the properties of `change`
    etag version;      ///< of that
    bool read{};       ///< it was looked for
    bool there{};      ///< and found
    bool required{};   ///< it must be there
    bool changed{};    ///< `change` is to be made
    mutation change{}; ///< what all changes of the row come to; its condition is the version of a row that was found

    [[nodiscard]] bool found() const noexcept { return read && there; }
};

/// Rows by their keys.
class held_rows : public counted, public std::map<std::string, held_row, std::less<>> {};

} // namespace detail
ENTITABLE_END_NAMESPACE
