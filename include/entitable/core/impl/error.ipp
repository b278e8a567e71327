// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/error_codes.hpp>
#include <entitable/core/error.hpp>
#include <entitable/core/text.hpp>

#if !ENTITABLE_HAS_EXCEPTIONS
#include <cstdio>
#include <cstdlib>
#endif

ENTITABLE_BEGIN_NAMESPACE
ENTITABLE_DECL std::string_view to_string(error_code code) noexcept {
    for (auto const& row : detail::error_code_table) {
        if (row.code == code) { return row.name; }
    }
    return "UnknownError";
}

ENTITABLE_DECL std::uint16_t http_status_of(error_code code) noexcept {
    for (auto const& row : detail::error_code_table) {
        if (row.code == code) { return row.http_status; }
    }
    return 0;
}

ENTITABLE_LAZY_BODY std::string error::to_string() const {
    std::string text{entitable::to_string(code)};
    if (http_status != 0) { text += text::joined({" (", std::to_string(http_status), ")"}); }
    text += text::joined({": ", message});
    if (operation_index) { text += text::joined({"; operation ", std::to_string(*operation_index), " of the batch"}); }
    if (effect == effect::unknown) { text += "; the write may have been applied"; }
    if (!server_message.empty()) {
        text += text::joined(
            {"; the server reported: ", text::printable(server_message)}); // a database may send several lines
    }
    if (!request_id.empty()) { text += text::joined({"; request ", text::printable(request_id)}); }
    return text;
}

ENTITABLE_LAZY_BODY void error::raise() const {
#if ENTITABLE_HAS_EXCEPTIONS
    error thrown{*this};
    thrown.what_ = to_string();
    throw thrown;
#else
    std::fputs(to_string().c_str(), stderr);
    std::fputc('\n', stderr);
    std::abort();
#endif
}

ENTITABLE_END_NAMESPACE
