// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: claimed

#include "queue_errand.hpp"

struct other {
    std::string town;
    std::int32_t number{};
};
ENTITABLE(other, partition_key(town), row_key(number), properties())

void use(entitable::claimed<errand>& item, entitable::claimed<other>& wrong) {
    auto const steps = entitable::saga_for<errand>(
        "s", entitable::step("a", [](errand const&) -> entitable::result<void> { return {}; }));
#if defined(BROKEN)
    (void)item;
    (void)steps.resume(wrong);
#else
    (void)wrong;
    (void)steps.resume(item);
#endif
}
