// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `reader<E>`: the reads of a table whose rows another object writes, such as a view or a table that maintains indexes
/// or sums.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/table.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The reads of a table: `reader<E>` of one type; `reader<A, B, ...>` of several types, in `<entitable/tables.hpp>`.
template <class... Types>
class reader {
    static_assert(detail::refuse_table<Types...>());
};

/// It reads entities, but cannot write them: the object that returns a reader maintains other rows that depend on these
/// entities, and a direct write would make them wrong. A unit of work, a bulk load or a batch over it does not compile.
///
/// Errors: those of `table<E>`. Copies are cheap. Thread safety: safe to use from several threads.
template <mapped_entity Entity>
class reader<Entity> : detail::keyed_operations<Entity, typename mapping<Entity>::partition_components,
                           typename mapping<Entity>::row_components> {
    using base = detail::keyed_operations<Entity, typename mapping<Entity>::partition_components,
        typename mapping<Entity>::row_components>;
    using base::core_;

public:
    using value_type = Entity; ///< entity type

    /// `name`: name of the table. Sends nothing.
    reader(any_store through, std::string name, call_options options = {})
        : base(detail::table_core{std::move(through), std::move(name), std::move(options)}) {}
    /// Made by a table with several types: its queries skip rows of the other types.
    explicit reader(detail::table_core core) : base(std::move(core)) {}

    [[nodiscard]] std::string const& name() const noexcept { return core_.name(); } ///< name of the table
    /// The options of its calls.
    [[nodiscard]] call_options const& options() const noexcept { return core_.options(); }
    /// Returns the same reader with other options for its calls.
    [[nodiscard]] reader with(call_options options) const {
        reader changed{*this};
        changed.core_.set_options(std::move(options));
        return changed;
    }

    using base::find;
    using base::get;
    using base::get_stored;
    using base::reference_to;

    /// Does not compile: a reader does not write.
    template <class Reader = reader>
    result<written> insert(Entity const&) const {
        detail::refuse_reader<Reader>();
        return failure{error_code::invalid_input, {}};
    }
    /// Does not compile: a reader does not write.
    template <class Reader = reader>
    result<written> replace(Entity const&, etag_condition const&) const {
        detail::refuse_reader<Reader>();
        return failure{error_code::invalid_input, {}};
    }
    /// Does not compile: a reader does not write.
    template <class Reader = reader>
    result<written> insert_or_replace(Entity const&) const {
        detail::refuse_reader<Reader>();
        return failure{error_code::invalid_input, {}};
    }
    /// Does not compile: a reader does not write.
    template <class... Given>
    result<written> remove(Given const&...) const {
        detail::refuse_reader<reader>();
        return failure{error_code::invalid_input, {}};
    }
    /// Does not compile: a reader does not write.
    template <class... Given>
    result<updated<Entity>> update(Given const&...) const {
        detail::refuse_reader<reader>();
        return failure{error_code::invalid_input, {}};
    }

    /// See `table::partitions`.
    [[nodiscard]] result<std::vector<std::string>> partitions() const { return core_.partitions(); }
    /// See `table::where`.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<Entity, Shapes, Negated> const& condition) const {
        return rows().where(condition);
    }
    /// Used for a predicate that was already diagnosed.
    [[nodiscard]] auto where(detail::refused_predicate const& refused) const { return rows().where(refused); }
    /// Does not compile: see `table::where`.
    template <class... Given>
        requires detail::no_condition<Entity, Given...>
    [[nodiscard]] auto where(Given const&... given) const {
        return rows().where(given...);
    }
    [[nodiscard]] auto scan_table() const { return rows().scan_table(); } ///< see `table::scan_table`
    /// See `table::scan_table`.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto scan_table(predicate<Entity, Shapes, Negated> const& condition) const {
        return rows().scan_table(condition);
    }

private:
    [[nodiscard]] table<Entity> rows() const { return table<Entity>{core_}; }
};

ENTITABLE_END_NAMESPACE

#endif
