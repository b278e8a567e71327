// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Conversion of members stored as several properties: chunks of a large text or binary, and references.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/changed.hpp>
#include <entitable/client/mapping/chunked.hpp>
#include <entitable/client/mapping/detail/value_reader.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/row/detail/property_finder.hpp>
#include <entitable/core/row/reading.hpp>
#include <entitable/core/row/row.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A borrowed property value that may be absent.
struct nullable_view {
    value_view value;
    bool nullable{};
    bool present{true};
    bool nameless{}; ///< set for an unnamed value of an enumeration that is stored by name
};

/// Whether one of the members is stored as several properties, or has an earlier name or type.
template <class Members>
inline constexpr bool has_parts = false;
template <auto... Members>
inline constexpr bool has_parts<members<0, Members...>> = ((is_in_parts<Members> || is_changed<Members>) || ...);

template <class T>
inline constexpr described_property described{
    property_type<typename property_shape<T>::value_type>::type, property_shape<T>::optional};

/// Calls `part(name, suffix, described)` for each property of a member. Any property of a chunked member may be absent:
/// a merge that writes fewer chunks leaves the other chunks unchanged, and an update removes them.
template <auto Member, class Part>
constexpr void each_part_of(std::string_view name, Part& part) {
    using shape = property_shape<member_type<Member>>;
    if constexpr (is_chunked<Member>) {
        for (std::size_t index = 0; index < max_chunks; ++index) {
            part(name, chunk_suffixes[index], {described<typename shape::value_type>.type, true});
        }
        part(name, chunk_suffixes[max_chunks], {edm_type::int32, true});
    } else if constexpr (is_reference<Member>) {
        part(name, reference_suffixes[0], {edm_type::string, shape::optional});
        part(name, reference_suffixes[1], {edm_type::string, shape::optional});
    } else {
        part(name, {}, described<member_type<Member>>);
        if constexpr (is_changed<Member>) {
            if (constexpr former_property const& former = former_of<Member>; !former.name.empty()) {
                part(former.name, {}, {former.type, true});
            }
        }
    }
}

/// Splits a text or binary into chunks and their count; writes absent values if there is none. Errors: PropertyValueTooLarge if it does not
/// fit.
ENTITABLE_LAZY [[nodiscard]] result<void> put_chunks(
    nullable_view* to, std::string_view name, edm_type type, std::optional<std::string_view> whole);

/// Checks that a row has at most 1 MiB as the service measures it. Errors: EntityTooLarge names the largest member.
ENTITABLE_LAZY [[nodiscard]] result<void> check_size_of_chunked(row_view row, std::string_view entity,
    nullable_view const* values, std::string_view const* names, std::size_t count);

/// Returns the name under which the row has a member: the former name if the row has only that.
ENTITABLE_LAZY [[nodiscard]] std::string_view name_in_row(
    property_finder& row, std::string_view name, std::string_view former);

/// Reads the members of a row that are stored as several properties.
class part_reader {
public:
    /// Reads from a row of this entity type.
    part_reader(row_view const& row, reading mode) noexcept : row_(row), mode_(mode) {}

    /// Reads the chunks of a member and returns their number; 0 for an absent member, or after an error, which `finish` returns.
    /// `may_be_absent`: the member is an optional.
    ENTITABLE_LAZY [[nodiscard]] std::size_t chunks(
        std::string_view name, edm_type type, bool may_be_absent, std::string_view (&to)[max_chunks]);
    /// Reads the keys of a reference; false for an absent reference or an error, as above.
    ENTITABLE_LAZY [[nodiscard]] bool keys(std::string_view name, bool may_be_absent, std::string_view (&to)[2]);

    /// Returns the name under which the row has the member: the former name if the row has only that.
    ENTITABLE_LAZY [[nodiscard]] std::string_view present_name(std::string_view name, std::string_view former);

    /// Number of the row's properties that belong to these members.
    [[nodiscard]] std::size_t found() const noexcept { return found_; }
    /// Returns the first error, if any.
    ENTITABLE_LAZY [[nodiscard]] result<void> finish(std::string_view entity) const;

private:
    ENTITABLE_LAZY [[nodiscard]] std::optional<value_view> find(std::string_view name, std::string_view suffix);
    ENTITABLE_LAZY void complain(std::string_view name, std::string_view suffix, bool is_absent);

    property_finder row_;
    reading mode_;
    std::string buffer_;
    std::string offender_;
    bool offender_absent_{};
    std::size_t found_{};
};

/// Appends text or binary to `bytes`.
ENTITABLE_LAZY void append_chunk(std::string& bytes, std::string_view chunk);
ENTITABLE_LAZY void append_chunk(binary& bytes, std::string_view chunk);

/// Returns the value of a member, or the content of an optional; null for an absent value.
template <class T>
[[nodiscard]] T const* held_value(T const& member) noexcept {
    return &member;
}
template <class T>
[[nodiscard]] T const* held_value(std::optional<T> const& member) noexcept {
    return member ? &*member : nullptr;
}
template <class T>
[[nodiscard]] T& place_for(T& member) {
    return member;
}
template <class T>
[[nodiscard]] T& place_for(std::optional<T>& member) {
    return member ? *member : member.emplace();
}

/// Writes the values of a chunked member.
template <class T>
[[nodiscard]] result<void> put_member_chunks(nullable_view* to, std::string_view name, T const& member) {
    using type = typename property_shape<T>::value_type;
    if constexpr (can_be_chunked<T>) {
        auto const* const whole = held_value(member);
        return put_chunks(to, name, property_type<type>::type,
            whole == nullptr ? std::nullopt : std::optional{property_type<type>::view(*whole).bytes()});
    } else {
        return {}; // the macro has reported the reason
    }
}

/// Writes the values of a reference.
template <class T>
void put_reference(nullable_view* to, T const& member) {
    constexpr bool optional = property_shape<T>::optional;
    auto const* const named = held_value(member);
    if (named == nullptr) {
        to[0] = to[1] = {{}, true, false};
    } else {
        to[0] = {value_view{std::string_view{named->partition_key}}, optional, true};
        to[1] = {value_view{std::string_view{named->row_key}}, optional, true};
    }
}

/// Reads a member that is stored in parts.
template <auto Member, class T>
void read_parts(part_reader& reader, std::string_view name, T& member, reading mode) {
    using shape = property_shape<T>;
    if constexpr (is_chunked<Member> && !can_be_chunked<T>) {
        return; // the macro has reported the reason
    } else if constexpr (is_chunked<Member>) {
        std::string_view parts[max_chunks];
        std::size_t const count =
            reader.chunks(name, property_type<typename shape::value_type>::type, shape::optional, parts);
        if (count != 0) {
            auto& whole = place_for(member);
            whole.clear();
            std::size_t size = 0;
            for (std::size_t index = 0; index < count; ++index) { size += parts[index].size(); }
            whole.reserve(size);
            for (std::size_t index = 0; index < count; ++index) { append_chunk(whole, parts[index]); }
            return;
        }
    } else {
        std::string_view parts[2];
        if (reader.keys(name, shape::optional, parts)) {
            auto& named = place_for(member);
            named.partition_key = parts[0];
            named.row_key = parts[1];
            return;
        }
    }
    if (shape::optional || mode != reading::lenient) { member = T{}; }
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/parts.ipp>
#endif

#endif
