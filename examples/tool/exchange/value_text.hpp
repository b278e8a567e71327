// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Values as text, as in CSV fields and JSON lines: names of types, text of a value, value of a text.

#include <entitable/core/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tool {

/// Name of a type on the command line and in headers of CSV files: "Int32".
[[nodiscard]] std::string_view type_name(entitable::edm_type type) noexcept;
/// Type of such a name, in any case, or of the service's name "Edm.Int32".
[[nodiscard]] std::optional<entitable::edm_type> type_named(std::string_view name) noexcept;

/// Appends the text of a value: numbers in decimal with all digits, a Double with a point or an exponent, times with seven digits, GUIDs in
/// lower case, binaries in base64.
void append_value_text(std::string& out, entitable::value_view given);

/// Reads that form; nullopt if the text is not a value of the type. `bytes` holds the content of a GUID or a binary, and must outlive the
/// value. An Int32 or Int64 is decimal without a sign +; a Double may lack the point; a time may be a day.
[[nodiscard]] std::optional<entitable::value_view> read_value_text(
    std::string_view given, entitable::edm_type type, std::string& bytes);

} // namespace tool
