// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/file_lock.hpp>
#include <entitable/local/file/detail/file_place.hpp>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <cerrno>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

#if defined(_WIN32) || !defined(F_OFD_SETLK)

// The system has no locks that belong to an open file: the rollback journal is used, with SQLite's own locks.

ENTITABLE_DECL result<bool> file_lock::open(std::string const&) { return false; }
ENTITABLE_DECL result<void> file_lock::reopen() { return {}; }
ENTITABLE_DECL result<bool> file_lock::try_lock() { return true; }
ENTITABLE_DECL void file_lock::unlock() noexcept {}
ENTITABLE_DECL bool file_lock::try_use(use) noexcept { return true; }

#else

inline constexpr off_t use_byte = 0;
inline constexpr off_t next_byte = 1;

/// Locks a byte of an open file, or unlocks it.
ENTITABLE_DECL bool set_lock(int handle, int type, off_t byte) noexcept {
    struct flock wanted{};
    wanted.l_type = static_cast<short>(type);
    wanted.l_whence = SEEK_SET;
    wanted.l_start = byte;
    wanted.l_len = 1;
    return ::fcntl(handle, F_OFD_SETLK, &wanted) == 0;
}

/// Whether another open file has a lock on a byte.
ENTITABLE_DECL bool locked_by_other(int handle, off_t byte) noexcept {
    struct flock found{};
    found.l_type = F_WRLCK;
    found.l_whence = SEEK_SET;
    found.l_start = byte;
    found.l_len = 1;
    return ::fcntl(handle, F_OFD_GETLK, &found) == 0 && found.l_type != F_UNLCK;
}

ENTITABLE_DECL result<bool> file_lock::open(std::string const& path) {
    path_ = path + "-lock";
    ENTITABLE_CHECK(reopen());
    // A lock held by another process also shows that locks work.
    bool works = ::flock(handle_.get(), LOCK_EX | LOCK_NB) == 0 || errno == EWOULDBLOCK || errno == EINTR;
    ::flock(handle_.get(), LOCK_UN);
    works = works && (set_lock(handle_.get(), F_RDLCK, use_byte) || errno == EAGAIN || errno == EACCES);
    if (!works) {
        handle_.close();
        return false;
    }
    set_lock(handle_.get(), F_UNLCK, use_byte);
    return true;
}

ENTITABLE_DECL result<void> file_lock::reopen() {
    handle_ = own_handle::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (!usable()) { return system_failure("cannot open the file's lock file", errno, path_); }
    return {};
}

ENTITABLE_DECL result<bool> file_lock::try_lock() {
    if (!usable()) { return true; }
    if (lets_next_go_first()) { return false; }
    for (int attempts = 0; attempts < 3; ++attempts) {
        if (::flock(handle_.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK || errno == EINTR) {
                be_next(true);
                return false;
            }
            return system_failure("cannot use the file's lock file", errno, path_);
        }
        // A lock on a file that other processes can no longer find does not exclude them.
        struct stat held{};
        struct stat named{};
        if (::fstat(handle_.get(), &held) == 0 && ::stat(path_.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev) {
            be_next(false);
            return true;
        }
        is_next_ = false; // the lock ends with the abandoned file
        ENTITABLE_CHECK(reopen());
        if (use const before = std::exchange(used_, use::none); !try_use(before)) {
            return system_failure("the file's lock file was removed while the file was open", ESTALE, path_);
        }
    }
    return false;
}

ENTITABLE_DECL void file_lock::unlock() noexcept {
    if (usable()) {
        ::flock(handle_.get(), LOCK_UN);
        be_next(false);
    }
}

/// A check is a system call, so it is made only every fourth time, and then until the next writer has had its turn.
ENTITABLE_DECL bool file_lock::lets_next_go_first() noexcept {
    constexpr int between_questions = 4;
    constexpr int longest = 16; // number of waits, about 20 ms in total
    constexpr int long_while = 1'000;
    if (is_next_ || (yielded_ == 0 && --ask_in_ > 0)) { return false; }
    bool const others = locked_by_other(handle_.get(), next_byte);
    ask_in_ = between_questions;
    if (others && ++yielded_ < longest) { return true; }
    ask_in_ = others ? long_while : between_questions;
    yielded_ = 0;
    return false;
}

ENTITABLE_DECL void file_lock::be_next(bool wanted) noexcept {
    if (wanted != is_next_) { is_next_ = set_lock(handle_.get(), wanted ? F_WRLCK : F_UNLCK, next_byte) && wanted; }
}

ENTITABLE_DECL bool file_lock::try_use(use how) noexcept {
    int const type = how == use::none ? F_UNLCK : how == use::alone ? F_WRLCK : F_RDLCK;
    if (usable() && how != used_ && !set_lock(handle_.get(), type, use_byte)) { return false; }
    used_ = how;
    return true;
}

#endif

ENTITABLE_DECL result<void> lock_within(file_lock& lock, wait_budget& waits) {
    for (;;) {
        ENTITABLE_TRY(auto locked, lock.try_lock());
        if (locked) { return {}; }
        if (!waits.wait()) {
            lock.unlock();
            return waits.given_up();
        }
    }
}

ENTITABLE_DECL result<void> use_within(file_lock& lock, file_lock::use how, wait_budget& waits) {
    while (!lock.try_use(how)) {
        if (!waits.wait()) { return waits.given_up(); }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
