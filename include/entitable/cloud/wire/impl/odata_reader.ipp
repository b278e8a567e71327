// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/cloud/wire/impl/sent_literal.ipp>
#include <entitable/cloud/wire/impl/service_error.ipp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/detail/double_text.hpp>
#include <entitable/core/text.hpp>

#include <charconv>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// One token of a condition.
struct odata_token {
    enum class kind : unsigned char {
        end,
        open,
        close,
        word,     ///< a property, or a keyword
        constant, ///< a constant, stored in `held`
        wrong
    };
    kind is{kind::end};
    std::string_view text;
    value held;
};

/// Parses a condition from left to right, with bounded recursion.
class odata_reader {
public:
    odata_reader(std::string_view text, odata_limits const& limits) : text_(text), limits_(limits) { advance(); }

    [[nodiscard]] result<filter> read() {
        if (now_.is == odata_token::kind::end) { return filter{}; }
        if (disjunction(0) && now_.is != odata_token::kind::end) { fail_syntax(); }
        if (word_.empty()) { return std::move(made_); }
        return refused(word_ == "NotImplemented" ? 501 : 400, word_, message_);
    }

private:
    using kind = odata_token::kind;

    bool fail(std::string_view word, std::string_view message) {
        if (word_.empty()) {
            word_ = word;
            message_ = message;
        }
        return false;
    }
    bool fail_syntax() {
        return fail(
            "InvalidInput", text::joined({"Syntax error at position ", std::to_string(at_of_now_), " in the filter."}));
    }
    bool fail_not_implemented() {
        return fail("NotImplemented", "The requested operation is not implemented on the specified resource.");
    }

    // ---- tokens ----

    static bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
    static bool begins_name(char c) noexcept {
        return is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
    }
    static bool goes_on_name(char c) noexcept { return begins_name(c) || is_decimal(c); }

    void advance() {
        while (at_ < text_.size() && is_space(text_[at_])) { ++at_; }
        at_of_now_ = at_;
        now_ = {};
        if (at_ == text_.size()) { return; }
        char const first = text_[at_];
        if (first == '(' || first == ')') {
            now_.is = first == '(' ? kind::open : kind::close;
            ++at_;
        } else if (first == '\'') {
            take_constant(read_quoted() ? std::optional{value_view{std::string_view{quoted_}}} : std::nullopt);
        } else if (is_decimal(first) || first == '-') {
            take_constant(read_number());
        } else if (begins_name(first)) {
            std::size_t end = at_;
            while (end < text_.size() && goes_on_name(text_[end])) { ++end; }
            now_.text = text_.substr(at_, end - at_);
            at_ = end;
            now_.is = kind::word;
            if (at_ < text_.size() && text_[at_] == '\'') {
                take_constant(read_typed(now_.text));
            } else if (now_.text == "true" || now_.text == "false") {
                take_constant(value_view{now_.text == "true"});
            }
        } else {
            now_.is = kind::wrong;
        }
    }
    void take_constant(std::optional<value_view> const& found) {
        now_.is = found ? kind::constant : kind::wrong;
        if (found) { now_.held.assign(*found); }
        // A constant must be followed by a separator.
        if (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ')') { now_.is = kind::wrong; }
    }
    /// Reads from a quote to the end of the text, with doubled quotes reduced to one.
    bool read_quoted() {
        quoted_.clear();
        ++at_;
        for (;;) {
            std::size_t const quote = text_.find('\'', at_);
            if (quote == std::string_view::npos) {
                at_ = text_.size();
                return false;
            }
            quoted_.append(text_.substr(at_, quote - at_));
            at_ = quote + 1;
            if (at_ == text_.size() || text_[at_] != '\'') { return true; }
            quoted_ += '\'';
            ++at_;
        }
    }
    /// Reads the text after the name of a type.
    std::optional<value_view> read_typed(std::string_view type) {
        if (!read_quoted()) { return std::nullopt; }
        if (type == "datetime") {
            auto const time = sent_time(quoted_);
            return time && time->is_valid() ? std::optional{value_view{*time}} : std::nullopt;
        }
        if (type == "guid") {
            auto const id = guid::parse(quoted_);
            if (!id) { return std::nullopt; }
            quoted_.assign(reinterpret_cast<char const*>(id->bytes.data()), id->bytes.size());
            return value_view{edm_type::guid, std::string_view{quoted_}};
        }
        if (type != "X" && type != "binary") { return std::nullopt; }
        std::string bytes;
        if (quoted_.size() % 2 != 0) { return std::nullopt; }
        for (std::size_t index = 0; index < quoted_.size(); index += 2) {
            int const high = hexadecimal_digit(quoted_[index]);
            int const low = hexadecimal_digit(quoted_[index + 1]);
            if (high < 0 || low < 0) { return std::nullopt; }
            bytes += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
        }
        quoted_ = std::move(bytes);
        return value_view{edm_type::binary, std::string_view{quoted_}};
    }
    std::optional<value_view> read_number() {
        std::size_t end = at_ + (text_[at_] == '-' ? 1U : 0U);
        auto const digits = [&] {
            std::size_t const begin = end;
            while (end < text_.size() && is_decimal(text_[end])) { ++end; }
            return end != begin;
        };
        bool good = digits();
        bool real = false;
        if (end < text_.size() && text_[end] == '.') {
            ++end;
            real = true;
            good = digits() && good;
        }
        if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            ++end;
            end += end < text_.size() && (text_[end] == '-' || text_[end] == '+') ? 1U : 0U;
            real = true;
            good = digits() && good;
        }
        char const* const first = text_.data() + at_;
        char const* const last = text_.data() + end;
        char const suffix = end < text_.size() ? ascii_lower_case(text_[end]) : '\0';
        at_ = end;
        if (!good) { return std::nullopt; }
        if (suffix == 'd' || suffix == 'f' || suffix == 'm' || real) {
            at_ += suffix == 'd' || suffix == 'f' || suffix == 'm' ? 1U : 0U;
            // A number out of range is refused: this filter syntax has no literal for infinity.
            auto const number = double_in({first, static_cast<std::size_t>(last - first)});
            return number ? std::optional{value_view{*number}} : std::nullopt;
        }
        at_ += suffix == 'l' ? 1U : 0U;
        std::int64_t number{};
        auto const read = std::from_chars(first, last, number);
        if (read.ec != std::errc{} || read.ptr != last) { return std::nullopt; }
        if (suffix == 'l') { return value_view{number}; }
        if (number < INT32_MIN || number > INT32_MAX) { // as the service refuses: an Int64 needs its suffix
            fail("InvalidInput",
                text::joined({"Unrecognized 'Edm.Int32' literal '", {first, static_cast<std::size_t>(last - first)},
                    "'; a constant of type Edm.Int64 ends with L."}));
            return std::nullopt;
        }
        return value_view{static_cast<std::int32_t>(number)};
    }

    // ---- grammar ----

    [[nodiscard]] bool is_word(std::string_view word) const noexcept {
        return now_.is == kind::word && now_.text == word;
    }
    bool disjunction(std::size_t depth) {
        if (!conjunction(depth)) { return false; }
        while (is_word("or")) {
            advance();
            if (!conjunction(depth)) { return false; }
            made_.nodes.push_back({filter_operator::any_of, {}, {}});
        }
        return true;
    }
    bool conjunction(std::size_t depth) {
        if (!condition(depth)) { return false; }
        while (is_word("and")) {
            advance();
            if (!condition(depth)) { return false; }
            made_.nodes.push_back({filter_operator::all_of, {}, {}});
        }
        return true;
    }
    bool condition(std::size_t depth) {
        if (depth > limits_.depth) { return fail("InvalidInput", "The filter has too many levels."); }
        if (is_word("not")) {
            advance();
            if (!condition(depth + 1)) { return false; }
            made_.nodes.push_back({filter_operator::negation, {}, {}});
            return true;
        }
        if (now_.is == kind::open) {
            advance();
            if (!disjunction(depth + 1)) { return false; }
            if (now_.is != kind::close) { return fail_syntax(); }
            advance();
            return true;
        }
        return comparison();
    }
    static std::optional<filter_operator> operator_of(std::string_view word) noexcept {
        if (word.size() != 2) { return std::nullopt; }
        constexpr std::string_view words = "eqneltlegtge";
        for (std::size_t index = 0; index < 6; ++index) {
            if (word == words.substr(2 * index, 2)) { return static_cast<filter_operator>(index); }
        }
        return std::nullopt;
    }
    static bool is_reserved(std::string_view word) noexcept {
        return word == "and" || word == "or" || word == "not" || operator_of(word).has_value();
    }
    bool is_property() const noexcept {
        return now_.is == kind::word && !is_reserved(now_.text) && now_.text != "null";
    }
    /// `True`: a Boolean constant is in lower case.
    static bool is_misspelled_boolean(std::string_view word) {
        std::string const lower = text::ascii_lower(word);
        return lower == "true" || lower == "false";
    }
    bool calls_function() const noexcept { return at_ < text_.size() && text_[at_] == '('; }
    static bool is_arithmetic(std::string_view word) noexcept {
        return word == "add" || word == "sub" || word == "mul" || word == "div" || word == "mod";
    }

    bool comparison() {
        if (++comparisons_ > limits_.comparisons) {
            return fail("InvalidInput", "The filter has too many comparisons.");
        }
        if (now_.is == kind::constant) {
            value constant = std::move(now_.held);
            advance();
            auto const asked = now_.is == kind::word ? operator_of(now_.text) : std::nullopt;
            if (!asked) { return is_arithmetic(now_.text) ? fail_not_implemented() : always(constant); }
            advance();
            if (!is_property()) { return now_.is == kind::constant ? fail_not_implemented() : fail_syntax(); }
            if (calls_function()) { return fail_not_implemented(); }
            return add(turned(*asked), std::move(constant));
        }
        if (!is_property()) { return fail_syntax(); }
        if (calls_function()) { return fail_not_implemented(); }
        odata_token const property = now_;
        advance();
        auto const asked = now_.is == kind::word ? operator_of(now_.text) : std::nullopt;
        if (!asked) {
            if (now_.is == kind::word && is_arithmetic(now_.text)) { return fail_not_implemented(); }
            made_.nodes.push_back({filter_operator::equal, std::string{property.text}, value{value_view{true}}});
            return true;
        }
        advance();
        if (now_.is != kind::constant) {
            return is_property() && !is_misspelled_boolean(now_.text) ? fail_not_implemented() : fail_syntax();
        }
        made_.nodes.push_back({*asked, std::string{property.text}, std::move(now_.held)});
        advance();
        return true;
    }
    /// Returns a constant condition: true matches every row, since all have a PartitionKey, and false none.
    bool always(value const& constant) {
        if (constant.type() != edm_type::boolean) { return fail_syntax(); }
        bool const all = constant.view().as_boolean();
        made_.nodes.push_back({all ? filter_operator::greater_equal : filter_operator::less, "PartitionKey",
            value{value_view{std::string_view{}}}});
        return true;
    }
    bool add(filter_operator operation, value constant) {
        made_.nodes.push_back({operation, std::string{now_.text}, std::move(constant)});
        advance();
        return true;
    }
    /// Returns the operator to use if the operands are swapped.
    static filter_operator turned(filter_operator operation) noexcept {
        switch (operation) {
            case filter_operator::less: return filter_operator::greater;
            case filter_operator::less_equal: return filter_operator::greater_equal;
            case filter_operator::greater: return filter_operator::less;
            case filter_operator::greater_equal: return filter_operator::less_equal;
            default: return operation;
        }
    }

    std::string_view text_;
    odata_limits const& limits_;
    std::size_t at_{};
    std::size_t at_of_now_{};
    odata_token now_;
    std::string quoted_;
    filter made_;
    std::size_t comparisons_{};
    std::string_view word_; ///< word at which the error occurred; empty if there is none
    std::string message_;
};

ENTITABLE_DECL result<filter> read_odata_filter(std::string_view text, odata_limits const& limits) {
    if (text.size() > limits.bytes) { return refused_input("The filter is too long."); }
    if (text::valid_utf8_prefix(text) != text.size()) { return refused_input("The filter is not valid UTF-8."); }
    return odata_reader{text, limits}.read();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
