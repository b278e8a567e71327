// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Writes entities as JSON in the service's form: every Double with its annotation, Int64 as text, times with seven digits. All functions
/// append, so reusing a buffer avoids allocations.

#include <entitable/core/row/row.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends `text`, valid UTF-8, as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

/// Appends the members of one property: its annotation if needed, its name, its value.
void append_json_property(std::string& out, std::string_view name, value_view value);

/// Appends an object on one line: keys and the properties that are present. The Timestamp, which the server sets, is omitted.
void append_json_entity(std::string& out, row_view entity);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/json_writer.ipp>
#endif
