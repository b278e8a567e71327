// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Run as a test with: --into {scratch} --rows 20000

/// \file
/// Imports a CSV file with any columns into a store in a file. The first record names them; the first column is the row key, and its
/// last two characters are the partition key. Started again after it was killed, it resumes where it was.
///
///     import                   100,000 measurements, made up, into import.db
///     import LIST.csv          any file with a header, into import.db
///     import --into TABLES.db [LIST.csv]
///     import --rows 20000      that many measurements, made up
///
/// Prints its progress to the standard error output.

#include "support/csv.hpp"
#include <entitable/bulk.hpp>
#include <entitable/client/mapping/entity.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

namespace {

/// The records of a CSV file, as an input range of results: an unreadable record does not end the others.
class csv_entities {
public:
    explicit csv_entities(std::istream& input) : records_(input) {
        for (std::string name : records_.names()) {
            for (char& each : name) { each = std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '_'; }
            names_.push_back(std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name);
        }
    }

    struct iterator {
        using iterator_concept = std::input_iterator_tag;
        using value_type = entitable::result<entitable::entity>;
        using difference_type = std::ptrdiff_t;

        value_type operator*() const { return from->current(); }
        iterator& operator++() {
            more = from->records_.next();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(iterator const& at, std::default_sentinel_t) { return !at.more; }

        csv_entities* from;
        bool more;
    };
    [[nodiscard]] iterator begin() { return {this, records_.next()}; }
    [[nodiscard]] static std::default_sentinel_t end() { return {}; }

private:
    [[nodiscard]] entitable::result<entitable::entity> current() const {
        auto const& fields = records_.fields();
        if (fields.size() != names_.size()) {
            return entitable::failure{entitable::error_code::invalid_input,
                std::to_string(fields.size()) + " fields in place of " + std::to_string(names_.size())};
        }
        std::string const& key = fields.front();
        entitable::entity made{key.substr(key.size() < 2 ? 0 : key.size() - 2), key};
        for (std::size_t column = 1; column < fields.size(); ++column) {
            if (!fields[column].empty()) { made.set(names_[column], fields[column]); }
        }
        return made;
    }

    examples::csv_reader records_;
    std::vector<std::string> names_; ///< property names: letters, digits and _
};

/// Measurements; one is not a valid record, one has a key that no service accepts, and one has the key of another.
std::string made_up(int rows) {
    std::string text = "id,station,celsius\n";
    for (int number = 0; number < rows; ++number) {
        std::string key = std::to_string(1'000'000 + number);
        switch (number) {
            case 242: key = "42/42"; break;
            case 700: key = "1000007"; break;
            case 800: key += ",one too many"; break;
            default: break;
        }
        text += key + ",station " + std::to_string(number % 97) + "," + std::to_string(number % 400 / 10.0) + "\n";
    }
    return text;
}

void print(entitable::refused_row const& refused) {
    std::printf(
        "  record %llu: %s\n", static_cast<unsigned long long>(refused.index) + 1, refused.error.message.c_str());
}

void print(entitable::bulk_report const& report) {
    std::printf("%llu rows read: %llu written, %llu already there, %llu refused\n",
        static_cast<unsigned long long>(report.read), static_cast<unsigned long long>(report.written),
        static_cast<unsigned long long>(report.already_there), static_cast<unsigned long long>(report.refused));
    for (entitable::refused_row const& each : report.refusals) { print(each); }
}

} // namespace

int main(int count, char** arguments) {
    std::string into = "import.db";
    int made = 100'000;
    std::string list;
    for (int at = 1; at < count; ++at) {
        if (std::string{arguments[at]} == "--into" && at + 1 < count) {
            into = arguments[++at];
        } else if (std::string{arguments[at]} == "--rows" && at + 1 < count) {
            made = std::atoi(arguments[++at]);
        } else {
            list = arguments[at];
        }
    }
    entitable::row_table const rows{entitable::file_backend{into}, "imported"};
    (void)rows.create_if_absent().value();

    entitable::bulk_options options;
    options.checkpoint = entitable::file_checkpoint{into + ".checkpoint"};
    options.input = list;
    options.watch = entitable::bulk_progress_line{};

    if (!list.empty()) {
        std::ifstream file{list};
        if (!file) {
            std::fprintf(stderr, "%s cannot be read\n", list.c_str());
            return 1;
        }
        print(entitable::bulk_insert(rows, csv_entities{file}, options).value());
        return 0;
    }

    // Stopped in the middle, as by a signal: waits for the requests in flight, and saves a checkpoint.
    std::string const text = made_up(made);
    entitable::cancellation_source stop;
    options.cancellation = stop.token();
    options.window = 5'000;
    options.total = static_cast<std::uint64_t>(made);
    entitable::bulk_progress_line line;
    options.watch_every = std::chrono::milliseconds{1};
    options.watch = [&](entitable::bulk_progress const& progress) {
        line(progress);
        if (2 * progress.written > *progress.total) { stop.cancel(); }
    };
    std::map<std::uint64_t, entitable::refused_row> refused; // a program that must not lose them writes them to a file
    options.on_refused = [&](entitable::refused_row const& each) { refused.emplace(each.index, each); };
    std::istringstream first{text};
    auto const stopped = entitable::bulk_insert(rows, csv_entities{first}, options);
    std::printf("stopped: %s\n", stopped ? "no" : std::string{to_string(stopped.error().code)}.c_str());

    for (auto const& [index, each] : refused) { print(each); }

    // The same call again, in this or another process.
    options.cancellation = {};
    options.on_refused = {};
    options.watch = entitable::bulk_progress_line{};
    std::istringstream second{text};
    print(entitable::bulk_insert(rows, csv_entities{second}, options).value());

    // Once more, now without a checkpoint: nothing has to be written.
    std::istringstream third{text};
    print(entitable::bulk_insert(rows, csv_entities{third}, options).value());
    return 0;
}
