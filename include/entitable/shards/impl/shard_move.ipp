// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/row/detail/row_digest.hpp>
#include <entitable/shards/detail/shard_tables.hpp>
#include <entitable/shards/shard_move.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The content of a row without its Timestamp, which a copy does not keep.
inline void add_content(row_digest& digest, row_view each) {
    digest.add(each.partition_key);
    digest.add(each.row_key);
    std::string payload{each.payload};
    set_timestamp(payload, date_time{});
    digest.add(std::string_view{payload});
}

/// Reads a physical table page by page, system rows too; `take(page)` says whether to go on.
inline result<void> read_shard_table(
    any_transport const& from, std::string const& table, function_ref<result<bool>(page const&)> take) {
    query_entities asked{table, {}, {}, {}, 1000, {}};
    do {
        call context;
        ENTITABLE_TRY(auto found, from.execute(asked, context));
        ENTITABLE_TRY(bool const goes_on, take(found.rows));
        if (!goes_on) {
            return failure{error_code::cancelled, "the move was stopped"};
        }
        asked.continuation = std::move(found.continuation);
    } while (asked.continuation);
    return {};
}

struct table_content {
    std::uint64_t rows{};
    std::uint64_t bytes{};
    std::uint64_t digest{};
};
inline result<table_content> content_of(any_transport const& from, std::string const& table) {
    table_content made;
    row_digest digest;
    auto const add = [&](page const& rows) -> result<bool> {
        for (std::size_t index = 0; index < rows.size(); ++index) {
            add_content(digest, rows[index]);
        }
        made.rows += rows.size();
        made.bytes += rows.bytes();
        return true;
    };
    ENTITABLE_CHECK(read_shard_table(from, table, add));
    made.digest = digest.value();
    return made;
}

/// Inserts rows of one partition into a table that only this attempt knows. One whose answer was lost is sent again: the source does not
/// change any more, so that a batch that is there already is this one.
inline result<void> insert_rows(any_transport const& to, transact const& batch) {
    constexpr int most_sendings = 20;
    for (int sending = 1;; ++sending) {
        call context;
        auto const done = to.execute(batch, context);
        if (done || (sending > 1 && done.error().code == error_code::entity_already_exists)) {
            return {};
        }
        if (done.error().effect != effect::unknown || sending == most_sendings) {
            return failure{done.error()};
        }
    }
}

/// Writes a page, a batch for each partition or part of one.
inline result<void> insert_page(any_transport const& to, std::string const& table, page const& rows) {
    entitable::profile const limits = to.profile();
    transact batch{table, {}};
    std::size_t bytes = 0;
    auto const flush = [&]() -> result<void> {
        if (!batch.changes.empty()) {
            ENTITABLE_CHECK(insert_rows(to, batch));
            batch.changes.clear();
            bytes = 0;
        }
        return {};
    };
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
        std::size_t const size = 3 * service_size(each) + 2'000; // what it may be in a request
        bool const another =
            !batch.changes.empty() && batch.changes.front().entity.partition_key() != each.partition_key;
        if (another || batch.changes.size() >= limits.max_operations || bytes + size > limits.max_transaction_size) {
            ENTITABLE_CHECK(flush());
        }
        batch.changes.push_back(mutation::insert(row{each.partition_key, each.row_key, each.payload}));
        bytes += size;
    }
    return flush();
}

inline failure taken_over() {
    return failure{error_code::shard_moving, "another process has taken the move over, or has ended it"};
}

/// Drops tables that nobody uses, and takes them out of the list.
inline result<void> drop_retired(sharded_state& state, std::int32_t shard) {
    for (;;) {
        ENTITABLE_TRY(auto const map, state.map.state().fresh({}));
        shard_place const& place = map->places.at(static_cast<std::size_t>(shard));
        if (place.retired.empty()) {
            return {};
        }
        shard_retired const old = place.retired.front();
        for (shard_table const& each : map->tables) {
            if (each.epoch < old.until) {
                ENTITABLE_CHECK(drop_shard_table(
                    state, old.store, shard_table_name(each.name, shard, (std::max)(old.epoch, each.epoch)), {}));
            }
        }
        ENTITABLE_CHECK(
            state.map.state().change(shard, {}, [&](shard_map_copy const&, shard_map_draft& draft) -> result<bool> {
                auto const at = std::find_if(draft.retired.begin(), draft.retired.end(),
                    [&](shard_retired const& each) { return each.store == old.store && each.epoch == old.epoch; });
                if (at == draft.retired.end()) {
                    return false;
                }
                draft.retired.erase(at);
                return true;
            }));
    }
}

/// Opens the shard at its source again; the tables of the attempt are to be dropped.
inline result<void> end_attempt(sharded_state& state, std::int32_t shard) {
    ENTITABLE_CHECK(
        state.map.state().change(shard, {}, [&](shard_map_copy const&, shard_map_draft& draft) -> result<bool> {
            shard_map_row& row = draft.row;
            if (row.attempt_owner.empty()) {
                return false;
            }
            draft.retired.push_back({row.attempt_store, row.attempt_epoch, draft.header.next_epoch});
            row.state = "open";
            row.attempt_owner.clear();
            row.attempt_store.clear();
            row.attempt_epoch = 0;
            return true;
        }));
    return drop_retired(state, shard);
}

} // namespace detail

ENTITABLE_DECL std::string_view to_string(move_step step) noexcept {
    constexpr std::string_view words[] = {
        "taking over", "sealing", "waiting", "copying", "verifying", "flipping", "dropping", "done"};
    return words[static_cast<std::size_t>(step)];
}

ENTITABLE_DECL result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options) {
    detail::sharded_state& state = cloud.state();
    ENTITABLE_TRY(auto const map, state.map.state().fresh({}));
    if (shard < 0 || static_cast<std::size_t>(shard) >= map->places.size() || !detail::is_store_name(target)) {
        return failure{error_code::invalid_input, "there is no such virtual shard, or this is no name of a store"};
    }
    detail::shard_place const& place = map->places[static_cast<std::size_t>(shard)];
    if (place.row.store == target) {
        return failure{
            error_code::invalid_input, text::joined({"the virtual shard is in the store ", target, " already"})};
    }
    ENTITABLE_TRY(auto const source, state.store(place.row.store));
    ENTITABLE_TRY(auto const reached, state.store(target));
    {
        call context;
        ENTITABLE_CHECK(reached.execute(list_tables{{}, 1}, context));
    }
    move_plan plan{cloud};
    plan.shard = shard;
    plan.source = place.row.store;
    plan.target = std::move(target);
    plan.lease = std::chrono::milliseconds{place.row.lease_ms};
    for (detail::shard_table const& each : map->tables) {
        if (!each.dropping) {
            ENTITABLE_TRY(auto const content,
                detail::content_of(
                    source, detail::shard_table_name(each.name, shard, (std::max)(place.row.epoch, each.epoch))));
            plan.rows += content.rows;
            plan.bytes += content.bytes;
            ++plan.tables;
        }
    }
    plan.options_ = std::move(options);
    if (plan.options_.owner.empty()) {
        plan.options_.owner = guid::random().to_string();
    }
    return plan;
}

ENTITABLE_DECL std::string move_plan::explain() const {
    std::uint64_t const pages = rows / 1000 + tables;
    return text::joined({"move virtual shard ", std::to_string(shard), " from ", source, " to ", target, ": ",
        std::to_string(tables), " tables, ", std::to_string(rows), " rows, ", std::to_string(bytes), " bytes\n",
        "  reads: about ", std::to_string(3 * pages), " pages; writes: ", std::to_string(rows / 100 + tables), " to ",
        std::to_string(rows), " batches, one at least for each partition\n", "  the shard is sealed for the lease of ",
        std::to_string(lease.count()), " ms and the time of the copy; other shards go on\n"});
}

ENTITABLE_DECL result<void> cancel_move(sharded const& cloud, std::int32_t shard) {
    ENTITABLE_TRY(auto const map, cloud.state().map.state().fresh({}));
    if (shard < 0 || static_cast<std::size_t>(shard) >= map->places.size()) {
        return failure{error_code::invalid_input, "there is no such virtual shard"};
    }
    return detail::end_attempt(cloud.state(), shard);
}

ENTITABLE_DECL result<move_progress> move_plan::run(move_watcher const& watch) {
    detail::sharded_state& state = cloud_.state();
    detail::lookup_map_state& map = state.map.state();
    move_progress progress;
    auto const tell = [&](move_step step) -> result<void> {
        progress.step = step;
        if (watch && !watch(progress)) {
            return failure{error_code::cancelled, "the move was stopped"};
        }
        return {};
    };
    ENTITABLE_CHECK(tell(move_step::taking_over));
    ENTITABLE_CHECK(detail::end_attempt(state, shard));

    ENTITABLE_CHECK(tell(move_step::sealing));
    std::int64_t epoch = 0;
    std::vector<detail::shard_table> moved;
    std::int64_t source_epoch = 0;
    ENTITABLE_CHECK(
        map.change(shard, {}, [&](detail::shard_map_copy const&, detail::shard_map_draft& draft) -> result<bool> {
            shard_map_row& row = draft.row;
            if (row.store == target) {
                epoch = 0;
                return false; // somebody else has moved it there
            }
            if (row.state != "open" || !row.attempt_owner.empty() || row.store != source) {
                return detail::taken_over();
            }
            if (std::any_of(draft.tables.begin(), draft.tables.end(), [](auto const& each) { return each.dropping; })) {
                return failure{error_code::shard_moving, "a table is being dropped"};
            }
            lease = std::chrono::milliseconds{row.lease_ms};
            epoch = draft.header.next_epoch++;
            source_epoch = row.epoch;
            moved = draft.tables;
            row.state = "sealed";
            row.attempt_owner = options_.owner;
            row.attempt_store = target;
            row.attempt_epoch = epoch;
            return true;
        }));
    if (epoch == 0) {
        ENTITABLE_CHECK(tell(move_step::done));
        return progress;
    }
    // From the answer of the change on, by the own clock; 2 % for the rates of both clocks, taken three times.
    ENTITABLE_CHECK(tell(move_step::waiting));
    options_.time->wait_until(options_.time->steady() + lease + lease * 6 / 100 + std::chrono::milliseconds{1});

    ENTITABLE_TRY(auto const from, state.store(source));
    ENTITABLE_TRY(auto const to, state.store(target));
    for (detail::shard_table const& each : moved) {
        std::string const new_name = detail::shard_table_name(each.name, shard, epoch);
        call context;
        auto const made = to.execute(create_table{new_name}, context);
        if (!made && made.error().effect == effect::none) {
            return failure{made.error()};
        }
        std::string const old_name = detail::shard_table_name(each.name, shard, (std::max)(source_epoch, each.epoch));
        auto const take = [&](page const& found) -> result<bool> {
            ENTITABLE_CHECK(detail::insert_page(to, new_name, found));
            progress.rows += found.size();
            progress.bytes += found.bytes();
            ENTITABLE_CHECK(tell(move_step::copying));
            return true;
        };
        ENTITABLE_CHECK(detail::read_shard_table(from, old_name, take));
    }
    ENTITABLE_CHECK(tell(move_step::verifying));
    for (detail::shard_table const& each : moved) {
        ENTITABLE_TRY(auto const old_content,
            detail::content_of(from, detail::shard_table_name(each.name, shard, (std::max)(source_epoch, each.epoch))));
        ENTITABLE_TRY(
            auto const new_content, detail::content_of(to, detail::shard_table_name(each.name, shard, epoch)));
        if (old_content.rows != new_content.rows || old_content.digest != new_content.digest) {
            return failure{error_code::row_mismatch,
                text::joined({"the copy of the table ", each.name, " has ", std::to_string(new_content.rows),
                    " rows, the table ", std::to_string(old_content.rows),
                    ", or they differ: another program than a client of the map writes"})};
        }
    }
    ENTITABLE_CHECK(tell(move_step::flipping));
    ENTITABLE_CHECK(
        map.change(shard, {}, [&](detail::shard_map_copy const&, detail::shard_map_draft& draft) -> result<bool> {
            shard_map_row& row = draft.row;
            if (row.epoch == epoch) {
                return false; // by an earlier sending of this change
            }
            if (row.attempt_owner != options_.owner || row.attempt_epoch != epoch || row.state != "sealed") {
                return detail::taken_over();
            }
            draft.retired.push_back({row.store, row.epoch, epoch});
            row.state = "open";
            row.store = target;
            row.epoch = epoch;
            row.attempt_owner.clear();
            row.attempt_store.clear();
            row.attempt_epoch = 0;
            return true;
        }));
    if (!options_.keep_old_tables) {
        ENTITABLE_CHECK(tell(move_step::dropping));
        ENTITABLE_CHECK(detail::drop_retired(state, shard));
    }
    ENTITABLE_CHECK(tell(move_step::done));
    return progress;
}

ENTITABLE_END_NAMESPACE
