// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `selected<E, Fields...>`: what a query with `select(...)` gives: the members that were named, the keys, and the ETag.

#include <entitable/mapping/codec.hpp>
#include <entitable/request/requests.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
inline constexpr bool is_key_field = false;
template <class Entity, key_part Part, class Component>
inline constexpr bool is_key_field<key_field<Entity, Part, Component>> = true;

template <class Entity, class T>
inline constexpr bool is_field_of = false;
template <class Entity, auto Member>
inline constexpr bool is_field_of<Entity, property_field<Entity, Member>> = true;
template <class Entity, key_part Part, class Component>
inline constexpr bool is_field_of<Entity, key_field<Entity, Part, Component>> = true;

/// Where the value of a field is kept.
template <class Field>
struct field_value {
    typename Field::value_type value{};
};

/// The values of a key's components.
template <class Entity, key_part Part, class Components>
struct key_values;

template <class Entity, key_part Part, class... Components>
struct key_values<Entity, Part, components<void, Components...>> : field_value<key_field<Entity, Part, Components>>... {
    [[nodiscard]] bool read(std::string_view key, key_layout layout) {
        key_target const targets[] = {
            target_of<Components>(static_cast<field_value<key_field<Entity, Part, Components>>&>(*this).value)...,
            key_target{}};
        return read_key(key, layout, targets);
    }
};

/// The value of a selected field; the keys have theirs already.
template <class Field>
struct selected_value : field_value<Field> {};
template <class Entity, key_part Part, class Component>
struct selected_value<key_field<Entity, Part, Component>> {};

/// The name of a property on the wire.
template <class Entity, class Field, auto... Members>
[[nodiscard]] constexpr std::string_view name_of_property(members<0, Members...>) noexcept {
    std::size_t index = 1;
    bool found = false;
    ((found = found || std::is_same_v<Field, property_field<Entity, Members>>, index += found ? 0U : 1U), ...);
    return mapping<Entity>::property_names[index];
}

/// Where the value of a selected field goes; a field of a key has its value already.
template <class Entity, auto Member, class Value>
void add_target(value_target*& target, std::string_view*& name, property_field<Entity, Member> field, Value& to) {
    *target++ = target_for(to.value);
    *name++ = name_of_property<Entity, decltype(field)>(typename mapping<Entity>::properties{});
}
template <class Entity, key_part Part, class Component, class Value>
void add_target(value_target*&, std::string_view*&, key_field<Entity, Part, Component>, Value&) {}

template <std::size_t Index, class... Types>
struct type_at;
template <class First, class... Rest>
struct type_at<0, First, Rest...> {
    using type = First;
};
template <std::size_t Index, class First, class... Rest>
struct type_at<Index, First, Rest...> : type_at<Index - 1, Rest...> {};

} // namespace detail

/// One entity of a query with `select(fields...)`: `row[r::age]`, or in the order of the fields `row.template get<0>()` and
/// `auto [name, age] = row`. The components of the keys are always there: `row[r::bib]`. One thread at a time.
template <class Entity, class... Fields>
class selected : detail::key_values<Entity, key_part::partition, typename mapping<Entity>::partition_components>,
                 detail::key_values<Entity, key_part::row, typename mapping<Entity>::row_components>,
                 detail::selected_value<Fields>... {
    using partition_values =
        detail::key_values<Entity, key_part::partition, typename mapping<Entity>::partition_components>;
    using row_values = detail::key_values<Entity, key_part::row, typename mapping<Entity>::row_components>;

public:
    using entity_type = Entity; ///< whose members these are

    /// The value of a field that was selected, or of a component of the keys.
    template <class Field>
    [[nodiscard]] auto const& operator[](Field) const noexcept {
        constexpr bool here = (std::is_same_v<Field, Fields> || ...) ||
            (detail::is_key_field<Field> && detail::is_field_of<Entity, Field>);
        if constexpr (here) {
            return static_cast<detail::field_value<Field> const&>(*this).value;
        } else {
            static_assert(here, "this member was not selected: name it in select(...)");
            return *this;
        }
    }
    /// The value of the field with this index in `select(...)`.
    template <std::size_t Index>
    [[nodiscard]] auto const& get() const noexcept {
        return (*this)[typename detail::type_at<Index, Fields...>::type{}];
    }

    /// The version of the whole entity.
    [[nodiscard]] entitable::etag const& etag() const noexcept { return etag_; }
    /// When the entity was last written, by the service's clock.
    [[nodiscard]] date_time timestamp() const noexcept { return timestamp_; }

    /// What is asked of the service. Without a property it is the keys alone.
    [[nodiscard]] static projection names() {
        projection names;
        (add_name<Fields>(names), ...);
        if (names.empty()) {
            names.emplace_back("PartitionKey");
            names.emplace_back("RowKey");
        }
        return names;
    }
    /// Fills this from a row: RowMismatch as `from_row`. Members that were not asked for are nobody's mistake.
    [[nodiscard]] result<void> read(row_view row, reading mode = reading::standard) {
        using map = mapping<Entity>;
        if (mode == reading::lenient) {
            *this = selected{};
        }
        if (!partition_values::read(row.partition_key, map::partition_layout)) {
            return key_mismatch(map::entity_name, key_part::partition, row.partition_key);
        }
        if (!row_values::read(row.row_key, map::row_layout)) {
            return key_mismatch(map::entity_name, key_part::row, row.row_key);
        }
        detail::value_target targets[sizeof...(Fields)];
        std::string_view of_targets[sizeof...(Fields)];
        detail::value_target* target = targets;
        std::string_view* name = of_targets;
        (detail::add_target(target, name, Fields{}, static_cast<detail::selected_value<Fields>&>(*this)), ...);
        etag_ = row.etag();
        timestamp_ = row.timestamp();
        // No row has such a descriptor: properties are looked up by name.
        return detail::decode_by_name(row, targets, of_targets, static_cast<std::size_t>(target - targets),
            mode == reading::strict ? reading::standard : mode, map::entity_name);
    }

private:
    template <class Field>
    static void add_name(projection& names) {
        if constexpr (!detail::is_key_field<Field>) {
            names.emplace_back(detail::name_of_property<Entity, Field>(typename mapping<Entity>::properties{}));
        }
    }

    entitable::etag etag_;
    date_time timestamp_{};
};

ENTITABLE_END_NAMESPACE

template <class Entity, class... Fields>
struct std::tuple_size<entitable::selected<Entity, Fields...>> {
    static constexpr std::size_t value = sizeof...(Fields);
};
template <std::size_t Index, class Entity, class... Fields>
struct std::tuple_element<Index, entitable::selected<Entity, Fields...>> {
    using type = typename entitable::detail::type_at<Index, Fields...>::type::value_type const;
};
