// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Filters as text: any filter with constants of any type is read back as the same tree by a parser of the service's grammar,
// so no value can become an operator.

#include <entitable/cloud/wire/detail/odata_filter.hpp>

#include <support/odata_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace entitable;

namespace {

void require(bool fact) {
    if (!fact) { std::abort(); }
}

value_view operand_of(std::string_view bytes) {
    if (bytes.empty()) { return std::string_view{}; }
    auto const type = static_cast<edm_type>(static_cast<unsigned char>(bytes[0]) % 8 + 1);
    std::string_view const rest = bytes.substr(1);
    std::int64_t bits{};
    std::memcpy(&bits, rest.data(), rest.size() < 8 ? rest.size() : 8);
    switch (type) {
        case edm_type::string:
        case edm_type::binary: return {type, rest};
        case edm_type::guid: return rest.size() < 16 ? value_view{true} : value_view{type, rest.substr(0, 16)};
        case edm_type::int32: return static_cast<std::int32_t>(bits);
        case edm_type::boolean: return bits % 2 != 0;
        case edm_type::date_time:
            return date_time{static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) % date_time::max_ticks)};
        default: return {type, bits};
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    // Pieces that end with a byte 0xFE are comparisons; their first byte selects what follows.
    std::string_view rest{reinterpret_cast<char const*>(data), size};
    filter condition;
    std::size_t depth = 0;
    while (!rest.empty() && condition.nodes.size() < 60) {
        std::string_view const piece = rest.substr(0, rest.find('\xFE'));
        rest.remove_prefix(piece.size() == rest.size() ? piece.size() : piece.size() + 1);
        if (piece.empty()) { continue; }
        unsigned const how = static_cast<unsigned char>(piece[0]);
        condition.nodes.push_back({static_cast<filter_operator>(how % 6), "Name", operand_of(piece.substr(1))});
        ++depth;
        if (how / 6 % 3 == 0) { condition.nodes.push_back({filter_operator::negation, {}, {}}); }
        if (how / 18 % 2 == 0 && depth > 1) {
            condition.nodes.push_back({how / 36 % 2 == 0 ? filter_operator::all_of : filter_operator::any_of, {}, {}});
            --depth;
        }
    }
    for (; depth > 1; --depth) { condition.nodes.push_back({filter_operator::any_of, {}, {}}); }
    std::string text;
    auto const said = detail::append_odata_filter(text, {}, condition, service::storage);
    if (condition.nodes.empty()) {
        require(text.empty() && said == detail::rendered::whole);
        return 0;
    }
    if (said == detail::rendered::part) {
        require(text.empty() || entitable_test::odata_parser::parse(text).has_value());
        return 0;
    }
    auto const read = entitable_test::odata_parser::parse(text);
    require(read.has_value());
    // A chain of one connective may be grouped differently when it is read back, so the texts are compared.
    std::string again;
    require(detail::append_odata_filter(again, {}, *read, service::storage) == detail::rendered::whole);
    require(again == text && read->comparisons() == condition.comparisons());
    return 0;
}
