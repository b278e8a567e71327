// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of bulk loads, copies, expiry and views: one part of `entitable/src.hpp`, for programs that compile the parts
/// separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/bulk.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/bulk/copy/impl/copy.ipp>
#include <entitable/bulk/exchange/impl/csv_intake.ipp>
#include <entitable/bulk/exchange/impl/csv_parser.ipp>
#include <entitable/bulk/exchange/impl/json_intake.ipp>
#include <entitable/bulk/exchange/impl/json_line_parser.ipp>
#include <entitable/bulk/exchange/impl/line_writer.ipp>
#include <entitable/bulk/exchange/impl/text_column.ipp>
#include <entitable/bulk/exchange/impl/text_source.ipp>
#include <entitable/bulk/expire/impl/period_tables.ipp>
#include <entitable/bulk/impl/beyond_queries.ipp>
#include <entitable/bulk/impl/bulk_estimate.ipp>
#include <entitable/bulk/impl/bulk_progress_line.ipp>
#include <entitable/bulk/schema/impl/migration.ipp>
#include <entitable/bulk/schema/impl/schema_drift.ipp>
#include <entitable/bulk/views/impl/view_generations.ipp>
