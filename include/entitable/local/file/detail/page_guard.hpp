// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A checksum at the end of each page of a file. A page changed by the disk is detected when it is read, so that a search or a scan of
/// damaged pages fails instead of finding fewer rows.

#include <entitable/core/row/format.hpp>
#include <entitable/local/file/detail/wait_budget.hpp>

#include <cstdint>
#include <memory>
#include <vector>

struct sqlite3;
struct sqlite3_file;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

namespace file_format {

/// SQLite's 4 KiB would be too small: a row of 1 KB would take a page in addition to its leaf of the tree.
inline constexpr std::size_t page_bytes = 8192;
/// Bytes at the end of each page that SQLite does not use (its "reserved space").
inline constexpr std::size_t page_checksum_bytes = 8;
inline constexpr std::int64_t application_id = 0x656E7462; ///< "entb"

} // namespace file_format

/// The checksum of a page, including its number in the file, from 1. Protects against accidents, not against attackers.
class page_hash {
public:
    /// Returns the checksum. Four lanes process two words at a time; the number of the page takes the place of the checksum.
    [[nodiscard]] static std::uint64_t of(char const* page, std::uint64_t number) noexcept {
        using row_format::load;
        std::uint64_t lanes[4] = {prime1, prime2, prime3, prime4};
        char const* const last = page + file_format::page_bytes - 64;
        for (; page != last; page += 64) {
            lanes[0] = mixed(lanes[0] ^ load<std::uint64_t>(page), prime2 ^ load<std::uint64_t>(page + 8));
            lanes[1] = mixed(lanes[1] ^ load<std::uint64_t>(page + 16), prime3 ^ load<std::uint64_t>(page + 24));
            lanes[2] = mixed(lanes[2] ^ load<std::uint64_t>(page + 32), prime4 ^ load<std::uint64_t>(page + 40));
            lanes[3] = mixed(lanes[3] ^ load<std::uint64_t>(page + 48), prime1 ^ load<std::uint64_t>(page + 56));
        }
        lanes[0] = mixed(lanes[0] ^ load<std::uint64_t>(page), prime2 ^ load<std::uint64_t>(page + 8));
        lanes[1] = mixed(lanes[1] ^ load<std::uint64_t>(page + 16), prime3 ^ load<std::uint64_t>(page + 24));
        lanes[2] = mixed(lanes[2] ^ load<std::uint64_t>(page + 32), prime4 ^ load<std::uint64_t>(page + 40));
        lanes[3] = mixed(lanes[3] ^ load<std::uint64_t>(page + 48), prime1 ^ number);
        return mixed(mixed(lanes[0] ^ prime1, lanes[1]), mixed(lanes[2] ^ prime3, lanes[3]));
    }

private:
    // Odd constants with irregular bits, from XXH64.
    static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87U;
    static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FU;
    static constexpr std::uint64_t prime3 = 0x165667B19E3779F9U;
    static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63U;

    /// Returns the two halves of the product, xored: each bit of either factor affects most bits.
    [[nodiscard]] static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
        __extension__ using wide = unsigned __int128;
        wide const product = static_cast<wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
#else
        std::uint64_t const a0 = a & 0xFFFFFFFFU;
        std::uint64_t const a1 = a >> 32U;
        std::uint64_t const b0 = b & 0xFFFFFFFFU;
        std::uint64_t const b1 = b >> 32U;
        std::uint64_t const middle = (a0 * b0 >> 32U) + (a1 * b0 & 0xFFFFFFFFU) + a0 * b1;
        return (a * b) ^ (a1 * b1 + (a1 * b0 >> 32U) + (middle >> 32U));
#endif
    }
};

/// Sits between a connection and its file: adds the checksum to each page that is written to the file, and refuses, with SQLITE_IOERR_DATA,
/// a page that is read without its checksum. Outlives the connection. The log does not need checksums: see docs/stored_formats.md.
class page_guard {
public:
    page_guard() = default;
    /// Guards a connection that was just opened and not used yet. The guard is on if the file is empty or has a header of this library;
    /// otherwise no page is checked or changed.
    explicit page_guard(sqlite3* database);

    /// Reads the file's header again. Returns an SQLite error code if the file cannot be read.
    [[nodiscard]] int look() noexcept;
    /// Switches the guard on, for a file that is being created.
    void switch_on() noexcept;
    [[nodiscard]] bool on() const noexcept;
    /// Returns the number of the last page that was refused; 0 if there is none.
    [[nodiscard]] std::uint64_t refused() const noexcept;
    /// Accepts pages that were never written, and adds their numbers to `into`, until it is set to null. Such a page contains only zeros,
    /// or is after the end of the file; the caller must check that it is not in use.
    void pass_unwritten(std::vector<std::uint64_t>* into) noexcept;
    /// Interrupts reads of pages once the call has ended; null ends this. Adding up the rows of all pages calls no progress handler.
    void watch_call(wait_budget const* of) noexcept;
    /// Returns the file, as SQLite sees it.
    [[nodiscard]] sqlite3_file* file() const noexcept;

private:
    struct methods;
    struct methods_end {
        void operator()(methods* one) const noexcept;
    };
    std::unique_ptr<methods, methods_end> methods_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/page_guard.ipp>
#endif
