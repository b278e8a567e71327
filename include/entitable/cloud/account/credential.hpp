// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `account`: addresses of services, credentials, and the texts that signatures cover. It handles HTTP messages and does not depend on
/// table requests.
///
/// `credential`: how requests are authorized: by an account key, a shared access signature, or a token of Entra ID.

#include <entitable/cloud/account/endpoint.hpp>
#include <entitable/cloud/account/signing.hpp>
#include <entitable/cloud/http/http_client.hpp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/shared.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// A token of Entra ID, with its expiry.
struct access_token {
    std::string text;  ///< sent with each request; a secret, which is wiped once it is copied
    date_time expires; ///< end of its validity
};

/// Gets a token for a scope, for example "https://storage.azure.com/.default". Called on the thread of a request, by one thread at a time;
/// needs its own timeout. An exception is propagated to the caller of the request.
using token_source = std::function<result<access_token>(std::string_view scope)>;

/// When tokens are renewed.
struct token_options {
    std::chrono::seconds refresh_before{300}; ///< how early a token is renewed
    std::chrono::seconds retry_after{30}; ///< how long to wait before requesting another token after a failure or a 401
    std::string scope;                    ///< if empty, the default scope for the kind of service
};

namespace detail {

/// A request for a token.
struct token_request {
    std::string_view scope;    ///< for example "https://storage.azure.com/.default"
    std::string_view endpoint; ///< address of the service that will get the token; empty if unknown
    http_call const* call{};   ///< the limits of the request that waits for the token; may be null
    bool ahead{}; ///< whether the present token is still valid: one attempt is enough, and nobody waits for repetitions
};

/// Gets tokens. Thread safety: safe to use from several threads.
class token_provider : public counted {
public:
    virtual ~token_provider() = default;
    [[nodiscard]] virtual result<access_token> get(token_request const& wanted) = 0;
    /// Learns of a 401 with this WWW-Authenticate field. Returns whether the next token will be from a different tenant.
    [[nodiscard]] virtual bool challenged(std::string_view challenge) {
        static_cast<void>(challenge);
        return false;
    }
    /// Whether `start` runs work on another thread.
    [[nodiscard]] virtual bool has_thread() const noexcept { return false; }
    /// Runs work on another thread, within limits that end it when the provider stops; false if that thread is busy.
    [[nodiscard]] virtual bool start(std::function<void(http_call const& limits)> work) {
        static_cast<void>(work);
        return false;
    }
    /// Ends the work and waits for it.
    virtual void stop() noexcept {}
};

/// The state of a request that does not block while a token is requested.
struct token_wait {
    bool pending{};           ///< there is no token yet: authorize the request again later
    bool begun{};             ///< whether `failures` is set
    std::uint64_t failures{}; ///< number of failures when the wait began
};

/// Facts about a request that will carry a credential.
struct known_request {
    url_parts target;        ///< its URL, which is within the endpoint
    bool fresh{};            ///< whether the request has neither credential fields nor Content-MD5
    http_call const* call{}; ///< the limits of the request, for waits for a token; may be null
    token_wait* wait{};      ///< for requests that must not block; may be null
};

/// One kind of credential. Thread safety: safe to use from several threads.
class credential_state : public counted {
public:
    virtual ~credential_state() = default;
    [[nodiscard]] virtual result<void> authorize(
        http_request& request, known_request const& known, endpoint const& at, date_time now) = 0;
    virtual void refused(http_request const& request, std::string_view challenge, date_time now) {
        static_cast<void>(request);
        static_cast<void>(challenge);
        static_cast<void>(now);
    }
    [[nodiscard]] virtual std::string_view account() const noexcept { return {}; }
    /// Appends the signature of `text` in base64; false without a key.
    [[nodiscard]] virtual bool sign(std::string_view text, std::string& out) {
        static_cast<void>(text);
        static_cast<void>(out);
        return false;
    }
};

} // namespace detail

/// Authorizes requests. A cheap handle: copies share the same state, and a move copies it, so that a moved-from credential never means "no
/// credential". The secrets are wiped with the last copy. A backend also wipes them in each request after the response; callers of
/// `authorize` use `http_request::forget_credential`. A credential cannot be printed, and errors never include its secrets. Thread safety:
/// safe to use from several threads.
class credential {
public:
    /// Makes no credential; used for a server that requires none, and for requests that carry their own credential.
    credential() = default;
    credential(credential const&) = default;            ///< shares the state
    credential& operator=(credential const&) = default; ///< shares the state
    ~credential() = default;

    /// Creates a credential from an account key in base64, as shown in the portal. Errors: InvalidInput with the name of the field: an
    /// account that `endpoint` does not accept, a key that is empty or not base64.
    [[nodiscard]] static result<credential> account_key(
        std::string_view account, std::string_view key, key_scheme scheme = key_scheme::shared_key);

    /// Creates a credential from a shared access signature: its query parameters, with or without a leading "?". Requests outside its
    /// validity are refused before they are sent, with a tolerance of 15 minutes for clocks that differ. Errors: InvalidInput if it has no
    /// `sig` or more than one, an invalid time, or characters that are invalid in a URL, including a "+" in `sig`.
    [[nodiscard]] static result<credential> shared_access_signature(std::string_view parameters);

    /// Creates a credential from tokens of Entra ID. A token is cached until shortly before it expires, or until the service refuses it;
    /// one thread gets the next token while other threads use the old token, or wait if it has expired. Tokens are sent only over https.
    [[nodiscard]] static credential bearer(token_source source, token_options options = {});
    /// Creates a credential from a provider of tokens: see `identity`.
    [[nodiscard]] static credential bearer(shared<detail::token_provider> provider, token_options options = {});

    /// Adds this credential to `request`: signs its method, URL and header fields, which must not change afterwards. Call it for every
    /// attempt, since a signature is valid for 15 minutes; it replaces the result of an earlier call. `now` is the time of day, `at` the
    /// destination of the request.
    ///
    /// Errors, all with `effect::none`: AuthenticationFailed if there is no valid token or signature, InvalidInput if the request cannot
    /// carry this credential (a bearer token over http); errors of the token source.
    [[nodiscard]] result<void> authorize(http_request& request, endpoint const& at, date_time now) const;
    /// Adds this credential to a request with known facts.
    [[nodiscard]] result<void> authorize(
        http_request& request, detail::known_request const& known, endpoint const& at, date_time now) const {
        return state_ ? state_->authorize(request, known, at, now) : result<void>{};
    }

    /// Reports a request that was answered with 401. Its token is renewed for the next request, unless it is younger than
    /// `token_options::retry_after`: a revoked token is therefore not used until it expires. `challenge` is the WWW-Authenticate field of
    /// the response, which may name a different tenant.
    void refused(http_request const& request, date_time now, std::string_view challenge = {}) const {
        if (state_) { state_->refused(request, challenge, now); }
    }

    /// Returns the name of the account, for an account key; empty otherwise.
    [[nodiscard]] std::string_view account() const noexcept { return state_ ? state_->account() : std::string_view{}; }

    /// Appends the signature of `text` (UTF-8) by the account key, in base64, for shared access signatures. Returns false and appends
    /// nothing if this is not an account key.
    [[nodiscard]] bool sign(std::string_view text, std::string& out) const { return state_ && state_->sign(text, out); }

private:
    explicit credential(shared<detail::credential_state> state) noexcept : state_(std::move(state)) {}
    shared<detail::credential_state> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/credential.ipp>
#endif
