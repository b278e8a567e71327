// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `store_opener`: opens a store by its name.

#include <entitable/core/result.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <functional>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Opens the store with this name; called for each name until it succeeds.
using store_opener = std::function<result<any_store>(std::string_view store)>;

ENTITABLE_END_NAMESPACE
