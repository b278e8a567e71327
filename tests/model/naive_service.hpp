// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A second implementation of the table service for the model test: one map, one lock, nothing clever, and only plain values
/// of the library. Rows are found by UTF-16 keys; filters are evaluated by a stack; the test inserts the ETags that the
/// library returned as versions.

#include <entitable/core/request/requests.hpp>

#include <support/utf8.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

namespace entitable_test {

using namespace entitable;

/// The answer of the service to a write.
struct verdict_of_write {
    std::optional<error_code> code;
    std::optional<std::size_t> index;
};

struct naive_row {
    std::map<std::string, value> properties;
    std::string etag;
    std::int64_t timestamp{};
};

class naive_service {
public:
    using key = std::pair<std::u16string, std::u16string>;
    struct table {
        std::string shown_name;
        std::map<key, std::pair<row, naive_row>> rows; ///< the row is only used for its keys
    };

    static std::optional<error_code> bad_table(std::string const& name) {
        if (name.size() < 3 || name.size() > 63) { return error_code::out_of_range_input; }
        for (char const each : name) {
            if (std::isalnum(static_cast<unsigned char>(each)) == 0) { return error_code::invalid_resource_name; }
        }
        if (std::isalpha(static_cast<unsigned char>(name[0])) == 0 || folded(name) == "tables") {
            return error_code::invalid_resource_name;
        }
        return std::nullopt;
    }
    static std::optional<error_code> bad_key(std::string const& text) {
        for (char const each : text) {
            if (std::string_view{"/\\#?\t"}.find(each) != std::string_view::npos) {
                return error_code::out_of_range_input;
            }
            if (static_cast<unsigned char>(each) == 0xFF) { return error_code::invalid_input; }
        }
        return utf16(text).size() > 512 ? std::optional{error_code::key_value_too_large} : std::nullopt;
    }
    static std::optional<error_code> bad_keys(std::string_view partition, std::string_view row) {
        auto const first = bad_key(std::string{partition});
        return first ? first : bad_key(std::string{row});
    }
    /// The error in a change by itself.
    static std::optional<error_code> bad_change(mutation const& change) {
        bool const conditional = change.kind == mutation_kind::replace || change.kind == mutation_kind::merge ||
            change.kind == mutation_kind::remove;
        if (conditional && !change.condition.any() && !change.condition.version().to_string().starts_with("W/\"")) {
            return error_code::invalid_input;
        }
        if (auto const bad = bad_keys(change.entity.partition_key(), change.entity.row_key())) { return bad; }
        if (change.kind == mutation_kind::remove) { return std::nullopt; }
        std::set<std::string> names;
        bool twice = false;
        property_cursor cursor{change.entity.payload()};
        for (property_view property; cursor.next(property);) {
            if (!property.present) { continue; }
            std::string const name{property.name};
            if (name.size() > 255) { return error_code::property_name_too_long; }
            if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name == "RowKey" ||
                name.find('-') != std::string::npos) {
                return error_code::property_name_invalid;
            }
            if (property.type == edm_type::string && property.value.bytes().size() > 32'768) {
                return error_code::property_value_too_large;
            }
            if (property.type == edm_type::date_time && property.value.bits() < 0) {
                return error_code::out_of_range_input;
            }
            twice = twice || !names.insert(name).second;
        }
        return twice ? std::optional{error_code::duplicate_properties_specified} : std::nullopt;
    }
    static std::string folded(std::string name) {
        for (char& each : name) { each = static_cast<char>(std::tolower(static_cast<unsigned char>(each))); }
        return name;
    }

    std::optional<error_code> create(std::string const& name) {
        std::lock_guard const guard{lock};
        if (auto const bad = bad_table(name)) { return bad; }
        bool const made = tables.try_emplace(folded(name), table{name, {}}).second;
        return made ? std::nullopt : std::optional{error_code::table_already_exists};
    }
    std::optional<error_code> remove(std::string const& name) {
        std::lock_guard const guard{lock};
        if (auto const bad = bad_table(name)) { return bad; }
        return tables.erase(folded(name)) == 1 ? std::nullopt : std::optional{error_code::resource_not_found};
    }

    /// All or nothing. `given` are the ETags that the library returned, if it did not refuse.
    verdict_of_write write(std::string const& name, std::vector<mutation> const& changes,
        std::vector<std::pair<std::string, std::int64_t>> const& given) {
        std::lock_guard const guard{lock};
        auto const at = tables.find(folded(name));
        if (at == tables.end()) { return {error_code::table_not_found, std::nullopt}; }
        auto rows = at->second.rows;
        for (std::size_t index = 0; index < changes.size(); ++index) {
            mutation const& change = changes[index];
            key const where{utf16(change.entity.partition_key()), utf16(change.entity.row_key())};
            auto const found = rows.find(where);
            bool const there = found != rows.end();
            if (change.kind == mutation_kind::insert && there) { return {error_code::entity_already_exists, index}; }
            if (change.kind == mutation_kind::replace || change.kind == mutation_kind::merge ||
                change.kind == mutation_kind::remove) {
                if (!there) { return {error_code::resource_not_found, index}; }
                if (!change.condition.any() && change.condition.version().to_string() != found->second.second.etag) {
                    return {error_code::update_condition_not_satisfied, index};
                }
            }
            if (change.kind == mutation_kind::remove) {
                rows.erase(found);
                continue;
            }
            naive_row fresh;
            if (there && (change.kind == mutation_kind::merge || change.kind == mutation_kind::insert_or_merge)) {
                fresh = found->second.second;
            }
            property_cursor cursor{change.entity.payload()};
            for (property_view property; cursor.next(property);) {
                if (property.present) { fresh.properties[std::string{property.name}] = value{property.value}; }
            }
            if (index < given.size()) {
                fresh.etag = given[index].first;
                fresh.timestamp = given[index].second;
            }
            rows.insert_or_assign(
                where, std::pair{row{change.entity.partition_key(), change.entity.row_key(), {}}, std::move(fresh)});
        }
        at->second.rows = std::move(rows);
        return {};
    }

    static bool inside(key_interval const& interval, std::string_view text) {
        std::u16string const units = utf16(text);
        std::u16string const lower = utf16(interval.lower.key);
        std::u16string const upper = utf16(interval.upper.key);
        using end = key_bound::kind;
        return (interval.lower.end == end::open || units > lower ||
                   (interval.lower.end == end::inclusive && units == lower)) &&
            (interval.upper.end == end::open || units < upper ||
                (interval.upper.end == end::inclusive && units == upper));
    }

    static bool compare(value const& left, filter_operator comparison, value const& right) {
        if (left.type() != right.type()) { return false; }
        auto const by = [comparison](auto const& a, auto const& b) {
            switch (comparison) {
                case filter_operator::equal: return a == b;
                case filter_operator::not_equal: return a != b;
                case filter_operator::less: return a < b;
                case filter_operator::less_equal: return a <= b;
                case filter_operator::greater: return a > b;
                default: return a >= b;
            }
        };
        switch (left.type()) {
            case edm_type::string: return by(utf16(left.view().bytes()), utf16(right.view().bytes()));
            case edm_type::float64: return by(left.view().as_float64(), right.view().as_float64());
            case edm_type::binary:
            case edm_type::guid: return by(left.view().bytes(), right.view().bytes());
            default: return by(left.view().bits(), right.view().bits());
        }
    }
    static bool accepts(filter const& condition, row const& keys, naive_row const& stored) {
        std::vector<bool> stack;
        for (filter_node const& node : condition.nodes) {
            if (node.operation == filter_operator::negation) {
                stack.back() = !stack.back();
            } else if (node.operation == filter_operator::all_of || node.operation == filter_operator::any_of) {
                bool const last = stack.back();
                stack.pop_back();
                stack.back() = node.operation == filter_operator::all_of ? stack.back() && last : stack.back() || last;
            } else {
                auto properties = stored.properties;
                properties["PartitionKey"] = value{value_view{keys.partition_key()}};
                properties["RowKey"] = value{value_view{keys.row_key()}};
                properties["Timestamp"] = value{value_view{date_time{stored.timestamp}}};
                auto const found = properties.find(node.name);
                stack.push_back(found != properties.end() && compare(found->second, node.operation, node.operand));
            }
        }
        return stack.empty() || stack.back();
    }

    std::mutex lock;
    std::map<std::string, table> tables;
};

} // namespace entitable_test
