// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Authentication on the server side: checks signatures made with an account key and shared access signatures, and returns what they grant.
/// Errors have the service's wording, as `refused` makes them.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/cloud/account/service_settings.hpp>
#include <entitable/cloud/account/signing.hpp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/http/url.hpp>
#endif
#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The keys of an account. Comparisons take constant time. Safe to use from several threads.
class account_keys {
public:
    /// Parses one or two keys in base64; nullopt if one is invalid.
    [[nodiscard]] static std::optional<account_keys> make(
        std::string_view account, std::vector<std::string> const& keys);

    [[nodiscard]] std::string_view account() const noexcept { return account_; }
    /// Whether `given` is the signature, by one of the keys, of the text that `write` appends.
    [[nodiscard]] bool signed_by(function_ref<void(std::string& text)> write, std::string_view given) const;

private:
    std::string account_;
    std::vector<std::unique_ptr<key_signer>> signers_;
};

/// The origin of a request.
struct request_origin {
    std::string_view address; ///< address of the client: "127.0.0.1"; empty if unknown
    bool encrypted{};         ///< whether the request was received over TLS
};

/// The permissions of a request.
struct access_grant {
    enum class kind : unsigned char {
        all,        ///< signed by an account key, or by an accepted token
        one_table,  ///< a signature for one table
        of_account, ///< a signature for the account
    };
    kind by{kind::all};
    std::string permissions;                    ///< "raud"
    std::string resource_types;                 ///< "sco", in a signature for the account
    std::string table;                          ///< table of a signature for one table, in lower case
    std::optional<std::string> first_partition; ///< the bounds of the keys, in a signature for one table
    std::optional<std::string> first_row;
    std::optional<std::string> last_partition;
    std::optional<std::string> last_row;

    /// Whether the signature grants all of these permissions.
    [[nodiscard]] bool permits(std::string_view letters) const noexcept;
    /// Whether an entity is within the bounds of the signature.
    [[nodiscard]] bool reaches(std::string_view partition_key, std::string_view row_key) const noexcept;
};

/// Returns AuthenticationFailed in the service's wording, with the reason.
[[nodiscard]] failure not_authenticated(std::string_view why);

/// Checks `Authorization: SharedKey` and `SharedKeyLite`. Returns AuthenticationFailed if the signature differs, or the date is not within
/// 15 minutes of `now`.
[[nodiscard]] result<void> check_shared_key(
    http_request const& request, url_parts const& url, account_keys const& keys, date_time now);

/// Finds the stored access policy of a table, whose name is in lower case.
using policy_finder = function_ref<std::optional<access_policy>(std::string_view table, std::string_view id)>;

/// Checks the shared access signature in a query. Errors: AuthenticationFailed, AuthorizationProtocolMismatch,
/// AuthorizationSourceIPMismatch, AuthorizationServiceMismatch.
[[nodiscard]] result<access_grant> check_signature(std::string_view query, account_keys const& keys,
    request_origin const& origin, date_time now, policy_finder find_policy);

/// Checks that the body of a request matches its Content-MD5. Errors: Md5Mismatch; InvalidMd5 for a malformed digest.
[[nodiscard]] result<void> check_digest(http_request const& request);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/access_check.ipp>
#endif
