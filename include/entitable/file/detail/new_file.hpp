// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A file that gets its name when it is whole: until then it has a name beside it that no store opens.

#include <entitable/core/process.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// InvalidInput for a path that ends as the names of files that belong to another one: `-lock`, `-wal`, `-shm`, `-journal` and
/// `-copying`.
[[nodiscard]] result<void> check_own_name(std::string_view path);

/// Gone when it is destroyed without a name. A child made by `fork` leaves it alone. One thread at a time.
class new_file {
public:
    /// Makes an empty file that its owner alone can read and write, in the folder of `path`. InvalidInput for a path that cannot be
    /// one, StoreFailed where something has that name or where the log of a file that had it is left.
    [[nodiscard]] static result<new_file> make(std::string_view path);

    new_file(new_file&& other) noexcept
        : folder_(std::move(other.folder_)),
          path_(std::move(other.path_)),
          passing_(std::exchange(other.passing_, {})),
          forks_(other.forks_) {}
    new_file& operator=(new_file&&) = delete;
    ~new_file() { remove(); }

    /// Where it is until it has its name.
    [[nodiscard]] std::string const& passing_path() const noexcept { return passing_; }
    /// Gives it its name, if it has that many bytes; StoreFailed where something has the name by now. With `durable` the name is on
    /// the disk. The file is not open any more.
    [[nodiscard]] result<void> publish(std::uint64_t bytes, bool durable);

private:
    new_file() = default;
    void remove() noexcept;

    std::string folder_;
    std::string path_;
    std::string passing_; ///< empty when there is nothing to remove
    std::uint64_t forks_{platform::forks()};
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/new_file.ipp>
#endif
