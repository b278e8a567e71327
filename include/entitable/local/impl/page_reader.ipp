// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/detail/page_reader.hpp>
#include <entitable/local/impl/row_filter.ipp>
#include <entitable/local/impl/selected_payload.ipp>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void stored_key::convert() {
    for (char const character : view_) {
        if (static_cast<unsigned char>(character) >= 0xEE) {
            copy_ = view_;
            for (char& changed : copy_) {
                changed = static_cast<char>(text::utf16_rank(static_cast<unsigned char>(changed)));
            }
            view_ = copy_;
            return;
        }
    }
}

ENTITABLE_LAZY_BODY void stored_key::fold() {
    copy_ = text::ascii_lower(view_);
    view_ = copy_;
}

ENTITABLE_LAZY_BODY std::string_view unconverted_key(std::string_view bytes, std::string& buffer) {
    bool changed = false;
    for (char const character : bytes.substr(text::ascii_prefix(bytes))) {
        changed = changed || static_cast<unsigned char>(character) >= 0xFE;
    }
    if (!changed) { return bytes; }
    buffer = bytes;
    for (char& character : buffer) {
        if (static_cast<unsigned char>(character) >= 0xFE) {
            character = static_cast<char>(static_cast<unsigned char>(character) - 0x10U);
        }
    }
    return buffer;
}

ENTITABLE_LAZY_BODY std::string make_continuation(std::uint64_t fingerprint, position const& next) {
    part_hash hash{fingerprint};
    hash.add(next.partition);
    hash.add(std::uint64_t{next.row ? 1U : 0U});
    hash.add(next.row ? std::string_view{*next.row} : std::string_view{});
    std::string token;
    token.reserve(20 + 2 * (next.partition.size() + (next.row ? next.row->size() : 0)));
    token = "1!";
    append_hexadecimal(token, hash.value());
    token += '!';
    append_hexadecimal(token, next.partition);
    if (next.row) {
        token += '!';
        append_hexadecimal(token, *next.row);
    }
    return token;
}

ENTITABLE_LAZY_BODY result<position> read_continuation(std::uint64_t fingerprint, std::string_view token) {
    constexpr std::size_t limit = 16 * 1024; // two keys of the largest size of any profile, with some reserve
    constexpr std::size_t keys_at = 19;      // follows "1!", 16 digits and "!"
    if (token.size() > limit) {
        return failure{error_code::continuation_invalid,
            text::joined({"the continuation token is too long: ", std::to_string(token.size()), " bytes; the limit is ",
                std::to_string(limit)})};
    }
    std::string_view const keys = token.substr(token.size() < keys_at ? token.size() : keys_at);
    std::size_t const split = keys.find('!');
    auto partition = from_hexadecimal(keys.substr(0, split));
    position next;
    bool good = partition.has_value();
    if (good && split != std::string_view::npos) {
        next.row = from_hexadecimal(keys.substr(split + 1));
        good = next.row.has_value();
    }
    if (good) {
        next.partition = *std::move(partition);
        good = make_continuation(fingerprint, next) == token;
    }
    if (!good) {
        failure refused{error_code::continuation_invalid,
            "invalid continuation token: pass a token from this query back unchanged, with the same table, "
            "keys, filter and projection"};
        refused.error().detail = text::printable(text::shortened(token));
        return refused;
    }
    return next;
}

ENTITABLE_LAZY_BODY result<page_reader> page_reader::start(query_entities const& request, std::string_view table_key,
    page_limits const& limits, page_visitor const* shown, bool row_keys) {
    page_reader reader{request, limits, shown, row_keys};
    key_interval const& partitions = request.range.partition;
    key_interval const& rows = request.range.row;
    reader.fingerprint_ = fingerprint(request, table_key);
    reader.one_partition_ = partitions.is_point();
    reader.only_keys_ = selects_only_keys(request.select);
    if (partitions.lower.end != key_bound::kind::open) { reader.from_partition_ = stored_key{partitions.lower.key}; }
    if (partitions.lower.end == key_bound::kind::exclusive) {
        reader.from_partition_ += '\0'; // appends the smallest key after it
    }
    if (partitions.upper.end != key_bound::kind::open) {
        reader.last_partition_.emplace(static_cast<std::string_view>(stored_key{partitions.upper.key}));
        reader.last_partition_included_ = partitions.upper.end == key_bound::kind::inclusive;
    }
    if (rows.lower.end != key_bound::kind::open) {
        reader.first_row_ = row_bound{std::string{static_cast<std::string_view>(stored_key{rows.lower.key})},
            rows.lower.end == key_bound::kind::inclusive};
    }
    if (rows.upper.end != key_bound::kind::open) {
        reader.last_row_ = row_bound{std::string{static_cast<std::string_view>(stored_key{rows.upper.key})},
            rows.upper.end == key_bound::kind::inclusive};
    }
    if (request.continuation) {
        ENTITABLE_TRY(auto next, read_continuation(reader.fingerprint_, *request.continuation));
        reader.continued_ = true;
        reader.from_partition_ = std::move(next.partition);
        reader.from_row_ = std::move(next.row).value_or(std::string{});
    }
    if (reader.one_partition_ && reader.first_row_ && reader.from_row_ < reader.first_row_->key) {
        reader.from_row_ = reader.first_row_->key;
    }
    return reader;
}

ENTITABLE_LAZY_BODY scan_range page_reader::range(std::size_t* rows_to_come) const noexcept {
    scan_range made{
        from_partition_, from_row_, last_partition_ ? std::optional<std::string_view>{*last_partition_} : std::nullopt};
    if (one_partition_ && last_row_) { made.last_row = last_row_->key; }
    bool const each_counts = request_->filter.empty() && (!first_row_ || (one_partition_ && first_row_->included));
    std::size_t const most = each_counts && limits_.rows < limits_.examined ? limits_.rows : limits_.examined;
    made.most_rows = most + 1; // the row after them is the start of the next page
    if (one_partition_ && request_->filter.empty()) { made.rows_to_come = rows_to_come; }
    return made;
}

ENTITABLE_LAZY_BODY std::optional<count_range> page_reader::counted(bool without_system_rows) const {
    if (!request_->filter.empty() || continued_ || limits_.behind_last || limits_.with_partition ||
        limits_.shuffled_by != 0) {
        return std::nullopt;
    }
    auto const end_of = [](std::string key, bool included) {
        if (included) { key += '\0'; } // the smallest greater key
        return key;
    };
    count_range made{one_partition_, from_partition_, from_row_, std::nullopt, {}, std::nullopt, without_system_rows};
    if (last_partition_) { made.end_partition = end_of(*last_partition_, last_partition_included_); }
    if (first_row_) { made.first_row = end_of(first_row_->key, !first_row_->included); }
    if (last_row_) { made.end_row = end_of(last_row_->key, last_row_->included); }
    return made;
}

/// Handles the first row of a partition; returns whether its rows belong to the page.
ENTITABLE_LAZY_BODY bool page_reader::enter(std::string_view partition, std::string_view row) {
    if (last_partition_ && !last_partition_included_ && partition == *last_partition_) { return false; }
    if (limits_.with_partition && response_.examined > 0) {
        next_ = position{std::string{partition}, std::nullopt};
        return false;
    }
    if (partition_.size() == partition.size() && !partition.empty()) { // the usual case, and cheaper than an assignment
        std::memcpy(partition_.data(), partition.data(), partition.size());
    } else {
        partition_ = partition;
    }
    std::string_view const shown = shown_key(partition, row_buffer_);
    is_shown_as_stored_ = shown.data() == partition.data();
    if (!is_shown_as_stored_) { shown_partition_ = shown; }
    if (limits_.rows == 0 && continued_ && partition == from_partition_ && row == from_row_) {
        limits_.rows = 1; // a page that returns the token of its own request would be requested forever
    }
    return true;
}

ENTITABLE_LAZY_BODY bool page_reader::end_at(std::string_view partition, std::string_view row) {
    next_ = position{std::string{partition}, std::string{row}};
    return false;
}

ENTITABLE_LAZY_BODY void page_reader::collect(row_view const& whole) {
    constexpr std::size_t some = 32;
    if (rows_ == some) { // a long page grows once, and a short page stays small
        std::size_t const rows = limits_.rows < 1000 ? limits_.rows : 1000;
        std::size_t const bytes = bytes_ / some * (rows + rows / 16);
        response_.rows.reserve(rows, bytes < limits_.bytes ? bytes : limits_.bytes);
    }
    if (request_->select.empty()) {
        response_.rows.append(whole);
    } else if (only_keys_) {
        char header[row_format::header_size]{}; // a payload without properties
        header[0] = static_cast<char>(row_format::version);
        row_format::store(header + row_format::timestamp_offset, whole.timestamp().ticks);
        response_.rows.append({whole.partition_key, whole.row_key, {header, sizeof header}});
    } else {
        response_.rows.append({whole.partition_key, whole.row_key, selected_payload(whole.payload, request_->select)});
    }
    bytes_ = response_.rows.bytes();
}

ENTITABLE_LAZY_BODY std::span<row_view const> page_reader::plain_rows(
    std::span<row_view const> rows, bool checks_keys) {
    if (rows.empty() || limits_.behind_last || !is_shown_as_stored_ || is_before_range(rows.front().row_key) ||
        limits_.examined <= response_.examined || limits_.time->steady() >= limits_.until) {
        return {};
    }
    std::size_t const most = limits_.examined - response_.examined;
    rows = rows.first(most < rows.size() ? most : rows.size());
    if (last_row_ && stands_behind(rows.back().row_key, *last_row_)) { return {}; }
    if (checks_keys) {
        std::uint64_t bits = 0;
        for (row_view const& each : rows) {
            static_cast<void>(text::all_eights(each.row_key, [&](std::uint64_t eight) {
                bits |= eight;
                return true;
            }));
        }
        if ((bits & 0x8080808080808080U) != 0) { return {}; }
    }
    return rows;
}

ENTITABLE_LAZY_BODY std::size_t page_reader::take_plain(std::span<row_view const> rows) {
    if (rows.size() > limits_.rows - rows_) { rows = rows.first(limits_.rows - rows_); }
    rows = plain_rows(rows, row_keys_);
    if (rows.empty()) { return 0; }
    std::size_t bytes = bytes_;
    std::size_t shortest = rows.front().payload.size();
    for (row_view const& each : rows) {
        bytes += each.row_key.size() + each.payload.size();
        shortest = shortest < each.payload.size() ? shortest : each.payload.size();
    }
    if (shortest < row_format::header_size || bytes >= limits_.bytes) { return 0; }
    bytes_ = bytes;
    rows_ += rows.size();
    response_.examined += rows.size();
    return rows.size();
}

ENTITABLE_LAZY_BODY std::size_t page_reader::show_filtered(std::span<row_view const> rows) {
    rows = plain_rows(rows, true); // the filter may compare row keys
    std::size_t at = 0;
    std::size_t accepted = 0; // rows before `at` that are not shown yet
    auto const show = [&] {
        if (accepted > 0) { (*shown_)(rows.subspan(at - accepted, accepted)); }
        accepted = 0;
    };
    for (; at < rows.size(); ++at) {
        row_view const& each = rows[at];
        bool const is_full = rows_ == limits_.rows || (rows_ > 0 && bytes_ >= limits_.bytes);
        if (is_full || each.payload.size() < row_format::header_size) { break; }
        if (!filter_.accepts(each)) {
            show();
            continue;
        }
        bytes_ += each.row_key.size() + each.payload.size();
        ++rows_;
        ++accepted;
    }
    show();
    response_.examined += at;
    return at;
}

ENTITABLE_LAZY_BODY bool page_reader::visit(std::span<row_view const> run) {
    std::size_t at = 0;
    std::string_view const partition = run.front().partition_key;
    if (begins_partition(partition)) { // the first row may be excluded
        row_view const& first = run.front();
        if (!enter(partition, first.row_key) || !visit_row(partition, first.row_key, first.payload)) { return false; }
        if (run.size() == 1) { return true; }
        at = 1;
    }
    if (!request_->filter.empty()) {
        at += show_filtered(run.subspan(at));
    } else if (std::size_t const plain = take_plain(run.subspan(at)); plain > 0) {
        (*shown_)(run.subspan(at, plain));
        at += plain;
    }
    for (; at < run.size(); ++at) {
        if (!visit(partition, run[at].row_key, run[at].payload)) { return false; }
    }
    return true;
}

/// Fisher-Yates shuffle, with a linear congruential generator.
ENTITABLE_LAZY_BODY void page_reader::shuffle() {
    std::vector<std::size_t> order(response_.rows.size());
    for (std::size_t index = 0; index < order.size(); ++index) { order[index] = index; }
    std::uint64_t random = limits_.shuffled_by;
    for (std::size_t left = order.size(); left > 1; --left) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        std::swap(order[left - 1], order[(random >> 33U) % left]);
    }
    page shuffled;
    shuffled.reserve(response_.rows.size(), response_.rows.bytes());
    for (std::size_t const index : order) { shuffled.append(response_.rows[index]); }
    response_.rows = std::move(shuffled);
}

ENTITABLE_LAZY_BODY result<query_entities::response> page_reader::finish() && {
    if (damaged_) { return failure{error_code::row_malformed, "truncated row"}; }
    if (limits_.behind_last && response_.examined > 0) {
        *last_.row += '\0';
        next_ = std::move(last_);
    }
    if (next_) { response_.continuation = make_continuation(fingerprint_, *next_); }
    if (limits_.shuffled_by != 0) { shuffle(); }
    return std::move(response_);
}

ENTITABLE_LAZY_BODY result<read_entities::response> page_reader::finish_shown() && {
    std::uint64_t const shown = rows_;
    ENTITABLE_TRY(auto done, std::move(*this).finish());
    return read_entities::response{std::move(done.continuation), shown, done.examined, false};
}

// ---- tables -----------------------------------------------------------------------------------------

ENTITABLE_LAZY_BODY result<table_reader> table_reader::start(list_tables const& request, page_limits const& limits) {
    table_reader reader;
    reader.rows_ = limits.rows;
    if (request.continuation) {
        ENTITABLE_TRY(auto next, read_continuation(fingerprint_of_tables, *request.continuation));
        reader.continued_ = true;
        reader.from_ = std::move(next.partition);
    }
    return reader;
}

ENTITABLE_LAZY_BODY bool table_reader::visit(std::string_view key, std::string_view shown_name) {
    if (rows_ == 0 && continued_ && key == from_) {
        rows_ = 1; // as with rows, a page never returns its own token
    }
    if (response_.tables.size() == rows_) {
        response_.continuation = make_continuation(fingerprint_of_tables, {std::string{key}, std::nullopt});
        return false;
    }
    response_.tables.emplace_back(shown_name);
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
