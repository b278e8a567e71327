// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a store that say whose it is, as they were read: headers of stores on a hash, or the identity of a store of a map.

#include <entitable/shards/detail/watched_stores.hpp>
#include <entitable/shards/store_headers.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A header as it was read.
struct found_header {
    hash_store_header header;
    etag version;
};
/// All of these rows.
struct store_rows {
    std::vector<found_header> headers;
    std::optional<store_identity> identity; ///< that of a map
};

[[nodiscard]] inline bool is_retired(hash_store_header const& header) noexcept { return header.state == "retired"; }
[[nodiscard]] inline bool is_being_made(hash_store_header const& header) noexcept { return header.state == "making"; }

/// The cheapest question whether a table is there, and has a row.
[[nodiscard]] query_entities query_of_any_row(std::string table);
/// What an answer to `query_of_store_rows` has; nothing where the store has no such table. The error names the store; its effect is none.
[[nodiscard]] result<store_rows> store_rows_in(std::string_view name, result<query_entities::response> const& found);
/// Asks a store.
[[nodiscard]] result<store_rows> read_store_rows(any_transport const& store, std::string_view name);
/// Writes into a store that it belongs to a map, under a name, where it belongs to nobody; success where it says so already. WrongStore where it
/// belongs to another map, has another name in this one, or is one of stores on a hash.
[[nodiscard]] result<void> write_identity(any_transport const& store, std::string_view map, std::string_view name);
/// Whether the rows let a store be used by a map under a name. `listed`: the map says that the store has its identity.
[[nodiscard]] result<void> judge_identity(
    store_rows const& rows, std::string_view map, std::string_view name, bool listed);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/store_identity.ipp>
#endif
