// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The functions of a table of several types that take the components of the partition key as parameters.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/listed_transaction.hpp>
#include <entitable/client/companions/reader_of_several.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class... Entities>
[[nodiscard]] entitable::batch<Entities...> batch_of(table_core const& core, type_list<Entities...>) {
    return entitable::batch<Entities...>{core};
}

/// The operations whose parameters are the components of the partition key, declared as in the first type. Empty if no entity is stored in
/// one row.
template <class Reader, class PartitionComponents, class Entities>
class shared_partition : public Reader {
public:
    using Reader::Reader;

    template <class... Given>
    [[nodiscard]] result<transacted> transact(Given const&...) const {
        refuse_wide<Reader>();
        return reported();
    }
};

template <class Reader, class... P, class First, class... More>
class shared_partition<Reader, components<void, P...>, type_list<First, More...>> : public Reader {
public:
    using Reader::Reader;

    /// Like `table<E>::transact`: the body takes a `transaction` of all entity types of the table, or of the table itself, which also reads
    /// indexes and sums. All entity types must have the same partition key. Indexes and sums of the entities that it changes are changed in
    /// the same transaction.
    template <class Body>
    [[nodiscard]] result<transacted> transact(
        key_argument<typename P::value_type>... partition, Body&& body, transaction_options const& options = {}) const {
        static_assert((share_partitions<First, More> && ...),
            "the entity types of a transaction must have the same partition key: components of the same types, in the "
            "same order");
        return transact_entities<typename Reader::whole>(
            this->core_, key_from<P...>(mapping<First>::partition_layout, partition...), body, options);
    }
    /// The table, for code that sends its own requests: the transport maintains indexes and sums.
    [[nodiscard]] table_core sending_core() const {
        if constexpr (Reader::is_maintained) {
            if (!this->family_) { return this->core_; } // moved from
            return {any_store{maintaining{this->shared_family()}}, this->name(), this->options()};
        } else {
            return this->core_;
        }
    }
};

template <class List>
struct partition_of_first {
    using type = void;
};
template <class First, class... More>
struct partition_of_first<type_list<First, More...>> {
    using type = typename mapping<First>::partition_components;
};

template <class... Types>
using reader_with_transactions =
    shared_partition<reader<Types...>, typename partition_of_first<entities_of<Types...>>::type, entities_of<Types...>>;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
