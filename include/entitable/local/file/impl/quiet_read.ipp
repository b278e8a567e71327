// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/quiet_read.hpp>
#include <entitable/local/file/impl/file_lock.ipp>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#endif

#include <cerrno>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string folder_of(std::string_view path) {
    std::size_t const end = path.find_last_of("/\\");
    return text::printable(text::shortened(end == std::string_view::npos ? "."
            : end == 0                                                   ? "/"
                                                                         : path.substr(0, end),
        200));
}

ENTITABLE_DECL failure cannot_be_written(std::string_view path) {
    return failure{error_code::store_read_only,
        text::joined({"the file is open for reading only, because it or its folder ", folder_of(path),
            " cannot be written; open it as a user with write permission"})};
}

/// Returns the error that names the folder and the obstacle.
ENTITABLE_DECL failure not_quiet(std::string_view path, std::string_view suffix, std::string_view why) {
    failure failed{error_code::store_read_only,
        text::joined({"the folder ", folder_of(path), " or the file cannot be written, and ",
            text::printable(text::shortened(path.substr(path.find_last_of("/\\") + 1), 200)), suffix, " ", why})};
    failed.error().detail = text::joined({"the file \"", text::printable(text::shortened(path, 200)), suffix, "\""});
    return failed;
}

#if defined(_WIN32)

ENTITABLE_DECL result<quiet_read> quiet_read::begin(file_place const& place, wait_budget&) {
    return not_quiet(place.path(), "-lock", "does not work on this system");
}
ENTITABLE_DECL result<void> quiet_read::still() const { return {}; }

#else

/// Returns the first bytes of a neighbouring file: empty if it does not exist or is empty, nullopt if it cannot be read.
ENTITABLE_DECL std::optional<std::string> head_of(std::string const& path) {
    struct stat about{};
    if (::lstat(path.c_str(), &about) != 0) { return errno == ENOENT ? std::optional{std::string{}} : std::nullopt; }
    if (about.st_size == 0) { return std::string{}; }
    own_handle const opened = own_handle::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    char bytes[4] = {};
    if (opened.get() < 0 || ::read(opened.get(), bytes, sizeof bytes) != static_cast<ssize_t>(sizeof bytes)) {
        return std::nullopt;
    }
    return std::string(bytes, sizeof bytes);
}

/// Checks for a log or a journal with changes that are not in the file: https://www.sqlite.org/fileformat2.html, 3 and 4.1.
ENTITABLE_DECL result<void> check_logs(std::string const& path) {
    constexpr std::string_view once = "has changes that are not in the file: open it once with write permission";
    constexpr std::string_view unread = "cannot be read, so it may have changes that are not in the file";
    auto const log = head_of(path + "-wal");
    // A log that was allocated in advance and not written begins with zeros.
    if (!log || log->starts_with("\x37\x7F\x06")) { return not_quiet(path, "-wal", log ? once : unread); }
    auto const journal = head_of(path + "-journal");
    if (!journal || (!journal->empty() && journal->front() != '\0')) {
        return not_quiet(path, "-journal", journal ? once : unread);
    }
    return {};
}

ENTITABLE_DECL bool there_is(std::string const& path) noexcept {
    struct stat about{};
    return ::lstat(path.c_str(), &about) == 0 || errno != ENOENT;
}

ENTITABLE_DECL file_stamp stamp_of(std::string const& path) noexcept {
    struct stat about{};
    file_stamp made;
    if (::lstat(path.c_str(), &about) != 0) { return made; }
    constexpr std::int64_t second = 1'000'000'000;
#if defined(__APPLE__)
    timespec const& modified = about.st_mtimespec;
    timespec const& changed = about.st_ctimespec;
#else
    timespec const& modified = about.st_mtim;
    timespec const& changed = about.st_ctim;
#endif
    made.inode = static_cast<std::uint64_t>(about.st_ino);
    made.bytes = static_cast<std::uint64_t>(about.st_size);
    made.modified = std::int64_t{modified.tv_sec} * second + modified.tv_nsec;
    made.changed = std::int64_t{changed.tv_sec} * second + changed.tv_nsec;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    made.settled = made.changed < (std::int64_t{now.tv_sec} - 2) * second;
    return made;
}

ENTITABLE_DECL result<quiet_read> quiet_read::begin(file_place const& place, wait_budget& waits) {
    result<quiet_read> made{std::in_place};
    made->path_ = place.path();
    std::string const lock = place.path() + "-lock";
    for (;;) {
        made->lock_ = own_handle::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
        int const handle = made->lock_.get();
        if (handle < 0 && errno == ENOENT) { break; }
        if (handle < 0) { return not_quiet(place.path(), "-lock", "cannot be read, so writers cannot be detected"); }
#if defined(F_OFD_SETLK)
        if (locked_by_other(handle, next_byte)) {
            waits.pause(); // a writer has the next turn
        }
#endif
        bool locked = false;
        while (!(locked = ::flock(handle, LOCK_SH | LOCK_NB) == 0) && (errno == EWOULDBLOCK || errno == EINTR)) {
            if (!waits.wait()) { return waits.given_up(); }
        }
        if (!locked) { return not_quiet(place.path(), "-lock", "cannot be locked, so writers cannot be excluded"); }
        // A lock on a file that other processes can no longer find does not exclude them.
        struct stat held{};
        struct stat named{};
        if (::fstat(handle, &held) == 0 && ::stat(lock.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev) {
            break;
        }
    }
    ENTITABLE_CHECK(check_logs(place.path()));
    made->stamp_ = stamp_of(place.path());
    ENTITABLE_CHECK(place.same_file());
    return made;
}

ENTITABLE_DECL result<void> quiet_read::still() const {
    if (lock_.get() >= 0 || (!there_is(path_ + "-lock") && check_logs(path_) && stamp_of(path_) == stamp_)) {
        return {};
    }
    return failure{error_code::store_busy,
        text::joined({"discard the data: another process wrote to the file during the read, and the folder ",
            folder_of(path_), " is not writable, so the file could not be locked"})};
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
