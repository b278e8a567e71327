// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a change log: entries and heads, version 1.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/log/logged_changes.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/row/system_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The most bytes of row keys in one property of an entry: not more UTF-16 units than a property may have.
inline constexpr std::size_t most_log_text = 32'768;

/// The head of a lane: the number of the last entry. All writers of the lane replace it under its version.
struct log_head {
    std::int64_t number{};
    guid log{};                                   ///< the log of the writer that has replaced it
    etag version;                                 ///< empty without a head
    std::int64_t announced{};                     ///< changes up to this number are announced
    steady_time written_at{(steady_time::min)()}; ///< when this program wrote it, if changes are announced
};

/// The entry of a transaction in one lane, as it is written.
struct log_entry {
    std::uint32_t lane{};
    std::int64_t number{};
    std::int64_t previous{}; ///< the number of the entry before it
    guid id{};
    std::string rows;         ///< "w" or "r" and the row key, separated by a slash, which no key can contain
    bool is_void{};           ///< whether nothing was changed
    std::int64_t announced{}; ///< for the head: changes up to this number are announced; 0 without announcements
    etag replaced{};          ///< version of the head before the entry; empty without a head
};

/// Returns a value that refers to the bytes of an id.
[[nodiscard]] inline value_view value_of_guid(guid const& id) noexcept {
    return {edm_type::guid, std::string_view{reinterpret_cast<char const*>(id.bytes.data()), id.bytes.size()}};
}

/// Returns the lane of a row.
[[nodiscard]] std::uint32_t log_lane_of(std::string_view row_key, std::size_t lanes) noexcept;
/// The row key of an entry or a head.
class log_key {
public:
    [[nodiscard]] std::string_view view() const noexcept { return {text_, size_}; }
    operator std::string_view() const noexcept { return view(); }
    [[nodiscard]] std::string to_string() const { return std::string{view()}; }
    void append(std::string_view more) noexcept {
        more.copy(text_ + size_, more.size());
        size_ += more.size();
    }

private:
    char text_[32]{};
    std::size_t size_{};
};
/// Returns the row key of the entry with this number.
[[nodiscard]] log_key log_entry_key(std::size_t lanes, std::uint32_t lane, std::int64_t number);
/// Returns the row key of a head, which sorts after the entries of its lane.
[[nodiscard]] log_key log_head_key(std::size_t lanes, std::uint32_t lane);

/// Returns how many bytes of a transaction to leave to the log, at most half of them: an upper bound for the rows of the log if this many
/// entities are changed.
[[nodiscard]] std::size_t log_bytes(profile const& limits, std::size_t changes, std::size_t lanes) noexcept;

[[nodiscard]] row log_entry_row(std::string_view partition_key, std::string_view row_key, log_entry const& entry);
[[nodiscard]] row log_head_row(std::string_view partition_key, std::string_view row_key, std::int64_t number,
    guid const& log, std::int64_t announced = 0);

/// Reads a head. Errors: RowMismatch.
[[nodiscard]] result<log_head> read_log_head(row_view stored);
/// An entry as it was read.
struct stored_log_entry {
    std::int64_t previous{};
    bool is_void{};
    logged_change change;
};
/// Reads an entry of a lane. Errors: RowMismatch.
[[nodiscard]] result<stored_log_entry> read_log_entry(row_view stored, std::uint32_t lane);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/log/impl/log_rows.ipp>
#endif

#endif
