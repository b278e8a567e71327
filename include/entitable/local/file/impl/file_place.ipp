// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/process.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/file_place.hpp>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif
#endif

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure system_failure(std::string_view what, int number, std::string_view path) {
    failure failed{number == ENOSPC ? error_code::store_full : error_code::store_failed, std::string{what}};
    failed.error().server_message = std::generic_category().message(number);
    failed.error().detail = text::joined({"the file \"", text::printable(text::shortened(path, 200)), "\""});
    return failed;
}

ENTITABLE_DECL failure opened_before_fork() {
    return failure{error_code::store_failed,
        "the file was opened before this process was forked, and belongs to its parent; close it before a fork"};
}

/// Returns the path in a form that SQLite takes literally; an error for invalid paths of any system.
ENTITABLE_DECL result<std::string> literal_path(std::string_view path) {
    if (path.empty() || path.find('\0') != std::string_view::npos) {
        return failure{error_code::invalid_input, "the path of a file must not be empty or contain NUL"};
    }
    // A relative path that begins with "./" is neither a URI nor ":memory:".
    bool const absolute = path[0] == '/' || path[0] == '\\' || (path.size() > 1 && path[1] == ':');
    return absolute ? std::string{path} : text::joined({"./", path});
}

#if defined(_WIN32)

ENTITABLE_DECL result<file_place> file_place::find(std::string_view path, file_options const&) {
    ENTITABLE_TRY(auto literal, literal_path(path));
    file_place place;
    place.path_ = std::move(literal);
    return place;
}
ENTITABLE_DECL result<void> file_place::same_file() const { return {}; }
ENTITABLE_DECL bool file_place::in_own_process() const noexcept { return true; }
ENTITABLE_DECL std::uint64_t file_place::log() const { return 0; }
ENTITABLE_DECL std::uint64_t file_place::log_bytes() const { return 0; }
ENTITABLE_DECL result<void> file_place::check_often() { return {}; }
ENTITABLE_DECL bool file_place::may_be_written() const noexcept { return true; }

#else

/// Whether the file is on a network file system, whose locks and shared memory SQLite cannot rely on.
ENTITABLE_DECL bool on_network(std::string const& path) noexcept {
#if defined(__linux__)
    struct statfs about{};
    if (::statfs(path.c_str(), &about) != 0) { return false; }
    switch (static_cast<std::uint32_t>(about.f_type)) {
        case 0x6969U:     // NFS
        case 0x517BU:     // SMB
        case 0xFE534D42U: // SMB 2 and 3
        case 0xFF534D42U: // CIFS
        case 0x5346414FU: // AFS
        case 0x73757245U: // Coda
            return true;
        default: return false;
    }
#else
    static_cast<void>(path);
    return false;
#endif
}

/// Returns the canonical path of a file: log and lock are next to it, and it stays valid after `chdir`.
ENTITABLE_DECL result<std::string> real_path(std::string const& path) {
    std::unique_ptr<char, void (*)(void*)> const found{::realpath(path.c_str(), nullptr), std::free};
    if (!found) { return system_failure("cannot stat the file", errno, path); }
    return std::string{found.get()};
}

/// A second name would allow a second log and a second lock.
ENTITABLE_DECL result<void> check_names(struct stat const& about, std::string_view path) {
    return about.st_nlink > 1
        ? system_failure("the file has a hard link, under which it could have a second log", EMLINK, path)
        : result<void>{};
}

ENTITABLE_DECL result<file_place> file_place::find(std::string_view path, file_options const& options) {
    ENTITABLE_TRY(auto literal, literal_path(path));
    file_place place;
    place.path_ = std::move(literal);
    place.forks_ = platform::forks();
    struct stat about{};
    if (::lstat(place.path_.c_str(), &about) != 0) {
        if (errno != ENOENT) { return system_failure("cannot stat the file", errno, path); }
        if (!options.create) { return system_failure("the file does not exist", ENOENT, path); }
        // O_EXCL: an existing file is never opened here, because closing it would remove the locks that SQLite holds on it in this process
        // (POSIX fcntl locks).
        int const made = ::open(place.path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (made < 0 && errno != EEXIST) { return system_failure("cannot create the file", errno, path); }
        if (made >= 0) { ::close(made); }
    } else if (S_ISLNK(about.st_mode) && !options.allow_symlink) {
        return system_failure("the file is a symbolic link; set allow_symlink to permit it", ELOOP, path);
    }
    ENTITABLE_TRY(auto real, real_path(place.path_));
    place.path_ = std::move(real);
    if (::lstat(place.path_.c_str(), &about) != 0) { return system_failure("cannot stat the file", errno, path); }
    if (!S_ISREG(about.st_mode)) {
        return system_failure("not a regular file", S_ISDIR(about.st_mode) ? EISDIR : EINVAL, path);
    }
    ENTITABLE_CHECK(check_names(about, path));
    if (on_network(place.path_)) {
        return system_failure(
            "the file is on a network file system, where processes cannot share it safely", EINVAL, path);
    }
    place.device_ = static_cast<std::uint64_t>(about.st_dev);
    place.inode_ = static_cast<std::uint64_t>(about.st_ino);
    return place;
}

ENTITABLE_DECL result<void> file_place::check_often() {
    timespec now{};
#if defined(CLOCK_MONOTONIC_COARSE)
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    ::clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    std::int64_t const milliseconds = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
    if (milliseconds - checked_ < 20 && in_own_process()) { return {}; }
    auto checked = same_file();
    checked_ = checked ? milliseconds : 0;
    return checked;
}

ENTITABLE_DECL bool file_place::in_own_process() const noexcept { return forks_ == platform::forks(); }

ENTITABLE_DECL bool file_place::may_be_written() const noexcept {
    std::string const folder = path_.substr(0, path_.rfind('/') + 1);
    return ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) == 0 &&
        ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

ENTITABLE_DECL std::uint64_t file_place::log() const {
    struct stat about{};
    return ::lstat((path_ + "-wal").c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_ino) : 0;
}

ENTITABLE_DECL std::uint64_t file_place::log_bytes() const {
    struct stat about{};
    return ::lstat((path_ + "-wal").c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

ENTITABLE_DECL result<void> file_place::same_file() const {
    if (!in_own_process()) { return opened_before_fork(); }
    struct stat about{};
    if (::lstat(path_.c_str(), &about) != 0) {
        return system_failure("the file was removed or renamed while it was open", errno, path_);
    }
    if (static_cast<std::uint64_t>(about.st_dev) != device_ || static_cast<std::uint64_t>(about.st_ino) != inode_) {
        return system_failure("the file was replaced while it was open", ESTALE, path_);
    }
    return check_names(about, path_);
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
