// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/report/impl/report_figures.ipp>

#include <algorithm>
#include <cmath>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] ENTITABLE_DECL std::string shards_figure(shard_key_score const& of) {
    // One bar for each shard. More of them would be narrower than a pixel of a phone: then neighbours share a bar, as high as their fullest.
    constexpr std::size_t most_bars = 256;
    std::size_t const step = (std::max)((of.rows.size() + most_bars - 1) / most_bars, std::size_t{1});
    std::size_t const bars = (of.rows.size() + step - 1) / step;
    figure_frame const frame{"shards", "Rows of each virtual shard",
        of.key.name + ": the fullest shard has " + figure(of.shard_evenness(), 2) +
            " times the mean, the fullest store " + figure(of.store_evenness(), 2) + " times; load " +
            figure(of.load_evenness(), 2) + " times. " +
            (step == 1
                    ? "One bar for each of the " + counted(static_cast<double>(bars), "shard.", "shards.")
                    : figure(static_cast<double>(of.rows.size())) + " shards in " + figure(static_cast<double>(bars)) +
                        " bars: each is the fullest of " + figure(static_cast<double>(step)) + " neighbours."),
        {}};
    svg_picture picture{frame.id, frame.title, frame.caption, picture_width, 260};
    double most = 1;
    for (double const each : of.rows) { most = (std::max)(most, each); }
    picture_scale const x{0, static_cast<double>((std::max)(bars, std::size_t{1})), picture_left, picture_width - 8};
    picture_scale const y{0, most * 1.12, 210, picture_top};
    picture.grid(x, y, "rows", axis_text);
    double const width = (x.end - x.begin) / (x.most - x.least);
    double const gap = (std::min)(2.0, width / 4);
    std::size_t const every = static_cast<std::size_t>(std::ceil(46 / width));
    for (std::size_t bar = 0; bar < bars; ++bar) {
        std::size_t const first = bar * step;
        std::size_t const end = (std::min)(first + step, of.rows.size());
        double const rows = *std::max_element(
            of.rows.begin() + static_cast<std::ptrdiff_t>(first), of.rows.begin() + static_cast<std::ptrdiff_t>(end));
        double const left = x.at(static_cast<double>(bar));
        if (rows > 0) {
            double const height = (std::max)(3.0, y.begin - y.at(rows));
            std::string const name = end - first == 1
                ? "shard " + std::to_string(first) + ": "
                : "shards " + std::to_string(first) + " to " + std::to_string(end - 1) + ": at most ";
            picture.rect(left + gap / 2, y.begin - height, width - gap, height, rows >= most ? "bar last" : "bar",
                name + counted(rows, "row", "rows"));
        }
        if (bar % every == 0) {
            picture.line(left, y.begin, left, y.begin + 4, "axis");
            picture.text(left, y.begin + 18, std::to_string(first), text_anchor::middle);
        }
    }
    picture.text(x.end, y.begin + 37, "virtual shards", text_anchor::end, "name");
    text_table values{{"store", "shards", "rows", "share", "load/s"}};
    double const all = std::accumulate(of.store_rows.begin(), of.store_rows.end(), 0.0);
    for (std::uint32_t store = 0; store < of.stores; ++store) {
        values.add({std::to_string(store),
            figure(static_cast<double>(std::count(of.store_of.begin(), of.store_of.end(), store))),
            figure(of.store_rows[store]), percent(all > 0 ? of.store_rows[store] / all : 0),
            short_figure(of.store_load[store])});
    }
    return framed(frame, std::move(picture).finish(), &values);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
