// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/serve/server/detail/token_parts.hpp>
#include <entitable/serve/server/impl/token_parts.ipp>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <simdjson.h>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL unsigned char const* bytes_of(std::string_view text) noexcept {
    return reinterpret_cast<unsigned char const*>(text.data());
}

ENTITABLE_DECL token_key::~token_key() { EVP_PKEY_free(static_cast<EVP_PKEY*>(key_)); }

ENTITABLE_DECL bool token_key::make(char const* kind, void* parts) {
    OSSL_PARAM* const parameters = OSSL_PARAM_BLD_to_param(static_cast<OSSL_PARAM_BLD*>(parts));
    EVP_PKEY_CTX* const context = EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr);
    EVP_PKEY* key = nullptr;
    bool const good = parameters != nullptr && context != nullptr && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(parameters);
    EVP_PKEY_free(static_cast<EVP_PKEY*>(std::exchange(key_, good ? key : nullptr)));
    ERR_clear_error();
    return good;
}

ENTITABLE_DECL bool token_key::make_rsa(std::string_view modulus, std::string_view exponent) {
    constexpr std::size_t longest_exponent = 8; // a long exponent makes each check expensive
    constexpr std::size_t longest_modulus = 1024;
    if (exponent.empty() || exponent.size() > longest_exponent || modulus.size() > longest_modulus) { return false; }
    BIGNUM* const n = BN_bin2bn(bytes_of(modulus), static_cast<int>(modulus.size()), nullptr);
    BIGNUM* const e = BN_bin2bn(bytes_of(exponent), static_cast<int>(exponent.size()), nullptr);
    OSSL_PARAM_BLD* const parts = OSSL_PARAM_BLD_new();
    constexpr int shortest = 2048;
    bool const good = n != nullptr && e != nullptr && parts != nullptr && BN_num_bits(n) >= shortest &&
        BN_is_odd(n) == 1 && BN_is_odd(e) == 1 && BN_is_one(e) == 0 &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, e) == 1 && make("RSA", parts);
    OSSL_PARAM_BLD_free(parts);
    BN_free(n);
    BN_free(e);
    elliptic_ = false;
    return good;
}

ENTITABLE_DECL bool token_key::make_p256(std::string_view x, std::string_view y) {
    constexpr std::size_t half = 32;
    if (x.size() != half || y.size() != half) { return false; }
    std::string const point = text::joined({"\x04", x, y});
    OSSL_PARAM_BLD* const parts = OSSL_PARAM_BLD_new();
    bool good = parts != nullptr &&
        OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) == 1 &&
        make("EC", parts);
    OSSL_PARAM_BLD_free(parts);
    if (good) {
        EVP_PKEY_CTX* const context = EVP_PKEY_CTX_new(static_cast<EVP_PKEY*>(key_), nullptr);
        good = context != nullptr && EVP_PKEY_public_check(context) == 1;
        EVP_PKEY_CTX_free(context);
        ERR_clear_error();
    }
    elliptic_ = true;
    return good;
}

/// Converts a signature of ES256, two numbers, to the form of OpenSSL. Empty if it is malformed.
ENTITABLE_DECL std::string signature_in_der(std::string_view signature) {
    constexpr std::size_t half = 32;
    std::string made;
    if (signature.size() != 2 * half) { return made; }
    BIGNUM* const r = BN_bin2bn(bytes_of(signature), static_cast<int>(half), nullptr);
    BIGNUM* const s = BN_bin2bn(bytes_of(signature.substr(half)), static_cast<int>(half), nullptr);
    ECDSA_SIG* const both = ECDSA_SIG_new();
    if (both != nullptr && r != nullptr && s != nullptr && ECDSA_SIG_set0(both, r, s) == 1) {
        unsigned char* bytes = nullptr;
        int const size = i2d_ECDSA_SIG(both, &bytes);
        if (size > 0) { made.assign(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size)); }
        OPENSSL_free(bytes);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(both);
    return made;
}

ENTITABLE_DECL bool token_key::verifies(std::string_view text, std::string_view signature) const {
    std::string const converted = elliptic_ ? signature_in_der(signature) : std::string{};
    if (elliptic_) { signature = converted; }
    if (key_ == nullptr || signature.empty()) { return false; }
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    bool const good = context != nullptr &&
        EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, static_cast<EVP_PKEY*>(key_)) == 1 &&
        EVP_DigestVerify(context, bytes_of(signature), signature.size(), bytes_of(text), text.size()) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return good;
}

/// Reads one key of a set. Returns nullopt if it is of another kind, or not for signatures. Errors: InvalidInput.
ENTITABLE_DECL result<std::optional<token_key>> read_token_key(token_object const& from, std::string_view id) {
    auto const malformed = [&] {
        return failure{error_code::invalid_input, text::joined({"the key ", id, " is malformed"})};
    };
    std::string kind;
    std::string use;
    std::string algorithm;
    std::string curve;
    if (!from.read("kty", kind) || !from.read("use", use) || !from.read("alg", algorithm) || !from.read("crv", curve)) {
        return malformed();
    }
    bool const elliptic = kind == "EC" && curve == "P-256";
    if (!elliptic && kind != "RSA") { return std::nullopt; }
    if (!use.empty() && use != "sig") { return std::nullopt; }
    if (!algorithm.empty() && algorithm != (elliptic ? "ES256" : "RS256")) { return std::nullopt; }
    std::string encoded[2];
    std::string parts[2];
    if (!from.read(elliptic ? "x" : "n", encoded[0]) || !from.read(elliptic ? "y" : "e", encoded[1]) ||
        !append_from_base64url(parts[0], encoded[0]) || !append_from_base64url(parts[1], encoded[1])) {
        return malformed();
    }
    token_key made;
    if (elliptic ? !made.make_p256(parts[0], parts[1]) : !made.make_rsa(parts[0], parts[1])) { return malformed(); }
    return std::optional<token_key>{std::move(made)};
}

ENTITABLE_DECL result<token_keys> read_token_keys(std::string_view json) {
    auto const refused = [](std::string_view why) { return failure{error_code::invalid_input, std::string{why}}; };
    simdjson::dom::parser parser;
    simdjson::dom::array keys;
    if (parser.parse(json.data(), json.size())["keys"].get(keys) != simdjson::SUCCESS) {
        return refused("it is not a JSON web key set");
    }
    token_keys made;
    for (auto const each : keys) {
        token_object object;
        std::string id;
        if (!object.parse(simdjson::minify(each)) || !object.read("kid", id)) { return refused("a key is malformed"); }
        auto key = read_token_key(object, id);
        if (!key) { return std::move(key).as_failure(); }
        if (!*key) { continue; }
        if (id.empty()) { return refused("a key has no kid"); }
        if (!made.emplace(id, *std::move(*key)).second) {
            return failure{error_code::invalid_input, text::joined({"two keys have the kid ", id})};
        }
    }
    if (made.empty()) { return refused("it has no key for RS256 or ES256"); }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
