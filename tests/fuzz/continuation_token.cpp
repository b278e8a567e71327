// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Continuation tokens: any bytes are refused or are exactly a token that was issued; and any parts can be read back
// from a token.

#include <entitable/cloud/wire/detail/service_token.hpp>

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
    std::string const text(reinterpret_cast<char const*>(data), size);
    if (auto const read = detail::read_service_token(7, text)) {
        require(detail::make_service_token(7, *read) == text);
    }
    detail::service_token token;
    token.location = size % 2 == 0 ? read_location::primary : read_location::secondary;
    token.partition = text.substr(0, size / 2);
    token.row = text.substr(size / 2);
    if (size % 3 == 0) { token.partition.reset(); }
    std::string const made = detail::make_service_token(size, token);
    auto const back = detail::read_service_token(size, made);
    require(back && back->partition == token.partition && back->row == token.row && back->location == token.location);
    require(!detail::read_service_token(size + 1, made));
    require(!detail::read_service_token(size, std::string_view{made}.substr(0, made.size() - 1)));
    std::string url;
    char separator = '?';
    detail::append_token(url, *back, separator);
    for (char const each : url) { require(each > ' ' && each <= '~' && each != '#'); }
    return 0;
}
