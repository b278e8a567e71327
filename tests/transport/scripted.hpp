// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Operations that follow a script, and transports that note what they are asked.

#include <entitable/transport/run.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

namespace entitable_test {

using events = std::vector<std::string>;

/// One thing an operation does: send a request for a row, or wait until a time.
struct script_step {
    std::string send; ///< the row key; empty to wait
    entitable::steady_time until{};
};

/// Sends and waits as it is told, and checks that it is driven as the rules of operations say.
class scripted {
public:
    using request = entitable::get_entity;

    scripted(std::string name, std::vector<script_step> script, entitable::clock& time, events& log)
        : name_(std::move(name)), script_(std::move(script)), time_(&time), log_(&log) {}

    [[nodiscard]] entitable::next_step next() const {
        using entitable::next_step;
        if (stopped_ || at() == script_.size()) {
            return next_step::done;
        }
        return script_[at()].send.empty() ? next_step::wait : next_step::send;
    }
    [[nodiscard]] entitable::steady_time wakes_at() const {
        REQUIRE(next() == entitable::next_step::wait);
        return script_[at()].until;
    }
    template <class Visitor>
    void visit(Visitor&& visitor) {
        REQUIRE(next() == entitable::next_step::send);
        REQUIRE_FALSE(sent_);
        sent_ = true;
        wanted_.row_key = name_ + script_[at()].send;
        visitor(wanted_);
    }
    void answer(entitable::result<request::response> response) {
        REQUIRE(sent_);
        sent_ = false;
        log_->push_back(wanted_.row_key + (response ? " answered" : " " + response.error().message));
        ++step_;
    }
    void abandon(entitable::error const& reason) {
        REQUIRE(next() != entitable::next_step::done);
        log_->push_back(name_ + " abandoned: " + std::string{to_string(reason.code)});
        stopped_ = true;
    }
    std::string finish() {
        REQUIRE(next() == entitable::next_step::done);
        return name_ + (stopped_ ? " stopped" : " finished");
    }

private:
    /// A wait is over when its time has come.
    [[nodiscard]] std::size_t at() const {
        while (step_ < script_.size() && script_[step_].send.empty() && time_->steady() >= script_[step_].until) {
            ++step_;
        }
        return step_;
    }

    std::string name_;
    std::vector<script_step> script_;
    entitable::clock* time_;
    events* log_;
    request wanted_;
    mutable std::size_t step_{};
    bool sent_{};
    bool stopped_{};
};

/// Answers one request after the other.
struct one_by_one {
    using is_transport = void;
    events* log;

    [[nodiscard]] entitable::profile profile() const { return {}; }
    entitable::result<entitable::get_entity::response> execute(entitable::get_entity const& request, entitable::call&) {
        log->push_back(request.row_key);
        if (request.row_key.ends_with('!')) {
            return entitable::failure{entitable::error_code::resource_not_found, "not found"};
        }
        return entitable::get_entity::response{};
    }
    entitable::result<entitable::query_entities::response> execute(entitable::query_entities const&, entitable::call&) {
        return entitable::query_entities::response{};
    }
    entitable::result<entitable::written> execute(entitable::write_entity const&, entitable::call&) {
        return entitable::written{};
    }
};

/// Has up to `in_flight` requests under way and answers the latest first.
struct many_at_once : one_by_one {
    std::size_t* most;

    void execute_many(
        entitable::request_feed<entitable::get_entity>& feed, std::size_t in_flight, entitable::call& context) {
        struct sent {
            entitable::get_entity const* request;
            std::size_t slot;
        };
        std::vector<sent> under_way;
        for (;;) {
            while (under_way.size() < in_flight) {
                std::size_t slot = 0;
                auto const* const request = feed.next(slot);
                if (request == nullptr) {
                    break;
                }
                under_way.push_back({request, slot});
            }
            if (under_way.empty()) {
                return;
            }
            *most = under_way.size() > *most ? under_way.size() : *most;
            auto const latest = under_way.back();
            under_way.pop_back();
            feed.answer(latest.slot, execute(*latest.request, context));
        }
    }
};

} // namespace entitable_test
