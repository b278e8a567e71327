// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The layout of a key, as plain data: a description of an entity's partition key and row key without templates, and functions that write
/// and read keys by it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/result.hpp>
#include <entitable/core/row/system_rows.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// One of the two keys.
enum class key_part : std::uint8_t {
    partition, ///< the partition key
    row,       ///< the row key
};

/// Separator of two components of a composite key.
inline constexpr std::string_view key_separator = "__";
/// Separator after an escaped component: it sorts before every character of an escaped text.
inline constexpr std::string_view escaped_key_separator = "!";
/// Maximum number of components of a key.
inline constexpr std::size_t max_key_components = 16;
/// The text of an optional component that is absent. It sorts after every number.
inline constexpr std::string_view absent_key_text = "~";

/// One component of a key.
struct key_component {
    /// Kind of a component.
    enum class kind : std::uint8_t {
        member,  ///< a member's value
        literal, ///< constant text without a separator after it
        bucket,  ///< the bucket of the salted component after it
    };

    std::string_view name;   ///< the member's name; for a literal its text
    kind is{kind::member};   ///< kind of the component
    bool optional{};         ///< may be absent
    bool escaped{};          ///< whether its separator is `escaped_key_separator`
    std::uint16_t buckets{}; ///< number of buckets
    bool low{};              ///< whether each text of a value sorts before "~"

    /// Whether the component is constant text.
    [[nodiscard]] constexpr bool literal() const noexcept { return is == kind::literal; }
    /// The text between this component and the next.
    [[nodiscard]] constexpr std::string_view separator() const noexcept {
        return literal() ? std::string_view{} : escaped ? escaped_key_separator : key_separator;
    }
};

/// The components of one key, in order.
using key_layout = std::span<key_component const>;

/// Whether every row key of this layout has the prefix of system rows, because of its literals.
[[nodiscard]] constexpr bool is_reserved(key_layout layout) noexcept {
    std::size_t spelt = 0;
    for (key_component const& component : layout) {
        if (!component.literal()) { return false; }
        for (char const character : component.name) {
            if (character != system_row::prefix[spelt]) { return false; }
            if (++spelt == system_row::prefix.size()) { return true; }
        }
    }
    return false;
}

/// Whether every row key of this layout sorts before the row keys of system rows, so that a range of keys can end there.
[[nodiscard]] constexpr bool sorts_before_system_rows(key_layout layout) noexcept {
    key_component const& first = layout[0];
    switch (first.is) {
        case key_component::kind::bucket: return true;
        case key_component::kind::literal:
            return !system_row::prefix.starts_with(first.name) && first.name < system_row::prefix;
        case key_component::kind::member: break;
    }
    // An absent component is "~", which sorts before the prefix unless a separator follows.
    return first.low && (!first.optional || layout.size() == 1);
}

/// Returns the index of the `nth` component that is a member.
[[nodiscard]] constexpr std::size_t position_in(key_layout layout, std::size_t nth) noexcept {
    for (std::size_t index = 0; index < layout.size(); ++index) {
        if (layout[index].is == key_component::kind::member && nth-- == 0) { return index; }
    }
    return layout.size();
}

/// A value to be written into a key.
struct key_source {
    void const* value;                                   ///< value of a type that `append` expects
    bool (*append)(std::string& out, void const* value); ///< appends the text; false if the value has no text
};

/// Target of a value read from a key.
struct key_target {
    void* value;                                       ///< value of a type that `parse` expects
    bool (*parse)(std::string_view text, void* value); ///< false if the text does not fit the type
};

/// Makes a key from values, one per component that is a member. Errors: OutOfRangeInput names a component whose value has no text;
/// KeyNotSplittable names a component whose text contains the separator, so that the key could not be split again.
ENTITABLE_LAZY [[nodiscard]] result<std::string> write_key(key_layout layout, key_source const* values);
/// Appends the same key.
ENTITABLE_LAZY [[nodiscard]] result<void> append_key(std::string& key, key_layout layout, key_source const* values);

/// Whether, in a component's text followed by the separator, the first separator is the appended separator. Otherwise the component would be
/// read back as different text.
[[nodiscard]] constexpr bool splits_at_end(std::string_view text_and_separator, std::string_view separator) noexcept {
    return text_and_separator.find(separator) == text_and_separator.size() - separator.size();
}

/// Makes the error KeyReserved: only system rows may have this row key.
ENTITABLE_LAZY [[nodiscard]] failure key_reserved(std::string_view row_key);
/// Returns the key, or an error: KeyReserved for a key that only system rows may have.
ENTITABLE_LAZY [[nodiscard]] result<std::string> checked_row_key(result<std::string> row_key);

/// The texts of a key's components, in order.
using key_texts = std::array<std::string_view, max_key_components>;

/// Splits a key into the texts of its components; false if it does not have this layout.
ENTITABLE_LAZY [[nodiscard]] bool split_key(std::string_view key, key_layout layout, key_texts& texts) noexcept;

/// Reads a key into values, one per component that is a member; false if it does not have this layout.
ENTITABLE_LAZY [[nodiscard]] bool read_key(std::string_view key, key_layout layout, key_target const* values);

/// Makes the error RowMismatch: a stored key does not have the entity's layout.
ENTITABLE_LAZY [[nodiscard]] failure key_mismatch(std::string_view entity, key_part part, std::string_view key);

/// Appends the number of a text's bucket among `buckets`, as written in a key. Part of the stored format.
ENTITABLE_LAZY void append_bucket(std::string& out, std::string_view text, std::size_t buckets);
/// Appends the number `bucket` among `buckets`, as written in a key.
ENTITABLE_LAZY void append_bucket_number(std::string& out, std::size_t bucket, std::size_t buckets);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/key_layout.ipp>
#endif

#endif
