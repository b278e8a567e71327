// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The subset of XML that the service uses: errors, access policies, properties and statistics of the service.

#include <entitable/core/config.hpp>
#include <entitable/core/function_ref.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An event of an element: its start, or its end, when its own text is complete.
enum class xml_event : unsigned char { opens, closes };

/// Receives each element by its path of names without prefixes, for example "Error/Code". The text is empty for `opens`.
using xml_visitor = function_ref<void(xml_event event, std::string_view path, std::string_view text)>;

/// Parses a whole document. Attributes, comments and a byte order mark are skipped. Returns false if it is truncated, its elements do not
/// match, it has a document type, an unknown entity, text after its root, or more than 16 levels.
[[nodiscard]] bool read_xml(std::string_view document, xml_visitor visit);

/// Appends text with & < > " as entities.
void append_xml_text(std::string& out, std::string_view text);

/// Appends `<name>text</name>`.
void append_xml_element(std::string& out, std::string_view name, std::string_view text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/xml.ipp>
#endif
