// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How the components of a key stand in its text, as plain data: a non-template description of every entity's
/// partition key and row key.

#include <entitable/core/result.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Which of the two keys.
enum class key_part : std::uint8_t { partition, row };

/// Between two components of a composite key.
inline constexpr std::string_view key_separator = "__";
/// Components a key may have.
inline constexpr std::size_t max_key_components = 16;
/// The text of an optional component that is absent. It sorts behind every number.
inline constexpr std::string_view absent_key_text = "~";

/// One component of a key.
struct key_component {
    std::string_view name; ///< the member; for a literal its text
    bool literal{};        ///< constant text with no separator behind it
    bool optional{};       ///< may be absent
};

/// The components of one key, in order.
using key_layout = std::span<key_component const>;

/// Puts a key together, component by component, and refuses what could not be taken apart again.
class key_writer {
public:
    explicit key_writer(key_layout layout) noexcept : layout_(layout) {}

    /// Where the next component's text is to be appended.
    [[nodiscard]] std::string& text() noexcept { return text_; }
    /// The text of the next component was appended.
    ENTITABLE_LAZY void component_done();
    /// The key, or KeyNotSplittable naming the component whose text holds the separator.
    ENTITABLE_LAZY [[nodiscard]] result<std::string> finish() &&;

private:
    key_layout layout_;
    std::string text_;
    std::size_t start_{};
    std::size_t index_{};
    std::size_t offender_{max_key_components};
};

/// The texts of a key's components, in order.
using key_texts = std::array<std::string_view, max_key_components>;

/// Takes a key apart; false when it does not have this layout.
ENTITABLE_LAZY [[nodiscard]] bool split_key(std::string_view key, key_layout layout, key_texts& texts) noexcept;

/// Refused: a key read from a store does not have the entity's layout.
ENTITABLE_LAZY [[nodiscard]] failure key_mismatch(std::string_view entity, key_part part, std::string_view key);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/mapping/impl/key_layout.ipp>
#endif
