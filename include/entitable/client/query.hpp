// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `query<E, Path>`: a typed query, ready to run. A range of entities, and folds over it that return results.

#include <entitable/mapping/codec.hpp>
#include <entitable/query/reading.hpp>
#include <entitable/transport/any_transport.hpp>
#include <entitable/transport/run.hpp>

#include <iterator>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Walks the rows of a query: reads the next page when the last one is used up. Not typed, compiled once.
class row_walk {
public:
    ENTITABLE_LAZY row_walk(any_transport const& through, call_options const& options, query_reading reading,
        std::optional<std::uint64_t> take, std::uint32_t page_size);

    /// The next row, until the next call; nothing at the end.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> next();
    [[nodiscard]] query_cost const& cost() const noexcept { return reading_.cost(); }

private:
    any_transport through_;
    call_options options_;
    query_reading reading_;
    std::optional<std::uint64_t> left_;
    std::uint32_t page_size_;
    page page_;
    std::size_t at_{};
};

} // namespace detail

/// A query over entities of one type. It owns all that it needs; the table may go away before it. Single pass: `begin()` runs
/// it anew. One thread at a time.
template <class Entity, access_path Path>
class query {
public:
    /// How the service reaches the rows; known at compile time.
    static constexpr access_path access = Path;
    using value_type = Entity;

    query(any_transport through, call_options options, std::string table, result<query_plan> plan)
        : through_(std::move(through)),
          options_(std::move(options)),
          table_(std::move(table)),
          plan_(std::move(plan)) {}

    /// At most `count` entities in all.
    [[nodiscard]] query take(std::uint64_t count) && {
        take_ = count;
        return std::move(*this);
    }
    /// At most `rows` rows a request, 1 to 1000; the number of entities in all does not change.
    [[nodiscard]] query page_size(std::uint32_t rows) && {
        page_size_ = rows;
        return std::move(*this);
    }

    /// What would be run. The query's error, if it could not be planned.
    [[nodiscard]] result<explanation> explain() const {
        if (!plan_) {
            return failure{plan_.error()};
        }
        return entitable::explain(*plan_);
    }

    /// Calls `function(entity)` for each; the error of the page that failed, after the entities before it. What the function
    /// throws passes through and ends the query.
    template <class Function>
    [[nodiscard]] result<void> for_each(Function&& function) const {
        auto walk = start();
        if (!walk) {
            return std::move(walk).as_failure();
        }
        Entity entity;
        for (;;) {
            auto read = read_next(*walk, entity);
            if (!read) {
                return std::move(read).as_failure();
            }
            if (!*read) {
                return {};
            }
            function(std::as_const(entity));
        }
    }

    /// The first entity, or nothing.
    [[nodiscard]] result<std::optional<Entity>> first() const {
        auto walk = start(std::uint64_t{1});
        if (!walk) {
            return std::move(walk).as_failure();
        }
        result<std::optional<Entity>> found{std::in_place, std::in_place};
        auto read = read_next(*walk, **found);
        if (!read) {
            return std::move(read).as_failure();
        }
        if (!*read) {
            found->reset();
        }
        return found;
    }

    /// The number of entities.
    [[nodiscard]] result<std::uint64_t> count() const {
        auto walk = start();
        if (!walk) {
            return std::move(walk).as_failure();
        }
        for (std::uint64_t counted = 0;; ++counted) {
            auto row = walk->next();
            if (!row) {
                return std::move(row).as_failure();
            }
            if (!*row) {
                return counted;
            }
        }
    }

    /// All entities in a container with push_back.
    template <class Container = std::vector<Entity>>
    [[nodiscard]] result<Container> to() const {
        result<Container> all{std::in_place};
        auto done = for_each([&](Entity const& entity) { all->push_back(entity); });
        if (!done) {
            return std::move(done).as_failure();
        }
        return all;
    }

    /// An input iterator over the entities. Reading a page may throw its error, as `value()` would.
    class iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using value_type = Entity;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        [[nodiscard]] Entity const& operator*() const noexcept { return owner_->current_; }
        [[nodiscard]] Entity const* operator->() const noexcept { return &owner_->current_; }
        iterator& operator++() {
            owner_->advance();
            return *this;
        }
        void operator++(int) { owner_->advance(); }
        [[nodiscard]] bool at_end() const noexcept { return !owner_->walk_; }
        [[nodiscard]] friend bool operator==(iterator const& at, std::default_sentinel_t) noexcept {
            return at.at_end();
        }

    private:
        friend class query;
        explicit iterator(query* owner) noexcept : owner_(owner) {}
        query* owner_{};
    };

    [[nodiscard]] iterator begin() {
        auto walk = start();
        walk_.emplace(std::move(walk).value());
        advance();
        return iterator{this};
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    [[nodiscard]] result<detail::row_walk> start(std::optional<std::uint64_t> limit = {}) const {
        if (!plan_) {
            return failure{plan_.error()};
        }
        query_reading reading{
            table_, *plan_, mapping<Entity>::partition_layout, mapping<Entity>::row_layout, page_size_};
        return result<detail::row_walk>{std::in_place, through_, options_, std::move(reading),
            limit && (!take_ || *limit < *take_) ? limit : take_, page_size_};
    }
    [[nodiscard]] result<bool> read_next(detail::row_walk& walk, Entity& out) const {
        auto row = walk.next();
        if (!row) {
            return std::move(row).as_failure();
        }
        if (!*row) {
            return false;
        }
        if (auto decoded = from_row(**row, out, options_.rows); !decoded) {
            return std::move(decoded).as_failure();
        }
        return true;
    }
    void advance() {
        auto read = read_next(*walk_, current_);
        if (!read || !*read) {
            walk_.reset();
        }
        (void)std::move(read).value();
    }

    any_transport through_;
    call_options options_;
    std::string table_;
    result<query_plan> plan_;
    std::optional<std::uint64_t> take_;
    std::uint32_t page_size_{1000};
    std::optional<detail::row_walk> walk_;
    Entity current_{};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/query.ipp>
#endif
