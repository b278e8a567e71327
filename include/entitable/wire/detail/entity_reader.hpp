// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The JSON of requests, read as the service reads it: tolerant in the form of a value whose type stands beside it, strict in
/// whether it fits. simdjson stays behind this header.

#include <entitable/core/result.hpp>

#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An entity as a request has it, by reference to the reader: valid until that reads again.
struct sent_entity {
    std::optional<std::string_view> partition_key; ///< as far as the body names it
    std::optional<std::string_view> row_key;
    std::string_view payload; ///< the properties that are present, in the stored form
};

/// Reads bodies of requests; keeps its memory. One thread at a time. Refusals have the words of the service, as `refused` makes
/// them: InvalidInput, DuplicatePropertiesSpecified.
class entity_reader {
public:
    entity_reader();
    ~entity_reader();
    entity_reader(entity_reader const&) = delete;
    entity_reader& operator=(entity_reader const&) = delete;

    /// An entity. Properties that are null are absent; Timestamp and the members of OData are passed over.
    [[nodiscard]] result<void> read(std::string_view body, sent_entity& out);
    /// The name in `{"TableName":"..."}`.
    [[nodiscard]] result<std::string> read_table_name(std::string_view body);

    /// Bytes of the largest body that the memory kept is good for.
    [[nodiscard]] std::size_t capacity() const noexcept;

private:
    class state;
    state* state_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/entity_reader.ipp>
#endif
