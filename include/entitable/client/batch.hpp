// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `batch<E>`: an entity group transaction. All of its changes are made, or none.

#include <entitable/client/table_core.hpp>
#include <entitable/mapping/codec.hpp>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// The changes of a batch, and the first entity that could not be made a row.
class change_list {
public:
    ENTITABLE_LAZY void add(mutation_kind kind, result<row> entity, etag_condition condition);
    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); }
    ENTITABLE_LAZY void clear() noexcept;
    ENTITABLE_LAZY [[nodiscard]] result<std::vector<written>> submit(table_core const& table) const;

private:
    std::vector<mutation> changes_;
    result<void> problem_;
};

} // namespace detail

/// Up to 100 changes of different entities of one partition, 4 MiB at most; checked when submitted. A value: nothing is
/// sent before `submit()`, and a batch can be submitted again. One thread at a time.
template <mapped_entity Entity>
class batch {
public:
    explicit batch(detail::table_core table) : table_(std::move(table)) {} ///< made by `table::batch`

    /// Adds a new entity: EntityAlreadyExists when there is one.
    batch& insert(Entity const& entity) { return add(mutation_kind::insert, entity, any_etag); }
    /// Adds an entity in place of the stored one that meets the condition.
    batch& replace(Entity const& entity, etag_condition condition) {
        return add(mutation_kind::replace, entity, std::move(condition));
    }
    /// Adds properties to be laid over those of the stored entity that meets the condition.
    batch& merge(Entity const& entity, etag_condition condition) {
        return add(mutation_kind::merge, entity, std::move(condition));
    }
    /// Adds an entity, whether or not there is one.
    batch& insert_or_replace(Entity const& entity) { return add(mutation_kind::insert_or_replace, entity, any_etag); }
    /// Adds an entity, or properties to be laid over those of the stored one.
    batch& insert_or_merge(Entity const& entity) { return add(mutation_kind::insert_or_merge, entity, any_etag); }
    /// Only the entity's keys count.
    batch& remove(Entity const& entity, etag_condition condition) {
        return add(mutation_kind::remove, entity, std::move(condition));
    }

    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); } ///< how many changes
    [[nodiscard]] bool empty() const noexcept { return changes_.size() == 0; }  ///< whether there is none
    void clear() noexcept { changes_.clear(); }                                 ///< begins anew

    /// The outcome of each change, in order. After an error nothing was applied, unless its effect is unknown;
    /// `error::operation_index` names the change that was refused, where that is known.
    [[nodiscard]] result<std::vector<written>> submit() const { return changes_.submit(table_); }

private:
    batch& add(mutation_kind kind, Entity const& entity, etag_condition condition) {
        changes_.add(kind, to_row(entity), std::move(condition));
        return *this;
    }

    detail::table_core table_;
    detail::change_list changes_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/batch.ipp>
#endif
