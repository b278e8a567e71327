// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of operations on entities with 25 and with 250 properties: for tests/tools/column_costs, which counts the instructions
// between `cost_begins` and `cost_ends`. With `quadratic` each operation is followed by a search of the row for each of its
// properties.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/unit_of_work.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#define TEN(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8, p##9
#define NET(p) p##9, p##8, p##7, p##6, p##5, p##4, p##3, p##2, p##1, p##0
#define FIFTY(p) TEN(p##0), TEN(p##1), TEN(p##2), TEN(p##3), TEN(p##4)
#define YTFIF(p) NET(p##4), NET(p##3), NET(p##2), NET(p##1), NET(p##0)

namespace column_costs {

struct keys {
    std::string partition{"partition"};
    std::int32_t number{};
};
struct narrow : keys {
    std::int32_t TEN(p0), TEN(p1), p20, p21, p22, p23, p24;
};
struct worran : narrow {};
struct broad : keys {
    std::int32_t FIFTY(p), FIFTY(q), FIFTY(r), FIFTY(s), FIFTY(t);
};
struct daorb : broad {};

ENTITABLE(narrow, partition_key(partition), row_key(number), properties(TEN(p0), TEN(p1), p20, p21, p22, p23, p24))
ENTITABLE(worran, partition_key(partition), row_key(number), properties(p24, p23, p22, p21, p20, NET(p1), NET(p0)))
ENTITABLE(broad, partition_key(partition), row_key(number), properties(FIFTY(p)), properties(FIFTY(q)),
    properties(FIFTY(r)), properties(FIFTY(s)), properties(FIFTY(t)))
ENTITABLE(daorb, partition_key(partition), row_key(number), properties(YTFIF(t)), properties(YTFIF(s)),
    properties(YTFIF(r)), properties(YTFIF(q)), properties(YTFIF(p)))

} // namespace column_costs

using namespace entitable;
using namespace column_costs;

extern "C" {
// The counters are reset before the first, and written before the second.
[[gnu::noinline]] void cost_begins() { __asm__ volatile(""); }
[[gnu::noinline]] void cost_ends() { __asm__ volatile(""); }
}

namespace {

bool quadratic = false;

/// The work that the check's self-test adds: a search of the whole row for each of its properties.
void search_each(row_view in) {
    std::size_t found = 0;
    property_view each;
    for (property_cursor cursor{in.payload}; cursor.next(each);) { found += in.find(each.name) ? 1U : 0U; }
    if (found == 0) { std::abort(); }
}

template <class Entity>
[[nodiscard]] row row_of(Entity const& one) {
    row made;
    to_row(one, made).value();
    return made;
}

/// Counts an operation on some entities, after a first run on one of them.
template <class Entity, class Operation>
void measure(std::string_view name, std::size_t columns, Operation const& operation) {
    constexpr std::int32_t times = 8;
    operation(0);
    row const searched = row_of(Entity{});
    cost_begins();
    for (std::int32_t number = 1; number <= times; ++number) {
        operation(number);
        if (quadratic) { search_each(searched); }
    }
    cost_ends();
    std::printf("%.*s\t%zu\n", static_cast<int>(name.size()), name.data(), columns);
}

template <class Entity>
[[nodiscard]] Entity numbered(std::int32_t number) {
    Entity made{};
    made.number = number;
    made.p00 = number;
    return made;
}

/// `Reversed` has the properties of `Entity` in reverse order.
template <class Entity, class Reversed>
void measure_all(std::size_t columns) {
    memory_backend store;
    table<Entity> const all{store, "Entities"};
    table<Reversed> const reversed{store, "Entities"};
    all.create().value();
    auto const renewed = [&](std::int32_t number) { all.insert_or_replace(numbered<Entity>(number)).value(); };
    auto const renew = [&] {
        for (std::int32_t number = 0; number < 10; ++number) { renewed(number); }
    };
    auto const counted = [&](std::string_view name, auto const& operation) {
        renew();
        measure<Entity>(name, columns, operation);
    };
    auto const change_all = [](auto& one) { one.p00 += 1; };
    std::string const partition = keys{}.partition;

    counted("insert", [&](std::int32_t number) { all.insert(numbered<Entity>(100 + number)).value(); });
    counted("get", [&](std::int32_t number) { static_cast<void>(all.get(partition, number).value()); });
    counted("get, reversed", [&](std::int32_t number) { static_cast<void>(reversed.get(partition, number).value()); });
    counted("replace", [&](std::int32_t number) { all.replace(numbered<Entity>(number), any_etag).value(); });
    counted("merge", [&](std::int32_t number) { all.merge(numbered<Entity>(number), any_etag).value(); });
    counted(
        "merge, reversed", [&](std::int32_t number) { reversed.merge(numbered<Reversed>(number), any_etag).value(); });
    counted("update", [&](std::int32_t number) { all.update(partition, number, change_all).value(); });
    counted("update, reversed", [&](std::int32_t number) { reversed.update(partition, number, change_all).value(); });
    counted("batch", [&](std::int32_t number) {
        auto batch = all.batch();
        for (std::int32_t row = 0; row < 3; ++row) { batch.insert_or_merge(numbered<Entity>(3 * number + row)); }
        batch.submit().value();
    });
    counted("query",
        [&](std::int32_t) { static_cast<void>(all.where(fields<Entity>::partition == partition).to().value()); });
    counted("query, reversed", [&](std::int32_t) {
        static_cast<void>(reversed.where(fields<Reversed>::partition == partition).to().value());
    });
    auto const save = [&](auto& work, std::int32_t number) {
        auto* const one = work.find(partition, number).value();
        one->p00 += 1;
        static_cast<void>(work.save().value());
    };
    counted("unit of work", [&](std::int32_t number) {
        unit_of_work<Entity> work{all};
        save(work, number);
    });
    counted("unit of work, reversed", [&](std::int32_t number) {
        unit_of_work<Reversed> work{reversed};
        save(work, number);
    });
    renew();
    row const plain = row_of(numbered<Entity>(1));
    row const backward = row_of(numbered<Reversed>(1));
    counted("comparison, reversed", [&](std::int32_t) {
        if (!same_properties(plain, backward)) { std::abort(); }
    });
}

} // namespace

int main(int count, char** arguments) {
    quadratic = count > 1 && std::string_view{arguments[1]} == "quadratic";
    measure_all<narrow, worran>(25);
    measure_all<broad, daorb>(250);
}
