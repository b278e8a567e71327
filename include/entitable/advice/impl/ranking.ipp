// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/ranking.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::uint64_t leading_bytes(std::string_view text) noexcept {
    std::uint64_t number = 0;
    for (std::size_t index = 0; index < sizeof number; ++index) {
        unsigned char const byte = index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
        // From 0xEE on the order of UTF-16 differs from the order of bytes: such texts tie here, and are compared completely.
        number = (number << 8U) | (byte < 0xEE ? byte : 0xEEU);
        if (byte >= 0xEE) { return number << (8 * (sizeof number - 1 - index)); }
    }
    return number;
}

struct sort_key {
    std::uint64_t first;
    std::uint32_t number;
};

ENTITABLE_DECL void sort_by_text(dictionary const& texts, std::vector<std::uint32_t>& numbers) {
    std::vector<sort_key> keys;
    keys.reserve(numbers.size());
    for (std::uint32_t const number : numbers) { keys.push_back({leading_bytes(texts[number]), number}); }
    std::sort(keys.begin(), keys.end(), [&](sort_key const& left, sort_key const& right) {
        return left.first != right.first ? left.first < right.first
                                         : text::compare_utf16(texts[left.number], texts[right.number]) < 0;
    });
    for (std::size_t index = 0; index < keys.size(); ++index) { numbers[index] = keys[index].number; }
}

ENTITABLE_DECL void sort_by_value(sample_column const& column, std::vector<std::uint32_t>& numbers) {
    auto const first_of = [&](std::uint32_t number) -> std::uint64_t {
        value_view const value = column.value(number);
        constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
        auto const bits = static_cast<std::uint64_t>(value.bits());
        switch (value.type()) {
            case edm_type::float64: return (bits & sign) != 0 ? ~bits : bits | sign;
            case edm_type::string:
            case edm_type::binary:
            case edm_type::guid: return leading_bytes(value.bytes());
            default: return bits ^ sign;
        }
    };
    std::vector<sort_key> keys;
    keys.reserve(numbers.size());
    for (std::uint32_t const number : numbers) { keys.push_back({first_of(number), number}); }
    std::sort(keys.begin(), keys.end(), [&](sort_key const& left, sort_key const& right) {
        value_view const one = column.value(left.number);
        value_view const other = column.value(right.number);
        if (one.type() != other.type()) { return one.type() < other.type(); }
        if (left.first != right.first) { return left.first < right.first; }
        return one.type() == edm_type::string ? text::compare_utf16(one.bytes(), other.bytes()) < 0
                                              : one.bytes() < other.bytes();
    });
    for (std::size_t index = 0; index < keys.size(); ++index) { numbers[index] = keys[index].number; }
}

[[nodiscard]] ENTITABLE_DECL std::vector<double> mean_ranks(std::vector<double> const& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(
        order.begin(), order.end(), [&](std::size_t left, std::size_t right) { return values[left] < values[right]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && values[order[end]] == values[order[begin]]) { ++end; }
        double const rank = static_cast<double>(begin + end - 1) / 2;
        for (; begin < end; ++begin) { ranks[order[begin]] = rank; }
    }
    return ranks;
}

ENTITABLE_DECL std::optional<double> rank_correlation(
    std::vector<double> const& one, std::vector<double> const& other) {
    if (one.size() < 3 || one.size() != other.size()) { return std::nullopt; }
    std::vector<double> const x = mean_ranks(one);
    std::vector<double> const y = mean_ranks(other);
    double const mean = static_cast<double>(x.size() - 1) / 2;
    double both = 0;
    double of_x = 0;
    double of_y = 0;
    for (std::size_t index = 0; index < x.size(); ++index) {
        both += (x[index] - mean) * (y[index] - mean);
        of_x += (x[index] - mean) * (x[index] - mean);
        of_y += (y[index] - mean) * (y[index] - mean);
    }
    return of_x == 0 || of_y == 0 ? std::nullopt : std::optional{both / std::sqrt(of_x * of_y)};
}

ENTITABLE_DECL std::vector<std::size_t> spread_rows(std::size_t rows, std::size_t most) {
    std::size_t const taken = rows < most ? rows : most;
    std::vector<std::size_t> out(taken);
    for (std::size_t index = 0; index < taken; ++index) {
        out[index] = static_cast<std::size_t>(
            static_cast<double>(index) * static_cast<double>(rows) / static_cast<double>(taken));
    }
    return out;
}

ENTITABLE_DECL std::optional<double> growth_of(table_sample const& sample, sample_column const& column) {
    std::vector<std::uint32_t> numbers;
    std::vector<double> times;
    std::vector<std::size_t> rows;
    for (std::size_t const row : spread_rows(sample.size(), 16'384)) {
        if (sample.times()[row] != 0 && column.codes[row] != sample_column::absent) {
            rows.push_back(row);
            times.push_back(static_cast<double>(sample.times()[row]));
            numbers.push_back(column.codes[row]);
        }
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    sort_by_value(column, numbers);
    std::vector<std::uint32_t> rank_of(column.values.size());
    for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
        rank_of[numbers[rank]] = static_cast<std::uint32_t>(rank);
    }
    std::vector<double> ranks;
    ranks.reserve(rows.size());
    for (std::size_t const row : rows) { ranks.push_back(rank_of[column.codes[row]]); }
    return rank_correlation(ranks, times);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
