// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/schema/schema_drift.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string_view to_string(schema_difference_kind kind) noexcept {
    switch (kind) {
        case schema_difference_kind::key_differs: return "the key has a different form";
        case schema_difference_kind::property_missing: return "the property is missing";
        case schema_difference_kind::type_differs: return "the property has a different type";
        case schema_difference_kind::value_refused: return "the member does not accept the value";
        case schema_difference_kind::property_unknown: return "the property is not declared";
        case schema_difference_kind::row_damaged: return "the row is damaged";
        case schema_difference_kind::former_name: return "the property has its former name";
        case schema_difference_kind::both_names:
            return "the row has the property under both names, and reads take the current name";
        case schema_difference_kind::former_type: return "the property has its former type";
    }
    return "unknown";
}

namespace detail {

/// Whether reads accept rows with such a difference.
[[nodiscard]] inline bool is_readable(schema_difference_kind kind) noexcept {
    using enum schema_difference_kind;
    return kind == property_unknown || kind == former_name || kind == both_names || kind == former_type;
}

} // namespace detail

ENTITABLE_DECL bool schema_drift_report::migrated() const noexcept {
    return more == 0 && std::none_of(differences.begin(), differences.end(), [](schema_difference const& each) {
        return each.kind != schema_difference_kind::property_unknown && detail::is_readable(each.kind);
    });
}

ENTITABLE_DECL std::string schema_drift_report::to_string() const {
    std::string made = text::joined({std::to_string(rows), rows == 1 ? " row, " : " rows, ", std::to_string(unreadable),
        unreadable == 1 ? " of them is unreadable" : " of them are unreadable", "\n"});
    for (schema_difference const& each : differences) {
        made += std::to_string(each.rows);
        made += each.rows == 1 ? " row: " : " rows: ";
        if (!each.property.empty()) { made += text::joined({"\"", text::printable(each.property), "\": "}); }
        made += entitable::to_string(each.kind);
        if (each.stored) { made += text::joined({", stored as ", entitable::to_string(*each.stored)}); }
        if (each.declared) { made += text::joined({", declared as ", entitable::to_string(*each.declared)}); }
        if (!each.first.empty()) {
            made += text::joined({"; first ", text::printable(each.first.front().partition_key), " / ",
                text::printable(each.first.front().row_key)});
        }
        made += '\n';
    }
    if (more != 0) { made += text::joined({std::to_string(more), " more differences\n"}); }
    return made;
}

namespace detail {

ENTITABLE_DECL void drift_counter::note(row_view each, schema_difference_kind kind, std::string_view property,
    std::optional<edm_type> stored, std::optional<edm_type> as_declared) {
    if (!is_readable(kind)) { ++serious_; }
    std::string name{static_cast<char>(kind)};
    name += static_cast<char>(stored ? static_cast<unsigned char>(*stored) : 0U);
    name += property;
    auto known = known_.find(name);
    if (known == known_.end()) {
        if (report_.differences.size() == options_.max_differences) {
            ++report_.more;
            return;
        }
        known = known_.emplace(std::move(name), report_.differences.size()).first;
        report_.differences.push_back({kind, std::string{property}, stored, as_declared, 0, {}});
    }
    schema_difference& of = report_.differences[known->second];
    ++of.rows;
    if (of.first.size() < options_.keep_keys) {
        of.first.push_back({std::string{each.partition_key}, std::string{each.row_key}});
    }
}

ENTITABLE_DECL void drift_counter::compare_property(row_view each, property_view const& property, void* entity) {
    using kind = schema_difference_kind;
    std::size_t const index = declared_.find(property.name, expected_);
    expected_ = index + 1;
    if (index == declared_.count) {
        if (property.present) { note(each, kind::property_unknown, property.name, property.type, {}); }
        return;
    }
    if (!property.present) { return; }
    declared_property const& of = declared_[index];
    seen_[index] = 1;
    edm_type const wanted = of.described.type;
    bool const fits = of.take != nullptr ? of.take(entity, &property.value) : property.type == wanted;
    if (!fits) {
        bool const is_right = property.type == wanted || (of.former != nullptr && of.former->converts(property.value));
        note(each, is_right ? kind::value_refused : kind::type_differs, property.name, property.type, wanted);
    } else if (of.former != nullptr && of.former->converts(property.value)) {
        note(each, kind::former_type, property.name, property.type, of.former->current);
    }
}

ENTITABLE_DECL void drift_counter::compare(row_view each, bool keys_fit, void* entity, bool readable) {
    using kind = schema_difference_kind;
    ++report_.rows;
    serious_ = 0;
    expected_ = 0;
    std::fill(seen_.begin(), seen_.end(), '\0');
    if (!keys_fit) { note(each, kind::key_differs, {}, {}, {}); }
    property_cursor cursor{each.payload};
    for (property_view property; cursor.next(property);) { compare_property(each, property, entity); }
    for (std::size_t index = 1; index < declared_.count; ++index) {
        if (!declared_[index].is_former_name || seen_[index] == 0) { continue; }
        auto const& former = declared_[index];
        note(each, seen_[index - 1] != 0 ? kind::both_names : kind::former_name, former.name, {}, {});
        seen_[index - 1] = 1;
    }
    for (std::size_t index = 0; index < declared_.count; ++index) {
        if (seen_[index] == 0 && !declared_[index].described.nullable) {
            note(each, kind::property_missing, declared_[index].full_name(), {}, declared_[index].described.type);
        }
    }
    if (cursor.damaged() || (!readable && serious_ == 0)) { note(each, kind::row_damaged, {}, {}, {}); }
    report_.unreadable += readable ? 0U : 1U;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
