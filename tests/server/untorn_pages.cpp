// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A page of one partition is also one snapshot through the protocol, whatever key ranges the server derives from a
// filter.

#include "served.hpp"
#include <entitable/retrying.hpp>

#include <support/untorn_pages.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("untorn pages: a server over a store of small pages") {
    CHECK(torn_page([](any_store const& store) { return any_store{served(store)}; }) == "");
    CHECK(torn_page([](any_store const& store) {
        return any_store{retrying{any_store{served(any_store{served(store)})}}};
    }) == "");
}
