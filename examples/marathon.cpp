// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A marathon whose runners are found by bib, by age and by club. Index rows in the partition of a runner are written in the runner's
/// transaction; those of the clubs are in another table. Then somebody damages the indexes by hand, and a program ends in the middle of a
/// write: `verify` and `doctor` report it, and `repair` fixes it.

#include <entitable/doctor.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <cstdio>
#include <memory>

struct runner {
    std::string race, distance;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race, distance), row_key(literal("BIB:"), width(bib, 5)), properties(name, age, club))

// An index is a struct derived from the entity, with keys of its own.
struct by_age : runner {};
ENTITABLE(by_age, partition_key(race, distance), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties(name))

struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(race, distance, width(bib, 5)), properties())

using runners_table = entitable::table<runner, by_age, entitable::elsewhere<by_club>>;
using a = entitable::fields<by_age>;
using c = entitable::fields<by_club>;

/// The store, for a program that ends after some requests.
struct ending_program {
    using is_transport = void;

    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        if ((*left)-- <= 0) { return entitable::failure{entitable::error_code::cancelled, "the program has ended"}; }
        return store.execute(request, context);
    }

    entitable::any_store store;
    std::shared_ptr<int> left;
};

void show(runners_table const& runners) {
    std::printf("over 50:");
    auto const veterans = runners.by<by_age>().where(a::race == "NYC" && a::distance == "Full" && a::age >= 50);
    for (auto const& each : veterans.select(a::name, a::age)) { // the index covers both: no runner is read
        std::printf(" %s (%d)", each[a::name].c_str(), each[a::age]);
    }
    std::printf("\nAjax:   ");
    for (runner const& each : runners.by<by_club>().where(c::club == "Ajax").to().value()) {
        std::printf(" %s", each.name.c_str());
    }
    std::printf("\n");
}

void tell(runners_table const& runners) {
    auto const seen = runners.verify().value().indexes;
    std::printf("verify: %llu runners, %llu index rows, %llu missing, %llu dangling, %llu different\n",
        static_cast<unsigned long long>(seen.entities), static_cast<unsigned long long>(seen.index_rows),
        static_cast<unsigned long long>(seen.missing), static_cast<unsigned long long>(seen.dangling),
        static_cast<unsigned long long>(seen.different));
}

int main() {
    entitable::memory_backend const store;
    runners_table const runners{store, "runners", entitable::in_table<by_club>{store, "clubs"}};
    runners.create().value();
    runners.insert({"NYC", "Full", 1234, "John", 55, "Ajax"}).value();
    runners.insert({"NYC", "Full", 1235, "Mary", 49, "Orion"}).value();
    runners.insert({"NYC", "Full", 1236, "Paul", 61, "Ajax"}).value();
    show(runners);

    std::printf("\nMary has her birthday and goes to Ajax\n");
    runners
        .update("NYC", "Full", 1235,
            [](runner& each) {
                each.age = 50;
                each.club = "Ajax";
            })
        .value();
    show(runners);

    std::printf("\nsomebody removes an index row by hand, and a program that knows no index changes John's age\n");
    entitable::table<by_age>{store, "runners"}.remove("NYC", "Full", 61, 1236, entitable::any_etag).value();
    runners.unmaintained().update("NYC", "Full", 1234, [](runner& each) { each.age = 56; }).value();
    tell(runners);
    auto const mended = runners.repair().value();
    std::printf("repair: %llu written, %llu removed\n", static_cast<unsigned long long>(mended.written),
        static_cast<unsigned long long>(mended.removed));
    tell(runners);

    std::printf("\na program ends while it removes Paul: nothing behind the removal is sent any more\n");
    ending_program const program{store, std::make_shared<int>(3)}; // the states of indexes, Paul, his removal
    runners_table const elsewhere{program, "runners", entitable::in_table<by_club>{program, "clubs"}};
    (void)elsewhere.remove("NYC", "Full", 1236, entitable::any_etag);
    tell(runners);
    for (auto const& each : entitable::doctor(store, runners).value().findings) {
        std::printf("doctor: %s: %llu %s\n", each.table.c_str(), static_cast<unsigned long long>(each.count),
            to_string(each.kind).data());
    }
    std::printf("repair: %llu writes brought to their end\n",
        static_cast<unsigned long long>(runners.repair().value().intents));
    tell(runners);
    show(runners);
}
