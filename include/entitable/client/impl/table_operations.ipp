// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/table_operations.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY result<bool> unless(result<void> failed, error_code tolerated) {
    if (failed) { return true; }
    if (failed.error().code == tolerated) { return false; }
    return std::move(failed).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
