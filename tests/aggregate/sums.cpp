// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/around.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <atomic>
#include <random>
#include <thread>

using namespace entitable;

namespace {

struct order {
    std::string shop;
    std::int32_t number{};
    std::string day;
    std::int64_t cents{};
    std::string note;
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(day, cents, note))

struct daily_sales {
    std::string shop;
    std::string day;
    std::int64_t cents{};
    std::int64_t orders{};

    static daily_sales key(order const& of) { return {of.shop, of.day}; }
    void add(order const& one) { cents += one.cents, ++orders; }
    void subtract(order const& one) { cents -= one.cents, --orders; }
};
ENTITABLE(daily_sales, partition_key(shop), row_key(literal("SALES:"), day), properties(cents, orders))

struct split_sales {
    std::string shop;
    std::string day;
    std::int32_t part{};
    std::int64_t cents{};

    static split_sales key(order const& of) { return {of.shop, of.day}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
    void combine(split_sales const& other) { cents += other.cents; }
};
ENTITABLE(split_sales, partition_key(shop), row_key(literal("SPLIT:"), day, width(part, 2)), properties(cents))

using sales_table = table<order, daily_sales>;
using split_table = table<order, salted_aggregate<split_sales, &split_sales::part, 4>>;

sales_table new_orders(any_store through = memory_backend{}, table_options how = {}) {
    sales_table orders{std::move(through), "orders", how};
    orders.create_if_absent().value();
    return orders;
}

/// Empty if the sums match the entities.
template <class Sums, class Table>
std::string wrong_sums(Table const& orders) {
    auto const seen = orders.template verify<Sums>("kiel");
    return !seen                ? seen.error().message
        : seen->wrong_sums != 0 ? "wrong: " + seen->wrong_sums_first.front().row_key
                                : "";
}
std::string wrong_sums(sales_table const& orders) { return wrong_sums<daily_sales>(orders); }

} // namespace

TEST_CASE("sums change in the transaction of their entity") {
    testing::spy<memory_backend> service{memory_backend{}};
    auto const orders = new_orders(service);
    orders.insert({"kiel", 1, "mon", 250, ""}).value();
    orders.insert({"kiel", 2, "mon", 100, ""}).value();
    auto const before = service.seen().size();
    orders.insert({"kiel", 3, "tue", 50, ""}).value();
    CHECK(service.seen().size() - before == 2); // one read, one transaction
    CHECK(orders.sum({"kiel", "mon"}).value().cents == 350);
    CHECK(orders.sum({"kiel", "mon"}).value().orders == 2);
    CHECK(orders.sum({"kiel", "sun"}).value().orders == 0);
    CHECK(orders.insert({"kiel", 3, "tue", 50, ""}).error().code == error_code::entity_already_exists);

    orders.update("kiel", 2, [](order& each) { each.cents = 90; }).value();
    CHECK(orders.sum({"kiel", "mon"}).value().cents == 340);
    orders.update("kiel", 2, [](order& each) { each.day = "tue"; }).value(); // removed from one sum, added to another
    CHECK(orders.sum({"kiel", "mon"}).value().cents == 250);
    CHECK(orders.sum({"kiel", "tue"}).value().cents == 140);
    orders.insert_or_replace({"kiel", 1, "tue", 1, ""}).value();
    orders.insert_or_replace({"kiel", 9, "tue", 1, ""}).value();
    orders.replace({"kiel", 9, "tue", 2, ""}, any_etag).value();
    CHECK(orders.sum({"kiel", "tue"}).value().cents == 143);
    CHECK(orders.sum({"kiel", "mon"}).value().orders == 0);
    auto const version = orders.get_stored("kiel", 9).value().etag;
    orders.replace({"kiel", 9, "tue", 3, ""}, version).value();
    CHECK(orders.remove("kiel", 9, version).error().code == error_code::update_condition_not_satisfied);
    orders.remove("kiel", 9, any_etag).value();
    CHECK(orders.sum({"kiel", "tue"}).value().cents == 141);
    CHECK(orders.remove("kiel", 9, any_etag).error().code == error_code::resource_not_found);

    // A change that leaves a sum equal does not write it.
    auto const hot = orders.get_stored<daily_sales>("kiel", "tue").value().etag;
    orders.update("kiel", 3, [](order& each) { each.note = "paid"; }).value();
    CHECK(orders.get_stored<daily_sales>("kiel", "tue").value().etag == hot);

    orders
        .transact("kiel",
            [](transaction<order>& all) -> result<void> {
                all.insert(order{"kiel", 20, "wed", 5, ""}).insert(order{"kiel", 21, "wed", 6, ""});
                return {};
            })
        .value();
    CHECK(orders.sum({"kiel", "wed"}).value().cents == 11);
    CHECK(wrong_sums(orders) == "");
}

TEST_CASE("rebuild() corrects sums after writes that did not maintain them") {
    auto const orders = new_orders();
    orders.insert({"kiel", 1, "mon", 250, ""}).value();
    orders.insert({"kiel", 2, "sun", 1, ""}).value();
    orders.unmaintained().insert({"kiel", 3, "mon", 30, ""}).value();
    orders.unmaintained().insert({"kiel", 4, "tue", 40, ""}).value();
    orders.unmaintained().remove("kiel", 2, any_etag).value();
    auto const seen = orders.verify<daily_sales>("kiel").value();
    CHECK(seen.indexes.entities == 3);
    CHECK(seen.wrong_sums == 3); // mon, tue and sun
    CHECK_FALSE(seen.good());
    CHECK(orders.rebuild<daily_sales>("kiel").value().wrong_sums == 3);
    CHECK(orders.sum({"kiel", "mon"}).value().cents == 280);
    CHECK(orders.sum({"kiel", "tue"}).value().orders == 1);
    CHECK(orders.sum({"kiel", "sun"}).value().orders == 0);
    CHECK(orders.verify<daily_sales>("kiel").value().sums == 3);
    CHECK(orders.rebuild<daily_sales>("kiel").value().wrong_sums == 0);
}

TEST_CASE(
    "rebuild() counts all rows that it wrote, including rows from an attempt that failed because of another writer") {
    memory_backend store;
    bool meddles = false;
    auto const meddle = [&](std::string_view request, bool) {
        if (request == write_entity::name && std::exchange(meddles, false)) {
            sales_table{store, "orders"}.insert({"kiel", 9, "tue", 5, ""}).value();
        }
    };
    sales_table const orders = new_orders(entitable_test::around{store, meddle});
    orders.insert({"kiel", 1, "mon", 250, ""}).value();
    orders.insert({"kiel", 2, "tue", 250, ""}).value();
    orders.insert({"kiel", 3, "sun", 250, ""}).value();
    orders.unmaintained().insert({"kiel", 4, "mon", 30, ""}).value();
    orders.unmaintained().insert({"kiel", 5, "tue", 40, ""}).value();
    meddles = true;
    auto const mended = orders.rebuild<daily_sales>("kiel").value();
    CHECK(mended.wrong_sums == 2);
    CHECK(mended.sums == 1);
    CHECK(mended.wrong_sums_first.size() == 2);
    CHECK(orders.verify<daily_sales>("kiel").value().wrong_sums == 0);
}

TEST_CASE("a salted aggregate is the sum of its parts") {
    memory_backend store;
    split_table const orders{store, "orders"};
    orders.create().value();
    for (std::int32_t number = 0; number < 40; ++number) { orders.insert({"kiel", number, "mon", number, ""}).value(); }
    CHECK(orders.sum({"kiel", "mon"}).value().cents == 780);
    std::size_t parts = 0;
    for (std::int32_t part = 0; part < 4; ++part) {
        parts += orders.find<split_sales>("kiel", "mon", part).value() ? 1U : 0U;
    }
    CHECK(parts == 4);
    CHECK(wrong_sums<split_sales>(orders) == "");
}

TEST_CASE("sums equal a recomputation after every step of random histories with faults") {
    std::size_t const histories = entitable_test::rounds(6, 400);
    for (std::size_t history = 0; history < histories; ++history) {
        INFO(history);
        memory_backend store;
        std::mt19937 random{static_cast<unsigned>(history + 1)};
        testing::faulty<memory_backend> service{store, {}};
        service.plan_random(history + 1, 25, 150,
            {testing::fault::lost_before(), testing::fault::lost_after(), testing::fault::busy()});
        auto const seen = new_orders(store);
        sales_table const orders{service, "orders"};
        for (int step = 0; step < 60; ++step) {
            auto const number = static_cast<std::int32_t>(random() % 6);
            std::string const day = random() % 2 == 0 ? "mon" : "tue";
            order const made{"kiel", number, day, static_cast<std::int64_t>(random() % 1000), ""};
            switch (random() % 4) {
                case 0: (void)orders.insert(made); break;
                case 1: (void)orders.insert_or_replace(made); break;
                case 2: (void)orders.remove("kiel", number, any_etag); break;
                default: (void)orders.update("kiel", number, [&](order& each) { each.cents += 7, each.day = day; });
            }
            REQUIRE(wrong_sums(seen) == "");
        }
    }
}

TEST_CASE("with eight writers, faults and a rebuild the sums are correct at every read") {
    memory_backend store;
    auto const seen = new_orders(store, {.max_attempts = 1'000});
    std::size_t const steps = entitable_test::rounds(40, 4'000);
    std::atomic<int> writing{8};
    std::vector<std::thread> writers;
    for (unsigned writer = 0; writer < 8; ++writer) {
        writers.emplace_back([&store, &writing, steps, writer] {
            std::mt19937 random{writer + 1};
            testing::faulty<memory_backend> service{store, {}};
            service.plan_random(writer + 1, 25, 10 * steps,
                {testing::fault::lost_before(), testing::fault::lost_after(), testing::fault::busy()});
            sales_table const orders{service, "orders", {.max_attempts = 1'000, .seed = writer + 1}};
            for (std::size_t step = 0; step < steps; ++step) {
                auto const number = static_cast<std::int32_t>(random() % 20); // equal in all cases
                std::string const day = random() % 2 == 0 ? "mon" : "tue";
                order const made{"kiel", number, day, static_cast<std::int64_t>(random() % 1000), ""};
                switch (random() % 4) {
                    case 0: (void)orders.insert(made); break;
                    case 1: (void)orders.insert_or_replace(made); break;
                    case 2: (void)orders.remove("kiel", number, any_etag); break;
                    default: (void)orders.update("kiel", number, [&](order& each) { each.cents += 7, each.day = day; });
                }
            }
            --writing;
        });
    }
    std::string problem; // verify reads one page, so all its rows existed at one time
    std::size_t looks = 0;
    for (; writing > 0; ++looks) {
        if (looks % 8 == 7) { (void)seen.rebuild<daily_sales>("kiel"); }
        if (auto const wrong = wrong_sums(seen); problem.empty()) { problem = wrong; }
    }
    for (std::thread& each : writers) { each.join(); }
    CHECK(problem == "");
    CHECK(looks > 0);
    CHECK(wrong_sums(seen) == "");
}

namespace {

/// A defect: the version of sums is not checked.
struct blind {
    using is_transport = void;
    any_store behind;
    [[nodiscard]] entitable::profile profile() const { return behind.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact> || std::same_as<Request, write_entity>) {
            Request forced = request;
            auto const force = [](mutation& each) {
                if (each.entity.row_key().substr(0, 6) == "SALES:" && each.kind == mutation_kind::replace) {
                    each.condition = any_etag;
                }
            };
            if constexpr (std::same_as<Request, transact>) {
                for (mutation& each : forced.changes) { force(each); }
            } else {
                force(forced.change);
            }
            return behind.execute(forced, context);
        } else {
            return behind.execute(request, context);
        }
    }
};

struct sales_actor {
    std::string name;
    std::function<result<void>(sales_table const&)> does;
};
template <class T>
result<void> only_whether(result<T> done) {
    return done ? result<void>{} : result<void>{std::move(done).as_failure()};
}

testing::interleaving_report walk(
    std::vector<sales_actor> const& actors, testing::interleaving_limits limits, bool defect) {
    return testing::interleavings(
        [&](testing::stage& on) {
            auto const begun = new_orders(on.store(), {.time = &on.time(), .seed = 98});
            begun.insert({"kiel", 1, "mon", 10, ""}).value();
            std::uint64_t seed = 0;
            for (sales_actor const& each : actors) {
                ++seed;
                on.add(
                    each.name,
                    [&on, each, seed, defect] {
                        auto const runs = [each, seed, defect](any_store way, entitable::clock& time) {
                            return each.does(sales_table{defect ? any_store{blind{way}} : way, "orders",
                                {.max_attempts = 4, .time = &time, .seed = seed}});
                        };
                        return testing::program<result<void>>{runs, on.time().steady()};
                    },
                    [](result<void> const&) {});
            }
            on.always(
                [&on] { return wrong_sums(sales_table{on.store(), "orders", {.time = &on.time(), .seed = 97}}); });
        },
        limits);
}

} // namespace

TEST_CASE("a sum is correct for any order of its writers, with lost answers and crashes") {
    sales_actor const inserts{
        "insert", [](auto const& all) { return only_whether(all.insert({"kiel", 2, "mon", 5, ""})); }};
    sales_actor const changes{"update", [](auto const& all) {
                                  return only_whether(
                                      all.update("kiel", 1, [](order& each) { each.cents = 30, each.day = "tue"; }));
                              }};
    sales_actor const removes{"remove", [](auto const& all) { return only_whether(all.remove("kiel", 1, any_etag)); }};
    sales_actor const rebuilds{
        "rebuild", [](auto const& all) { return only_whether(all.template rebuild<daily_sales>("kiel")); }};
    testing::interleaving_limits limits;
    limits.crashes = 1;
    limits.most_states = entitable_test::rounds(60, 100'000, 2'000);
    for (auto const& actors : std::vector<std::vector<sales_actor>>{{inserts, changes}, {changes, removes},
             {inserts, rebuilds}, {changes, rebuilds}, {inserts, removes, rebuilds}}) {
        auto const found = walk(actors, limits, false);
        CHECK(found.problem == "");
    }
    limits = {};
    limits.faults = limits.late = 0;
    limits.most_states = 2'000;
    CHECK(walk({inserts, changes}, limits, true).problem != "");
    CHECK(walk({inserts, changes}, limits, false).problem == "");
}

TEST_CASE("sums: an operation id stays usable if another writer inserts the sum row first") {
    for (bool const is_there : {false, true}) {
        for (int at = 0; at < 9; ++at) {
            INFO("row of sums there: " << is_there << ", the other writer before request " << at);
            memory_backend const store;
            sales_table const other{store, "orders"};
            other.create().value();
            if (is_there) { other.insert({"kiel", 9, "mon", 1, ""}).value(); }
            int requests = 0;
            bool done = false;
            entitable_test::around const watched{store, [&](std::string_view, bool) {
                                                     if (requests++ == at && !std::exchange(done, true)) {
                                                         other.insert({"kiel", 2, "mon", 10, ""}).value();
                                                     }
                                                 }};
            table_options id;
            id.calls.operation_id = "click-1";
            sales_table const mine{retrying{any_store{watched}, {.operation_rows = true}}, "orders", id};
            auto const made = mine.insert({"kiel", 1, "mon", 5, ""});
            CHECK((made ? std::string{} : made.error().to_string()) == "");
            CHECK(other.sum({"kiel", "mon"}).value().cents == 5 + (done ? 10 : 0) + (is_there ? 1 : 0));
            CHECK(other.verify<daily_sales>("kiel").value().good());
            CHECK(mine.insert({"kiel", 1, "mon", 5, ""}).value().attempts == 0); // it was created before
        }
    }
}
