// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a handle answers that was moved from.

#include <entitable/core/result.hpp>

#include <support/catch.hpp>

#include <string>
#include <utility>

namespace entitable_test {

/// The object that `from` becomes: `from` was moved from, and what it held lives on here.
template <class T>
[[nodiscard]] T moved(T& from) {
    return std::move(from);
}

} // namespace entitable_test

/// The expression is a result that is InvalidInput, and its message says why.
#define CHECK_GONE(...)                                                                                  \
    do {                                                                                                 \
        auto const answer_of_gone = (__VA_ARGS__);                                                       \
        CHECK(!answer_of_gone.has_value());                                                              \
        if (!answer_of_gone) {                                                                           \
            CHECK(answer_of_gone.error().code == entitable::error_code::invalid_input);                  \
            CHECK_THAT(answer_of_gone.error().message, entitable_test::ContainsSubstring("moved from")); \
        }                                                                                                \
    } while (false)
