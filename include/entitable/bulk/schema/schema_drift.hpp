// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `schema_drift`: compares the stored rows of a table with the declaration of their entity type. Reports which rows do not fit and why, with
/// keys, before a program fails on them.

#include <entitable/bulk/schema/detail/declared_properties.hpp>
#include <entitable/client/companions/index/intent.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>

#include <map>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Kind of a difference between a row and a declaration.
enum class schema_difference_kind : std::uint8_t {
    key_differs,      ///< a key does not have the form of the declaration
    property_missing, ///< the row does not have a property whose member is not an optional
    type_differs,     ///< a property has a type that the member does not accept
    value_refused,    ///< a property has the type of the member, and a value that the member does not accept
    property_unknown, ///< the row has a property that is not declared; only `reading::strict` refuses it
    row_damaged,      ///< the parts of a member do not belong together, or the bytes are damaged
    former_name,      ///< the row has a property of `formerly(...)` under its former name; reads accept it
    both_names, ///< the row has it under both names: reads take the current name; a program with the former struct changed the row
    former_type, ///< a property of `retyped(...)` has its former type; reads convert it
};
/// Returns the name of the kind, in words.
[[nodiscard]] std::string_view to_string(schema_difference_kind kind) noexcept;

/// A difference, and the rows that have it.
struct schema_difference {
    schema_difference_kind kind{};    ///< what differs
    std::string property;             ///< name of the property; empty for a key or a damaged row
    std::optional<edm_type> stored;   ///< type in the rows, if the property is there
    std::optional<edm_type> declared; ///< type of the member, if there is one
    std::uint64_t rows{};             ///< number of rows with this difference
    std::vector<row_keys> first;      ///< keys of the first of these rows, at most `schema_drift_options::keep_keys`
};

/// The report of `schema_drift`.
struct schema_drift_report {
    std::uint64_t rows{};       ///< rows read
    std::uint64_t unreadable{}; ///< rows that a read refuses with RowMismatch or RowMalformed
    std::vector<schema_difference>
        differences;      ///< at most `schema_drift_options::max_differences`, in the order of their first rows
    std::uint64_t more{}; ///< differences of rows beyond that maximum, each row counted for each of its differences

    /// Whether no row has a former name or type, so that `formerly` and `retyped` can be removed from the declaration.
    [[nodiscard]] bool migrated() const noexcept;
    /// Whether every row can be read.
    [[nodiscard]] bool good() const noexcept { return unreadable == 0; }
    /// Formats the report as text, a line for each difference. The text contains keys.
    [[nodiscard]] std::string to_string() const;
};

/// Limits of the memory of a report.
struct schema_drift_options {
    std::size_t keep_keys{10};          ///< maximum number of keys for each difference
    std::size_t max_differences{1'000}; ///< maximum number of differences
};

namespace detail {

/// Any row that is not a system row.
struct any_row {
    std::string partition_key;
    std::string row_key;
};
ENTITABLE(any_row, partition_key(partition_key), row_key(row_key))

/// Compares rows with a declaration.
class drift_counter {
public:
    drift_counter(declared_properties declared, schema_drift_options options)
        : declared_(declared), options_(options), seen_(declared.count) {}

    /// Compares a row. `entity` is a new entity of the type; `readable` is the outcome of reading the row.
    void compare(row_view each, bool keys_fit, void* entity, bool readable);
    [[nodiscard]] schema_drift_report take() && { return std::move(report_); }

private:
    void note(row_view each, schema_difference_kind kind, std::string_view property, std::optional<edm_type> stored,
        std::optional<edm_type> as_declared);
    void compare_property(row_view each, property_view const& property, void* entity);

    declared_properties declared_;
    schema_drift_options options_;
    schema_drift_report report_;
    std::map<std::string, std::size_t, std::less<>> known_; ///< kind, type and name, to the index of the difference
    std::vector<char> seen_;
    std::size_t expected_{};
    std::uint64_t serious_{}; ///< differences of the row that a read refuses
};

template <class Entity, class Query>
[[nodiscard]] result<schema_drift_report> drift_of(Query const& found, schema_drift_options const& options) {
    using map = mapping<Entity>;
    ENTITABLE_TRY(auto walk, query_rows::of(found, false));
    drift_counter counter{properties_of_entity<Entity>::declared, options};
    for (;;) {
        ENTITABLE_TRY(auto const each, walk->next());
        if (!each) { return std::move(counter).take(); }
        Entity read{};
        bool const readable = from_row(*each, read, walk->mode()).has_value();
        Entity compared{};
        bool const keys_fit =
            decode_keys(*each, compared, typename map::partition_components{}, typename map::row_components{})
                .has_value();
        counter.compare(*each, keys_fit, &compared, readable);
    }
}

} // namespace detail

/// Compares the rows of a table with the declaration of `Entity`; changes nothing. All rows are read, except those of the library: a row
/// whose key begins with another literal is `key_differs`, and no query of the table finds it. In a table of several
/// types this concerns the rows of the other types, so pass a query: `schema_drift(all.scan_table<order>())`. Errors: those of a query.
/// Cost: reads the rows. Memory: one page and the report.
template <mapped_entity Entity>
[[nodiscard]] result<schema_drift_report> schema_drift(
    table<Entity> const& of, schema_drift_options const& options = {}) {
    table<detail::any_row> const rows{of.store(), of.name(), of.options()};
    return detail::drift_of<Entity>(rows.scan_table(), options);
}
/// Does the same for the rows that a query finds.
template <mapped_entity Entity, access_path Path>
[[nodiscard]] result<schema_drift_report> schema_drift(
    query<Entity, Path> const& found, schema_drift_options const& options = {}) {
    return detail::drift_of<Entity>(found, options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/schema/impl/schema_drift.ipp>
#endif
