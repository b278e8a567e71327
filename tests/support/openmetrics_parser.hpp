// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A strict parser of OpenMetrics 1.0 text, for counters and histograms: everything that the specification says must or should
/// be is required.

#include <entitable/core/text.hpp>

#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace entitable_test {

using metric_labels = std::map<std::string, std::string>;

/// A sample by its whole name and its labels.
struct openmetrics_text {
    std::map<std::pair<std::string, metric_labels>, std::string> samples; ///< the value as written
    std::map<std::string, std::string> types;
    std::map<std::string, std::string> units;

    /// The value of the only sample with this name whose labels contain the given ones; NaN if there is none or more
    /// than one.
    [[nodiscard]] double value(std::string_view name, metric_labels const& some = {}) const {
        double found = std::numeric_limits<double>::quiet_NaN();
        std::size_t count = 0;
        for (auto const& [key, text] : samples) {
            bool same = key.first == name;
            for (auto const& [label, wanted] : some) {
                auto const at = key.second.find(label);
                same = same && at != key.second.end() && at->second == wanted;
            }
            if (same) {
                ++count;
                found = std::stod(text);
            }
        }
        return count == 1 ? found : std::numeric_limits<double>::quiet_NaN();
    }
};

/// Parses one text; an error is thrown as a std::runtime_error.
class openmetrics_parser {
public:
    static openmetrics_text parse(std::string_view text) {
        openmetrics_parser parser;
        parser.read(text);
        return std::move(parser.read_);
    }

private:
    struct point {
        bool total{}, created{}, sum{}, infinite{};
        std::optional<double> count;
        std::optional<double> last_bound, last_bucket;
    };

    [[noreturn]] static void wrong(std::string const& what, std::string_view line) {
        throw std::runtime_error(what + ": " + std::string{line});
    }
    static void hold(bool holds, char const* what, std::string_view line) {
        if (!holds) { wrong(what, line); }
    }

    void read(std::string_view text) {
        hold(entitable::text::valid_utf8_prefix(text) == text.size(), "not UTF-8", {});
        hold(text.find('\r') == text.npos, "a carriage return", {});
        hold(text.ends_with("# EOF\n"), "no # EOF at the end", {});
        std::size_t at = 0;
        while (at < text.size()) {
            std::size_t const end = text.find('\n', at);
            std::string_view const line = text.substr(at, end - at);
            at = end + 1;
            if (line == "# EOF") {
                hold(at == text.size(), "something behind # EOF", line);
                close_family();
                return;
            }
            hold(!line.empty(), "an empty line", line);
            line.front() == '#' ? metadata(line) : sample(line);
        }
    }

    static bool is_name(std::string_view name, bool colons) {
        if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) { return false; }
        for (char const each : name) {
            bool const letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
            if (!letter && !(each >= '0' && each <= '9') && each != '_' && !(colons && each == ':')) { return false; }
        }
        return true;
    }

    void metadata(std::string_view line) {
        hold(line.starts_with("# "), "a comment", line);
        std::size_t const first = line.find(' ', 2);
        hold(first != line.npos, "a comment", line);
        std::size_t const second = line.find(' ', first + 1);
        hold(second != line.npos, "metadata without a value", line);
        std::string_view const word = line.substr(2, first - 2);
        std::string const name{line.substr(first + 1, second - first - 1)};
        std::string_view const said = line.substr(second + 1);
        hold(is_name(name, true) && !name.starts_with("_"), "a bad name", line);
        if (word == "TYPE") {
            close_family();
            hold(said == "counter" || said == "histogram", "a type that this parser does not know", line);
            hold(read_.types.emplace(name, said).second, "a family twice", line);
            family_ = name;
            for (char const* const suffix : {"", "_total", "_created", "_bucket", "_count", "_sum"}) {
                bool const of_histogram = suffix[0] == '_' && suffix[1] != 't' && suffix[1] != 'c';
                if ((said == "counter" && !of_histogram) ||
                    (said == "histogram" && std::string_view{suffix} != "_total")) {
                    hold(taken_.insert(name + suffix).second, "a name that clashes with another family's", line);
                }
            }
            stage_ = 1;
        } else if (word == "UNIT") {
            hold(name == family_ && stage_ == 1, "UNIT is not behind TYPE", line);
            hold(
                !said.empty() && name.ends_with("_" + std::string{said}), "a unit that is no suffix of the name", line);
            read_.units.emplace(name, said);
            stage_ = 2;
        } else if (word == "HELP") {
            hold(name == family_ && (stage_ == 1 || stage_ == 2), "HELP is not behind TYPE and UNIT", line);
            hold(!said.empty(), "an empty help", line);
            static_cast<void>(unescaped(said, line));
            stage_ = 3;
        } else {
            wrong("a comment", line);
        }
    }

    /// All of `text`.
    static std::string unescaped(std::string_view text, std::string_view line) {
        std::string out;
        for (std::size_t index = 0; index < text.size(); ++index) {
            hold(text[index] != '"', "a quote that is not escaped", line);
            if (text[index] != '\\') {
                out += text[index];
                continue;
            }
            hold(++index < text.size(), "a backslash at the end", line);
            hold(text[index] == 'n' || text[index] == '"' || text[index] == '\\', "an unknown escape", line);
            out += text[index] == 'n' ? '\n' : text[index];
        }
        return out;
    }

    static metric_labels labels_in(std::string_view& rest, std::string_view line) {
        metric_labels labels;
        rest.remove_prefix(1);
        while (!rest.starts_with("}")) {
            std::size_t const equals = rest.find("=\"");
            hold(equals != rest.npos, "a label without a value", line);
            std::string const name{rest.substr(0, equals)};
            hold(is_name(name, false) && !name.starts_with("_"), "a bad label name", line);
            rest.remove_prefix(equals + 2);
            std::size_t end = 0;
            while (end < rest.size() && rest[end] != '"') { end += rest[end] == '\\' ? 2 : 1; }
            hold(end < rest.size(), "a label that does not end", line);
            std::string const value = unescaped(rest.substr(0, end), line);
            hold(!value.empty(), "an empty label", line);
            hold(labels.emplace(name, value).second, "a label twice", line);
            rest.remove_prefix(end + 1);
            if (rest.starts_with(",")) {
                rest.remove_prefix(1);
                hold(!rest.starts_with("}"), "a comma behind the last label", line);
            } else {
                hold(rest.starts_with("}"), "no comma between labels", line);
            }
        }
        hold(!labels.empty(), "no labels in braces", line);
        rest.remove_prefix(1);
        return labels;
    }

    static bool is_whole(std::string_view number) {
        return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
    }
    /// Digits, a point, digits.
    static bool is_real(std::string_view number) {
        std::size_t const point = number.find('.');
        return point != number.npos && is_whole(number.substr(0, point)) && is_whole(number.substr(point + 1));
    }

    void sample(std::string_view line) {
        hold(stage_ == 3, "a sample before its TYPE and HELP", line);
        std::size_t const name_end = line.find_first_of("{ ");
        hold(name_end != line.npos, "a sample without a value", line);
        std::string const name{line.substr(0, name_end)};
        hold(name.starts_with(family_), "a sample of another family", line);
        std::string const suffix = name.substr(family_.size());
        std::string_view rest = line.substr(name_end);
        metric_labels labels = rest.starts_with("{") ? labels_in(rest, line) : metric_labels{};
        hold(rest.starts_with(" "), "no space before the value", line);
        std::string const value{rest.substr(1)};
        hold(is_whole(value) || is_real(value), "a value that is no plain number", line);
        hold(read_.samples.emplace(std::pair{name, labels}, value).second, "a sample twice", line);

        std::optional<std::string> bound;
        if (suffix == "_bucket") {
            hold(labels.count("le") == 1, "a bucket without le", line);
            bound = labels.at("le");
            labels.erase("le");
        }
        hold(labels.count("le") == 0, "le where there is no bucket", line);
        if (!open_ || *open_ != labels) {
            close_metric(line);
            hold(done_.insert(labels).second, "interleaved metrics", line);
            open_ = labels;
        }
        if (read_.types.at(family_) == "counter") {
            hold(suffix == "_total" || suffix == "_created", "a suffix that a counter does not have", line);
            hold(
                suffix == "_total" ? !point_.total : (point_.total && !point_.created), "a bad order of samples", line);
            (suffix == "_total" ? point_.total : point_.created) = true;
            return;
        }
        if (bound) {
            hold(!point_.count && is_whole(value) && !point_.infinite, "a bad bucket", line);
            point_.infinite = *bound == "+Inf";
            hold(point_.infinite || is_real(*bound), "le is no canonical number", line);
            double const at = point_.infinite ? std::numeric_limits<double>::infinity() : std::stod(*bound);
            hold(!point_.last_bound || at > *point_.last_bound, "buckets that do not ascend", line);
            hold(!point_.last_bucket || std::stod(value) >= *point_.last_bucket, "buckets that are not cumulative",
                line);
            point_.last_bound = at;
            point_.last_bucket = std::stod(value);
        } else if (suffix == "_count") {
            hold(point_.infinite && !point_.count && is_whole(value), "a bad count", line);
            hold(std::stod(value) == *point_.last_bucket, "the count is not the last bucket", line);
            point_.count = std::stod(value);
        } else if (suffix == "_sum") {
            hold(point_.count && !point_.sum, "a sum without a count", line);
            point_.sum = true;
        } else {
            hold(
                suffix == "_created" && point_.sum && !point_.created, "a suffix that a histogram does not have", line);
            point_.created = true;
        }
    }

    void close_metric(std::string_view line) {
        if (open_) {
            bool const counter = read_.types.at(family_) == "counter";
            hold(point_.created && (counter ? point_.total : point_.sum), "an unfinished metric", line);
        }
        point_ = {};
        open_.reset();
    }
    void close_family() {
        hold(stage_ == 0 || stage_ == 3, "a family without HELP", family_);
        close_metric(family_);
        done_.clear();
        stage_ = 0;
    }

    openmetrics_text read_;
    std::string family_;
    int stage_{}; ///< 1 after TYPE, 2 after UNIT, 3 after HELP
    std::set<std::string> taken_;
    std::set<metric_labels> done_;
    std::optional<metric_labels> open_;
    point point_;
};

} // namespace entitable_test
