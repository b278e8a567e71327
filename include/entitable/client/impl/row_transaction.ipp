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

ENTITABLE_LAZY_BODY held_row& row_transaction::held(std::string_view row_key) {
    auto const at = rows_->find(row_key);
    return at != rows_->end() ? at->second : rows_->try_emplace(std::string{row_key}).first->second;
}

ENTITABLE_DECL row_transaction::row_transaction(std::string table, std::string partition_key)
    : table_(std::move(table)), partition_key_(std::move(partition_key)), rows_(shared<held_rows>::make()) {}

ENTITABLE_DECL row_transaction::~row_transaction() = default;

ENTITABLE_LAZY_BODY etag row_transaction::version_of(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    return at != rows_->end() ? at->second.version : etag{};
}

ENTITABLE_LAZY_BODY bool row_transaction::has_to_read(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    if (at == rows_->end()) { return true; }
    held_row const& one = at->second;
    return !one.read && !(one.changed && !lays_over(one.change.kind));
}

ENTITABLE_LAZY_BODY bool row_transaction::remembers_absence(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    return at != rows_->end() && at->second.read && !at->second.there && !at->second.changed;
}

ENTITABLE_LAZY_BODY result<void> row_transaction::take(std::string_view row_key, result<get_entity::response> found) {
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
    return {};
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
    ++looks_;
    held_row& one = rows_->find(row_key)->second;
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

ENTITABLE_LAZY_BODY void row_transaction::add(mutation change, bool forced) {
    ++looks_;
    std::string_view const row_key = change.entity.row_key();
    if (change.entity.partition_key() != partition_key_) {
        failure elsewhere{error_code::commands_in_batch_act_on_different_partitions,
            "a transaction must stay in one partition; this entity is in a different one"};
        elsewhere.error().detail = keys_text(change.entity.partition_key(), row_key);
        return refuse(std::move(elsewhere));
    }
    held_row& one = held(row_key);
    if (!change.condition.any() && !expect(one, change)) { return; }
    if (one.changed) { return add_to(one, std::move(change)); }
    if (one.read && change.needs_existing() && !one.there) {
        return refuse_row(error_code::resource_not_found,
            "the entity does not exist: this transaction has read its key and found nothing", row_key);
    }
    if (one.read && one.there && change.kind == mutation_kind::insert) {
        return refuse_row(
            error_code::entity_already_exists, "the entity already exists: this body has read it", row_key);
    }
    if (!one.read && change.needs_existing() && !forced) {
        return refuse_row(error_code::invalid_input,
            "a change without an ETag needs an entity that this body has read: read it first, or pass any_etag",
            row_key);
    }
    if (one.found()) { // the row's version is the condition, whatever the caller's condition
        if (!change.needs_existing()) {
            change.kind = lays_over(change.kind) ? mutation_kind::merge : mutation_kind::replace;
        }
    } else if (one.read) {
        change.kind = mutation_kind::insert;
    }
    one.change = std::move(change);
    one.changed = true;
}

ENTITABLE_LAZY_BODY bool row_transaction::expect(held_row& one, mutation const& change) {
    bool const inserted = one.changed && one.change.kind == mutation_kind::insert;
    bool const differs = one.found() && !change.condition.accepts(one.version);
    bool const twice = !one.expected.any() && !one.expected.accepts(change.condition.version());
    if (inserted || differs || twice) {
        refuse_row(error_code::update_condition_not_satisfied,
            inserted    ? "the entity does not have this ETag: this body has inserted it"
                : twice ? "this body has changed the entity under a different ETag"
                        : "the entity was changed since it was read",
            change.entity.row_key());
        return false;
    }
    one.expected = change.condition;
    if (one.changed && !one.change.needs_existing()) { // it was an upsert before, so the row must exist now
        one.change.kind = lays_over(one.change.kind) ? mutation_kind::merge : mutation_kind::replace;
    }
    return true;
}

ENTITABLE_LAZY_BODY bool row_transaction::expects_version(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    return at != rows_->end() && !at->second.expected.any();
}

ENTITABLE_LAZY_BODY void row_transaction::add_to(held_row& one, mutation change) {
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
    for (auto const& [row_key, one] : *rows_) {
        if (one.required && (one.changed ? one.change.kind == mutation_kind::remove : one.read && !one.there)) {
            return refuse_row(error_code::resource_not_found, "a required entity does not exist", row_key);
        }
    }
}

ENTITABLE_LAZY_BODY void row_transaction::exclude_others() {
    auto const at = rows_->find(system_row::exclusive);
    if (at != rows_->end() && !at->second.there && !at->second.changed) {
        at->second.change = mutation::insert(row_builder{partition_key_, system_row::exclusive}.build());
        at->second.changed = true;
    }
}

ENTITABLE_LAZY_BODY bool row_transaction::changes() const noexcept {
    for (auto const& [row_key, one] : *rows_) {
        if (one.changed && row_key != system_row::exclusive) { return true; }
    }
    return false;
}

ENTITABLE_LAZY_BODY bool row_transaction::writes() const noexcept {
    for (auto const& [row_key, one] : *rows_) {
        if (one.required && !one.read) { return true; }
    }
    return changes();
}

ENTITABLE_LAZY_BODY std::vector<std::string> row_transaction::changed_entities() const {
    std::vector<std::string> keys;
    for (auto const& [row_key, one] : *rows_) {
        if (one.changed && !system_row::is_one(row_key)) { keys.push_back(row_key); }
    }
    return keys;
}

ENTITABLE_LAZY_BODY bool row_transaction::is_changed_unread(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    return at != rows_->end() && at->second.changed && !at->second.read &&
        at->second.change.kind != mutation_kind::insert;
}

ENTITABLE_LAZY_BODY bool row_transaction::archives(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    return at != rows_->end() && at->second.changed && at->second.change.kind == mutation_kind::remove &&
        at->second.change.sums == removal::archived;
}

ENTITABLE_LAZY_BODY std::optional<row_view> row_transaction::stored_at(std::string_view row_key) const {
    auto const at = rows_->find(row_key);
    return at != rows_->end() && at->second.found() ? std::optional{at->second.stored.view()} : std::nullopt;
}

/// Position of a row in the request, and the part of it that is sent.
enum class place_in_request : std::uint8_t { guarded, exact, required, forced, inserted, nowhere };

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
    for (auto const& [row_key, one] : *rows_) {
        place_in_request const place = place_of(one);
        if (place == place_in_request::nowhere) { continue; }
        visit(row_key, one.changed ? &one.change : nullptr);
    }
}

ENTITABLE_LAZY_BODY result<transact> row_transaction::request(bool announces, profile const& limits) {
    transact made;
    made.table = table_;
    made.changes.reserve(rows_->size() + 1);
    std::size_t guards = 0;
    auto const nothing_of = [&](std::string_view row_key) { return row_builder{partition_key_, row_key}.build(); };
    for (place_in_request const now :
        {place_in_request::exact, place_in_request::required, place_in_request::forced, place_in_request::inserted}) {
        if (now == place_in_request::forced && announces && rows_->find(system_row::exclusive) == rows_->end()) {
            made.changes.push_back(mutation::insert_or_merge(nothing_of(system_row::exclusive)));
        }
        for (auto& [row_key, one] : *rows_) {
            place_in_request const place = place_of(one);
            if (now == place_in_request::exact && place == place_in_request::guarded) {
                made.changes.push_back(mutation::merge(nothing_of(row_key), one.version));
                ++guards;
            } else if (place == now && place == place_in_request::required) {
                made.changes.push_back(mutation::merge(nothing_of(row_key), any_etag));
            } else if (place == now) {
                made.changes.push_back(std::move(one.change));
                if (place == place_in_request::exact) {
                    made.changes.back().condition = one.found() ? etag_condition{one.version} : one.expected;
                }
            }
        }
    }
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
        auto const at = rows_->find(change.entity.row_key());
        return change.kind == mutation_kind::insert && taken && at->second.read;
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
