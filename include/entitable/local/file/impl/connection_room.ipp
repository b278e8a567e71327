// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/file/detail/connection.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Allocates disk space before it is needed, through SQLite's own file, so that it has the same effects as SQLite's writes.
namespace room {

using bytes = sqlite3_int64;

/// Returns the size; -1 if it is unknown.
ENTITABLE_DECL bytes size_of(sqlite3_file& file) noexcept {
    bytes size = 0;
    return file.pMethods->xFileSize(&file, &size) == SQLITE_OK ? size : -1;
}

ENTITABLE_DECL bool means_no_room(int code, int system_code) noexcept {
    bool refused = system_code == ENOSPC;
#if defined(EFBIG) && defined(EDQUOT)
    refused = refused || system_code == EFBIG || system_code == EDQUOT;
#endif
    return (code & 0xFF) == SQLITE_FULL || (code == SQLITE_IOERR_WRITE && refused);
}

/// Grows a file; the content of the new part is never read. Returns false if there is no space, and then the size is unchanged; other
/// failures will occur again where they matter.
ENTITABLE_DECL bool extend(sqlite3_file& file, bytes wanted) noexcept {
    bytes const before = size_of(file);
    if (before < 0 || before >= wanted) { return true; }
    auto const& methods = *file.pMethods;
    constexpr int unit_bytes = static_cast<int>(file_format::page_bytes);
    int unit = unit_bytes; // without a chunk size SQLite ignores the size hint
    methods.xFileControl(&file, SQLITE_FCNTL_CHUNK_SIZE, &unit);
    methods.xFileControl(&file, SQLITE_FCNTL_SIZE_HINT, &wanted);
    methods.xFileControl(&file, SQLITE_FCNTL_CHUNK_SIZE, &(unit = 0));
    // Some file systems ignore the hint: only writing shows whether they have space.
    static constexpr char nothing[4 * file_format::page_bytes] = {};
    for (bytes at = size_of(file); at >= 0 && at < wanted;) {
        int part = static_cast<int>(std::min<bytes>(wanted - at, sizeof nothing));
        part = part == unit_bytes ? part / 2 : part; // a whole page would get a checksum in these bytes
        int const code = methods.xWrite(&file, nothing, part, at);
        if (code != SQLITE_OK) {
            int system_code = 0;
            methods.xFileControl(&file, SQLITE_FCNTL_LAST_ERRNO, &system_code);
            methods.xTruncate(&file, before);
            return !means_no_room(code, system_code);
        }
        at += part;
    }
    return true;
}

} // namespace room

ENTITABLE_DECL bool connection::out_of_room() const noexcept {
    return code_ == SQLITE_IOERR_SHMSIZE || room::means_no_room(code_, system_code_);
}

/// The end of a commit is the last page that is written to the log, unless SQLite fills the rest of a sector with more pages.
ENTITABLE_DECL bool connection::failed_before_end() const noexcept {
    sqlite3_file* const file = guard_.file();
    return write_ahead_log_ && room::means_no_room(code_, system_code_) && file != nullptr &&
        (file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
}

ENTITABLE_DECL std::int64_t connection::pages() noexcept {
    statement asked{*this, sql::page_count};
    return asked.step() == stepped::row ? asked.number(0) : 0;
}

/// Reads the index of the log, which no other store writes while this store holds the writer lock: https://www.sqlite.org/walformat.html,
/// 2.1. Reading it through SQLite would take a sixth of the time of an insert.
ENTITABLE_DECL std::int64_t connection::committed_pages() noexcept {
    constexpr int index_bytes = 32'768;
    constexpr std::size_t pages_at = 20;
    sqlite3_file* const file = guard_.file();
    void volatile* index = nullptr;
    if (!write_ahead_log_ || file == nullptr || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, index_bytes, 0, &index) != SQLITE_OK || index == nullptr) {
        return 0;
    }
    return *reinterpret_cast<std::uint32_t volatile*>(static_cast<char volatile*>(index) + pages_at);
}

ENTITABLE_DECL bool connection::allocate(std::size_t growth, std::size_t reserve) noexcept {
    constexpr auto page = static_cast<room::bytes>(file_format::page_bytes);
    constexpr room::bytes ahead = 32 * page; // the next checkpoint frees it
    sqlite3_file* const file = growth == 0 ? nullptr : guard_.file();
    room::bytes const size = file == nullptr ? -1 : room::size_of(*file);
    if (size < 0) { return true; }
    room::bytes const known = write_ahead_log_ ? committed_pages() * page : size;
    if (known > 0 && known + static_cast<room::bytes>(growth) * page <= (write_ahead_log_ ? size : room_until_)) {
        return true;
    }
    room::bytes const wanted = pages() * page;
    if (write_ahead_log_) {
        // The log is extended first: the file must not take the space that a checkpoint has freed.
        return allocate_log(reserve) && (room::extend(*file, wanted + ahead) || room::extend(*file, wanted));
    }
    if (wanted <= size) { return true; }
    auto const left = static_cast<room::bytes>(reserve);
    bool const there = room::extend(*file, wanted + left);
    file->pMethods->xTruncate(file, size); // with this journal SQLite reads the size of the file
    room_until_ = there ? wanted + left / 2 : 0;
    return there;
}

ENTITABLE_DECL bool connection::allocate_log(std::size_t bytes) noexcept {
    sqlite3_file* log = nullptr;
    bool const known =
        write_ahead_log_ && sqlite3_file_control(database_, nullptr, SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK;
    return !known || log == nullptr || log->pMethods == nullptr || room::extend(*log, static_cast<room::bytes>(bytes));
}

ENTITABLE_DECL void connection::cut_part_of_page() noexcept {
    sqlite3_file* const file = write_ahead_log_ ? guard_.file() : nullptr;
    room::bytes const size = file == nullptr ? 0 : room::size_of(*file);
    room::bytes const part = size < 0 ? 0 : size % static_cast<room::bytes>(file_format::page_bytes);
    if (part != 0) { file->pMethods->xTruncate(file, size - part); }
}

/// Returns SQLite's "file change counter": https://www.sqlite.org/fileformat2.html, 1.3.7.
ENTITABLE_DECL std::uint32_t connection::change_counter() noexcept {
    unsigned char bytes[4] = {};
    if (sqlite3_file* const file = guard_.file()) { file->pMethods->xRead(file, bytes, sizeof bytes, 24); }
    std::uint32_t value = 0;
    for (unsigned char const each : bytes) { value = value * 256 + each; }
    return value;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
