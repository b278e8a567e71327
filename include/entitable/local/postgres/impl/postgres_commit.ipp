// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Commits a transaction, and determines the outcome of a commit whose response was lost.

#include <entitable/local/postgres/impl/postgres_store.ipp>

ENTITABLE_BEGIN_NAMESPACE

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

/// Determines the outcome of a commit without a response. A server knows the outcome of each transaction, unless another server has
/// replaced it. A crashed server may have reused the number of a lost transaction: "aborted" is still correct then, and "committed" is
/// accepted only if the partition has the exact version that this update gave it, and every required standby has it.
ENTITABLE_DECL result<lookup> postgres_store::settle(
    detail::pg_pool::borrowed& on, transaction const& rows, failure why, call const& context) {
    std::string const history = on->history();
    bool const warned = on->unreplicated();
    on.give_back();
    pool_->forget_idle();
    detail::pg_number const number{rows.found_.number(0, 2)};
    detail::pg_number const table{rows.table_};
    bool const raises = rows.last_version_ != rows.version_before_;
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
            detail::pg_connection& to = **other;
            to.send(detail::pg_statement::outcome, {number, table, rows.asked_.partition});
            auto said = to.run(until);
            std::string_view const fate =
                said && said->back().size() > 0 ? said->back().bytes(0, 0) : std::string_view{};
            if (fate == "committed") {
                bool const ours =
                    raises && !said->back().is_null(0, 1) && said->back().number(0, 1) == rows.last_version_;
                bool const replicated = said->back().bytes(0, 2) != std::string_view{"\0", 1};
                if (ours && (replicated ? confirm(*other, table, rows.asked_.partition, until) : !warned)) {
                    return lookup::found;
                }
                break;
            }
            if (fate == "aborted") { return why; }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{until.slice() < 10 ? until.slice() : 10});
    }
    why.error().effect = effect::unknown;
    return why;
}

/// Whether the required standbys have the earlier commit: they have a new commit of this session.
ENTITABLE_DECL bool postgres_store::confirm(
    detail::pg_pool::borrowed& on, detail::pg_value table, detail::pg_value partition, detail::pg_wait const& until) {
    on->send(detail::pg_statement::begin);
    on->send(detail::pg_statement::set_timeout, {detail::pg_number{detail::pg_longest_statement(until.left())}});
    on->send(detail::pg_statement::confirm, {table, partition});
    on->send(detail::pg_statement::commit);
    auto const done = on->run(until);
    return done && done->back().command() == "COMMIT" && !on->unreplicated();
}

ENTITABLE_END_NAMESPACE
