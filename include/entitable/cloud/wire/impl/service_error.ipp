// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/service_error.hpp>
#include <entitable/core/error.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure refused(std::uint16_t status, std::string_view word, std::string_view message) {
    failure made{error_code::other_service_error, std::string{message}};
    made.error().http_status = status;
    made.error().server_message = word;
    return made;
}

ENTITABLE_DECL failure refused_input(std::string_view message) { return refused(400, "InvalidInput", message); }

/// Returns the service's text for codes with a fixed text; empty for other codes.
ENTITABLE_DECL std::string_view usual_text(error_code code) noexcept {
    switch (code) {
        case error_code::entity_already_exists: return "The specified entity already exists.";
        case error_code::table_already_exists: return "The table specified already exists.";
        case error_code::table_being_deleted: return "The specified table is being deleted. Try operation later.";
        case error_code::resource_not_found: return "The specified resource does not exist.";
        case error_code::table_not_found: return "The table specified does not exist.";
        case error_code::update_condition_not_satisfied:
            return "The update condition specified in the request was not satisfied.";
        case error_code::entity_too_large: return "The entity is larger than the maximum allowed size (1MB).";
        case error_code::commands_in_batch_act_on_different_partitions:
            return "All commands in a batch must operate on same entity group.";
        case error_code::invalid_duplicate_row:
            return "The batch request contains multiple changes with same row key. An entity can appear only once in a "
                   "batch request.";
        case error_code::internal_error:
            return "Server encountered an internal error. Please try again after some time.";
        case error_code::operation_timed_out: return "The operation could not be completed within the permitted time.";
        case error_code::server_busy: return "The server is busy.";
        default: return {};
    }
}

ENTITABLE_DECL service_error service_error_of_refusal(error const& refusal) {
    if (refusal.code == error_code::other_service_error) {
        return {refusal.http_status, refusal.server_message, refusal.message, refusal.operation_index};
    }
    return service_error_of_transport(refusal);
}

ENTITABLE_DECL service_error service_error_of_transport(error const& problem) {
    error_code code = problem.code;
    bool own_words = false; // this text describes the request and names neither a store nor another service
    switch (code) {
        case error_code::not_supported: code = error_code::not_implemented; break;
        case error_code::cancelled:
        case error_code::deadline_exceeded: code = error_code::operation_timed_out; break;
        case error_code::store_busy: code = error_code::server_busy; break;
        case error_code::query_too_complex:
        case error_code::continuation_invalid:
        case error_code::key_reserved: code = error_code::invalid_input; break;
        default: break;
    }
    std::uint16_t status = http_status_of(code);
    if (status == 0) {
        code = error_code::internal_error;
        status = 500;
    }
    own_words = status >= 400 && status < 500 && problem.server_message.empty();
    std::string_view text = usual_text(code);
    if (text.empty()) {
        text = own_words ? std::string_view{problem.message} : "One of the request inputs is not valid.";
    }
    return {status, std::string{to_string(code)}, std::string{text}, problem.operation_index};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
