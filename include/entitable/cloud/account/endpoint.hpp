// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `endpoint`: the addresses of a table service, and its kind.

#include <entitable/core/request/profile.hpp>
#include <entitable/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The services of an account.
enum class account_service : std::uint8_t {
    tables, ///< tables and their entities
    queues, ///< queues and their messages
};

/// The addresses of an account's service. Plain data.
struct endpoint {
    std::string primary;            ///< "https://ACCOUNT.table.core.windows.net": absolute, without a slash at the end
    std::string secondary;          ///< URL for reads, which may be stale; empty if there is none
    std::string account;            ///< without "-secondary"
    service kind{service::storage}; ///< the kind of service
    bool path_style{}; ///< the account is the first segment of the path: emulators, and hosts that are IP addresses
    account_service of{account_service::tables}; ///< the service that the addresses belong to

    /// Parses the address of a table service. The account is the first label of the host, or the first segment of the path if the host is
    /// an IP address or localhost; pass it for a custom host. The secondary address is derived from the primary by the service's rule
    /// ("-secondary" after the account); there is no secondary address for Cosmos, or if the account is not in the address. The kind
    /// follows from the address: Cosmos by its domains, the emulator by localhost, loopback addresses and its account devstoreaccount1;
    /// anything else is storage.
    ///
    /// Errors: InvalidInput names the field for a scheme other than http and https, a user before the host, a query or a fragment, a host
    /// that is not ASCII (write an international name in its ASCII form), a port out of 1..65535, a path that names a table, an account
    /// with characters other than lower-case letters, digits and hyphens.
    [[nodiscard]] static result<endpoint> parse(
        std::string_view primary, std::string_view secondary = {}, std::string_view account = {});
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/endpoint.ipp>
#endif
