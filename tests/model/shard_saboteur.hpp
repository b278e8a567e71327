// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Defects of a mover, planted from outside: a layer between it and the stores changes its requests, sends some of its own, and hides
/// changes in the answers.

#include <entitable/core/row/system_rows.hpp>
#include <entitable/entitable.hpp>
#include <entitable/shards.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>

#include <map>
#include <set>

namespace shard_world {

using namespace entitable;

/// The defect of a move.
enum class move_defect : std::uint8_t {
    none,
    waits_for_no_lease,   ///< continues as soon as the map is changed
    flips_unverified,     ///< never reads the source again after the first copy
    drops_first,          ///< drops the source before the flip
    drops_before_collect, ///< drops the source before the last catch-up
    leaves_removed_rows,  ///< catches up without removals
    trusts_timestamps,    ///< treats a row as changed only if its Timestamp is later than all it saw
    collects_once,        ///< uses the collect of draining for that of sealed as well
    never_seals,          ///< lets clients read at the source until the flip
    guards_nothing,       ///< writes batches without their guard row
    uses_names_again,     ///< uses the first epoch that no table currently has
    takes_over_tables,    ///< continues in the tables of the attempt that it ended
};

/// A mover with a defect, as a resumable operation like the mover itself.
class saboteur {
public:
    saboteur(detail::shard_mover_order order, move_defect what, steady_time now)
        : target_(order.target), mover_(std::move(order), now), what_(what) {}
    saboteur(saboteur const&) = delete;
    saboteur& operator=(saboteur const&) = delete;
    ~saboteur() = default;

    [[nodiscard]] operation_step next() const {
        if (!drops_.empty()) { return {drops_.back(), (steady_time::min)(), source_place_}; }
        operation_step due = mover_.next();
        if (look_) {
            due.request = request_ref{*look_};
        } else if (changed_) {
            due.request = request_ref{*changed_};
        }
        if (what_ == move_defect::waits_for_no_lease && mover_.progress().step == move_step::waiting) {
            due.not_before = (steady_time::min)();
        }
        return due;
    }
    template <class Response>
        requires(!std::same_as<Response, void>)
    void answer(result<Response> answered, steady_time now) {
        if constexpr (std::same_as<Response, delete_table::response>) {
            if (!drops_.empty()) {
                drops_.pop_back();
                return;
            }
        }
        if constexpr (std::same_as<Response, get_entity::response>) {
            if (look_) {
                continue_behind(answered);
                return;
            }
        }
        operation_step const asked = mover_.next();
        bool const of_target = is_of_target(asked);
        if constexpr (std::same_as<Response, query_entities::response>) {
            if (answered && what_ != move_defect::none) {
                spoil(*answered, *asked.request.template as<query_entities>(), asked.place, of_target);
            }
        } else if constexpr (std::same_as<Response, transact::response>) {
            if (answered && of_target) {
                for (std::size_t const at : taken_out_) {
                    answered->results.insert(answered->results.begin() + static_cast<std::ptrdiff_t>(at), written{});
                }
            }
        } else if constexpr (std::same_as<Response, get_entity::response>) {
            if (of_target && what_ == move_defect::guards_nothing) { // its guard row, which never existed
                answered = get_entity::response{guard_, etag{"W/\"1\""}};
            }
        }
        mover_.answer(std::move(answered), now);
        plant(now);
    }
    void abandon(error const& reason) {
        drops_.clear();
        mover_.abandon(reason);
    }
    [[nodiscard]] result<move_progress> finish() { return mover_.finish(); }

private:
    using keys = std::pair<std::string, std::string>;

    [[nodiscard]] bool is_of_target(operation_step const& due) const {
        return due.place != 0 && mover_.store(due.place) == target_;
    }

    // ---- answers ----

    void spoil(query_entities::response& found, query_entities const& asked, std::size_t place, bool of_target) {
        if (place == 0) {
            found.rows = spoiled_map(found.rows);
        } else if (of_target) {
            page seen;
            for (std::size_t index = 0; index < found.rows.size(); ++index) {
                row_view const each = found.rows[index];
                if (!hidden_.contains(keys{each.partition_key, each.row_key})) { seen.append(each); }
            }
            found.rows = std::move(seen);
        } else {
            source_place_ = place;
            spoil_source(found, asked);
        }
    }

    [[nodiscard]] page spoiled_map(page const& rows) {
        page seen;
        for (std::size_t index = 0; index < rows.size(); ++index) {
            row_view const each = rows[index];
            std::string const version{each.etag().to_string()};
            row changed;
            if (each.row_key == "header") {
                shard_map_header header;
                from_row(each, header).value();
                next_epoch_ = header.next_epoch;
                bool const again = what_ == move_defect::uses_names_again || what_ == move_defect::takes_over_tables;
                if (again && mover_.progress().step == move_step::registering) {
                    header.next_epoch = epoch_again(rows, header);
                }
                changed = to_row(header).value();
            } else {
                shard_map_row place;
                from_row(each, place).value();
                if (sealed_ && place.state == "draining") { place.state = "sealed"; }
                changed = to_row(place).value();
            }
            seen.append({changed.partition_key(), changed.row_key(), changed.payload(), version});
        }
        return seen;
    }
    /// The epoch of the ended attempt, or the first that no table currently has.
    [[nodiscard]] std::int64_t epoch_again(page const& rows, shard_map_header const& header) const {
        if (what_ == move_defect::takes_over_tables) { return ended_.value_or(next_epoch_); }
        std::int64_t first = detail::shard_tables_in(header.tables).front().epoch; // the shard's are not older
        std::set<std::int64_t> used;
        for (std::size_t index = 0; index < rows.size(); ++index) {
            if (rows[index].row_key != "header") {
                shard_map_row place;
                from_row(rows[index], place).value();
                used.insert({(std::max)(place.epoch, first), place.attempt_epoch});
            }
        }
        while (used.contains(first)) { ++first; }
        return first;
    }

    void spoil_source(query_entities::response& found, query_entities const& asked) {
        bool const scans = !asked.range.partition.is_point();
        bool const keys_only = !asked.select.empty();
        auto& known = known_[asked.table];
        bool const blind = keys_only &&
            (what_ == move_defect::flips_unverified ||
                (what_ == move_defect::collects_once && mover_.progress().step == move_step::sealing));
        if (blind) {
            found.rows.clear();
            for (auto const& [key, version] : known) {
                row const keys_of = row_builder{key.first, key.second}.build();
                found.rows.append({key.first, key.second, keys_of.payload(), version});
            }
            found.continuation.reset();
            return;
        }
        if (scans && !asked.continuation) {
            newest_before_ = newest_;
            if (what_ != move_defect::trusts_timestamps) { known.clear(); }
        }
        page seen;
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            row_view each = found.rows[index];
            std::string& version = known[keys{each.partition_key, each.row_key}];
            bool const late = what_ != move_defect::trusts_timestamps || each.timestamp() > newest_before_;
            if (version.empty() || !keys_only || late) { version = each.etag().to_string(); }
            if (!keys_only && newest_ < each.timestamp()) { newest_ = each.timestamp(); }
            each.etag_text = version;
            seen.append(each);
        }
        found.rows = std::move(seen);
    }

    // ---- requests ----

    void plant(steady_time now) {
        changed_.reset();
        taken_out_.clear();
        operation_step due = mover_.next();
        // Tables of the ended attempt stay.
        while (what_ == move_defect::takes_over_tables && mover_.progress().step == move_step::taking_over &&
            due.request.as<delete_table>() != nullptr) {
            std::string const& name = due.request.as<delete_table>()->table;
            ended_ = std::stoll(name.substr(name.rfind('x') + 1));
            mover_.answer(result<delete_table::response>{failure{error_code::table_not_found, "left"}}, now);
            due = mover_.next();
        }
        transact const* const request = due.request.as<transact>();
        if (request == nullptr || what_ == move_defect::none) { return; }
        changed_ = *request;
        if (due.place == 0) {
            plant_in_map(*changed_);
        } else if (what_ == move_defect::guards_nothing) {
            guard_ = changed_->changes.back().entity;
            changed_->changes.pop_back();
            taken_out_.push_back(changed_->changes.size());
        } else if (what_ == move_defect::leaves_removed_rows) {
            leave_removed(*changed_);
        } else if (what_ == move_defect::takes_over_tables && changed_->changes.back().kind == mutation_kind::insert) {
            look_ = get_entity{changed_->table, std::string{changed_->changes.back().entity.partition_key()},
                std::string{system_row::copy}, {}};
        }
    }

    void plant_in_map(transact& change) {
        shard_map_header header;
        from_row(change.changes[0].entity, header).value();
        if (what_ == move_defect::uses_names_again || what_ == move_defect::takes_over_tables) {
            header.next_epoch = (std::max)(header.next_epoch, next_epoch_);
            change.changes[0].entity = to_row(header).value();
        }
        shard_map_row place;
        from_row(change.changes[1].entity, place).value();
        if (what_ == move_defect::never_seals && place.state == "sealed") {
            place.state = "draining";
            change.changes[1].entity = to_row(place).value();
            sealed_ = true;
        }
        bool const flips = mover_.progress().step == move_step::flipping;
        bool const drains = place.state == "draining";
        if ((what_ == move_defect::drops_first && flips) || (what_ == move_defect::drops_before_collect && drains)) {
            for (auto const& [table, rows] : std::exchange(known_, {})) { drops_.push_back(delete_table{table}); }
        }
    }

    void leave_removed(transact& change) {
        for (std::size_t at = 0; at < change.changes.size(); ++at) {
            mutation const& each = change.changes[at];
            keys const key{each.entity.partition_key(), each.entity.row_key()};
            if (each.kind == mutation_kind::remove) {
                taken_out_.push_back(at);
                hidden_.insert(key);
            } else {
                hidden_.erase(key);
            }
        }
        std::erase_if(change.changes, [](mutation const& each) { return each.kind == mutation_kind::remove; });
    }

    /// The guard row of the ended attempt is replaced by its own.
    void continue_behind(result<get_entity::response> const& found) {
        if (found) { changed_->changes.back() = mutation::replace(changed_->changes.back().entity, found->etag); }
        look_.reset();
    }

    std::string target_;
    detail::shard_mover mover_;
    move_defect what_;
    std::optional<transact> changed_;    ///< replaces the mover's request
    std::vector<std::size_t> taken_out_; ///< operations removed from it
    std::optional<get_entity> look_;     ///< before it is sent
    std::vector<delete_table> drops_;    ///< sent in addition
    std::size_t source_place_{};
    std::map<std::string, std::map<keys, std::string>>
        known_; ///< ETags of the source rows that the mover got, by table
    date_time newest_;
    date_time newest_before_; ///< when the scan began
    std::set<keys> hidden_;   ///< rows of the target that should not exist
    row guard_;
    bool sealed_{}; ///< as the mover believes
    std::int64_t next_epoch_{};
    std::optional<std::int64_t> ended_; ///< the epoch of the earlier attempt
};

} // namespace shard_world
