// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/impl/secret.ipp>
#include <entitable/cloud/account/signing.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/text.hpp>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A context with the key, and space for the text to sign. Used by one thread at a time.
struct key_signer::session {
    EVP_MAC_CTX* context{};
    std::string text;

    explicit session(EVP_MAC_CTX* made) noexcept : context(made) {}
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session() { EVP_MAC_CTX_free(context); }
};

/// A session lent to one signature.
class key_signer::lease {
public:
    explicit lease(key_signer const& from) : from_(from) {
        for (auto& slot : from_.idle_) {
            session_ = slot.exchange(nullptr, memory_order::acquire);
            if (session_ != nullptr) { return; }
        }
        session_ = new session(from_.model_->context != nullptr ? EVP_MAC_CTX_dup(from_.model_->context) : nullptr);
    }
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;
    ~lease() {
        for (auto& slot : from_.idle_) {
            session* empty = nullptr;
            if (slot.compare_exchange_strong(empty, session_, memory_order::release, memory_order::relaxed)) { return; }
        }
        delete session_;
    }
    session* operator->() const noexcept { return session_; }

private:
    key_signer const& from_;
    session* session_{};
};

ENTITABLE_DECL key_signer::key_signer(std::string_view key) : model_(new session(nullptr)) {
    EVP_MAC* const method = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
    if (method == nullptr) { return; }
    model_->context = EVP_MAC_CTX_new(method);
    EVP_MAC_free(method);
    char digest[] = "SHA256";
    OSSL_PARAM const parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    if (model_->context != nullptr &&
        EVP_MAC_init(model_->context, reinterpret_cast<unsigned char const*>(key.data()), key.size(), parameters) !=
            1) {
        EVP_MAC_CTX_free(model_->context);
        model_->context = nullptr;
    }
}

ENTITABLE_DECL key_signer::~key_signer() {
    for (auto& slot : idle_) { delete slot.load(memory_order::acquire); }
    delete model_;
}

ENTITABLE_DECL bool key_signer::sign(function_ref<void(std::string& text)> write, signature& out) const {
    lease const with{*this};
    if (with->context == nullptr) { return false; }
    with->text.clear();
    write(with->text);
    unsigned char mac[32];
    std::size_t size = 0;
    // Passes no key: the key in the context is reused, which saves its set-up.
    if (EVP_MAC_init(with->context, nullptr, 0, nullptr) != 1 ||
        EVP_MAC_update(with->context, reinterpret_cast<unsigned char const*>(with->text.data()), with->text.size()) !=
            1 ||
        EVP_MAC_final(with->context, mac, &size, sizeof mac) != 1 || size != sizeof mac) {
        return false;
    }
    unsigned char base64[signature_size + 1]; // has room for a NUL
    EVP_EncodeBlock(base64, mac, sizeof mac);
    std::memcpy(out, base64, signature_size);
    wipe(reinterpret_cast<char*>(base64), sizeof base64); // may be the signature of a shared access signature
    wipe(reinterpret_cast<char*>(mac), sizeof mac);
    return true;
}

namespace detail {

/// Returns the six bits of a base64 character; -1 for any other.
inline int base64_bits(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? c - 'A'
        : c >= 'a' && c <= 'z'  ? c - 'a' + 26
        : c >= '0' && c <= '9'  ? c - '0' + 52
        : c == '+'              ? 62
        : c == '/'              ? 63
                                : -1;
}

ENTITABLE_DECL std::optional<secret> decode_account_key(std::string_view base64) {
    std::size_t padding = 0;
    while (padding < 2 && padding < base64.size() && base64[base64.size() - 1 - padding] == '=') { ++padding; }
    if (base64.empty() || base64.size() % 4 != 0) { return std::nullopt; }
    std::string bytes;
    bytes.reserve(base64.size() / 4 * 3); // never grows, so that one wipe is enough
    unsigned collected = 0;
    int bits = 0;
    bool good = true;
    for (char const c : base64.substr(0, base64.size() - padding)) {
        int const six = base64_bits(c);
        good = good && six >= 0;
        collected = (collected << 6U | static_cast<unsigned>(six < 0 ? 0 : six)) & 0x3FFFU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<char>(collected >> static_cast<unsigned>(bits) & 0xFFU));
        }
    }
    std::optional<secret> key;
    if (good && (collected & ((1U << static_cast<unsigned>(bits)) - 1)) == 0) { // the unused bits are zero
        key.emplace(bytes);
    }
    wipe(bytes.data(), bytes.size());
    return key;
}

ENTITABLE_DECL void append_string_to_sign(std::string& out, key_scheme scheme, std::string_view account,
    http_request const& request, url_parts const& url, std::string_view date, bool fresh) {
    if (scheme == key_scheme::shared_key) {
        out.append(to_string(request.method)).push_back('\n');
        if (!fresh) { out.append(request.headers.find("Content-MD5").value_or(std::string_view{})); }
        out.push_back('\n');
        out.append(request.headers.find("Content-Type").value_or(std::string_view{})).push_back('\n');
    }
    out.append(date).append("\n/", 2).append(account);
    constexpr std::string_view secondary = "-secondary";
    std::string_view path = url.path;
    if (std::string_view const segment = path.substr(path.empty() ? 0 : 1, path.find('/', 1) - 1);
        segment.size() == account.size() + secondary.size() && segment.starts_with(account) &&
        segment.ends_with(secondary)) {
        out.append("/").append(account);
        path.remove_prefix(1 + segment.size());
    }
    out.append(path.empty() && url.path.empty() ? "/" : path);
    // Only `comp` of the query is signed.
    for (std::string_view query = url.query; !query.empty();) {
        std::string_view const pair = text::take_part(query, '&');
        if (pair.starts_with("comp=")) { out.append("?").append(pair); }
    }
}

ENTITABLE_DECL void append_storage_string_to_sign(
    std::string& out, std::string_view account, http_request const& request, url_parts const& url) {
    auto const field = [&](std::string_view name) {
        out.append(request.headers.find(name).value_or(std::string_view{})).push_back('\n');
    };
    out.append(to_string(request.method)).push_back('\n');
    field("Content-Encoding");
    field("Content-Language");
    out.append(request.body.empty() ? std::string{} : std::to_string(request.body.size())).push_back('\n');
    for (std::string_view const name : {"Content-MD5", "Content-Type", "Date", "If-Modified-Since", "If-Match",
             "If-None-Match", "If-Unmodified-Since", "Range"}) {
        field(name);
    }
    std::vector<std::pair<std::string, std::string_view>> fields;
    request.headers.for_each([&](std::string_view name, std::string_view value) {
        if (std::string lower = text::ascii_lower(name); lower.starts_with("x-ms-")) {
            fields.emplace_back(std::move(lower), value);
        }
    });
    std::sort(fields.begin(), fields.end());
    for (auto const& [name, value] : fields) { out.append(name).append(":").append(value).push_back('\n'); }
    out.append("/").append(account).append(url.path.empty() ? "/" : url.path);
    std::vector<std::pair<std::string, std::string>> parameters;
    for (std::string_view query = url.query; !query.empty();) {
        std::string_view const pair = text::take_part(query, '&');
        std::string_view const name = pair.substr(0, pair.find('='));
        std::string value;
        static_cast<void>(append_url_unescaped(value, pair.substr((std::min)(name.size() + 1, pair.size()))));
        parameters.emplace_back(text::ascii_lower(name), std::move(value));
    }
    std::sort(parameters.begin(), parameters.end());
    for (auto const& [name, value] : parameters) { out.append("\n").append(name).append(":").append(value); }
}

ENTITABLE_DECL std::string_view http_date(date_time time) {
    struct made {
        std::int64_t second{-1};
        char text[29]{};
    };
    static thread_local made last;
    std::int64_t const second = time.ticks / date_time::ticks_per_second;
    if (second != last.second) {
        constexpr std::string_view days = "MonTueWedThuFriSatSun"; // 1601-01-01 was a Monday
        constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
        std::string const iso = date_time{second * date_time::ticks_per_second}.to_string(true); // 2026-07-27T12:28:53Z
        auto const day = static_cast<std::size_t>(second / 86400 % 7);
        auto const month = static_cast<std::size_t>((iso[5] - '0') * 10 + (iso[6] - '0') - 1);
        std::string const text = text::joined(
            {days.substr(day * 3, 3), ", ", std::string_view{iso}.substr(8, 2), " ", months.substr(month * 3, 3), " ",
                std::string_view{iso}.substr(0, 4), " ", std::string_view{iso}.substr(11, 8), " GMT"});
        text.copy(last.text, sizeof last.text);
        last.second = second;
    }
    return {last.text, sizeof last.text};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
