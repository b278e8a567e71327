// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/row_ranks.hpp>

#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY failure too_many_to_sort(std::uint64_t most) {
    return failure{error_code::query_too_complex,
        text::joined({"order_by(...) would sort more than ", std::to_string(most),
            " rows in memory: use take(n) or top(n, ...), narrow the query, or raise most_rows(n)"})};
}

ENTITABLE_LAZY_BODY bool in_key_order(query_source const* source) {
    return source == nullptr || source->through.profile().ordered;
}

struct slot_ranks::state : counted {
    state(comparison with, std::size_t size_of_object, keys_of_row of)
        : compare(with), size(size_of_object), keys_of(of) {}

    comparison compare;
    std::size_t size;
    keys_of_row keys_of;
    std::vector<std::size_t> by_rank; ///< the slots, as a heap or in order
    std::vector<keys> keys_of_slot;   ///< empty without `keys_of`
    std::vector<std::uint64_t> arrivals;
    std::uint64_t arrived{};

    [[nodiscard]] void const* object(void const* objects, std::size_t slot) const {
        return static_cast<unsigned char const*>(objects) + slot * size;
    }
    [[nodiscard]] static bool is_before(keys const& left, keys const& right) {
        int const by_partition = text::compare_utf16(left.partition, right.partition);
        return by_partition != 0 ? by_partition < 0 : text::compare_utf16(left.row, right.row) < 0;
    }
    [[nodiscard]] bool is_before(void const* objects, std::size_t left, std::size_t right) const {
        int const order = compare(object(objects, left), object(objects, right));
        if (order != 0) { return order < 0; }
        if (keys_of == nullptr) { return arrivals[left] < arrivals[right]; }
        return is_before(keys_of_slot[left], keys_of_slot[right]);
    }
    void sink(void const* objects, std::size_t at) {
        for (;;) {
            std::size_t child = 2 * at + 1;
            if (child >= by_rank.size()) { return; }
            if (child + 1 < by_rank.size() && is_before(objects, by_rank[child], by_rank[child + 1])) { ++child; }
            if (!is_before(objects, by_rank[at], by_rank[child])) { return; }
            std::swap(by_rank[at], by_rank[child]);
            at = child;
        }
    }
    void sort(void const* objects) {
        constexpr std::size_t run = 12;
        std::size_t const count = by_rank.size();
        for (std::size_t begin = 0; begin < count; begin += run) {
            std::size_t const end = count - begin < run ? count : begin + run;
            for (std::size_t next = begin + 1; next < end; ++next) {
                std::size_t const moved = by_rank[next];
                std::size_t to = next;
                for (; to > begin && is_before(objects, moved, by_rank[to - 1]); --to) {
                    by_rank[to] = by_rank[to - 1];
                }
                by_rank[to] = moved;
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
                    merged[to++] =
                        is_before(objects, by_rank[right], by_rank[left]) ? by_rank[right++] : by_rank[left++];
                }
                while (left < middle) { merged[to++] = by_rank[left++]; }
                while (right < end) { merged[to++] = by_rank[right++]; }
                begin = end;
            }
            by_rank.swap(merged);
        }
    }
};

ENTITABLE_LAZY_BODY slot_ranks::slot_ranks(comparison compare, std::size_t size, keys_of_row keys_of)
    : state_(shared<state>::make(compare, size, keys_of)) {}
ENTITABLE_DECL slot_ranks::~slot_ranks() = default;

ENTITABLE_LAZY_BODY void slot_ranks::begin(std::size_t count, void const* rows, std::size_t size_of_row) {
    state& all = *state_;
    all.by_rank.reserve(count);
    all.arrivals.reserve(count);
    for (std::size_t slot = 0; slot < count; ++slot) {
        all.by_rank.push_back(slot);
        all.arrivals.push_back(slot);
        if (all.keys_of != nullptr) {
            all.keys_of_slot.push_back(all.keys_of(static_cast<unsigned char const*>(rows) + slot * size_of_row));
        }
    }
    all.arrived = count;
}

ENTITABLE_LAZY_BODY void slot_ranks::make_heap(void const* objects) {
    for (std::size_t at = state_->by_rank.size() / 2; at > 0; --at) { state_->sink(objects, at - 1); }
}

ENTITABLE_LAZY_BODY std::size_t slot_ranks::replaced_by(void const* object, void const* row, void const* objects) {
    state const& all = *state_;
    std::size_t const last = all.by_rank.front();
    int const order = all.compare(object, all.object(objects, last));
    if (order > 0) { return no_slot; }
    if (order < 0) { return last; }
    if (all.keys_of == nullptr) { return no_slot; } // arrived later
    return state::is_before(all.keys_of(row), all.keys_of_slot[last]) ? last : no_slot;
}

ENTITABLE_LAZY_BODY void slot_ranks::replace(void const* row, void const* objects) {
    state& all = *state_;
    std::size_t const slot = all.by_rank.front();
    if (all.keys_of != nullptr) { all.keys_of_slot[slot] = all.keys_of(row); }
    all.arrivals[slot] = all.arrived++;
    all.sink(objects, 0);
}

ENTITABLE_LAZY_BODY std::size_t* slot_ranks::sorted(void const* objects) {
    state_->sort(objects);
    return state_->by_rank.data();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
