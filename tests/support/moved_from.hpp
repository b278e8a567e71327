// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The answers of a handle that was moved from.

#include <entitable/core/result.hpp>

#include <support/catch.hpp>

#include <string>
#include <utility>

namespace entitable_test {

/// The object that `from` is moved into: the contents of `from` live on here.
template <class T>
[[nodiscard]] T moved(T& from) {
    return std::move(from);
}

} // namespace entitable_test

/// The expression is a result with InvalidInput, whose message explains why.
#define CHECK_GONE(...)                                                                                  \
    do {                                                                                                 \
        auto const answer_of_gone = (__VA_ARGS__);                                                       \
        CHECK(!answer_of_gone.has_value());                                                              \
        if (!answer_of_gone) {                                                                           \
            CHECK(answer_of_gone.error().code == entitable::error_code::invalid_input);                  \
            CHECK_THAT(answer_of_gone.error().message, entitable_test::ContainsSubstring("moved from")); \
        }                                                                                                \
    } while (false)
