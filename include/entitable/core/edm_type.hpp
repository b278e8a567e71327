// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The eight property types of the table service (source: "Understanding the Table service data model").

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Type of a property. The numbers are stored in rows: docs/stored_formats.md.
enum class edm_type : std::uint8_t {
    string = 1,    ///< UTF-8 here, UTF-16 in the service
    int32 = 2,     ///< Edm.Int32
    int64 = 3,     ///< Edm.Int64, a string in JSON
    float64 = 4,   ///< Edm.Double
    boolean = 5,   ///< Edm.Boolean
    date_time = 6, ///< UTC, in ticks of 100 ns
    guid = 7,      ///< 16 bytes
    binary = 8,    ///< any bytes
};

/// Returns the service's name of the type, for example "Edm.Int32".
[[nodiscard]] constexpr std::string_view to_string(edm_type type) noexcept {
    switch (type) {
        case edm_type::string: return "Edm.String";
        case edm_type::int32: return "Edm.Int32";
        case edm_type::int64: return "Edm.Int64";
        case edm_type::float64: return "Edm.Double";
        case edm_type::boolean: return "Edm.Boolean";
        case edm_type::date_time: return "Edm.DateTime";
        case edm_type::guid: return "Edm.Guid";
        case edm_type::binary: return "Edm.Binary";
    }
    return "unknown";
}

/// Bytes that the service does not interpret, up to 64 KiB.
using binary = std::vector<std::byte>;

ENTITABLE_END_NAMESPACE

#endif
