// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The address of a request, read: which account, which part of its service, which entity, and the options of the query.

#include <entitable/core/result.hpp>
#include <entitable/http/http_message.hpp>
#include <entitable/http/url.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What an address names.
enum class service_place : std::uint8_t {
    service,   ///< nothing after the account
    tables,    ///< `Tables`
    one_table, ///< `Tables('T')`
    table,     ///< `T` or `T()`
    entity,    ///< `T(PartitionKey='..',RowKey='..')`
    batch,     ///< `$batch`
};

/// An address.
struct service_address {
    url_parts url;       ///< of the text that was read, which must live longer
    std::string base;    ///< of the service, without a slash at its end: "http://127.0.0.1:10002/devstoreaccount1"
    std::string account; ///< without "-secondary"
    bool secondary{};
    service_place place{service_place::service};
    std::string table;
    std::string partition_key;
    std::string row_key;
};

/// Reads an address. The account is the first label of a host that goes on with "table", else the first segment of the path.
/// InvalidUri and InvalidInput as `refused` makes them. Names and keys are not validated.
[[nodiscard]] result<service_address> read_service_address(std::string_view url);

/// Reads what stands after the account, escaped as in an address; false when it names nothing.
[[nodiscard]] bool read_service_place(std::string_view rest, service_address& out);

/// The value of an option of a query, decoded; nothing when it is not there. A "+" is a blank, as servers read it. False when the
/// option stands there twice.
[[nodiscard]] bool read_option(std::string_view query, std::string_view name, std::optional<std::string>& out);

/// Calls `visit` for each pair of a query, as it stands.
void for_each_option(std::string_view query, function_ref<void(std::string_view name, std::string_view value)> visit);

/// The method with this name.
[[nodiscard]] std::optional<http_method> method_named(std::string_view name) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/wire/impl/service_address.ipp>
#endif
