// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a table that does not depend on its entity: its transport, its name, the options of its calls.

#include <entitable/mapping/detail/entity_kind.hpp>
#include <entitable/mapping/key_layout.hpp>
#include <entitable/request/single_request.hpp>
#include <entitable/transport/any_transport.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// What the calls below are as operations: `client/detail/table_operations.hpp`. Who makes calls does not compile them.
class creation_of_table;
class deletion_of_table;
class partition_search;

/// A table of rows. Copies are cheap. Each call exists as an operation, which the blocking form runs. Thread safety: safe to use from
/// several threads.
class table_core {
public:
    table_core(any_transport through, std::string name, call_options options);
    table_core(table_core const& other);
    table_core(table_core&& other) noexcept;
    table_core& operator=(table_core const& other);
    table_core& operator=(table_core&& other) noexcept;
    ~table_core();

    [[nodiscard]] any_transport const& transport() const noexcept { return through_; }
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] call_options const& options() const noexcept { return options_; }

    // ---- operations: they refer to this table, which outlives them ----

    ENTITABLE_LAZY [[nodiscard]] creation_of_table to_create() const;
    ENTITABLE_LAZY [[nodiscard]] deletion_of_table to_drop() const;
    /// NotSupported when the calls have an operation id and no transport keeps it.
    ENTITABLE_LAZY [[nodiscard]] own_request<write_entity> to_write(result<mutation>&& change) const;
    /// The row may carry the error that made it impossible.
    ENTITABLE_LAZY [[nodiscard]] own_request<write_entity> to_write(
        mutation_kind kind, result<row>&& made, etag_condition& condition) const;
    /// The request outlives it.
    ENTITABLE_LAZY [[nodiscard]] single_request<transact> to_submit(transact const& request) const;
    /// Reads one entity and passes it to `visit`, whose outcome it returns. The keys may carry the error that made them impossible. What
    /// the keys and `visit` refer to outlives it.
    ENTITABLE_LAZY [[nodiscard]] own_request<read_entity> to_read(result<std::string_view>&& partition_key,
        result<std::string_view>&& row_key, entity_visitor const& visit) const;

    ENTITABLE_LAZY [[nodiscard]] partition_search to_search_partitions() const;

    // ---- calls ----

    ENTITABLE_LAZY [[nodiscard]] result<void> create() const;
    /// True if this call created it.
    ENTITABLE_LAZY [[nodiscard]] result<bool> create_if_absent() const;
    ENTITABLE_LAZY [[nodiscard]] result<void> drop() const;
    /// True if this call deleted it.
    ENTITABLE_LAZY [[nodiscard]] result<bool> drop_if_present() const;
    /// NotSupported when the calls have an operation id and no transport keeps it.
    ENTITABLE_LAZY [[nodiscard]] result<void> check_operation_id() const;
    ENTITABLE_LAZY [[nodiscard]] result<written> write(result<mutation>&& change) const;
    /// The same, or nothing where there is no such entity.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<written>> write_if_present(result<mutation>&& change) const;
    /// The row may carry the error that made it impossible.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, result<row>&& made, etag_condition& condition) const;
    /// The same of an entity.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, void const* entity, entity_kind const& of, etag_condition& condition) const;
    /// The same under any version.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, void const* entity, entity_kind const& of) const;
    ENTITABLE_LAZY [[nodiscard]] result<transact::response> submit(transact const& request) const;
    /// As `to_read`.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(result<std::string_view>&& partition_key,
        result<std::string_view>&& row_key, entity_visitor const& visit) const;
    /// Reads one entity into `to`.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(result<std::string_view>&& partition_key,
        result<std::string_view>&& row_key, void* to, row_reader read_row) const;
    /// The same by the values of its keys, into an entity of this kind.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(
        entity_kind const& of, key_source const* partition, key_source const* row, void* to) const;
    ENTITABLE_LAZY [[nodiscard]] result<void> read(
        entity_kind const& of, key_source const* partition, key_source const* row, entity_visitor const& visit) const;
    /// Every row of a range of keys that satisfies a condition, page after page, in key order.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each_row(key_range const& range, filter const& condition,
        bool with_system_rows, function_ref<void(row_view)> function) const;
    /// The partition keys that hold an entity, in order.
    ENTITABLE_LAZY [[nodiscard]] result<std::vector<std::string>> partitions() const;

private:
    any_transport through_;
    std::string name_;
    call_options options_;
};

/// A key that is one text, which is not copied; `key_reserved` for a row key of system rows.
ENTITABLE_LAZY [[nodiscard]] result<std::string_view> borrowed_key(key_part part, std::string_view text);
/// A key of some values, in `buffer` where it has to be made: one that is nothing but one text is not copied. `key_reserved` as above.
ENTITABLE_LAZY [[nodiscard]] result<std::string_view> key_text(
    std::string& buffer, key_part part, key_layout layout, key_source const* sources);

/// A row that has keys only.
ENTITABLE_LAZY [[nodiscard]] result<mutation> removal(
    result<std::string> partition_key, result<std::string> row_key, etag_condition condition);
/// The same by the values of the keys of an entity of this kind.
ENTITABLE_LAZY [[nodiscard]] result<mutation> removal(
    entity_kind const& of, key_source const* partition, key_source const* row, etag_condition&& condition);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/table_core.ipp>
#endif
