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
#include <entitable/core/decorators/retrying.hpp>
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

/// A table service over HTTP that sends each request once. Thread safety: safe to use from several threads.
template <http_client Client>
class rest_attempts {
public:
    using is_transport = void;

    rest_attempts(Client client, shared<rest_engine> engine) : client_(std::move(client)), engine_(std::move(engine)) {}

    [[nodiscard]] entitable::profile profile() const { return engine_ ? engine_->limits() : entitable::profile{}; }
    template <table_request Request>
        requires sent_over_http<Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return engine_->execute(request, context,
            [this](http_request const& sent, http_call const& how) { return client_.send(sent, how); });
    }
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        return engine_ ? open_rest_channel(engine_, open_http_channel(client_, io), io) : shared<channel>{};
    }
    [[nodiscard]] rest_engine& engine() const { return engine_ ? *engine_ : *absent_rest_engine(); }
    [[nodiscard]] Client& client() const noexcept { return client_; }

private:
    mutable Client client_;
    shared<rest_engine> engine_;
};

} // namespace detail

/// A table service that speaks REST: Azure Table Storage, the Table API of Cosmos DB, the emulator Azurite. A cheap handle: copies share
/// the connections. A moved-from object returns InvalidInput. Thread safety: safe to use from several threads.
///
/// Repeats failed reads, and failed writes that had no effect, see `rest_options::retries`. A read whose 404 came from the secondary location
/// is sent a second time, to the primary, in the same attempt. Reads go to the secondary on request (`call::location`) if there is one, and
/// are marked `stale`; a continuation returns to the location that issued it. Writes always go to the primary.
///
/// Fail over: a location that does not respond (no response, 408, 500, 502, 503, 504) is avoided by reads that may go elsewhere, for 5 s after
/// the first failure and twice as long after each further one, at most a minute; a response ends that. With
/// `read_location::primary_then_secondary` reads go to the primary, else to the secondary; with `secondary` to the secondary, else to the
/// primary. The secondary locations of Cosmos DB are `rest_options::preferred_locations`, in this order. All copies of a backend share what
/// they know of its locations.
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
        : rest(std::move(client), options,
              shared<detail::rest_engine>::make(std::move(at), std::move(who), rest_options{options})) {}

    /// Uses a connection string. Does not throw: if the string is invalid, every request fails with the error that `connect` would return.
    explicit rest(std::string_view connection_string, rest_options options = {}, Client client = Client{})
        : rest(std::move(client), options, start(parse_connection_string(connection_string), options)) {}

    /// Uses a connection string, with the client first, whose type can then be deduced: `rest{server, "UseDevelopmentStorage=true"}`.
    rest(Client client, std::string_view connection_string, rest_options options = {})
        : rest(connection_string, std::move(options), std::move(client)) {}

    /// Uses the address of a service and what authorizes its requests: an `identity` of Entra ID, or a `credential`. Does not throw: if the
    /// address is invalid (see `endpoint::parse`), every request fails with that error.
    template <std::convertible_to<credential> Who>
    rest(std::string_view address, Who const& who, rest_options options = {}, Client client = Client{})
        : rest(std::move(client), options, start(settings_of(address, who), options)) {}
    /// The same with the client first, whose type can then be deduced.
    template <std::convertible_to<credential> Who>
    rest(Client client, std::string_view address, Who const& who, rest_options options = {})
        : rest(address, who, std::move(options), std::move(client)) {}

    /// Creates a backend from a connection string. Errors: InvalidInput names the invalid field.
    [[nodiscard]] static result<rest> connect(
        std::string_view connection_string, rest_options options = {}, Client client = Client{}) {
        ENTITABLE_TRY(auto settings, parse_connection_string(connection_string));
        return rest{
            std::move(client), std::move(settings.endpoint), std::move(settings.credential), std::move(options)};
    }
    /// Creates a backend from the address of a service and what authorizes its requests. Errors: those of `endpoint::parse`.
    template <std::convertible_to<credential> Who>
    [[nodiscard]] static result<rest> connect(
        std::string_view address, Who const& who, rest_options options = {}, Client client = Client{}) {
        ENTITABLE_TRY(auto settings, settings_of(address, who));
        return rest{
            std::move(client), std::move(settings.endpoint), std::move(settings.credential), std::move(options)};
    }

    /// Returns the profile of the service.
    [[nodiscard]] entitable::profile profile() const { return repeated_.profile(); }

    /// Runs a request, and repeats it as `rest_options::retries` permits.
    template <table_request Request>
        requires detail::sent_over_http<Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return repeated_.execute(request, context);
    }

    /// Opens a channel, with many requests in flight if the client supports it; requests to several accounts share the connections of the
    /// client's channels. It sends each request once if the driver and `rest_options::time` are different clocks.
    [[nodiscard]] shared<channel> open(io_driver& io) const {
        auto opened = repeated_.open(io);
        return opened ? std::move(opened) : repeated_.wrapped().open(io);
    }

    /// Returns the engine, for services of the same account; after a move, an engine that returns InvalidInput.
    [[nodiscard]] detail::rest_engine& engine() const { return repeated_.wrapped().engine(); }
    [[nodiscard]] Client& client() const noexcept { return repeated_.wrapped().client(); } ///< the HTTP client

private:
    static result<connection_settings> settings_of(std::string_view address, credential const& who) {
        ENTITABLE_TRY(auto at, endpoint::parse(address));
        return connection_settings{std::move(at), who};
    }
    rest(Client client, rest_options const& options, shared<detail::rest_engine> engine)
        : repeated_({std::move(client), std::move(engine)},
              shared<detail::retry_ledger>::make(
                  options.retries, options.retry_quota, random_seed(), detail::repeats::certain),
              *options.time) {}

    static shared<detail::rest_engine> start(result<connection_settings> settings, rest_options options) {
        return settings ? shared<detail::rest_engine>::make(
                              std::move(settings->endpoint), std::move(settings->credential), std::move(options))
                        : shared<detail::rest_engine>::make(settings.error());
    }

    retrying<detail::rest_attempts<Client>> repeated_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/rest/impl/rest_channel.ipp>
#endif
