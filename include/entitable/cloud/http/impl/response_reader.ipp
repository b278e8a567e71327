// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/detail/response_reader.hpp>
#include <entitable/cloud/http/impl/url.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void response_reader::begin(http_method method, http_call const& call) {
    response_ = {};
    refusal_ = {};
    length_.reset();
    max_body_ = call.max_body_size;
    header_left_ = call.max_header_size;
    fields_left_ = call.max_header_count;
    method_ = method;
    state_ = state::status_line;
    chunked_ = false;
    encoded_ = false;
    framed_ = false;
}

ENTITABLE_DECL bool response_reader::header_line(std::string_view line) {
    if (line.size() > header_left_) {
        constexpr std::string_view too_large = "its header exceeds the call's limit";
        return has_header() ? refuse_body(too_large) : refuse(too_large);
    }
    header_left_ -= line.size(); // size of all blocks together: interim responses and trailers cannot continue forever
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) { line.remove_suffix(1); }
    switch (state_) {
        case state::status_line: return status_line(line);
        case state::fields: return line.empty() ? end_of_header() : field(line);
        case state::body: break; // trailers, which are not read
    }
    return true;
}

ENTITABLE_DECL bool response_reader::status_line(std::string_view line) {
    std::size_t const blank = line.find(' ');
    std::string_view const version = line.substr(0, blank);
    std::string_view const status = blank == std::string_view::npos ? "" : line.substr(blank + 1, 3);
    bool const good = version.starts_with("HTTP/") && status.size() == 3 && status[0] >= '1' && status[0] <= '9' &&
        is_decimal(status[1]) && is_decimal(status[2]) && (line.size() == blank + 4 || line[blank + 4] == ' ');
    if (!good) { return refuse("its status line is malformed"); }
    response_.status = static_cast<std::uint16_t>((status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0'));
    if (response_.status == 101) { return refuse("it switches to a different protocol without a request"); }
    framed_ = !version.starts_with("HTTP/1.") && !version.starts_with("HTTP/0");
    response_.headers.clear();
    length_.reset();
    chunked_ = false;
    encoded_ = false;
    state_ = state::fields;
    return true;
}

ENTITABLE_DECL bool response_reader::field(std::string_view line) {
    std::size_t const colon = find_not_of_class(line, character_classes::token);
    bool const named = colon > 0 && colon < line.size() && line[colon] == ':';
    std::string_view const name = line.substr(0, colon);
    std::string_view const value = named ? without_blanks(line.substr(colon + 1)) : std::string_view{};
    if (!named || !is_field_value(value)) {
        return refuse("it has a malformed header field"); // a folded field also begins with a blank
    }
    std::size_t const begin = colon + 2; // of a value in the usual form, which is copied together with its name
    if (value.data() == line.data() + begin && line[colon + 1] == ' ') {
        known_fields::add(response_.headers, line.substr(0, begin + value.size()));
    } else {
        known_fields::add(response_.headers, name, value);
    }
    if (fields_left_ == 0) { return refuse("it has more header fields than the call's limit"); }
    --fields_left_;
    if (same_field_name(name, "Content-Length")) {
        std::uint64_t length = 0;
        bool good = !value.empty() && value.size() <= 18;
        for (char const c : value) {
            good = good && is_decimal(c);
            length = length * 10 + static_cast<std::uint64_t>(good ? c - '0' : 0);
        }
        if (length_ || !good) { return refuse(good ? "it has two lengths" : "its Content-Length is not a number"); }
        length_ = length;
    } else if (same_field_name(name, "Transfer-Encoding")) {
        if (chunked_ || !same_field_name(value, "chunked")) { return refuse("its Transfer-Encoding must be chunked"); }
        chunked_ = true;
    } else if (same_field_name(name, "Content-Encoding") && !same_field_name(value, "identity")) {
        encoded_ = true;
    }
    return true;
}

ENTITABLE_DECL bool response_reader::end_of_header() {
    std::uint16_t const status = response_.status;
    if (status < 200) {
        state_ = state::status_line; // this response is interim; the final response follows
        return true;
    }
    state_ = state::body;
    if (length_ && chunked_) { return refuse("it has two lengths"); }
    if (status == 204 || status == 304 || method_ == http_method::head) { return true; }
    if (encoded_) { return refuse_body("its body has a content encoding that the request does not accept"); }
    // Without a length a truncated body looks complete. Errors from proxies and from HTTP/1.0 servers have no length (RFC 9112, 6.3).
    if (!length_ && !chunked_ && !framed_ && !is_error()) { return refuse("it lacks the length of the body"); }
    if (length_ && *length_ > max_body_) { return refuse_body("its body exceeds the call's limit"); }
    constexpr std::uint64_t believed = std::uint64_t{1024} * 1024; // reserved before any of the body arrives
    grow(static_cast<std::size_t>(length_.value_or(0) < believed ? length_.value_or(0) : believed));
    return true;
}

ENTITABLE_DECL bool response_reader::body(std::string_view piece) {
    if (piece.size() > max_body_ - response_.body.size()) { return refuse_body("its body exceeds the call's limit"); }
    std::size_t const needed = response_.body.size() + piece.size();
    if (response_.body.capacity() < needed + http_response::padding) {
        std::size_t const twice = 2 * needed;
        grow(twice < max_body_ ? twice : max_body_);
    }
    response_.body.append(piece);
    return true;
}

ENTITABLE_DECL void response_reader::grow(std::size_t needed) {
    response_.body.reserve(needed + http_response::padding);
}

ENTITABLE_DECL http_response response_reader::take() {
    grow(response_.body.size());
    return std::move(response_);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
