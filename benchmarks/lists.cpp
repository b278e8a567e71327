// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Writes through lists of types in memory, each compared with the same requests by hand; and writes of single rows. Runs one operation after the
// other, and prints the name of each, its side and the number of its repetitions: for the script `lists_cost`, which counts the instructions
// between `cost_begins` and `cost_ends`.
//
//     benchmarks/lists_cost

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace benchmark_lists {

struct order {
    std::string shop;
    std::int32_t number{};
    std::string day;
    std::string customer;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), width(number, 7)), properties(day, customer, cents))

struct by_customer : order {};
ENTITABLE(by_customer, partition_key(shop), row_key(literal("CUSTOMER:"), customer, width(number, 7)),
    properties(day, cents))

struct sales {
    std::string shop;
    std::string day;
    std::int64_t cents{};

    static sales key(order const& of) { return {of.shop, of.day}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
};
ENTITABLE(sales, partition_key(shop), row_key(literal("SALES:"), day), properties(cents))

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 7)), properties(name, age, club))

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 7)), properties(name))

struct counter {
    std::string tenant;
    std::int64_t last{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("counter")), properties(last))

struct invoice {
    std::string tenant;
    std::int64_t number{};
    std::string customer;
    double total{};
};
ENTITABLE(invoice, partition_key(tenant), row_key(literal("invoice:"), number), properties(customer, total))

} // namespace benchmark_lists

using namespace entitable;
using namespace benchmark_lists;

extern "C" {
// The counters are reset before the first, and written before the second.
[[gnu::noinline]] void cost_begins() { __asm__ volatile(""); }
[[gnu::noinline]] void cost_ends() { __asm__ volatile(""); }
}

namespace {

constexpr std::int32_t warm = 100;        // operations before those that are counted
constexpr std::int32_t repetitions = 500; // operations that are counted

/// Runs an operation for each number; the last ones are counted.
template <class One>
void measure(char const* name, char const* side, One const& one) {
    for (std::int32_t number = 0; number < warm; ++number) { one(number); }
    cost_begins();
    for (std::int32_t number = warm; number < warm + repetitions; ++number) { one(number); }
    cost_ends();
    std::printf("%s\t%s\t%d\n", name, side, repetitions);
}

// ---- an insert with an index and sums -------------------------------------------------------------------

order numbered_order(std::int32_t number) {
    return {"kiel", number, "2026-11-2" + std::to_string(number % 10), "customer " + std::to_string(number % 100),
        100 + number};
}

std::vector<order> orders_ahead() {
    std::vector<order> made;
    for (std::int32_t number = 0; number < warm + repetitions; ++number) { made.push_back(numbered_order(number)); }
    return made;
}

/// The rows of one insert.
struct rows_of_order {
    row entity;
    row index;
    row sums;
    bool first{}; ///< of its day
};

std::vector<rows_of_order> rows_ahead() {
    std::vector<rows_of_order> made;
    std::vector<std::int64_t> totals(10);
    for (order const& one : orders_ahead()) {
        by_customer index;
        static_cast<order&>(index) = one;
        std::int64_t& total = totals[static_cast<std::size_t>(one.number % 10)];
        bool const first = total == 0;
        total += one.cents;
        made.push_back(
            {to_row(one).value(), to_row(index).value(), to_row(sales{one.shop, one.day, total}).value(), first});
    }
    return made;
}

using orders_table = table<order, by_customer, sales>;

/// A store with the table, for one side.
struct opened_orders {
    memory_backend store;
    orders_table orders{store, "orders"};

    opened_orders() { orders.create().value(); }
    ~opened_orders() {
        auto const seen = orders.verify().value();
        if (!seen.good() || seen.indexes.index_rows != warm + repetitions) {
            std::fprintf(stderr, "the rows of the two sides differ\n");
            std::exit(1);
        }
    }
};

void insert_order_by_hand() {
    opened_orders const opened;
    any_store const store{opened.store};
    std::vector<rows_of_order> rows = rows_ahead();
    call_options const options;
    measure("insert, index and sum", "hand", [&](std::int32_t number) {
        rows_of_order& one = rows[static_cast<std::size_t>(number)];
        call context{options, system_clock()};
        auto found = store.execute(get_entity{"orders", "kiel", std::string{one.sums.row_key()}, {}}, context);
        transact request{"orders", {}};
        request.changes.reserve(3);
        request.changes.push_back(one.first ? mutation::insert(std::move(one.sums))
                                            : mutation::replace(std::move(one.sums), found.value().etag));
        request.changes.push_back(mutation::insert_or_replace(std::move(one.index)));
        request.changes.push_back(mutation::insert(std::move(one.entity)));
        store.execute(request, context).value();
    });
}

/// The same as a transaction of rows that maintains nothing.
void insert_order_by_transaction() {
    opened_orders const opened;
    detail::table_core const core{any_store{opened.store}, "orders", {}};
    std::vector<rows_of_order> rows = rows_ahead();
    measure("insert, index and sum", "transaction", [&](std::int32_t number) {
        rows_of_order& one = rows[static_cast<std::size_t>(number)];
        auto const body = [&](detail::transaction_scope& all) -> result<void> {
            ENTITABLE_TRY(auto const found, all.find(std::string{one.sums.row_key()}));
            all.change(found ? mutation_kind::replace : mutation_kind::insert, std::move(one.sums), false);
            all.change(mutation_kind::insert_or_replace, std::move(one.index), true);
            all.change(mutation_kind::insert, std::move(one.entity), false);
            return {};
        };
        detail::run_transaction(core, std::string{"kiel"}, {}, body).value();
    });
}

void insert_order() {
    opened_orders const opened;
    std::vector<order> const rows = orders_ahead();
    measure("insert, index and sum", "ours",
        [&](std::int32_t number) { opened.orders.insert(rows[static_cast<std::size_t>(number)]).value(); });
}

// ---- an index -------------------------------------------------------------------------------------------

using runners_table = table<runner, by_age>;

runner numbered_runner(std::int32_t bib) { return {"NYC", bib, "a name of some length", 20 + bib % 60, "Ajax"}; }

by_age index_row_of(runner const& one) {
    by_age made;
    static_cast<runner&>(made) = one;
    return made;
}

runners_table opened_runners(memory_backend const& store, bool filled) {
    runners_table made{store, "runners"};
    made.create().value();
    for (std::int32_t bib = 0; filled && bib < warm + repetitions; ++bib) { made.insert(numbered_runner(bib)).value(); }
    return made;
}

void insert_runner_by_hand() {
    memory_backend const store;
    runners_table const unused = opened_runners(store, false);
    table<runner, as_entity<by_age>> const both{store, "runners"};
    measure("insert, index", "hand", [&](std::int32_t bib) {
        runner const one = numbered_runner(bib);
        auto pair = both.batch();
        pair.insert(one).insert_or_replace(index_row_of(one));
        pair.submit().value();
    });
}

void insert_runner() {
    memory_backend const store;
    runners_table const runners = opened_runners(store, false);
    measure("insert, index", "ours", [&](std::int32_t bib) { runners.insert(numbered_runner(bib)).value(); });
}

void update_runner_by_hand() {
    memory_backend const store;
    runners_table const unused = opened_runners(store, true);
    table<runner, as_entity<by_age>> const both{store, "runners"};
    measure("update, index", "hand", [&](std::int32_t bib) {
        auto found = both.get_stored<runner>("NYC", bib).value();
        by_age const before = index_row_of(found.entity);
        found.entity.age += 1;
        auto all = both.batch();
        all.replace(found.entity, found.etag).remove(before, any_etag).insert_or_replace(index_row_of(found.entity));
        all.submit().value();
    });
}

void update_runner() {
    memory_backend const store;
    runners_table const runners = opened_runners(store, true);
    measure("update, index", "ours",
        [&](std::int32_t bib) { runners.update("NYC", bib, [](runner& each) { each.age += 1; }).value(); });
}

// ---- a transaction of two types -------------------------------------------------------------------------

using books_table = table<counter, invoice>;

books_table opened_books(memory_backend const& store) {
    books_table made{store, "ledger"};
    made.create().value();
    made.insert(counter{"ACME", 0}).value();
    return made;
}

void transact_by_hand() {
    memory_backend const store;
    books_table const ledger = opened_books(store);
    table<counter> const counters = ledger.unmaintained<counter>();
    measure("transaction, two types", "hand", [&](std::int32_t) {
        auto counted = counters.get_stored("ACME").value();
        counted.entity.last += 1;
        auto both = ledger.batch();
        both.replace(counted.entity, counted.etag).insert(invoice{"ACME", counted.entity.last, "ann", 12.5});
        both.submit().value();
    });
}

void transact_ours() {
    memory_backend const store;
    books_table const ledger = opened_books(store);
    measure("transaction, two types", "ours", [&](std::int32_t) {
        ledger
            .transact("ACME",
                [](transaction<counter, invoice>& all) -> result<void> {
                    ENTITABLE_TRY(auto counted, all.get<counter>());
                    counted.last += 1;
                    all.replace(counted).insert(invoice{"ACME", counted.last, "ann", 12.5});
                    return {};
                })
            .value();
    });
}

} // namespace

int main() {
    insert_order_by_hand();
    insert_order_by_transaction();
    insert_order();
    insert_runner_by_hand();
    insert_runner();
    update_runner_by_hand();
    update_runner();
    transact_by_hand();
    transact_ours();
}
