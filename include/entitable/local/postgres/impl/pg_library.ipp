// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// libpq, which only the bodies include.

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#include <poll.h>

#include <cstring>
