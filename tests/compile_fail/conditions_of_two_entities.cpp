// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "both conditions must use members of one entity"

#include <entitable/entitable.hpp>

struct door {
    std::string house;
    std::int32_t number{};
    bool open{};
};

ENTITABLE(door, partition_key(house), row_key(number), properties(open))

struct window {
    std::string house;
    std::int32_t number{};
};

ENTITABLE(window, partition_key(house), row_key(number))

using d = entitable::fields<door>;
using w = entitable::fields<window>;

void use(entitable::table<door> const& doors) {
#if defined(BROKEN)
    (void)doors.where(d::house == "A" && w::number == 1).count();
#else
    (void)doors.where(d::house == "A" && d::number == 1).count();
#endif
}
