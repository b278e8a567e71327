// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads one page.

#include <entitable/core/clock.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/text.hpp>
#include <entitable/local/detail/row_filter.hpp>
#include <entitable/local/ordered_store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A key as bytes whose memcmp order is the service's order of keys (UTF-16 code units): the lead bytes EE and EF become FE and FF, which
/// do not occur in valid UTF-8. Most keys need no copy; this object is then valid as long as the key.
class stored_key {
public:
    enum folding : std::uint8_t { folded };

    explicit stored_key(std::string_view key)
        : view_(key),
          is_ascii_(text::all_eights(key, [](std::uint64_t eight) { return (eight & 0x8080808080808080U) == 0; })) {
        if (!is_ascii_) { convert(); }
    }
    /// Stores the name of a table, ignoring case.
    stored_key(folding, std::string_view table) : view_(table) {
        // Among letters and digits, only capitals have the bit 0x40 without the bit 0x20.
        if (!text::all_eights(
                table, [](std::uint64_t eight) { return (eight & ~(eight << 1U) & 0x4040404040404040U) == 0; })) {
            fold();
        }
    }
    stored_key(stored_key const&) = delete;
    stored_key& operator=(stored_key const&) = delete;

    operator std::string_view() const noexcept { return view_; }
    /// Whether it is a key of ASCII characters.
    [[nodiscard]] bool is_ascii() const noexcept { return is_ascii_; }

private:
    ENTITABLE_LAZY void convert();
    ENTITABLE_LAZY void fold();

    std::string copy_;
    std::string_view view_;
    bool is_ascii_{};
};

ENTITABLE_LAZY [[nodiscard]] std::string_view unconverted_key(std::string_view bytes, std::string& buffer);
/// Returns the key that was stored as `bytes`; `buffer` holds it if it had to be changed.
[[nodiscard]] inline std::string_view shown_key(std::string_view bytes, std::string& buffer) {
    bool const ascii = text::all_eights(bytes, [](std::uint64_t eight) { return (eight & 0x8080808080808080U) == 0; });
    return ascii ? bytes : unconverted_key(bytes, buffer);
}

/// The position that a token represents, in stored bytes.
struct position {
    std::string partition;
    std::optional<std::string> row;
};

/// Takes the place of a query's `fingerprint` for lists of tables.
inline constexpr std::uint64_t fingerprint_of_tables = 0x7461'626c'6573'0001;

ENTITABLE_LAZY [[nodiscard]] std::string make_continuation(std::uint64_t fingerprint, position const& next);

/// Parses a token. Errors: ContinuationInvalid unless `make_continuation` made it for the same query.
ENTITABLE_LAZY [[nodiscard]] result<position> read_continuation(std::uint64_t fingerprint, std::string_view token);

/// The limits of a page, in addition to its range.
struct page_limits {
    std::size_t rows;     ///< ends after this many rows; 0 makes an empty page, unless the token would not advance
    std::size_t bytes;    ///< ends once its rows have this many bytes
    std::size_t examined; ///< ends once this many rows were examined
    clock* time;
    steady_time until;           ///< ends at this time
    bool with_partition{};       ///< ends after the last row of a partition
    bool behind_last{};          ///< the token contains the smallest key after the last row, not the next key
    std::uint64_t shuffled_by{}; ///< shuffles the rows by this number if it is not 0
};

/// Collects the rows of one page while a store visits them.
class page_reader {
public:
    /// Starts a page. Errors: ContinuationInvalid if the request's token was not issued for this query. With `shown`, rows are passed to it
    /// instead of being collected; without `row_keys`, row keys are not checked.
    ENTITABLE_LAZY [[nodiscard]] static result<page_reader> start(query_entities const& request,
        std::string_view table_key, page_limits const& limits, page_visitor const* shown = nullptr,
        bool row_keys = true);

    ENTITABLE_LAZY [[nodiscard]] scan_range range(std::size_t* rows_to_come = nullptr) const noexcept;
    /// Returns the range of the request as a store counts it; nothing if rows are filtered, or pages are made small for tests.
    ENTITABLE_LAZY [[nodiscard]] std::optional<count_range> counted(bool without_system_rows) const;
    /// Visits one row in stored form; returns whether to continue.
    [[nodiscard]] bool visit(std::string_view partition, std::string_view row, std::string_view payload) {
        if (begins_partition(partition) && !enter(partition, row)) { return false; }
        return visit_row(partition, row, payload);
    }
    /// Visits consecutive rows of one partition, in stored form, and passes them to `shown`; returns whether to continue.
    ENTITABLE_LAZY [[nodiscard]] bool visit(std::span<row_view const> run);
    ENTITABLE_LAZY [[nodiscard]] result<query_entities::response> finish() &&;
    /// Returns the response if rows were passed to `shown`.
    ENTITABLE_LAZY [[nodiscard]] result<read_entities::response> finish_shown() &&;

private:
    /// A bound of row keys in stored bytes.
    struct row_bound {
        std::string key;
        bool included;
    };

    page_reader(query_entities const& request, page_limits const& limits, page_visitor const* shown, bool row_keys)
        : request_(&request), shown_(shown), row_keys_(row_keys), limits_(limits), filter_(request.filter) {}
    /// Whether a row of this partition is the first of another partition than the one being read.
    [[nodiscard]] bool begins_partition(std::string_view partition) const noexcept {
        return response_.examined == 0 || (!one_partition_ && !text::are_equal(partition, partition_));
    }
    ENTITABLE_LAZY [[nodiscard]] bool enter(std::string_view partition, std::string_view row);
    /// Visits one row of the partition that was entered.
    [[nodiscard]] bool visit_row(std::string_view partition, std::string_view row, std::string_view payload) {
        bool const before = is_before_range(row);
        bool const behind = last_row_ && stands_behind(row, *last_row_);
        if (behind && one_partition_) { return false; }
        if (is_full()) { return end_at(partition, row); }
        ++response_.examined;
        if (limits_.behind_last) { last_ = position{partition_, std::string{row}}; }
        if (before || behind) { return true; }
        if (payload.size() < row_format::header_size) {
            damaged_ = true;
            return false;
        }
        row_view const whole{shown_partition(), shown_key(row, row_buffer_), payload};
        if (!request_->filter.empty() && !filter_.accepts(whole)) { return true; }
        if (shown_ != nullptr) {
            bytes_ += row.size() + payload.size();
            (*shown_)({&whole, 1});
        } else {
            collect(whole);
        }
        ++rows_;
        return true;
    }
    /// Returns the leading rows that are in the range of the page and are shown as they are stored; none if each row must be checked. The
    /// page may take only some of these rows.
    ENTITABLE_LAZY [[nodiscard]] std::span<row_view const> plain_rows(std::span<row_view const> rows, bool checks_keys);
    /// Counts the leading rows that belong to the page, without a filter. Returns 0 if each row must be checked.
    ENTITABLE_LAZY [[nodiscard]] std::size_t take_plain(std::span<row_view const> rows);
    /// With a filter: passes those of the leading rows that belong to the page to `shown`; returns how many rows it examined.
    ENTITABLE_LAZY [[nodiscard]] std::size_t show_filtered(std::span<row_view const> rows);
    [[nodiscard]] bool is_full() const noexcept {
        std::uint64_t const examined = response_.examined;
        return rows_ == limits_.rows || (examined > 0 && examined >= limits_.examined) ||
            (rows_ > 0 && bytes_ >= limits_.bytes) || (examined % 64 == 63 && limits_.time->steady() >= limits_.until);
    }
    /// Sets the start of the next page to this row; returns false.
    ENTITABLE_LAZY [[nodiscard]] bool end_at(std::string_view partition, std::string_view row);
    /// Whether a row key is past a bound. Usually the first byte decides, as for the bound before system rows.
    [[nodiscard]] static bool stands_behind(std::string_view row, row_bound const& last) noexcept {
        if (!row.empty() && !last.key.empty() && row.front() != last.key.front()) {
            return static_cast<unsigned char>(row.front()) > static_cast<unsigned char>(last.key.front());
        }
        return last.included ? row > last.key : row >= last.key;
    }
    /// Whether a row key is before the range of row keys. In one partition the range begins with the first row.
    [[nodiscard]] bool is_before_range(std::string_view row) const noexcept {
        return first_row_ && (!one_partition_ || !first_row_->included) &&
            (first_row_->included ? row < first_row_->key : row <= first_row_->key);
    }
    [[nodiscard]] std::string_view shown_partition() const noexcept {
        return is_shown_as_stored_ ? partition_ : shown_partition_;
    }
    ENTITABLE_LAZY void collect(row_view const& whole);
    ENTITABLE_LAZY void shuffle();

    query_entities const* request_;
    page_visitor const* shown_;
    bool row_keys_;    ///< row keys are checked
    bool only_keys_{}; ///< no property is selected
    page_limits limits_;
    row_filter filter_;
    std::uint64_t fingerprint_{};
    bool one_partition_{};
    bool last_partition_included_{true};
    bool continued_{};
    std::string from_partition_;
    std::string from_row_;
    std::optional<std::string> last_partition_;
    std::optional<row_bound> first_row_;
    std::optional<row_bound> last_row_;

    std::string partition_;       ///< the partition being read, in stored bytes
    std::string shown_partition_; ///< as it is shown, unless `is_shown_as_stored_`
    bool is_shown_as_stored_{};
    std::string row_buffer_;
    position last_; ///< the last examined row, if limits_.behind_last
    std::optional<position> next_;
    bool damaged_{};
    std::size_t rows_{};  ///< rows collected or passed on
    std::size_t bytes_{}; ///< bytes of those rows
    query_entities::response response_;
};

/// Collects the names of one page of a list of tables.
class table_reader {
public:
    /// Starts a page. Errors: ContinuationInvalid if the request's token was not issued by a list of tables.
    ENTITABLE_LAZY [[nodiscard]] static result<table_reader> start(
        list_tables const& request, page_limits const& limits);

    [[nodiscard]] std::string_view from() const noexcept { return from_; }
    ENTITABLE_LAZY [[nodiscard]] bool visit(std::string_view key, std::string_view shown_name);
    [[nodiscard]] list_tables::response finish() && { return std::move(response_); }

private:
    table_reader() = default;

    std::size_t rows_{};
    bool continued_{};
    std::string from_;
    list_tables::response response_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/impl/page_reader.ipp>
#endif
