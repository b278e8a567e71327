// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Processes started by a test, memory that they share with it, and a limit on their run time.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace entitable_test {

/// A process that a test started with `fork`. It is killed with this object unless it has ended, and on Linux with the thread that started it:
/// a child that outlives a test which a sanitizer ended would keep the test's output open, and the runner of the tests would wait for it.
class child_process {
public:
    /// Runs `work`, which returns whether it succeeded, in a process of its own that ends with it.
    template <class Work>
    explicit child_process(Work const& work) {
        std::fflush(nullptr);
        [[maybe_unused]] pid_t const parent = ::getpid();
        id_ = ::fork();
        if (id_ == 0) {
#if defined(__linux__)
            if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) { ::_exit(1); }
#endif
            bool done = false;
            try {
                done = work();
            } catch (std::exception const& problem) { std::fprintf(stderr, "a child process: %s\n", problem.what()); }
            ::_exit(done ? 0 : 1);
        }
    }
    child_process(child_process&& other) noexcept : id_(std::exchange(other.id_, -1)), well_(other.well_) {}
    child_process& operator=(child_process&&) = delete;
    ~child_process() { kill(); }

    /// Whether it succeeds within the time; it is killed after that.
    [[nodiscard]] bool succeeds(std::chrono::milliseconds within = std::chrono::seconds{20}) {
        auto const end = std::chrono::steady_clock::now() + within;
        int status = -1;
        while (id_ > 0) {
            if (::waitpid(id_, &status, WNOHANG) == id_) {
                id_ = -1;
            } else if (std::chrono::steady_clock::now() >= end) {
                kill();
                return false;
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
        }
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    /// Whether it has ended, by itself or by `kill`.
    [[nodiscard]] bool has_ended() {
        int status = -1;
        if (id_ > 0 && ::waitpid(id_, &status, WNOHANG) == id_) {
            id_ = -1;
            well_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        return id_ <= 0;
    }
    /// Whether it succeeded, once it `has_ended`.
    [[nodiscard]] bool ended_well() const noexcept { return well_; }
    /// Ends it at once.
    void kill() {
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            ::waitpid(id_, nullptr, 0);
            id_ = -1;
        }
    }
    [[nodiscard]] pid_t id() const noexcept { return id_; }

private:
    pid_t id_{-1};
    bool well_{};
};

/// Memory that a process shares with its children.
template <class T>
class shared_memory {
public:
    shared_memory()
        : at_(new(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}) {}
    ~shared_memory() { ::munmap(at_, sizeof(T)); }
    shared_memory(shared_memory const&) = delete;
    shared_memory& operator=(shared_memory const&) = delete;
    T* operator->() const { return at_; }
    T& operator*() const { return *at_; }

private:
    T* at_;
};

} // namespace entitable_test
