// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// JSON of an entity: any bytes give a whole entity or an error. An entity is written and read back unchanged, even right after
// the reader has read it.

#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/cloud/wire/detail/json_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace entitable;

namespace {

void require(bool fact) {
    if (!fact) { std::abort(); }
}

bool same(row_view left, row_view right) {
    property_cursor first{left.payload};
    property_cursor second{right.payload};
    property_view a;
    property_view b;
    while (first.next(a)) {
        if (!second.next(b) || a.name != b.name || a.type != b.type) { return false; }
        bool const nan = a.type == edm_type::float64 && a.value.as_float64() != a.value.as_float64();
        if (!(a.value == b.value) && !(nan && b.value.as_float64() != b.value.as_float64())) { return false; }
    }
    return !second.next(b) && left.partition_key == right.partition_key && left.row_key == right.row_key;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const body(reinterpret_cast<char const*>(data), size);
    detail::json_reader reader;
    auto const read = reader.read_entity(body);
    if (!read) {
        require(read.error().code == error_code::transport_failed);
        return 0;
    }
    require(check_payload(read->entity.payload()).has_value());
    std::string padded = body;
    padded.reserve(size + 64);                     // then it is walked
    auto const again = reader.read_entity(padded); // using the learnt shape
    require(again && again->entity.payload() == read->entity.payload() && again->etag == read->etag);
    std::string text;
    detail::append_json_entity(text, read->entity);
    // Names that only the service may use are read, but not written back unchanged.
    property_cursor cursor{read->entity.payload()};
    for (property_view property; cursor.next(property);) {
        if (property.name.find('@') != std::string_view::npos) { return 0; }
    }
    auto const back = reader.read_entity(text);
    require(back && same(back->entity, read->entity));
    return 0;
}
