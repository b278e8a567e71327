// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `read_csv` and `write_csv`.

#include <entitable/bulk/exchange/refused_line.hpp>
#include <entitable/core/row/reading.hpp>

#include <cstddef>
#include <functional>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `read_csv`.
struct csv_read_options {
    char separator{','}; ///< between fields; not a quote or a line end
    /// `standard` ignores columns that the entity does not have, and refuses a text without a column that it needs.
    /// `strict` also refuses unknown columns. `lenient` leaves a property at its initial value if its column is missing.
    entitable::reading reading{entitable::reading::standard};
    std::uint64_t max_refused{
        (std::numeric_limits<std::uint64_t>::max)()}; ///< the next ends the reading; 0 ends at the first refused record
    std::size_t keep_refused{1'000};                  ///< maximum number of refused records in the report
    std::size_t max_record{std::size_t{8} << 20U};    ///< maximum size of a record in bytes; a longer record is refused
    std::function<void(refused_line const&)> on_refused{}; ///< called with each refused record, as it is refused
};

/// Options of `write_csv`.
struct csv_write_options {
    char separator{','}; ///< between fields; not a quote or a line end
    bool crlf{};         ///< ends lines with CR and LF instead of LF
    bool bom{};          ///< begins with the UTF-8 byte order mark, which spreadsheets look for
};

ENTITABLE_END_NAMESPACE
