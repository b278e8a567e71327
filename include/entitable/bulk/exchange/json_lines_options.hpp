// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `read_json_lines`.

#include <entitable/bulk/exchange/refused_line.hpp>
#include <entitable/core/row/reading.hpp>

#include <cstddef>
#include <functional>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE

/// Options of `read_json_lines`.
struct json_lines_options {
    /// `standard` ignores members of an object that the entity does not have. `strict` refuses such objects. `lenient` leaves a property
    /// at its initial value if the object does not have it.
    entitable::reading reading{entitable::reading::standard};
    std::uint64_t max_refused{
        (std::numeric_limits<std::uint64_t>::max)()}; ///< the next ends the reading; 0 ends at the first refused line
    std::size_t keep_refused{1'000};                  ///< maximum number of refused lines in the report
    std::size_t max_record{std::size_t{8} << 20U};    ///< maximum size of a line in bytes; a longer line is refused
    std::function<void(refused_line const&)> on_refused{}; ///< called with each refused line, as it is refused
};

ENTITABLE_END_NAMESPACE
