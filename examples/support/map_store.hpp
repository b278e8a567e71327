// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The smallest ordered_store: maps under one lock. An archetype to start from; `local<map_store>` is then a whole backend.

#include <entitable/local/ordered_store.hpp>

#include <map>
#include <mutex>
#include <vector>

using entitable::function_ref;
using entitable::lookup;
using entitable::result;

/// Models ordered_store: rule by rule, nothing more. It never waits for long, so it does not check the calls.
class map_store {
    using row_map = std::map<std::string, std::string, std::less<>>;
    struct table_data {
        std::string shown_name;
        std::map<std::string, row_map, std::less<>> partitions;
    };

public:
    using is_ordered_store = void;

    /// The rows of one partition inside an update.
    class transaction {
    public:
        bool get(std::string_view row, entitable::row_visitor visit) const {
            auto const found = rows_.find(row);
            if (found != rows_.end()) { visit(found->second); }
            return found != rows_.end();
        }
        void put(std::string_view row, std::string bytes) { staged_.emplace_back(row, std::move(bytes)); }
        void erase(std::string_view row) { staged_.emplace_back(row, std::nullopt); }

    private:
        friend class map_store;
        explicit transaction(row_map const& rows) : rows_(rows) {}

        row_map const& rows_;
        std::vector<std::pair<std::string, std::optional<std::string>>> staged_;
    };

    result<bool> create_table(std::string_view key, std::string_view shown_name, entitable::call const&) {
        std::lock_guard const guard{lock_};
        return tables_.try_emplace(std::string{key}, table_data{std::string{shown_name}, {}}).second;
    }
    result<bool> drop_table(std::string_view key, entitable::call const&) {
        std::lock_guard const guard{lock_};
        return tables_.erase(std::string{key}) == 1;
    }
    result<void> tables(std::string_view from_key, entitable::table_visitor visit, entitable::call const&) {
        std::lock_guard const guard{lock_};
        for (auto at = tables_.lower_bound(from_key); at != tables_.end(); ++at) {
            if (!visit(at->first, at->second.shown_name)) { break; }
        }
        return {};
    }
    result<lookup> get(std::string_view table, std::string_view partition, std::string_view row,
        entitable::row_visitor visit, entitable::call const&) {
        std::lock_guard const guard{lock_};
        auto const in = tables_.find(table);
        if (in == tables_.end()) { return lookup::no_table; }
        auto const rows = in->second.partitions.find(partition);
        if (rows == in->second.partitions.end()) { return lookup::absent; }
        return transaction{rows->second}.get(row, visit) ? lookup::found : lookup::absent;
    }
    result<lookup> scan(std::string_view table, entitable::scan_range const& range, entitable::scan_visitor visit,
        entitable::call const&) {
        std::lock_guard const guard{lock_};
        auto const in = tables_.find(table);
        if (in == tables_.end()) { return lookup::no_table; }
        auto found = lookup::absent;
        for (auto at = in->second.partitions.lower_bound(range.from_partition);
            at != in->second.partitions.end() && (!range.last_partition || at->first <= *range.last_partition); ++at) {
            auto row = at->first == range.from_partition ? at->second.lower_bound(range.from_row) : at->second.begin();
            for (; row != at->second.end(); ++row) {
                found = lookup::found;
                if (!visit(at->first, row->first, row->second)) { return found; }
            }
        }
        return found;
    }
    /// Everything that can fail is done on a copy: moving it makes all changes visible at once.
    result<lookup> update(std::string_view table, std::string_view partition_key, function_ref<bool(transaction&)> body,
        entitable::call const&) {
        std::lock_guard const guard{lock_};
        auto const in = tables_.find(table);
        if (in == tables_.end()) { return lookup::no_table; }
        row_map& rows = in->second.partitions.try_emplace(std::string{partition_key}).first->second;
        transaction changes{rows};
        if (!body(changes)) { return lookup::absent; }
        row_map changed = rows;
        for (auto& [row, bytes] : changes.staged_) {
            if (bytes) {
                changed.insert_or_assign(std::move(row), *std::move(bytes));
            } else {
                changed.erase(row);
            }
        }
        rows = std::move(changed);
        return lookup::found;
    }

private:
    std::mutex lock_;
    std::map<std::string, table_data, std::less<>> tables_;
};
