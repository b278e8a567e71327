// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Numbers from text, the same with each standard library.

#include <entitable/core/detail/double_text.hpp>

#include <support/catch.hpp>

#include <limits>

using entitable::detail::double_in;

TEST_CASE("double_text: parses decimal numbers exactly") {
    using limits = std::numeric_limits<double>;
    CHECK(double_in("0") == 0.0);
    CHECK(double_in("-4.25") == -4.25);
    CHECK(double_in("0.1") == 0.1);
    CHECK(double_in("1e3") == 1000.0);
    CHECK(double_in("1.7976931348623157E+308") == (limits::max)());
    CHECK(double_in("2.2250738585072014e-308") == (limits::min)());
    CHECK(double_in("5e-324") == limits::denorm_min());
    CHECK(double_in("9007199254740993") == 9007199254740992.0);
    CHECK(double_in(".5") == 0.5);
    CHECK(double_in("5.") == 5.0);
}

TEST_CASE("double_text: refuses any other text") {
    for (auto const* text : {"", " 1", "1 ", "+1", "1e", "--1", "1-", "1,5", "0x10", "inf", "-inf", "nan", "infinity",
             "e5", ".", "-", "1e400", "-1e400", "1e-400", "1.2.3"}) {
        CAPTURE(text);
        CHECK_FALSE(double_in(text));
    }
    CHECK_FALSE(double_in(std::string_view{}));
    CHECK_FALSE(double_in(std::string_view{"1\0", 2}));
    CHECK(double_in(std::string_view{"12345", 2}) == 12.0);
}
