// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A file in its file system: made with narrow permissions, watched for being replaced. What differs between operating systems
/// is in the bodies.

#include <entitable/core/result.hpp>
#include <entitable/file/file_options.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Where a file is, and which one it was when it was opened.
class file_place {
public:
    /// Makes the file, readable by its owner only, if there is none and the options allow it. Resolves relative paths and
    /// symbolic links for good.
    /// InvalidInput for a path that cannot be one, StoreFailed for something that is not a plain file or has a hard link.
    [[nodiscard]] static result<file_place> find(std::string_view path, file_options const& options);

    /// As SQLite takes it: absolute, without symbolic links; never a URI or one of SQLite's own names.
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    /// StoreFailed when another file, or none, is there by now, when it has got a hard link, and in a process that was forked off.
    [[nodiscard]] result<void> same_file() const;
    [[nodiscard]] bool in_own_process() const noexcept;
    /// Whether the system would let this process write the file and create others in its folder.
    [[nodiscard]] bool may_be_written() const noexcept;
    /// Which file the write-ahead log beside the file is; 0 when there is none.
    [[nodiscard]] std::uint64_t log() const;
    /// How long that file is; 0 when there is none.
    [[nodiscard]] std::uint64_t log_bytes() const;
    /// The same as `check` for readers, who ask thousands of times a second: where the file is, the system is asked every some
    /// milliseconds. Not from two threads at once.
    [[nodiscard]] result<void> check_often();

private:
    std::string path_;
    std::uint64_t device_{};
    std::uint64_t inode_{};
    std::uint64_t forks_{};
    std::int64_t checked_{}; ///< milliseconds of some clock
};

/// What everything that was opened before a fork says in the child.
[[nodiscard]] failure opened_before_fork();
/// Why a call of the operating system failed.
[[nodiscard]] failure system_failure(std::string_view what, int number, std::string_view path);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/file_place.ipp>
#endif
