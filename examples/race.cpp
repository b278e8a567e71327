// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// The results of races: keys that sort, and the queries they serve. Runners are ordered by bib, finishes by time with
/// the latest first, each in a table of its own, so that each query is a range of keys.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/print.hpp>

#include <iostream>
#include <string>

struct runner {
    std::string race;
    std::string distance;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::optional<double> hours; // absent: did not finish
};

ENTITABLE(runner,
    partition_key(race, distance),             // "Boston 2011__Full"
    row_key(literal("BIB:"), width(bib, 5)),   // "BIB:01234"
    properties(name, age, hours))

struct finish {
    std::string race;
    std::int64_t second{};
    std::string name;
};

ENTITABLE(finish,
    partition_key(race),
    row_key(descending(second), escaped(name))) // the latest first; any text may be a name

int main() {
    entitable::memory_backend store;
    entitable::table<runner> runners{store, "runners"};
    runners.create().value();
    auto batch = runners.batch();
    batch.insert({"Boston 2011", "Full", 12, "Ann", 31, 3.5})
        .insert({"Boston 2011", "Full", 1234, "John", 55, 4.25})
        .insert({"Boston 2011", "Full", 1240, "Mary", 55, {}})
        .insert({"Boston 2011", "Full", 20001, "Bob", 19, 2.75});
    batch.submit().value();
    runners.insert({"Boston 2011", "Half", 7, "Eve", 40, 1.5}).value();

    using r = entitable::fields<runner>;
    auto const full = r::race == "Boston 2011" && r::distance == "Full";

    auto const pack = runners.where(full && between(r::bib, 1000, 1999) && r::age >= 50);
    std::cout << "bibs from 1000 to 1999, 50 or older\n" << pack; // a query is printed as its plan
    for (runner const& found : pack) { std::cout << "  " << found << '\n'; }

    // Two partitions with one prefix, and only the necessary members.
    std::cout << "\nall distances, names and hours only\n";
    for (auto const& row : runners.where(starts_with(r::race, "Boston")).select(r::name, r::hours)) {
        std::cout << "  " << row << '\n';
    }

    // An absent property satisfies no comparison and is not counted in a fold.
    auto const finished = runners.where(full);
    std::cout << "\nfull distance: " << finished.count() << " started, best " << finished.min(r::hours)
              << " hours, ages add up to " << finished.sum(r::age) << '\n';

    // Parts decided at run time only ever add to the filter.
    bool const only_finishers = true;
    auto const chosen = runners.where(full && in(r::bib, {12, 1240, 20001}) && when(only_finishers, r::hours > 0.0));
    std::cout << "\nthree bibs, finishers only\n";
    for (runner const& found : chosen) { std::cout << "  " << found << '\n'; }
    std::cout << chosen.analyze();

    entitable::table<finish> finishes{store, "finishes"};
    finishes.create().value();
    finishes.insert({"Boston 2011", 9900, "Bob #1"}).value();
    finishes.insert({"Boston 2011", 12600, "Ann/Anna"}).value();
    finishes.insert({"Boston 2011", 15300, "John"}).value();
    using f = entitable::fields<finish>;
    std::cout << "\nthe last two to arrive\n";
    for (finish const& found : finishes.where(f::race == "Boston 2011").take(2)) { std::cout << "  " << found << '\n'; }
    return 0;
}
