// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A file that gets its final name when it is complete: until then it has a temporary name that no store opens.

#include <entitable/core/process.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Checks that a path does not end like the auxiliary files of another file: `-lock`, `-wal`, `-shm`, `-journal` and `-copying`. Returns
/// InvalidInput if it does.
[[nodiscard]] result<void> check_own_name(std::string_view path);

/// Deleted on destruction unless published. A child made by `fork` does not delete it. Used by one thread at a time.
class new_file {
public:
    /// Creates an empty file that only its owner can read and write, in the folder of `path`. Errors: InvalidInput for an invalid path;
    /// StoreFailed if the name is taken, or if the log of a former file with that name remains.
    [[nodiscard]] static result<new_file> make(std::string_view path);

    new_file(new_file&& other) noexcept
        : folder_(std::move(other.folder_)),
          path_(std::move(other.path_)),
          passing_(std::exchange(other.passing_, {})),
          forks_(other.forks_) {}
    new_file& operator=(new_file&&) = delete;
    ~new_file() { remove(); }

    /// Returns the temporary path.
    [[nodiscard]] std::string const& passing_path() const noexcept { return passing_; }
    /// Gives the file its final name, if the file has this many bytes; returns StoreFailed if another file has that name now. With
    /// `durable` the name is flushed to the disk too. The file must be closed.
    [[nodiscard]] result<void> publish(std::uint64_t bytes, bool durable);

private:
    new_file() = default;
    void remove() noexcept;

    std::string folder_;
    std::string path_;
    std::string passing_; ///< empty if there is nothing to remove
    std::uint64_t forks_{platform::forks()};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/new_file.ipp>
#endif
