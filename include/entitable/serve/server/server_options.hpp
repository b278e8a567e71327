// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Part of `server`: the server side of the service's protocol, over any transport.
///
/// Options of `table_server`: accounts and limits.

#include <entitable/core/clock.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// An account and its keys.
struct served_account {
    std::string name{};       ///< 3 to 24 lower-case letters and digits
    std::string key{};        ///< base64 account key; a secret
    std::string second_key{}; ///< accepted as well, so that keys can be rotated; empty: none
    /// The store of its tables; if absent, the server's default store, which only one account may use.
    std::optional<any_store> store{};

    /// The development account of the emulator, whose key is public.
    [[nodiscard]] static served_account development() {
        return {"devstoreaccount1",
            "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==", {}, {}};
    }
};

/// The outcome of checking a token.
struct bearer_verdict {
    bool accepted{};           ///< whether the request is permitted
    std::string_view reason{}; ///< sent to the client if the token is refused; a literal without anything of the token

    bearer_verdict() = default;
    bearer_verdict(bool accepts) : accepted(accepts) {} ///< from a function that has no reasons
    /// A refusal; `why` is a literal.
    [[nodiscard]] static bearer_verdict refused(std::string_view why) {
        bearer_verdict made;
        made.reason = why;
        return made;
    }
};

/// Decides whether a token of Entra ID grants full access to the account; `token_check` is such a function. Called on the threads of
/// requests, by several threads concurrently. It may return bool.
using bearer_verifier = std::function<bearer_verdict(std::string_view account, std::string_view token)>;

/// Options of a server. Plain data: set them by designated initializers.
struct server_options {
    /// The accounts that may send requests; if empty, the development account.
    std::vector<served_account> accounts{};
    bearer_verifier bearer{}; ///< if absent, bearer tokens are refused
    /// Whether tokens are accepted over connections without TLS, where everyone on the way can read and use them: behind a proxy that ends
    /// TLS, or in tests.
    bool bearer_over_http{};
    /// The field WWW-Authenticate of a refused token. From `authorization_uri` clients learn the tenant.
    std::string bearer_challenge{"Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize "
                                 "resource_id=https://storage.azure.com"};
    clock* time{&system_clock()}; ///< checks the dates of requests; must outlive the server
    /// Receives each request after its response (`on_attempt`): its name, table, times, sizes, status, error and id. Must outlive the
    /// server, and be safe to call from several threads.
    observer* watch{};
    /// Whether a replace or a merge uses the keys of its address whatever keys its body names, as the service does. By default such a request
    /// is refused: one of the two is a mistake.
    bool ignores_keys_of_bodies{};
    std::size_t max_body_size{4 * 1024 * 1024}; ///< bytes of a request; larger requests get 413 RequestBodyTooLarge
    std::size_t max_url_size{32 * 1024};        ///< bytes; longer URLs get 414
    std::size_t max_header_size{32 * 1024};     ///< bytes of all header fields; larger headers get 431
    std::size_t max_comparisons{512};           ///< limit for one filter; the service documents 15 but accepts more
    std::chrono::seconds longest_work{30};      ///< the deadline of a request; its `timeout` option may be earlier
};

ENTITABLE_END_NAMESPACE
