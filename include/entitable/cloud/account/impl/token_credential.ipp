// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/account/credential.hpp>
#include <entitable/core/try.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
        provider_->stop();
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
        bool const blocks = known.wait == nullptr || !provider_->has_thread();
        if (!blocks) {
            ENTITABLE_CHECK(look(mine, scope, at, *known.wait, now));
            if (known.wait->pending) { return {}; }
        }
        while (blocks) {
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

    /// Finds out whether there is a token, and has another thread request one if it is needed. Called under the lock.
    result<void> look(token& mine, std::string_view scope, endpoint const& at, token_wait& wait, date_time now) {
        bool const good = !mine.header.empty() && now < mine.expires;
        wait.pending = !good;
        if (good && (mine.refreshing || now < mine.refresh_at)) { return {}; }
        if (!good && wait.begun && mine.failures != wait.failures) {
            wait.pending = false;
            return failure{*mine.last_failure};
        }
        if (!std::exchange(wait.begun, true)) { wait.failures = mine.failures; }
        if (!mine.refreshing) {
            mine.refreshing = provider_->start(
                [this, &mine, good, now, asked = std::string{scope}, address = at.primary](http_call const& limits) {
                    std::unique_lock lock{mutex_};
#if ENTITABLE_HAS_EXCEPTIONS
                    try {
                        static_cast<void>(refresh(mine, lock, {asked, address, &limits, good}, now));
                    } catch (...) { // nobody on this thread could catch it
                        ++mine.failures;
                        mine.last_failure = error{error_code::internal_error, "the token source threw an exception"};
                        mine.refresh_at = {now.ticks + options_.retry_after.count() * date_time::ticks_per_second};
                    }
#else
                    static_cast<void>(refresh(mine, lock, {asked, address, &limits, good}, now));
#endif
                });
        }
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

} // namespace detail
ENTITABLE_END_NAMESPACE
