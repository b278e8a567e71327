// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Catch2, version 3 or version 2 (which Debian 12 has), under the names of version 3.

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace entitable_test {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
} // namespace entitable_test

#else

#include <catch2/catch.hpp>

namespace entitable_test {
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
inline auto ContainsSubstring(std::string const& text) { return Catch::Matchers::Contains(text); }
} // namespace entitable_test

#endif
