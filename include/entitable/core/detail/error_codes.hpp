// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The table of error codes: the service's name and the HTTP status of each.

#include <entitable/core/error_code.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct error_code_row {
    error_code code;
    std::uint16_t http_status;
    std::string_view name;
};

inline constexpr error_code_row error_code_table[] = {
    {error_code::entity_already_exists, 409, "EntityAlreadyExists"},
    {error_code::table_already_exists, 409, "TableAlreadyExists"},
    {error_code::table_being_deleted, 409, "TableBeingDeleted"},
    {error_code::resource_not_found, 404, "ResourceNotFound"},
    {error_code::table_not_found, 404, "TableNotFound"},
    {error_code::update_condition_not_satisfied, 412, "UpdateConditionNotSatisfied"},
    {error_code::entity_too_large, 400, "EntityTooLarge"},
    {error_code::property_value_too_large, 400, "PropertyValueTooLarge"},
    {error_code::property_name_too_long, 400, "PropertyNameTooLong"},
    {error_code::property_name_invalid, 400, "PropertyNameInvalid"},
    {error_code::too_many_properties, 400, "TooManyProperties"},
    {error_code::duplicate_properties_specified, 400, "DuplicatePropertiesSpecified"},
    {error_code::properties_need_value, 400, "PropertiesNeedValue"},
    {error_code::key_value_too_large, 400, "KeyValueTooLarge"},
    {error_code::invalid_input, 400, "InvalidInput"},
    {error_code::out_of_range_input, 400, "OutOfRangeInput"},
    {error_code::invalid_resource_name, 400, "InvalidResourceName"},
    {error_code::invalid_duplicate_row, 400, "InvalidDuplicateRow"},
    {error_code::commands_in_batch_act_on_different_partitions, 400, "CommandsInBatchActOnDifferentPartitions"},
    {error_code::request_body_too_large, 413, "RequestBodyTooLarge"},
    {error_code::not_implemented, 501, "NotImplemented"},
    {error_code::authentication_failed, 403, "AuthenticationFailed"},
    {error_code::authorization_failure, 403, "AuthorizationFailure"},
    {error_code::internal_error, 500, "InternalError"},
    {error_code::operation_timed_out, 500, "OperationTimedOut"},
    {error_code::server_busy, 503, "ServerBusy"},
    {error_code::other_service_error, 0, "OtherServiceError"},
    {error_code::not_supported, 0, "NotSupported"},
    {error_code::cancelled, 0, "Cancelled"},
    {error_code::deadline_exceeded, 0, "DeadlineExceeded"},
    {error_code::transport_failed, 0, "TransportFailed"},
    {error_code::query_too_complex, 0, "QueryTooComplex"},
    {error_code::key_not_splittable, 0, "KeyNotSplittable"},
    {error_code::key_reserved, 0, "KeyReserved"},
    {error_code::operation_id_taken, 0, "OperationIdTaken"},
    {error_code::operation_void, 0, "OperationVoid"},
    {error_code::row_malformed, 0, "RowMalformed"},
    {error_code::row_mismatch, 0, "RowMismatch"},
    {error_code::continuation_invalid, 0, "ContinuationInvalid"},
    {error_code::store_busy, 0, "StoreBusy"},
    {error_code::store_full, 0, "StoreFull"},
    {error_code::store_corrupt, 0, "StoreCorrupt"},
    {error_code::store_foreign, 0, "StoreForeign"},
    {error_code::store_newer, 0, "StoreNewer"},
    {error_code::store_failed, 0, "StoreFailed"},
    {error_code::checkpoint_invalid, 0, "CheckpointInvalid"},
    {error_code::index_not_ready, 0, "IndexNotReady"},
    {error_code::index_definition_differs, 0, "IndexDefinitionDiffers"},
    {error_code::shard_moving, 0, "ShardMoving"},
    {error_code::shard_moved, 0, "ShardMoved"},
    {error_code::shard_unmapped, 0, "ShardUnmapped"},
    {error_code::map_unavailable, 0, "MapUnavailable"},
    {error_code::shard_map_invalid, 0, "ShardMapInvalid"},
    {error_code::receipt_lost, 0, "ReceiptLost"},
    {error_code::saga_differs, 0, "SagaDiffers"},
    {error_code::view_not_ready, 0, "ViewNotReady"},
    {error_code::placement_forbidden, 0, "PlacementForbidden"},
    {error_code::backup_incomplete, 0, "BackupIncomplete"},
    {error_code::reference_missing, 0, "ReferenceMissing"},
    {error_code::wrong_store, 0, "WrongStore"},
    {error_code::store_read_only, 0, "StoreReadOnly"},
    {error_code::declaration_differs, 0, "DeclarationDiffers"},
    {error_code::declaration_missing, 0, "DeclarationMissing"},
    {error_code::already_made, 0, "AlreadyMade"},
    {error_code::sync_running, 0, "SyncRunning"},
    {error_code::many_removals, 0, "ManyRemovals"},
    {error_code::lane_lost, 0, "LaneLost"},
    {error_code::log_trimmed, 0, "LogTrimmed"},
    {error_code::group_behind, 0, "GroupBehind"},
    {error_code::group_missing, 0, "GroupMissing"},
};

} // namespace detail

ENTITABLE_END_NAMESPACE
