// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fills entities from the records of a CSV text, by the names in its header.

#include <entitable/bulk/exchange/csv_options.hpp>
#include <entitable/bulk/exchange/detail/csv_parser.hpp>
#include <entitable/bulk/exchange/detail/text_column.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a CSV text into entities of one type.
class csv_intake {
public:
    csv_intake(std::istream& in, csv_read_options const& options, text_columns columns);

    /// Reads the header. Errors: those of `read_csv`.
    [[nodiscard]] result<void> read_header();
    /// Fills a new entity from the next record; `why` becomes the error of a refused record.
    [[nodiscard]] intake next(void* entity, result<void>& why);

    [[nodiscard]] read_report const& report() {
        refused_.report().lines = parser_.source().lines();
        return refused_.report();
    }
    [[nodiscard]] std::vector<std::string> const& unknown() const noexcept { return unknown_; }
    [[nodiscard]] std::vector<std::string> const& missing() const noexcept { return missing_; }

private:
    [[nodiscard]] result<void> take_names();
    [[nodiscard]] std::optional<record_fault> fill(void* entity) const;
    [[nodiscard]] std::optional<record_fault> fill_column(
        void* entity, text_column const& column, csv_field const& field) const;
    [[nodiscard]] std::optional<record_fault> check_count() const;
    [[nodiscard]] std::optional<record_fault> check_pairs() const;
    [[nodiscard]] csv_field const* field_of(std::size_t column) const noexcept;
    [[nodiscard]] static bool is_absent(csv_field const* field) noexcept {
        return field == nullptr || (!field->quoted && field->begin == field->end);
    }

    csv_parser parser_;
    text_columns columns_;
    char separator_;
    entitable::reading reading_;
    refused_records refused_;
    std::vector<std::string> header_;
    std::vector<std::size_t> targets_; ///< column of each field of the header; the number of columns if unknown
    std::vector<std::size_t> sources_; ///< field of each column; the number of fields if missing
    std::vector<std::string> unknown_;
    std::vector<std::string> missing_;
    bool stopped_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/exchange/impl/csv_intake.ipp>
#endif
