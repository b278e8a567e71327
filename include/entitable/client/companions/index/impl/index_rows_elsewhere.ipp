// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_rows_elsewhere.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool rows_elsewhere::may_go_on(error const& problem) noexcept {
    if (problem.effect == effect::unknown || was_beaten(problem)) { return true; }
    switch (problem.code) {
        case error_code::transport_failed:
        case error_code::operation_timed_out:
        case error_code::server_busy:
        case error_code::internal_error: return true;
        default: return false;
    }
}

ENTITABLE_DECL result<void> rows_elsewhere::pause(contention& rivals, error const& because) {
    if (rivals.is_last() || !may_go_on(because)) { return failure{because}; }
    return rivals.wait(random_.unit(), call_, *family_.options.time);
}

ENTITABLE_DECL result<std::optional<get_entity::response>> rows_elsewhere::read(
    table_core const& in, row_keys const& keys) {
    for (contention rivals = contend();;) {
        auto found = in.store().execute(get_entity{in.name(), keys.partition_key, keys.row_key, {}}, call_);
        if (found) { return std::optional{*std::move(found)}; }
        if (found.error().code == error_code::resource_not_found) { return std::optional<get_entity::response>{}; }
        ENTITABLE_CHECK(pause(rivals, found.error()));
    }
}

ENTITABLE_DECL result<written> rows_elsewhere::write(table_core const& in, mutation change) {
    return in.store().execute(write_entity{in.name(), std::move(change)}, call_);
}

ENTITABLE_DECL result<std::vector<intent>> rows_elsewhere::intents_of(row_keys const& entity) {
    result<std::vector<intent>> all{std::in_place};
    query_entities asked;
    asked.table = family_.main.name();
    asked.range = {key_interval::only(entity.partition_key), intent::rows_of(entity.row_key)};
    page_cursor pages{std::move(asked)};
    for (contention rivals = contend(); pages.more();) {
        auto const found = pages.take(family_.main.store().execute(pages.request(), call_));
        if (!found) {
            ENTITABLE_CHECK(pause(rivals, found.error()));
            continue;
        }
        for (std::size_t at = 0; at < found->rows.size(); ++at) {
            ENTITABLE_TRY(intent read, intent::read(found->rows[at]));
            if (read.entity.row_key == entity.row_key) { // the intents of "a" and "a!b" are in one range
                all->push_back(std::move(read));
            }
        }
    }
    return all;
}

ENTITABLE_DECL result<std::optional<row>> rows_elsewhere::wanted(
    std::size_t index, row_keys const& keys, row_keys const& entity) {
    ENTITABLE_TRY(auto main, read(family_.main, entity));
    std::optional<row_view> stored;
    if (main) { stored = main->entity.view(); }
    ENTITABLE_TRY(index_rows rows, family_.rows_for(stored));
    std::optional<row>& one = rows[index];
    if (one && row_keys_of(one->view()) == keys) { return std::move(one); }
    return std::optional<row>{};
}

ENTITABLE_DECL result<bool> rows_elsewhere::is_free(
    std::size_t index, row_keys const& keys, row_keys const& owner, std::uint32_t attempts) {
    constexpr std::uint32_t patience = 3;
    ENTITABLE_TRY(auto intents, intents_of(owner));
    for (intent const& each : intents) {
        if (each.wants(family_.shapes[index].name, keys)) {
            // The intent's writer may still run. If not, the intent must be undone.
            if (attempts > patience) { ENTITABLE_CHECK(undo(each)); }
            return failure{error_code::update_condition_not_satisfied, "another writer is about to take this key"};
        }
    }
    ENTITABLE_TRY(auto const still, wanted(index, keys, owner));
    return !still;
}

ENTITABLE_DECL result<put_end> rows_elsewhere::put(
    std::size_t index, row const& made, row_keys const& entity, function_ref<result<void>()> may_write) {
    index_shape const& shape = family_.shapes[index];
    table_core const& place = family_.places[index];
    row_keys const keys = row_keys_of(made.view());
    bool missing = true;
    for (contention rivals = contend();;) {
        error why;
        if (missing) {
            ENTITABLE_CHECK(may_write());
            auto inserted = write(place, mutation::insert(made));
            if (inserted) { return put_end::done; }
            why = inserted.error();
            if (why.code != error_code::entity_already_exists && !may_go_on(why)) {
                return std::move(inserted).as_failure();
            }
        }
        ENTITABLE_TRY(auto const stored, read(place, keys));
        missing = !stored;
        if (stored) {
            if (shape.unique) {
                ENTITABLE_TRY(auto const owner, shape.owner_of(stored->entity, family_.main.options().reading));
                if (owner != entity) {
                    auto const free = is_free(index, keys, owner, rivals.attempt());
                    if (!free) {
                        ENTITABLE_CHECK(pause(rivals, free.error()));
                        continue;
                    }
                    if (!*free) { return put_end::taken; }
                }
            }
            ENTITABLE_CHECK(may_write());
            auto replaced = write(place, mutation::replace(made, stored->etag));
            if (replaced) { return put_end::done; }
            why = replaced.error();
            missing = false;
        } else if (why.code == error_code{}) {
            why = error{error_code::resource_not_found, "the index row was added and removed in between"};
        }
        if (missing && rivals.attempt() == 1) {
            rivals.next_at_once();
        } else {
            ENTITABLE_CHECK(pause(rivals, why));
        }
    }
}

ENTITABLE_DECL result<bool> rows_elsewhere::settle(std::size_t index, row_keys const& keys, row_keys const& entity) {
    index_shape const& shape = family_.shapes[index];
    table_core const& place = family_.places[index];
    for (contention rivals = contend();;) {
        // The order of these reads ensures correctness: a writer puts its row after its intent, and its entity after its row.
        ENTITABLE_TRY(auto const stored, read(place, keys));
        if (!stored) { return false; }
        ENTITABLE_TRY(auto const owner, shape.owner_of(stored->entity, family_.main.options().reading));
        if (owner != entity) { return false; }
        ENTITABLE_TRY(auto const intents, intents_of(entity));
        for (intent const& each : intents) {
            if (each.wants(shape.name, keys)) { return false; }
        }
        ENTITABLE_TRY(auto const right, wanted(index, keys, entity));
        if (right && same_properties(right->view(), stored->entity)) { return false; }
        auto done = right ? write(place, mutation::replace(*right, stored->etag))
                          : write(place, mutation::remove(row{keys.partition_key, keys.row_key, {}}, stored->etag));
        if (done) { return !right; }
        ENTITABLE_CHECK(pause(rivals, done.error()));
    }
}

ENTITABLE_DECL result<std::optional<intent_state>> rows_elsewhere::undo(intent const& one) {
    row_keys const keys{one.entity.partition_key, intent::row_key_of(one.entity.row_key, one.id)};
    for (contention rivals = contend();;) {
        ENTITABLE_TRY(auto const stored, read(family_.main, keys));
        if (!stored) { return std::optional<intent_state>{}; }
        ENTITABLE_TRY(intent const now, intent::read(stored->entity));
        if (now.state != intent_state::pending) { return std::optional{now.state}; }
        auto undone = write(family_.main, mutation::merge(one.state_row(intent_state::undone), stored->etag));
        if (undone) { return std::optional{intent_state::undone}; }
        ENTITABLE_CHECK(pause(rivals, undone.error()));
    }
}

ENTITABLE_DECL result<void> rows_elsewhere::apply(intent const& one) {
    if (one.state == intent_state::pending) {
        // Continues even if the intent is removed: an index row may have been put after its removal.
        ENTITABLE_CHECK(undo(one));
    }
    for (bool const before : {false, true}) {
        for (intent::move const& each : one.moves) {
            auto const index = family_.find(each.index);
            auto const& keys = before ? each.from : each.to;
            if (index && keys) { ENTITABLE_CHECK(settle(*index, *keys, one.entity)); }
        }
    }
    row_keys const keys{one.entity.partition_key, intent::row_key_of(one.entity.row_key, one.id)};
    for (contention rivals = contend();;) {
        ENTITABLE_TRY(auto const stored, read(family_.main, keys));
        if (!stored) { return {}; }
        auto gone = write(family_.main, mutation::remove(row{keys.partition_key, keys.row_key, {}}, stored->etag));
        if (gone) { return {}; }
        ENTITABLE_CHECK(pause(rivals, gone.error()));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
