// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the handler of run_worker must take the message by const reference"

#include "queue_errand.hpp"
#include <entitable/worker.hpp>

void use(entitable::table_queue<errand> const& queue) {
#if defined(BROKEN)
    auto const handle = [](std::string const&) -> entitable::result<void> { return {}; };
#else
    auto const handle = [](errand const&) -> entitable::result<void> { return {}; };
#endif
    (void)entitable::run_worker(queue, handle);
}
