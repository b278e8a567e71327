// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `selected<E, Fields...>`: a row of a query with `select(...)`: the selected members, the keys, and the ETag.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/folds.hpp>
#include <entitable/client/detail/shown_values.hpp>
#include <entitable/client/row_walk.hpp>
#include <entitable/core/request/requests.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Entity, class T>
inline constexpr bool is_field_of = false;
template <class Entity, auto Member>
inline constexpr bool is_field_of<Entity, property_field<Entity, Member>> = true;
template <class Entity, key_part Part, class Component>
inline constexpr bool is_field_of<Entity, key_field<Entity, Part, Component>> = true;

/// Whether all types differ.
template <class... Types>
inline constexpr bool are_distinct = true;
template <class First, class... More>
inline constexpr bool are_distinct<First, More...> = !(std::is_same_v<First, More> || ...) && are_distinct<More...>;

/// Whether aggregates use only fields of this entity.
template <class Entity, class Aggregate>
inline constexpr bool is_of_field = false;
template <class Entity, class Aggregate>
    requires requires { typename Aggregate::field; }
inline constexpr bool is_of_field<Entity, Aggregate> =
    std::is_void_v<typename Aggregate::field> || is_field_of<Entity, typename Aggregate::field>;
template <class Entity, class... Aggregates>
inline constexpr bool are_of_fields = (is_of_field<Entity, Aggregates> && ...);

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
/// `auto [name, age] = row`. The components of the keys are always present: `row[r::bib]`. Thread safety: one thread at a time.
template <class Entity, class... Fields>
class selected : detail::key_values<Entity, key_part::partition, typename mapping<Entity>::partition_components>,
                 detail::key_values<Entity, key_part::row, typename mapping<Entity>::row_components>,
                 detail::selected_value<Fields>... {
    template <class E, class... Of, class Values>
    friend result<void> detail::read_values(row_view const&, Values&, reading);
    template <class Field, bool Wanted, class Values>
    friend void detail::take_or_pass(detail::value_reader&, std::size_t&, Values&, std::size_t);
    using partition_values =
        detail::key_values<Entity, key_part::partition, typename mapping<Entity>::partition_components>;
    using row_values = detail::key_values<Entity, key_part::row, typename mapping<Entity>::row_components>;

public:
    using entity_type = Entity; ///< the entity type
    /// Used by the folds of queries: a row without a version, filled while the store is being read.
    using shown_type = detail::shown_values<Entity, Fields...>;

    selected() = default; ///< members have the values of their types
    /// The same row with fewer members.
    template <class... More>
        requires(sizeof...(More) > sizeof...(Fields))
    explicit selected(selected<Entity, More...>&& wider) {
        narrow(wider);
    }

    /// Returns the value of a selected field, or of a component of the keys.
    template <class Field>
    [[nodiscard]] auto const& operator[](Field) const noexcept {
        constexpr bool here = (std::is_same_v<Field, Fields> || ...) ||
            (detail::is_key_field<Field> && detail::is_field_of<Entity, Field>);
        if constexpr (here) {
            return static_cast<detail::field_value<Field> const&>(*this).value;
        } else {
            static_assert(here, "this member was not selected: add it to select(...)");
            return *this;
        }
    }
    /// Returns the value of the field with this index in `select(...)`.
    template <std::size_t Index>
    [[nodiscard]] auto const& get() const noexcept {
        return (*this)[typename detail::type_at<Index, Fields...>::type{}];
    }

    /// Version of the whole entity.
    [[nodiscard]] entitable::etag const& etag() const noexcept { return etag_; }
    /// Time of the entity's latest write, by the service's clock.
    [[nodiscard]] date_time timestamp() const noexcept { return timestamp_; }

    /// The projection for the service. Without a property it contains only the keys.
    [[nodiscard]] static projection names() {
        projection names;
        (add_name<Fields>(names), ...);
        if (names.empty()) { names = detail::key_names(); }
        return names;
    }
    /// Fills this from a row; errors as for `from_row`. Members that were not selected may be missing.
    [[nodiscard]] result<void> read(row_view row, reading mode = reading::standard) {
        using map = mapping<Entity>;
        if (mode == reading::lenient) {
            *this = selected{};
            Entity const fresh{};
            (detail::begin_with(fresh, Fields{}, static_cast<detail::selected_value<Fields>&>(*this)), ...);
        }
        if (!partition_values::read(row.partition_key, map::partition_layout)) {
            return key_mismatch(map::entity_name, key_part::partition, row.partition_key);
        }
        if (!row_values::read(row.row_key, map::row_layout)) {
            return key_mismatch(map::entity_name, key_part::row, row.row_key);
        }
        etag_ = row.etag();
        timestamp_ = row.timestamp();
        return detail::read_values<Entity, Fields...>(row, *this, mode);
    }

private:
    template <class, class...>
    friend class selected;

    template <class Wider>
    void narrow(Wider& wider) {
        static_cast<partition_values&>(*this) = std::move(static_cast<partition_values&>(wider));
        static_cast<row_values&>(*this) = std::move(static_cast<row_values&>(wider));
        ((static_cast<detail::selected_value<Fields>&>(*this) =
                 std::move(static_cast<detail::selected_value<Fields>&>(wider))),
            ...);
        etag_ = std::move(wider.etag_);
        timestamp_ = wider.timestamp_;
    }
    template <class Field>
    static void add_name(projection& names) {
        if constexpr (!detail::is_key_field<Field>) {
            detail::add_name_to(names, detail::name_of_property<Entity, Field>(typename mapping<Entity>::properties{}));
            add_former_name(Field{}, names);
        }
    }
    template <auto Member>
    static void add_former_name(property_field<Entity, Member>, [[maybe_unused]] projection& names) {
        if constexpr (detail::is_changed<Member>) {
            constexpr std::string_view former = detail::history_of<Member>::former;
            if (!former.empty()) { detail::add_name_to(names, former); }
        }
    }

    entitable::etag etag_;
    date_time timestamp_{};
};

namespace detail {

template <class Entity, class Fields>
struct selected_of;
template <class Entity, class... Fields>
struct selected_of<Entity, std::tuple<Fields...>> {
    static_assert(!(is_field_in_parts<Fields> || ...),
        "a member that is stored as several properties (chunked, or a reference) cannot be read alone: read the "
        "entity");
    using type = selected<Entity, Fields...>;
};
template <class Entity>
struct selected_of<Entity, std::tuple<>> { // keys only: any component will do
    using type = selected<Entity, first_component<Entity>>;
};
template <class Entity, class Fields, class... More>
struct selected_with_of;
template <class Entity, class... Fields, class... More>
struct selected_with_of<Entity, std::tuple<Fields...>, More...>
    : selected_of<Entity, typename distinct_fields<std::tuple<>, Fields..., More...>::type> {};
/// `selected` with the fields of a tuple and further fields, without duplicates; `void` is not a field.
template <class Entity, class Fields, class... More>
using selected_with = typename selected_with_of<Entity, Fields, More...>::type;

template <class Entity, class... Fields>
inline constexpr bool is_read_by_library<selected<Entity, Fields...>> =
    are_keys_of_library<Entity> && (is_field_of_library<Fields> && ...);

} // namespace detail
ENTITABLE_END_NAMESPACE

template <class Entity, class... Fields>
struct std::tuple_size<entitable::selected<Entity, Fields...>> {
    static constexpr std::size_t value = sizeof...(Fields);
};
template <std::size_t Index, class Entity, class... Fields>
struct std::tuple_element<Index, entitable::selected<Entity, Fields...>> {
    using type = typename entitable::detail::type_at<Index, Fields...>::type::value_type const;
};

#endif
