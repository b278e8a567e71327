// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/detail/access_check.hpp>
#include <entitable/cloud/account/impl/sas.ipp>
#include <entitable/cloud/account/impl/service_settings.ipp>
#include <entitable/cloud/account/impl/signing.ipp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/cloud/wire/detail/http_date.hpp>
#include <entitable/cloud/wire/detail/service_address.hpp>
#include <entitable/cloud/wire/detail/service_error.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure not_authenticated(std::string_view why) {
    return refused(403, "AuthenticationFailed",
        text::joined(
            {"Server failed to authenticate the request. Make sure the value of the Authorization header is formed "
             "correctly including the signature. ",
                why}));
}

ENTITABLE_DECL std::optional<account_keys> account_keys::make(
    std::string_view account, std::vector<std::string> const& keys) {
    account_keys made;
    made.account_ = account;
    for (std::string const& key : keys) {
        auto const bytes = decode_account_key(key);
        if (!bytes || bytes->empty()) { return std::nullopt; }
        made.signers_.push_back(std::make_unique<key_signer>(bytes->reveal()));
    }
    return made.signers_.empty() ? std::nullopt : std::optional{std::move(made)};
}

ENTITABLE_DECL bool account_keys::signed_by(function_ref<void(std::string& text)> write, std::string_view given) const {
    bool matches = false;
    for (auto const& signer : signers_) {
        key_signer::signature expected;
        bool const made = signer->sign(write, expected);
        matches |=
            made && given.size() == sizeof expected && CRYPTO_memcmp(given.data(), expected, sizeof expected) == 0;
        wipe(expected, sizeof expected);
    }
    return matches;
}

ENTITABLE_DECL bool access_grant::permits(std::string_view letters) const noexcept {
    return by == kind::all || permissions.find_first_of(letters) != std::string::npos;
}

ENTITABLE_DECL bool access_grant::reaches(std::string_view partition_key, std::string_view row_key) const noexcept {
    auto const order = [&](std::string_view partition, std::optional<std::string> const& row) {
        int const first = text::compare_utf16(partition_key, partition);
        return first != 0 || !row ? first : text::compare_utf16(row_key, *row);
    };
    return (!first_partition || order(*first_partition, first_row) >= 0) &&
        (!last_partition || order(*last_partition, last_row) <= 0);
}

ENTITABLE_DECL result<void> check_shared_key(
    http_request const& request, url_parts const& url, account_keys const& keys, date_time now) {
    constexpr std::int64_t skew = 15 * 60 * date_time::ticks_per_second;
    std::string_view given = request.headers.find("Authorization").value_or(std::string_view{});
    std::size_t const space = given.find(' ');
    std::string_view const scheme_name = given.substr(0, space);
    bool const lite = scheme_name == "SharedKeyLite";
    if (space == std::string_view::npos || (!lite && scheme_name != "SharedKey")) {
        return not_authenticated("The authorization scheme is unknown.");
    }
    given.remove_prefix(space + 1);
    std::size_t const colon = given.find(':');
    if (colon == std::string_view::npos || given.substr(0, colon) != keys.account()) {
        return not_authenticated("The account differs from the account in the address.");
    }
    given.remove_prefix(colon + 1);
    auto date = request.headers.find("x-ms-date");
    if (!date) { date = request.headers.find("Date"); }
    auto const time = date ? parse_http_date(*date) : std::nullopt;
    if (!time) { return not_authenticated("The request has no date."); }
    auto const write = [&](std::string& text) {
        append_string_to_sign(
            text, lite ? key_scheme::shared_key_lite : key_scheme::shared_key, keys.account(), request, url, *date);
    };
    // On the path of a secondary location of the emulator, clients sign the path as they send it. The documented form is the primary path.
    std::string const primary = text::joined({"\n/", keys.account(), "/", keys.account()});
    constexpr std::string_view secondary = "-secondary";
    auto const write_as_sent = [&](std::string& text) {
        write(text);
        std::size_t const at = text.find(primary);
        if (at != std::string::npos) { text.insert(at + primary.size(), secondary); }
    };
    bool const on_secondary =
        url.path.substr(0, url.path.find('/', 1)) == text::joined({"/", keys.account(), secondary});
    if (!keys.signed_by(write, given) && !(on_secondary && keys.signed_by(write_as_sent, given))) {
        return not_authenticated("The signature does not match.");
    }
    if (time->ticks > now.ticks + skew || time->ticks < now.ticks - skew) {
        return not_authenticated("The date of the request differs from the server's by more than 15 minutes.");
    }
    return {};
}

/// The parameters of a shared access signature, by name.
class sas_query {
public:
    /// False if a parameter is repeated.
    bool read(std::string_view query) {
        bool once = true;
        for_each_option(query, [&](std::string_view name, std::string_view value) {
            for (std::string_view const known : names) {
                if (name == known) {
                    std::string decoded; // a "+" is literal: base64 uses it, and some clients do not escape it
                    static_cast<void>(append_url_unescaped(decoded, value));
                    once = once && !find(name);
                    fields_.push_back({known, std::move(decoded)});
                }
            }
        });
        return once;
    }
    [[nodiscard]] std::optional<std::string> const* place(std::string_view name) const noexcept {
        for (sas_field const& each : fields_) {
            if (each.name == name) { return &each.value; }
        }
        return nullptr;
    }
    [[nodiscard]] std::optional<std::string> find(std::string_view name) const {
        auto const* const at = place(name);
        return at != nullptr ? *at : std::nullopt;
    }
    [[nodiscard]] std::string text(std::string_view name) const { return find(name).value_or(std::string{}); }
    [[nodiscard]] std::vector<sas_field> const& fields() const noexcept { return fields_; }

private:
    static constexpr std::string_view names[] = {
        "sv", "ss", "srt", "sp", "st", "se", "si", "sip", "spr", "tn", "spk", "srk", "epk", "erk", "sig"};
    std::vector<sas_field> fields_;
};

/// Parses an IPv4 address to a number; nullopt for other text.
ENTITABLE_DECL std::optional<std::uint32_t> ipv4_number(std::string_view text) noexcept {
    std::uint32_t made = 0;
    for (int part = 0; part < 4; ++part) {
        if (part > 0) {
            if (!text.starts_with('.')) { return std::nullopt; }
            text.remove_prefix(1);
        }
        auto const number = leading_number<std::uint8_t>(text);
        if (!number) { return std::nullopt; }
        made = made << 8U | *number;
    }
    return text.empty() ? std::optional{made} : std::nullopt;
}

ENTITABLE_DECL bool is_among(std::string_view address, std::string_view allowed) {
    std::size_t const dash = allowed.find('-');
    auto const first = ipv4_number(allowed.substr(0, dash));
    auto const last = dash == std::string_view::npos ? first : ipv4_number(allowed.substr(dash + 1));
    auto const at = ipv4_number(address);
    return first && last && at && *first <= *at && *at <= *last;
}

/// Checks the terms common to all kinds of signatures: times, protocol, addresses.
ENTITABLE_DECL result<void> check_terms_now(sas_query const& query, std::optional<date_time> start,
    std::optional<date_time> expiry, request_origin const& origin, date_time now) {
    if (!expiry || now > *expiry || (start && now < *start)) {
        return not_authenticated("The signature is not valid at this time.");
    }
    if (std::string const protocols = query.text("spr"); !protocols.empty() && protocols != "https,http") {
        if (protocols != "https") { return not_authenticated("The protocols of the signature are unknown."); }
        if (!origin.encrypted) {
            return refused(403, "AuthorizationProtocolMismatch",
                "This request is not authorized to perform this operation using this protocol.");
        }
    }
    if (std::string const addresses = query.text("sip"); !addresses.empty() && !is_among(origin.address, addresses)) {
        return refused(403, "AuthorizationSourceIPMismatch",
            "This request is not authorized to perform this operation using this source IP.");
    }
    return {};
}

/// Reads a time of a signature: empty if absent; false if malformed.
ENTITABLE_DECL bool read_sas_time(sas_query const& query, std::string_view name, std::optional<date_time>& out) {
    auto const text = query.find(name);
    out = text ? policy_time(*text) : std::nullopt;
    return !text || out;
}

ENTITABLE_DECL result<access_grant> check_signature(std::string_view query_text, account_keys const& keys,
    request_origin const& origin, date_time now, policy_finder find_policy) {
    sas_query query;
    std::optional<date_time> start;
    std::optional<date_time> expiry;
    if (!query.read(query_text) || !read_sas_time(query, "st", start) || !read_sas_time(query, "se", expiry)) {
        return not_authenticated("The signature has a duplicate field or a malformed time.");
    }
    std::string const version = query.text("sv");
    if (version.size() != 10 || version < "2015-04-05") {
        return not_authenticated("The version of the signature is missing, or older than 2015-04-05.");
    }
    std::string const given = query.text("sig");
    bool const of_table = query.find("tn").has_value();
    if (of_table == query.find("srt").has_value()) {
        return not_authenticated("The signature is neither for a table nor for an account.");
    }
    auto const write = [&](std::string& out) {
        out += of_table ? table_sas_to_sign(keys.account(), query.text("tn"), query.fields())
                        : account_sas_to_sign(keys.account(), version, query.fields());
    };
    if (!keys.signed_by(write, given)) { return not_authenticated("The signature does not match."); }
    access_grant made;
    made.permissions = query.text("sp");
    made.by = of_table ? access_grant::kind::one_table : access_grant::kind::of_account;
    if (!of_table) {
        made.resource_types = query.text("srt");
        if (query.text("ss").find('t') == std::string::npos) {
            return refused(403, "AuthorizationServiceMismatch",
                "This request is not authorized to perform this operation using this service.");
        }
        ENTITABLE_CHECK(check_terms_now(query, start, expiry, origin, now));
        return made;
    }
    made.table = text::ascii_lower(query.text("tn"));
    made.first_partition = query.find("spk");
    made.first_row = query.find("srk");
    made.last_partition = query.find("epk");
    made.last_row = query.find("erk");
    if ((made.first_row && !made.first_partition) || (made.last_row && !made.last_partition)) {
        return not_authenticated("A row key bound needs the partition key bound of the same end.");
    }
    if (auto const id = query.find("si")) {
        auto const policy = find_policy(made.table, *id);
        if (!policy) { return not_authenticated("The access policy of the signature does not exist."); }
        bool const twice = (start && policy->start) || (expiry && policy->expiry) ||
            (!made.permissions.empty() && !policy->permissions.empty());
        if (twice) {
            return refused(
                400, "InvalidQueryParameterValue", "A field is in both the signature and its access policy.");
        }
        start = start ? start : policy->start;
        expiry = expiry ? expiry : policy->expiry;
        made.permissions += policy->permissions;
    }
    ENTITABLE_CHECK(check_terms_now(query, start, expiry, origin, now));
    return made;
}

ENTITABLE_DECL result<void> check_digest(http_request const& request) {
    auto const given = request.headers.find("Content-MD5");
    if (!given || request.body.empty()) { return {}; }
    unsigned char made[EVP_MAX_MD_SIZE];
    std::size_t size = 0;
    if (EVP_Q_digest(nullptr, "MD5", nullptr, request.body.data(), request.body.size(), made, &size) != 1) {
        return {}; // OpenSSL was built without it
    }
    std::string digest;
    if (!append_from_base64(digest, *given) || digest.size() != size) {
        return refused(400, "InvalidMd5", "The MD5 value specified in the request is invalid.");
    }
    if (std::memcmp(digest.data(), made, size) != 0) {
        return refused(400, "Md5Mismatch",
            "The MD5 value specified in the request did not match the MD5 value calculated by the server.");
    }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
