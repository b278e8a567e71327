// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/index/detail/index_run.hpp>
#include <entitable/index/detail/index_writer.hpp>
#include <entitable/row/compare.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> check_entity_version(
    transaction_scope& all, std::string_view row_key, etag_condition const& condition) {
    if (condition.any()) {
        return {};
    }
    ENTITABLE_TRY(auto const stored, all.find(std::string{row_key}));
    if (!stored) {
        return failure{error_code::resource_not_found, "there is no such entity"};
    }
    if (!condition.accepts(all.version_of(row_key))) {
        return failure{error_code::update_condition_not_satisfied, "the entity was changed since it was read"};
    }
    return {};
}

ENTITABLE_DECL result<indexed> write_indexed(
    index_family const& family, result<std::string> partition_key, transaction_options options, transaction_body body) {
    options.seed = family.fresh_seed();
    if (!partition_key) {
        return std::move(partition_key).as_failure();
    }
    call context{family.main.options(), *options.time};
    context.location = read_location::primary;
    ENTITABLE_TRY(index_states const known, family.states(context));
    index_writer writer{family, known, context, options.seed};
    auto const send = [&](transaction_scope& all, bool announces) { return writer.send(all, announces); };
    auto made = run_transaction(family.main, *partition_key, options, body, send);
    if (!made) {
        return std::move(made).as_failure();
    }
    if (made->changed && !known.all_kept() && options.time->steady() >= known.until) {
        // What was known of the states is over: an index may be built by now that this write has left out.
        auto const mend = [&]() -> result<void> {
            ENTITABLE_CHECK(family.read_states(context));
            for (std::string const& row_key : writer.entities()) {
                ENTITABLE_CHECK(mend_entity(family, {*partition_key, row_key}, context));
            }
            return {};
        };
        if (auto mended = mend(); !mended) {
            failure not_acknowledged{mended.error()};
            not_acknowledged.error().effect = effect::unknown; // the entity is written, and an index row may lack
            return not_acknowledged;
        }
    }
    return indexed{made->changed ? writer.version() : etag{}, made->attempts, made->changed, made->after_retry,
        writer.healed(), writer.unsettled()};
}

ENTITABLE_DECL result<void> mend_entity(index_family const& family, row_keys const& entity, call const& context) {
    rows_elsewhere elsewhere{family, context, family.fresh_seed()};
    transaction_options const options = transaction_with(family.options, elsewhere.draw());
    index_rows rows;
    auto const same_partition = [&](transaction_scope& all) -> result<void> {
        ENTITABLE_TRY(auto const main, all.find(entity.row_key));
        ENTITABLE_TRY(rows, family.rows_for(main));
        for (std::size_t index = 0; index < rows.size(); ++index) {
            if (!rows[index] || family.shapes[index].elsewhere) {
                continue;
            }
            ENTITABLE_TRY(auto const stored, all.find(std::string{rows[index]->row_key()}));
            if (stored && same_properties(*stored, rows[index]->view())) {
                continue;
            }
            if (stored && family.shapes[index].unique) {
                ENTITABLE_TRY(auto const owner, family.shapes[index].owner_of(*stored, all.reading()));
                if (owner != entity) { // taken over only from one that has it no more
                    ENTITABLE_TRY(auto const other, all.find_now(owner.row_key));
                    ENTITABLE_TRY(auto const theirs, family.rows_for(other));
                    if (theirs[index] && theirs[index]->row_key() == rows[index]->row_key()) {
                        continue;
                    }
                }
            }
            all.change(mutation_kind::insert_or_replace, *rows[index], true);
        }
        return {};
    };
    auto const send = [](transaction_scope& all, bool announces) { return send_transaction(all, announces); };
    ENTITABLE_CHECK(run_transaction(family.main, entity.partition_key, options, same_partition, send));
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if (!rows[index] || !family.shapes[index].elsewhere) {
            continue;
        }
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

ENTITABLE_DECL result<void> set_index_state(index_family const& family, std::size_t index, index_state state) {
    call context{family.main.options(), *family.options.time};
    return family.set_state(index, state, context);
}

ENTITABLE_DECL result<bool> create_indexed(index_family const& family) {
    ENTITABLE_TRY(bool const made, family.main.create_if_absent());
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        if (family.shapes[index].elsewhere) {
            ENTITABLE_CHECK(family.places[index].create_if_absent());
        }
        if (made) {
            ENTITABLE_CHECK(set_index_state(family, index, index_state::ready));
        }
    }
    return made;
}

ENTITABLE_DECL result<void> drop_indexed(index_family const& family) {
    ENTITABLE_CHECK(family.main.drop());
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        if (family.shapes[index].elsewhere) {
            ENTITABLE_CHECK(family.places[index].drop_if_present());
        }
    }
    return {};
}

ENTITABLE_DECL result<index_repair> build_index(index_family const& family, std::size_t index) {
    call context{family.main.options(), *family.options.time};
    ENTITABLE_TRY(auto const before, family.stored_state_of(index, context));
    bool const others_may_leave_it_out = before.state == index_state::retired ||
        (before.state != index_state::absent && before.definition != family.shapes[index].definition);
    ENTITABLE_CHECK(family.set_state(index, index_state::building, context));
    if (others_may_leave_it_out) {
        clock& time = *family.options.time;
        auto const wait = family.options.lease + family.options.longest_request;
        ENTITABLE_CHECK(
            wait_until(time.steady() + std::chrono::duration_cast<steady_time::duration>(wait), context, time));
    }
    ENTITABLE_TRY(index_repair done, repair_indexes(family));
    ENTITABLE_TRY(auto const now, family.stored_state_of(index, context));
    if (now.state != index_state::building || now.definition != family.shapes[index].definition) {
        return failure{
            error_code::update_condition_not_satisfied, "the state of the index was changed while it was built"};
    }
    ENTITABLE_CHECK(family.set_state(index, index_state::ready, context));
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
