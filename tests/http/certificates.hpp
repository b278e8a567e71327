// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A certificate authority for the servers of tests, with valid and invalid certificates.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <support/temporary_folder.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace entitable_test {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using tls_ptr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

inline key_ptr make_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

/// The content of a certificate. Times in seconds from now.
struct certificate_terms {
    std::string names{"IP:127.0.0.1,DNS:localhost"};
    long begins{-3600};
    long ends{3600};
    bool authority{};
};

inline certificate_ptr make_certificate(
    EVP_PKEY* subject, certificate_terms const& terms, EVP_PKEY* issuer_key, X509* issuer) {
    certificate_ptr made{X509_new(), &X509_free};
    static long serial = 1;
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), terms.begins);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), terms.ends);
    std::string const name = terms.authority ? "an authority " + std::to_string(serial) : "a server";
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
        reinterpret_cast<unsigned char const*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer != nullptr ? issuer : made.get()));
    X509_set_pubkey(made.get(), subject);
    auto const extend = [&](int nid, std::string const& value) {
        X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
        X509_add_ext(made.get(), extension, -1);
        X509_EXTENSION_free(extension);
    };
    extend(NID_basic_constraints, terms.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (!terms.authority) { extend(NID_subject_alt_name, terms.names); }
    if (X509_sign(made.get(), issuer_key, EVP_sha256()) == 0) { throw std::runtime_error{"cannot sign a certificate"}; }
    return made;
}

/// A certificate authority whose certificate is in a temporary file.
class authority {
public:
    authority()
        : key_(make_key()), certificate_(make_certificate(key_.get(), {"", -3600, 7200, true}, key_.get(), nullptr)) {
        std::FILE* const written = std::fopen(file().c_str(), "w");
        if (written == nullptr) { throw std::runtime_error{"cannot write a certificate"}; }
        PEM_write_X509(written, certificate_.get());
        std::fclose(written);
    }
    authority(authority const&) = delete;
    authority& operator=(authority const&) = delete;

    /// The file that a client trusts.
    [[nodiscard]] std::string file() const { return folder_ / "authority.pem"; }

    /// The server side of TLS, with a certificate of this authority or, with `self_signed`, its own.
    [[nodiscard]] tls_ptr server_side(certificate_terms const& terms = {}, bool self_signed = false) const {
        tls_ptr context{SSL_CTX_new(TLS_server_method()), &SSL_CTX_free};
        auto const key = make_key();
        auto const certificate = self_signed ? make_certificate(key.get(), terms, key.get(), nullptr)
                                             : make_certificate(key.get(), terms, key_.get(), certificate_.get());
        if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
            SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
            throw std::runtime_error{"cannot use a certificate"};
        }
        return context;
    }

    /// Writes a certificate of this authority, and its private key, as PEM files.
    void write_pair(
        std::string const& certificate_file, std::string const& key_file, certificate_terms const& terms = {}) const {
        auto const key = make_key();
        auto const certificate = make_certificate(key.get(), terms, key_.get(), certificate_.get());
        std::FILE* const written = std::fopen(certificate_file.c_str(), "w");
        std::FILE* const key_written = std::fopen(key_file.c_str(), "w");
        if (written == nullptr || key_written == nullptr) { throw std::runtime_error{"cannot write a certificate"}; }
        PEM_write_X509(written, certificate.get());
        PEM_write_PrivateKey(key_written, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        std::fclose(written);
        std::fclose(key_written);
    }

private:
    temporary_folder folder_;
    key_ptr key_;
    certificate_ptr certificate_;
};

} // namespace entitable_test
