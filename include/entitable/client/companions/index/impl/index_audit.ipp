// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_audit.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/row/detail/row_digest.hpp>
#include <entitable/core/try.hpp>

#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] ENTITABLE_DECL std::uint64_t digest_of_keys(std::size_t index, row_view of) noexcept {
    row_digest made{index + 1};
    made.add(of.partition_key);
    made.add(of.row_key);
    return made.value();
}

/// `keys`: the digest of its keys.
[[nodiscard]] inline std::uint64_t digest_of_whole(std::uint64_t keys, row_view of, bool& damaged) noexcept {
    std::uint64_t sum = keys;
    property_cursor cursor{of.payload};
    for (property_view each; cursor.next(each);) {
        if (each.present) {
            row_digest one{keys}; // detects swapped values of two rows
            one.add(each.name);
            one.add(static_cast<std::uint64_t>(each.value.type()));
            one.add(static_cast<std::uint64_t>(each.value.bits()));
            one.add(each.value.bytes());
            sum += one.value(); // the order does not matter
        }
    }
    damaged = damaged || cursor.damaged();
    return sum;
}

[[nodiscard]] ENTITABLE_DECL std::uint64_t digest_of(std::size_t index, row_view of) noexcept {
    bool damaged = false;
    return digest_of_whole(digest_of_keys(index, of), of, damaged);
}

/// Visits every entity with its expected index rows.
ENTITABLE_DECL result<void> for_each_entity(
    index_family const& family, function_ref<void(row_view, index_rows const&)> function) {
    result<void> outcome;
    index_rows rows;
    auto const look = [&](row_view each) {
        if (outcome) {
            outcome = family.derive(each, family.main.options().reading, rows);
            if (outcome) {
                function(each, rows);
            } else if (outcome.error().detail.empty()) {
                failure told{outcome.error()};
                told.error().detail = keys_text(each.partition_key, each.row_key);
                outcome = std::move(told);
            }
        }
    };
    for (entity_type const& each : family.types) {
        if (!each.indexed) { continue; }
        ENTITABLE_CHECK(family.main.for_each_shown_row_of(*each.type, {}, false, look));
        ENTITABLE_CHECK(outcome);
    }
    return {};
}

ENTITABLE_DECL result<void> for_each_index_row(
    index_family const& family, std::size_t index, function_ref<void(row_view)> function) {
    return family.places[index].for_each_row_of(*family.shapes[index].type, {}, function);
}

ENTITABLE_DECL audit_sum& audit_table::at(std::size_t index, std::uint64_t digest) {
    return sums_[index * audit_sums + (digest >> 40U) % audit_sums];
}
ENTITABLE_DECL audit_sum& audit_table::at(std::size_t index, row_view of) {
    return at(index, digest_of_keys(index, of));
}

ENTITABLE_DECL result<audit_counts> audit_table::add_all() {
    result<audit_counts> counts{std::in_place};
    bool damaged = false;
    ENTITABLE_CHECK(for_each_entity(family_, [&](row_view, index_rows const& rows) {
        ++counts->entities;
        for (std::size_t const index : indexes_) {
            if (rows[index]) {
                std::uint64_t const keys = digest_of_keys(index, rows[index]->view());
                audit_sum& one = at(index, keys);
                one.sum += digest_of_whole(keys, rows[index]->view(), damaged);
                ++one.rows;
            }
        }
    }));
    for (std::size_t const index : indexes_) {
        ENTITABLE_CHECK(
            family_.places[index].for_each_shown_row_of(*family_.shapes[index].type, {}, true, [&](row_view each) {
                ++counts->index_rows;
                std::uint64_t const keys = digest_of_keys(index, each);
                audit_sum& one = at(index, keys);
                one.sum -= digest_of_whole(keys, each, damaged);
                ++one.rows;
            }));
        if (damaged) { return failure{error_code::row_malformed, "an index row is not a complete row of version 1"}; }
    }
    return counts;
}

ENTITABLE_DECL bool audit_table::choose() {
    for (audit_sum& each : sums_) { each.chosen = false; }
    std::uint64_t rows = 0;
    for (; next_ < sums_.size(); ++next_) {
        audit_sum& each = sums_[next_];
        if (each.sum == 0) { continue; }
        if (rows > 0 && rows + each.rows > audited_at_once) { break; }
        rows += each.rows;
        each.chosen = true;
    }
    return rows > 0;
}

ENTITABLE_DECL result<std::vector<suspect>> audit_table::compare() {
    result<std::vector<suspect>> made{std::in_place};
    struct expected_row {
        row_keys entity;
        std::uint64_t digest;
    };
    std::multimap<audited_row, expected_row> expected;
    ENTITABLE_CHECK(for_each_entity(family_, [&](row_view entity, index_rows const& rows) {
        for (std::size_t const index : indexes_) {
            if (rows[index] && at(index, rows[index]->view()).chosen) {
                expected.emplace(audited_row{index, row_keys_of(rows[index]->view())},
                    expected_row{row_keys_of(entity), digest_of(index, rows[index]->view())});
            }
        }
    }));
    std::set<audited_row> seen;
    for (std::size_t const index : indexes_) {
        result<void> outcome;
        ENTITABLE_CHECK(for_each_index_row(family_, index, [&](row_view each) {
            if (!at(index, each).chosen || !outcome) { return; }
            audited_row keys{index, row_keys_of(each)};
            auto const owner = family_.shapes[index].owner_of(each, family_.main.options().reading);
            if (!owner) {
                outcome = failure{owner.error()};
                return;
            }
            auto const [first, last] = expected.equal_range(keys);
            bool found = false;
            for (auto one = first; one != last; ++one) {
                bool const own = one->second.entity == *owner;
                found = found || own;
                if (!own) {
                    made->push_back({index_fault::violation, keys, one->second.entity});
                } else if (one->second.digest != digest_of(index, each)) {
                    made->push_back({index_fault::different, keys, one->second.entity});
                }
            }
            if (!found) { made->push_back({index_fault::dangling, keys, *owner}); }
            seen.insert(std::move(keys));
        }));
        ENTITABLE_CHECK(outcome);
    }
    for (auto const& [keys, one] : expected) {
        if (!seen.contains(keys)) { made->push_back({index_fault::missing, keys, one.entity}); }
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
