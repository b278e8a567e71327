// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What gives the store of a name to those who know names only.

#include <entitable/core/result.hpp>
#include <entitable/transport/any_transport.hpp>

#include <functional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Gives the store of a name; asked once for each name.
using store_opener = std::function<result<any_transport>(std::string_view store)>;

ENTITABLE_END_NAMESPACE
