// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fills entities from lines of JSON.

#include <entitable/bulk/exchange/detail/json_line_parser.hpp>
#include <entitable/bulk/exchange/detail/text_column.hpp>
#include <entitable/bulk/exchange/detail/text_source.hpp>
#include <entitable/bulk/exchange/json_lines_options.hpp>

#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads lines of JSON into entities of one type.
class json_intake {
public:
    json_intake(std::istream& in, json_lines_options const& options, text_columns columns);

    /// Fills a new entity from the next line that is not empty; `why` becomes the error of a refused line.
    [[nodiscard]] intake next(void* entity, result<void>& why);

    [[nodiscard]] read_report const& report() {
        refused_.report().lines = source_.lines();
        return refused_.report();
    }

private:
    [[nodiscard]] bool read_line();
    [[nodiscard]] std::optional<record_fault> fill(void* entity);
    [[nodiscard]] std::optional<record_fault> fill_member(void* entity, json_line_member const& member);
    [[nodiscard]] std::optional<record_fault> fill_missing(void* entity);
    [[nodiscard]] std::size_t column_of(std::string_view name) noexcept;
    [[nodiscard]] record_fault misfit(std::size_t offset, std::string name, std::string message) const;

    text_source source_;
    text_columns columns_;
    entitable::reading reading_;
    std::size_t max_record_;
    refused_records refused_;
    json_line_parser parser_;
    std::string line_;
    std::uint64_t number_{};      ///< number of the line
    std::vector<char> present_;   ///< for each column: whether the object has a value other than null
    std::vector<char> mentioned_; ///< for each column: whether the object has the member
    std::size_t expected_{};      ///< the column after that of the previous member
    bool began_{};
    bool is_cut_{};
    bool stopped_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/json_intake.ipp>
#endif
