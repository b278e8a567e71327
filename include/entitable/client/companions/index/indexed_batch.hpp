// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `indexed_batch<E>`: an entity group transaction over an indexed table.

#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Changes of several entities of one partition, and of their index rows, all or nothing. A value: nothing is sent before `submit`.
///
/// Thread safety: one thread at a time.
template <mapped_entity Entity>
class indexed_batch {
public:
    explicit indexed_batch(shared<detail::index_family> family)
        : family_(std::move(family)) {} ///< made by `indexed_table::batch`

    /// Adds an insert: EntityAlreadyExists if the entity exists.
    indexed_batch& insert(Entity const& entity) { return add(mutation_kind::insert, entity, any_etag); }
    /// Adds a replacement of the stored entity, which must satisfy the condition.
    indexed_batch& replace(Entity const& entity, etag_condition condition) {
        return add(mutation_kind::replace, entity, std::move(condition));
    }
    /// Adds a merge into the stored entity, which must satisfy the condition.
    indexed_batch& merge(Entity const& entity, etag_condition condition) {
        return add(mutation_kind::merge, entity, std::move(condition));
    }
    /// Adds an insert or replacement.
    indexed_batch& insert_or_replace(Entity const& entity) {
        return add(mutation_kind::insert_or_replace, entity, any_etag);
    }
    /// Adds an insert or merge.
    indexed_batch& insert_or_merge(Entity const& entity) {
        return add(mutation_kind::insert_or_merge, entity, any_etag);
    }
    /// Adds the removal of an entity; only its keys are used.
    indexed_batch& remove(Entity const& entity, etag_condition condition) {
        return add(mutation_kind::remove, entity, std::move(condition));
    }

    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); } ///< number of changed entities
    [[nodiscard]] bool empty() const noexcept { return changes_.empty(); }      ///< whether there are no changes

    /// Sends all changes as one transaction, after reading the stored entities that it replaces or removes.
    ///
    /// Errors: after an error nothing was applied, unless its effect is unknown; `error::operation_index` is the refused change, if known.
    /// InvalidInput if there are no changes, or too many changes and index rows for a transaction.
    [[nodiscard]] result<indexed> submit() const {
        if (problem_) { return failure{*problem_}; }
        if (!family_) { return detail::moved_from("batch of an indexed table"); }
        if (changes_.empty()) { return failure{error_code::invalid_input, "this batch has no changes"}; }
        std::optional<std::size_t> at;
        auto const body = [&](detail::transaction_scope& all) -> result<void> {
            for (std::size_t index = 0; index < changes_.size(); ++index) {
                mutation const& each = changes_[index];
                at = index;
                ENTITABLE_CHECK(detail::check_entity_version(all, each.entity.row_key(), each.condition));
                all.change(each.kind, each.entity, true);
                ENTITABLE_CHECK(all.rows.problem());
            }
            at.reset();
            return {};
        };
        auto made = detail::write_indexed(*family_, std::string{changes_.front().entity.partition_key()},
            detail::transaction_with(family_->options), body);
        if (!made) {
            failure refused = std::move(made).as_failure();
            if (!at) { at = position_of(refused.error()); }
            if (at && refused.error().effect == effect::none) { refused.error().operation_index = at; }
            return refused;
        }
        return made;
    }

private:
    indexed_batch& add(mutation_kind kind, Entity const& entity, etag_condition condition) {
        auto made = to_row(entity);
        if (made) {
            changes_.push_back({kind, *std::move(made), std::move(condition)});
        } else if (!problem_) {
            problem_ = made.error();
            problem_->operation_index = changes_.size();
        }
        return *this;
    }
    /// Finds the change with the keys of an error.
    [[nodiscard]] std::optional<std::size_t> position_of(error const& refused) const {
        for (std::size_t index = 0; index < changes_.size(); ++index) {
            row const& entity = changes_[index].entity;
            if (refused.detail == detail::keys_text(entity.partition_key(), entity.row_key())) { return index; }
        }
        return std::nullopt;
    }

    shared<detail::index_family> family_;
    std::vector<mutation> changes_;
    std::optional<error> problem_;
};

ENTITABLE_END_NAMESPACE
