// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY failure moved_from(std::string_view handle) {
    return failure{error_code::invalid_input, text::joined({"this ", handle, " was moved from"})};
}

ENTITABLE_LAZY_BODY entitable::error const& taken_error() noexcept {
    static entitable::error const one{error_code::invalid_input, "this result was moved from, or its error was taken"};
    return one;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
