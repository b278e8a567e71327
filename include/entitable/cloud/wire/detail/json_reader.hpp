// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads the service's JSON responses strictly. A truncated text, text after the end, a duplicate member, a value that does not fit its
/// type, invalid UTF-8 or too many levels makes the whole response an error; no row is ever read in part. Rows go directly into the arena
/// of a page. Only the implementation includes simdjson.

#include <entitable/core/request/requests.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The content of an error response, unchanged.
struct error_text {
    std::string code;
    std::string message;
};

/// Reads responses; reuses its memory and the shape of the last row, so one reader for many responses is faster than a new reader for each.
/// Used by one thread at a time. Every error is TransportFailed: no usable response was received.
class json_reader {
public:
    json_reader();
    ~json_reader();
    json_reader(json_reader const&) = delete;
    json_reader& operator=(json_reader const&) = delete;

    /// Appends the entities of a page. A body with `http_response::padding` bytes of spare capacity is not copied.
    [[nodiscard]] result<void> read_page(std::string const& body, page& rows);
    /// Reads one entity; its ETag is empty if the body has none.
    [[nodiscard]] result<get_entity::response> read_entity(std::string const& body);
    /// Reads the names of a list of tables.
    [[nodiscard]] result<std::vector<std::string>> read_tables(std::string const& body);
    /// Reads code and message of an OData error; false if the body is not an OData error.
    [[nodiscard]] bool read_error(std::string_view body, error_text& out);

    /// Returns the size of the largest response that fits in the reserved memory.
    [[nodiscard]] std::size_t capacity() const noexcept;

private:
    class state;
    state* state_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/json_reader.ipp>
#endif
