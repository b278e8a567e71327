// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes the payload of a row from its properties (`core/row/format.hpp`).

#include <entitable/core/config.hpp>
#include <entitable/core/edm_type.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
struct property_view;
class value_view;
namespace detail {

/// Appends the name and the type of a property to the first half of a payload.
ENTITABLE_LAZY void append_descriptor(std::string& descriptor, std::string_view name, edm_type type, bool nullable);
/// Appends a value to the second half of a payload.
ENTITABLE_LAZY void append_stored_value(std::string& values, edm_type type, value_view const& value);

/// Appends one property to the two halves of a payload. An absent property must be `nullable`.
ENTITABLE_LAZY void append_property(
    std::string& descriptor, std::string& values, property_view const& property, bool nullable);

/// Joins the two halves, which hold `count` properties, in the memory of `payload`.
ENTITABLE_LAZY void write_payload(
    std::string& payload, std::uint16_t count, std::string_view descriptor, std::string_view values);
/// Joins the two halves, which hold `count` properties.
ENTITABLE_LAZY [[nodiscard]] std::string make_payload(
    std::uint16_t count, std::string_view descriptor, std::string_view values);

} // namespace detail
ENTITABLE_END_NAMESPACE
