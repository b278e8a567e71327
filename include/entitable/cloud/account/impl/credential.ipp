// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/account/impl/endpoint.ipp>
#include <entitable/cloud/account/impl/signing.ipp>
#include <entitable/cloud/account/signing.hpp>
#include <entitable/cloud/http/url.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <condition_variable>
#include <cstring>
#include <mutex>
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

class token_credential final : public credential_state {
public:
    token_credential(token_source source, token_options options)
        : source_(std::move(source)), options_(std::move(options)) {}

    result<void> authorize(
        http_request& request, known_request const& known, endpoint const& at, date_time now) override {
        if (!known.target.encrypted) {
            return failure{error_code::invalid_input, "a bearer token can only be sent over https"};
        }
        std::unique_lock lock{mutex_};
        std::uint64_t const failures = failures_;
        for (;;) {
            bool const good = !header_.empty() && now < expires_;
            if (good && (refreshing_ || now < refresh_at_)) { break; }
            if (!good && failures_ != failures) {
                return failure{*last_failure_}; // another thread has set it while this thread waited
            }
            if (refreshing_) {
                done_.wait(lock);
                continue;
            }
            if (auto fresh = refresh(lock, at, now); !fresh && !(!header_.empty() && now < expires_)) { return fresh; }
            break;
        }
        if (!request.headers.set("Authorization", header_.reveal())) {
            return failure{
                error_code::authentication_failed, "the token contains characters that are invalid in a header field"};
        }
        return {};
    }

    void refused(http_request const& request, date_time now) override {
        std::lock_guard const guard{mutex_};
        if (request.headers.find("Authorization") != header_.reveal()) {
            return; // the token has been replaced in the meantime
        }
        std::int64_t const least = got_at_.ticks + options_.retry_after.count() * date_time::ticks_per_second;
        std::int64_t const soon = now.ticks < least ? least : now.ticks;
        refresh_at_ = {soon < refresh_at_.ticks ? soon : refresh_at_.ticks};
    }

private:
    /// Marks that a thread is getting a token, even while an exception is propagated.
    struct turn {
        token_credential& owner;
        std::unique_lock<std::mutex>& lock;
        turn(token_credential& of, std::unique_lock<std::mutex>& held) : owner(of), lock(held) {
            owner.refreshing_ = true;
            lock.unlock();
        }
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;
        ~turn() {
            if (!lock.owns_lock()) { lock.lock(); }
            owner.refreshing_ = false;
            owner.done_.notify_all();
        }
    };

    result<void> refresh(std::unique_lock<std::mutex>& lock, endpoint const& at, date_time now) {
        turn const mine{*this, lock};
        std::string_view const usual =
            at.kind == service::cosmos ? "https://cosmos.azure.com/.default" : "https://storage.azure.com/.default";
        auto got = source_(options_.scope.empty() ? usual : std::string_view{options_.scope});
        std::string nothing;
        wiped_at_end const of_the_source{got ? got->text : nothing};
        lock.lock();
        if (!got || got->text.empty() || got->expires <= now) {
            ++failures_;
            refresh_at_ = {now.ticks + options_.retry_after.count() * date_time::ticks_per_second};
            last_failure_ = !got ? got.error()
                                 : error{error_code::authentication_failed,
                                       got->text.empty() ? "the token source returned an empty token"
                                                         : "the token source returned an expired token"};
            last_failure_->effect = effect::none;
            return failure{*last_failure_};
        }
        std::string header = text::joined({"Bearer ", got->text});
        wiped_at_end const with_its_word{header};
        header_ = secret{header};
        expires_ = got->expires;
        got_at_ = now;
        // A short-lived token is kept for half its lifetime.
        std::int64_t const before = options_.refresh_before.count() * date_time::ticks_per_second;
        std::int64_t const half = (expires_.ticks - now.ticks) / 2;
        refresh_at_ = {expires_.ticks - (before < half ? before : half)};
        return {};
    }

    token_source const source_;
    token_options const options_;
    std::mutex mutex_;
    std::condition_variable done_;
    bool refreshing_{};        ///< a thread is getting a token; this member and the following are guarded by mutex_
    secret header_;            ///< "Bearer ..."
    date_time expires_;        ///< when the token expires
    date_time got_at_;         ///< when the token was received
    date_time refresh_at_;     ///< after this time the next request gets a new token
    std::uint64_t failures_{}; ///< number of failures of the token source
    std::optional<error> last_failure_; ///< last error of the token source
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
        std::string_view const pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(pair.size() == rest.size() ? pair.size() : pair.size() + 1);
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
    return credential{
        shared<detail::credential_state>{new detail::token_credential{std::move(source), std::move(options)}}};
}

ENTITABLE_END_NAMESPACE
