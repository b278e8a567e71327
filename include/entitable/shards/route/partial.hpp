// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `partial`: the result of the shards that responded, as a separate type. `single_shard`, `sharded_by`, `same_shard`: compile-time
/// checks.

#include <entitable/client/query.hpp>
#include <entitable/shards/route/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A result from which the rows of some shards may be missing. It has no conversions: `whole()` returns the value only if no shard is missing.
template <class T>
class partial_result {
public:
    partial_result(T what, std::vector<missing_shard> lacking)
        : value_(std::move(what)), missing_(std::move(lacking)) {} ///< used by `partial`

    [[nodiscard]] bool good() const noexcept { return missing_.empty(); } ///< whether no shard is missing
    [[nodiscard]] std::vector<missing_shard> const& missing() const noexcept {
        return missing_;
    } ///< the missing shards and their errors
    [[nodiscard]] T const& value() const noexcept { return value_; } ///< the result of the other shards
    /// Returns the complete value, or the error of the first missing shard.
    [[nodiscard]] result<T> whole() const {
        if (!missing_.empty()) { return failure{missing_.front().error}; }
        return value_;
    }

private:
    T value_;
    std::vector<missing_shard> missing_;
};

/// Runs `body(transport)`, which queries through that transport and returns a result, and leaves out the shards that fail:
///
///     auto some = partial(cloud, [](any_store const& there) { return table<book>{there, "books"}.scan_table().to(); });
///
/// A shard that failed is not queried again in this run. If all shards of a query fail, the query fails.
template <class Body>
[[nodiscard]] auto partial(sharded const& cloud, Body&& body) {
    using answer = std::invoke_result_t<Body&, any_store const&>;
    using came_type = typename answer::value_type;
    auto const misses = shared<detail::shard_misses>::make();
    any_store const tolerant{cloud.collecting_misses(misses)};
    auto came = body(tolerant);
    if (!came) { return result<partial_result<came_type>>{std::move(came).as_failure()}; }
    std::lock_guard<std::mutex> const guard{misses->lock};
    return result<partial_result<came_type>>{partial_result<came_type>{*std::move(came), misses->all}};
}

/// Returns the same query if it names its partitions and thus does not fan out to other shards. Any other query does
/// not compile.
template <class Entity, access_path Path, class Row>
[[nodiscard]] query<Entity, Path, Row> single_shard(query<Entity, Path, Row> asked) {
    static_assert(Path <= access_path::partition,
        "this query fans out over all shards: fix the whole partition key, or omit single_shard");
    return asked;
}

namespace detail {

template <class Components, auto... Members>
struct begins_with_members {
    static constexpr bool value = false;
};
template <class Void, class... Components, auto... Members>
    requires(sizeof...(Members) <= sizeof...(Components))
struct begins_with_members<components<Void, Components...>, Members...> {
    template <class Component, auto Member>
    static constexpr bool is = [] {
        if constexpr (requires { Component::member; }) {
            if constexpr (std::same_as<std::remove_cv_t<decltype(Component::member)>,
                              std::remove_cv_t<decltype(Member)>>) {
                return Component::member == Member;
            }
        }
        return false;
    }();
    template <std::size_t... At>
    static constexpr bool all(std::index_sequence<At...>) {
        return (is<std::tuple_element_t<At, std::tuple<Components...>>, Members> && ...);
    }
    static constexpr bool value = all(std::make_index_sequence<sizeof...(Members)>{});
};

template <class Components>
struct first_of_components;
template <class Void, class First, class... More>
struct first_of_components<components<Void, First, More...>> {
    using type = typename First::value_type;
};

} // namespace detail

/// Asserts that an entity is sharded by these members: `static_assert(sharded_by<book, &book::isbn>);`. True if they are the first
/// components of the partition key; otherwise it does not compile.
template <mapped_entity Entity, auto... Members>
constexpr bool sharded_by = [] {
    constexpr bool begins =
        detail::begins_with_members<typename mapping<Entity>::partition_components, Members...>::value;
    static_assert(begins,
        "a shard key must consist of the first components of the partition key: they alone determine the shard");
    return begins;
}();

/// Whether the first components of the two partition keys have the same type. If so, with `virtual_shards::by_first_component`, equal
/// values are in the same shard and move together.
template <mapped_entity One, mapped_entity Other>
constexpr bool same_shard =
    std::same_as<typename detail::first_of_components<typename mapping<One>::partition_components>::type,
        typename detail::first_of_components<typename mapping<Other>::partition_components>::type>;

ENTITABLE_END_NAMESPACE
