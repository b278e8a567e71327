// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `key_candidate`: keys that a table could have, with what they gain, what they lose and what a copy to them takes.

#include <entitable/advice/key_score.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Keys that could be.
struct key_candidate {
    key_score score;          ///< what the workload costs under them
    bool present{};           ///< these are the keys that there are
    std::string why;          ///< where they come from
    std::string gains;        ///< of so fine partitions (single value, several, unique)
    std::string loses;        ///< of the same
    std::string finer;        ///< the next member to append to the partition key; empty when there is none
    std::string finer_effect; ///< what that does
    std::string declaration;  ///< as text to copy: ENTITABLE(...)
    double copy_requests{};   ///< that a copy to these keys takes at the least; 0 for the present ones
    double copy_seconds{};    ///< that it takes at the least, at the target of an account
};

ENTITABLE_END_NAMESPACE
