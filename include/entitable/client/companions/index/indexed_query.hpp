// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `indexed_query<I, E, Path>`: a query through an index that returns entities, or index rows alone.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/index/detail/index_run.hpp>
#include <entitable/client/companions/index/index_declarations.hpp>
#include <entitable/client/detail/query_folds.hpp>
#include <entitable/client/query.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The output of `indexed_query::explain`.
struct index_explanation {
    std::string index;      ///< the type of the index
    std::string table;      ///< table of the index rows
    explanation index_rows; ///< plan of the query for the index rows
    /// Whether each entity is read by its keys as well. Always true here: `select` and `unverified` return plain queries, with their
    /// own `explain`.
    bool reads_entities{};
    std::string sorted_by{};     ///< order in which the client sorts the entities; empty for the order of the index
    std::uint64_t sorted_rows{}; ///< maximum number of entities that it holds to sort them
};
namespace detail {

/// Returns the keys of an index row and of its entity.
template <class Entity, class Index>
[[nodiscard]] result<named_entity> name_of(Index const& found) {
    result<named_entity> named{std::in_place};
    Entity const& entity = found;
    ENTITABLE_TRY(named->entity.partition_key, partition_key_of(entity));
    ENTITABLE_TRY(named->entity.row_key, row_key_of(entity));
    ENTITABLE_TRY(named->index_row.partition_key, partition_key_of(found));
    ENTITABLE_TRY(named->index_row.row_key, row_key_of(found));
    return named;
}
/// Returns an error if an index is no longer ready. The pages of a moved-from query return its error.
[[nodiscard]] inline result<void> check_still_ready(shared<index_family> const& family, std::size_t index) {
    if (!family) { return {}; }
    call context{family->main.options(), *family->options.time};
    return family->check_ready(index, context);
}

} // namespace detail

/// Reads the entities of an index query page by page. A page contains the entities of one page of index rows;
/// `page_of::token` continues after it. InvalidInput after a move. Thread safety: one thread at a time.
template <mapped_entity Index, mapped_entity Entity>
class indexed_pages {
public:
    /// Made by `indexed_query::pages`.
    indexed_pages(
        shared<detail::index_family> family, std::size_t index, query_pages<Index, Index> rows, std::size_t in_flight)
        : family_(std::move(family)), index_(index), rows_(std::move(rows)), in_flight_(in_flight) {}

    /// See `query_pages::next`.
    [[nodiscard]] result<std::optional<page_of<Entity>>> next() {
        if (!failed_) { return failure{failed_.error()}; }
        auto made = read();
        if (!made) { failed_ = failure{made.error()}; } // without this, a further call would skip a page
        return made;
    }

private:
    [[nodiscard]] result<std::optional<page_of<Entity>>> read() {
        for (;;) {
            ENTITABLE_CHECK(detail::check_still_ready(family_, index_));
            ENTITABLE_TRY(auto page, rows_.next());
            if (!page) { return std::optional<page_of<Entity>>{}; }
            std::vector<detail::named_entity> named;
            for (Index const& each : *page) {
                ENTITABLE_TRY(auto one, detail::name_of<Entity>(each));
                named.push_back(std::move(one));
            }
            ENTITABLE_CHECK(detail::read_named(*family_, index_, named, in_flight_));
            page_of<Entity> made{{}, std::move(page->token), page->stale, page->request_charge};
            for (detail::named_entity const& each : named) {
                if (!each.stored) { continue; }
                ENTITABLE_CHECK(from_row(*each.stored, made.items.emplace_back(), family_->main.options().reading));
            }
            if (!made.items.empty()) { return std::optional{std::move(made)}; }
        }
    }

    shared<detail::index_family> family_;
    std::size_t index_;
    query_pages<Index, Index> rows_;
    std::size_t in_flight_;
    result<void> failed_;
};

/// A query for the entities that an index finds, in index order. Each entity is read by its keys, several concurrently,
/// and skipped if it was removed or now has a different index row. `select` with fields of the index, and `unverified`,
/// do not read entities.
///
/// Thread safety: one thread at a time.
template <mapped_entity Index, mapped_entity Entity, access_path Path>
class indexed_query : public detail::entity_folds<indexed_query<Index, Entity, Path>, Entity> {
public:
    using value_type = Entity; ///< the type of its elements

    /// Made by a table.
    indexed_query(shared<detail::index_family> family, std::size_t index, query<Index, Path> rows)
        : family_(std::move(family)), index_(index), rows_(std::move(rows)) {}

    /// Returns at most `count` index rows in total.
    [[nodiscard]] indexed_query take(std::uint64_t count) const {
        return {family_, index_, rows_.take(count), in_flight_};
    }
    /// Requests at most `rows` index rows at a time, 1 to 1000.
    [[nodiscard]] indexed_query page_size(std::uint32_t rows) const {
        return {family_, index_, rows_.page_size(rows), in_flight_};
    }
    /// Reads up to this many entities concurrently. Default: 16.
    [[nodiscard]] indexed_query in_flight(std::size_t reads) const {
        return {family_, index_, rows_, reads < 1 ? 1 : reads};
    }
    /// Continues after the page from which `pages` returned this token: see `query::resume`.
    [[nodiscard]] indexed_query resume(std::string token) const {
        return {family_, index_, rows_.resume(std::move(token)), in_flight_};
    }

    /// Returns only these fields, from the index rows, without reading entities. They must be fields of the index:
    /// `using a = fields<by_age>; select(a::name)`. In the same partition they equal those of the entity; an index elsewhere may lag by a
    /// write in progress.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        constexpr bool covered = sizeof...(Fields) > 0 && (detail::is_field_of<Index, Fields> && ...);
        static_assert(covered,
            "select(...) of an index needs fields of the index, fields<I>: to read a member that its rows lack, read "
            "the entity without select");
        if constexpr (covered) {
            return rows_.select(fields...);
        } else {
            return *this;
        }
    }
    /// Returns the index rows without reading the entities: members that the index lacks have their defaults.
    [[nodiscard]] query<Index, Path> unverified() const { return rows_; }

    /// Explains the query.
    [[nodiscard]] result<index_explanation> explain() const {
        ENTITABLE_TRY(auto rows, rows_.explain());
        return index_explanation{
            std::string{mapping<Index>::entity_name}, family_->places[index_].name(), std::move(rows), true, {}, 0};
    }

    /// Calls `function(entity)` for each, in the order of the index. Holds at most 256 entities at a time.
    template <class Function>
    [[nodiscard]] result<void> for_each(Function&& function) const {
        return walk(rows_, 256, [&](Entity const& found) {
            function(found);
            return true;
        });
    }
    /// Returns all entities in a container with push_back.
    template <class Container = std::vector<Entity>>
    [[nodiscard]] result<Container> to() const {
        result<Container> all{std::in_place};
        if (auto done = for_each([&](Entity const& entity) { all->push_back(entity); }); !done) {
            all = std::move(done).as_failure();
        }
        return all;
    }
    /// The same as `to` without a container.
    [[nodiscard]] result<std::vector<Entity>> to_vector() const { return to(); }
    /// Returns the first entity, or nullopt.
    [[nodiscard]] result<std::optional<Entity>> first() const {
        result<std::optional<Entity>> found{std::in_place};
        // Reads one at a time, because the entity of an index row may have been removed.
        auto walked = walk(rows_.page_size(1), 1, [&](Entity const& one) {
            found->emplace(one);
            return false;
        });
        if (!walked) { found = std::move(walked).as_failure(); }
        return found;
    }
    /// Returns the entities page by page, to stop and continue with `resume(token)`. A page can have fewer entities than index rows.
    [[nodiscard]] indexed_pages<Index, Entity> pages() const { return {family_, index_, rows_.pages(), in_flight_}; }

private:
    indexed_query(
        shared<detail::index_family> family, std::size_t index, query<Index, Path> rows, std::size_t in_flight)
        : family_(std::move(family)), index_(index), rows_(std::move(rows)), in_flight_(in_flight) {}

    /// Visits the entities, reading `together` of them at a time, until `function` returns false.
    template <class Function>
    [[nodiscard]] result<void> walk(query<Index, Path> const& rows, std::size_t together, Function function) const {
        std::vector<detail::named_entity> named;
        bool enough = false;
        auto const hand_out = [&]() -> result<void> {
            ENTITABLE_CHECK(detail::read_named(*family_, index_, named, in_flight_));
            for (detail::named_entity const& each : named) {
                if (each.stored && !enough) {
                    Entity found{};
                    ENTITABLE_CHECK(from_row(*each.stored, found, family_->main.options().reading));
                    enough = !function(std::as_const(found));
                }
            }
            named.clear();
            return {};
        };
        auto pages = rows.pages();
        while (!enough) {
            // Called before each page: the index may have been retired since the query was made or its last page was
            // read.
            ENTITABLE_CHECK(detail::check_still_ready(family_, index_));
            ENTITABLE_TRY(auto const page, pages.next());
            if (!page) { break; }
            for (Index const& each : *page) {
                ENTITABLE_TRY(auto one, detail::name_of<Entity>(each));
                named.push_back(std::move(one));
                if (named.size() == together) { ENTITABLE_CHECK(hand_out()); }
            }
        }
        return hand_out();
    }

    shared<detail::index_family> family_;
    std::size_t index_;
    query<Index, Path> rows_;
    std::size_t in_flight_{16};
};

/// Queries by an index: `runners.by<by_age>().where(a::race == "NYC" && a::age >= 50)`. A query by an index that is not ready returns
/// IndexNotReady when it runs, never an empty result.
template <mapped_entity Index, mapped_entity Entity>
class indexed_by {
public:
    /// Made by a table.
    indexed_by(shared<detail::index_family> family, std::size_t index) : family_(std::move(family)), index_(index) {}

    /// Queries the entities whose index rows satisfy the predicate. Does not compile if it would scan the table of the index.
    template <shape_set Shapes, shape_set Negated>
    [[nodiscard]] auto where(predicate<Index, Shapes, Negated> const& condition) const {
        return make(rows().where(condition));
    }
    /// Reports that the fields belong to a different type.
    template <class Other, shape_set Shapes, shape_set Negated>
    void where(predicate<Other, Shapes, Negated> const&) const {
        static_assert(detail::never<Other>,
            "where(...) of an index needs fields of this index: using a = entitable::fields<by_age>");
    }
    /// Queries all entities of the index; reads all of its rows.
    [[nodiscard]] auto scan_index() const { return make(rows().scan_table()); }

private:
    template <access_path Path>
    [[nodiscard]] indexed_query<Index, Entity, Path> make(query<Index, Path> asked) const {
        if (!family_) {
            return {family_, index_, std::move(asked)};
        } // its pages return the error of a moved-from table
        call context{family_->main.options(), *family_->options.time};
        if (auto ready = family_->check_ready(index_, context); !ready) {
            detail::table_core const& place = family_->places[index_];
            asked =
                query<Index, Path>{place.store(), family_->main.options(), place.name(), std::move(ready).as_failure()};
        }
        return {family_, index_, std::move(asked)};
    }
    [[nodiscard]] reader<Index> rows() const {
        if (!family_) { return {detail::moved_from_transport("table"), {}}; }
        detail::table_core const& place = family_->places[index_];
        return reader<Index>{detail::table_core{place.store(), place.name(), family_->main.options()}.of_type(
            detail::pattern_of_type<Index>)};
    }

    shared<detail::index_family> family_;
    std::size_t index_;
};

ENTITABLE_END_NAMESPACE

#endif
