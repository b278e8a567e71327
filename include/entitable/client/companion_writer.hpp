// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `companion_writer`: the interface of tables that maintain additional rows, such as index rows and sums; used by the
/// code that writes entities.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/update_options.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

struct log_position;
struct logged_changes;
struct transacted;
struct transaction_options;

namespace detail {

class transaction_scope;

/// What a row is to a table that maintains additional rows.
enum class maintained_row : std::uint8_t {
    entity,    ///< callers write it
    companion, ///< the table writes it: an index row, or sums
    unlisted,  ///< the table does not have its type
};

/// Writes entities together with the rows that a table maintains for them. Thread safety: safe to use from several threads.
class companion_writer : public counted {
public:
    virtual ~companion_writer() = default;

    /// Makes changes in one partition, all or nothing, each under its condition. Returns the outcome of each change, in order. `removing`:
    /// positions of the merges that remove the properties without a value.
    [[nodiscard]] virtual result<transact::response> write(
        transact const& changes, std::span<std::size_t const> removing) const = 0;
    /// Makes one change.
    [[nodiscard]] virtual result<written> write_one(mutation&& change) const = 0;
    /// Runs a body and writes its changes: see `run_transaction`.
    [[nodiscard]] virtual result<transacted> run(result<std::string> partition_key, transaction_options const& options,
        function_ref<result<void>(transaction_scope&)> body) const = 0;
    /// Reads an entity, changes it, and writes it unless another writer changed it first: see `update_entity`.
    [[nodiscard]] virtual result<update_outcome> update(std::string const& partition_key, std::string const& row_key,
        function_ref<result<std::optional<row>>(row_view)> change, update_options const& options) const = 0;
    /// Returns an error if readers may not yet, or may no longer, use the rows of a companion. `companion`: its
    /// position.
    [[nodiscard]] virtual result<void> check_ready(std::size_t companion, call& context) const = 0;

    /// Whether the table has a change log.
    [[nodiscard]] virtual bool is_logged() const noexcept = 0;
    /// Reads the change log of the table: see `changes_of`.
    [[nodiscard]] virtual result<logged_changes> changes(
        std::string_view partition_key, log_position const& after) const = 0;

    // ---- for code that writes rows of the table as they are stored ----

    /// What a row with these keys is to the table. The keys are not those of a system row.
    [[nodiscard]] virtual maintained_row kind_of(
        std::string_view partition_key, std::string_view row_key) const noexcept = 0;
    /// The limits of the store for transactions in which only entities are counted: the rest is room for the rows that the table adds.
    [[nodiscard]] virtual profile limits() const = 0;
    /// Returns a writer that sends the requests to the table of the entities through another store, with these options.
    [[nodiscard]] virtual shared<companion_writer> through(any_store store, call_options options) const = 0;
    /// Like `write`, for changes of entities and system rows whose versions the caller has read: a change under a version ends the call if
    /// the row has another one. `known` returns an entity as the caller has read it, or nothing; such an entity is not read again. The
    /// versions of system rows are empty in the response. Errors: EntityAlreadyExists, with the position of the entity, and the keys of the
    /// index row in `detail`, if another entity has its key of a unique index.
    [[nodiscard]] virtual result<transact::response> write_known(
        transact const& changes, function_ref<std::optional<row_view>(std::string_view row_key)> known) const = 0;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
