// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/batch_request.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/detail/value_text.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>
#include <entitable/serve/server/impl/change_answers.ipp>
#include <entitable/serve/server/impl/query_answers.ipp>

#include <array>

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
        part_ = text::joined({"--", boundary_,
            "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 "});
        known_fields::add(
            work.out.headers, "Content-Type", text::joined({"multipart/mixed; boundary=batchresponse_", id_}));
        work.out.status = 202;
    }

    /// Begins a part; its header fields and its body follow, each field with its line end.
    void begin(std::uint16_t status, std::string_view content_id) {
        if (status != status_) {
            status_ = status;
            status_text_ = text::joined({std::to_string(status), " ", reason_of(status),
                "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: 3.0;\r\n"});
        }
        out_.append(part_).append(status_text_);
        if (!content_id.empty()) { field("Content-ID", content_id); }
    }
    void field(std::string_view name, std::string_view held) {
        out_.append(name).append(": ").append(held).append("\r\n");
    }
    /// Writes the field ETag. The changes of a transaction have nearly the same time: the text up to its second is written once.
    void version(etag const& of) {
        if (!of.is_of_timestamp()) { return field("ETag", of.to_string()); }
        std::int64_t const ticks = of.timestamp().ticks;
        std::int64_t const second = ticks - static_cast<std::int64_t>(ticks_of_second(ticks));
        if (second_text_.empty() || second != second_) {
            second_ = second;
            second_text_ = text::joined({"ETag: ", etag::of(date_time{second}).to_string()});
            second_text_.resize(second_text_.size() - etag_suffix.size() - 1); // and without the Z
        }
        char fraction[16];
        out_.append(second_text_);
        out_.append(fraction,
            static_cast<std::size_t>(
                write_fraction(fraction, static_cast<std::uint64_t>(ticks - second), true) - fraction));
        out_.append(etag_suffix).append("\r\n");
    }
    /// Writes a whole part with an ETag, without Content-ID and body. Nearly all parts of a transaction begin with the same text.
    void version_alone(std::uint16_t status, etag const& of) {
        std::int64_t const ticks = of.is_of_timestamp() ? of.timestamp().ticks : -1;
        bool const known = status == alone_status_ && ticks >= alone_second_ &&
            ticks - alone_second_ < date_time::ticks_per_second && !alone_.empty();
        if (!known) {
            begin(status, {});
            version(of);
            body({});
            if (of.is_of_timestamp()) {
                alone_ = text::joined({part_, status_text_, second_text_});
                alone_second_ = second_;
                alone_status_ = status;
            }
            return;
        }
        char end[16 + 10];
        char* at = write_fraction(end, static_cast<std::uint64_t>(ticks - alone_second_), true);
        for (char const each : std::string_view{"'\"\r\n\r\n\r\n"}) { *at++ = each; }
        out_.append(alone_);
        out_.append(end, static_cast<std::size_t>(at - end));
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
    std::string part_; ///< the beginning of each part
    std::int64_t second_{};
    std::string second_text_; ///< the beginning of the last ETag
    // The beginning of a part with an ETag alone.
    std::string alone_;
    std::int64_t alone_second_{};
    std::uint16_t alone_status_{};
    std::uint16_t status_{};
    std::string status_text_; ///< the status line of the last part without its version, and the fields of every part
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

/// Reads the addresses of the operations, which must belong to the same account.
class operation_addresses {
public:
    explicit operation_addresses(server_work const& work) noexcept : work_(work) {}

    /// The address that was read last.
    [[nodiscard]] service_address const& address() const noexcept { return address_; }

    /// Reads an address. `url` must outlive the next call.
    [[nodiscard]] result<void> read(std::string_view url) {
        if (is_known(url)) { return {}; }
        known_ = {};
        std::string_view const base = work_.style.base;
        if (url.starts_with(base) && url.size() > base.size() && url[base.size()] == '/' &&
            url.find('?') ==
                std::string_view::npos) { // this is the usual case: only the end of the URL is left to parse
            return read_place(url, url.substr(base.size() + 1));
        }
        if (url.starts_with("http://") || url.starts_with("https://")) {
            absolute_ = url;
        } else if (url.starts_with('/')) {
            absolute_ = text::joined({base.substr(0, base.find('/', base.find("://") + 3)), url});
        } else {
            absolute_ = text::joined({base, "/", url});
        }
        ENTITABLE_TRY(auto made, read_service_address(absolute_));
        if (made.account != work_.address.account || made.secondary != work_.address.secondary) {
            return refused_input("An operation of the batch belongs to a different account.");
        }
        address_ = std::move(made);
        return {};
    }

private:
    static constexpr std::string_view row_key_ = "',RowKey='";
    static constexpr std::string_view end_ = "')";

    [[nodiscard]] result<void> read_place(std::string_view url, std::string_view rest) {
        address_.url = {};
        address_.secondary = work_.address.secondary;
        address_.place = service_place::service;
        address_.table.clear();
        address_.partition_key.clear();
        address_.row_key.clear();
        if (!wrong_character(rest).empty() || !read_service_place(rest, address_)) {
            return refused_input("Bad Request - Error in query syntax.");
        }
        std::size_t const at = url.rfind(row_key_);
        bool const usual = address_.place == service_place::entity && at != std::string_view::npos &&
            is_plain(row_key_in(url, at + row_key_.size()));
        if (usual) { known_ = url.substr(0, at + row_key_.size()); }
        return {};
    }
    /// Whether an address differs from the last one only in its row key. Most transactions are in one partition.
    [[nodiscard]] bool is_known(std::string_view url) {
        if (known_.empty() || !url.starts_with(known_)) { return false; }
        std::string_view const key = row_key_in(url, known_.size());
        if (!is_plain(key)) { return false; }
        address_.row_key = key;
        return true;
    }
    [[nodiscard]] static std::string_view row_key_in(std::string_view url, std::size_t at) noexcept {
        std::string_view const rest = url.substr(at);
        return rest.ends_with(end_) ? rest.substr(0, rest.size() - end_.size()) : rest.substr(0, 0);
    }
    /// Whether a key stands in the address as it is.
    [[nodiscard]] static bool is_plain(std::string_view key) noexcept {
        for (char const each : key) {
            if (!plain_[static_cast<unsigned char>(each)]) { return false; }
        }
        return !key.empty();
    }
    static constexpr std::array<bool, 256> plain_ = [] {
        std::array<bool, 256> made{};
        for (std::size_t each = 0; each < made.size(); ++each) { made[each] = is_unreserved(static_cast<char>(each)); }
        return made;
    }();

    server_work const& work_;
    service_address address_;
    std::string absolute_;
    std::string_view known_; ///< the last address up to its row key; empty if it had another form
};

/// Reads the operations of a change set. An error contains the index of its operation.
ENTITABLE_DECL result<transact> read_changes(server_work& work, sent_batch const& batch, entity_reader& reader) {
    transact made;
    made.changes.reserve(batch.operations.size());
    operation_addresses addresses{work};
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
        if (auto read = addresses.read(each.url); !read) { return at_operation(std::move(read).as_failure()); }
        service_address const& address = addresses.address();
        auto const& other = each.fields.other_method;
        auto const method =
            other && each.method == http_method::post ? method_named(*other) : std::optional{each.method};
        bool const good_place = address.place == service_place::entity || address.place == service_place::table;
        bool const writes =
            method && *method != http_method::get && *method != http_method::head && *method != http_method::options;
        if (is_settings_table(address.table)) {
            return at_operation(refused(404, "TableNotFound", "The table specified does not exist."));
        }
        if (!good_place || !writes) {
            return at_operation(refused_input("An operation of the change set does not change an entity."));
        }
        if (index == 0) {
            made.table = address.table;
        } else if (address.table != made.table) {
            return at_operation(refused_input("The operations of the batch must be on one table."));
        }
        auto change =
            read_change({*method, each.fields, each.body, address, work.engine.options().ignores_keys_of_bodies},
                work.grant, reader, made.changes.emplace_back());
        if (!change) { return at_operation(std::move(change).as_failure()); }
    }
    return made;
}

/// Handles one read in a batch.
ENTITABLE_DECL result<void> answer_batched_query(server_work& work, sent_operation const& sent) {
    operation_addresses addresses{work};
    ENTITABLE_CHECK(addresses.read(sent.url));
    service_address address = addresses.address();
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
        if (!insert && change.kind != mutation_kind::remove && sent.content_id.empty()) {
            writer.version_alone(204, done->results[index].etag);
            continue;
        }
        writer.begin(content ? 201 : 204, sent.content_id);
        if (insert) {
            std::string const location = location_of(work, changes->table, change.entity);
            writer.field("Location", location);
            if (!content) {
                writer.field("Preference-Applied", "return-no-content");
                writer.field("DataServiceId", location);
            }
        }
        if (change.kind != mutation_kind::remove) { writer.version(done->results[index].etag); }
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
