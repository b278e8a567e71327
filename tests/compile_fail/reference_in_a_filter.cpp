// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "cannot be compared in a query"

#include <entitable/entitable.hpp>

struct book {
    std::string author;
    std::string title;
};
ENTITABLE(book, partition_key(author), row_key(title))
struct order {
    std::string customer;
    std::int32_t number{};
    entitable::reference<book> wanted;
    std::string author;
};
ENTITABLE(order, partition_key(customer), row_key(number), properties(wanted, author))

void use(entitable::table<order> const& orders) {
    using o = entitable::fields<order>;
#if defined(BROKEN)
    (void)orders.where(o::customer == "ann" && o::wanted == entitable::reference<book>{"Lem", "Solaris"});
#else
    (void)orders.where(o::customer == "ann" && o::author == "Lem");
#endif
}
