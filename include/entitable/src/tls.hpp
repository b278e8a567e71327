// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of TLS for listeners, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program,
/// and include this header in exactly one of them, and `entitable/src/listener.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/tls.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/serve/listener/impl/tls_certificate.ipp>
#include <entitable/tls.hpp>
