// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/xml.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>
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
    any_store const& store = work.account->store;
    if (sets) {
        // The clients for Python and JavaScript send no body for "no policies".
        auto policies = trimmed(work.request.body).empty()
            ? result<std::vector<access_policy>>{std::vector<access_policy>{}}
            : read_policies(work.request.body);
        if (!policies || policies->size() > 5 || !write_xml(*policies)) {
            return refused(
                400, "InvalidXmlDocument", "XML specified is not syntactically valid, or has more than 5 policies.");
        }
        if (auto stored = store_policies(store, work.address.table, *policies, work.context); !stored) {
            return refused_by_store(stored.error());
        }
        work.out.status = 204;
        return {};
    }
    query_entities asked; // the cheapest query that shows whether the table exists
    asked.table = work.address.table;
    asked.page_size = 1;
    asked.range.partition.upper = key_bound::excluding({});
    if (auto const there = store.execute(asked, work.context); !there) { return refused_by_store(there.error()); }
    auto const held = stored_policies(store, work.address.table, work.context);
    if (!held) { return refused_by_store(held.error()); }
    ENTITABLE_TRY(auto xml, write_xml(*held));
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
        auto held = stored_properties(work.account->store, work.context);
        if (!held) { return refused_by_store(held.error()); }
        ENTITABLE_TRY(auto xml, write_xml(all_of(*std::move(held))));
        answer_xml(work, std::move(xml));
        return {};
    }
    auto changed = read_properties(work.request.body);
    if (!changed) { return refused(400, "InvalidXmlDocument", "XML specified is not syntactically valid."); }
    if (!write_xml(*changed)) {
        return refused(400, "InvalidXmlDocument",
            "XML specified is not syntactically valid, or one of its values is out of bounds.");
    }
    if (auto stored = store_properties(work.account->store, *changed, work.context); !stored) {
        return refused_by_store(stored.error());
    }
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
