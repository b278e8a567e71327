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

ENTITABLE_DECL std::uint64_t stress_kind::failed() const noexcept {
    std::uint64_t all = 0;
    for (auto const& [code, count] : errors) { all += count; }
    return all;
}

ENTITABLE_DECL std::uint64_t stress_kind::throttled() const noexcept {
    auto const found = errors.find(error_code::server_busy);
    return found == errors.end() ? 0 : found->second;
}

ENTITABLE_DECL stress_kind const* stress_step::find(std::string_view name) const noexcept {
    for (stress_kind const& each : kinds) {
        if (each.name == name) { return &each; }
    }
    return nullptr;
}

ENTITABLE_DECL stress_kind stress_outcome::kind(std::string_view name) const {
    stress_kind made;
    made.name = name;
    double seconds = 0;
    for (stress_step const& step : steps) {
        seconds += step.seconds;
        if (stress_kind const* const of = step.find(name)) {
            made.sent += of->sent;
            made.served += of->served * step.seconds;
            for (auto const& [code, count] : of->errors) { made.errors[code] += count; }
            made.latencies.merge(of->latencies);
        }
    }
    made.served = seconds > 0 ? made.served / seconds : 0;
    return made;
}

ENTITABLE_DECL bool stress_step::saturated() const noexcept {
    double const calls = static_cast<double>(sent + unsent);
    double const good = static_cast<double>(sent - failed());
    return calls > 0 &&
        (good < 0.95 * calls || static_cast<double>(failed()) > 0.01 * calls || 0.95 * seconds > length);
}

namespace detail {

ENTITABLE_DECL text_table stress_kind_rows(stress_outcome const& of) {
    text_table table{{"kind", "served/s", "calls", "failed", "throttled", "median", "99 %", "longest"}};
    for (std::size_t index = 0; !of.steps.empty() && index < of.steps.back().kinds.size(); ++index) {
        stress_kind const each = of.kind(of.steps.back().kinds[index].name);
        auto const time = [&](double part) {
            return seconds_text(std::chrono::duration<double>(each.latencies.quantile(part)).count());
        };
        table.add({each.name, short_figure(each.served), figure(static_cast<double>(each.sent)),
            figure(static_cast<double>(each.failed())), figure(static_cast<double>(each.throttled())), time(0.5),
            time(0.99), time(1)});
    }
    return table;
}

} // namespace detail

ENTITABLE_DECL std::string stress_outcome::to_string() const {
    using detail::figure;
    using detail::short_figure;
    std::string out = "verdict  " + std::string{entitable::to_string(verdict)} + ": carried " + short_figure(carried) +
        " entities/s of a peak of " + short_figure(peak) + "; the target of a partition is " + short_figure(target) +
        '\n';
    if (carried > target && target > 0) {
        out += "         above the target: a server with little load may serve more than it promises, until it gets "
               "busy\n";
    }
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
    out += table.to_string(2);
    if (steps.empty() || steps.back().kinds.size() < 2) { return out; }
    return out + "\nby kind of call, in all steps\n" + detail::stress_kind_rows(*this).to_string(2);
}

ENTITABLE_END_NAMESPACE
