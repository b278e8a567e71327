// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of units of work, queues and sagas: one part of `entitable/src.hpp`, for programs that compile the parts
/// separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/work.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/work/feed/impl/feed.ipp>
#include <entitable/work/feed/impl/feed_core.ipp>
#include <entitable/work/feed/impl/feed_groups.ipp>
#include <entitable/work/feed/impl/feed_look.ipp>
#include <entitable/work/feed/impl/feed_positions.ipp>
#include <entitable/work/messaging/impl/held_time.ipp>
#include <entitable/work/messaging/impl/lease_renewal.ipp>
#include <entitable/work/messaging/impl/queue_claim.ipp>
#include <entitable/work/messaging/impl/queue_core.ipp>
#include <entitable/work/messaging/impl/queue_ends.ipp>
#include <entitable/work/messaging/impl/queue_keeping.ipp>
#include <entitable/work/messaging/impl/queue_putting.ipp>
#include <entitable/work/messaging/impl/queue_rows.ipp>
#include <entitable/work/messaging/impl/queue_spares.ipp>
#include <entitable/work/messaging/impl/saga.ipp>
#include <entitable/work/messaging/impl/worker_crew.ipp>
#include <entitable/work/once/impl/once.ipp>
#include <entitable/work/sequence/impl/reservation.ipp>
#include <entitable/work/sequence/impl/sequence.ipp>
#include <entitable/work/sync/impl/log_pull.ipp>
#include <entitable/work/sync/impl/partition_sync.ipp>
#include <entitable/work/sync/impl/partition_writes.ipp>
#include <entitable/work/sync/impl/receipts.ipp>
#include <entitable/work/sync/impl/sync_plan.ipp>
#include <entitable/work/sync/impl/sync_policy.ipp>
#include <entitable/work/sync/impl/sync_rows.ipp>
#include <entitable/work/sync/impl/synchronize.ipp>
#include <entitable/work/tracking/impl/entity_tracker.ipp>
#include <entitable/work/tracking/impl/lost_changes.ipp>
#include <entitable/work/tracking/impl/row_merge.ipp>
#include <entitable/work/tracking/impl/save_run.ipp>
