// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows that identify a store, as read: headers of hashed stores, or the identity of a store of a map.

#include <entitable/shards/map/detail/watched_stores.hpp>
#include <entitable/shards/map/store_headers.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A header as it was read.
struct found_header {
    hash_store_header header;
    etag version;
};
/// All identifying rows of a store.
struct store_rows {
    std::vector<found_header> headers;
    std::optional<store_identity> identity; ///< identity row of a map
};

[[nodiscard]] inline bool is_retired(hash_store_header const& header) noexcept { return header.state == "retired"; }
[[nodiscard]] inline bool is_being_made(hash_store_header const& header) noexcept { return header.state == "making"; }

/// Returns the cheapest query that shows whether a table exists and contains a row.
[[nodiscard]] query_entities query_of_any_row(std::string table);
/// Parses a response to `query_of_store_rows`; empty if the store does not have the table. The error names the store; its effect is none.
[[nodiscard]] result<store_rows> store_rows_in(std::string_view name, result<query_entities::response> const& found);
/// Reads the identifying rows of a store.
[[nodiscard]] result<store_rows> read_store_rows(any_store const& store, std::string_view name);
/// Writes the map's identity and the store's name into a store without an owner; succeeds if it is already there.
/// WrongStore if the store belongs to another map, has a different name in this map, or is one of the hashed stores.
[[nodiscard]] result<void> write_identity(any_store const& store, std::string_view map, std::string_view name);
/// Checks that the rows allow a map to use the store under a name. `listed`: according to the map, the store already has its identity.
[[nodiscard]] result<void> judge_identity(
    store_rows const& rows, std::string_view map, std::string_view name, bool listed);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/map/impl/store_identity.ipp>
#endif
