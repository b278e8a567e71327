// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reader<A, B, ...>`: the reads of a table of several types.

#include <entitable/client/listed_types.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/client/row_table.hpp>

#include <variant>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Stands for the entity type of a call that names none.
struct no_type_named {};

/// The entity type that a call means if it names none.
template <class List>
struct only_entity {
    using type = no_type_named;
};
template <class Entity>
struct only_entity<type_list<Entity>> {
    using type = Entity;
};

/// Reports in one line why a call cannot be of this type.
template <class Entity, class Entities>
consteval bool allow_entity() {
    constexpr bool named = !std::is_same_v<Entity, no_type_named>;
    static_assert(named, "this table has several entity types: name one, as in get<invoice>(...)");
    constexpr bool known = !named || is_in_list<Entity, Entities>;
    static_assert(known, "this entity type does not belong to the table");
    return named && known;
}

/// Stands for the outcome of a call that was reported.
[[nodiscard]] inline failure reported() { return failure{error_code::invalid_input, {}}; }

} // namespace detail

/// The reads of a table of several types. A read of one type skips the rows of the others, and rows of no type of the list.
///
/// Functions whose arguments do not determine the type are called with it: `get<invoice>("ACME", 7)`. Errors: those of `table<E>`. Copies
/// are cheap. Thread safety: safe to use from several threads.
template <class First, class Second, class... More>
class reader<First, Second, More...> {
    static_assert(detail::allow_type<First, First, Second, More...>());
    static_assert(detail::allow_type<Second, First, Second, More...>());
    static_assert((detail::allow_type<More, First, Second, More...>() && ...));
    using entities = detail::entities_of<First, Second, More...>;
    using only = typename detail::only_entity<entities>::type; // the type of a call that names none

protected:
    /// Reports in one line why a call cannot be of this type.
    template <class E>
    static consteval bool allows() {
        return detail::allow_entity<E, entities>();
    }
    /// The entities of one type as a table of their own.
    template <class E>
    [[nodiscard]] table<E> rows() const {
        return table<E>{core_.transport(), core_.name(), core_.options()};
    }

public:
    /// One of the types, or an `entity` for any other row.
    using any_entity = std::variant<detail::type_of_listed<First>, detail::type_of_listed<Second>,
        detail::type_of_listed<More>..., entity>;

    /// `name`: name of the table. Sends nothing.
    reader(any_transport through, std::string name, call_options options = {})
        : core_(std::move(through), std::move(name), std::move(options)) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< name of the table
    /// The transport.
    [[nodiscard]] any_transport const& transport() const noexcept { return core_.transport(); }
    /// The options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return core_.options(); }
    /// Returns the same reader with other options for its calls.
    [[nodiscard]] reader with(call_options options) const {
        return reader{core_.transport(), core_.name(), std::move(options)};
    }

    // ---- one entity ----

    /// See `table::get`: `get<invoice>("ACME", 7)`.
    template <class E = only, class... Keys>
    [[nodiscard]] result<E> get(Keys const&... keys) const {
        if constexpr (allows<E>()) {
            return rows<E>().get(keys...);
        } else {
            return detail::reported();
        }
    }
    /// See `table::get`.
    template <class E>
    [[nodiscard]] result<E> get(reference<E> const& named) const {
        if constexpr (allows<E>()) {
            return rows<E>().get(named);
        } else {
            return detail::reported();
        }
    }
    /// See `table::find`.
    template <class E = only, class... Keys>
    [[nodiscard]] result<std::optional<E>> find(Keys const&... keys) const {
        if constexpr (allows<E>()) {
            return rows<E>().find(keys...);
        } else {
            return detail::reported();
        }
    }
    /// See `table::find`.
    template <class E>
    [[nodiscard]] result<std::optional<E>> find(reference<E> const& named) const {
        if constexpr (allows<E>()) {
            return rows<E>().find(named);
        } else {
            return detail::reported();
        }
    }
    /// See `table::get_stored`.
    template <class E = only, class... Keys>
    [[nodiscard]] result<stored<E>> get_stored(Keys const&... keys) const {
        if constexpr (allows<E>()) {
            return rows<E>().get_stored(keys...);
        } else {
            return detail::reported();
        }
    }
    /// See `table::reference_to`.
    template <class E = only, class... Keys>
    [[nodiscard]] static result<reference<E>> reference_to(Keys const&... keys) {
        if constexpr (allows<E>()) {
            return table<E>::reference_to(keys...);
        } else {
            return detail::reported();
        }
    }

    // ---- queries ----

    /// See `table::where`. The type is that of the fields.
    template <class E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<E, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<E>::partition_layout, mapping<E>::row_layout);
        static_cast<void>(allows<E>());
        static_cast<void>(sizeof(detail::allowed_path<E, path>));
        return query_of<E, path>(condition.nodes());
    }
    /// For a predicate that was already diagnosed.
    [[nodiscard]] auto where(detail::refused_predicate const& refused) const {
        return rows<detail::type_of_listed<First>>().where(refused);
    }
    /// See `table::scan_table`: `scan_table<invoice>()`.
    template <class E = only>
    [[nodiscard]] auto scan_table() const {
        if constexpr (allows<E>()) { return query_of<E, access_path::table>({}); }
    }
    /// See `table::scan_table`.
    template <class E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto scan_table(predicate<E, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<E>::partition_layout, mapping<E>::row_layout);
        static_cast<void>(allows<E>());
        return query_of<E, path>(condition.nodes());
    }
    /// Returns the keys of the partitions that have a row of any type: see `table::partitions`.
    [[nodiscard]] result<std::vector<std::string>> partitions() const { return core_.partitions(); }

    /// Converts a row to an entity of its type, or to an `entity` if it belongs to none. Errors: RowMismatch if its keys are those of a type
    /// and its properties do not fit.
    [[nodiscard]] result<any_entity> read(row_view row) const {
        result<any_entity> found{std::in_place, std::in_place_type<entity>};
        bool const known = read_as<detail::type_of_listed<First>>(row, found) ||
            read_as<detail::type_of_listed<Second>>(row, found) ||
            (read_as<detail::type_of_listed<More>>(row, found) || ...);
        if (!known) { found->template emplace<entity>(row); }
        return found;
    }
    /// Calls `function(any_entity const&)` for all rows of one partition, of any type, in key order, without system rows. Pass the partition
    /// key as `partition_key_of(entity)` returns it.
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

protected:
    detail::table_core core_; ///< the table

private:
    template <class E, access_path Path>
    [[nodiscard]] query<E, Path> query_of(predicate_nodes const& condition) const {
        constexpr bool shares = detail::shares_partitions_with<E, detail::type_of_listed<First>,
            detail::type_of_listed<Second>, detail::type_of_listed<More>...>;
        return query<E, Path>{detail::ask_of_type(
            core_, condition, Path, detail::layout_of_entity<E>, detail::pattern_of_type<E>, shares)};
    }
    /// Whether the row is an E; then `found` has the entity, or the error of its conversion.
    template <class E>
    [[nodiscard]] bool read_as(row_view row, result<any_entity>& found) const {
        if (!detail::pattern_of_type<E>.matches(row.partition_key, row.row_key)) { return false; }
        if (auto fits = from_row(row, found->template emplace<E>(), core_.options().reading); !fits) {
            found = std::move(fits).as_failure();
        }
        return true;
    }
};

ENTITABLE_END_NAMESPACE
