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

/// Replaces a row of sums, or inserts it: `made` returns its values after the change. `place` returns the row without sums.
ENTITABLE_DECL result<void> put_sums(transaction_scope& all, std::string_view row_key,
    function_ref<result<row>()> place, function_ref<result<row>(row_view const* before)> made) {
    ENTITABLE_TRY(auto const stored, all.find_row(row_key));
    if (!stored && !all.context().operation_id.empty()) {
        ENTITABLE_TRY(row empty, place());
        return insert_sums(all, std::move(empty));
    }
    auto changed = made(stored ? &*stored : nullptr);
    if (!changed) { return std::move(changed).as_failure(); }
    all.change(stored ? mutation_kind::replace : mutation_kind::insert, std::move(changed), false);
    return all.rows.problem();
}

/// Adds a removed entity to the archive row of its sums. The row of sums is written with the same values: a recomputation that has read it
/// then starts over, and reads the archive row again.
ENTITABLE_DECL result<void> archive_in_sums(
    transaction_scope& all, counted_type const& how, std::string const& sums_key, void const* entity, row_view stored) {
    std::string const row_key = text::joined({system_row::sum, sums_key});
    auto const place = [&] { return how.place(entity, stored); };
    auto const archived = [&](result<row> const& sums) -> result<row> {
        if (!sums) { return failure{sums.error()}; }
        return row{sums->partition_key(), row_key, sums->payload()};
    };
    ENTITABLE_CHECK(put_sums(
        all, row_key, [&] { return archived(place()); },
        [&](row_view const* before) {
            row_view sums = before != nullptr ? *before : row_view{};
            sums.row_key = sums_key;
            return archived(how.fold(before != nullptr ? &sums : nullptr, nullptr, entity, stored, all.reading()));
        }));
    return put_sums(all, sums_key, place,
        [&](row_view const* before) { return before != nullptr ? result<row>{row{*before}} : place(); });
}

ENTITABLE_DECL result<void> index_writer::find_places(
    counted_entity const& one, counted_type const& how, changed_places& at) const {
    auto const find = [&]() -> result<void> {
        if (one.rows.before) { ENTITABLE_CHECK(how.key(one.before.get(), *one.rows.before, at.from.emplace())); }
        if (one.rows.after) { ENTITABLE_CHECK(how.key(one.after.get(), *one.rows.after, at.to.emplace())); }
        if (at.from && at.to && *at.from == *at.to) {
            ENTITABLE_TRY(bool const same, how.alike(one.before.get(), one.after.get(), *one.rows.before));
            if (same) { at = {}; }
        }
        return {};
    };
    auto found = find();
    if (found) { return found; }
    return of_companion(
        std::move(found).as_failure(), family_.shapes[how.companion].described(), row_keys_of(one.any_row()));
}

ENTITABLE_DECL result<void> index_writer::change_sums(
    transaction_scope& all, counted_entity const& one, counted_type const& how) const {
    changed_places at;
    ENTITABLE_CHECK(find_places(one, how, at));
    auto const put = [&](std::string const& row_key, void const* less, void const* more) {
        return put_sums(
            all, row_key, [&] { return how.place(less != nullptr ? less : more, one.any_row()); },
            [&](row_view const* sums) { return how.fold(sums, less, more, one.any_row(), all.reading()); });
    };
    auto const change = [&]() -> result<void> {
        if (at.from && one.rows.archived) {
            return archive_in_sums(all, how, *at.from, one.before.get(), *one.rows.before);
        }
        if (at.from && at.to && *at.from == *at.to) { return put(*at.from, one.before.get(), one.after.get()); }
        if (at.from) { ENTITABLE_CHECK(put(*at.from, one.before.get(), nullptr)); }
        return at.to ? put(*at.to, nullptr, one.after.get()) : result<void>{};
    };
    auto changed = change();
    if (changed) { return changed; }
    return of_companion(
        std::move(changed).as_failure(), family_.shapes[how.companion].described(), row_keys_of(one.any_row()));
}

ENTITABLE_DECL result<void> index_writer::add_sums(transaction_scope& all) {
    for (counted_entity const& each : counted_) {
        for (counted_type const& how : each.of->sums) {
            if (states_->keeps(how.companion)) { ENTITABLE_CHECK(change_sums(all, each, how)); }
        }
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
