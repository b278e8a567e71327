// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/characters.hpp>
#include <entitable/file/detail/new_file.hpp>
#include <entitable/file/impl/file_place.ipp>

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
                text::joined({"no file of tables has a name that ends in \"", end, "\": \"",
                    text::printable(text::shortened(path, 200)), "\""})};
        }
    }
    return {};
}

#if defined(_WIN32)

ENTITABLE_DECL result<new_file> new_file::make(std::string_view) {
    return failure{error_code::not_supported, "files are not copied on this system while they are open"};
}
ENTITABLE_DECL result<void> new_file::publish(std::uint64_t, bool) { return {}; }
ENTITABLE_DECL void new_file::remove() noexcept {}

#else

/// Nobody else has a file of that name, nor left the log of one, which would be taken for the log of the copy.
ENTITABLE_DECL result<void> check_free_name(std::string const& path) {
    struct stat about{};
    for (std::string_view const part : {"", "-wal", "-journal", "-shm"}) {
        std::string const name = text::joined({path, part});
        if (::lstat(name.c_str(), &about) == 0) {
            return system_failure(part.empty() ? "there is something of that name, and a copy overwrites nothing"
                                               : "a file is left that would be taken for the log of the copy",
                EEXIST, name);
        }
        if (errno != ENOENT) {
            return system_failure("the name of the copy cannot be looked at", errno, name);
        }
    }
    return {};
}

/// As `rename`, but where something has the new name it is EEXIST.
ENTITABLE_DECL int rename_to_free_name(std::string const& from, std::string const& to) noexcept {
#if defined(__linux__) && defined(SYS_renameat2)
    constexpr unsigned no_replace = 1;
    if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), no_replace) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
#elif defined(__APPLE__)
    return ::renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0 ? 0 : errno;
#endif
    // A crash between the two calls leaves both names: the file opens when the other one is removed.
    if (::link(from.c_str(), to.c_str()) != 0) {
        return errno;
    }
    int const number = ::unlink(from.c_str()) == 0 ? 0 : errno;
    if (number != 0) {
        ::unlink(to.c_str());
    }
    return number;
}

ENTITABLE_DECL result<void> sync_folder(std::string const& folder) {
    int const handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool const synced = handle >= 0 && (::fsync(handle) == 0 || errno == EINVAL); // some have nothing to sync
    int const number = errno;
    if (handle >= 0) {
        ::close(handle);
    }
    return synced ? result<void>{}
                  : system_failure("the folder of the copy cannot be written to the disk", number, folder);
}

ENTITABLE_DECL result<new_file> new_file::make(std::string_view path) {
    auto literal = literal_path(path);
    if (!literal) {
        return std::move(literal).as_failure();
    }
    std::size_t const slash = literal->rfind('/'); // there is one
    std::string const name = literal->substr(slash + 1);
    if (name.empty() || name == "." || name == "..") {
        return failure{error_code::invalid_input, "the path of a copy is that of a file, not of a folder"};
    }
    if (auto own = check_own_name(name); !own) {
        return std::move(own).as_failure();
    }
    new_file made;
    auto folder = real_path(literal->substr(0, slash + 1));
    if (!folder) {
        return std::move(folder).as_failure();
    }
    made.folder_ = *std::move(folder);
    made.path_ = text::joined({made.folder_, made.folder_.ends_with('/') ? "" : "/", name});
    if (auto free = check_free_name(made.path_); !free) {
        return std::move(free).as_failure();
    }
    std::random_device random;
    for (int attempts = 0;; ++attempts) {
        std::string passing = made.path_ + ".";
        for (int digits = 0; digits < 16; ++digits) {
            passing += hexadecimal_of(random());
        }
        passing += passing_end;
        int const handle = ::open(passing.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (handle >= 0) {
            ::close(handle);
            made.passing_ = std::move(passing);
            return made;
        }
        if (errno != EEXIST || attempts == 3) {
            return system_failure("the copy cannot be made", errno, passing);
        }
    }
}

ENTITABLE_DECL result<void> new_file::publish(std::uint64_t bytes, bool durable) {
    struct stat about{};
    if (::lstat(passing_.c_str(), &about) != 0) {
        return system_failure("the copy was removed before it was whole", errno, passing_);
    }
    if (!S_ISREG(about.st_mode) || static_cast<std::uint64_t>(about.st_size) != bytes) {
        return system_failure("the copy is not what was written", EIO, passing_);
    }
    if (auto free = check_free_name(path_); !free) {
        return free;
    }
    if (int const number = rename_to_free_name(passing_, path_); number != 0) {
        return system_failure(number == EEXIST ? "there is something of that name, and a copy overwrites nothing"
                                               : "the copy cannot get its name",
            number, path_);
    }
    passing_ = path_; // which goes if what follows fails
    auto synced = durable ? sync_folder(folder_) : result<void>{};
    if (synced) {
        passing_.clear();
    }
    return synced;
}

ENTITABLE_DECL void new_file::remove() noexcept {
    if (!passing_.empty() && forks_ == platform::forks()) {
        ::unlink(passing_.c_str());
    }
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
