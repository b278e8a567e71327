// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/cloud/wire/filter_text.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<filter> parse_filter(std::string_view text) {
    auto made = detail::read_odata_filter(text);
    if (made) { return made; }
    // The reader answers in the words of the service, for the server.
    bool const is_valid_elsewhere = made.error().server_message == "NotImplemented";
    return failure{
        is_valid_elsewhere ? error_code::not_implemented : error_code::invalid_input, std::move(made.error().message)};
}

ENTITABLE_END_NAMESPACE
