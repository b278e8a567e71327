// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `materialized_view<View>`: the result of a fold over tables, stored in a separate table.

#include <entitable/bulk/views/detail/view_generations.hpp>
#include <entitable/client/query.hpp>
#include <entitable/client/reader.hpp>
#include <entitable/core/try.hpp>

#include <concepts>
#include <unordered_map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class View, class Entity>
concept view_folds = requires(View& made, Entity const& entity) {
    { View::key(entity) } -> std::same_as<View>;
    made.add(entity);
};

/// Reports in one line which declarations a view type lacks.
template <class View, class Entity>
[[nodiscard]] consteval bool allow_view() {
    constexpr bool complete = view_folds<View, Entity>;
    static_assert(complete,
        "a view needs two functions: static author_posts key(post const&), whose keys determine the group of an "
        "entity, and void add(post const&)");
    return complete;
}

/// The groups of a view. Used by one thread at a time.
template <class View>
class view_fold {
public:
    /// Adds the entities that a query finds.
    template <class Query>
    [[nodiscard]] result<void> take(Query const& source) {
        using entity = typename Query::value_type;
        result<void> good;
        if constexpr (allow_view<View, entity>()) {
            ENTITABLE_CHECK(source.for_each([&](entity const& each) {
                if (good) { good = count(each); }
            }));
        }
        return good;
    }
    [[nodiscard]] std::uint64_t entities() const noexcept { return entities_; }
    /// Returns the rows, in key order.
    [[nodiscard]] result<std::vector<row>> rows() {
        std::vector<row> made;
        made.reserve(groups_.size());
        for (auto const& [key, group] : groups_) { ENTITABLE_CHECK(to_row(group, made.emplace_back())); }
        groups_.clear();
        ENTITABLE_CHECK(order_view_rows(made));
        return made;
    }

private:
    template <class Entity>
    [[nodiscard]] result<void> count(Entity const& each) {
        ++entities_;
        View begun = View::key(each);
        ENTITABLE_TRY(std::string key, partition_key_of(begun));
        ENTITABLE_TRY(std::string const row_key, row_key_of(begun));
        key.append(1, '\0').append(row_key); // no stored key contains this character
        groups_.try_emplace(std::move(key), std::move(begun)).first->second.add(each);
        return {};
    }

    std::unordered_map<std::string, View> groups_;
    std::uint64_t entities_{};
};

} // namespace detail

/// The rows of a fold over entities, in a separate table. A refresh makes all rows again, separately from the current rows, so that no
/// reader ever sees an incomplete view.
///
///     struct author_posts {
///         std::string board, author;
///         std::int32_t posts{};
///         static author_posts key(post const& of) { return {"all", of.author}; }     // the group of an entity
///         void add(post const&) { ++posts; }
///     };
///     ENTITABLE(author_posts, partition_key(board), row_key(descending(width(posts, 9)), author), properties())
///     materialized_view<author_posts> authors{store, "authors"};
///     authors.refresh(posts.scan_table());
///     auto top = authors.read([](auto const& rows) { return rows.where(a::board == "all").take(10).to(); });
///
/// - `key` returns the group, `add` adds an entity to it, in the order in which the queries return them. The row has the final keys of the
///   group, so a view can rank its groups. One object for each group is in memory during a refresh.
/// - A generation is a table, `name` and "v" and 16 digits. One row names the current generation. Results are returned with their age:
///   `view_answer`.
/// - A generation exists for at least `view_options::keep` after its replacement; then a refresh drops it, and its readers get
///   TableNotFound.
/// - Several programs may refresh a view. Reads never go back: a refresh that started earlier does not replace the result of a refresh that
///   started later.
/// - An interrupted refresh does not change the view; the next refresh removes its table. It is not resumed: run it again.
///
/// The sources may be in any store, and of several types (with an `add` for each): a table, all shards of a table, other accounts.
///
/// Thread safety: safe to use from several threads. Copies are cheap.
template <mapped_entity View>
class materialized_view {
public:
    using value_type = View; ///< type of its rows

    /// `name`: as for `table`, with at most 46 characters. Sends nothing.
    materialized_view(any_store through, std::string name, view_options how = {}, call_options options = {})
        : all_(detail::table_core{std::move(through), std::move(name), std::move(options)}, std::move(how)) {}

    [[nodiscard]] std::string const& name() const noexcept { return all_.core().name(); } ///< name of the view
    /// Creates the view, without a generation; TableAlreadyExists if it exists.
    [[nodiscard]] result<void> create() const { return all_.core().create(); }
    /// Creates the view unless it exists; returns whether this call created it.
    [[nodiscard]] result<bool> create_if_absent() const { return all_.core().create_if_absent(); }
    /// Drops the view with all generations; must not run concurrently with a refresh. May be called again after an interruption. Errors:
    /// ResourceNotFound or TableNotFound if it does not exist.
    [[nodiscard]] result<void> drop() const { return all_.drop(); }

    /// Makes a new generation from the entities that the queries find, and makes it current. Afterwards the view includes everything that
    /// was acknowledged before the call, even if another refresh came first.
    ///
    /// Errors: those of the queries and of a bulk load; InvalidDuplicateRow if two groups have the same final keys. Cost: the reads, the
    /// writes of all rows, seven requests, and up to two for each old generation that it removes.
    template <class... Queries>
    [[nodiscard]] result<view_refresh> refresh(Queries const&... sources) const {
        return all_.refresh(
            [&](std::uint64_t& entities) -> result<std::vector<row>> { return made_of(entities, sources...); });
    }
    /// Makes the rows in memory and compares them with the rows of the current generation. Errors: ViewNotReady before the first refresh.
    template <class... Queries>
    [[nodiscard]] result<view_audit>(verify)(Queries const&... sources) const {
        return all_.audit(
            [&](std::uint64_t& entities) -> result<std::vector<row>> { return made_of(entities, sources...); });
    }

    /// Returns the current generation, for reads. The generation does not change; to resume from a token of its pages, open the generation
    /// by its name. Errors: ViewNotReady before the first refresh. Cost: one point read.
    [[nodiscard]] result<view_answer<reader<View>>> open() const {
        ENTITABLE_TRY(detail::view_pointer now, all_.shown());
        return view_answer<reader<View>>{
            reader<View>{all_.core().store(), std::move(now.table), all_.core().options()}, now.from, now.until};
    }
    /// Returns the result of `look(reader<View> const&)` on one generation; calls it again if that generation was removed in the meantime.
    /// Errors: those of `look`, and of `open`. Cost: one point read in addition to those of `look`.
    template <class Look>
    [[nodiscard]] auto read(Look&& look) const
        -> result<view_answer<typename std::invoke_result_t<Look&, reader<View> const&>::value_type>> {
        using came_type = typename std::invoke_result_t<Look&, reader<View> const&>::value_type;
        for (std::string last;;) {
            ENTITABLE_TRY(view_answer<reader<View>> const now, open());
            auto seen = look(now.value);
            if (seen) { return view_answer<came_type>{*std::move(seen), now.from, now.until}; }
            bool const gone = seen.error().code == error_code::table_not_found ||
                seen.error().code == error_code::table_being_deleted;
            if (!gone || last == now.value.name()) { // it exists, or was removed although it is still current
                return std::move(seen).as_failure();
            }
            last = now.value.name();
        }
    }

private:
    template <class... Queries>
    [[nodiscard]] static result<std::vector<row>> made_of(std::uint64_t& entities, Queries const&... sources) {
        static_assert(sizeof...(Queries) > 0, "a view needs at least one query to read its entities from");
        detail::view_fold<View> fold;
        result<void> read;
        static_cast<void>(((read = fold.take(sources)) && ...));
        if (!read) { return std::move(read).as_failure(); }
        entities = fold.entities();
        return fold.rows();
    }

    detail::view_generations all_;
};

ENTITABLE_END_NAMESPACE
