// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `postgres_backend`: the table service in a PostgreSQL database, for many processes on many machines. `postgres_stores` opens
/// databases by their address.

#include <entitable/core/address/open.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/local.hpp>
#include <entitable/local/postgres/postgres_store.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Tables in PostgreSQL: `postgres_backend::connect("host=/run/postgresql dbname=tables").value()`. A cheap handle: copies share the
/// connections, which are closed with the last copy. Thread safety: safe to use from several threads. Errors, durability, other processes
/// and commits with a lost response: see `postgres_store`.
class postgres_backend : public local<postgres_store> {
public:
    using visits_entities = postgres_backend; ///< opts in to `read_entity`
    using visits_pages = postgres_backend;    ///< opts in to `read_entities`

    /// Connects, with a connection string or URI of libpq, and creates the library's tables if they do not exist. If there are several
    /// hosts, it uses one that can be written to, unless `target_session_attrs` requests otherwise. Further connections are opened for
    /// concurrent calls. Errors: InvalidInput for an invalid string, before connecting; TransportFailed, ServerBusy, AuthenticationFailed,
    /// AuthorizationFailure, StoreReadOnly, StoreForeign, StoreNewer, NotSupported (`postgres_options::prepared`), StoreFailed. No error
    /// includes any part of the string.
    [[nodiscard]] static result<postgres_backend> connect(
        std::string_view connection_string, postgres_options options = {}) {
        ENTITABLE_TRY(auto opened, postgres_store::open(connection_string, options));
        return postgres_backend{std::move(opened), std::move(options)};
    }

    /// Changes the tables of a schema from format 1, which earlier versions of the library created, into format 2. No effect on tables of
    /// format 2. Tables of format 1 can be read without it; writes to them return StoreReadOnly. All in one transaction: it copies every
    /// entity, waits for programs that use the tables, and lets them wait; no time limit. Programs of earlier versions return StoreForeign
    /// afterwards, or StoreNewer if they connect, and programs of this version that have the tables open must open them again. The role
    /// must own the tables. Errors: those of `connect`; StoreForeign if there are no tables.
    [[nodiscard]] static result<void> migrate(
        std::string_view connection_string, postgres_options const& options = {}) {
        return postgres_store::migrate(connection_string, options);
    }

    /// Makes a view in the schema, for people and programs that read the tables by SQL, or replaces a view that it made before:
    /// `store.create_view("runners", "Runners", stored_properties<runner>())`. Its columns are `partition_key`, `row_key` (text), `timestamp`
    /// (timestamptz), and one for each property, by its name: text, int4, int8, float8, bool, timestamptz, uuid, bytea. A property that a row does
    /// not have, or has with another type, is NULL (an Int32 is shown in a column of Int64). System rows of the library are left out. Times
    /// are cut to microseconds. A text with a NUL character is shown in PostgreSQL's `escape` format. The view is read-only: rows are
    /// written through the library.
    ///
    /// A statement that reads the view reads and decodes every row of the table, whatever its condition. Replacing a view removes the
    /// rights that were granted on it, and fails if other views use it.
    ///
    /// Errors: InvalidInput for a view name other than 1 to 40 lower-case letters, digits and `_`, for a name of the library's own tables,
    /// and for a property that cannot be a column (longer than 63 bytes, listed twice, or named like the first three); TableAlreadyExists
    /// if the schema has another relation of that name; TableNotFound; NotSupported if the database is not in UTF8; StoreReadOnly for tables
    /// of format 1; AuthorizationFailure if the role may not create views and functions in the schema; the errors of any call. Safe to
    /// repeat.
    [[nodiscard]] result<void> create_view(std::string_view view, std::string_view table,
        std::span<stored_property const> columns, call const& context = {}) const {
        if (!has_store()) { return detail::moved_from("backend"); }
        return store().create_view(view, table, columns, context);
    }

    /// Opens a channel: many requests at once from one thread, over few connections. Point reads share one connection, and writes of single
    /// rows up to two, on which their statements follow one another without waiting for results; writes of a partition keep their
    /// order. Everything else borrows a connection of its own, and waits for it until its deadline or for
    /// `postgres_options::longest_wait`. If a connection of many requests breaks, reads are repeated on another one, and each write finds out whether it was
    /// applied. Null if `io` or `local_options::time` is not the clock of the system: then requests block.
    ///
    /// Cost: a request in flight takes a stack of some KiB.
    [[nodiscard]] shared<channel> open(io_driver& io) const;

private:
    postgres_backend(postgres_store::opened_database opened, postgres_options options)
        : local<postgres_store>(std::move(options.local), std::move(opened)) {}
};

#if defined(ENTITABLE_SEPARATE_COMPILATION)
// Compiled once, with entitable/src/postgres.hpp.
extern template class local<postgres_store>;
extern template detail::transport_interface* detail::make_model(postgres_backend const&);
#endif

namespace detail {

[[nodiscard]] result<any_store> open_postgres_address(store_address& address, std::span<store_kind const> kinds);

} // namespace detail

/// Opens a URI of libpq. Options in its query, in addition to those of libpq: `create` (`true`, `false`), `schema`, `connections` (1 to 1000), as in
/// `postgres_options`.
inline constexpr store_kind postgres_stores{store_component::postgres, &detail::open_postgres_address};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/postgres_backend.ipp>
#include <entitable/local/postgres/impl/postgres_channel.ipp>
#endif
