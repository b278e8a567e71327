// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the changes of this table are not announced: use table<order, announced>"

#include <entitable/feed.hpp>
#include <entitable/memory.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number))

#if defined(BROKEN)
using orders_table = entitable::table<order, entitable::logged>;
#else
using orders_table = entitable::table<order, entitable::announced>;
#endif

int main() {
    orders_table const orders{entitable::any_store{entitable::memory_backend{}}, "orders"};
    entitable::feed const changes{orders, "search"};
}
