// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/detail/text_source.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL text_source::text_source(std::istream& in) : in_(&in), block_(new char[block_size]) {}

ENTITABLE_DECL void text_source::take(std::size_t count) noexcept {
    if (count == 0) { return; }
    at_ += count;
    if (block_[at_ - 1] == '\n') {
        ++line_;
        line_begin_ = taken_ + at_;
    }
}

ENTITABLE_DECL bool text_source::fill() {
    if (!in_->good()) { return false; }
    taken_ += end_;
    at_ = end_ = 0;
    in_->read(block_.get(), static_cast<std::streamsize>(block_size));
    end_ = static_cast<std::size_t>(in_->gcount());
    return end_ != 0;
}

ENTITABLE_DECL result<void> text_source::take_mark() {
    if (!has_more()) { return {}; }
    if (rest().starts_with("\xEF\xBB\xBF")) {
        at_ += 3;
        line_begin_ = 3;
    } else if (rest().starts_with("\xFF\xFE") || rest().starts_with("\xFE\xFF")) {
        return failure{error_code::invalid_input, "the text is in UTF-16: convert it to UTF-8"};
    }
    return {};
}

ENTITABLE_DECL std::string located(text_position at, std::string_view name, std::string_view message) {
    std::string const line = std::to_string(at.line);
    std::string const column = std::to_string(at.column);
    std::string made = text::joined({"line ", line, ", column ", column});
    if (!name.empty()) { made += text::joined({" (\"", name, "\")"}); }
    return made += text::joined({": ", message});
}

ENTITABLE_DECL failure unreadable_text(text_position at) {
    return failure{error_code::store_failed, located(at, {}, "the stream cannot be read")};
}

ENTITABLE_DECL failure refused_records::refuse(
    record_fault const& fault, std::uint64_t first_line, std::uint64_t last_line, std::string_view text, bool is_cut) {
    error why{fault.code, located(fault.at, fault.name, fault.message)};
    ++report_.refused;
    bool const kept = report_.refusals.size() < keep_;
    if (kept || call_) {
        refused_line made{report_.records - 1, fault.at.line, fault.at.column, fault.name, first_line, last_line,
            std::string{text}, is_cut, why};
        if (call_) { call_(made); }
        if (kept) { report_.refusals.push_back(std::move(made)); }
    }
    return failure{std::move(why)};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
