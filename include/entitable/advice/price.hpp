// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `price`: the price of a month of a workload, from a table of prices that you give. The library knows no prices: take them from the provider's
/// price page of your region, and write down the day.
///
///     price_table storage{.name = "Storage LRS, West Europe", .as_of = "2026-11-01", .currency = "EUR"};
///     storage.transactions = {.read = 0.0004, .query = 0.0004, .write = 0.0004, .batch = 0.0004, .removal = 0};
///     storage.storage_gb = 0.05;
///     auto const month = price(monthly_use_of(advice, load), storage).value();

#include <entitable/advice/advise.hpp>
#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/usage.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Prices of 10,000 transactions by kind. A transaction is a request, also one that fails; a batch is one transaction.
struct transaction_prices {
    double read{};    ///< 10,000 reads of one entity
    double query{};   ///< 10,000 pages of queries
    double write{};   ///< 10,000 writes of one entity
    double batch{};   ///< 10,000 batches
    double removal{}; ///< 10,000 removals of one entity
};

/// The prices of a service on one day, as given by you. A price that is absent is unknown, not zero: a use that needs it is refused.
struct price_table {
    std::string name{};          ///< service, redundancy and region, for the reader
    std::string as_of{};         ///< the day of the prices, "2026-11-01": shown with every total
    std::string currency{"USD"}; ///< shown with every total
    double hours_in_month{730};  ///< hours that a month is billed for
    std::optional<transaction_prices>
        transactions{}; ///< Storage: prices of transactions; absent if requests are billed in request units
    std::optional<double> storage_gb{};                  ///< one stored GB (2^30 bytes) for a month
    std::optional<double> egress_gb{};                   ///< one GB (2^30 bytes) that leaves the region
    double free_egress_gb{};                             ///< GB in a month that may leave without charge
    std::optional<double> hour_of_100_units{};           ///< 100 RU/s of manual throughput for an hour
    std::optional<double> hour_of_100_autoscale_units{}; ///< 100 RU/s of autoscale for an hour
    std::optional<double> million_units{}; ///< a million request units without provisioned throughput ("serverless")
    double least_units{400};               ///< lowest manual RU/s; provisioned in steps of 100
    double least_autoscale_units{
        1'000}; ///< lowest maximum of autoscale; set in steps of 1,000, a tenth is billed at least
};

/// How request units are billed.
enum class unit_billing : std::uint8_t {
    none,       ///< by transactions
    manual,     ///< provisioned RU/s
    autoscale,  ///< the highest RU/s of each hour, at least a tenth of the maximum
    serverless, ///< the request units that were used
};

/// What a design uses in a month. Plain data.
struct monthly_use {
    std::string name{};       ///< the design, for the reader
    double reads{};           ///< reads of one entity
    double queries{};         ///< pages of queries
    double writes{};          ///< writes of one entity
    double batches{};         ///< batches
    double removals{};        ///< removals of one entity
    double stored_bytes{};    ///< bytes stored during the month
    double egress_bytes{};    ///< bytes that leave the region
    unit_billing billed_by{}; ///< how request units are billed
    double peak_units{};      ///< highest RU/s: what is provisioned, or the maximum of autoscale
    double
        units_a_second{}; ///< mean RU/s: what is billed of autoscale if every second of an hour is alike, and of serverless
};

/// One line of a bill.
struct price_line {
    std::string what;    ///< "reads"
    double quantity{};   ///< in `unit`
    std::string unit;    ///< "10,000 transactions", "GB"
    double unit_price{}; ///< price of one unit
    double amount{};     ///< quantity times price
};

/// The price of a month.
struct monthly_price {
    monthly_use use;               ///< what is used
    std::string prices;            ///< name of the price table
    std::string as_of;             ///< day of the prices
    std::string currency;          ///< currency of all amounts
    std::vector<price_line> lines; ///< lines of the bill that are not zero
    double total{};                ///< sum of the lines

    /// Returns the bill as text for a terminal, with the day of the prices.
    [[nodiscard]] std::string to_string() const;
};

/// Designs side by side.
struct price_comparison {
    std::vector<monthly_price> designs; ///< in the order in which they were given

    /// Returns the comparison as text for a terminal, with the day of the prices of each design.
    [[nodiscard]] std::string to_string() const;
};

/// Returns what a workload uses in a month under one of the candidates of an advice, by default the current keys: requests by the model of
/// `key_score`, and the bytes of the rows that were read. Reads by a whole key are `reads`, all other queries `queries`; writes of several entities
/// are batches if the candidate allows transactions, otherwise single writes. No egress and no request units: set them as measured.
[[nodiscard]] monthly_use monthly_use_of(
    advice const& of, workload const& load, std::optional<std::size_t> candidate = std::nullopt, double hours = 730);

/// Returns what measured requests use in a month, if they go on as in the `seconds` of the measurement. `egress_bytes` are the bytes of the bodies
/// received, `units_a_second` the charges. Errors: OutOfRangeInput unless `seconds` and `hours` are positive.
[[nodiscard]] result<monthly_use> monthly_use_of(usage const& measured, double seconds, double hours = 730);

/// Returns the price of a month. Errors: OutOfRangeInput names a figure that is negative or not a number; InvalidInput names a price that the use
/// needs and the table does not have, or a day that is not a date.
[[nodiscard]] result<monthly_price> price(monthly_use const& use, price_table const& prices);

namespace detail {

/// Returns a table with one row for each line of a bill, and one column for each design, with its name or its number.
[[nodiscard]] text_table price_rows(price_comparison const& all, bool numbered = false);
/// Returns the name of a design.
[[nodiscard]] std::string_view name_of_design(monthly_price const& of) noexcept;
/// Returns the names of the price tables, with their days.
[[nodiscard]] std::string price_sources(price_comparison const& all);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/price.ipp>
#endif
