// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/work/sync/sync_policy.hpp>

#include <algorithm>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL row with_undeclared(row_view made, row_view older) {
    row_builder whole{made.partition_key, made.row_key};
    std::vector<std::string_view> named;
    property_cursor declared{made.payload};
    for (property_view each; declared.next(each);) {
        named.push_back(each.name);
        if (each.present) { whole.add(each.name, each.value); }
    }
    property_cursor others{older.payload};
    for (property_view each; others.next(each);) {
        if (each.present && std::find(named.begin(), named.end(), each.name) == named.end()) {
            whole.add(each.name, each.value);
        }
    }
    return whole.build();
}

/// The names of all properties of three rows, each once.
inline std::vector<std::string_view> names_of_sides(row_view base, row_view here, row_view there) {
    std::vector<std::string_view> names;
    for (row_view const& side : {base, here, there}) {
        property_cursor cursor{side.payload};
        for (property_view each; cursor.next(each);) {
            if (each.present) { names.push_back(each.name); }
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// Merges the properties of both sides; nullopt if both changed one property differently.
inline std::optional<row> merged_properties(row_view base, row_view here, row_view there) {
    row_builder merged{there.partition_key, there.row_key};
    for (std::string_view const name : names_of_sides(base, here, there)) {
        auto const before = base.find(name);
        auto const mine = here.find(name);
        auto const theirs = there.find(name);
        if (mine != theirs && mine != before && theirs != before) { return std::nullopt; }
        if (auto const& value = theirs == before ? mine : theirs; value) { merged.add(name, *value); }
    }
    return merged.build();
}

} // namespace detail

ENTITABLE_DECL sync_policy merge_properties(sync_policy otherwise) {
    return [otherwise = std::move(otherwise)](sync_conflict const& of) -> result<sync_decision> {
        if (of.here && of.there) {
            row const none{of.partition_key, of.row_key, row_builder{"", ""}.build().payload()};
            row_view const base = of.base ? of.base->view() : none.view();
            if (auto merged = detail::merged_properties(base, of.here->view(), of.there->view())) {
                return sync_decision{sync_choice::merged, std::move(merged)};
            }
        }
        if (!otherwise) { return failure{error_code::invalid_input, "merge_properties has no other policy"}; }
        return otherwise(of);
    };
}

ENTITABLE_END_NAMESPACE
