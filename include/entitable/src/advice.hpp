// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the advice, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program, and
/// include this header in exactly one of them, and `entitable/src.hpp` too.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/advice.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/advice/impl/advice_text.ipp>
#include <entitable/advice/impl/advise.ipp>
#include <entitable/advice/impl/candidates.ipp>
#include <entitable/advice/impl/census.ipp>
#include <entitable/advice/impl/dictionary.ipp>
#include <entitable/advice/impl/figures.ipp>
#include <entitable/advice/impl/fluid_engine.ipp>
#include <entitable/advice/impl/heat_map.ipp>
#include <entitable/advice/impl/key_declaration.ipp>
#include <entitable/advice/impl/key_score.ipp>
#include <entitable/advice/impl/latency_histogram.ipp>
#include <entitable/advice/impl/load_shape.ipp>
#include <entitable/advice/impl/partition_loads.ipp>
#include <entitable/advice/impl/prepared_query.ipp>
#include <entitable/advice/impl/price.ipp>
#include <entitable/advice/impl/range_map.ipp>
#include <entitable/advice/impl/ranking.ipp>
#include <entitable/advice/impl/request_engine.ipp>
#include <entitable/advice/impl/retry_comparison.ipp>
#include <entitable/advice/impl/sample.ipp>
#include <entitable/advice/impl/scorer.ipp>
#include <entitable/advice/impl/simulation.ipp>
#include <entitable/advice/impl/stress_outcome.ipp>
#include <entitable/advice/impl/stretches.ipp>
#include <entitable/advice/impl/throughput.ipp>
#include <entitable/advice/impl/throughput_plan.ipp>
#include <entitable/advice/impl/usage.ipp>
#include <entitable/advice/impl/workload.ipp>
#include <entitable/advice/impl/written_together.ipp>
#include <entitable/advice/measured/impl/sample_table.ipp>
#include <entitable/advice/measured/impl/stress_test.ipp>
#include <entitable/advice/report/impl/report.ipp>
#include <entitable/advice/report/impl/report_figures.ipp>
#include <entitable/advice/report/impl/report_style.ipp>
#include <entitable/advice/report/impl/shard_figure.ipp>
#include <entitable/advice/report/impl/svg_picture.ipp>
#include <entitable/advice/sharding/impl/shard_advice.ipp>
#include <entitable/advice/sharding/impl/shard_simulation.ipp>
