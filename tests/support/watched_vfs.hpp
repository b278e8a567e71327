// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// SQLite's own VFS with a watcher that is called before and after each write and sync, and that may end the process there.

#include <sqlite3.h>

#include <map>
#include <string>
#include <string_view>

namespace entitable_test {

/// Which file of a database.
enum class watched_file : std::uint8_t { main, log, journal, other };

class watched_vfs {
public:
    static constexpr char const* name = "entitable_watched";
    /// `done`: after the call. `sync`: a sync, otherwise a write.
    using watcher = void (*)(watched_file file, bool sync, bool done);

    /// `checkpoint_ended` is called when a connection gives up SQLite's lock for checkpoints. A checkpoint that a reader stops halfway has no
    /// sync of the main file.
    static void install(watcher watch, void (*checkpoint_ended)() = nullptr) {
        watch_ = watch;
        checkpoint_ended_ = checkpoint_ended;
        static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
        real_ = sqlite3_vfs_find(nullptr);
        vfs.zName = name;
        vfs.szOsFile = real_->szOsFile + static_cast<int>(sizeof(extra));
        vfs.xOpen = open;
        sqlite3_vfs_register(&vfs, 0);
    }

private:
    struct extra {
        sqlite3_io_methods const* methods;
        watched_file kind;
    };
    static extra& of(sqlite3_file* file) {
        return *reinterpret_cast<extra*>(reinterpret_cast<char*>(file) + real_->szOsFile);
    }
    static int open(sqlite3_vfs*, char const* path, sqlite3_file* file, int flags, int* out_flags) {
        int const code = real_->xOpen(real_, path, file, flags, out_flags);
        if (file->pMethods == nullptr) { return code; }
        of(file) = {file->pMethods,
            (flags & SQLITE_OPEN_MAIN_DB) != 0            ? watched_file::main
                : (flags & SQLITE_OPEN_WAL) != 0          ? watched_file::log
                : (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 ? watched_file::journal
                                                          : watched_file::other};
        // One set of methods for each set of the real VFS: SQLite calls these, and they call the real ones.
        static std::map<sqlite3_io_methods const*, sqlite3_io_methods> all;
        auto [at, fresh] = all.try_emplace(file->pMethods, *file->pMethods);
        if (fresh) {
            at->second.xWrite = write;
            at->second.xSync = sync;
            at->second.xShmLock = lock;
        }
        file->pMethods = &at->second;
        return code;
    }
    static int write(sqlite3_file* file, void const* bytes, int size, sqlite3_int64 offset) {
        watch_(of(file).kind, false, false);
        int const code = of(file).methods->xWrite(file, bytes, size, offset);
        watch_(of(file).kind, false, true);
        return code;
    }
    static int sync(sqlite3_file* file, int flags) {
        watch_(of(file).kind, true, false);
        int const code = of(file).methods->xSync(file, flags);
        watch_(of(file).kind, true, true);
        return code;
    }

    static int lock(sqlite3_file* file, int first, int count, int flags) {
        constexpr int of_checkpoints = 1; // in the log's index of shared locks
        bool const ends = (flags & SQLITE_SHM_UNLOCK) != 0 && (flags & SQLITE_SHM_EXCLUSIVE) != 0 &&
            first <= of_checkpoints && of_checkpoints < first + count;
        if (ends && checkpoint_ended_ != nullptr) { checkpoint_ended_(); }
        return of(file).methods->xShmLock(file, first, count, flags);
    }

    static inline watcher watch_{};
    static inline void (*checkpoint_ended_)(){};
    static inline sqlite3_vfs* real_{};
};

} // namespace entitable_test
