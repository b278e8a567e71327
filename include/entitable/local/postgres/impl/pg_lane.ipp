// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_lane.hpp>
#include <entitable/local/postgres/impl/pg_connection.ipp>
#include <entitable/local/postgres/impl/pg_library.ipp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A message that ends a transaction of the server.
inline constexpr std::uint8_t pg_sync_message = 0xFD;

/// When a paused stack looks again: at the end of the wait. A token that another thread may cancel wakes nobody.
inline steady_time pg_end_of(pg_wait const& until) {
    auto const now = std::chrono::steady_clock::now();
    auto left =
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(until.left()) + std::chrono::microseconds{1};
    if (until.context().cancellation.has_source()) {
        left = (std::min)(left, std::chrono::steady_clock::duration{std::chrono::milliseconds{20}});
    }
    return left > (steady_time::max)() - now ? (steady_time::max)() : now + left;
}

ENTITABLE_DECL pg_lane_call::~pg_lane_call() { lane.leave(*this); }

ENTITABLE_DECL pg_lane::~pg_lane() {
    if (on_ && !sent_.empty()) { (*on_)->broken_ = true; } // results are missing
    give_back();
}

// ---- admission --------------------------------------------------------------------------------------

ENTITABLE_DECL result<pg_pool::borrowed> pg_lane::enter(pg_wait const& until) {
    entrant own{*pg_fiber::running(), admission::waits, {}};
    if (entrants_.empty() && has_room()) {
        ++calls_;
        own.state = admission::admitted;
    } else if (entrants_.empty() && !on_ && !opening_) {
        opening_ = true;
        own.state = admission::opens;
    } else {
        entrants_.push_back(&own);
    }
    for (;;) {
        switch (own.state) {
            case admission::waits:
                if (until.over() || fibers_.ending()) {
                    entrants_.erase(std::find(entrants_.begin(), entrants_.end(), &own));
                    auto allowed = until.allowed();
                    return allowed ? failure{error_code::store_busy,
                                         "every connection to the database is in use (postgres_options::connections)"}
                                   : std::move(allowed).as_failure();
                }
                own.on.pause(pg_end_of(until));
                break;
            case admission::opens:
                ENTITABLE_CHECK(open(until));
                ++calls_;
                own.state = admission::admitted;
                break;
            case admission::refused: return *std::move(own.why);
            case admission::admitted:
                if (on_) {
                    auto call = std::make_unique<pg_lane_call>(*this, &own.on);
                    call->generation = generation_;
                    std::list<pg_connection> one;
                    one.push_back(pg_connection{std::move(call), **on_});
                    return result<pg_pool::borrowed>{std::in_place, pool_, std::move(one), silent_losses_ > 2};
                }
                --calls_; // the connection broke in between
                if (opening_) {
                    own.state = admission::waits;
                    entrants_.push_front(&own);
                } else {
                    opening_ = true;
                    own.state = admission::opens;
                }
                break;
        }
    }
}

/// Borrows a connection for the lane. If that fails, all who wait get the error: each would meet the same one, after the same time.
ENTITABLE_DECL result<void> pg_lane::open(pg_wait const& until) {
    auto const begun = std::chrono::steady_clock::now();
    for (bool again = false;;) {
        auto opened = pool_.borrow(until);
        if (!opened && opened.error().code == error_code::transport_failed && !std::exchange(again, true) &&
            std::chrono::steady_clock::now() - begun < std::chrono::seconds{1}) {
            continue; // the session may have been ended just then: the error would be that of hundreds of calls
        }
        if (!opened) {
            failure why = std::move(opened).as_failure();
            refuse(why, until);
            return why;
        }
        if (opened->fresh() || !(*opened)->hung_up()) {
            start(*std::move(opened));
            return {};
        }
        pool_.forget_idle();
    }
}

ENTITABLE_DECL void pg_lane::refuse(failure& why, pg_wait const& until) {
    opening_ = false;
    if (until.allowed() && !fibers_.ending()) {
        for (entrant* const each : std::exchange(entrants_, {})) {
            each->state = admission::refused;
            each->why.emplace(why.error());
            each->on.wake();
        }
    } else { // only this call has ended
        admit();
    }
}

ENTITABLE_DECL void pg_lane::start(pg_pool::borrowed opened) {
    opening_ = false;
    draining_ = false;
    fresh_ = opened.fresh();
    on_.emplace(std::move(opened));
    ++generation_;
    started_ = false;
    open_reads_ = unprepared_ = 0;
    heard_ = std::chrono::steady_clock::now();
    socket_ = static_cast<io_descriptor>(PQsocket((*on_)->on_.get()));
    fibers_.io().watch(socket_, io_interest::read, this);
    admit();
}

/// Lets those in who have waited longest, or has one of them open a connection.
ENTITABLE_DECL void pg_lane::admit() noexcept {
    while (!entrants_.empty() && has_room()) {
        entrant& next = *entrants_.front();
        entrants_.pop_front();
        ++calls_;
        next.state = admission::admitted;
        next.on.wake();
    }
    if (!entrants_.empty() && !on_ && !opening_) {
        entrant& next = *entrants_.front();
        entrants_.pop_front();
        opening_ = true;
        next.state = admission::opens;
        next.on.wake();
    }
}

ENTITABLE_DECL void pg_lane::leave(pg_lane_call& of) noexcept {
    forget(of);
    --calls_;
    admit();
}

ENTITABLE_DECL void pg_lane::forget(pg_lane_call const& of) noexcept {
    if (of.unanswered == 0) { return; }
    for (message& each : sent_) {
        if (each.from == &of) { each.from = nullptr; }
    }
}

ENTITABLE_DECL void pg_lane::give_back() {
    if (!on_) { return; }
    fibers_.io().watch(socket_, io_interest::none, nullptr);
    on_.reset();
    draining_ = false;
}

/// The connection broke. Reads are repeated on another one, and writes find out what has become of them.
ENTITABLE_DECL void pg_lane::lose() {
    if (!on_) { return; }
    pg_connection& real = **on_;
    real.broken_ = true;
    silent_losses_ += fresh_ ? 1U : 0U;
    lost_text_ = PQerrorMessage(real.on_.get());
    for (message const& each : std::exchange(sent_, {})) {
        if (each.from != nullptr && !each.from->done) {
            each.from->lost = true;
            each.from->unreplicated = *real.unreplicated_;
            complete(*each.from);
        }
    }
    give_back();
    admit();
}

// ---- statements -------------------------------------------------------------------------------------

ENTITABLE_DECL void pg_lane::send(pg_lane_call& of, pg_statement statement, std::initializer_list<pg_value> values) {
    if (!on_ || of.generation != generation_) { return; } // `run` tells
    // The reads of a transaction have no deadlines of their own on the server.
    if (use_ == use::reads && statement == pg_statement::set_timeout) { return; }
    if (group_ && &of != &group_->call) { send_group(); } // keeps the order
    if (!on_) { return; }
    pg_connection& real = **on_;
    bool const first = of.unanswered == 0;
    if (first) {
        of.done = of.not_run = false;
        of.answers.clear();
        of.outcome = {};
    }
    if (first && !real.own_settings_) {
        real.send_now(pg_statement::settings, {pg_number{pg_longest_statement(real.options_->longest_wait)}},
            pg_connection::unasked);
    }
    real.send_now(statement, values);
    for (std::uint8_t const each : real.queued_) {
        sent_.push_back({&of, each});
        ++of.unanswered;
    }
    real.queued_.clear();
}

ENTITABLE_DECL void pg_lane::sync(pg_lane_call* of) {
    open_reads_ = 0;
    sent_.push_back({of, pg_sync_message});
    if (of != nullptr) { ++of->unanswered; }
    if (PQpipelineSync((*on_)->on_.get()) == 0) { lose(); }
}

/// A call gave up.
ENTITABLE_DECL void pg_lane::lose_if_silent() {
    constexpr std::chrono::seconds silence{1};
    if (std::chrono::steady_clock::now() - heard_ > silence) { lose(); }
}

ENTITABLE_DECL result<std::vector<pg_rows>> pg_lane::run(pg_lane_call& of, pg_wait const& until, bool& abandoned) {
    of.context = &until.context();
    if (!on_ || of.generation != generation_) {
        of.lost = true;
    } else if (use_ == use::writes) {
        sync(&of);
    } else if (bool const alone = alone_ > 0; alone || !(*on_)->own_settings_ || ++open_reads_ >= most_reads_at_once) {
        alone_ -= alone ? 1U : 0U;
        sync(nullptr);
    }
    bool gives_up = false;
    pg_wait limit = until;
    call const nobody;
    while (!of.done && !of.lost) {
        bool const ends = fibers_.ending();
        if (!ends && !limit.over()) {
            of.fiber->pause(pg_end_of(limit));
        } else if (!gives_up && !ends && use_ == use::writes) {
            // The server stops by itself at the end of a call: its response is the outcome.
            gives_up = true;
            limit = pg_wait{nobody, until.time(), pg_grace};
        } else {
            abandoned = true;
            forget(of);
            of.unanswered = 0;
            lose_if_silent();
            auto allowed = check_call(until.context(), until.time());
            return allowed
                ? failure{error_code::store_busy, "the database did not respond within postgres_options::longest_wait"}
                : std::move(allowed).as_failure();
        }
    }
    of.unanswered = 0;
    if (of.lost) {
        return pg_failure(error_code::transport_failed, "the connection to the database was lost", lost_text_.c_str());
    }
    if (!of.outcome) {
        of.not_run = false;
        return std::move(of.outcome).as_failure();
    }
    if (of.not_run) { return failure{error_code::store_busy, "the database did not run a statement"}; }
    return std::move(of.answers);
}

// ---- results ----------------------------------------------------------------------------------------

ENTITABLE_DECL void pg_lane::ready(io_descriptor, io_interest) noexcept { readable_ = true; }

ENTITABLE_DECL void pg_lane::receive() {
    if (!on_ || !std::exchange(readable_, false)) { return; }
    pg_conn* const on = (*on_)->on_.get();
    bool const good = PQconsumeInput(on) != 0;
    heard_ = std::chrono::steady_clock::now();
    while (on_ && !sent_.empty() && PQisBusy(on) == 0) {
        pg_rows rows{PQgetResult(on)};
        if (rows.get() != nullptr) {
            deliver(std::move(rows));
        } else if (started_ && PQstatus(on) != CONNECTION_BAD) { // the end of one statement's results
            started_ = false;
            finish(sent_.front().from);
            sent_.pop_front();
        } else {
            return lose();
        }
    }
    if (on_ && (!good || PQstatus(on) == CONNECTION_BAD)) { lose(); }
}

ENTITABLE_DECL void pg_lane::deliver(pg_rows rows) {
    pg_connection& real = **on_;
    pg_result* const answer = rows.get();
    message const head = sent_.front();
    pg_lane_call* const to = head.from;
    bool const prepares = head.meaning < static_cast<std::uint8_t>(pg_statement::count);
    std::uint64_t const prepared = prepares ? std::uint64_t{1} << head.meaning : 0;
    started_ = true;
    switch (PQresultStatus(answer)) {
        case PGRES_PIPELINE_SYNC:
            started_ = false;
            fresh_ = false;
            silent_losses_ = 0;
            sent_.pop_front();
            real.last_answer_ = heard_;
            if (to != nullptr) {
                to->unreplicated = *real.unreplicated_;
                finish(to);
            }
            *real.unreplicated_ = false;
            break;
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
            real.prepared_ |= prepared;
            real.preparing_ &= ~prepared;
            if (to != nullptr && head.meaning == pg_connection::asked_for) { to->answers.push_back(std::move(rows)); }
            break;
        case PGRES_PIPELINE_ABORTED:
            real.preparing_ &= ~prepared;
            unprepared_ = prepares ? sent_.size() : unprepared_;
            if (to != nullptr) { to->not_run = true; }
            break;
        default: {
            real.preparing_ &= ~prepared;
            unprepared_ = prepares ? sent_.size() : unprepared_;
            char const* const severity = PQresultErrorField(answer, PG_DIAG_SEVERITY_NONLOCALIZED);
            if (severity != nullptr && std::string_view{severity} != "ERROR") { // the server ends the session
                return lose();
            }
            if (to == nullptr || !to->outcome) { break; }
            failure why = real.problem(answer, *to->context);
            if (real.broken_) { return lose(); }
            if (real.state_ == "26000" && unprepared_ > 0) { // it was prepared with another call, and that failed
                --unprepared_;
                to->not_run = true;
            } else {
                to->outcome = std::move(why);
                to->state = real.state_;
                to->constraint = real.constraint_;
            }
        }
    }
}

/// One message of a call is answered.
ENTITABLE_DECL void pg_lane::finish(pg_lane_call* of) noexcept {
    if (of != nullptr && of->unanswered > 0 && --of->unanswered == 0) {
        if (use_ == use::reads && of->not_run) { ++alone_; }
        complete(*of);
    }
}

ENTITABLE_DECL void pg_lane::complete(pg_lane_call& of) noexcept {
    of.unanswered = 0;
    of.done = true;
    if (of.fiber != nullptr) { of.fiber->wake(); }
    if (of.group != nullptr) {
        for (pg_call_group::member const* const each : of.group->members) {
            if (each != nullptr) { each->on->wake(); }
        }
    }
}

ENTITABLE_DECL void pg_lane::flush() {
    if (!on_) { return; }
    if (group_) { send_group(); }
    if (on_ && open_reads_ > 0) { sync(nullptr); }
    if (!on_) { return; }
    if (sent_.empty()) {
        draining_ = draining_ || pool_.is_waited_for();
        if (calls_ == 0) {
            give_back();
            return admit();
        }
        return;
    }
    draining_ = draining_ || pool_.is_waited_for();
    int const left = PQflush((*on_)->on_.get());
    if (left < 0) {
        readable_ = true; // the server's last message may still be there
        return receive();
    }
    fibers_.io().watch(socket_, left > 0 ? io_interest::both : io_interest::read, this);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
