// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Pages of several shards; a late page is requested a second time.

#include <entitable/shards/route/detail/shard_part.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Like `run_all`. Each call holds the state of the request whose response was used.
[[nodiscard]] bool ask_hedged(std::vector<shard_page_request>& requests, std::vector<call>& calls,
    std::vector<channel*> const& places, io_driver& io, sharded_state& state);

} // namespace detail
ENTITABLE_END_NAMESPACE
