// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/metrics.hpp>
#include <entitable/core/text.hpp>

#include <cmath>
#include <new>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A bound of a bucket, and its text: the canonical numbers of OpenMetrics.
struct metrics_bound {
    std::uint64_t bound;
    std::string_view shown;
};
inline constexpr metrics_bound duration_bounds[] = {{1'000'000, "0.001"}, {5'000'000, "0.005"}, {10'000'000, "0.01"},
    {50'000'000, "0.05"}, {100'000'000, "0.1"}, {500'000'000, "0.5"}, {1'000'000'000, "1.0"}, {5'000'000'000, "5.0"},
    {10'000'000'000, "10.0"}};
inline constexpr metrics_bound row_bounds[] = {{1, "1.0"}, {2, "2.0"}, {5, "5.0"}, {10, "10.0"}, {20, "20.0"},
    {50, "50.0"}, {100, "100.0"}, {200, "200.0"}, {500, "500.0"}, {1'000, "1000.0"}, {2'000, "2000.0"},
    {5'000, "5000.0"}, {10'000, "10000.0"}};

/// Appends `name="value"`; nothing for an empty value. Invalid UTF-8 and control characters become U+FFFD.
ENTITABLE_DECL void append_label(std::string& out, std::string_view name, std::string_view value) {
    constexpr std::size_t longest = 128;
    if (value.empty()) { return; }
    out += out.empty() ? "" : ",";
    out.append(name).append("=\"");
    value = value.substr(0, longest);
    while (!value.empty()) {
        std::size_t const good = text::valid_utf8_prefix(value);
        for (char const each : value.substr(0, good)) {
            if (each == '\n') {
                out += "\\n";
            } else if (static_cast<unsigned char>(each) < 0x20 || each == 0x7F) {
                out += "\xEF\xBF\xBD";
            } else {
                out += each == '"' || each == '\\' ? "\\" : "";
                out += each;
            }
        }
        value.remove_prefix(good);
        if (!value.empty()) {
            out += "\xEF\xBF\xBD";
            value.remove_prefix(1);
        }
    }
    out += '"';
}

/// Writes the labels shared by operations and attempts.
template <class Record>
void write_labels(std::string& out, Record const& done) {
    out.clear();
    append_label(out, "db_system_name", done.server.system);
    append_label(out, "db_operation_name", done.name);
    append_label(out, "db_collection_name", done.table);
    append_label(out, "server_address", done.server.address);
    if (done.server.port != 0) { append_label(out, "server_port", std::to_string(done.server.port)); }
    if (done.outcome.error) {
        append_label(out, "error_type", to_string(*done.outcome.error));
        if (done.outcome.status != 0) {
            append_label(out, "db_response_status_code", std::to_string(done.outcome.status));
        }
    }
}

/// Formats a number of units with `digits` after the point: 1500 with 3 digits is "1.5", 2000 is "2.0".
ENTITABLE_DECL std::string decimal_text(std::uint64_t number, std::size_t digits) {
    std::string text = std::to_string(number);
    if (text.size() <= digits) { text.insert(0, digits + 1 - text.size(), '0'); }
    text.insert(text.size() - digits, 1, '.');
    std::size_t const last = text.find_last_not_of('0');
    text.erase(text[last] == '.' ? last + 2 : last + 1);
    return text;
}

/// Writes metric families, one line after another.
class metrics_writer {
public:
    std::string text;

    void family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help) {
        name_ = name;
        text += text::joined({"# TYPE ", name, " ", type, "\n"});
        if (!unit.empty()) { text += text::joined({"# UNIT ", name, " ", unit, "\n"}); }
        text += text::joined({"# HELP ", name, " ", help, "\n"});
    }
    void sample(std::string_view suffix, std::string_view labels, std::string_view value, std::string_view bound = {}) {
        text += name_;
        text += suffix;
        if (!labels.empty() || !bound.empty()) {
            text += text::joined({"{", labels, labels.empty() || bound.empty() ? "" : ",", bound.empty() ? "" : "le=\"",
                bound, bound.empty() ? "}" : "\"}"});
        }
        text += text::joined({" ", value, "\n"});
    }
    void created(std::string_view labels, date_time since) {
        std::int64_t const ticks = since.ticks > date_time::unix_epoch ? since.ticks - date_time::unix_epoch : 0;
        sample("_created", labels, decimal_text(static_cast<std::uint64_t>(ticks), 7));
    }
    void counter(std::string_view labels, std::string_view value, date_time since) {
        sample("_total", labels, value);
        created(labels, since);
    }
    /// `sum_digits`: digits of the sum after the point; 0 for an integer.
    template <class Histogram, std::size_t Size>
    void histogram(
        std::string_view labels, Histogram const& point, metrics_bound const (&bounds)[Size], std::size_t sum_digits) {
        std::uint64_t count = 0;
        for (std::size_t index = 0; index <= Size; ++index) {
            count += point.buckets[index];
            sample("_bucket", labels, std::to_string(count), index < Size ? bounds[index].shown : "+Inf");
        }
        sample("_count", labels, std::to_string(count));
        sample("_sum", labels, sum_digits == 0 ? std::to_string(point.sum) : decimal_text(point.sum, sum_digits));
        created(labels, point.since);
    }

private:
    std::string_view name_;
};

/// A record is dropped if memory is exhausted.
template <class Function>
void count_quietly(Function const& count) noexcept {
#if ENTITABLE_HAS_EXCEPTIONS
    try {
        count();
    } catch (std::bad_alloc const&) { static_cast<void>(0); }
#else
    count();
#endif
}

template <class Histogram, std::size_t Size>
void count_in(Histogram& point, metrics_bound const (&bounds)[Size], std::uint64_t value) {
    std::size_t bucket = 0;
    while (bucket < Size && value > bounds[bucket].bound) { ++bucket; }
    ++point.buckets[bucket];
    point.sum += value;
}

ENTITABLE_DECL std::uint64_t nanoseconds_between(steady_time begun, steady_time ended) noexcept {
    auto const took = std::chrono::duration_cast<std::chrono::nanoseconds>(ended - begun).count();
    return took > 0 ? static_cast<std::uint64_t>(took) : 0;
}

} // namespace detail

template <class Point>
Point& metrics::point_of(series<Point>& all) {
    auto found = all.find(std::string_view{labels_});
    if (found == all.end() && all.size() >= options_.max_series) {
        labels_ = R"(otel_metric_overflow="true")";
        found = all.find(std::string_view{labels_});
    }
    if (found == all.end()) {
        found = all.emplace(labels_, Point{}).first;
        found->second.since = options_.time->now();
    }
    return found->second;
}

ENTITABLE_DECL void metrics::on_operation(operation_record const& done) noexcept {
    detail::count_quietly([&] {
        std::lock_guard const guard{lock_};
        detail::write_labels(labels_, done);
        detail::count_in(
            point_of(durations_), detail::duration_bounds, detail::nanoseconds_between(done.begun, done.ended));
        if (done.outcome.rows) { detail::count_in(point_of(rows_), detail::row_bounds, *done.outcome.rows); }
    });
}

ENTITABLE_DECL void metrics::on_attempt(attempt_record const& done) noexcept {
    detail::count_quietly([&] {
        std::lock_guard const guard{lock_};
        detail::write_labels(labels_, done);
        traffic_point& point = point_of(attempts_);
        ++point.attempts;
        point.sent += done.request_size;
        point.received += done.response_size;
        constexpr double most = 1e12; // a charge beyond it is an error of the service
        if (done.request_charge > 0 && done.request_charge < most) {
            point.micro_units += static_cast<std::uint64_t>(std::llround(done.request_charge * 1e6));
        }
    });
}

ENTITABLE_DECL void metrics::on_wait(wait_record const& wait) noexcept {
    detail::count_quietly([&] {
        std::lock_guard const guard{lock_};
        labels_.clear();
        detail::append_label(labels_, "db_operation_name", wait.name);
        detail::append_label(labels_, "db_collection_name", wait.table);
        detail::append_label(labels_, "cause", to_string(wait.cause));
        wait_point& point = point_of(waits_);
        ++point.waits;
        point.nanoseconds += detail::nanoseconds_between(wait.begun, wait.until);
    });
}

ENTITABLE_DECL std::string metrics::to_openmetrics() const {
    std::lock_guard const guard{lock_};
    detail::metrics_writer out;
    if (!durations_.empty()) {
        out.family("db_client_operation_duration_seconds", "histogram", "seconds",
            "Duration of database client operations, including retries.");
        for (auto const& [labels, point] : durations_) { out.histogram(labels, point, detail::duration_bounds, 9); }
    }
    if (!rows_.empty()) {
        out.family("db_client_response_returned_rows", "histogram", {}, "Rows returned by reads.");
        for (auto const& [labels, point] : rows_) { out.histogram(labels, point, detail::row_bounds, 0); }
    }
    if (!attempts_.empty()) {
        out.family("entitable_attempts", "counter", {}, "Requests sent, including retries.");
        for (auto const& [labels, point] : attempts_) {
            out.counter(labels, std::to_string(point.attempts), point.since);
        }
        out.family("entitable_request_body_bytes", "counter", "bytes", "Bytes of request bodies sent.");
        for (auto const& [labels, point] : attempts_) { out.counter(labels, std::to_string(point.sent), point.since); }
        out.family("entitable_response_body_bytes", "counter", "bytes", "Bytes of response bodies received.");
        for (auto const& [labels, point] : attempts_) {
            out.counter(labels, std::to_string(point.received), point.since);
        }
    }
    bool charged = false;
    for (auto const& [labels, point] : attempts_) {
        if (point.micro_units == 0) { continue; }
        if (!charged) {
            out.family("entitable_request_charge", "counter", {},
                "Cost of requests in request units, as reported by the service.");
        }
        charged = true;
        out.counter(labels, detail::decimal_text(point.micro_units, 6), point.since);
    }
    if (!waits_.empty()) {
        out.family("entitable_waits", "counter", {}, "Waits before requests, counted at their start.");
        for (auto const& [labels, point] : waits_) { out.counter(labels, std::to_string(point.waits), point.since); }
        out.family("entitable_wait_seconds", "counter", "seconds", "Planned duration of waits before requests.");
        for (auto const& [labels, point] : waits_) {
            out.counter(labels, detail::decimal_text(point.nanoseconds, 9), point.since);
        }
    }
    return std::move(out.text) + "# EOF\n";
}

ENTITABLE_DECL void metrics::clear() {
    std::lock_guard const guard{lock_};
    durations_.clear();
    rows_.clear();
    attempts_.clear();
    waits_.clear();
}

ENTITABLE_END_NAMESPACE
