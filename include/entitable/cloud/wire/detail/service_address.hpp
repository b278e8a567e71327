// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Parses the address of a request: the account, the part of its service, the entity, and the options of the query.

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The kind of resource that an address names.
enum class service_place : std::uint8_t {
    service,   ///< no path after the account
    tables,    ///< `Tables`
    one_table, ///< `Tables('T')`
    table,     ///< `T` or `T()`
    entity,    ///< `T(PartitionKey='..',RowKey='..')`
    batch,     ///< `$batch`
};

/// An address.
struct service_address {
    url_parts url;       ///< views into the parsed text, which must outlive it
    std::string base;    ///< URL of the service, without a trailing slash: "http://127.0.0.1:10002/devstoreaccount1"
    std::string account; ///< without "-secondary"
    bool secondary{};
    service_place place{service_place::service};
    std::string table;
    std::string partition_key;
    std::string row_key;
};

/// Parses an address. The account is the first label of a host whose second label is "table", otherwise the first segment of the path.
/// Errors, as `refused` makes them: InvalidUri, InvalidInput. Names and keys are not validated.
[[nodiscard]] result<service_address> read_service_address(std::string_view url);

/// Parses the path after the account, escaped as in an address; false if the path is invalid.
[[nodiscard]] bool read_service_place(std::string_view rest, service_address& out);

/// Reads the value of a query option into `out`, decoded; `out` is empty if the option is absent. A "+" is read as a blank, as servers do.
/// Returns false if the option occurs twice.
[[nodiscard]] bool read_option(std::string_view query, std::string_view name, std::optional<std::string>& out);

/// Calls `visit` for each pair of a query, undecoded.
void for_each_option(std::string_view query, function_ref<void(std::string_view name, std::string_view value)> visit);

/// Returns the method with this name.
[[nodiscard]] std::optional<http_method> method_named(std::string_view name) noexcept;

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/wire/impl/service_address.ipp>
#endif
