// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Awaited calls in programs of Boost.Asio: `asio_loop`, an event loop on the program's own `io_context`, and completion tokens. Needs
/// Boost.Asio, and a system with descriptors.

#include <entitable/async.hpp>
#include <entitable/async/asio/asio_loop.hpp>
