// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/serve/server/detail/server_work.hpp>
#include <entitable/serve/server/detail/stored_settings.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure refused_by_store(error const& problem) {
    service_error const said = service_error_of_transport(problem);
    failure made = refused(said.status, said.word, said.message);
    made.error().operation_index = said.index;
    return made;
}

ENTITABLE_DECL failure not_permitted(std::string_view word) {
    return refused(403, word, "This request is not authorized to perform this operation.");
}

ENTITABLE_DECL result<void> check_rights(
    access_grant const& grant, std::string_view table, needed_rights const& needed) {
    if (grant.by == access_grant::kind::all) { return {}; }
    if (grant.by == access_grant::kind::one_table) {
        if (!needed.on_table || text::ascii_lower(table) != grant.table) {
            return not_permitted("AuthorizationFailure");
        }
    } else if (grant.resource_types.find_first_of(needed.resource) == std::string::npos) {
        return not_permitted("AuthorizationResourceTypeMismatch");
    }
    if (!grant.permits(needed.letters) || (!needed.also.empty() && !grant.permits(needed.also))) {
        return not_permitted("AuthorizationPermissionMismatch");
    }
    return {};
}

ENTITABLE_DECL result<void> check_reach(
    access_grant const& grant, std::string_view partition_key, std::string_view row_key) {
    return grant.reaches(partition_key, row_key) ? result<void>{} : not_permitted("AuthorizationFailure");
}

ENTITABLE_DECL bool wants_no_content(std::optional<std::string_view> prefer) noexcept {
    return prefer.value_or(std::string_view{}).find("return-no-content") != std::string_view::npos;
}

/// Returns the permissions that a change requires.
ENTITABLE_DECL needed_rights rights_for(mutation_kind kind) noexcept {
    switch (kind) {
        case mutation_kind::insert: return {"a", {}, "o", true};
        case mutation_kind::replace:
        case mutation_kind::merge: return {"u", {}, "o", true};
        case mutation_kind::remove: return {"d", {}, "o", true};
        default: return {"a", "u", "o", true};
    }
}

/// Whether a body is JSON, by its Content-Type; JSON if there is none.
ENTITABLE_DECL result<void> check_media_type(std::optional<std::string_view> content_type) {
    if (!content_type || *content_type == "application/json") { return {}; }
    std::string const type = text::ascii_lower(*content_type);
    constexpr std::string_view charset = "charset=";
    if (std::size_t const at = type.find(charset); at != std::string::npos) {
        std::string_view name = std::string_view{type}.substr(at + charset.size());
        name = trimmed(name.substr(0, name.find(';')));
        if (name != "utf-8" && name != "\"utf-8\"" && name != "us-ascii") {
            return refused(415, "MediaTypeNotSupported", "The character set of the body is not supported; use UTF-8.");
        }
    }
    if (type.find("json") != std::string::npos) { return {}; }
    return refused(415, type.find("atom") != std::string::npos ? "AtomFormatNotSupported" : "MediaTypeNotSupported",
        "The media type of the body is not supported.");
}

ENTITABLE_DECL result<void> read_change(
    sent_change const& sent, access_grant const& grant, entity_reader& reader, mutation& out) {
    auto const& match = sent.fields.if_match;
    bool const insert = sent.method == http_method::post;
    bool const merge = sent.method == http_method::patch || sent.method == http_method::merge;
    mutation_kind const kind = insert         ? mutation_kind::insert
        : sent.method == http_method::delete_ ? mutation_kind::remove
        : merge && match                      ? mutation_kind::merge
        : merge                               ? mutation_kind::insert_or_merge
        : match                               ? mutation_kind::replace
                                              : mutation_kind::insert_or_replace;
    if (insert != (sent.address.place == service_place::table)) {
        return refused_input("Bad Request - Error in query syntax.");
    }
    ENTITABLE_CHECK(check_rights(grant, sent.address.table, rights_for(kind)));
    if (!insert && sent.fields.if_none_match) {
        return refused_input("If-None-Match is not supported with this operation.");
    }
    if (kind == mutation_kind::remove && !match) {
        return refused(
            400, "MissingRequiredHeader", "An HTTP header that's mandatory for this request is not specified.");
    }
    if (match && !insert && (*match != "*" || sent.fields.several_if_match)) {
        out.condition = match->starts_with("w/") ? etag{text::joined({"W", match->substr(1)})} : etag{*match};
        if (sent.fields.several_if_match || !out.condition.version().is_valid()) {
            return refused_input(
                "The etag value specified in one of the request headers is not valid. Please make sure "
                "only one etag value is specified and is valid.");
        }
    }
    sent_entity entity;
    row empty;
    if (kind == mutation_kind::remove) {
        empty = row_builder{{}, {}}.build();
        entity.payload = empty.payload();
    } else {
        ENTITABLE_CHECK(check_media_type(sent.fields.content_type));
        ENTITABLE_CHECK(reader.read(sent.body, entity));
    }
    if (insert) {
        if (!entity.partition_key || !entity.row_key) {
            return refused(
                400, "PropertiesNeedValue", "The values are not specified for all properties in the entity.");
        }
    } else {
        bool const same = (!entity.partition_key || *entity.partition_key == sent.address.partition_key) &&
            (!entity.row_key || *entity.row_key == sent.address.row_key);
        if (!same && !sent.ignores_keys) {
            return refused_input("The keys in the body differ from those in the address.");
        }
        entity.partition_key = sent.address.partition_key;
        entity.row_key = sent.address.row_key;
    }
    if (is_hidden_partition(*entity.partition_key)) { // otherwise a signature for the table could change its policies
        return refused_input("The partition is reserved for the server.");
    }
    ENTITABLE_CHECK(check_reach(grant, *entity.partition_key, *entity.row_key));
    out.kind = kind;
    std::string& block = row_filling::begin(out.entity);
    block.reserve(entity.partition_key->size() + entity.row_key->size() + entity.payload.size());
    block.append(*entity.partition_key).append(*entity.row_key).append(entity.payload);
    row_filling::end(out.entity, entity.partition_key->size(), entity.row_key->size());
    return {};
}

ENTITABLE_DECL void append_inserted(
    std::string& out, row const& entity, etag const& version, std::string_view table, answer_style const& style) {
    std::string payload{entity.payload()};
    set_timestamp(payload, time_of(version).value_or(date_time{}));
    append_answer_entity(out, {entity.partition_key(), entity.row_key(), payload}, version, table, {}, style);
}

ENTITABLE_DECL std::string location_of(server_work const& work, std::string_view table, row_view entity) {
    std::string made = text::joined({work.style.base, "/"});
    append_entity_path(made, table, entity.partition_key, entity.row_key);
    return made;
}

ENTITABLE_DECL result<void> answer_change(server_work& work, entity_reader& reader) {
    work.name = write_entity::name;
    change_fields fields;
    work.request.headers.for_each([&](std::string_view name, std::string_view value) { fields.take(name, value); });
    write_entity write{work.address.table, {}};
    ENTITABLE_CHECK(read_change(
        {work.method, fields, work.request.body, work.address, work.engine.options().ignores_keys_of_bodies},
        work.grant, reader, write.change));
    auto const done = work.account->store.execute(write, work.context);
    if (!done) { return refused_by_store(done.error()); }
    work.out.status = 204;
    if (write.change.kind == mutation_kind::remove) { return {}; }
    static_cast<void>(work.out.headers.add("ETag", done->etag.to_string()));
    if (write.change.kind != mutation_kind::insert) { return {}; }
    std::string const location = location_of(work, write.table, write.change.entity);
    static_cast<void>(work.out.headers.add("Location", location));
    if (wants_no_content(fields.prefer)) {
        static_cast<void>(work.out.headers.add("DataServiceId", location));
        known_fields::add(work.out.headers, "Preference-Applied: return-no-content", 1);
        return {};
    }
    if (fields.prefer) { known_fields::add(work.out.headers, "Preference-Applied: return-content", 1); }
    work.out.status = 201;
    known_fields::add(work.out.headers, "Content-Type", content_type_of(work.style.metadata));
    append_inserted(work.out.body, write.change.entity, done->etag, write.table, work.style);
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
