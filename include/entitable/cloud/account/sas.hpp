// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes shared access signatures: limited rights on one table or on an account, for clients without a key (source: the service's "Create a
/// service SAS" and "Create an account SAS").

#include <entitable/cloud/account/credential.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>

#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// The terms of a signature for one table. Plain data.
struct table_sas {
    std::string table;                 ///< its name
    std::string permissions;           ///< letters of "raud": read, add, update, delete; an upsert needs "a" and "u"
    std::optional<date_time> start{};  ///< if absent, immediately, which also tolerates clocks that differ
    std::optional<date_time> expiry{}; ///< required unless the policy has an expiry
    std::string policy{};              ///< the stored access policy that supplies the omitted terms
    std::string addresses{};           ///< one address, or "first-last"; empty: any
    std::string protocols{"https"};    ///< "https", "https,http", or empty, which means both
    std::optional<std::string> first_partition{}; ///< first partition key of the accessible entities
    std::optional<std::string> first_row{};       ///< first row key in this partition
    std::optional<std::string> last_partition{};  ///< last partition key of the accessible entities
    std::optional<std::string> last_row{};        ///< last row key in this partition
    std::string version{"2019-02-02"};            ///< version of the service; 2015-04-05 or later
};

/// The terms of a signature for an account. Plain data.
struct account_sas {
    std::string
        permissions; ///< letters of "rwdlacu" and of other services: read, write, delete, list, add, create, update
    std::string resource_types{"sco"}; ///< service, container (a table), object (an entity)
    std::string services{"t"};         ///< letters of "btqf": blobs, tables, queues, files
    std::optional<date_time> start{};  ///< if absent, immediately
    std::optional<date_time> expiry{}; ///< required
    std::string addresses{};           ///< one address, or "first-last"; empty: any
    std::string protocols{"https"};    ///< "https", "https,http", or empty, which means both
    std::string version{"2019-02-02"}; ///< version of the service; 2015-04-05 or later
};

/// Returns the query parameters of the signature, escaped, signature last: the input of `credential::shared_access_signature`, to be handed
/// to clients. A secret. Times are rounded down to seconds. Errors: InvalidInput names the field; NotSupported if `key` is not an account
/// key.
[[nodiscard]] result<std::string> make_signature(credential const& key, table_sas const& terms);
[[nodiscard]] result<std::string> make_signature(credential const& key, account_sas const& terms);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/sas.ipp>
#endif
