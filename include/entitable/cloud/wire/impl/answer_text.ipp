// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure unreadable(std::initializer_list<std::string_view> why) {
    return failure{error_code::transport_failed, "cannot read the service's response: " + text::joined(why)};
}

ENTITABLE_DECL std::string_view trimmed(std::string_view text) noexcept {
    auto const blank = [](char character) {
        return character == ' ' || character == '\t' || character == '\r' || character == '\n';
    };
    while (!text.empty() && blank(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && blank(text.back())) { text.remove_suffix(1); }
    return text;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
