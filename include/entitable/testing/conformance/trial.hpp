// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The building blocks of the conformance suite's behaviours.

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/testing/conformance/asked.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/verdict.hpp>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Two handles of one store. A single transport is copied for the second handle: copies share their state. Two connections, or two objects
/// that have the same file open, find more defects.
struct handles {
    /// Uses the transport, and a copy of it.
    template <class T>
        requires(!std::same_as<T, handles> && transport<T>)
    handles(T const& store) : first(store), second(store) {} // NOLINT: implicit, because both handles are the transport
    /// Uses two handles: each must read the other's writes.
    handles(any_store one, any_store other) : first(std::move(one)), second(std::move(other)) {}

    any_store first;  ///< used for most requests
    any_store second; ///< the second transport
};

/// One trial of one behaviour on one transport; collects the failures. Used by one thread at a time.
class trial {
public:
    /// Table names begin with `prefix`, which separates several trials on one service.
    trial(handles stores, std::string prefix)
        : stores_(std::move(stores)), limits_(stores_.first.profile()), prefix_(std::move(prefix)) {}

    [[nodiscard]] any_store const& store() const noexcept { return stores_.first; }
    /// Returns another handle of the same store.
    [[nodiscard]] any_store const& other() const noexcept { return stores_.second; }
    [[nodiscard]] profile const& limits() const noexcept { return limits_; }
    [[nodiscard]] std::string const& prefix() const noexcept { return prefix_; }
    /// Returns the failures, each with the request before it.
    [[nodiscard]] std::vector<std::string> const& failures() const noexcept { return failures_; }
    /// Returns the error code for a missing table.
    [[nodiscard]] error_code no_table() const noexcept {
        return limits_.kind == service::cosmos ? error_code::resource_not_found : error_code::table_not_found;
    }
    /// Returns the maximum number of rows of a page, in the type of the request's member.
    [[nodiscard]] std::uint32_t largest_page() const noexcept {
        return static_cast<std::uint32_t>(std::min<std::size_t>(limits_.max_page_size, 1000));
    }

    // ---- sending ----

    template <table_request Request>
    result<response_of<Request>> send(Request const& request) {
        call context;
        return send(request, context);
    }
    template <table_request Request>
    result<response_of<Request>> send(Request const& request, call& context) {
        asked_ = conformance::asked(request);
        return stores_.first.execute(request, context);
    }
    /// Sends a request through the other handle.
    template <table_request Request>
    result<response_of<Request>> send_other(Request const& request) {
        call context;
        asked_ = conformance::asked(request) + ", through the second handle";
        return stores_.second.execute(request, context);
    }
    /// Creates a table and returns its name.
    std::string new_table() {
        std::string name = prefix_ + "t" + std::to_string(++tables_);
        yes(send(create_table{name}), "create the table " + name);
        return name;
    }
    [[nodiscard]] result<written> write(std::string const& table, mutation change) {
        return send(write_entity{table, std::move(change)});
    }
    /// Inserts an entity that is known to fit; returns its ETag.
    etag put(std::string const& table, row entity) {
        auto outcome = write(table, mutation::insert_or_replace(std::move(entity)));
        yes(outcome, "insert_or_replace");
        return outcome ? outcome->etag : etag{};
    }
    [[nodiscard]] result<get_entity::response> get(
        std::string const& table, std::string_view partition_key, std::string_view row_key) {
        return send(get_entity{table, std::string{partition_key}, std::string{row_key}, {}});
    }
    /// Returns all rows of a query, through its pages.
    std::vector<row> rows(query_entities request) {
        std::vector<row> found;
        std::set<std::pair<std::string, std::string>> known;
        request.page_size = (std::min)(request.page_size, largest_page());
        entitable::detail::page_cursor pages{std::move(request)};
        for (std::size_t idle = 0; idle < 100;) {
            auto const page = pages.take(send(pages.request()));
            if (!yes(page, "a page of a query")) { return found; }
            expect(page->rows.size() <= pages.request().page_size, "a page has more rows than its size");
            std::size_t const before = known.size();
            for (row_view const each : page->rows) {
                found.emplace_back(each);
                known.emplace(each.partition_key, each.row_key);
            }
            if (!pages.more()) { return found; }
            idle = known.size() == before ? idle + 1 : 0;
        }
        expect(false, "a query does not end: 100 consecutive pages had no new rows");
        return found;
    }
    /// Returns the keys of a whole query as "p/r", through all its pages.
    std::vector<std::string> keys(query_entities request) {
        std::vector<std::string> found;
        for (row const& each : rows(std::move(request))) {
            found.push_back(text::joined({each.partition_key(), "/", each.row_key()}));
        }
        return found;
    }

    // ---- judging ----

    bool expect(bool good, std::string text) {
        if (!good) { failures_.push_back(std::move(text) + (asked_.empty() ? "" : "\n    request: " + asked_)); }
        return good;
    }
    bool expect(verdict const& asked_for, std::string const& text) {
        return expect(!!asked_for, text + ": " + asked_for.reason());
    }
    template <class T>
    bool yes(result<T> const& outcome, std::string const& text) {
        return expect(succeeds(outcome), text);
    }
    template <class T>
    bool no(result<T> const& outcome, error_code code, std::string const& text) {
        return expect(fails_with(outcome, code), text);
    }
    /// Checks for a refusal with one of two codes that services do not distinguish consistently.
    template <class T>
    bool no(result<T> const& outcome, error_code code, error_code other, std::string const& text) {
        bool const is_other = !outcome && outcome.error().code == other;
        return no(outcome, is_other ? other : code, text);
    }
    bool same(std::string_view found, std::string_view expected, std::string const& text) {
        return expect(found == expected,
            text + ": expected \"" + text::printable(expected) + "\", got \"" + text::printable(found) + "\"");
    }
    /// Checks for the same keys, and for the same order if the service guarantees an order.
    bool same(std::vector<std::string> found, std::vector<std::string> expected, std::string const& text) {
        if (!limits_.ordered) {
            std::sort(found.begin(), found.end());
            std::sort(expected.begin(), expected.end());
        }
        return same(joined(found), joined(expected), text);
    }
    /// Returns the current content of the table, including versions.
    contents now(std::string const& table) {
        if (endless_) { return {}; }
        auto all = read_contents(stores_.first, {table});
        endless_ = !yes(all, "read the whole table");
        return all ? *std::move(all) : contents{};
    }
    /// Checks that nothing has changed since `before`.
    bool unchanged(contents const& before, std::string const& table, std::string const& text) {
        return expect(same_contents(before, now(table), shown::versions), text);
    }
    /// Checks that the stored entity has these keys and exactly these properties.
    bool holds(std::string const& table, row const& expected, std::string const& text) {
        auto read = get(table, expected.partition_key(), expected.row_key());
        return yes(read, text) && same(read->entity, expected, text);
    }
    /// Checks for the same keys and properties, in any order.
    bool same(row_view found, row_view expected, std::string const& text) {
        contents wanted;
        contents got;
        for (auto const& [into, each] : {std::pair{&wanted, expected}, {&got, found}}) {
            std::pair keys{std::string{each.partition_key}, std::string{each.row_key}};
            into->tables["entity"].emplace(std::move(keys), row{each});
        }
        return expect(same_contents(wanted, got), text);
    }

    [[nodiscard]] static std::string joined(std::vector<std::string> const& keys) {
        std::string text;
        for (std::string const& key : keys) {
            text += text.empty() ? "" : ", ";
            text += key;
        }
        return text;
    }

private:
    handles stores_;
    profile limits_;
    std::string prefix_;
    std::string asked_; ///< the last request
    std::size_t tables_{0};
    bool endless_{false}; ///< a query had no end
    std::vector<std::string> failures_;
};

/// One rule that every transport must follow.
struct behaviour {
    std::string_view name;
    void (*run)(trial&);
    std::string_view contract{}; ///< the rule in one line, and its source
};

/// Returns `part` repeated `count` times.
[[nodiscard]] inline std::string times(std::size_t count, std::string_view part) {
    if (part.size() == 1) { return std::string(count, part.front()); }
    std::string text;
    text.reserve(count * part.size());
    for (std::size_t index = 0; index < count; ++index) { text += part; }
    return text;
}

/// Formats a number with leading zeros, so that the texts sort like the numbers.
[[nodiscard]] inline std::string padded(std::size_t number, std::size_t width = 4) {
    std::string text;
    text::append_decimal(text, number, width);
    return text;
}

/// Returns a filter of one comparison.
[[nodiscard]] inline filter only(filter_operator operation, std::string name, value_view operand) {
    return filter{{filter_node{operation, std::move(name), operand}}};
}

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
