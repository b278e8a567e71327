// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The contents of a store as a value: read, formatted, compared.

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// All rows of a store, by table, including system rows. A plain value; one thread at a time.
struct contents {
    /// Sorted by partition key and row key. Ordered by bytes, which differs from the service's order above U+D7FF.
    using rows = std::map<std::pair<std::string, std::string>, row>;

    std::map<std::string, rows> tables; ///< rows of each table, by name
};

/// The level of detail of `to_text` and `difference`.
enum class shown {
    data,    ///< keys and properties: the same for two stores that were filled at different times
    versions ///< data, and the Timestamp of each entity, which each write changes
};

namespace detail {

/// Reads all pages. `take(page)` returns the number of items known so far: reading stops if pages bring no new items.
template <class Request, class Take>
[[nodiscard]] result<void> read_pages(any_store const& from, Request first, Take const& take) {
    constexpr std::size_t limit = 1'000;
    std::size_t known = 0;
    std::size_t idle = 0;
    call context;
    entitable::detail::page_cursor pages{std::move(first)};
    while (pages.more()) {
        ENTITABLE_TRY(auto const found, pages.take(from.execute(pages.request(), context)));
        std::size_t const before = std::exchange(known, take(found));
        idle = known == before ? idle + 1 : 0;
        if (idle > limit) {
            return failure{error_code::transport_failed,
                text::joined({"the pages never end: ", std::to_string(limit), " consecutive pages had no new items"})};
        }
    }
    return {};
}

} // namespace detail

/// Reads all tables, or only the named tables, page by page. Errors: those of the transport; TransportFailed after more than 1,000 consecutive
/// pages without new items.
[[nodiscard]] inline result<contents> read_contents(any_store const& from, std::vector<std::string> names = {}) {
    contents all;
    auto const page_size = static_cast<std::uint32_t>(from.profile().max_page_size);
    if (names.empty()) {
        auto listed = detail::read_pages(from, list_tables{{}, page_size}, [&](list_tables::response const& page) {
            names.insert(names.end(), page.tables.begin(), page.tables.end());
            std::sort(names.begin(), names.end());
            names.erase(std::unique(names.begin(), names.end()), names.end());
            return names.size();
        });
        if (!listed) { return std::move(listed).as_failure(); }
    }
    for (std::string const& name : names) {
        contents::rows& rows = all.tables[name];
        query_entities request;
        request.table = name;
        request.page_size = page_size;
        auto read = detail::read_pages(from, std::move(request), [&](query_entities::response const& page) {
            for (row_view const each : page.rows) {
                rows.insert_or_assign({std::string{each.partition_key}, std::string{each.row_key}}, row{each});
            }
            return rows.size();
        });
        if (!read) { return std::move(read).as_failure(); }
    }
    return all;
}

/// Returns the contents without system rows (`system_row`), in which stores that were filled through different transports differ.
[[nodiscard]] inline contents without_system_rows(contents all) {
    for (auto& table : all.tables) {
        for (auto at = table.second.begin(); at != table.second.end();) {
            at = system_row::is_one(at->first.second) ? table.second.erase(at) : std::next(at);
        }
    }
    return all;
}

namespace detail {

/// Returns the present properties of a row by displayed name; a repeated name gives two entries.
[[nodiscard]] inline std::multimap<std::string, value> present_properties(row_view of, shown how) {
    std::multimap<std::string, value> properties;
    property_cursor cursor{of.payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.present) { properties.emplace(text::printable(property.name), property.value); }
    }
    if (cursor.damaged()) { properties.emplace("(damaged)", value_view{of.payload}); }
    if (how == shown::versions) { properties.emplace("(Timestamp)", value_view{of.timestamp()}); }
    return properties;
}

/// Formats a value as readable text, with its type if that is not obvious.
[[nodiscard]] inline std::string shown_value(value const& held) {
    bool const obvious = held.type() == edm_type::string || held.type() == edm_type::boolean;
    return (obvious ? "" : std::string{to_string(held.type())} + " ") + held.to_string();
}

/// Compares bit by bit, except that all NaNs are equal: services do not preserve their bits.
[[nodiscard]] inline bool same_value(value const& left, value const& right) noexcept {
    auto const is_nan = [](value const& held) {
        double const number = held.view().as_float64();
        return held.type() == edm_type::float64 && number != number;
    };
    return left == right || (is_nan(left) && is_nan(right));
}

/// Formats a long value from its first difference from another value: `(70000 bytes, at 64: "tail...")`.
[[nodiscard]] inline std::string shown_from(value const& held, std::size_t at) {
    std::string_view const bytes = held.view().bytes();
    value const rest{value_view{held.type(), bytes.substr(at)}};
    return " (" + std::to_string(bytes.size()) + " bytes, at " + std::to_string(at) + ": " + rest.to_string() + ")";
}

/// Formats as `old -> new`; for long values, also gives the place of the first difference, which would otherwise be cut off.
[[nodiscard]] inline std::string shown_change(value const* was, value const* is) {
    std::string before = was == nullptr ? "absent" : shown_value(*was);
    std::string after = is == nullptr ? "absent" : shown_value(*is);
    if (before == after && was != nullptr && is != nullptr) {
        std::string_view const left = was->view().bytes();
        std::string_view const right = is->view().bytes();
        std::size_t at = 0;
        while (at < left.size() && at < right.size() && left[at] == right[at]) { ++at; }
        before += shown_from(*was, at);
        after += shown_from(*is, at);
    }
    return before + " -> " + after;
}

/// Appends a line for each property that differs.
inline void append_changes(std::string& text, std::string const& line, std::multimap<std::string, value> const& before,
    std::multimap<std::string, value> const& after) {
    auto was = before.begin();
    auto is = after.begin();
    while (was != before.end() || is != after.end()) {
        bool const gone = is == after.end() || (was != before.end() && was->first < is->first);
        bool const came = was == before.end() || (is != after.end() && is->first < was->first);
        std::string const& name = gone ? was->first : is->first;
        value const* const old_value = came ? nullptr : &was->second;
        value const* const new_value = gone ? nullptr : &is->second;
        if (gone || came || !same_value(*old_value, *new_value)) {
            text += "~ " + line + " " + name + ": " + shown_change(old_value, new_value) + '\n';
        }
        was = came ? was : std::next(was);
        is = gone ? is : std::next(is);
    }
}

[[nodiscard]] inline std::string shown_keys(row_view shown_row) {
    return '"' + text::printable(shown_row.partition_key) + "\" / \"" + text::printable(shown_row.row_key) + '"';
}

} // namespace detail

/// Formats contents as one line for each table, entity and property; equal contents give equal text. Only the beginning of long values is
/// included, so different contents may give the same text: compare with `difference`. For example:
///
///     table Orders
///       "p" / "r"
///         Age = Edm.Int32 55
///         Name = "John"
[[nodiscard]] inline std::string to_text(contents const& all, shown how = shown::data) {
    std::string text;
    for (auto const& [name, rows] : all.tables) {
        text += "table " + name + '\n';
        for (auto const& [key, each] : rows) {
            text += "  " + detail::shown_keys(each) + '\n';
            for (auto const& [property, content] : detail::present_properties(each, how)) {
                text += "    " + property + " = " + detail::shown_value(content) + '\n';
            }
        }
    }
    return text;
}

/// Returns `to_text` of everything in a store; the text of the error if it cannot be read.
[[nodiscard]] inline std::string dump(any_store const& store, shown how = shown::data) {
    auto const all = read_contents(store);
    return all ? to_text(*all, how) : all.error().to_string() + '\n';
}

/// Returns the changes from `before` to `after`; empty if there are none. One line for each table or entity that was added (+) or removed
/// (-), and for each property that changed (~): `~ Orders "p" / "r" Age: Edm.Int32 55 -> Edm.Int32 56`. Values are compared completely,
/// even if shortened in the text; all NaNs are equal. The order of properties is ignored.
[[nodiscard]] inline std::string difference(contents const& before, contents const& after, shown how = shown::data) {
    static contents::rows const none;
    std::string text;
    auto tables = before.tables;
    tables.insert(after.tables.begin(), after.tables.end());
    for (auto const& table : tables) {
        std::string const& name = table.first;
        auto const old_table = before.tables.find(name);
        auto const new_table = after.tables.find(name);
        if (old_table == before.tables.end()) {
            text += "+ table " + name + '\n';
        } else if (new_table == after.tables.end()) {
            text += "- table " + name + '\n';
        }
        contents::rows const& old_rows = old_table == before.tables.end() ? none : old_table->second;
        contents::rows const& new_rows = new_table == after.tables.end() ? none : new_table->second;
        auto keys = old_rows;
        keys.insert(new_rows.begin(), new_rows.end());
        for (auto const& [key, each] : keys) {
            auto const was = old_rows.find(key);
            auto const is = new_rows.find(key);
            std::string const line = name + " " + detail::shown_keys(each);
            if (was == old_rows.end()) {
                text += "+ " + line + '\n';
                continue;
            }
            if (is == new_rows.end()) {
                text += "- " + line + '\n';
                continue;
            }
            detail::append_changes(
                text, line, detail::present_properties(was->second, how), detail::present_properties(is->second, how));
        }
    }
    return text;
}

} // namespace testing
ENTITABLE_END_NAMESPACE
