// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A file in its file system: created with restricted permissions, and checked for replacement. The differences between operating systems
/// are in the bodies.

#include <entitable/core/result.hpp>
#include <entitable/local/file/file_options.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The path of a file, and its identity when it was opened.
class file_place {
public:
    /// Creates the file, readable by its owner only, if it does not exist and the options allow it. Resolves relative paths and symbolic
    /// links once. Errors: InvalidInput for an invalid path; StoreFailed for anything other than a plain file, and for a file with a hard
    /// link.
    [[nodiscard]] static result<file_place> find(std::string_view path, file_options const& options);

    /// Returns the path for SQLite: absolute, without symbolic links; never a URI or one of SQLite's special names.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    /// Checks that the file is still there. Returns StoreFailed if the file was replaced or removed, or has gained a hard link, and always
    /// in a forked process.
    [[nodiscard]] result<void> same_file() const;
    [[nodiscard]] bool in_own_process() const noexcept;
    /// Whether the system allows this process to write the file and create others in its folder.
    [[nodiscard]] bool may_be_written() const noexcept;
    /// Returns the identity of the write-ahead log next to the file; 0 if there is none.
    [[nodiscard]] std::uint64_t log() const;
    /// Returns the size of that log; 0 if there is none.
    [[nodiscard]] std::uint64_t log_bytes() const;
    /// Like `same_file`, for readers, who call it thousands of times a second: the system is queried at most every few milliseconds. Not
    /// from two threads concurrently.
    [[nodiscard]] result<void> check_often();

private:
    std::string path_;
    std::uint64_t device_{};
    std::uint64_t inode_{};
    std::uint64_t forks_{};
    std::int64_t checked_{}; ///< in milliseconds of any clock
};

/// Returns the error that an object opened before a fork returns in the child.
[[nodiscard]] failure opened_before_fork();
/// Returns the error of a failed operating system call.
[[nodiscard]] failure system_failure(std::string_view what, int number, std::string_view path);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/file_place.ipp>
#endif
