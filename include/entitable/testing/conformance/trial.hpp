// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What the behaviours of the conformance suite are made of.

#include <entitable/testing/rows.hpp>
#include <entitable/testing/verdict.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// One try of one behaviour on one transport; collects what is wrong. One thread at a time.
class trial {
public:
    /// Tables get names that begin with `prefix`, which keeps apart several trials on one service.
    trial(any_transport store, std::string prefix)
        : store_(std::move(store)), limits_(store_.profile()), prefix_(std::move(prefix)) {}

    [[nodiscard]] any_transport const& store() const noexcept { return store_; }
    [[nodiscard]] profile const& limits() const noexcept { return limits_; }
    [[nodiscard]] std::string const& prefix() const noexcept { return prefix_; }
    [[nodiscard]] std::vector<std::string> const& failures() const noexcept { return failures_; }
    /// What is answered where a table is missing.
    [[nodiscard]] error_code no_table() const noexcept {
        return limits_.kind == service::cosmos ? error_code::resource_not_found : error_code::table_not_found;
    }

    // ---- sending ----

    template <table_request Request>
    result<response_of<Request>> send(Request const& request) const {
        call context;
        return store_.execute(request, context);
    }
    /// The name of a table just made.
    std::string new_table() {
        std::string name = prefix_ + "t" + std::to_string(++tables_);
        yes(send(create_table{name}), "create the table " + name);
        return name;
    }
    [[nodiscard]] result<written> write(std::string const& table, mutation change) const {
        return send(write_entity{table, std::move(change)});
    }
    /// An entity that is known to fit; its ETag.
    etag put(std::string const& table, row entity) {
        auto outcome = write(table, mutation::insert_or_replace(std::move(entity)));
        yes(outcome, "insert_or_replace");
        return outcome ? outcome->etag : etag{};
    }
    [[nodiscard]] result<get_entity::response> get(
        std::string const& table, std::string_view partition_key, std::string_view row_key) const {
        return send(get_entity{table, std::string{partition_key}, std::string{row_key}, {}});
    }
    /// The keys of a whole query as "p/r", through all its pages.
    std::vector<std::string> keys(query_entities request) {
        std::vector<std::string> found;
        for (std::size_t pages = 0; pages < 20'000; ++pages) {
            auto page = send(request);
            if (!yes(page, "a page of a query")) {
                return found;
            }
            check(page->rows.size() <= request.page_size, "a page has more rows than were asked for");
            for (std::size_t index = 0; index < page->rows.size(); ++index) {
                found.push_back(
                    std::string{page->rows[index].partition_key} + "/" + std::string{page->rows[index].row_key});
            }
            if (!page->continuation) {
                return found;
            }
            request.continuation = std::move(page->continuation);
        }
        check(false, "a query does not end");
        return found;
    }

    // ---- judging ----

    bool check(bool good, std::string text) {
        if (!good) {
            failures_.push_back(std::move(text));
        }
        return good;
    }
    bool check(verdict const& asked, std::string const& text) { return check(!!asked, text + ": " + asked.why()); }
    template <class T>
    bool yes(result<T> const& outcome, std::string const& text) {
        return check(succeeds(outcome), text);
    }
    template <class T>
    bool no(result<T> const& outcome, error_code code, std::string const& text) {
        return check(fails_with(outcome, code), text);
    }
    /// A refusal for one of two reasons that services do not tell apart in the same way.
    template <class T>
    bool no(result<T> const& outcome, error_code code, error_code other, std::string const& text) {
        return !outcome && outcome.error().code == other ? true : no(outcome, code, text);
    }
    bool same(std::string_view found, std::string_view expected, std::string const& text) {
        return check(found == expected,
            text + ": expected \"" + text::printable(expected) + "\", got \"" + text::printable(found) + "\"");
    }
    /// The same keys; in the same order where the service has one.
    bool same(std::vector<std::string> found, std::vector<std::string> expected, std::string const& text) {
        if (!limits_.ordered) {
            std::sort(found.begin(), found.end());
            std::sort(expected.begin(), expected.end());
        }
        return same(joined(found), joined(expected), text);
    }
    /// What the table holds now, versions and all.
    contents now(std::string const& table) {
        auto all = read_contents(store_, {table});
        yes(all, "read the whole table");
        return all ? *std::move(all) : contents{};
    }
    /// Nothing has changed since `before`.
    bool unchanged(contents const& before, std::string const& table, std::string const& text) {
        return check(same_contents(before, now(table), shown::versions), text);
    }
    /// The stored entity has exactly these properties, as `to_text` shows them.
    bool holds(std::string const& table, row const& expected, std::string const& text) {
        auto read = get(table, expected.partition_key(), expected.row_key());
        if (!yes(read, text)) {
            return false;
        }
        auto const key = std::pair{std::string{expected.partition_key()}, std::string{expected.row_key()}};
        contents wanted;
        contents found;
        wanted.tables[table].emplace(key, expected);
        found.tables[table].emplace(key, read->entity);
        return check(same_contents(wanted, found), text);
    }

    [[nodiscard]] static std::string joined(std::vector<std::string> const& keys) {
        std::string text;
        for (std::string const& key : keys) {
            text += text.empty() ? key : ", " + key;
        }
        return text;
    }

private:
    any_transport store_;
    profile limits_;
    std::string prefix_;
    std::size_t tables_{0};
    std::vector<std::string> failures_;
};

/// One rule that every transport keeps.
struct behaviour {
    std::string_view name;
    void (*run)(trial&);
};

/// `count` times `part`.
[[nodiscard]] inline std::string times(std::size_t count, std::string_view part) {
    std::string text;
    for (std::size_t index = 0; index < count; ++index) {
        text += part;
    }
    return text;
}

/// A number with leading zeros, so that the order of the texts is that of the numbers.
[[nodiscard]] inline std::string padded(std::size_t number, std::size_t width = 4) {
    std::string text;
    text::append_decimal(text, number, width);
    return text;
}

/// A filter of one comparison.
[[nodiscard]] inline filter only(filter_operator operation, std::string name, value_view operand) {
    return filter{{filter_node{operation, std::move(name), operand}}};
}

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
