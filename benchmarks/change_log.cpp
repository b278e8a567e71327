// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Inserts into a logged table in memory, beside a plain table and beside a program that keeps the same promises by hand: the row, an entry that
// names it, and a head under its version, in one transaction. Count instructions between two numbers of rows; one form a run:
//   g++ -std=c++20 -O2 -DNDEBUG -I include benchmarks/change_log.cpp -o change_log -lpthread
//   valgrind --tool=callgrind ./change_log plain|logged|hand ROWS

#include <entitable/changes.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace benchmark_change_log {

using namespace entitable;

struct order {
    std::string city;
    std::int32_t number{};
    std::int64_t cents{};
    std::string text;
};
ENTITABLE(order, partition_key(city), row_key(literal("ORDER:"), number), properties(cents, text))

template <class Table>
void insert(std::int32_t rows) {
    memory_backend const store;
    Table const orders{store, "orders"};
    orders.create().value();
    for (std::int32_t number = 0; number < rows; ++number) {
        orders.insert(order{"Kiel", number, 10, "some text"}).value();
    }
}

value_view id_value(guid const& id) {
    return {edm_type::guid, std::string_view{reinterpret_cast<char const*>(id.bytes.data()), id.bytes.size()}};
}

void insert_by_hand(std::int32_t rows) {
    memory_backend const backend;
    any_store const store{backend};
    table<order>{store, "orders"}.create().value();
    guid const log = guid::random();
    etag version;
    for (std::int32_t at = 0; at < rows; ++at) {
        row entity = to_row(order{"Kiel", at, 10, "some text"}).value();
        std::int64_t const number = at + 1;
        row_builder head{"Kiel", "~!log!head"};
        head.add("Number", value_view{number});
        head.add("Log", id_value(log));
        char key[32];
        std::snprintf(key, sizeof key, "~!log!%016llx", static_cast<unsigned long long>(number));
        guid const id = guid::random();
        std::string const changed = std::string{"w"}.append(entity.row_key());
        row_builder entry{"Kiel", key};
        entry.add("Prev", value_view{number - 1});
        entry.add("Id", id_value(id));
        entry.add("Keys", value_view{std::string_view{changed}});
        transact request{"orders", {}};
        request.changes.reserve(3);
        request.changes.push_back(
            version.empty() ? mutation::insert(head.build()) : mutation::replace(head.build(), version));
        request.changes.push_back(mutation::insert(entry.build()));
        request.changes.push_back(mutation::insert(std::move(entity)));
        call context;
        version = store.execute(request, context).value().results[0].etag;
    }
}

} // namespace benchmark_change_log

int main(int count, char** arguments) {
    using namespace benchmark_change_log;
    std::string_view const form = count > 1 ? arguments[1] : "logged";
    std::int32_t const rows = count > 2 ? std::atoi(arguments[2]) : 1'000;
    if (form == "plain") {
        insert<table<order>>(rows);
    } else if (form == "hand") {
        insert_by_hand(rows);
    } else {
        insert<table<order, logged>>(rows);
    }
}
