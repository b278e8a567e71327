// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Intents: system rows that record which rows in other partitions an entity's change requires or makes obsolete. An intent is in the
/// partition of the entity, so that one transaction changes both; any program that finds one can complete it. Written by a table with indexes elsewhere.
///
/// Row key: `~!ix!`, the row key of the entity, `!`, and 32 hexadecimal digits, unique for each attempt. Format: docs/stored_formats.md.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/request/requests.hpp>

#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The keys of a row.
struct row_keys {
    std::string partition_key; ///< PartitionKey
    std::string row_key;       ///< RowKey

    friend bool operator==(row_keys const&, row_keys const&) = default;
    friend auto operator<=>(row_keys const&, row_keys const&) = default;
};

/// Progress of an entity's change.
enum class intent_state : std::uint8_t {
    pending = 1, ///< the change may still be applied: the new rows are needed
    applied = 2, ///< the change was applied: the old rows are removed
    undone = 3,  ///< the change will never be applied: the new rows are removed
};

/// Effect of an entity's change on rows in other partitions.
struct intent {
    /// A row to remove, and a row to add.
    struct move {
        std::string index;            ///< the type of the index
        std::optional<row_keys> from; ///< row to remove
        std::optional<row_keys> to;   ///< row to add
    };

    row_keys entity;         ///< the changed entity
    std::string id;          ///< 32 hexadecimal digits
    etag version;            ///< ETag of the intent's row, if stored
    intent_state state{};    ///< progress of the change
    std::vector<move> moves; ///< moves of all indexes in other partitions

    /// Returns the row key of an entity's intent with an id.
    ENTITABLE_LAZY [[nodiscard]] static std::string row_key_of(std::string_view entity_row_key, std::string_view id);
    /// Returns the range of keys that contains all intents of an entity; it may contain intents of other entities.
    ENTITABLE_LAZY [[nodiscard]] static key_interval rows_of(std::string_view entity_row_key);
    /// Returns the range of keys of all intents.
    ENTITABLE_LAZY [[nodiscard]] static key_interval rows();

    /// Converts the intent to its stored row.
    ENTITABLE_LAZY [[nodiscard]] row to_row() const;
    /// Returns a row with only the intent's state, to be merged into the stored row.
    ENTITABLE_LAZY [[nodiscard]] row state_row(intent_state next) const;
    /// Parses an intent. Errors: RowMalformed if the row is not an intent, or was written by a newer version of this library.
    ENTITABLE_LAZY [[nodiscard]] static result<intent> read(row_view stored);
    /// Whether the intent is pending and requires the row of an index.
    ENTITABLE_LAZY [[nodiscard]] bool wants(std::string_view index, row_keys const& keys) const;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/index/impl/intent.ipp>
#endif

#endif
