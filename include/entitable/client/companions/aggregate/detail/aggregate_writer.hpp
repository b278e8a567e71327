// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Adds changes of aggregate rows to those of a partition transaction, and audits rows of aggregates.

#include <entitable/client/companions/aggregate/aggregate_declarations.hpp>
#include <entitable/client/companions/aggregate/aggregate_options.hpp>
#include <entitable/client/transaction.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Aggregate, class... P, class... R>
[[nodiscard]] Aggregate only_keys(Aggregate const& place, components<void, P...>, components<void, R...>) {
    Aggregate made{};
    ((made.*P::member = place.*P::member), ...);
    ((made.*R::member = place.*R::member), ...);
    return made;
}
/// Returns a new aggregate with the same keys.
template <class Aggregate>
[[nodiscard]] Aggregate without_sums(Aggregate const& place) {
    return only_keys(
        place, typename mapping<Aggregate>::partition_components{}, typename mapping<Aggregate>::row_components{});
}

/// The sums of one entity type.
template <class Entity, class Declared>
class aggregate_writer {
    using declaration = aggregate_declaration<Declared>;
    using aggregate = typename declaration::type;

public:
    /// Returns the keys of the row in which an entity counts, as an aggregate without sums. Errors: InvalidInput if it would be in another
    /// partition.
    [[nodiscard]] static result<aggregate> place_of(Entity const& entity, row_view stored) {
        aggregate place = aggregate::key(entity);
        declaration::put_part(place, bucket_of(stored.row_key));
        ENTITABLE_TRY(std::string const partition, partition_key_of(place));
        if (partition != stored.partition_key) {
            return failure{error_code::invalid_input, "an aggregate must be a row in the partition of its entity"};
        }
        return place;
    }

    /// Adds the changes of sums to those of a body.
    [[nodiscard]] static result<void> prepare(transaction_scope& all) {
        std::vector<std::string> const changed = all.rows.changed_entities();
        for (std::string const& row_key : changed) {
            all.look_at(row_key);
            if (!all.rows.problem()) { return failure{all.rows.problem().error()}; }
            ENTITABLE_TRY(auto const before, counted(all, all.rows.stored_at(row_key)));
            ENTITABLE_TRY(auto const after, counted(all, all.rows.now_at(row_key)));
            if (before && after && before->row_key == after->row_key) {
                // One row: written only if the entity's contribution has changed. Recomputation relies on that.
                aggregate none = before->place;
                none.subtract(before->entity);
                none.add(after->entity);
                ENTITABLE_TRY(row const nothing, to_row(before->place));
                ENTITABLE_TRY(row const moved, to_row(none));
                if (nothing.payload() == moved.payload()) { continue; }
            }
            if (before) {
                ENTITABLE_CHECK(change(all, *before, [&](aggregate& sums) { sums.subtract(before->entity); }));
            }
            if (after) {
                ENTITABLE_CHECK(change(all, *after, [&](aggregate& sums) { sums.add(after->entity); }));
            }
        }
        return all.rows.problem();
    }

    /// Sends the changes of the body, and the resulting changes of sums.
    [[nodiscard]] static sent_transaction send(transaction_scope& all, bool announces) {
        if (auto prepared = prepare(all); !prepared) { return {std::move(prepared).as_failure(), all.rows.in_vain()}; }
        return send_transaction(all, announces);
    }

    /// Returns the part in which an entity counts.
    [[nodiscard]] static std::size_t bucket_of(std::string_view row_key) noexcept {
        std::uint32_t hash = 2166136261U; // FNV-1a, as of salted key components
        for (char const each : row_key) { hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U; }
        return hash % declaration::buckets;
    }

private:
    struct counted_entity {
        Entity entity;
        aggregate place; // without sums
        std::string row_key;
    };

    [[nodiscard]] static result<std::optional<counted_entity>> counted(
        transaction_scope& all, std::optional<row_view> const& stored) {
        if (!stored) { return std::optional<counted_entity>{}; }
        counted_entity made;
        ENTITABLE_CHECK(from_row(*stored, made.entity, all.reading()));
        ENTITABLE_TRY(made.place, place_of(made.entity, *stored));
        ENTITABLE_TRY(made.row_key, row_key_of(made.place));
        return std::optional{std::move(made)};
    }

    /// Inserts an empty row of sums, and starts over. Under an operation id a missing row cannot be inserted together with the entity: if
    /// another writer inserts it first, the refusal is not about a version, and abandons the id.
    [[nodiscard]] static result<void> add_row(transaction_scope& all, result<row> empty) {
        if (!empty) { return std::move(empty).as_failure(); }
        call own = all.context();
        own.operation_id.clear();
        auto const made =
            all.transport().execute(write_entity{all.rows.table(), mutation::insert(*std::move(empty))}, own);
        if (!made && made.error().effect == effect::none && made.error().code != error_code::entity_already_exists) {
            return failure{made.error()};
        }
        all.rows.begin_again();
        return failure{
            error_code::update_condition_not_satisfied, "a row of sums was added, and the write starts over"};
    }

    template <class Change>
    [[nodiscard]] static result<void> change(transaction_scope& all, counted_entity const& counted, Change&& function) {
        ENTITABLE_TRY(auto const stored, all.find(counted.row_key));
        aggregate sums = counted.place;
        if (!stored && !all.context().operation_id.empty()) { return add_row(all, to_row(sums)); }
        if (stored) { ENTITABLE_CHECK(from_row(*stored, sums, all.reading())); }
        function(sums);
        all.change(stored ? mutation_kind::replace : mutation_kind::insert, to_row(sums), false);
        return all.rows.problem();
    }
};

/// Compares the rows of a partition with the sums of its entities, and optionally rewrites them. A row that a writer changes meanwhile is
/// checked again: its version shows it.
template <class Entity, class Declared>
[[nodiscard]] result<aggregate_audit> audit_aggregates(
    table_core const& core, std::string const& partition_key, bool mend, aggregate_options const& options) {
    using aggregate = typename aggregate_declaration<Declared>::type;
    using row_writer = aggregate_writer<Entity, Declared>;
    using rows_by_key = std::map<std::string, row>;
    key_interval const partition = key_interval::only(partition_key);
    auto const read_sums = [&](rows_by_key& into) {
        into.clear();
        return core.for_each_row_of(pattern_of_type<aggregate>, partition,
            [&](row_view each) { into.insert_or_assign(std::string{each.row_key}, row{each}); });
    };
    random_source random{options.seed != 0 ? options.seed : random_seed()};
    std::set<std::string> found; // rows that differed: of all attempts if they are rewritten
    for (std::uint32_t attempts = 1;; ++attempts) {
        aggregate_audit told;
        if (!mend) { found.clear(); }
        rows_by_key before;
        ENTITABLE_CHECK(read_sums(before)); // first: a change of an entity that is read later shows in the version
        std::map<std::string, aggregate> computed;
        result<void> good;
        ENTITABLE_CHECK(core.for_each_row_of(pattern_of_type<Entity>, partition, [&](row_view each) {
            auto const count = [&]() -> result<void> {
                Entity entity{};
                ENTITABLE_CHECK(from_row(each, entity, core.options().reading));
                ENTITABLE_TRY(aggregate const place, row_writer::place_of(entity, each));
                ENTITABLE_TRY(std::string const row_key, row_key_of(place));
                computed.try_emplace(row_key, place).first->second.add(entity);
                return {};
            };
            ++told.entities;
            if (good) { good = count(); }
        }));
        ENTITABLE_CHECK(good);
        std::map<std::string, mutation> wanted;
        auto const compare = [&](std::string const& row_key, aggregate const& sums, row const* stored,
                                 aggregate const& none) -> result<void> {
            ENTITABLE_TRY(row made, to_row(sums));
            ENTITABLE_TRY(row const empty, to_row(none));
            if (same_sums(made.view(), stored != nullptr ? stored->view() : empty.view(), options.bound)) {
                ++told.rows;
            } else {
                wanted.emplace(row_key,
                    stored != nullptr ? mutation::replace(std::move(made), stored->view().etag())
                                      : mutation::insert(std::move(made)));
            }
            return {};
        };
        for (auto const& [row_key, stored] : before) {
            aggregate sums;
            ENTITABLE_CHECK(from_row(stored.view(), sums, core.options().reading));
            aggregate const none = without_sums(sums);
            auto const at = computed.find(row_key);
            ENTITABLE_CHECK(compare(row_key, at != computed.end() ? at->second : none, &stored, none));
        }
        for (auto const& [row_key, sums] : computed) {
            if (before.find(row_key) == before.end()) {
                ENTITABLE_CHECK(compare(row_key, sums, nullptr, without_sums(sums)));
            }
        }
        bool again = false;
        rows_by_key after;
        if (!wanted.empty() && !mend) { ENTITABLE_CHECK(read_sums(after)); }
        for (auto& [row_key, change] : wanted) {
            if (mend) {
                auto written = core.write(std::move(change));
                if (!written && written.error().effect != effect::none) { return std::move(written).as_failure(); }
                bool const beaten = !written &&
                    (written.error().code == error_code::update_condition_not_satisfied ||
                        written.error().code == error_code::entity_already_exists ||
                        written.error().code == error_code::resource_not_found);
                if (!written && !beaten) { return std::move(written).as_failure(); }
                again = again || beaten;
                if (!beaten) { found.insert(row_key); }
            } else {
                auto const old = before.find(row_key);
                auto const now = after.find(row_key);
                bool const same = (old == before.end()) == (now == after.end()) &&
                    (now == after.end() || old->second.view().etag() == now->second.view().etag());
                again = again || !same; // a writer was active between the reads
                found.insert(row_key);
            }
        }
        if (!again) {
            told.different = found.size();
            told.rows -= (std::min)(told.rows, found.size() - wanted.size()); // rewritten in an earlier attempt
            for (auto each = found.begin(); each != found.end() && told.samples.size() < 10; ++each) {
                told.samples.push_back(*each);
            }
            return told;
        }
        if (attempts >= options.max_attempts) {
            return failure{error_code::update_condition_not_satisfied, "other writers were faster in every attempt"};
        }
        call context{core.options(), *options.time};
        auto const wait =
            std::chrono::duration_cast<steady_time::duration>(options.delays.delay(attempts, random.unit()));
        ENTITABLE_CHECK(wait_until(options.time->steady() + wait, context, *options.time));
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
