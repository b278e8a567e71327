// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/odata_filter.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/filter.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a string constant, with its quotes.
ENTITABLE_DECL void append_odata_string(std::string& out, std::string_view text) {
    out += '\'';
    for (std::size_t quote = text.find('\''); quote != std::string_view::npos; quote = text.find('\'')) {
        out.append(text.substr(0, quote + 1)) += '\'';
        text.remove_prefix(quote + 1);
    }
    out.append(text) += '\'';
}

ENTITABLE_DECL bool append_odata_literal(std::string& out, value_view operand) {
    switch (operand.type()) {
        case edm_type::string: append_odata_string(out, operand.as_string()); break;
        case edm_type::int32: out += std::to_string(operand.as_int32()); break;
        case edm_type::int64: out.append(std::to_string(operand.as_int64())) += 'L'; break;
        case edm_type::float64: {
            double const number = operand.as_float64();
            if (number - number != 0) { return false; }
            std::array<char, 1100> text; // the longest number has a sign, "0.", 324 zeros and digits
            auto const end =
                std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed).ptr;
            std::string_view const written{text.data(), static_cast<std::size_t>(end - text.data())};
            out.append(written);
            if (written.find('.') == std::string_view::npos) { out += ".0"; }
            break;
        }
        case edm_type::boolean: out += operand.as_boolean() ? "true" : "false"; break;
        case edm_type::date_time:
            out += "datetime'";
            operand.as_date_time().append_to(out);
            out += '\'';
            break;
        case edm_type::guid:
            out += "guid'";
            operand.as_guid().append_to(out);
            out += '\'';
            break;
        case edm_type::binary: {
            out += "X'";
            for (char const character : operand.bytes()) {
                out += hexadecimal_of(static_cast<unsigned char>(character) >> 4U);
                out += hexadecimal_of(static_cast<unsigned char>(character));
            }
            out += '\'';
            break;
        }
    }
    return true;
}

ENTITABLE_DECL std::string_view odata_word(filter_operator operation) noexcept {
    constexpr std::string_view words[] = {"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"};
    return words[static_cast<std::size_t>(operation)];
}

/// Appends " and " between two conditions.
ENTITABLE_DECL void append_conjunction(std::string& out, std::size_t start) {
    if (out.size() != start) { out += " and "; }
}

ENTITABLE_DECL void append_interval(
    std::string& out, std::size_t start, std::string_view name, key_interval const& keys) {
    auto const append = [&](std::string_view comparison, std::string_view key) {
        append_conjunction(out, start);
        out.append(name).append(comparison);
        append_odata_string(out, key);
    };
    if (keys.is_point()) {
        append(" eq ", keys.lower.key);
        return;
    }
    if (keys.lower.end != key_bound::kind::open) {
        append(keys.lower.end == key_bound::kind::inclusive ? " ge " : " gt ", keys.lower.key);
    }
    if (keys.upper.end != key_bound::kind::open) {
        append(keys.upper.end == key_bound::kind::inclusive ? " le " : " lt ", keys.upper.key);
    }
}

/// How far a service can be trusted to evaluate a comparison.
enum class trusted : unsigned char {
    fully,  ///< the result of the service is correct
    partly, ///< the filter matches more rows
    never,  ///< the service would miss rows, or refuse the comparison
};

/// The emulator compares times by the millisecond, returns 500 if an Int64 meets a property of a different type, and matches values whose
/// type differs from that of the constant.
ENTITABLE_DECL trusted trust_in(value_view operand, service kind) noexcept {
    if (kind != service::azurite) { return trusted::fully; }
    bool const never = operand.type() == edm_type::date_time || operand.type() == edm_type::int64;
    return never ? trusted::never : trusted::partly;
}

/// One condition on the stack while a filter is rendered from its postfix form.
struct rendered_condition {
    std::string text;                                  ///< matches each row that satisfies it; empty: matches any row
    bool whole{true};                                  ///< matches no other row
    filter_operator operation{filter_operator::equal}; ///< outermost operator
};

ENTITABLE_DECL rendered append_odata_filter(
    std::string& out, key_range const& range, filter const& condition, service kind) {
    std::size_t const start = out.size();
    append_interval(out, start, "PartitionKey", range.partition);
    append_interval(out, start, "RowKey", range.row);
    std::vector<rendered_condition> stack;
    auto const parenthesised = [](rendered_condition& side, filter_operator around) {
        if (!is_comparison(side.operation) && side.operation != around) { side.text.insert(0, 1, '(') += ')'; }
    };
    for (filter_node const& node : condition.nodes) {
        rendered_condition made;
        made.operation = node.operation;
        if (is_comparison(node.operation)) {
            made.text.append(node.name).append(" ").append(odata_word(node.operation)) += ' ';
            trusted const trust = trust_in(node.operand.view(), kind);
            bool const sent = trust != trusted::never && append_odata_literal(made.text, node.operand.view());
            made.whole = sent && trust == trusted::fully;
            if (!sent) { made.text.clear(); }
        } else if (node.operation == filter_operator::negation) {
            rendered_condition inner = std::move(stack.back());
            stack.pop_back();
            made.whole = inner.whole;
            if (made.whole) { made.text = "not (" + inner.text + ")"; }
        } else {
            rendered_condition right = std::move(stack.back());
            stack.pop_back();
            rendered_condition left = std::move(stack.back());
            stack.pop_back();
            made.whole = left.whole && right.whole;
            if (!left.text.empty() && !right.text.empty()) {
                parenthesised(left, node.operation);
                parenthesised(right, node.operation);
                made.text = std::move(left.text);
                made.text.append(" ").append(odata_word(node.operation)).append(" ").append(right.text);
            } else if (node.operation == filter_operator::all_of) {
                // One side may match any row, so the text contains only the other side.
                rendered_condition& said = left.text.empty() ? right : left;
                made.text = std::move(said.text);
                made.operation = said.operation;
            }
        }
        stack.push_back(std::move(made));
    }
    if (stack.empty()) { return rendered::whole; }
    rendered_condition& whole = stack.back();
    if (!whole.text.empty()) {
        bool const alone = out.size() == start;
        append_conjunction(out, start);
        if (!alone) { parenthesised(whole, filter_operator::all_of); }
        out += whole.text;
    }
    return whole.whole ? rendered::whole : rendered::part;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
