// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How a file of tables is opened: how durable its commits are, how long they wait for other processes.

#include <entitable/backends/local_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// What a commit has behind it when it returns.
enum class durability : std::uint8_t {
    full,    ///< the disk: what was committed survives a loss of power
    relaxed, ///< the operating system: a crash of the program loses nothing, a loss of power maybe the last commits, never
             ///< an earlier one before a later one; several times as fast for single writes. The same as `full` with a
             ///< rollback journal
};

/// How SQLite keeps a commit whole. It is kept in the file. Opening the file with the other one changes it, which takes that nobody
/// else has the file open: StoreBusy otherwise.
enum class file_journal : std::uint8_t {
    automatic,       ///< write-ahead log where the file system has advisory locks, else `rollback`
    write_ahead_log, ///< readers and a writer do not hold each other up; fails where there are no advisory locks
    rollback,        ///< one file and a journal beside it; a reader holds up the end of a commit; slower
};

/// How a file is opened. The defaults are the safe ones.
struct file_options {
    entitable::durability durability{durability::full}; ///< when a commit counts as done
    file_journal journal{file_journal::automatic};      ///< how commits are kept whole
    bool create{true};                                  ///< make the file when there is none
    bool allow_symlink{false};                          ///< follow a symbolic link in the place of the file

    /// How long a call waits while others hold the file: StoreBusy after that. Its own deadline or cancellation may end it before.
    /// Calls of the same store wait for each other beyond it.
    std::chrono::nanoseconds busy_timeout{std::chrono::seconds{5}};

    std::size_t cache_bytes{32U * 1024 * 1024};     ///< page cache of each connection, at most
    std::size_t idle_readers{8};                    ///< connections kept for later readers
    std::size_t checkpoint_bytes{4U * 1024 * 1024}; ///< of write-ahead log, after which a commit moves it into the file
    std::size_t log_bytes{
        32U * 1024 * 1024}; ///< of write-ahead log, after which commits wait for readers to let go of it

    /// Room that only removals may use, so that a full disk has a way back: a write that makes the file longer is StoreFull where it
    /// would not leave that much. With a write-ahead log it stays allocated in the log.
    std::size_t reserve_bytes{256U * 1024};

    std::string vfs{}; ///< the name of a registered SQLite VFS; empty for the default one. For tests
    /// The table service over the file; its clock is the file's too. Whether names of tables have case is decided when the file is
    /// made: StoreForeign with a profile that has it otherwise.
    local_options local{};
};

ENTITABLE_END_NAMESPACE
