// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Inserts an empty row of sums, and starts over. Under an operation id a missing row cannot be inserted together with the entity: if
/// another writer inserts it first, the refusal is not a version conflict, so it would make the operation id unusable.
ENTITABLE_DECL result<void> insert_sums(transaction_scope& all, row empty) {
    call own = all.context();
    own.operation_id.clear();
    auto const made = all.store().execute(write_entity{all.rows.table(), mutation::insert(std::move(empty))}, own);
    if (!made && made.error().effect == effect::none && made.error().code != error_code::entity_already_exists) {
        return failure{made.error()};
    }
    all.rows.begin_again();
    return failure{error_code::update_condition_not_satisfied, "a row of sums was added, and the write starts over"};
}

/// Replaces a row of sums, or inserts it: `made` returns its values after the change.
ENTITABLE_DECL result<void> put_sums(
    transaction_scope& all, row place, function_ref<result<row>(row_view before)> made) {
    ENTITABLE_TRY(auto const stored, all.find(std::string{place.row_key()}));
    if (!stored && !all.context().operation_id.empty()) { return insert_sums(all, std::move(place)); }
    ENTITABLE_TRY(row changed, made(stored ? *stored : place.view()));
    all.change(stored ? mutation_kind::replace : mutation_kind::insert, std::move(changed), false);
    return all.rows.problem();
}

/// Adds an entity to its row of sums, or subtracts it.
ENTITABLE_DECL result<void> change_sums(
    transaction_scope& all, counted_type const& how, row place, row_view entity, bool add) {
    return put_sums(
        all, std::move(place), [&](row_view before) { return how.fold(before, entity, add, all.reading()); });
}

/// Adds a removed entity to the archive row of its sums. The row of sums is written with the same values: a recomputation that has read it
/// then starts over, and reads the archive row again.
ENTITABLE_DECL result<void> archive_in_sums(
    transaction_scope& all, counted_type const& how, row place, row_view entity) {
    std::string const row_key = text::joined({system_row::sum, place.row_key()});
    ENTITABLE_CHECK(
        put_sums(all, row{place.partition_key(), row_key, place.payload()}, [&](row_view before) -> result<row> {
            before.row_key = place.row_key();
            ENTITABLE_TRY(row const made, how.fold(before, entity, true, all.reading()));
            return row{made.partition_key(), row_key, made.payload()};
        }));
    return put_sums(all, std::move(place), [](row_view before) { return result<row>{row{before}}; });
}

/// Whether a change of an entity leaves its row of sums unchanged. The row is then not written; a recomputation relies
/// on that.
ENTITABLE_DECL result<bool> counts_as_before(
    counted_type const& how, row const& place, row_view before, row_view after, reading mode) {
    ENTITABLE_TRY(row const without, how.fold(place.view(), before, false, mode));
    ENTITABLE_TRY(row const changed, how.fold(without.view(), after, true, mode));
    return changed.payload() == place.payload();
}

ENTITABLE_DECL result<index_writer::changed_places> index_writer::places_of(
    transaction_scope& all, counted_entity const& one, counted_type const& how) const {
    reading const mode = all.reading();
    std::optional<row_view> const before = all.rows.stored_at(one.row_key);
    std::optional<row_view> const after = all.rows.now_at(one.row_key);
    auto const find = [&]() -> result<changed_places> {
        result<changed_places> at{std::in_place};
        if (before) { ENTITABLE_TRY(at->from, how.place(*before, mode)); }
        if (after) { ENTITABLE_TRY(at->to, how.place(*after, mode)); }
        if (at->from && at->to && at->from->row_key() == at->to->row_key()) {
            ENTITABLE_TRY(bool const same, counts_as_before(how, *at->from, *before, *after, mode));
            if (same) { *at = {}; }
        }
        return at;
    };
    auto found = find();
    if (found) { return found; }
    return of_companion(std::move(found).as_failure(), family_.shapes[how.companion].described(),
        row_keys_of(after ? *after : *before));
}

ENTITABLE_DECL result<void> index_writer::add_sums(transaction_scope& all) {
    for (counted_entity const& each : counted_) {
        for (counted_type const& how : each.of->sums) {
            if (!states_.keeps(how.companion)) { continue; }
            ENTITABLE_TRY(changed_places at, places_of(all, each, how));
            auto& from = at.from;
            auto& to = at.to;
            // Both stay valid: the following code changes only rows of sums.
            std::optional<row_view> const before = all.rows.stored_at(each.row_key);
            std::optional<row_view> const after = all.rows.now_at(each.row_key);
            auto const change = [&]() -> result<void> {
                if (from && each.archived) { return archive_in_sums(all, how, *std::move(from), *before); }
                if (from) { ENTITABLE_CHECK(change_sums(all, how, *std::move(from), *before, false)); }
                if (to) { ENTITABLE_CHECK(change_sums(all, how, *std::move(to), *after, true)); }
                return {};
            };
            if (auto changed = change(); !changed) {
                return of_companion(std::move(changed).as_failure(), family_.shapes[how.companion].described(),
                    row_keys_of(after ? *after : *before));
            }
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
