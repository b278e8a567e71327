// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A disk in memory, as an SQLite VFS: it knows which bytes were synced, loses or tears the others when its power is cut, can
/// fail calls, and can be full. One disk at a time; all connections are in this process.

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace entitable_test {

/// The kinds of calls.
enum class disk_call : std::uint8_t { open, read, write, truncate, sync, remove, lock, shared_memory };

/// The planned fault of a call.
struct disk_fault {
    std::uint64_t at{UINT64_MAX}; ///< the number of the first call, from 0
    bool lasting{};               ///< also every later call that can fail with it
    int code{SQLITE_IOERR};       ///< SQLITE_FULL writes the first half
    /// Whether a fault with this code can occur in that call.
    [[nodiscard]] bool hits(disk_call call) const noexcept {
        switch (code & 0xFF) {
            case SQLITE_FULL: return call == disk_call::write;
            case SQLITE_CANTOPEN: return call == disk_call::open;
            case SQLITE_BUSY: return call == disk_call::lock;
            case SQLITE_NOMEM:
                return call == disk_call::read || call == disk_call::open || call == disk_call::shared_memory;
            default: return code != SQLITE_IOERR_FSYNC || call == disk_call::sync;
        }
    }
};

class memory_disk {
public:
    /// The contents of the disk.
    using image = std::map<std::string, std::string>;
    static constexpr char const* name = "entitable_memory_disk";

    /// A disk with these contents instead of the current one.
    explicit memory_disk(image const& content = {}) {
        for (auto const& [path, bytes] : content) {
            auto& made = files_[path] = std::make_shared<stored>();
            made->current = made->synced = bytes;
        }
        now_ = this;
        install();
    }
    ~memory_disk() { now_ = nullptr; }
    memory_disk(memory_disk const&) = delete;
    memory_disk& operator=(memory_disk const&) = delete;

    disk_fault fault;
    std::uint64_t calls{};            ///< calls so far
    std::uint64_t faults_hit{};       ///< calls that failed so far
    std::uint64_t changes{};          ///< writes, truncations, syncs and removals
    std::uint64_t cut_at{UINT64_MAX}; ///< the number of the change at which the power fails
    std::uint64_t quota{UINT64_MAX};  ///< bytes for all files
    bool syncs_are_lies{};            ///< a disk that only claims to have synced

    [[nodiscard]] bool cut() const noexcept { return changes > cut_at; }
    /// The view of the operating system: nothing was lost.
    [[nodiscard]] image seen() const {
        image all;
        for (auto const& [path, file] : files_) { all[path] = file->current; }
        return all;
    }
    /// The contents after a power failure now: 0 keeps only synced data, 1 everything; any other number draws for each
    /// written sector of 512 bytes, and for each change of a size or removal, whether it was stored.
    [[nodiscard]] image after_power_cut(std::uint64_t variant) const {
        std::mt19937_64 random{variant};
        auto const comes_through = [&] { return variant == 1 || (variant != 0 && random() % 2 == 0); };
        image left;
        for (auto const& [path, file] : removed_) {
            if (!comes_through()) { left[path] = file->survivor(comes_through); }
        }
        for (auto const& [path, file] : files_) { left[path] = file->survivor(comes_through); }
        return left;
    }

private:
    struct change {
        std::size_t offset;
        std::string bytes;
        bool truncation;
    };
    struct stored {
        std::string current;
        std::string synced;
        std::vector<change> pending;
        bool fresh{}; ///< the first sync also syncs the directory
        // locks of the file, by connection
        std::map<void const*, int> locks;
        // shared memory
        std::vector<std::unique_ptr<char[]>> regions;
        std::map<void const*, std::uint32_t> shared; ///< slots, as bits
        std::map<void const*, std::uint32_t> exclusive;

        static void apply(std::string& to, std::size_t offset, char const* bytes, std::size_t size) {
            if (to.size() < offset + size) { to.resize(offset + size); }
            std::memcpy(to.data() + offset, bytes, size);
        }
        template <class Chance>
        std::string survivor(Chance const& comes_through) const {
            std::string left = synced;
            for (change const& each : pending) {
                if (each.truncation) {
                    if (comes_through()) { left.resize(each.offset); }
                    continue;
                }
                for (std::size_t at = 0; at < each.bytes.size();) {
                    std::size_t const sector_end = ((each.offset + at) / 512 + 1) * 512 - each.offset;
                    std::size_t const end = std::min(sector_end, each.bytes.size());
                    if (comes_through()) { apply(left, each.offset + at, each.bytes.data() + at, end - at); }
                    at = end;
                }
            }
            return left;
        }
    };
    struct open_file : sqlite3_file {
        std::shared_ptr<stored>* file;
        bool remove_at_close;
    };

    static stored& of(sqlite3_file* file) { return **static_cast<open_file*>(file)->file; }

    /// Counts a call; returns the planned error code, or SQLITE_OK.
    static int enter(disk_call call) {
        if (now_ == nullptr) { return SQLITE_IOERR; }
        memory_disk& disk = *now_;
        std::uint64_t const number = disk.calls++;
        bool const changes_disk = call == disk_call::write || call == disk_call::truncate || call == disk_call::sync ||
            call == disk_call::remove;
        if (changes_disk && disk.changes <= disk.cut_at) { ++disk.changes; }
        if (disk.cut()) { return SQLITE_IOERR; }
        bool const due = number >= disk.fault.at && (disk.fault.lasting || disk.faults_hit == 0);
        if (due && disk.fault.hits(call)) {
            ++disk.faults_hit;
            return disk.fault.code;
        }
        return SQLITE_OK;
    }
    static std::uint64_t used() {
        std::uint64_t bytes = 0;
        for (auto const& [path, file] : now_->files_) { bytes += file->current.size(); }
        return bytes;
    }

    // ---- the methods of files ----

    static int close(sqlite3_file* file) {
        auto* const opened = static_cast<open_file*>(file);
        stored& held = of(file);
        held.locks.erase(file);
        held.shared.erase(file);
        held.exclusive.erase(file);
        delete opened->file;
        return SQLITE_OK;
    }
    static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
        std::lock_guard const guard{mutex_};
        if (int const code = enter(disk_call::read); code != SQLITE_OK) {
            return code == SQLITE_IOERR ? SQLITE_IOERR_READ : code == SQLITE_NOMEM ? SQLITE_IOERR_NOMEM : code;
        }
        std::string const& bytes = of(file).current;
        auto const from = static_cast<std::size_t>(offset);
        std::size_t const wanted = static_cast<std::size_t>(size);
        std::size_t const there = from < bytes.size() ? std::min(wanted, bytes.size() - from) : 0;
        std::memset(out, 0, wanted);
        if (there > 0) { std::memcpy(out, bytes.data() + from, there); }
        return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
    }
    static int write(sqlite3_file* file, void const* bytes, int size, sqlite3_int64 offset) {
        std::lock_guard const guard{mutex_};
        int code = enter(disk_call::write);
        std::string part{static_cast<char const*>(bytes), static_cast<std::size_t>(size)};
        auto const at = static_cast<std::size_t>(offset);
        stored& held = of(file);
        if (code == SQLITE_OK && at + part.size() > held.current.size() &&
            used() + (at + part.size() - held.current.size()) > now_->quota) {
            code = SQLITE_FULL;
        }
        if (code == SQLITE_FULL) {
            part.resize(part.size() / 2);
        } else if (code != SQLITE_OK) {
            return code == SQLITE_IOERR ? SQLITE_IOERR_WRITE : code;
        }
        stored::apply(held.current, at, part.data(), part.size());
        held.pending.push_back({at, std::move(part), false});
        return code;
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        std::lock_guard const guard{mutex_};
        if (int const code = enter(disk_call::truncate); code != SQLITE_OK) { return SQLITE_IOERR_TRUNCATE; }
        stored& held = of(file);
        held.current.resize(static_cast<std::size_t>(size));
        held.pending.push_back({static_cast<std::size_t>(size), {}, true});
        return SQLITE_OK;
    }
    static int sync(sqlite3_file* file, int) {
        std::lock_guard const guard{mutex_};
        if (int const code = enter(disk_call::sync); code != SQLITE_OK) { return SQLITE_IOERR_FSYNC; }
        stored& held = of(file);
        if (std::exchange(held.fresh, false) && !now_->syncs_are_lies) { now_->removed_.clear(); }
        if (!now_->syncs_are_lies) {
            held.synced = held.current;
            held.pending.clear();
        }
        return SQLITE_OK;
    }
    static int file_size(sqlite3_file* file, sqlite3_int64* size) {
        std::lock_guard const guard{mutex_};
        *size = static_cast<sqlite3_int64>(of(file).current.size());
        return SQLITE_OK;
    }
    static int lock(sqlite3_file* file, int level) {
        std::lock_guard const guard{mutex_};
        if (int const code = enter(disk_call::lock); code != SQLITE_OK) {
            return code == SQLITE_BUSY ? SQLITE_BUSY : SQLITE_IOERR_LOCK;
        }
        auto& locks = of(file).locks;
        int& mine = locks[file];
        if (mine >= level) { return SQLITE_OK; }
        int others = SQLITE_LOCK_NONE;
        for (auto const& [who, held] : locks) { others = who == file ? others : std::max(others, held); }
        if (level == SQLITE_LOCK_SHARED && others >= SQLITE_LOCK_PENDING) { return SQLITE_BUSY; }
        if (level == SQLITE_LOCK_RESERVED && others >= SQLITE_LOCK_RESERVED) { return SQLITE_BUSY; }
        if (level == SQLITE_LOCK_EXCLUSIVE) {
            if (others >= SQLITE_LOCK_RESERVED) { return SQLITE_BUSY; }
            if (others >= SQLITE_LOCK_SHARED) {
                mine = SQLITE_LOCK_PENDING;
                return SQLITE_BUSY;
            }
        }
        mine = level;
        return SQLITE_OK;
    }
    static int unlock(sqlite3_file* file, int level) {
        std::lock_guard const guard{mutex_};
        of(file).locks[file] = level;
        return SQLITE_OK;
    }
    static int is_reserved(sqlite3_file* file, int* out) {
        std::lock_guard const guard{mutex_};
        *out = 0;
        for (auto const& [who, held] : of(file).locks) { *out = *out != 0 || held >= SQLITE_LOCK_RESERVED ? 1 : 0; }
        return SQLITE_OK;
    }
    static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
    static int sector_size(sqlite3_file*) { return 512; }
    static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
    static int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
        std::lock_guard const guard{mutex_};
        if (int const code = enter(disk_call::shared_memory); code != SQLITE_OK) {
            return code == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_IOERR_SHMMAP;
        }
        auto& regions = of(file).regions;
        auto const index = static_cast<std::size_t>(region);
        *out = nullptr;
        if (index >= regions.size() && extend == 0) { return SQLITE_OK; }
        while (index >= regions.size()) { regions.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size))); }
        *out = regions[index].get();
        return SQLITE_OK;
    }
    static int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
        std::lock_guard const guard{mutex_};
        stored& held = of(file);
        std::uint32_t const slots = ((1U << static_cast<unsigned>(count)) - 1U) << static_cast<unsigned>(offset);
        if ((flags & SQLITE_SHM_UNLOCK) != 0) {
            held.shared[file] &= ~slots;
            held.exclusive[file] &= ~slots;
            return SQLITE_OK;
        }
        if (int const code = enter(disk_call::lock); code != SQLITE_OK) {
            return code == SQLITE_BUSY ? SQLITE_BUSY : SQLITE_IOERR_SHMLOCK;
        }
        for (auto const& [who, taken] : held.exclusive) {
            if (who != file && (taken & slots) != 0) { return SQLITE_BUSY; }
        }
        if ((flags & SQLITE_SHM_SHARED) != 0) {
            held.shared[file] |= slots;
            return SQLITE_OK;
        }
        for (auto const& [who, taken] : held.shared) {
            if (who != file && (taken & slots) != 0) { return SQLITE_BUSY; }
        }
        held.exclusive[file] |= slots;
        return SQLITE_OK;
    }
    static void barrier(sqlite3_file*) {}
    static int unmap_shared(sqlite3_file* file, int remove) {
        std::lock_guard const guard{mutex_};
        if (remove != 0) { of(file).regions.clear(); }
        return SQLITE_OK;
    }

    // ---- the methods of the disk ----

    static int open(sqlite3_vfs*, char const* path, sqlite3_file* file, int flags, int* out_flags) {
        static sqlite3_io_methods const methods{2, close, read, write, truncate, sync, file_size, lock, unlock,
            is_reserved, control, sector_size, characteristics, map_shared, lock_shared, barrier, unmap_shared, nullptr,
            nullptr};
        std::lock_guard const guard{mutex_};
        auto* const opened = static_cast<open_file*>(file);
        opened->pMethods = nullptr;
        if (int const code = enter(disk_call::open); code != SQLITE_OK) {
            return code == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_CANTOPEN;
        }
        std::shared_ptr<stored> found = path == nullptr ? std::make_shared<stored>() : nullptr;
        if (!found) {
            auto const at = now_->files_.find(path);
            bool const is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0; // it exists outside, empty
            if (at == now_->files_.end() && (flags & SQLITE_OPEN_CREATE) == 0 && !is_main) { return SQLITE_CANTOPEN; }
            auto& entry = now_->files_[path];
            if (!entry) {
                entry = std::make_shared<stored>();
                entry->fresh = !is_main; // as the VFS for Unix does with journals and logs
            }
            found = entry;
        }
        opened->file = new std::shared_ptr<stored>(std::move(found));
        opened->pMethods = &methods;
        if (out_flags != nullptr) { *out_flags = flags; }
        return SQLITE_OK;
    }
    static int remove(sqlite3_vfs*, char const* path, int sync_directory) {
        std::lock_guard const guard{mutex_};
        if (int const code = enter(disk_call::remove); code != SQLITE_OK) { return SQLITE_IOERR_DELETE; }
        auto const at = now_->files_.find(path);
        if (at == now_->files_.end()) { return SQLITE_IOERR_DELETE_NOENT; }
        if (sync_directory == 0) {
            now_->removed_[path] = at->second;
        } else {
            now_->removed_.erase(path);
        }
        now_->files_.erase(at);
        return SQLITE_OK;
    }
    static int access(sqlite3_vfs*, char const* path, int, int* out) {
        std::lock_guard const guard{mutex_};
        *out = now_ != nullptr && now_->files_.contains(path) ? 1 : 0;
        return SQLITE_OK;
    }
    static int full_path(sqlite3_vfs*, char const* path, int size, char* out) {
        sqlite3_snprintf(size, out, "%s", path);
        return SQLITE_OK;
    }
    static void install() {
        static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr); // random numbers and time as usual
        static bool const installed = [] {
            vfs.zName = name;
            vfs.szOsFile = sizeof(open_file);
            vfs.xOpen = open;
            vfs.xDelete = remove;
            vfs.xAccess = access;
            vfs.xFullPathname = full_path;
            vfs.xSleep = [](sqlite3_vfs*, int microseconds) { return microseconds; }; // no other process has the lock
            sqlite3_vfs_register(&vfs, 0);
            return true;
        }();
        static_cast<void>(installed);
    }

    std::map<std::string, std::shared_ptr<stored>> files_;
    std::map<std::string, std::shared_ptr<stored>> removed_; ///< since the last sync of the directory
    static inline memory_disk* now_{};
    static inline std::mutex mutex_;
};

} // namespace entitable_test
