// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/detail/property_finder.hpp>
#include <entitable/work/tracking/detail/row_merge.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL property_changes changes_between(row_view before, row_view now) {
    property_changes made;
    property_cursor was{before.payload};
    property_cursor is{now.payload};
    property_finder sought{before};
    property_view old;
    bool in_step = true; // one type usually writes the same names in the same order
    for (property_view fresh; is.next(fresh);) {
        in_step = in_step && was.next(old) && old.name == fresh.name;
        std::optional<value_view> held;
        if (in_step && old.present) {
            held = old.value;
        } else if (!in_step) {
            held = sought.value(fresh.name);
        }
        if (held.has_value() != fresh.present || (fresh.present && !(*held == fresh.value))) {
            made.changed.push_back(fresh);
            made.removes = made.removes || !fresh.present;
        }
    }
    if (!in_step || was.left() > 0) {
        property_finder written{now};
        property_cursor all{before.payload};
        while (all.next(old)) {
            if (old.present && written.find(old.name) == nullptr) {
                made.changed.push_back({old.name, old.type, false, {}});
                made.removes = true;
            }
        }
    }
    return made;
}

ENTITABLE_DECL void add_renames(property_changes& changes, row_view now, std::span<renamed_property const> renamed) {
    property_finder written{now};
    for (renamed_property const& each : renamed) {
        bool known = false;
        for (property_view const& change : changes.changed) { known = known || change.name == each.name; }
        property_view const* const current = written.find(each.name);
        bool const present = current != nullptr && current->present;
        if (!known && !present) { continue; } // absent before and now
        if (!known) { changes.changed.push_back(*current); }
        changes.changed.push_back({each.former, edm_type::string, false, {}});
    }
    changes.removes = changes.removes || !renamed.empty();
}

ENTITABLE_DECL row with_changes(row_view stored, property_changes const& changes) {
    std::vector<std::string_view> changed;
    changed.reserve(changes.changed.size());
    for (property_view const& each : changes.changed) { changed.push_back(each.name); }
    std::sort(changed.begin(), changed.end());
    row_builder builder{stored.partition_key, stored.row_key};
    property_cursor cursor{stored.payload};
    for (property_view each; cursor.next(each);) {
        if (each.present && !std::binary_search(changed.begin(), changed.end(), each.name)) {
            builder.add(each.name, each.value);
        }
    }
    for (property_view const& each : changes.changed) {
        if (each.present) { builder.add(each.name, each.value); }
    }
    return builder.build();
}

ENTITABLE_DECL row changes_alone(row_view keys, property_changes const& changes) {
    row_builder builder{keys.partition_key, keys.row_key};
    for (property_view const& each : changes.changed) {
        if (each.present) { builder.add(each.name, each.value); }
    }
    return builder.build();
}

ENTITABLE_DECL std::vector<std::string> changed_by_both(
    property_changes const& mine, row_view original, row_view theirs) {
    std::vector<std::string> both;
    property_finder before{original};
    property_finder now{theirs};
    for (property_view const& each : mine.changed) {
        auto const was = before.value(each.name);
        auto const is = now.value(each.name);
        bool const changed = was.has_value() != is.has_value() || (was && !(*was == *is));
        bool const wanted = each.present ? is && *is == each.value : !is;
        if (changed && !wanted) { both.emplace_back(each.name); }
    }
    return both;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
