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

#include <algorithm>
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

/// What was looked at.
struct audit_counts {
    std::uint64_t entities{};
    std::uint64_t index_rows{};
};

/// Rows that are held at a time where sums differ.
inline constexpr std::uint64_t audited_at_once = 65'536;

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

/// The rows whose keys fall to one of the sums.
struct audit_sum {
    std::uint64_t sum{};  ///< of those that there ought to be, without those that are there
    std::uint64_t rows{}; ///< of both
    bool chosen{};        ///< they are compared one by one, now
};

/// The sums of some indexes.
class audit_table {
public:
    audit_table(index_family const& family, std::vector<std::size_t> indexes)
        : family_(family), indexes_(std::move(indexes)), sums_(family.shapes.size() * audit_sums) {}

    [[nodiscard]] result<audit_counts> add_all();
    /// Chooses sums that differ, for as many rows as are held at a time. False where none is left.
    [[nodiscard]] bool choose();
    /// Compares the rows of the chosen ones.
    [[nodiscard]] result<std::vector<suspect>> compare();

private:
    [[nodiscard]] audit_sum& at(std::size_t index, row_view of) {
        return sums_[index * audit_sums + (digest_of_keys(index, of) >> 40U) % audit_sums];
    }

    index_family const& family_;
    std::vector<std::size_t> indexes_;
    std::vector<audit_sum> sums_;
    std::size_t next_{};
};

ENTITABLE_DECL result<audit_counts> audit_table::add_all() {
    result<audit_counts> counts{std::in_place};
    ENTITABLE_CHECK(for_each_entity(family_, [&](row_view, index_rows const& rows) {
        ++counts->entities;
        for (std::size_t const index : indexes_) {
            if (rows[index]) {
                audit_sum& one = at(index, rows[index]->view());
                one.sum += digest_of(index, rows[index]->view());
                ++one.rows;
            }
        }
    }));
    for (std::size_t const index : indexes_) {
        ENTITABLE_CHECK(for_each_index_row(family_, index, [&](row_view each) {
            ++counts->index_rows;
            audit_sum& one = at(index, each);
            one.sum -= digest_of(index, each);
            ++one.rows;
        }));
    }
    return counts;
}

ENTITABLE_DECL bool audit_table::choose() {
    for (audit_sum& each : sums_) {
        each.chosen = false;
    }
    std::uint64_t rows = 0;
    for (; next_ < sums_.size(); ++next_) {
        audit_sum& each = sums_[next_];
        if (each.sum == 0) {
            continue;
        }
        if (rows > 0 && rows + each.rows > audited_at_once) {
            break;
        }
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
            if (!at(index, each).chosen || !outcome) {
                return;
            }
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
            if (!found) {
                made->push_back({index_fault::dangling, keys, *owner});
            }
            seen.insert(std::move(keys));
        }));
        ENTITABLE_CHECK(outcome);
    }
    for (auto const& [keys, one] : expected) {
        if (!seen.contains(keys)) {
            made->push_back({index_fault::missing, keys, one.entity});
        }
    }
    return made;
}

/// Those that somebody keeps, or only one.
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
        if (stored.own[index].state != index_state::retired) {
            made->push_back(index);
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

/// The entity that a row of an index names.
ENTITABLE_DECL result<std::optional<row_keys>> named_by(
    index_family const& family, rows_elsewhere& way, audited_row const& at) {
    ENTITABLE_TRY(auto const stored, way.read(family.places[at.index], at.keys));
    if (!stored) {
        return std::optional<row_keys>{};
    }
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

/// Calls `found` for each fault, and `part_done` where all faults of the rows that are held at a time were shown.
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
            if (!fault) {
                continue;
            }
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
        if (fault == index_fault::violation) {
            all[each.at].insert(each.entity);
        }
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
            "what is kept is one of the entities of the violation, which is one of an index of this table"};
        told.error().detail = keys_text(keep.partition_key, keep.row_key);
        return told;
    }
    std::uint64_t removed = 0;
    for (row_keys const& other : which.entities) {
        if (other == keep) {
            continue;
        }
        auto const body = [&](transaction_scope& all) -> result<void> {
            ENTITABLE_TRY(auto const stored, all.find(other.row_key));
            ENTITABLE_TRY(auto const rows, family.rows_for(stored));
            if (rows[*index] && row_keys_of(rows[*index]->view()) == which.key) {
                all.change(mutation_kind::remove, row{other.partition_key, other.row_key, {}}, false);
            }
            return {};
        };
        ENTITABLE_TRY(
            auto const done, write_indexed(family, other.partition_key, transaction_with(family.options), body));
        removed += done.changed ? 1 : 0;
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

/// Takes away an index row in the partition of its entity, which has it no more.
ENTITABLE_DECL result<bool> remove_dangling(index_family const& family, rows_elsewhere& way, suspect const& one) {
    if (family.shapes[one.at.index].elsewhere) {
        return way.settle(one.at.index, one.at.keys, one.entity);
    }
    transaction_options const options = transaction_with(family.options, way.draw());
    auto const body = [&](transaction_scope& all) -> result<void> {
        ENTITABLE_TRY(auto const stored, all.find(one.at.keys.row_key));
        if (!stored) {
            return {};
        }
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

/// Mends what is missing, different or dangling; entities are never changed.
ENTITABLE_DECL result<void> mend_indexes(
    index_family const& family, std::optional<std::size_t> only, index_repair& done) {
    call const context = audit_call(family);
    rows_elsewhere way{family, context, family.fresh_seed()};
    // Rows that are missing first: nothing that is taken away then has been put by this repair out of an old view.
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
