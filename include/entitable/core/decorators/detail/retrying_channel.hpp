// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The channel of a retrying transport: retries wait while other requests continue.

#include <entitable/core/decorators/detail/retry_course.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/transport/channel.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Retries requests of `below`, as documented for `retrying`. `limits` are those of the transport below.
[[nodiscard]] shared<channel> open_retrying_channel(
    shared<channel> below, shared<retry_ledger> ledger, bool operation_rows, profile const& limits, io_driver& io);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/retrying_channel.ipp>
#endif
