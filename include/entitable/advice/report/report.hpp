// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `advice_report` and `write_report`: advice, a simulation, a stress test and plans for request units as one page of HTML with pictures,
/// or as text for a terminal. The page needs no script and no network; it follows the light or dark mode of the reader's screen, and is
/// printable.
///
///     write_report("report.html", advise(sample, load), simulate(sample, load), plan_throughput({.partitions = 5, .desired = 150'000}));

#include <entitable/advice/advise.hpp>
#include <entitable/advice/heat_map.hpp>
#include <entitable/advice/price.hpp>
#include <entitable/advice/retry_comparison.hpp>
#include <entitable/advice/sharding/shard_simulation.hpp>
#include <entitable/advice/stress_outcome.hpp>
#include <entitable/advice/throughput_plan.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A report with at most one part of each kind: a later part replaces an earlier one. Copies the parts.
///
/// Thread safety: one thread at a time.
class advice_report {
public:
    /// Makes a report with a title.
    explicit advice_report(std::string title = "Advice on keys") : title_(std::move(title)) {}

    /// Adds a part. If a part is an error, the whole report is that error; if several parts are errors, the first error.
    advice_report& add(advice part);
    advice_report& add(heat_map part);
    advice_report& add(simulation part);
    advice_report& add(retry_comparison part);
    advice_report& add(stress_outcome part);
    advice_report& add(throughput_plan part);
    advice_report& add(ingest_plan part);
    advice_report& add(price_comparison part);
    advice_report& add(shard_advice part);
    advice_report& add(shard_simulation part);
    template <class Part>
    advice_report& add(result<Part> const& part) {
        return part ? add(*part) : refuse(part.error());
    }

    /// Renders one page of HTML.
    [[nodiscard]] result<std::string> to_html() const;
    /// Renders text for a terminal.
    [[nodiscard]] result<std::string> to_string() const;
    /// Writes the page to a file, replacing its content. Errors: StoreFailed if it cannot be written; an incomplete file is removed.
    [[nodiscard]] result<void> write(std::string const& path) const;

private:
    advice_report& refuse(error const& why);
    void put_summary(std::string& out) const;
    void put_keys(std::string& out) const;
    void put_load(std::string& out) const;
    void put_units(std::string& out) const;
    void put_prices(std::string& out) const;
    void put_shards(std::string& out) const;

    std::string title_;
    std::optional<error> refused_;
    std::optional<advice> advice_;
    std::optional<heat_map> writes_;
    std::optional<simulation> run_;
    std::optional<retry_comparison> retries_;
    std::optional<stress_outcome> stress_;
    std::optional<throughput_plan> plan_;
    std::optional<ingest_plan> ingest_;
    std::optional<price_comparison> prices_;
    std::optional<shard_advice> shards_;
    std::optional<shard_simulation> stores_;
};

/// Writes a report of these parts, or results of parts. Errors: those of the parts, and StoreFailed if the file cannot be written.
template <class... Parts>
[[nodiscard]] result<void> write_report(std::string const& path, Parts const&... parts) {
    advice_report made;
    (made.add(parts), ...);
    return made.write(path);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/report/impl/report.ipp>
#endif
