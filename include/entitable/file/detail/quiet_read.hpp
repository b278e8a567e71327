// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reading a file in a folder that cannot be written: where SQLite cannot make its log, what shows that nobody writes meanwhile.

#include <entitable/file/detail/file_place.hpp>
#include <entitable/file/detail/own_process.hpp>
#include <entitable/file/detail/patience.hpp>

#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Which state of the file was read.
struct file_stamp {
    std::uint64_t inode{};
    std::uint64_t bytes{};
    std::int64_t modified{}; ///< nanoseconds
    std::int64_t changed{};  ///< nanoseconds
    /// Whether each later change gives another stamp: it is older than what the clock of the file system may leave out.
    bool settled{};

    friend bool operator==(file_stamp const& one, file_stamp const& other) noexcept {
        return one.inode == other.inode && one.bytes == other.bytes && one.modified == other.modified &&
            one.changed == other.changed;
    }
};

/// While it lives, the file holds everything that was committed, and nobody writes to it. Writers hold the `-lock` file alone while they write
/// to the log or to the file; this shares it. Where there is no `-lock` file nobody of this library writes, and `still` says whether one
/// has come. One thread at a time.
class quiet_read {
public:
    /// Waits for who writes now. Errors: StoreBusy after that; StoreReadOnly names the folder and what stands in the way: a log or a journal
    /// with changes that are not in the file, or a `-lock` file that cannot be read.
    [[nodiscard]] static result<quiet_read> begin(file_place const& place, patience& waits);

    /// StoreBusy where a writer has come meanwhile; what was read since `begin` may then be wrong. Never with a `-lock` file.
    [[nodiscard]] result<void> still() const;

    /// The state that is read.
    [[nodiscard]] file_stamp const& stamp() const noexcept { return stamp_; }

private:
    std::string path_;
    own_handle lock_;
    file_stamp stamp_;
};

/// The folder of a file, for messages.
[[nodiscard]] std::string folder_of(std::string_view path);
/// The error of a write to a file that is open for reading only.
[[nodiscard]] failure cannot_be_written(std::string_view path);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/quiet_read.ipp>
#endif
