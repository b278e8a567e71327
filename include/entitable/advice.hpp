// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Advice on keys, load and request units before deployment: `advise`, `simulate`, `plan_throughput`. Part of the core. The core umbrella
/// does not include it, so that other programs do not compile it. With separate compilation its bodies are in `entitable/src/advice.hpp`.

#include <entitable/advice/advise.hpp>
#include <entitable/advice/census.hpp>
#include <entitable/advice/heat_map.hpp>
#include <entitable/advice/key_declaration.hpp>
#include <entitable/advice/key_score.hpp>
#include <entitable/advice/latency_histogram.hpp>
#include <entitable/advice/load_shape.hpp>
#include <entitable/advice/measured/sample_table.hpp>
#include <entitable/advice/measured/stress_test.hpp>
#include <entitable/advice/price.hpp>
#include <entitable/advice/report/report.hpp>
#include <entitable/advice/retry_comparison.hpp>
#include <entitable/advice/sample.hpp>
#include <entitable/advice/sharding/shard_advice.hpp>
#include <entitable/advice/sharding/shard_simulation.hpp>
#include <entitable/advice/simulation.hpp>
#include <entitable/advice/stress_outcome.hpp>
#include <entitable/advice/throughput.hpp>
#include <entitable/advice/throughput_plan.hpp>
#include <entitable/advice/usage.hpp>
#include <entitable/advice/workload.hpp>
