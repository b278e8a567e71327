// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_writer.hpp>
#include <entitable/cloud/wire/detail/service_address.hpp>
#include <entitable/core/text.hpp>
#include <entitable/serve/listener/http_listener.hpp>
#include <entitable/serve/listener/impl/session_owner.ipp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A connection without encryption.
class plain_stream {
public:
    static constexpr bool encrypted = false;
    explicit plain_stream(session_socket socket) : stream_(std::move(socket)) {}

    [[nodiscard]] socket_stream& transport() noexcept { return stream_; }
    /// The stream of requests and responses.
    [[nodiscard]] socket_stream& data() noexcept { return stream_; }

private:
    socket_stream stream_;
};

/// One connection. Everything runs on its strand; one operation is in progress at a time.
template <class Stream>
class http_session final : public listener_session, public std::enable_shared_from_this<http_session<Stream>> {
public:
    http_session(std::shared_ptr<session_owner> owner, Stream stream, bool metrics)
        : owner_(std::move(owner)), stream_(std::move(stream)), metrics_(metrics) {
        error_code_type unknown;
        auto const peer = socket().remote_endpoint(unknown);
        address_ = unknown ? std::string{} : peer.address().to_string();
        auto const here = socket().local_endpoint(unknown);
        local_ = unknown ? std::string{"localhost"} : text::joined({"127.0.0.1:", std::to_string(here.port())});
        socket().set_option(boost::asio::ip::tcp::no_delay{true}, unknown);
    }
    ~http_session() override {
        give_back_body();
        owner_->closed(this);
    }
    http_session(http_session const&) = delete;
    http_session& operator=(http_session const&) = delete;

    void start() override {
        wait_as_stranger();
        boost::asio::dispatch(transport().get_executor(), [self = this->shared_from_this()] { self->begin(); });
    }
    void end_when_idle() override {
        boost::asio::post(transport().get_executor(), [self = this->shared_from_this()] {
            if (self->idle_) { self->close(); }
        });
    }
    void end_now() override {
        boost::asio::post(transport().get_executor(), [self = this->shared_from_this()] { self->close(); });
    }
    void give_way() override {
        waits_since_.store(0, memory_order::relaxed); // so that no second new connection selects it
        boost::asio::post(transport().get_executor(), [self = this->shared_from_this()] {
            if (self->waits_) { self->close(); }
        });
    }
    [[nodiscard]] std::shared_ptr<listener_session> alive() noexcept override { return this->weak_from_this().lock(); }

private:
    using error_code_type = boost::system::error_code;
    using request_parser = boost::beast::http::parser<true, grown_body>;

    static constexpr std::uint64_t known_sender = std::uint64_t{1} << 63U;

    [[nodiscard]] socket_stream& transport() noexcept { return stream_.transport(); }
    [[nodiscard]] session_socket& socket() noexcept { return transport().socket(); }

    void close() {
        error_code_type ignored;
        socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
        transport().close();
    }

    void begin() {
        if constexpr (Stream::encrypted) {
            begin_handshake();
        } else {
            wait_for_request();
        }
    }
    /// Waits for the first bytes with little memory. One limit holds for the whole handshake.
    void begin_handshake() {
        if (owner_->stopping()) { return close(); }
        idle_ = true;
        transport().expires_after(owner_->options().header_timeout);
        constexpr std::size_t first_bytes = 1024;
        transport().async_read_some(
            buffer_.prepare(first_bytes), [self = this->shared_from_this()](error_code_type problem, std::size_t size) {
                if (problem) { return self->close(); }
                self->buffer_.commit(size);
                constexpr char handshake_record = 22;
                if (self->received().front() != handshake_record) { return self->refuse_plain(); }
                self->finish_handshake();
            });
    }
    void finish_handshake() {
        stream_.async_handshake(
            buffer_.data(), [self = this->shared_from_this()](error_code_type problem, std::size_t used) {
                self->idle_ = false;
                if (problem) {
                    self->owner_->counts().failed_handshakes.fetch_add(1, memory_order::relaxed);
                    return self->give_up("the TLS handshake failed");
                }
                self->buffer_.consume(used);
                self->wait_for_request();
            });
    }
    /// Responds to a sender without TLS.
    void refuse_plain() {
        static constexpr std::string_view text =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 32\r\nConnection: close\r\n\r\n"
            "this port is served over HTTPS\r\n";
        idle_ = false;
        note_refused(400, "the request is not encrypted");
        bool const letter = received().front() >= 'A' && received().front() <= 'Z';
        if (!letter) { return close(); }
        boost::asio::async_write(transport(), boost::asio::buffer(text),
            [self = this->shared_from_this()](error_code_type problem, std::size_t) {
                if (problem) { return self->close(); }
                self->linger_unencrypted();
            });
    }

    /// From now on the connection gives way to a new one.
    void wait_as_stranger() noexcept { wait(0); }
    void wait(std::uint64_t rank) noexcept {
        auto const now = std::chrono::steady_clock::now().time_since_epoch();
        waits_ = true;
        waits_since_.store(
            rank | (static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) | 1U),
            memory_order::relaxed);
    }
    void begin_work() noexcept {
        waits_ = false;
        waits_since_.store(0, memory_order::relaxed);
    }

    /// Waits for the first bytes of a request, with little memory; those of the next request may have arrived already.
    void wait_for_request() {
        if (owner_->stopping()) { return close(); }
        blank_lines_ = 0;
        if (buffer_.size() != 0) { return read_header(); }
        constexpr std::size_t usual = 8 * 1024;
        if (buffer_.capacity() > usual) { buffer_ = {}; }
        idle_ = true;
        if (served_) { wait(known_sender); }
        auto const& options = owner_->options();
        transport().expires_after(
            served_ ? options.idle_timeout : (std::min)(options.idle_timeout, options.header_timeout));
        constexpr std::size_t first_bytes = 1024;
        stream_.data().async_read_some(
            buffer_.prepare(first_bytes), [self = this->shared_from_this()](error_code_type problem, std::size_t size) {
                self->idle_ = false;
                if (problem) { return self->close(); }
                self->buffer_.commit(size);
                self->read_header();
            });
    }

    void read_header() {
        constexpr std::size_t most_blank_lines = 8;
        while (begins_with_empty_line()) { // RFC 9112, 2.2
            if (++blank_lines_ > most_blank_lines) { return refuse(400, "the request is malformed"); }
            buffer_.consume(2);
        }
        transport().expires_after(owner_->options().header_timeout);
        if (served_) { begin_work(); }
        header_searched_ = 0;
        find_header();
    }

    [[nodiscard]] bool begins_with_empty_line() const noexcept { return received().starts_with("\r\n"); }
    /// The received bytes that no request has used.
    [[nodiscard]] std::string_view received() const noexcept {
        return {static_cast<char const*>(buffer_.data().data()), buffer_.size()};
    }

    /// Reads until the header is complete.
    void find_header() {
        std::string_view const text = received();
        std::size_t const end = text.find("\r\n\r\n", header_searched_);
        std::size_t const limit = owner_->options().max_header_size;
        if ((end == std::string_view::npos ? text.size() : end) > limit) {
            return refuse(431, "the header is too large");
        }
        if (end != std::string_view::npos) { return take_header(text.substr(0, end + 4)); }
        header_searched_ = text.size() < 3 ? 0 : text.size() - 3;
        constexpr std::size_t piece = 4 * 1024;
        stream_.data().async_read_some(
            buffer_.prepare(piece), [self = this->shared_from_this()](error_code_type problem, std::size_t size) {
                if (problem == boost::beast::error::timeout) { return self->give_up("the header arrived too slowly"); }
                if (problem) { return self->close(); }
                self->buffer_.commit(size);
                self->find_header();
            });
    }

    void take_header(std::string_view header) {
        namespace http = boost::beast::http;
        // RFC 9112, 5.2: a server may refuse a folded field; behind a proxy that reads it differently, refusing is safe.
        if (header.find("\r\n ") != std::string_view::npos || header.find("\r\n\t") != std::string_view::npos) {
            return refuse(400, "a header field is folded");
        }
        parser_.emplace();
        parser_->header_limit((std::numeric_limits<std::uint32_t>::max)());
        parser_->body_limit((std::numeric_limits<std::uint64_t>::max)()); // checked below, with the service's response
        error_code_type problem;
        std::size_t const used = parser_->put(boost::asio::const_buffer{header.data(), header.size()}, problem);
        if (problem || !parser_->is_header_done() || used != header.size()) {
            return refuse(400, "the request is malformed");
        }
        std::string_view const wrong = take_fields();
        buffer_.consume(used);
        if (!wrong.empty()) { return refuse(wrong_status_, wrong); }
        if (parser_->is_done()) { return answer(); }
        auto const announced = parser_->content_length();
        std::size_t const most = owner_->options().max_body_size;
        if (announced && *announced > most) { return refuse_body(); }
        parser_->body_limit(most);
        // A body that has arrived already takes no memory: the handler looks at its sender.
        if (expects_continue_ || !announced || *announced > buffer_.size()) {
            if (auto refusal = owner_->refusal(metrics_, request_, announced ? *announced : 0, sender())) {
                return refuse_with(*std::move(refusal));
            }
        }
        begin_work();
        parser_->eager(true);
        parser_->get().body().count_in(owner_->bodies());
        framing_ = 0;
        transport().expires_after(owner_->options().body_timeout);
        if (expects_continue_) {
            static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
            boost::asio::async_write(stream_.data(), boost::asio::buffer(go_on),
                [self = this->shared_from_this()](error_code_type failed, std::size_t) {
                    if (failed) { return self->close(); }
                    self->read_body();
                });
            return;
        }
        read_body();
    }

    /// Parses the received part of the body, and reads more until it is complete.
    void read_body() {
        namespace http = boost::beast::http;
        while (buffer_.size() != 0) {
            std::size_t const before = parser_->get().body().size();
            error_code_type problem;
            std::size_t const used = parser_->put(buffer_.data(), problem);
            buffer_.consume(used);
            framing_ += used - (parser_->get().body().size() - before);
            if (problem == http::error::body_limit) { return refuse_body(); }
            if (problem == grown_body::full()) { return refuse_full(); }
            if (problem && problem != http::error::need_more) { return refuse(400, "the body is malformed"); }
            if (parser_->is_done()) { return answer(); }
            // Sizes and extensions of chunks, and trailers, may not take many times the bytes of the body.
            constexpr std::size_t most_framing = 64 * 1024;
            if (framing_ > most_framing + 8 * parser_->get().body().size() || buffer_.size() > most_framing) {
                return refuse(400, "the body has more framing than content");
            }
            if (problem || used == 0) { break; }
        }
        constexpr std::uint64_t most = 16 * 1024;
        auto const left = (std::min)(parser_->content_length_remaining().value_or(most), most);
        stream_.data().async_read_some(buffer_.prepare(static_cast<std::size_t>((std::max)(left, std::uint64_t{1024}))),
            [self = this->shared_from_this()](error_code_type problem, std::size_t size) {
                if (problem == boost::beast::error::timeout) { return self->give_up("the body arrived too slowly"); }
                if (problem) { return self->close(); }
                self->buffer_.commit(size);
                self->read_body();
            });
    }

    [[nodiscard]] request_sender sender() const noexcept {
        return {.address = address_, .encrypted = Stream::encrypted};
    }

    /// Moves the header to the request, before a trailer can add to it. Returns an error text; empty if the header is valid.
    std::string_view take_fields() {
        namespace http = boost::beast::http;
        auto const& message = parser_->get();
        request_.forget_credential();
        request_.body.clear();
        keep_alive_ = message.version() >= 11 && message.keep_alive();
        expects_continue_ = false;
        wrong_status_ = 400;
        auto const method = method_named({message.method_string().data(), message.method_string().size()});
        if (!method) {
            wrong_status_ = 501;
            return "the method is unknown";
        }
        request_.method = *method;
        std::size_t lengths = 0;
        std::size_t codings = 0;
        std::size_t hosts = 0;
        std::string_view host = local_;
        for (auto const& field : message) {
            std::string_view const name{field.name_string().data(), field.name_string().size()};
            std::string_view const value{field.value().data(), field.value().size()};
            switch (field.name()) {
                case http::field::content_length:
                    ++lengths;
                    lengths += value.find(',') != std::string_view::npos ? 1U : 0U;
                    continue;
                case http::field::transfer_encoding:
                    ++codings;
                    if (!same_field_name(value, "chunked")) { return "the transfer encoding is unknown"; }
                    continue;
                case http::field::host:
                    ++hosts;
                    host = value;
                    continue;
                case http::field::expect:
                    if (!same_field_name(value, "100-continue")) {
                        wrong_status_ = 417;
                        return "the expectation is unknown";
                    }
                    expects_continue_ = message.version() >= 11;
                    continue;
                case http::field::connection:
                case http::field::keep_alive:
                case http::field::trailer:
                case http::field::te: continue;
                case http::field::upgrade: continue;
                default: break;
            }
            if (!request_.headers.add(name, value)) { return "a header field is malformed"; }
        }
        if (lengths > 1 || codings > 1 || (codings == 1 && (lengths != 0 || message.version() < 11))) {
            return "the length of the body is ambiguous";
        }
        if (hosts > 1 || (hosts == 0 && message.version() >= 11) ||
            host.find_first_of("/?#@\\") != std::string_view::npos) {
            return "the host is missing, malformed or repeated";
        }
        constexpr std::string_view scheme = Stream::encrypted ? "https://" : "http://";
        std::string_view const target{message.target().data(), message.target().size()};
        if (target.starts_with('/')) {
            request_.url.append(scheme).append(host).append(target);
        } else if (same_field_name(target.substr(0, scheme.size()), scheme)) {
            request_.url.append(scheme).append(target.substr(scheme.size()));
        } else {
            return "the target is not a valid address";
        }
        return {};
    }

    void answer() {
        begin_work();
        std::tie(request_.body, counted_) = parser_->get().body().take_counted();
        owner_->counts().received.fetch_add(request_.body.size(), memory_order::relaxed);
        response_ = owner_->answer(metrics_, request_, sender());
        served_ = served_ || response_.status < 400;
        request_.forget_credential();
        constexpr std::size_t large = 64 * 1024;
        if (request_.body.capacity() > large) { std::string{}.swap(request_.body); }
        give_back_body();
        parser_.reset();
        write(keep_alive_ && !owner_->stopping());
    }
    void give_back_body() noexcept { owner_->bodies().give_back(std::exchange(counted_, 0)); }

    /// Counts a request that did not reach the server, and reports it to the observer.
    void note_refused(std::uint16_t status, std::string_view why) {
        owner_->counts().malformed.fetch_add(1, memory_order::relaxed);
        if (observer* const watch = owner_->options().watch; watch != nullptr) {
            attempt_record made;
            made.name = why;
            made.begun = made.ended = std::chrono::steady_clock::now();
            made.outcome.status = status;
            made.outcome.error = error_code::invalid_input;
            watch->on_attempt(made);
        }
    }
    /// The timeout has closed the stream.
    void give_up(std::string_view why) {
        note_refused(408, why);
        close();
    }
    /// Responds to a request that did not reach the server, and closes the connection, because the start of the next request is unknown.
    void refuse(std::uint16_t status, std::string_view why) {
        note_refused(status, why);
        response_ = {};
        response_.status = status;
        response_.body = text::joined({why, "\n"});
        static_cast<void>(response_.headers.add("Content-Type", "text/plain"));
        end_refused();
    }
    /// Responds with the refusal of the gate. Its sender is not known, or its body is too large: the body is not read.
    void refuse_with(http_response refusal) {
        response_ = std::move(refusal);
        end_refused();
    }
    void end_refused() {
        parser_.reset();
        request_.forget_credential();
        request_.method = http_method::get;
        write(false);
    }
    /// Responds to a body beyond the limit, in the words of the handler if it has some.
    void refuse_body() {
        auto refusal = owner_->refusal(metrics_, request_, (std::numeric_limits<std::uint64_t>::max)(), sender());
        if (!refusal) { return refuse(413, "the body is too large"); }
        note_refused(refusal->status, "the body is too large");
        refuse_with(*std::move(refusal));
    }
    /// Responds to a body for which there is no memory: the sender can repeat it.
    void refuse_full() {
        note_refused(503, "the bodies of all requests are too large");
        response_ = {};
        response_.status = 503;
        static_cast<void>(response_.headers.add("Retry-After", "1"));
        static_cast<void>(response_.headers.add("x-ms-error-code", "ServerBusy"));
        end_refused();
    }

    void write(bool keep) {
        head_.clear();
        head_.append("HTTP/1.1 ")
            .append(std::to_string(response_.status))
            .append(" ")
            .append(reason_of(response_.status));
        head_.append("\r\n");
        response_.headers.for_each([&](std::string_view name, std::string_view value) {
            head_.append(name).append(": ").append(value).append("\r\n");
        });
        // RFC 9110, 8.6: these have neither a body nor its length.
        bool const bare = response_.status == 204 || response_.status == 304 || request_.method == http_method::head;
        if (bare) {
            response_.body.clear();
        } else {
            head_.append("Content-Length: ").append(std::to_string(response_.body.size())).append("\r\n");
        }
        head_.append(keep ? "\r\n" : "Connection: close\r\n\r\n");
        if constexpr (Stream::encrypted) { // a small response is one record
            constexpr std::size_t record = 16 * 1024;
            if (response_.body.size() <= record - head_.size() % record) {
                head_.append(response_.body);
                response_.body.clear();
            }
        }
        std::size_t const digit = response_.status / 100;
        owner_->counts().answers[digit < 6 ? digit : 5].fetch_add(1, memory_order::relaxed);
        std::array<boost::asio::const_buffer, 2> const parts{
            boost::asio::buffer(head_), boost::asio::buffer(response_.body)};
        transport().expires_after(owner_->options().body_timeout);
        boost::asio::async_write(
            stream_.data(), parts, [self = this->shared_from_this(), keep](error_code_type problem, std::size_t size) {
                self->owner_->counts().sent.fetch_add(size, memory_order::relaxed);
                constexpr std::size_t large = 64 * 1024;
                if (self->response_.body.capacity() > large) { self->response_ = {}; }
                if (problem) { return self->close(); }
                if (!keep) { return self->linger(); }
                self->wait_for_request();
            });
    }

    /// Briefly reads the sender's remaining data: closing a connection with unread bytes resets it, and the response may be lost.
    void linger() {
        wait_as_stranger();
        if constexpr (Stream::encrypted) {
            transport().expires_after(std::chrono::seconds{1});
            stream_.data().async_shutdown(
                [self = this->shared_from_this()](error_code_type) { self->linger_unencrypted(); });
        } else {
            linger_unencrypted();
        }
    }
    void linger_unencrypted() {
        error_code_type ignored;
        socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
        buffer_.consume(buffer_.size());
        transport().expires_after(std::chrono::seconds{1});
        drain();
    }
    void drain() {
        constexpr std::size_t piece = 16 * 1024;
        constexpr std::size_t most = 1024 * 1024;
        transport().async_read_some(
            buffer_.prepare(piece), [self = this->shared_from_this()](error_code_type problem, std::size_t size) {
                self->drained_ += size;
                if (problem || self->drained_ > most) { return self->close(); }
                self->drain();
            });
    }

    std::shared_ptr<session_owner> owner_;
    Stream stream_;
    boost::beast::flat_buffer buffer_;
    std::optional<request_parser> parser_;
    http_request request_;
    http_response response_;
    std::string head_;
    std::string address_; ///< address of the client
    std::string local_;   ///< host name of requests without a Host field
    std::size_t drained_{};
    std::size_t header_searched_{}; ///< bytes in which no header ends
    std::size_t blank_lines_{};     ///< empty lines before a request
    std::size_t framing_{};         ///< bytes of a chunked body that are not its content
    std::size_t counted_{};         ///< bytes of the budget that the body of the request takes
    std::uint16_t wrong_status_{400};
    bool metrics_{};
    bool idle_{};
    bool waits_{};  ///< waits for its sender
    bool served_{}; ///< a request of the sender succeeded
    bool keep_alive_{};
    bool expects_continue_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
