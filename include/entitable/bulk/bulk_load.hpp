// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Bulk loads: writing many rows to a table, or removing them, with many concurrent transactions from one thread.
///
///     auto report = entitable::bulk_insert(books, read_books(file), {.checkpoint = entitable::file_checkpoint{"books.checkpoint"}});
///
/// All bulk loads:
/// - A batch is atomic, and a bulk load is not: rows are packed into transactions as they fit, and transactions are sent in any order. Rows
///   with the same key are written in the order of the input.
/// - Each row has one outcome: written, already there, superseded, or refused. No row is dropped. A row is sent again if its response was
///   lost, the service was busy, or its transaction was refused: an insert that finds a row with the same properties counts as already
///   there.
/// - A transaction that is refused because of one row is sent again without that row; after three such rows it is split into halves, then
///   into rows.
/// - 429, 503 and Retry-After slow the load down, for one partition or for all. The rate recovers automatically.
/// - Errors of the load: Cancelled, DeadlineExceeded, CheckpointInvalid, the error of a failed input, an error not caused by a row (a
///   missing table, no permission), the error of a row after `bulk_options::max_refused`, and the last failure if no request succeeded for
///   `bulk_options::wait_budget`. The effect is unknown once anything was sent. With a checkpoint the same call resumes, even in another
///   process; without a checkpoint an insert may be run again.
/// - Thread safety: a load runs on the calling thread; other threads may use the table at the same time. `table::options()` apply to each
///   request.

#include <entitable/bulk/detail/beyond_queries.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

#include <iterator>
#include <ranges>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class T>
struct bulk_element {
    using type = T;
};
template <class T>
struct bulk_element<result<T>> {
    using type = T;
};
/// Element type of the range, or of the result it holds.
template <class Range>
using bulk_element_of = typename bulk_element<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>::type;

/// Elements of a load into a table without a fixed schema.
template <class Range>
struct free_elements {
    using type = entity;
};
template <std::ranges::input_range Range>
    requires std::same_as<bulk_element_of<Range>, row>
struct free_elements<Range> {
    using type = row;
};
template <class Range>
using free_element = typename free_elements<Range>::type;

[[nodiscard]] inline failure refused_bulk_merge(std::string_view entity) {
    return {error_code::not_supported,
        text::joined({"the entity ", entity,
            " has a member with formerly(...): a merge cannot remove the former name; use bulk_upsert without "
            "bulk_options::merge, or bulk_update"})};
}

[[nodiscard]] inline mutation_kind kind_of(bulk_mode mode) noexcept {
    return mode == bulk_mode::insert           ? mutation_kind::insert
        : mode == bulk_mode::insert_or_replace ? mutation_kind::insert_or_replace
                                               : mutation_kind::insert_or_merge;
}

template <class Entity>
[[nodiscard]] result<row> bulk_row(Entity const& given) {
    return to_row(given);
}
// Used for a table without a fixed schema.
[[nodiscard]] inline result<row> bulk_row(entity const& given) {
    if (system_row::is_one(given.row_key())) { return key_reserved(given.row_key()); }
    return given.to_row();
}
[[nodiscard]] inline result<row> bulk_row(row const& given) {
    if (system_row::is_one(given.row_key())) { return key_reserved(given.row_key()); }
    return given;
}

/// Converts an element to an entity's change, or returns the reason why it cannot be converted.
template <class Entity, class Element>
[[nodiscard]] bulk_input take_element(bulk_mode mode, Element const& element, bulk_item& item) {
    if constexpr (std::same_as<Element, result<Entity>>) {
        if (!element) {
            item.why.emplace(element.error());
            return bulk_input::refused;
        }
        return take_element<Entity>(mode, *element, item);
    } else {
        auto made = bulk_row(static_cast<Entity const&>(element));
        if (!made) {
            item.why.emplace(made.error());
            return bulk_input::refused;
        }
        item.change.kind = kind_of(mode); // the condition is still any_etag
        item.change.entity = *std::move(made);
        return bulk_input::row;
    }
}

template <class Entity, class Table, class Range>
[[nodiscard]] result<bulk_report> bulk_write_range(
    Table const& into, Range&& rows, bulk_mode mode, bulk_options options) {
    if constexpr (std::ranges::sized_range<Range>) {
        if (!options.total) { options.total = static_cast<std::uint64_t>(std::ranges::size(rows)); }
    }
    std::optional<std::ranges::iterator_t<Range>> at;
    auto const next = [&](bulk_item& item) -> bulk_input {
        if (!at) {
            at.emplace(std::ranges::begin(rows));
        } else {
            ++*at;
        }
        if (*at == std::ranges::end(rows)) { return bulk_input::end; }
        auto&& element = **at;
        return take_element<Entity, std::remove_cvref_t<decltype(element)>>(mode, element, item);
    };
    auto const source = [&](bulk_item& item) -> bulk_input {
#if ENTITABLE_HAS_EXCEPTIONS
        try {
            return next(item);
        } catch (error const& problem) { // ranges of this library report a failure this way
            item.why.emplace(problem);
            return bulk_input::stopped;
        }
#else
        return next(item);
#endif
    };
    bulk_run load{into.store(), into.name(), into.options(), mode, source, nullptr, options};
    return load.run();
}

/// Reports in one line that the elements are not entities of the table.
template <class Entity, class Table, class Range>
[[nodiscard]] result<bulk_report> bulk_write(
    Table const& into, Range&& rows, bulk_mode mode, bulk_options const& options) {
    constexpr bool is_range = std::ranges::input_range<Range>;
    static_assert(is_range, "a bulk load needs an input range, of the table's entity type E or of result<E>");
    if constexpr (is_range) {
        constexpr bool is_of_entities = std::same_as<bulk_element_of<Range>, Entity>;
        static_assert(is_of_entities, "a bulk load needs a range of the table's entity type E, or of result<E>");
        if constexpr (is_of_entities) {
            return bulk_write_range<Entity>(into, std::forward<Range>(rows), mode, options);
        }
    }
    return failure{error_code::invalid_input, {}}; // the reason was reported
}

/// Makes the removal of a row, under the version that was read. The main row of a wide entity is refused.
[[nodiscard]] inline bulk_input take_removal(
    row_view each, std::string_view table, entitable::removal sums, bulk_item& item) {
    item.change = mutation::remove(row{each.partition_key, each.row_key, {}}, each.etag(), sums);
    if (auto good = check_not_wide(each, table, "remove it with table<wide<E>>"); !good) {
        item.why.emplace(good.error());
        return bulk_input::barred;
    }
    return bulk_input::row;
}

/// Loads the result of `take` for each row that a query finds.
template <class Entity, class Query, class Take>
[[nodiscard]] result<bulk_report> bulk_from(Query const& found, bool keys_only, table<Entity> const& into,
    bulk_mode mode, Take const& take, bulk_change const* change, bulk_options const& options) {
    if (query_source const* const at = query_rows::source_of(found)) {
        ENTITABLE_CHECK(check_found_by_queries(at->through, at->table, at->options, *options.time));
    }
    ENTITABLE_TRY(auto walk, query_rows::of(found, keys_only));
    auto const source = [&](bulk_item& item) -> bulk_input {
        auto next = walk->next();
        if (!next) {
            item.why.emplace(next.error());
            return bulk_input::stopped;
        }
        return *next ? take(**next, item) : bulk_input::end;
    };
    bulk_run load{into.store(), into.name(), into.options(), mode, source, change, options};
    return load.run();
}

/// Does the same with the table of the query as the target.
template <class Entity, class Query, class Take>
[[nodiscard]] result<bulk_report> bulk_over(table<Entity> const& in, Query const& found, bulk_mode mode, bool keys_only,
    Take const& take, bulk_change const* change, bulk_options const& options) {
    if (query_rows::table_of(found) != in.name()) {
        return failure{error_code::invalid_input, "the query must read the table of the call"};
    }
    return bulk_from(found, keys_only, in, mode, take, change, options);
}

} // namespace detail

/// Inserts the entities of a range, or of results of entities: an element that is an error is refused with that error. A row that exists
/// with different properties is refused with EntityAlreadyExists. An exception thrown by the range ends the load; a thrown `error` is
/// returned.
template <mapped_entity Entity, class Range>
[[nodiscard]] result<bulk_report> bulk_insert(
    table<Entity> const& into, Range&& rows, bulk_options const& options = {}) {
    return detail::bulk_write<Entity>(into, std::forward<Range>(rows), detail::bulk_mode::insert, options);
}

/// Does the same into a table without a fixed schema. The range is of `entity`, or of `row` (as `row_builder` makes them), which costs less.
template <class Range>
[[nodiscard]] result<bulk_report> bulk_insert(row_table const& into, Range&& rows, bulk_options const& options = {}) {
    return detail::bulk_write<detail::free_element<Range>>(
        into, std::forward<Range>(rows), detail::bulk_mode::insert, options);
}

/// Inserts the entities of a range, or replaces the stored entities, or merges into them (`bulk_options::merge`). Otherwise like
/// `bulk_insert`. Errors: NotSupported for a merge of entities with `formerly(...)`, because it cannot remove the former names. A write whose response was lost is sent again: it may undo a change that another writer made in between.
template <mapped_entity Entity, class Range>
[[nodiscard]] result<bulk_report> bulk_upsert(
    table<Entity> const& into, Range&& rows, bulk_options const& options = {}) {
    if constexpr (detail::has_former_names<typename mapping<Entity>::properties>) {
        if (options.merge) { return detail::refused_bulk_merge(mapping<Entity>::entity_name); }
    }
    return detail::bulk_write<Entity>(into, std::forward<Range>(rows),
        options.merge ? detail::bulk_mode::insert_or_merge : detail::bulk_mode::insert_or_replace, options);
}

/// Does the same into a table without a fixed schema, with a range of `entity` or of `row`.
template <class Range>
[[nodiscard]] result<bulk_report> bulk_upsert(row_table const& into, Range&& rows, bulk_options const& options = {}) {
    return detail::bulk_write<detail::free_element<Range>>(into, std::forward<Range>(rows),
        options.merge ? detail::bulk_mode::insert_or_merge : detail::bulk_mode::insert_or_replace, options);
}

/// Removes the entities that a query of the table finds. A row that was changed since the query is refused with
/// UpdateConditionNotSatisfied; a row that no longer exists counts as already there. The main row of a wide entity is refused with
/// NotSupported, because its parts would remain: remove it with `table<wide<E>>`. Checkpoints are not supported (NotSupported);
/// after an interruption, run it again.
/// Errors: InvalidInput for a query of a different table; NotSupported, before anything is sent, for the table of a queue or a view.
template <class Entity, access_path Path>
[[nodiscard]] result<bulk_report> bulk_remove(
    table<Entity> const& from, query<Entity, Path> const& found, bulk_options const& options = {}) {
    auto const take = [&](row_view each, detail::bulk_item& item) {
        return detail::take_removal(each, from.name(), options.sums, item);
    };
    return detail::bulk_over(from, found, detail::bulk_mode::remove, true, take, nullptr, options);
}

/// Changes the entities that a query of the table finds: `change(entity)` as for `table::update`, called once for each entity, and again
/// whenever another writer changed the entity first. An entity for which it returns false counts as already there; an entity that no longer
/// exists is refused with ResourceNotFound. A row whose response was lost, and that differs from the row sent, is refused with effect
/// unknown and not changed again. Does not support a checkpoint, or the table of a queue or a view (NotSupported): write a change that
/// detects whether it was applied, and run it again.
template <class Entity, access_path Path, class Change>
[[nodiscard]] result<bulk_report> bulk_update(
    table<Entity> const& in, query<Entity, Path> const& found, Change&& change, bulk_options const& options = {}) {
    Entity changed;
    auto const change_row = [&](row_view stored) -> result<std::optional<row>> {
        changed = Entity{};
        ENTITABLE_CHECK(from_row(stored, changed, in.options().reading));
        if (!detail::apply_change(change, changed)) { return std::optional<row>{}; }
        ENTITABLE_TRY(auto made, to_row(changed));
        if (made.partition_key() != stored.partition_key || made.row_key() != stored.row_key) {
            return failure{error_code::invalid_input, "an update must not change the keys of an entity"};
        }
        return std::optional<row>{detail::changed_row(stored, std::move(made))};
    };
    detail::bulk_change const again = change_row;
    auto const take = [&](row_view each, detail::bulk_item& item) {
        auto made = change_row(each);
        if (!made) {
            item.why.emplace(made.error());
            return detail::bulk_input::refused;
        }
        if (!*made) { return detail::bulk_input::passed; }
        item.change = mutation::replace(std::move(**made), each.etag());
        return detail::bulk_input::row;
    };
    return detail::bulk_over(in, found, detail::bulk_mode::update, false, take, &again, options);
}

// ---- a table of several types: the rows or the query determine the type -----------------------------

/// Does the same in a table of several types, with indexes and sums.
template <class First, class Second, class... More, class Range>
[[nodiscard]] result<bulk_report> bulk_insert(
    table<First, Second, More...> const& into, Range&& rows, bulk_options const& options = {}) {
    return bulk_insert(into.template of<detail::bulk_element_of<Range>>(), std::forward<Range>(rows), options);
}
/// Does the same in a table of several types, with indexes and sums.
template <class First, class Second, class... More, class Range>
[[nodiscard]] result<bulk_report> bulk_upsert(
    table<First, Second, More...> const& into, Range&& rows, bulk_options const& options = {}) {
    return bulk_upsert(into.template of<detail::bulk_element_of<Range>>(), std::forward<Range>(rows), options);
}
/// Does the same in a table of several types, with indexes and sums.
template <class First, class Second, class... More, class Entity, access_path Path>
[[nodiscard]] result<bulk_report> bulk_remove(
    table<First, Second, More...> const& from, query<Entity, Path> const& found, bulk_options const& options = {}) {
    return bulk_remove(from.template of<Entity>(), found, options);
}
/// Does the same in a table of several types, with indexes and sums.
template <class First, class Second, class... More, class Entity, access_path Path, class Change>
[[nodiscard]] result<bulk_report> bulk_update(table<First, Second, More...> const& in, query<Entity, Path> const& found,
    Change&& change, bulk_options const& options = {}) {
    return bulk_update(in.template of<Entity>(), found, change, options);
}

// A reader is refused with one message.
/// Does not compile: a reader cannot write.
template <class Reader, class... Rest>
    requires detail::is_reader<Reader>
result<bulk_report> bulk_insert(Reader const&, Rest&&...) {
    detail::refuse_reader<Reader>();
    return failure{error_code::invalid_input, {}};
}
/// Does not compile: a reader cannot write.
template <class Reader, class... Rest>
    requires detail::is_reader<Reader>
result<bulk_report> bulk_upsert(Reader const&, Rest&&...) {
    detail::refuse_reader<Reader>();
    return failure{error_code::invalid_input, {}};
}
/// Does not compile: a reader cannot write.
template <class Reader, class... Rest>
    requires detail::is_reader<Reader>
result<bulk_report> bulk_remove(Reader const&, Rest&&...) {
    detail::refuse_reader<Reader>();
    return failure{error_code::invalid_input, {}};
}
/// Does not compile: a reader cannot write.
template <class Reader, class... Rest>
    requires detail::is_reader<Reader>
result<bulk_report> bulk_update(Reader const&, Rest&&...) {
    detail::refuse_reader<Reader>();
    return failure{error_code::invalid_input, {}};
}

/// Does not compile: a bulk load writes entities that are stored in one row.
template <class Entity, class... Rest>
result<bulk_report> bulk_insert(table<wide<Entity>> const&, Rest&&...) {
    detail::refuse_wide<Entity>();
    return failure{error_code::invalid_input, {}};
}
/// Does not compile: a bulk load writes entities that are stored in one row.
template <class Entity, class... Rest>
result<bulk_report> bulk_upsert(table<wide<Entity>> const&, Rest&&...) {
    detail::refuse_wide<Entity>();
    return failure{error_code::invalid_input, {}};
}

ENTITABLE_END_NAMESPACE
