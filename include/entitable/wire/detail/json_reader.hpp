// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The service's JSON answers, read strictly: a text that is cut, has another after it, names a member twice, has a value
/// that does not fit its type, invalid UTF-8 or too many levels is an error as a whole, never a row that was read in part.
/// Rows go straight into the arena of a page. simdjson stays behind this header.

#include <entitable/request/requests.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What an error answer says, as it says it.
struct error_text {
    std::string code;
    std::string message;
};

/// Reads answers; keeps its memory and the shape of the last row, so one reader for many answers is faster than a new one for
/// each. One thread at a time. Every error is TransportFailed: no usable answer came back.
class json_reader {
public:
    json_reader();
    ~json_reader();
    json_reader(json_reader const&) = delete;
    json_reader& operator=(json_reader const&) = delete;

    /// Appends the entities of a page. A body with `http_response::padding` bytes of capacity to spare is not copied.
    [[nodiscard]] result<void> read_page(std::string const& body, page& rows);
    /// One entity; its ETag is empty when the body has none.
    [[nodiscard]] result<get_entity::response> read_entity(std::string const& body);
    /// The names of a list of tables.
    [[nodiscard]] result<std::vector<std::string>> read_tables(std::string const& body);
    /// Code and message of an OData error; false when the body is none.
    [[nodiscard]] bool read_error(std::string_view body, error_text& out);

    /// Bytes of the largest answer that the memory kept is good for.
    [[nodiscard]] std::size_t capacity() const noexcept;

private:
    class state;
    state* state_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/json_reader.ipp>
#endif
