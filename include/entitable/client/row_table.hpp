// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `row_table`: a table whose rows have no fixed schema. The untyped counterpart of `table<E>`; keys are text.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/entity.hpp>
#include <entitable/client/table_core.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Whether a reader of rows without a schema also returns system rows (`system_row`).
enum class system_rows : std::uint8_t {
    left_out, ///< hidden, as for every other reader
    shown,    ///< returned, for tools that inspect the library's own rows
};

/// A table of `entity`. Copies are cheap and own the backend jointly. Errors: those of `table<E>`; writes refuse row keys of system rows
/// with KeyReserved. Thread safety: safe to use from several threads.
class row_table {
public:
    /// Makes a table over any transport; sends nothing.
    row_table(any_store through, std::string name, call_options options = {})
        : core_(std::move(through), std::move(name), std::move(options)) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< the table's name
    /// The transport.
    [[nodiscard]] any_store const& store() const noexcept { return core_.store(); }
    /// The options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return core_.options(); }
    /// Creates the table; TableAlreadyExists if it exists.
    ENTITABLE_LAZY [[nodiscard]] result<void> create() const { return core_.create(); }
    /// Creates the table unless it exists; true if this call created it.
    ENTITABLE_LAZY [[nodiscard]] result<bool> create_if_absent() const { return core_.create_if_absent(); }
    /// Deletes the table with all its entities; ResourceNotFound if it does not exist.
    ENTITABLE_LAZY [[nodiscard]] result<void> drop() const { return core_.drop(); }

    /// Inserts an entity; EntityAlreadyExists if it exists.
    ENTITABLE_LAZY [[nodiscard]] result<written> insert(entity const& given) const {
        return write(mutation::insert(given.to_row()));
    }
    /// Replaces the stored entity, which must satisfy the condition; UpdateConditionNotSatisfied, or ResourceNotFound.
    ENTITABLE_LAZY [[nodiscard]] result<written> replace(entity const& given, etag_condition condition) const {
        return write(mutation::replace(given.to_row(), std::move(condition)));
    }
    /// Merges into the stored entity, which must satisfy the condition; UpdateConditionNotSatisfied, or ResourceNotFound.
    ENTITABLE_LAZY [[nodiscard]] result<written> merge(entity const& given, etag_condition condition) const {
        return write(mutation::merge(given.to_row(), std::move(condition)));
    }
    /// Inserts an entity, or replaces the stored entity.
    ENTITABLE_LAZY [[nodiscard]] result<written> insert_or_replace(entity const& given) const {
        return write(mutation::insert_or_replace(given.to_row()));
    }
    /// The same as `insert_or_replace`.
    ENTITABLE_LAZY [[nodiscard]] result<written> upsert(entity const& given) const { return insert_or_replace(given); }
    /// Inserts an entity, or merges into the stored entity.
    ENTITABLE_LAZY [[nodiscard]] result<written> insert_or_merge(entity const& given) const {
        return write(mutation::insert_or_merge(given.to_row()));
    }
    /// Removes the stored entity, which must satisfy the condition; UpdateConditionNotSatisfied, or ResourceNotFound.
    ENTITABLE_LAZY [[nodiscard]] result<written> remove(
        std::string_view partition_key, std::string_view row_key, etag_condition condition) const {
        return write(mutation::remove(row{partition_key, row_key, {}}, std::move(condition)));
    }

    /// Reads the entity with these keys, even if it is a system row; ResourceNotFound if it does not exist.
    ENTITABLE_LAZY [[nodiscard]] result<entity> get(std::string_view partition_key, std::string_view row_key) const;
    /// Calls `function` for each entity of a range of keys that satisfies a condition, in key order.
    ENTITABLE_LAZY [[nodiscard]] result<void> for_each(key_range const& range, filter const& condition,
        function_ref<void(entity const&)> function, system_rows of_the_library = system_rows::left_out) const;

private:
    ENTITABLE_LAZY [[nodiscard]] result<written> write(mutation change) const;

    detail::table_core core_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/row_table.ipp>
#endif

#endif
