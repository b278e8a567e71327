// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Who asks, from the side of the one who is asked: signatures by an account key and shared access signatures are checked, and
/// what they grant is said. Refusals have the words of the service, as `refused` makes them.

#include <entitable/account/service_settings.hpp>
#include <entitable/account/signing.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>
#include <entitable/http/http_message.hpp>
#include <entitable/http/url.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The keys of an account. Comparisons take the same time whatever is compared. Safe to use from several threads.
class account_keys {
public:
    /// One or two keys in base64; nothing when one is none.
    [[nodiscard]] static std::optional<account_keys> make(
        std::string_view account, std::vector<std::string> const& keys);

    [[nodiscard]] std::string_view account() const noexcept { return account_; }
    /// Whether `given` is the signature by one of the keys of what `write` appends.
    [[nodiscard]] bool signed_by(function_ref<void(std::string& text)> write, std::string_view given) const;

private:
    std::string account_;
    std::vector<std::unique_ptr<key_signer>> signers_;
};

/// Where a request comes from.
struct request_origin {
    std::string_view address; ///< of the sender: "127.0.0.1"; empty when it is not known
    bool encrypted{};         ///< it came over TLS
};

/// What a request may do.
struct access_grant {
    enum class kind : unsigned char {
        all,        ///< signed by an account key, or by a token that was accepted
        one_table,  ///< a signature for one table
        of_account, ///< a signature for the account
    };
    kind by{kind::all};
    std::string permissions;                    ///< "raud"
    std::string resource_types;                 ///< "sco", of a signature for the account
    std::string table;                          ///< in lower case, of a signature for one table
    std::optional<std::string> first_partition; ///< the bounds of the keys, of a signature for one table
    std::optional<std::string> first_row;
    std::optional<std::string> last_partition;
    std::optional<std::string> last_row;

    /// Whether it grants all of these letters.
    [[nodiscard]] bool permits(std::string_view letters) const noexcept;
    /// Whether an entity lies between its bounds.
    [[nodiscard]] bool reaches(std::string_view partition_key, std::string_view row_key) const noexcept;
};

/// AuthenticationFailed as the service words it, and why.
[[nodiscard]] failure not_authenticated(std::string_view why);

/// Checks `Authorization: SharedKey` and `SharedKeyLite`. AuthenticationFailed, also where the date is not within a quarter of an
/// hour of `now`.
[[nodiscard]] result<void> check_shared_key(
    http_request const& request, url_parts const& url, account_keys const& keys, date_time now);

/// Finds the stored access policy of a table, whose name is in lower case.
using policy_finder = function_ref<std::optional<access_policy>(std::string_view table, std::string_view id)>;

/// Checks the shared access signature in a query. AuthenticationFailed, AuthorizationProtocolMismatch,
/// AuthorizationSourceIPMismatch, AuthorizationServiceMismatch.
[[nodiscard]] result<access_grant> check_signature(std::string_view query, account_keys const& keys,
    request_origin const& origin, date_time now, policy_finder find_policy);

/// Whether the body of a request is the one that Content-MD5 digests. Md5Mismatch; InvalidMd5 for what is no digest.
[[nodiscard]] result<void> check_digest(http_request const& request);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/account/impl/access_check.ipp>
#endif
