// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/candidates.hpp>
#include <entitable/advice/report/detail/report_figures.hpp>
#include <entitable/advice/report/impl/report_style.ipp>
#include <entitable/advice/report/report.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <cstdio>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t shown_candidates = 8;
inline constexpr std::size_t shown_declarations = 3;

[[nodiscard]] ENTITABLE_DECL std::string tile(std::string_view name, std::string_view value, std::string_view more) {
    return "<div><dt>" + escaped_html(name) + "</dt><dd>" + escaped_html(value) + "</dd><dd>" + escaped_html(more) +
        "</dd></div>\n";
}

[[nodiscard]] ENTITABLE_DECL std::string finding_card(finding const& found) {
    std::string const how{to_string(found.how)};
    std::string out = "<article class=\"card\"><h3><span class=\"how " + how + "\">" + how + "</span>" +
        escaped_html(found.title) + "</h3><dl>";
    out += "<dt>because</dt><dd>" + escaped_html(found.evidence) + "</dd><dt>cure</dt><dd>" + escaped_html(found.cure) +
        "</dd>";
    return out + "</dl></article>\n";
}

[[nodiscard]] ENTITABLE_DECL text_table query_table(key_score const& score) {
    text_table table{{"query", "access", "partitions", "examined", "returned", "selectivity", "requests", "time",
        "to keep", "load/s", "figures"}};
    for (query_score const& each : score.queries) {
        table.add({each.name, std::string{to_string(each.access)}, short_figure(each.partitions),
            short_figure(each.examined), short_figure(each.returned), percent(each.selectivity()),
            short_figure(each.requests), seconds_text(each.seconds),
            each.latency <= 0 ? "-" : seconds_text(each.latency) + (each.misses_latency() ? ", missed" : ""),
            short_figure(each.load), each.figures_of()});
    }
    return table;
}

[[nodiscard]] ENTITABLE_DECL std::string members_card(census const& there) {
    text_table table{{"member", "type", "present", "values", "most frequent", "share", "growth"}};
    for (member_facts const& each : there.members) {
        std::string types;
        for (auto const& [type, count] : each.types) {
            types += (types.empty() ? "" : ", ") + std::string{to_string(type)}.substr(4);
        }
        bool const one = each.unique || each.frequent.empty();
        table.add({clipped(each.name, 40), types, percent(each.present, 0),
            each.unique ? "unique" : short_figure(each.distinct_estimate),
            one ? "" : clipped(each.frequent[0].text, 20), one ? "" : percent(each.frequent[0].share),
            each.growth ? figure(*each.growth, 2) : ""});
    }
    return "<figure id=\"members\"><figcaption><h3>Members</h3><p>Growth is the rank correlation with the time of "
           "writing: 1 grows, -1 falls.</p></figcaption>\n" +
        html_table(table, "Values of each member") + "</figure>\n";
}

[[nodiscard]] ENTITABLE_DECL text_table candidate_table(advice const& of) {
    text_table table{{"", "keys", "cost", "busiest/s", "partitions", "largest", "verdict"}};
    for (std::size_t index = 0; index < of.candidates.size(); ++index) {
        key_candidate const& each = of.candidates[index];
        if (index < shown_candidates || each.present) {
            table.add({std::to_string(index + 1), each.score.declared.to_string(), short_figure(each.score.cost),
                short_figure(each.score.hottest), figure(static_cast<double>(each.score.partitions.count)),
                figure(static_cast<double>(each.score.partitions.largest)),
                std::string{each.present ? "present, " : ""} + (each.score.fits ? "fits" : "does not fit")});
        }
    }
    return table;
}

[[nodiscard]] ENTITABLE_DECL std::string declaration_card(key_candidate const& of, std::size_t number) {
    std::string out = "<article class=\"card\"><h3>" + std::to_string(number) + ". " +
        escaped_html(of.score.declared.to_string()) + "</h3><p class=\"soft\">" + escaped_html(of.reason) +
        "</p><pre tabindex=\"0\">";
    // Keeps the line breaks, which printable() would escape.
    std::string_view rest = of.declaration;
    while (!rest.empty()) {
        std::size_t const end = (std::min)(rest.find('\n'), rest.size());
        out += escaped_html(rest.substr(0, end)) + '\n';
        rest.remove_prefix((std::min)(end + 1, rest.size()));
    }
    out += "</pre><dl><dt>gains</dt><dd>" + escaped_html(of.gains) + "</dd><dt>loses</dt><dd>" +
        escaped_html(of.loses) + "</dd>";
    if (!of.finer.empty()) {
        out += "<dt>finer</dt><dd>append " + escaped_html(of.finer) +
            " to the partition key: " + escaped_html(of.finer_effect) + "</dd>";
    }
    if (!of.present) {
        out += "<dt>copy</dt><dd>" + figure(of.copy_requests) + " requests and at least " +
            seconds_text(of.copy_seconds) + " (entitable::copy)</dd>";
    }
    return out + "</dl></article>\n";
}

/// Text with aligned columns, unchanged.
[[nodiscard]] ENTITABLE_DECL std::string heading(std::string_view words) {
    return std::string{words} + '\n' + std::string(words.size(), '=') + '\n';
}

} // namespace detail

ENTITABLE_DECL advice_report& advice_report::add(advice part) {
    if (part.candidates.empty()) { return refuse({error_code::invalid_input, "this advice was not made by advise()"}); }
    advice_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(heat_map part) {
    writes_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(simulation part) {
    run_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(retry_comparison part) {
    retries_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(stress_outcome part) {
    stress_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(throughput_plan part) {
    plan_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(ingest_plan part) {
    ingest_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(price_comparison part) {
    prices_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(shard_advice part) {
    shards_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::add(shard_simulation part) {
    stores_ = std::move(part);
    return *this;
}
ENTITABLE_DECL advice_report& advice_report::refuse(error const& why) {
    if (!refused_) { refused_ = why; }
    return *this;
}

ENTITABLE_DECL void advice_report::put_summary(std::string& out) const {
    using detail::figure;
    census const& there = advice_->there;
    key_score const& now = advice_->candidates[advice_->present].score;
    auto const whole = [](std::uint64_t count) { return figure(static_cast<double>(count)); };
    out += "<p class=\"soft\"><code>" + detail::escaped_html(there.declared.to_string()) + "</code></p>\n";
    out += "<dl class=\"tiles\">\n";
    out += detail::tile("entities", whole(there.rows),
        detail::bytes_text(static_cast<double>(there.bytes)) +
            (there.cut_short      ? ", the beginning of the table"
                    : there.whole ? ", all rows read"
                                  : ", a sample of " + whole(there.kept)));
    out += detail::tile("partitions", whole(there.partitions.count),
        "largest " + detail::percent(there.partitions.largest_share) + " of all");
    out += detail::tile("busiest partition", detail::short_figure(now.hottest) + "/s",
        "target " + detail::short_figure(advice_->targets.partition_rate) + "/s");
    out += detail::tile("in total", detail::short_figure(now.total) + "/s",
        "target of an account " + detail::short_figure(advice_->targets.account_rate) + "/s");
    out += detail::tile("current keys", now.fits ? "fit" : "do not fit",
        advice_->present == 0 ? "no better keys were found"
                              : "rank " + std::to_string(advice_->present + 1) + " of " +
                std::to_string(advice_->candidates.size()) + " candidates");
    out += "</dl>\n<h2>Findings</h2>\n";
    for (finding const& each : advice_->findings) { out += detail::finding_card(each); }
    if (advice_->findings.empty()) {
        out += "<article class=\"card\"><h3><span class=\"how fine\">fine</span>no problems</h3></article>\n";
    }
}

ENTITABLE_DECL void advice_report::put_keys(std::string& out) const {
    out += "<h2>Current data</h2>\n<div class=\"figures\">\n" + detail::sizes_figure(advice_->there.partitions) +
        detail::shares_figure(advice_->there.partitions) +
        detail::heat_figure(writes_ ? *writes_ : advice_->there.writes) + detail::members_card(advice_->there) +
        "</div>\n";
    key_score const& now = advice_->candidates[advice_->present].score;
    if (!now.queries.empty()) {
        out += "<h2>Queries</h2>\n" + detail::html_table(detail::query_table(now), "Queries with the current keys");
        for (std::string const& each : advice_->guide) {
            out += "<p class=\"soft\">" + detail::escaped_html(each) + "</p>\n";
        }
    }
    out += "<h2>Candidate keys</h2>\n" +
        detail::html_table(detail::candidate_table(*advice_), "Best first, under one cost model");
    if (!now.together.empty()) {
        out += "<h2>Written together</h2>\n" +
            detail::html_table(detail::together_rows(*advice_, detail::shown_candidates),
                "In how many of 100 groups all entities can be one transaction");
    }
    for (std::size_t index = 0; index < advice_->candidates.size() && index < detail::shown_declarations; ++index) {
        out += detail::declaration_card(advice_->candidates[index], index + 1);
    }
}

ENTITABLE_DECL void advice_report::put_load(std::string& out) const {
    if (run_ || stress_ || (writes_ && !advice_)) {
        out += "<h2>Under load</h2>\n<div class=\"figures\">\n";
        out += writes_ && !advice_ ? detail::heat_figure(*writes_) : "";
        out += run_ ? detail::load_figure(*run_) : "";
        out += stress_ ? detail::stress_figure(*stress_) : "";
        out += "</div>\n";
    }
    if (stress_ && !stress_->steps.empty() && stress_->steps.back().kinds.size() > 1) {
        out += detail::html_table(detail::stress_kind_rows(*stress_), "The stress test by kind of call, in all steps");
    }
    if (run_) {
        std::string const text = run_->to_string();
        std::size_t const model = text.find("model ");
        out += "<p class=\"soft\">The model: " +
            detail::escaped_html(text.substr(model + 12, text.find('\n', model) - model - 12)) + ".</p>\n";
    }
    if (retries_) {
        out += "<h2>Retry policies</h2>\n" +
            detail::html_table(detail::retry_table(*retries_), "The same load with other clients");
    }
}

ENTITABLE_DECL void advice_report::put_units(std::string& out) const {
    if (!plan_ && !ingest_) { return; }
    out += "<h2>Request units</h2>\n";
    if (plan_) {
        out += detail::units_figures(
            "units", "Steps to " + detail::figure(plan_->asked.desired) + " RU/s", plan_->steps, plan_->to_string());
    }
    if (ingest_) {
        out += detail::units_figures("ingest", "Writing " + detail::figure(ingest_->asked.data_gb) + " GB",
            ingest_->steps, ingest_->to_string());
    }
    out += "<p class=\"soft\">Figures from the provider's page as of " +
        std::string{plan_ ? plan_->asked.rules.as_of : ingest_->asked.rules.as_of} + ".</p>\n";
}

ENTITABLE_DECL void advice_report::put_prices(std::string& out) const {
    if (!prices_) { return; }
    out += "<h2>The price of a month</h2>\n<ol>\n";
    for (monthly_price const& each : prices_->designs) {
        out += "<li>" + detail::escaped_html(detail::name_of_design(each)) + "</li>\n";
    }
    out += "</ol>\n" + detail::html_table(detail::price_rows(*prices_, true), "Designs side by side") +
        "<p class=\"soft\">" + detail::escaped_html(detail::price_sources(*prices_)) +
        ", as given to this report.</p>\n";
}

ENTITABLE_DECL void advice_report::put_shards(std::string& out) const {
    if (shards_ && !shards_->candidates.empty()) {
        out += "<h2>Shard keys</h2>\n<div class=\"figures\">\n" + detail::shards_figure(shards_->candidates[0]) +
            "</div>\n" + detail::html_table(detail::shard_key_rows(*shards_), "The best shard key first") +
            detail::html_table(detail::shard_query_rows(*shards_, 6), "Shards that each query asks");
    }
    if (stores_) {
        out += "<h2>Stores under load</h2>\n" +
            detail::html_table(detail::simulated_store_rows(*stores_), "Each store, simulated: " + stores_->key);
    }
}

ENTITABLE_DECL result<std::string> advice_report::to_html() const {
    if (refused_) { return failure{*refused_}; }
    std::string const title = detail::escaped_html(title_);
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src "
                      "'unsafe-inline'\">\n<title>" +
        title + "</title>\n<style>" + std::string{detail::report_style} +
        "</style>\n</head>\n<body>\n<main>\n<header><h1>" + title + "</h1></header>\n";
    if (advice_) {
        put_summary(out);
        put_keys(out);
    }
    put_shards(out);
    put_load(out);
    put_units(out);
    put_prices(out);
    out += "<footer><p>Times and loads are estimates under a model: ";
    if (advice_) {
        out += "a request takes " + detail::seconds_text(advice_->targets.seconds_per_request) +
            ", examining an entity takes " + detail::seconds_text(advice_->targets.seconds_per_row) + ". ";
        if (!advice_->there.whole) {
            out += "A share of 50 % of the sample is off by " + detail::percent(advice_->there.error_of_half, 2) +
                " at most, in 95 of 100 samples. ";
        }
    }
    out += "A stress test measures yours.</p></footer>\n</main>\n</body>\n</html>\n";
    return out;
}

ENTITABLE_DECL result<std::string> advice_report::to_string() const {
    if (refused_) { return failure{*refused_}; }
    std::string out = detail::heading(title_);
    auto const put = [&](std::string_view words, auto const& part) {
        if (part) { out += '\n' + detail::heading(words) + part->to_string(); }
    };
    out += advice_ ? '\n' + advice_->to_string() : std::string{};
    put("Shard keys", shards_);
    put("Stores under load, simulated", stores_);
    put("Load over time, simulated", run_);
    put("Retry policies", retries_);
    put("Stress test of one partition", stress_);
    put("Request units", plan_);
    put("Request units for bulk data", ingest_);
    put("The price of a month", prices_);
    return out;
}

ENTITABLE_DECL result<void> advice_report::write(std::string const& path) const {
    ENTITABLE_TRY(auto const page, to_html());
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    bool const written = file != nullptr && std::fwrite(page.data(), 1, page.size(), file) == page.size();
    bool const closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) {
        if (file != nullptr) { (void)std::remove(path.c_str()); }
        return failure{error_code::store_failed, "the report cannot be written to " + path};
    }
    return {};
}

ENTITABLE_END_NAMESPACE
