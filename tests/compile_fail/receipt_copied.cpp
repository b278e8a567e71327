// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: deleted claimed

#include "queue_errand.hpp"

void use(entitable::claimed<errand>& item) {
#if defined(BROKEN)
    entitable::claimed<errand> mine = item;
    (void)mine.complete();
#else
    entitable::claimed<errand> mine = std::move(item);
    (void)mine.complete();
#endif
}
