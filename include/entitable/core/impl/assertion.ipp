// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/assertion.hpp>

#include <cstdio>
#include <cstdlib>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void end_program(char const* what, error const& problem) noexcept {
    std::fprintf(stderr, "entitable: %s: %s\n", what, problem.to_string().c_str());
    std::abort();
}

ENTITABLE_LAZY_BODY error misuse(char const* what_to_do) { return error{error_code::invalid_input, what_to_do}; }

} // namespace detail
ENTITABLE_END_NAMESPACE
