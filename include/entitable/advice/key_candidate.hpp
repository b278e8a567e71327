// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `key_candidate`: possible keys of a table, with their advantages and disadvantages and the cost of a copy to them.

#include <entitable/advice/key_score.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Possible keys of a table.
struct key_candidate {
    key_score score;          ///< cost of the workload under these keys
    bool present{};           ///< set for the current keys
    std::string reason;       ///< the reason for the candidate
    std::string gains;        ///< the advantages of partitions of this size (single value, several, unique)
    std::string loses;        ///< the disadvantages of partitions of this size
    std::string finer;        ///< the next member to append to the partition key; empty if there is none
    std::string finer_effect; ///< the effect of appending this member
    std::string declaration;  ///< declaration to copy: ENTITABLE(...)
    double copy_requests{};   ///< minimum number of requests for a copy to these keys; 0 for the current keys
    double copy_seconds{};    ///< minimum time of the copy, at the target of an account
};

ENTITABLE_END_NAMESPACE
