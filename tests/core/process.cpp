// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/process.hpp>

#include <support/catch.hpp>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>

using namespace entitable;

namespace {

bool succeeded(pid_t child) {
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST_CASE("process: the fork count is one in a child and two in a grandchild") {
    std::uint64_t const here = platform::forks();
    pid_t const child = ::fork();
    if (child == 0) {
        bool const one = platform::forks() == here + 1;
        pid_t const grandchild = ::fork();
        if (grandchild == 0) { ::_exit(platform::forks() == here + 2 ? 0 : 1); }
        ::_exit(one && succeeded(grandchild) ? 0 : 1);
    }
    CHECK(succeeded(child));
    CHECK(platform::forks() == here);
}
#endif
