// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/lost_stores.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>

#include <algorithm>
#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Gives up a store, step by step. Each step is a change to the map that may have been made already: a resumed call
/// skips completed steps, and waits again.
class forgetting_store {
public:
    forgetting_store(fleet const& of, std::string_view name, std::vector<std::string> const& into)
        : of_(of),
          map_(of.cloud().state().map.state()),
          name_(name),
          into_(into),
          owner_(guid::random().to_string()),
          reason_(text::joined({"its store ", name, " is lost"})) {}

    result<lost_store> run() {
        if (of_.cloud().state().fixed) {
            return failure{error_code::not_supported,
                "hashed stores have no map: replace the store, or copy the others to the next generation"};
        }
        told_.store = name_;
        // A shard that is split or opened in the meantime is handled in the next round.
        for (int round = 0; round < most_rounds; ++round) {
            ENTITABLE_TRY(auto const lost, choose(round == 0));
            if (lost.empty() && round > 0) { return std::move(told_); }
            ENTITABLE_CHECK(seal(lost));
            ENTITABLE_CHECK(forget());
            for (lost_shard const& each : lost) { ENTITABLE_CHECK(place(each)); }
        }
        return failure{
            error_code::shard_moving, text::joined({"other programs keep opening shards of the store ", name_})};
    }

private:
    static constexpr std::size_t most_rows = 90; // maximum number of rows in one change of the map
    static constexpr int most_rounds = 10;       // maximum number of rounds under concurrent changes

    [[nodiscard]] bool is_given_up(shard_map_row const& row) const {
        return row.state == "sealed" && row.reason == reason_;
    }
    /// Whether old tables are lost with the store. An emptied store may have tables of an earlier attempt of this call.
    [[nodiscard]] auto is_lost() const {
        bool const stays = std::find(into_.begin(), into_.end(), name_) != into_.end();
        return [this, stays](shard_retired const& each) { return !stays && each.store == name_; };
    }
    /// Whether a shard that is to stay in the store of this name has lost everything there. A shard that was placed
    /// earlier has new tables, and perhaps rows.
    result<bool> has_lost_all(shard_map_copy const& map, shard_place const& place) {
        if (is_given_up(place.row)) { return true; }
        ENTITABLE_TRY(auto const through, of_.cloud().state().stores.open(name_));
        std::string there;
        std::size_t missing = 0;
        for (shard_table const& table : map.tables) {
            if (table.dropping) { continue; }
            call context;
            auto const found = through.execute(query_of_any_row(place.table_name(table)), context);
            if (!found && found.error().code != error_code::table_not_found) { return failure{found.error()}; }
            missing += found ? 0U : 1U;
            there = found ? table.name : there;
        }
        if (missing > 0 && !there.empty()) {
            return failure{error_code::invalid_input,
                text::joined({"the virtual shard ", std::to_string(place.row.shard), " still has the table ", there,
                    " in the store ", name_, ": call repair_tables to create its missing tables"})};
        }
        return missing > 0 || (there.empty() && is_unmarked_); // in a map without tables only the identity shows this
    }

    /// Chooses the new store of each shard, and checks everything that can be refused, before anything is changed.
    result<std::vector<lost_shard>> choose(bool first) {
        std::vector<lost_shard> lost;
        ENTITABLE_TRY(auto const map, map_.fresh({}));
        ENTITABLE_TRY(auto const rules, rules_of(of_.cloud().map()));
        std::map<std::string, std::size_t> shards; // number of shards in each permitted store
        if (into_.empty()) {
            ENTITABLE_TRY(auto const known, of_.stores());
            for (std::string const& each : known) { shards[each]; }
            shards.erase(name_);
        }
        for (std::string const& each : into_) { shards[each]; }
        for (shard_place const& place : map->places) {
            if (auto const known = shards.find(place.row.store); known != shards.end() && place.row.store != name_) {
                ++known->second;
            }
        }
        told_.rules.clear();
        told_.tables.clear();
        if (shards.find(name_) != shards.end()) { // the store opener may return a wrong store
            ENTITABLE_TRY(auto const through, of_.cloud().state().stores.open(name_));
            ENTITABLE_TRY(auto const rows, read_store_rows(through, name_));
            ENTITABLE_CHECK(judge_identity(rows, map->identity, name_, false));
            is_unmarked_ = map->lists(name_) && !rows.identity;
        }
        for (placement_rule const& rule : rules.all()) {
            if (list_contains(rule.stores, name_)) { told_.rules.push_back(rule.name); }
        }
        for (shard_table const& each : map->tables) {
            if (!each.dropping) { told_.tables.push_back(each.name); }
        }
        for (shard_place const& place : map->places) {
            if (place.row.store != name_) { continue; }
            if (shards.find(name_) != shards.end()) {
                ENTITABLE_TRY(bool const all, has_lost_all(*map, place));
                if (!all) { continue; }
            }
            std::string const* best = nullptr;
            result<void> why;
            for (auto const& [store, number] : shards) {
                if (auto allowed = rules.allows(place.row.shard, store); !allowed) {
                    why = std::move(allowed);
                } else if (best == nullptr || number < shards.at(*best)) {
                    best = &store;
                }
            }
            if (best == nullptr) {
                return why ? failure{error_code::invalid_input,
                                 text::joined({"no other store can take the shards of ", name_})}
                           : std::move(why).as_failure();
            }
            ++shards.at(*best);
            lost.push_back({place.row.shard, place.row.low, place.row.high, *best});
        }
        if (first && lost.empty() && shards.find(name_) != shards.end()) {
            return failure{error_code::invalid_input,
                text::joined({"the store ", name_, " still has every table of its shards, so it is not lost"})};
        }
        return lost;
    }

    /// Ensures that reads and writes of the shards stop once the leases of older copies of the map have expired.
    result<void> seal(std::vector<lost_shard> const& lost) {
        std::int64_t lease_ms = 0;
        for (lost_shard const& each : lost) {
            ENTITABLE_CHECK(map_.change({}, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
                shard_row_draft* const row = draft.edit(map, each.shard);
                if (row == nullptr || row->row.store != name_) { return false; }
                lease_ms = (std::max)(lease_ms, row->row.open_lease_ms);
                if (is_given_up(row->row)) { return false; }
                if (!row->row.attempt_owner.empty()) { end_attempt(map, draft, row->row, *row); }
                row->row.state = "sealed";
                row->row.lease_ms = 0;
                row->row.reason = reason_;
                return true;
            }));
        }
        // Counts from the response to the last change, even if nothing was changed: the process that changed it may have ended before
        // waiting. Adds three margins of 2 % for the drift of both clocks.
        std::chrono::milliseconds const lease{lease_ms};
        of_.options().time->wait_until(
            of_.options().time->steady() + lease + lease * 6 / 100 + std::chrono::milliseconds{1});
        return {};
    }

    /// Removes the store from the map, except for shards still recorded in it.
    result<void> forget() {
        for (bool left = true; left;) {
            std::size_t attempts = 0;
            std::size_t retired = 0;
            ENTITABLE_CHECK(map_.change({}, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
                left = false;
                attempts = retired = 0;
                for (shard_place const& place : map.places) {
                    bool const moves =
                        place.row.attempt_store == name_ && !is_given_up(place.row); // if not, it is placed below
                    if (!moves && std::none_of(place.retired.begin(), place.retired.end(), is_lost())) { continue; }
                    if (draft.rows.size() >= most_rows) {
                        left = true;
                        break;
                    }
                    shard_row_draft& row = *draft.edit(map, place.row.shard);
                    if (moves && !row.row.attempt_owner.empty()) {
                        end_attempt(map, draft, row.row, row);
                        ++attempts;
                    }
                    retired += std::erase_if(row.retired, is_lost());
                }
                if (map.lists(name_)) {
                    ENTITABLE_TRY(auto keys, to_row(shard_map_store{"map", name_, {}}));
                    draft.others.push_back(mutation::remove(std::move(keys), any_etag));
                }
                return !draft.rows.empty() || !draft.others.empty();
            }));
            told_.attempts += attempts;
            told_.retired += retired;
        }
        ENTITABLE_CHECK(map_.fresh({}));
        return {};
    }

    /// Gives a shard new tables. The attempt is recorded in the map while the tables are created, so that a takeover drops them.
    result<void> place(lost_shard const& lost) {
        sharded_state& state = of_.cloud().state();
        for (int round = 0; round < most_rounds; ++round) {
            ENTITABLE_CHECK(list_store(state, lost.now_in));
            std::int64_t epoch = 0;
            bool listed = true; // false if that store was forgotten at the same time
            std::vector<shard_table> tables;
            ENTITABLE_CHECK(map_.change({}, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
                epoch = 0;
                shard_row_draft* const row = draft.edit(map, lost.shard);
                if (row == nullptr || row->row.store != name_ || !is_given_up(row->row)) {
                    return false; // the shard was placed by another call
                }
                listed = map.identity.empty() || map.lists(lost.now_in);
                if (!listed) { return false; }
                if (!row->row.attempt_owner.empty()) {
                    end_attempt(map, draft, row->row, *row);
                    std::erase_if(row->retired, is_lost());
                }
                epoch = draft.header.next_epoch++;
                tables = draft.tables;
                row->row.state = "sealed";
                row->row.lease_ms = 0;
                row->row.attempt_owner = owner_;
                row->row.attempt_store = lost.now_in;
                row->row.attempt_epoch = epoch;
                return true;
            }));
            if (!listed) { continue; }
            if (epoch == 0) { return {}; }
            ENTITABLE_TRY(auto const through, state.store(lost.now_in));
            for (shard_table const& each : tables) {
                if (each.dropping) { continue; }
                call context;
                auto const made = through.execute(
                    create_table{shard_table_name(each.name, lost.shard, (std::max)(epoch, each.epoch)), true},
                    context);
                if (!made && made.error().code != error_code::table_already_exists) { return failure{made.error()}; }
            }
            bool done = false;
            ENTITABLE_CHECK(map_.change({}, [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
                shard_row_draft* const row = draft.edit(map, lost.shard);
                done = row != nullptr && row->row.epoch == epoch; // applied by an earlier send
                if (done || row == nullptr || row->row.attempt_owner != owner_ || row->row.attempt_epoch != epoch) {
                    return false;
                }
                clear_attempt(row->row);
                row->row.store = lost.now_in;
                row->row.epoch = epoch;
                row->row.tables_of.reset();
                row->row.reason.clear();
                row->row.until = {};
                return done = true;
            }));
            if (done) {
                std::erase_if(told_.shards, [&](lost_shard const& each) { return each.shard == lost.shard; });
                told_.shards.push_back(lost);
                return {};
            }
        }
        return failure{error_code::shard_moving,
            text::joined({"too many conflicts with other changes of the virtual shard ", std::to_string(lost.shard)})};
    }

    fleet const& of_;
    lookup_map_state& map_;
    std::string name_;
    std::vector<std::string> const& into_;
    std::string owner_;
    std::string reason_; ///< stored reason of a shard that is given up, until it is placed
    lost_store told_;
    bool is_unmarked_{}; ///< the store that the shards are to stay in has no identity, and had one
};

} // namespace detail

ENTITABLE_DECL std::string lost_store::to_string() const {
    std::string out = text::joined({"the store ", store, " is forgotten: ", std::to_string(shards.size()),
        " virtual shards lost the rows of ", std::to_string(tables.size()), " tables\n"});
    for (lost_shard const& each : shards) {
        out += text::joined({"  ", std::to_string(each.shard), each.low.empty() ? "" : " from \"",
            text::printable(each.low), each.low.empty() ? "" : "\"", each.high.empty() ? "" : " below \"",
            text::printable(each.high), each.high.empty() ? "" : "\"", " is empty, now in ", each.now_in, "\n"});
    }
    if (attempts + retired > 0) {
        out += text::joined({"  ", std::to_string(attempts), " moves into it were cancelled, ", std::to_string(retired),
            " old tables in it will not be dropped\n"});
    }
    for (std::string const& each : rules) {
        out += text::joined({"  the rule \"", each, "\" still names the store\n"});
    }
    return out;
}

ENTITABLE_DECL result<lost_store> forget_store(
    fleet const& of, std::string_view name, accepting_loss_t, std::vector<std::string> const& into) {
    return detail::forgetting_store{of, name, into}.run();
}

ENTITABLE_DECL result<std::size_t> repair_tables(fleet const& of, accepting_loss_t) {
    detail::sharded_state& state = of.cloud().state();
    ENTITABLE_TRY(auto const map, state.map.state().fresh({}));
    std::size_t made = 0;
    for (detail::shard_place const& place : map->places) {
        ENTITABLE_TRY(auto const through, state.store(place.row.store));
        for (detail::shard_table const& each : map->tables) {
            if (each.dropping) { continue; }
            call context;
            auto const done = through.execute(create_table{place.table_name(each), true}, context);
            if (!done && done.error().code != error_code::table_already_exists) { return failure{done.error()}; }
            made += done ? 1U : 0U;
        }
    }
    return made;
}

ENTITABLE_END_NAMESPACE
