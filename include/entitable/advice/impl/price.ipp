// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/price.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr double bytes_in_gb = 1'073'741'824; // the provider bills GB of 2^30 bytes

/// The names of members in errors, with their values.
struct named_figure {
    std::string_view name;
    double value;
};

[[nodiscard]] ENTITABLE_DECL result<void> check_figures(
    std::string_view of, std::initializer_list<named_figure> figures) {
    for (named_figure const& each : figures) {
        if (!(each.value >= 0 && each.value <= 1e18)) { // false for NaN
            return failure{error_code::out_of_range_input,
                std::string{of} + std::string{each.name} + " must be between 0 and 10^18"};
        }
    }
    return {};
}

[[nodiscard]] ENTITABLE_DECL result<void> check_prices(price_table const& of) {
    transaction_prices const each = of.transactions.value_or(transaction_prices{});
    ENTITABLE_CHECK(check_figures("price_table::",
        {{"transactions.read", each.read}, {"transactions.query", each.query}, {"transactions.write", each.write},
            {"transactions.batch", each.batch}, {"transactions.removal", each.removal},
            {"storage_gb", of.storage_gb.value_or(0)}, {"egress_gb", of.egress_gb.value_or(0)},
            {"free_egress_gb", of.free_egress_gb}, {"hour_of_100_units", of.hour_of_100_units.value_or(0)},
            {"hour_of_100_autoscale_units", of.hour_of_100_autoscale_units.value_or(0)},
            {"million_units", of.million_units.value_or(0)}, {"hours_in_month", of.hours_in_month},
            {"least_units", of.least_units}, {"least_autoscale_units", of.least_autoscale_units}}));
    if (of.as_of.size() != 10 || !date_time::parse(of.as_of + "T00:00:00Z")) {
        return failure{error_code::invalid_input,
            "price_table::as_of must be the day of the prices, such as 2026-11-01, and is \"" + clipped(of.as_of, 32) +
                "\""};
    }
    return {};
}

[[nodiscard]] ENTITABLE_DECL result<void> check_use(monthly_use const& of) {
    return check_figures("monthly_use::",
        {{"reads", of.reads}, {"queries", of.queries}, {"writes", of.writes}, {"batches", of.batches},
            {"removals", of.removals}, {"stored_bytes", of.stored_bytes}, {"egress_bytes", of.egress_bytes},
            {"peak_units", of.peak_units}, {"units_a_second", of.units_a_second}});
}

/// Adds lines to a bill.
class bill_writer {
public:
    bill_writer(monthly_price& into, price_table const& prices) : into_(into), prices_(prices) {}

    /// Without a price, a quantity over 0 is an error.
    [[nodiscard]] result<void> add(
        std::string_view what, double quantity, std::string_view unit, double const* price, std::string_view name) {
        if (quantity <= 0) { return {}; }
        if (!price) {
            return failure{error_code::invalid_input,
                "the price table \"" + clipped(prices_.name, 64) + "\" has no price for " + std::string{what} +
                    ": price_table::" + std::string{name}};
        }
        double const amount = quantity * *price;
        if (amount > 0) {
            into_.lines.push_back({std::string{what}, quantity, std::string{unit}, *price, amount});
            into_.total += amount;
        }
        return {};
    }

    [[nodiscard]] result<void> add(std::string_view what, double quantity, std::string_view unit,
        std::optional<double> const& price, std::string_view name) {
        return add(what, quantity, unit, price ? &*price : nullptr, name);
    }

private:
    monthly_price& into_;
    price_table const& prices_;
};

[[nodiscard]] ENTITABLE_DECL result<void> bill_transactions(
    bill_writer& to, monthly_use const& use, price_table const& prices) {
    constexpr std::string_view unit = "10,000 transactions";
    transaction_prices const each = prices.transactions.value_or(transaction_prices{});
    auto const add = [&](std::string_view what, double number, double price) {
        return to.add(what, number / 10'000, unit, prices.transactions ? &price : nullptr, "transactions");
    };
    ENTITABLE_CHECK(add("reads", use.reads, each.read));
    ENTITABLE_CHECK(add("queries", use.queries, each.query));
    ENTITABLE_CHECK(add("writes", use.writes, each.write));
    ENTITABLE_CHECK(add("batches", use.batches, each.batch));
    return add("removals", use.removals, each.removal);
}

[[nodiscard]] ENTITABLE_DECL result<void> bill_units(
    bill_writer& to, monthly_use const& use, price_table const& prices) {
    constexpr std::string_view unit = "100 RU/s for an hour";
    switch (use.billed_by) {
        case unit_billing::manual: {
            double const set = (std::max)(std::ceil(use.peak_units / 100) * 100, prices.least_units);
            return to.add("provisioned throughput", set / 100 * prices.hours_in_month, unit, prices.hour_of_100_units,
                "hour_of_100_units");
        }
        case unit_billing::autoscale: {
            double const most = (std::max)(std::ceil(use.peak_units / 1'000) * 1'000, prices.least_autoscale_units);
            double const billed = std::clamp(use.units_a_second, most / 10, most);
            return to.add("throughput with autoscale", billed / 100 * prices.hours_in_month, unit,
                prices.hour_of_100_autoscale_units, "hour_of_100_autoscale_units");
        }
        case unit_billing::serverless:
            return to.add("request units", use.units_a_second * 3'600 * prices.hours_in_month / 1e6,
                "million request units", prices.million_units, "million_units");
        default: return bill_transactions(to, use, prices);
    }
}

/// An amount with two decimals. An amount that they would show as zero, and that is not, is "<0.01".
[[nodiscard]] ENTITABLE_DECL std::string amount_text(double amount) {
    return amount > 0 && amount < 0.005 ? "<0.01" : figure(amount, 2);
}

ENTITABLE_DECL std::string_view name_of_design(monthly_price const& of) noexcept {
    return of.use.name.empty() ? of.prices : of.use.name;
}

ENTITABLE_DECL text_table price_rows(price_comparison const& all, bool numbered) {
    std::vector<std::string> head{numbered ? "design" : "a month of"};
    std::vector<std::string> names; // of lines, in the order of the first design that has each
    for (monthly_price const& each : all.designs) {
        head.push_back((numbered ? std::to_string(head.size()) : std::string{name_of_design(each)}) +
            (each.currency.empty() ? "" : " (" + each.currency + ")"));
        for (price_line const& line : each.lines) {
            if (std::find(names.begin(), names.end(), line.what) == names.end()) { names.push_back(line.what); }
        }
    }
    text_table table{std::move(head)};
    for (std::string const& name : names) {
        std::vector<std::string> cells{name};
        for (monthly_price const& each : all.designs) {
            auto const at = std::find_if(
                each.lines.begin(), each.lines.end(), [&](price_line const& line) { return line.what == name; });
            cells.push_back(at == each.lines.end() ? "-" : amount_text(at->amount));
        }
        table.add(std::move(cells));
    }
    std::vector<std::string> totals{"in total"};
    for (monthly_price const& each : all.designs) { totals.push_back(amount_text(each.total)); }
    table.add(std::move(totals));
    return table;
}

ENTITABLE_DECL std::string price_sources(price_comparison const& all) {
    std::vector<std::string> named;
    for (monthly_price const& each : all.designs) {
        std::string source = each.prices + " as of " + each.as_of;
        if (std::find(named.begin(), named.end(), source) == named.end()) { named.push_back(std::move(source)); }
    }
    std::string out;
    for (std::string const& each : named) { out += (out.empty() ? "prices of " : ", ") + each; }
    return out;
}

} // namespace detail

ENTITABLE_DECL monthly_use monthly_use_of(
    advice const& of, workload const& load, std::optional<std::size_t> candidate, double hours) {
    monthly_use made;
    std::size_t const index = candidate.value_or(of.present);
    made.stored_bytes = static_cast<double>(of.there.bytes);
    if (index >= of.candidates.size()) { return made; }
    key_score const& under = of.candidates[index].score;
    made.name = under.declared.to_string();
    double const seconds = hours * 3'600;
    for (std::size_t at = 0; at < under.queries.size() && at < load.queries().size(); ++at) {
        query_score const& query = under.queries[at];
        double const sent = query.requests * load.queries()[at].rate.per_second * seconds;
        (query.access == access_path::point ? made.reads : made.queries) += sent;
    }
    // Writes with shared members are batches as far as their groups can be one transaction.
    auto shared = under.together.begin();
    for (asked_writes const& each : load.all_writes()) {
        if (!each.rate.together.empty() && shared != under.together.end()) {
            together_score const& score = *shared++;
            double const entities = (std::max)(score.entities, 1.0); // a score filled by hand may have none
            double const sets = each.rate.per_second / entities * seconds;
            double const batched = entities > 1 ? score.of_100() / 100 : 0;
            made.batches += sets * batched;
            made.writes += sets * (1 - batched) * entities;
            continue;
        }
        bool const together = each.rate.per_transaction > 1 && under.partitions.mean >= 2;
        double const sent = each.rate.per_second / (together ? each.rate.per_transaction : 1) * seconds;
        (together ? made.batches : made.writes) += sent;
    }
    return made;
}

ENTITABLE_DECL result<monthly_use> monthly_use_of(usage const& measured, double seconds, double hours) {
    if (!(seconds > 0 && seconds <= 1e12)) {
        return failure{error_code::out_of_range_input, "the duration of a measurement must be positive"};
    }
    if (!(hours > 0 && hours <= 1e6)) {
        return failure{error_code::out_of_range_input, "the hours of a month must be positive"};
    }
    double const factor = hours * 3'600 / seconds;
    result<monthly_use> made{std::in_place};
    for (operation_usage const& each : measured.operations) {
        double const sent = static_cast<double>(each.transactions) * factor;
        (each.name == "get_entity"                   ? made->reads
                : each.name == "transact"            ? made->batches
                : each.name == "remove"              ? made->removals
                : detail::writes_entities(each.name) ? made->writes
                                                     : made->queries) += sent;
        made->egress_bytes += static_cast<double>(each.bytes_received) * factor;
        made->units_a_second += each.request_units / seconds;
    }
    return made;
}

ENTITABLE_DECL result<monthly_price> price(monthly_use const& use, price_table const& prices) {
    ENTITABLE_CHECK(detail::check_prices(prices));
    ENTITABLE_CHECK(detail::check_use(use));
    result<monthly_price> made{std::in_place};
    made->use = use;
    made->prices = prices.name;
    made->as_of = prices.as_of;
    made->currency = prices.currency;
    detail::bill_writer to{*made, prices};
    ENTITABLE_CHECK(detail::bill_units(to, use, prices));
    ENTITABLE_CHECK(
        to.add("stored data", use.stored_bytes / detail::bytes_in_gb, "GB", prices.storage_gb, "storage_gb"));
    ENTITABLE_CHECK(to.add("data that leaves the region",
        (std::max)(use.egress_bytes / detail::bytes_in_gb - prices.free_egress_gb, 0.0), "GB", prices.egress_gb,
        "egress_gb"));
    return made;
}

ENTITABLE_DECL std::string monthly_price::to_string() const {
    detail::text_table table{{"line", "quantity", "unit", "price of one", "amount"}};
    for (price_line const& each : lines) {
        table.add({each.what, detail::figure(each.quantity, 2), each.unit, detail::short_figure(each.unit_price),
            detail::amount_text(each.amount)});
    }
    table.add({"in total", "", "", "", detail::amount_text(total)});
    return (use.name.empty() ? std::string{} : use.name + "\n") + table.to_string() + "amounts in " + currency +
        ", prices of " + prices + " as of " + as_of + "\n";
}

ENTITABLE_DECL std::string price_comparison::to_string() const {
    return detail::price_rows(*this).to_string() + detail::price_sources(*this) + "\n";
}

ENTITABLE_END_NAMESPACE
