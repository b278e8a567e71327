// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/logged_writes.hpp>
#include <entitable/client/companions/index/detail/maintained_rows.hpp>
#include <entitable/client/update.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL table_core core_of(shared<index_family> const& family) {
    table_core const& main = family->main;
    return {main.store(), main.name(), main.options(), shared<companion_writer>{new maintained_rows{family}}};
}

/// The options of a call. Options with default values are taken from the table.
ENTITABLE_DECL transaction_options with_table(transaction_options options, index_family const& family) {
    transaction_options const by_default;
    transaction_options const of_table = transaction_with(family.options);
    if (options.max_attempts == by_default.max_attempts) { options.max_attempts = of_table.max_attempts; }
    if (options.delays == by_default.delays) { options.delays = of_table.delays; }
    if (options.time == by_default.time) { options.time = of_table.time; }
    return options;
}

/// Adds one change of a batch to a body.
ENTITABLE_DECL result<void> add_change_of_batch(transaction_scope& all, mutation const& each, bool removes) {
    ENTITABLE_CHECK(check_entity_version(all, each.entity.row_key(), each.condition));
    if (removes) {
        ENTITABLE_TRY(auto const stored, all.find_row(each.entity.row_key()));
        if (!stored) { return failure{error_code::resource_not_found, "the entity does not exist"}; }
        all.change(mutation_kind::replace, changed_row(*stored, each.entity), false);
    } else {
        all.rows.add(each.kind, row{each.entity}, any_etag, each.sums, true);
    }
    return all.rows.problem();
}

[[nodiscard]] inline written written_after(transacted const& told, etag version) {
    return {std::move(version), told.after_retry, capped(told.attempts), told.healed, told.unsettled};
}

ENTITABLE_DECL result<transact::response> maintained_rows::write(
    transact const& changes, std::span<std::size_t const> removing) const {
    auto const sound = [&] { return validate(changes, family_->main.store().profile()); };
    if (removing.empty() && are_only_logged(changes.changes)) { return write_logged(*family_, transact{changes}); }
    // A single change is validated with its transaction, before anything is written.
    bool const alone = changes.changes.size() == 1 && removing.empty() && !family_->has_rows_elsewhere();
    if (!alone) { ENTITABLE_CHECK(sound()); }
    std::string const partition_key{changes.changes.front().entity.partition_key()};
    if (changes.changes.size() == 1 && removing.empty() && has_no_companions(changes.changes.front())) {
        ENTITABLE_TRY(written made, write_alone(mutation{changes.changes.front()}));
        result<transact::response> told{std::in_place};
        told->results.push_back(std::move(made));
        return told;
    }
    std::optional<std::size_t> at;
    auto const body = [&](transaction_scope& all) -> result<void> {
        for (std::size_t index = 0; index < changes.changes.size(); ++index) {
            at = index;
            bool const removes = std::find(removing.begin(), removing.end(), index) != removing.end();
            ENTITABLE_CHECK(add_change_of_batch(all, changes.changes[index], removes));
        }
        at.reset();
        return {};
    };
    auto made = write_maintained_rows(*family_, partition_key, transaction_with(family_->options), body);
    if (!made) {
        failure refused = std::move(made).as_failure();
        if (alone && refused.error().effect == effect::none) { ENTITABLE_CHECK(sound()); }
        for (std::size_t index = 0; index < changes.changes.size() && !at; ++index) {
            row const& entity = changes.changes[index].entity;
            if (refused.error().detail == keys_text(entity.partition_key(), entity.row_key())) { at = index; }
        }
        if (at && refused.error().effect == effect::none) { refused.error().operation_index = at; }
        return refused;
    }
    result<transact::response> told{std::in_place};
    for (mutation const& each : changes.changes) {
        told->results.push_back(written_after(made->told, made->take_version(each.entity.row_key())));
    }
    return told;
}

ENTITABLE_DECL bool maintained_rows::has_no_companions(mutation const& change) const noexcept {
    if (family_->maintains_all || family_->log) { return false; }
    entity_type const* const of = family_->type_of(change.entity.partition_key(), change.entity.row_key());
    return of != nullptr && !of->maintained();
}

ENTITABLE_DECL bool maintained_rows::are_only_logged(std::span<mutation const> changes) const noexcept {
    if (!family_->log || family_->maintains_all || !family_->main.options().operation_id.empty()) { return false; }
    if (changes.empty()) { return false; } // refused by the validation of all others
    return std::ranges::all_of(changes, [&](mutation const& each) {
        if (system_row::is_one(each.entity.row_key())) { return true; }
        entity_type const* const of = family_->type_of(each.entity.partition_key(), each.entity.row_key());
        return of != nullptr && !of->maintained();
    });
}

ENTITABLE_DECL result<written> maintained_rows::write_one(mutation&& change) const {
    if (are_only_logged({&change, 1})) {
        transact request{family_->main.name(), {}};
        request.changes.reserve(3);
        request.changes.push_back(std::move(change));
        auto made = write_logged(*family_, std::move(request));
        if (made) { return std::move(made->results.front()); }
        failure refused = std::move(made).as_failure();
        refused.error().operation_index.reset(); // the caller did not write a batch
        return refused;
    }
    auto const sound = [&]() -> result<void> {
        transact alone{family_->main.name(), {}};
        alone.changes.push_back(change);
        auto good = validate(alone, family_->main.store().profile());
        if (good) { return good; }
        failure refused = std::move(good).as_failure();
        refused.error().operation_index.reset(); // the caller did not write a batch
        return refused;
    };
    // The change is validated with its transaction, or before the rows elsewhere, which are written first.
    bool const validated_first = family_->has_rows_elsewhere();
    if (validated_first) { ENTITABLE_CHECK(sound()); }
    if (has_no_companions(change)) { return write_alone(std::move(change)); }
    std::string const partition_key{change.entity.partition_key()};
    auto const body = [&](transaction_scope& all) { return add_change_of_batch(all, change, false); };
    auto made = write_maintained_rows(*family_, partition_key, transaction_with(family_->options), body);
    if (made) { return written_after(made->told, made->take_version(change.entity.row_key())); }
    if (!validated_first && made.error().effect == effect::none) { ENTITABLE_CHECK(sound()); }
    return std::move(made).as_failure();
}

ENTITABLE_DECL result<written> maintained_rows::write_alone(mutation&& change) const {
    call context{family_->main.options(), *family_->options.time};
    context.location = read_location::primary;
    ENTITABLE_CHECK(family_->states_to_write(context));
    ENTITABLE_TRY(written made, family_->main.write(std::move(change)));
    made.attempts = 1;
    return made;
}

ENTITABLE_DECL result<transacted> maintained_rows::run(result<std::string> partition_key,
    transaction_options const& options, function_ref<result<void>(transaction_scope&)> body) const {
    ENTITABLE_TRY(auto const made,
        write_maintained_rows(*family_, std::move(partition_key), with_table(options, *family_), body));
    return made.told;
}

ENTITABLE_DECL result<update_outcome> maintained_rows::update(std::string const& partition_key,
    std::string const& row_key, row_change change, update_options const& options) const {
    etag version;
    auto const body = [&](transaction_scope& all) -> result<void> {
        ENTITABLE_TRY(auto const stored, all.find_row(row_key));
        if (!stored) { return failure{error_code::resource_not_found, "the entity does not exist"}; }
        version = all.version_of(row_key);
        ENTITABLE_TRY(auto changed, change(*stored));
        if (changed) { all.change(mutation_kind::replace, *std::move(changed), false); }
        return {};
    };
    transaction_options const how =
        with_table({options.max_attempts, options.delays, options.time, options.seed}, *family_);
    ENTITABLE_TRY(auto made, write_maintained_rows(*family_, partition_key, how, body));
    if (made.told.changed) { version = made.take_version(row_key); }
    return update_outcome{std::move(version), made.told.attempts, made.told.changed, made.told.after_retry,
        made.told.healed, made.told.unsettled};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
