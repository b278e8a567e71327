// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Inserts an empty row of sums, and starts over. Under an operation id a missing row cannot be inserted together with the entity: if another
/// writer inserts it first, the refusal is not about a version, and abandons the id.
ENTITABLE_DECL result<void> insert_sums(transaction_scope& all, row empty) {
    call own = all.context();
    own.operation_id.clear();
    auto const made = all.transport().execute(write_entity{all.rows.table(), mutation::insert(std::move(empty))}, own);
    if (!made && made.error().effect == effect::none && made.error().code != error_code::entity_already_exists) {
        return failure{made.error()};
    }
    all.rows.begin_again();
    return failure{error_code::update_condition_not_satisfied, "a row of sums was added, and the write starts over"};
}

/// Adds an entity to its row of sums, or subtracts it.
ENTITABLE_DECL result<void> change_sums(
    transaction_scope& all, counted_type const& how, row place, row_view entity, bool add) {
    ENTITABLE_TRY(auto const stored, all.find(std::string{place.row_key()}));
    if (!stored && !all.context().operation_id.empty()) { return insert_sums(all, std::move(place)); }
    ENTITABLE_TRY(row made, how.fold(stored ? *stored : place.view(), entity, add, all.reading()));
    all.change(stored ? mutation_kind::replace : mutation_kind::insert, std::move(made), false);
    return all.rows.problem();
}

/// Whether an entity counts as before in the same row: then the row is not written. A recomputation relies on that.
ENTITABLE_DECL result<bool> counts_as_before(
    counted_type const& how, row const& place, row_view before, row_view after, reading mode) {
    ENTITABLE_TRY(row const without, how.fold(place.view(), before, false, mode));
    ENTITABLE_TRY(row const changed, how.fold(without.view(), after, true, mode));
    return changed.payload() == place.payload();
}

ENTITABLE_DECL result<void> index_writer::add_sums(transaction_scope& all) {
    for (counted_entity const& each : counted_) {
        // Both stay valid: what follows changes rows of sums alone.
        std::optional<row_view> const before = all.rows.stored_at(each.row_key);
        std::optional<row_view> const after = all.rows.now_at(each.row_key);
        for (counted_type const& how : each.of->sums) {
            if (!states_.keeps(how.companion)) { continue; }
            std::optional<row> from;
            std::optional<row> to;
            if (before) { ENTITABLE_TRY(from, how.place(*before, all.reading())); }
            if (after) { ENTITABLE_TRY(to, how.place(*after, all.reading())); }
            if (from && to && from->row_key() == to->row_key()) {
                ENTITABLE_TRY(bool const same, counts_as_before(how, *from, *before, *after, all.reading()));
                if (same) { continue; }
            }
            if (from) { ENTITABLE_CHECK(change_sums(all, how, *std::move(from), *before, false)); }
            if (to) { ENTITABLE_CHECK(change_sums(all, how, *std::move(to), *after, true)); }
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
