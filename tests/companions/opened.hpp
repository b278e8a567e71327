// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Books in a store with two invoices, and what must hold of them after each test.

#include "companions/books.hpp"
#include "support/catch.hpp"

namespace companion_tests {

inline invoice const first{"ACME", 1, "ann", {}, "red", "mon", 100};
inline invoice const second{"ACME", 2, "bob", {}, "red", "mon", 250};

struct opened_books {
    memory_backend store;
    all_books books = open_books(store);

    opened_books() {
        books.create().value();
        books.insert(first).value();
        books.insert(second).value();
    }
    void check() const {
        found_rows const found{store};
        CHECK(found.companions == found.entities.companions());
        CHECK((books.verify)().value().good());
    }
};

} // namespace companion_tests
