// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/report/detail/report_figures.hpp>
#include <entitable/core/date_time.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr double picture_width = 460;
inline constexpr double picture_left = 52; ///< room for the texts of the axis
inline constexpr double picture_top = 32;

/// Frame of a picture.
struct figure_frame {
    std::string_view id;
    std::string title;
    std::string caption;
    std::string legend; ///< HTML
};

[[nodiscard]] ENTITABLE_DECL std::string html_table(text_table const& table, std::string_view caption) {
    // A narrow screen has no room for five columns: there each row is a list, whose cells repeat the names of the columns.
    bool const stacked = !table.rows().empty() && table.rows().front().size() > 4;
    std::string out = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"" + escaped_html(caption) +
        "\"><table" + (stacked ? " class=\"stacked\"" : "") + ">\n<caption>" + escaped_html(caption) + "</caption>\n";
    bool head = true;
    for (auto const& row : table.rows()) {
        out += head ? "<thead><tr>" : "<tr>";
        for (std::size_t column = 0; column < row.size(); ++column) {
            out += head ? "<th scope=\"col\"" : "<td";
            if (!head && stacked && column < table.rows().front().size()) {
                out += " data-name=\"" + escaped_html(table.rows().front()[column]) + '"';
            }
            out += (table.is_numeric(column) ? " class=\"n\">" : ">") + escaped_html(row[column]) +
                (head ? "</th>" : "</td>");
        }
        out += head ? "</tr></thead><tbody>\n" : "</tr>\n";
        head = false;
    }
    return out + "</tbody></table></div>\n";
}

[[nodiscard]] ENTITABLE_DECL std::string framed(
    figure_frame const& frame, std::string picture, text_table const* values) {
    std::string out = "<figure id=\"" + std::string{frame.id} + "\">\n<figcaption><h3>" + escaped_html(frame.title) +
        "</h3><p>" + escaped_html(frame.caption) + "</p></figcaption>\n";
    if (!frame.legend.empty()) { out += "<p class=\"legend\">" + frame.legend + "</p>\n"; }
    out += picture;
    if (values != nullptr) {
        out += "<details><summary>The values</summary>" + html_table(*values, frame.title) + "</details>\n";
    }
    return out + "</figure>\n";
}

[[nodiscard]] ENTITABLE_DECL std::string legend_entry(std::string_view style, std::string_view words) {
    return "<span><i class=\"" + std::string{style} + "\"></i>" + std::string{words} + "</span>";
}

[[nodiscard]] ENTITABLE_DECL std::string shade_legend(std::string const& most) {
    std::string out = "<span>none to " + escaped_html(most) + ", in logarithmic steps</span><span>";
    for (int shade = 1; shade <= 7; ++shade) { out += "<i class=\"q" + std::to_string(shade) + "\"></i>"; }
    return out + "</span>";
}

[[nodiscard]] ENTITABLE_DECL std::string sizes_figure(partition_facts const& facts) {
    figure_frame const frame{"sizes", "Sizes of partitions",
        counted(static_cast<double>(facts.count), "partition", "partitions") + "; the median has " +
            figure(static_cast<double>(facts.median)) + ", the largest " + figure(static_cast<double>(facts.largest)) +
            " entities (" + percent(facts.largest_share) + " of all).",
        {}};
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 260};
    double most = 1;
    for (size_class const& each : facts.classes) { most = (std::max)(most, static_cast<double>(each.partitions)); }
    auto const count = static_cast<double>(std::max<std::size_t>(facts.classes.size(), 1));
    picture_scale const x{0, count, picture_left, picture_width - 8};
    picture_scale const y{0, most * 1.12, 210, picture_top}; // leaves room for the label of the highest bar
    picture.grid(x, y, "partitions", axis_text);
    text_table values{{"entities", "partitions"}};
    double const width = (x.end - x.begin) / count;
    std::size_t const every = static_cast<std::size_t>(std::ceil(46 / width));
    for (std::size_t index = 0; index < facts.classes.size(); ++index) {
        size_class const& each = facts.classes[index];
        std::string const span = figure(static_cast<double>(each.least)) +
            (each.most > each.least ? " to " + figure(static_cast<double>(each.most)) : "");
        std::string const number = figure(static_cast<double>(each.partitions));
        double const left = x.at(static_cast<double>(index));
        if (each.partitions > 0) {
            // There are only a few of the largest partitions, and their bar must also be visible.
            double const height = (std::max)(3.0, y.begin - y.at(static_cast<double>(each.partitions)));
            picture.rect(left + 1, y.begin - height, width - 2, height,
                index + 1 == facts.classes.size() ? "bar last" : "bar", span + " entities: " + number + " partitions");
            if (width >= 26) {
                picture.text(left + width / 2, y.begin - height - 4, axis_text(static_cast<double>(each.partitions)),
                    text_anchor::middle, "value");
            }
        }
        if (index % every == 0) {
            picture.line(left, y.begin, left, y.begin + 4, "axis");
            picture.text(left, y.begin + 18, axis_text(static_cast<double>(each.least)), text_anchor::middle);
        }
        values.add({span, number});
    }
    picture.text(x.end, y.begin + 37, "entities per partition (each bar doubles the number)", text_anchor::end, "name");
    return framed(frame, std::move(picture).finish(), &values);
}

[[nodiscard]] ENTITABLE_DECL std::string shares_figure(partition_facts const& facts) {
    auto const held = [&](double part) { // share of the entities in the largest partitions
        if (facts.lorenz.size() < 2) { return part; }
        double const at = part * static_cast<double>(facts.lorenz.size() - 1);
        auto const index = (std::min)(static_cast<std::size_t>(at), facts.lorenz.size() - 2);
        double const rest = at - static_cast<double>(index);
        return facts.lorenz[index] * (1 - rest) + facts.lorenz[index + 1] * rest;
    };
    figure_frame const frame{"shares", "Evenness",
        "The largest 10 % of the partitions hold " + percent(held(0.1)) + " of the entities. Gini coefficient " +
            figure(facts.gini, 3) + ": 0 is even, 1 is all in one.",
        legend_entry("line a", "these keys") + legend_entry("line plain", "all partitions equal")};
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 260};
    picture_scale const x{0, 100, picture_left, picture_width - 22};
    picture_scale const y{0, 100, 210, picture_top};
    auto const words = [](double value) { return drawn_number(value) + " %"; };
    picture.grid(x, y, "entities", words);
    picture.ticks(x, y, "partitions, the largest first", words);
    svg_picture::points curve;
    for (std::size_t index = 0; index < facts.lorenz.size(); ++index) {
        double const part = facts.lorenz.size() < 2
            ? 0
            : 100 * static_cast<double>(index) / static_cast<double>(facts.lorenz.size() - 1);
        curve.emplace_back(x.at(part), y.at(100 * facts.lorenz[index]));
    }
    svg_picture::points area = curve;
    area.emplace_back(x.end, y.begin);
    area.emplace_back(x.begin, y.begin);
    picture.polygon(area, "area");
    picture.line(x.begin, y.begin, x.end, y.end, "plain");
    picture.polyline(curve, "a");
    text_table values{{"largest partitions", "hold"}};
    for (double const part : {0.01, 0.05, 0.1, 0.2, 0.5, 1.0}) { values.add({percent(part, 0), percent(held(part))}); }
    return framed(frame, std::move(picture).finish(), &values);
}

/// Formats a moment of a heat map: a time, or the number of a row if times are not known.
[[nodiscard]] ENTITABLE_DECL std::string moment_text(std::int64_t ticks) {
    constexpr std::int64_t no_time = 1'000'000'000'000'000; // a time before 1604 is not a realistic time of a write
    return ticks < no_time ? "entity " + figure(static_cast<double>(ticks))
                           : date_time{ticks}.to_string(true).substr(0, 16) + "Z";
}

[[nodiscard]] ENTITABLE_DECL std::string heat_figure(heat_map const& writes) {
    constexpr std::string_view meanings[] = {"Too few events, or no timestamps: no pattern.",
        "spread: events everywhere, all the time.", "append: the diagonal upwards means keys that increase over time.",
        "prepend: the diagonal downwards means keys that decrease over time.",
        "hot key: half of the events fall on a small part of the keys.",
        "burst: half of the events fall within a small part of the time."};
    double most = 0;
    for (std::size_t row = 0; row < writes.rows(); ++row) {
        for (std::size_t column = 0; column < writes.used_columns(); ++column) {
            most = (std::max)(most, writes.at(row, column));
        }
    }
    heat_pattern const pattern = writes.pattern();
    figure_frame const frame{"heat", "Writes by key and time",
        (pattern == heat_pattern::nothing ? "" : "Pattern: ") +
            std::string{meanings[static_cast<std::size_t>(pattern)]},
        most > 0 ? shade_legend(counted(most, "event", "events") + " in a cell") : std::string{}};
    if (most <= 0) { return framed(frame, {}, nullptr); }
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 300};
    picture_scale const x{0, 1, 8, picture_width - 8};
    picture_scale const y{0, 1, 248, 30};
    picture.rect(x.begin, y.end, x.end - x.begin, y.begin - y.end, "ground");
    picture.heat(x, y, writes.rows(), std::max<std::size_t>(writes.used_columns(), 1), most,
        [&](std::size_t row, std::size_t column) { return writes.at(row, column); });
    std::string const& last = writes.key(writes.rows() - 1);
    std::string const& first = writes.key(0);
    picture.text(x.begin, y.end - 8, "last key: " + clipped(last, 40), text_anchor::start, {}, last);
    picture.text(x.begin, y.begin + 18, "first key: " + clipped(first, 40), text_anchor::start, {}, first);
    if (writes.used_columns() > 0 && pattern != heat_pattern::nothing) {
        picture.text(x.begin, y.begin + 38, moment_text(writes.begin()));
        picture.text(x.end, y.begin + 38, moment_text(writes.last()), text_anchor::end);
    }
    return framed(frame, std::move(picture).finish(), nullptr);
}

[[nodiscard]] ENTITABLE_DECL std::string load_figure(simulation const& run) {
    double rate = 1;
    double hottest = 0;
    for (simulated_stretch const& each : run.stretches) {
        rate = (std::max)({rate, each.offered, each.served, each.refused});
    }
    for (auto const& partition : run.partition_load) {
        for (double const each : partition) { hottest = (std::max)(hottest, each); }
    }
    figure_frame const frame{"load", "Load over time, simulated",
        percent(run.offered > 0 ? run.served / run.offered : 1) + " of " + counted(run.offered, "request", "requests") +
            " served, up to " + counted(run.servers, "server", "servers") + " busy, " +
            counted(run.splits, "split", "splits") + " and " + counted(run.moves, "move", "moves") + ".",
        legend_entry("line plain", "new") + legend_entry("line a", "served") + legend_entry("line c", "503 responses") +
            shade_legend(short_figure(hottest) + "/s for a row")};
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 390};
    double const minutes = run.options.minutes;
    picture_scale const x{0, minutes, picture_left, picture_width - 14};
    picture_scale const y{0, rate, 150, picture_top};
    picture.grid(x, y, "requests a second", axis_text);
    svg_picture::points offered, served, refused;
    for (std::size_t index = 0; index < run.stretches.size(); ++index) {
        simulated_stretch const& each = run.stretches[index];
        double const end = index + 1 < run.stretches.size() ? run.stretches[index + 1].begin / 60 : minutes;
        for (double const at : {each.begin / 60, end}) {
            offered.emplace_back(x.at(at), y.at(each.offered));
            served.emplace_back(x.at(at), y.at(each.served));
            refused.emplace_back(x.at(at), y.at((std::min)(each.refused, rate)));
        }
    }
    picture.polyline(refused, "c");
    picture.polyline(served, "a");
    picture.polyline(offered, "plain");
    picture_scale const keys{0, 1, 340, 198};
    picture.text(2, keys.end - 13, "partitions in key order", text_anchor::start, "name");
    picture.rect(x.begin, keys.end, x.end - x.begin, keys.begin - keys.end, "ground");
    picture.heat(x, keys, run.partition_load.size(), std::max<std::size_t>(run.stretches.size(), 1), hottest,
        [&](std::size_t row, std::size_t column) { return run.partition_load[row][column]; });
    picture.text(x.begin - 6, keys.end + 11, "last", text_anchor::end, {},
        run.load.keys.empty() ? std::string_view{} : std::string_view{run.load.keys.back()});
    picture.text(x.begin - 6, keys.begin - 1, "first", text_anchor::end, {},
        run.load.keys.empty() ? std::string_view{} : std::string_view{run.load.keys.front()});
    picture.ticks(x, keys, "minutes", axis_text);
    text_table values{{"minute", "new/s", "served/s", "503/s", "abandoned/s", "servers"}};
    for (std::size_t index = 0; index < run.stretches.size();
        index += std::max<std::size_t>(1, run.stretches.size() / 12)) {
        simulated_stretch const& each = run.stretches[index];
        values.add({short_figure(each.begin / 60), short_figure(each.offered), short_figure(each.served),
            short_figure(each.refused), short_figure(each.lost), short_figure(each.servers)});
    }
    return framed(frame, std::move(picture).finish(), &values);
}

[[nodiscard]] ENTITABLE_DECL std::string stress_figure(stress_outcome const& outcome) {
    double most = (std::max)(outcome.target, outcome.peak);
    double least_time = 1;
    double most_time = 1e-6;
    auto const time = [](stress_step const& step, double part) {
        return (std::max)(1e-6, std::chrono::duration<double>(step.latencies.quantile(part)).count());
    };
    for (stress_step const& each : outcome.steps) {
        most = (std::max)({most, each.wanted, each.served});
        least_time = (std::min)(least_time, time(each, 0.5));
        most_time = (std::max)(most_time, time(each, 0.99));
    }
    figure_frame const frame{"stress", "Stress test of one partition",
        "Verdict: " + std::string{to_string(outcome.verdict)} + ". It sustained " + short_figure(outcome.carried) +
            " of the peak of " + short_figure(outcome.peak) + " entities per second; the target of a partition is " +
            short_figure(outcome.target) + ".",
        legend_entry("line plain", "all served") + legend_entry("dot a", "carried") +
            legend_entry("dot c", "saturated") + legend_entry("line a", "median latency") +
            legend_entry("line b", "99 % latency")};
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 390};
    picture_scale const x{0, most * 1.05, picture_left + 8, picture_width - 14};
    picture_scale const y{0, most * 1.05, 190, picture_top + 22};
    picture.grid(x, y, {}, axis_text);
    picture.text(2, picture_top - 16, "served entities a second", text_anchor::start, "name");
    // Two heights, so that the labels of close lines do not overlap.
    struct {
        double value, height;
        std::string_view words;
    } const marks[] = {{outcome.target, picture_top + 2, "target "}, {outcome.peak, picture_top + 17, "peak "}};
    for (auto const& each : marks) {
        bool const left = each.value > most / 2;
        picture.line(x.at(each.value), each.height - 9, x.at(each.value), y.begin, "mark");
        picture.text(x.at(each.value) + (left ? -5 : 5), each.height, std::string{each.words} + axis_text(each.value),
            left ? text_anchor::end : text_anchor::start);
    }
    picture.line(x.at(0), y.at(0), x.at(most), y.at(most), "plain");
    picture_scale const slow{std::pow(10, std::floor(std::log10(least_time))),
        std::pow(10, (std::max)(std::ceil(std::log10(most_time) - 1e-9), std::floor(std::log10(least_time)) + 1)), 340,
        238, true};
    picture.grid(x, slow, "latency", seconds_text);
    svg_picture::points served, median, tail;
    for (stress_step const& each : outcome.steps) {
        served.emplace_back(x.at(each.wanted), y.at(each.served));
        median.emplace_back(x.at(each.wanted), slow.at(time(each, 0.5)));
        tail.emplace_back(x.at(each.wanted), slow.at(time(each, 0.99)));
    }
    picture.polyline(served, "a");
    picture.polyline(tail, "b");
    picture.polyline(median, "a");
    text_table values{{"wanted/s", "served/s", "failed", "unsent", "median", "99 %"}};
    for (std::size_t index = 0; index < outcome.steps.size(); ++index) {
        stress_step const& each = outcome.steps[index];
        picture.dot(served[index].first, served[index].second, each.saturated() ? "c" : "a",
            short_figure(each.wanted) + " wanted, " + short_figure(each.served) + " served");
        values.add({short_figure(each.wanted), short_figure(each.served), figure(static_cast<double>(each.failed())),
            figure(static_cast<double>(each.unsent)), seconds_text(time(each, 0.5)), seconds_text(time(each, 0.99))});
    }
    picture.ticks(x, slow, "planned entities a second", axis_text);
    return framed(frame, std::move(picture).finish(), &values);
}

[[nodiscard]] ENTITABLE_DECL std::string units_figures(
    std::string_view id, std::string title, std::vector<throughput_step> const& steps, std::string const& text) {
    double most = 1;
    double hours = 0;
    bool split = false;
    for (throughput_step const& each : steps) {
        most = (std::max)(most, each.units);
        hours = (std::max)(hours, each.to_hour);
        split = split || each.partitions > steps.front().partitions;
    }
    double const shown = hours > 0 ? hours * 1.2 : 1;
    figure_frame const frame{id, std::move(title),
        hours > 0 ? "Done after " + short_figure(hours) + " hours at the latest." : "Everything takes effect at once.",
        legend_entry("line a", "usable RU/s") + legend_entry("line plain", "requested RU/s") +
            (split ? legend_entry("band", "partitions are split") : std::string{})};
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 260};
    picture_scale const x{0, shown, picture_left, picture_width - 14};
    picture_scale const y{0, most * 1.08, 210, picture_top};
    picture.grid(x, y, "RU/s", axis_text);
    picture.ticks(x, y, "hours", axis_text);
    svg_picture::points used;
    double units = 0;
    std::uint64_t partitions = 0;
    for (throughput_step const& each : steps) {
        bool const splits = !used.empty() && each.to_hour > each.from_hour && each.partitions > partitions;
        if (splits) {
            picture.rect(x.at(each.from_hour), y.end, x.at(each.to_hour) - x.at(each.from_hour), y.begin - y.end,
                "band", each.what);
            picture.line(x.at(each.from_hour), y.at(each.units), x.at(each.to_hour), y.at(each.units), "plain");
        }
        double const from = splits ? each.to_hour : each.from_hour;
        if (!used.empty()) { used.emplace_back(x.at(from), y.at(units)); }
        used.emplace_back(x.at(from), y.at(each.units));
        units = each.units;
        partitions = each.partitions;
    }
    used.emplace_back(x.end, y.at(units));
    picture.polyline(used, "a");
    text_table values{{"hours", "RU/s", "partitions", "to do", "to undo"}};
    for (throughput_step const& each : steps) {
        values.add(
            {short_figure(each.from_hour) + (each.to_hour > each.from_hour ? " to " + short_figure(each.to_hour) : ""),
                figure(each.units), figure(static_cast<double>(each.partitions)), each.what, each.undo});
    }
    // The text of a plan consists of lines with a name, 18 characters wide, and a description.
    std::string facts;
    for (std::size_t begin = 0; begin < text.find("timetable\n");) {
        std::size_t const end = (std::min)(text.find('\n', begin), text.size());
        std::string name = text.substr(begin, 18);
        name.erase(name.find_last_not_of(' ') + 1);
        facts += "<dt>" + escaped_html(name) + "</dt><dd>" + escaped_html(text.substr(begin + 18, end - begin - 18)) +
            "</dd>\n";
        begin = end + 1;
    }
    return "<div class=\"figures\">\n" + framed(frame, std::move(picture).finish(), nullptr) +
        "<div class=\"card\"><h3>In figures</h3><dl>" + facts + "</dl></div></div>\n" + html_table(values, "Timetable");
}

} // namespace detail
ENTITABLE_END_NAMESPACE
