// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `curl_client`: an http_client on libcurl, 7.87 or newer.

#include <entitable/cloud/http/http_channel.hpp>
#include <entitable/core/shared.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The version of HTTP to use. With `http_2`, 1.1 is used for a server that does not support it.
enum class http_version : std::uint8_t {
    http_1_1, ///< a connection for each request in flight
    http_2,   ///< many requests on one connection, if the server supports it
};

/// Connection settings of `curl_client`. It always verifies certificates, and never follows redirects or uses cookies or a netrc file. It
/// uses http without TLS only for the local computer, and on request for link-local addresses.
struct curl_options {
    std::string ca_file;      ///< PEM file of the trusted authorities; empty: the authorities of the system
    std::string ca_directory; ///< directory of hashed PEM files; empty: the directory of the system
    std::string proxy;        ///< proxy; if empty, no proxy is used, even if the environment names one
    http_version version{http_version::http_1_1};      ///< the newest version to use
    std::chrono::milliseconds connect_timeout{10'000}; ///< limit of name resolution, connection and TLS together
    std::chrono::seconds idle_timeout{60};             ///< a connection idle for longer is not reused
    bool
        link_local_http{}; ///< also allows http without TLS to 169.254.0.0/16, where a cloud serves the identity of a machine
};

namespace detail {

class curl_session;
class curl_transfer;

/// The sessions of a client, each used by one thread at a time with its open connections, and transfers with the client's options. Thread
/// safety: safe to use from several threads.
class curl_pool : public counted {
public:
    explicit curl_pool(curl_options options);
    ~curl_pool();

    [[nodiscard]] curl_options const& options() const noexcept { return options_; }
    /// Returns the most recently used session, whose connections are the warmest, or a new session.
    [[nodiscard]] curl_session* borrow();
    void give_back(curl_session* session) noexcept;
    /// Returns an idle transfer.
    [[nodiscard]] curl_transfer* take_transfer();
    void give_back(curl_transfer* transfer) noexcept;

private:
    static constexpr std::size_t max_idle = 64;
    static constexpr std::size_t max_idle_transfers = 256;
    curl_options const options_;
    std::mutex mutex_;
    std::vector<curl_session*> idle_;       ///< guarded by mutex_
    std::vector<curl_transfer*> transfers_; ///< idle transfers; guarded by mutex_
};

} // namespace detail

/// Sends requests with libcurl. Keeps connections open and reuses them. A cheap handle: copies share the connections, which close with the
/// last copy. A moved-from object returns InvalidInput. Detects a cancellation within 20 ms. Thread safety: safe to use from several
/// threads: each call has its own session, and waits for no other call. Do not use it in a child process after `fork`.
///
/// Errors: TransportFailed for certificates that do not verify, TLS below 1.2, responses with two lengths or no length, compressed bodies,
/// folded or malformed header fields, and responses that exceed the limits of the call; a response with status 400 or more needs only a
/// complete header, and contains the part of its body that arrives within 5 s. InvalidInput for header fields that the client writes itself
/// or does not support (Host, Content-Length, Transfer-Encoding, Connection, Expect, Accept-Encoding, TE, Trailer, Upgrade), and for http
/// without TLS to a different computer.
class curl_client {
public:
    using is_http_client = void; ///< opts in to `http_client`

    /// Connects on the first request.
    explicit curl_client(curl_options options = {}) : pool_(new detail::curl_pool(std::move(options))) {}

    /// Sends one request on the calling thread. Errors: those above, and the errors of `http_client`.
    [[nodiscard]] result<http_response> send(http_request const& request, http_call const& call) const;

    /// Opens a channel on the thread of `io`. All clients with a channel in one driver share connections; a driver without connections
    /// takes over this client's idle connections, and returns them when it is destroyed.
    [[nodiscard]] shared<http_channel> open(io_driver& io) const;

private:
    shared<detail::curl_pool> pool_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/http/impl/curl_client.ipp>
#endif
