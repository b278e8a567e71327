// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// The results of races: keys that sort, and the queries they serve. Runners are ordered by bib, finishes by time with
/// the latest first, each in a table of its own, so that each query is a range of keys.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdio>
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
    std::printf("bibs from 1000 to 1999, 50 or older\n%s", pack.explain().value().to_string().c_str());
    for (runner const& found : pack) { std::printf("  %d %s\n", found.bib, found.name.c_str()); }

    // Two partitions with one prefix, and only the necessary members.
    auto const all = runners.where(starts_with(r::race, "Boston")).select(r::name, r::hours);
    std::printf("\nall distances, names and hours only\n");
    for (auto const& row : all) {
        std::printf("  %-5s %-4s %s\n", row[r::distance].c_str(), row[r::name].c_str(),
            row[r::hours] ? std::to_string(*row[r::hours]).substr(0, 4).c_str() : "-");
    }

    // An absent property satisfies no comparison and is not counted in a fold.
    auto const finished = runners.where(full);
    std::printf("\nfull distance: %llu started, best %.2f hours, ages add up to %lld\n",
        static_cast<unsigned long long>(finished.count().value()), finished.min(r::hours).value().value(),
        static_cast<long long>(finished.sum(r::age).value()));

    // Parts decided at run time only ever add to the filter.
    bool const only_finishers = true;
    auto const chosen = runners.where(full && in(r::bib, {12, 1240, 20001}) && when(only_finishers, r::hours > 0.0));
    std::printf("\nthree bibs, finishers only\n");
    for (runner const& found : chosen) { std::printf("  %d %s\n", found.bib, found.name.c_str()); }
    std::printf("%s", chosen.analyze().to_string().c_str());

    entitable::table<finish> finishes{store, "finishes"};
    finishes.create().value();
    finishes.insert({"Boston 2011", 9900, "Bob #1"}).value();
    finishes.insert({"Boston 2011", 12600, "Ann/Anna"}).value();
    finishes.insert({"Boston 2011", 15300, "John"}).value();
    using f = entitable::fields<finish>;
    std::printf("\nthe last two to arrive\n");
    for (finish const& found : finishes.where(f::race == "Boston 2011").take(2)) {
        std::printf("  %lld s %s\n", static_cast<long long>(found.second), found.name.c_str());
    }
    return 0;
}
