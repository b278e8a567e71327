// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The writer lock of a file backend, held as another process would hold it.

#include <fcntl.h>
#include <support/catch.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <string>

namespace entitable_test {

/// Holds the lock of the file with this path, which has been opened before, until it is destroyed.
class held_lock {
public:
    explicit held_lock(std::string const& path) : handle_(::open((path + "-lock").c_str(), O_RDWR | O_CLOEXEC)) {
        REQUIRE(handle_ >= 0);
        REQUIRE(::flock(handle_, LOCK_EX | LOCK_NB) == 0);
    }
    ~held_lock() { ::close(handle_); }
    held_lock(held_lock const&) = delete;
    held_lock& operator=(held_lock const&) = delete;

private:
    int handle_;
};

} // namespace entitable_test
