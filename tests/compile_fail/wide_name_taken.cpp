// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a wide entity must not have a property called WideGeneration or WideParts"

#include <entitable/entitable.hpp>
#include <entitable/wide.hpp>

struct sheet {
    std::string book;
    std::string name;
    std::int32_t parts{};
};
#if defined(BROKEN)
ENTITABLE(sheet, partition_key(book), row_key(name), properties(property(parts, "WideParts")))
#else
ENTITABLE(sheet, partition_key(book), row_key(name), properties(property(parts, "Parts")))
#endif

void use(entitable::table<entitable::wide<sheet>> const& sheets) { (void)sheets.get("ann", "one"); }
