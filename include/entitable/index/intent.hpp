// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Intents: system rows that say which rows in other partitions a change of an entity needs, or makes needless. An intent stands in the
/// partition of the entity, so that one transaction changes both; any program that finds one can complete it. Written by `indexed_table`.
///
/// Row key: `~!ix!`, the row key of the entity, `!`, and 32 hexadecimal digits that no other attempt has. Format: docs/stored_formats.md.

#include <entitable/request/key_range.hpp>
#include <entitable/request/requests.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The keys of a row.
struct row_keys {
    std::string partition_key; ///< the first key
    std::string row_key;       ///< the second key

    friend bool operator==(row_keys const&, row_keys const&) = default;
    friend auto operator<=>(row_keys const&, row_keys const&) = default;
};

/// How far the change of an entity is.
enum class intent_state : std::uint8_t {
    pending = 1, ///< the change may still be applied: the new rows are needed
    applied = 2, ///< the change was applied: the old rows are removed
    undone = 3,  ///< the change will never be applied: the new rows are removed
};

/// What a change of an entity does to rows in other partitions.
struct intent {
    /// One row is removed, and another one is added.
    struct move {
        std::string index;            ///< the type of the index
        std::optional<row_keys> from; ///< where its row was
        std::optional<row_keys> to;   ///< where it will be
    };

    row_keys entity;         ///< whose change it is
    std::string id;          ///< 32 hexadecimal digits
    etag version;            ///< of the intent's row, where it is stored
    intent_state state{};    ///< how far it is
    std::vector<move> moves; ///< of all indexes in other partitions

    /// The row key of an entity's intent with an id.
    ENTITABLE_LAZY [[nodiscard]] static std::string row_key_of(std::string_view entity_row_key, std::string_view id);
    /// The range of the intents of an entity; those of other entities may be in it.
    ENTITABLE_LAZY [[nodiscard]] static key_interval rows_of(std::string_view entity_row_key);
    /// The range of all intents.
    ENTITABLE_LAZY [[nodiscard]] static key_interval rows();

    /// As it is stored.
    ENTITABLE_LAZY [[nodiscard]] row to_row() const;
    /// Only its state, to be merged into the stored row.
    ENTITABLE_LAZY [[nodiscard]] row state_row(intent_state next) const;
    /// Reads one. RowMalformed where the row is not an intent, or one of a newer version of this library.
    ENTITABLE_LAZY [[nodiscard]] static result<intent> read(row_view stored);
    /// Whether it is pending and wants the row of an index.
    ENTITABLE_LAZY [[nodiscard]] bool wants(std::string_view index, row_keys const& keys) const;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/index/impl/intent.ipp>
#endif
