// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/wipe.hpp>

#include <support/catch.hpp>

#include <string>

TEST_CASE("wiped memory is zero, and its neighbours are unchanged") {
    std::string text = "a secret, and more";
    entitable::wipe(text.data(), 8);
    CHECK(text == std::string(8, '\0') + ", and more");
    entitable::wipe(nullptr, 0);
}
