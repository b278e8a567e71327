// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `error_code`: the reasons of failures.

#include <entitable/core/config.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The reason of a failure. The first block are the table service's own codes, named after them
/// ("EntityAlreadyExists" is `entity_already_exists`; source: the REST reference, "Table service error
/// codes"); the second block are this library's.
enum class error_code : std::uint16_t {
    // the service's words
    entity_already_exists = 1,      ///< an insert meets an entity with its keys
    table_already_exists,           ///< create_table meets a table of that name
    table_being_deleted,            ///< the name is not free yet: a table of that name was deleted a short while ago
    resource_not_found,             ///< there is no such entity; for delete_table, no such table
    table_not_found,                ///< the table of the request is not there
    update_condition_not_satisfied, ///< the entity was changed since its ETag was read
    entity_too_large,               ///< more than the entity may have: 1 MiB in Azure Storage, 2 MiB in Cosmos DB
    property_value_too_large,       ///< more than a property may have: 64 KiB in Azure Storage
    property_name_too_long,         ///< more than 255 UTF-16 units
    property_name_invalid,          ///< not an identifier, or a name of the system
    too_many_properties,            ///< more than the profile allows: 252 besides keys and Timestamp in Azure Storage
    duplicate_properties_specified, ///< a property is there twice
    properties_need_value,          ///< a key or a value that must be there is missing
    key_value_too_large,            ///< a key is longer than the profile allows: 512 UTF-16 units in Azure Storage
    invalid_input,                  ///< the request breaks a rule that has no code of its own
    out_of_range_input,             ///< a value out of its range: a time before 1601, a table name of 2 letters
    invalid_resource_name, ///< a table name that is not letters and digits, a letter first; its length is `out_of_range_input`
    invalid_duplicate_row,                         ///< a transaction names one entity twice
    commands_in_batch_act_on_different_partitions, ///< a transaction is of one partition
    request_body_too_large,                        ///< more than 4 MiB in a transaction, 2 MiB in Cosmos DB
    not_implemented,                               ///< the service has no such operation
    authentication_failed, ///< the credential was not understood or not accepted: a wrong key, an expired token, a wrong clock
    authorization_failure, ///< the credential does not allow this
    internal_error,        ///< the service failed; the effect may be unknown
    operation_timed_out,   ///< the service gave up; the effect may be unknown
    server_busy,           ///< the service asks for fewer requests, or the partition is on the move
    other_service_error,   ///< any other code of the service: `error::server_message` has its words

    // ours
    not_supported = 1000,     ///< the transport cannot do this
    cancelled,                ///< the caller's cancellation was seen
    deadline_exceeded,        ///< the call's deadline passed
    transport_failed,         ///< no usable answer came back
    query_too_complex,        ///< a predicate needs more key ranges than are allowed
    key_not_splittable,       ///< the parts of a composite key could not be told apart again
    key_reserved,             ///< the row key begins with "~!", which belongs to rows of the library's own
    operation_id_taken,       ///< another write was applied under this operation id
    operation_void,           ///< this operation was given up before: no write is applied under its id any more
    row_malformed,            ///< stored bytes are not a row of a version known here
    row_mismatch,             ///< a row does not fit the entity it is read into
    continuation_invalid,     ///< a continuation token that this store did not make
    store_busy,               ///< other processes or readers held the store for longer than the wait allowed
    store_full,               ///< the disk, or the room that a file may take, is used up
    store_corrupt,            ///< stored bytes are not what was written
    store_foreign,            ///< the file or the database belongs to something else
    store_newer,              ///< the store has a format of a newer version of this library
    store_failed,             ///< the store cannot be opened, read or written
    checkpoint_invalid,       ///< a checkpoint of another load or another input, of a newer version, or damaged
    index_not_ready,          ///< an index was not built, is being built, or was retired: readers do not use it
    index_definition_differs, ///< the index was built from another declaration of it
    shard_moving,             ///< the virtual shard is on the move: try again after `error::retry_after`
    shard_moved,              ///< the virtual shard moved while a write was under way: what became of it is not known
    shard_unmapped,           ///< the partition key belongs to no virtual shard
    map_unavailable,          ///< the map of the shards cannot be read, and the copy of it is too old
    shard_map_invalid,        ///< the map of the shards is missing, damaged, or does not cover every key
    receipt_lost,        ///< a message of a queue is in other hands, or done: the receipt is good for nothing any more
    saga_differs,        ///< a saga was begun by a program that has other steps
    view_not_ready,      ///< a materialized view was never refreshed to its end
    placement_forbidden, ///< a rule of the map keeps the virtual shard from the store
    backup_incomplete,   ///< a backup was not made to its end, or is not one
    reference_missing,   ///< a store has no whole copy of a reference table
    wrong_store, ///< by what is in it a store is not the one that a map or a list of stores says, or it lost what it had
    store_read_only, ///< the store can be read and not written: a standby, a role of reading sessions, a folder without write permission
    declaration_differs, ///< the table keeps an index that this program does not have, so that it writes nothing
    declaration_missing, ///< the table has entities, and no declaration of its indexes: they have to be built
    already_made,        ///< the map, or the generation of stores on a hash, was made before: it is opened, not made
};

/// The code as the service spells it, for example "EntityAlreadyExists".
[[nodiscard]] std::string_view to_string(error_code code) noexcept;

/// The HTTP status the service sends with `code`; 0 for codes that are ours and for `other_service_error`.
[[nodiscard]] std::uint16_t http_status_of(error_code code) noexcept;

ENTITABLE_END_NAMESPACE
