// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Pages of several shards, those that are late asked for once more.

#include <entitable/shards/detail/shard_part.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// As `run_all`. Each call is left as that of the request whose answer counts.
[[nodiscard]] bool ask_hedged(std::vector<shard_page_request>& requests, std::vector<call>& calls,
    std::vector<channel*> const& places, io_driver& io, sharded_state& state);

} // namespace detail
ENTITABLE_END_NAMESPACE
