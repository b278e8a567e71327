// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The channel of a REST backend: sends table requests as HTTP requests.

#include <entitable/cloud/http/http_channel.hpp>
#include <entitable/cloud/rest/detail/rest_engine.hpp>
#include <entitable/core/transport/channel.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Opens a channel over `below`, which it owns exclusively.
[[nodiscard]] shared<channel> open_rest_channel(shared<rest_engine> engine, shared<http_channel> below, io_driver& io);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/rest/impl/rest_channel.ipp>
#endif
