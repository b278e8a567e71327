// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables in programs of Boost.Asio: `asio_table`, whose calls take completion tokens, and `asio_loop`, an event loop on the program's own
/// `io_context`. Needs Boost.Asio, and a system with descriptors.

#include <entitable/async.hpp>
#include <entitable/async/asio/asio_loop.hpp>
#include <entitable/async/asio/asio_query.hpp>
#include <entitable/async/asio/asio_table.hpp>
#include <entitable/async/asio/error_category.hpp>
