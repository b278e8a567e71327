// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the undo of a step must take the message by const reference, and return an entitable::result"

#include "queue_errand.hpp"

void use(entitable::claimed<errand>& item) {
    auto const good = [](errand const&) -> entitable::result<void> { return {}; };
#if defined(BROKEN)
    auto const steps = entitable::saga_for<errand>("s", entitable::step("a", good, [](errand const&) {}));
    (void)steps.resume(item);
#else
    auto const steps = entitable::saga_for<errand>("s", entitable::step("a", good, good));
    (void)steps.resume(item);
#endif
}
