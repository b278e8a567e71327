// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The sums of a table of several types, for code that works on rows.

#include <entitable/client/companions/aggregate/aggregate_declarations.hpp>
#include <entitable/client/detail/same_layouts.hpp>
#include <entitable/client/table_core.hpp>
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

/// Returns the row, without sums, in which an entity is counted. Errors: InvalidInput if it would be in another
/// partition.
template <class Entity, class Declared>
[[nodiscard]] result<row> place_in_sums(row_view stored, reading mode) {
    using declaration = aggregate_declaration<Declared>;
    Entity entity{};
    ENTITABLE_CHECK(from_row(stored, entity, mode));
    auto place = without_sums(declaration::type::key(entity));
    declaration::put_part(place, part_of_sums(stored.row_key, declaration::buckets));
    ENTITABLE_TRY(row made, to_row(place));
    if (made.partition_key() != stored.partition_key) {
        return failure{error_code::invalid_input, "an aggregate must be a row in the partition of its entity"};
    }
    return made;
}

/// Returns a row of sums with an entity added or subtracted.
template <class Entity, class Declared>
[[nodiscard]] result<row> fold_into_sums(row_view stored, row_view counted, bool add, reading mode) {
    Entity entity{};
    typename aggregate_declaration<Declared>::type sums{};
    ENTITABLE_CHECK(from_row(counted, entity, mode));
    ENTITABLE_CHECK(from_row(stored, sums, mode));
    if (add) {
        sums.add(entity);
    } else {
        sums.subtract(entity);
    }
    return to_row(sums);
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
