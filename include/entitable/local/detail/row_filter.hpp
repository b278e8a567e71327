// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Evaluates a filter on the rows of a page.

#include <entitable/core/request/filter.hpp>
#include <entitable/core/row/row.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Finds the properties of a filter by their names in the first row of a layout, and by their places in the next rows of the same layout.
class row_filter {
public:
    /// The filter must outlive this object.
    explicit row_filter(filter const& condition) noexcept : condition_(&condition) {}

    /// Returns the same as `satisfies(row, condition)`.
    ENTITABLE_LAZY [[nodiscard]] bool accepts(row_view const& row);

private:
    /// A property with a length or a presence.
    struct step {
        std::size_t before; ///< bytes of the values of fixed size between the step before and this property
        std::size_t size;   ///< bytes of its value, or of the length of its value
        bool has_length;
        bool nullable;
    };
    /// The place of the property that a comparison names.
    struct place {
        enum class where : std::uint8_t { nowhere, in_keys, in_payload } is{};
        bool nullable{};
        edm_type type{};
        std::size_t steps{};  ///< number of steps before it
        std::size_t before{}; ///< bytes of the values of fixed size after those steps
    };

    /// Whether the row has the layout whose places are known, or now learned.
    ENTITABLE_LAZY [[nodiscard]] bool knows_layout(std::string_view payload);
    /// Finds the places in the layout; false if it is damaged.
    ENTITABLE_LAZY [[nodiscard]] bool learn(std::size_t properties);
    ENTITABLE_LAZY [[nodiscard]] bool satisfies_at(
        row_view const& row, filter_node const& node, place const& at) const noexcept;

    enum class layout : std::uint8_t { seen_once, learned, refused };

    filter const* condition_;
    layout state_{layout::refused};
    std::uint64_t head_{};      ///< version, number of properties and size of the descriptor in the last layout
    std::string descriptor_;    ///< descriptor of the last layout
    std::vector<step> steps_;   ///< steps of that layout
    std::vector<place> places_; ///< one for each node
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/impl/row_filter.ipp>
#endif
