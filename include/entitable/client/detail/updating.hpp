// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `entity_update`: the update of one entity as an operation, with the program's change.

#include <entitable/client/detail/change.hpp>
#include <entitable/client/detail/update_operation.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Updates one entity. `Change` is the change, or a reference to a change that must outlive this object. Must not be moved.
template <class Entity, class Change>
class entity_update {
public:
    /// `make(row_change)` returns the operation of the row.
    template <class Make>
    entity_update(Change change, entitable::reading reading, Make const& make)
        : change_(std::forward<Change>(change)), reading_(reading), updating_(make(row_change{*this})) {}
    entity_update(entity_update const&) = delete;
    entity_update& operator=(entity_update const&) = delete;

    /// Changes one row, for `to_update`.
    result<std::optional<row>> operator()(row_view stored) {
        outcome_->entity = Entity{};
        ENTITABLE_CHECK(from_row(stored, outcome_->entity, reading_));
        if (!apply_change(change_, outcome_->entity)) { return std::optional<row>{}; }
        return changed_entity(stored, to_row(outcome_->entity));
    }
    /// Prepares the call: the entity will be replaced, so it is read from the primary location.
    static void prepare(call& context) noexcept { context.location = read_location::primary; }

    [[nodiscard]] operation_step next() const noexcept { return updating_.next(); }
    void answer(result<get_entity::response> found, steady_time now) { updating_.answer(std::move(found), now); }
    void answer(result<written> done, steady_time now) { updating_.answer(std::move(done), now); }
    void abandon(error const& reason) { updating_.abandon(reason); }
    [[nodiscard]] result<updated<Entity>> finish() {
        ENTITABLE_TRY(auto done, updating_.finish());
        updated<Entity>& made = *outcome_;
        updated_parts{
            &made.entity, made.etag, made.attempts, made.changed, made.after_retry, made.healed, made.unsettled}
            .take(std::move(done));
        return std::move(outcome_);
    }

private:
    Change change_;
    entitable::reading reading_;
    result<updated<Entity>> outcome_{std::in_place};
    update_operation updating_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
