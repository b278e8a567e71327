// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/answer_writer.hpp>
#include <entitable/cloud/wire/impl/answer_text.ipp>
#include <entitable/cloud/wire/impl/escape.ipp>
#include <entitable/cloud/wire/impl/json_writer.ipp>
#include <entitable/cloud/wire/impl/service_error.ipp>
#include <entitable/cloud/wire/impl/xml.ipp>
#include <entitable/core/row/format.hpp>
#include <entitable/core/text.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::optional<metadata_level> metadata_asked_for(std::string_view format, std::string_view accept) {
    std::string const wanted = text::ascii_lower(format.empty() ? accept : format);
    auto const has = [&](std::string_view word) { return wanted.find(word) != std::string::npos; };
    if (has("nometadata")) { return metadata_level::none; }
    if (has("fullmetadata")) { return metadata_level::full; }
    bool const any = wanted.empty() || has("json") || has("*/*") || has("multipart/mixed") || has("application/*");
    return any ? std::optional{metadata_level::minimal} : std::nullopt;
}

ENTITABLE_DECL std::string_view content_type_of(metadata_level level) noexcept {
    switch (level) {
        case metadata_level::none: return "application/json;odata=nometadata;streaming=true;charset=utf-8";
        case metadata_level::full: return "application/json;odata=fullmetadata;streaming=true;charset=utf-8";
        default: return "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
    }
}

/// Writes objects: entities and tables. One object writes a whole list, since each construction must find the end of the text.
class answer_pen {
public:
    answer_pen(std::string& out, metadata_level level) : pen_(out), level_(level), begin_(out.size()) {}

    void open() {
        pen_.put("{");
        first_ = true;
    }
    void close() { pen_.put("}"); }
    void comma_between_objects() { pen_.put(","); }
    void member(std::string_view name, std::string_view held) {
        comma();
        pen_.name(name);
        pen_.quoted(held);
    }
    /// Writes the name of a member, a literal with its quotes and its colon.
    template <std::size_t Size>
    void key(char const (&name)[Size], std::string_view held) {
        comma();
        pen_.put(name);
        pen_.quoted(held);
    }
    void absent(std::string_view name) {
        comma();
        pen_.name(name);
        pen_.put("null");
    }
    void version(row_view entity, etag const* of) {
        comma();
        pen_.put("\"odata.etag\":");
        if (of == nullptr && entity.etag_text.empty()) {
            pen_.usual_etag(text_of(entity.timestamp()));
        } else {
            pen_.quoted(of != nullptr ? of->to_string() : std::string{entity.etag_text});
        }
    }
    void timestamp(date_time held) {
        comma();
        if (level_ == metadata_level::full) {
            pen_.name("Timestamp", to_string(edm_type::date_time));
        } else {
            pen_.put("\"Timestamp\":");
        }
        quoted_time(held);
    }
    void property(std::string_view name, value_view const& held) {
        comma();
        if (typed(held)) {
            pen_.name(name, to_string(held.type()));
        } else {
            pen_.name(name);
        }
        value(held);
    }
    /// Writes all properties that are present. Rows of one kind share a descriptor: the texts between their values are built once. Only
    /// valid after another member.
    void properties(std::string_view payload) {
        if (std::string_view const described = descriptor_of(payload); described != descriptor_) {
            descriptor_ = described;
            learn(payload);
        }
        property_cursor cursor{payload};
        property_view property;
        for (std::size_t index = 0; cursor.next(property); ++index) {
            if (property.present) {
                name_texts const& names = names_[index];
                std::string_view const text{texts_.data() + names.at, names.plain + names.typed};
                pen_.raw(typed(property.value) ? text.substr(names.plain) : text.substr(0, names.plain));
                value(property.value);
            }
        }
    }
    /// Reserves space for the rest of a list, of which `written` objects are done.
    void room_for_list(std::size_t written, std::size_t left) {
        pen_.reserve((pen_.size() - begin_) / written * (left + left / 16) + http_response::padding);
    }

private:
    /// Uses as few digits as needed. Reuses the part before the fraction: an ETag and a Timestamp contain the same time, and the rows of a
    /// page often have the same second.
    std::string_view text_of(date_time time) noexcept {
        if (fraction_ != nullptr && time.ticks == last_ticks_) { return {time_text_, time_size_}; }
        last_ticks_ = time.ticks;
        std::int64_t const second = whole_seconds(time.ticks);
        if (fraction_ == nullptr || second != last_second_) {
            last_second_ = second;
            fraction_ = write_whole_seconds(time_text_, second);
        }
        std::uint64_t const ticks = ticks_of_second(time.ticks);
        time_size_ = static_cast<std::size_t>(write_fraction(fraction_, ticks, true) - time_text_);
        return {time_text_, time_size_};
    }
    void quoted_time(date_time time) {
        pen_.put("\"");
        pen_.raw(text_of(time));
        pen_.put("\"");
    }
    /// Whether a value needs a type annotation. The form of other values implies their type.
    [[nodiscard]] bool typed(value_view const& held) const noexcept {
        switch (held.type()) {
            case edm_type::float64: return level_ != metadata_level::none && !is_finite(held.as_float64());
            case edm_type::date_time:
            case edm_type::int64:
            case edm_type::guid:
            case edm_type::binary: return level_ != metadata_level::none;
            default: return false;
        }
    }
    static bool is_finite(double number) noexcept { return number - number == 0; }
    void value(value_view const& held) {
        if (held.type() == edm_type::date_time) {
            quoted_time(held.as_date_time());
        } else {
            pen_.value(held);
        }
    }
    static std::string_view descriptor_of(std::string_view payload) noexcept {
        if (payload.size() < row_format::header_size) { return {}; }
        return payload.substr(row_format::header_size, row_format::load<std::uint32_t>(payload.data() + 4));
    }
    void learn(std::string_view payload) {
        texts_.clear();
        names_.clear();
        property_cursor cursor{payload};
        property_view property;
        while (cursor.next(property)) {
            std::string name;
            append_json_string(name, property.name);
            std::string const plain = text::joined({",", name, ":"});
            name.pop_back();
            std::string const typed =
                text::joined({",", name, "@odata.type\":\"", to_string(property.type), "\"", plain});
            names_.push_back({texts_.size(), plain.size(), typed.size()});
            texts_ += plain;
            texts_ += typed;
        }
    }
    void comma() {
        if (!first_) { pen_.put(","); }
        first_ = false;
    }

    /// The places of the two texts of a name, each with the comma before it: `,"name":`, and with the type annotation.
    struct name_texts {
        std::size_t at;
        std::size_t plain;
        std::size_t typed;
    };

    json_pen pen_;
    metadata_level level_;
    std::size_t begin_;
    bool first_{true};
    std::string descriptor_; ///< descriptor of the rows to which `names_` and `texts_` belong
    std::vector<name_texts> names_;
    std::string texts_;
    std::int64_t last_second_{};
    std::int64_t last_ticks_{};
    std::size_t time_size_{};
    char* fraction_{}; ///< start of the fraction of the last time
    char time_text_[longest_time];
};

/// Returns the `,`-joined names of a projection, as in the metadata.
ENTITABLE_DECL std::string selected_names(projection const& select) {
    std::string names;
    for (std::string const& each : select) { names.append(names.empty() ? "&$select=" : ",").append(each); }
    return names;
}

/// Writes keys and Timestamp; false for any other property name.
ENTITABLE_DECL bool write_system_property(answer_pen& pen, std::string_view name, row_view entity) {
    if (name == "PartitionKey") {
        pen.member(name, entity.partition_key);
    } else if (name == "RowKey") {
        pen.member(name, entity.row_key);
    } else if (name == "Timestamp") {
        pen.timestamp(entity.timestamp());
    } else {
        return false;
    }
    return true;
}

/// Writes the members of an entity, after its metadata if it is alone.
ENTITABLE_DECL void write_entity_members(answer_pen& pen, row_view entity, etag const* version, std::string_view table,
    projection const& select, answer_style const& style) {
    if (style.metadata == metadata_level::full) {
        std::string path;
        append_entity_path(path, table, entity.partition_key, entity.row_key);
        pen.member("odata.type", text::joined({style.account, ".", table}));
        pen.member("odata.id", text::joined({style.base, "/", path}));
        pen.version(entity, version);
        pen.member("odata.editLink", path);
    } else if (style.metadata == metadata_level::minimal) {
        pen.version(entity, version);
    }
    if (select.empty()) {
        pen.key("\"PartitionKey\":", entity.partition_key);
        pen.key("\"RowKey\":", entity.row_key);
        pen.timestamp(entity.timestamp());
        pen.properties(entity.payload);
    }
    for (std::string const& name : select) {
        if (write_system_property(pen, name, entity)) { continue; }
        if (auto const held = entity.find(name)) {
            pen.property(name, *held);
        } else {
            pen.absent(name);
        }
    }
}

ENTITABLE_DECL void append_answer_entity(std::string& out, row_view entity, etag const& version, std::string_view table,
    projection const& select, answer_style const& style) {
    answer_pen pen{out, style.metadata};
    pen.open();
    if (style.metadata != metadata_level::none) {
        pen.member(
            "odata.metadata", text::joined({style.base, "/$metadata#", table, "/@Element", selected_names(select)}));
    }
    write_entity_members(pen, entity, &version, table, select, style);
    pen.close();
}

ENTITABLE_DECL bool append_answer_page(std::string& out, page const& rows, bool first, std::string_view table,
    projection const& select, answer_style const& style, std::string_view hidden) {
    answer_pen pen{out, style.metadata};
    constexpr std::size_t some = 32; // a long page grows once, and a short page stays small
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if (index == some) { pen.room_for_list(some, rows.size() - some); }
        row_view const entity = rows[index];
        if (entity.partition_key == hidden) { continue; }
        if (!first) { pen.comma_between_objects(); }
        first = false;
        pen.open();
        write_entity_members(pen, entity, nullptr, table, select, style);
        pen.close();
    }
    return first;
}

ENTITABLE_DECL void append_list_start(
    std::string& out, std::string_view table, projection const& select, answer_style const& style) {
    if (style.metadata == metadata_level::none) {
        out += "{\"value\":[";
        return;
    }
    out += "{\"odata.metadata\":";
    append_json_string(out, text::joined({style.base, "/$metadata#", table, selected_names(select)}));
    out += ",\"value\":[";
}

ENTITABLE_DECL void append_answer_table(
    std::string& out, std::string_view table, answer_style const& style, bool alone) {
    answer_pen pen{out, style.metadata};
    pen.open();
    if (alone && style.metadata != metadata_level::none) {
        pen.member("odata.metadata", text::joined({style.base, "/$metadata#Tables/@Element"}));
    }
    if (style.metadata == metadata_level::full) {
        std::string const path = text::joined({"Tables('", table, "')"});
        pen.member("odata.type", text::joined({style.account, ".Tables"}));
        pen.member("odata.id", text::joined({style.base, "/", path}));
        pen.member("odata.editLink", path);
    }
    pen.member("TableName", table);
    pen.close();
}

ENTITABLE_DECL std::string refusal_text(service_error const& refusal, refusal_marks const& marks) {
    return text::joined({refusal.index ? std::to_string(*refusal.index) : std::string{}, refusal.index ? ":" : "",
        text::printable(refusal.message), "\nRequestId:", marks.request_id, "\nTime:", marks.time.to_string()});
}

ENTITABLE_DECL void append_json_refusal(std::string& out, service_error const& refusal, refusal_marks const& marks) {
    out += "{\"odata.error\":{\"code\":";
    append_json_string(out, refusal.word);
    out += ",\"message\":{\"lang\":\"en-US\",\"value\":";
    append_json_string(out, refusal_text(refusal, marks));
    out += "}}}";
}

ENTITABLE_DECL void append_xml_refusal(std::string& out, service_error const& refusal, refusal_marks const& marks) {
    out += R"(<?xml version="1.0" encoding="utf-8"?><Error>)";
    append_xml_element(out, "Code", refusal.word);
    append_xml_element(out, "Message", refusal_text(refusal, marks));
    out += "</Error>";
}

ENTITABLE_DECL std::string_view reason_of(std::uint16_t status) noexcept {
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 409: return "Conflict";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Payload Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 417: return "Expectation Failed";
        case 431: return "Request Header Fields Too Large";
        case 501: return "Not Implemented";
        case 503: return "Service Unavailable";
        default: return status < 400 ? "OK" : status < 500 ? "Bad Request" : "Internal Server Error";
    }
}

ENTITABLE_DECL std::optional<date_time> time_of(etag const& version) {
    if (version.is_of_timestamp()) { return version.timestamp(); }
    std::string const tag = version.to_string();
    if (!tag.starts_with(etag_prefix) || !tag.ends_with(etag_suffix) ||
        tag.size() < etag_prefix.size() + etag_suffix.size()) {
        return std::nullopt;
    }
    std::string time;
    std::string_view const escaped =
        std::string_view{tag}.substr(etag_prefix.size(), tag.size() - etag_prefix.size() - etag_suffix.size());
    return append_url_unescaped(time, escaped) ? date_time::parse(time) : std::nullopt;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
