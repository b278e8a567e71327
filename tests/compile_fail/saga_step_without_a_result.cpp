// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the effect of a step must return an entitable::result"

#include "queue_errand.hpp"

void use(entitable::claimed<errand>& item) {
#if defined(BROKEN)
    auto const steps = entitable::saga_for<errand>("s", entitable::step("a", [](errand const&) {}));
    (void)steps.resume(item);
#else
    auto const steps = entitable::saga_for<errand>(
        "s", entitable::step("a", [](errand const&) -> entitable::result<void> { return {}; }));
    (void)steps.resume(item);
#endif
}
