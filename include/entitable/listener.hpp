// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A socket in front of a `table_server`: `http_listener`. Needs Boost.Beast in addition to the requirements of `entitable/server.hpp`.
/// With separate compilation its bodies are in `entitable/src/listener.hpp`.

#include <entitable/serve/listener/http_listener.hpp>
