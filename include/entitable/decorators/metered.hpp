// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `metered<T>`: counts operations, errors and latency for each table and partition. Not part of the core umbrella.

#include <entitable/core/shared.hpp>
#include <entitable/transport/many.hpp>

#include <map>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE

/// What was counted for one partition of one table, or for all that have no line of their own.
struct traffic {
    std::string table; ///< empty for lists of tables, and for tables without a line
    std::optional<std::string>
        partition;              ///< none for requests that touch no single partition, and for the rest of the table
    std::uint64_t operations{}; ///< calls that were answered, or given up
    std::uint64_t errors{}; ///< those of `operations` that ended with an error, expected ones like ResourceNotFound too
    std::chrono::nanoseconds total{};   ///< of all operations
    std::chrono::nanoseconds longest{}; ///< of one operation
};

/// How a `metered` counts.
struct metered_options {
    std::size_t max_lines{1'000}; ///< partitions and tables that get a line of their own; the rest share a line
    clock* time{&system_clock()}; ///< measures latency; must outlive the transport
};

namespace detail {

/// The counters of a `metered`. Safe to use from several threads.
class traffic_log : public counted {
public:
    explicit traffic_log(metered_options const& options) : options_(options) {}

    [[nodiscard]] steady_time now() const noexcept { return options_.time->steady(); }
    ENTITABLE_LAZY void add(
        std::string_view table, std::optional<std::string_view> partition, steady_time begun, bool failed);
    template <class Request>
    void add_request(Request const& request, steady_time begun, bool failed) {
        add(table_of(request), partition_of(request), begun, failed);
    }
    ENTITABLE_LAZY [[nodiscard]] std::vector<traffic> lines() const;
    ENTITABLE_LAZY void clear();

private:
    struct line {
        std::uint64_t operations{};
        std::uint64_t errors{};
        std::chrono::nanoseconds total{};
        std::chrono::nanoseconds longest{};
    };
    using line_key = std::pair<std::string, std::optional<std::string>>;

    ENTITABLE_LAZY [[nodiscard]] line& line_of(std::string_view table, std::optional<std::string_view> partition);

    metered_options const options_;
    mutable std::mutex lock_;
    std::map<line_key, line> lines_; ///< guarded by lock_
    line rest_;                      ///< guarded by lock_
};

/// A feed that notes when a request was taken and when it was answered.
template <class Request>
class metered_feed final : public request_feed<Request> {
public:
    metered_feed(request_feed<Request>& inner, traffic_log& log) : inner_(inner), log_(log) {}

    Request const* next(std::size_t& slot) override {
        Request const* const taken = inner_.next(slot);
        if (taken != nullptr) {
            open_.insert_or_assign(slot, under_way{taken, log_.now()});
        }
        return taken;
    }
    void answer(std::size_t slot, result<response_of<Request>> response) override {
        if (auto const at = open_.find(slot); at != open_.end()) {
            log_.add_request(*at->second.request, at->second.begun, !response);
            open_.erase(at);
        }
        inner_.answer(slot, std::move(response));
    }

private:
    struct under_way {
        Request const* request;
        steady_time begun;
    };
    request_feed<Request>& inner_;
    traffic_log& log_;
    std::map<std::size_t, under_way> open_;
};

} // namespace detail

/// A transport that counts what passes through it. Below a retrying transport it sees each attempt, above it each call. A cheap
/// handle: copies share the counters. Safe to use from several threads. Cost: two looks at the clock, a lock and a search among
/// at most `max_lines` lines for each request; memory for at most so many keys. What it counts holds partition keys, which may be
/// user data. One that was moved from answers InvalidInput.
template <transport T>
class metered {
public:
    using is_transport = void;       ///< opts in to `transport`
    using visits_entities = metered; ///< opts in to `read_entity`

    // Exactly a T: nothing converts on the way, not even to the any_transport that asks whether this is a transport.
    /// Counts from now on. Copies count together.
    template <std::same_as<T> Wrapped>
    explicit metered(Wrapped wrapped, metered_options options = {})
        : wrapped_(std::move(wrapped)), log_(shared<detail::traffic_log>::make(options)) {}

    [[nodiscard]] entitable::profile profile() const { return wrapped_.profile(); } ///< of the transport below

    /// Passes a request on and counts it.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!log_) {
            return detail::moved_from("transport");
        }
        steady_time const begun = log_->now();
        auto response = entitable::execute(wrapped_, request, context);
        log_->add_request(request, begun, !response);
        return response;
    }

    /// Where the wrapped transport keeps several requests under way, so does this.
    template <table_request Request>
        requires answers_many<T, Request>
    void execute_many(request_feed<Request>& feed, std::size_t in_flight, call& context) const {
        if (!log_) {
            return detail::refuse_moved_from(feed, "transport");
        }
        detail::metered_feed<Request> watched{feed, *log_};
        wrapped_.execute_many(watched, in_flight, context);
    }

    /// What was counted, in the order of tables and partitions; last, with no table, what had no line of its own.
    [[nodiscard]] std::vector<traffic> counted() const { return log_ ? log_->lines() : std::vector<traffic>{}; }
    /// Starts again from nothing.
    void clear() const {
        if (log_) {
            log_->clear();
        }
    }

private:
    mutable T wrapped_;
    shared<detail::traffic_log> log_;
};

/// Of any transport.
template <transport T>
metered(T, metered_options = {}) -> metered<T>;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/decorators/impl/metered.ipp>
#endif
