// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Places of calls in a lane, and the inserts that several of them make in one statement.

#include <entitable/local/postgres/impl/pg_lane.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// ---- places in a lane -------------------------------------------------------------------------------

ENTITABLE_DECL pg_connection::pg_connection(
    pg_conn* on, pg_statement_sets const& statements, postgres_options const& options)
    : on_(on),
      sets_(&statements),
      statements_(&statements.current),
      options_(&options),
      unreplicated_(std::make_unique<bool>(false)) {}
ENTITABLE_DECL pg_connection::pg_connection(std::unique_ptr<pg_lane_call> call, pg_connection const& real)
    : sets_(real.sets_),
      statements_(real.statements_),
      options_(real.options_),
      lane_(std::move(call)),
      named_(real.named_),
      own_settings_(real.own_settings_),
      session_(real.session_),
      history_(real.history_) {}
ENTITABLE_DECL pg_connection::pg_connection(pg_connection&&) noexcept = default;
ENTITABLE_DECL pg_connection::~pg_connection() = default;

ENTITABLE_DECL bool pg_connection::unreplicated() const noexcept {
    return lane_ ? lane_->unreplicated : *unreplicated_;
}
ENTITABLE_DECL bool pg_connection::skipped() const noexcept { return lane_ && lane_->not_run && !broken_; }

ENTITABLE_DECL void pg_connection::send_in_lane(pg_statement statement, std::initializer_list<pg_value> values) {
    lane_->lane.send(*lane_, statement, values);
}

ENTITABLE_DECL bool pg_connection::insert_in_group(pg_value table, pg_value partition, pg_value row, pg_value bytes,
    std::int64_t partition_lock, std::int64_t row_lock, call const& context, result<std::int64_t>& version) {
    pg_insert_group::member one{partition, row, bytes, partition_lock, row_lock};
    std::int64_t drawn = 0;
    switch (lane_->lane.insert(*lane_, table, one, longest(context), drawn)) {
        case pg_lane::grouped::alone: return false;
        case pg_lane::grouped::inserted: version = drawn; break;
        case pg_lane::grouped::lost:
            broken_ = true;
            version = failure{error_code::transport_failed, "the connection to the database was lost"};
            break;
        case pg_lane::grouped::ended: {
            abandoned_ = true;
            auto allowed = check_call(context, *options_->local.time);
            version = allowed
                ? failure{error_code::store_busy, "the database did not respond within postgres_options::longest_wait"}
                : std::move(allowed).as_failure();
            break;
        }
    }
    return true;
}

ENTITABLE_DECL result<std::vector<pg_rows>> pg_connection::run_in_lane(pg_wait const& until) {
    auto answers = lane_->lane.run(*lane_, until, abandoned_);
    broken_ = broken_ || lane_->lost;
    state_ = std::move(lane_->state);
    constraint_ = std::move(lane_->constraint);
    return answers;
}

// ---- inserts of several calls -----------------------------------------------------------------------

ENTITABLE_DECL pg_lane::grouped pg_lane::insert(pg_lane_call& of, std::string_view table, pg_insert_group::member& one,
    pg_wait const& until, std::int64_t& version) {
    if (!on_ || of.generation != generation_) { return grouped::alone; }
    if (group_ && group_->table != table) { send_group(); }
    if (!on_) { return grouped::alone; }
    if (!group_) {
        group_ = std::make_shared<pg_insert_group>(*this);
        ++calls_; // `leave` is called for the group, too
        group_->table = table;
        group_->call.generation = generation_;
        group_->call.context = &group_->unlimited;
    }
    auto const group = group_;
    one.on = of.fiber;
    group->members.push_back(&one);
    if (group->members.size() >= most_grouped) { send_group(); }
    pg_wait limit = until;
    call const nobody;
    bool gives_up = false;
    while (!group->call.done) {
        if (!fibers_.ending() && !limit.over()) {
            one.on->pause(pg_end_of(limit));
        } else if (group->sent && !gives_up && !fibers_.ending()) {
            gives_up = true;
            limit = pg_wait{nobody, until.time(), pg_grace};
        } else {
            std::replace(
                group->members.begin(), group->members.end(), &one, static_cast<pg_insert_group::member*>(nullptr));
            return group->sent ? grouped::ended : grouped::alone;
        }
    }
    of.unreplicated = group->call.unreplicated;
    if (group->call.lost) { return grouped::lost; }
    if (!group->call.outcome || group->call.not_run || group->call.answers.empty() ||
        one.at >= group->call.answers.back().size()) {
        return grouped::alone;
    }
    version = group->call.answers.back().number(one.at, 0);
    return grouped::inserted;
}

/// The order of the locks is the same in all groups, so that two groups do not wait for each other in a circle.
ENTITABLE_DECL void pg_lane::send_group() {
    auto const group = std::exchange(group_, {});
    auto& members = group->members;
    members.erase(std::remove(members.begin(), members.end(), nullptr), members.end());
    if (members.empty()) { return; }
    if (!on_ || group->call.generation != generation_) {
        group->call.not_run = true;
        return complete(group->call);
    }
    std::sort(members.begin(), members.end(), [](auto const* left, auto const* right) {
        return left->partition_lock != right->partition_lock ? left->partition_lock < right->partition_lock
                                                             : left->row_lock < right->row_lock;
    });
    pg_array partitions;
    pg_array rows;
    pg_array values;
    pg_array partition_locks{pg_array::of_numbers};
    pg_array row_locks{pg_array::of_numbers};
    int at = 0;
    for (pg_insert_group::member* const each : members) {
        each->at = at++;
        partitions.add(each->partition);
        rows.add(each->row);
        values.add(each->bytes);
        partition_locks.add(pg_number{each->partition_lock});
        row_locks.add(pg_number{each->row_lock});
    }
    group->sent = true;
    pg_number const now{(*on_)->now()};
    send(group->call, pg_statement::insert_many,
        {group->table, partitions.finish(), rows.finish(), values.finish(), now, partition_locks.finish(),
            row_locks.finish()});
    if (on_) { sync(&group->call); }
}

// ---- the lanes of a channel -------------------------------------------------------------------------

ENTITABLE_DECL pg_lanes::pg_lanes(pg_pool& pool, pg_fibers& fibers)
    : pool_(pool), reads_(pool, fibers, pg_lane::use::reads) {
    for (std::size_t at = lanes_for_writes(pool); at > 0; --at) {
        writes_.push_back(std::make_unique<pg_lane>(pool, fibers, pg_lane::use::writes));
    }
}

ENTITABLE_DECL result<pg_pool::borrowed> pg_lanes::enter(pg_lane_use what, std::int64_t key, pg_wait const& until) {
    if (what == pg_lane_use::read) { return reads_.enter(until); }
    return writes_[static_cast<std::uint64_t>(key) % writes_.size()]->enter(until);
}

ENTITABLE_DECL void pg_lanes::receive() {
    reads_.receive();
    for (auto const& each : writes_) { each->receive(); }
}

ENTITABLE_DECL void pg_lanes::flush() {
    reads_.flush();
    for (auto const& each : writes_) { each->flush(); }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
