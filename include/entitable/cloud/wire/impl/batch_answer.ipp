// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/answer_text.hpp>
#include <entitable/cloud/wire/detail/batch_answer.hpp>
#include <entitable/cloud/wire/impl/error_answer.ipp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/etag.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure garbled_batch(std::initializer_list<std::string_view> why) {
    failure made = unreadable(why);
    made.error().effect = effect::unknown;
    return made;
}

/// Returns the boundary of a content type; empty if it is not multipart or contains no boundary.
ENTITABLE_DECL std::string_view boundary_of(std::string_view content_type) noexcept {
    constexpr std::string_view media = "multipart/mixed";
    if (!same_field_name(content_type.substr(0, media.size()), media)) { return {}; }
    std::string_view parameters = content_type.substr(media.size());
    while (!parameters.empty()) {
        std::size_t const semicolon = parameters.find(';');
        if (semicolon == std::string_view::npos) { break; }
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

/// The kind of boundary on a line: none, a separator before another part, or the final boundary.
enum class edge : unsigned char { none, next, last };

ENTITABLE_DECL edge edge_of(std::string_view line, std::string_view boundary) noexcept {
    if (line.size() < 2 + boundary.size() || line[1] != '-' || line[0] != '-' ||
        std::memcmp(line.data() + 2, boundary.data(), boundary.size()) != 0) {
        return edge::none;
    }
    std::string_view const rest = line.substr(2 + boundary.size());
    bool const last = rest.starts_with("--");
    return !trimmed(rest.substr(last ? 2 : 0)).empty() ? edge::none : last ? edge::last : edge::next;
}

/// One response inside a transaction's, read line by line: the header fields around it, its status, its own header fields, and the position
/// of the rest.
struct batch_part {
    enum class stage : unsigned char { start, envelope, before_status, fields, body, no_response };

    stage at{stage::start};
    std::uint16_t status{};
    std::string_view content_type; ///< Content-Type of the enclosing part
    std::string_view content_id;
    std::string_view etag;
    std::size_t fields_begin{};
    std::size_t body_begin{};
    std::size_t end{};

    /// Reads a line without its end; `behind` is the position at which the next line begins.
    void take(std::string_view line, std::size_t behind) noexcept {
        switch (at) {
            case stage::start:
                if (!line.empty()) {
                    at = stage::envelope;
                    take_field(line);
                }
                break;
            case stage::envelope:
                if (line.empty()) {
                    at = stage::before_status;
                } else {
                    take_field(line);
                }
                break;
            case stage::before_status:
                if (!line.empty()) {
                    take_status(line);
                    fields_begin = behind;
                }
                break;
            case stage::fields:
                if (line.empty()) {
                    at = stage::body;
                    body_begin = behind;
                } else {
                    take_field(line);
                }
                break;
            case stage::body:
            case stage::no_response: break;
        }
    }

private:
    void take_field(std::string_view line) noexcept {
        std::size_t const colon = line.find(':');
        if (colon == std::string_view::npos) {
            at = stage::no_response;
            return;
        }
        if (char const first = ascii_lower_case(line.front()); first != 'e' && first != 'c') {
            return; // the usual case is a field that is not needed
        }
        std::string_view const name = line.substr(0, colon);
        std::string_view const value = trimmed(line.substr(colon + 1));
        bool const inside = at == stage::fields;
        if (inside && same_field_name(name, "ETag")) {
            etag = value;
        } else if (!inside && same_field_name(name, "Content-Type")) {
            content_type = value;
        } else if (same_field_name(name, "Content-ID") && !value.empty()) {
            content_id = value;
        }
    }
    void take_status(std::string_view line) noexcept { // HTTP/1.1 204 No Content
        std::size_t const space = line.find(' ');
        std::string_view digits = line.substr(space == std::string_view::npos ? line.size() : space + 1);
        auto const number = leading_number<std::uint16_t>(digits);
        bool const good = line.starts_with("HTTP/1.") && number && *number >= 100 && *number <= 599 &&
            (digits.empty() || digits.front() == ' ');
        at = good ? stage::fields : stage::no_response;
        status = number.value_or(std::uint16_t{0});
    }
};

/// Returns the header fields of one response.
ENTITABLE_DECL http_headers fields_of_part(std::string_view text, batch_part const& part) {
    http_headers fields;
    text = text.substr(part.fields_begin, part.body_begin - part.fields_begin);
    while (!text.empty()) {
        std::string_view const line = trimmed(text::take_part(text, '\n'));
        if (std::size_t const colon = line.find(':'); colon != std::string_view::npos) {
            static_cast<void>(fields.add(line.substr(0, colon), line.substr(colon + 1)));
        }
    }
    return fields;
}

/// Parses the response to a transaction in one pass over its lines: one change set with its parts, or one response without parts.
class change_set_reader {
public:
    /// False if the text has no boundary, the last boundary is missing, or there is not exactly one change set.
    bool read(std::string_view text, std::string_view boundary) {
        if (boundary.empty() || boundary.size() > longest_boundary) { return false; }
        for (std::size_t next = 0; next < text.size();) {
            std::size_t const at = next;
            std::size_t const end = text.find('\n', at);
            next = end == std::string_view::npos ? text.size() : end + 1;
            std::string_view line{text.data() + at, (end == std::string_view::npos ? text.size() : end) - at};
            line.remove_suffix(line.ends_with('\r') ? 1 : 0);
            if (line.starts_with('-')) {
                edge const outer = edge_of(line, boundary);
                if (outer == edge::last) {
                    set_.end = at;
                    return where_ != place::before;
                }
                if (outer == edge::next) {
                    if (where_ != place::before) { return false; }
                    where_ = place::set;
                    continue;
                }
                if (edge const inner = where_ == place::parts ? edge_of(line, inner_) : edge::none;
                    inner != edge::none) {
                    pass(inner, at);
                    continue;
                }
            }
            take(line, next);
        }
        return false;
    }

    /// Returns the parts; none if the change set is truncated.
    [[nodiscard]] std::vector<batch_part> parts() && {
        if (where_ == place::set) {
            parts_.push_back(set_);
        } else if (where_ != place::behind) {
            parts_.clear();
        }
        return std::move(parts_);
    }

private:
    static constexpr std::size_t longest_boundary = 256;
    static constexpr std::size_t most_parts = 1024;
    enum class place : unsigned char { before, set, parts, behind, cut };

    void take(std::string_view line, std::size_t behind) {
        if (where_ == place::parts && !parts_.empty()) {
            parts_.back().take(line, behind);
        } else if (where_ == place::set) {
            set_.take(line, behind);
            if (set_.at == batch_part::stage::before_status && inner_.empty()) {
                inner_ = boundary_of(set_.content_type);
                where_ = inner_.empty() ? place::set : inner_.size() > longest_boundary ? place::cut : place::parts;
            }
        }
    }
    /// Handles a boundary between parts.
    void pass(edge boundary, std::size_t at) {
        if (!parts_.empty()) { parts_.back().end = at; }
        if (boundary == edge::last) {
            where_ = parts_.empty() ? place::cut : place::behind;
        } else if (parts_.size() == most_parts) {
            where_ = place::cut;
        } else {
            parts_.emplace_back();
        }
    }

    place where_{place::before};
    std::string_view inner_; ///< the boundary of the parts
    batch_part set_;         ///< the change set, until it is known to have several responses
    std::vector<batch_part> parts_;
};

/// Returns the places of the parts, if each has a Content-ID and they are consecutive from 0 or 1; otherwise keeps their order.
ENTITABLE_DECL bool places_of(std::vector<batch_part> const& parts, std::vector<std::size_t>& places) {
    std::size_t least = parts.size();
    places.clear();
    for (batch_part const& part : parts) {
        std::string_view digits = part.content_id;
        auto const id = leading_number<std::size_t>(digits);
        if (!id || !digits.empty()) { break; }
        places.push_back(*id);
        least = *id < least ? *id : least;
    }
    if (places.size() != parts.size() || least > 1) {
        places.clear();
        for (std::size_t index = 0; index < parts.size(); ++index) { places.push_back(index); }
        return true;
    }
    std::string taken(parts.size(), '\0');
    for (std::size_t& place : places) {
        place -= least;
        if (place >= taken.size() || taken[place] != 0) { return false; }
        taken[place] = 1;
    }
    return true;
}

ENTITABLE_DECL result<transact::response> read_batch_answer(
    http_response const& response, std::span<mutation const> changes, json_reader& reader) {
    change_set_reader lines;
    if (!lines.read(response.body, boundary_of(response.headers.find("Content-Type").value_or(std::string_view{})))) {
        return garbled_batch({"it is not a multipart response with one change set"});
    }
    std::vector<batch_part> const parts = std::move(lines).parts();
    if (parts.empty()) { return garbled_batch({"its change set is truncated"}); }
    for (std::size_t index = 0; index < parts.size(); ++index) {
        if (parts[index].at != batch_part::stage::body) {
            return garbled_batch({"part ", std::to_string(index), " of its change set is not an HTTP response"});
        }
    }
    if (parts.size() == 1 && parts.front().status >= 300) {
        error_answer answer;
        answer.status = parts.front().status;
        answer.request_id = text::shortened(response.headers.find("x-ms-request-id").value_or(std::string_view{}), 128);
        batch_part const& part = parts.front();
        std::string_view const body =
            std::string_view{response.body}.substr(part.body_begin, part.end - part.body_begin);
        read_error_body(answer, trimmed(body), reader);
        answer.retry_after = retry_after_of(fields_of_part(response.body, part));
        if (!answer.retry_after) { answer.retry_after = retry_after_of(response.headers); }
        // A missing table is not the fault of any operation, whichever came first.
        if (answer.index && (*answer.index >= changes.size() || answer.code == "TableNotFound")) {
            answer.index.reset();
        }
        return to_failure(std::move(answer), transact::name, true);
    }
    std::vector<std::size_t> places;
    if (parts.size() != changes.size() || !places_of(parts, places)) {
        return garbled_batch({"it has ", std::to_string(parts.size()), " parts for ", std::to_string(changes.size()),
            " operations, or numbers them incorrectly"});
    }
    transact::response made;
    made.results.resize(changes.size());
    for (std::size_t index = 0; index < parts.size(); ++index) {
        batch_part const& part = parts[index];
        std::size_t const place = places[index];
        if (part.status < 200 || part.status >= 300) {
            return garbled_batch({"it mixes failures and successes in one change set"});
        }
        if (changes[place].kind == mutation_kind::remove) { continue; }
        made.results[place].etag = etag{part.etag};
        if (!made.results[place].etag.is_valid()) {
            return garbled_batch({"part ", std::to_string(index), " of its change set lacks an ETag"});
        }
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
