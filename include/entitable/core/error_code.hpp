// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `error_code`: the reasons of failures.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Reason of a failure. The first block contains the table service's own codes, named after them ("EntityAlreadyExists" is
/// `entity_already_exists`; source: the REST reference, "Table service error codes"); the second block holds this library's codes.
enum class error_code : std::uint16_t {
    // the service's codes
    entity_already_exists = 1,      ///< insert: an entity with these keys exists
    table_already_exists,           ///< create_table: a table with this name exists
    table_being_deleted,            ///< a table with this name was deleted recently, and the name is not available yet
    resource_not_found,             ///< the entity does not exist; for delete_table, the table
    table_not_found,                ///< the table of the request does not exist
    update_condition_not_satisfied, ///< the entity was changed since its ETag was read
    entity_too_large,               ///< larger than the limit for entities: 1 MiB in Azure Storage, 2 MiB in Cosmos DB
    property_value_too_large,       ///< larger than the limit for values: 64 KiB in Azure Storage
    property_name_too_long,         ///< longer than 255 UTF-16 units
    property_name_invalid,          ///< the property name is not an identifier, or is reserved
    too_many_properties, ///< the entity has more than the profile allows: 252 plus keys and Timestamp in Azure Storage
    duplicate_properties_specified, ///< a property appears twice
    properties_need_value,          ///< a required key or value is missing
    key_value_too_large,            ///< a key is longer than the profile allows: 512 UTF-16 units in Azure Storage
    invalid_input,                  ///< the request breaks a rule without its own code
    out_of_range_input,             ///< a value is out of its range: a time before 1601, a table name of 2 letters
    invalid_resource_name, ///< a table name must be letters and digits, starting with a letter; a wrong length is `out_of_range_input`
    invalid_duplicate_row,                         ///< a transaction has two operations for one entity
    commands_in_batch_act_on_different_partitions, ///< a transaction must stay within one partition
    request_body_too_large, ///< the request has more than 4 MiB in a transaction, 2 MiB in Cosmos DB
    not_implemented,        ///< the service does not implement this operation
    authentication_failed, ///< the credential is malformed or not accepted: a wrong key, an expired token, a wrong clock
    authorization_failure, ///< the credential does not allow this
    internal_error,        ///< the service failed; the effect may be unknown
    operation_timed_out,   ///< the service timed out; the effect may be unknown
    server_busy,           ///< the service throttles requests, or the partition is moving
    other_service_error,   ///< any other code of the service: see `error::server_message`

    // the library's codes
    not_supported = 1000,     ///< the transport cannot do this
    cancelled,                ///< the caller cancelled the call
    deadline_exceeded,        ///< the deadline of the call passed
    transport_failed,         ///< no usable response arrived
    query_too_complex,        ///< a predicate needs more key ranges than are allowed
    key_not_splittable,       ///< the parts of a composite key could not be separated again
    key_reserved,             ///< row keys that begin with "~!" are reserved for the library
    operation_id_taken,       ///< another write was applied under this operation id
    operation_void,           ///< this operation was abandoned: no write will be applied under its id
    row_malformed,            ///< the stored bytes are not a row of a known version
    row_mismatch,             ///< the row does not fit the entity type
    continuation_invalid,     ///< the continuation token was made by another store
    store_busy,               ///< the store stayed locked by others for longer than the allowed wait
    store_full,               ///< the disk is full, or the file has reached its size limit
    store_corrupt,            ///< the stored bytes differ from what was written
    store_foreign,            ///< the file or the database was not made by this library
    store_newer,              ///< the file or the database has a newer format than this library
    store_failed,             ///< the store cannot be opened, read or written
    checkpoint_invalid,       ///< the checkpoint is damaged, newer, or belongs to a different load or input
    index_not_ready,          ///< the index was not built, is being built, or was retired: readers do not use it
    index_definition_differs, ///< the index was built from a different declaration
    shard_moving,             ///< the virtual shard is moving: try again after `error::retry_after`
    shard_moved,              ///< the virtual shard moved during a write: the effect is unknown
    shard_unmapped,           ///< the partition key belongs to no virtual shard
    map_unavailable,          ///< the shard map cannot be read, and its copy is too old
    shard_map_invalid,        ///< the shard map is missing, damaged, or does not cover every key
    receipt_lost,             ///< the message has a different owner now, or is completed
    saga_differs,             ///< the saga was started by a program with different steps
    view_not_ready,           ///< the materialized view has never completed a refresh
    placement_forbidden,      ///< a rule of the map forbids this store for the virtual shard
    backup_incomplete,        ///< the backup was never completed, or the folder does not contain a backup
    reference_missing,        ///< the store lacks a complete copy of a reference table
    wrong_store, ///< the store's content shows that it is not the one named by the map or list of stores, or that it lost data
    store_read_only, ///< the store is read-only: a standby, a role of reading sessions, a folder without write permission
    declaration_differs, ///< the table has an index that this program does not declare, so the program may not write
    declaration_missing, ///< the table has entities but no declaration of its indexes and sums: adopt or build them
    already_made,        ///< the map, or the generation of hashed stores, already exists: open it instead
    sync_running,        ///< another call synchronises the same partition of the local table
    many_removals, ///< a synchronisation would remove more than half of a partition: see `sync_options::allow_many_removals`
    lane_lost,     ///< another worker of the group processes the lane of the feed now
    log_trimmed,   ///< the change log no longer has changes that a group of the feed has not processed
    group_behind,  ///< a group of the feed has not processed changes for a long time
    group_missing, ///< the group of the feed is not registered: it was never created, or has left
};

/// Returns the service's spelling of the code, for example "EntityAlreadyExists".
[[nodiscard]] std::string_view to_string(error_code code) noexcept;

/// Returns the HTTP status that the service sends with `code`; 0 for the library's codes and for `other_service_error`.
[[nodiscard]] std::uint16_t http_status_of(error_code code) noexcept;

ENTITABLE_END_NAMESPACE

#endif
