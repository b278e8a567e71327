// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/local/file/detail/page_guard.hpp>

#include <sqlite3.h>

#include <cstring>

#if SQLITE_VERSION_NUMBER < 3032000
#error "entitable/file.hpp needs SQLite 3.32.0 or newer"
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The methods of the file, with reads and writes replaced: the file itself is still the file that SQLite opened, and all other methods are
/// called as before.
struct page_guard::methods : sqlite3_io_methods {
    explicit methods(sqlite3_file& file) : sqlite3_io_methods(*file.pMethods), below_(file.pMethods), file_(file) {
        xRead = read;
        xWrite = write;
        xDeviceCharacteristics = characteristics;
        file.pMethods = this;
    }

    int look() noexcept {
        sqlite3_int64 size = 0;
        char header[100];
        int code = below_->xFileSize(&file_, &size);
        if (code == SQLITE_OK && size >= static_cast<sqlite3_int64>(sizeof header)) {
            code = below_->xRead(&file_, header, sizeof header, 0);
        }
        if (code == SQLITE_OK) {
            on = on || size == 0 || (size >= static_cast<sqlite3_int64>(sizeof header) && is_ours(header));
        }
        return code;
    }

    [[nodiscard]] sqlite3_file& file() const noexcept { return file_; }

    bool on{false};
    std::uint64_t refused{0};
    std::vector<std::uint64_t>* unwritten{nullptr};
    wait_budget const* watched{nullptr};

private:
    /// The fields of SQLite's header, in its byte order.
    static bool is_ours(char const* header) noexcept {
        constexpr std::size_t page_size_at = 16;
        constexpr std::size_t reserved_at = 20;
        constexpr std::size_t application_at = 68;
        auto const number = [&](std::size_t at, std::size_t bytes) {
            std::size_t value = 0;
            for (std::size_t index = 0; index < bytes; ++index) {
                value = value * 256 + static_cast<unsigned char>(header[at + index]);
            }
            return value;
        };
        return number(page_size_at, 2) == file_format::page_bytes &&
            number(reserved_at, 1) == file_format::page_checksum_bytes &&
            number(application_at, 4) == static_cast<std::size_t>(file_format::application_id);
    }
    /// Returns null unless a whole page is read or written.
    static methods* guard_of(sqlite3_file* file, int size) noexcept {
        auto* const guard = const_cast<methods*>(static_cast<methods const*>(file->pMethods));
        return guard->on && size == static_cast<int>(file_format::page_bytes) ? guard : nullptr;
    }
    static std::uint64_t number_of(sqlite3_int64 offset) noexcept {
        return static_cast<std::uint64_t>(offset) / file_format::page_bytes + 1;
    }
    static constexpr std::size_t checksum_at = file_format::page_bytes - file_format::page_checksum_bytes;

    static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
        int const code = static_cast<methods const*>(file->pMethods)->below_->xRead(file, out, size, offset);
        methods* const guard = guard_of(file, size);
        if (guard == nullptr) { return code; }
        if (guard->watched != nullptr && guard->watched->call_over()) { return SQLITE_INTERRUPT; }
        auto const* const page = static_cast<char const*>(out);
        std::uint64_t const number = number_of(offset);
        if (code == SQLITE_IOERR_SHORT_READ && guard->unwritten != nullptr) { return guard->pass(number, code); }
        if (code != SQLITE_OK) { return code; }
        if (row_format::load<std::uint64_t>(page + checksum_at) == page_hash::of(page, number)) { return SQLITE_OK; }
        if (guard->unwritten != nullptr && is_empty(page)) { return guard->pass(number, SQLITE_OK); }
        guard->refused = number;
        return SQLITE_IOERR_DATA;
    }
    static bool is_empty(char const* page) noexcept {
        return page[0] == 0 && std::memcmp(page, page + 1, file_format::page_bytes - 1) == 0;
    }
    int pass(std::uint64_t number, int code) noexcept {
#if ENTITABLE_HAS_EXCEPTIONS
        try {
#endif
            unwritten->push_back(number);
#if ENTITABLE_HAS_EXCEPTIONS
        } catch (...) { return SQLITE_IOERR_NOMEM; }
#endif
        return code;
    }
    static int write(sqlite3_file* file, void const* bytes, int size, sqlite3_int64 offset) {
        if (guard_of(file, size) != nullptr) {
            // Writes to SQLite's own memory, where these bytes are unused: copying the page would cost as much as its checksum.
            char* const page = static_cast<char*>(const_cast<void*>(bytes));
            row_format::store(page + checksum_at, page_hash::of(page, number_of(offset)));
        }
        return static_cast<methods const*>(file->pMethods)->below_->xWrite(file, bytes, size, offset);
    }
    /// Reports that only whole pages are written.
    static int characteristics(sqlite3_file* file) {
        int const all = static_cast<methods const*>(file->pMethods)->below_->xDeviceCharacteristics(file);
#if defined(SQLITE_IOCAP_SUBPAGE_READ)
        return all & ~SQLITE_IOCAP_SUBPAGE_READ;
#else
        return all;
#endif
    }

    sqlite3_io_methods const* below_;
    sqlite3_file& file_;
};

ENTITABLE_DECL void page_guard::methods_end::operator()(methods* one) const noexcept { delete one; }

ENTITABLE_DECL page_guard::page_guard(sqlite3* database) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(database, nullptr, SQLITE_FCNTL_FILE_POINTER, &file);
    methods_.reset(new methods{*file});
}
ENTITABLE_DECL int page_guard::look() noexcept { return methods_->look(); }
ENTITABLE_DECL void page_guard::switch_on() noexcept { methods_->on = true; }
ENTITABLE_DECL void page_guard::pass_unwritten(std::vector<std::uint64_t>* into) noexcept {
    methods_->unwritten = into;
}
ENTITABLE_DECL void page_guard::watch_call(wait_budget const* of) noexcept {
    if (methods_) { methods_->watched = of; }
}
ENTITABLE_DECL bool page_guard::on() const noexcept { return methods_ && methods_->on; }
ENTITABLE_DECL sqlite3_file* page_guard::file() const noexcept { return methods_ ? &methods_->file() : nullptr; }
ENTITABLE_DECL std::uint64_t page_guard::refused() const noexcept { return methods_ ? methods_->refused : 0; }

} // namespace detail
ENTITABLE_END_NAMESPACE
