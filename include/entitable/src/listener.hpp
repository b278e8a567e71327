// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the listener, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program, and
/// include this header in exactly one of them, and `entitable/src/server.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/listener.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/listener.hpp>
#include <entitable/serve/listener/impl/http_listener.ipp>
#include <entitable/serve/listener/impl/http_session.ipp>
#include <entitable/serve/listener/impl/session_owner.ipp>
