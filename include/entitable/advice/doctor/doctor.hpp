// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `doctor(store)`: reads all tables of a store and reports faults in the system rows among the entities.

#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/try.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Faults that `doctor` can find.
enum class store_fault : std::uint8_t {
    wide_part_without_entity, ///< a part of a wide entity whose main row does not exist, or belongs to another write
    wide_entity_without_part, ///< a main row of a wide entity with missing parts: it cannot be read
    index_intent,             ///< an unfinished write of an index in other partitions: `apply_pending`
    index_not_built,          ///< an index whose `build` or `retire` was interrupted: call it again
    index_without_entities,   ///< an index state that does not name its entity type: `create_if_absent` adds the name
    index_row_missing,        ///< entities without an index row: `repair`
    index_row_dangling,       ///< index rows without an entity with this key: `repair`
    index_row_different,      ///< index rows whose values differ from their entity: `repair`
    unique_violation,         ///< two entities with the same key of a unique index: `violations`, `resolve_violation`
    sum_wrong,                ///< rows of sums that are missing or wrong: `build` of these sums
};

/// Describes the fault and names the function to call.
[[nodiscard]] std::string_view to_string(store_fault kind) noexcept;

/// One kind of finding in one table.
struct store_finding {
    store_fault kind{};    ///< kind of fault
    std::string table;     ///< table
    std::uint64_t count{}; ///< number of rows
    std::string example;   ///< keys of one of the rows
};

/// The result of `doctor`.
struct diagnosis {
    std::uint64_t tables{};              ///< number of tables read
    std::uint64_t rows{};                ///< number of rows read, including system rows
    std::vector<store_finding> findings; ///< findings, grouped by table

    /// Whether there are no findings.
    [[nodiscard]] bool good() const noexcept { return findings.empty(); }
    /// Formats one line per finding; "no problems found" if there are none.
    [[nodiscard]] std::string to_string() const;
};

namespace detail {

[[nodiscard]] result<diagnosis> examine_tables(any_store const& store, call_options const& options);
void add_finding(diagnosis& to, store_fault kind, std::string const& table, std::uint64_t count, std::string example);

/// Adds the findings of the verification of a table with indexes or sums.
template <class Table>
[[nodiscard]] result<void> examine_companions(diagnosis& to, Table const& table) {
    ENTITABLE_TRY(auto const verified, (table.verify)(100));
    auto const& seen = verified.indexes;
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
    std::string wrong;
    for (auto const& each : verified.wrong_sums_first) {
        if (wrong.empty()) { wrong = each.row_key + " of " + each.partition_key; }
    }
    add_finding(to, store_fault::sum_wrong, table.name(), verified.wrong_sums, std::move(wrong));
    return {};
}

} // namespace detail

/// Reads every table of a store, and compares each given table with its indexes and sums: `doctor(store, runners, orders)`. Writes nothing.
/// Writers may be active; their unfinished changes may be reported, so run it again before you repair. Without the table, its index rows
/// and sums cannot be checked, only states and intents.
///
/// Cost: one scan of every table, and `verify` of each table with indexes; memory for the keys of the wide entities of one partition.
///
/// Errors: those of the store; NotSupported if it cannot list its tables.
template <class... Tables>
[[nodiscard]] result<diagnosis> doctor(any_store const& store, Tables const&... tables) {
    ENTITABLE_TRY(diagnosis made, detail::examine_tables(store, {}));
    result<void> outcome;
    static_cast<void>(((outcome = detail::examine_companions(made, tables)) && ...));
    if (!outcome) { return std::move(outcome).as_failure(); }
    return made;
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/doctor/impl/doctor.ipp>
#endif
