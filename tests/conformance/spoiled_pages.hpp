// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Queries with a defect: a second, simple implementation of filters, key ranges, order, pages and tokens over all rows of a table.

#include "spoiled_rows.hpp"

#include <algorithm>

namespace entitable_test {

/// Answers queries from all rows of a table.
class spoiled_pages {
public:
    explicit spoiled_pages(defect what) : what_(what) {}

    [[nodiscard]] result<query_entities::response> answer(query_entities const& asked, std::vector<row> rows) const {
        std::erase_if(rows, [&](row const& each) { return !is_in_range(asked.range, each); });
        std::sort(rows.begin(), rows.end(), [this](row const& left, row const& right) {
            int const partition = compare_keys(left.partition_key(), right.partition_key());
            return (partition != 0 ? partition : compare_keys(left.row_key(), right.row_key())) < 0;
        });
        std::size_t at = 0;
        if (asked.continuation) {
            auto const place = opened(*asked.continuation, query_seal(asked));
            if (!place && what_ != defect::damaged_tokens_are_taken) {
                return failure{error_code::continuation_invalid, "a token from a different query"};
            }
            at = place ? index_of(*place, rows) : 0;
        }
        query_entities::response made;
        std::size_t const size = asked.page_size + (what_ == defect::page_is_too_large ? 1U : 0U);
        for (; at < rows.size() && made.rows.size() < size; ++at) {
            row_view const each = rows[at];
            bool const filtered_late = what_ == defect::projection_comes_before_the_filter;
            row const shown = selected(each, asked.select);
            bool const filter_lost = what_ == defect::filter_is_lost_on_page_two && asked.continuation;
            if (!filter_lost && !accepts(asked.filter, filtered_late ? shown.view() : each)) { continue; }
            made.rows.append(shown);
            if (what_ == defect::rows_come_twice && made.rows.size() < size) { made.rows.append(shown); }
        }
        bool const over = at == rows.size() ||
            (what_ == defect::pages_end_with_their_partition && at > 0 &&
                rows[at].partition_key() != rows[at - 1].partition_key());
        if (!over || what_ == defect::pages_have_no_end) {
            made.continuation = sealed(place_of(at, rows), query_seal(asked));
        }
        return made;
    }

private:
    // ---- key ranges ----

    [[nodiscard]] bool is_in_range(key_range const& range, row_view each) const {
        if (range.partition.is_point() && what_ == defect::partition_is_a_prefix) {
            return each.partition_key.starts_with(range.partition.lower.key) && contains(range.row, each.row_key);
        }
        bool const any_partition =
            range.partition.is_point() && range.partition.lower.key.empty() && what_ == defect::empty_partition_is_any;
        bool const any_row = !range.partition.is_point() && what_ == defect::row_bounds_in_one_partition_only;
        return (any_partition || contains(range.partition, each.partition_key)) &&
            (any_row || contains(range.row, each.row_key));
    }
    [[nodiscard]] bool contains(key_interval const& interval, std::string_view key) const {
        using end = key_bound::kind;
        auto const is_open = [this](key_bound const& bound) {
            return bound.end == end::open || (bound.key.empty() && what_ == defect::bound_at_the_empty_key_is_none);
        };
        int const above = text::compare_utf16(key, interval.lower.key);
        int const below = text::compare_utf16(interval.upper.key, key);
        bool const lower_has = interval.lower.end == end::inclusive ? what_ != defect::lower_bound_loses_its_key
                                                                    : what_ == defect::lower_bound_keeps_its_key;
        bool const upper_has = interval.upper.end == end::inclusive ? what_ != defect::upper_bound_loses_its_key
                                                                    : what_ == defect::upper_bound_keeps_its_key;
        return (is_open(interval.lower) || above > 0 || (above == 0 && lower_has)) &&
            (is_open(interval.upper) || below > 0 || (below == 0 && upper_has));
    }
    [[nodiscard]] int compare_keys(std::string_view left, std::string_view right) const {
        switch (what_) {
            case defect::keys_in_the_order_of_bytes: return left.compare(right);
            case defect::results_in_reverse_order: return text::compare_utf16(right, left);
            case defect::keys_in_the_order_of_a_language: {
                int const folded = text::compare_utf16(text::ascii_lower(left), text::ascii_lower(right));
                return folded != 0 ? folded : text::compare_utf16(left, right);
            }
            default: return text::compare_utf16(left, right);
        }
    }

    // ---- filters ----

    /// One, zero, or a half for NULL in SQL.
    [[nodiscard]] double compared(row_view each, filter_node const& node) const {
        std::optional<value_view> found;
        if (node.name == "PartitionKey") {
            found = value_view{each.partition_key};
        } else if (node.name == "RowKey") {
            found = value_view{each.row_key};
        } else if (node.name == "Timestamp") {
            found = value_view{each.timestamp()};
        } else {
            found = property(each, node.name);
        }
        value_view const operand = node.operand;
        bool const unequal = node.operation == filter_operator::not_equal;
        if (!found) {
            switch (what_) {
                case defect::absent_is_not_equal: return unequal ? 1 : 0;
                case defect::absent_is_less: return node.operation == filter_operator::less ? 1 : 0;
                case defect::not_has_three_values: return 0.5;
                default: return 0;
            }
        }
        if (found->type() != operand.type()) {
            auto const left = number(*found);
            auto const right = number(operand);
            if (what_ != defect::numbers_of_other_types_are_compared || !left || !right) { return 0; }
            return holds(node.operation, compare_values(value_view{*left}, value_view{*right})) ? 1 : 0;
        }
        return holds(node.operation, order_of(*found, operand, node.name == "Timestamp")) ? 1 : 0;
    }
    [[nodiscard]] std::optional<value_view> property(row_view each, std::string const& name) const {
        auto found = each.find(name);
        if (!found && what_ == defect::filter_names_without_case) {
            property_cursor cursor{each.payload};
            for (property_view held; !found && cursor.next(held);) {
                if (held.present && text::ascii_lower(held.name) == text::ascii_lower(name)) { found = held.value; }
            }
        }
        return found;
    }
    [[nodiscard]] static std::optional<double> number(value_view held) {
        switch (held.type()) {
            case edm_type::int32:
            case edm_type::int64: return static_cast<double>(held.bits());
            case edm_type::float64: return held.as_float64();
            default: return std::nullopt;
        }
    }
    [[nodiscard]] ordering order_of(value_view left, value_view right, bool is_timestamp) const {
        auto const as_text = [](auto const& change, value_view ours, value_view theirs) {
            std::string const first = change(ours.bytes());
            std::string const second = change(theirs.bytes());
            return compare_values(value_view{std::string_view{first}}, value_view{std::string_view{second}});
        };
        switch (left.type()) {
            case edm_type::string:
                if (what_ == defect::filtered_text_without_case) {
                    return as_text([](std::string_view bytes) { return text::ascii_lower(bytes); }, left, right);
                }
                if (what_ == defect::filtered_text_without_trailing_blanks) {
                    return as_text(without_trailing_blanks, left, right);
                }
                if (what_ == defect::filtered_text_by_bytes) {
                    int const order = left.bytes().compare(right.bytes());
                    return order < 0 ? ordering::less : order > 0 ? ordering::greater : ordering::equal;
                }
                break;
            case edm_type::int64:
                if (what_ == defect::filtered_int64_through_a_double) {
                    return compare_values(value_view{*number(left)}, value_view{*number(right)});
                }
                if (what_ == defect::filtered_int64_as_text) {
                    std::string const first = std::to_string(left.as_int64());
                    std::string const second = std::to_string(right.as_int64());
                    return compare_values(value_view{std::string_view{first}}, value_view{std::string_view{second}});
                }
                break;
            case edm_type::float64:
                if (what_ == defect::nan_equals_itself && std::isnan(left.as_float64()) &&
                    std::isnan(right.as_float64())) {
                    return ordering::equal;
                }
                break;
            case edm_type::date_time:
                if (what_ == defect::timestamp_filter_in_seconds && is_timestamp) {
                    return compare_values(value_view{left.as_date_time().ticks / date_time::ticks_per_second},
                        value_view{right.as_date_time().ticks / date_time::ticks_per_second});
                }
                break;
            default: break;
        }
        return compare_values(left, right);
    }
    [[nodiscard]] bool accepts(filter const& condition, row_view each) const {
        std::vector<double> stack;
        bool const swapped = what_ == defect::connectives_are_swapped;
        for (filter_node const& node : condition.nodes) {
            if (is_comparison(node.operation)) {
                stack.push_back(compared(each, node));
            } else if (node.operation == filter_operator::negation) {
                stack.back() = what_ == defect::negation_is_lost ? stack.back() : 1 - stack.back();
            } else {
                double const right = stack.back();
                stack.pop_back();
                bool const both = (node.operation == filter_operator::all_of) != swapped;
                stack.back() = both ? std::min(stack.back(), right) : std::max(stack.back(), right);
            }
        }
        return stack.empty() || stack.back() > 0.5;
    }

    // ---- tokens ----

    [[nodiscard]] static std::string hexadecimal(std::string_view bytes) {
        std::string out;
        for (char const character : bytes) {
            auto const byte = static_cast<unsigned char>(character);
            out += "0123456789abcdef"[byte >> 4U];
            out += "0123456789abcdef"[byte & 15U];
        }
        return out;
    }
    [[nodiscard]] static std::string bytes_of(std::string_view digits) {
        std::string out;
        for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
            out += static_cast<char>(std::stoi(std::string{digits.substr(at, 2)}, nullptr, 16));
        }
        return out;
    }
    /// The content of a token except its seal: a number of rows, or the keys of a row.
    [[nodiscard]] std::string place_of(std::size_t at, std::vector<row> const& rows) const {
        if (what_ == defect::tokens_count_rows || at == rows.size()) { return std::to_string(at); }
        bool const names_last =
            what_ == defect::token_needs_the_last_row || what_ == defect::row_at_the_edge_comes_twice;
        row const& named = rows[names_last ? at - 1 : at];
        return "k" + hexadecimal(named.partition_key()) + "." + hexadecimal(named.row_key());
    }
    [[nodiscard]] std::size_t index_of(std::string const& place, std::vector<row> const& rows) const {
        if (place.front() != 'k') { return std::min<std::size_t>(std::stoul(place), rows.size()); }
        std::size_t const dot = place.find('.');
        std::string const partition_key = bytes_of(std::string_view{place}.substr(1, dot - 1));
        std::string const row_key = bytes_of(std::string_view{place}.substr(dot + 1));
        for (std::size_t at = 0; at < rows.size(); ++at) {
            int const partition = compare_keys(rows[at].partition_key(), partition_key);
            int const order = partition != 0 ? partition : compare_keys(rows[at].row_key(), row_key);
            if (what_ == defect::token_needs_the_last_row ? order == 0 : order >= 0) {
                bool const gone = what_ == defect::token_needs_the_next_row && order > 0;
                return gone ? rows.size() : what_ == defect::token_needs_the_last_row ? at + 1 : at;
            }
        }
        return what_ == defect::token_needs_the_last_row ? 0 : rows.size();
    }
    [[nodiscard]] static std::string seal_of(std::string_view sealed_text) {
        std::uint64_t hash = 14695981039346656037U;
        for (char const character : sealed_text) {
            hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211U;
        }
        return std::to_string(hash);
    }
    [[nodiscard]] std::string query_seal(query_entities const& asked) const {
        if (what_ == defect::tokens_of_other_queries_are_taken) { return {}; }
        return text::ascii_lower(asked.table) + "\n" + asked.range.to_string() + "\n" + asked.filter.to_string();
    }
    [[nodiscard]] std::string sealed(std::string const& place, std::string const& query) const {
        std::string const start = what_ == defect::tokens_are_not_printable ? "\x01" : "t";
        return start + place + "-" + seal_of(place + query);
    }
    [[nodiscard]] std::optional<std::string> opened(std::string const& token, std::string const& query) const {
        std::size_t const dash = token.find('-');
        if (dash == std::string::npos || dash < 2) { return std::nullopt; }
        std::string place = token.substr(1, dash - 1);
        return sealed(place, query) == token ? std::optional{std::move(place)} : std::nullopt;
    }

    defect what_;
};

} // namespace entitable_test
