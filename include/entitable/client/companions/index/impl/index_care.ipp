// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/index/detail/index_audit.hpp>
#include <entitable/client/companions/index/detail/index_rows_elsewhere.hpp>
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/core/row/compare.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the maintained indexes, or only one of them.
ENTITABLE_DECL result<std::vector<std::size_t>> indexes_to_audit(
    index_family const& family, std::optional<std::size_t> only, call const& like) {
    result<std::vector<std::size_t>> made{std::in_place};
    if (only) {
        made->push_back(*only);
        return made;
    }
    call context = like;
    ENTITABLE_TRY(auto const stored, family.read_declaration(context));
    for (std::size_t index = 0; index < family.shapes.size(); ++index) {
        bool const is_index = family.shapes[index].is_index();
        if (is_index && stored.own[index].state != index_state::retired) { made->push_back(index); }
    }
    return made;
}

/// Checks one suspect again; nullopt if it is correct or a writer is changing it.
ENTITABLE_DECL result<std::optional<index_fault>> look_again(
    index_family const& family, rows_elsewhere& way, suspect const& one) {
    index_shape const& shape = family.shapes[one.at.index];
    ENTITABLE_TRY(auto const stored, way.read(family.places[one.at.index], one.at.keys));
    ENTITABLE_TRY(auto const intents, way.intents_of(one.entity));
    for (intent const& each : intents) {
        if (each.wants(shape.name, one.at.keys)) { return std::optional<index_fault>{}; }
    }
    ENTITABLE_TRY(auto const main, way.read(family.main, one.entity));
    std::optional<row_view> entity;
    if (main) { entity = main->entity.view(); }
    ENTITABLE_TRY(index_rows const rows, family.rows_for(entity));
    std::optional<row> const& right = rows[one.at.index];
    bool const has_it = right && row_keys_of(right->view()) == one.at.keys;
    if (!stored) {
        if (!has_it) { return std::optional<index_fault>{}; }
        // A writer may have put the row between the two reads.
        ENTITABLE_TRY(auto const now, way.read(family.places[one.at.index], one.at.keys));
        return now ? std::optional<index_fault>{} : std::optional{index_fault::missing};
    }
    ENTITABLE_TRY(auto const owner, shape.owner_of(stored->entity, family.main.options().reading));
    if (owner != one.entity) { return has_it ? std::optional{index_fault::violation} : std::optional<index_fault>{}; }
    if (!has_it) { return std::optional{index_fault::dangling}; }
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

/// Returns the entity of an index row.
ENTITABLE_DECL result<std::optional<row_keys>> named_by(
    index_family const& family, rows_elsewhere& way, audited_row const& at) {
    ENTITABLE_TRY(auto const stored, way.read(family.places[at.index], at.keys));
    if (!stored) { return std::optional<row_keys>{}; }
    ENTITABLE_TRY(auto owner, family.shapes[at.index].owner_of(stored->entity, family.main.options().reading));
    return std::optional{std::move(owner)};
}

ENTITABLE_DECL result<index_difference> sample_of(
    index_family const& family, rows_elsewhere& way, index_fault fault, suspect const& one) {
    index_difference made{fault, std::string{family.shapes[one.at.index].name}, one.at.keys.partition_key,
        one.at.keys.row_key, one.entity.partition_key, one.entity.row_key, {}, {}};
    if (fault == index_fault::violation) {
        ENTITABLE_TRY(auto other, named_by(family, way, one.at));
        if (other) {
            made.other_partition_key = std::move(other->partition_key);
            made.other_row_key = std::move(other->row_key);
        }
    }
    return made;
}

/// Calls `found` for each fault, and `part_done` after all faults of the rows held at a time.
ENTITABLE_DECL result<index_verification> verify_with(index_family const& family, std::optional<std::size_t> only,
    std::size_t max_samples, rows_elsewhere& way, function_ref<result<void>(index_fault, suspect const&)> found,
    function_ref<result<void>()> part_done) {
    ENTITABLE_TRY(auto indexes, indexes_to_audit(family, only, way.context()));
    audit_table sums{family, std::move(indexes)};
    ENTITABLE_TRY(audit_counts const counts, sums.add_all());
    result<index_verification> told{std::in_place};
    told->entities = counts.entities;
    told->index_rows = counts.index_rows;
    while (sums.choose()) {
        ENTITABLE_TRY(auto const suspects, sums.compare());
        for (suspect const& each : suspects) {
            ENTITABLE_TRY(auto const fault, look_again(family, way, each));
            if (!fault) { continue; }
            count_fault(*told, *fault);
            if (told->samples.size() < max_samples) {
                ENTITABLE_TRY(auto sample, sample_of(family, way, *fault, each));
                told->samples.push_back(std::move(sample));
            }
            ENTITABLE_CHECK(found(*fault, each));
        }
        ENTITABLE_CHECK(part_done());
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
    return verify_with(
        family, {}, max_samples, way, [](index_fault, suspect const&) { return result<void>{}; },
        [] { return result<void>{}; });
}

ENTITABLE_DECL result<std::vector<found_violation>> violations_of_indexes(index_family const& family) {
    rows_elsewhere way{family, audit_call(family), family.fresh_seed()};
    std::map<audited_row, std::set<row_keys>> all;
    auto const add = [&](index_fault fault, suspect const& each) -> result<void> {
        if (fault == index_fault::violation) { all[each.at].insert(each.entity); }
        return {};
    };
    ENTITABLE_CHECK(verify_with(family, {}, 0, way, add, [] { return result<void>{}; }));
    result<std::vector<found_violation>> made{std::in_place};
    for (auto& [at, entities] : all) {
        found_violation one{std::string{family.shapes[at.index].name}, at.keys, {}};
        ENTITABLE_TRY(auto owner, named_by(family, way, at));
        if (owner) {
            ENTITABLE_TRY(auto const right, look_again(family, way, {index_fault::dangling, at, *owner}));
            if (right != index_fault::dangling) {
                one.entities.push_back(*owner);
                entities.erase(*owner);
            }
        }
        one.entities.insert(one.entities.end(), entities.begin(), entities.end());
        made->push_back(std::move(one));
    }
    return made;
}

ENTITABLE_DECL result<std::uint64_t> resolve_violation(
    index_family const& family, found_violation const& which, row_keys const& keep) {
    auto const index = family.find(which.index);
    bool const known = index && family.shapes[*index].unique &&
        std::find(which.entities.begin(), which.entities.end(), keep) != which.entities.end();
    if (!known) {
        failure told{error_code::invalid_input,
            "the entity to keep must be one of the violation's entities, and the violation must be of an index of this "
            "table"};
        told.error().detail = keys_text(keep.partition_key, keep.row_key);
        return told;
    }
    std::uint64_t removed = 0;
    for (row_keys const& other : which.entities) {
        if (other == keep) { continue; }
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_TRY(auto const stored, all.find_row(other.row_key));
            ENTITABLE_TRY(auto const rows, family.rows_for(stored));
            if (rows[*index] && row_keys_of(rows[*index]->view()) == which.key) {
                all.change(mutation_kind::remove, row{other.partition_key, other.row_key, {}}, false);
            }
            return {};
        };
        ENTITABLE_TRY(auto const done,
            write_maintained_rows(family, other.partition_key, transaction_with(family.options), body));
        removed += done.told.changed ? 1 : 0;
    }
    ENTITABLE_CHECK(mend_entity(family, keep, audit_call(family)));
    return removed;
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
        for (intent::move const& one : each.moves) { known = known && family.find(one.index); }
        if (!known) {
            ++done.foreign_intents;
            continue;
        }
        ENTITABLE_CHECK(way.apply(each));
        ++done.intents;
    }
    return {};
}

/// Removes an index row that its entity, in the same partition, no longer has.
ENTITABLE_DECL result<bool> remove_dangling(index_family const& family, rows_elsewhere& way, suspect const& one) {
    if (family.shapes[one.at.index].elsewhere) { return way.settle(one.at.index, one.at.keys, one.entity); }
    transaction_options const options = transaction_with(family.options, way.draw());
    auto const body = [&](transaction_scope& all) -> result<void> {
        ENTITABLE_TRY(auto const stored, all.find_row(one.at.keys.row_key));
        if (!stored) { return {}; }
        ENTITABLE_TRY(auto const main, all.find_now(one.entity.row_key));
        ENTITABLE_TRY(auto const rows, family.rows_for(main));
        if (!rows[one.at.index] || row_keys_of(rows[one.at.index]->view()) != one.at.keys) {
            all.change(mutation_kind::remove, row{one.at.keys.partition_key, one.at.keys.row_key, {}}, false);
        }
        return {};
    };
    auto const send = [](transaction_scope& all, bool announces) { return send_transaction(all, announces); };
    ENTITABLE_TRY(transacted const gone, run_transaction(family.main, one.at.keys.partition_key, options, body, send));
    return gone.changed;
}

/// Repairs missing, different and dangling rows; never changes entities.
ENTITABLE_DECL result<void> mend_indexes(
    index_family const& family, std::optional<std::size_t> only, index_repair& done) {
    call const context = audit_call(family);
    rows_elsewhere way{family, context, family.fresh_seed()};
    // Writes missing rows first: no row that is removed afterwards was written by this repair from outdated data.
    std::vector<suspect> dangling;
    auto const mend = [&](index_fault fault, suspect const& each) -> result<void> {
        if (fault == index_fault::dangling) {
            dangling.push_back(each);
        } else if (fault != index_fault::violation) {
            ENTITABLE_CHECK(mend_entity(family, each.entity, context));
            ++done.written;
        }
        return {};
    };
    auto const take_away = [&]() -> result<void> {
        for (suspect const& each : dangling) {
            ENTITABLE_TRY(bool const removed, remove_dangling(family, way, each));
            done.removed += removed ? 1 : 0;
        }
        dangling.clear();
        return {};
    };
    ENTITABLE_TRY(done.found, verify_with(family, only, 100, way, mend, take_away));
    return {};
}

ENTITABLE_DECL result<index_repair> repair_indexes(index_family const& family) {
    result<index_repair> done{std::in_place};
    ENTITABLE_CHECK(apply_intents(family, *done));
    ENTITABLE_CHECK(mend_indexes(family, {}, *done));
    return done;
}

ENTITABLE_DECL result<index_repair> repair_index(index_family const& family, std::size_t index) {
    result<index_repair> done{std::in_place};
    ENTITABLE_CHECK(mend_indexes(family, index, *done));
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
