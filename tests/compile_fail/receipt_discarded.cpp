// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// expect: ignoring nodiscard

#include "queue_errand.hpp"

#pragma GCC diagnostic error "-Wunused-result"

void use(entitable::table_queue<errand> const& queue) {
#if defined(BROKEN)
    queue.claim(); // hides a message from all workers for half a minute
#else
    auto item = queue.claim();
    (void)item;
#endif
}
