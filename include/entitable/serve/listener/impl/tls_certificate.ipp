// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/serve/listener/impl/http_session.ipp>
#include <entitable/serve/listener/tls_certificate.hpp>
#include <entitable/serve/server/detail/regular_file.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A connection with TLS. OpenSSL's memory of a connection, about 70 KB, is taken once its sender has sent something.
class tls_stream {
public:
    static constexpr bool encrypted = true;
    tls_stream(session_socket socket, std::shared_ptr<boost::asio::ssl::context> context)
        : stream_(std::move(socket)), context_(std::move(context)) {}

    [[nodiscard]] socket_stream& transport() noexcept { return stream_; }
    /// The stream of requests and responses, after `async_handshake`.
    [[nodiscard]] boost::asio::ssl::stream<socket_stream&>& data() noexcept { return *secured_; }

    /// `received` holds the first bytes of the sender.
    template <class Handler>
    void async_handshake(boost::asio::const_buffer received, Handler&& handler) {
        secured_.emplace(stream_, *context_);
        secured_->async_handshake(boost::asio::ssl::stream_base::server, received, std::forward<Handler>(handler));
    }

private:
    socket_stream stream_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    std::optional<boost::asio::ssl::stream<socket_stream&>> secured_;
};

/// Selects http/1.1 among the protocols that a client offers (RFC 7301).
inline int select_protocol(SSL*, unsigned char const** chosen, unsigned char* chosen_size, unsigned char const* offered,
    unsigned int offered_size, void*) {
    constexpr std::string_view only = "http/1.1";
    std::string_view rest{reinterpret_cast<char const*>(offered), offered_size};
    while (!rest.empty()) {
        std::size_t const size = static_cast<unsigned char>(rest.front());
        if (size >= rest.size()) { break; }
        if (rest.substr(1, size) == only) {
            *chosen = reinterpret_cast<unsigned char const*>(rest.data() + 1);
            *chosen_size = static_cast<unsigned char>(size);
            return SSL_TLSEXT_ERR_OK;
        }
        rest.remove_prefix(1 + size);
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Reads the files of a certificate into a context of OpenSSL.
class tls_reader {
public:
    explicit tls_reader(tls_files const& files) : files_(files) {}

    result<std::shared_ptr<boost::asio::ssl::context>> read() {
        namespace ssl = boost::asio::ssl;
        ERR_clear_error();
        if (auto readable = check_readable("certificate", files_.certificate); !readable) {
            return std::move(readable).as_failure();
        }
        if (auto readable = check_readable("key", files_.key); !readable) { return std::move(readable).as_failure(); }
        auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
        SSL_CTX* const context = made->native_handle();
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
        SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); // clients keep their tickets
        SSL_CTX_set_alpn_select_cb(context, &select_protocol, nullptr);
        // Without this function OpenSSL would ask for a password on the terminal.
        SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
        if (SSL_CTX_use_certificate_chain_file(context, files_.certificate.c_str()) != 1) {
            return wrong("certificate", files_.certificate, "holds no certificate that can be used, in PEM form");
        }
        if (X509_cmp_current_time(X509_get0_notAfter(SSL_CTX_get0_certificate(context))) < 0) {
            return failure{error_code::invalid_input,
                text::joined(
                    {"the certificate in ", files_.certificate, " expired at ", expiry_of(*made).to_string()})};
        }
        if (SSL_CTX_use_PrivateKey_file(context, files_.key.c_str(), SSL_FILETYPE_PEM) != 1) {
            unsigned long const reason = ERR_peek_last_error();
            bool const differs = ERR_GET_LIB(reason) == ERR_LIB_X509;
            return differs ? does_not_match()
                           : wrong("key", files_.key, "holds no private key without a password, in PEM form");
        }
        if (SSL_CTX_check_private_key(context) != 1) { return does_not_match(); }
        return made;
    }

    static date_time expiry_of(boost::asio::ssl::context& context) {
        std::tm at{};
        ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context.native_handle())), &at);
        using namespace std::chrono;
        auto const day = year{at.tm_year + 1900} / month{static_cast<unsigned>(at.tm_mon + 1)} /
            std::chrono::day{static_cast<unsigned>(at.tm_mday)};
        auto const time = sys_days{day} + hours{at.tm_hour} + minutes{at.tm_min} + seconds{at.tm_sec};
        return date_time::from_system(time);
    }

private:
    static result<void> check_readable(std::string_view what, std::string const& path) {
        std::string why;
        std::FILE* const file = open_regular_file(path, why);
        if (file == nullptr) {
            return failure{error_code::invalid_input,
                text::joined({"cannot read the ", what, " file ", path.empty() ? "(no name)" : path, ": ", why})};
        }
        static_cast<void>(std::fclose(file));
        return {};
    }
    static failure wrong(std::string_view what, std::string const& path, std::string_view why) {
        char const* const reason = ERR_reason_error_string(ERR_peek_last_error());
        std::string const text = reason == nullptr ? std::string{} : text::joined({": ", reason});
        ERR_clear_error();
        return failure{error_code::invalid_input, text::joined({"the ", what, " file ", path, " ", why, text})};
    }
    [[nodiscard]] failure does_not_match() const {
        ERR_clear_error();
        return failure{error_code::invalid_input,
            text::joined({"the key in ", files_.key, " does not belong to the certificate in ", files_.certificate})};
    }

    tls_files const& files_;
};

/// A certificate that can be replaced while connections use it.
class tls_state final : public session_maker {
public:
    tls_state(tls_files files, std::shared_ptr<boost::asio::ssl::context> context)
        : files_(std::move(files)), context_(std::move(context)) {}

    [[nodiscard]] std::shared_ptr<listener_session> make(
        std::shared_ptr<session_owner> owner, session_socket socket) const override {
        return std::make_shared<http_session<tls_stream>>(
            std::move(owner), tls_stream{std::move(socket), current()}, false);
    }
    result<void> reload() const {
        auto read = tls_reader{files_}.read();
        if (!read) { return std::move(read).as_failure(); }
        std::lock_guard const guard{lock_};
        context_ = *std::move(read);
        return {};
    }
    [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> current() const {
        std::lock_guard const guard{lock_};
        return context_;
    }

private:
    tls_files const files_;
    mutable std::mutex lock_;
    mutable std::shared_ptr<boost::asio::ssl::context> context_; ///< guarded by lock_
};

} // namespace detail

ENTITABLE_DECL result<tls_certificate> tls_certificate::load(tls_files files) {
    auto read = detail::tls_reader{files}.read();
    if (!read) { return std::move(read).as_failure(); }
    return tls_certificate{std::make_shared<detail::tls_state const>(std::move(files), *std::move(read))};
}

ENTITABLE_DECL result<void> tls_certificate::reload() const {
    if (!state_) { return failure{error_code::invalid_input, "the certificate was moved from"}; }
    return state_->reload();
}

ENTITABLE_DECL date_time tls_certificate::expires() const {
    return state_ ? detail::tls_reader::expiry_of(*state_->current()) : date_time{};
}

ENTITABLE_DECL listener_encryption tls_certificate::encryption() const { return listener_encryption{state_}; }

ENTITABLE_END_NAMESPACE
