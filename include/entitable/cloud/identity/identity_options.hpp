// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of identities: who asks for tokens, of which authority, and within which limits.

#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/core/clock.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Addresses of the authorities that issue tokens, for `identity_options::authority_host`.
namespace authority_hosts {

inline constexpr std::string_view public_cloud = "https://login.microsoftonline.com"; ///< the default
inline constexpr std::string_view government = "https://login.microsoftonline.us";    ///< US Government
inline constexpr std::string_view china = "https://login.chinacloudapi.cn";           ///< operated by 21Vianet

} // namespace authority_hosts

/// How a certificate signs the assertion of a client.
enum class assertion_algorithm : std::uint8_t {
    ps256, ///< RSA-PSS, with the SHA-256 thumbprint of the certificate: what Entra ID recommends
    rs256, ///< RSA PKCS #1, with the SHA-1 thumbprint: for authorities that do not know PS256
};

/// Sends one request for a token: any `http_client` as a function.
using token_http = std::function<result<http_response>(http_request const& request, http_call const& call)>;

/// Options of identities. Plain data. An identity uses those that concern it; variables of the environment are read when it is made.
struct identity_options {
    /// Directory (tenant) id or domain. If empty, AZURE_TENANT_ID; a secret or a certificate without a tenant takes the tenant that the
    /// service names in its 401.
    std::string tenant{};
    /// Client (application) id. If empty, AZURE_CLIENT_ID; a managed identity is then that of the machine itself.
    std::string client{};
    std::string object_id{};   ///< managed identity: object id of a user-assigned identity, instead of `client`
    std::string resource_id{}; ///< managed identity: resource id of a user-assigned identity, instead of `client`
    std::string
        token_file{}; ///< workload identity: file with the federated token; if empty, AZURE_FEDERATED_TOKEN_FILE
    std::string
        certificate_password{}; ///< password of the private key; not wiped, as this struct belongs to the caller
    assertion_algorithm algorithm{assertion_algorithm::ps256}; ///< how a certificate signs
    /// Address of the authority, for sovereign clouds: see `authority_hosts`. If empty, AZURE_AUTHORITY_HOST, or the public cloud.
    std::string authority_host{};
    /// Tenants of which tokens are also requested if the service asks for them in a 401; "*" stands for all.
    std::vector<std::string> additionally_allowed_tenants{};
    curl_options
        network{}; ///< proxy and certificates for requests to the authority; never used for addresses of the machine
    std::chrono::milliseconds request_timeout{10'000}; ///< limit of each request for a token
    std::chrono::milliseconds probe_timeout{
        1'000}; ///< in a chain: how long the machine's address may take to show that it exists
    std::chrono::milliseconds cli_timeout{13'000}; ///< limit of the Azure CLI, which is a program that starts slowly
    clock* time{&system_clock()};                  ///< measures waits and validity; must outlive the identity
    token_http send{};       ///< sends requests to the authority; if empty, libcurl with `network`
    token_http send_local{}; ///< sends requests to addresses of the machine; if empty, libcurl without a proxy
};

ENTITABLE_END_NAMESPACE
