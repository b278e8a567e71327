// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// expect: "a file would have two columns with this name"
#include <entitable/csv.hpp>
#include <entitable/entitable.hpp>

#include <sstream>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string label;
};
#ifdef BROKEN
ENTITABLE(book, partition_key(shelf), row_key(number), properties(property(label, "number")))
#else
ENTITABLE(book, partition_key(shelf), row_key(number), properties(property(label, "Number")))
#endif

int main() {
    std::ostringstream out;
    return entitable::write_csv(out, std::vector<book>{}) ? 0 : 1;
}
