// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of declarations, queries and tables: one part of `entitable/src.hpp`, for programs that compile the
/// parts separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/client.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/client/impl/aggregate.ipp>
#include <entitable/client/impl/any_query.ipp>
#include <entitable/client/impl/batch.ipp>
#include <entitable/client/impl/migration_mark.ipp>
#include <entitable/client/impl/row_confirmation.ipp>
#include <entitable/client/impl/row_ranks.ipp>
#include <entitable/client/impl/row_table.ipp>
#include <entitable/client/impl/row_transaction.ipp>
#include <entitable/client/impl/row_walk.ipp>
#include <entitable/client/impl/table_core.ipp>
#include <entitable/client/impl/table_operations.ipp>
#include <entitable/client/impl/transaction_scope.ipp>
#include <entitable/client/impl/update.ipp>
#include <entitable/client/impl/walk_marks.ipp>
#include <entitable/client/mapping/impl/codec.ipp>
#include <entitable/client/mapping/impl/entity.ipp>
#include <entitable/client/mapping/impl/key_adaptors.ipp>
#include <entitable/client/mapping/impl/key_codec.ipp>
#include <entitable/client/mapping/impl/key_layout.ipp>
#include <entitable/client/mapping/impl/parts.ipp>
#include <entitable/client/mapping/impl/property_type.ipp>
#include <entitable/client/query/impl/clauses.ipp>
#include <entitable/client/query/impl/comparison.ipp>
#include <entitable/client/query/impl/plan.ipp>
#include <entitable/client/query/impl/predicate.ipp>
#include <entitable/client/query/impl/reading.ipp>
#include <entitable/client/query/impl/token.ipp>
#include <entitable/client/wide/impl/wide_rows.ipp>
