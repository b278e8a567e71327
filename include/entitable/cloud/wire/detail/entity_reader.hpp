// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the JSON of requests as the service does: tolerant of the form of a value with a type annotation, strict about whether it fits.
/// Only the implementation includes simdjson.

#include <entitable/core/result.hpp>

#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An entity of a request. It refers to the reader: valid until the next read.
struct sent_entity {
    std::optional<std::string_view> partition_key; ///< if the body names it
    std::optional<std::string_view> row_key;
    std::string_view payload; ///< the properties that are present, in the stored form
};

/// Reads bodies of requests; reuses its memory. Used by one thread at a time. Errors have the service's wording, as `refused` makes them:
/// InvalidInput, DuplicatePropertiesSpecified.
class entity_reader {
public:
    entity_reader();
    ~entity_reader();
    entity_reader(entity_reader const&) = delete;
    entity_reader& operator=(entity_reader const&) = delete;

    /// Reads an entity. Properties that are null are absent; Timestamp and the members of OData are skipped.
    [[nodiscard]] result<void> read(std::string_view body, sent_entity& out);
    /// Reads the name in `{"TableName":"..."}`.
    [[nodiscard]] result<std::string> read_table_name(std::string_view body);

    /// Returns the size of the largest body that fits in the reserved memory.
    [[nodiscard]] std::size_t capacity() const noexcept;

private:
    class state;
    state* state_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/entity_reader.ipp>
#endif
