// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/write_outcome.hpp>

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
ENTITABLE_END_NAMESPACE
