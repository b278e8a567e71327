// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Places of calls in a lane, and what several of them do in one statement.

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
    pg_call_group::member one{partition, row, bytes, partition_lock, row_lock};
    std::shared_ptr<pg_call_group> in;
    pg_wait const until = longest(context);
    auto const joined = lane_->lane.join(*lane_, table, one, until, in);
    if (joined == pg_lane::grouped::alone) { return false; }
    if (joined == pg_lane::grouped::done) {
        version = in->call.answers.back().number(one.at, 0);
    } else {
        version = left_group(joined == pg_lane::grouped::lost, context);
    }
    return true;
}

ENTITABLE_DECL pg_rows const& pg_connection::grouped_row::rows() const noexcept { return in->call.answers.back(); }

ENTITABLE_DECL std::optional<result<pg_connection::grouped_row>> pg_connection::get_in_group(
    pg_value table, pg_value partition, pg_value row, call const& context) {
    pg_call_group::member one{partition, row, {}};
    std::shared_ptr<pg_call_group> in;
    switch (lane_->lane.join(*lane_, table, one, longest(context), in)) {
        case pg_lane::grouped::alone: return std::nullopt;
        case pg_lane::grouped::done: {
            pg_rows const& rows = in->call.answers.back();
            bool const in_order = in->members.size() == 1 || rows.size() == 0 || rows.number(one.at, 2) == one.at + 1;
            if (!in_order) { return std::nullopt; } // no plan does that
            return grouped_row{std::move(in), one.at};
        }
        case pg_lane::grouped::lost: return left_group(true, context);
        default: return left_group(false, context);
    }
}

/// The error of a call whose group has no answer for it.
ENTITABLE_DECL failure pg_connection::left_group(bool lost, call const& context) {
    if (lost) {
        broken_ = true;
        return {error_code::transport_failed, "the connection to the database was lost"};
    }
    abandoned_ = true;
    auto allowed = check_call(context, *options_->local.time);
    return allowed
        ? failure{error_code::store_busy, "the database did not respond within postgres_options::longest_wait"}
        : std::move(allowed).as_failure();
}

ENTITABLE_DECL result<std::vector<pg_rows>> pg_connection::run_in_lane(pg_wait const& until) {
    auto answers = lane_->lane.run(*lane_, until, abandoned_);
    broken_ = broken_ || lane_->lost;
    state_ = std::move(lane_->state);
    constraint_ = std::move(lane_->constraint);
    return answers;
}

// ---- statements of several calls --------------------------------------------------------------------

ENTITABLE_DECL pg_lane::grouped pg_lane::join(pg_lane_call& of, std::string_view table, pg_call_group::member& one,
    pg_wait const& until, std::shared_ptr<pg_call_group>& in) {
    if (!on_ || of.generation != generation_) { return grouped::alone; }
    if (group_ && group_->table != table) { send_group(); }
    if (!on_) { return grouped::alone; }
    if (!group_) {
        group_ = std::make_shared<pg_call_group>(*this);
        ++calls_; // `leave` is called for the group, too
        group_->table = table;
        group_->call.generation = generation_;
        group_->call.context = &group_->unlimited;
    }
    in = group_;
    auto& group = *in;
    one.on = of.fiber;
    group.members.push_back(&one);
    if (group.members.size() >= most_grouped) { send_group(); }
    pg_wait limit = until;
    call const nobody;
    bool gives_up = false;
    while (!group.call.done) {
        if (!fibers_.ending() && !limit.over()) {
            one.on->pause(pg_end_of(limit));
        } else if (use_ == use::writes && group.sent && !gives_up && !fibers_.ending()) {
            gives_up = true;
            limit = pg_wait{nobody, until.time(), pg_grace};
        } else {
            std::replace(
                group.members.begin(), group.members.end(), &one, static_cast<pg_call_group::member*>(nullptr));
            if (use_ == use::writes && !group.sent) { return grouped::alone; }
            if (group.sent) { lose_if_silent(); }
            return grouped::ended;
        }
    }
    of.unreplicated = group.call.unreplicated;
    if (group.call.lost) { return grouped::lost; }
    if (!group.call.outcome || group.call.not_run || group.call.answers.empty()) { return grouped::alone; }
    int const rows = group.call.answers.back().size();
    bool const no_table = use_ == use::reads && rows == 0;
    return one.at < rows || no_table ? grouped::done : grouped::alone;
}

ENTITABLE_DECL void pg_lane::send_group() {
    auto const group = std::exchange(group_, {});
    auto& members = group->members;
    members.erase(std::remove(members.begin(), members.end(), nullptr), members.end());
    if (members.empty()) { return; }
    if (!on_ || group->call.generation != generation_) {
        group->call.not_run = true;
        return complete(group->call);
    }
    group->sent = true;
    if (use_ == use::reads) {
        send_reads(*group);
    } else {
        send_inserts(*group);
    }
}

/// The order of the locks is the same in all groups, so that two groups do not wait for each other in a circle.
ENTITABLE_DECL void pg_lane::send_inserts(pg_call_group& group) {
    auto& members = group.members;
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
    for (pg_call_group::member* const each : members) {
        each->at = at++;
        partitions.add(each->partition);
        rows.add(each->row);
        values.add(each->bytes);
        partition_locks.add(pg_number{each->partition_lock});
        row_locks.add(pg_number{each->row_lock});
    }
    pg_number const now{(*on_)->now()};
    send(group.call, pg_statement::insert_many,
        {group.table, partitions.finish(), rows.finish(), values.finish(), now, partition_locks.finish(),
            row_locks.finish()});
    if (on_) { sync(&group.call); }
}

ENTITABLE_DECL void pg_lane::send_reads(pg_call_group& group) {
    pg_array partitions;
    pg_array rows;
    int at = 0;
    for (pg_call_group::member* const each : group.members) {
        each->at = at++;
        partitions.add(each->partition);
        rows.add(each->row);
    }
    if (at == 1) {
        send(group.call, pg_statement::get, {group.table, group.members[0]->partition, group.members[0]->row});
    } else {
        send(group.call, pg_statement::get_many, {group.table, partitions.finish(), rows.finish()});
    }
    if (!on_) { return; }
    ++open_reads_;
    if (!(*on_)->own_settings_) { sync(nullptr); }
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
