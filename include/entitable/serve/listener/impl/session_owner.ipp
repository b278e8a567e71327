// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/atomic.hpp>
#include <entitable/serve/listener/http_listener.hpp>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The strand of a connection, by its concrete type: a type-erased executor costs more at each step, and more to compile.
using session_executor = boost::asio::strand<boost::asio::io_context::executor_type>;
using session_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, session_executor>;

using socket_stream = boost::beast::basic_stream<boost::asio::ip::tcp, session_executor>;

/// Counters for the metrics.
struct listener_counts {
    atomic<std::uint64_t> connections{0}; ///< since the start
    atomic<std::uint64_t> open{0};
    atomic<std::uint64_t> turned_away{0};       ///< connections beyond the limit
    atomic<std::uint64_t> gave_way{0};          ///< waiting connections that were closed for a new one
    atomic<std::uint64_t> malformed{0};         ///< requests that did not reach the server
    atomic<std::uint64_t> failed_handshakes{0}; ///< of TLS
    atomic<std::uint64_t> answers[6]{};         ///< responses, counted by the first digit of the status
    atomic<std::uint64_t> nanoseconds{0};       ///< total duration of all responses
    atomic<std::uint64_t> received{0};          ///< bytes of bodies
    atomic<std::uint64_t> sent{0};
    atomic<std::uint64_t> finished{0}; ///< number of responses, to detect progress
};

/// Counts the memory of the bodies of all connections. Safe to use from several threads.
class body_budget {
public:
    explicit body_budget(std::size_t most) noexcept : most_(most) {}
    [[nodiscard]] bool take(std::size_t size) noexcept {
        std::size_t const before = used_.fetch_add(size, memory_order::relaxed);
        if (size <= most_ && before <= most_ - size) { return true; }
        give_back(size);
        return false;
    }
    void give_back(std::size_t size) noexcept { used_.fetch_sub(size, memory_order::relaxed); }
    [[nodiscard]] std::size_t used() const noexcept { return used_.load(memory_order::relaxed); }

private:
    std::size_t const most_;
    atomic<std::size_t> used_{0};
};

/// A body that grows with the received bytes, not with the announced length, within the budget of all bodies.
struct grown_body {
    class value_type {
    public:
        value_type() = default;
        value_type(value_type const&) = delete;
        value_type& operator=(value_type const&) = delete;
        ~value_type() { static_cast<void>(take()); }

        void count_in(body_budget& budget) noexcept { budget_ = &budget; }
        [[nodiscard]] bool append(char const* bytes, std::size_t size) {
            if (text_.size() + size > text_.capacity()) {
                std::size_t const wanted = (std::max)(text_.size() + size, 2 * text_.size());
                if (budget_ != nullptr && !budget_->take(wanted - counted_)) { return false; }
                counted_ = wanted;
                text_.reserve(wanted);
            }
            text_.append(bytes, size);
            return true;
        }
        [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
        /// Returns the text, which is no longer counted.
        [[nodiscard]] std::string take() noexcept {
            if (budget_ != nullptr) { budget_->give_back(std::exchange(counted_, 0)); }
            return std::move(text_);
        }
        /// Returns the text and its counted bytes; the caller gives them back.
        [[nodiscard]] std::pair<std::string, std::size_t> take_counted() noexcept {
            return {std::move(text_), std::exchange(counted_, 0)};
        }

    private:
        std::string text_;
        std::size_t counted_{};
        body_budget* budget_{};
    };
    /// Set by `put` if the budget of all bodies is used up.
    static boost::system::error_code full() noexcept {
        return boost::system::errc::make_error_code(boost::system::errc::no_buffer_space);
    }

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
                if (!body_.append(static_cast<char const*>(each.data()), each.size())) {
                    problem = full();
                    return size;
                }
                size += each.size();
            }
            return size;
        }
        void finish(boost::system::error_code& problem) { problem = {}; }

    private:
        value_type& body_;
    };
};

/// The interface of a connection for its listener. All functions may be called from any thread.
class listener_session {
public:
    virtual ~listener_session() = default;
    virtual void start() = 0;
    /// Closes the connection if it is idle.
    virtual void end_when_idle() = 0;
    /// Closes the connection, even during an operation.
    virtual void end_now() = 0;
    /// Closes a connection that still waits for its sender.
    virtual void give_way() = 0;
    /// Keeps the connection alive; null if it is being destroyed.
    [[nodiscard]] virtual std::shared_ptr<listener_session> alive() noexcept = 0;
    /// Returns since when the connection waits for its sender, as a number that orders connections: those of unknown senders are before all
    /// others. 0 if a request is in progress.
    [[nodiscard]] std::uint64_t waits_since() const noexcept { return waits_since_.load(memory_order::relaxed); }

protected:
    atomic<std::uint64_t> waits_since_{0};
};

/// The interface of a listener for its sessions.
class session_owner {
public:
    virtual ~session_owner() = default;
    [[nodiscard]] virtual listener_options const& options() const noexcept = 0;
    [[nodiscard]] virtual listener_counts& counts() noexcept = 0;
    [[nodiscard]] virtual bool stopping() const noexcept = 0;
    [[nodiscard]] virtual body_budget& bodies() noexcept = 0;
    [[nodiscard]] virtual http_response answer(
        bool metrics, http_request const& request, request_sender const& from) = 0;
    /// Returns the response that refuses a request before its body is read.
    [[nodiscard]] virtual std::optional<http_response> refusal(
        bool metrics, http_request const& head, std::uint64_t body_size, request_sender const& from) = 0;
    virtual void closed(listener_session* session) noexcept = 0;
};

/// Makes the sessions of encrypted connections.
class session_maker {
public:
    virtual ~session_maker() = default;
    [[nodiscard]] virtual std::shared_ptr<listener_session> make(
        std::shared_ptr<session_owner> owner, session_socket socket) const = 0;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
