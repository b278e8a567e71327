// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `part_hash`: a fingerprint that ties a token to its query. Part of the stored formats.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/request/filter.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/request/requests.hpp>

#include <cstdint>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// FNV-1a over parts, each preceded by its size, so that different lists of parts give different bytes.
class part_hash {
public:
    explicit part_hash(std::uint64_t start) noexcept : value_(start ^ 14695981039346656037U) {}
    void add(std::uint64_t number) noexcept {
        add_byte(static_cast<unsigned char>(number));
        if (number < 256) { // seven bytes of zero follow
            constexpr std::uint64_t squared = prime * prime;
            value_ *= squared * squared * squared * prime;
            return;
        }
        for (int index = 1; index < 8; ++index) { add_byte(static_cast<unsigned char>(number >> (8 * index))); }
    }
    void add(std::string_view part) noexcept {
        add(static_cast<std::uint64_t>(part.size()));
        for (char const character : part) { add_byte(static_cast<unsigned char>(character)); }
    }
    void add(key_interval const& keys) noexcept {
        for (key_bound const* bound : {&keys.lower, &keys.upper}) {
            add(static_cast<std::uint64_t>(bound->end));
            add(std::string_view{bound->key});
        }
    }
    /// Adds a comparison or a connective.
    void add(filter_operator operation, std::string_view name, value_view operand) noexcept {
        add(static_cast<std::uint64_t>(operation));
        add(name);
        add(static_cast<std::uint64_t>(operand.type()));
        add(static_cast<std::uint64_t>(operand.bits()));
        add(operand.bytes());
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    static constexpr std::uint64_t prime = 1099511628211U;
    void add_byte(unsigned char byte) noexcept { value_ = (value_ ^ byte) * prime; }
    std::uint64_t value_;
};

/// Fingerprint of a query: its table, range, filter and projection. The page size may change from page to page.
[[nodiscard]] inline std::uint64_t fingerprint(query_entities const& request, std::string_view table_key) noexcept {
    part_hash hash{1};
    hash.add(table_key);
    hash.add(request.range.partition);
    hash.add(request.range.row);
    hash.add(request.filter.nodes.size());
    for (filter_node const& node : request.filter.nodes) { hash.add(node.operation, node.name, node.operand); }
    hash.add(request.select.size());
    for (std::string const& name : request.select) { hash.add(name); }
    return hash.value();
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
