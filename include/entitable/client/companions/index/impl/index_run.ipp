// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/companions/index/detail/index_writer.hpp>
#include <entitable/client/companions/index/detail/logged_writes.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> check_entity_version(
    transaction_scope& all, std::string_view row_key, etag_condition const& condition) {
    if (condition.any()) { return {}; }
    ENTITABLE_TRY(auto const stored, all.find_row(row_key));
    if (!stored) { return failure{error_code::resource_not_found, "the entity does not exist"}; }
    if (!condition.accepts(all.version_of(row_key))) {
        return failure{error_code::update_condition_not_satisfied, "the entity was changed since it was read"};
    }
    return {};
}

ENTITABLE_DECL result<maintained_write> write_maintained_rows(
    index_family const& family, result<std::string> partition_key, transaction_options options, transaction_body body) {
    // Only intents need a name: without them, a seed is drawn only before the first delay.
    options.seed = family.options.seed != 0 || family.has_rows_elsewhere() ? family.fresh_seed() : 0;
    if (!partition_key) { return std::move(partition_key).as_failure(); }
    call context{family.main.options(), *options.time};
    context.location = read_location::primary;
    auto known = family.states_to_write(context);
    if (!known) {
        failure why = std::move(known).as_failure();
        if (!context.operation_id.empty()) {
            why.error().effect = effect::unknown; // an earlier call under the id may have been applied
        }
        return why;
    }
    index_writer writer{family, *std::move(known), context, options.seed};
    auto const send = [&](transaction_scope& all, bool announces) { return writer.send(all, announces); };
    ENTITABLE_TRY(auto made, run_transaction(family.main, *partition_key, options, body, send));
    if (made.changed && !writer.states().all_kept() && !writer.states().has_lease(*options.time)) {
        // The known states have expired: an index may have been built in the meantime without this write.
        auto const mend = [&]() -> result<void> {
            ENTITABLE_CHECK(family.read_states(context));
            if (family.log && !writer.states().keeps(family.log->companion)) {
                ENTITABLE_CHECK(log_again(family, *partition_key, writer.entities()));
            }
            for (std::string const& row_key : writer.entities()) {
                ENTITABLE_CHECK(mend_entity(family, {*partition_key, row_key}, context));
            }
            return {};
        };
        if (auto mended = mend(); !mended) {
            failure not_acknowledged{mended.error()};
            not_acknowledged.error().effect = effect::unknown; // the entity is written, and an index row may be missing
            return not_acknowledged;
        }
    }
    result<maintained_write> done{std::in_place};
    if (made.changed) {
        done->entities = writer.take_entities();
        done->versions = writer.take_versions();
    }
    done->told = {made.attempts, made.changed, made.after_retry, capped(writer.healed()), capped(writer.unsettled())};
    return done;
}

ENTITABLE_DECL result<transacted> rekey_row(table_core const& table, result<row> from, result<row> to) {
    if (!from || !to) { return std::move(from ? to : from).as_failure(); }
    auto const body = [&](transaction_scope& all) -> result<void> {
        if (from->row_key() == to->row_key()) {
            all.change(mutation_kind::replace, *to, true);
            return {};
        }
        all.change(mutation_kind::remove, row{from->partition_key(), from->row_key(), {}}, true);
        all.change(mutation_kind::insert, *to, false);
        return {};
    };
    return run_transaction(table, std::string{from->partition_key()}, {}, body);
}

ENTITABLE_DECL result<void> mend_entity(index_family const& family, row_keys const& entity, call const& context) {
    rows_elsewhere elsewhere{family, context, family.fresh_seed()};
    transaction_options const options = transaction_with(family.options, elsewhere.draw());
    index_rows rows;
    auto const same_partition = [&](transaction_scope& all) -> result<void> {
        ENTITABLE_TRY(auto const main, all.find_row(entity.row_key));
        ENTITABLE_TRY(rows, family.rows_for(main));
        for (std::size_t index = 0; index < rows.size(); ++index) {
            if (!rows[index] || family.shapes[index].elsewhere) { continue; }
            ENTITABLE_TRY(auto const stored, all.find_row(rows[index]->row_key()));
            if (stored && same_properties(*stored, rows[index]->view())) { continue; }
            if (stored && family.shapes[index].unique) {
                ENTITABLE_TRY(auto const owner, family.shapes[index].owner_of(*stored, all.reading()));
                if (owner != entity) { // the key is taken over only from an entity that no longer has it
                    ENTITABLE_TRY(auto const other, all.find_now(owner.row_key));
                    ENTITABLE_TRY(auto const theirs, family.rows_for(other));
                    if (theirs[index] && theirs[index]->row_key() == rows[index]->row_key()) { continue; }
                }
            }
            all.change(mutation_kind::insert_or_replace, *rows[index], true);
        }
        return {};
    };
    auto const send = [](transaction_scope& all, bool announces) { return send_transaction(all, announces); };
    ENTITABLE_CHECK(run_transaction(family.main, entity.partition_key, options, same_partition, send));
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if (!rows[index] || !family.shapes[index].elsewhere) { continue; }
        row_keys const keys = row_keys_of(rows[index]->view());
        ENTITABLE_TRY(auto const stored, elsewhere.read(family.places[index], keys));
        if (!stored) {
            auto made = elsewhere.write(family.places[index], mutation::insert(*rows[index]));
            if (!made && made.error().code != error_code::entity_already_exists &&
                made.error().effect == effect::none) {
                return std::move(made).as_failure();
            }
        }
        ENTITABLE_CHECK(elsewhere.settle(index, keys, entity)); // the entity may have changed since it was read
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
