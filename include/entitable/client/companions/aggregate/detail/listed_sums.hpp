// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The sums of a table of several types, for code that works on rows.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/aggregate/aggregate_declarations.hpp>
#include <entitable/client/detail/same_layouts.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Aggregate, class... P, class... R>
[[nodiscard]] Aggregate only_keys(Aggregate const& place, components<void, P...>, components<void, R...>) {
    Aggregate made{};
    ((made.*P::member = place.*P::member), ...);
    ((made.*R::member = place.*R::member), ...);
    return made;
}
/// Returns a new aggregate with the same keys.
template <class Aggregate>
[[nodiscard]] Aggregate without_sums(Aggregate const& place) {
    return only_keys(
        place, typename mapping<Aggregate>::partition_components{}, typename mapping<Aggregate>::row_components{});
}

/// Returns the part of a salted aggregate in which an entity is counted. Part of the stored format.
[[nodiscard]] inline std::size_t part_of_sums(std::string_view row_key, std::size_t parts) noexcept {
    std::uint32_t hash = 2166136261U; // FNV-1a, as of salted key components
    for (char const each : row_key) { hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U; }
    return hash % parts;
}

/// Returns new sums with the keys of those in which an entity is counted.
template <class Entity, class Declared>
[[nodiscard]] typename aggregate_declaration<Declared>::type new_sums_of(void const* entity, row_view stored) {
    using declaration = aggregate_declaration<Declared>;
    auto made = without_sums(declaration::type::key(*static_cast<Entity const*>(entity)));
    declaration::put_part(made, part_of_sums(stored.row_key, declaration::buckets));
    return made;
}

[[nodiscard]] failure sums_elsewhere();

template <class Aggregate, class... Components>
[[nodiscard]] result<void> append_key_of(
    Aggregate const& of, std::string& to, key_layout layout, components<void, Components...>) {
    key_source const values[] = {member_source<typename Components::codec>(of.*Components::member)..., key_source{}};
    return append_key(to, layout, values);
}

/// Whether an entity has this partition key.
template <class Aggregate, class... P>
[[nodiscard]] result<bool> is_key(Aggregate const& of, std::string_view partition_key, components<void, P...>) {
    if constexpr (is_one_text<P...>) {
        return ((of.*P::member == partition_key) && ...);
    } else {
        ENTITABLE_TRY(auto const own, partition_key_of(of));
        return own == partition_key;
    }
}

/// See `counted_type::key`.
template <class Entity, class Declared>
[[nodiscard]] result<void> key_of_sums(void const* entity, row_view stored, std::string& to) {
    using aggregate = typename aggregate_declaration<Declared>::type;
    auto const place = new_sums_of<Entity, Declared>(entity, stored);
    ENTITABLE_TRY(
        bool const same, is_key(place, stored.partition_key, typename mapping<aggregate>::partition_components{}));
    if (!same) { return sums_elsewhere(); }
    ENTITABLE_CHECK(
        append_key_of(place, to, mapping<aggregate>::row_layout, typename mapping<aggregate>::row_components{}));
    return system_row::is_one(to) ? result<void>{key_reserved(to)} : result<void>{};
}

/// See `counted_type::place`.
template <class Entity, class Declared>
[[nodiscard]] result<row> place_in_sums(void const* entity, row_view stored) {
    result<row> made = to_row(new_sums_of<Entity, Declared>(entity, stored));
    if (made && made->partition_key() != stored.partition_key) { return sums_elsewhere(); }
    return made;
}

/// See `counted_type::fold`.
template <class Entity, class Declared>
[[nodiscard]] result<row> fold_into_sums(
    row_view const* stored_sums, void const* less, void const* more, row_view stored, reading mode) {
    using aggregate = typename aggregate_declaration<Declared>::type;
    aggregate sums = new_sums_of<Entity, Declared>(less != nullptr ? less : more, stored);
    if (stored_sums != nullptr) { // their keys are known
        ENTITABLE_CHECK(decode_properties(*stored_sums, sums, mode, typename mapping<aggregate>::properties{}));
    }
    if (less != nullptr) { sums.subtract(*static_cast<Entity const*>(less)); }
    if (more != nullptr) { sums.add(*static_cast<Entity const*>(more)); }
    return to_row(sums);
}

/// See `counted_type::alike`.
template <class Entity, class Declared>
[[nodiscard]] result<bool> are_alike_in_sums(void const* before, void const* after, row_view stored) {
    auto sums = new_sums_of<Entity, Declared>(before, stored);
    ENTITABLE_TRY(row const empty, to_row(sums));
    sums.subtract(*static_cast<Entity const*>(before));
    sums.add(*static_cast<Entity const*>(after));
    ENTITABLE_TRY(row const changed, to_row(sums));
    return changed.payload() == empty.payload();
}

template <class Declared>
[[nodiscard]] result<row> empty_sums(row_view stored, reading mode) {
    typename aggregate_declaration<Declared>::type sums{};
    ENTITABLE_CHECK(from_row(stored, sums, mode));
    return to_row(without_sums(sums));
}

/// Digest of the declaration that sums are computed from. A program that changes the meaning of `add` also changes
/// `static constexpr int version`.
template <class Declared>
[[nodiscard]] std::uint64_t definition_of_sums() noexcept {
    using aggregate = typename aggregate_declaration<Declared>::type;
    part_hash made{4};
    add_layout(made, mapping<aggregate>::partition_layout);
    add_layout(made, mapping<aggregate>::row_layout);
    made.add(descriptor_of<aggregate>.view());
    made.add(std::uint64_t{aggregate_declaration<Declared>::buckets});
    if constexpr (requires { std::uint64_t{static_cast<std::uint64_t>(aggregate::version)}; }) {
        made.add(static_cast<std::uint64_t>(aggregate::version));
    }
    return made.value();
}

/// Reads the rows with these row keys, in one query; stops visiting at an error, and returns it.
[[nodiscard]] result<void> visit_sums(table_core const& core, std::string const& partition_key,
    std::vector<std::string> row_keys, function_ref<result<void>(row_view)> visit);

/// Returns the sums with the keys of `place`: the rows of a salted aggregate added up. If there is no row, returns a
/// new aggregate.
template <class Declared>
[[nodiscard]] auto sums_at(table_core const& core, typename aggregate_declaration<Declared>::type const& place)
    -> result<typename aggregate_declaration<Declared>::type> {
    using declaration = aggregate_declaration<Declared>;
    using aggregate = typename declaration::type;
    result<aggregate> total{without_sums(place)};
    std::vector<std::string> keys;
    for (std::size_t part = 0; part < declaration::buckets; ++part) {
        aggregate one = *total;
        declaration::put_part(one, part);
        ENTITABLE_TRY(auto key, row_key_of(one));
        keys.push_back(std::move(key));
    }
    ENTITABLE_TRY(auto partition, partition_key_of(*total));
    auto const add = [&](row_view each) -> result<void> {
        aggregate one{};
        ENTITABLE_CHECK(from_row(each, one, core.options().reading));
        if constexpr (declaration::buckets == 1) {
            *total = std::move(one);
        } else {
            total->combine(one);
        }
        return {};
    };
    ENTITABLE_CHECK(visit_sums(core, partition, std::move(keys), add));
    return total;
}

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/aggregate/impl/listed_sums.ipp>
#endif

#endif
