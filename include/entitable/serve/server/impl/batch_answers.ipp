// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/batch_request.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>
#include <entitable/serve/server/impl/change_answers.ipp>
#include <entitable/serve/server/impl/query_answers.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Limit of operations in one change set.
inline constexpr std::size_t most_operations = 100;

/// Writes a response inside the response to a batch.
class batch_answer_writer {
public:
    batch_answer_writer(server_work& work, bool change_set) : out_(work.out.body), id_(work.request_id) {
        if (change_set) {
            out_ += text::joined({"--batchresponse_", id_,
                "\r\nContent-Type: multipart/mixed; boundary=changesetresponse_", id_, "\r\n\r\n"});
        }
        boundary_ = text::joined({change_set ? "changesetresponse_" : "batchresponse_", id_});
        known_fields::add(
            work.out.headers, "Content-Type", text::joined({"multipart/mixed; boundary=batchresponse_", id_}));
        work.out.status = 202;
    }

    /// Begins a part; its header fields and its body follow, each field with its line end.
    void begin(std::uint16_t status, std::string_view content_id) {
        out_.append("--").append(boundary_);
        out_ += "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ";
        out_.append(std::to_string(status)).append(" ").append(reason_of(status));
        out_ += "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: 3.0;\r\n";
        if (!content_id.empty()) { field("Content-ID", content_id); }
    }
    void field(std::string_view name, std::string_view held) {
        out_.append(name).append(": ").append(held).append("\r\n");
    }
    void body(std::string_view text) { out_.append("\r\n").append(text).append("\r\n"); }
    void end(bool change_set) {
        out_ += text::joined({"--", boundary_, "--\r\n"});
        if (change_set) { out_ += text::joined({"--batchresponse_", id_, "--\r\n"}); }
    }

private:
    std::string& out_;
    std::string_view id_;
    std::string boundary_;
};

/// Writes a single part: the error of the whole batch.
ENTITABLE_DECL void answer_failed_batch(server_work& work, service_error refusal, std::string_view content_id) {
    if (!refusal.index) { refusal.index = 0; }
    work.out.body.clear();
    work.out.headers.clear();
    batch_answer_writer writer{work, true};
    writer.begin(refusal.status, content_id);
    writer.field("Content-Type", content_type_of(work.style.metadata));
    writer.field("x-ms-error-code", refusal.word);
    std::string said;
    append_json_refusal(said, refusal, {work.request_id, work.now});
    writer.body(said);
    writer.end(true);
}

/// Returns the address of an operation, which must belong to the same account.
ENTITABLE_DECL result<service_address> address_of(
    server_work const& work, std::string_view url, std::string& absolute) {
    bool const whole = url.starts_with("http://") || url.starts_with("https://");
    std::string_view const base = work.style.base;
    if (url.starts_with(base) && url.size() > base.size() && url[base.size()] == '/' &&
        url.find('?') == std::string_view::npos) { // this is the usual case: only the end of the URL is left to parse
        service_address made;
        made.secondary = work.address.secondary;
        if (!wrong_character(url).empty() || !read_service_place(url.substr(base.size() + 1), made)) {
            return refused_input("Bad Request - Error in query syntax.");
        }
        return made;
    }
    if (whole) {
        absolute = url;
    } else if (url.starts_with('/')) {
        absolute = text::joined({base.substr(0, base.find('/', base.find("://") + 3)), url});
    } else {
        absolute = text::joined({base, "/", url});
    }
    auto made = read_service_address(absolute);
    if (made && (made->account != work.address.account || made->secondary != work.address.secondary)) {
        return refused_input("An operation of the batch belongs to a different account.");
    }
    return made;
}

/// Reads the operations of a change set. An error contains the index of its operation.
ENTITABLE_DECL result<transact> read_changes(server_work& work, sent_batch const& batch, entity_reader& reader) {
    transact made;
    made.changes.reserve(batch.operations.size());
    for (sent_operation const& each : batch.operations) {
        std::size_t const index = made.changes.size();
        auto const at_operation = [index](failure made_before) {
            made_before.error().operation_index = index;
            return made_before;
        };
        if (index == most_operations) {
            failure many = refused_input("The batch request operation exceeds the maximum 100 changes per change set.");
            many.error().operation_index = index - 1;
            return many;
        }
        std::string absolute;
        auto address = address_of(work, each.url, absolute);
        if (!address) { return at_operation(std::move(address).as_failure()); }
        auto const& other = each.fields.other_method;
        auto const method =
            other && each.method == http_method::post ? method_named(*other) : std::optional{each.method};
        bool const good_place = address->place == service_place::entity || address->place == service_place::table;
        bool const writes =
            method && *method != http_method::get && *method != http_method::head && *method != http_method::options;
        if (is_settings_table(address->table)) {
            return at_operation(refused(404, "TableNotFound", "The table specified does not exist."));
        }
        if (!good_place || !writes) {
            return at_operation(refused_input("An operation of the change set does not change an entity."));
        }
        if (index == 0) {
            made.table = address->table;
        } else if (address->table != made.table) {
            return at_operation(refused_input("The operations of the batch must be on one table."));
        }
        auto change =
            read_change({*method, each.fields, each.body, *address, work.engine.options().ignores_keys_of_bodies},
                work.grant, reader);
        if (!change) { return at_operation(std::move(change).as_failure()); }
        made.changes.push_back(*std::move(change));
    }
    return made;
}

/// Handles one read in a batch.
ENTITABLE_DECL result<void> answer_batched_query(server_work& work, sent_operation const& sent) {
    std::string absolute;
    ENTITABLE_TRY(auto address, address_of(work, sent.url, absolute));
    bool const good = sent.method == http_method::get &&
        (address.place == service_place::entity || address.place == service_place::table);
    if (is_settings_table(address.table)) {
        return refused(404, "TableNotFound", "The table specified does not exist.");
    }
    if (!good) { return refused_input("A batch without a change set must have one query."); }
    http_response inner;
    inner.status = 200;
    server_work one{work.engine, work.request, inner, std::move(address), http_method::get, work.account, work.grant,
        work.style, work.context, work.request_id, work.now};
    auto outcome = one.address.place == service_place::entity ? answer_entity(one) : answer_query(one);
    if (!outcome) {
        service_error const refusal = service_error_of_refusal(outcome.error());
        inner.status = refusal.status;
        inner.headers.clear();
        inner.body.clear();
        known_fields::add(inner.headers, "Content-Type", content_type_of(work.style.metadata));
        append_json_refusal(inner.body, refusal, {work.request_id, work.now});
    }
    batch_answer_writer writer{work, false};
    writer.begin(inner.status, sent.content_id);
    inner.headers.for_each([&](std::string_view name, std::string_view held) { writer.field(name, held); });
    writer.body(inner.body);
    writer.end(false);
    return {};
}

ENTITABLE_DECL result<void> answer_batch(server_work& work, entity_reader& reader) {
    work.name = transact::name;
    auto batch = read_batch(
        work.request.headers.find("Content-Type").value_or(std::string_view{}), work.request.body, most_operations);
    if (!batch) { return std::move(batch).as_failure(); }
    if (batch->is_query) { return answer_batched_query(work, batch->operations.front()); }
    auto const content_id = [&](service_error const& refusal) {
        std::size_t const index = refusal.index.value_or(0);
        return index < batch->operations.size() ? batch->operations[index].content_id : std::string_view{};
    };
    auto const changes = read_changes(work, *batch, reader);
    if (!changes) {
        if (changes.error().http_status == 403) { // the batch is not permitted, so the response is not a batch
            return failure{changes.error()};
        }
        service_error const refusal = service_error_of_refusal(changes.error());
        answer_failed_batch(work, refusal, content_id(refusal));
        return {};
    }
    work.address.table = changes->table;
    auto const done = work.account->store.execute(*changes, work.context);
    if (!done) {
        service_error const refusal = service_error_of_transport(done.error());
        if (refusal.status >= 500 || refusal.status == 413) { return refused_by_store(done.error()); }
        answer_failed_batch(work, refusal, content_id(refusal));
        return {};
    }
    constexpr std::size_t usual_part = 320;
    work.out.body.reserve(usual_part * (changes->changes.size() + 1) + http_response::padding);
    batch_answer_writer writer{work, true};
    for (std::size_t index = 0; index < changes->changes.size(); ++index) {
        mutation const& change = changes->changes[index];
        sent_operation const& sent = batch->operations[index];
        bool const insert = change.kind == mutation_kind::insert;
        bool const content = insert && !wants_no_content(sent.fields.prefer);
        writer.begin(content ? 201 : 204, sent.content_id);
        if (insert) {
            std::string const location = location_of(work, changes->table, change.entity);
            writer.field("Location", location);
            if (!content) {
                writer.field("Preference-Applied", "return-no-content");
                writer.field("DataServiceId", location);
            }
        }
        if (change.kind != mutation_kind::remove) { writer.field("ETag", done->results[index].etag.to_string()); }
        std::string said;
        if (content) {
            writer.field("Content-Type", content_type_of(work.style.metadata));
            append_inserted(said, change.entity, done->results[index].etag, changes->table, work.style);
        }
        writer.body(said);
    }
    writer.end(true);
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
