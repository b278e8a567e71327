// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/held_rows.hpp>
#include <entitable/client/detail/row_transaction.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether the change determines the whole row.
[[nodiscard]] inline bool says_all(mutation_kind kind) noexcept {
    return kind == mutation_kind::insert || kind == mutation_kind::replace || kind == mutation_kind::insert_or_replace;
}

[[nodiscard]] inline bool lays_over(mutation_kind kind) noexcept {
    return kind == mutation_kind::merge || kind == mutation_kind::insert_or_merge;
}

/// Returns the row with the properties of another row merged into it.
ENTITABLE_LAZY row laid_over(row_view below, row_view above) {
    return row{below.partition_key, below.row_key, merged_payload(below.payload, above.payload)};
}

ENTITABLE_LAZY_BODY std::size_t row_transaction::lower_bound(std::string_view row_key) const noexcept {
    std::size_t low = 0;
    std::size_t high = rows_.size();
    while (low < high) {
        std::size_t const middle = (low + high) / 2;
        if (rows_[middle]->row_key.compare(row_key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

ENTITABLE_LAZY_BODY held_row* row_transaction::known(std::string_view row_key) const noexcept {
    std::size_t const at = lower_bound(row_key);
    return at != rows_.size() && rows_[at]->row_key == row_key ? rows_[at] : nullptr;
}

ENTITABLE_LAZY_BODY held_row& row_transaction::held(std::string_view row_key) {
    std::size_t const count = rows_.size();
    bool const is_last =
        count == 0 || rows_[count - 1]->row_key.compare(row_key) < 0; // as in a query, which returns rows in order
    std::size_t const at = is_last ? count : lower_bound(row_key);
    if (!is_last && rows_[at]->row_key == row_key) { return *rows_[at]; }
    rows_.reserve_one();
    auto* const made = new held_row{row_key};
    rows_.insert(at, made);
    return *made;
}

ENTITABLE_DECL row_transaction::row_transaction(std::string const& table, std::string const& partition_key)
    : table_(table), partition_key_(partition_key) {}

ENTITABLE_DECL row_transaction::~row_transaction() {
    for (held_row const* const each : rows_) { delete each; }
}

ENTITABLE_LAZY_BODY etag row_transaction::version_of(std::string_view row_key) const {
    held_row const* const at = known(row_key);
    return at != nullptr ? at->version : etag{};
}

ENTITABLE_LAZY_BODY bool row_transaction::has_to_read(std::string_view row_key) const {
    held_row const* const at = known(row_key);
    if (at == nullptr) { return true; }
    held_row const& one = *at;
    return !one.read && !(one.changed && !lays_over(one.change.kind));
}

ENTITABLE_LAZY_BODY bool row_transaction::remembers_absence(std::string_view row_key) const {
    held_row const* const at = known(row_key);
    return at != nullptr && at->read && !at->there && !at->changed;
}

ENTITABLE_LAZY_BODY result<std::optional<row_view>> row_transaction::take(
    std::string_view row_key, result<get_entity::response>&& found) {
    count_read();
    bool const missing = !found && found.error().code == error_code::resource_not_found;
    if (!found && !missing) {
        refuse(failure{found.error()});
        return std::move(found).as_failure();
    }
    held_row& one = held(row_key);
    one.read = true;
    one.there = !missing;
    if (!missing) {
        one.stored = std::move(found->entity);
        one.version = std::move(found->etag);
    }
    if (!missing && !one.expected.accepts(one.version)) {
        refuse_row(error_code::update_condition_not_satisfied, "the entity was changed since it was read", row_key);
        return failure{problem_.error()};
    }
    if (one.changed &&
        one.change.kind !=
            mutation_kind::insert) { // it was changed before it was read, and now depends on the row that is found
        if (missing && one.change.needs_existing()) {
            one.changed = false;
            refuse_row(error_code::resource_not_found, "this body changed an entity that does not exist", row_key);
        } else if (!one.change.needs_existing()) {
            one.change.kind = missing        ? mutation_kind::insert
                : lays_over(one.change.kind) ? mutation_kind::merge
                                             : mutation_kind::replace;
        }
    }
    return now_at(one);
}

ENTITABLE_LAZY_BODY bool row_transaction::take(row_view found) {
    held_row& one = held(found.row_key);
    if (one.read) {
        bool const same = one.there && one.version == found.etag();
        in_vain_ = in_vain_ || !same;
        return same;
    }
    one.read = one.there = true;
    one.stored = row{found};
    one.version = found.etag();
    return true;
}

ENTITABLE_LAZY_BODY std::optional<row_view> row_transaction::now_at(std::string_view row_key) {
    held_row* const at = known(row_key);
    return at != nullptr ? now_at(*at) : std::nullopt;
}

ENTITABLE_LAZY_BODY std::optional<row_view> row_transaction::now_at(held_row& one) {
    ++looks_;
    if (!one.changed) { return one.there ? std::optional{one.stored.view()} : std::nullopt; }
    if (one.change.kind == mutation_kind::remove) { return std::nullopt; }
    if (says_all(one.change.kind) || !one.there) { return one.change.entity.view(); }
    one.laid_over = laid_over(one.stored.view(), one.change.entity.view());
    return one.laid_over.view();
}

ENTITABLE_LAZY_BODY void row_transaction::refuse(failure problem) {
    if (problem_) { problem_ = std::move(problem); }
}

ENTITABLE_LAZY_BODY void row_transaction::refuse_row(error_code code, std::string_view why, std::string_view row_key) {
    failure made{code, std::string{why}};
    made.error().detail = keys_text(partition_key_, row_key);
    refuse(std::move(made));
}

ENTITABLE_LAZY_BODY void row_transaction::add(
    mutation_kind kind, row&& entity, etag_condition const& expected, entitable::removal sums, bool forced) {
    ++looks_;
    std::string_view const row_key = entity.row_key();
    if (entity.partition_key() != partition_key_) {
        failure elsewhere{error_code::commands_in_batch_act_on_different_partitions,
            "a transaction must stay in one partition; this entity is in a different one"};
        elsewhere.error().detail = keys_text(entity.partition_key(), row_key);
        return refuse(std::move(elsewhere));
    }
    held_row& one = held(row_key);
    if (!expected.any() && !expect(one, expected)) { return; }
    if (one.changed) { return add_to(one, mutation{kind, std::move(entity), any_etag, sums}); }
    one.change.kind = kind;
    bool const needs_existing = one.change.needs_existing();
    if (one.read && needs_existing && !one.there) {
        return refuse_row(error_code::resource_not_found,
            "the entity does not exist: this transaction has read its key and found nothing", row_key);
    }
    if (one.read && one.there && kind == mutation_kind::insert) {
        return refuse_row(
            error_code::entity_already_exists, "the entity already exists: this body has read it", row_key);
    }
    if (!one.read && needs_existing && !forced) {
        return refuse_row(error_code::invalid_input,
            "a change without an ETag needs an entity that this body has read: read it first, or pass any_etag",
            row_key);
    }
    if (one.found()) { // the row's version is the condition, whatever the caller's condition
        if (!needs_existing) { one.change.kind = lays_over(kind) ? mutation_kind::merge : mutation_kind::replace; }
    } else if (one.read) {
        one.change.kind = mutation_kind::insert;
    }
    one.change.entity = std::move(entity);
    one.change.sums = sums;
    one.changed = true;
}

ENTITABLE_LAZY_BODY bool row_transaction::expect(held_row& one, etag_condition const& expected) {
    bool const inserted = one.changed && one.change.kind == mutation_kind::insert;
    bool const differs = one.found() && !expected.accepts(one.version);
    bool const twice = !one.expected.any() && !one.expected.accepts(expected.version());
    if (inserted || differs || twice) {
        refuse_row(error_code::update_condition_not_satisfied,
            inserted    ? "the entity does not have this ETag: this body has inserted it"
                : twice ? "this body has changed the entity under a different ETag"
                        : "the entity was changed since it was read",
            one.row_key);
        return false;
    }
    one.expected = expected;
    if (one.changed && !one.change.needs_existing()) { // it was an upsert before, so the row must exist now
        one.change.kind = lays_over(one.change.kind) ? mutation_kind::merge : mutation_kind::replace;
    }
    return true;
}

ENTITABLE_LAZY_BODY bool row_transaction::expects_version(std::string_view row_key) const {
    held_row const* const at = known(row_key);
    return at != nullptr && !at->expected.any();
}

ENTITABLE_LAZY_BODY void row_transaction::add_to(held_row& one, mutation&& change) {
    mutation& before = one.change;
    std::string const row_key{change.entity.row_key()};
    if (before.kind == mutation_kind::remove) {
        if (change.needs_existing()) {
            return refuse_row(
                error_code::resource_not_found, "the entity does not exist: this body has removed it", row_key);
        }
        before.kind = mutation_kind::replace; // the removed row must have existed
        before.entity = std::move(change.entity);
    } else if (change.kind == mutation_kind::insert) {
        refuse_row(error_code::entity_already_exists, "the entity already exists: this body has written it", row_key);
    } else if (lays_over(change.kind)) {
        before.entity = laid_over(before.entity.view(), change.entity.view());
    } else if (change.kind != mutation_kind::remove) {
        if (lays_over(before.kind)) {
            before.kind =
                before.kind == mutation_kind::merge ? mutation_kind::replace : mutation_kind::insert_or_replace;
        }
        before.entity = std::move(change.entity);
    } else if (before.kind == mutation_kind::insert) {
        one.change = {};
        one.changed = false;
    } else if (before.needs_existing()) {
        before = mutation::remove(row{partition_key_, row_key, {}}, any_etag, change.sums);
    } else {
        refuse_row(error_code::invalid_input,
            "a removal after an insert or a change needs an entity that this body has read: read it first", row_key);
    }
}

ENTITABLE_LAZY_BODY void row_transaction::require_row(std::string row_key) { held(row_key).required = true; }

ENTITABLE_LAZY_BODY void row_transaction::check_required() {
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        if (one.required && (one.changed ? one.change.kind == mutation_kind::remove : one.read && !one.there)) {
            return refuse_row(error_code::resource_not_found, "a required entity does not exist", one.row_key);
        }
    }
}

ENTITABLE_LAZY_BODY void row_transaction::exclude_others() {
    held_row* const at = known(system_row::exclusive);
    if (at != nullptr && !at->there && !at->changed) {
        at->change = mutation::insert(row_builder{partition_key_, system_row::exclusive}.build());
        at->changed = true;
    }
}

ENTITABLE_LAZY_BODY bool row_transaction::changes() const noexcept {
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        if (one.changed && one.row_key != system_row::exclusive) { return true; }
    }
    return false;
}

ENTITABLE_LAZY_BODY bool row_transaction::writes() const noexcept {
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        if (one.required && !one.read) { return true; }
    }
    return changes();
}

ENTITABLE_LAZY_BODY std::vector<std::string> row_transaction::changed_entities() const {
    std::vector<std::string> keys;
    keys.reserve(rows_.size());
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        if (one.changed && !system_row::is_one(one.row_key)) { keys.push_back(one.row_key); }
    }
    return keys;
}

ENTITABLE_LAZY_BODY changed_row_views row_transaction::look_at(std::string_view row_key) {
    held_row* const at = known(row_key);
    if (at == nullptr) { return {}; }
    held_row& one = *at;
    changed_row_views made;
    made.unread = one.changed && !one.read && one.change.kind != mutation_kind::insert;
    if (made.unread) { return made; }
    made.archived =
        one.changed && one.change.kind == mutation_kind::remove && one.change.sums == entitable::removal::archived;
    if (one.found()) { made.before = one.stored.view(); }
    made.after = now_at(one);
    return made;
}

ENTITABLE_LAZY_BODY std::optional<row_view> row_transaction::stored_at(std::string_view row_key) const {
    held_row const* const at = known(row_key);
    return at != nullptr && at->found() ? std::optional{at->stored.view()} : std::nullopt;
}

/// Position of a row in the request, and the part of it that is sent.
enum class place_in_request : std::uint8_t { guarded, exact, required, forced, inserted, nowhere };
inline constexpr std::size_t places_in_request = 6;

[[nodiscard]] inline place_in_request place_of(held_row const& one) noexcept {
    if (!one.changed) {
        return one.found() ? place_in_request::guarded
            : one.required ? place_in_request::required
                           : place_in_request::nowhere;
    }
    return one.change.kind == mutation_kind::insert ? place_in_request::inserted
        : one.found() || !one.expected.any()        ? place_in_request::exact
                                                    : place_in_request::forced;
}

ENTITABLE_LAZY_BODY void row_transaction::for_each_written(
    function_ref<void(std::string const& row_key, mutation const* change)> visit) const {
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        place_in_request const place = place_of(one);
        if (place == place_in_request::nowhere) { continue; }
        visit(one.row_key, one.changed ? &one.change : nullptr);
    }
}

ENTITABLE_LAZY_BODY result<transact> row_transaction::request(bool announces, profile const& limits) {
    transact made;
    made.table = table_;
    made.changes.reserve(rows_.size() + 1);
    std::size_t guards = 0;
    auto const nothing_of = [&](std::string_view row_key) { return row_builder{partition_key_, row_key}.build(); };
    bool taken[places_in_request]{};
    for (held_row const* const each : rows_) { taken[static_cast<std::size_t>(place_of(*each))] = true; }
    auto const add = [&](place_in_request first, place_in_request second) {
        if (!taken[static_cast<std::size_t>(first)] && !taken[static_cast<std::size_t>(second)]) { return; }
        for (held_row* const each : rows_) {
            place_in_request const place = place_of(*each);
            if (place != first && place != second) { continue; }
            if (place == place_in_request::guarded) {
                made.changes.push_back(mutation::merge(nothing_of(each->row_key), each->version));
                ++guards;
            } else if (place == place_in_request::required) {
                made.changes.push_back(mutation::merge(nothing_of(each->row_key), any_etag));
            } else {
                mutation& change = made.changes.emplace_back(std::move(each->change));
                if (place == place_in_request::exact) {
                    change.condition = each->found() ? etag_condition{each->version} : each->expected;
                }
            }
        }
    };
    add(place_in_request::guarded, place_in_request::exact);
    add(place_in_request::required, place_in_request::required);
    if (announces && known(system_row::exclusive) == nullptr) {
        made.changes.push_back(mutation::insert_or_merge(nothing_of(system_row::exclusive)));
    }
    add(place_in_request::forced, place_in_request::forced);
    add(place_in_request::inserted, place_in_request::inserted);
    if (made.changes.size() > limits.max_operations) {
        return failure{error_code::invalid_input,
            text::joined({limit_text("the transaction", made.changes.size(), limits.max_operations, "operations"), "; ",
                std::to_string(guards), " of them guard rows that were only read"})};
    }
    return made;
}

ENTITABLE_LAZY_BODY bool row_transaction::was_beaten(error const& refused, transact const& request) const {
    if (refused.effect != effect::none) { return false; }
    bool const gone = detail::was_beaten(refused, rival_change::changed_or_removed);
    bool const taken = refused.code == error_code::entity_already_exists;
    auto const by_others = [&](mutation const& change) {
        if (change.needs_existing()) {
            return !change.condition.any() && gone && !expects_version(change.entity.row_key());
        }
        held_row const* const at = known(change.entity.row_key());
        return change.kind == mutation_kind::insert && taken && at != nullptr && at->read;
    };
    if (refused.operation_index && *refused.operation_index < request.changes.size()) {
        return by_others(request.changes[*refused.operation_index]);
    }
    // The response does not show which change was refused: the body starts over if another writer may have come first.
    for (mutation const& change : request.changes) {
        if (by_others(change)) { return true; }
    }
    return false;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
