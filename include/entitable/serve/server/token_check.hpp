// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `token_check`: checks bearer tokens of Entra ID, as JSON web tokens (RFC 7519). This header does not include OpenSSL.

#include <entitable/core/clock.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/result.hpp>
#endif
#include <entitable/serve/server/server_options.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// What a token must say. Plain data: set it by designated initializers.
struct token_rules {
    /// Issuers that are accepted. An entry that ends with `*` is a prefix.
    std::vector<std::string> issuers{};
    /// Audiences that are accepted, with or without a slash at the end; `{account}` stands for the name of the account.
    std::vector<std::string> audiences{"https://storage.azure.com", "https://{account}.table.core.windows.net"};
    /// Identities (claim `oid`) that are accepted; if empty, all.
    std::vector<std::string> objects{};
    std::chrono::seconds skew{300}; ///< how much the clocks of the issuer and of this computer may differ
    clock* time{&system_clock()};   ///< must outlive the check
};

namespace detail {
class token_check_state;
}

/// Checks tokens; the value for `server_options::bearer`. An accepted token grants full access to the account, whatever roles and scopes it
/// names. A token is refused if it is longer than 16 KiB, not three parts of unpadded base64url, or has a member twice; without `exp`; and if
/// its issuer, audience or times do not fit. A cheap handle: copies share the same keys.
///
/// Thread safety: safe to use from several threads.
class token_check {
public:
    /// Checks what tokens say, and NOT their signatures: anyone can write such a token. For tests on the local computer. If `rules` has no
    /// issuers, those of Entra ID in all of its clouds are accepted, whatever the tenant.
    [[nodiscard]] static token_check without_signatures(token_rules rules = {});

    /// Checks signatures, by the public keys of a JSON web key set (RFC 7517): RS256 with RSA keys of 2,048 to 8,192 bits, ES256 with P-256.
    /// The key is selected by `kid`; keys of other kinds, and keys that are not for signatures, are ignored.
    /// Errors: InvalidInput, which names the file, if it cannot be read, is over 1 MiB, is not a key set, has no usable key, a malformed key
    /// or two keys with the same `kid`; InvalidInput if `rules` has no issuer, because the keys of Entra ID sign for every tenant.
    [[nodiscard]] static result<token_check> with_keys(std::string key_file, token_rules rules);

    /// Reads the keys again. After an error the keys are unchanged. Succeeds if there are none. Errors: as for `with_keys`; InvalidInput
    /// after a move.
    [[nodiscard]] result<void> reload() const;

    /// Checks a token for an account. After a move every token is refused.
    [[nodiscard]] bearer_verdict operator()(std::string_view account, std::string_view token) const;

private:
    explicit token_check(std::shared_ptr<detail::token_check_state const> state) : state_(std::move(state)) {}

    std::shared_ptr<detail::token_check_state const> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/serve/server/impl/token_check.ipp>
#endif
