// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Of the room `account`: where a service is, who asks it, and what a signature covers. It knows messages of HTTP and no
/// request of a table.
///
/// `credential`: who asks, in each of the ways that table services know: an account key, a shared access signature, a token of
/// Entra ID.

#include <entitable/account/endpoint.hpp>
#include <entitable/account/signing.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/http/http_message.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A token of Entra ID, and when it ends.
struct access_token {
    std::string text;  ///< sent with each request; a secret, which is wiped once it is taken over
    date_time expires; ///< it is good until then
};

/// Gets a token for a scope, for example "https://storage.azure.com/.default". Called on the thread of a request, by one thread
/// at a time; bounds its own time. An exception passes through the request.
using token_source = std::function<result<access_token>(std::string_view scope)>;

/// When tokens are got anew.
struct token_options {
    std::chrono::seconds refresh_before{300}; ///< so long before a token ends, the next request gets a new one
    std::chrono::seconds retry_after{
        30};           ///< so long after a failure, or after a token that is refused, is no new one asked for
    std::string scope; ///< empty: the service's own scope, by the kind of the endpoint
};

namespace detail {

/// What is known of a request that is to carry a credential.
struct known_request {
    url_parts target; ///< its URL, which is one of the endpoint
    bool fresh{};     ///< it has no fields of a credential yet, and no Content-MD5
};

/// One kind of credential. Safe to use from several threads.
class credential_state : public counted {
public:
    virtual ~credential_state() = default;
    [[nodiscard]] virtual result<void> authorize(
        http_request& request, known_request const& known, endpoint const& at, date_time now) = 0;
    virtual void refused(http_request const& request, date_time now) {
        static_cast<void>(request);
        static_cast<void>(now);
    }
    [[nodiscard]] virtual std::string_view account() const noexcept { return {}; }
    /// Appends the signature of `text` in base64; false where there is no key.
    [[nodiscard]] virtual bool sign(std::string_view text, std::string& out) {
        static_cast<void>(text);
        static_cast<void>(out);
        return false;
    }
};

} // namespace detail

/// Who asks. A cheap handle: copies share one state, whose secrets are wiped with its last copy. A backend wipes them in each
/// request as well, once it is answered; who calls `authorize` has `http_request::forget_credential`. Safe to use from several
/// threads. It has no way to print what it holds, and no error names it.
class credential {
public:
    /// No credential: for a server that asks for none, and for requests that carry their own.
    credential() = default;

    /// An account key as the portal gives it, in base64. InvalidInput names the field: an account as in `endpoint`, a key that
    /// is not base64 or empty.
    [[nodiscard]] static result<credential> account_key(
        std::string_view account, std::string_view key, key_scheme scheme = key_scheme::shared_key);

    /// A shared access signature: its query parameters, with or without a "?" in front. InvalidInput when it has no `sig` or
    /// two, times that are none, or characters that no URL may hold, a "+" in `sig` among them. Requests outside of its times are refused before they
    /// are sent, with a quarter of an hour for clocks that differ.
    [[nodiscard]] static result<credential> shared_access_signature(std::string_view parameters);

    /// Tokens of Entra ID. They are kept until shortly before they end, or until the service refuses one; one thread gets the next one while the others go on
    /// with the old one, or wait where it has ended. Sent over https only.
    [[nodiscard]] static credential bearer(token_source source, token_options options = {});

    /// Makes `request` carry this credential: signs its very method, URL and header fields, so nothing of them may change
    /// afterwards. To be called for every attempt, since a signature is good for a quarter of an hour only; what an earlier call has
    /// put there is replaced. `now` is the time of day. `at` says where the request goes.
    ///
    /// AuthenticationFailed when there is no valid token or signature, InvalidInput when the request cannot carry one (a bearer
    /// token over http). The effect is none: nothing was sent.
    [[nodiscard]] result<void> authorize(http_request& request, endpoint const& at, date_time now) const;
    /// The same for a request of which something is known.
    [[nodiscard]] result<void> authorize(
        http_request& request, detail::known_request const& known, endpoint const& at, date_time now) const {
        return state_ ? state_->authorize(request, known, at, now) : result<void>{};
    }

    /// To be told of a request that was answered with 401. A token that it carried is got anew for the next one, unless it is
    /// younger than `token_options::retry_after`: so a token that was revoked is not used until it ends.
    void refused(http_request const& request, date_time now) const {
        if (state_) {
            state_->refused(request, now);
        }
    }

    /// The name of the account, for an account key; empty otherwise.
    [[nodiscard]] std::string_view account() const noexcept { return state_ ? state_->account() : std::string_view{}; }

    /// Appends the signature of `text` (UTF-8) by the account key, in base64: for shared access signatures. False, and nothing
    /// appended, where this is no account key.
    [[nodiscard]] bool sign(std::string_view text, std::string& out) const { return state_ && state_->sign(text, out); }

private:
    explicit credential(shared<detail::credential_state> state) noexcept : state_(std::move(state)) {}
    shared<detail::credential_state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/account/impl/credential.ipp>
#endif
