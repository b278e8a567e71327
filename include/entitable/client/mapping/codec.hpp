// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Converts an entity to a row and back. Templates fold over the members; the code that does not depend on their types is in
/// `detail::encode_row` and `detail::decode_by_name`, compiled once.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/detail/descriptor.hpp>
#include <entitable/client/mapping/detail/key_conversion.hpp>
#include <entitable/client/mapping/detail/parts.hpp>
#include <entitable/client/mapping/detail/value_reader.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/core/detail/instantiated_entity.hpp>
#include <entitable/core/row/reading.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
[[nodiscard]] nullable_view view_of(T const& member) {
    using inner = typename property_shape<T>::value_type;
    constexpr bool optional = property_shape<T>::optional;
    if constexpr (optional) {
        if (!member) { return {{}, true, false}; }
    }
    inner const& value = [&]() -> inner const& {
        if constexpr (optional) {
            return *member;
        } else {
            return member; // NOLINT: outlives the call
        }
    }();
    nullable_view made{property_type<inner>::view(value), optional, true};
    if constexpr (named_enumeration<inner>) { made.nameless = name_of(value).empty(); }
    return made;
}

/// Writes keys, header, descriptor and `count` values into the block of `into`, whose memory is reused. Errors: those of `write_key`;
/// OutOfRangeInput names the property whose enumerator has no name.
ENTITABLE_LAZY [[nodiscard]] result<void> encode_row(row& into, entity_layout const& of, key_source const* partition,
    key_source const* row, nullable_view const* values, std::string_view const* names, std::size_t count);

/// Fills the targets from a row of any shape, by the names of its properties. `read_elsewhere`: number of properties read by other code.
ENTITABLE_LAZY [[nodiscard]] result<void> decode_by_name(row_view const& row, value_target const* targets,
    std::string_view const* names, std::size_t count, reading mode, std::string_view entity,
    std::size_t read_elsewhere = 0);
/// Does the same for all properties of an entity.
ENTITABLE_LAZY [[nodiscard]] result<void> decode_by_name(
    row_view const& row, value_target const* targets, entity_layout const& of, reading mode);

template <class T>
bool take_value(void* member, value_view const* value) {
    T& to = *static_cast<T*>(member);
    if constexpr (property_shape<T>::optional) {
        using inner = typename property_shape<T>::value_type;
        if (value == nullptr) {
            to.reset();
            return true;
        }
        return property_type<inner>::assign(to ? *to : to.emplace(), *value);
    } else {
        return value != nullptr && property_type<T>::assign(to, *value);
    }
}

/// Whether all members are pointers to data members, without accessors and parts.
template <auto... Members>
inline constexpr bool are_member_pointers = (std::is_member_pointer_v<decltype(Members)> && ...);

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

/// Whether T is the C++ type of an EDM type.
template <class T>
inline constexpr bool is_plain = is_one_of<T, std::string, bool, std::int32_t, std::int64_t, double, date_time, guid>;

/// Makes the target of a member.
template <class T>
[[nodiscard]] value_target target_for(T& member) noexcept {
    return {&member, &take_value<T>};
}

template <class Entity, auto Getter, auto Setter>
[[nodiscard]] decltype(auto) read_accessor(Entity const& entity, accessor_pair<Getter, Setter>) {
    return (entity.*Getter)();
}
/// Returns a member, or the result of its getter.
template <auto Member, class Entity>
[[nodiscard]] decltype(auto) read_member(Entity const& entity) {
    if constexpr (std::is_member_pointer_v<decltype(Member)>) {
        return (entity.*Member);
    } else if constexpr (is_chunked<Member> || is_changed<Member>) {
        return (entity.*std::remove_cv_t<decltype(Member)>::pointer);
    } else {
        return read_accessor(entity, Member);
    }
}

/// Writes the values of members, some of which are stored as several properties, each with the name of its member.
template <auto Member, class Entity>
[[nodiscard]] result<void> put_parts_of(
    Entity const& entity, std::string_view name, nullable_view*& to, std::string_view*& names) {
    result<void> put;
    if constexpr (is_chunked<Member>) {
        put = put_member_chunks(to, name, read_member<Member>(entity));
    } else if constexpr (is_reference<Member>) {
        put_reference(to, read_member<Member>(entity));
    } else {
        to[0] = view_of(read_member<Member>(entity));
        if constexpr (parts_of_member<Member> == 2) { to[1] = {{}, true, false}; } // a write removes the former name
    }
    to += parts_of_member<Member>;
    for (std::size_t part = 0; part < parts_of_member<Member>; ++part) { *names++ = name; }
    return put;
}
template <class Entity, auto... Members>
[[nodiscard]] result<void> put_in_parts(Entity const& entity, nullable_view* values, std::string_view* names) {
    result<void> put;
    std::size_t index = 1;
    static_cast<void>(
        ((put = put_parts_of<Members>(entity, mapping<Entity>::property_names[index++], values, names)) && ...));
    return put;
}

template <class Entity, class... P, class... R, auto... Members>
[[nodiscard]] result<void> encode_entity(row& into, Entity const& entity, components<void, P...>,
    components<void, R...>, members<0, Members...>, [[maybe_unused]] bool in_one_row = true) {
    constexpr entity_layout const& layout = layout_of_entity<Entity>;
    key_source const partition[] = {member_source<typename P::codec>(entity.*P::member)..., key_source{}};
    key_source const row[] = {member_source<typename R::codec>(entity.*R::member)..., key_source{}};
    if constexpr (has_parts<members<0, Members...>>) {
        constexpr std::size_t count = (parts_of_member<Members> + ...);
        nullable_view values[count];
        std::string_view names[count]; // names of the members
        if (auto put = put_in_parts<Entity, Members...>(entity, values, names); !put) { return put; }
        auto encoded = encode_row(into, layout, partition, row, values, names, count);
        return encoded && in_one_row ? check_size_of_chunked(into, layout.name, values, names, count)
                                     : std::move(encoded);
    } else if constexpr (are_member_pointers<Members...>) { // inlined here, because a function for each member costs
                                                            // compile time
        nullable_view const values[] = {nullable_view{}, view_of(entity.*Members)...};
        return encode_row(into, layout, partition, row, values + 1, layout.names, layout.count);
    } else {
        nullable_view const values[] = {nullable_view{}, view_of(read_member<Members>(entity))...};
        return encode_row(into, layout, partition, row, values + 1, layout.names, layout.count);
    }
}

template <class Entity, class Class, class T>
[[nodiscard]] value_target target_of_property(Entity& out, T Class::* member) noexcept {
    return target_for(out.*member);
}
/// Takes a value of the current or of the earlier type.
template <class T, class History>
[[nodiscard]] bool take_changed(void* member, value_view const* value) {
    if constexpr (is_retyped<History>) {
        using type = typename property_shape<T>::value_type;
        if (value != nullptr && make_former<type, History>().converts(*value)) {
            return convert_stored<type, History>(*value, place_for(*static_cast<T*>(member)));
        }
    }
    return take_value<T>(member, value);
}
template <class Entity, auto Pointer, class History>
[[nodiscard]] value_target target_of_property(Entity& out, changed_member<Pointer, History>) noexcept {
    return {&(out.*Pointer), &take_changed<member_type<Pointer>, History>};
}
/// The setter is called if there is a value, or if the member may be absent.
template <class Entity, auto Getter, auto Setter>
[[nodiscard]] value_target target_of_property(Entity& out, accessor_pair<Getter, Setter>) noexcept {
    using value_type = typename accessor_pair<Getter, Setter>::value_type;
    return {&out, [](void* to, value_view const* value) {
                value_type taken{};
                bool const good = take_value<value_type>(&taken, value);
                if (good) { (static_cast<Entity*>(to)->*Setter)(std::move(taken)); }
                return good;
            }};
}

/// Reads a value. This is one function for all members of a type, in any entity.
template <class T>
void read_value(value_reader& reader, T& member, std::size_t index) {
    if constexpr (is_plain<T>) {
        reader.take(member);
    } else {
        reader.take(target_for(member), described<T>, index);
    }
}
template <class Entity, class Class, class T>
void read_property(value_reader& reader, Entity& out, T Class::* member, std::size_t index) {
    read_value(reader, out.*member, index);
}
template <class Entity, auto Getter, auto Setter>
void read_property(value_reader& reader, Entity& out, accessor_pair<Getter, Setter> property, std::size_t index) {
    using type = typename accessor_pair<Getter, Setter>::value_type;
    reader.take(target_of_property(out, property), described<type>, index);
}

/// Reads a member that is stored in parts, or registers the target of any other member.
template <auto Member, class Entity>
void read_or_note(part_reader& reader, Entity& out, std::string_view name, reading mode, value_target*& target,
    std::string_view*& noted) {
    if constexpr (is_chunked<Member>) {
        read_parts<Member>(reader, name, out.*std::remove_cv_t<decltype(Member)>::pointer, mode);
    } else if constexpr (is_reference<Member>) {
        read_parts<Member>(reader, name, out.*Member, mode);
    } else if constexpr (is_changed<Member>) {
        *target++ = target_of_property(out, Member);
        *noted++ = reader.present_name(name, history_of<Member>::former);
    } else {
        *target++ = target_of_property(out, Member);
        *noted++ = name;
    }
}
template <class Entity, auto... Members>
[[nodiscard]] result<void> decode_in_parts(row_view const& row, Entity& out, reading mode) {
    using map = mapping<Entity>;
    value_target targets[sizeof...(Members)];
    std::string_view names[sizeof...(Members)];
    value_target* target = targets;
    std::string_view* noted = names;
    part_reader reader{row, mode};
    std::size_t index = 1;
    (read_or_note<Members>(reader, out, map::property_names[index++], mode, target, noted), ...);
    auto decoded = decode_by_name(
        row, targets, names, static_cast<std::size_t>(target - targets), mode, map::entity_name, reader.found());
    return decoded ? reader.finish(map::entity_name) : std::move(decoded);
}

template <class Entity, auto... Members>
[[nodiscard]] result<void> decode_properties(row_view const& row, Entity& out, reading mode, members<0, Members...>) {
    constexpr entity_layout const& layout = layout_of_entity<Entity>;
    if constexpr (has_parts<members<0, Members...>>) {
        return decode_in_parts<Entity, Members...>(row, out, mode);
    } else {
        constexpr std::size_t least = descriptor_of<Entity>.least;
        if (has_descriptor(row.payload, layout.descriptor, least)) {
            value_reader reader{row.payload, layout.descriptor.size(), least};
            [[maybe_unused]] std::size_t index = 0;
            if constexpr (are_member_pointers<Members...>) {
                (read_value(reader, out.*Members, index++), ...);
            } else {
                (read_property(reader, out, Members, index++), ...);
            }
            return reader.finish(layout.names, layout.name);
        }
        if constexpr (are_member_pointers<Members...>) {
            value_target const targets[] = {target_for(out.*Members)..., value_target{}};
            return decode_by_name(row, targets, layout, mode);
        } else {
            value_target const targets[] = {target_of_property(out, Members)..., value_target{}};
            return decode_by_name(row, targets, layout, mode);
        }
    }
}

inline void assign_system(etag& to, row_view const& row) noexcept {
    bool const was_stored = !row.etag_text.empty() || row.timestamp() != date_time{};
    to = was_stored ? row.etag() : etag{};
}
inline void assign_system(date_time& to, row_view const& row) noexcept { to = row.timestamp(); }

template <class Entity, auto... Members>
void decode_system([[maybe_unused]] row_view const& row, Entity& out, members<0, Members...>) {
    (assign_system(out.*Members, row), ...);
}

/// \cond
template <class Entity>
result<std::string> instantiated_entity<Entity>::partition_key(Entity const& entity) {
    return encode_key(entity, mapping<Entity>::partition_layout, typename mapping<Entity>::partition_components{});
}
template <class Entity>
result<std::string> instantiated_entity<Entity>::row_key(Entity const& entity) {
    return checked_row_key(encode_key(entity, mapping<Entity>::row_layout, typename mapping<Entity>::row_components{}));
}
template <class Entity>
result<void> instantiated_entity<Entity>::to_row(Entity const& entity, row& into) {
    using map = mapping<Entity>;
    return encode_entity(
        into, entity, typename map::partition_components{}, typename map::row_components{}, typename map::properties{});
}
template <class Entity>
result<row> instantiated_entity<Entity>::new_row(Entity const& entity) {
    result<row> made{std::in_place};
    made.fail_if(to_row(entity, *made));
    return made;
}
template <class Entity>
result<void> instantiated_entity<Entity>::write(void const* from, row& to) {
    return to_row(*static_cast<Entity const*>(from), to);
}
template <class Entity>
result<void> instantiated_entity<Entity>::read(row_view const& from, void* to, reading mode) {
    using map = mapping<Entity>;
    Entity& out = *static_cast<Entity*>(to);
    if (mode == reading::lenient) {
        reset(&out); // a missing property leaves the default, not the value of the previous row
    }
    auto read = decode_keys(from, out, typename map::partition_components{}, typename map::row_components{});
    if (!read) { return read; }
    if constexpr (!std::is_same_v<typename map::system_members, members<0>>) {
        decode_system(from, out, typename map::system_members{});
    }
    return decode_properties(from, out, mode, typename map::properties{});
}
template <class Entity>
void instantiated_entity<Entity>::reset(void* entity) {
    *static_cast<Entity*>(entity) = Entity{};
}
/// \endcond

} // namespace detail

/// Returns the partition key of an entity. Errors: KeyNotSplittable if its components could not be separated again.
template <mapped_entity Entity>
[[nodiscard]] result<std::string> partition_key_of(Entity const& entity) {
    return detail::instantiated_entity<Entity>::partition_key(entity);
}

/// Returns the row key of an entity. Errors: KeyNotSplittable as above, KeyReserved for a key of a system row (`system_row::prefix`).
template <mapped_entity Entity>
[[nodiscard]] result<std::string> row_key_of(Entity const& entity) {
    return detail::instantiated_entity<Entity>::row_key(entity);
}

/// Converts an entity to its stored row. With `into` its memory is reused; its content is unspecified after an error.
template <mapped_entity Entity>
[[nodiscard]] result<void> to_row(Entity const& entity, row& into) {
    return detail::instantiated_entity<Entity>::to_row(entity, into);
}
template <mapped_entity Entity>
[[nodiscard]] result<row> to_row(Entity const& entity) {
    return detail::instantiated_entity<Entity>::new_row(entity);
}

/// Reads an entity from a row into `out`. Errors: RowMismatch names the property that does not fit (see `reading`); RowMalformed for
/// damaged bytes. After an error `out` may be partly filled.
template <mapped_entity Entity>
[[nodiscard]] result<void> from_row(row_view const& row, Entity& out, reading mode = reading::standard) {
    return detail::instantiated_entity<Entity>::read(row, &out, mode);
}

/// Makes a reference to an entity. Errors: KeyNotSplittable and KeyReserved as above.
template <mapped_entity Entity>
[[nodiscard]] result<reference<Entity>> reference_to(Entity const& entity) {
    ENTITABLE_TRY(auto partition, partition_key_of(entity));
    ENTITABLE_TRY(auto row, row_key_of(entity));
    return reference<Entity>{std::move(partition), std::move(row)};
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/codec.ipp>
#endif

#endif
