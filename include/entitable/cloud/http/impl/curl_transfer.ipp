// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/cloud/http/detail/response_reader.hpp>
#include <entitable/cloud/http/impl/response_reader.ipp>
#include <entitable/cloud/http/impl/url.ipp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <curl/curl.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#if !defined(_WIN32)
#include <sys/socket.h>
#endif

#if LIBCURL_VERSION_NUM < 0x075700
#error "entitable/cloud/http/curl_client.hpp needs libcurl 7.87 or newer"
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Checks that a request may still be sent.
ENTITABLE_DECL result<void> check_http_call(http_call const& call) {
    if (call.cancellation.cancelled()) { return failure{error_code::cancelled, "the call was cancelled"}; }
    if (call.deadline != (steady_time::max)() && system_clock().steady() >= call.deadline) {
        return failure{error_code::deadline_exceeded, "the deadline of the call has passed"};
    }
    return {};
}

/// Whether the request is sent with a body, which may be empty.
[[nodiscard]] inline bool has_body(http_request const& request) noexcept {
    return request.method == http_method::post || request.method == http_method::put ||
        request.method == http_method::merge || request.method == http_method::patch || !request.body.empty();
}

/// One request in flight on one easy handle.
class curl_transfer {
public:
    explicit curl_transfer(curl_options const& options) : options_(options), easy_(curl_easy_init()) {
        if (easy_ != nullptr) { set_up(); }
    }
    curl_transfer(curl_transfer const&) = delete;
    curl_transfer& operator=(curl_transfer const&) = delete;
    ~curl_transfer() {
        curl_easy_cleanup(easy_);
        curl_url_cleanup(server_address_);
    }

    [[nodiscard]] CURL* easy() const noexcept { return easy_; }

    /// Prepares the handle for `request`, which must not change until the transfer has ended.
    [[nodiscard]] result<void> begin(http_request const& request, http_call const& call);
    /// Whether libcurl has finished because the system had no socket left: the request was not sent, and may be started again.
    [[nodiscard]] bool lacks_socket() const noexcept { return no_socket_ && !sent_ && ended && *ended != CURLE_OK; }
    /// Prepares the handle for the same request again; its time runs on.
    void begin_again();
    /// Returns the result, once libcurl has finished.
    [[nodiscard]] result<http_response> finish(CURLcode code);
    /// Returns the result of a transfer that is ended early, because it takes too long or on request.
    [[nodiscard]] result<http_response> end(error why) {
        if (why.code != error_code::cancelled && reader_.counts_as_it_is()) { return reader_.take(); }
        why.effect = sent_ ? effect::unknown : effect::none;
        return failure{std::move(why)};
    }
    /// Returns the reason to end the transfer now; nullopt if it may continue.
    [[nodiscard]] std::optional<error> overdue(steady_time now) const {
        if (auto const over = check_http_call(call_); !over) { return over.error(); }
        if (ends <= now) {
            return error{error_code::transport_failed,
                text::joined({"no complete response within ", std::to_string(call_.request_timeout.count()), " ms"})};
        }
        return std::nullopt;
    }
    /// Returns the error of a transfer that is ended early.
    [[nodiscard]] failure gave_up(error_code code, std::string_view why) const {
        entitable::error problem{code, std::string{why}};
        problem.effect = sent_ ? effect::unknown : effect::none;
        return failure{std::move(problem)};
    }

    void* tag{};                            ///< identifies its response
    steady_time ends{(steady_time::max)()}; ///< time at which the transfer is ended because it takes too long
    std::optional<CURLcode> ended;          ///< set once libcurl has finished
    std::vector<curl_transfer*>* told{};    ///< receives the transfer at its end; has space reserved for it
    std::size_t place{};                    ///< its index among the transfers in flight

private:
    template <class Value>
    void set(CURLoption option, Value value) {
        usable_ = curl_easy_setopt(easy_, option, value) == CURLE_OK && usable_;
    }
    void set_up();
    void set_url(std::string const& url, std::string_view path);
    [[nodiscard]] bool set_server(std::string_view server);
    void set_method(http_request const& request);
    [[nodiscard]] result<void> set_headers(http_request const& request);
    void add_header(char const* line) {
        // libcurl only reads the list.
        lines_.push_back(const_cast<char*>(line));
    }

    static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
        auto& self = *static_cast<curl_transfer*>(transfer);
        bool const read = self.guarded([&] { return self.reader_.header_line({bytes, size * count}); });
        if (self.reader_.counts_as_it_is()) { // an error status counts without its body, which only explains it
            constexpr std::chrono::seconds wait_budget{5};
            steady_time const latest = system_clock().steady() + wait_budget;
            self.ends = latest < self.ends ? latest : self.ends;
        }
        return read ? size * count : 0;
    }
    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer) {
        auto& self = *static_cast<curl_transfer*>(transfer);
        return self.guarded([&] { return self.reader_.body({bytes, size * count}); }) ? size * count : 0;
    }
#if !defined(_WIN32)
    static curl_socket_t on_socket_needed(void* transfer, curlsocktype, curl_sockaddr* address) noexcept {
        auto& self = *static_cast<curl_transfer*>(transfer);
#if defined(SOCK_CLOEXEC)
        int const made = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
        int const made = ::socket(address->family, address->socktype, address->protocol);
#endif
        if (made >= 0) { return made; }
        self.no_socket_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return CURL_SOCKET_BAD;
    }
#endif
    /// Called when there is a connection, right before the request is sent. Called again if libcurl found a reused connection dead and
    /// sends again: only a request that changes nothing may be sent twice.
    static int on_connected(void* transfer, char*, char*, int, int) {
        auto& self = *static_cast<curl_transfer*>(transfer);
        bool const again = self.sent_;
        self.sent_ = true;
        return again && !self.harmless_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
    }

    /// Stops exceptions before libcurl.
    template <class Read>
    bool guarded(Read const& read) noexcept {
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            return read();
        } catch (...) {
            out_of_memory_ = true;
            return false;
        }
#else
        return read();
#endif
    }

    curl_options const& options_;
    CURL* const easy_;
    response_reader reader_;
    http_request const* request_{};
    http_call call_;
    std::string_view host_;
    CURLU* const server_address_{curl_url()};
    std::string server_; ///< what libcurl has in parsed form: scheme, host and port
    std::string method_;
    std::vector<char*> lines_;
    std::vector<curl_slist> list_;
    std::vector<std::string> empty_fields_; ///< empty header fields in the form that libcurl requires
    char text_[CURL_ERROR_SIZE]{};
    bool usable_{true};
    bool sent_{};     ///< part of the request may have reached the server
    bool harmless_{}; ///< the request changes nothing
    bool out_of_memory_{};
    bool no_socket_{}; ///< the system had no socket left
};

ENTITABLE_DECL void curl_transfer::set_up() {
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_QUICK_EXIT, 1L); // ending early does not wait for the resolver
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_HTTP09_ALLOWED, 0L);
    set(CURLOPT_PROXY, options_.proxy.c_str()); // an empty proxy overrides the environment
    set(CURLOPT_NOPROXY, "");
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!options_.ca_file.empty()) { set(CURLOPT_CAINFO, options_.ca_file.c_str()); }
    if (!options_.ca_directory.empty()) { set(CURLOPT_CAPATH, options_.ca_directory.c_str()); }
    bool const two = options_.version == http_version::http_2;
    set(CURLOPT_HTTP_VERSION, static_cast<long>(two ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    set(CURLOPT_PIPEWAIT, two ? 1L : 0L);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    set(CURLOPT_MAXAGE_CONN, static_cast<long>(options_.idle_timeout.count()));
    set(CURLOPT_HEADERFUNCTION, &curl_transfer::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &curl_transfer::on_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_PREREQFUNCTION, &curl_transfer::on_connected);
    set(CURLOPT_PREREQDATA, this);
#if !defined(_WIN32)
    set(CURLOPT_OPENSOCKETFUNCTION, &curl_transfer::on_socket_needed);
    set(CURLOPT_OPENSOCKETDATA, this);
#endif
    set(CURLOPT_ERRORBUFFER, &text_[0]);
    set(CURLOPT_PRIVATE, this);
}

ENTITABLE_DECL result<void> curl_transfer::begin(http_request const& request, http_call const& call) {
    request_ = &request;
    call_ = call;
    ended.reset();
    sent_ = false;
    out_of_memory_ = false;
    no_socket_ = false;
    text_[0] = '\0';
    ENTITABLE_TRY(auto url, parse_url(request.url, "the URL of the request"));
    if (!url.encrypted && !url.is_loopback() && !(options_.link_local_http && url.is_link_local())) {
        return failure{error_code::invalid_input, "http without TLS is allowed only to this computer; use https"};
    }
    host_ = url.host;
    harmless_ = request.method == http_method::get || request.method == http_method::head ||
        request.method == http_method::options;
    reader_.begin(request.method, call);
    ends = call.deadline;
    if (call.request_timeout.count() > 0) {
        steady_time const now = system_clock().steady();
        if (call.request_timeout < std::chrono::duration_cast<std::chrono::milliseconds>(ends - now)) {
            ends = now + call.request_timeout;
        }
    }
    if (auto good = set_headers(request); !good) { return good; }
    set_url(request.url, url.path);
    set_method(request);
    if (!usable_) { return failure{error_code::internal_error, "libcurl rejected the client's options"}; }
    return {};
}

ENTITABLE_DECL void curl_transfer::begin_again() {
    ended.reset();
    no_socket_ = false;
    text_[0] = '\0';
    reader_.begin(request_->method, call_);
}

/// Given a URL, libcurl parses it and writes it out again for each request, byte by byte. So it gets the server in parsed form, which a handle
/// remembers, and the rest as it is sent.
ENTITABLE_DECL void curl_transfer::set_url(std::string const& url, std::string_view path) {
    // A proxy needs the whole URL.
    bool const split = options_.proxy.empty() && !path.empty() &&
        set_server(std::string_view{url}.substr(0, static_cast<std::size_t>(path.data() - url.data())));
    if (split) {
        set(CURLOPT_REQUEST_TARGET, path.data()); // the rest of the URL, with its NUL
    } else {
        server_.clear();
        set(CURLOPT_CURLU, static_cast<CURLU*>(nullptr));
        set(CURLOPT_REQUEST_TARGET, static_cast<char const*>(nullptr));
        set(CURLOPT_URL, url.c_str());
    }
}

/// Returns false if libcurl rejects the address of the server.
ENTITABLE_DECL bool curl_transfer::set_server(std::string_view server) {
    if (server_ == server) { return true; }
    server_ = server;
    if (curl_url_set(server_address_, CURLUPART_URL, server_.c_str(), 0) != CURLUE_OK) { return false; }
    set(CURLOPT_URL, server_.c_str()); // never that of another server
    set(CURLOPT_CURLU, server_address_);
    return true;
}

ENTITABLE_DECL void curl_transfer::set_method(http_request const& request) {
    // A handle remembers the method of the previous request.
    if (std::string_view const name = to_string(request.method); method_ != name) {
        method_ = name;
        set(CURLOPT_CUSTOMREQUEST, method_.c_str());
    }
    if (request.method == http_method::head) {
        set(CURLOPT_NOBODY, 1L);
    } else if (has_body(request)) {
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDS, request.body.data());
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    } else {
        set(CURLOPT_HTTPGET, 1L);
    }
}

ENTITABLE_DECL result<void> curl_transfer::set_headers(http_request const& request) {
    static constexpr std::string_view own[] = {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect",
        "Accept-Encoding", "TE", "Trailer", "Upgrade"};
    constexpr unsigned own_sizes = [] { // few other names have one of these sizes
        unsigned sizes = 0;
        for (std::string_view const reserved : own) { sizes |= 1U << reserved.size(); }
        return sizes;
    }();
    std::string const& block = request.headers.text();
    lines_.clear();
    empty_fields_.clear();
    bool accepts = false;
    bool has_type = false;
    bool refused = false;
    request.headers.for_each([&](std::string_view name, std::string_view value) {
        if (name.size() < 32 && (own_sizes >> name.size() & 1U) != 0) {
            for (std::string_view const reserved : own) { refused = refused || same_field_name(name, reserved); }
        }
        accepts = accepts || same_field_name(name, "Accept");
        has_type = has_type || same_field_name(name, "Content-Type");
        if (value.empty()) {
            empty_fields_.push_back(text::joined({name, ";"}));
        } else {
            // name, colon, value and NUL are contiguous
            add_header(block.c_str() + (name.data() - block.data()));
        }
    });
    if (refused) {
        return failure{error_code::invalid_input,
            "the request has a header field that the client writes itself, or a header field for an unsupported "
            "feature"};
    }
    for (std::string const& field : empty_fields_) { add_header(field.c_str()); }
    // Suppresses the fields that libcurl adds by default; to a request without a body it adds only `Accept`.
    if (!accepts) { add_header("Accept:"); }
    if (has_body(request)) {
        add_header("Expect:");
        if (!has_type) { add_header("Content-Type:"); }
    }
    list_.resize(lines_.size());
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        list_[i] = {lines_[i], i + 1 < lines_.size() ? &list_[i + 1] : nullptr};
    }
    set(CURLOPT_HTTPHEADER, list_.data());
    return {};
}

ENTITABLE_DECL result<http_response> curl_transfer::finish(CURLcode code) {
    if (!out_of_memory_ && reader_.has_header() && (code == CURLE_OK || reader_.counts_as_it_is())) {
        return reader_.take();
    }
    if (out_of_memory_) { return gave_up(error_code::transport_failed, "out of memory for the response"); }
    if (!reader_.refusal().empty()) {
        return gave_up(error_code::transport_failed, text::joined({"invalid response: ", reader_.refusal()}));
    }
    if (!sent_) {
        // libcurl's messages about proxies may contain their passwords.
        std::string_view const more = options_.proxy.empty() ? std::string_view{text_} : std::string_view{};
        return gave_up(error_code::transport_failed,
            text::joined(
                {"no connection to ", host_, ": ", more.empty() ? curl_easy_strerror(code) : text::printable(more)}));
    }
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return gave_up(error_code::transport_failed,
            text::joined({"the connection to ", host_,
                " closed before the response; the request was not sent again, because a write must not be sent "
                "twice"}));
    }
    return gave_up(error_code::transport_failed,
        text::joined(
            {"no complete response from ", host_, ": ", code == CURLE_OK ? "no header" : curl_easy_strerror(code)}));
}

} // namespace detail
ENTITABLE_END_NAMESPACE
