// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `workload`: queries and writes, their rates and their requirements. Queries are predicates: the table need not exist yet.
///
///     entitable::workload load;
///     load.reads("by author", b::authors == "Jane Austen", {.per_second = 900, .latency = 20ms})
///         .scans("by language", b::language == "eng", {.per_second = 2})
///         .writes("import", {.per_second = 300});

#include <entitable/advice/shared_members.hpp>
#include <entitable/client/query/comparison.hpp>

#include <chrono>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The values in the equalities of a query. Other conditions, such as ranges and prefixes, always have the constants in the predicate.
enum class asked_values : std::uint8_t {
    automatic,  ///< `given` if the query has other conditions too and rows with its values exist; otherwise `as_stored`
    as_stored,  ///< each value occurs as often as in the rows; the value in the predicate is a placeholder
    each_alike, ///< each stored value occurs equally often
    given,      ///< only the value in the predicate occurs
};

/// The rate of a query, and its requirements.
struct query_rate {
    double per_second{1};               ///< average rate over the relevant time: plan for the peak
    std::chrono::nanoseconds latency{}; ///< latency limit; 0: none
    double priority{1};                 ///< a rare query may count for more
    asked_values values{}; ///< the values in its equalities; `query_score::averaged` lists those that are placeholders
    double zipf{};         ///< more than 0, up to 10: the kth most frequent value is queried in proportion to k^-zipf
    bool one_page{}; ///< the whole result must arrive in one page, now and after growth (`finding_kind::several_pages`)
};

/// The rate of writes.
struct write_rate {
    double per_second{1};      ///< entities a second
    double per_transaction{1}; ///< entities of one transaction, 1 to 100; 1 with `together`: as many as in the sample
    double priority{1};        ///< a rare write may count for more
    shared_members together{}; ///< members that all entities of one transaction share; none: unknown
};

/// One node of a query in postfix order: a comparison of a member, or a connective.
struct asked_node {
    /// The kind of test.
    enum class test : std::uint8_t {
        value,  ///< compares the member's value
        prefix, ///< whether the member's text begins with the operand
        always, ///< always true
        never,  ///< always false
    };
    filter_operator operation{}; ///< the comparison, or the connective
    test is{};                   ///< the kind of test
    std::string member;          ///< name of the member, in a key or a property
    value operand;               ///< value in the form of the key, if the member is in a key
};

/// A query of a workload.
struct asked_query {
    std::string name;              ///< readable text
    std::vector<asked_node> nodes; ///< nodes in postfix order; none: all entities
    query_rate rate;               ///< rate of the query
    bool scan_allowed{};           ///< set if the query may read the whole table

    /// Returns the weight by which queries are ordered: rate times priority.
    [[nodiscard]] double weight() const noexcept { return rate.per_second * rate.priority; }
    /// Returns the query as readable text: `authors == "Jane Austen" && year >= "0000001990"`.
    [[nodiscard]] std::string to_string() const;
};

/// Writes of a workload.
struct asked_writes {
    std::string name; ///< readable text
    write_rate rate;  ///< rate of the writes
};

namespace detail {

/// Returns the nodes of a predicate, with members by name.
[[nodiscard]] std::vector<asked_node> asked_nodes(predicate_nodes const& nodes, key_layout partition, key_layout row);

} // namespace detail

/// Queries and writes with their rates, in the order in which they were added. Copies are independent.
///
/// Thread safety: one thread at a time.
class workload {
public:
    /// Adds a query. A query that would scan the table with the declared keys does not compile, as with `table<E>::where`.
    template <class Entity, shape_set Shapes, shape_set Negated>
    workload& reads(std::string name, predicate<Entity, Shapes, Negated> const& condition, query_rate rate) {
        using map = mapping<Entity>;
        constexpr bool allowed = path_of(Shapes, map::partition_layout, map::row_layout) != access_path::table;
        static_assert(sizeof(typename map::template partition_key_is_fixed<allowed>) != 0);
        return add({std::move(name), detail::asked_nodes(condition.nodes(), map::partition_layout, map::row_layout),
            rate, false});
    }
    /// The refused predicate has reported its error.
    workload& reads(std::string, detail::refused_predicate, query_rate) { return *this; }
    /// Adds a query that may scan the table, for example a query that the current keys do not serve.
    template <class Entity, shape_set Shapes, shape_set Negated>
    workload& scans(std::string name, predicate<Entity, Shapes, Negated> const& condition, query_rate rate) {
        using map = mapping<Entity>;
        return add({std::move(name), detail::asked_nodes(condition.nodes(), map::partition_layout, map::row_layout),
            rate, true});
    }
    /// The refused predicate has reported its error.
    workload& scans(std::string, detail::refused_predicate, query_rate) { return *this; }
    /// Adds a query for all entities.
    workload& scans(std::string name, query_rate rate) { return add({std::move(name), {}, rate, true}); }
    /// Adds a query built at run time.
    workload& add(asked_query query) {
        queries_.push_back(std::move(query));
        return *this;
    }
    /// Adds writes of new entities, which go to the partitions of the latest part of the sample.
    workload& writes(std::string name, write_rate rate) {
        writes_.push_back({std::move(name), rate});
        return *this;
    }

    [[nodiscard]] std::vector<asked_query> const& queries() const noexcept { return queries_; }    ///< as added
    [[nodiscard]] std::vector<asked_writes> const& all_writes() const noexcept { return writes_; } ///< as added
    /// Returns the number of entities written per second.
    [[nodiscard]] double writes_per_second() const noexcept;
    /// Returns the maximum number of entities that one transaction writes, over the writes without `together`; 1 if there are none.
    [[nodiscard]] double largest_transaction() const noexcept;
    /// Errors: OutOfRangeInput names the query or write with a rate, a latency, a priority, an exponent or a transaction that is out of
    /// range; InvalidInput names the query whose nodes are not an expression, and the write with an unlisted or repeated shared member.
    [[nodiscard]] result<void> validate() const;

private:
    std::vector<asked_query> queries_;
    std::vector<asked_writes> writes_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/workload.ipp>
#endif
