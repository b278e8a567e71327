// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The pictures of a report, each a `<figure>` with a caption that says what it shows, and its values as a table.

#include <entitable/advice/census.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/heat_map.hpp>
#include <entitable/advice/simulation.hpp>
#include <entitable/advice/stress_outcome.hpp>
#include <entitable/advice/throughput_plan.hpp>
#include <entitable/pattern/advice/detail/svg_picture.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table of HTML that scrolls by itself where it is too wide.
[[nodiscard]] std::string html_table(text_table const& table, std::string_view caption);

/// How many partitions have how many entities.
[[nodiscard]] std::string sizes_figure(partition_facts const& facts);
/// What part of the entities the largest partitions have.
[[nodiscard]] std::string shares_figure(partition_facts const& facts);
/// Keys by time.
[[nodiscard]] std::string heat_figure(heat_map const& writes);
/// Requests over time, and where they go.
[[nodiscard]] std::string load_figure(simulation const& run);
/// What a partition carried, and how fast.
[[nodiscard]] std::string stress_figure(stress_outcome const& outcome);
/// Request units over time, what the text of the plan says of them, and a timetable.
[[nodiscard]] std::string units_figures(
    std::string_view id, std::string title, std::vector<throughput_step> const& steps, std::string const& text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/advice/impl/report_figures.ipp>
#endif
