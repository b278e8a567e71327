// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/detail/request_secrets.hpp>
#include <entitable/cloud/wire/detail/answer_reader.hpp>
#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/batch_answer.hpp>
#include <entitable/cloud/wire/impl/batch_answer.ipp>
#include <entitable/cloud/wire/impl/service_token.ipp>
#include <entitable/core/request/filter.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure garbled(http_response const& response, std::initializer_list<std::string_view> why) {
    failure made = unreadable(why);
    made.error().http_status = response.status;
    return made;
}

ENTITABLE_DECL answer_fields fields_of(http_headers const& headers) {
    answer_fields found;
    bool has_date = false;
    bool has_etag = false;
    std::string const& text = headers.text();
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t const end = text.find('\0', begin);
        std::string_view const line{text.data() + begin, end - begin};
        auto const is = [line](std::string_view name) {
            return line.size() > name.size() && line[name.size()] == ':' &&
                same_field_name({line.data(), name.size()}, name);
        };
        auto const value_behind = [line](std::size_t name_size) { return line.substr(name_size + 2); };
        if (!has_date && is("Date")) {
            has_date = true;
            found.date = value_behind(4);
        } else if (!has_etag && is("ETag")) {
            has_etag = true;
            found.etag = value_behind(4);
        } else if (!found.request_id && is("x-ms-request-id")) {
            found.request_id = value_behind(15);
        } else if (!found.client_request_id && is("x-ms-client-request-id")) {
            found.client_request_id = value_behind(22);
        } else if (found.request_charge.empty() && is("x-ms-request-charge")) {
            found.request_charge = value_behind(19);
        }
        begin = end + 1;
    }
    return found;
}

ENTITABLE_DECL result<etag> etag_of(http_response const& response, exchange const& work) {
    etag made{work.fields.etag};
    if (!made.is_valid()) { return garbled(response, {"it lacks an ETag"}); }
    return made;
}

ENTITABLE_DECL result<create_table::response> read_success(
    create_table const&, http_response const& response, exchange&) {
    if (response.status == 201 || (response.status == 204 && response.body.empty())) {
        return create_table::response{};
    }
    return garbled(response, {"its status is invalid for this request"});
}

ENTITABLE_DECL result<delete_table::response> read_success(
    delete_table const&, http_response const& response, exchange&) {
    if (response.status == 204 && response.body.empty()) { return delete_table::response{}; }
    return garbled(response, {"its status is invalid for this request"});
}

ENTITABLE_DECL result<list_tables::response> read_success(
    list_tables const& request, http_response const& response, exchange& work) {
    ENTITABLE_TRY(auto tables,
        response.status == 200 ? work.reader.read_tables(response.body)
                               : garbled(response, {"its status is invalid for this request"}));
    if (tables.size() > request.page_size) { return garbled(response, {"it contains more tables than the page size"}); }
    list_tables::response made{std::move(tables), std::nullopt};
    service_token const next = service_token_of(response.headers, work.location);
    if (next.table) {
        if (next.table->size() > max_service_token || next.table == work.token.table) {
            return garbled(response, {"its continuation is too long, or repeats the one that was sent"});
        }
        made.continuation = make_service_token(work.fingerprint, next);
    }
    return made;
}

ENTITABLE_DECL result<get_entity::response> read_success(
    get_entity const& request, http_response const& response, exchange& work) {
    auto made = response.status == 200 ? work.reader.read_entity(response.body)
                                       : garbled(response, {"its status is invalid for this request"});
    if (!made) { return made; }
    if (made->entity.partition_key() != request.partition_key || made->entity.row_key() != request.row_key) {
        return garbled(response, {"it does not contain the requested entity"});
    }
    if (made->etag.empty()) { // the header field contains the service's own text
        auto given = etag_of(response, work);
        if (!given && made->entity.view().timestamp() == date_time{}) { return std::move(given).as_failure(); }
        made->etag = given ? *std::move(given) : made->entity.view().etag();
        made->entity = row{request.partition_key, request.row_key, made->entity.payload(), made->etag.to_string()};
    }
    made->stale = work.location == read_location::secondary;
    return made;
}

/// Whether one key sorts after another. The two possible text orders of a service differ only in characters beyond U+FFFF, and the actual
/// order is not documented, so either is accepted.
ENTITABLE_DECL bool comes_after(std::string_view key, std::string_view other) noexcept {
    return key > other || text::compare_utf16(key, other) > 0;
}

/// Whether each row comes after the previous row.
ENTITABLE_DECL bool rises(page const& rows) noexcept {
    for (std::size_t index = 1; index < rows.size(); ++index) {
        row_view const before = rows[index - 1];
        row_view const each = rows[index];
        if (each.partition_key == before.partition_key ? !comes_after(each.row_key, before.row_key)
                                                       : !comes_after(each.partition_key, before.partition_key)) {
            return false;
        }
    }
    return true;
}

/// Returns the rows that satisfy the filter, with the selected properties.
ENTITABLE_DECL page filtered(page const& rows, query_entities const& request) {
    page kept;
    for (row_view const each : rows) {
        if (!satisfies(each, request.filter)) { continue; }
        if (request.select.empty()) {
            kept.append(each);
            continue;
        }
        row_builder selected{each.partition_key, each.row_key};
        property_cursor cursor{each.payload};
        property_view property;
        while (cursor.next(property)) {
            for (std::string const& name : request.select) {
                if (name == property.name) {
                    selected.add(property.name, property.value);
                    break;
                }
            }
        }
        row const made = selected.build();
        std::string payload{made.payload()};
        set_timestamp(payload, each.timestamp());
        kept.append({each.partition_key, each.row_key, payload, each.etag_text});
    }
    return kept;
}

ENTITABLE_DECL result<query_entities::response> read_success(
    query_entities const& request, http_response const& response, exchange& work) {
    query_entities::response made;
    ENTITABLE_CHECK(response.status == 200 ? work.reader.read_page(response.body, made.rows)
                                           : garbled(response, {"its status is invalid for this request"}));
    if (made.rows.size() > request.page_size) {
        return garbled(response, {"it contains more entities than the page size"});
    }
    if (work.ordered && !rises(made.rows)) {
        return garbled(response, {"its entities are not in key order, or contain a duplicate"});
    }
    bool const all = request.range.partition.is_all() && request.range.row.is_all();
    for (std::size_t index = 0; !all && index < made.rows.size(); ++index) {
        row_view const each = made.rows[index];
        if (!request.range.contains(each.partition_key, each.row_key)) {
            return garbled(response, {"it contains an entity outside the requested keys"});
        }
    }
    if (work.said == rendered::part) {
        made.examined = made.rows.size();
        made.rows = filtered(made.rows, request);
    }
    service_token const next = service_token_of(response.headers, work.location);
    if (next.partition || next.row) {
        if (next.partition.value_or("").size() > max_service_token ||
            next.row.value_or("").size() > max_service_token ||
            (next.partition == work.token.partition && next.row == work.token.row)) {
            return garbled(response, {"its continuation is too long, or repeats the one that was sent"});
        }
        made.continuation = make_service_token(work.fingerprint, next);
    }
    made.stale = work.location == read_location::secondary;
    return made;
}

ENTITABLE_DECL result<written> read_success(
    write_entity const& request, http_response const& response, exchange& work) {
    mutation_kind const kind = request.change.kind;
    if (response.status == 201 && kind == mutation_kind::insert) { // sent despite `Prefer: return-no-content`
        ENTITABLE_TRY(auto echo, work.reader.read_entity(response.body));
        if (echo.entity.partition_key() != request.change.entity.partition_key() ||
            echo.entity.row_key() != request.change.entity.row_key()) {
            return garbled(response, {"it does not name the entity sent"});
        }
    } else if (response.status != 204 || !response.body.empty()) {
        return garbled(response, {"its status is invalid for this request, or it has a body"});
    }
    if (kind == mutation_kind::remove) { return written{}; }
    ENTITABLE_TRY(auto version, etag_of(response, work));
    return written{std::move(version)};
}

ENTITABLE_DECL result<transact::response> read_success(
    transact const& request, http_response const& response, exchange& work) {
    if (response.status != 202) { return garbled(response, {"its status is invalid for this request"}); }
    return read_batch_answer(response, request.changes, work.reader);
}

/// Reads a response. Its errors may quote the request.
template <table_request Request>
result<response_of<Request>> read_quoting_answer(
    Request const& request, result<http_response> const& response, exchange& work) {
    work.fields = response ? fields_of(response->headers) : answer_fields{};
    if (!response) {
        failure lost{response.error()};
        if (!Request::writes) { lost.error().effect = effect::none; }
        return lost;
    }
    auto const& echoed = work.fields.client_request_id;
    if (echoed && *echoed != work.request_id) {
        failure other = garbled(*response, {"it belongs to a different request"});
        other.error().effect = Request::writes ? effect::unknown : effect::none;
        return other;
    }
    if (response->status >= 300) {
        return to_failure(read_error_answer(*response, work.reader), Request::name, Request::writes);
    }
    auto made = read_success(request, *response, work);
    if (!made && Request::writes && made.error().code == error_code::transport_failed) {
        failure unclear = std::move(made).as_failure();
        unclear.error().effect = effect::unknown;
        return unclear;
    }
    return made;
}

template <table_request Request>
result<response_of<Request>> read_answer(
    Request const& request, result<http_response> const& response, exchange& work) {
    auto made = read_quoting_answer(request, response, work);
    if (made) { return made; }
    failure struck = std::move(made).as_failure();
    strike_secrets(struck.error(), work.request);
    return struck;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
