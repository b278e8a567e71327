// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The bodies of the core, for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for all files of the program, and
/// include this header in exactly one of them.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/aggregate/impl/aggregate_declarations.ipp>
#include <entitable/backends/impl/continuation.ipp>
#include <entitable/backends/impl/local_rules.ipp>
#include <entitable/backends/impl/page_reader.ipp>
#include <entitable/backends/impl/rw_lock.ipp>
#include <entitable/backends/impl/selected_payload.ipp>
#include <entitable/backends/impl/stored_key.ipp>
#include <entitable/backends/memory/impl/memory_store.ipp>
#include <entitable/bulk/impl/bulk_checkpoint.ipp>
#include <entitable/bulk/impl/bulk_estimate.ipp>
#include <entitable/bulk/impl/bulk_input.ipp>
#include <entitable/bulk/impl/bulk_options.ipp>
#include <entitable/bulk/impl/bulk_pace.ipp>
#include <entitable/bulk/impl/bulk_part.ipp>
#include <entitable/bulk/impl/bulk_position.ipp>
#include <entitable/bulk/impl/bulk_progress_line.ipp>
#include <entitable/bulk/impl/bulk_run.ipp>
#include <entitable/bulk/impl/bulk_sending.ipp>
#include <entitable/bulk/impl/view_generations.ipp>
#include <entitable/client/impl/any_query.ipp>
#include <entitable/client/impl/batch.ipp>
#include <entitable/client/impl/partition_search.ipp>
#include <entitable/client/impl/row_table.ipp>
#include <entitable/client/impl/row_transaction.ipp>
#include <entitable/client/impl/row_walk.ipp>
#include <entitable/client/impl/table_core.ipp>
#include <entitable/client/impl/transaction_scope.ipp>
#include <entitable/client/impl/update.ipp>
#include <entitable/core/impl/backoff.ipp>
#include <entitable/core/impl/clock.ipp>
#include <entitable/core/impl/date_time.ipp>
#include <entitable/core/impl/error.ipp>
#include <entitable/core/impl/etag.ipp>
#include <entitable/core/impl/guid.ipp>
#include <entitable/core/impl/io_driver.ipp>
#include <entitable/core/impl/platform.ipp>
#include <entitable/core/impl/process.ipp>
#include <entitable/core/impl/random_seed.ipp>
#include <entitable/core/impl/result.ipp>
#include <entitable/core/impl/text.ipp>
#include <entitable/core/impl/value.ipp>
#include <entitable/decorators/impl/metered.ipp>
#include <entitable/decorators/impl/metrics.ipp>
#include <entitable/decorators/impl/retry_course.ipp>
#include <entitable/decorators/impl/retrying_channel.ipp>
#include <entitable/decorators/impl/write_with_row.ipp>
#include <entitable/entitable.hpp>
#include <entitable/fleet.hpp>
#include <entitable/fleet/impl/balance.ipp>
#include <entitable/fleet/impl/fill_table.ipp>
#include <entitable/fleet/impl/fleet.ipp>
#include <entitable/fleet/impl/fleet_audit.ipp>
#include <entitable/fleet/impl/fleet_backup.ipp>
#include <entitable/fleet/impl/fleet_check.ipp>
#include <entitable/fleet/impl/place.ipp>
#include <entitable/fleet/impl/placement_rules.ipp>
#include <entitable/fleet/impl/rebalance.ipp>
#include <entitable/fleet/impl/reference_core.ipp>
#include <entitable/fleet/impl/shard_visits.ipp>
#include <entitable/fleet/impl/store_access.ipp>
#include <entitable/index/impl/entities_of_rows.ipp>
#include <entitable/index/impl/index_audit.ipp>
#include <entitable/index/impl/index_family.ipp>
#include <entitable/index/impl/index_rows_elsewhere.ipp>
#include <entitable/index/impl/index_run.ipp>
#include <entitable/index/impl/index_writer.ipp>
#include <entitable/index/impl/index_writer_elsewhere.ipp>
#include <entitable/index/impl/intent.ipp>
#include <entitable/mapping/impl/codec.ipp>
#include <entitable/mapping/impl/entity.ipp>
#include <entitable/mapping/impl/key_adaptors.ipp>
#include <entitable/mapping/impl/key_codec.ipp>
#include <entitable/mapping/impl/key_layout.ipp>
#include <entitable/mapping/impl/parts.ipp>
#include <entitable/messaging/impl/held_time.ipp>
#include <entitable/messaging/impl/keep_alive.ipp>
#include <entitable/messaging/impl/queue_claim.ipp>
#include <entitable/messaging/impl/queue_core.ipp>
#include <entitable/messaging/impl/queue_keeping.ipp>
#include <entitable/messaging/impl/queue_rows.ipp>
#include <entitable/messaging/impl/saga.ipp>
#include <entitable/pattern/impl/copy.ipp>
#include <entitable/pattern/impl/copy_operation.ipp>
#include <entitable/pattern/impl/period_tables.ipp>
#include <entitable/pattern/impl/reservation.ipp>
#include <entitable/pattern/impl/sequence.ipp>
#include <entitable/pattern/impl/sharded_sequence.ipp>
#include <entitable/pattern/impl/wide_rows.ipp>
#include <entitable/query/impl/clauses.ipp>
#include <entitable/query/impl/comparison.ipp>
#include <entitable/query/impl/plan.ipp>
#include <entitable/query/impl/predicate.ipp>
#include <entitable/query/impl/reading.ipp>
#include <entitable/query/impl/token.ipp>
#include <entitable/request/impl/batch_packer.ipp>
#include <entitable/request/impl/fate.ipp>
#include <entitable/request/impl/filter.ipp>
#include <entitable/request/impl/key_range.ipp>
#include <entitable/request/impl/key_ranges.ipp>
#include <entitable/request/impl/operation_row.ipp>
#include <entitable/request/impl/refusal.ipp>
#include <entitable/request/impl/settling.ipp>
#include <entitable/request/impl/trace_context.ipp>
#include <entitable/request/impl/validate.ipp>
#include <entitable/row/impl/row.ipp>
#include <entitable/shards.hpp>
#include <entitable/shards/impl/hash_stores.ipp>
#include <entitable/shards/impl/lookup_map_state.ipp>
#include <entitable/shards/impl/shard_etags.ipp>
#include <entitable/shards/impl/shard_gather.ipp>
#include <entitable/shards/impl/shard_hedge.ipp>
#include <entitable/shards/impl/shard_map.ipp>
#include <entitable/shards/impl/shard_map_change.ipp>
#include <entitable/shards/impl/shard_move.ipp>
#include <entitable/shards/impl/shard_mover.ipp>
#include <entitable/shards/impl/shard_mover_map.ipp>
#include <entitable/shards/impl/shard_table_copy.ipp>
#include <entitable/shards/impl/shard_tables.ipp>
#include <entitable/shards/impl/sharded.ipp>
#include <entitable/shards/impl/virtual_shards.ipp>
#include <entitable/tracking/impl/entity_tracker.ipp>
#include <entitable/tracking/impl/lost_changes.ipp>
#include <entitable/tracking/impl/row_merge.ipp>
#include <entitable/tracking/impl/save_run.ipp>
#include <entitable/transport/impl/attempt.ipp>
#include <entitable/transport/impl/channel.ipp>
#include <entitable/transport/impl/sweep.ipp>

ENTITABLE_BEGIN_NAMESPACE
template class local<memory_store>;
template detail::transport_interface* detail::make_model(local<memory_store> const&);
ENTITABLE_END_NAMESPACE
