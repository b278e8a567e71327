// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of the core (values, rows, requests, transports): one part of `entitable/src.hpp`, for programs that compile the
/// parts separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/core.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/core/address/impl/open.ipp>
#include <entitable/core/address/impl/store_address.ipp>
#include <entitable/core/decorators/impl/breaking.ipp>
#include <entitable/core/decorators/impl/limited.ipp>
#include <entitable/core/decorators/impl/metered.ipp>
#include <entitable/core/decorators/impl/metrics.ipp>
#include <entitable/core/decorators/impl/request_gate.ipp>
#include <entitable/core/decorators/impl/retry_course.ipp>
#include <entitable/core/decorators/impl/retrying_channel.ipp>
#include <entitable/core/impl/assertion.ipp>
#include <entitable/core/impl/backoff.ipp>
#include <entitable/core/impl/base64.ipp>
#include <entitable/core/impl/clock.ipp>
#include <entitable/core/impl/date_time.ipp>
#include <entitable/core/impl/error.ipp>
#include <entitable/core/impl/etag.ipp>
#include <entitable/core/impl/exact_sum.ipp>
#include <entitable/core/impl/group_index.ipp>
#include <entitable/core/impl/guid.ipp>
#include <entitable/core/impl/io_driver.ipp>
#include <entitable/core/impl/known_names.ipp>
#include <entitable/core/impl/platform.ipp>
#include <entitable/core/impl/process.ipp>
#include <entitable/core/impl/random_seed.ipp>
#include <entitable/core/impl/result.ipp>
#include <entitable/core/impl/text.ipp>
#include <entitable/core/impl/value.ipp>
#include <entitable/core/load/impl/bulk_checkpoint.ipp>
#include <entitable/core/load/impl/bulk_input.ipp>
#include <entitable/core/load/impl/bulk_options.ipp>
#include <entitable/core/load/impl/bulk_pace.ipp>
#include <entitable/core/load/impl/bulk_part.ipp>
#include <entitable/core/load/impl/bulk_position.ipp>
#include <entitable/core/load/impl/bulk_run.ipp>
#include <entitable/core/load/impl/bulk_sending.ipp>
#include <entitable/core/load/impl/migration_position.ipp>
#include <entitable/core/request/impl/batch_packer.ipp>
#include <entitable/core/request/impl/filter.ipp>
#include <entitable/core/request/impl/key_range.ipp>
#include <entitable/core/request/impl/key_ranges.ipp>
#include <entitable/core/request/impl/known_layouts.ipp>
#include <entitable/core/request/impl/operation_row.ipp>
#include <entitable/core/request/impl/refusal.ipp>
#include <entitable/core/request/impl/request_ref.ipp>
#include <entitable/core/request/impl/settling.ipp>
#include <entitable/core/request/impl/trace_context.ipp>
#include <entitable/core/request/impl/validate.ipp>
#include <entitable/core/row/impl/name_table.ipp>
#include <entitable/core/row/impl/page.ipp>
#include <entitable/core/row/impl/printed.ipp>
#include <entitable/core/row/impl/property_finder.ipp>
#include <entitable/core/row/impl/row.ipp>
#include <entitable/core/row/impl/row_digest.ipp>
#include <entitable/core/transport/impl/any_store.ipp>
#include <entitable/core/transport/impl/attempt.ipp>
#include <entitable/core/transport/impl/channel.ipp>
#include <entitable/core/transport/impl/sweep.ipp>
#include <entitable/core/transport/impl/transport.ipp>
