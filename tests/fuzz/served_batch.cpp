// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Any body as a batch, with the content type on the first line. The result refers to the body and only to it.

#include <entitable/cloud/wire/detail/batch_request.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const all{reinterpret_cast<char const*>(data), size};
    std::size_t const end = all.find('\n');
    std::string_view const body = end == std::string_view::npos ? std::string_view{} : all.substr(end + 1);
    auto const batch = entitable::detail::read_batch(all.substr(0, end), body, 100);
    if (!batch) { return 0; }
    if (batch->operations.empty() || batch->operations.size() > 101) { std::abort(); }
    for (auto const& each : batch->operations) {
        bool const inside = each.body.empty() ||
            (each.body.data() >= body.data() && each.body.data() + each.body.size() <= body.data() + body.size());
        if (!inside) { std::abort(); }
    }
    return 0;
}
