// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "property names that begin with Queue_ are reserved for the queue"

#include "queue_errand.hpp"

struct note {
    std::string town;
    std::string text;
};
#if defined(BROKEN)
ENTITABLE(note, partition_key(town), row_key(literal("note")), properties(property(text, "Queue_Why")))
#else
ENTITABLE(note, partition_key(town), row_key(literal("note")), properties(text))
#endif

void use(entitable::table_queue<note> const& queue) { (void)queue.claim(); }
