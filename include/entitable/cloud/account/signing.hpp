// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Signatures with an account key: HMAC-SHA256 over the texts that the table service defines ("Authorize with Shared Key").

#include <entitable/cloud/account/secret.hpp>
#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/core/atomic.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/function_ref.hpp>

#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// The signing scheme of an account key (source: the service's "Authorize with Shared Key").
enum class key_scheme : std::uint8_t {
    shared_key,      ///< covers method, Content-MD5, Content-Type, date and resource
    shared_key_lite, ///< covers date and resource
};

/// Signs texts with one key. OpenSSL wipes its copy of the key when the signer is destroyed. Thread safety: safe to use from several
/// threads. Cost: the hash; the key is set up once, and each signature borrows one of a few contexts.
class key_signer {
public:
    /// `key` is the raw key, not its base64.
    explicit key_signer(std::string_view key);
    key_signer(key_signer const&) = delete;
    key_signer& operator=(key_signer const&) = delete;
    ~key_signer();

    /// The size of a signature in base64.
    static constexpr std::size_t signature_size = 44;
    using signature = char[signature_size]; ///< base64, without a NUL

    /// Signs the text that `write` appends to an empty string. Returns false if OpenSSL fails.
    [[nodiscard]] bool sign(function_ref<void(std::string& text)> write, signature& out) const;

private:
    struct session;
    class lease;

    static constexpr std::size_t max_idle = 16;
    mutable atomic<session*> idle_[max_idle];
    session* model_; ///< contains the key; is never used itself, only copied
};

namespace detail {

/// Returns the bytes of a base64 text (RFC 4648, 4, with padding); nullopt if it is malformed.
[[nodiscard]] std::optional<secret> decode_account_key(std::string_view base64);

/// Appends the text that a key signs for `request` under `scheme`; `date` is its x-ms-date, `url` its URL. The path is used as it will be
/// sent; for a secondary in path style it is the path of the primary. `fresh`: there is no Content-MD5.
void append_string_to_sign(std::string& out, key_scheme scheme, std::string_view account, http_request const& request,
    url_parts const& url, std::string_view date, bool fresh = false);

/// Appends the text for services whose requests are signed with all of their parameters and `x-ms-` fields, including the date: queues
/// (source: "Authorize with Shared Key", the part on blobs, queues and files). Parameters must not be repeated.
void append_storage_string_to_sign(
    std::string& out, std::string_view account, http_request const& request, url_parts const& url);

/// Formats the time like "Mon, 27 Jul 2026 12:28:53 GMT" (RFC 9110, 5.6.7); computed at most once per second per thread. Valid until the
/// thread's next call with a different time.
[[nodiscard]] std::string_view http_date(date_time time);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/cloud/account/impl/signing.ipp>
#endif
