// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Stored access policies of tables and settings of the service, as rows of the store that is served (docs/stored_formats.md). Policies
/// are a system row of their table, so that they are deleted with the table: a table made again never accepts an old signature.

#include <entitable/cloud/account/service_settings.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The table with the settings of the service. Servers hide it from their clients.
inline constexpr std::string_view settings_table = "EntitableServiceSettings";

/// Whether a name is that of the table with the settings, in any case.
[[nodiscard]] bool is_settings_table(std::string_view table);
/// Whether the rows of a partition are hidden from clients.
[[nodiscard]] bool is_hidden_partition(std::string_view partition_key) noexcept;

/// Returns the policies of a table; none if it has none, or possibly if it does not exist. Errors: those of the store; NotSupported for
/// policies of a newer version.
[[nodiscard]] result<std::vector<access_policy>> stored_policies(
    any_store const& store, std::string_view table, call& context);
/// Replaces the policies of a table. Errors: TableNotFound and those of the store; InvalidInput for policies that cannot be stored.
[[nodiscard]] result<void> store_policies(
    any_store const& store, std::string_view table, std::vector<access_policy> const& policies, call& context);

/// Returns the settings of the service. Errors: those of the store; NotSupported for settings of a newer version.
[[nodiscard]] result<service_properties> stored_properties(any_store const& store, call& context);
/// Changes the given settings, in one write, and makes the table if there is none. Errors: those of the store; InvalidInput for settings
/// that cannot be stored.
[[nodiscard]] result<void> store_properties(any_store const& store, service_properties const& changed, call& context);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/serve/server/impl/stored_settings.ipp>
#endif
