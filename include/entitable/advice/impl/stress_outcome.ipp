// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/stress_outcome.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string_view to_string(stress_verdict verdict) noexcept {
    constexpr std::string_view words[] = {"fits", "hot_at_once", "too_coarse"};
    return words[static_cast<std::size_t>(verdict)];
}

ENTITABLE_DECL std::uint64_t stress_step::failed() const noexcept {
    std::uint64_t all = 0;
    for (auto const& [code, count] : errors) { all += count; }
    return all;
}

ENTITABLE_DECL bool stress_step::saturated() const noexcept {
    double const calls = static_cast<double>(sent + unsent);
    double const good = static_cast<double>(sent - failed());
    return calls > 0 &&
        (good < 0.95 * calls || static_cast<double>(failed()) > 0.01 * calls || 0.95 * seconds > length);
}

ENTITABLE_DECL std::string stress_outcome::to_string() const {
    using detail::figure;
    using detail::short_figure;
    std::string out = "verdict  " + std::string{entitable::to_string(verdict)} + ": carried " + short_figure(carried) +
        " entities/s of a peak of " + short_figure(peak) + "; the target of a partition is " + short_figure(target) +
        '\n';
    detail::text_table table{
        {"wanted/s", "served/s", "calls", "unsent", "failed", "attempts", "median", "99 %", "longest", "errors"}};
    for (stress_step const& each : steps) {
        auto const time = [&](double part) {
            return detail::seconds_text(std::chrono::duration<double>(each.latencies.quantile(part)).count());
        };
        std::string codes;
        for (auto const& [code, count] : each.errors) {
            codes += (codes.empty() ? "" : ", ") + std::string{entitable::to_string(code)} + " " +
                figure(static_cast<double>(count));
        }
        table.add({short_figure(each.wanted), short_figure(each.served), figure(static_cast<double>(each.sent)),
            figure(static_cast<double>(each.unsent)), figure(static_cast<double>(each.failed())),
            figure(static_cast<double>(each.attempts)), time(0.5), time(0.99), time(1), codes});
    }
    return out + table.to_string(2);
}

ENTITABLE_END_NAMESPACE
