// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>
#include <entitable/ranges.hpp>

#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>
#include <support/catch.hpp>
#include <support/runners.hpp>

#include <algorithm>
#include <ranges>

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";
using asked = decltype(std::declval<table<runner>>().where(in_boston));
using chosen = decltype(std::declval<table<runner>>().where(in_boston).select(r::name));

static_assert(std::ranges::input_range<asked> && std::ranges::view<asked>);
static_assert(std::ranges::input_range<chosen> && std::ranges::view<chosen>);
static_assert(!std::ranges::forward_range<asked>); // single pass
static_assert(ranges::input_range<asked> && ranges::view_<asked>);
static_assert(ranges::input_range<chosen> && ranges::view_<chosen>);
static_assert(!ranges::forward_range<asked>);

} // namespace

TEST_CASE("a query can start a pipeline of range-v3") {
    memory_backend store;
    auto const all = runners(store, 9);
    auto const names = all.where(in_boston) | ranges::views::transform(&runner::name) | ranges::views::take(2) |
        ranges::to<std::vector<std::string>>();
    CHECK(names == std::vector<std::string>{"runner 1", "runner 2"});

    auto query = all.where(in_boston).page_size(4);
    auto const even = query | ranges::views::filter([](runner const& one) { return one.bib % 2 == 0; }) |
        ranges::views::transform([](runner const& one) { return one.bib; }) | ranges::to<std::vector>();
    CHECK(even == std::vector<std::int32_t>{2, 4, 6, 8});
    CHECK(ranges::accumulate(query, 0, {}, &runner::bib) == 45);
    CHECK(ranges::count_if(query, [](runner const& one) { return !one.age; }) == 2);

    std::size_t chunks = 0;
    for (auto&& chunk : query | ranges::views::chunk(4)) { chunks += ranges::distance(chunk) > 0 ? 1U : 0U; }
    CHECK(chunks == 3);
    auto const ages = all.where(in_boston).select(r::age) |
        ranges::views::transform([](auto const& row) { return row[r::age].value_or(0); }) | ranges::to<std::vector>();
    CHECK(ages.size() == 9);
}

#if defined(__cpp_lib_ranges) && !(defined(__clang__) && __clang_major__ < 16)
TEST_CASE("a query can start a std pipeline") {
    memory_backend store;
    auto const all = runners(store, 9);
    std::vector<std::int32_t> found;
    for (std::int32_t const bib : all.where(in_boston) | std::views::transform(&runner::bib) | std::views::take(3)) {
        found.push_back(bib);
    }
    auto query = all.where(in_boston);
    for (auto const& one : query | std::views::filter([](runner const& each) { return each.bib > 8; })) {
        found.push_back(one.bib);
    }
    CHECK(found == std::vector<std::int32_t>{1, 2, 3, 9});
    CHECK(std::ranges::count_if(query, [](runner const& one) { return !one.age; }) == 2);
}
#endif
