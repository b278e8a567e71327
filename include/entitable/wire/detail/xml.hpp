// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The little XML that the service speaks: errors, access policies, properties and statistics of the service.

#include <entitable/core/config.hpp>
#include <entitable/core/function_ref.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What happens at an element: it begins, or it ends and its own text is known.
enum class xml_event : unsigned char { opens, closes };

/// Told of each element by its path of names without prefixes, for example "Error/Code". The text is empty when it opens.
using xml_visitor = function_ref<void(xml_event event, std::string_view path, std::string_view text)>;

/// Walks a whole document. Attributes, comments and a byte order mark are passed over. False when it is cut, its elements
/// do not match, it has a document type, an unknown entity, something after its root, or more than 16 levels.
[[nodiscard]] bool read_xml(std::string_view document, xml_visitor visit);

/// Appends text with & < > " as entities.
void append_xml_text(std::string& out, std::string_view text);

/// Appends `<name>text</name>`.
void append_xml_element(std::string& out, std::string_view name, std::string_view text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/xml.ipp>
#endif
