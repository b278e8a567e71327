// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `tables<A, B, ...>`: entities of several types in one table, distinguished by a literal at the start of a key, so that they share
/// partitions and batches.

#include <entitable/client/row_table.hpp>
#include <entitable/client/table.hpp>

#include <tuple>
#include <variant>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the literal at the start of a key; empty if the key begins with a member.
[[nodiscard]] constexpr std::string_view leading_literal(key_layout layout) noexcept {
    return layout[0].literal() ? layout[0].name : std::string_view{};
}

/// Whether a row could have the keys of both types.
[[nodiscard]] constexpr bool could_be_both(
    key_layout partition, key_layout row, key_layout other_partition, key_layout other_row) noexcept {
    auto const compatible = [](std::string_view left, std::string_view right) {
        return left.starts_with(right) || right.starts_with(left);
    };
    return compatible(leading_literal(partition), leading_literal(other_partition)) &&
        compatible(leading_literal(row), leading_literal(other_row));
}

template <class One, class Other>
inline constexpr bool are_told_apart = std::is_same_v<One, Other> ||
    !could_be_both(mapping<One>::partition_layout, mapping<One>::row_layout, mapping<Other>::partition_layout,
        mapping<Other>::row_layout);

/// The values of the members in a key, in order.
template <class Components>
struct values_of;
template <class... Components>
struct values_of<components<void, Components...>> {
    using type = std::tuple<typename Components::value_type...>;
};

/// Whether two keys have components of the same types and kinds, and the same literals.
[[nodiscard]] constexpr bool same_layout(key_layout one, key_layout other) noexcept {
    bool same = one.size() == other.size();
    for (std::size_t index = 0; same && index < one.size(); ++index) {
        key_component const& left = one[index];
        key_component const& right = other[index];
        same = left.is == right.is && left.optional == right.optional && left.escaped == right.escaped &&
            left.buckets == right.buckets && (!left.literal() || left.name == right.name);
    }
    return same;
}

template <class One, class Other>
inline constexpr bool share_partitions =
    std::is_same_v<typename values_of<typename mapping<One>::partition_components>::type,
        typename values_of<typename mapping<Other>::partition_components>::type> &&
    same_layout(mapping<One>::partition_layout, mapping<Other>::partition_layout);

/// The operations of `tables` whose parameters are the components of the partition key, declared as in the first type.
template <class PartitionComponents, class First, class... More>
class shared_partition;

template <class... P, class First, class... More>
class shared_partition<components<void, P...>, First, More...> {
public:
    /// Like `table<E>::transact`: the body takes a `transaction<Entities...>&`. All types must have the same partition components.
    template <class Body>
    [[nodiscard]] result<transacted> transact(
        key_argument<typename P::value_type>... partition, Body&& body, transaction_options const& options = {}) const {
        static_assert((share_partitions<First, More> && ...),
            "the entity types of a transaction must have the same partition key: components of the same types, in the "
            "same order");
        return transact_entities<First, More...>(
            core_, key_from<P...>(mapping<First>::partition_layout, partition...), body, options);
    }

protected:
    explicit shared_partition(table_core core) : core_(std::move(core)) {}

    table_core core_;
};

} // namespace detail

/// A table of entities of several types. Copies are cheap and own the backend jointly. Thread safety: safe to use from several threads.
template <mapped_entity First, mapped_entity... More>
class tables : public detail::shared_partition<typename mapping<First>::partition_components, First, More...> {
    using base = detail::shared_partition<typename mapping<First>::partition_components, First, More...>;
    using base::core_;
    template <class E>
    static constexpr bool is_one = std::same_as<E, First> || (std::same_as<E, More> || ...);
    template <class One>
    static constexpr bool told_apart_from_all =
        detail::are_told_apart<One, First> && (detail::are_told_apart<One, More> && ...);
    static_assert(told_apart_from_all<First> && (told_apart_from_all<More> && ...),
        "two entity types of one table cannot be distinguished: begin their partition keys or row keys with different "
        "literals, for example row_key(literal(\"order:\"), id)");

public:
    /// One of the types, or an `entity` for any other row.
    using any_entity = std::variant<First, More..., entity>;

    /// Makes a table over any transport; sends nothing.
    tables(any_transport through, std::string name, call_options options = {})
        : base(detail::table_core{std::move(through), std::move(name), std::move(options)}) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< the table's name
    [[nodiscard]] result<void> create() const {
        return core_.create();
    } ///< creates it; TableAlreadyExists if it exists
    /// Creates the table unless it exists; true if this call created it.
    [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// Deletes the table with all its entities; ResourceNotFound if it does not exist.
    [[nodiscard]] result<void> drop() const { return core_.drop(); }

    /// Returns the entities of one type, as if they were in a separate table.
    template <mapped_entity E>
    [[nodiscard]] table<E> of() const {
        static_assert(is_one<E>, "this entity type does not belong to the table");
        return table<E>{core_.transport(), core_.name(), core_.options()};
    }

    /// Starts a batch: changes of entities of any of the types, in one partition, all or nothing.
    [[nodiscard]] entitable::batch<First, More...> batch() const { return entitable::batch<First, More...>{core_}; }

    /// Converts a row to an entity of its type, or to an `entity` for any other row. Errors: RowMismatch if its keys begin like those of a
    /// type and the rest does not fit.
    [[nodiscard]] result<any_entity> read(row_view row) const {
        result<any_entity> found{std::in_place, std::in_place_type<entity>};
        bool const known = read_as<First>(row, found) || (read_as<More>(row, found) || ...);
        if (!known) { found->template emplace<entity>(row); }
        return found;
    }

    /// Calls `function(any_entity const&)` for all entities of one partition, of any type, in key order, without system rows. Pass the
    /// partition key as `partition_key_of(entity)` returns it.
    template <class Function>
    [[nodiscard]] result<void> for_each_in_partition(std::string const& partition_key, Function&& function) const {
        result<void> outcome;
        auto walked = core_.for_each_row({key_interval::only(partition_key), {}}, {}, false, [&](row_view row) {
            if (outcome) {
                auto one = read(row);
                if (one) {
                    function(std::as_const(*one));
                } else {
                    outcome = std::move(one).as_failure();
                }
            }
        });
        return walked ? std::move(outcome) : std::move(walked);
    }

private:
    /// Whether the row is an E; then `found` has the entity, or the error of its conversion.
    template <class E>
    bool read_as(row_view row, result<any_entity>& found) const {
        using map = mapping<E>;
        if (!row.partition_key.starts_with(detail::leading_literal(map::partition_layout)) ||
            !row.row_key.starts_with(detail::leading_literal(map::row_layout))) {
            return false;
        }
        if (auto fits = from_row(row, found->template emplace<E>(), core_.options().reading); !fits) {
            found = std::move(fits).as_failure();
        }
        return true;
    }
};

ENTITABLE_END_NAMESPACE
