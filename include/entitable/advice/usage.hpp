// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `usage_meter`: an observer that measures what the requests of a program cost: transactions, bytes and request units of each operation. Its
/// figures are the inputs of `plan_ingest`, `units_for` and `price`.
///
///     usage_meter meter;
///     auto const orders = table<order>{store, "orders"}.with({.watch = &meter});
///     ...                                               // requests as the application will send them
///     auto const plan = plan_ingest(measured_ingest(meter.measured(), {.data_gb = 1'000}));

#include <entitable/advice/throughput_plan.hpp>
#include <entitable/core/request/observer.hpp>
#include <entitable/core/result.hpp>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The requests of one operation, as measured.
struct operation_usage {
    std::string name;               ///< name of the operation: "get_entity", "query_entities", "insert", "transact"
    std::uint64_t transactions{};   ///< requests that were sent; Storage bills each, and a batch is one
    std::uint64_t failed{};         ///< requests among them that failed; most are billed too
    std::uint64_t entities{};       ///< entities that were written or returned
    std::uint64_t bytes_sent{};     ///< bytes of the bodies that were sent
    std::uint64_t bytes_received{}; ///< bytes of the bodies that were received
    double request_units{};         ///< cost in request units, as the service reported it
};

/// Measured requests, by operation.
struct usage {
    std::vector<operation_usage> operations; ///< sorted by name

    /// Returns the operation of a name; null if there were no such requests.
    [[nodiscard]] operation_usage const* find(std::string_view name) const noexcept;
    /// Returns the sum of all operations, without a name.
    [[nodiscard]] operation_usage total() const;
    /// Returns the sum of all writes of entities, without a name.
    [[nodiscard]] operation_usage writes() const;
    /// Returns the measurements as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Measures requests. Set it as `call_options::watch`. Thread safety: safe to use from several threads. Cost: a lock for each attempt.
class usage_meter final : public observer {
public:
    void on_attempt(attempt_record const& done) noexcept override; ///< adds an attempt
    [[nodiscard]] usage measured() const;                          ///< all attempts so far
    void clear();                                                  ///< drops all measurements

private:
    mutable std::mutex lock_;
    usage all_; ///< guarded by lock_
};

/// Returns the request with the charge of one write as measured: request units of all writes, failed ones included, by written entity. Errors:
/// InvalidInput if nothing was written, or the service reported no charges.
[[nodiscard]] result<ingest_request> measured_ingest(usage const& measured, ingest_request request);

/// Returns the measured charge and rate of each operation, for `units_for`. Errors: OutOfRangeInput unless `seconds`, the duration of the
/// measurement, is positive; InvalidInput if the service reported no charges.
[[nodiscard]] result<std::vector<charged_request>> measured_charges(usage const& measured, double seconds);

namespace detail {

/// Whether requests of this name write entities.
[[nodiscard]] bool writes_entities(std::string_view operation) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/usage.ipp>
#endif
