// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `key_candidate`: keys that a table could have, with their advantages and disadvantages and the cost of a copy to them.

#include <entitable/advice/key_score.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Keys that a table could have.
struct key_candidate {
    key_score score;          ///< what the workload costs under them
    bool present{};           ///< these are the keys that there are
    std::string why;          ///< where they come from
    std::string gains;        ///< the advantages of partitions of this size (single value, several, unique)
    std::string loses;        ///< their disadvantages
    std::string finer;        ///< the next member to append to the partition key; empty when there is none
    std::string finer_effect; ///< its effect
    std::string declaration;  ///< as text to copy: ENTITABLE(...)
    double copy_requests{};   ///< the least number that a copy to these keys takes; 0 for the present ones
    double copy_seconds{};    ///< the least time that it takes, at the target of an account
};

ENTITABLE_END_NAMESPACE
