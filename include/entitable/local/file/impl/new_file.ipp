// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/characters.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/new_file.hpp>
#include <entitable/local/file/impl/file_place.ipp>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#endif

#include <cerrno>
#include <cstdio>
#include <random>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view passing_end = "-copying";

ENTITABLE_DECL result<void> check_own_name(std::string_view path) {
    for (std::string_view const end : {std::string_view{"-lock"}, std::string_view{"-wal"}, std::string_view{"-shm"},
             std::string_view{"-journal"}, passing_end}) {
        if (path.ends_with(end)) {
            return failure{error_code::invalid_input,
                text::joined({"the name of a table file must not end in \"", end, "\": \"",
                    text::printable(text::shortened(path, 200)), "\""})};
        }
    }
    return {};
}

#if defined(_WIN32)

ENTITABLE_DECL result<new_file> new_file::make(std::string_view) {
    return failure{error_code::not_supported, "copying an open file is not supported on this system"};
}
ENTITABLE_DECL result<void> new_file::publish(std::uint64_t, bool) { return {}; }
ENTITABLE_DECL void new_file::remove() noexcept {}

#else

/// Checks that neither a file of that name exists nor the log of a former file, which would be mistaken for the log of the copy.
ENTITABLE_DECL result<void> check_free_name(std::string const& path) {
    struct stat about{};
    for (std::string_view const part : {"", "-wal", "-journal", "-shm"}) {
        std::string const name = text::joined({path, part});
        if (::lstat(name.c_str(), &about) == 0) {
            return system_failure(part.empty() ? "the name is taken, and a copy never overwrites a file"
                                               : "a leftover file would be mistaken for the log of the copy",
                EEXIST, name);
        }
        if (errno != ENOENT) { return system_failure("cannot check the name of the copy", errno, name); }
    }
    return {};
}

/// Like `rename`, but EEXIST if the new name is taken.
ENTITABLE_DECL int rename_to_free_name(std::string const& from, std::string const& to) noexcept {
#if defined(__linux__) && defined(SYS_renameat2)
    constexpr unsigned no_replace = 1;
    if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), no_replace) == 0) { return 0; }
    if (errno != EINVAL && errno != ENOSYS) { return errno; }
#elif defined(__APPLE__)
    return ::renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0 ? 0 : errno;
#endif
    // A crash between the two calls leaves both names: the file opens once the other name is removed.
    if (::link(from.c_str(), to.c_str()) != 0) { return errno; }
    int const number = ::unlink(from.c_str()) == 0 ? 0 : errno;
    if (number != 0) { ::unlink(to.c_str()); }
    return number;
}

ENTITABLE_DECL result<void> sync_folder(std::string const& folder) {
    int const handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool const synced =
        handle >= 0 && (::fsync(handle) == 0 || errno == EINVAL); // some file systems have nothing to sync
    int const number = errno;
    if (handle >= 0) { ::close(handle); }
    return synced ? result<void>{} : system_failure("cannot sync the folder of the copy", number, folder);
}

ENTITABLE_DECL result<new_file> new_file::make(std::string_view path) {
    ENTITABLE_TRY(auto literal, literal_path(path));
    std::size_t const slash = literal.rfind('/'); // the name is always found
    std::string const name = literal.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") {
        return failure{error_code::invalid_input, "the path of a copy must name a file, not a folder"};
    }
    ENTITABLE_CHECK(check_own_name(name));
    new_file made;
    ENTITABLE_TRY(auto folder, real_path(literal.substr(0, slash + 1)));
    made.folder_ = std::move(folder);
    made.path_ = text::joined({made.folder_, made.folder_.ends_with('/') ? "" : "/", name});
    ENTITABLE_CHECK(check_free_name(made.path_));
    std::random_device random;
    for (int attempts = 0;; ++attempts) {
        std::string passing = made.path_ + ".";
        for (int digits = 0; digits < 16; ++digits) { passing += hexadecimal_of(random()); }
        passing += passing_end;
        int const handle = ::open(passing.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (handle >= 0) {
            ::close(handle);
            made.passing_ = std::move(passing);
            return made;
        }
        if (errno != EEXIST || attempts == 3) { return system_failure("cannot create the copy", errno, passing); }
    }
}

ENTITABLE_DECL result<void> new_file::publish(std::uint64_t bytes, bool durable) {
    struct stat about{};
    if (::lstat(passing_.c_str(), &about) != 0) {
        return system_failure("the copy was removed before it was complete", errno, passing_);
    }
    if (!S_ISREG(about.st_mode) || static_cast<std::uint64_t>(about.st_size) != bytes) {
        return system_failure("the copy differs from what was written", EIO, passing_);
    }
    if (auto free = check_free_name(path_); !free) { return free; }
    if (int const number = rename_to_free_name(passing_, path_); number != 0) {
        return system_failure(
            number == EEXIST ? "the name is taken, and a copy never overwrites a file" : "cannot rename the copy",
            number, path_);
    }
    passing_ = path_; // removed if a later step fails
    auto synced = durable ? sync_folder(folder_) : result<void>{};
    if (synced) { passing_.clear(); }
    return synced;
}

ENTITABLE_DECL void new_file::remove() noexcept {
    if (!passing_.empty() && forks_ == platform::forks()) { ::unlink(passing_.c_str()); }
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
