// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/local/memory/memory_store.hpp>
#include <entitable/local/ordered_store.hpp>

using namespace entitable;

namespace {

// ---- the rows inside an update ---------------------------------------------------------------------------

struct rows {
    bool get(std::string_view, row_visitor) { return false; }
    void put(std::string_view, std::string) {}
    void erase(std::string_view) {}
};
struct rows_that_answer : rows {
    int put(std::string_view, std::string const&) { return 1; }
    bool erase(std::string_view) { return true; }
};
struct rows_without_get : rows {
    bool get(std::string_view, row_visitor) = delete;
};
struct rows_without_put : rows {
    void put(std::string_view, std::string) = delete;
};
struct rows_without_erase : rows {
    void erase(std::string_view) = delete;
};
struct rows_with_other_get : rows {
    lookup get(std::string_view, row_visitor) { return lookup::absent; }
};
struct rows_that_change_their_bytes : rows {
    void put(std::string_view, std::string&) {}
};

// ---- the store ----------------------------------------------------------------------------------------------

/// Everything except the declaration that it is a store.
template <class Transaction>
struct untagged {
    using transaction = Transaction;
    using body = function_ref<bool(transaction&)>;
    result<bool> create_table(std::string_view, std::string_view, call const&) { return true; }
    result<bool> drop_table(std::string_view, call const&) { return true; }
    result<void> tables(std::string_view, table_visitor, call const&) { return {}; }
    result<lookup> get(std::string_view, std::string_view, std::string_view, row_visitor, call const&) {
        return lookup::absent;
    }
    result<lookup> scan(std::string_view, scan_range const&, scan_visitor, call const&) { return lookup::absent; }
    result<lookup> update(std::string_view, std::string_view, body, call const&) { return lookup::absent; }
};

template <class Transaction>
struct store_of : untagged<Transaction> {
    using is_ordered_store = void;
};

using minimal = store_of<rows>;

/// A store need be neither copyable nor movable.
struct pinned : minimal {
    pinned() = default;
    pinned(pinned const&) = delete;
};
struct with_private_tag : untagged<rows> {
private:
    using is_ordered_store = void;
};
struct without_transaction : minimal {
private:
    using transaction = rows;
};
struct without_create_table : minimal {
    result<bool> create_table(std::string_view, std::string_view, call const&) = delete;
};
struct that_creates_without_an_answer : minimal {
    result<void> create_table(std::string_view, std::string_view, call const&) { return {}; }
};
struct that_creates_without_a_shown_name : minimal {
    result<bool> create_table(std::string_view, call const&) { return true; }
};
struct without_drop_table : minimal {
    result<bool> drop_table(std::string_view, call const&) = delete;
};
struct that_drops_without_a_result : minimal {
    bool drop_table(std::string_view, call const&) { return true; }
};
struct without_tables : minimal {
    result<void> tables(std::string_view, table_visitor, call const&) = delete;
};
struct that_visits_rows_as_tables : minimal {
    result<void> tables(std::string_view, scan_visitor, call const&) { return {}; }
};
struct without_get : minimal {
    result<lookup> get(std::string_view, std::string_view, std::string_view, row_visitor, call const&) = delete;
};
struct that_gets_a_truth_value : minimal {
    result<bool> get(std::string_view, std::string_view, std::string_view, row_visitor, call const&) { return true; }
};
struct without_scan : minimal {
    result<lookup> scan(std::string_view, scan_range const&, scan_visitor, call const&) = delete;
};
struct that_changes_the_range : minimal {
    result<lookup> scan(std::string_view, scan_range&, scan_visitor, call const&) { return lookup::absent; }
};
/// The context of the call is the last argument of each.
struct that_is_not_told_of_calls : minimal {
    result<bool> drop_table(std::string_view) { return true; }
};
struct without_update : minimal {
    result<lookup> update(std::string_view, std::string_view, body, call const&) = delete;
};
struct other_rows {};
struct that_updates_another_transaction : minimal {
    result<lookup> update(std::string_view, std::string_view, function_ref<bool(other_rows&)>, call const&) {
        return lookup::absent;
    }
};
struct that_updates_without_a_result : minimal {
    void update(std::string_view, std::string_view, body, call const&) {}
};

} // namespace

static_assert(store_transaction<rows>);
static_assert(store_transaction<rows_that_answer>);
static_assert(!store_transaction<rows_without_get>);
static_assert(!store_transaction<rows_without_put>);
static_assert(!store_transaction<rows_without_erase>);
static_assert(!store_transaction<rows_with_other_get>);
static_assert(!store_transaction<rows_that_change_their_bytes>);
static_assert(!store_transaction<rows const>);
static_assert(!store_transaction<int>);

static_assert(ordered_store<minimal>);
static_assert(ordered_store<store_of<rows_that_answer>>);
static_assert(ordered_store<pinned>);
static_assert(ordered_store<memory_store>);

static_assert(!ordered_store<untagged<rows>>);
static_assert(!ordered_store<with_private_tag>);
static_assert(!ordered_store<without_transaction>);
static_assert(!ordered_store<store_of<rows_without_get>>);
static_assert(!ordered_store<store_of<rows_without_put>>);
static_assert(!ordered_store<store_of<rows_without_erase>>);
static_assert(!ordered_store<without_create_table>);
static_assert(!ordered_store<that_creates_without_an_answer>);
static_assert(!ordered_store<that_creates_without_a_shown_name>);
static_assert(!ordered_store<without_drop_table>);
static_assert(!ordered_store<that_drops_without_a_result>);
static_assert(!ordered_store<without_tables>);
static_assert(!ordered_store<that_visits_rows_as_tables>);
static_assert(!ordered_store<without_get>);
static_assert(!ordered_store<that_gets_a_truth_value>);
static_assert(!ordered_store<without_scan>);
static_assert(!ordered_store<that_changes_the_range>);
static_assert(!ordered_store<that_is_not_told_of_calls>);
static_assert(!ordered_store<without_update>);
static_assert(!ordered_store<that_updates_another_transaction>);
static_assert(!ordered_store<that_updates_without_a_result>);
static_assert(!ordered_store<minimal const>);
static_assert(!ordered_store<int>);
