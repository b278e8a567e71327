// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/metered.hpp>
#include <entitable/core/text.hpp>

#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table gets a line before any of its partitions, so that a full log still distinguishes tables.
ENTITABLE_LAZY_BODY traffic_log::line& traffic_log::line_of(
    std::string_view table, std::optional<std::string_view> partition) {
    line_key key{text::ascii_lower(table), std::nullopt};
    auto const of_table = lines_.find(key);
    if (of_table == lines_.end() && lines_.size() >= options_.max_lines) { return rest_; }
    line& whole = of_table == lines_.end() ? lines_[key] : of_table->second;
    if (!partition) { return whole; }
    key.second.emplace(*partition);
    auto const found = lines_.find(key);
    if (found != lines_.end()) { return found->second; }
    return lines_.size() < options_.max_lines ? lines_[std::move(key)] : whole;
}

ENTITABLE_LAZY_BODY void traffic_log::add(request_ref asked, std::optional<std::string_view> partition,
    steady_time begun, outcome_record const& outcome, call const& context) {
    auto const [name, table, batch_size] = words_of(asked);
    operation_record done;
    done.name = name;
    done.table = table;
    done.batch_size = batch_size;
    done.begun = begun;
    done.ended = now();
    done.outcome = outcome;
    if (context.spans.server != nullptr) { done.server = *context.spans.server; }
    numbers.on_operation(done);
    auto const took = std::chrono::duration_cast<std::chrono::nanoseconds>(done.ended - begun);
    std::lock_guard const guard{lock_};
    line& counters = line_of(table, partition);
    ++counters.operations;
    counters.errors += outcome.error ? 1U : 0U;
    counters.total += took;
    counters.longest = took > counters.longest ? took : counters.longest;
}

ENTITABLE_LAZY_BODY std::vector<traffic> traffic_log::lines() const {
    std::lock_guard const guard{lock_};
    std::vector<traffic> all;
    for (auto const& [key, counters] : lines_) {
        if (counters.operations > 0) {
            all.push_back(
                {key.first, key.second, counters.operations, counters.errors, counters.total, counters.longest});
        }
    }
    if (rest_.operations > 0) {
        all.push_back({{}, std::nullopt, rest_.operations, rest_.errors, rest_.total, rest_.longest});
    }
    return all;
}

ENTITABLE_LAZY_BODY void traffic_log::clear() {
    std::lock_guard const guard{lock_};
    numbers.clear();
    lines_.clear();
    rest_ = {};
}

class metered_channel final : public channel {
public:
    metered_channel(shared<channel> below, shared<traffic_log> log) : below_(std::move(below)), log_(std::move(log)) {}
    ~metered_channel() override { below_ = {}; } // the lower channel calls the observers

    void send(request_ref request, call& context, void* tag) override {
        watches_.insert_or_assign(tag, std::make_unique<metered_watch>(log_->numbers, context));
        below_->send(request, context, tag);
    }
    void cancel(void* tag, error const& why) override { below_->cancel(tag, why); }
    void poll(steady_time now, completion_sink sink) override {
        below_->poll(now, [&](completion& done) {
            done.visit([&](auto const& request, auto const& answer) {
                log_->add(request, done.begun, outcome_of(request, answer), *done.context);
            });
            watches_.erase(done.tag);
            sink(done);
        });
    }
    [[nodiscard]] steady_time wakes_at() const noexcept override { return below_->wakes_at(); }

private:
    shared<channel> below_;
    shared<traffic_log> log_;
    std::map<void*, std::unique_ptr<metered_watch>> watches_; ///< the watches of pending requests
};

ENTITABLE_DECL shared<channel> open_metered_channel(shared<channel> below, shared<traffic_log> log) {
    return shared<channel>{new metered_channel{std::move(below), std::move(log)}};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
