// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `table<A, B, ...>`: entities of several types in one table, so that they share partitions, batches and transactions.

#include <entitable/client/reader_of_several.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class... Entities>
[[nodiscard]] entitable::batch<Entities...> batch_of(table_core const& core, type_list<Entities...>) {
    return entitable::batch<Entities...>{core};
}

/// The operations whose parameters are the components of the partition key, declared as in the first type.
template <class Reader, class PartitionComponents, class Entities>
class shared_partition;

template <class Reader, class... P, class First, class... More>
class shared_partition<Reader, components<void, P...>, type_list<First, More...>> : public Reader {
public:
    using Reader::Reader;

    /// Like `table<E>::transact`: the body takes a `transaction` of all entity types of the table. All types must have the same partition
    /// key.
    template <class Body>
    [[nodiscard]] result<transacted> transact(
        key_argument<typename P::value_type>... partition, Body&& body, transaction_options const& options = {}) const {
        static_assert((share_partitions<First, More> && ...),
            "the entity types of a transaction must have the same partition key: components of the same types, in the "
            "same order");
        return transact_entities<First, More...>(
            this->core_, key_from<P...>(mapping<First>::partition_layout, partition...), body, options);
    }
};

template <class... Types>
using reader_with_transactions = shared_partition<reader<Types...>,
    typename mapping<std::tuple_element_t<0, std::tuple<type_of_listed<Types>...>>>::partition_components,
    type_list<type_of_listed<Types>...>>;

} // namespace detail

/// A table of entities of several types. The keys of each two types must differ at a place that both know: begin the row keys with different
/// literals, `row_key(literal("INVOICE:"), number)`; rows of numbers and of literals differ, too.
///
///     table<counter, invoice> books{store, "books"};
///     books.transact("ACME", [](transaction<counter, invoice>& all) -> result<void> { ... });
///
/// Functions are those of `table<E>`; where no argument determines the type, it is named: `update<counter>("ACME", change)`. Copies are
/// cheap. Thread safety: safe to use from several threads.
template <class First, class Second, class... More>
class table<First, Second, More...> : public detail::reader_with_transactions<First, Second, More...> {
    using base = detail::reader_with_transactions<First, Second, More...>;
    using base::core_;
    using entities = detail::entities_of<First, Second, More...>;
    using only = typename detail::only_entity<entities>::type;
    template <class E>
    static constexpr bool is_entity = detail::is_in_list<E, entities>;

public:
    /// `name`: as for `table<E>`. Sends nothing.
    table(any_transport through, std::string name, call_options options = {})
        : base(std::move(through), std::move(name), std::move(options)) {}

    /// Returns the same table with other options for its calls.
    [[nodiscard]] table with(call_options options) const {
        return table{core_.transport(), core_.name(), std::move(options)};
    }
    /// The entities of one type alone, for functions that take a `table<E>`. It sees the rows of all types that fit the keys of E.
    template <class E>
    [[nodiscard]] table<E> unmaintained() const {
        static_cast<void>(base::template allows<E>());
        return base::template rows<E>();
    }

    // ---- the table itself ----

    /// Creates the table; TableAlreadyExists if it exists.
    [[nodiscard]] result<void> create() const { return core_.create(); }
    /// Creates the table unless it exists; true if this call created it.
    [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// Deletes the table with all its rows; ResourceNotFound if it does not exist.
    [[nodiscard]] result<void> drop() const { return core_.drop(); }
    /// Deletes the table if it exists; true if this call deleted it.
    [[nodiscard]] result<bool> drop_if_present() const { return core_.drop_if_present(); }

    // ---- writes of one entity ----

    /// See `table<E>::insert`.
    template <class E>
    [[nodiscard]] result<written> insert(E const& entity) const {
        return write(mutation_kind::insert, entity, any_etag);
    }
    /// See `table<E>::replace`.
    template <class E>
    [[nodiscard]] result<written> replace(E const& entity, etag_condition condition) const {
        return write(mutation_kind::replace, entity, std::move(condition));
    }
    /// See `table<E>::merge`.
    template <class E>
    [[nodiscard]] result<written> merge(E const& entity, etag_condition condition) const {
        return write(mutation_kind::merge, entity, std::move(condition));
    }
    /// Replaces only the given members: `merge(at("ACME"), c::last = 7, any_etag)`; see `table<E>::merge`. The type is that of the members.
    template <class... Values, class... ChangesAndCondition>
    [[nodiscard]] result<written> merge(
        keys_at<Values...> const& keys, ChangesAndCondition const&... changes_and_condition) const {
        using E = detail::entity_of_changes<detail::type_of_listed<First>, ChangesAndCondition...>;
        if constexpr (base::template allows<E>()) {
            return base::template rows<E>().merge(keys, changes_and_condition...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::insert_or_replace`.
    template <class E>
    [[nodiscard]] result<written> insert_or_replace(E const& entity) const {
        return write(mutation_kind::insert_or_replace, entity, any_etag);
    }
    /// See `table<E>::insert_or_merge`.
    template <class E>
    [[nodiscard]] result<written> insert_or_merge(E const& entity) const {
        return write(mutation_kind::insert_or_merge, entity, any_etag);
    }
    /// See `table<E>::remove`.
    template <class E>
        requires is_entity<E>
    [[nodiscard]] result<written> remove(E const& entity, etag_condition condition) const {
        return base::template rows<E>().remove(entity, std::move(condition));
    }
    /// Removes the entity with these keys: `remove<invoice>("ACME", 7, any_etag)`; see `table<E>::remove`.
    template <class E = only, class FirstKey, class... KeysAndCondition>
        requires(!is_entity<FirstKey>)
    [[nodiscard]] result<written> remove(FirstKey const& first, KeysAndCondition const&... keys_and_condition) const {
        if constexpr (base::template allows<E>()) {
            return base::template rows<E>().remove(first, keys_and_condition...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::remove_if_present`.
    template <class E = only, class... KeysAndCondition>
    [[nodiscard]] result<std::optional<written>> remove_if_present(
        KeysAndCondition const&... keys_and_condition) const {
        if constexpr (base::template allows<E>()) {
            return base::template rows<E>().remove_if_present(keys_and_condition...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::update`: `update<counter>("ACME", [](counter& one) { ++one.last; })`.
    template <class E = only, class... KeysAndChange>
    [[nodiscard]] result<updated<E>> update(KeysAndChange&&... keys_and_change) const {
        if constexpr (base::template allows<E>()) {
            return base::template rows<E>().update(std::forward<KeysAndChange>(keys_and_change)...);
        } else {
            return detail::reported();
        }
    }
    /// See `table<E>::update_if_present`.
    template <class E = only, class... KeysAndChange>
    [[nodiscard]] result<std::optional<updated<E>>> update_if_present(KeysAndChange&&... keys_and_change) const {
        if constexpr (base::template allows<E>()) {
            return base::template rows<E>().update_if_present(std::forward<KeysAndChange>(keys_and_change)...);
        } else {
            return detail::reported();
        }
    }

    /// Starts a batch: several changes of entities of any of the types, in one partition, all or nothing.
    [[nodiscard]] auto batch() const { return detail::batch_of(core_, entities{}); }

private:
    template <class E>
    [[nodiscard]] result<written> write(mutation_kind kind, E const& entity, etag_condition condition) const {
        if constexpr (base::template allows<E>()) {
            return core_.write(kind, &entity, detail::kind_of_entity<E>, condition);
        } else {
            return detail::reported();
        }
    }
};

/// The name of a table of several types before 0.1.0.
template <class... Types>
class tables {
    static_assert(
        sizeof...(Types) > 1000, "tables<A, B> is now table<A, B>; its of<A>() is not needed: get<A>(...), where(...)");

public:
    template <class... Given>
    explicit tables(Given&&...) {} ///< does not compile
};

ENTITABLE_END_NAMESPACE
