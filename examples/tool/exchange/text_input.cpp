// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "records.hpp"

#include <algorithm>
#include <cstring>

namespace tool {

bool text_input::read_more() {
    if (ended_) { return false; }
    if (begin_ != 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) { buffer_.resize(buffer_.size() * 2); }
    in_->read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
    auto const count = static_cast<std::size_t>(in_->gcount());
    end_ += count;
    if (count == 0) {
        ended_ = true;
        failed_ = in_->bad();
    }
    return count != 0;
}

void text_input::take(std::size_t count) noexcept {
    char const* const begin = buffer_.data() + begin_;
    take(count, static_cast<std::uint64_t>(std::count(begin, begin + count, '\n')));
}

entitable::result<void> text_input::take_mark() {
    while (rest().size() < 3 && read_more()) {}
    std::string_view const bytes = rest();
    if (bytes.starts_with("\xEF\xBB\xBF")) {
        take(3, 0);
    } else if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
        return entitable::failure{entitable::error_code::invalid_input,
            "the file is in UTF-16; convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8"};
    }
    return {};
}

bool record_reader::take_line() {
    std::size_t end = input_.rest().find('\n');
    while (end == std::string_view::npos && input_.rest().size() <= max_record) {
        std::size_t const searched = input_.rest().size();
        if (!input_.read_more()) { break; }
        end = input_.rest().find('\n', searched);
    }
    line_ = input_.line();
    raw_ = input_.rest().substr(0, end == std::string_view::npos ? end : end + 1);
    is_cut_ = end == std::string_view::npos && raw_.size() > max_record;
    input_.take(raw_.size(), end == std::string_view::npos ? 0 : 1);
    return !raw_.empty();
}

void record_reader::skip_cut_line() {
    while (is_cut_) {
        std::size_t const end = input_.rest().find('\n');
        if (end != std::string_view::npos) {
            input_.take(end + 1, 1);
            is_cut_ = false;
        } else {
            input_.take(input_.rest().size(), 0);
            is_cut_ = input_.read_more();
        }
    }
}

} // namespace tool
