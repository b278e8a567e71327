// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a table that does not depend on its entity: its transport, its name, the options of its calls.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/detail/entity_kind.hpp>
#include <entitable/client/mapping/key_layout.hpp>
#include <entitable/client/mapping/key_pattern.hpp>
#include <entitable/core/request/single_request.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// The calls below as operations: `client/detail/table_operations.hpp`, which callers of the blocking forms do not compile.
class companion_writer;
class creation_of_table;
class deletion_of_table;
class partition_search;
class known_names;

/// The arguments of a table's constructor, which are moved from: a constructor with parameters would be passed copies that each entity's
/// table compiles.
struct table_arguments {
    any_store& through;
    std::string& name;
    call_options* options; ///< null for the usual options
};

/// A table of rows. Copies are cheap. Each call is also available as an operation, which the blocking form runs. Thread safety: safe to use
/// from several threads.
class table_core {
public:
    table_core(any_store through, std::string name, call_options options);
    explicit table_core(table_arguments const& from);
    /// Writes go through `writer`, which maintains other rows of the table.
    table_core(any_store through, std::string name, call_options options, shared<companion_writer> writer);
    table_core(table_core const& other);
    table_core(table_core&& other) noexcept;
    table_core& operator=(table_core const& other);
    table_core& operator=(table_core&& other) noexcept;
    ~table_core();

    [[nodiscard]] any_store const& store() const noexcept { return through_; }
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] call_options const& options() const noexcept { return options_; }
    /// The type whose rows queries return; null if the table has one type.
    [[nodiscard]] type_pattern const* type() const noexcept { return type_; }
    void set_options(call_options options) { options_ = std::move(options); }
    /// Makes queries skip rows of other types. The pattern must live as long as the program.
    [[nodiscard]] table_core of_type(type_pattern const& type) && noexcept {
        type_ = &type;
        return std::move(*this);
    }
    /// The marks of migrations that queries of this table have found; null if its entities have no members with earlier names or types.
    [[nodiscard]] shared<known_names> const& marks() const noexcept { return marks_; }
    /// Keeps the marks that queries find.
    ENTITABLE_LAZY void keep_marks();
    /// Null if writes of entities change no other rows.
    [[nodiscard]] companion_writer const* writer() const noexcept { return writer_.get(); }

    // ---- operations: they refer to this table, which must outlive them ----

    /// `may_exist`: see `create_table`.
    ENTITABLE_LAZY [[nodiscard]] creation_of_table to_create(bool may_exist = false) const;
    /// `may_be_absent`: see `delete_table`.
    ENTITABLE_LAZY [[nodiscard]] deletion_of_table to_drop(bool may_be_absent = false) const;
    /// Errors: NotSupported if the calls have an operation id and no transport supports it.
    ENTITABLE_LAZY [[nodiscard]] own_request<write_entity> to_write(result<mutation>&& change) const;
    /// The row may be a conversion error.
    ENTITABLE_LAZY [[nodiscard]] own_request<write_entity> to_write(
        mutation_kind kind, result<row>&& made, etag_condition& condition) const;
    /// The request must outlive it.
    ENTITABLE_LAZY [[nodiscard]] single_request<transact> to_submit(transact const& request) const;
    /// Reads one entity and passes it to `visit`, whose outcome it returns. The keys may be conversion errors. Everything that the
    /// keys and `visit` refer to must outlive it.
    ENTITABLE_LAZY [[nodiscard]] own_request<read_entity> to_read(result<std::string_view>&& partition_key,
        result<std::string_view>&& row_key, entity_visitor const& visit) const;

    ENTITABLE_LAZY [[nodiscard]] partition_search to_search_partitions(bool any_row = false) const;

    // ---- calls ----

    ENTITABLE_LAZY [[nodiscard]] result<void> create() const;
    /// True if this call created it.
    ENTITABLE_LAZY [[nodiscard]] result<bool> create_if_absent() const;
    ENTITABLE_LAZY [[nodiscard]] result<void> drop() const;
    /// True if this call deleted it.
    ENTITABLE_LAZY [[nodiscard]] result<bool> drop_if_present() const;
    /// Errors: NotSupported if the calls have an operation id and no transport supports it.
    ENTITABLE_LAZY [[nodiscard]] result<void> check_operation_id() const;
    ENTITABLE_LAZY [[nodiscard]] result<written> write(result<mutation>&& change) const;
    /// Does the same; nullopt if the entity does not exist.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<written>> write_if_present(result<mutation>&& change) const;
    /// The row may be a conversion error.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, result<row>&& made, etag_condition& condition) const;
    /// Does the same for an entity.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, void const* entity, entity_kind const& of, etag_condition& condition) const;
    /// Does the same under any version.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, void const* entity, entity_kind const& of) const;
    /// Removes the row with these values of its keys, of an entity of this kind.
    ENTITABLE_LAZY [[nodiscard]] result<written> remove(entity_kind const& of, key_source const* partition,
        key_source const* row, etag_condition& condition, entitable::removal sums) const;
    ENTITABLE_LAZY [[nodiscard]] result<transact::response> submit(transact const& request) const;
    /// See `to_read`.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(result<std::string_view>&& partition_key,
        result<std::string_view>&& row_key, entity_visitor const& visit) const;
    /// Reads one entity into `to`.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(result<std::string_view>&& partition_key,
        result<std::string_view>&& row_key, void* to, row_reader read_row) const;
    /// Does the same with the values of its keys, into an entity of this kind.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(
        entity_kind const& of, key_source const* partition, key_source const* row, void* to) const;
    ENTITABLE_LAZY [[nodiscard]] result<void> read(
        entity_kind const& of, key_source const* partition, key_source const* row, entity_visitor const& visit) const;
    /// Visits every row of a range of keys that satisfies a condition, page after page, in key order.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each_row(key_range const& range, filter const& condition,
        bool with_system_rows, function_ref<void(row_view)> function) const;
    /// Visits the rows of one type, in key order.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each_row_of(
        type_pattern const& type, key_interval const& partitions, function_ref<void(row_view)> function) const;
    /// Does the same with fewer copies, without checking the bytes of the rows. `in_place`: while the store is being read, so `function` must not
    /// call code of the user, block, or call a transport; after an error it may have visited a part of a page.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each_shown_row_of(type_pattern const& type,
        key_interval const& partitions, bool in_place, function_ref<void(row_view)> function) const;
    /// Returns the partition keys with an entity, in order.
    ENTITABLE_LAZY [[nodiscard]] result<std::vector<std::string>> partitions(bool any_row = false) const;

private:
    any_store through_;
    std::string name_;
    call_options options_;
    shared<companion_writer> writer_;
    type_pattern const* type_{};
    shared<known_names> marks_;
};

/// Makes a key of one text, which is not copied; `key_reserved` for a row key of system rows.
ENTITABLE_LAZY [[nodiscard]] result<std::string_view> borrowed_key(key_part part, std::string_view text);
/// Makes a key from values, in `buffer` unless it is exactly one text, which is not copied. `key_reserved` as above.
ENTITABLE_LAZY [[nodiscard]] result<std::string_view> key_text(
    std::string& buffer, key_part part, key_layout layout, key_source const* sources);

/// Makes the removal of a row.
ENTITABLE_LAZY [[nodiscard]] result<mutation> removal(result<std::string> partition_key, result<std::string> row_key,
    etag_condition condition, entitable::removal sums = {});
/// Does the same by the values of the keys of an entity of this kind.
ENTITABLE_LAZY [[nodiscard]] result<mutation> removal(entity_kind const& of, key_source const* partition,
    key_source const* row, etag_condition&& condition, entitable::removal sums = {});

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/table_core.ipp>
#endif

#endif
