// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Any text as a filter that is sent to a server: a parsed filter is written and parsed again unchanged, and its key ranges lose no
// row.

#include <entitable/cloud/wire/detail/odata_filter.hpp>
#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/core/request/detail/key_ranges.hpp>
#include <entitable/testing/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace entitable;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const read = detail::read_odata_filter({reinterpret_cast<char const*>(data), size});
    if (!read) { return 0; }
    std::string text;
    static_cast<void>(detail::append_odata_filter(text, {}, *read, service::storage));
    auto const again = detail::read_odata_filter(text, {std::size_t{1} << 20U, 1'000, 1'000});
    std::string text_again;
    if (again) { static_cast<void>(detail::append_odata_filter(text_again, {}, *again, service::storage)); }
    if (!again || text_again != text || again->comparisons() != read->comparisons()) { std::abort(); }
    auto const found = detail::key_ranges_of(*read);
    for (char const* const partition : {"", "a", "b"}) {
        for (char const* const at : {"", "a", "b"}) {
            row const each = testing::make_row(partition, at, {{"A", 1}});
            std::size_t in = 0;
            for (key_range const& range : found.ranges) { in += range.contains(partition, at) ? 1U : 0U; }
            bool const wanted = satisfies(each.view(), *read);
            if (in > 1 || (wanted && in == 0) || (found.exact && !wanted && in == 1)) { std::abort(); }
        }
    }
    return 0;
}
