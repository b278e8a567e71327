// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/aggregate.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY failure sum_out_of_range() {
    return failure{error_code::out_of_range_input, "the sum does not fit into 64 bits"};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
