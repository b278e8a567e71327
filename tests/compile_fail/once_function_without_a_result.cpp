// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the function of once must take a once_run const& and return a result<void>"

#include <entitable/once.hpp>

void use(entitable::once const& mails) {
#if defined(BROKEN)
    (void)mails.run("ann", [](entitable::once_run const&) {});
#else
    (void)mails.run("ann", [](entitable::once_run const&) -> entitable::result<void> { return {}; });
#endif
}
