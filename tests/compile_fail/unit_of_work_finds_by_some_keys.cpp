// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "find(...) must be given all key components of the entity, those of the partition key first"

#include "registration.hpp"
#include <entitable/unit_of_work.hpp>

void use(entitable::unit_of_work<registration>& work) {
#if defined(BROKEN)
    (void)work.find("Boston", "Full");
#else
    (void)work.find("Boston", "Full", 7);
#endif
}
