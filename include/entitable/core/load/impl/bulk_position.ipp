// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/load/detail/bulk_position.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view bulk_heading = "entitable bulk load 1\n";
inline constexpr std::string_view bulk_digits = "0123456789abcdef";

[[nodiscard]] ENTITABLE_DECL std::string digest_text(std::uint64_t digest) {
    std::string text;
    append_hexadecimal(text, digest);
    return text;
}

/// Puts a text on one line.
[[nodiscard]] ENTITABLE_DECL std::string line_text(std::string_view text) {
    std::string made;
    for (char const each : text) {
        auto const byte = static_cast<unsigned char>(each);
        if (byte < 0x20 || each == '%') {
            made += '%';
            made += bulk_digits[byte >> 4U];
            made += bulk_digits[byte & 15U];
        } else {
            made += each;
        }
    }
    return made;
}

[[nodiscard]] ENTITABLE_DECL std::uint64_t digest_of_text(std::string_view text) noexcept {
    row_digest made;
    made.add(text);
    return made.value();
}

ENTITABLE_DECL std::string bulk_position::text(bulk_identity const& load, bulk_counts const& counts) const {
    std::string made{bulk_heading};
    auto const line = [&](std::string_view name, std::string_view value) {
        made.append(name).append(" ").append(value).append("\n");
    };
    line("table", line_text(load.table));
    line("mode", load.mode);
    line("input", line_text(load.input));
    line("position", text::joined({std::to_string(from_), " ", digest_text(from_digest_)}));
    line("read", text::joined({std::to_string(read_), " ", digest_text(digest_)}));
    std::string settled;
    for (std::uint64_t at = 0; at < read_ - from_; at += 4) {
        settled += bulk_digits[(settled_[static_cast<std::size_t>(at / 64)] >> (at % 64)) & 15U];
    }
    line("settled", settled);
    line("written", std::to_string(counts.written));
    line("already_there", std::to_string(counts.already_there));
    line("superseded", std::to_string(counts.superseded));
    line("refused", std::to_string(counts.refused));
    line("bytes", std::to_string(counts.bytes));
    made += text::joined({"sum ", digest_text(digest_of_text(made)), "\n"});
    return made;
}

ENTITABLE_DECL bool bulk_resume::is_settled(std::uint64_t index) const noexcept {
    if (index < from || index >= read) { return index < from; }
    std::size_t const digit = bulk_digits.find(settled[static_cast<std::size_t>((index - from) / 4)]);
    return (digit >> ((index - from) % 4) & 1U) != 0;
}

/// Parses a checkpoint line by line.
class bulk_text_reader {
public:
    explicit bulk_text_reader(std::string_view text) noexcept : text_(text) {}

    /// Returns the value of the line with this name; empty if it is another line.
    std::string_view line(std::string_view name) {
        std::size_t const end = text_.find('\n');
        std::string_view each = text_.substr(0, end);
        good_ = good_ && end != std::string_view::npos && each.size() > name.size() && each.starts_with(name) &&
            each[name.size()] == ' ';
        if (!good_) { return {}; }
        text_.remove_prefix(end + 1);
        return each.substr(name.size() + 1);
    }
    std::uint64_t number(std::string_view digits) {
        std::uint64_t value = 0;
        good_ = good_ && !digits.empty() && digits.size() < 20;
        for (char const each : digits) {
            good_ = good_ && each >= '0' && each <= '9';
            value = 10 * value + static_cast<std::uint64_t>(each - '0');
        }
        return value;
    }
    std::uint64_t digest(std::string_view digits) {
        std::uint64_t value = 0;
        good_ = good_ && digits.size() == 16;
        for (char const each : digits) {
            std::size_t const digit = bulk_digits.find(each);
            good_ = good_ && digit != std::string_view::npos;
            value = value << 4U | (digit & 15U);
        }
        return value;
    }
    [[nodiscard]] bool good() const noexcept { return good_; }

private:
    std::string_view text_;
    bool good_{true};
};

ENTITABLE_DECL result<bulk_resume> read_bulk_position(std::string_view text, bulk_identity const& load) {
    auto const refused = [](std::string_view why) {
        return failure{error_code::checkpoint_invalid, text::joined({"the checkpoint ", why})};
    };
    constexpr std::string_view any_version = "entitable bulk load ";
    if (!text.starts_with(any_version)) { return refused("does not belong to a bulk load"); }
    if (!text.starts_with(bulk_heading)) { return refused("has an unknown version"); }
    constexpr std::size_t sum_size = 4 + 16 + 1; // name, digits, end of the line
    std::string_view const summed = text.substr(0, text.size() < sum_size ? 0 : text.size() - sum_size);
    if (text.substr(summed.size()) != text::joined({"sum ", digest_text(digest_of_text(summed)), "\n"})) {
        return refused("is damaged");
    }
    bulk_text_reader reader{summed.substr(bulk_heading.size())};
    std::string_view const table = reader.line("table");
    std::string_view const mode = reader.line("mode");
    std::string_view const input = reader.line("input");
    bulk_resume made;
    std::string_view const position = reader.line("position");
    std::string_view const read = reader.line("read");
    made.settled = reader.line("settled");
    made.from = reader.number(position.substr(0, position.find(' ')));
    made.read = reader.number(read.substr(0, read.find(' ')));
    made.from_digest = reader.digest(position.substr(position.find(' ') + 1));
    made.read_digest = reader.digest(read.substr(read.find(' ') + 1));
    made.counts.written = reader.number(reader.line("written"));
    made.counts.already_there = reader.number(reader.line("already_there"));
    made.counts.superseded = reader.number(reader.line("superseded"));
    made.counts.refused = reader.number(reader.line("refused"));
    made.counts.bytes = reader.number(reader.line("bytes"));
    if (!reader.good() || made.from > made.read || made.settled.size() != (made.read - made.from + 3) / 4 ||
        made.settled.find_first_not_of(bulk_digits) != std::string::npos) {
        return refused("is damaged");
    }
    if (table != line_text(load.table)) { return refused("belongs to a load of a different table"); }
    if (mode != load.mode) { return refused("belongs to a load of a different kind"); }
    if (input != line_text(load.input)) { return refused("belongs to a different input"); }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
