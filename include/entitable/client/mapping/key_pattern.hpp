// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `key_pattern`: the characters that each position in a type's keys can have. Two types of one table are distinguished by the first
/// position at which their characters differ.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/request/key_range.hpp>
#include <entitable/core/text.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A set of bytes.
struct character_set {
    std::array<std::uint64_t, 4> bits{};

    constexpr void add(char one) noexcept {
        auto const byte = static_cast<unsigned char>(one);
        bits[byte / 64U] |= std::uint64_t{1} << (byte % 64U);
    }
    [[nodiscard]] constexpr bool has(char one) const noexcept {
        auto const byte = static_cast<unsigned char>(one);
        return (bits[byte / 64U] >> (byte % 64U) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool meets(character_set const& other) const noexcept {
        bool any = false;
        for (std::size_t index = 0; index < bits.size(); ++index) {
            any = any || (bits[index] & other.bits[index]) != 0;
        }
        return any;
    }
    [[nodiscard]] static constexpr character_set of(std::string_view characters) noexcept {
        character_set made;
        for (char const each : characters) { made.add(each); }
        return made;
    }
};

/// The texts of a codec: the characters at the first `places` positions, and whether nothing follows them.
struct text_pattern {
    character_set first{};
    character_set others{};
    std::size_t places{};
    bool ends{};
};

inline constexpr character_set digit_characters = character_set::of("0123456789");

/// A number of digits that all texts of the codec have.
[[nodiscard]] constexpr text_pattern pattern_of_digits(std::size_t count) noexcept {
    return {digit_characters, digit_characters, count, true};
}

/// The pattern of a codec. Nothing is known about a text, or about a user's codec without `first_characters`.
template <class Codec>
struct pattern_of_codec {
    static constexpr text_pattern value = [] {
        text_pattern made;
        if constexpr (requires { std::string_view{Codec::first_characters}; }) {
            made.first = character_set::of(Codec::first_characters);
            made.places = 1;
        }
        return made;
    }();
};
template <key_integer T>
struct pattern_of_codec<key_codec<T>> {
    static constexpr text_pattern value = [] {
        text_pattern made = pattern_of_digits(key_codec<T>::width);
        if (std::is_signed_v<T>) { // a negative number is one character longer
            made.first.add('-');
            made.ends = false;
        }
        return made;
    }();
};
template <>
struct pattern_of_codec<key_codec<date_time>> : pattern_of_codec<key_codec<std::int64_t>> {};
template <class T>
concept has_own_codec =
    std::is_enum_v<T> && !requires { requires std::same_as<typename key_codec<T>::enumeration, T>; };
template <class T>
    requires(std::is_enum_v<T> && !named_enumeration<T> && !has_own_codec<T>)
struct pattern_of_codec<key_codec<T>> : pattern_of_codec<key_codec<std::underlying_type_t<T>>> {};
template <named_enumeration T>
    requires(!has_own_codec<T>)
struct pattern_of_codec<key_codec<T>> {
    static constexpr text_pattern value = [] {
        text_pattern made;
        if constexpr (requires { enum_names<T>::unknown; }) {
            return made; // every text is read
        }
        made.places = 1;
        for (auto const& each : enum_names<T>::values) {
            if (!each.name.empty()) { made.first.add(each.name.front()); }
        }
        return made;
    }();
};
template <>
struct pattern_of_codec<key_codec<guid>> {
    static constexpr text_pattern value{
        character_set::of("0123456789abcdef-"), character_set::of("0123456789abcdef-"), 36, true};
};
template <class T>
struct pattern_of_codec<key_codec<std::optional<T>>> {
    static constexpr text_pattern value = [] {
        text_pattern made = pattern_of_codec<key_codec<T>>::value;
        made.first.add(absent_key_text.front());
        made.places = made.places > 0 ? 1 : 0;
        made.ends = false;
        return made;
    }();
};
template <class T, std::size_t Digits>
struct pattern_of_codec<width_codec<T, Digits>> {
    static constexpr text_pattern value = pattern_of_digits(Digits);
};
template <class T, std::size_t Digits>
struct pattern_of_codec<descending_width_codec<T, Digits>> : pattern_of_codec<width_codec<T, Digits>> {};
template <class T>
struct pattern_of_codec<descending_codec<T>> {
    static constexpr text_pattern value = pattern_of_digits(descending_codec<T>::width);
};
template <>
struct pattern_of_codec<descending_codec<date_time>> : pattern_of_codec<descending_codec<std::int64_t>> {};

/// The positions in one of a type's keys whose characters are known, starting at the first position. The end of a key
/// is also a position.
class key_pattern {
public:
    constexpr key_pattern() = default;

    template <class... Components>
    [[nodiscard]] static constexpr key_pattern of(key_layout layout, components<void, Components...>) noexcept {
        text_pattern const texts[]{pattern_of_codec<typename Components::codec>::value..., text_pattern{}};
        key_pattern made;
        std::size_t member = 0;
        for (std::size_t index = 0; index < layout.size(); ++index) {
            key_component const& each = layout[index];
            text_pattern text = pattern_of_digits(1);
            if (each.literal()) {
                made.add(each.name);
                continue;
            }
            if (each.is == key_component::kind::bucket) {
                for (std::size_t left = (each.buckets - 1U) / 10U; left > 0; left /= 10U) { ++text.places; }
            } else {
                text = texts[member++];
            }
            if (text.places > 0) { made.add({{}, text.first, 1}); }
            if (text.places > 1) { made.add({{}, text.others, text.places - 1}); }
            if (!text.ends) { return made; }
            if (index + 1 < layout.size()) { made.add(each.separator()); }
        }
        made.ends_ = true;
        return made;
    }

    /// Whether a key has the known characters.
    [[nodiscard]] constexpr bool matches(std::string_view key) const noexcept {
        for (std::size_t index = 0; index < count_; ++index) {
            run const& each = runs_[index];
            if (!each.text.empty()) {
                if (!key.starts_with(each.text)) { return false; }
                key.remove_prefix(each.text.size());
                continue;
            }
            if (key.size() < each.places) { return false; }
            for (std::size_t place = 0; place < each.places; ++place) {
                if (!each.any.has(key[place])) { return false; }
            }
            key.remove_prefix(each.places);
        }
        return !ends_ || key.empty();
    }

    /// Whether no key matches both.
    [[nodiscard]] constexpr bool differs_from(key_pattern const& other) const noexcept {
        std::size_t const ours = places();
        std::size_t const theirs = other.places();
        for (std::size_t place = 0; place < ours && place < theirs; ++place) {
            if (!characters_at(place).meets(other.characters_at(place))) { return true; }
        }
        return (ends_ && theirs > ours) || (other.ends_ && ours > theirs);
    }

    /// The constant text at the start of each key; empty if there is none.
    [[nodiscard]] constexpr std::string_view literal() const noexcept {
        return count_ == 0 ? std::string_view{} : runs_.front().text;
    }

    /// Returns an interval that contains each key that matches.
    [[nodiscard]] key_interval interval() const {
        key_interval keys;
        if (count_ == 0) { return keys; }
        if (!literal().empty()) {
            keys.lower = key_bound::including(std::string{literal()});
            if (auto behind = text::successor_of_prefix(literal())) {
                keys.upper = key_bound::excluding(*std::move(behind));
            }
            return keys;
        }
        // Keys are ordered by UTF-16 code units, so that only ASCII characters can be a bound.
        constexpr int ascii_end = 0x80;
        int least = 0;
        while (least < 256 && !runs_.front().any.has(static_cast<char>(least))) { ++least; }
        int greatest = 255;
        while (greatest > least && !runs_.front().any.has(static_cast<char>(greatest))) { --greatest; }
        if (least < ascii_end) { keys.lower = key_bound::including(std::string(1, static_cast<char>(least))); }
        if (greatest + 1 < ascii_end) {
            keys.upper = key_bound::excluding(std::string(1, static_cast<char>(greatest + 1)));
        }
        return keys;
    }

private:
    /// Constant text, or a number of places with the same characters.
    struct run {
        std::string_view text{};
        character_set any{};
        std::size_t places{};
    };

    constexpr void add(run const& one) noexcept { runs_[count_++] = one; }
    constexpr void add(std::string_view text) noexcept {
        if (!text.empty()) { add({text, {}, text.size()}); }
    }
    [[nodiscard]] constexpr std::size_t places() const noexcept {
        std::size_t sum = 0;
        for (std::size_t index = 0; index < count_; ++index) { sum += runs_[index].places; }
        return sum;
    }
    [[nodiscard]] constexpr character_set characters_at(std::size_t place) const noexcept {
        std::size_t index = 0;
        for (; place >= runs_[index].places; ++index) { place -= runs_[index].places; }
        run const& at = runs_[index];
        return at.text.empty() ? at.any : character_set::of(at.text.substr(place, 1));
    }

    std::array<run, 3 * max_key_components> runs_{}; ///< for each component: first place, other places, separator
    std::size_t count_{};
    bool ends_{}; ///< whether a key ends after these positions
};

/// The patterns of both keys of a type. A row belongs to the type if its keys match both.
struct type_pattern {
    key_pattern partition;
    key_pattern row;

    [[nodiscard]] constexpr bool matches(std::string_view partition_key, std::string_view row_key) const noexcept {
        return row.matches(row_key) && partition.matches(partition_key);
    }
    /// Whether no row matches both.
    [[nodiscard]] constexpr bool differs_from(type_pattern const& other) const noexcept {
        return row.differs_from(other.row) || partition.differs_from(other.partition);
    }
};

template <mapped_entity T>
inline constexpr type_pattern pattern_of_type{
    key_pattern::of(mapping<T>::partition_layout, typename mapping<T>::partition_components{}),
    key_pattern::of(mapping<T>::row_layout, typename mapping<T>::row_components{})};

/// Whether no row can belong to both types.
template <class One, class Other>
inline constexpr bool are_told_apart =
    std::is_same_v<One, Other> || pattern_of_type<One>.differs_from(pattern_of_type<Other>);

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
