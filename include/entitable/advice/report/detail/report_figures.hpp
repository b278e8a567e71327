// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The pictures of a report, each a `<figure>` with an explanatory caption, and its values as a table.

#include <entitable/advice/census.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/heat_map.hpp>
#include <entitable/advice/report/detail/svg_picture.hpp>
#include <entitable/advice/sharding/shard_advice.hpp>
#include <entitable/advice/simulation.hpp>
#include <entitable/advice/stress_outcome.hpp>
#include <entitable/advice/throughput_plan.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An HTML table that scrolls separately if it is too wide.
[[nodiscard]] std::string html_table(text_table const& table, std::string_view caption);

/// Histogram of partition sizes.
[[nodiscard]] std::string sizes_figure(partition_facts const& facts);
/// Rows of each virtual shard, and rows and load of each store.
[[nodiscard]] std::string shards_figure(shard_key_score const& of);
/// Shares of the entities in the largest partitions.
[[nodiscard]] std::string shares_figure(partition_facts const& facts);
/// Heat map of keys over time.
[[nodiscard]] std::string heat_figure(heat_map const& writes);
/// Requests over time, and the partitions they go to.
[[nodiscard]] std::string load_figure(simulation const& run);
/// Throughput and latency of a partition.
[[nodiscard]] std::string stress_figure(stress_outcome const& outcome);
/// Request units over time, the text of the plan, and a timetable.
[[nodiscard]] std::string units_figures(
    std::string_view id, std::string title, std::vector<throughput_step> const& steps, std::string const& text);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/report/impl/report_figures.ipp>
#include <entitable/advice/report/impl/shard_figure.ipp>
#endif
