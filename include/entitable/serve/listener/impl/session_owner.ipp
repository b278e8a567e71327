// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/atomic.hpp>
#include <entitable/serve/listener/http_listener.hpp>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>
#include <boost/system/error_code.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The strand of a connection, by its concrete type: a type-erased executor costs more at each step, and more to compile.
using session_executor = boost::asio::strand<boost::asio::io_context::executor_type>;
using session_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, session_executor>;

/// Counters for the metrics.
struct listener_counts {
    atomic<std::uint64_t> connections{0}; ///< since the start
    atomic<std::uint64_t> open{0};
    atomic<std::uint64_t> turned_away{0}; ///< connections beyond the limit
    atomic<std::uint64_t> malformed{0};   ///< requests that did not reach the server
    atomic<std::uint64_t> answers[6]{};   ///< responses, counted by the first digit of the status
    atomic<std::uint64_t> nanoseconds{0}; ///< total duration of all responses
    atomic<std::uint64_t> received{0};    ///< bytes of bodies
    atomic<std::uint64_t> sent{0};
    atomic<std::uint64_t> finished{0}; ///< number of responses, to detect progress
};

/// A body that grows with the received bytes, not with the announced length.
struct grown_body {
    using value_type = std::string;

    class reader {
    public:
        template <bool IsRequest, class Fields>
        reader(boost::beast::http::header<IsRequest, Fields>&, value_type& body) : body_(body) {}

        void init(boost::optional<std::uint64_t> const&, boost::system::error_code& problem) { problem = {}; }
        template <class Buffers>
        std::size_t put(Buffers const& buffers, boost::system::error_code& problem) {
            problem = {};
            std::size_t size = 0;
            for (auto const each : boost::beast::buffers_range_ref(buffers)) {
                body_.append(static_cast<char const*>(each.data()), each.size());
                size += each.size();
            }
            return size;
        }
        void finish(boost::system::error_code& problem) { problem = {}; }

    private:
        value_type& body_;
    };
};

/// The interface of a listener for its sessions.
class session_owner {
public:
    virtual ~session_owner() = default;
    [[nodiscard]] virtual listener_options const& options() const noexcept = 0;
    [[nodiscard]] virtual listener_counts& counts() noexcept = 0;
    [[nodiscard]] virtual bool stopping() const noexcept = 0;
    [[nodiscard]] virtual http_response answer(bool metrics, http_request const& request, std::string_view address) = 0;
    virtual void closed(void const* session) noexcept = 0;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
