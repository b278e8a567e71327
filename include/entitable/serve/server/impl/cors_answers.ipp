// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a list of a rule has `wanted`: as it is, by `*`, or by a prefix before `*`.
ENTITABLE_DECL bool cors_list_has(std::vector<std::string> const& list, std::string_view wanted) {
    for (std::string const& each : list) {
        bool const begins = each.size() > 1 && each.ends_with('*') &&
            text::ascii_lower(wanted).starts_with(text::ascii_lower(each.substr(0, each.size() - 1)));
        if (each == "*" || begins || same_field_name(each, wanted)) { return true; }
    }
    return false;
}

/// Whether a rule allows a page of `origin` to send `method` with these header fields.
ENTITABLE_DECL bool allows(
    cors_rule const& rule, std::string_view origin, std::string_view method, std::string_view fields) {
    bool good = cors_list_has(rule.allowed_origins, origin) && cors_list_has(rule.allowed_methods, method);
    while (good && !fields.empty()) {
        std::string_view const field = trimmed(fields.substr(0, fields.find(',')));
        fields.remove_prefix(fields.find(',') == std::string_view::npos ? fields.size() : fields.find(',') + 1);
        good = field.empty() || cors_list_has(rule.allowed_headers, field);
    }
    return good;
}

ENTITABLE_DECL bool is_for_all_origins(cors_rule const& rule) {
    return std::find(rule.allowed_origins.begin(), rule.allowed_origins.end(), "*") != rule.allowed_origins.end();
}

/// Adds the fields by which a browser shows the response to a page of `origin`.
ENTITABLE_DECL void add_allowed_origin(http_headers& to, cors_rule const& rule, std::string_view origin) {
    bool const all = is_for_all_origins(rule);
    static_cast<void>(to.add("Access-Control-Allow-Origin", all ? std::string_view{"*"} : origin));
    if (!all) {
        static_cast<void>(to.add("Vary", "Origin"));
        static_cast<void>(to.add("Access-Control-Allow-Credentials", "true"));
    }
}

/// Returns the rules of an account; none if they cannot be read.
ENTITABLE_DECL std::vector<cors_rule> cors_rules_of(server_work& work) {
    account_state* const account = work.engine.find(work.address.account);
    if (account == nullptr) { return {}; }
    call context;
    context.deadline = work.engine.options().time->steady() + work.engine.options().longest_work;
    context.cancellation = work.context.cancellation;
    auto held = stored_properties(account->store, context);
    return held && held->cors ? *std::move(held->cors) : std::vector<cors_rule>{};
}

ENTITABLE_DECL result<void> answer_preflight(server_work& work) {
    work.name = "preflight";
    auto const field = [&](std::string_view name) {
        return work.request.headers.find(name).value_or(std::string_view{});
    };
    std::string_view const origin = field("Origin");
    std::string_view const method = field("Access-Control-Request-Method");
    std::string_view const fields = field("Access-Control-Request-Headers");
    if (origin.empty() || method.empty()) {
        return refused(400, "MissingRequiredHeader", "A preflight request must name its origin and its method.");
    }
    for (cors_rule const& rule : cors_rules_of(work)) { // the first rule that matches counts
        if (!allows(rule, origin, method, fields)) { continue; }
        http_headers& to = work.out.headers;
        add_allowed_origin(to, rule, origin);
        bool const all = to.add("Access-Control-Allow-Methods", method) &&
            (fields.empty() || to.add("Access-Control-Allow-Headers", fields)) &&
            to.add("Access-Control-Max-Age", std::to_string(rule.max_age.count()));
        static_cast<void>(all); // all fields come from a valid request, so none can be refused
        return {};
    }
    return refused(403, "CorsPreflightFailure", "CORS not enabled or no matching rule found for this request.");
}

/// Adds the fields of CORS to the response of any request other than a preflight, if a page in a browser sent it.
ENTITABLE_DECL void add_cors_fields(server_work& work) {
    auto const origin = work.request.headers.find("Origin");
    if (!origin || work.request.method == http_method::options) { return; }
    http_headers& to = work.out.headers;
    bool by_origin = false;
    for (cors_rule const& rule : cors_rules_of(work)) {
        by_origin = by_origin || !is_for_all_origins(rule);
        if (!allows(rule, *origin, to_string(work.request.method), {})) { continue; }
        std::string exposed;
        to.for_each([&](std::string_view name, std::string_view) {
            if (cors_list_has(rule.exposed_headers, name)) { exposed.append(exposed.empty() ? "" : ",").append(name); }
        });
        add_allowed_origin(to, rule, *origin);
        if (!exposed.empty()) { static_cast<void>(to.add("Access-Control-Expose-Headers", exposed)); }
        return;
    }
    // A cache must not show this response to a page that another rule allows.
    if (by_origin) { static_cast<void>(to.add("Vary", "Origin")); }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
