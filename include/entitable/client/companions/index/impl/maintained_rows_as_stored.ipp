// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Writes of entities as they are stored, for code that has read them.
#pragma once

#include <entitable/client/companions/index/detail/logged_writes.hpp>
#include <entitable/client/companions/index/detail/maintained_rows.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<logged_changes> maintained_rows::changes(
    std::string_view partition_key, log_position const& after) const {
    return read_logged_changes(*family_, partition_key, after, {});
}

ENTITABLE_DECL maintained_row maintained_rows::kind_of(
    std::string_view partition_key, std::string_view row_key) const noexcept {
    if (family_->type_of(partition_key, row_key) != nullptr) { return maintained_row::entity; }
    bool const made =
        std::ranges::any_of(family_->shapes, [&](index_shape const& each) { return each.has(partition_key, row_key); });
    return made ? maintained_row::companion : maintained_row::unlisted;
}

ENTITABLE_DECL profile maintained_rows::limits() const {
    profile limits = family_->main.store().profile();
    std::size_t most = 1; // operations for a changed entity: its own, and a removal and an addition for each companion
    std::size_t rows = 1; // rows with the content of one entity: its own, and one in each index
    for (entity_type const& each : family_->types) {
        std::size_t operations = 1 + 2 * each.sums.size();
        std::size_t copies = 1;
        for (index_shape const& shape : family_->shapes) {
            operations += shape.of == each.type ? 2U : 0U;
            copies += shape.of == each.type ? 1U : 0U;
        }
        most = (std::max)(most, operations);
        rows = (std::max)(rows, copies);
    }
    limits.operation_ids = false; // the id of a request is not the id of the transaction
    std::size_t changes = limits.max_operations / most;
    if (family_->log) {
        auto const operations = [&](std::size_t entities) {
            return entities * most + 2 * (std::min)(entities, family_->log->lanes);
        };
        while (changes > 1 && operations(changes) > limits.max_operations) { --changes; }
        limits.max_transaction_size -= log_bytes(limits, changes, family_->log->lanes);
    }
    limits.max_operations = (std::max)(std::size_t{1}, changes);
    limits.max_transaction_size /= rows;
    return limits;
}

ENTITABLE_DECL shared<companion_writer> maintained_rows::through(any_store store, call_options options) const {
    table_options how = family_->options;
    how.calls = options;
    how.seed = 0; // a new family must not repeat the names of intents
    table_core main{std::move(store), family_->main.name(), std::move(options)};
    auto family = shared<index_family>::make(std::move(main), family_->shapes, family_->places, family_->derive,
        family_->types, std::move(how), family_->log);
    family->share_states_of(*family_);
    return shared<companion_writer>{new maintained_rows{std::move(family)}};
}

ENTITABLE_DECL std::optional<std::size_t> maintained_rows::position_of_taken(
    transact const& changes, std::string_view keys) const {
    for (std::size_t at = 0; at < changes.changes.size(); ++at) {
        mutation const& each = changes.changes[at];
        if (each.kind == mutation_kind::remove || system_row::is_one(each.entity.row_key())) { continue; }
        auto const rows = family_->rows_for(each.entity.view());
        if (!rows) { continue; }
        for (std::size_t index = 0; index < rows->size(); ++index) {
            std::optional<row> const& made = (*rows)[index];
            if (made && family_->shapes[index].unique && keys_text(made->partition_key(), made->row_key()) == keys) {
                return at;
            }
        }
    }
    return std::nullopt;
}

ENTITABLE_DECL result<transact::response> maintained_rows::write_known(
    transact const& changes, function_ref<std::optional<row_view>(std::string_view row_key)> known) const {
    ENTITABLE_CHECK(validate(changes, family_->main.store().profile()));
    std::string const partition_key{changes.changes.front().entity.partition_key()};
    auto const body = [&](transaction_scope& all) -> result<void> {
        for (mutation const& each : changes.changes) {
            std::string_view const row_key = each.entity.row_key();
            if (!each.condition.any() && !system_row::is_one(row_key)) {
                std::optional<row_view> const found = known(row_key);
                if (found && each.condition.accepts(found->etag())) { static_cast<void>(all.rows.take(*found)); }
            }
            all.change(each.kind, row{each.entity}, true, each.condition, each.sums);
            ENTITABLE_CHECK(all.rows.problem());
        }
        return {};
    };
    auto made = write_maintained_rows(*family_, partition_key, transaction_with(family_->options), body);
    if (!made) {
        failure refused = std::move(made).as_failure();
        error& why = refused.error();
        if (why.effect != effect::none || why.detail.empty()) { return refused; }
        for (std::size_t at = 0; at < changes.changes.size() && !why.operation_index; ++at) {
            row const& each = changes.changes[at].entity;
            if (why.detail == keys_text(each.partition_key(), each.row_key())) { why.operation_index = at; }
        }
        if (!why.operation_index && why.code == error_code::entity_already_exists) {
            why.operation_index = position_of_taken(changes, why.detail);
        }
        return refused;
    }
    result<transact::response> told{std::in_place};
    for (mutation const& each : changes.changes) {
        written one;
        one.etag = made->take_version(each.entity.row_key());
        one.after_retry = made->told.after_retry;
        told->results.push_back(std::move(one));
    }
    return told;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
