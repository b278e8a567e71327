// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/serve/listener/http_listener.hpp>
#include <entitable/serve/listener/impl/http_session.ipp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The state of a listener: sockets, connections, threads. Sessions keep it alive.
class listener_state final : public session_owner, public std::enable_shared_from_this<listener_state> {
public:
    listener_state(http_handler handler, http_gate gate, listener_options options)
        : handler_(std::move(handler)), gate_(std::move(gate)), options_(std::move(options)) {}

    result<void> listen() {
        if (options_.encryption.lacks_certificate()) {
            return failure{
                error_code::invalid_input, "listener_options::encryption has no certificate: it was moved from"};
        }
        error_code_type problem;
        auto const address =
            boost::asio::ip::make_address(options_.address == "localhost" ? "127.0.0.1" : options_.address, problem);
        if (problem) {
            return failure{error_code::invalid_input, "listener_options::address is not an address of this computer"};
        }
        if (!address.is_loopback() && !options_.beyond_loopback) {
            return failure{error_code::invalid_input,
                "listener_options::address is not a loopback address; set beyond_loopback to allow it"};
        }
        if (auto opened = open(main_, {address, options_.port}, port_); !opened) { return opened; }
        return options_.metrics_port ? open(metrics_, {address, *options_.metrics_port}, metrics_port_)
                                     : result<void>{};
    }
    std::uint16_t port() const noexcept { return port_.load(memory_order::acquire); }
    std::uint16_t metrics_port() const noexcept { return metrics_port_.load(memory_order::acquire); }

    void run() {
        work_.emplace(context_.get_executor());
        accept(main_, false);
        if (metrics_port() != 0) { accept(metrics_, true); }
        unsigned const processors = std::thread::hardware_concurrency();
        unsigned const wanted = options_.threads != 0 ? options_.threads : processors != 0 ? processors : 1;
        std::vector<std::thread> threads;
        auto const add = [&] {
            threads.emplace_back([this] { context_.run(); });
            total_.fetch_add(1, memory_order::relaxed);
        };
        while (threads.size() < wanted) { add(); }
        // Requests are handled by the I/O threads. If all of them are in a transport without progress, another thread is added, so that no
        // connection waits for it.
        std::unique_lock guard{lock_};
        std::uint64_t finished = 0;
        while (!stopped_) {
            wake_.wait_for(guard, std::chrono::milliseconds{20});
            std::uint64_t const now = counts_.finished.load(memory_order::relaxed);
            bool const stuck = now == finished && busy_.load(memory_order::relaxed) >= threads.size();
            finished = now;
            return_memory();
            if (stuck && threads.size() < options_.max_threads) { add(); }
        }
        guard.unlock();
        close_acceptors();
        for (auto const& each : alive()) { each->end_when_idle(); }
        guard.lock();
        wake_.wait_for(guard, options_.stop_timeout, [this] { return sessions_.empty(); });
        guard.unlock();
        for (auto const& each : alive()) { each->end_now(); }
        work_.reset();
        for (std::thread& each : threads) { each.join(); }
    }

    void stop() noexcept {
        {
            std::lock_guard const guard{lock_};
            stopped_ = true;
        }
        stopping_.store(true, memory_order::release);
        wake_.notify_all();
    }

    std::string metrics() const {
        std::string made;
        auto const line = [&](std::string_view name, std::string_view labels, std::uint64_t value) {
            made += text::joined({name, labels, " ", std::to_string(value), "\n"});
        };
        auto const of = [](atomic<std::uint64_t> const& value) { return value.load(memory_order::relaxed); };
        made += "# TYPE entitable_answers counter\n";
        for (std::size_t digit = 2; digit < 6; ++digit) {
            line("entitable_answers_total", text::joined({"{status=\"", std::to_string(digit), "xx\"}"}),
                of(counts_.answers[digit]));
        }
        made += "# TYPE entitable_answer_seconds summary\n";
        line("entitable_answer_seconds_count", "", of(counts_.finished));
        made += text::joined({"entitable_answer_seconds_sum ",
            std::to_string(static_cast<double>(of(counts_.nanoseconds)) * 1e-9), "\n"});
        made += "# TYPE entitable_connections counter\n";
        line("entitable_connections_total", "", of(counts_.connections));
        made += "# TYPE entitable_connections_turned_away counter\n";
        line("entitable_connections_turned_away_total", "", of(counts_.turned_away));
        made += "# TYPE entitable_connections_gave_way counter\n";
        line("entitable_connections_gave_way_total", "", of(counts_.gave_way));
        made += "# TYPE entitable_body_bytes gauge\n";
        line("entitable_body_bytes", "", bodies_.used());
        made += "# TYPE entitable_malformed_requests counter\n";
        line("entitable_malformed_requests_total", "", of(counts_.malformed));
        made += "# TYPE entitable_failed_handshakes counter\n";
        line("entitable_failed_handshakes_total", "", of(counts_.failed_handshakes));
        made += "# TYPE entitable_open_connections gauge\n";
        line("entitable_open_connections", "", of(counts_.open));
        made += "# TYPE entitable_threads gauge\n";
        line("entitable_threads", "", of(total_));
        made += "# TYPE entitable_received_bytes counter\n";
        line("entitable_received_bytes_total", "", of(counts_.received));
        made += "# TYPE entitable_sent_bytes counter\n";
        line("entitable_sent_bytes_total", "", of(counts_.sent));
        made += "# EOF\n";
        return made;
    }

    // ---- for sessions ----

    listener_options const& options() const noexcept override { return options_; }
    listener_counts& counts() noexcept override { return counts_; }
    bool stopping() const noexcept override { return stopping_.load(memory_order::acquire); }
    body_budget& bodies() noexcept override { return bodies_; }
    std::optional<http_response> refusal(
        bool metrics, http_request const& head, std::uint64_t body_size, request_sender const& from) override {
        if (metrics || !gate_) { return std::nullopt; }
        std::optional<http_response> made;
        auto const failed = caught([&] { made = gate_(head, body_size, from); });
        return failed ? failed : made;
    }
    http_response answer(bool metrics, http_request const& request, request_sender const& from) override {
        if (metrics) { return answer_metrics(request); }
        busy_.fetch_add(1, memory_order::relaxed);
        auto const begun = std::chrono::steady_clock::now();
        http_response made;
        if (auto failed = caught([&] { made = handler_(request, from); })) { made = *std::move(failed); }
        auto const took =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun);
        counts_.nanoseconds.fetch_add(static_cast<std::uint64_t>(took.count()), memory_order::relaxed);
        counts_.finished.fetch_add(1, memory_order::relaxed);
        busy_.fetch_sub(1, memory_order::relaxed);
        return made;
    }
    void closed(listener_session* session) noexcept override {
        counts_.open.fetch_sub(1, memory_order::relaxed);
        std::lock_guard const guard{lock_};
        sessions_.erase(session);
        if (sessions_.empty()) { wake_.notify_all(); }
    }

private:
    using error_code_type = boost::system::error_code;
    using acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, session_executor>;

    static result<void> open(acceptor& to, boost::asio::ip::tcp::endpoint const& at, atomic<std::uint16_t>& port) {
        if (to.is_open()) {
            return {}; // an earlier call opened the socket
        }
        error_code_type problem;
        auto const step = [&](auto const& act) {
            if (!problem) { act(); }
        };
        step([&] { to.open(at.protocol(), problem); });
        step([&] { to.set_option(boost::asio::socket_base::reuse_address{true}, problem); });
        step([&] { to.bind(at, problem); });
        step([&] { to.listen(boost::asio::socket_base::max_listen_connections, problem); });
        step([&] { port.store(to.local_endpoint(problem).port(), memory_order::release); });
        if (problem) {
            error_code_type ignored;
            to.close(ignored);
            return failure{error_code::store_failed,
                text::joined({"port ", std::to_string(at.port()), " cannot be opened: ", problem.message()})};
        }
        return {};
    }

    void accept(acceptor& on, bool metrics) {
        on.async_accept(boost::asio::make_strand(context_),
            [self = shared_from_this(), &on, metrics](error_code_type problem, session_socket socket) {
                if (!on.is_open() || self->stopping()) { return; }
                if (!problem) {
                    self->begin(std::move(socket), metrics);
                    return self->accept(on, metrics);
                }
                // The process may be out of file descriptors, some of which will be closed.
                auto const pause =
                    std::make_shared<boost::asio::steady_timer>(self->context_, std::chrono::milliseconds{50});
                pause->async_wait([self, &on, metrics, pause](error_code_type) { self->accept(on, metrics); });
            });
    }
    void begin(session_socket socket, bool metrics) {
        counts_.connections.fetch_add(1, memory_order::relaxed);
        if (counts_.open.load(memory_order::relaxed) >= options_.max_connections && !make_room()) {
            counts_.turned_away.fetch_add(1, memory_order::relaxed);
            static constexpr std::string_view full =
                "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            error_code_type ignored;
            socket.non_blocking(true, ignored);
            socket.write_some(boost::asio::buffer(full), ignored);
            socket.shutdown(session_socket::shutdown_send, ignored);
            return;
        }
        counts_.open.fetch_add(1, memory_order::relaxed);
        auto const* const encryption = metrics ? nullptr : options_.encryption.maker();
        std::shared_ptr<listener_session> const made = encryption != nullptr
            ? encryption->make(shared_from_this(), std::move(socket))
            : std::make_shared<http_session<plain_stream>>(
                  shared_from_this(), plain_stream{std::move(socket)}, metrics);
        {
            std::lock_guard const guard{lock_};
            sessions_.insert(made.get());
        }
        made->start();
    }

    void close_acceptors() {
        for (acceptor* const each : {&main_, &metrics_}) {
            boost::asio::post(each->get_executor(), [self = shared_from_this(), each] {
                error_code_type ignored;
                each->close(ignored);
            });
        }
    }
    /// Returns the sessions, kept alive: the last owner of a session must not release it while holding the lock.
    std::vector<std::shared_ptr<listener_session>> alive() {
        std::vector<std::shared_ptr<listener_session>> made;
        std::lock_guard const guard{lock_};
        for (listener_session* const each : sessions_) {
            if (auto one = each->alive()) { made.push_back(std::move(one)); }
        }
        return made;
    }

    /// Closes the connection that has waited longest for its sender. Returns false if none waits.
    bool make_room() {
        std::shared_ptr<listener_session> chosen;
        {
            std::lock_guard const guard{lock_};
            listener_session* longest = nullptr;
            std::uint64_t since = (std::numeric_limits<std::uint64_t>::max)();
            for (listener_session* const each : sessions_) {
                std::uint64_t const waits = each->waits_since();
                if (waits != 0 && waits < since) {
                    longest = each;
                    since = waits;
                }
            }
            if (longest != nullptr) { chosen = longest->alive(); }
        }
        if (!chosen) { return false; }
        counts_.gave_way.fetch_add(1, memory_order::relaxed);
        chosen->give_way();
        return true;
    }

    /// Returns freed memory to the system after many or large requests: the allocator keeps it otherwise.
    void return_memory() {
        constexpr std::uint64_t of_connection = 16 * 1024;
        constexpr std::uint64_t worth = 16 * 1024 * 1024;
        constexpr int pause = 25; // half a second
        std::uint64_t const now = bodies_.used() + of_connection * counts_.open.load(memory_order::relaxed);
        if (memory_pause_ > 0) { --memory_pause_; }
        if (now > most_memory_) {
            most_memory_ = now;
        } else if (most_memory_ - now >= worth && now < most_memory_ / 2 && memory_pause_ == 0) {
#if defined(__GLIBC__)
            ::malloc_trim(0);
#endif
            most_memory_ = now;
            memory_pause_ = pause;
        }
    }

    /// Calls a function of the user. Returns the response to an exception.
    template <class F>
    static std::optional<http_response> caught(F const& call) {
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            call();
        } catch (...) { // catches any exception: from the user's transport, or std::bad_alloc
            http_response made;
            made.status = 500;
            return made;
        }
#else
        call();
#endif
        return std::nullopt;
    }

    http_response answer_metrics(http_request const& request) {
        http_response made;
        if (!request.url.ends_with("/metrics")) {
            made.status = 404;
            return made;
        }
        made.status = 200;
        static_cast<void>(
            made.headers.add("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8"));
        made.body = metrics();
        return made;
    }

    http_handler const handler_;
    http_gate const gate_;
    listener_options const options_;
    body_budget bodies_{options_.max_body_bytes};
    listener_counts counts_;
    boost::asio::io_context context_;
    acceptor main_{boost::asio::make_strand(context_)};
    acceptor metrics_{boost::asio::make_strand(context_)};
    atomic<std::uint16_t> port_{0};
    atomic<std::uint16_t> metrics_port_{0};
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
    atomic<std::uint64_t> busy_{0};  ///< threads that are inside a transport call
    atomic<std::uint64_t> total_{0}; ///< threads
    atomic<bool> stopping_{false};
    std::uint64_t most_memory_{}; ///< estimate of the memory of requests since memory was last returned; used by `run`
    int memory_pause_{};          ///< rounds of `run` until memory may be returned again
    std::mutex lock_;
    std::condition_variable wake_;
    bool stopped_{};                                 ///< guarded by lock_
    std::unordered_set<listener_session*> sessions_; ///< guarded by lock_
};

} // namespace detail

ENTITABLE_DECL http_listener::http_listener(http_handler handler, http_gate gate, listener_options options)
    : state_(std::make_shared<detail::listener_state>(std::move(handler), std::move(gate), std::move(options))) {}
ENTITABLE_DECL http_listener::~http_listener() = default;

ENTITABLE_DECL result<void> http_listener::listen() { return state_->listen(); }
ENTITABLE_DECL std::uint16_t http_listener::port() const noexcept { return state_->port(); }
ENTITABLE_DECL std::uint16_t http_listener::metrics_port() const noexcept { return state_->metrics_port(); }

ENTITABLE_DECL std::string http_listener::metrics() const { return state_->metrics(); }

ENTITABLE_DECL result<void> http_listener::run() {
    if (auto opened = state_->listen(); !opened) { return opened; }
    state_->run();
    return {};
}

ENTITABLE_DECL void http_listener::stop() noexcept { state_->stop(); }

ENTITABLE_END_NAMESPACE
