// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/impl/etag.ipp>
#include <entitable/rest/detail/batch_answer.hpp>
#include <entitable/rest/impl/error_answer.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure garbled_batch(std::initializer_list<std::string_view> why) {
    failure made = unreadable(why);
    made.error().effect = effect::unknown;
    return made;
}

/// The line at the start of `text` without its end, and `text` moved behind it. Lines end with LF, or CR and LF.
ENTITABLE_DECL std::string_view take_line(std::string_view& text) noexcept {
    std::size_t const end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    return line;
}

/// The fields of a header block that are of interest.
struct part_fields {
    std::string_view content_type;
    std::string_view content_id;
    std::string_view etag;
};

/// Reads fields up to the empty line, which must be there.
ENTITABLE_DECL bool take_fields(std::string_view& text, part_fields& out) noexcept {
    while (!text.empty()) {
        std::string_view const line = take_line(text);
        if (line.empty()) {
            return true;
        }
        std::size_t const colon = line.find(':');
        if (colon == std::string_view::npos) {
            return false;
        }
        std::string_view const name = line.substr(0, colon);
        std::string_view* const to = same_field_name(name, "Content-Type") ? &out.content_type
            : same_field_name(name, "Content-ID")                          ? &out.content_id
            : same_field_name(name, "ETag")                                ? &out.etag
                                                                           : nullptr;
        if (to != nullptr) {
            *to = trimmed(line.substr(colon + 1));
        }
    }
    return false;
}

/// The boundary that a content type names; empty when it is not multipart or names none.
ENTITABLE_DECL std::string_view boundary_of(std::string_view content_type) noexcept {
    constexpr std::string_view media = "multipart/mixed";
    if (!same_field_name(content_type.substr(0, media.size()), media)) {
        return {};
    }
    std::string_view parameters = content_type.substr(media.size());
    while (!parameters.empty()) {
        std::size_t const semicolon = parameters.find(';');
        if (semicolon == std::string_view::npos) {
            break;
        }
        parameters = trimmed(parameters.substr(semicolon + 1));
        std::size_t const equals = parameters.find('=');
        if (equals == std::string_view::npos || !same_field_name(parameters.substr(0, equals), "boundary")) {
            continue;
        }
        std::string_view value = parameters.substr(equals + 1);
        if (value.starts_with('"')) {
            value.remove_prefix(1);
            return value.substr(0, value.find('"'));
        }
        return trimmed(value.substr(0, value.find(';')));
    }
    return {};
}

/// Takes the next part of a multipart text, up to the line of its boundary. Nothing at the end; `whole` says whether the last
/// boundary came.
ENTITABLE_DECL bool is_boundary(std::string_view line, std::string_view boundary, bool& last) noexcept {
    if (!line.starts_with("--") || line.substr(2, boundary.size()) != boundary) {
        return false;
    }
    std::string_view const rest = line.substr(2 + boundary.size());
    last = rest.starts_with("--");
    return trimmed(rest.substr(last ? 2 : 0)).empty();
}

/// Splits a multipart text. False when it has no boundary or the last one is missing, or there are too many parts.
ENTITABLE_DECL bool split_parts(
    std::string_view text, std::string_view boundary, std::size_t limit, std::vector<std::string_view>& parts) {
    if (boundary.empty() || boundary.size() > 256) {
        return false;
    }
    std::size_t start = std::string_view::npos;
    for (std::size_t next = 0; next < text.size();) {
        std::size_t const at = next;
        std::size_t const end = text.find('\n', at);
        next = end == std::string_view::npos ? text.size() : end + 1;
        if (text[at] != '-') {
            continue; // nearly every line
        }
        std::string_view line = text.substr(at, end - at);
        line.remove_suffix(line.ends_with('\r') ? 1 : 0);
        bool last = false;
        if (!is_boundary(line, boundary, last)) {
            continue;
        }
        if (start != std::string_view::npos) {
            if (parts.size() == limit) {
                return false;
            }
            parts.push_back(text.substr(start, at - start));
        }
        if (last) {
            return start != std::string_view::npos;
        }
        start = next;
    }
    return false;
}

/// One answer inside of a transaction's.
struct batch_part {
    std::uint16_t status{};
    part_fields fields;
    std::string_view body;
};

ENTITABLE_DECL bool read_part(std::string_view text, batch_part& out) noexcept {
    part_fields outer;
    while (text.starts_with("\r\n") || text.starts_with('\n')) {
        static_cast<void>(take_line(text));
    }
    if (!take_fields(text, outer)) {
        return false;
    }
    while (text.starts_with("\r\n") || text.starts_with('\n')) {
        static_cast<void>(take_line(text));
    }
    std::string_view const line = take_line(text); // HTTP/1.1 204 No Content
    std::string_view digits = line.substr(line.find(' ') == std::string_view::npos ? line.size() : line.find(' ') + 1);
    auto const status = leading_number<std::uint16_t>(digits);
    if (!line.starts_with("HTTP/1.") || !status || *status < 100 || *status > 599 ||
        !(digits.empty() || digits.front() == ' ') || !take_fields(text, out.fields)) {
        return false;
    }
    out.status = *status;
    out.body = trimmed(text);
    if (out.fields.content_id.empty()) {
        out.fields.content_id = outer.content_id;
    }
    return true;
}

/// The places of the parts, when each has a Content-ID and they are consecutive from 0 or 1; else their order as it is.
ENTITABLE_DECL bool places_of(std::vector<batch_part> const& parts, std::vector<std::size_t>& places) {
    std::size_t least = parts.size();
    places.clear();
    for (batch_part const& part : parts) {
        std::string_view digits = part.fields.content_id;
        auto const id = leading_number<std::size_t>(digits);
        if (!id || !digits.empty()) {
            break;
        }
        places.push_back(*id);
        least = *id < least ? *id : least;
    }
    if (places.size() != parts.size() || least > 1) {
        places.clear();
        for (std::size_t index = 0; index < parts.size(); ++index) {
            places.push_back(index);
        }
        return true;
    }
    std::string taken(parts.size(), '\0');
    for (std::size_t& place : places) {
        place -= least;
        if (place >= taken.size() || taken[place] != 0) {
            return false;
        }
        taken[place] = 1;
    }
    return true;
}

ENTITABLE_DECL result<transact::response> read_batch_answer(
    http_response const& response, std::span<mutation const> changes, json_reader& reader) {
    constexpr std::size_t limit = 1024;
    std::vector<std::string_view> texts;
    std::string_view const outer = boundary_of(response.headers.find("Content-Type").value_or(std::string_view{}));
    if (!split_parts(response.body, outer, 1, texts) || texts.empty()) {
        return garbled_batch({"it is no multipart answer with one change set"});
    }
    std::string_view inside = texts.front();
    part_fields fields;
    if (std::string_view rest = inside; !take_fields(rest, fields)) {
        return garbled_batch({"its change set has no header fields"});
    } else if (auto const inner = boundary_of(fields.content_type); !inner.empty()) {
        texts.clear();
        if (!split_parts(rest, inner, limit, texts)) {
            return garbled_batch({"its change set is cut"});
        }
    }
    std::vector<batch_part> parts(texts.size());
    for (std::size_t index = 0; index < texts.size(); ++index) {
        if (!read_part(texts[index], parts[index])) {
            return garbled_batch({"part ", std::to_string(index), " of its change set is no HTTP response"});
        }
    }
    if (parts.size() == 1 && parts.front().status >= 300) {
        error_answer answer;
        answer.status = parts.front().status;
        answer.request_id = text::shortened(response.headers.find("x-ms-request-id").value_or(std::string_view{}), 128);
        read_error_body(answer, parts.front().body, reader);
        // A missing table is no operation's fault, whichever came first.
        if (answer.index && (*answer.index >= changes.size() || answer.code == "TableNotFound")) {
            answer.index.reset();
        }
        return to_failure(std::move(answer), transact::name, true);
    }
    std::vector<std::size_t> places;
    if (parts.size() != changes.size() || !places_of(parts, places)) {
        return garbled_batch({"it has ", std::to_string(parts.size()), " parts for ", std::to_string(changes.size()),
            " operations, or numbers them wrongly"});
    }
    transact::response made;
    made.results.resize(changes.size());
    for (std::size_t index = 0; index < parts.size(); ++index) {
        batch_part const& part = parts[index];
        std::size_t const place = places[index];
        if (part.status < 200 || part.status >= 300) {
            return garbled_batch({"it has failures and successes in one change set"});
        }
        if (changes[place].kind == mutation_kind::remove) {
            continue;
        }
        made.results[place].etag = etag{part.fields.etag};
        if (!made.results[place].etag.is_valid()) {
            return garbled_batch({"part ", std::to_string(index), " of its change set has no ETag"});
        }
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
