// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Logical tables over hashed stores.

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the name with which the table was created; the requested name if the table does not exist.
inline result<std::string> name_in_stores(sharded_state& state, std::string const& asked, call const& context) {
    ENTITABLE_TRY(auto const map, state.map.state().fresh(context));
    shard_table const* const known = map->find(asked);
    return known != nullptr ? known->name : asked;
}

/// A table in hashed stores.
class hashed_table {
public:
    hashed_table(sharded_state& state, std::string name, call const& context)
        : state_(state), context_(context), name_(std::move(name)) {}

    [[nodiscard]] std::size_t stores() const noexcept { return state_.fixed->names.size(); }
    [[nodiscard]] std::string const& store(std::size_t place) const { return state_.fixed->names[place]; }
    /// Returns its name in a store.
    [[nodiscard]] std::string stored(std::size_t place) const {
        return shard_table_name(name_, static_cast<std::int32_t>(place), state_.fixed->generation);
    }
    /// Sends a request to a store.
    template <class Request>
    [[nodiscard]] result<response_of<Request>> ask(std::size_t place, Request const& request) const {
        ENTITABLE_TRY(auto const through, state_.store(store(place), context_));
        call own;
        own.deadline = context_.deadline;
        own.cancellation = context_.cancellation;
        return through.execute(request, own);
    }
    /// Whether a store contains the table, and whether this table contains rows.
    struct found {
        bool there{};
        bool rows{};
    };
    [[nodiscard]] result<found> look(std::size_t place) const {
        page_cursor pages{query_of_any_row(stored(place))};
        found here;
        while (pages.more() && !here.rows) {
            auto const some = pages.take(ask(place, pages.request()));
            if (!some && some.error().code == error_code::table_not_found) { return found{}; }
            if (!some) { return failure{some.error()}; }
            here = {true, !some->rows.empty()};
        }
        return here;
    }

private:
    sharded_state& state_;
    call const& context_;
    std::string name_;
};

/// Creates a table in every hashed store, and in the first store last. The table is thus complete once it is in the
/// first store, and a part missing after that was lost. If the first store lacks the table, no other store has rows,
/// unless the table was partly dropped.
ENTITABLE_DECL result<create_table::response> create_hashed_table(
    sharded_state& state, create_table const& request, call& context) {
    constexpr std::size_t longest = 46; // longer names are shortened, and could not be listed
    if (request.table.size() > longest) {
        return failure{
            error_code::invalid_resource_name, "with hashed stores, a table name must have at most 46 characters"};
    }
    ENTITABLE_TRY(std::string name, name_in_stores(state, request.table, context));
    hashed_table const table{state, std::move(name), context};
    ++context.attempts;
    auto const none = [](error const& why) {
        failure stopped{why};
        stopped.error().effect = effect::none;
        return stopped;
    };
    for (bool again = false;; again = true) {
        auto const whole = table.look(0);
        if (!whole) { return none(whole.error()); }
        std::string with_rows; // a store that contains rows
        for (std::size_t place = 1; place < table.stores(); ++place) {
            auto const here = table.look(place);
            if (!here) { return none(here.error()); }
            if (whole->there && !here->there) {
                return wrong_store(table.store(place),
                    text::joined({" lacks ", table.stored(place),
                        ", and the first store has its part of the table: ", "the store was emptied or replaced"}));
            }
            with_rows = here->rows ? table.store(place) : with_rows;
        }
        if (whole->there) { return failure{error_code::table_already_exists, "the table already exists"}; }
        if (with_rows.empty()) { break; }
        if (again) { // the second look shows that no other program has created it in the meantime
            return wrong_store(table.store(0),
                text::joined({" lacks ", table.stored(0), ", and the store ", with_rows,
                    (" has rows of the table: the table was partly dropped, or lost; drop it to start with an empty "
                     "table")}));
        }
    }
    for (std::size_t place = table.stores(); place-- > 0;) {
        auto const made = table.ask(place, create_table{table.stored(place), place > 0 || request.may_exist});
        bool const there = !made && made.error().code == error_code::table_already_exists;
        if (!made && !(there && place > 0)) {
            failure stopped{made.error()};
            stopped.error().effect = there || place + 1 == table.stores() ? made.error().effect : effect::unknown;
            return stopped;
        }
    }
    return create_table::response{};
}

/// Drops a table in every hashed store, first in the first store.
ENTITABLE_DECL result<delete_table::response> delete_hashed_table(
    sharded_state& state, delete_table const& request, call& context) {
    ENTITABLE_TRY(std::string const name, name_in_stores(state, request.table, context));
    hashed_table const table{state, name, context};
    ++context.attempts;
    bool found = false;
    for (std::size_t place = 0; place < table.stores(); ++place) {
        auto const dropped = table.ask(place, delete_table{table.stored(place), place > 0 || request.may_be_absent});
        bool const absent = is_absent(dropped);
        if (!dropped && !absent) {
            failure stopped{dropped.error()};
            stopped.error().effect = found ? effect::unknown : dropped.error().effect;
            return stopped;
        }
        found = found || (!absent && place == 0);
    }
    if (!found) { return failure{error_code::resource_not_found, "the table does not exist"}; }
    return delete_table::response{};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
