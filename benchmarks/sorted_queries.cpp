// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// `top` and `order_by` of a million rows in memory, compared with loops written by hand over the same query: a heap of std::push_heap over
// `for_each`, and std::stable_sort of the result of `to()`. CPU time, and the largest number of bytes allocated in addition to the store. An
// argument is the number of rows.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I include -I tests benchmarks/sorted_queries.cpp -o sorted_queries -pthread && ./sorted_queries

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/measure.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t allocated = 0;
std::size_t most_allocated = 0;

} // namespace

void* operator new(std::size_t size) {
    auto* const made = static_cast<std::size_t*>(std::malloc(size + 16));
    if (made == nullptr) { std::abort(); }
    *made = size;
    allocated += size;
    most_allocated = std::max(most_allocated, allocated);
    return reinterpret_cast<char*>(made) + 16;
}
void operator delete(void* at) noexcept {
    if (at == nullptr) { return; }
    auto* const made = reinterpret_cast<std::size_t*>(static_cast<char*>(at) - 16);
    allocated -= *made;
    std::free(made);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

namespace benchmark_sorted_queries {

using measure::business;
using b = entitable::fields<business>;

std::uint64_t checksum = 0; // so that nothing is optimised away

/// The first `n` in the order of `before`, in a heap; later rows with equal values come later.
template <class Query, class Before>
std::vector<business> top_by_hand(Query const& all, std::size_t n, Before const& before) {
    std::vector<std::pair<business, std::size_t>> heap;
    std::size_t arrival = 0;
    auto const first = [&](auto const& left, auto const& right) {
        return before(left.first, right.first) || (!before(right.first, left.first) && left.second < right.second);
    };
    all.for_each([&](business const& one) {
           if (heap.size() < n) {
               heap.emplace_back(one, arrival++);
               std::push_heap(heap.begin(), heap.end(), first);
           } else if (before(one, heap.front().first)) {
               std::pop_heap(heap.begin(), heap.end(), first);
               heap.back() = {one, arrival++};
               std::push_heap(heap.begin(), heap.end(), first);
           }
       })
        .value();
    std::sort_heap(heap.begin(), heap.end(), first);
    std::vector<business> made;
    for (auto& each : heap) { made.push_back(std::move(each.first)); }
    return made;
}
template <class Query, class Before>
std::vector<business> sorted_by_hand(Query const& all, Before const& before) {
    auto rows = all.to().value();
    std::stable_sort(rows.begin(), rows.end(), before);
    return rows;
}

std::size_t digest(std::vector<business> const& rows) {
    std::size_t digest = rows.size();
    for (business const& each : rows) { digest = digest * 31 + std::hash<std::string>{}(each.id); }
    return digest;
}

template <class ByHand, class Ours>
void compare(char const* name, std::size_t rows, std::size_t rounds, ByHand const& by_hand, Ours const& ours) {
    std::size_t const before = allocated;
    most_allocated = allocated;
    std::size_t const expected = digest(by_hand());
    std::size_t const by_hand_bytes = most_allocated - before;
    most_allocated = allocated;
    if (digest(ours()) != expected) { std::printf("%s: DIFFERENT ROWS\n", name); }
    std::size_t const our_bytes = most_allocated - before;
    measure::compare(
        name, 1.2, rounds, [&] { return measure::timed(rows, [&] { checksum += by_hand().size(); }); },
        [&] { return measure::timed(rows, [&] { checksum += ours().size(); }); });
    std::printf("    most bytes: by hand %zu, ours %zu\n", by_hand_bytes, our_bytes);
}

void run(std::size_t rows) {
    entitable::table<business> const all{entitable::memory_backend{}, "businesses"};
    all.create().value();
    for (std::size_t at = 0; at < rows; at += 100) {
        auto batch = all.batch();
        for (std::size_t index = at; index < at + 100; ++index) { batch.insert(measure::make_business(index, rows)); }
        batch.submit().value();
    }
    auto const query = all.scan_table();
    std::size_t const rounds = rows >= 1'000'000 ? 5 : 11;
    std::printf("%zu rows\n", rows);
    measure::heading();
    auto const visits = [](business const& left, business const& right) { return left.visits > right.visits; };
    auto const name = [](business const& left, business const& right) { return left.name < right.name; };
    compare(
        "top(10, visits)", rows, rounds, [&] { return top_by_hand(query, 10, visits); },
        [&] { return query.top(10, b::visits).to().value(); });
    compare(
        "top(10000, visits)", rows, rounds, [&] { return top_by_hand(query, 10'000, visits); },
        [&] { return query.top(10'000, b::visits).to().value(); });
    compare(
        "bottom(10, name)", rows, rounds, [&] { return top_by_hand(query, 10, name); },
        [&] { return query.bottom(10, b::name).to().value(); });
    compare(
        "order_by(descending(visits))", rows, rounds, [&] { return sorted_by_hand(query, visits); },
        [&] { return query.order_by(entitable::descending(b::visits)).most_rows(rows).to().value(); });
    compare(
        "order_by(name)", rows, rounds, [&] { return sorted_by_hand(query, name); },
        [&] { return query.order_by(b::name).most_rows(rows).to().value(); });
}

} // namespace benchmark_sorted_queries

int main(int count, char** arguments) {
    benchmark_sorted_queries::run(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000);
    return benchmark_sorted_queries::checksum == 1 ? 1 : 0;
}
