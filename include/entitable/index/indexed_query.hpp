// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `indexed_query<I, E, Path>`: a query through an index: its rows alone, or the entities that they name.

#include <entitable/client/query.hpp>
#include <entitable/core/try.hpp>
#include <entitable/index/detail/entities_of_rows.hpp>
#include <entitable/index/index_declarations.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What `indexed_query::explain` shows.
struct index_explanation {
    std::string index;      ///< the type of the index
    std::string table;      ///< where its rows are
    explanation index_rows; ///< how they are found
    /// Each entity is read by its keys as well. Always true here: `select` and `unverified` give plain queries, with `explain` of their own.
    bool reads_entities{};
};

/// The entities that an index finds, in the order of the index. Each is read by its keys, several at once, and left out where it is gone or
/// has another index row by now. `select` of fields that the index has, and `unverified`, read no entities.
///
/// Thread safety: one thread at a time.
template <mapped_entity Index, mapped_entity Entity, access_path Path>
class indexed_query {
public:
    using value_type = Entity; ///< what it gives

    /// Made by `indexed_table::by`.
    indexed_query(shared<detail::index_family> family, std::size_t index, query<Index, Path> rows)
        : family_(std::move(family)), index_(index), rows_(std::move(rows)) {}

    /// At most `count` index rows in all.
    [[nodiscard]] indexed_query take(std::uint64_t count) const {
        return {family_, index_, rows_.take(count), in_flight_};
    }
    /// At most `rows` index rows a request, 1 to 1000.
    [[nodiscard]] indexed_query page_size(std::uint32_t rows) const {
        return {family_, index_, rows_.page_size(rows), in_flight_};
    }
    /// Reads up to that many entities at once. Default: 16.
    [[nodiscard]] indexed_query in_flight(std::size_t reads) const {
        return {family_, index_, rows_, reads < 1 ? 1 : reads};
    }

    /// Only these fields, from the index rows: no entity is read. They are fields of the index: `using a = fields<by_age>; select(a::name)`.
    /// In the same partition they are what the entity holds; an index elsewhere may lag by the write that is under way.
    template <class... Fields>
    [[nodiscard]] auto select(Fields... fields) const {
        constexpr bool covered = sizeof...(Fields) > 0 && (detail::is_field_of<Index, Fields> && ...);
        static_assert(covered,
            "select(...) of an index takes fields of the index, fields<I>: a member that its rows do not hold is read "
            "with "
            "the entity, without select");
        if constexpr (covered) {
            return rows_.select(fields...);
        } else {
            return *this;
        }
    }
    /// The index rows as they are, without reading the entities: members that the index does not hold keep their defaults.
    [[nodiscard]] query<Index, Path> unverified() const { return rows_; }

    /// The query that would be run.
    [[nodiscard]] result<index_explanation> explain() const {
        ENTITABLE_TRY(auto rows, rows_.explain());
        return index_explanation{
            std::string{mapping<Index>::entity_name}, family_->places[index_].name(), std::move(rows), true};
    }

    /// Calls `function(entity)` for each, in the order of the index. Holds at most 256 entities at a time.
    template <class Function>
    [[nodiscard]] result<void> for_each(Function&& function) const {
        return walk(rows_, 256, [&](Entity const& found) {
            function(found);
            return true;
        });
    }
    /// All entities in a container with push_back.
    template <class Container = std::vector<Entity>>
    [[nodiscard]] result<Container> to() const {
        result<Container> all{std::in_place};
        if (auto done = for_each([&](Entity const& entity) { all->push_back(entity); }); !done) {
            all = std::move(done).as_failure();
        }
        return all;
    }
    /// The first entity, or nothing.
    [[nodiscard]] result<std::optional<Entity>> first() const {
        result<std::optional<Entity>> found{std::in_place};
        // One at a time: an index row may name an entity that is gone.
        auto walked = walk(rows_.page_size(1), 1, [&](Entity const& one) {
            found->emplace(one);
            return false;
        });
        if (!walked) {
            found = std::move(walked).as_failure();
        }
        return found;
    }

private:
    indexed_query(
        shared<detail::index_family> family, std::size_t index, query<Index, Path> rows, std::size_t in_flight)
        : family_(std::move(family)), index_(index), rows_(std::move(rows)), in_flight_(in_flight) {}

    /// Shows the entities, `together` of them read at a time, until `function` returns false.
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
            // Before each page: the query may have been made, or its last page read, when the index was still kept.
            if (family_) { // else the pages answer that this was moved from
                call context{family_->main.options(), *family_->options.time};
                ENTITABLE_CHECK(family_->check_ready(index_, context));
            }
            ENTITABLE_TRY(auto const page, pages.next());
            if (!page) {
                break;
            }
            for (Index const& each : *page) {
                ENTITABLE_TRY(auto one, name_of(each));
                named.push_back(std::move(one));
                if (named.size() == together) {
                    ENTITABLE_CHECK(hand_out());
                }
            }
        }
        return hand_out();
    }
    [[nodiscard]] static result<detail::named_entity> name_of(Index const& found) {
        result<detail::named_entity> named{std::in_place};
        Entity const& entity = found;
        ENTITABLE_TRY(named->entity.partition_key, partition_key_of(entity));
        ENTITABLE_TRY(named->entity.row_key, row_key_of(entity));
        ENTITABLE_TRY(named->index_row.partition_key, partition_key_of(found));
        ENTITABLE_TRY(named->index_row.row_key, row_key_of(found));
        return named;
    }

    shared<detail::index_family> family_;
    std::size_t index_;
    query<Index, Path> rows_;
    std::size_t in_flight_{16};
};

ENTITABLE_END_NAMESPACE
