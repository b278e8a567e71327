// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Sends the changes of a transaction, commits it, and determines the outcome of a commit whose response was lost.

#include <entitable/local/postgres/impl/postgres_store.ipp>

ENTITABLE_BEGIN_NAMESPACE

/// Sends all changes in at most three statements. If a row has several changes, the last one counts.
ENTITABLE_DECL void postgres_store::transaction::send() {
    using detail::pg_statement;
    if (changes_.size() > 1) {
        std::stable_sort(changes_.begin(), changes_.end(),
            [](change const& left, change const& right) { return left.row < right.row; });
    }
    std::vector<change const*> fresh;
    std::vector<change const*> puts;
    std::vector<change const*> erased;
    for (std::size_t at = 0; at < changes_.size(); ++at) {
        if (at + 1 == changes_.size() || changes_[at].row != changes_[at + 1].row) {
            change const& last = changes_[at];
            bool const alike = last.is_new && (fresh.empty() || fresh.front()->version == last.version);
            (!last.bytes ? erased : alike ? fresh : puts).push_back(&last);
        }
    }
    detail::pg_number const table{table_};
    auto const rows_of = [](std::vector<change const*> const& all) {
        detail::pg_array rows;
        for (change const* const each : all) { rows.add(each->row); }
        return rows;
    };
    auto const values_of = [](std::vector<change const*> const& all) {
        detail::pg_array values;
        for (change const* const each : all) { values.add(*each->bytes); }
        return values;
    };
    if (!fresh.empty()) {
        on_.send(pg_statement::put_new,
            {table, asked_.partition, rows_of(fresh).finish(), values_of(fresh).finish(),
                detail::pg_number{fresh.front()->version}});
    }
    if (puts.size() == 1) {
        change const& only = *puts.front();
        on_.send(pg_statement::put, {table, asked_.partition, only.row, *only.bytes, detail::pg_number{only.version}});
    } else if (puts.size() > 1) {
        detail::pg_array versions{detail::pg_array::of_numbers};
        for (change const* const each : puts) { versions.add(detail::pg_number{each->version}); }
        on_.send(pg_statement::put_many,
            {table, asked_.partition, rows_of(puts).finish(), values_of(puts).finish(), versions.finish()});
    }
    if (erased.size() == 1) {
        on_.send(pg_statement::erase, {table, asked_.partition, erased.front()->row});
    } else if (erased.size() > 1) {
        on_.send(pg_statement::erase_many, {table, asked_.partition, rows_of(erased).finish()});
    }
}

/// Nothing is applied before the commit, so only its response can be lost.
ENTITABLE_DECL result<void> postgres_store::commit(detail::pg_pool::borrowed& on, call const& context) {
    on->send(detail::pg_statement::commit);
    auto committed = on->run(context);
    if (!committed) {
        failure why = std::move(committed).as_failure();
        if (on->broken()) {
            pool_->forget_idle();
            why.error().effect = effect::unknown;
        }
        return why;
    }
    if (committed->back().command() != "COMMIT") {
        return failure{error_code::store_failed, "the database rolled back the transaction"};
    }
    if (on->unreplicated()) { return unreplicated(); }
    return {};
}

ENTITABLE_DECL failure postgres_store::unreplicated() {
    failure why{error_code::store_failed, "the database committed, but its standby may not have the commit"};
    why.error().effect = effect::unknown;
    return why;
}

/// Asks the server for the outcome of a write without a response, on other connections, until `ask` knows it. Only the same server knows:
/// behind a pooler, and after a promotion, nobody is asked.
ENTITABLE_DECL postgres_store::write_outcome postgres_store::ask_elsewhere(detail::pg_pool::borrowed& on,
    call const& context, function_ref<write_outcome(detail::pg_pool::borrowed&, detail::pg_wait const&)> ask) {
    std::string const history = on->history();
    on.give_back();
    pool_->forget_idle();
    // The call's deadline may have passed; a short extra wait is justified only to determine the outcome of the write.
    auto const most = std::chrono::nanoseconds{std::chrono::seconds{2}};
    auto const left = detail::pg_wait{context, time(), most}.left();
    call last;
    last.cancellation = context.cancellation;
    last.deadline = context.deadline == no_deadline
        ? no_deadline
        : time().steady() + std::chrono::duration_cast<steady_time::duration>(left + detail::pg_grace);
    detail::pg_wait const until{last, time(), context.deadline == no_deadline ? most : left + detail::pg_grace};
    while (!history.empty() && !until.over()) {
        auto other = pool_->borrow(until);
        if (other && !(*other)->same_history(history)) { break; }
        if (other) {
            if (write_outcome const found = ask(*other, until); found != write_outcome::open) { return found; }
        }
        detail::pg_sleep(std::chrono::milliseconds{until.slice() < 10 ? until.slice() : 10});
    }
    return write_outcome::unknown;
}

/// Determines the outcome of a commit without a response. A server knows the outcome of each transaction, unless another server has
/// replaced it. A crashed server may have reused the number of a lost transaction: "aborted" is still correct then, and "committed" is
/// accepted only if a row has the exact version that this update gave it, and every required standby has it.
ENTITABLE_DECL result<lookup> postgres_store::settle(
    detail::pg_pool::borrowed& on, transaction const& rows, failure why, call const& context) {
    bool const warned = on->unreplicated();
    auto const put = std::find_if(rows.changes_.begin(), rows.changes_.end(),
        [](transaction::change const& each) { return each.bytes.has_value(); });
    std::string const row = put != rows.changes_.end() ? put->row : std::string{};
    auto const found = ask_elsewhere(on, context, [&](detail::pg_pool::borrowed& other, detail::pg_wait const& until) {
        other->send(detail::pg_statement::outcome,
            {detail::pg_number{rows.number_}, detail::pg_number{rows.table_}, rows.asked_.partition, row});
        auto said = other->run(until);
        if (!said || said->back().size() == 0) { return write_outcome::open; }
        detail::pg_rows const& answer = said->back();
        if (answer.bytes(0, 0) == "aborted") { return write_outcome::not_applied; }
        if (answer.bytes(0, 0) != "committed") { return write_outcome::open; }
        bool const ours = put != rows.changes_.end() && !answer.is_null(0, 1) && answer.number(0, 1) == put->version;
        return ours && (answer.flag(0, 2) ? confirm(other, until) : !warned) ? write_outcome::applied
                                                                             : write_outcome::unknown;
    });
    if (found == write_outcome::applied) { return lookup::found; }
    if (found != write_outcome::not_applied) { why.error().effect = effect::unknown; }
    return why;
}

/// Whether the required standbys have the earlier commit: they have a new commit of this session.
ENTITABLE_DECL bool postgres_store::confirm(detail::pg_pool::borrowed& on, detail::pg_wait const& until) {
    on->send(detail::pg_statement::begin);
    on->send(detail::pg_statement::set_timeout, {detail::pg_number{detail::pg_longest_statement(until.left())}});
    on->send(detail::pg_statement::confirm);
    on->send(detail::pg_statement::commit);
    auto const done = on->run(until);
    return done && done->back().command() == "COMMIT" && !on->unreplicated();
}

ENTITABLE_END_NAMESPACE
