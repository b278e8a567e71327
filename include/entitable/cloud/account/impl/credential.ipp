// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/impl/endpoint.ipp>
#include <entitable/cloud/account/impl/signing.ipp>
#include <entitable/cloud/account/impl/token_credential.ipp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <cstring>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a URL is within an address: the rest must begin a path or a query.
ENTITABLE_DECL bool goes_to(std::string_view url, std::string_view address) noexcept {
    return !address.empty() && url.starts_with(address) &&
        (url.size() == address.size() || url[address.size()] == '/' || url[address.size()] == '?');
}

ENTITABLE_DECL result<url_parts> parse_target(http_request const& request, endpoint const& at) {
    if (!goes_to(request.url, at.primary) && !goes_to(request.url, at.secondary)) {
        return failure{error_code::invalid_input, "the URL of the request is outside the endpoint"};
    }
    return parse_url(request.url, "the URL of the request");
}

class key_credential final : public credential_state {
public:
    key_credential(std::string_view account, std::string_view key, key_scheme scheme)
        : account_(account),
          scheme_(scheme),
          prefix_(text::joined({scheme == key_scheme::shared_key ? "SharedKey " : "SharedKeyLite ", account, ":"})),
          signer_(key) {}

    result<void> authorize(
        http_request& request, known_request const& known, endpoint const& at, date_time now) override {
        std::string_view const date = http_date(now);
        if (at.of == account_service::queues && scheme_ != key_scheme::shared_key) {
            return failure{error_code::invalid_input, "requests to queues must be signed with key_scheme::shared_key"};
        }
        if (known.fresh) {
            known_fields::add(request.headers, "x-ms-date", date);
        } else if (!request.headers.set("x-ms-date", date)) {
            return failure{error_code::internal_error, "the date does not fit in a header field"};
        }
        key_signer::signature signature;
        auto const write = [&](std::string& text) {
            if (at.of == account_service::queues) {
                append_storage_string_to_sign(text, account_, request, known.target);
            } else {
                append_string_to_sign(text, scheme_, account_, request, known.target, date, known.fresh);
            }
        };
        if (!signer_.sign(write, signature)) {
            return failure{error_code::internal_error, "OpenSSL could not sign the request"};
        }
        char value[160]; // an account has at most 63 characters
        prefix_.copy(value, prefix_.size());
        std::memcpy(value + prefix_.size(), signature, sizeof signature);
        std::string_view const authorization{value, prefix_.size() + sizeof signature};
        if (known.fresh) {
            known_fields::add(request.headers, "Authorization", authorization);
        } else if (!request.headers.set("Authorization", authorization)) {
            return failure{error_code::internal_error, "the signature does not fit in a header field"};
        }
        return {};
    }
    std::string_view account() const noexcept override { return account_; }
    bool sign(std::string_view text, std::string& out) override {
        key_signer::signature signature;
        if (!signer_.sign([&](std::string& copy) { copy.append(text); }, signature)) { return false; }
        out.append(signature, sizeof signature);
        wipe(signature, sizeof signature);
        return true;
    }

private:
    std::string const account_;
    key_scheme const scheme_;
    std::string const prefix_; ///< prefix of the Authorization field
    key_signer const signer_;
};

class signature_credential final : public credential_state {
public:
    signature_credential(std::string_view parameters, std::optional<date_time> start, std::optional<date_time> expiry)
        : parameters_(parameters), start_(start), expiry_(expiry) {}

    result<void> authorize(http_request& request, known_request const&, endpoint const&, date_time now) override {
        // The possible difference between the clocks of client and service.
        constexpr std::int64_t tolerance = 15 * 60 * date_time::ticks_per_second;
        if (expiry_ && now.ticks > expiry_->ticks + tolerance) {
            return failure{error_code::authentication_failed, "the shared access signature has expired"};
        }
        if (start_ && now.ticks < start_->ticks - tolerance) {
            return failure{error_code::authentication_failed, "the shared access signature is not valid yet"};
        }
        if (request.url.ends_with(parameters_.reveal())) {
            return {}; // added by an earlier attempt
        }
        request.url.reserve(request.url.size() + 1 + parameters_.reveal().size());
        std::size_t const question = request.url.find('?');
        if (question == std::string::npos) {
            request.url += '?';
        } else if (question + 1 != request.url.size()) {
            request.url += '&';
        }
        request.url += parameters_.reveal();
        return {};
    }

private:
    secret const parameters_;
    std::optional<date_time> const start_;
    std::optional<date_time> const expiry_;
};

/// Parses a time of a shared access signature: 2026-01-01, 2026-01-01T00:00Z or 2026-01-01T00:00:00Z.
ENTITABLE_DECL std::optional<date_time> signature_time(std::string_view escaped) {
    std::string time;
    time.reserve(escaped.size() + sizeof("T00:00:00Z"));
    static_cast<void>(append_url_unescaped(time, escaped)); // the token was checked before
    wiped_at_end const may_be_a_misplaced_secret{time};
    if (time.size() == 10) {
        time += "T00:00:00Z";
    } else if (time.size() == 17 && time.back() == 'Z') {
        time.insert(16, ":00");
    }
    return date_time::parse(time);
}

ENTITABLE_DECL failure refused_signature(std::string_view why) {
    return failure{error_code::invalid_input, text::joined({"SharedAccessSignature", why})};
}

} // namespace detail

ENTITABLE_DECL result<void> credential::authorize(http_request& request, endpoint const& at, date_time now) const {
    if (!state_) { return {}; }
    ENTITABLE_TRY(auto const target, detail::parse_target(request, at));
    return state_->authorize(request, {target, false}, at, now);
}

ENTITABLE_DECL result<credential> credential::account_key(
    std::string_view account, std::string_view key, key_scheme scheme) {
    if (!detail::is_account(account)) {
        return failure{error_code::invalid_input, "AccountName must be 1 to 63 lower-case letters, digits and hyphens"};
    }
    auto const bytes = detail::decode_account_key(key);
    if (!bytes) { return failure{error_code::invalid_input, "AccountKey is not base64"}; }
    return credential{shared<detail::credential_state>{new detail::key_credential{account, bytes->reveal(), scheme}}};
}

ENTITABLE_DECL result<credential> credential::shared_access_signature(std::string_view parameters) {
    if (parameters.starts_with('?')) { parameters.remove_prefix(1); }
    if (std::string_view const wrong = detail::wrong_character(parameters); !wrong.empty()) {
        return detail::refused_signature(wrong);
    }
    std::optional<date_time> start;
    std::optional<date_time> expiry;
    std::size_t signatures = 0;
    for (std::string_view rest = parameters; !rest.empty();) {
        std::string_view const pair = text::take_part(rest, '&');
        std::string_view const name = pair.substr(0, pair.find('='));
        std::string_view const value = name.size() == pair.size() ? std::string_view{} : pair.substr(name.size() + 1);
        if (name == "sig") {
            if (value.empty() || ++signatures > 1) {
                return detail::refused_signature(value.empty() ? " has an empty sig" : " has more than one sig");
            }
            if (value.find('+') != std::string_view::npos) {
                return detail::refused_signature(" has a + in its sig; write it as %2B");
            }
        } else if (name == "se" || name == "st") {
            auto& time = name == "se" ? expiry : start;
            time = detail::signature_time(value);
            if (!time) {
                return detail::refused_signature(
                    name == "se" ? " has an invalid time in se" : " has an invalid time in st");
            }
        }
    }
    if (signatures == 0) { return detail::refused_signature(" has no sig"); }
    return credential{shared<detail::credential_state>{new detail::signature_credential{parameters, start, expiry}}};
}

ENTITABLE_DECL credential credential::bearer(token_source source, token_options options) {
    return bearer(shared<detail::token_provider>{new detail::function_provider{std::move(source)}}, std::move(options));
}

ENTITABLE_DECL credential credential::bearer(shared<detail::token_provider> provider, token_options options) {
    return credential{
        shared<detail::credential_state>{new detail::token_credential{std::move(provider), std::move(options)}}};
}

ENTITABLE_END_NAMESPACE
