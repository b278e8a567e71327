// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table_server`: a transport behind the REST protocol of the table service, as a function from request to response.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/cloud/http/http_client.hpp>
#endif
#include <entitable/serve/server/detail/server_engine.hpp>
#include <entitable/serve/server/server_options.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The sender of a request, as known from the connection.
struct request_sender {
    std::string_view address{
        "127.0.0.1"}; ///< address of the client; checked by signatures that are restricted to some addresses
    bool encrypted{}; ///< whether the request was received over TLS
    steady_time deadline{no_deadline}; ///< time at which the request ends
    cancellation_token cancellation{}; ///< ends the request early
};

/// Serves the tables of a transport. It models `http_client`, so that a `rest` backend can use it without a socket; listeners call
/// `answer`. A cheap handle: copies share the same state.
///
/// Thread safety: safe to use from several threads, as every transport is.
///
/// The account is the first label of a host like ACCOUNT.table.HOST, or else the first segment of the path. All state is in the
/// transports: stored access policies are a system row of their table, and the settings of the service are in the table
/// EntitableServiceSettings. Clients reach neither. Signatures that name a policy are refused if the policy cannot be read.
///
/// It throws no exceptions of its own; exceptions thrown by a transport are propagated.
class table_server {
public:
    using is_http_client = void; ///< opts in to `http_client`

    /// Serves `store`. With an invalid account every request gets 500: `start` returns that error immediately.
    template <class T>
        requires(!std::same_as<T, table_server> && transport<T>)
    explicit table_server(T const& store, server_options options = {})
        : engine_(shared<detail::server_engine>::make(any_store{store}, std::move(options))) {}

    /// Creates a server. Errors: InvalidInput for an invalid name or key, two accounts with the same name, two accounts without their own
    /// stores.
    [[nodiscard]] static result<table_server> start(any_store const& store, server_options options = {}) {
        table_server made{store, std::move(options)};
        if (error const* const problem = made.engine_->broken()) { return failure{*problem}; }
        return made;
    }

    /// Handles a request whose URL is absolute. Never returns an error: a refusal is a response. After a move the status is 500.
    [[nodiscard]] http_response answer(http_request const& request, request_sender const& from = {}) const {
        if (!engine_) { return detail::answer_of_absent_server(); }
        return engine_->answer(request, {from.address, from.encrypted}, from.deadline, from.cancellation);
    }

    /// Looks at a request before its body is read: at its URL, its sender and `body_size`, the announced bytes of its body. Returns the
    /// response that refuses it; nullopt if the body should be read, and `answer` called. Content-MD5 is not checked.
    [[nodiscard]] std::optional<http_response> refusal(
        http_request const& head, std::uint64_t body_size, request_sender const& from = {}) const {
        if (!engine_) { return detail::answer_of_absent_server(); }
        return engine_->refusal(head, body_size, {from.address, from.encrypted});
    }

    /// Handles a request through the HTTP client concept, without a socket. Errors: Cancelled or DeadlineExceeded if the call had already
    /// ended.
    [[nodiscard]] result<http_response> send(http_request const& request, http_call const& how) const {
        if (!engine_) { return detail::moved_from("server"); }
        if (how.cancellation.cancelled()) { return failure{error_code::cancelled, "the call was cancelled"}; }
        if (how.deadline != no_deadline && engine_->options().time->steady() >= how.deadline) {
            return failure{error_code::deadline_exceeded, "the deadline of the call has passed"};
        }
        bool const encrypted = request.url.starts_with("https://"); // within a program nothing is sent
        return answer(request, {.encrypted = encrypted, .deadline = how.deadline, .cancellation = how.cancellation});
    }

private:
    shared<detail::server_engine> engine_;
};

ENTITABLE_END_NAMESPACE
