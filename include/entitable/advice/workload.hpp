// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `workload`: queries and writes, their rates and their requirements. Queries are predicates: no table has to exist yet.
///
///     entitable::workload load;
///     load.reads("by author", b::authors == "Jane Austen", {.per_second = 900, .latency = 20ms})
///         .scans("by language", b::language == "eng", {.per_second = 2})
///         .writes("import", {.per_second = 300});

#include <entitable/query/comparison.hpp>

#include <chrono>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Which values the equalities of a query ask for.
enum class asked_values : std::uint8_t {
    as_stored,  ///< each value as often as rows have it; the value in the predicate is a placeholder
    each_alike, ///< each stored value as often as any other
    given,      ///< the value in the predicate only
};

/// How often a query is asked, and what is expected of it.
struct query_rate {
    double per_second{1};               ///< on average over the relevant time: plan for the peak
    std::chrono::nanoseconds latency{}; ///< its limit; 0: none
    double priority{1};                 ///< a rare query may count for more
    asked_values values{};              ///< which values it asks for
    double zipf{}; ///< more than 0, up to 10: the kth most frequent value is asked for in proportion to k^-zipf
};

/// How often entities are written.
struct write_rate {
    double per_second{1};      ///< entities
    double per_transaction{1}; ///< entities of one transaction, 1 to 100
    double priority{1};        ///< a rare write may count for more
};

/// One node of a query in postfix order: a comparison of a member, or a connective.
struct asked_node {
    /// What it tests.
    enum class test : std::uint8_t {
        value,  ///< compares the member's value
        prefix, ///< whether the member's text begins with the operand
        always, ///< nothing
        never,  ///< no entity has it
    };
    filter_operator operation{}; ///< the comparison, or the connective
    test is{};                   ///< what it tests
    std::string member;          ///< by name, whether it is in a key or a property
    value operand;               ///< in the form of the key, where the member is in a key
};

/// A query of a workload.
struct asked_query {
    std::string name;              ///< for a person
    std::vector<asked_node> nodes; ///< in postfix order; none: all entities
    query_rate rate;               ///< how often
    bool scan_allowed{};           ///< it was added as one that may read the whole table

    /// The weight by which queries are ordered: rate times priority.
    [[nodiscard]] double weight() const noexcept { return rate.per_second * rate.priority; }
    /// For a person: `authors == "Jane Austen" && year >= "0000001990"`.
    [[nodiscard]] std::string to_string() const;
};

/// Writes of a workload.
struct asked_writes {
    std::string name; ///< for a person
    write_rate rate;  ///< how often
};

namespace detail {

/// The nodes of a predicate by the names of members.
[[nodiscard]] std::vector<asked_node> asked_nodes(predicate_nodes const& nodes, key_layout partition, key_layout row);

} // namespace detail

/// Queries and writes with their rates, in the order in which they were added. Copies are independent.
///
/// Thread safety: one thread at a time.
class workload {
public:
    /// Adds a query. As with `table<E>::where`, one that would scan the table with the declared keys does not compile.
    template <class Entity, shape_set Shapes, shape_set Negated>
    workload& reads(std::string name, predicate<Entity, Shapes, Negated> const& condition, query_rate rate) {
        using map = mapping<Entity>;
        constexpr bool allowed = path_of(Shapes, map::partition_layout, map::row_layout) != access_path::table;
        static_assert(sizeof(typename map::template partition_key_is_fixed<allowed>) != 0);
        return add({std::move(name), detail::asked_nodes(condition.nodes(), map::partition_layout, map::row_layout),
            rate, false});
    }
    /// A predicate that was refused has said why.
    workload& reads(std::string, detail::refused_predicate, query_rate) { return *this; }
    /// Adds a query that may scan the table: one that the present keys do not serve, for example.
    template <class Entity, shape_set Shapes, shape_set Negated>
    workload& scans(std::string name, predicate<Entity, Shapes, Negated> const& condition, query_rate rate) {
        using map = mapping<Entity>;
        return add({std::move(name), detail::asked_nodes(condition.nodes(), map::partition_layout, map::row_layout),
            rate, true});
    }
    /// A predicate that was refused has said why.
    workload& scans(std::string, detail::refused_predicate, query_rate) { return *this; }
    /// Adds a query for all entities.
    workload& scans(std::string name, query_rate rate) { return add({std::move(name), {}, rate, true}); }
    /// Adds a query that was made at run time.
    workload& add(asked_query query) {
        queries_.push_back(std::move(query));
        return *this;
    }
    /// Adds writes of new entities, which go to the partitions where the latest part of the sample is.
    workload& writes(std::string name, write_rate rate) {
        writes_.push_back({std::move(name), rate});
        return *this;
    }

    [[nodiscard]] std::vector<asked_query> const& queries() const noexcept { return queries_; } ///< as they were added
    [[nodiscard]] std::vector<asked_writes> const& all_writes() const noexcept {
        return writes_;
    } ///< as they were added
    /// Entities that are written in a second.
    [[nodiscard]] double writes_per_second() const noexcept;
    /// The most entities that one transaction writes; 1 where there are none.
    [[nodiscard]] double largest_transaction() const noexcept;
    /// OutOfRangeInput names the query or write with a rate, a latency, a priority, an exponent or a transaction that is out of range;
    /// InvalidInput the query whose nodes are no expression.
    [[nodiscard]] result<void> validate() const;

private:
    std::vector<asked_query> queries_;
    std::vector<asked_writes> writes_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/workload.ipp>
#endif
