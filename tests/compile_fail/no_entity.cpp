// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "is not an entity" ENTITABLE

#include "registration.hpp"

struct plain {
    std::string event;
};

#if defined(BROKEN)
using used = plain;
#else
using used = registration;
#endif

using fields = entitable::fields<used>;
