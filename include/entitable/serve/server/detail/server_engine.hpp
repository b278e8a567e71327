// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The state that all copies of a server share, and the handling of a request.

#include <entitable/cloud/account/detail/access_check.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/cloud/http/http_message.hpp>
#endif
#include <entitable/cloud/wire/detail/entity_reader.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/serve/server/server_options.hpp>

#include <map>
#include <memory>
#include <mutex>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// An account that is being served. Safe to use from several threads.
struct account_state {
    account_state(account_keys with, any_store over) : keys(std::move(with)), store(std::move(over)) {}

    account_keys const keys;
    any_store const store;
};

/// Safe to use from several threads.
class server_engine : public counted {
public:
    server_engine(any_store store, server_options options);

    [[nodiscard]] server_options const& options() const noexcept { return options_; }
    /// Returns the error in the accounts, or null.
    [[nodiscard]] error const* broken() const noexcept { return problem_ ? &*problem_ : nullptr; }

    [[nodiscard]] http_response answer(http_request const& request, request_origin const& origin, steady_time deadline,
        cancellation_token const& cancellation);

    [[nodiscard]] std::optional<http_response> refusal(
        http_request const& head, std::uint64_t body_size, request_origin const& origin);

    [[nodiscard]] account_state* find(std::string_view account) noexcept;
    /// Lends a reader for one request; `give_back` returns it.
    [[nodiscard]] std::unique_ptr<entity_reader> take_reader();
    void give_back(std::unique_ptr<entity_reader> used);
    /// Returns a new request id, as a GUID.
    [[nodiscard]] std::string new_id();

private:
    [[nodiscard]] std::optional<error> add(served_account const& account, any_store const& store, bool& taken);

    server_options const options_;
    std::map<std::string, std::unique_ptr<account_state>, std::less<>> accounts_;
    std::optional<error> problem_;
    random_source random_;
    std::mutex lock_;
    std::vector<std::unique_ptr<entity_reader>> readers_; ///< guarded by lock_
};

/// Returns the response of a server that was moved from: 500.
[[nodiscard]] http_response answer_of_absent_server();

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/serve/server/impl/server_engine.ipp>
#endif
