// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/text.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends base64 for URLs, without padding (RFC 7515, 2).
ENTITABLE_DECL void append_base64url(std::string& out, std::string_view bytes) {
    std::size_t const begin = out.size();
    append_base64(out, bytes);
    while (out.size() > begin && out.back() == '=') { out.pop_back(); }
    for (std::size_t at = begin; at < out.size(); ++at) {
        out[at] = out[at] == '+' ? '-' : out[at] == '/' ? '_' : out[at];
    }
}

ENTITABLE_DECL client_key::~client_key() { EVP_PKEY_free(static_cast<EVP_PKEY*>(key_)); }

/// Gives OpenSSL the password; without this function it would ask on the terminal.
ENTITABLE_DECL int give_password(char* buffer, int size, int, void* password) {
    auto const& given = *static_cast<std::string_view const*>(password);
    if (given.size() > static_cast<std::size_t>(size)) { return -1; }
    if (!given.empty()) { std::memcpy(buffer, given.data(), given.size()); }
    return static_cast<int>(given.size());
}

ENTITABLE_DECL result<void> client_key::read(
    std::string_view pem, std::string_view password, assertion_algorithm algorithm) {
    constexpr std::string_view way = "client certificate: ";
    auto const refused = [&](std::string_view why) {
        ERR_clear_error();
        return failure{error_code::invalid_input, text::joined({way, why})};
    };
    struct parts {
        BIO* text{};
        X509* certificate{};
        ~parts() {
            X509_free(certificate);
            BIO_free(text);
        }
    } owned;
    algorithm_ = algorithm;
    owned.text = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    if (owned.text == nullptr) { return refused("the text of the certificate is empty"); }
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(owned.text, nullptr, &give_password, &password);
    if (key == nullptr) { return refused("the text has no private key in PEM that the password, if any, opens"); }
    key_ = key;
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) { return refused("the private key is not an RSA key"); }
    if (EVP_PKEY_get_bits(key) < 2048) { return refused("the RSA key has fewer than 2048 bits"); }
    BIO_free(owned.text);
    owned.text = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    bool matches = false;
    while (!matches) { // a file may also have the certificates of the authorities
        X509_free(owned.certificate);
        owned.certificate = PEM_read_bio_X509(owned.text, nullptr, &give_password, &password);
        if (owned.certificate == nullptr) { return refused("the text has no certificate in PEM that fits the key"); }
        matches = X509_check_private_key(owned.certificate, key) == 1;
    }
    ERR_clear_error();
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_MD const* const hash = algorithm == assertion_algorithm::ps256 ? EVP_sha256() : EVP_sha1();
    if (X509_digest(owned.certificate, hash, digest, &size) != 1) { return refused("OpenSSL cannot digest it"); }
    thumbprint_.clear();
    append_base64url(thumbprint_, {reinterpret_cast<char const*>(digest), size});
    return {};
}

ENTITABLE_DECL result<secret> client_key::sign(
    std::string_view audience, std::string_view client, date_time now) const {
    constexpr std::int64_t lifetime = 600;
    bool const modern = algorithm_ == assertion_algorithm::ps256;
    std::int64_t const begins = (now.ticks - date_time::unix_epoch) / date_time::ticks_per_second;
    std::string const header = text::joined({R"({"alg":")", modern ? "PS256" : "RS256", R"(","typ":"JWT",")",
        modern ? "x5t#S256" : "x5t", R"(":")", thumbprint_, R"("})"});
    std::string const claims = text::joined({R"({"aud":")", audience, R"(","iss":")", client, R"(","sub":")", client,
        R"(","jti":")", guid::random().to_string(), R"(","nbf":)", std::to_string(begins), R"(,"exp":)",
        std::to_string(begins + lifetime), "}"});
    std::string made;
    made.reserve(2 * (header.size() + claims.size()) + 2048);
    wiped_at_end const wiped{made};
    append_base64url(made, header);
    made += '.';
    append_base64url(made, claims);
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EVP_PKEY_CTX* parameters = nullptr;
    std::string signature(1024, '\0'); // of a key of up to 8192 bits
    std::size_t size = signature.size();
    bool good = context != nullptr &&
        static_cast<std::size_t>(EVP_PKEY_get_size(static_cast<EVP_PKEY*>(key_))) <= size &&
        EVP_DigestSignInit(context, &parameters, EVP_sha256(), nullptr, static_cast<EVP_PKEY*>(key_)) == 1;
    if (good && modern) {
        good = EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1;
    }
    good = good &&
        EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
            reinterpret_cast<unsigned char const*>(made.data()), made.size()) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    if (!good) { return failure{error_code::internal_error, "client certificate: OpenSSL could not sign"}; }
    made += '.';
    append_base64url(made, {signature.data(), size});
    wipe(signature.data(), signature.size());
    return secret{made};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
