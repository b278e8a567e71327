// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this entity type does not belong to the unit of work"

#include "registration.hpp"
#include <entitable/unit_of_work.hpp>

struct marshal {
    std::string event;
    std::int32_t id{};
};
ENTITABLE(marshal, partition_key(event), row_key(id))

void use(entitable::unit_of_work<registration>& work) {
#if defined(BROKEN)
    work.add(marshal{"Boston", 7});
#else
    work.add(registration{});
#endif
}
