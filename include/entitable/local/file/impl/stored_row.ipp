// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/local/file/detail/row_run.hpp>
#include <entitable/local/file/impl/connection.ipp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace stored_row {

inline constexpr std::size_t number_size = sizeof(std::uint32_t);
inline constexpr std::size_t trailer_size = number_size + sizeof(std::uint64_t);
inline constexpr std::size_t timestamp_size = row_format::header_size - row_format::timestamp_offset;
/// Shorter rows leave no room for the trailer.
inline constexpr std::size_t shortest_descriptor = trailer_size + timestamp_size - row_format::header_size;
/// Longer shapes are not shared by many rows.
inline constexpr std::size_t longest_descriptor = 4096;

} // namespace stored_row

/// Returns the size of the descriptor of a row that can have a shape; 0 for any other row.
ENTITABLE_DECL std::size_t shared_descriptor(std::string_view bytes) noexcept {
    if (bytes.size() < row_format::header_size || static_cast<std::uint8_t>(bytes[0]) != row_format::version) {
        return 0;
    }
    auto const size = row_format::load<std::uint32_t>(bytes.data() + 4);
    bool const good = size >= stored_row::shortest_descriptor && size <= stored_row::longest_descriptor;
    return good && size <= bytes.size() - row_format::header_size ? size : 0;
}

/// Returns the number of a shape; 0 if it does not exist, nullopt on a read error.
ENTITABLE_DECL std::optional<std::uint32_t> number_of_shape(connection& on, std::string_view shape) {
    statement find{on, sql::find_shape};
    switch (find.bind(1, shape).step()) {
        case stepped::row: return static_cast<std::uint32_t>(find.number(0));
        case stepped::done: return 0;
        default: return std::nullopt;
    }
}

/// Returns the shape with these bytes, and adds it to the file if it is new; null if the file has too many, nullopt for an error.
ENTITABLE_DECL std::optional<row_shape const*> shape_for(
    connection& on, std::string_view head, std::string_view descriptor) {
    if (row_shape const* const known = on.shapes().find(head, descriptor)) { return known; }
    std::string bytes = text::joined({head, descriptor});
    auto number = number_of_shape(on, bytes);
    if (number == 0U) {
        if (statement{on, sql::add_shape}.bind(1, std::string_view{bytes}).finish() != stepped::done) {
            return std::nullopt;
        }
        number = number_of_shape(on, bytes);
    }
    if (!number) { return std::nullopt; }
    return *number == 0 ? nullptr : &on.shapes().add(*number, std::move(bytes));
}

/// Computes two hashes together, which a processor does in parallel.
inline std::uint64_t checksum_of(
    std::string_view bytes, row_shape const* shape, std::uint64_t partition_hash, std::string_view row) noexcept {
    std::uint64_t const of_row = row_hash::of(row, partition_hash);
    return row_hash::of(bytes, partition_hash + (shape == nullptr ? 0 : shape->hash)) + std::rotl(of_row, 1);
}

ENTITABLE_DECL std::optional<std::string_view> pack_row(
    connection& on, std::string& bytes, std::uint64_t partition_hash, std::string_view row) {
    row_shape const* shape = nullptr;
    std::size_t begin = 0;
    if (std::size_t const descriptor = shared_descriptor(bytes); descriptor > 0) {
        std::string_view const whole = bytes;
        auto const found = shape_for(
            on, whole.substr(0, row_format::timestamp_offset), whole.substr(row_format::header_size, descriptor));
        if (!found) { return std::nullopt; }
        shape = *found;
        if (shape != nullptr) {
            // Moves Timestamp and values so that the trailer fits after them.
            std::size_t const values = row_format::header_size + descriptor;
            auto const timestamp = row_format::load<std::uint64_t>(bytes.data() + row_format::timestamp_offset);
            begin = values - stored_row::timestamp_size - stored_row::trailer_size;
            std::memmove(
                bytes.data() + begin + stored_row::timestamp_size, bytes.data() + values, bytes.size() - values);
            row_format::store(bytes.data() + begin, timestamp);
            bytes.resize(bytes.size() - stored_row::trailer_size);
        }
    }
    char trailer[stored_row::trailer_size];
    row_format::store(trailer, shape == nullptr ? std::uint32_t{0} : shape->number);
    row_format::store(trailer + stored_row::number_size,
        checksum_of(std::string_view{bytes}.substr(begin), shape, partition_hash, row));
    bytes.append(trailer, sizeof trailer);
    return std::string_view{bytes}.substr(begin);
}

ENTITABLE_DECL std::optional<stored_parts> check_row(
    connection& on, std::string_view stored, std::uint64_t partition_hash, std::string_view row) {
    if (stored.size() < stored_row::trailer_size) { return std::nullopt; }
    char const* const trailer = stored.data() + (stored.size() - stored_row::trailer_size);
    stored.remove_suffix(stored_row::trailer_size);
    auto const number = row_format::load<std::uint32_t>(trailer);
    row_shape const* shape = number == 0 ? nullptr : on.shapes().find(number);
    if (number != 0 && shape == nullptr) {
        statement find{on, sql::shape};
        if (find.bind(1, std::int64_t{number}).step() != stepped::row ||
            find.bytes(0).size() < row_format::timestamp_offset) {
            return std::nullopt;
        }
        shape = &on.shapes().add(number, std::string{find.bytes(0)});
    }
    if (row_format::load<std::uint64_t>(trailer + stored_row::number_size) !=
        checksum_of(stored, shape, partition_hash, row)) {
        return std::nullopt;
    }
    if (shape != nullptr && stored.size() < stored_row::timestamp_size) { return std::nullopt; }
    return stored_parts{shape, stored};
}

ENTITABLE_DECL std::optional<std::string_view> unpack_row(
    connection& on, std::string_view stored, std::uint64_t partition_hash, std::string_view row) {
    auto const parts = check_row(on, stored, partition_hash, row);
    if (!parts || parts->shape == nullptr) { return parts ? std::optional{parts->bytes} : std::nullopt; }
    return on.shapes().whole(*parts->shape, parts->bytes);
}

ENTITABLE_DECL failure unreadable_row(connection& on, std::string_view partition, std::string_view row) {
    if (on.broken()) { return on.problem("cannot read the file"); }
    failure damaged{error_code::store_corrupt, "a stored row is damaged: its checksum differs"};
    damaged.error().detail = text::joined({"PartitionKey \"", text::printable(text::shortened(partition)),
        "\", RowKey \"", text::printable(text::shortened(row)), "\""});
    return damaged;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
