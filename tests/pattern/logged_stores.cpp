// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of logged tables in memory, in a file, and on a store that is as nasty as it may be.

#include <entitable/file.hpp>
#include <entitable/memory.hpp>

#include <support/logged_stores.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("logged: the suite in memory") { check_log_on(any_store{memory_backend{}}, "Log", 40); }
TEST_CASE("logged: the suite on a store that is as nasty as it may be") {
    check_log_on(any_store{memory_backend{local_options{.nasty = nasty_options{}}}}, "Log", 20);
}
TEST_CASE("logged: the suite in a file") {
    temporary_folder const folder{temporary_folder::memory()};
    check_log_on(any_store{file_backend{folder / "log"}}, "Log", 20);
}
