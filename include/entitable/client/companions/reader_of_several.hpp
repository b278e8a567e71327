// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reader<A, B, ...>`: the reads of a table of several types.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/listed_family.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/core/try.hpp>

#include <variant>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Placeholder for the entity type of a call that names no type.
struct no_type_named {};

/// The entity type of a call that names no type.
template <class List>
struct only_entity {
    using type = no_type_named;
};
template <class Entity>
struct only_entity<type_list<Entity>> {
    using type = Entity;
};

/// Reports in one line why a call cannot be of this type.
template <class Type, class Entities, class... Declared>
consteval bool allow_read() {
    constexpr bool named = !std::is_same_v<Type, no_type_named>;
    static_assert(named, "this table has several entity types: name one, as in get<invoice>(...)");
    constexpr bool known = !named || (std::is_same_v<Type, type_of_listed<Declared>> || ...);
    static_assert(known, "this entity type does not belong to the table");
    return named && known;
}
/// Does the same for a write.
template <class Type, class Entities, class... Declared>
consteval bool allow_write() {
    constexpr bool known = allow_read<Type, Entities, Declared...>();
    constexpr bool entity = !known || is_in_list<Type, Entities> || is_wide_in<Type, Declared...>;
    static_assert(entity, "the table maintains this type: it can be read but not written");
    return known && entity;
}

/// A variant of the entity types, or an `entity` for any other row.
template <class List>
struct any_entity_of;
template <class... Entities>
struct any_entity_of<type_list<Entities...>> {
    using type = std::variant<Entities..., entity>;
};

/// Placeholder for the result of a call whose error was reported.
[[nodiscard]] inline failure reported() { return failure{error_code::invalid_input, {}}; }

} // namespace detail

/// The reads of a table of several types. A read of one type skips the rows of all other types, including types that
/// are not listed.
///
/// Functions whose arguments do not determine the type are called with an explicit type: `get<invoice>("ACME", 7)`.
/// Errors: those of `table<E>`. Copies are cheap. Thread safety: safe to use from several threads.
template <class First, class Second, class... More>
class reader<First, Second, More...> {
    static_assert(detail::allow_type<First, First, Second, More...>());
    static_assert(detail::allow_type<Second, First, Second, More...>());
    static_assert((detail::allow_type<More, First, Second, More...>() && ...));
    using sorted = detail::types_of<First, Second, More...>;
    using entities = typename sorted::entities;
    using indexes = typename sorted::indexes;
    using sums = typename sorted::sums;
    using only = typename detail::only_entity<entities>::type; // the type of a call that names no type
    using only_sum = detail::type_of_listed<typename detail::only_entity<sums>::type>;
    static constexpr std::size_t lanes = detail::lanes_of_log<First, Second, More...>;
    static constexpr std::size_t companions = indexes::size + sums::size + (lanes > 0 ? 1U : 0U);
    static constexpr bool has_wide = detail::listed_type<First>::is_wide || detail::listed_type<Second>::is_wide ||
        (detail::listed_type<More>::is_wide || ...);
    struct no_options {};
    template <class Type>
    static constexpr bool is_index = detail::is_in_list<Type, indexes>;
    template <class Declared, class... Places>
    static constexpr bool has_place = !detail::index_declaration<Declared>::is_elsewhere ||
        (std::is_same_v<detail::type_of_listed<Declared>, Places> || ...) ||
        detail::is_told_apart_in<detail::type_of_listed<Declared>, First, Second, More...>;

protected:
    /// The table of all types of the list.
    using whole = table<First, Second, More...>;
    /// Whether an entity type is stored in several rows.
    template <class E>
    static constexpr bool is_wide = detail::is_wide_in<E, First, Second, More...>;
    /// Whether the table maintains indexes, sums or a change log.
    static constexpr bool is_maintained = companions > 0;
    /// Whether a type is a sum of the table.
    template <class Type>
    static constexpr bool is_sum = detail::is_in_list<Type, sums>;
    /// Reports in one line why a call cannot be of this type.
    template <class E>
    static consteval bool allows() {
        return detail::allow_read<E, entities, First, Second, More...>();
    }
    /// Position of an index, of sums or of the change log among the companions.
    template <class Type>
    static consteval std::size_t position_of() {
        constexpr bool is_own_log = detail::is_log<Type> && lanes > 0;
        constexpr bool known = is_index<Type> || is_sum<Type> || is_own_log;
        static_assert(known, "this type is not an index, a sum or the change log of the table");
        return is_own_log    ? companions - 1
            : is_index<Type> ? detail::position_in_list<Type, indexes>
                             : indexes::size + detail::position_in_list<Type, sums>;
    }
    /// The rows of one type as a separate table.
    template <class E>
    [[nodiscard]] auto rows() const {
        if constexpr (is_wide<E>) { // this table has no companions
            return table<wide<E>>{detail::table_core{core_.store(), core_.name(), core_.options()}, wide_how_};
        } else if constexpr (is_index<E>) {
            return table<E>{family().places[position_of<E>()]};
        } else {
            return table<E>{core_};
        }
    }
    /// Returns the indexes and sums; after a move, a family that returns InvalidInput.
    [[nodiscard]] detail::index_family& family() const { return *shared_family(); }
    /// Does the same, for a caller that shares ownership.
    [[nodiscard]] shared<detail::index_family> const& shared_family() const {
        return detail::family_or_absent<companions>(family_); // NOLINT(bugprone-return-const-ref-from-parameter)
    }
    /// Returns an error if readers may not yet, or may no longer, use the rows of a type.
    template <class E>
    [[nodiscard]] result<void> check_ready() const {
        if constexpr (is_index<E> || is_sum<E>) {
            call context{family().main.options(), *family().options.time};
            return family().check_ready(position_of<E>(), context);
        } else {
            return {};
        }
    }

public:
    /// One of the entity types, or an `entity` for any other row.
    using any_entity = typename detail::any_entity_of<entities>::type;

    /// `name`: name of the table. A table for each index elsewhere follows: `in_table<by_club>{store, "clubs"}`. Sends nothing.
    template <class... Indexes>
    reader(any_store through, std::string name, in_table<Indexes>... places)
        : reader(from_core, {std::move(through), std::move(name), {}}, {}, places...) {}
    /// Does the same with options for its calls.
    template <class... Indexes>
    reader(any_store through, std::string name, call_options options, in_table<Indexes>... places)
        : reader(from_core, {std::move(through), std::move(name), std::move(options)}, {}, places...) {}
    /// Does the same with options for indexes and sums.
    template <class... Indexes>
    reader(any_store through, std::string name, table_options how, in_table<Indexes>... places)
        : reader(from_core, {std::move(through), std::move(name), how.calls}, how, places...) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< name of the table
    /// The transport.
    [[nodiscard]] any_store const& store() const noexcept { return core_.store(); }
    /// The options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return core_.options(); }
    /// Returns the same reader with other options for its calls.
    [[nodiscard]] reader with(call_options options) const {
        reader changed{*this};
        changed.use(std::move(options));
        return changed;
    }

    /// The change log, for `changes_of` and `trim_changes`.
    [[nodiscard]] shared<detail::index_family> const& logged_family() const {
        static_assert(lanes > 0, "this table has no change log: add logged to its types, as in table<order, logged>");
        return shared_family();
    }

    // ---- one entity ----

    /// See `table::get`: `get<invoice>("ACME", 7)`. Also reads an index row, or a row of sums.
    template <class E = only, class... Keys>
    [[nodiscard]] result<E> get(Keys const&... keys) const {
        if constexpr (allows<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return rows<E>().get(keys...);
        } else {
            return detail::reported();
        }
    }
    /// See `table::get`.
    template <class E>
    [[nodiscard]] result<E> get(reference<E> const& named) const {
        if constexpr (allows<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return rows<E>().get(named);
        } else {
            return detail::reported();
        }
    }
    /// See `table::find`.
    template <class E = only, class... Keys>
    [[nodiscard]] result<std::optional<E>> find(Keys const&... keys) const {
        if constexpr (allows<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return rows<E>().find(keys...);
        } else {
            return detail::reported();
        }
    }
    /// See `table::find`.
    template <class E>
    [[nodiscard]] result<std::optional<E>> find(reference<E> const& named) const {
        if constexpr (allows<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
            return rows<E>().find(named);
        } else {
            return detail::reported();
        }
    }
    /// See `table::get_stored`.
    template <class E = only, class... Keys>
    [[nodiscard]] result<stored<E>> get_stored(Keys const&... keys) const {
        if constexpr (allows<E>()) {
            ENTITABLE_CHECK(check_ready<E>());
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

    /// See `table::where`. The fields, of an entity or of sums, determine the type.
    template <class E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<E, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<E>::partition_layout, mapping<E>::row_layout);
        static_cast<void>(allows<E>());
        static_assert(!is_index<E>, "these are fields of an index: by<by_customer>().where(...)");
        static_cast<void>(sizeof(detail::allowed_path<E, path>));
        if constexpr (is_wide<E>) { detail::refuse_wide<E>(); }
        return query_of<E, path>(condition.nodes());
    }
    /// Used for a predicate that was already diagnosed.
    [[nodiscard]] auto where(detail::refused_predicate const& refused) const {
        return rows<detail::type_of_listed<First>>().where(refused);
    }
    /// Does not compile: `where` needs one condition on members of an entity.
    template <class... Given>
        requires(sizeof...(Given) != 1 ||
            !((std::is_base_of_v<detail::predicate_value, Given> || std::same_as<Given, detail::refused_predicate>) ||
                ...))
    [[nodiscard]] auto where(Given const&...) const {
        return where(detail::refuse_condition<Given...>());
    }
    /// See `table::scan_table`: `scan_table<invoice>()`.
    template <class E = only>
    [[nodiscard]] auto scan_table() const {
        if constexpr (is_wide<E>) { detail::refuse_wide<E>(); }
        if constexpr (allows<E>()) { return query_of<E, access_path::table>({}); }
    }
    /// See `table::scan_table`.
    template <class E, shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto scan_table(predicate<E, Shapes, Negated> const& condition) const {
        constexpr access_path path = path_of(Shapes, mapping<E>::partition_layout, mapping<E>::row_layout);
        static_cast<void>(allows<E>());
        if constexpr (is_wide<E>) { detail::refuse_wide<E>(); }
        return query_of<E, path>(condition.nodes());
    }
    /// Selects an index for a query: `books.by<by_customer>().where(...)`.
    template <class Index>
    [[nodiscard]] auto by() const {
        static_assert(is_index<Index>, "this type is not an index of the table");
        using owner = typename detail::entity_of_index<Index, entities>::type;
        return indexed_by<Index, owner>{shared_family(), position_of<Index>()};
    }
    /// Returns the sums with the keys of `place`, whose other members are ignored; returns a new sum if there is no
    /// row. Cost: one query. The parts of a salted sum are from the same moment if the service returns them on one
    /// page. Errors: IndexNotReady.
    template <class Sums = only_sum>
    [[nodiscard]] result<Sums> sum(Sums const& place) const {
        detail::allow_sum<is_sum<Sums>>();
        ENTITABLE_CHECK(check_ready<Sums>());
        return detail::sums_at<typename detail::declaration_in_list<Sums, sums>::type>(core_, place);
    }
    /// Returns the keys of the partitions that have a row of any type: see `table::partitions`.
    [[nodiscard]] result<std::vector<std::string>> partitions() const { return core_.partitions(); }

    /// Converts a row to an entity of its type, or to an `entity` if it is an index row, a row of sums or has no type. Errors: RowMismatch
    /// if its keys belong to a type and its properties do not fit.
    [[nodiscard]] result<any_entity> read(row_view row) const {
        result<any_entity> found{std::in_place, std::in_place_type<entity>};
        if (!read_as_one(row, found, entities{})) { found->template emplace<entity>(row); }
        return found;
    }
    /// Calls `function(any_entity const&)` for all entities of one partition, of any type, in key order, without system rows, index rows and
    /// sums. Rows of no type are visited as `entity`. Pass the partition key as `partition_key_of(entity)` returns it.
    template <class Function>
    [[nodiscard]] result<void> for_each_in_partition(std::string const& partition_key, Function&& function) const {
        result<void> outcome;
        auto walked = core_.for_each_row({key_interval::only(partition_key), {}}, {}, false, [&](row_view row) {
            if (outcome && !is_companion(row)) {
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
    /// Returns the same table with other options for its calls.
    void use(call_options options) {
        if constexpr (is_maintained) {
            if (family_) { // the table was not moved from
                family_ = detail::with_options(family(), std::move(options));
                core_ = detail::core_of(family_);
            }
        } else {
            core_.set_options(std::move(options));
        }
    }

    shared<detail::index_family> family_; ///< null if it maintains nothing
    detail::table_core core_;             ///< the table
    [[no_unique_address]] std::conditional_t<has_wide, table_options, no_options> wide_how_{}; ///< for wide entities

private:
    struct making {};
    static constexpr making from_core{};

    template <class... Indexes>
    reader(making, detail::table_core main, table_options const& how, in_table<Indexes> const&... places)
        : core_(std::move(main)) {
        static_assert(
            has_place<First, Indexes...> && has_place<Second, Indexes...> && (has_place<More, Indexes...> && ...),
            "an index elsewhere needs a table: in_table<by_club>{store, \"clubs\"} after the name");
        if constexpr (has_wide) { wide_how_ = how; }
        if constexpr (is_maintained) {
            family_ = detail::rows_of_list<First, Second, More...>::make(core_, how, places...);
            core_ = detail::core_of(family_);
        }
    }

    template <class E, access_path Path>
    [[nodiscard]] query<E, Path> query_of(predicate_nodes const& condition) const {
        constexpr bool shares = detail::shares_partitions_with<E, detail::type_of_listed<First>,
            detail::type_of_listed<Second>, detail::type_of_listed<More>...>;
        if (auto ready = check_ready<E>(); !ready) {
            return {core_.store(), core_.options(), core_.name(), std::move(ready).as_failure()};
        }
        auto source = detail::ask(core_, condition, Path, detail::layout_of_entity<E>);
        detail::only_of_type(*source, detail::pattern_of_type<E>, shares);
        return query<E, Path>{std::move(source)};
    }
    template <class... Entities>
    [[nodiscard]] bool read_as_one(row_view row, result<any_entity>& found, detail::type_list<Entities...>) const {
        return (read_as<Entities>(row, found) || ...);
    }
    /// Whether the row is an E; then `found` holds the entity, or the error of its conversion.
    template <class E>
    [[nodiscard]] bool read_as(row_view row, result<any_entity>& found) const {
        if (!detail::pattern_of_type<E>.matches(row.partition_key, row.row_key)) { return false; }
        if (auto fits = from_row(row, found->template emplace<E>(), core_.options().reading); !fits) {
            found = std::move(fits).as_failure();
        }
        return true;
    }
    [[nodiscard]] bool is_companion(row_view row) const {
        auto const is_one = [&]<class Declared>(detail::type_list<Declared>) {
            using type = detail::type_of_listed<Declared>;
            [[maybe_unused]] constexpr bool is_here = !detail::index_declaration<Declared>::is_elsewhere ||
                detail::is_told_apart_in<type, First, Second, More...>;
            if constexpr (is_index<type> || is_sum<type>) {
                return is_here && detail::pattern_of_type<type>.matches(row.partition_key, row.row_key);
            } else {
                return false;
            }
        };
        return is_one(detail::type_list<First>{}) || is_one(detail::type_list<Second>{}) ||
            (is_one(detail::type_list<More>{}) || ...);
    }
};

ENTITABLE_END_NAMESPACE

#endif
