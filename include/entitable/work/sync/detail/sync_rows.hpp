// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows of a synchronisation: bases and the state of a partition in the local table, receipts in the cloud. docs/stored_formats.md has
/// their format.

#include <entitable/core/request/requests.hpp>
#include <entitable/core/row/row.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Largest payload of a synchronised row, in bytes: a base holds two of them within the 1 MiB of a row.
inline constexpr std::size_t max_synced_payload = 500'000;

/// The state of a partition in the local table.
struct sync_state {
    std::string device;  ///< identity under which the partition has its receipt in the cloud
    std::string receipt; ///< name of the last push that is known to be applied; empty if there is none
    std::string push;    ///< name of a push whose outcome is not noted; empty if there is none
    std::string seen{}; ///< position in the change log of the cloud up to which the bases are; empty if it is not known
};

/// A base: the content that both sides had last, and the content of a push whose outcome is not noted.
struct base_row {
    std::optional<std::string> content; ///< payload without Timestamp; none if neither side has had the row
    std::string push;                   ///< name of the push; empty if there is none
    std::optional<std::string> pushed;  ///< payload that the push has sent; none if it removes the row
};

/// All rows of a partition on one side. The views refer to `pages`.
struct synced_rows {
    std::vector<page> pages;
    std::map<std::string_view, row_view> rows;               ///< rows of the application, by row key
    std::map<std::string_view, base_row, std::less<>> bases; ///< by row key of the application's row
    std::optional<row_view> state;                           ///< local: the state. Cloud: the receipt of the device
    std::optional<row_view> foreign;                         ///< a system row that cannot be synchronised
};

/// Returns the row key of a receipt.
[[nodiscard]] std::string receipt_key(std::string_view device);
/// Whether a row key is that of a receipt.
[[nodiscard]] bool is_receipt_key(std::string_view row_key);
/// Returns the row key of the mark that receipts of the partition were removed.
[[nodiscard]] std::string expired_receipts_key();

[[nodiscard]] row row_of_state(std::string_view partition_key, sync_state const& state);
/// Errors: RowMalformed.
[[nodiscard]] result<sync_state> state_of_row(row_view stored);

[[nodiscard]] row row_of_base(std::string_view partition_key, std::string_view row_key, base_row const& base);
/// Errors: RowMalformed.
[[nodiscard]] result<base_row> base_of_row(row_view stored);

[[nodiscard]] row row_of_receipt(std::string_view partition_key, std::string_view device, std::string_view push);
/// The name in a receipt; empty without one.
[[nodiscard]] std::string_view push_of_receipt(std::optional<row_view> const& receipt);

/// The content of a row as a base stores it: the payload without Timestamp.
[[nodiscard]] std::string content_of(row_view stored);

/// Sorts the rows of all pages. `state_key`: the row key of the state, or of the receipt. Errors: RowMalformed.
[[nodiscard]] result<void> sort_rows(synced_rows& found, std::string_view state_key);
/// Whether both have the same rows of the application, in the same versions.
[[nodiscard]] bool same_versions(synced_rows const& one, synced_rows const& other);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/sync/impl/sync_rows.ipp>
#endif
