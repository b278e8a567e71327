// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of indexes and sums: one part of `entitable/src.hpp`, for programs that compile the
/// parts separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/companions.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/advice/doctor/impl/doctor.ipp>
#include <entitable/client/companions/aggregate/impl/aggregate_declarations.ipp>
#include <entitable/client/companions/aggregate/impl/listed_sums.ipp>
#include <entitable/client/companions/index/impl/entities_of_rows.ipp>
#include <entitable/client/companions/index/impl/index_audit.ipp>
#include <entitable/client/companions/index/impl/index_build.ipp>
#include <entitable/client/companions/index/impl/index_care.ipp>
#include <entitable/client/companions/index/impl/index_family.ipp>
#include <entitable/client/companions/index/impl/index_fill.ipp>
#include <entitable/client/companions/index/impl/index_rows_elsewhere.ipp>
#include <entitable/client/companions/index/impl/index_run.ipp>
#include <entitable/client/companions/index/impl/index_writer.ipp>
#include <entitable/client/companions/index/impl/index_writer_elsewhere.ipp>
#include <entitable/client/companions/index/impl/index_writer_limits.ipp>
#include <entitable/client/companions/index/impl/index_writer_sums.ipp>
#include <entitable/client/companions/index/impl/intent.ipp>
#include <entitable/client/companions/index/impl/logged_reads.ipp>
#include <entitable/client/companions/index/impl/logged_writes.ipp>
#include <entitable/client/companions/index/impl/maintained_rows.ipp>
#include <entitable/client/companions/index/impl/maintained_rows_as_stored.ipp>
#include <entitable/client/companions/index/impl/maintaining.ipp>
#include <entitable/client/companions/index/impl/sum_audit.ipp>
#include <entitable/client/companions/log/impl/feed_rows.ipp>
#include <entitable/client/companions/log/impl/log_rows.ipp>
#include <entitable/client/companions/log/impl/log_writer.ipp>
#include <entitable/client/companions/log/impl/logged_changes.ipp>
