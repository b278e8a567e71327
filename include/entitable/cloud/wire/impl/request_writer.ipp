// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/request_writer.hpp>
#include <entitable/cloud/wire/impl/escape.ipp>
#include <entitable/cloud/wire/impl/json_writer.ipp>
#include <entitable/cloud/wire/impl/odata_filter.ipp>
#include <entitable/cloud/wire/impl/service_token.ipp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view json_accept = "application/json;odata=minimalmetadata";

ENTITABLE_DECL void begin_request(
    http_request& out, http_method method, request_target const& to, std::string_view path, std::string_view accept) {
    out.method = method;
    out.forget_credential(); // fields of the previous attempt
    out.url.append(to.base).append("/").append(path);
    out.body.clear();
    static_assert(rest_version == "2019-02-02" && json_accept == "application/json;odata=minimalmetadata");
    if (accept == json_accept) {
        known_fields::add(out.headers,
            "Accept: application/json;odata=minimalmetadata\0DataServiceVersion: 3.0\0x-ms-version: 2019-02-02", 3);
    } else {
        known_fields::add(out.headers, "Accept", accept);
        known_fields::add(out.headers, "DataServiceVersion: 3.0\0x-ms-version: 2019-02-02", 2);
    }
    known_fields::add(out.headers, "x-ms-client-request-id", to.request_id);
}

ENTITABLE_DECL void append_timeout(http_request& out, request_target const& to, std::chrono::seconds timeout) {
    auto const seconds = static_cast<std::uint8_t>(timeout.count()); // at most 30 seconds
    if (seconds == 0) { return; }
    out.url.append(out.url.find('?', to.base.size()) == std::string::npos ? "?timeout=" : "&timeout=");
    if (seconds >= 10) { out.url += static_cast<char>('0' + seconds / 10); }
    out.url += static_cast<char>('0' + seconds % 10);
}

ENTITABLE_DECL void write_request(http_request& out, create_table const& request, request_target const& to) {
    begin_request(out, http_method::post, to, "Tables");
    known_fields::add(out.headers, "Content-Type: application/json", 1);
    known_fields::add(out.headers, "Prefer: return-no-content", 1);
    out.body = "{\"TableName\":";
    append_json_string(out.body, request.table);
    out.body += '}';
}

ENTITABLE_DECL void write_request(http_request& out, delete_table const& request, request_target const& to) {
    begin_request(out, http_method::delete_, to, "Tables('");
    out.url.append(request.table).append("')");
}

ENTITABLE_DECL void write_request(
    http_request& out, list_tables const& request, request_target const& to, service_token const& token) {
    begin_request(out, http_method::get, to, "Tables?$top=");
    out.url += std::to_string(request.page_size);
    char separator = '&';
    append_token(out.url, token, separator);
}

/// Appends `$select=...` with the names that are always returned, and those needed to filter the rows.
ENTITABLE_DECL void append_select(std::string& url, projection const& names, filter const* needed, char& separator) {
    if (names.empty()) { return; }
    constexpr std::string_view always[] = {"PartitionKey", "RowKey", "Timestamp"};
    url += separator;
    url += "$select=PartitionKey%2CRowKey%2CTimestamp";
    separator = '&';
    auto const append = [&](std::string_view name) {
        for (std::string_view const each : always) {
            if (name == each) { return; }
        }
        url += "%2C";
        append_url_escaped(url, name);
    };
    for (std::string const& name : names) { append(name); }
    if (needed != nullptr) {
        for (filter_node const& node : needed->nodes) {
            if (is_comparison(node.operation)) { append(node.name); }
        }
    }
}

ENTITABLE_DECL void write_request(http_request& out, get_entity const& request, request_target const& to) {
    begin_request(out, http_method::get, to, {});
    append_entity_path(out.url, request.table, request.partition_key, request.row_key);
    char separator = '?';
    append_select(out.url, request.select, nullptr, separator);
}

ENTITABLE_DECL rendered write_request(
    http_request& out, query_entities const& request, request_target const& to, service_token const& token) {
    begin_request(out, http_method::get, to, request.table);
    out.url += "()";
    char separator = '?';
    std::string condition;
    rendered const said = append_odata_filter(condition, request.range, request.filter, to.kind);
    if (!condition.empty()) {
        out.url += "?$filter=";
        append_url_escaped(out.url, condition);
        separator = '&';
    }
    append_select(out.url, request.select, said == rendered::part ? &request.filter : nullptr, separator);
    (out.url += separator).append("$top=").append(std::to_string(request.page_size));
    separator = '&';
    append_token(out.url, token, separator);
    return said;
}

/// The form of a change: its method, and whether the address names the entity.
struct mutation_form {
    http_method method{};
    std::string_view override_method; ///< X-HTTP-Method
    bool has_body{};
    bool conditional{};
};

ENTITABLE_DECL mutation_form form_of(mutation_kind kind, bool merge_by_post) noexcept {
    http_method const merge = merge_by_post ? http_method::post : http_method::patch;
    std::string_view const override_method = merge_by_post ? "MERGE" : "";
    switch (kind) {
        case mutation_kind::insert: return {http_method::post, {}, true, false};
        case mutation_kind::replace: return {http_method::put, {}, true, true};
        case mutation_kind::merge: return {merge, override_method, true, true};
        case mutation_kind::insert_or_replace: return {http_method::put, {}, true, false};
        case mutation_kind::insert_or_merge: return {merge, override_method, true, false};
        case mutation_kind::remove: break;
    }
    return {http_method::delete_, {}, false, true};
}

/// Appends the path of a change: the table for an insert, otherwise the entity.
ENTITABLE_DECL void append_mutation_path(std::string& out, std::string_view table, mutation const& change) {
    if (change.kind == mutation_kind::insert) {
        out.append(table);
    } else {
        append_entity_path(out, table, change.entity.partition_key(), change.entity.row_key());
    }
}

ENTITABLE_DECL std::string match_of(mutation const& change) {
    return change.condition.any() ? "*" : change.condition.version().to_string();
}

ENTITABLE_DECL failure unsendable_etag() {
    return failure{error_code::invalid_input, "the condition's ETag contains characters that cannot be sent"};
}

ENTITABLE_DECL result<void> write_request(http_request& out, write_entity const& request, request_target const& to) {
    mutation const& change = request.change;
    mutation_form const form = form_of(change.kind, to.merge_by_post);
    begin_request(out, form.method, to, {});
    append_mutation_path(out.url, request.table, change);
    if (!form.override_method.empty()) { known_fields::add(out.headers, "X-HTTP-Method", form.override_method); }
    if (form.has_body) {
        known_fields::add(out.headers, "Content-Type: application/json", 1);
        append_json_entity(out.body, change.entity);
    }
    if (change.kind == mutation_kind::insert) { known_fields::add(out.headers, "Prefer: return-no-content", 1); }
    if (form.conditional && !out.headers.add("If-Match", match_of(change))) { return unsendable_etag(); }
    return {};
}

ENTITABLE_DECL result<void> write_request(http_request& out, transact const& request, request_target const& to) {
    begin_request(out, http_method::post, to, "$batch");
    std::string type = "multipart/mixed; boundary=batch_";
    known_fields::add(out.headers, "Content-Type", type.append(to.request_id));
    std::string& body = out.body;
    body.append("--batch_").append(to.request_id);
    body.append("\r\nContent-Type: multipart/mixed; boundary=changeset_").append(to.request_id).append("\r\n\r\n");
    // Every transaction that Cosmos DB is known to have accepted contained the version in its parts.
    std::string_view const version = to.kind == service::cosmos ? "x-ms-version: 2019-02-02\r\n" : "";
    // The text before and after the path is the same for all changes of one kind.
    std::string before;
    std::string behind;
    mutation_form form;
    mutation const* last = nullptr;
    for (mutation const& change : request.changes) {
        if (last == nullptr || last->kind != change.kind) {
            form = form_of(change.kind, to.merge_by_post);
            before = text::joined({"--changeset_", to.request_id,
                "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n",
                to_string(form.method), " ", to.base, "/"});
            behind = text::joined({" HTTP/1.1\r\nAccept: ", json_accept, "\r\nDataServiceVersion: 3.0\r\n", version,
                form.override_method.empty() ? "" : "X-HTTP-Method: ", form.override_method,
                form.override_method.empty() ? "" : "\r\n", form.has_body ? "Content-Type: application/json\r\n" : "",
                change.kind == mutation_kind::insert ? "Prefer: return-no-content\r\n" : ""});
        }
        last = &change;
        body += before;
        append_mutation_path(body, request.table, change);
        body += behind;
        if (form.conditional) {
            if (!change.condition.any() && !change.condition.version().is_valid()) { return unsendable_etag(); }
            body.append("If-Match: ").append(match_of(change)).append("\r\n");
        }
        body += "\r\n";
        if (form.has_body) { append_json_entity(body, change.entity); }
        body += "\r\n";
    }
    body.append("--changeset_").append(to.request_id).append("--\r\n--batch_").append(to.request_id).append("--\r\n");
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
