// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The vocabulary of the seam: requests and responses as plain data. All but `read_entity` and `read_entities` own what they hold. A
/// transport answers them; it neither loops nor retries unless that is its purpose.

#include <entitable/core/etag.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/result.hpp>
#include <entitable/request/filter.hpp>
#include <entitable/request/key_range.hpp>
#include <entitable/row/page.hpp>
#include <entitable/row/row.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

// ---- tables -------------------------------------------------------------------------------------------------

/// Creates a table. Errors: TableAlreadyExists; TableBeingDeleted while the name of a deleted table is not free.
struct create_table {
    struct response {};
    static constexpr std::string_view name = "create_table"; ///< for logs
    static constexpr bool writes = true;                     ///< whether it changes anything

    std::string table; ///< to be created
};

/// Deletes a table with all its entities; ResourceNotFound when there is none.
struct delete_table {
    struct response {};
    static constexpr std::string_view name = "delete_table"; ///< for logs
    static constexpr bool writes = true;                     ///< whether it changes anything

    std::string table; ///< to be deleted
};

/// One page of the names of tables, in their order.
struct list_tables {
    /// What answers it.
    struct response {
        std::vector<std::string> tables;         ///< their names as they were created
        std::optional<std::string> continuation; ///< opaque; there are more exactly when it is present
    };
    static constexpr std::string_view name = "list_tables"; ///< for logs
    static constexpr bool writes = false;                   ///< whether it changes anything

    std::optional<std::string> continuation; ///< of the page before; none for the first
    std::uint32_t page_size{1000};           ///< names at most, 1 to 1000
};

// ---- reads --------------------------------------------------------------------------------------------------

/// The names of the properties to return; empty for all. Keys, Timestamp and ETag come always.
using projection = std::vector<std::string>;

/// Takes an entity that was read: the row, its version, and whether it came from a secondary location. Its arguments are valid during
/// the call only. What it returns is the outcome of the read.
using entity_visitor = function_ref<result<void>(row_view const& entity, etag const& version, bool stale)>;

/// One entity by its keys; ResourceNotFound when there is none.
struct get_entity {
    /// What answers it.
    struct response {
        row entity;           ///< with the properties that were asked for
        entitable::etag etag; ///< its version
        bool stale{};         ///< read from a secondary location, may not be the latest
    };
    static constexpr std::string_view name = "get_entity"; ///< for logs
    static constexpr bool writes = false;                  ///< whether it changes anything

    std::string table;         ///< its table
    std::string partition_key; ///< its first key
    std::string row_key;       ///< its second key
    projection select;         ///< which properties
};

/// One entity by its keys, passed to a visitor: a transport that answers it makes no row, which saves an allocation or two. What the
/// request refers to outlives it. The visitor is called at most once, with no lock held. Errors: those of `get_entity`, and what the
/// visitor returns. A transport that does not support this kind is sent a `get_entity` instead (see `answers`).
struct read_entity {
    using response = void;                                 ///< the visitor has the entity
    static constexpr std::string_view name = "get_entity"; ///< for logs: the same to the service
    static constexpr bool writes = false;                  ///< whether it changes anything

    std::string_view table;         ///< its table
    std::string_view partition_key; ///< its first key
    std::string_view row_key;       ///< its second key
    entity_visitor const* visit{};  ///< receives the entity
};

/// One page of the entities of one key range, in key order, that satisfy a filter. A page may be empty and
/// still have a continuation.
struct query_entities {
    /// What answers it.
    struct response {
        page rows;                               ///< in key order
        std::optional<std::string> continuation; ///< opaque; there is more exactly when it is present
        std::uint64_t examined{};                ///< rows looked at, where the transport can tell
        bool stale{};                            ///< read from a secondary location, may not be the latest
    };
    static constexpr std::string_view name = "query_entities"; ///< for logs
    static constexpr bool writes = false;                      ///< whether it changes anything

    std::string table;                       ///< the table asked
    key_range range;                         ///< which keys
    entitable::filter filter;                ///< which of the rows there
    projection select;                       ///< which properties
    std::uint32_t page_size{1000};           ///< rows at most, 1 to 1000
    std::optional<std::string> continuation; ///< of the page before; none for the first
};

/// Receives a run: consecutive rows of a page in one partition, in the order of their keys, at least one. They are valid during the call
/// only.
using run_watcher = function_ref<void(std::span<row_view const> run)>;

/// One page of entities, passed to a visitor run by run, each with the properties that were asked for or more: a transport that answers
/// it makes no page. What the request refers to outlives it. The visitor is called while the store is being read, possibly under its
/// locks: it waits for nothing and calls no transport. After an error the rows that it was given are not a page: a retry begins anew.
/// Errors: those of `query_entities`. A transport that does not support this kind is sent a `query_entities` instead (see `answers`).
struct read_entities {
    /// What answers it.
    struct response {
        std::optional<std::string> continuation; ///< opaque; there is more exactly when it is present
        std::uint64_t shown{};                   ///< rows that the visitor was given
        std::uint64_t examined{};                ///< rows looked at, where the transport can tell
        bool stale{};                            ///< read from a secondary location, may not be the latest
    };
    static constexpr std::string_view name = "query_entities"; ///< for logs: the same question to the service
    static constexpr bool writes = false;                      ///< whether it changes anything

    std::string_view table;        ///< that of `asked`
    query_entities const* asked{}; ///< which page
    run_watcher const* visit{};    ///< receives its rows, in order
    bool row_keys{true};           ///< whether it looks at row keys; else these may be as the store holds them
};

// ---- writes -------------------------------------------------------------------------------------------------

/// The six forms of a write.
enum class mutation_kind : std::uint8_t {
    insert,            ///< EntityAlreadyExists when the key is taken
    replace,           ///< the entity must exist; all properties are replaced
    merge,             ///< the entity must exist; properties that are given replace those of the same name
    insert_or_replace, ///< no condition
    insert_or_merge,   ///< no condition
    remove,            ///< the entity must exist
};

/// For logs: "insert", "insert_or_replace".
[[nodiscard]] constexpr std::string_view to_string(mutation_kind kind) noexcept {
    constexpr std::string_view words[] = {
        "insert", "replace", "merge", "insert_or_replace", "insert_or_merge", "remove"};
    return words[static_cast<std::size_t>(kind)];
}

/// One change of one entity. Replace, merge and remove carry a condition: the type has no way to forget it.
struct mutation {
    mutation_kind kind{};               ///< what is done
    row entity;                         ///< for `remove` only the keys count
    etag_condition condition{any_etag}; ///< for replace, merge and remove

    /// A new entity.
    [[nodiscard]] static mutation insert(row entity) { return {mutation_kind::insert, std::move(entity), any_etag}; }
    /// The entity in place of the stored one that meets the condition.
    [[nodiscard]] static mutation replace(row entity, etag_condition condition) {
        return {mutation_kind::replace, std::move(entity), std::move(condition)};
    }
    /// Its properties laid over those of the stored one that meets the condition.
    [[nodiscard]] static mutation merge(row entity, etag_condition condition) {
        return {mutation_kind::merge, std::move(entity), std::move(condition)};
    }
    /// The entity, whether or not there is one.
    [[nodiscard]] static mutation insert_or_replace(row entity) {
        return {mutation_kind::insert_or_replace, std::move(entity), any_etag};
    }
    /// The entity, or its properties laid over those of the stored one.
    [[nodiscard]] static mutation insert_or_merge(row entity) {
        return {mutation_kind::insert_or_merge, std::move(entity), any_etag};
    }
    /// No entity any more under these keys, where the stored one meets the condition.
    [[nodiscard]] static mutation remove(row keys, etag_condition condition) {
        return {mutation_kind::remove, std::move(keys), std::move(condition)};
    }

    /// Whether it fails when there is no entity.
    [[nodiscard]] bool needs_existing() const noexcept {
        return kind == mutation_kind::replace || kind == mutation_kind::merge || kind == mutation_kind::remove;
    }
};

/// What became of a write.
struct written {
    entitable::etag etag; ///< the new version; empty after a removal
    bool after_retry{};   ///< success was concluded after an attempt whose answer was lost
};

/// One write of one entity.
struct write_entity {
    using response = written;                                ///< what answers it
    static constexpr std::string_view name = "write_entity"; ///< for logs
    static constexpr bool writes = true;                     ///< whether it changes anything

    std::string table; ///< its table
    mutation change;   ///< the write
};

/// An entity group transaction: up to 100 changes of different entities of one partition, all or nothing.
struct transact {
    /// What answers it.
    struct response {
        std::vector<written> results; ///< one per change, in order
    };
    static constexpr std::string_view name = "transact"; ///< for logs
    static constexpr bool writes = true;                 ///< whether it changes anything

    std::string table;             ///< its table
    std::vector<mutation> changes; ///< 1 to 100, all of one partition
};

ENTITABLE_END_NAMESPACE
