// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An observer that copies all of its events, in order.

#include <entitable/core/request/observer.hpp>

#include <string>
#include <vector>

namespace entitable_test {

/// Copies of the texts of a record, which are destroyed after the call.
struct seen_event {
    std::string what; ///< "operation", "attempt" or "wait"
    std::string name;
    std::string table;
    std::string request_id;
    std::string system;
    std::string address;
    entitable::operation_record operation{};
    entitable::attempt_record attempt{};
    entitable::wait_record wait{};
};

/// One thread at a time.
class watcher final : public entitable::observer {
public:
    void on_operation(entitable::operation_record const& done) noexcept override {
        seen_event& kept = keep("operation", done.name, done.table);
        kept.operation = done;
        server(kept, done.server);
        line(kept, done.outcome, "attempts " + std::to_string(done.attempts));
    }
    void on_attempt(entitable::attempt_record const& done) noexcept override {
        seen_event& kept = keep("attempt", done.name, done.table);
        kept.attempt = done;
        kept.request_id = done.request_id;
        server(kept, done.server);
        line(kept, done.outcome, std::to_string(done.number));
    }
    void on_wait(entitable::wait_record const& wait) noexcept override {
        seen_event& kept = keep("wait", wait.name, wait.table);
        kept.wait = wait;
        auto const length = std::chrono::duration_cast<std::chrono::milliseconds>(wait.until - wait.begun);
        lines.push_back("wait " + kept.name + " " + kept.table + " " + std::string{to_string(wait.cause)} + " " +
            std::to_string(length.count()) + " ms after " + std::to_string(wait.attempts));
    }

    /// All events of a kind.
    [[nodiscard]] std::vector<seen_event> all(std::string_view what) const {
        std::vector<seen_event> found;
        for (seen_event const& each : events) {
            if (each.what == what) { found.push_back(each); }
        }
        return found;
    }
    /// All texts in the events, one after another.
    [[nodiscard]] std::string texts() const {
        std::string text;
        for (seen_event const& each : events) {
            text += each.name + '\n' + each.table + '\n' + each.request_id + '\n' + each.system + '\n' + each.address +
                '\n';
        }
        return text;
    }

    std::vector<seen_event> events;
    std::vector<std::string> lines; ///< for comparisons

private:
    seen_event& keep(std::string_view what, std::string_view name, std::string_view table) {
        seen_event& kept = events.emplace_back();
        kept.what = what;
        kept.name = name;
        kept.table = table;
        return kept;
    }
    static void server(seen_event& kept, entitable::server_identity const& from) {
        kept.system = from.system;
        kept.address = from.address;
    }
    void line(seen_event const& kept, entitable::outcome_record const& outcome, std::string const& more) {
        lines.push_back(kept.what + " " + kept.name + " " + kept.table + " " + more + " " +
            (outcome.error ? std::string{to_string(*outcome.error)} : "ok"));
    }
};

} // namespace entitable_test
