// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `local<Store>`: the semantics of the table service, implemented once over any ordered store. Keys, ETags, the six forms of a write,
/// transactions, filters, pages and error codes are implemented here, so that all stores behave the same.

#include <entitable/core/try.hpp>
#include <entitable/local/detail/local_rules.hpp>
#include <entitable/local/detail/write_alone.hpp>
#include <entitable/local/ordered_store.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A transport over an ordered store. A cheap handle: copies share the store. A moved-from object returns InvalidInput.
///
/// ETags and Timestamps increase strictly with each write, even if the clock is set back or an entity is deleted and inserted again: this
/// holds in the whole store or, on PostgreSQL, in each partition. A page is one snapshot of each of its partitions, and a transaction is
/// seen completely. Thread safety: safe to use from several threads. If memory runs out, std::bad_alloc is propagated, and the data are
/// unchanged.
template <ordered_store Store>
class local {
public:
    using is_transport = void;     ///< opts in to `transport`
    using visits_entities = local; ///< opts in to `read_entity`
    using visits_pages = local;    ///< opts in to `read_entities`
    /// Opts in if its store does.
    using answers_at_once = std::conditional_t<entitable::answers_at_once<Store>, local, void>;

    // These are templates, because Clang 14 instantiates each constructor of a class, whatever its constraints.

    /// Uses a default store with default options.
    template <std::default_initializable Default = Store>
    local() : state_(default_state()) {}
    /// Uses a default store.
    template <std::default_initializable Default = Store>
    explicit local(local_options options) : state_(default_state(std::move(options))) {}
    /// Makes the store from the other arguments.
    template <class First, class... Rest>
    local(local_options options, First&& first, Rest&&... rest)
        : state_(new state(std::move(options), std::forward<First>(first), std::forward<Rest>(rest)...)) {}

    /// Returns `local_options::limits`; the outcome of a write is final when its call returns.
    [[nodiscard]] entitable::profile profile() const {
        entitable::profile own = state_ ? state_->limits() : entitable::profile{};
        own.longest_delivery = own.longest_work = {}; // a call that has returned is final
        return own;
    }

    /// Executes a request as the service does. Sets `call::server_date` for writes and pages, by the clock of the options.
    ///
    /// Errors: a request that violates the profile is refused before anything else; create_table returns TableAlreadyExists, and
    /// TableBeingDeleted on a nasty backend for a while after the table was deleted; delete_table returns ResourceNotFound; list_tables and
    /// query_entities return ContinuationInvalid for the token of a different query; reads and writes return TableNotFound; get_entity
    /// returns ResourceNotFound; writes return EntityAlreadyExists, ResourceNotFound, UpdateConditionNotSatisfied, and EntityTooLarge and
    /// TooManyProperties for the result of a merge; transact returns the errors of writes, with the index of the failed operation. The
    /// errors of the store are returned too.
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (!state_) { return detail::moved_from("backend"); }
        return as_operation(request, context, state_->time(), [&]() -> result<response_of<Request>> {
            if constexpr (std::same_as<Request, read_entity> || std::same_as<Request, get_entity>) {
                return answer(request, context);
            } else {
                auto begun = state_->begin(request, context);
                return begun ? attempt(request, context)
                             : result<response_of<Request>>{std::move(begun).as_failure()}; // without a move
            }
        });
    }

    /// Returns the store itself, for operations outside the table service. After a move it ends the program, by `ENTITABLE_ASSERT`.
    [[nodiscard]] Store& store() const {
        ENTITABLE_ASSERT(state_, "the store of a moved-from backend was used",
            detail::misuse("use the object that the backend was moved into"));
        return state_->store;
    }

protected:
    /// Whether there is a store; false after a move.
    [[nodiscard]] bool has_store() const noexcept { return static_cast<bool>(state_); }

private:
    struct state : detail::local_state {
        template <class... Arguments>
        explicit state(local_options how, Arguments&&... arguments)
            : local_state(std::move(how)), store(std::forward<Arguments>(arguments)...) {}
        ~state();

        Store store;
    };

    /// Returns the state with a default store, compiled with the backend; null if the store has arguments.
    [[nodiscard]] static shared<state> default_state() { return default_state(local_options{}); }
    [[nodiscard]] static shared<state> default_state([[maybe_unused]] local_options options) {
        if constexpr (std::default_initializable<Store>) {
            return shared<state>{new state(std::move(options))};
        } else {
            return {};
        }
    }

    /// Returns the store's identity for observers.
    [[nodiscard]] static server_identity const* identity() noexcept {
        if constexpr (requires { Store::identity; }) {
            return &Store::identity;
        } else {
            return nullptr;
        }
    }

    [[nodiscard]] result<create_table::response> answer(create_table const& request, call& context) const {
        auto const key = state_->table_key(request.table);
        ENTITABLE_CHECK(state_->create(
            request.table, key, [&] { return state_->store.create_table(key, request.table, context); }));
        return create_table::response{};
    }

    [[nodiscard]] result<delete_table::response> answer(delete_table const& request, call& context) const {
        auto const key = state_->table_key(request.table);
        ENTITABLE_CHECK(state_->remove(request.table, key, [&] { return state_->store.drop_table(key, context); }));
        return delete_table::response{};
    }

    [[nodiscard]] result<list_tables::response> answer(list_tables const& request, call& context) const {
        ENTITABLE_TRY(auto reader, detail::table_reader::start(request, state_->next_page(request.page_size)));
        auto const visit = [&](std::string_view key, std::string_view shown) { return reader.visit(key, shown); };
        ENTITABLE_CHECK(state_->store.tables(reader.from(), visit, context));
        return std::move(reader).finish();
    }

    /// Answers a valid request.
    template <class Request>
    [[nodiscard]] result<response_of<Request>> attempt(Request const& request, call& context) const {
        auto answered =
            count_attempt(request, context, state_->time(), [&] { return answer(request, context); }, identity());
        if constexpr (Request::writes || std::same_as<Request, query_entities> ||
            std::same_as<Request, read_entities>) {
            context.server_date = state_->time().now();
        }
        return answered;
    }

    /// The visitor runs after the attempt: its result is not an outcome of the store.
    [[nodiscard]] result<void> answer(read_entity const& request, call& context) const {
        detail::payload_copy copy;
        ENTITABLE_CHECK(read(request, context, copy));
        row_view const stored{request.partition_key, request.row_key, copy.view()};
        return (*request.visit)(stored, stored.etag(), false);
    }

    [[nodiscard]] result<get_entity::response> answer(get_entity const& request, call& context) const {
        detail::payload_copy copy;
        ENTITABLE_CHECK(read({request.table, request.partition_key, request.row_key}, context, copy));
        row_view const stored{request.partition_key, request.row_key, copy.view()};
        return get_entity::response{detail::selected_row(stored, request.select), stored.etag()};
    }

    /// Validates a request, and copies the stored bytes of its entity.
    [[nodiscard]] result<void> read(read_entity const& request, call& context, detail::payload_copy& copy) const {
        // A store that never waits is asked first: an entity that it has, by the same bytes, has valid keys. Only an observer would see that.
        bool const asks_first = entitable::answers_at_once<Store> && context.watch == nullptr;
        if (asks_first) {
            ENTITABLE_CHECK(check_call(context, state_->time()));
            bool same_bytes = false;
            auto found = copy_payload(request, context, copy, &same_bytes);
            if (found && same_bytes) { // counted as below, without an observer
                ++context.attempts;
                context.spans.server = identity();
                return {};
            }
            ENTITABLE_CHECK(state_->begin(request, context));
            return count_attempt(request, context, state_->time(), [&] { return std::move(found); }, identity());
        }
        ENTITABLE_CHECK(state_->begin(request, context));
        auto const answered = [&] { return copy_payload(request, context, copy); };
        return count_attempt(request, context, state_->time(), answered, identity());
    }

    /// Copies the stored bytes of an entity. `same_bytes`: set if its keys are stored as they are.
    [[nodiscard]] result<void> copy_payload(
        read_entity const& asked, call const& context, detail::payload_copy& copy, bool* same_bytes = nullptr) const {
        auto const table = state_->table_key(asked.table);
        detail::stored_key const partition{asked.partition_key};
        detail::stored_key const row{asked.row_key};
        if (same_bytes != nullptr) { *same_bytes = partition.is_ascii() && row.is_ascii(); }
        auto const take = [&](std::string_view payload) { copy.take(payload); };
        ENTITABLE_TRY(auto const found, state_->store.get(table, partition, row, take, context));
        switch (found) {
            case lookup::found: break;
            case lookup::absent: return state_->no_entity(asked.table, asked.partition_key, asked.row_key);
            case lookup::no_table: return state_->no_table(asked.table);
        }
        if (copy.view().size() < row_format::header_size) {
            return failure{error_code::row_malformed, "truncated row"};
        }
        return {};
    }

    [[nodiscard]] result<query_entities::response> answer(query_entities const& request, call& context) const {
        auto const table = state_->table_key(request.table);
        auto reader = detail::page_reader::start(request, table, state_->next_page(request.page_size));
        if (!reader) { return std::move(reader).as_failure(); }
        ENTITABLE_CHECK(read_page(*reader, request.table, table, false, context));
        return std::move(*reader).finish();
    }

    [[nodiscard]] result<read_entities::response> answer(read_entities const& request, call& context) const {
        query_entities const& asked = *request.asked;
        auto const limits = state_->next_page(asked.page_size);
        page_visitor const* const shown = limits.shuffled_by == 0 ? request.visit : nullptr;
        auto const table = state_->table_key(asked.table);
        auto reader = detail::page_reader::start(asked, table, limits, shown, request.row_keys);
        if (!reader) { return std::move(reader).as_failure(); }
        if constexpr (requires(count_range const& range) { state_->store.count_rows("", range, context); }) {
            auto const range = request.only_counts ? reader->counted(request.without_system_rows) : std::nullopt;
            if (range) {
                auto counted = state_->store.count_rows(table, *range, context);
                // A count takes one statement, and pages take several: if the count takes too long, pages may still succeed.
                bool const too_long = !counted && counted.error().code == error_code::store_busy;
                if (!counted && !too_long) { return std::move(counted).as_failure(); }
                if (counted && *counted) { return read_entities::response{std::nullopt, **counted, **counted, false}; }
            }
        }
        ENTITABLE_CHECK(read_page(*reader, asked.table, table, shown != nullptr, context, request.rows_to_come));
        return shown != nullptr ? std::move(*reader).finish_shown()
                                : detail::show_page(std::move(*reader).finish(), *request.visit);
    }

    /// Passes the rows of a page to its reader, in runs if the store can and the reader does not collect them.
    [[nodiscard]] result<void> read_page(detail::page_reader& reader, std::string_view named, std::string_view table,
        bool in_runs, call const& context, std::size_t* rows_to_come = nullptr) const {
        auto const visit = [&](std::string_view partition, std::string_view row, std::string_view payload) {
            return reader.visit(partition, row, payload);
        };
        auto const visit_run = [&](std::span<row_view const> run) { return reader.visit(run); };
        auto found = [&] {
            if constexpr (requires { state_->store.scan_runs(table, reader.range(), visit_run, context); }) {
                if (in_runs) { return state_->store.scan_runs(table, reader.range(rows_to_come), visit_run, context); }
            }
            return state_->store.scan(table, reader.range(), visit, context);
        }();
        if (!found) { return std::move(found).as_failure(); }
        if (*found == lookup::no_table) { return state_->no_table(named); }
        return {};
    }

    /// Whether a store applies a change of one row by itself.
    template <class Any>
    static constexpr bool decides_rows =
        requires(Any& store, row_write const& change, call& context) { store.write_row("", "", "", change, context); };

    /// Whether a store changes one row without a transaction.
    template <class Any>
    static constexpr bool updates_rows = requires(
        Any& store, row_decision decide, call const& context) { store.update_row("", "", "", decide, context); };

    [[nodiscard]] result<write_entity::response> answer(write_entity const& request, call& context) const {
        result<written> outcome{std::in_place};
        if constexpr (updates_rows<Store>) {
            row const& entity = request.change.entity;
            std::string merged;
            auto const decide = [&](std::string_view const* stored) {
                return state_->decide(request.change, stored, request.table, merged, outcome);
            };
            auto done = state_->store.update_row(state_->table_key(request.table),
                detail::stored_key{entity.partition_key()}, detail::stored_key{entity.row_key()}, decide, context);
            if (!done) {
                outcome = std::move(done).as_failure();
            } else if (*done == lookup::no_table) {
                outcome = state_->no_table(request.table);
            }
            return outcome;
        } else {
            if constexpr (decides_rows<Store>) {
                if (auto done = detail::write_alone(state_->store, *state_, request, context)) {
                    return *std::move(done);
                }
            }
            return update(
                context, request.table, {&request.change, 1}, outcome, [&](typename Store::transaction& rows) {
                    std::string payload;
                    outcome = apply(rows, request.table, request.change, payload);
                    return outcome.has_value();
                });
        }
    }

    [[nodiscard]] result<transact::response> answer(transact const& request, call& context) const {
        result<transact::response> outcome{std::in_place};
        return update(context, request.table, request.changes, outcome, [&](typename Store::transaction& rows) {
            outcome = result<transact::response>{std::in_place};
            outcome->results.reserve(request.changes.size());
            std::string payload;
            for (std::size_t index = 0; index < request.changes.size(); ++index) {
                auto one = apply(rows, request.table, request.changes[index], payload);
                if (!one) {
                    failure stopped = std::move(one).as_failure();
                    stopped.error().operation_index = index;
                    outcome = std::move(stopped);
                    return false;
                }
                outcome->results.push_back(*std::move(one));
            }
            return true;
        });
    }

    /// Runs `body` on the partition of the changes; it leaves its result in `outcome`, which is returned unless the store fails.
    template <class Response>
    [[nodiscard]] result<Response> update(call const& context, std::string_view table,
        std::span<mutation const> changes, result<Response>& outcome,
        function_ref<bool(typename Store::transaction&)> body) const {
        auto const table_key = state_->table_key(table);
        detail::stored_key const partition_key{changes.front().entity.partition_key()};
        auto const ahead = [&](function_ref<void(std::string_view)> take) {
            // A transaction that inserts by itself reads no row for it.
            constexpr bool inserts =
                requires(typename Store::transaction& rows, std::string payload) { rows.insert("", payload); };
            for (mutation const& each : changes) {
                if (!inserts || each.kind != mutation_kind::insert) { take(detail::stored_key{each.entity.row_key()}); }
            }
        };
        auto committed = [&] {
            if constexpr (requires { state_->store.update_rows(table_key, partition_key, ahead, body, context); }) {
                return state_->store.update_rows(table_key, partition_key, ahead, body, context);
            } else {
                return state_->store.update(table_key, partition_key, body, context);
            }
        }();
        if (!committed) { return std::move(committed).as_failure(); }
        if (*committed == lookup::no_table) { return state_->no_table(table); }
        return std::move(outcome);
    }

    /// Stages one change. Runs inside the store's transaction. The memory of `payload` is reused if the store copies it.
    [[nodiscard]] result<written> apply(
        typename Store::transaction& rows, std::string_view table, mutation const& change, std::string& payload) const {
        detail::stored_key const row_key{change.entity.row_key()};
        result<written> outcome{std::in_place};
        if constexpr (requires(row_decision decide) { rows.update_row(row_key, decide); }) {
            auto const decide = [&](std::string_view const* stored) {
                return state_->decide(change, stored, table, payload, outcome);
            };
            rows.update_row(row_key, decide);
            return outcome;
        }
        std::int64_t* last_version = nullptr;
        if constexpr (requires { rows.last_version(); }) { last_version = &rows.last_version(); }
        auto const drawn = [&]() -> std::optional<std::int64_t> {
            if constexpr (requires { rows.drawn_version(); }) {
                return rows.drawn_version();
            } else {
                return std::nullopt;
            }
        };
        if constexpr (requires { rows.insert(row_key, payload); }) {
            if (change.kind == mutation_kind::insert) {
                outcome = state_->prepare(change, nullptr, table, payload, last_version, drawn());
                if (!outcome || rows.insert(row_key, payload)) { return outcome; }
            }
        }
        bool const exists = rows.get(row_key, [&](std::string_view stored) {
            outcome = state_->prepare(change, &stored, table, payload, last_version, drawn());
        });
        if (!exists) { outcome = state_->prepare(change, nullptr, table, payload, last_version, drawn()); }
        if (!outcome) { return outcome; }
        if (change.kind == mutation_kind::remove) {
            rows.erase(row_key);
        } else {
            rows.put(row_key, std::move(payload));
        }
        return outcome;
    }

    shared<state> state_;
};

/// It is a separate function, so that it is compiled with the backend.
template <ordered_store Store>
local<Store>::state::~state() = default;

ENTITABLE_END_NAMESPACE
