// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a member alone is not a condition"

#include <entitable/entitable.hpp>

struct door {
    std::string house;
    std::int32_t number{};
    bool open{};
};

ENTITABLE(door, partition_key(house), row_key(number), properties(open))

using d = entitable::fields<door>;

void use(entitable::table<door> const& doors) {
#if defined(BROKEN)
    (void)doors.where(d::house == "A" && d::open).count();
#else
    (void)doors.where(d::house == "A" && d::open == true).count();
#endif
}
