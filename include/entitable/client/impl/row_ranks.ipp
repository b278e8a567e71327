// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/row_ranks.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY std::vector<std::size_t> sorted_numbers(
    std::size_t count, bool (*before)(void const* of, std::size_t left, std::size_t right), void const* of) {
    constexpr std::size_t run = 12;
    std::vector<std::size_t> all(count);
    for (std::size_t number = 0; number < count; ++number) { all[number] = number; }
    for (std::size_t begin = 0; begin < count; begin += run) {
        std::size_t const end = count - begin < run ? count : begin + run;
        for (std::size_t next = begin + 1; next < end; ++next) {
            std::size_t const moved = all[next];
            std::size_t to = next;
            for (; to > begin && before(of, moved, all[to - 1]); --to) { all[to] = all[to - 1]; }
            all[to] = moved;
        }
    }
    std::vector<std::size_t> merged(count > run ? count : 0);
    for (std::size_t width = run; width < count; width *= 2) {
        for (std::size_t begin = 0; begin < count;) {
            std::size_t const middle = count - begin < width ? count : begin + width;
            std::size_t const end = count - middle < width ? count : middle + width;
            std::size_t left = begin;
            std::size_t right = middle;
            std::size_t to = begin;
            while (left < middle && right < end) {
                merged[to++] = before(of, all[right], all[left]) ? all[right++] : all[left++];
            }
            while (left < middle) { merged[to++] = all[left++]; }
            while (right < end) { merged[to++] = all[right++]; }
            begin = end;
        }
        all.swap(merged);
    }
    return all;
}

ENTITABLE_DECL ranked_keys::ranked_keys() = default;
ENTITABLE_DECL ranked_keys::~ranked_keys() = default;

ENTITABLE_LAZY_BODY void ranked_keys::add(pair&& keys) { all_.push_back(std::move(keys)); }

ENTITABLE_LAZY_BODY void ranked_keys::set(std::size_t slot, pair&& keys) { all_[slot] = std::move(keys); }

ENTITABLE_LAZY_BODY ranked_keys::pair const& ranked_keys::at(std::size_t slot) const { return all_[slot]; }

ENTITABLE_LAZY_BODY bool ranked_keys::is_before(pair const& left, pair const& right) {
    int const by_partition = text::compare_utf16(left.partition, right.partition);
    return by_partition != 0 ? by_partition < 0 : text::compare_utf16(left.row, right.row) < 0;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
