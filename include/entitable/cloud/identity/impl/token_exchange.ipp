// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/identity/detail/token_exchange.hpp>
#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>
#include <entitable/cloud/wire/detail/http_date.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>

#include <cstdio>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure no_token(std::string_view way, std::initializer_list<std::string_view> text) {
    return failure{error_code::authentication_failed, text::joined({way, ": ", text::joined(text)})};
}

ENTITABLE_DECL std::string_view resource_of(std::string_view scope) noexcept {
    constexpr std::string_view suffix = "/.default";
    return scope.ends_with(suffix) ? scope.substr(0, scope.size() - suffix.size()) : scope;
}

ENTITABLE_DECL bool is_directory_name(std::string_view text) noexcept {
    for (char const each : text) {
        if (!is_letter(each) && !is_decimal(each) && each != '.' && each != '-' && each != '_') { return false; }
    }
    return !text.empty() && text.size() <= 256 && text.front() != '-';
}

ENTITABLE_DECL std::optional<std::chrono::seconds> clock_ahead(token_response const& response) noexcept {
    auto const server = parse_http_date(response.answer.headers.find("Date").value_or(std::string_view{}));
    if (!server) { return std::nullopt; }
    return std::chrono::seconds{(response.arrived.ticks - server->ticks) / date_time::ticks_per_second};
}

/// Waits until a request may be repeated; false if the caller's limits end the wait.
ENTITABLE_DECL result<void> wait_to_repeat(clock& time, std::chrono::milliseconds wait, http_call const* limits) {
    constexpr std::chrono::milliseconds slice{20}; // a cancellation does not wake a wait
    steady_time const until = time.steady() + wait;
    for (steady_time now = time.steady(); now < until; now = time.steady()) {
        if (limits != nullptr && limits->cancellation.cancelled()) {
            return failure{error_code::cancelled, "the call was cancelled while a request for a token was repeated"};
        }
        if (limits != nullptr && limits->deadline <= now) {
            return failure{error_code::deadline_exceeded,
                "the deadline of the call passed while a request for a token was repeated"};
        }
        time.wait_until(until - now < slice ? until : now + slice);
    }
    return {};
}

/// Whether an answer with this status may be different later.
ENTITABLE_DECL bool may_differ_later(std::uint16_t status, bool of_machine) noexcept {
    return status == 408 || status == 429 || status >= 500 || (of_machine && (status == 404 || status == 410));
}

ENTITABLE_DECL result<token_response> exchange_token(identity_machine const& machine, bool local, std::string_view way,
    http_request const& request, token_request const& wanted, repetition_rule const& rule) {
    constexpr std::chrono::milliseconds longest_wait{60'000};
    constexpr std::chrono::seconds update{70}; // IMDS answers 410 while it is updated, at most for 70 s
    identity_options const& options = machine.options;
    http_call limits;
    if (wanted.call != nullptr) {
        limits.deadline = wanted.call->deadline;
        limits.cancellation = wanted.call->cancellation;
    }
    limits.request_timeout = options.request_timeout;
    limits.max_body_size = std::size_t{64} * 1024;
    limits.max_header_size = std::size_t{32} * 1024;
    unsigned const repetitions = wanted.ahead ? 0 : rule.repetitions;
    steady_time const begun = options.time->steady();
    std::chrono::milliseconds wait = rule.first_wait;
    for (unsigned repeated = 0;;) {
        auto answer = local ? options.send_local(request, limits) : options.send(request, limits);
        std::optional<failure> problem;
        bool updating = false;
        std::chrono::milliseconds asked{0};
        if (answer) {
            if (answer->body.size() > limits.max_body_size) {
                wipe(answer->body.data(), answer->body.size());
                return failure{error_code::transport_failed, text::joined({way, ": the answer exceeds 64 KiB"})};
            }
            if (!may_differ_later(answer->status, rule.of_machine)) {
                return token_response{*std::move(answer), options.time->now()};
            }
            updating = answer->status == 410 && !wanted.ahead && options.time->steady() - begun + wait <= update;
            asked = retry_after_of(answer->headers).value_or(asked);
        } else {
            problem.emplace(std::move(answer).as_failure());
            problem->error().effect = effect::none; // a token that was issued and lost changes nothing
            problem->error().message = text::joined({way, ": ", problem->error().message});
            if (problem->error().code != error_code::transport_failed) { return *std::move(problem); }
        }
        if (!updating && repeated >= repetitions) {
            if (problem) { return *std::move(problem); }
            return token_response{*std::move(answer), options.time->now()};
        }
        asked = asked < longest_wait ? asked : longest_wait;
        if (auto waited = wait_to_repeat(*options.time, wait < asked ? asked : wait, &limits); !waited) {
            return std::move(waited).as_failure();
        }
        repeated += updating ? 0 : 1;
        wait = wait * 2 < std::chrono::milliseconds{12'800} ? wait * 2 : std::chrono::milliseconds{12'800};
    }
}

/// What to do after an error of Entra ID.
ENTITABLE_DECL std::string_view advice_for(std::string_view number) noexcept {
    struct row {
        std::string_view number;
        std::string_view advice;
    };
    constexpr row rows[] = {
        {"7000215", "the secret is wrong: use the value of the secret, not its id"},
        {"7000222", "the secret has expired: create a new one"},
        {"700016", "the tenant does not know this client id: check client and tenant"},
        {"7000216", "the client sent no secret or assertion"},
        {"90002", "the tenant does not exist: check its id and the authority host"},
        {"900023", "the tenant is not a valid id or domain"},
        {"700027", "the authority does not know the certificate: upload it to the application"},
        {"700024", "the assertion is not valid now: check the clock of this computer"},
        {"700021", "no federated credential matches issuer and subject of the token: check both"},
        {"70021", "no federated credential matches issuer and subject of the token: check both"},
        {"700211", "no federated credential has the issuer of the token: check the issuer"},
        {"700213", "no federated credential has the subject of the token: check namespace and service account"},
        {"700212", "no federated credential has the audience of the token"},
        {"500011", "the tenant does not know the service that the scope names"},
        {"53003", "a policy of conditional access forbids it"},
        {"7000112", "the application is disabled"},
    };
    for (row const& each : rows) {
        if (each.number == number) { return each.advice; }
    }
    return {};
}

ENTITABLE_DECL failure refused_token(
    token_answer const& answer, token_response const& response, std::string_view way, std::string_view advice) {
    std::uint16_t const status = response.answer.status;
    bool const busy = status == 429 || status >= 500;
    failure made{busy ? error_code::server_busy : error_code::authentication_failed,
        text::joined({way, ": ", busy ? "the last answer was " : "refused with ", std::to_string(status)})};
    error& problem = made.error();
    problem.http_status = status;
    if (status >= 300 && status < 400) { problem.message += ", a redirect, which is not followed"; }
    if (!answer.error_name.empty()) { problem.message += text::joined({", ", answer.error_name}); }
    if (!answer.number.empty()) { problem.message += text::joined({", AADSTS", answer.number}); }
    if (!answer.trace.empty()) { problem.message += text::joined({", trace id ", answer.trace}); }
    if (!answer.correlation.empty()) { problem.message += text::joined({", correlation id ", answer.correlation}); }
    problem.request_id = answer.trace;
    std::string_view const known = advice_for(answer.number);
    if (!known.empty() || !advice.empty()) { problem.message += text::joined({"; ", known.empty() ? advice : known}); }
    if (busy) { problem.retry_after = retry_after_of(response.answer.headers); }
    auto const ahead = clock_ahead(response);
    if (ahead && (ahead->count() > 300 || ahead->count() < -300)) {
        problem.message += text::joined(
            {"; the clock of this computer is ", std::to_string(ahead->count() < 0 ? -ahead->count() : ahead->count()),
                ahead->count() < 0 ? " s behind" : " s ahead of", " the server's"});
    }
    return made;
}

/// Returns how long a token is still valid, in seconds. An `expires_on` is compared with the server's own clock if the server says its time: the
/// clock of this computer may be wrong. `expires_in` may be counted from the first issue of a token that the machine keeps.
ENTITABLE_DECL std::int64_t remaining_seconds(token_answer const& answer, token_response const& response) noexcept {
    std::int64_t const now = (response.arrived.ticks - date_time::unix_epoch) / date_time::ticks_per_second;
    auto const ahead = clock_ahead(response);
    if (answer.expires_on && ahead) {
        std::int64_t const left = *answer.expires_on - (now - ahead->count());
        return answer.expires_in && *answer.expires_in < left ? *answer.expires_in : left;
    }
    if (answer.expires_in) { return *answer.expires_in; }
    return answer.expires_on ? *answer.expires_on - now : 0;
}

ENTITABLE_DECL result<access_token> token_in_answer(
    token_response& response, std::string_view way, std::string_view advice, std::string_view resource) {
    constexpr std::int64_t most = std::int64_t{10} * 366 * 86400;
    token_answer const answer = read_token_answer(response.answer.body);
    if (response.answer.status != 200) { return refused_token(answer, response, way, advice); }
    if (!answer.readable) { return no_token(way, {"the answer is not a JSON object of a known form"}); }
    if (answer.token.empty()) { return no_token(way, {"the answer has no token"}); }
    if (!answer.type.empty() && text::ascii_lower(answer.type) != "bearer") {
        return no_token(way, {"the type of the token is not Bearer"});
    }
    std::string_view given = answer.resource;
    while (given.ends_with('/')) { given.remove_suffix(1); }
    while (resource.ends_with('/')) { resource.remove_suffix(1); }
    if (!given.empty() && !resource.empty() && given != resource) {
        return no_token(way, {"the token is for a different resource than ", resource});
    }
    if (!answer.expires_in && !answer.expires_on) { return no_token(way, {"the answer has no expiry"}); }
    std::int64_t const left = remaining_seconds(answer, response);
    if (left <= 0) { return no_token(way, {"the token has expired already; check the clocks"}); }
    return access_token{
        std::string{answer.token.reveal()}, response.arrived + std::chrono::seconds{left < most ? left : most}};
}

#if defined(_WIN32)

ENTITABLE_DECL result<secret> read_secret_file(
    std::string const& path, std::string_view what, std::size_t limit, bool) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) { return no_token(what, {"the file cannot be opened"}); }
    std::setvbuf(file, nullptr, _IONBF, 0); // no copy in a buffer of the library
    std::string content(limit + 1, '\0');
    wiped_at_end const wiped{content};
    std::size_t const size = std::fread(content.data(), 1, content.size(), file);
    std::fclose(file);
    if (size > limit) { return no_token(what, {"the file has more than ", std::to_string(limit), " bytes"}); }
    return secret{trimmed({content.data(), size})};
}

#else

ENTITABLE_DECL result<secret> read_secret_file(
    std::string const& path, std::string_view what, std::size_t limit, bool follow) {
    int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
    if (file < 0) { return no_token(what, {"the file cannot be opened"}); }
    struct stat about{};
    bool const regular = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    std::string content(regular ? limit + 1 : 0, '\0');
    wiped_at_end const wiped{content};
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < content.size(); size += got > 0 ? static_cast<std::size_t>(got) : 0) {
        got = ::read(file, content.data() + size, content.size() - size);
    }
    ::close(file);
    if (!regular) { return no_token(what, {"the file is not a regular file"}); }
    if (size > limit) { return no_token(what, {"the file has more than ", std::to_string(limit), " bytes"}); }
    return secret{trimmed({content.data(), size})};
}

#endif

} // namespace detail
ENTITABLE_END_NAMESPACE
