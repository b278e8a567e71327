// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `local<Store>`: the semantics of the table service, written once over any ordered store. Keys, ETags, the six
/// forms of a write, transactions, filters, pages and error codes live here, so that two stores cannot disagree.

#include <entitable/backends/detail/local_rules.hpp>
#include <entitable/backends/ordered_store.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/request/validate.hpp>
#include <entitable/transport/transport.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// How a local backend behaves.
struct local_options {
    entitable::clock* time{&system_clock()}; ///< gives Timestamps; must outlive the backend
    entitable::profile limits{local_profile()};
    std::size_t page_bytes{4 * 1024 * 1024}; ///< a page ends once its rows exceed this
    std::size_t page_examined{10'000};       ///< a page ends once so many rows were looked at
};

/// A transport over an ordered store. A cheap handle: copies share the store. Safe to use from several threads.
template <ordered_store Store>
class local {
public:
    using is_transport = void;

    local() : local(local_options{}) {}
    /// The rest of the arguments makes the store.
    template <class... Arguments>
    explicit local(local_options options, Arguments&&... arguments)
        : state_(shared<state>::make(std::move(options), std::forward<Arguments>(arguments)...)) {}

    [[nodiscard]] entitable::profile profile() const { return state_->options.limits; }

    [[nodiscard]] result<create_table::response> execute(create_table const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        auto created = state_->store.create_table(text::ascii_lower(request.table), request.table);
        if (!created) {
            return std::move(created).as_failure();
        }
        if (!*created) {
            return detail::refused(error_code::table_already_exists, request.table);
        }
        return create_table::response{};
    }

    [[nodiscard]] result<delete_table::response> execute(delete_table const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        auto dropped = state_->store.drop_table(text::ascii_lower(request.table));
        if (!dropped) {
            return std::move(dropped).as_failure();
        }
        if (!*dropped) {
            return failure{error_code::resource_not_found, "there is no table \"" + request.table + "\" to delete"};
        }
        return delete_table::response{};
    }

    [[nodiscard]] result<list_tables::response> execute(list_tables const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        list_tables::response names;
        auto visited = state_->store.tables(
            request.continuation.value_or(std::string{}), [&](std::string_view key, std::string_view shown) {
                if (names.tables.size() == request.page_size) {
                    names.continuation = key;
                    return false;
                }
                names.tables.emplace_back(shown);
                return true;
            });
        if (!visited) {
            return std::move(visited).as_failure();
        }
        return names;
    }

    [[nodiscard]] result<get_entity::response> execute(get_entity const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        detail::stored_key const table{detail::stored_key::folded, request.table};
        detail::stored_key const partition{request.partition_key};
        detail::stored_key const row{request.row_key};
        result<get_entity::response> response{std::in_place};
        auto found = state_->store.get(table, partition, row, [&](std::string_view payload) {
            response->entity = detail::selected_row({request.partition_key, request.row_key, payload}, request.select);
            response->etag = row_view{{}, {}, payload}.etag();
        });
        if (!found) {
            return std::move(found).as_failure();
        }
        if (*found != lookup::found) {
            return detail::missing(*found, request.table, request.partition_key, request.row_key);
        }
        return response;
    }

    [[nodiscard]] result<query_entities::response> execute(query_entities const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        detail::stored_key const table{detail::stored_key::folded, request.table};
        auto reader = detail::page_reader::start(request, state_->options.page_bytes, state_->options.page_examined);
        if (!reader) {
            return std::move(reader).as_failure();
        }
        auto found = state_->store.scan(
            table, reader->range(), [&](std::string_view partition, std::string_view row, std::string_view payload) {
                return reader->visit(partition, row, payload);
            });
        if (!found) {
            return std::move(found).as_failure();
        }
        if (*found == lookup::no_table) {
            return detail::refused(error_code::table_not_found, request.table);
        }
        return std::move(*reader).finish();
    }

    [[nodiscard]] result<write_entity::response> execute(write_entity const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        result<written> outcome{std::in_place};
        auto committed =
            update(request.table, request.change.entity.partition_key(), [&](typename Store::transaction& transaction) {
                outcome = apply(transaction, request.table, request.change);
                return outcome.has_value();
            });
        if (!committed) {
            return std::move(committed).as_failure();
        }
        if (*committed == lookup::no_table) {
            return detail::refused(error_code::table_not_found, request.table);
        }
        return outcome;
    }

    [[nodiscard]] result<transact::response> execute(transact const& request, call& context) const {
        if (auto ready = begin(request, context); !ready) {
            return std::move(ready).as_failure();
        }
        result<transact::response> outcome{std::in_place};
        auto const partition = request.changes.front().entity.partition_key();
        auto committed = update(request.table, partition, [&](typename Store::transaction& transaction) {
            outcome = result<transact::response>{std::in_place};
            outcome->results.reserve(request.changes.size());
            for (std::size_t index = 0; index < request.changes.size(); ++index) {
                auto one = apply(transaction, request.table, request.changes[index]);
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
        if (!committed) {
            return std::move(committed).as_failure();
        }
        if (*committed == lookup::no_table) {
            return detail::refused(error_code::table_not_found, request.table);
        }
        return outcome;
    }

    /// The store itself, for what a table service has no request for.
    [[nodiscard]] Store& store() const noexcept { return state_->store; }

private:
    struct state : counted {
        template <class... Arguments>
        explicit state(local_options how, Arguments&&... arguments)
            : options(std::move(how)), store(std::forward<Arguments>(arguments)...) {}

        local_options options;
        Store store;
        atomic<std::int64_t> last_timestamp{0};
    };

    template <class Request>
    [[nodiscard]] result<void> begin(Request const& request, call const& context) const {
        if (auto allowed = check_call(context); !allowed) {
            return allowed;
        }
        return validate(request, state_->options.limits);
    }

    [[nodiscard]] result<lookup> update(std::string_view table, std::string_view partition,
        function_ref<bool(typename Store::transaction&)> body) const {
        detail::stored_key const table_key{detail::stored_key::folded, table};
        detail::stored_key const partition_key{partition};
        return state_->store.update(table_key, partition_key, body);
    }

    /// Stages one change. Runs inside of the store's transaction.
    [[nodiscard]] result<written> apply(
        typename Store::transaction& transaction, std::string_view table, mutation const& change) const {
        detail::stored_key const row_key{change.entity.row_key()};
        std::string stored;
        bool const exists = transaction.get(row_key, [&](std::string_view payload) { stored = payload; });
        date_time const timestamp = next_timestamp(exists ? row_view{{}, {}, stored}.timestamp() : date_time{});
        auto payload =
            detail::new_payload(change, exists ? &stored : nullptr, timestamp, table, state_->options.limits);
        if (!payload) {
            return std::move(payload).as_failure();
        }
        if (change.kind == mutation_kind::remove) {
            transaction.erase(row_key);
            return written{};
        }
        transaction.put(row_key, *std::move(payload));
        return written{etag::of(timestamp), false};
    }

    /// Later than every Timestamp given so far and than the one it replaces, also when the clock is set back.
    [[nodiscard]] date_time next_timestamp(date_time replaced) const noexcept {
        std::int64_t const now = state_->options.time->now().ticks;
        std::int64_t last = state_->last_timestamp.load(memory_order::relaxed);
        std::int64_t next = 0;
        do {
            next = now > last ? now : last + 1;
            next = next > replaced.ticks ? next : replaced.ticks + 1;
        } while (
            !state_->last_timestamp.compare_exchange_weak(last, next, memory_order::relaxed, memory_order::relaxed));
        return {next};
    }

    shared<state> state_;
};

ENTITABLE_END_NAMESPACE
