// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/settling.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL settling::settling(
    std::string table, std::string_view partition_key, std::string_view operation_id, bool is_there)
    : writing_{table, mutation::insert(operation_row::make_void(partition_key, operation_id))},
      reading_{std::move(table), std::string{partition_key}, operation_row::row_key(operation_id), {}},
      reads_(is_there) {}

ENTITABLE_DECL void settling::answer(result<written> voided, steady_time) {
    if (voided) {
        outcome_.emplace(write_outcome::not_applied);
    } else if (voided.error().code == error_code::entity_already_exists) {
        reads_ = true;
    } else {
        outcome_.emplace(std::move(voided).as_failure());
    }
}

ENTITABLE_DECL void settling::answer(result<get_entity::response> found, steady_time) {
    if (found) {
        found_ = std::move(found->entity);
        outcome_.emplace(!operation_row::is_one(found_) ? write_outcome::unknown
                : operation_row::is_void(found_)        ? write_outcome::not_applied
                                                        : write_outcome::applied);
    } else if (found.error().code == error_code::resource_not_found) {
        outcome_.emplace(write_outcome::unknown); // the row was removed before it was read: it may have been void
    } else {
        outcome_.emplace(std::move(found).as_failure());
    }
}

ENTITABLE_END_NAMESPACE
