// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/finding.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string_view to_string(finding_kind kind) noexcept {
    constexpr std::string_view words[] = {"one_partition_is_fine", "append_only", "prepend_only", "log_data",
        "few_partitions", "skewed", "too_coarse", "too_fine", "account_exceeded", "scans", "misses_latency",
        "unordered_range", "two_dominant_queries", "mixed_types"};
    return words[static_cast<std::size_t>(kind)];
}

ENTITABLE_DECL std::string_view to_string(severity how) noexcept {
    constexpr std::string_view words[] = {"fine", "note", "warning", "problem"};
    return words[static_cast<std::size_t>(how)];
}

ENTITABLE_END_NAMESPACE
