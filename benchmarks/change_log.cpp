// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Inserts into a logged table in memory, beside a plain table and beside a program that keeps the same promises by hand: the row, an entry that
// names it, and a head under its version, in one transaction. The form "least" is a lower bound: it encodes the entity and sends the
// transaction, with copies of a head and an entry in which only bytes are replaced; it draws no id, remembers no heads and checks no
// declaration. Count instructions between two numbers of rows; one form a run:
//   g++ -std=c++20 -O2 -DNDEBUG -I include benchmarks/change_log.cpp -o change_log -lpthread
//   valgrind --tool=callgrind ./change_log plain|logged|hand|least ROWS

#include <entitable/changes.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

std::string text_of(row const& one) {
    return std::string{one.partition_key()}.append(one.row_key()).append(one.payload());
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

void insert_least(std::int32_t rows) {
    memory_backend const backend;
    any_store const store{backend};
    table<order>{store, "orders"}.create().value();
    guid const log = guid::random();
    etag version;
    row_builder first_head{"Kiel", "~!log!head"};
    first_head.add("Number", value_view{std::int64_t{1}});
    first_head.add("Log", id_value(log));
    row const head = first_head.build();
    std::string const head_bytes = text_of(head);
    constexpr std::size_t digits = 8; // of the numbers in this run
    row_builder first_entry{"Kiel", "~!log!0000000000000000"};
    first_entry.add("Prev", value_view{std::int64_t{0}});
    first_entry.add("Id", id_value(log));
    std::string const named = std::string{"w"}.append(to_row(order{"Kiel", 0, 10, "some text"}).value().row_key());
    first_entry.add("Keys", value_view{std::string_view{named}});
    row const entry = first_entry.build();
    std::string const entry_bytes = text_of(entry);
    std::size_t const head_keys = head.partition_key().size() + head.row_key().size();
    std::size_t const entry_keys = entry.partition_key().size() + entry.row_key().size();
    for (std::int32_t at = 0; at < rows; ++at) {
        row entity = to_row(order{"Kiel", at, 10, "some text"}).value();
        std::int64_t const number = at + 1;
        std::string next = head_bytes;
        std::memcpy(next.data() + next.size() - 24, &number, sizeof number);
        std::string made = entry_bytes;
        for (std::size_t digit = 0; digit < digits; ++digit) {
            made[entry_keys - 1 - digit] = "0123456789abcdef"[number >> (4 * digit) & 15];
        }
        std::memcpy(made.data() + made.size() - named.size() - 28, &at, sizeof at);
        entity.row_key().copy(made.data() + made.size() - named.size() + 1, named.size() - 1);
        transact request{"orders", {}};
        request.changes.reserve(3);
        row next_head{std::move(next), 4, head_keys - 4};
        request.changes.push_back(version.empty() ? mutation::insert(std::move(next_head))
                                                  : mutation::replace(std::move(next_head), version));
        request.changes.push_back(mutation::insert(row{std::move(made), 4, entry_keys - 4}));
        request.changes.push_back(mutation::insert(std::move(entity)));
        call context;
        version = std::move(store.execute(request, context).value().results[0].etag);
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
    } else if (form == "least") {
        insert_least(rows);
    } else {
        insert<table<order, logged>>(rows);
    }
}
