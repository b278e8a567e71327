// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/xml.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/impl/change_answers.ipp>
#include <entitable/serve/server/impl/query_answers.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void answer_xml(server_work& work, std::string xml) {
    known_fields::add(work.out.headers, "Content-Type: application/xml", 1);
    work.out.body = std::move(xml);
}

ENTITABLE_DECL failure bad_parameter() {
    return refused(400, "InvalidQueryParameterValue",
        "Value for one of the query parameters specified in the request URI is invalid.");
}

ENTITABLE_DECL result<void> answer_policies(server_work& work) {
    work.name = "table_policies";
    bool const sets = work.method == http_method::put;
    if (!sets && work.method != http_method::get && work.method != http_method::head) {
        return refused(405, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.");
    }
    if (work.grant.by != access_grant::kind::all) { return not_permitted("AuthorizationFailure"); }
    query_entities asked; // the cheapest query that shows whether the table exists
    asked.table = work.address.table;
    asked.page_size = 1;
    asked.range.partition.upper = key_bound::excluding({});
    if (auto const there = work.account->store.execute(asked, work.context); !there) {
        return refused_by_store(there.error());
    }
    std::string const table = text::ascii_lower(work.address.table);
    if (sets) {
        // The clients for Python and JavaScript send no body for "no policies".
        auto policies = trimmed(work.request.body).empty()
            ? result<std::vector<access_policy>>{std::vector<access_policy>{}}
            : read_policies(work.request.body);
        if (!policies || policies->size() > 5 || !write_xml(*policies)) {
            return refused(
                400, "InvalidXmlDocument", "XML specified is not syntactically valid, or has more than 5 policies.");
        }
        std::lock_guard const guard{work.account->lock};
        work.account->policies[table] = *std::move(policies);
        work.out.status = 204;
        return {};
    }
    std::vector<access_policy> held;
    {
        std::lock_guard const guard{work.account->lock};
        if (auto const at = work.account->policies.find(table); at != work.account->policies.end()) {
            held = at->second;
        }
    }
    ENTITABLE_TRY(auto xml, write_xml(held));
    answer_xml(work, std::move(xml));
    return {};
}

/// Returns settings that contain every part of the service's settings.
ENTITABLE_DECL service_properties all_of(service_properties held) {
    held.logging = held.logging ? held.logging : logging_settings{};
    held.hour_metrics = held.hour_metrics ? held.hour_metrics : metrics_settings{};
    held.minute_metrics = held.minute_metrics ? held.minute_metrics : metrics_settings{};
    if (!held.cors) { held.cors.emplace(); }
    return held;
}

ENTITABLE_DECL result<void> answer_properties(server_work& work) {
    work.name = "service_properties";
    bool const sets = work.method == http_method::put;
    if (auto permitted = check_rights(work.grant, {}, {sets ? "w" : "r", {}, "s", false}); !permitted) {
        return permitted;
    }
    if (!sets) {
        service_properties held;
        {
            std::lock_guard const guard{work.account->lock};
            held = work.account->properties;
        }
        ENTITABLE_TRY(auto xml, write_xml(all_of(std::move(held))));
        answer_xml(work, std::move(xml));
        return {};
    }
    auto changed = read_properties(work.request.body);
    if (!changed) { return refused(400, "InvalidXmlDocument", "XML specified is not syntactically valid."); }
    if (!write_xml(*changed)) {
        return refused(400, "InvalidXmlDocument",
            "XML specified is not syntactically valid, or one of its values is out of bounds.");
    }
    std::lock_guard const guard{work.account->lock};
    service_properties& held = work.account->properties;
    held.logging = changed->logging ? changed->logging : held.logging;
    held.hour_metrics = changed->hour_metrics ? changed->hour_metrics : held.hour_metrics;
    held.minute_metrics = changed->minute_metrics ? changed->minute_metrics : held.minute_metrics;
    held.cors = changed->cors ? std::move(changed->cors) : std::move(held.cors);
    work.out.status = 202;
    return {};
}

ENTITABLE_DECL result<void> answer_statistics(server_work& work) {
    work.name = "service_statistics";
    if (!work.address.secondary) { return bad_parameter(); }
    if (auto permitted = check_rights(work.grant, {}, {"r", {}, "s", false}); !permitted) { return permitted; }
    std::string xml = R"(<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication>)";
    append_xml_element(xml, "Status", "live");
    append_xml_element(xml, "LastSyncTime", http_date(work.now));
    answer_xml(work, xml + "</GeoReplication></StorageServiceStats>");
    return {};
}

ENTITABLE_DECL result<void> answer_service(server_work& work) {
    auto type = option_of(work, "restype");
    auto comp = option_of(work, "comp");
    if (!type || !comp) { return !type ? std::move(type).as_failure() : std::move(comp).as_failure(); }
    bool const get = work.method == http_method::get;
    if (*type != "service") { return bad_parameter(); }
    if (*comp == "properties" && (get || work.method == http_method::put)) { return answer_properties(work); }
    if (*comp == "stats" && get) { return answer_statistics(work); }
    return bad_parameter();
}

/// Whether a rule allows a page of `origin` to send `method` with these header fields.
ENTITABLE_DECL bool allows(
    cors_rule const& rule, std::string_view origin, std::string_view method, std::string_view fields) {
    auto const has = [](std::vector<std::string> const& list, std::string_view wanted) {
        for (std::string const& each : list) {
            bool const begins = each.size() > 1 && each.ends_with('*') &&
                text::ascii_lower(wanted).starts_with(text::ascii_lower(each.substr(0, each.size() - 1)));
            if (each == "*" || begins || same_field_name(each, wanted)) { return true; }
        }
        return false;
    };
    bool good = has(rule.allowed_origins, origin) && has(rule.allowed_methods, method);
    while (good && !fields.empty()) {
        std::string_view const field = trimmed(fields.substr(0, fields.find(',')));
        fields.remove_prefix(fields.find(',') == std::string_view::npos ? fields.size() : fields.find(',') + 1);
        good = field.empty() || has(rule.allowed_headers, field);
    }
    return good;
}

ENTITABLE_DECL result<void> answer_preflight(server_work& work) {
    work.name = "preflight";
    auto const field = [&](std::string_view name) {
        return work.request.headers.find(name).value_or(std::string_view{});
    };
    std::string_view const origin = field("Origin");
    std::string_view const method = field("Access-Control-Request-Method");
    if (origin.empty() || method.empty()) {
        return refused(400, "MissingRequiredHeader", "A preflight request must name its origin and its method.");
    }
    account_state* const account = work.engine.find(work.address.account);
    std::optional<cors_rule> found;
    if (account != nullptr) {
        std::lock_guard const guard{account->lock};
        for (cors_rule const& rule : account->properties.cors.value_or(std::vector<cors_rule>{})) {
            if (!found && allows(rule, origin, method, field("Access-Control-Request-Headers"))) { found = rule; }
        }
    }
    if (!found) {
        return refused(403, "CorsPreflightFailure", "CORS not enabled or no matching rule found for this request.");
    }
    http_headers& to = work.out.headers;
    bool const all = to.add("Access-Control-Allow-Origin", origin) && to.add("Access-Control-Allow-Methods", method) &&
        to.add("Access-Control-Allow-Headers", field("Access-Control-Request-Headers")) &&
        to.add("Access-Control-Max-Age", std::to_string(found->max_age.count())) &&
        to.add("Access-Control-Allow-Credentials", "true") && to.add("Vary", "Origin");
    static_cast<void>(all); // all fields come from a valid request, so none can be refused
    return {};
}

ENTITABLE_DECL http_response answer_of_absent_server() {
    constexpr std::string_view words{"this server was moved from"};
    http_response made;
    made.status = 500;
    made.body.reserve(words.size() + http_response::padding);
    made.body = words;
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
