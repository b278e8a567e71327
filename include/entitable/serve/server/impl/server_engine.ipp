// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_engine.hpp>
#include <entitable/serve/server/impl/batch_answers.ipp>
#include <entitable/serve/server/impl/change_answers.ipp>
#include <entitable/serve/server/impl/cors_answers.ipp>
#include <entitable/serve/server/impl/query_answers.ipp>
#include <entitable/serve/server/impl/service_answers.ipp>
#include <entitable/serve/server/impl/stored_settings.ipp>
#include <entitable/serve/server/impl/table_answers.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL server_engine::server_engine(any_store store, server_options options)
    : options_(std::move(options)), random_(random_seed()) {
    bool taken = false;
    if (options_.accounts.empty()) { problem_ = add(served_account::development(), store, taken); }
    for (served_account const& each : options_.accounts) {
        if (!problem_) { problem_ = add(each, store, taken); }
    }
}

ENTITABLE_DECL std::optional<error> server_engine::add(
    served_account const& account, any_store const& store, bool& taken) {
    auto const wrong = [](std::string_view what) {
        return error{error_code::invalid_input, text::joined({"served_account: ", what})};
    };
    bool good = account.name.size() >= 3 && account.name.size() <= 24;
    for (char const each : account.name) {
        good = good && ((each >= 'a' && each <= 'z') || (each >= '0' && each <= '9'));
    }
    if (!good) { return wrong("name must be 3 to 24 lower-case letters and digits"); }
    std::vector<std::string> keys{account.key};
    if (!account.second_key.empty()) { keys.push_back(account.second_key); }
    auto made = account_keys::make(account.name, keys);
    for (std::string& each : keys) { wipe(each.data(), each.size()); }
    if (!made) { return wrong("key must be base64"); }
    if (find(account.name) != nullptr) { return wrong("two accounts have the same name"); }
    if (!account.store && std::exchange(taken, true)) {
        return wrong("two accounts lack their own store, and would see each other's tables");
    }
    accounts_.emplace(
        account.name, std::make_unique<account_state>(*std::move(made), account.store ? *account.store : store));
    return std::nullopt;
}

ENTITABLE_DECL account_state* server_engine::find(std::string_view account) noexcept {
    auto const at = accounts_.find(account);
    return at == accounts_.end() ? nullptr : at->second.get();
}

ENTITABLE_DECL std::unique_ptr<entity_reader> server_engine::take_reader() {
    {
        std::lock_guard const guard{lock_};
        if (!readers_.empty()) {
            auto taken = std::move(readers_.back());
            readers_.pop_back();
            return taken;
        }
    }
    return std::make_unique<entity_reader>();
}

ENTITABLE_DECL void server_engine::give_back(std::unique_ptr<entity_reader> used) {
    constexpr std::size_t most = 64;
    constexpr std::size_t largest = std::size_t{128} * 1024; // a reader takes about ten times as many bytes
    if (used->capacity() <= largest) {
        std::lock_guard const guard{lock_};
        if (readers_.size() < most) { readers_.push_back(std::move(used)); }
    }
}

ENTITABLE_DECL std::string server_engine::new_id() {
    guid id;
    std::uint64_t const halves[2] = {random_.bits(), random_.bits()};
    std::memcpy(id.bytes.data(), halves, sizeof halves);
    id.bytes[6] = static_cast<unsigned char>((id.bytes[6] & 0x0FU) | 0x40U);
    id.bytes[8] = static_cast<unsigned char>((id.bytes[8] & 0x3FU) | 0x80U);
    return id.to_string();
}

/// Refuses oversized requests, before anything else is checked.
ENTITABLE_DECL result<void> check_sizes(
    http_request const& request, std::uint64_t body_size, server_options const& limits) {
    if (request.url.size() > limits.max_url_size) { return refused(414, "InvalidUri", "The URL is too long."); }
    if (request.headers.text().size() > limits.max_header_size) {
        return refused(431, "RequestHeaderFieldsTooLarge", "The header fields are too large.");
    }
    if (body_size > limits.max_body_size) {
        return refused(
            413, "RequestBodyTooLarge", "The request body is too large and exceeds the maximum permissible limit.");
    }
    return {};
}

/// Returns the effective method.
ENTITABLE_DECL result<http_method> meant_method(http_request const& request) {
    auto const other = request.headers.find("X-HTTP-Method");
    if (!other) { return request.method; }
    if (request.method != http_method::post) {
        return refused(400, "XMethodNotUsingPost", "X-HTTP-Method can only be used with POST.");
    }
    if (request.headers.count("X-HTTP-Method") != 1) {
        return refused(400, "XMethodIncorrectCount", "X-HTTP-Method is repeated.");
    }
    auto const method = method_named(*other);
    bool const known = method &&
        (*method == http_method::merge || *method == http_method::patch || *method == http_method::put ||
            *method == http_method::delete_);
    if (!known) { return refused(400, "XMethodIncorrectValue", "The value of X-HTTP-Method is unknown."); }
    return *method;
}

/// Authenticates the sender, and determines their permissions.
ENTITABLE_DECL result<void> authenticate(server_work& work, request_origin const& origin) {
    auto const authorization = work.request.headers.find("Authorization");
    account_state* const account = work.engine.find(work.address.account);
    if (authorization && work.request.headers.count("Authorization") != 1) {
        return not_authenticated("The header field Authorization is repeated.");
    }
    if (account == nullptr) { return not_authenticated("The account or its signature is unknown."); }
    constexpr std::string_view bearer = "Bearer ";
    if (authorization && authorization->starts_with(bearer)) {
        auto const& verify = work.engine.options().bearer;
        if (!verify) {
            return not_authenticated(
                "This server does not accept bearer tokens; use an account key or a shared access signature.");
        }
        if (!origin.encrypted && !work.engine.options().bearer_over_http) {
            return not_authenticated("Authentication scheme Bearer is not allowed with HTTP.");
        }
        auto const verdict = (verify)(work.address.account, authorization->substr(bearer.size()));
        if (!verdict.accepted) {
            return refused(401, "InvalidAuthenticationInfo",
                text::joined({"Server failed to authenticate the request. Please refer to the information in the "
                              "www-authenticate header.",
                    verdict.reason.empty() ? "" : " ", verdict.reason}));
        }
    } else if (authorization) {
        auto good = check_shared_key(work.request, work.address.url, account->keys, work.now);
        if (!good) { return good; }
    } else {
        std::optional<error> unread; // why the policies could not be read
        auto const find_policy = [&](std::string_view table, std::string_view id) -> std::optional<access_policy> {
            call context;
            context.deadline = work.engine.options().time->steady() + work.engine.options().longest_work;
            context.cancellation = work.context.cancellation;
            auto const held = stored_policies(account->store, table, context);
            if (!held) {
                unread = held.error();
                return std::nullopt;
            }
            for (access_policy const& each : *held) {
                if (each.id == id) { return each; }
            }
            return std::nullopt;
        };
        bool has_signature = false;
        for_each_option(work.address.url.query,
            [&](std::string_view name, std::string_view) { has_signature = has_signature || name == "sig"; });
        if (!has_signature) { return not_authenticated("The request has no signature."); }
        auto grant = check_signature(work.address.url.query, account->keys, origin, work.now, find_policy);
        if (unread) { return refused_by_store(*unread); }
        if (!grant) { return std::move(grant).as_failure(); }
        work.grant = *std::move(grant);
    }
    work.account = account;
    return {};
}

/// Refuses a compressed body, which would be read as if it were plain.
ENTITABLE_DECL result<void> check_encoding(http_request const& request) {
    auto const encoding = request.headers.find("Content-Encoding");
    if (!encoding || encoding->empty() || *encoding == "identity") { return {}; }
    return refused(415, "UnsupportedMediaType", "The Content-Encoding of the body is not supported.");
}

/// Checks the protocol version: a date, not before the first version with JSON.
ENTITABLE_DECL result<void> check_version(http_request const& request) {
    auto const version = request.headers.find("x-ms-version");
    if (!version) { return {}; }
    bool const good = date_time::parse(text::joined({*version, "T00:00:00Z"})).has_value();
    if (!good || *version < "2013-08-15") {
        return refused(
            400, "InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.");
    }
    return {};
}

/// Sets the deadline of the transport.
ENTITABLE_DECL result<void> set_deadline(server_work& work, steady_time deadline) {
    ENTITABLE_TRY(auto wanted, option_of(work, "timeout"));
    std::chrono::seconds seconds = work.engine.options().longest_work;
    if (wanted) {
        std::string_view digits = *wanted;
        auto const number = leading_number<std::uint32_t>(digits);
        if (!number || !digits.empty() || *number == 0) {
            return refused(400, "InvalidQueryParameterValue",
                "Value for one of the query parameters specified in the request URI is invalid.");
        }
        seconds = (std::min)(seconds, std::chrono::seconds{*number});
    }
    work.context.deadline = (std::min)(deadline, work.engine.options().time->steady() + seconds);
    return {};
}

ENTITABLE_DECL result<void> no_such_method() {
    return refused(405, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.");
}

/// Dispatches a request to its handler.
ENTITABLE_DECL result<void> dispatch(server_work& work, entity_reader& reader) {
    ENTITABLE_TRY(auto comp, option_of(work, "comp"));
    http_method const method = work.method;
    bool const reads = method == http_method::get || method == http_method::head;
    if (work.address.secondary) {
        if (!reads) {
            return refused(403, "InsufficientAccountPermissions",
                "The account being accessed does not have sufficient permissions to execute this operation.");
        }
        work.context.location = read_location::secondary;
    }
    if (comp && work.address.place == service_place::table && *comp == "acl") { return answer_policies(work); }
    if (work.address.place == service_place::service) { return answer_service(work); }
    if (comp) {
        return refused(400, "InvalidQueryParameterValue",
            "Value for one of the query parameters specified in the request URI is invalid.");
    }
    switch (work.address.place) {
        case service_place::tables:
            return method == http_method::get ? answer_tables(work)
                : method == http_method::post ? answer_create_table(work, reader)
                                              : no_such_method();
        case service_place::one_table:
            return method == http_method::get    ? answer_one_table(work)
                : method == http_method::delete_ ? answer_delete_table(work)
                                                 : no_such_method();
        case service_place::table:
            return method == http_method::get ? answer_query(work)
                : method == http_method::post ? answer_change(work, reader)
                                              : no_such_method();
        case service_place::entity:
            return method == http_method::get                                ? answer_entity(work)
                : method == http_method::post || method == http_method::head ? no_such_method()
                                                                             : answer_change(work, reader);
        case service_place::batch: return method == http_method::post ? answer_batch(work, reader) : no_such_method();
        default: return no_such_method();
    }
}

/// Checks everything that does not need the body: sizes, address, sender, version.
ENTITABLE_DECL result<void> admit(server_work& work, std::uint64_t body_size, request_origin const& origin) {
    if (auto good = check_sizes(work.request, body_size, work.engine.options()); !good) { return good; }
    ENTITABLE_TRY(auto address, read_service_address(work.request.url));
    work.address = std::move(address);
    work.style.base = work.address.base;
    work.style.account = work.address.account;
    if (work.request.method == http_method::options) { return {}; }
    if (is_settings_table(work.address.table)) {
        return refused(404, "TableNotFound", "The table specified does not exist.");
    }
    if (auto good = authenticate(work, origin); !good) { return good; }
    if (auto good = check_version(work.request); !good) { return good; }
    return check_encoding(work.request);
}

/// Runs a request, except the parts common to every response.
ENTITABLE_DECL result<void> run(server_work& work, request_origin const& origin, steady_time deadline) {
    if (auto good = admit(work, work.request.body.size(), origin); !good) { return good; }
    if (work.request.method == http_method::options) { return answer_preflight(work); }
    if (auto good = check_digest(work.request); !good) { return good; }
    ENTITABLE_TRY(auto method, meant_method(work.request));
    work.method = method;
    auto format = option_of(work, "$format");
    if (!format) { return std::move(format).as_failure(); }
    auto const level = metadata_asked_for(
        format->value_or(std::string{}), work.request.headers.find("Accept").value_or(std::string_view{}));
    bool const xml =
        work.address.place == service_place::service || work.address.url.query.find("comp=") != std::string_view::npos;
    if (!level && work.method == http_method::get && !xml) {
        return refused(415, "AtomFormatNotSupported", "Atom format is not supported.");
    }
    work.style.metadata = level.value_or(metadata_level::minimal);
    if (auto good = set_deadline(work, deadline); !good) { return good; }
    auto reader = work.engine.take_reader();
    auto outcome = dispatch(work, *reader);
    work.engine.give_back(std::move(reader));
    return outcome;
}

/// Adds the header fields of every response.
ENTITABLE_DECL void add_common_fields(server_work& work) {
    http_headers& to = work.out.headers;
    known_fields::add(to, "Cache-Control: no-cache\0Server: entitable\0X-Content-Type-Options: nosniff", 3);
    known_fields::add(to, "Date", http_date(work.now));
    known_fields::add(to, "x-ms-request-id", work.request_id);
    std::string_view const version = work.request.headers.find("x-ms-version").value_or("2019-02-02");
    known_fields::add(to, "x-ms-version", version.size() == 10 ? version : "2019-02-02");
    if (auto const id = work.request.headers.find("x-ms-client-request-id"); id && id->size() <= 1024) {
        static_cast<void>(to.add("x-ms-client-request-id", *id));
    }
}

/// Reports a request to the observer.
ENTITABLE_DECL void report(server_work const& work, steady_time begun, std::optional<error_code> failed) {
    server_options const& options = work.engine.options();
    if (options.watch == nullptr) { return; }
    attempt_record done;
    done.name = work.name;
    done.table = work.address.table;
    done.begun = begun;
    done.ended = options.time->steady();
    done.request_size = work.request.body.size();
    done.response_size = work.out.body.size();
    done.outcome.status = work.out.status;
    done.span.own = work.context.trace;
    done.span.parent = work.context.trace.span_id;
    done.outcome.error = failed;
    done.request_id = work.request_id;
    options.watch->on_attempt(done);
}

/// Writes the response to a request that was refused. Returns the code for the observer.
ENTITABLE_DECL error_code write_refusal(server_work& work, error const& problem) {
    http_response& out = work.out;
    service_error const refusal = service_error_of_refusal(problem);
    out.status = refusal.status;
    out.headers.clear();
    out.body.clear();
    std::string_view const accept = work.request.headers.find("Accept").value_or(std::string_view{});
    bool const json = accept.find("json") != std::string_view::npos;
    bool const xml =
        work.address.url.query.find("comp=") != std::string_view::npos || (work.account == nullptr && !json);
    refusal_marks const marks{work.request_id, work.now};
    if (xml) {
        known_fields::add(out.headers, "Content-Type: application/xml", 1);
        append_xml_refusal(out.body, refusal, marks);
    } else {
        known_fields::add(out.headers, "Content-Type", content_type_of(work.style.metadata));
        append_json_refusal(out.body, refusal, marks);
    }
    known_fields::add(out.headers, "x-ms-error-code", refusal.word);
    if (refusal.status == 401) {
        static_cast<void>(out.headers.add("WWW-Authenticate", work.engine.options().bearer_challenge));
    }
    return code_of(refusal.word, refusal.status);
}

ENTITABLE_DECL std::optional<http_response> server_engine::refusal(
    http_request const& head, std::uint64_t body_size, request_origin const& origin) {
    if (problem_) { return std::nullopt; } // `answer` reports it
    http_response out;
    server_work work{*this, head, out, {}, head.method, nullptr, {}, {}, {}, {}, options_.time->now()};
    auto good = admit(work, 0, origin);
    if (good && head.method == http_method::options) { good = refused_input("A preflight request has no body."); }
    auto const fits = good ? check_sizes(head, body_size, options_) : result<void>{};
    if (good && fits) { return std::nullopt; }
    work.request_id = new_id();
    error_code const failed = write_refusal(work, good ? fits.error() : good.error());
    add_common_fields(work);
    add_cors_fields(work);
    out.body.reserve(out.body.size() + http_response::padding);
    report(work, options_.time->steady(), failed);
    return out;
}

ENTITABLE_DECL http_response server_engine::answer(http_request const& request, request_origin const& origin,
    steady_time deadline, cancellation_token const& cancellation) {
    steady_time const begun = options_.watch != nullptr ? options_.time->steady() : steady_time{};
    http_response out;
    server_work work{*this, request, out, {}, request.method, nullptr, {}, {}, {}, new_id(), options_.time->now()};
    work.context.cancellation = cancellation;
    if (auto const above = request.headers.find("traceparent")) {
        if (auto const trace = trace_context::parse(*above)) { work.context.trace = *trace; }
    }
    out.status = 200;
    out.headers.clear();
    auto outcome = problem_ ? result<void>{failure{error_code::internal_error, "the server has invalid accounts"}}
                            : run(work, origin, deadline);
    std::optional<error_code> failed;
    if (!outcome) { failed = write_refusal(work, outcome.error()); }
    add_common_fields(work);
    add_cors_fields(work);
    if (request.method == http_method::head) { out.body.clear(); }
    out.body.reserve(out.body.size() + http_response::padding);
    report(work, begun, failed);
    return out;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
