// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A JSON web token, parsed but not believed, and the public keys that verify its signature.

#include <entitable/core/result.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// What a token says. Times are seconds since 1970.
struct token_parts {
    std::string_view signed_text; ///< header and claims, as sent
    std::string signature;        ///< bytes
    std::string algorithm;
    std::string key_id;
    std::string issuer;
    std::string object;
    std::vector<std::string> audiences;
    std::int64_t expires{};
    std::optional<std::int64_t> begins;
};

/// Appends the decoded bytes; false unless the text is base64url without padding, in its only form (RFC 7515, 2).
[[nodiscard]] bool append_from_base64url(std::string& out, std::string_view text);

/// Parses a token, whose parts refer to `token`. Returns nullopt if it is malformed, lacks a claim that is required, has a member twice, or
/// needs an extension (`crit`).
[[nodiscard]] std::optional<token_parts> parse_token(std::string_view token);

/// A public key of OpenSSL.
class token_key {
public:
    token_key() = default;
    token_key(token_key&& other) noexcept : key_(std::exchange(other.key_, nullptr)), elliptic_(other.elliptic_) {}
    token_key& operator=(token_key&&) = delete;
    ~token_key();

    /// Both in big-endian bytes. False unless it is a key of a permitted size.
    [[nodiscard]] bool make_rsa(std::string_view modulus, std::string_view exponent);
    /// A point of P-256. False unless the point is on the curve.
    [[nodiscard]] bool make_p256(std::string_view x, std::string_view y);

    /// The only algorithm of the key.
    [[nodiscard]] std::string_view algorithm() const noexcept { return elliptic_ ? "ES256" : "RS256"; }
    /// `signature` has the form of RFC 7518, 3.3 or 3.4.
    [[nodiscard]] bool verifies(std::string_view text, std::string_view signature) const;

private:
    [[nodiscard]] bool make(char const* kind, void* parts);

    void* key_{}; ///< an EVP_PKEY
    bool elliptic_{};
};

using token_keys = std::map<std::string, token_key, std::less<>>;

/// Reads a JSON web key set. Errors: InvalidInput, without the name of its file.
[[nodiscard]] result<token_keys> read_token_keys(std::string_view json);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/serve/server/impl/token_keys.ipp>
#include <entitable/serve/server/impl/token_parts.ipp>
#endif
