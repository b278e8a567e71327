// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// JSON of a page: any bytes give all of its rows or an error, the same in one walk over the text as from a parsed document;
// and each row equals the result of a new reader for its text alone.

#include <entitable/cloud/wire/detail/json_reader.hpp>

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace entitable;

namespace {

void require(bool fact) {
    if (!fact) { std::abort(); }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const body(reinterpret_cast<char const*>(data), size);
    detail::json_reader reader;
    page rows;
    static_cast<void>(reader.read_tables(body));
    bool const good = reader.read_page(body, rows).has_value(); // as a document: no space after the text
    std::string padded = body;
    padded.reserve(size + 64);
    for (int times = 0; times < 2; ++times) { // the second time it has the shape of the last row
        page walked;
        require(reader.read_page(padded, walked).has_value() == good);
        for (std::size_t index = 0; good && index < rows.size(); ++index) {
            require(index < walked.size() && walked[index].partition_key == rows[index].partition_key &&
                walked[index].row_key == rows[index].row_key && walked[index].payload == rows[index].payload &&
                walked[index].etag_text == rows[index].etag_text);
        }
    }
    if (!good) { return 0; }
    simdjson::dom::parser parser;
    simdjson::dom::array list;
    require(parser.parse(body)["value"].get(list) == simdjson::SUCCESS && list.size() == rows.size());
    std::size_t index = 0;
    for (simdjson::dom::element const each : list) {
        detail::json_reader fresh;
        auto const alone = fresh.read_entity(std::string{simdjson::minify(each)});
        row_view const found = rows[index++];
        require(check_payload(found.payload).has_value());
        if (!alone) { // numbers are rewritten, and not always in their original form
            continue;
        }
        require(alone->entity.partition_key() == found.partition_key && alone->entity.row_key() == found.row_key);
        // If the service sends none, the page derives one from the Timestamp; for a single row the caller does that.
        require((alone->etag.empty() ? alone->entity.view().etag() : alone->etag) == found.etag());
        require(alone->entity.payload().size() == found.payload.size());
    }
    return 0;
}
