// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `doctor(store)`: reads all tables of a store and reports what is wrong with the rows that the library keeps among the entities.

#include <entitable/core/try.hpp>
#include <entitable/transport/any_transport.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// What `doctor` can find.
enum class store_fault : std::uint8_t {
    wide_part_without_entity, ///< a part of a wide entity whose main row is not there, or is of another write
    wide_entity_without_part, ///< a main row of a wide entity that names parts which are not there: it cannot be read
    index_intent,             ///< a write of an index in other partitions that did not end: `apply_pending`
    index_not_built,          ///< an index that a stopped `build` or `retire` has left on the way: call that again
    index_without_entities,   ///< a state of an index that does not name its entities: `create_if_absent` adds that
    index_row_missing,        ///< entities that an index does not find: `repair`
    index_row_dangling,       ///< index rows that name no entity with this key: `repair`
    index_row_different,      ///< index rows that hold other values than their entity: `repair`
    unique_violation,         ///< two entities with one key of a unique index: `violations`, `resolve_violation`
};

/// For a person: what it is, and what to call.
[[nodiscard]] std::string_view to_string(store_fault kind) noexcept;

/// One kind of finding in one table.
struct store_finding {
    store_fault kind{};    ///< what it is
    std::string table;     ///< where
    std::uint64_t count{}; ///< how often
    std::string example;   ///< the keys of one of the rows
};

/// What `doctor` has read and found.
struct diagnosis {
    std::uint64_t tables{};              ///< read
    std::uint64_t rows{};                ///< read, those of the library included
    std::vector<store_finding> findings; ///< by table

    /// Whether nothing was found.
    [[nodiscard]] bool good() const noexcept { return findings.empty(); }
    /// A line for each finding; "nothing was found" if there is none.
    [[nodiscard]] std::string to_string() const;
};

namespace detail {

[[nodiscard]] result<diagnosis> examine_tables(any_transport const& store, call_options const& options);
void add_finding(diagnosis& to, store_fault kind, std::string const& table, std::uint64_t count, std::string example);

/// Adds what the verification of an indexed table has found.
template <class Table>
[[nodiscard]] result<void> examine_indexes(diagnosis& to, Table const& table) {
    ENTITABLE_TRY(auto const seen, (table.verify)(100));
    auto const add = [&](store_fault kind, std::string_view fault, std::uint64_t count) {
        std::string example;
        for (auto const& each : seen.samples) {
            if (example.empty() && to_string(each.fault) == fault) {
                example = each.index + " " + each.row_key + " of " + each.entity_row_key;
            }
        }
        add_finding(to, kind, table.name(), count, std::move(example));
    };
    add(store_fault::index_row_missing, "missing", seen.missing);
    add(store_fault::index_row_dangling, "dangling", seen.dangling);
    add(store_fault::index_row_different, "different", seen.different);
    add(store_fault::unique_violation, "violation", seen.violations);
    return {};
}

} // namespace detail

/// Reads every table of a store, and compares each indexed table that is given with its indexes: `doctor(store, runners, orders)`. Writes
/// nothing. Writers may be at work; what they have not finished may be reported, so look again before you mend. Without the table of an index
/// its rows cannot be judged: only states and intents are.
///
/// Cost: one scan of every table, and `verify` of each indexed one; memory for the keys of the wide entities of one partition.
///
/// Errors: those of the store; NotSupported if it cannot list its tables.
template <class... IndexedTables>
[[nodiscard]] result<diagnosis> doctor(any_transport const& store, IndexedTables const&... indexed) {
    ENTITABLE_TRY(diagnosis made, detail::examine_tables(store, {}));
    result<void> outcome;
    static_cast<void>(((outcome = detail::examine_indexes(made, indexed)) && ...));
    if (!outcome) {
        return std::move(outcome).as_failure();
    }
    return made;
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/doctor.ipp>
#endif
