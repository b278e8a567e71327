// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "records.hpp"

#include <algorithm>
#include <cstring>

namespace tool {

namespace {

constexpr std::uint64_t every_byte = 0x0101010101010101U;

/// Whether one of eight bytes is 0.
bool has_zero(std::uint64_t bytes) { return ((bytes - every_byte) & ~bytes & (every_byte << 7U)) != 0; }

/// Offset of the separator, LF or CR from `at` on; the size if there is none.
std::size_t find_end_of_field(std::string_view bytes, std::size_t at, char separator) {
    std::uint64_t const separators = every_byte * static_cast<unsigned char>(separator);
    for (std::uint64_t eight = 0; bytes.size() - at >= sizeof eight; at += sizeof eight) {
        std::memcpy(&eight, bytes.data() + at, sizeof eight);
        if (has_zero(eight ^ separators) || has_zero(eight ^ (every_byte * '\n')) ||
            has_zero(eight ^ (every_byte * '\r'))) {
            break;
        }
    }
    while (at < bytes.size() && bytes[at] != separator && bytes[at] != '\n' && bytes[at] != '\r') { ++at; }
    return at;
}

} // namespace

csv_records::scan csv_records::scan_record(std::string_view bytes, bool ended) {
    spans_.clear();
    std::size_t at = 0;
    for (;;) {
        span one{at, at, false, false};
        if (at < bytes.size() && bytes[at] == '"') {
            one.quoted = true;
            one.begin = ++at;
            for (;;) {
                void const* const quote =
                    at < bytes.size() ? std::memchr(bytes.data() + at, '"', bytes.size() - at) : nullptr;
                if (quote == nullptr) {
                    if (!ended) { return scan::needs_more; }
                    scan_fault_ = "a field begins with a quote, and has no second quote";
                    return scan::malformed;
                }
                at = static_cast<std::size_t>(static_cast<char const*>(quote) - bytes.data());
                if (at + 1 >= bytes.size() && !ended) { return scan::needs_more; }
                if (at + 1 < bytes.size() && bytes[at + 1] == '"') {
                    one.doubled = true;
                    at += 2;
                    continue;
                }
                break;
            }
            one.end = at++;
        } else {
            at = find_end_of_field(bytes, at, separator_);
            one.end = at;
        }
        spans_.push_back(one);
        if (at == bytes.size()) {
            size_ = at;
            return ended ? scan::whole : scan::needs_more;
        }
        if (bytes[at] == separator_) {
            ++at;
            continue;
        }
        if (bytes[at] == '\r') {
            if (at + 1 == bytes.size() && !ended) { return scan::needs_more; }
            size_ = at + (at + 1 < bytes.size() && bytes[at + 1] == '\n' ? 2 : 1);
            return scan::whole;
        }
        if (bytes[at] == '\n') {
            size_ = at + 1;
            return scan::whole;
        }
        scan_fault_ = "text follows the second quote of a field";
        return scan::malformed;
    }
}

/// Refuses the line at which the record begins.
void csv_records::skip_line(std::string message) {
    fault_ = std::move(message);
    static_cast<void>(take_line());
}

bool csv_records::next() {
    fields_.clear();
    fault_.clear();
    skip_cut_line();
    for (;;) {
        bool ended = false;
        scan found = scan_record(input_.rest(), ended);
        while (found == scan::needs_more && input_.rest().size() <= max_record) {
            ended = !input_.read_more();
            found = scan_record(input_.rest(), ended);
        }
        line_ = input_.line();
        if (input_.rest().empty()) { return false; }
        if (found != scan::whole) {
            skip_line(found == scan::malformed ? scan_fault_ : "the record is longer than 8 MiB");
            return true;
        }
        raw_ = input_.rest().substr(0, size_);
        bool const one_line = std::none_of(spans_.begin(), spans_.end(), [](span const& each) { return each.quoted; });
        if (one_line) {
            input_.take(size_, raw_.ends_with('\n') ? 1 : 0);
        } else {
            input_.take(size_);
        }
        bool const is_empty = spans_.size() == 1 && !spans_[0].quoted && spans_[0].begin == spans_[0].end;
        if (!is_empty) { break; }
    }
    std::size_t used = 0;
    for (span const& each : spans_) {
        field made;
        made.text = raw_.substr(each.begin, each.end - each.begin);
        made.form = each.quoted ? field_form::text : made.text.empty() ? field_form::absent : field_form::plain;
        if (each.doubled) {
            if (used == texts_.size()) { texts_.push_back(std::make_unique<std::string>()); }
            std::string& text = *texts_[used++];
            text.clear();
            for (std::size_t at = 0; at < made.text.size(); ++at) {
                text += made.text[at];
                if (made.text[at] == '"') { ++at; }
            }
            made.text = text;
        }
        fields_.push_back(made);
    }
    return true;
}

} // namespace tool
