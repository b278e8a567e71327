// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the server, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program, and
/// include this header in exactly one of them, and `entitable/src/azure.hpp` and `entitable/src.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/server.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/serve/server/impl/server_engine.ipp>
#include <entitable/serve/server/impl/token_check.ipp>
#include <entitable/serve/server/impl/token_keys.ipp>
#include <entitable/serve/server/impl/token_parts.ipp>
#include <entitable/server.hpp>
