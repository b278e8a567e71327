// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/request/idempotency.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void bulk_run::send_due(steady_time now) {
    if (stopped_) { return; }
    if (!paused_.empty()) {
        std::erase_if(paused_, [&](shared<bulk_part> const& each) {
            bool const due = each->next().not_before <= now;
            if (due) { ready_.push_back(each); }
            return due;
        });
    }
    while (weight_ < pressure_.in_flight() && pressure_.next_at() <= now) {
        shared<bulk_part> next = pick(now);
        if (!next) { break; }
        send(std::move(next), now);
    }
}

/// Whether the partition of `part` accepts a request now; otherwise the part waits with the other parts of that partition.
ENTITABLE_DECL bool bulk_run::may_go(shared<bulk_part> const& part, steady_time now) {
    bulk_partition_pressure const* const at = pressure_.find(part->partition_key());
    if (at == nullptr || bulk_pressure::next_at(*at) <= now) { return true; }
    waiting_[std::string{part->partition_key()}].push_back(part);
    return false;
}

ENTITABLE_DECL shared<bulk_part> bulk_run::pick(steady_time now) {
    while (!ready_.empty()) {
        shared<bulk_part> next = std::move(ready_.front());
        ready_.pop_front();
        if (may_go(next, now)) { return next; }
    }
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        bulk_partition_pressure const* const pressed = pressure_.find(at->first);
        if (pressed == nullptr || bulk_pressure::next_at(*pressed) <= now) {
            shared<bulk_part> next = std::move(at->second.front());
            at->second.pop_front();
            if (at->second.empty()) { waiting_.erase(at); }
            return next;
        }
    }
    while (!queue_.empty()) {
        shared<bulk_part> next = std::move(queue_.back());
        queue_.pop_back();
        if (may_go(next, now)) { return next; }
    }
    return {};
}

ENTITABLE_DECL void bulk_run::send(shared<bulk_part> part, steady_time now) {
    bulk_partition_pressure* const pressed = pressure_.find(part->partition_key());
    part->partition = pressed;
    part->sent_at = now;
    part->context = call{calls_, *time_};
    part->context.location = read_location::primary;
    if (part->context.retry == retry::standard) {
        part->context.retry = retry::by_caller;
    } // the load repeats, at its pace
    part->context.deadline = (std::min)(part->context.deadline, deadline_);
    part->booked = pressure_.sent(part->writes() ? part->size() : 1, pressed, now);
    sent_ = true;
    part->weight = part->size() > 1 ? transaction_weight_ : 1;
    weight_ += part->weight;
    part->running_at = running_.size();
    running_.push_back(part);
    way_->send(part->next().request, part->context, part.get());
}

ENTITABLE_DECL void bulk_run::take(completion& done) {
    std::size_t const at = static_cast<bulk_part const*>(done.tag)->running_at;
    shared<bulk_part> const part = std::move(running_[at]);
    std::swap(running_[at], running_.back());
    running_.pop_back();
    if (at < running_.size()) { running_[at]->running_at = at; }
    weight_ -= part->weight;
    ++report_.transactions;
    steady_time const now = time_->steady();
    auto* const pressed = static_cast<bulk_partition_pressure*>(part->partition);
    bulk_pressure::answered(pressed);
    std::size_t const rows = part->writes() ? part->size() : 1;
    pressure_.charged(
        done.problem == nullptr && part->writes() ? part->size() : 0, part->booked, part->context.request_charge);
    if (done.problem == nullptr) {
        pressure_.taken(rows, pressed, now);
        trouble_since_.reset();
        last_good_ = now;
    }
    std::optional<error> problem;
    if (done.problem != nullptr) { problem = *done.problem; }
    if (problem && is_pressure(*problem)) {
        pressure_.refused(part->partition_key(), part->sent_at,
            problem->retry_after ? std::chrono::nanoseconds{*problem->retry_after} : std::chrono::nanoseconds{}, now);
    }
    done.visit([&]<class Request>(Request const&, result<response_of<Request>>& answer) {
        if constexpr (takes_answer_to<bulk_part, Request>) { part->answer(std::move(answer), now); }
    });
    if (problem) { take_trouble(*part, *problem, now); }
    go_on(part, now);
}

/// Waits for a transient failure to end: for `wait_budget` if nothing else succeeds; a single row is tried ten times if others succeed.
ENTITABLE_DECL void bulk_run::take_trouble(bulk_part& part, error const& problem, steady_time now) {
    bool const passing = is_pressure(problem) || worth_retrying(problem) ||
        problem.code == error_code::deadline_exceeded || problem.code == error_code::cancelled;
    if (!passing) {
        trouble_since_.reset();
        last_good_ = now;
        return;
    }
    ++report_.retried;
    if (!trouble_since_) { trouble_since_ = now; }
    if (now - *trouble_since_ > options_.wait_budget) {
        stop(problem);
    } else if (part.size() == 1 && part.failures() >= 10 && last_good_ > part.failing_since()) {
        part.give_up(problem);
    }
}

ENTITABLE_DECL void bulk_run::go_on(shared<bulk_part> const& part, steady_time now) {
    for (bulk_settled const& each : part->take_settled()) {
        settle(each.change, each.index, each.end, each.why ? &*each.why : nullptr);
    }
    if (part->all_written()) {
        for (std::size_t at = 0; at < part->size(); ++at) {
            settle(part->change(at), part->index(at), bulk_end::written, nullptr);
        }
        return;
    }
    if (part->ended()) {
        stop(*part->ended());
        return;
    }
    for (shared<bulk_part>& each : part->take_split()) { ready_.push_back(std::move(each)); }
    operation_step const step = part->next();
    if (step.done()) { return; }
    if (step.not_before > now) {
        paused_.push_back(part);
    } else {
        ready_.push_back(part);
    }
}

ENTITABLE_DECL steady_time bulk_run::wakes_at(steady_time now) {
    steady_time wakes = way_->wakes_at();
    if (stopped_) { return wakes; }
    if (weight_ >= pressure_.in_flight()) {
        return wakes; // the next response decides
    }
    steady_time due = ready_.empty() && queue_.empty() ? (steady_time::max)() : now;
    for (shared<bulk_part> const& each : paused_) { due = (std::min)(due, each->next().not_before); }
    for (auto const& [partition_key, parts] : waiting_) {
        bulk_partition_pressure const* const pressed = pressure_.find(partition_key);
        due = (std::min)(due, pressed == nullptr ? now : bulk_pressure::next_at(*pressed));
    }
    wakes = (std::min)(wakes, (std::max)(due, pressure_.next_at()));
    return wakes;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
