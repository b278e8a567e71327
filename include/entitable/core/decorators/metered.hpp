// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `metered<T>`: counts requests for each table and partition, and exports OpenMetrics text. Not part of the core umbrella.

#include <entitable/core/decorators/metrics.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>

#include <map>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE

/// The counters of one partition of one table, or of everything without its own line.
struct traffic {
    std::string table; ///< in lower case; empty for lists of tables, and for tables without their own line
    std::optional<std::string> partition; ///< nullopt for several partitions, and for everything without its own line
    std::uint64_t operations{};           ///< calls that were completed or abandoned
    std::uint64_t errors{};               ///< failed `operations`, including expected errors such as ResourceNotFound
    std::chrono::nanoseconds total{};     ///< total duration of all operations
    std::chrono::nanoseconds longest{};   ///< longest duration of one operation
};

/// Options of `metered`.
struct metered_options {
    std::size_t max_lines{
        1'000}; ///< maximum number of partitions, tables and series with their own line; all others share one line
    clock* time{&system_clock()}; ///< measures latency; must outlive the transport
};

namespace detail {

/// The counters of `metered`. Safe to use from several threads.
class traffic_log : public counted {
public:
    explicit traffic_log(metered_options const& options)
        : numbers({options.max_lines, options.time}), options_(options) {}

    metrics numbers;

    [[nodiscard]] steady_time now() const noexcept { return options_.time->steady(); }
    [[nodiscard]] clock* time() const noexcept { return options_.time; }
    /// Adds a completed request, with the server of the call.
    template <class Request>
    void add(Request const& request, steady_time begun, outcome_record const& outcome, call const& context) {
        add(request, partition_of(request), begun, outcome, context);
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

    ENTITABLE_LAZY void add(request_ref asked, std::optional<std::string_view> partition, steady_time begun,
        outcome_record const& outcome, call const& context);
    ENTITABLE_LAZY [[nodiscard]] line& line_of(std::string_view table, std::optional<std::string_view> partition);

    metered_options const options_;
    mutable std::mutex lock_;
    std::map<line_key, line> lines_; ///< guarded by lock_
    line rest_;                      ///< guarded by lock_
};

/// The observer of a call below a `metered`: counts attempts and waits, and forwards all reports.
class metered_watch final : public observer {
public:
    metered_watch(metrics& numbers, call& context) noexcept
        : numbers_(&numbers), context_(&context), above_(context.watch) {
        context.watch = this;
        context.spans.server = nullptr;
    }
    ~metered_watch() override { context_->watch = above_; }
    metered_watch(metered_watch const&) = delete;
    metered_watch& operator=(metered_watch const&) = delete;

    void on_operation(operation_record const& done) noexcept override {
        if (above_ != nullptr) { above_->on_operation(done); }
    }
    void on_attempt(attempt_record const& done) noexcept override {
        numbers_->on_attempt(done);
        if (above_ != nullptr) { above_->on_attempt(done); }
    }
    void on_wait(wait_record const& wait) noexcept override {
        numbers_->on_wait(wait);
        if (above_ != nullptr) { above_->on_wait(wait); }
    }

private:
    metrics* numbers_;
    call* context_;
    observer* above_;
};

/// Opens a channel that counts the completions of `below`.
[[nodiscard]] shared<channel> open_metered_channel(shared<channel> below, shared<traffic_log> log);

} // namespace detail

/// A transport that counts what passes through it. Below a retrying transport it counts attempts; above it, calls. A cheap handle: copies
/// share the counters. The counters contain partition keys, which may be user data; the OpenMetrics text does not. After a move it returns
/// InvalidInput. Thread safety: safe to use from several threads. Cost: a request with one attempt takes six clock readings, three locks,
/// and searches among at most `max_lines` lines; at most that many keys are stored.
template <transport T>
class metered {
public:
    using is_transport = void;       ///< opts in to `transport`
    using visits_entities = metered; ///< opts in to `read_entity`
    using visits_pages = metered;    ///< opts in to `read_entities`

    // Takes exactly a T, so that no conversion is tried when any_store checks whether this type is a transport.
    /// Starts counting. Copies share the counters.
    template <std::same_as<T> Wrapped>
    explicit metered(Wrapped wrapped, metered_options options = {})
        : wrapped_(std::move(wrapped)), log_(shared<detail::traffic_log>::make(options)) {}

    [[nodiscard]] entitable::profile profile() const { return wrapped_.profile(); } ///< the wrapped transport's profile

    /// Forwards a request and counts it.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!log_) { return detail::moved_from("transport"); }
        detail::metered_watch const watch{log_->numbers, context};
        steady_time const begun = log_->now();
        auto response = entitable::execute(wrapped_, request, context);
        log_->add(request, begun, detail::outcome_of(request, response), context);
        return response;
    }

    /// Opens a channel that counts each request at its completion. Returns null if the options and the driver have different clocks.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return log_ && log_->time() == &io.time()
            ? detail::open_metered_channel(open_channel(any_store{wrapped_}, io), log_)
            : shared<channel>{};
    }

    /// Returns the counters, ordered by table and partition; the last element, without a table, counts everything without its own line.
    [[nodiscard]] std::vector<traffic> counted() const { return log_ ? log_->lines() : std::vector<traffic>{}; }
    /// Returns the counters as OpenMetrics text: see `metrics`. Operations are the requests that this transport forwarded; attempts and
    /// waits are those of the transports below.
    [[nodiscard]] std::string to_openmetrics() const {
        return log_ ? log_->numbers.to_openmetrics() : std::string{"# EOF\n"};
    }
    /// Resets all counters.
    void clear() const {
        if (log_) { log_->clear(); }
    }

private:
    mutable T wrapped_;
    shared<detail::traffic_log> log_;
};

/// Wraps any transport.
template <transport T>
metered(T, metered_options = {}) -> metered<T>;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/decorators/impl/metered.ipp>
#endif
