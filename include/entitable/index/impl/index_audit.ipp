// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Entities and index rows are compared by sums over the digests of rows, a few thousand of them an index: one scan of each, and little
// memory whatever their number. Where sums differ, the rows that went into them are read again and compared one by one.

#include <entitable/core/try.hpp>
#include <entitable/index/detail/index_rows_elsewhere.hpp>
#include <entitable/index/detail/index_run.hpp>
#include <entitable/row/compare.hpp>
#include <entitable/row/detail/row_digest.hpp>
#include <entitable/row/system_rows.hpp>

#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t audit_sums = 4096;

/// A row of an index as it is or ought to be.
struct audited_row {
    std::size_t index;
    row_keys keys;
    auto operator<=>(audited_row const&) const = default;
};

/// An entity that has no row under its key, or whose row differs; or a row, without an entity that has it.
struct suspect {
    index_fault fault;
    audited_row at;
    row_keys entity;
};

struct audit {
    std::vector<suspect> suspects;
    std::uint64_t entities{};
    std::uint64_t index_rows{};
};

[[nodiscard]] ENTITABLE_DECL std::uint64_t digest_of_keys(std::size_t index, row_view of) noexcept {
    row_digest made{index + 1};
    made.add(of.partition_key);
    made.add(of.row_key);
    return made.value();
}

[[nodiscard]] ENTITABLE_DECL std::uint64_t digest_of(std::size_t index, row_view of) noexcept {
    std::uint64_t const keys = digest_of_keys(index, of);
    std::uint64_t sum = keys;
    property_cursor cursor{of.payload};
    for (property_view each; cursor.next(each);) {
        if (each.present) {
            row_digest one{keys}; // so that values of two rows are not exchanged unseen
            one.add(each.name);
            one.add(static_cast<std::uint64_t>(each.value.type()));
            one.add(static_cast<std::uint64_t>(each.value.bits()));
            one.add(each.value.bytes());
            sum += one.value(); // in any order
        }
    }
    return sum;
}

/// Shows every entity with the rows that it ought to have.
ENTITABLE_DECL result<void> for_each_entity(
    index_family const& family, function_ref<void(row_view, index_rows const&)> function) {
    result<void> outcome;
    index_rows rows;
    auto walked = family.main.for_each_row({{}, family.rows}, {}, false, [&](row_view each) {
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
    });
    return walked ? outcome : walked;
}

ENTITABLE_DECL result<void> for_each_index_row(
    index_family const& family, std::size_t index, function_ref<void(row_view)> function) {
    return family.places[index].for_each_row({{}, family.shapes[index].rows}, {}, false, function);
}

ENTITABLE_DECL result<audit> audit_indexes(index_family const& family) {
    std::size_t const count = family.shapes.size();
    result<audit> made{std::in_place};
    std::vector<std::uint64_t> sums(count * audit_sums);
    auto const sum_of = [&](std::size_t index, row_view of) -> std::uint64_t& {
        return sums[index * audit_sums + (digest_of_keys(index, of) >> 40U) % audit_sums];
    };
    ENTITABLE_CHECK(for_each_entity(family, [&](row_view, index_rows const& rows) {
        ++made->entities;
        for (std::size_t index = 0; index < count; ++index) {
            if (rows[index]) {
                sum_of(index, rows[index]->view()) += digest_of(index, rows[index]->view());
            }
        }
    }));
    for (std::size_t index = 0; index < count; ++index) {
        ENTITABLE_CHECK(for_each_index_row(family, index, [&](row_view each) {
            ++made->index_rows;
            sum_of(index, each) -= digest_of(index, each);
        }));
    }
    bool any = false;
    for (std::uint64_t const sum : sums) {
        any = any || sum != 0;
    }
    if (!any) {
        return made;
    }
    // Those of the sums that differ.
    struct expected_row {
        row_keys entity;
        std::uint64_t digest;
    };
    std::multimap<audited_row, expected_row> expected;
    ENTITABLE_CHECK(for_each_entity(family, [&](row_view entity, index_rows const& rows) {
        for (std::size_t index = 0; index < count; ++index) {
            if (rows[index] && sum_of(index, rows[index]->view()) != 0) {
                expected.emplace(audited_row{index, row_keys_of(rows[index]->view())},
                    expected_row{row_keys_of(entity), digest_of(index, rows[index]->view())});
            }
        }
    }));
    std::set<audited_row> seen;
    for (std::size_t index = 0; index < count; ++index) {
        result<void> outcome;
        ENTITABLE_CHECK(for_each_index_row(family, index, [&](row_view each) {
            if (sum_of(index, each) == 0 || !outcome) {
                return;
            }
            audited_row at{index, row_keys_of(each)};
            auto const owner = family.shapes[index].owner_of(each, family.main.options().reading);
            if (!owner) {
                outcome = failure{owner.error()};
                return;
            }
            auto const [first, last] = expected.equal_range(at);
            bool found = false;
            for (auto one = first; one != last; ++one) {
                bool const own = one->second.entity == *owner;
                found = found || own;
                if (!own) {
                    made->suspects.push_back({index_fault::violation, at, one->second.entity});
                } else if (one->second.digest != digest_of(index, each)) {
                    made->suspects.push_back({index_fault::different, at, one->second.entity});
                }
            }
            if (!found) {
                made->suspects.push_back({index_fault::dangling, at, *owner});
            }
            seen.insert(std::move(at));
        }));
        ENTITABLE_CHECK(outcome);
    }
    for (auto const& [at, one] : expected) {
        if (!seen.contains(at)) {
            made->suspects.push_back({index_fault::missing, at, one.entity});
        }
    }
    return made;
}

/// What a suspect is when it is looked at alone; nothing where it is as it ought to be, or a writer is at work on it.
ENTITABLE_DECL result<std::optional<index_fault>> look_again(
    index_family const& family, rows_elsewhere& way, suspect const& one) {
    index_shape const& shape = family.shapes[one.at.index];
    ENTITABLE_TRY(auto const stored, way.read(family.places[one.at.index], one.at.keys));
    ENTITABLE_TRY(auto const intents, way.intents_of(one.entity));
    for (intent const& each : intents) {
        if (each.wants(shape.name, one.at.keys)) {
            return std::optional<index_fault>{};
        }
    }
    ENTITABLE_TRY(auto const main, way.read(family.main, one.entity));
    std::optional<row_view> entity;
    if (main) {
        entity = main->entity.view();
    }
    ENTITABLE_TRY(index_rows const rows, family.rows_for(entity));
    std::optional<row> const& right = rows[one.at.index];
    bool const has_it = right && row_keys_of(right->view()) == one.at.keys;
    if (!stored) {
        if (!has_it) {
            return std::optional<index_fault>{};
        }
        // Between the two reads a writer may have put it.
        ENTITABLE_TRY(auto const now, way.read(family.places[one.at.index], one.at.keys));
        return now ? std::optional<index_fault>{} : std::optional{index_fault::missing};
    }
    ENTITABLE_TRY(auto const owner, shape.owner_of(stored->entity, family.main.options().reading));
    if (owner != one.entity) {
        return has_it ? std::optional{index_fault::violation} : std::optional<index_fault>{};
    }
    if (!has_it) {
        return std::optional{index_fault::dangling};
    }
    return same_properties(right->view(), stored->entity) ? std::optional<index_fault>{}
                                                          : std::optional{index_fault::different};
}

ENTITABLE_DECL void count_fault(index_verification& to, index_fault fault) noexcept {
    switch (fault) {
        case index_fault::missing: ++to.missing; break;
        case index_fault::dangling: ++to.dangling; break;
        case index_fault::different: ++to.different; break;
        case index_fault::violation: ++to.violations; break;
    }
}

ENTITABLE_DECL result<index_verification> verify_with(index_family const& family, std::size_t max_samples,
    rows_elsewhere& way, function_ref<result<void>(index_fault, suspect const&)> found) {
    ENTITABLE_TRY(audit const made, audit_indexes(family));
    result<index_verification> told{std::in_place};
    told->entities = made.entities;
    told->index_rows = made.index_rows;
    for (suspect const& each : made.suspects) {
        ENTITABLE_TRY(auto const fault, look_again(family, way, each));
        if (!fault) {
            continue;
        }
        count_fault(*told, *fault);
        if (told->samples.size() < max_samples) {
            told->samples.push_back({*fault, std::string{family.shapes[each.at.index].name}, each.at.keys.partition_key,
                each.at.keys.row_key, each.entity.partition_key, each.entity.row_key});
        }
        ENTITABLE_CHECK(found(*fault, each));
    }
    return told;
}

ENTITABLE_DECL call audit_call(index_family const& family) {
    call context{family.main.options(), *family.options.time};
    context.location = read_location::primary;
    return context;
}

ENTITABLE_DECL result<index_verification> verify_indexes(index_family const& family, std::size_t max_samples) {
    rows_elsewhere way{family, audit_call(family), family.fresh_seed()};
    return verify_with(family, max_samples, way, [](index_fault, suspect const&) { return result<void>{}; });
}

ENTITABLE_DECL result<void> apply_intents(index_family const& family, index_repair& done) {
    rows_elsewhere way{family, audit_call(family), family.fresh_seed()};
    std::vector<intent> found;
    result<void> outcome;
    ENTITABLE_CHECK(family.main.for_each_row({{}, intent::rows()}, {}, true, [&](row_view each) {
        auto read = intent::read(each);
        if (read) {
            found.push_back(*std::move(read));
        } else if (outcome) {
            outcome = std::move(read).as_failure();
        }
    }));
    ENTITABLE_CHECK(outcome);
    for (intent const& each : found) {
        bool known = true;
        for (intent::move const& one : each.moves) {
            known = known && family.find(one.index);
        }
        if (!known) {
            ++done.foreign_intents;
            continue;
        }
        ENTITABLE_CHECK(way.apply(each));
        ++done.intents;
    }
    return {};
}

ENTITABLE_DECL result<index_repair> repair_indexes(index_family const& family) {
    result<index_repair> done{std::in_place};
    ENTITABLE_CHECK(apply_intents(family, *done));
    call const context = audit_call(family);
    rows_elsewhere way{family, context, family.fresh_seed()};
    // Rows that are missing first: nothing that is taken away then has been put by this repair out of an old view.
    std::vector<suspect> dangling;
    auto const mend = [&](index_fault fault, suspect const& each) -> result<void> {
        if (fault == index_fault::dangling) {
            dangling.push_back(each);
        } else if (fault != index_fault::violation) {
            ENTITABLE_CHECK(mend_entity(family, each.entity, context));
            ++done->written;
        }
        return {};
    };
    ENTITABLE_TRY(done->found, verify_with(family, 100, way, mend));
    for (suspect const& each : dangling) {
        if (family.shapes[each.at.index].elsewhere) {
            ENTITABLE_TRY(bool const removed, way.settle(each.at.index, each.at.keys, each.entity));
            done->removed += removed ? 1 : 0;
            continue;
        }
        transaction_options const options = transaction_with(family.options, way.draw());
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_TRY(auto const stored, all.find(each.at.keys.row_key));
            if (!stored) {
                return {};
            }
            ENTITABLE_TRY(auto const main, all.find_now(each.entity.row_key));
            ENTITABLE_TRY(auto const rows, family.rows_for(main));
            if (!rows[each.at.index] || row_keys_of(rows[each.at.index]->view()) != each.at.keys) {
                all.change(mutation_kind::remove, row{each.at.keys.partition_key, each.at.keys.row_key, {}}, false);
            }
            return {};
        };
        auto const send = [](transaction_scope& all, bool announces) { return send_transaction(all, announces); };
        ENTITABLE_TRY(
            transacted const gone, run_transaction(family.main, each.at.keys.partition_key, options, body, send));
        done->removed += gone.changed ? 1 : 0;
    }
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
