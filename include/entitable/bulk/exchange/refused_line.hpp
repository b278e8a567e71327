// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The report of reading entities from a text: how many records there were, and which of them were refused, with line and column.

#include <entitable/core/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A record of a text that is not an entity.
struct refused_line {
    std::uint64_t
        index{}; ///< number of the record, from 0, without the header; the same as `refused_row::index` of a bulk load
    std::uint64_t line{}; ///< line of the fault, from 1
    std::uint64_t
        column{}; ///< byte of the line where the faulty field begins, or the fault itself if there is no field; from 1
    std::string name;           ///< name of the column or member; empty if the whole record is malformed
    std::uint64_t first_line{}; ///< first line of the record, from 1
    std::uint64_t last_line{};  ///< last line of the record: greater than `first_line` if a field contains line ends
    std::string text;           ///< the record as it was read, without its line end
    bool is_cut{}; ///< `text` has only the beginning of the record, because it exceeded the maximum size of a record
    entitable::error
        error; ///< RowMismatch for a value, InvalidInput for a malformed record; the message begins with line and column
};

/// The counts of a reader so far, and the first refused records.
struct read_report {
    std::uint64_t records{};            ///< records read, including those that were refused; without the header
    std::uint64_t refused{};            ///< records that are not entities
    std::uint64_t lines{};              ///< lines read; the last line counts even if no line end follows
    bool ended{};                       ///< the whole text was read
    std::vector<refused_line> refusals; ///< the first refused records, at most `keep_refused`
};

ENTITABLE_END_NAMESPACE
