// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/rest/cosmos_throughput.hpp>
#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/error_answer.hpp>
#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <simdjson.h>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> check_cosmos_name(std::string_view field, std::string_view text) {
    bool good = !text.empty() && text.size() <= 256 && text != "." && text != "..";
    for (char const each : text) {
        good = good &&
            (is_letter(each) || is_decimal(each) || std::string_view{"-_.()"}.find(each) != std::string_view::npos);
    }
    if (good) { return {}; }
    return failure{error_code::invalid_input,
        text::joined({"the ", field, " must have letters, digits, \"-\", \"_\", \".\" and parentheses"})};
}

/// Returns the address without a slash at the end. A token or a signature is sent over https only.
ENTITABLE_DECL result<std::string> check_cosmos_endpoint(std::string_view endpoint) {
    while (endpoint.ends_with('/')) { endpoint.remove_suffix(1); }
    bool good = endpoint.starts_with("https://") && endpoint.size() > 8;
    for (char const each : endpoint.substr(good ? 8 : endpoint.size())) {
        good = good && (is_letter(each) || is_decimal(each) || each == '-' || each == '.' || each == ':');
    }
    if (good) { return std::string{endpoint}; }
    return failure{error_code::invalid_input, "the address of Cosmos DB must begin with https:// and have no path"};
}

/// Sends a request that reads. `what`: for messages, "the throughput of the table".
ENTITABLE_DECL result<http_response> read_from_cosmos(
    http_request& request, std::string_view what, cosmos_read_options const& options) {
    auto answer = options.send ? options.send(request, options.limits) : curl_client{}.send(request, options.limits);
    request.forget_credential();
    if (!answer) {
        failure unread = std::move(answer).as_failure();
        unread.error().effect = effect::none; // a read changes nothing
        return unread;
    }
    if (answer->status == 200) { return answer; }
    error_code const code = answer->status == 404 ? error_code::resource_not_found : code_of({}, answer->status);
    failure made{code, text::joined({"the service refused to read ", what, " with ", std::to_string(answer->status)})};
    made.error().http_status = answer->status;
    made.error().retry_after = retry_after_of(answer->headers);
    return made;
}

/// Reads a number, or a text of a number: the resource provider sends both.
ENTITABLE_DECL result<double> cosmos_number(simdjson::ondemand::value value) {
    std::string_view text;
    double number = 0;
    simdjson::ondemand::json_type type{};
    if (value.type().get(type) == simdjson::SUCCESS) {
        if (type == simdjson::ondemand::json_type::null) { return number; }
        bool const read = type == simdjson::ondemand::json_type::string
            ? value.get_string().get(text) == simdjson::SUCCESS && !text.empty()
            : value.get_double().get(number) == simdjson::SUCCESS;
        if (read && type == simdjson::ondemand::json_type::string) {
            auto const whole = leading_number<std::uint64_t>(text);
            if (whole && text.empty()) { return static_cast<double>(*whole); }
        } else if (read && number >= 0) {
            return number;
        }
    }
    return unreadable({"a throughput is not a number"});
}

/// Takes one member of `properties.resource`.
ENTITABLE_DECL result<void> take_throughput(
    provisioned_throughput& into, std::string_view name, simdjson::ondemand::value value) {
    simdjson::ondemand::value most;
    if (name == "throughput") {
        ENTITABLE_TRY(into.units, cosmos_number(value));
    } else if (name == "minimumThroughput") {
        ENTITABLE_TRY(into.minimum, cosmos_number(value));
    } else if (name == "instantMaximumThroughput") {
        ENTITABLE_TRY(into.instant_maximum, cosmos_number(value));
    } else if (name == "softAllowedMaximumThroughput") {
        ENTITABLE_TRY(into.allowed_maximum, cosmos_number(value));
    } else if (name == "offerReplacePending") {
        std::string_view const raw = trimmed(value.raw_json_token());
        into.pending = raw == "true" || raw == "\"true\"";
    } else if (name == "autoscaleSettings" && value["maxThroughput"].get(most) == simdjson::SUCCESS) {
        ENTITABLE_TRY(into.autoscale_maximum, cosmos_number(most));
    }
    return {};
}

ENTITABLE_DECL result<provisioned_throughput> throughput_in(std::string const& body) {
    simdjson::padded_string const text{body};
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object resource;
    if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
        document["properties"]["resource"].get_object().get(resource) != simdjson::SUCCESS) {
        return unreadable({"the answer has no properties.resource"});
    }
    provisioned_throughput made;
    for (auto field : resource) {
        std::string_view name;
        simdjson::ondemand::value value;
        if (field.unescaped_key().get(name) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) {
            return unreadable({"the answer is not JSON"});
        }
        ENTITABLE_CHECK(take_throughput(made, name, value));
    }
    if (made.autoscale_maximum > 0) { made.units = 0; } // the present RU/s, which change by themselves
    if (made.units <= 0 && made.autoscale_maximum <= 0) { return unreadable({"the answer has no throughput"}); }
    return made;
}

/// Ids of ranges, and of the ranges that they were split from.
struct cosmos_ranges {
    std::set<std::string, std::less<>> ids{};
    std::set<std::string, std::less<>> parents{};
};

ENTITABLE_DECL bool read_range(simdjson::ondemand::object range, cosmos_ranges& into) {
    std::string_view id;
    simdjson::ondemand::array before;
    if (range["id"].get_string().get(id) != simdjson::SUCCESS) { return false; }
    into.ids.emplace(id);
    if (range["parents"].get_array().get(before) != simdjson::SUCCESS) { return true; }
    for (auto each : before) {
        if (each.get_string().get(id) == simdjson::SUCCESS) { into.parents.emplace(id); }
    }
    return true;
}

/// Adds a page of ranges.
ENTITABLE_DECL result<void> read_ranges(std::string const& body, cosmos_ranges& into) {
    simdjson::padded_string const text{body};
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::array list;
    bool good = parser.iterate(text).get(document) == simdjson::SUCCESS &&
        document["PartitionKeyRanges"].get_array().get(list) == simdjson::SUCCESS;
    if (good) {
        for (auto element : list) {
            simdjson::ondemand::object range;
            good = element.get_object().get(range) == simdjson::SUCCESS && read_range(range, into);
            if (!good) { break; }
        }
    }
    return good ? result<void>{} : unreadable({"the answer has no list of ranges with ids"});
}

/// Returns the address of a table's throughput.
ENTITABLE_DECL result<std::string> throughput_url(cosmos_resource const& of, std::string_view endpoint) {
    std::string url{endpoint};
    struct {
        std::string_view field, before;
        std::string const& text;
    } const parts[] = {{"subscription", "/subscriptions/", of.subscription},
        {"resource group", "/resourceGroups/", of.resource_group},
        {"account", "/providers/Microsoft.DocumentDB/databaseAccounts/", of.account}, {"table", "/tables/", of.table},
        {"version of the interface", "/throughputSettings/default?api-version=", of.api_version}};
    for (auto const& each : parts) {
        ENTITABLE_CHECK(check_cosmos_name(each.field, each.text));
        url.append(each.before).append(each.text);
    }
    return url;
}

/// Makes the request for a page of ranges. Source: "Access control on Azure Cosmos DB resources"; the date is in lower case.
ENTITABLE_DECL result<http_request> ranges_request(
    std::string_view base, std::string_view link, credential const& key, std::string_view date) {
    std::string signature;
    if (!key.sign(text::joined({"get\npkranges\n", link, "\n", text::ascii_lower(date), "\n\n"}), signature)) {
        return failure{error_code::invalid_input, "the ranges of a table are read with an account key"};
    }
    std::string authorization;
    append_url_escaped(authorization, text::joined({"type=master&ver=1.0&sig=", signature}));
    http_request request;
    request.url = text::joined({base, "/", link, "/pkranges"});
    known_fields::add(request.headers, "authorization", authorization);
    known_fields::add(request.headers, "x-ms-date", date);
    known_fields::add(request.headers, "x-ms-version", "2018-12-31");
    known_fields::add(request.headers, "Accept", "application/json");
    return request;
}

} // namespace detail

ENTITABLE_DECL result<provisioned_throughput> read_throughput(
    cosmos_resource const& of, identity const& who, cosmos_read_options const& options) {
    ENTITABLE_TRY(std::string const base, detail::check_cosmos_endpoint(of.endpoint));
    http_request request;
    ENTITABLE_TRY(request.url, detail::throughput_url(of, base));
    ENTITABLE_TRY(access_token token, who.request_token(base + "/.default", options.limits));
    std::string field = "Bearer " + token.text;
    bool const added = request.headers.add("Authorization", field) && request.headers.add("Accept", "application/json");
    wipe(field.data(), field.size());
    wipe(token.text.data(), token.text.size());
    if (!added) { return failure{error_code::authentication_failed, "the token has a control character"}; }
    ENTITABLE_TRY(
        http_response const answer, detail::read_from_cosmos(request, "the throughput of the table", options));
    return detail::throughput_in(answer.body);
}

ENTITABLE_DECL result<std::uint64_t> count_partitions(
    std::string_view endpoint, credential const& key, std::string_view table, cosmos_read_options const& options) {
    ENTITABLE_TRY(std::string const base, detail::check_cosmos_endpoint(endpoint));
    ENTITABLE_CHECK(detail::check_cosmos_name("database", options.database));
    ENTITABLE_CHECK(detail::check_cosmos_name("table", table));
    std::string const link = text::joined({"dbs/", options.database, "/colls/", table});
    detail::cosmos_ranges ranges;
    std::string continuation;
    for (unsigned page = 0; page < 10'000; ++page) {
        ENTITABLE_TRY(auto request, detail::ranges_request(base, link, key, detail::http_date(options.time->now())));
        if (!continuation.empty() && !request.headers.add("x-ms-continuation", continuation)) { break; }
        ENTITABLE_TRY(
            http_response const answer, detail::read_from_cosmos(request, "the ranges of the table", options));
        ENTITABLE_CHECK(detail::read_ranges(answer.body, ranges));
        continuation = answer.headers.find("x-ms-continuation").value_or(std::string_view{});
        if (continuation.empty()) {
            return static_cast<std::uint64_t>(std::count_if(ranges.ids.begin(), ranges.ids.end(),
                [&](std::string const& each) { return !ranges.parents.contains(each); }));
        }
    }
    return detail::unreadable({"the list of ranges does not end"});
}

ENTITABLE_END_NAMESPACE
