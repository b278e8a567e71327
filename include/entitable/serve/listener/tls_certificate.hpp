// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `tls_certificate`: the certificate and private key of a listener that serves HTTPS. This header does not include OpenSSL.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/result.hpp>
#include <entitable/core/value.hpp>
#include <entitable/serve/listener/http_listener.hpp>
#endif

#include <memory>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// Files of a certificate, in PEM form.
struct tls_files {
    std::string
        certificate; ///< the certificate of the server, followed by those of the authorities between it and the root
    std::string key; ///< its private key, without a password
};

namespace detail {
class tls_state;
}

/// A certificate and its private key, which a listener uses for new connections. TLS 1.2 and 1.3, without compression and renegotiation.
/// A client that offers protocols must offer http/1.1. A cheap handle: copies share the same certificate.
///
/// Thread safety: safe to use from several threads.
class tls_certificate {
public:
    /// Reads the files. Errors: InvalidInput, which names the file, for a file that cannot be read, is not a regular file or not PEM, a key with a
    /// password, a key that does not belong to the certificate, a certificate that has expired, and keys too short for OpenSSL's security level.
    [[nodiscard]] static result<tls_certificate> load(tls_files files);

    /// Reads the files again. New connections use what they contain; connections that are open keep what they have. After an error the
    /// certificate is unchanged. Errors: as for `load`; InvalidInput after a move.
    [[nodiscard]] result<void> reload() const;

    /// Returns the time at which the certificate expires, to the second; the default after a move.
    [[nodiscard]] date_time expires() const;

    /// Returns the value for `listener_options::encryption`. It follows later calls of `reload`. After a move, the listener does not listen.
    [[nodiscard]] listener_encryption encryption() const;

private:
    explicit tls_certificate(std::shared_ptr<detail::tls_state const> state) : state_(std::move(state)) {}

    std::shared_ptr<detail::tls_state const> state_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/serve/listener/impl/tls_certificate.ipp>
#endif
