// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `open`: opens the store at an address, so that where a program stores its rows is configuration.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/address/store_address.hpp>
#include <entitable/core/address/store_kinds_macro.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <initializer_list>
#include <span>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// One kind of store that addresses can name: `memory_stores`, `file_stores`, `postgres_stores`, `azure_stores`, `shard_stores`. Each is
/// declared by the header of its component. Plain data.
struct store_kind {
    store_component component; ///< the component
    /// Opens an address of this component; `kinds` for addresses that it contains.
    result<any_store> (*open)(store_address& address, std::span<store_kind const> kinds);
};

/// Opens the store at `address` with the given kinds of stores: `open(address, {memory_stores, file_stores})`.
///
/// | address | store |
/// | --- | --- |
/// | `memory:NAME` | in memory; all addresses with one NAME are one store of the process, `memory:` is a new one |
/// | `file:PATH`, or a path that ends in `.db` | a file; options `create`, `durability`, `journal`, `busy_timeout_ms` |
/// | `postgres://...`, `postgresql://...` | PostgreSQL, as libpq reads it; also `create`, `schema`, `connections` |
/// | `https://ACCOUNT.table.core.windows.net` | Azure, with the signature after `?`, else with `default_identity()` |
/// | a connection string, `UseDevelopmentStorage=true` | Azure, Cosmos DB, the emulator |
/// | `env:NAME` | the address in an environment variable, so that no secret stands in a command or a file |
/// | `shards:CATALOGUE/MAP` | the stores of a shard map; CATALOGUE is `env:NAME` or a percent-encoded address |
///
/// Options follow a `?`, separated by `&`, with percent-encoded values; unknown ones are refused. A file, and tables in PostgreSQL, are made
/// only with `create=true`; opening an Azure account sends no request.
///
/// Errors: NotSupported if the component of the address is not among `kinds`; InvalidInput as in `store_address::parse` and for an option that
/// is unknown or out of range; those of the store, for example StoreFailed for a file that does not exist. No error contains a secret of the
/// address.
///
/// Thread safety: safe to call from several threads, but not while another one changes environment variables.
[[nodiscard]] result<any_store> open(std::string_view address, std::span<store_kind const> kinds);
[[nodiscard]] inline result<any_store> open(std::string_view address, std::initializer_list<store_kind> kinds) {
    return open(address, std::span<store_kind const>{kinds.begin(), kinds.size()});
}

namespace detail {

/// Opens an address that stands within an address of shards. Errors: also InvalidInput for another address of shards.
[[nodiscard]] result<any_store> open_within_shards(std::string_view address, std::span<store_kind const> kinds);

/// The kinds of stores that this program contains; defined by ENTITABLE_STORE_KINDS.
[[nodiscard]] std::span<store_kind const> linked_store_kinds() noexcept;

} // namespace detail

/// Opens the store at `address` with the kinds of stores that the program contains: those of `entitable::open_compiled`, or those that
/// one of its files lists with ENTITABLE_STORE_KINDS. See above for addresses and errors.
[[nodiscard]] inline result<any_store> open(std::string_view address) {
    return open(address, detail::linked_store_kinds());
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/address/impl/open.ipp>
#endif

#endif
