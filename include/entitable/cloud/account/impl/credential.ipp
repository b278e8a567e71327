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

/// Calls the function of a user.
class function_provider final : public token_provider {
public:
    explicit function_provider(token_source source) : source_(std::move(source)) {}
    result<access_token> get(token_request const& wanted) override { return source_(wanted.scope); }

private:
    token_source const source_;
};

/// Returns the scope for an endpoint, if none was given. Storage has one resource id in all clouds; Cosmos DB has one for each cloud.
ENTITABLE_DECL std::string_view usual_scope(endpoint const& at) noexcept {
    if (at.kind != service::cosmos) { return "https://storage.azure.com/.default"; }
    std::string_view const host = at.primary;
    if (host.find(".azure.us") != std::string_view::npos) { return "https://cosmos.azure.us/.default"; }
    if (host.find(".azure.cn") != std::string_view::npos) { return "https://cosmos.azure.cn/.default"; }
    return "https://cosmos.azure.com/.default";
}

class token_credential final : public credential_state {
public:
    token_credential(shared<token_provider> provider, token_options options)
        : provider_(std::move(provider)), options_(std::move(options)) {}
    ~token_credential() override {
        while (tokens_ != nullptr) { delete std::exchange(tokens_, tokens_->next); }
    }
    token_credential(token_credential const&) = delete;
    token_credential& operator=(token_credential const&) = delete;

    result<void> authorize(
        http_request& request, known_request const& known, endpoint const& at, date_time now) override {
        if (!known.target.encrypted) {
            return failure{error_code::invalid_input, "a bearer token can only be sent over https"};
        }
        std::string_view const scope = options_.scope.empty() ? usual_scope(at) : std::string_view{options_.scope};
        std::unique_lock lock{mutex_};
        token& mine = find(scope);
        std::uint64_t const failures = mine.failures;
        for (;;) {
            bool const good = !mine.header.empty() && now < mine.expires;
            if (good && (mine.refreshing || now < mine.refresh_at)) { break; }
            if (!good && mine.failures != failures) {
                return failure{*mine.last_failure}; // another thread has set it while this thread waited
            }
            if (mine.refreshing) {
                ENTITABLE_CHECK(wait(lock, known.call));
                continue;
            }
            if (auto fresh = refresh(mine, lock, {scope, at.primary, known.call, good}, now);
                !fresh && !(!mine.header.empty() && now < mine.expires)) {
                return fresh;
            }
            break;
        }
        if (known.fresh) { // the characters of the token were checked when it was received
            known_fields::add(request.headers, "Authorization", mine.header.reveal());
        } else if (!request.headers.set("Authorization", mine.header.reveal())) {
            return failure{error_code::internal_error, "the token does not fit in a header field"};
        }
        return {};
    }

    void refused(http_request const& request, std::string_view challenge, date_time now) override {
        bool const moved = !challenge.empty() && provider_->challenged(challenge);
        std::lock_guard const guard{mutex_};
        auto const sent = request.headers.find("Authorization");
        for (token* each = tokens_; each != nullptr; each = each->next) {
            if (sent != each->header.reveal()) { continue; } // the token has been replaced in the meantime
            std::int64_t const least =
                moved ? 0 : each->got_at.ticks + options_.retry_after.count() * date_time::ticks_per_second;
            std::int64_t const soon = now.ticks < least ? least : now.ticks;
            each->refresh_at = {soon < each->refresh_at.ticks ? soon : each->refresh_at.ticks};
        }
    }

private:
    /// The token for one scope.
    struct token {
        std::string scope;
        bool refreshing{};                   ///< a thread is getting a token
        secret header;                       ///< "Bearer ..."
        date_time expires;                   ///< when the token expires
        date_time got_at;                    ///< when the token was received
        date_time refresh_at;                ///< after this time the next request gets a new token
        std::uint64_t failures{};            ///< number of failures of the provider
        std::optional<error> last_failure{}; ///< last error of the provider
        token* next{};
    };

    /// Marks that a thread is getting a token, even while an exception is propagated.
    struct turn {
        token_credential& owner;
        token& mine;
        std::unique_lock<std::mutex>& lock;
        turn(token_credential& of, token& getting, std::unique_lock<std::mutex>& held)
            : owner(of), mine(getting), lock(held) {
            mine.refreshing = true;
            lock.unlock();
        }
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;
        ~turn() {
            if (!lock.owns_lock()) { lock.lock(); }
            mine.refreshing = false;
            owner.done_.notify_all();
        }
    };

    /// Returns the token for a scope, of which an account has one, and a fleet of stores a few.
    [[nodiscard]] token& find(std::string_view scope) {
        for (token* each = tokens_; each != nullptr; each = each->next) {
            if (each->scope == scope) { return *each; }
        }
        auto* const made = new token;
        made->next = tokens_;
        tokens_ = made;
        made->scope = scope;
        return *made;
    }

    /// Waits until another thread has finished, within the limits of the request.
    result<void> wait(std::unique_lock<std::mutex>& lock, http_call const* limits) {
        if (limits == nullptr) {
            done_.wait(lock);
            return {};
        }
        if (limits->cancellation.cancelled()) {
            return failure{error_code::cancelled, "the call was cancelled while another thread was getting a token"};
        }
        if (limits->deadline != (steady_time::max)() && system_clock().steady() >= limits->deadline) {
            return failure{error_code::deadline_exceeded,
                "the deadline of the call passed while another thread was getting a token"};
        }
        done_.wait_for(lock, std::chrono::milliseconds{20}); // a cancellation does not wake a wait
        return {};
    }

    result<void> refresh(token& mine, std::unique_lock<std::mutex>& lock, token_request const& wanted, date_time now) {
        turn const getting{*this, mine, lock};
        auto got = provider_->get(wanted);
        std::string nothing;
        wiped_at_end const of_the_source{got ? got->text : nothing};
        std::string header;
        if (got) {
            header.reserve(sizeof("Bearer ") + got->text.size());
            header.append("Bearer ").append(got->text);
        }
        wiped_at_end const with_its_word{header};
        lock.lock();
        std::string_view wrong;
        if (got && got->text.empty()) {
            wrong = "the token source returned an empty token";
        } else if (got && got->expires <= now) {
            wrong = "the token source returned an expired token";
        } else if (got && !is_good_field("Authorization", header)) {
            wrong = "the token contains characters that are invalid in a header field";
        }
        if (!got || !wrong.empty()) {
            ++mine.failures;
            mine.refresh_at = {now.ticks + options_.retry_after.count() * date_time::ticks_per_second};
            mine.last_failure = !got ? got.error() : error{error_code::authentication_failed, std::string{wrong}};
            mine.last_failure->effect = effect::none;
            return failure{*mine.last_failure};
        }
        mine.header = secret{header};
        mine.expires = got->expires;
        mine.got_at = now;
        // A short-lived token is kept for half its lifetime.
        std::int64_t const before = options_.refresh_before.count() * date_time::ticks_per_second;
        std::int64_t const half = (mine.expires.ticks - now.ticks) / 2;
        mine.refresh_at = {mine.expires.ticks - (before < half ? before : half)};
        return {};
    }

    shared<token_provider> const provider_;
    token_options const options_;
    std::mutex mutex_;
    std::condition_variable done_;
    token* tokens_{}; ///< the list of tokens; guarded by mutex_; an element never moves
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
    return state_->authorize(request, {target, false, nullptr}, at, now);
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
    return bearer(shared<detail::token_provider>{new detail::function_provider{std::move(source)}}, std::move(options));
}

ENTITABLE_DECL credential credential::bearer(shared<detail::token_provider> provider, token_options options) {
    return credential{
        shared<detail::credential_state>{new detail::token_credential{std::move(provider), std::move(options)}}};
}

ENTITABLE_END_NAMESPACE
