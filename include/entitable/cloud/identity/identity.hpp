// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `identity`: who a program is for Entra ID, and where its tokens come from.

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/identity/detail/identity_source.hpp>
#include <entitable/cloud/identity/identity_options.hpp>

#include <initializer_list>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A source of tokens of Entra ID: `azure_backend store{"https://shop.table.core.windows.net", default_identity()}`. A cheap handle: copies
/// share tokens, and stores that get copies share them too. A move copies. Thread safety: safe to use from several threads.
///
/// A token is requested when a request first needs it, then 5 minutes before it expires (`token_options`); a failure of that renewal is
/// tried again every 30 s, and shows only once the token has expired. One thread requests, others use the old token or wait.
///
/// Errors, all with `effect::none`: AuthenticationFailed if the authority refuses, or nothing here has an identity; TransportFailed and
/// ServerBusy after repetitions, which may succeed later; Cancelled and DeadlineExceeded by the limits of the waiting request; NotSupported
/// for machines whose protocol is not supported; InvalidInput names an option or a variable. No error contains a token, a secret, or
/// part of one: texts of the authority are reduced to its error name, the number after AADSTS, and ids for its support.
///
/// Cost: no request while a token is valid.
class identity {
public:
    /// Uses a function of yours, for a chain.
    explicit identity(token_source source) : identity(detail::function_source(std::move(source))) {}
    /// Uses a source of tokens.
    explicit identity(shared<detail::identity_source> source)
        : source_(std::move(source)), credential_(credential::bearer(detail::provider_of(source_))) {}
    identity(identity const&) = default;            ///< shares the tokens
    identity& operator=(identity const&) = default; ///< shares the tokens
    ~identity() = default;

    /// Requests a token now, and stores it nowhere. Makes an identity a `token_source`.
    [[nodiscard]] result<access_token> operator()(std::string_view scope) const { return request_token(scope); }
    /// Requests a token now, within limits, and stores it nowhere: shows whether the identity works.
    [[nodiscard]] result<access_token> request_token(std::string_view scope, http_call const& limits = {}) const;

    /// Returns the credential that stores and renews the tokens; all copies of this identity return the same.
    operator credential() const { return credential_; } // NOLINT: an identity is a credential
    /// Returns a credential of its own, with other options.
    [[nodiscard]] credential with(token_options options) const {
        return credential::bearer(detail::provider_of(source_), std::move(options));
    }

    [[nodiscard]] std::string_view name() const noexcept {
        return source_->name();
    } ///< for messages: "managed identity"

private:
    friend identity chain(std::initializer_list<identity> members);

    shared<detail::identity_source> source_;
    credential credential_;
};

/// The identity of the machine: Azure VMs (IMDS), App Service, Functions, Container Apps, Azure Arc. Its address is asked over http, as it
/// serves nothing else; never through a proxy, and only at loopback and link-local addresses. NotSupported in Service Fabric, Cloud Shell and
/// Azure ML. IMDS: 404, 410, 429 and 5xx are repeated, up to 5 times from 0.8 s, doubled; 410 for up to 70 s.
[[nodiscard]] identity managed_identity(identity_options options = {});

/// The identity that Kubernetes federates with Entra ID: the token in a file, exchanged at the authority. The file is read again after 5
/// minutes.
[[nodiscard]] identity workload_identity(identity_options options = {});

/// A service principal with a secret, which is wiped with the last copy. Requests to the authority: 408, 429 and 5xx are repeated up to 3
/// times, after Retry-After if given.
[[nodiscard]] identity client_secret(
    std::string_view tenant, std::string_view client, std::string_view secret, identity_options options = {});

/// A service principal with a certificate: `pem` has the certificate and its RSA key, in any order.
[[nodiscard]] identity client_certificate(
    std::string_view tenant, std::string_view client, std::string_view pem, identity_options options = {});

/// A service principal from AZURE_TENANT_ID and AZURE_CLIENT_ID with AZURE_CLIENT_SECRET, or else AZURE_CLIENT_CERTIFICATE_PATH and
/// AZURE_CLIENT_CERTIFICATE_PASSWORD.
[[nodiscard]] identity environment_identity(identity_options options = {});

/// Whoever has logged in with `az login` on this computer. Runs `az account get-access-token`, found in PATH, without a shell. Its output may
/// have 64 KiB. Not on Windows.
[[nodiscard]] identity azure_cli(identity_options options = {});

/// The first member that has an identity here, which is kept. A member that is not available here is passed over; a member that is available
/// and is refused ends the search with its error. If no member is available, the error has a reason for each.
[[nodiscard]] identity chain(std::initializer_list<identity> members);

/// The environment, the workload identity, the managed identity, the Azure CLI, in this order. AZURE_TOKEN_CREDENTIALS restricts them: `prod`
/// (the first three), `dev` (the CLI), or one of EnvironmentCredential, WorkloadIdentityCredential, ManagedIdentityCredential,
/// AzureCliCredential.
[[nodiscard]] identity default_identity(identity_options options = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/identity/impl/identity.ipp>
#endif
