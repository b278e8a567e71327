// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Sorted queries, distinct values, groups of computed values, `exists`: limits, requests, errors, `explain`.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/watcher.hpp>

#include <cmath>
#include <limits>
#include <list>

using namespace entitable;

namespace ordering_test {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::optional<double> hours;
    date_time start;
    std::optional<date_time> finish;
};
ENTITABLE(runner, partition_key(race), row_key(width(bib, 5)), properties(name, age, hours, start, finish))

using r = fields<runner>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct runners {
    memory_backend store;
    testing::spy<memory_backend> watched{store};
    table<runner> all{watched, "runners"};

    runners() {
        all.create().value();
        auto const day = date_time::from_date(2026, 4, 20);
        add({"NYC", 1, "Ann", 31, 3.5, day + std::chrono::hours{9}, day});
        add({"NYC", 2, "Bob", 55, {}, day + std::chrono::hours{10}, {}});
        add({"NYC", 3, "Cid", 31, nan, day + std::chrono::hours{24}, day});
        add({"NYC", 4, "Dee", 58, 2.5, day + std::chrono::hours{25}, {}});
    }
    void add(runner const& one) const { all.insert(one).value(); }
    [[nodiscard]] auto nyc() const { return all.where(r::race == "NYC"); }
    /// Queries since `forget()`.
    [[nodiscard]] std::vector<query_entities> asked() const {
        auto requests = watched.all<query_entities>();
        return {requests.begin() + static_cast<std::ptrdiff_t>(forgotten), requests.end()};
    }
    void forget() const { forgotten = watched.all<query_entities>().size(); }
    mutable std::size_t forgotten{};
};

template <class Rows>
std::string names(Rows const& rows) {
    std::string all;
    for (runner const& each : rows) { all += each.name + " "; }
    return all;
}

struct hundred {
    memory_backend store;
    testing::faulty<memory_backend> flaky{store};
    table<runner> all{flaky, "runners"};
    hundred() {
        all.create().value();
        for (std::int32_t bib = 0; bib < 100; ++bib) {
            all.insert({"NYC", bib, std::to_string(bib), bib * 37 % 100, {}, {}, {}}).value();
        }
    }
    [[nodiscard]] auto nyc() const { return all.where(r::race == "NYC"); }
};

/// Counts the entities that exist at the same time.
struct counted_runner {
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
    static inline std::size_t alive = 0;
    static inline std::size_t most = 0;
    struct life {
        life() noexcept { more(); }
        life(life const&) noexcept { more(); }
        life(life&&) noexcept { more(); }
        life& operator=(life const&) noexcept = default;
        life& operator=(life&&) noexcept = default;
        ~life() { --alive; }
        static void more() noexcept { most = ++alive > most ? alive : most; }
    } its;
};
ENTITABLE(counted_runner, partition_key(race), row_key(width(bib, 5)), properties(age))

} // namespace ordering_test
using namespace ordering_test;

TEST_CASE("order_by sorts by members in both directions; absent values and NaN come last") {
    runners const in;
    CHECK(names(in.nyc().order_by(r::age)) == "Ann Cid Bob Dee ");
    CHECK(names(in.nyc().order_by(descending(r::age))) == "Dee Bob Ann Cid "); // equal ages stay in key order
    CHECK(names(in.nyc().order_by(r::age, descending(r::name))) == "Cid Ann Bob Dee ");
    CHECK(names(in.nyc().order_by(r::hours)) == "Dee Ann Cid Bob ");
    CHECK(names(in.nyc().order_by(descending(r::hours))) == "Ann Dee Cid Bob ");
    CHECK(names(in.nyc().order_by(descending(r::bib))) == "Dee Cid Bob Ann ");
    CHECK(names(in.nyc().order_by(descending(day(r::start)), r::name)) == "Cid Dee Ann Bob ");
    CHECK(names(in.nyc().order_by(descending([](runner const& one) { return one.name; }))) == "Dee Cid Bob Ann ");
    CHECK(names(in.nyc().order_by(computed([](std::int32_t age, std::int32_t bib) { return age % 10 - bib; }, r::age,
              r::bib))) == "Cid Ann Bob Dee ");
}

TEST_CASE("top and bottom return the first rows of an order, with limits of 0, 1 and more than the number of rows") {
    runners const in;
    CHECK(names(in.nyc().top(2, r::age).to().value()) == "Dee Bob ");
    CHECK(names(in.nyc().bottom(2, r::age).to().value()) == "Ann Cid ");
    CHECK(names(in.nyc().top(1, r::hours).to().value()) == "Ann ");
    CHECK(in.nyc().top(0, r::age).to().value().empty());
    CHECK_FALSE(in.nyc().top(0, r::age).first().value());
    CHECK(in.nyc().top(0, r::age).count().value() == 0);
    CHECK_FALSE(in.nyc().top(0, r::age).exists().value());
    CHECK(names(in.nyc().top(99, r::age).to().value()) == "Dee Bob Ann Cid ");
    CHECK(names(in.nyc().top(std::numeric_limits<std::uint64_t>::max(), r::age).to().value()) == "Dee Bob Ann Cid ");
    CHECK(in.nyc().top(3, r::age).take(2).count().value() == 2);
    CHECK(in.nyc().top(2, r::age).take(3).count().value() == 2);
    CHECK(names(in.nyc().take(3).top(1, r::age).to().value()) == "Bob "); // of the first three rows in key order
    CHECK(in.nyc().take(0).top(1, r::age).to().value().empty());
    CHECK(in.nyc().top(2, r::age).min(r::age).value() == 55);
    CHECK(in.nyc().top(2, r::age).distinct(r::name).value() == std::vector<std::string>{"Bob", "Dee"});
    CHECK(in.nyc().order_by(r::age).sum(r::age).value() == 175);
    auto const none = in.all.where(r::race == "Nowhere");
    CHECK(none.top(2, r::age).to().value().empty());
    CHECK_FALSE(none.order_by(r::age).first().value());
    CHECK(none.distinct(r::age).value().empty());
    CHECK_FALSE(none.exists().value());
}

TEST_CASE("sorted queries select members, and also read the members that they sort by") {
    runners const in;
    in.forget();
    auto const found = in.nyc().order_by(descending(r::age)).select(r::name).take(2).to().value();
    REQUIRE(found.size() == 2);
    CHECK(found[0][r::name] == "Dee");
    CHECK(found[0][r::bib] == 4);
    CHECK_FALSE(found[0].etag().empty());
    REQUIRE(in.asked().size() == 1);
    CHECK(in.asked()[0].select == projection{"name", "age"});
    auto const [name] = in.nyc().select(r::name).order_by(descending(r::age)).first().value().value();
    CHECK(name == "Dee");
    CHECK(in.nyc().select(r::age, r::name).order_by(r::age).to().value()[0].get<0>() == 31);
}

TEST_CASE("order_by refuses more rows than most_rows, after reading one more row; take has no other limit") {
    runners const in;
    CHECK(in.nyc().order_by(r::age).most_rows(4).to().value().size() == 4);
    auto const refused = in.nyc().order_by(r::age).most_rows(3).to();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::query_too_complex);
    CHECK(refused.error().message.find("more than 3 rows") != std::string::npos);
    CHECK(in.nyc().order_by(r::age).most_rows(0).to().error().code == error_code::query_too_complex);
    CHECK(in.all.where(r::race == "Nowhere").order_by(r::age).most_rows(0).to().value().empty());
    CHECK(in.nyc().order_by(r::age).most_rows(1).take(4).to().value().size() == 4);
    CHECK(in.nyc().order_by(r::age).most_rows(std::numeric_limits<std::uint64_t>::max()).to().value().size() == 4);
    in.forget();
    CHECK_FALSE(in.nyc().page_size(2).order_by(r::age).most_rows(1).to());
    CHECK(in.asked().size() == 1);
    // A token counts the rows before it, the limit only those that are sorted.
    auto pages = in.nyc().page_size(2).pages();
    auto const rest = in.nyc().page_size(1).resume(pages.next().value()->token.value());
    CHECK(names(rest.order_by(descending(r::age)).most_rows(2).to().value()) == "Dee Cid ");
    CHECK(rest.order_by(r::age).most_rows(1).to().error().code == error_code::query_too_complex);
    CHECK(names(rest.top(1, r::age).to().value()) == "Dee ");
}

TEST_CASE("explain of a sorted query shows its order and its memory") {
    runners const in;
    auto const text = in.nyc().order_by(descending(r::age), r::bib, day(r::start)).explain().value().to_string();
    CHECK(text.find("sorted         in the client by age descending, bib, the day of a member, at most 100000 rows in "
                    "memory\n") != std::string::npos);
    CHECK(in.nyc().top(1, r::age).explain().value().to_string().find("by age descending, at most 1 row in memory\n") !=
        std::string::npos);
    CHECK(in.nyc().explain().value().to_string().find("sorted") == std::string::npos);
    CHECK(query<runner, access_path::table>{}.order_by(r::age).explain().error().code == error_code::invalid_input);
    CHECK(query<runner, access_path::table>{}.top(0, r::age).to().error().code == error_code::invalid_input);
}

TEST_CASE("sorted queries return the error of any page") {
    hundred const in;
    for (std::size_t page = 1; page <= 10; ++page) {
        for (bool const whole : {true, false}) {
            in.flaky.plan({testing::fault::half_answer(), page, "query_entities", {}, false});
            auto const pages = in.nyc().page_size(10);
            auto const found = whole ? pages.order_by(r::age).to() : pages.top(5, r::age).to();
            REQUIRE_FALSE(found);
            CHECK(found.error().code == error_code::transport_failed);
        }
        in.flaky.plan({testing::fault::half_answer(), page, "query_entities", {}, false});
        CHECK_FALSE(in.nyc().page_size(10).distinct(r::age));
    }
    in.flaky.plan({testing::fault::half_answer(), 1, "query_entities", {}, false});
    CHECK(in.nyc().exists().error().code == error_code::transport_failed);
    auto const found = in.nyc().page_size(7).top(100, r::age).to().value();
    REQUIRE(found.size() == 100);
    for (std::int32_t rank = 0; rank < 100; ++rank) { CHECK(found[static_cast<std::size_t>(rank)].age == 99 - rank); }
}

TEST_CASE("top holds n entities in addition to a page") {
    table<counted_runner> const all{memory_backend{}, "runners"};
    all.create().value();
    for (std::int32_t bib = 0; bib < 500; ++bib) { all.insert({"NYC", bib, bib, {}}).value(); }
    using c = fields<counted_runner>;
    counted_runner::most = counted_runner::alive;
    std::size_t const before = counted_runner::alive;
    CHECK(all.where(c::race == "NYC").page_size(10).top(5, c::age).to().value().front().age == 499);
    CHECK(counted_runner::most - before <= 10 + 2 * 5 + 6); // a page, n rows and the result, while a vector grows
}

TEST_CASE("exists reads one row, and only keys") {
    runners const in;
    in.forget();
    CHECK(in.nyc().exists().value());
    REQUIRE(in.asked().size() == 1);
    CHECK(in.asked()[0].page_size == 1);
    CHECK(in.asked()[0].select == projection{"PartitionKey", "RowKey"});
    CHECK(in.all.scan_table(r::age > 57).exists().value());
    CHECK_FALSE(in.all.scan_table(r::age > 58).exists().value());
    CHECK_FALSE(in.nyc().take(0).exists().value());
    CHECK(in.nyc().select(r::name).exists().value());
    table<runner> const missing{memory_backend{}, "missing"};
    CHECK(missing.scan_table().exists().error().code == error_code::table_not_found);
}

TEST_CASE("group_by and distinct take computed values and functions of an entity") {
    runners const in;
    in.forget();
    auto const decade = [](std::int32_t age) { return age / 10 * 10; };
    std::string found;
    for (auto const& [from, of] : in.nyc().group_by(computed(decade, r::age), count(), max(r::bib)).value()) {
        found += std::to_string(from) + ":" + std::to_string(std::get<0>(of)) + "," +
            std::to_string(std::get<1>(of).value()) + " ";
    }
    CHECK(found == "30:2,3 50:2,4 ");
    CHECK(in.asked().back().select == projection{"age"});
    auto const days = in.nyc().group_by(day(r::start), count()).value();
    REQUIRE(days.size() == 2);
    CHECK(days[0].first == date_time::from_date(2026, 4, 20));
    CHECK(in.asked().back().select == projection{"start"});
    auto const finished = in.nyc().distinct(day(r::finish)).value();
    CHECK(finished == std::vector{std::optional<date_time>{}, std::optional{date_time::from_date(2026, 4, 20)}});
    auto const initials =
        in.nyc().distinct([](runner const& one) { return std::string_view{one.name}.substr(0, 1); }).value();
    CHECK(initials == std::vector<std::string>{"A", "B", "C", "D"}); // a view is copied
    CHECK(in.asked().back().select == projection{});
    auto const hours = in.nyc().distinct(r::hours).value();
    REQUIRE(hours.size() == 4);
    CHECK_FALSE(hours[0]);
    CHECK(hours[1] == 2.5);
    CHECK(std::isnan(hours[3].value()));
    // The function may write to the table: it is not called while the store is read.
    table<runner> const direct{in.store, "runners"};
    auto const writes = [&](std::string const& race, std::int32_t bib) {
        direct.insert_or_replace({"copy of " + race, bib, {}, 0, {}, {}, {}}).value();
        return bib > 2;
    };
    auto const nyc = direct.where(r::race == "NYC");
    entitable_test::watcher seen;
    call_options watched;
    watched.watch = &seen;
    auto const after_the_read = [&](std::string const&) { return !seen.events.empty(); };
    table<runner> const observed{in.store, "runners", watched};
    CHECK(observed.scan_table().distinct(computed(after_the_read, r::name)).value() == std::vector{true});
    CHECK(nyc.distinct(computed(writes, r::race, r::bib)).value() == std::vector{false, true});
    CHECK(direct.where(r::race == "copy of NYC").count().value() == 4);
    auto const of_entity = [&](runner const& one) { return writes("second " + one.race, one.bib); };
    CHECK(nyc.distinct(of_entity).value() == std::vector{false, true});
    CHECK(direct.where(r::race == "copy of second NYC").count().value() == 4);
}

TEST_CASE("a sorted query can be copied and iterated again, and throws its error") {
    runners const in;
    auto const sorted = in.nyc().order_by(r::name);
    auto const copy = sorted;
    CHECK(names(sorted) == "Ann Bob Cid Dee ");
    in.all.remove("NYC", 1, any_etag).value();
    CHECK(names(copy) == "Bob Cid Dee ");
    CHECK(copy.to<std::list<runner>>().value().size() == 3);
    std::string all;
    CHECK(copy.for_each([&](runner const& one) { all += one.name; }));
    CHECK(all == "BobCidDee");
    in.all.drop().value();
    CHECK_THROWS(copy.begin());
    CHECK_FALSE(copy.for_each([](runner const&) {}));
}
