// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads a file in a folder that cannot be written: SQLite cannot create its log there, so this detects concurrent writers.

#include <entitable/local/file/detail/file_place.hpp>
#include <entitable/local/file/detail/own_process.hpp>
#include <entitable/local/file/detail/wait_budget.hpp>

#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The state of the file that was read.
struct file_stamp {
    std::uint64_t inode{};
    std::uint64_t bytes{};
    std::int64_t modified{}; ///< nanoseconds
    std::int64_t changed{};  ///< nanoseconds
    /// Whether every later change gives a different stamp: the stamp is older than the resolution of the file system's clock.
    bool settled{};

    friend bool operator==(file_stamp const& one, file_stamp const& other) noexcept {
        return one.inode == other.inode && one.bytes == other.bytes && one.modified == other.modified &&
            one.changed == other.changed;
    }
};

/// While a `quiet_read` exists, the file contains everything that was committed, and no program writes to it. Writers hold the `-lock` file
/// exclusively while they write to the log or to the file; a `quiet_read` holds it shared. If there is no `-lock` file, no program writes
/// through this library, and `still` checks that no such file has appeared. Used by one thread at a time.
class quiet_read {
public:
    /// Waits for current writers. Errors: StoreBusy after that; StoreReadOnly names the folder and the obstacle: a log or a journal with
    /// changes that are not in the file, or a `-lock` file that cannot be read.
    [[nodiscard]] static result<quiet_read> begin(file_place const& place, wait_budget& waits);

    /// Returns StoreBusy if a writer has appeared since `begin`; in that case the data read since `begin` may be wrong. Never fails if
    /// there is a `-lock` file.
    [[nodiscard]] result<void> still() const;

    /// Returns the state that is read.
    [[nodiscard]] file_stamp const& stamp() const noexcept { return stamp_; }

private:
    std::string path_;
    own_handle lock_;
    file_stamp stamp_;
};

/// Returns the folder of a file, for messages.
[[nodiscard]] std::string folder_of(std::string_view path);
/// Returns the error of a write to a file that is open only for reading.
[[nodiscard]] failure cannot_be_written(std::string_view path);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/quiet_read.ipp>
#endif
