// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a store holds, as a value: read as a whole, shown as text, compared.

#include <entitable/core/text.hpp>
#include <entitable/row/system_rows.hpp>
#include <entitable/transport/any_transport.hpp>

#include <map>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// Everything in a store: the rows of each table, system rows too. A plain value; one thread at a time.
struct contents {
    /// By partition key and row key. Ordered by bytes, which is not everywhere the service's order.
    using rows = std::map<std::pair<std::string, std::string>, row>;

    std::map<std::string, rows> tables; ///< by name
};

/// How much `to_text` and `difference` say.
enum class shown {
    data,    ///< keys and properties: the same for two stores that were filled at different times
    versions ///< and the Timestamps, of which the ETags are made
};

/// Reads all tables, or the named ones, through their pages. Errors are those of the transport.
[[nodiscard]] inline result<contents> read_contents(any_transport const& from, std::vector<std::string> names = {}) {
    contents all;
    call context;
    if (names.empty()) {
        list_tables listing;
        do {
            auto page = from.execute(listing, context);
            if (!page) {
                return std::move(page).as_failure();
            }
            names.insert(names.end(), page->tables.begin(), page->tables.end());
            listing.continuation = std::move(page->continuation);
        } while (listing.continuation);
    }
    for (std::string const& name : names) {
        contents::rows& rows = all.tables[name];
        query_entities request;
        request.table = name;
        do {
            auto page = from.execute(request, context);
            if (!page) {
                return std::move(page).as_failure();
            }
            for (std::size_t index = 0; index < page->rows.size(); ++index) {
                row_view const each = page->rows[index];
                rows.insert_or_assign({std::string{each.partition_key}, std::string{each.row_key}}, row{each});
            }
            request.continuation = std::move(page->continuation);
        } while (request.continuation);
    }
    return all;
}

/// The same without the rows of the library's own (`system_row`), which stores that were filled through other transports
/// differ in.
[[nodiscard]] inline contents without_system_rows(contents all) {
    for (auto& table : all.tables) {
        for (auto at = table.second.begin(); at != table.second.end();) {
            at = system_row::is_one(at->first.second) ? table.second.erase(at) : std::next(at);
        }
    }
    return all;
}

namespace detail {

/// The present properties of a row in the order of their names, each as it is shown.
[[nodiscard]] inline std::map<std::string, std::string> shown_properties(row_view shown_row, shown how) {
    std::map<std::string, std::string> properties;
    property_cursor cursor{shown_row.payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.present) {
            bool const obvious = property.type == edm_type::string || property.type == edm_type::boolean;
            std::string const type = obvious ? "" : std::string{to_string(property.type)} + " ";
            properties[text::printable(property.name)] = type + value{property.value}.to_string();
        }
    }
    if (cursor.damaged()) {
        properties["(damaged)"] = std::to_string(shown_row.payload.size()) + " bytes";
    }
    if (how == shown::versions) {
        properties["(Timestamp)"] = shown_row.timestamp().to_string();
    }
    return properties;
}

[[nodiscard]] inline std::string shown_key(row_view shown_row) {
    return '"' + text::printable(shown_row.partition_key) + "\" / \"" + text::printable(shown_row.row_key) + '"';
}

} // namespace detail

/// One line for each table, entity and property; the same contents give the same text. For example:
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
            text += "  " + detail::shown_key(each) + '\n';
            for (auto const& [property, content] : detail::shown_properties(each, how)) {
                text += "    " + property + " = " + content + '\n';
            }
        }
    }
    return text;
}

/// `to_text` of everything in a store; the text of the error where it cannot be read.
[[nodiscard]] inline std::string dump(any_transport const& store, shown how = shown::data) {
    auto const all = read_contents(store);
    return all ? to_text(*all, how) : all.error().to_string() + '\n';
}

/// What became of `before`, empty when nothing did. One line for each table or entity that came (+) or went (-), and for each
/// property that changed (~): `~ Orders "p" / "r" Age: Edm.Int32 55 -> Edm.Int32 56`.
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
            std::string const line = name + " " + detail::shown_key(each);
            if (was == old_rows.end()) {
                text += "+ " + line + '\n';
                continue;
            }
            if (is == new_rows.end()) {
                text += "- " + line + '\n';
                continue;
            }
            auto const old_properties = detail::shown_properties(was->second, how);
            auto const new_properties = detail::shown_properties(is->second, how);
            auto properties = old_properties;
            properties.insert(new_properties.begin(), new_properties.end());
            for (auto const& property : properties) {
                auto const content = [&property](auto const& in) {
                    auto const at = in.find(property.first);
                    return at == in.end() ? std::string{"absent"} : at->second;
                };
                if (content(old_properties) != content(new_properties)) {
                    text += "~ " + line + " " + property.first + ": " + content(old_properties) + " -> " +
                        content(new_properties) + '\n';
                }
            }
        }
    }
    return text;
}

} // namespace testing
ENTITABLE_END_NAMESPACE
