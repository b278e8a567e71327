// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Defects of splits, merges and moves of halves, planted from outside: a layer between an operator and the stores changes its requests, and its
/// view of the map.

#include "range_operator.hpp"
#include <entitable/shards/map/detail/shard_map_rows.hpp>

#include <map>
#include <set>

namespace shard_world {

/// The defect of an operator.
enum class range_defect : std::uint8_t {
    none,
    takes_used_number, ///< a split uses the first number that no range currently has
    keeps_bound,       ///< a split does not change the bound of the lower half
    forgets_tables,    ///< a split does not record whose tables the upper half uses
    splits_attempts,   ///< a split does not check whether the range is being moved
    copies_whole,      ///< a half is copied with the bounds of the whole
    flips_whole,       ///< the row of a half gets the bounds of the whole at the flip
    drops_shared,      ///< a table that another range uses is dropped, although only some of its keys should be erased
    erases_used,       ///< the keys of the other range are erased with them
    erases_nothing,    ///< they are not erased
    copies_one,        ///< a merge copies only the lower range
    copies_late_rows,  ///< a merge copies from each table the keys of both ranges, including late rows of the other one
    closes_one,        ///< closing, draining and sealing change only one row of a merge
    keeps_upper,       ///< the flip of a merge changes only the lower row
    loses_upper,       ///< the flip of a merge removes only the upper row
    keeps_tables,      ///< the flip of a merge gives the lower range the keys of both, in its existing tables
    ends_one,          ///< the takeover of one row of a merge does not change the other one
};

/// An operator with a defect, as a resumable operation like the operator itself.
class range_saboteur {
public:
    template <class... Arguments>
    explicit range_saboteur(range_defect what, Arguments&&... arguments)
        : work_(std::forward<Arguments>(arguments)...), what_(what) {
        plant();
    }
    range_saboteur(range_saboteur const&) = delete;
    range_saboteur& operator=(range_saboteur const&) = delete;
    ~range_saboteur() = default;

    [[nodiscard]] operation_step next() const {
        operation_step due = work_.next();
        if (drop_) {
            due.request = request_ref{*drop_};
        } else if (query_) {
            due.request = request_ref{*query_};
        } else if (change_) {
            due.request = request_ref{*change_};
        }
        return due;
    }
    template <class Response>
        requires(!std::same_as<Response, void>)
    void answer(result<Response> answered, steady_time now) {
        if constexpr (std::same_as<Response, delete_table::response>) {
            if (drop_) { // instead of a query for rows
                work_.answer(result<query_entities::response>{query_entities::response{}}, now);
                plant();
                return;
            }
        }
        if constexpr (std::same_as<Response, query_entities::response>) {
            if (answered && what_ != range_defect::none) { spoil(*answered); }
        }
        work_.answer(std::move(answered), now);
        plant();
    }
    void abandon(error const& reason) {
        drop_.reset();
        query_.reset();
        change_.reset();
        work_.abandon(reason);
    }
    [[nodiscard]] int finish() { return work_.finish(); }

private:
    [[nodiscard]] bool is(range_defect what, task::kind doing) const {
        return what_ == what && work_.present().what == doing;
    }
    [[nodiscard]] move_step step() const {
        return work_.mover() != nullptr ? work_.mover()->progress().step : move_step{};
    }
    /// Whether a query of a table reads the rows to erase, and not the rows to copy.
    [[nodiscard]] bool erases() const { return step() == move_step::dropping || step() == move_step::taking_over; }

    // ---- answers ----

    void spoil(query_entities::response& found) {
        operation_step const due = work_.next();
        if (due.place == 0) {
            found.rows = spoiled_map(found.rows);
            return;
        }
        auto const& from = due.request.as<query_entities>()->range.partition.lower;
        bool const of_upper = is(range_defect::copies_one, task::kind::merge) && from.end != key_bound::kind::open &&
            text::compare_utf16(from.key, rows_[work_.present().upper].low) >= 0;
        if ((what_ == range_defect::erases_nothing && erases()) || (of_upper && !erases())) {
            found.rows.clear();
            found.continuation.reset();
        }
    }

    [[nodiscard]] page spoiled_map(page const& rows) {
        for (std::size_t index = 0; index < rows.size(); ++index) {
            if (rows[index].row_key != "header") {
                shard_map_row place;
                from_row(rows[index], place).value();
                rows_[place.shard] = place;
            }
        }
        page seen;
        for (std::size_t index = 0; index < rows.size(); ++index) {
            row_view const each = rows[index];
            std::string const version{each.etag().to_string()};
            row changed;
            if (each.row_key == "header") {
                shard_map_header header;
                from_row(each, header).value();
                number_ = header.number;
                if (is(range_defect::takes_used_number, task::kind::split)) { header.number = first_unused(rows); }
                changed = to_row(header).value();
            } else {
                shard_map_row place;
                from_row(each, place).value();
                if (is(range_defect::splits_attempts, task::kind::split)) {
                    set_attempt(place, {});
                } else if (is(range_defect::closes_one, task::kind::merge) && place.shard == work_.present().upper &&
                    place.attempt_with == work_.present().shard) {
                    place.state = rows_[work_.present().shard].state;
                }
                changed = to_row(place).value();
            }
            seen.append({changed.partition_key(), changed.row_key(), changed.payload(), version});
        }
        return seen;
    }
    [[nodiscard]] static std::int32_t first_unused(page const& rows) {
        std::set<std::int32_t> used;
        for (std::size_t index = 0; index < rows.size(); ++index) {
            if (rows[index].row_key != "header") {
                shard_map_row place;
                from_row(rows[index], place).value();
                used.insert(place.shard);
            }
        }
        std::int32_t first = 0;
        while (used.contains(first)) { ++first; }
        return first;
    }
    static void set_attempt(shard_map_row& place, shard_map_row const& of) {
        place.state = of.state.empty() ? "open" : of.state;
        place.lease_ms = of.state.empty() ? place.open_lease_ms : of.lease_ms;
        place.attempt_owner = of.attempt_owner;
        place.attempt_store = of.attempt_store;
        place.attempt_epoch = of.attempt_epoch;
        place.attempt_with = of.attempt_with;
    }

    // ---- requests ----

    void plant() {
        change_.reset();
        query_.reset();
        drop_.reset();
        operation_step const due = work_.next();
        transact const* const change = due.request.as<transact>();
        query_entities const* const query = due.request.as<query_entities>();
        if (what_ == range_defect::none) { return; }
        if (change != nullptr && due.place == 0) {
            change_ = *change;
            work_.mover() != nullptr ? plant_in_move(*change_) : plant_in_split(*change_);
        } else if (query != nullptr && due.place != 0) {
            plant_in_query(*query);
        }
    }

    void plant_in_query(query_entities const& query) {
        bool const copies_more =
            is(range_defect::copies_whole, task::kind::move) || is(range_defect::copies_late_rows, task::kind::merge);
        bool const wider = erases() ? what_ == range_defect::erases_used : copies_more;
        if (erases() && what_ == range_defect::drops_shared) {
            drop_ = delete_table{query.table};
        } else if (wider && !query.range.partition.is_point()) {
            query_ = query;
            query_->range.partition = {};
        }
    }

    void plant_in_split(transact& change) {
        if (what_ == range_defect::takes_used_number) {
            shard_map_header header;
            from_row(change.changes[0].entity, header).value();
            header.number = (std::max)(header.number, number_);
            change.changes[0].entity = to_row(header).value();
        }
        shard_map_row const whole = rows_[work_.present().shard];
        for_each_row(change, [&](mutation const& each, shard_map_row& place) {
            bool const is_upper = each.kind == mutation_kind::insert;
            if (what_ == range_defect::keeps_bound && !is_upper) {
                place.high = whole.high;
            } else if (what_ == range_defect::forgets_tables && is_upper) {
                place.tables_of.reset();
            } else if (what_ == range_defect::splits_attempts && !is_upper && !whole.attempt_owner.empty()) {
                set_attempt(place, whole);
            }
        });
    }

    void plant_in_move(transact& change) {
        bool const merges = work_.present().what == task::kind::merge;
        bool const flips = step() == move_step::flipping;
        bool const closes =
            step() == move_step::closing || step() == move_step::draining || step() == move_step::sealing;
        std::int32_t const own = work_.present().shard;
        for_each_row(change, [&](mutation const& each, shard_map_row& place) {
            bool const left = (what_ == range_defect::closes_one && merges && closes && place.shard != own) ||
                (what_ == range_defect::keeps_upper && flips && each.kind == mutation_kind::remove) ||
                (what_ == range_defect::ends_one && step() == move_step::taking_over && place.shard != own);
            if (left) {
                place.shard = -1;
            } else if (what_ == range_defect::loses_upper && merges && flips && place.shard == own) {
                place.high = rows_[own].high;
            } else if (what_ == range_defect::keeps_tables && merges && flips && place.shard == own) {
                place.store = rows_[own].store;
                place.epoch = rows_[own].epoch;
                place.tables_of = rows_[own].tables_of;
            } else if (what_ == range_defect::flips_whole && !merges && flips) {
                place.low.clear();
                place.high.clear();
            }
        });
    }

    /// Lets `edit` change the rows in a change of the map. Rows that then have the number -1 are omitted.
    template <class Edit>
    static void for_each_row(transact& change, Edit const& edit) {
        std::vector<mutation> kept;
        for (mutation& each : change.changes) {
            if (each.entity.row_key().starts_with("shard")) {
                shard_map_row place;
                from_row(each.entity, place).value();
                edit(each, place);
                if (place.shard < 0) { continue; }
                each.entity = to_row(place).value();
            }
            kept.push_back(std::move(each));
        }
        change.changes = std::move(kept);
    }

    operator_work work_;
    range_defect what_;
    std::optional<transact> change_;             ///< replaces the operator's request
    std::optional<query_entities> query_;        ///< sent in addition
    std::optional<delete_table> drop_;           ///< replaces a query
    std::map<std::int32_t, shard_map_row> rows_; ///< rows of the map, as read
    std::int32_t number_{};                      ///< number of the next range, as read
};

} // namespace shard_world
