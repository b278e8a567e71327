// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "is not an entity" ENTITABLE

#include "registration.hpp"

namespace shop {
struct plain {
    std::string event;
};
} // namespace shop

#if defined(BROKEN)
using used = shop::plain;
#else
using used = registration;
#endif

using fields = entitable::fields<used>;
