// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/text.hpp>

#if !defined(_WIN32)
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

extern "C" char** environ; // NOLINT: POSIX declares it in no header
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

#if defined(_WIN32)

ENTITABLE_DECL result<program_output> run_program(
    std::string const&, std::vector<std::string> const&, std::chrono::milliseconds, http_call const*) {
    return failure{error_code::not_supported, "programs are not run on Windows"};
}

#else

/// A pipe whose ends no other program inherits.
struct output_pipe {
    int read_end{-1};
    int write_end{-1};

    output_pipe() {
        int ends[2];
        if (::pipe(ends) != 0) { return; }
        read_end = ends[0];
        write_end = ends[1];
        ::fcntl(read_end, F_SETFD, FD_CLOEXEC);
        ::fcntl(write_end, F_SETFD, FD_CLOEXEC);
        ::fcntl(read_end, F_SETFL, O_NONBLOCK);
    }
    output_pipe(output_pipe const&) = delete;
    output_pipe& operator=(output_pipe const&) = delete;
    ~output_pipe() {
        close_end(read_end);
        close_end(write_end);
    }
    static void close_end(int& descriptor) noexcept {
        if (descriptor >= 0) { ::close(descriptor); }
        descriptor = -1;
    }
};

/// Starts a program in a process group of its own; returns 0 if it cannot be started.
ENTITABLE_DECL pid_t start_program(std::string const& path, std::vector<std::string> const& arguments,
    output_pipe const& out, output_pipe const& problems) {
    std::vector<char*> list;
    for (std::string const& each : arguments) { list.push_back(const_cast<char*>(each.c_str())); }
    list.push_back(nullptr);
    char no_color[] = "AZURE_CORE_NO_COLOR=true";
    std::vector<char*> variables;
    for (char** each = environ; *each != nullptr; ++each) { variables.push_back(*each); }
    variables.push_back(no_color);
    variables.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t usual;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    ::sigaddset(&usual, SIGPIPE);
    pid_t started = 0;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    bool const good = ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
        ::posix_spawn_file_actions_adddup2(&files, out.write_end, 1) == 0 &&
        ::posix_spawn_file_actions_adddup2(&files, problems.write_end, 2) == 0 &&
        ::posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0 &&
        ::posix_spawnattr_setpgroup(&attributes, 0) == 0 && ::posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
        ::posix_spawnattr_setsigdefault(&attributes, &usual) == 0 &&
        ::posix_spawn(&started, path.c_str(), &files, &attributes, list.data(), variables.data()) == 0;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return good ? started : 0;
}

/// Reads what has arrived, up to the capacity of `to`; the rest is dropped. Returns whether there may be more.
ENTITABLE_DECL bool read_arrived(int descriptor, std::string& to, std::size_t limit, bool& exceeded) {
    char piece[4096];
    for (;;) {
        ssize_t const got = ::read(descriptor, piece, sizeof piece);
        if (got < 0) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
        if (got == 0) { return false; }
        std::size_t const room = limit - to.size();
        exceeded = exceeded || static_cast<std::size_t>(got) > room;
        to.append(piece, static_cast<std::size_t>(got) < room ? static_cast<std::size_t>(got) : room);
        wipe(piece, static_cast<std::size_t>(got));
    }
}

ENTITABLE_DECL result<program_output> run_program(std::string const& path, std::vector<std::string> const& arguments,
    std::chrono::milliseconds timeout, http_call const* limits) {
    constexpr std::size_t most = std::size_t{64} * 1024;
    constexpr std::size_t most_problems = std::size_t{4} * 1024;
    constexpr int slice = 20; // milliseconds: a cancellation does not wake a wait
    output_pipe out;
    output_pipe problems;
    if (out.write_end < 0 || problems.write_end < 0) {
        return failure{error_code::transport_failed, "the program cannot be started: there are no pipes"};
    }
    std::string text;
    text.reserve(most);
    wiped_at_end const wiped{text};
    program_output made;
    pid_t const program = start_program(path, arguments, out, problems);
    if (program == 0) { return failure{error_code::transport_failed, "the program cannot be started"}; }
    output_pipe::close_end(out.write_end);
    output_pipe::close_end(problems.write_end);
    steady_time const begun = system_clock().steady();
    std::optional<failure> ended;
    bool exited = false;
    bool exceeded = false;
    bool ignored = false;
    int status = 0;
    while (!ended && !exited) {
        pollfd wanted[2] = {{out.read_end, POLLIN, 0}, {problems.read_end, POLLIN, 0}};
        ::poll(wanted, 2, out.read_end < 0 && problems.read_end < 0 ? 2 : slice);
        if (out.read_end >= 0 && !read_arrived(out.read_end, text, most, exceeded)) {
            output_pipe::close_end(out.read_end);
        }
        if (problems.read_end >= 0 && !read_arrived(problems.read_end, made.error, most_problems, ignored)) {
            output_pipe::close_end(problems.read_end);
        }
        if (out.read_end < 0 && problems.read_end < 0) {
            pid_t const waited = ::waitpid(program, &status, WNOHANG);
            exited = waited == program || (waited < 0 && errno == ECHILD); // ECHILD: the application ignores SIGCHLD
        }
        steady_time const now = system_clock().steady();
        if (exceeded) {
            ended.emplace(error_code::transport_failed, "the program wrote more than 64 KiB");
        } else if (!exited && limits != nullptr && limits->cancellation.cancelled()) {
            ended.emplace(error_code::cancelled, "the call was cancelled while the program was running");
        } else if (!exited && limits != nullptr && limits->deadline <= now) {
            ended.emplace(
                error_code::deadline_exceeded, "the deadline of the call passed while the program was running");
        } else if (!exited && now - begun >= timeout) {
            ended.emplace(error_code::transport_failed,
                text::joined({"the program did not end within ", std::to_string(timeout.count()), " ms"}));
        }
    }
    if (!exited) {
        ::kill(-program, SIGKILL); // the group: what the program has started ends too
        while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {}
    }
    if (ended) { return *std::move(ended); }
    made.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    made.out = secret{text};
    return made;
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
