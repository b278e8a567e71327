// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect-gcc: scan_table_or_where_reads_the_entities_of_a_table
// expect-clang: "scan_table() or where(...)"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    for (order const& each : orders) { (void)each; }
#else
    for (order const& each : orders.scan_table()) { (void)each; }
#endif
}
