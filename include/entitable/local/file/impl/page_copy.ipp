// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/local/file/detail/page_copy.hpp>

#include <sqlite3.h>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL page_copy::~page_copy() {
    if (backup_ != nullptr && from_.in_own_process()) { sqlite3_backup_finish(backup_); }
    from_.guard().pass_unwritten(nullptr);
}

ENTITABLE_DECL result<void> page_copy::begin() {
    // An incomplete copy is discarded, so it needs no journal on the disk and is synced only occasionally. Each page is read once.
    to_.reserve_page_checksums();
    in_target_ = true;
    if (to_.run_text("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024") !=
        stepped::done) {
        return problem();
    }
    in_target_ = false;
    if (from_.run_text("PRAGMA cache_size = -1024") != stepped::done) { return problem(); }
    backup_ = sqlite3_backup_init(to_.database_, "main", from_.database_, "main");
    if (backup_ == nullptr) {
        in_target_ = true;
        static_cast<void>(to_.outcome_of(sqlite3_extended_errcode(to_.database_)));
        return problem();
    }
    from_.guard().pass_unwritten(&unwritten_);
    return {};
}

ENTITABLE_DECL stepped page_copy::step() noexcept {
    in_target_ = false;
    if (!from_.may_step()) { return stepped::failed; }
    std::uint64_t const refused = from_.guard().refused();
    std::uint64_t const before = copied();
    std::size_t const unwritten = unwritten_.size();
    int const code = sqlite3_backup_step(backup_, static_cast<int>(pages_at_once));
    if (code == SQLITE_OK || code == SQLITE_DONE) {
        if (before != 0 && copied() <= before) { // all steps have the same length, so that a restart can be detected
            ++restarts_;
            unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(unwritten));
        }
        return code == SQLITE_OK ? stepped::row : stepped::done;
    }
    bool const reads = code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_LOCK ||
        code == SQLITE_IOERR_RDLOCK || (code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_CORRUPT ||
        (code == SQLITE_IOERR_DATA && refused != from_.guard().refused());
    in_target_ = !reads;
    return (in_target_ ? to_ : from_).outcome_of(code);
}

ENTITABLE_DECL std::uint64_t page_copy::pages() const noexcept {
    return static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup_));
}

ENTITABLE_DECL std::uint64_t page_copy::copied() const noexcept {
    return pages() - static_cast<std::uint64_t>(sqlite3_backup_remaining(backup_));
}

ENTITABLE_DECL failure page_copy::problem() {
    return in_target_ ? to_.problem("cannot write the copy") : from_.problem("cannot copy the file");
}

ENTITABLE_DECL result<void> page_copy::sync() {
    if (!to_.may_step()) { return problem(); }
    sqlite3_file* file = nullptr;
    sqlite3_file_control(to_.database_, nullptr, SQLITE_FCNTL_FILE_POINTER, &file);
    in_target_ = true;
    return to_.outcome_of(file->pMethods->xSync(file, SQLITE_SYNC_FULL)) == stepped::done ? result<void>{} : problem();
}

ENTITABLE_DECL result<void> page_copy::read_copied(std::uint64_t page, std::vector<char>& into) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(to_.database_, nullptr, SQLITE_FCNTL_FILE_POINTER, &file);
    into.resize(file_format::page_bytes);
    int const code = file->pMethods->xRead(file, into.data(), static_cast<int>(into.size()),
        static_cast<sqlite3_int64>((page - 1) * file_format::page_bytes));
    in_target_ = true;
    return to_.outcome_of(code) == stepped::done ? result<void>{} : problem();
}

/// Walks SQLite's list of free pages: each trunk contains the number of the next trunk, its count of free pages, and their numbers.
ENTITABLE_DECL result<void> page_copy::finish() {
    if (!to_.may_step()) { return problem(); }
    if (unwritten_.empty()) { return {}; }
    constexpr std::size_t first_trunk_at = 32;
    std::sort(unwritten_.begin(), unwritten_.end());
    unwritten_.erase(std::unique(unwritten_.begin(), unwritten_.end()), unwritten_.end());
    std::vector<char> page;
    auto const number_at = [&](std::size_t at) {
        std::uint64_t number = 0;
        for (std::size_t byte = at; byte < at + 4; ++byte) {
            number = number * 256 + static_cast<unsigned char>(page[byte]);
        }
        return number;
    };
    std::uint64_t const all = pages();
    std::uint64_t trunk = 0;
    for (std::uint64_t trunks = 0; trunks == 0 || (trunk != 0 && trunks <= all); ++trunks) {
        if (auto read = read_copied(trunks == 0 ? 1 : trunk, page); !read) { return read; }
        std::uint64_t const next = number_at(trunks == 0 ? first_trunk_at : 0);
        for (std::uint64_t each = 0; trunks != 0 && each < number_at(4) && each < file_format::page_bytes / 4 - 2;
            ++each) {
            auto const found = std::lower_bound(unwritten_.begin(), unwritten_.end(), number_at(8 + each * 4));
            if (found != unwritten_.end() && *found == number_at(8 + each * 4)) { unwritten_.erase(found); }
        }
        trunk = next;
    }
    if (unwritten_.empty()) { return {}; }
    failure failed{error_code::store_corrupt, "cannot copy the file: a page in use contains only zeros"};
    failed.error().detail = text::joined({"page ", std::to_string(unwritten_.front())});
    return failed;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
