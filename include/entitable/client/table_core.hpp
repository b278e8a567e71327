// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a table that does not depend on its entity: where it lives, what it is called, how its calls go.

#include <entitable/mapping/key_layout.hpp>
#include <entitable/transport/any_transport.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table of rows. Safe to use from several threads; copies are cheap.
class table_core {
public:
    table_core(any_transport through, std::string name, call_options options)
        : through_(std::move(through)), name_(std::move(name)), options_(std::move(options)) {}

    [[nodiscard]] any_transport const& transport() const noexcept { return through_; }
    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] call_options const& options() const noexcept { return options_; }

    ENTITABLE_LAZY [[nodiscard]] result<void> create() const;
    /// Whether it was made now.
    ENTITABLE_LAZY [[nodiscard]] result<bool> create_if_absent() const;
    ENTITABLE_LAZY [[nodiscard]] result<void> drop() const;
    /// Whether it was there.
    ENTITABLE_LAZY [[nodiscard]] result<bool> drop_if_present() const;
    /// NotSupported when the calls have an operation id and nothing keeps it.
    ENTITABLE_LAZY [[nodiscard]] result<void> check_operation_id() const;
    ENTITABLE_LAZY [[nodiscard]] result<written> write(result<mutation> change) const;
    /// The row may carry the error that made it impossible.
    ENTITABLE_LAZY [[nodiscard]] result<written> write(
        mutation_kind kind, result<row> made, etag_condition& condition) const;
    ENTITABLE_LAZY [[nodiscard]] result<transact::response> submit(transact const& request) const;
    /// Reads one entity and shows it to `visit`, whose outcome it returns. The keys may carry the error that made them impossible.
    ENTITABLE_LAZY [[nodiscard]] result<void> read(
        result<std::string_view> partition_key, result<std::string_view> row_key, entity_visitor const& visit) const;
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

/// Makes `failed` a success when its code is `tolerated`.
ENTITABLE_LAZY [[nodiscard]] result<bool> unless(result<void> failed, error_code tolerated);

/// A key that is one text, which is not copied; `key_reserved` for a row key of system rows.
ENTITABLE_LAZY [[nodiscard]] result<std::string_view> borrowed_key(key_part part, std::string_view text);
/// A key in `buffer`; `key_reserved` as above.
ENTITABLE_LAZY [[nodiscard]] result<std::string_view> written_key(
    std::string& buffer, key_part part, key_layout layout, key_source const* sources);

/// A row that has keys only.
ENTITABLE_LAZY [[nodiscard]] result<mutation> removal(
    result<std::string> partition_key, result<std::string> row_key, etag_condition condition);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/table_core.ipp>
#endif
