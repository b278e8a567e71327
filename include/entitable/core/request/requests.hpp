// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Requests to transports and their responses, as plain data. All except `read_entity` and `read_entities` own their members. A transport
/// handles them; it neither loops nor retries unless that is its purpose.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/etag.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/filter.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/row/page.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/shared.hpp>

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
    static constexpr std::string_view name = "create_table"; ///< name in logs
    static constexpr bool writes = true;                     ///< whether it changes stored data

    std::string table; ///< table to create
    bool may_exist{};  ///< TableAlreadyExists is expected: the call fails with it, and observers record a success
};

/// Deletes a table with all its entities. Errors: ResourceNotFound if the table does not exist.
struct delete_table {
    struct response {};
    static constexpr std::string_view name = "delete_table"; ///< name in logs
    static constexpr bool writes = true;                     ///< whether it changes stored data

    std::string table;    ///< table to delete
    bool may_be_absent{}; ///< ResourceNotFound is expected: the call fails with it, and observers record a success
};

/// Lists one page of the names of tables, in order.
struct list_tables {
    /// The response.
    struct response {
        std::vector<std::string> tables;         ///< table names in their spelling at creation
        std::optional<std::string> continuation; ///< opaque token; present if and only if there are more tables
    };
    static constexpr std::string_view name = "list_tables"; ///< name in logs
    static constexpr bool writes = false;                   ///< whether it changes stored data

    std::optional<std::string> continuation; ///< token of the previous page; nullopt for the first page
    std::uint32_t page_size{1000};           ///< maximum number of names, 1 to 1000
};

// ---- reads --------------------------------------------------------------------------------------------------

/// Names of the properties to return; empty for all. Keys, Timestamp and ETag are always returned.
using projection = std::vector<std::string>;

/// Receives an entity that was read: the row, its version, and whether it was read from a secondary location. The
/// arguments are valid only during the call. The returned result is the outcome of the read.
using entity_visitor = function_ref<result<void>(row_view const& entity, etag const& version, bool stale)>;

/// Reads one entity by its keys. Errors: ResourceNotFound if the entity does not exist.
struct get_entity {
    /// The response.
    struct response {
        row entity;           ///< row with the selected properties
        entitable::etag etag; ///< version of the row
        bool stale{};         ///< set if read from a secondary location, so possibly not the latest
    };
    static constexpr std::string_view name = "get_entity"; ///< name in logs
    static constexpr bool writes = false;                  ///< whether it changes stored data

    std::string table;         ///< table name
    std::string partition_key; ///< PartitionKey of the entity
    std::string row_key;       ///< RowKey of the entity
    projection select;         ///< properties to return
};

/// Reads one entity by its keys and passes it to a visitor: the transport makes no row, which saves an allocation or two. All that the
/// request refers to must outlive it. The visitor is called at most once, with no lock held. Errors: those of `get_entity`, and those of
/// the visitor. A transport that does not support this kind receives a `get_entity` instead (see `answers`).
struct read_entity {
    using response = void;                                 ///< the visitor receives the entity
    static constexpr std::string_view name = "get_entity"; ///< name in logs: the same request to the service
    static constexpr bool writes = false;                  ///< whether it changes stored data

    std::string_view table;         ///< table name
    std::string_view partition_key; ///< PartitionKey of the entity
    std::string_view row_key;       ///< RowKey of the entity
    entity_visitor const* visit{};  ///< receives the entity
};

/// Rows that a transport read for a page and that belong to the next one, in a form of its own. A reader of the next page passes
/// them back with its request, so that they are not read again; the continuation alone is enough.
class kept_rows : public counted {
public:
    kept_rows() = default;
    virtual ~kept_rows() = default;
    kept_rows(kept_rows const&) = delete;
    kept_rows& operator=(kept_rows const&) = delete;

    /// Identifies the kind of transport that kept the rows.
    [[nodiscard]] virtual void const* kind() const noexcept = 0;
};

/// Reads one page of the entities of one key range that satisfy a filter, in key order. A page may be empty and still have a continuation.
struct query_entities {
    /// The response.
    struct response {
        page rows;                               ///< rows in key order
        std::optional<std::string> continuation; ///< opaque token; present if and only if there are more rows
        std::uint64_t examined{};                ///< rows examined, if the transport counts them
        bool stale{};                            ///< set if read from a secondary location, so possibly not the latest
        double request_charge{};  ///< request units of the call up to this response, if the service reports them
        shared<kept_rows> kept{}; ///< rows of the next page, to be passed back with its request; usually none
    };
    static constexpr std::string_view name = "query_entities"; ///< name in logs
    static constexpr bool writes = false;                      ///< whether it changes stored data

    std::string table;                       ///< table to query
    key_range range;                         ///< keys to read
    entitable::filter filter;                ///< condition on the rows
    projection select;                       ///< properties to return
    std::uint32_t page_size{1000};           ///< maximum number of rows, 1 to 1000
    std::optional<std::string> continuation; ///< token of the previous page; nullopt for the first page
    shared<kept_rows> kept{};                ///< rows kept by the response with that token; may be left out
};

/// Receives a run: one or more consecutive rows of a page in one partition, in key order. They are valid only during
/// the call.
using page_visitor = function_ref<void(std::span<row_view const> run)>;

/// One page of entities, passed to a visitor run by run, each with at least the selected properties: the transport makes no page. All that
/// the request refers to must outlive it. The visitor is called while the store is being read, possibly under its locks: it must not block
/// or call a transport. After an error the rows passed so far are not a page: a retry starts over.
/// Errors: those of `query_entities`. A transport that does not support this kind receives a `query_entities` instead (see `answers`).
struct read_entities {
    /// The response.
    struct response {
        std::optional<std::string> continuation; ///< opaque token; present if and only if there are more rows
        std::uint64_t shown{};                   ///< rows passed to the visitor
        std::uint64_t examined{};                ///< rows examined, if the transport counts them
        bool stale{};                            ///< set if read from a secondary location, so possibly not the latest
        double request_charge{};                 ///< as in `query_entities`
        shared<kept_rows> kept{};                ///< as in `query_entities`
    };
    static constexpr std::string_view name = "query_entities"; ///< name in logs: the same request to the service
    static constexpr bool writes = false;                      ///< whether it changes stored data

    std::string_view table;        ///< table of `asked`
    query_entities const* asked{}; ///< page to read
    page_visitor const* visit{};   ///< receives the rows, in order
    bool row_keys{true};           ///< whether the visitor uses row keys; otherwise they may be in the store's own form
    bool only_counts{
        false}; ///< the visitor may be left out, and the page may be longer: only `response::shown` is used
    bool without_system_rows{}; ///< with `only_counts`: system rows are not counted if the visitor is left out
    bool versions{
        true}; ///< whether the visitor uses the ETags of rows; otherwise they may be missing or in the store's own form
    /// The rows may be shown in any order, partition by partition, and the page may be longer: a page over several stores then need not be
    /// merged. A continuation continues in that order.
    bool any_order{};
    /// If not null: a transport that knows about how many rows this page and later ones have may write it here before the first visit.
    std::size_t* rows_to_come{};
};

// ---- writes -------------------------------------------------------------------------------------------------

/// The six forms of a write.
enum class mutation_kind : std::uint8_t {
    insert,            ///< fails with EntityAlreadyExists if the key exists
    replace,           ///< the entity must exist; all properties are replaced
    merge,             ///< the entity must exist; given properties replace those of the same name
    insert_or_replace, ///< the entity may exist; all properties are replaced
    insert_or_merge,   ///< the entity may exist; given properties replace those of the same name
    remove,            ///< the entity must exist
};

/// Returns the name for logs: "insert", "insert_or_replace".
[[nodiscard]] constexpr std::string_view to_string(mutation_kind kind) noexcept {
    constexpr std::string_view words[] = {
        "insert", "replace", "merge", "insert_or_replace", "insert_or_merge", "remove"};
    return words[static_cast<std::size_t>(kind)];
}

/// The effect of a removal on the sums in which the entity is counted: see `table<A, B, ...>::remove`.
enum class removal : std::uint8_t {
    subtracted, ///< the entity is no longer counted
    archived,   ///< the entity is removed and still counted
};

/// One change of one entity. The factories of replace, merge and remove require a condition, so that it cannot be forgotten.
struct mutation {
    mutation_kind kind{};               ///< kind of change
    row entity;                         ///< row to write; `remove` uses only the keys
    etag_condition condition{any_etag}; ///< condition of replace, merge and remove
    removal sums{};                     ///< for remove in a table that maintains sums; stores ignore it

    /// Inserts a new entity.
    [[nodiscard]] static mutation insert(row entity) { return {mutation_kind::insert, std::move(entity), any_etag}; }
    /// Replaces the stored entity, which must satisfy the condition.
    [[nodiscard]] static mutation replace(row entity, etag_condition condition) {
        return {mutation_kind::replace, std::move(entity), std::move(condition)};
    }
    /// Merges properties into the stored entity, which must satisfy the condition.
    [[nodiscard]] static mutation merge(row entity, etag_condition condition) {
        return {mutation_kind::merge, std::move(entity), std::move(condition)};
    }
    /// Inserts the entity or replaces the stored entity.
    [[nodiscard]] static mutation insert_or_replace(row entity) {
        return {mutation_kind::insert_or_replace, std::move(entity), any_etag};
    }
    /// Inserts the entity or merges its properties into the stored entity.
    [[nodiscard]] static mutation insert_or_merge(row entity) {
        return {mutation_kind::insert_or_merge, std::move(entity), any_etag};
    }
    /// Removes the entity with these keys, which must satisfy the condition.
    [[nodiscard]] static mutation remove(row keys, etag_condition condition, removal sums = {}) {
        return {mutation_kind::remove, std::move(keys), std::move(condition), sums};
    }

    /// Whether the change fails if the entity does not exist.
    [[nodiscard]] bool needs_existing() const noexcept {
        return kind == mutation_kind::replace || kind == mutation_kind::merge || kind == mutation_kind::remove;
    }
};

/// Response to a write.
struct written {
    entitable::etag etag; ///< version after the write; empty after a removal
    bool after_retry{};   ///< the response to an earlier attempt was lost, and that attempt was applied
    // The members below are set for an entity with indexes or sums, otherwise 0; larger numbers become 65,535.
    std::uint16_t attempts{};  ///< number of attempts; 0 if an earlier call under the same operation id was applied
    std::uint16_t healed{};    ///< index rows to be removed that no longer existed, in the whole transaction
    std::uint16_t unsettled{}; ///< index rows in other partitions that could not be removed: `repair` removes them
    double
        request_charge{}; ///< request units of the call up to this response, if the service reports them; 0 within a batch
};

#if defined(ENTITABLE_SEPARATE_COMPILATION)
/// \cond
namespace detail {
extern template written instantiated_entity<written>::take(result<written>& from);
extern template void instantiated_entity<written>::drop(result<written>& from) noexcept;
} // namespace detail
/// \endcond
#endif

/// Writes one entity.
struct write_entity {
    using response = written;                                ///< the response
    static constexpr std::string_view name = "write_entity"; ///< name in logs
    static constexpr bool writes = true;                     ///< whether it changes stored data

    std::string table; ///< table name
    mutation change;   ///< the write
};

/// An entity group transaction: up to 100 changes to different entities in one partition, all or nothing.
struct transact {
    /// The response.
    struct response {
        std::vector<written> results; ///< one result per change, in order
        double request_charge{};      ///< request units of the call up to this response, if the service reports them
    };
    static constexpr std::string_view name = "transact"; ///< name in logs
    static constexpr bool writes = true;                 ///< whether it changes stored data

    std::string table;             ///< table name
    std::vector<mutation> changes; ///< 1 to 100 changes, all in one partition
};

ENTITABLE_END_NAMESPACE

#endif
