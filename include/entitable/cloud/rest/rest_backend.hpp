// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `rest`: the engine between requests and an HTTP client, and the backends built on it.
///
/// `rest<Client>`: the table service over HTTP, through any HTTP client.

#include <entitable/cloud/account/connection_string.hpp>
#include <entitable/cloud/http/http_channel.hpp>
#include <entitable/cloud/rest/detail/rest_engine.hpp>
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/channel.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Opens a channel over `below`, which it owns exclusively.
[[nodiscard]] shared<channel> open_rest_channel(shared<rest_engine> engine, shared<http_channel> below, io_driver& io);

/// The engine supports this kind of request; all others return NotSupported.
template <class Request>
concept sent_over_http = requires(rest_engine& engine, Request const& request, call& context, http_sender send) {
    engine.execute(request, context, send);
};

} // namespace detail

/// A table service that speaks REST: Azure Table Storage, the Table API of Cosmos DB, the emulator Azurite. A cheap handle: copies share
/// the connections. A moved-from object returns InvalidInput. Thread safety: safe to use from several threads.
///
/// One call is one attempt: only a read whose 404 came from the secondary location is sent a second time, to the primary. Reads go to the
/// secondary on request (`call::location`) if there is one, and are marked `stale`; a continuation returns to the location that issued it.
///
/// Errors: a write whose response was lost, garbled, 408 or 5xx other than 501 and 505 has the effect `unknown`; a response that cannot be
/// read completely fails with TransportFailed, and never yields part of an entity.
///
/// Filters: NaN and the infinities have no constant in the service's language, and the emulator compares times by the millisecond. For such
/// a comparison the service returns more rows, which the backend filters again, so pages may be shorter than the service's.
template <http_client Client>
class rest {
public:
    using is_transport = void; ///< opts in to `transport`

    /// Uses the given client, endpoint and credential.
    rest(Client client, endpoint at, credential who, rest_options options = {})
        : client_(std::move(client)),
          engine_(shared<detail::rest_engine>::make(std::move(at), std::move(who), std::move(options))) {}

    /// Uses a connection string. Does not throw: if the string is invalid, every request fails with the error that `connect` would return.
    explicit rest(std::string_view connection_string, rest_options options = {}, Client client = Client{})
        : client_(std::move(client)), engine_(start(parse_connection_string(connection_string), std::move(options))) {}

    /// Uses a connection string, with the client first, whose type can then be deduced: `rest{server, "UseDevelopmentStorage=true"}`.
    rest(Client client, std::string_view connection_string, rest_options options = {})
        : rest(connection_string, std::move(options), std::move(client)) {}

    /// Creates a backend from a connection string. Errors: InvalidInput names the invalid field.
    [[nodiscard]] static result<rest> connect(
        std::string_view connection_string, rest_options options = {}, Client client = Client{}) {
        ENTITABLE_TRY(auto settings, parse_connection_string(connection_string));
        return rest{
            std::move(client), std::move(settings.endpoint), std::move(settings.credential), std::move(options)};
    }

    /// Returns the profile of the service.
    [[nodiscard]] entitable::profile profile() const { return engine_ ? engine_->limits() : entitable::profile{}; }

    /// Runs one attempt of one request.
    template <table_request Request>
        requires detail::sent_over_http<Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!engine_) { return detail::moved_from("backend"); }
        return engine_->execute(request, context,
            [this](http_request const& sent, http_call const& how) { return client_.send(sent, how); });
    }

    /// Opens a channel, with many requests in flight if the client supports it; requests to several accounts share the connections of the
    /// client's channels.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return engine_ ? detail::open_rest_channel(engine_, open_http_channel(client_, io), io) : shared<channel>{};
    }

    /// Returns the engine, for services of the same account; after a move, an engine that returns InvalidInput.
    [[nodiscard]] detail::rest_engine& engine() const { return engine_ ? *engine_ : *detail::absent_rest_engine(); }
    [[nodiscard]] Client& client() const noexcept { return client_; } ///< the HTTP client

private:
    static shared<detail::rest_engine> start(result<connection_settings> settings, rest_options options) {
        return settings ? shared<detail::rest_engine>::make(
                              std::move(settings->endpoint), std::move(settings->credential), std::move(options))
                        : shared<detail::rest_engine>::make(settings.error());
    }

    mutable Client client_;
    shared<detail::rest_engine> engine_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/rest/impl/rest_channel.ipp>
#endif
