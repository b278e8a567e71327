// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/settling.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL write_outcome outcome_by_comparing(
    mutation const& change, get_entity::response const* found, bool alone) noexcept {
    bool const there = found != nullptr;
    if (there && !change.condition.any() && change.condition.version() == found->etag) {
        return write_outcome::not_applied; // the entity was not changed since
    }
    bool applied = false;
    switch (change.kind) {
        case mutation_kind::insert: applied = there && same_properties(found->entity, change.entity); break;
        case mutation_kind::remove: applied = alone && !there; break;
        case mutation_kind::replace:
        case mutation_kind::insert_or_replace:
            applied = alone && there && change.condition.any() && same_properties(found->entity, change.entity);
            break;
        case mutation_kind::merge:
        case mutation_kind::insert_or_merge:
            applied = alone && there && change.condition.any() && holds_properties(found->entity, change.entity);
            break;
    }
    return applied ? write_outcome::applied : write_outcome::unknown;
}

} // namespace detail

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
