// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options for opening a file of tables: the durability of commits, the waits for other processes.

#include <entitable/local/local_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The durability of a commit when it returns.
enum class durability : std::uint8_t {
    full,    ///< a commit is on the disk: it survives a loss of power
    relaxed, ///< a commit is in the operating system: a crash of the program loses nothing; a power cut may lose the
             ///< last commits, but never an earlier commit without all later ones; many times as fast for single
             ///< writes. The same as `full` with a rollback journal
};

/// How SQLite makes commits atomic. Stored in the file. Opening the file with a different journal changes the setting, which requires
/// that no other store has the file open: StoreBusy otherwise.
enum class file_journal : std::uint8_t {
    automatic,       ///< write-ahead log if the file system has advisory locks, otherwise `rollback`
    write_ahead_log, ///< readers and a writer do not wait for each other; fails if there are no advisory locks
    rollback,        ///< a single file and a temporary journal; a commit waits for readers; slower
};

/// Options for opening a file. The defaults are safe.
struct file_options {
    entitable::durability durability{durability::full}; ///< when a commit counts as complete
    file_journal journal{file_journal::automatic};      ///< how commits are made atomic
    bool create{true};                                  ///< create the file if it does not exist; otherwise StoreFailed
    bool allow_symlink{false};                          ///< the path may be a symbolic link; otherwise StoreFailed

    /// How long a call waits while other processes hold the file; after that it returns StoreBusy. Its deadline or cancellation may end it
    /// earlier. Calls of the same store may wait longer for each other.
    std::chrono::nanoseconds busy_timeout{std::chrono::seconds{5}};

    std::size_t cache_bytes{32U * 1024 * 1024};     ///< maximum page cache of each connection
    std::size_t idle_readers{8};                    ///< maximum number of idle connections for later readers
    std::size_t checkpoint_bytes{4U * 1024 * 1024}; ///< log size at which a commit moves it into the file
    std::size_t log_bytes{
        32U * 1024 * 1024}; ///< size of the write-ahead log at which commits wait for readers to release it

    /// Space that only removals may use, so that a full disk can be cleared: a write that grows the file returns StoreFull if it would
    /// leave less space. With a write-ahead log, this space stays allocated in the log.
    std::size_t reserve_bytes{256U * 1024};

    std::string vfs{}; ///< the name of a registered SQLite VFS; empty for the default VFS; for tests
    /// Options of the table service over the file; its clock is also the file's. Whether table names are case-sensitive is fixed when the
    /// file is created; opening it returns StoreForeign if the profile differs.
    local_options local{};
};

ENTITABLE_END_NAMESPACE
