// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of a query that does not depend on its entity: the request, the transport, and the walk over the rows.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/detail/migration_mark.hpp>
#include <entitable/client/mapping/detail/entity_kind.hpp>
#include <entitable/client/query/reading.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/detail/one_thread.hpp>
#include <entitable/core/iterator.hpp>
#include <entitable/core/transport/any_store.hpp>

#include <cstdint>
#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

template <class Entity>
struct instantiated_entity;

/// The immutable part of a query, shared by its copies and runs.
struct query_source : counted, query_parts {
    ENTITABLE_LAZY query_source(any_store to, call_options how, std::string name, result<query_plan> planned,
        key_layout partition, key_layout row);
    ~query_source();

    any_store through;
    call_options options;
    result<void> problem;       ///< error of the plan
    shared<former_watch> watch; ///< null if no condition is on a member with an earlier name or type

    /// The parts that a run would use now.
    [[nodiscard]] query_parts const& current() const noexcept {
        bool const is_migrated = watch && watch->done.load(memory_order::relaxed);
        return is_migrated ? watch->migrated : static_cast<query_parts const&>(*this);
    }
};

/// Makes the source of a query of a table.
ENTITABLE_LAZY [[nodiscard]] shared<query_source> ask(
    table_core const& table, predicate_nodes const& condition, access_path path, entity_layout const& of);

/// Makes a query skip rows of other types. Rows of other types in the same partitions are not read if the first characters of the row key
/// distinguish them.
ENTITABLE_LAZY void only_of_type(query_source& source, type_pattern const& type, bool shares_partitions);

/// Returns the same source for rows written before `limit`, if the filter has room for one more comparison.
ENTITABLE_LAZY [[nodiscard]] shared<query_source> only_older(query_source const& all, date_time limit);

/// Returns the same source on another transport.
ENTITABLE_LAZY [[nodiscard]] shared<query_source> with_transport(query_source const& all, any_store through);
/// The error of a query that cannot run.
ENTITABLE_LAZY [[nodiscard]] result<void> check_source(query_source const* source);

/// Options that may differ from run to run.
struct query_limits {
    std::optional<std::uint64_t> take;
    std::uint32_t page_size{1000};
    std::size_t in_flight{1};
    std::string token; ///< token to resume from, if `read` is set
    /// `read_token` if there is a token, so that only resumed queries instantiate it.
    result<query_position> (*read)(query_parts const&, projection const&, std::string_view){};
    bool only_one{};  ///< set if at most one row is left from here
    bool any_order{}; ///< the rows may come in any order
};

/// Prefetches the memory of the row that follows soon after this row, so that the processor loads several rows at once.
inline void fetch_ahead([[maybe_unused]] std::span<row_view const> run, [[maybe_unused]] std::size_t at) noexcept {
#if defined(__GNUC__)
    constexpr std::size_t ahead = 4;
    constexpr std::size_t bytes = 384; // enough for the names and the first values of a row
    if (at + ahead < run.size()) {
        auto const payload = run[at + ahead].payload;
        for (std::size_t byte = 0; byte < payload.size() && byte < bytes; byte += 64) {
            __builtin_prefetch(payload.data() + byte);
        }
    }
#endif
}

/// Describes the objects that a walk reads rows into.
struct row_kind {
    row_reader read;
    void* (*make)();
    void (*remove)(void* made) noexcept;
    bool versions{true}; ///< whether `read` may use the row's ETag
};

/// Requests several pages concurrently. Defined with the bodies, so that a file with a query does not compile channels.
struct way_of_pages;

/// What a visitor uses of the rows that it is shown: see `read_entities`.
struct shown_uses {
    bool row_keys{true};
    bool versions{true};
    bool any_order{}; ///< with a limited number of rows, the order is kept
    std::size_t* rows_to_come{};
};

/// Walks over the rows of a query: reads the next page when the current one is used up. Untyped, compiled once.
class row_walk : public counted {
public:
    /// Starts a walk at the beginning, or at the token. Errors: the query's, if it could not be planned.
    ENTITABLE_LAZY [[nodiscard]] static result<shared<row_walk>> begin(
        shared<query_source> source, query_limits limits, projection select);

    /// Reads the next page with rows; false at the end.
    ENTITABLE_LAZY [[nodiscard]] result<bool> next_page();
    /// The same as an operation, one request after the other: see `page_reading`.
    ENTITABLE_LAZY void begin_page();
    ENTITABLE_LAZY [[nodiscard]] operation_step due();
    ENTITABLE_LAZY void answer(result<query_entities::response> response, steady_time now);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<bool> end_page();
    /// Makes this error the result of each further page.
    ENTITABLE_LAZY void end_with(error const& reason);
    /// Sets whether the next page is this page again.
    void keep_page(bool keep) noexcept { keeps_page_ = keep; }
    /// The rows of that page; the first `size()` belong to the query's result.
    [[nodiscard]] page const& rows() const noexcept { return page_; }
    [[nodiscard]] std::size_t size() const noexcept { return used_; }

    /// Counts the rows from the next page on.
    ENTITABLE_LAZY [[nodiscard]] result<std::uint64_t> count_rows();
    /// Visits all rows from the next page on, run by run, while the store is being read: see `read_entities`. The visitor stores its own
    /// error. `page_done` is called after each page, while nothing is being read, and may end the walk.
    ENTITABLE_LAZY [[nodiscard]] result<void> show_rows(
        page_visitor visit, function_ref<result<void>()> page_done, shown_uses uses = {});
    /// Whether this query can use `show_rows`.
    [[nodiscard]] bool can_show_rows() const noexcept { return limits_.in_flight <= 1; }
    /// Returns the next row, valid until the next call; nullopt at the end.
    ENTITABLE_LAZY [[nodiscard]] result<std::optional<row_view>> next();

    // Does the same for objects whose type only the given functions know. Compiled once, rather than for each query of a program.
    /// Reads the next row into `to`; false at the end.
    ENTITABLE_LAZY [[nodiscard]] result<bool> read_next(void* to, row_reader read);
    /// Reads all rows from the next page on into new objects that `add` appends to `all`, which gets room for `room` objects before; `shown`
    /// as in `call_rows`. After an error there may be one more object than rows.
    ENTITABLE_LAZY [[nodiscard]] result<void> read_rows(
        void* all, void* (*add)(void* all, std::size_t room), row_reader read, bool shown);
    /// Whether rows may be converted while the store is being read. Lenient reading constructs entities, which may run user code.
    [[nodiscard]] bool can_read_shown() const noexcept { return can_show_rows() && mode() != reading::lenient; }
    /// Calls `call(function, row)` for all rows from the next page on, while nothing is being read: it may throw, wait and call the store.
    /// `shown`: the rows of each page are converted while the store is being read, if possible; otherwise one by one.
    ENTITABLE_LAZY [[nodiscard]] result<void> call_rows(
        row_kind const& kind, bool shown, void* function, void (*call)(void* function, void const* row));

    /// The way in which rows are read.
    [[nodiscard]] reading mode() const noexcept { return source_->options.reading; }
    [[nodiscard]] query_cost const& cost() const noexcept { return reading_.cost(); }
    /// The cost before the current page was read.
    [[nodiscard]] query_cost const& cost_before() const noexcept { return before_; }
    /// Token of the page after the current page; nullopt if there is no further page.
    ENTITABLE_LAZY [[nodiscard]] std::optional<std::string> token() const;

    row_walk(shared<query_source> source, query_limits limits, query_reading reading);
    ~row_walk();

private:
    [[nodiscard]] bool taken_all() const noexcept { return limits_.take && taken_ >= *limits_.take; }
    ENTITABLE_LAZY [[nodiscard]] std::uint32_t rows_of_next_page() const noexcept;
    ENTITABLE_LAZY [[nodiscard]] result<void> show_page(
        page_visitor const& watcher, shown_uses uses, std::uint64_t* number = nullptr);
    /// Requests the next page, and others concurrently.
    ENTITABLE_LAZY void read_round();
    /// Takes the marks: the walk uses the plan for a migrated table if they are all there.
    ENTITABLE_LAZY void take_marks(result<query_entities::response> response);
    /// Reads the marks, if they must be read.
    ENTITABLE_LAZY void read_marks();
    /// Does the same for a walk that shows its rows; returns the error.
    ENTITABLE_LAZY [[nodiscard]] result<void> read_marks_shown();
    [[nodiscard]] query_parts const& parts() const noexcept {
        return is_migrated_ ? source_->watch->migrated : static_cast<query_parts const&>(*source_);
    }
    /// Takes arrived pages until one has rows; returns whether another page must be requested.
    ENTITABLE_LAZY [[nodiscard]] bool take_pages();

    shared<query_source> source_;
    query_limits limits_;
    query_reading reading_;
    shared<way_of_pages> way_; ///< how pages are read, after the first round of several pages
    page page_;
    std::size_t used_{};    ///< number of rows taken from the page
    std::size_t at_{};      ///< index of the next row in the page
    std::uint64_t taken_{}; ///< total number of rows, including the current page
    query_cost before_;     ///< see `cost_before`
    result<void> failed_;   ///< error of the page
    bool keeps_page_{};     ///< see `keep_page`
    bool asks_marks_{};     ///< the marks of migrations must be read before the first page
    bool is_migrated_{};    ///< see `parts`
    thread_inside inside_;  ///< held in functions that read pages and wait
};

/// Reads the next page with rows of a walk, as an operation: false at the end. Each request is a separate call.
class page_reading {
public:
    using has_call_for_each_request = void; ///< read by drivers

    explicit page_reading(row_walk& walk) : walk_(&walk) { walk.begin_page(); }

    ENTITABLE_LAZY [[nodiscard]] operation_step next();
    ENTITABLE_LAZY void answer(result<query_entities::response> response, steady_time now);
    ENTITABLE_LAZY void abandon(error const& reason);
    ENTITABLE_LAZY [[nodiscard]] result<bool> finish();

private:
    row_walk* walk_;
};

/// The walk of an iterator, and the object that each row is read into.
class row_cursor : public counted {
public:
    /// Starts before the first row. The kind must live as long as the program.
    row_cursor(shared<row_walk> started, row_kind const& kind)
        : kind_(kind), walk_(std::move(started)), current_(kind.make()) {}
    ~row_cursor();

    /// Reads the next row; throws the error if it cannot be read, and throws that error again on every later call. Ends
    /// the program after the last row.
    ENTITABLE_LAZY void advance();
    /// Returns the row; ends the program if there is none.
    [[nodiscard]] void const* current() const {
        ENTITABLE_ASSERT(at_ == place::row, "a query's iterator was dereferenced without a row", no_row());
        return current_;
    }
    [[nodiscard]] bool end() const noexcept { return at_ == place::end; }
    /// Makes the error for a step past the end, or for a read after an error.
    ENTITABLE_LAZY [[nodiscard]] static error no_row();

private:
    row_kind const& kind_;
    shared<row_walk> walk_;
    void* current_; ///< an object of the type of `kind_`
    enum class place : std::uint8_t { row, end, failed } at_{place::row};
};

class any_query;

/// The part of a query's iterator that does not depend on the type of its rows.
class row_iterator {
public:
    [[nodiscard]] bool at_end() const noexcept { return !at_ || at_->end(); } ///< whether there are no more rows
    [[nodiscard]] friend bool operator==(row_iterator const& at, std::default_sentinel_t) noexcept {
        return at.at_end();
    }

protected:
    row_iterator() = default;
    row_iterator(row_iterator const& other) = default;
    row_iterator(row_iterator&& other) noexcept = default;
    row_iterator& operator=(row_iterator const& other) = default;
    row_iterator& operator=(row_iterator&& other) noexcept = default;
    ~row_iterator(); // compiled once: each loop over a query destroys one
    /// Starts the query: see `any_query::start_cursor`.
    ENTITABLE_LAZY row_iterator(any_query const& asked, projection (*names)(), row_kind const& kind);

    ENTITABLE_LAZY [[nodiscard]] void const* row() const { return cursor().current(); }
    ENTITABLE_LAZY void step() { cursor().advance(); }

private:
    ENTITABLE_LAZY [[nodiscard]] row_cursor& cursor() const {
        ENTITABLE_ASSERT(at_, "an iterator without a query was used", row_cursor::no_row());
        return *at_;
    }

    shared<row_cursor> at_;
};

/// The projection that contains only keys.
ENTITABLE_LAZY [[nodiscard]] projection key_names();
/// Does the same, with the number of rows that a wide entity has.
ENTITABLE_LAZY [[nodiscard]] projection keys_and_parts();
/// Appends a name. Compiled once: files with `select` do not compile a growing vector of texts.
ENTITABLE_LAZY void add_name_to(projection& names, std::string_view name);
/// The last walk of a query. It belongs to one object: a copy starts without a walk. A template, so that its members
/// are compiled only if they are called.
template <class Walk>
struct last {
    last() = default;
    last(last const&) noexcept {}
    last(last&&) noexcept = default;
    last& operator=(last other) noexcept {
        std::swap(walk, other.walk);
        return *this;
    }
    ~last() = default;

    shared<Walk> walk;
};

/// A query without the type of its rows.
class any_query {
    friend class row_iterator;
    template <class>
    friend struct instantiated_entity;

protected:
    any_query() = default;
    explicit any_query(shared<query_source>&& source);
    /// A query of a table.
    ENTITABLE_LAZY any_query(
        table_core const& table, predicate_nodes const& condition, access_path path, entity_kind const& of);
    any_query(shared<query_source> source, query_limits limits)
        : source_(std::move(source)), limits_(std::move(limits)) {}
    // Compiled once: each query of a program has some of them.
    any_query(any_query const& other);
    any_query(any_query&& other) noexcept;
    any_query& operator=(any_query const& other);
    any_query& operator=(any_query&& other) noexcept;
    ~any_query();

    /// Returns the names of the requested properties; null for all.
    using names_of_row = projection (*)();

    ENTITABLE_LAZY [[nodiscard]] result<shared<row_walk>> start(query_limits limits, projection names) const;
    ENTITABLE_LAZY [[nodiscard]] result<shared<row_walk>> start(names_of_row names) const;
    /// Starts the walk; throws its error if it cannot run.
    ENTITABLE_LAZY [[nodiscard]] shared<row_cursor> start_cursor(names_of_row names, row_kind const& kind) const;
    /// Reads the first row into `to`; false if there is none.
    ENTITABLE_LAZY [[nodiscard]] result<bool> read_first(names_of_row names, void* to, row_reader read) const;
    /// Reads all rows: see `row_walk`.
    ENTITABLE_LAZY [[nodiscard]] result<void> read_all(
        names_of_row names, void* all, void* (*add)(void* all, std::size_t room), row_reader read, bool shown) const;
    ENTITABLE_LAZY [[nodiscard]] result<void> call_all(names_of_row names, row_kind const& kind, bool shown,
        void* function, void (*call)(void* function, void const* row)) const;
    ENTITABLE_LAZY [[nodiscard]] result<explanation> explain_with(names_of_row names) const;
    /// Counts the rows; the service sends only keys, unless a token requires these names.
    ENTITABLE_LAZY [[nodiscard]] result<std::uint64_t> count_with(names_of_row names) const;

    /// Whether there is a row.
    ENTITABLE_LAZY [[nodiscard]] result<bool> exists_with(names_of_row names) const;

    shared<query_source> source_;
    query_limits limits_;
    mutable last<row_walk> last_;
    mutable thread_inside inside_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/impl/any_query.ipp>
#include <entitable/client/impl/row_walk.ipp>
#include <entitable/client/impl/walk_marks.ipp>
#endif

#endif
