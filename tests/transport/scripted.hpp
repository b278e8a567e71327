// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Operations that follow a script, and transports that record their requests.

#include <entitable/core/transport/channel.hpp>
#include <entitable/core/transport/run.hpp>

#include <support/many.hpp>

#include <string>
#include <vector>

namespace entitable_test {

using events = std::vector<std::string>;

/// One step of an operation: sends a request for a row, or waits until a time.
struct script_step {
    std::string send; ///< the row key; empty to wait
    entitable::steady_time until{};
    std::size_t place{};
};

/// Sends and waits as the script says, and checks that it is driven by the rules of operations.
class scripted {
public:
    scripted(std::string name, std::vector<script_step> script, events& log)
        : name_(std::move(name)), script_(std::move(script)), log_(&log) {}

    [[nodiscard]] entitable::operation_step next() {
        if (stopped_ || step_ == script_.size()) { return {}; }
        if (script_[step_].send.empty()) {
            not_before_ = script_[step_++].until;
            return next();
        }
        wanted_.row_key = name_ + script_[step_].send;
        return {wanted_, not_before_, script_[step_].place};
    }
    void answer(entitable::result<entitable::get_entity::response> response, entitable::steady_time now) {
        REQUIRE(now >= not_before_);
        log_->push_back(wanted_.row_key + (response ? " answered" : " " + response.error().message));
        ++step_;
    }
    void abandon(entitable::error const& reason) {
        REQUIRE_FALSE(next().done());
        log_->push_back(name_ + " abandoned: " + std::string{to_string(reason.code)});
        stopped_ = true;
    }
    std::string finish() {
        REQUIRE(next().done());
        return name_ + (stopped_ ? " stopped" : " finished");
    }

private:
    std::string name_;
    std::vector<script_step> script_;
    events* log_;
    entitable::get_entity wanted_;
    entitable::steady_time not_before_{entitable::steady_time::min()};
    std::size_t step_{};
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

/// Has up to `in_flight` requests in flight and answers the latest first.
struct many_at_once : one_by_one {
    std::size_t* most;

    [[nodiscard]] entitable::shared<entitable::channel> open(entitable::io_driver&) const {
        return open_latest_first(static_cast<one_by_one const&>(*this), most);
    }
};

} // namespace entitable_test
