// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables served on a socket: `http_listener`, in front of a `table_server`. Needs Boost.Beast besides what `entitable/server.hpp` needs. With
/// separate compilation what it costs to compile is paid once, in the file that includes `entitable/listener/src.hpp`.

#include <entitable/listener/http_listener.hpp>
#include <entitable/listener/listener_options.hpp>
