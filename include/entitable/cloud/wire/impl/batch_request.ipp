// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/batch_request.hpp>
#include <entitable/cloud/wire/impl/batch_answer.ipp>
#include <entitable/cloud/wire/impl/service_address.ipp>
#include <entitable/cloud/wire/impl/service_error.ipp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void change_fields::take(std::string_view name, std::string_view value) noexcept {
    auto const keep = [&](std::string_view called, std::optional<std::string_view>& to) {
        if (same_field_name(name, called)) {
            several_if_match = several_if_match || (&to == &if_match && to);
            to = to.value_or(value);
        }
    };
    keep("If-Match", if_match);
    keep("If-None-Match", if_none_match);
    keep("Content-Type", content_type);
    keep("Prefer", prefer);
    keep("X-HTTP-Method", other_method);
}

/// Parses a body, line by line.
class batch_reader {
public:
    batch_reader(std::string_view body, std::size_t most) : rest_(body), most_(most) {}

    /// False if the body is malformed.
    bool read(std::string_view boundary, sent_batch& out) {
        if (!good_boundary(boundary) || !skip_to(boundary, edge::next)) { return false; }
        std::string_view type;
        if (!read_envelope(type, nullptr)) { return false; }
        std::string_view const inner = boundary_of(type);
        if (inner.empty()) {
            out.is_query = true;
            sent_operation one;
            if (!is_request(type) || !read_operation(boundary, one)) { return false; }
            out.operations.push_back(std::move(one));
            return met_ == edge::last && trimmed(rest_).empty();
        }
        if (!good_boundary(inner) || inner == boundary || !skip_to(inner, edge::next)) { return false; }
        out.operations.reserve((std::min)(most_ + 1, rest_.size() / usual_operation));
        for (;;) {
            sent_operation& next = out.operations.emplace_back();
            if (!read_envelope(type, &next) || !read_operation(inner, next)) { return false; }
            if (out.operations.size() > most_) { return true; }
            if (met_ == edge::last) { return ends(boundary); }
        }
    }

private:
    static bool good_boundary(std::string_view boundary) noexcept {
        return !boundary.empty() && boundary.size() <= 128;
    }

    /// Whether a part is a request, by its Content-Type.
    static bool is_request(std::string_view type) noexcept {
        return same_field_name(type.substr(0, type.find(';')), "application/http");
    }

    /// Reads the next line without its end; false at the end of the text.
    bool next_line(std::string_view& line) {
        if (rest_.empty()) { return false; }
        line = text::take_part(rest_, '\n');
        line.remove_suffix(line.ends_with('\r') ? 1 : 0);
        return true;
    }
    bool skip_to(std::string_view boundary, edge wanted) {
        std::string_view line;
        while (next_line(line)) {
            if (edge const met = edge_of(line, boundary); met != edge::none) { return met == wanted; }
        }
        return false;
    }
    /// Checks that nothing follows the change set: it would be ignored. A missing last boundary is tolerated.
    bool ends(std::string_view boundary) {
        std::string_view line;
        while (next_line(line)) {
            if (edge_of(line, boundary) == edge::last) { return trimmed(rest_).empty(); }
            if (!trimmed(line).empty()) { return false; }
        }
        return true;
    }
    static bool split(std::string_view line, std::string_view& name, std::string_view& value) {
        std::size_t const colon = line.find(':');
        name = line.substr(0, colon);
        value = colon == std::string_view::npos ? std::string_view{} : trimmed(line.substr(colon + 1));
        return colon != std::string_view::npos;
    }
    /// Skips a block of fields that the previous operation had in the same words.
    bool skip_known(std::string_view known) noexcept {
        if (known.empty() || !rest_.starts_with(known)) { return false; }
        rest_.remove_prefix(known.size());
        return true;
    }
    [[nodiscard]] std::string_view taken_since(char const* begin) const noexcept {
        return {begin, static_cast<std::size_t>(rest_.data() - begin)};
    }

    /// Reads the fields around a part, up to an empty line. The part of an operation must be a request.
    bool read_envelope(std::string_view& type, sent_operation* of) {
        if (of != nullptr && skip_known(envelope_)) {
            of->content_id = envelope_id_;
            return true;
        }
        char const* const begin = rest_.data();
        std::string_view line;
        type = {};
        for (std::size_t fields = 0; next_line(line) && fields < most_fields; ++fields) {
            if (line.empty()) {
                if (of != nullptr) {
                    if (!is_request(type)) { return false; }
                    envelope_ = taken_since(begin);
                    envelope_id_ = of->content_id;
                }
                return true;
            }
            std::string_view name;
            std::string_view value;
            if (!split(line, name, value) || !is_good_field(name, value)) { return false; }
            if (same_field_name(name, "Content-Type")) {
                type = value;
            } else if (of != nullptr && same_field_name(name, "Content-ID")) {
                of->content_id = value;
            }
        }
        return false;
    }
    /// Reads a request and its end, which is stored in `met_`.
    bool read_operation(std::string_view boundary, sent_operation& out) {
        std::string_view line;
        do { // tolerates empty lines before the request
            if (!next_line(line)) { return false; }
        } while (line.empty());
        std::size_t const first = line.find(' ');
        std::size_t const last = line.rfind(' ');
        if (last == first || !line.substr(last + 1).starts_with("HTTP/1.") || !read_method(line.substr(0, first))) {
            return false;
        }
        out.method = method_;
        out.url = line.substr(first + 1, last - first - 1);
        if (!skip_known(fields_)) {
            if (!read_fields(boundary, out)) { return false; }
            if (met_ != edge::none) { return true; }
        } else {
            out.fields = known_fields_;
            if (fields_id_) { out.content_id = *fields_id_; }
        }
        return read_body(boundary, out);
    }

    /// Stores a method in `method_`; that of the previous operation is known.
    bool read_method(std::string_view name) {
        if (name == method_name_) { return true; }
        auto const method = method_named(name);
        if (!method) { return false; }
        method_ = *method;
        method_name_ = name;
        return true;
    }

    /// Reads the body of a request, up to a boundary, which is stored in `met_`.
    bool read_body(std::string_view boundary, sent_operation& out) {
        char const* const begin = rest_.data();
        std::string_view line;
        for (;;) {
            char const* const end = rest_.data();
            if (!next_line(line)) { return false; }
            met_ = edge_of(line, boundary);
            if (met_ != edge::none) {
                out.body = trimmed({begin, static_cast<std::size_t>(end - begin)});
                return true;
            }
        }
    }

    /// Reads the fields of a request, up to an empty line, or up to a boundary, which is stored in `met_`.
    bool read_fields(std::string_view boundary, sent_operation& out) {
        char const* const begin = rest_.data();
        std::string_view line;
        met_ = edge::none;
        fields_ = {};
        fields_id_.reset();
        for (std::size_t fields = 0;; ++fields) {
            if (fields == most_fields || !next_line(line)) { return false; }
            if (line.empty()) { break; }
            if (met_ = edge_of(line, boundary); met_ != edge::none) {
                return true; // some clients omit the empty line after the fields of a removal
            }
            std::string_view name;
            std::string_view value;
            if (!split(line, name, value) || !is_good_field(name, value)) { return false; }
            out.fields.take(name, value);
            if (same_field_name(name, "Content-ID")) { fields_id_ = out.content_id = value; }
        }
        fields_ = taken_since(begin);
        known_fields_ = out.fields;
        return true;
    }

    static constexpr std::size_t most_fields = 64;
    static constexpr std::size_t usual_operation = 256; ///< bytes; few operations are smaller
    std::string_view rest_;
    std::size_t most_;
    edge met_{edge::none};
    // The blocks of the previous operation, with what they say.
    std::string_view envelope_;
    std::string_view envelope_id_;
    std::string_view fields_;
    change_fields known_fields_;
    std::optional<std::string_view> fields_id_; ///< Content-ID among the fields
    std::string_view method_name_{"GET"};
    http_method method_{http_method::get};
};

ENTITABLE_DECL result<sent_batch> read_batch(std::string_view content_type, std::string_view body, std::size_t most) {
    sent_batch made;
    if (!batch_reader{body, most}.read(boundary_of(content_type), made)) {
        return refused_input("The body of the batch request is not a batch with one change set or one query.");
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
