// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The output of a program that terminates itself with `std::abort`.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

namespace entitable_test {

/// The output of `work` to stderr in a process of its own, which it ends with SIGABRT; otherwise a text that describes
/// how it ended.
template <class Work>
[[nodiscard]] std::string last_words(Work const& work) {
    int ends[2];
    if (::pipe(ends) != 0) { return "there is no pipe"; }
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL); // not Catch's report
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        try {
            work();
        } catch (...) { ::_exit(2); }
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string words;
    char some[1000];
    for (ssize_t read = 0; (read = ::read(ends[0], some, sizeof some)) > 0;) {
        words.append(some, static_cast<std::size_t>(read));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) { return words; }
    return WIFEXITED(status) ? "it ended with status " + std::to_string(WEXITSTATUS(status))
                             : "it ended otherwise: " + words;
}

} // namespace entitable_test
