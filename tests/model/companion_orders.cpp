// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Pairs of writers of a table with an index, with sums, with both and with more, in every order in which their requests can reach the store,
// with lost and late requests and a crash; and without one of the guards, which is detected in a list where it stands alone.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include "support/defects.hpp"
#include "support/long.hpp"
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <algorithm>
#include <functional>

using namespace companion_tests;
using entitable_test::through_defect;
using entitable_test::with_transactions;

namespace {

using with_index = table<invoice, by_customer>;
using with_sums = table<invoice, daily_sales>;
using with_both = table<invoice, by_customer, daily_sales>;
using with_two_types = table<invoice, refund, by_customer, daily_sales, balance>;
using with_elsewhere = table<invoice, by_customer, elsewhere<by_account>, daily_sales>;

template <class Table>
Table open(any_store const& through, entitable::clock& time, std::uint64_t seed) {
    table_options how;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    if constexpr (std::is_same_v<Table, with_elsewhere>) {
        return Table{through, "books", how, in_table<by_account>{through, "accounts"}};
    } else {
        return Table{through, "books", how};
    }
}

template <class Type, class Table>
inline constexpr bool lists = false;
template <class Type, class... Listed>
inline constexpr bool lists<Type, table<Listed...>> = (std::is_same_v<Type, detail::type_of_listed<Listed>> || ...);

/// What is wrong with the companions that a table maintains.
template <class Table>
std::string wrong_in(any_store const& store, bool exactly) {
    oracle entities;
    std::multiset<std::string> found;
    table<invoice, refund, as_entity<by_customer>, as_entity<daily_sales>, as_entity<balance>> const all{
        store, "books"};
    for (invoice const& one : all.scan_table<invoice>()) { entities.invoices[{one.tenant, one.number}] = one; }
    for (refund const& one : all.scan_table<refund>()) { entities.refunds[{one.tenant, one.number}] = one; }
    entities.read_archived(store);
    for (by_customer const& one : all.scan_table<by_customer>()) {
        found.insert("customer " + one.tenant + " " + one.customer + " " + std::to_string(one.number) + " " +
            std::to_string(one.cents));
    }
    for (daily_sales const& one : all.scan_table<daily_sales>()) {
        if (one.cents != 0 || one.invoices != 0) {
            found.insert("day " + one.tenant + " " + one.day + " " + std::to_string(one.cents) + " " +
                std::to_string(one.invoices));
        }
    }
    for (balance const& one : all.scan_table<balance>()) {
        if (one.cents != 0) { found.insert("balance " + one.tenant + " " + std::to_string(one.cents)); }
    }
    if constexpr (lists<by_account, Table>) {
        for (by_account const& one : table<by_account>{store, "accounts"}.scan_table()) {
            found.insert("account " + one.account + " " + one.tenant + " " + std::to_string(one.number) + " " +
                std::to_string(one.cents));
        }
    }
    auto const maintained = [](std::string const& text) {
        return (lists<by_customer, Table> && text.starts_with("customer ")) ||
            (lists<daily_sales, Table> && text.starts_with("day ")) ||
            (lists<balance, Table> && text.starts_with("balance ")) ||
            (lists<by_account, Table> && text.starts_with("account "));
    };
    auto const keys_of = [](std::string const& text) { return text.substr(0, text.rfind(' ')); };
    std::set<std::string> accounts;
    for (std::string const& each : found) { accounts.insert(keys_of(each)); }
    auto const wanted = entities.companions();
    for (std::string const& each : wanted) {
        bool const lags = !exactly && each.starts_with("account ");
        bool const is_there = lags ? accounts.contains(keys_of(each)) : found.contains(each);
        if (maintained(each) && !is_there) { return "missing: " + each; }
    }
    for (std::string const& each : found) {
        bool const lags = !exactly && each.starts_with("account ");
        if (maintained(each) && !lags && !wanted.contains(each)) { return "too many: " + each; }
    }
    return {};
}

template <class Table>
struct actor {
    std::string name;
    std::function<result<void>(Table const&)> does;
    through_defect defect{};
};

template <class Result>
result<void> only_error(Result const& made) {
    return made ? result<void>{} : result<void>{failure{made.error()}};
}

template <class Table>
actor<Table> inserts(std::int32_t number, std::string const& day) {
    return {"insert " + std::to_string(number), [=](Table const& books) {
                return only_error(books.insert(invoice{"ACME", number, "ann", {}, "red", day, 5}));
            }};
}
template <class Table>
actor<Table> updates(std::string const& customer, std::int64_t more) {
    return {"update to " + customer, [=](Table const& books) {
                return only_error(books.template of<invoice>().update("ACME", 1, [=](invoice& one) {
                    one.customer = customer;
                    one.account = customer;
                    one.cents += more;
                }));
            }};
}
template <class Table>
actor<Table> changes(std::string const& customer, std::int64_t more) {
    return {"transaction to " + customer, [=](Table const& books) {
                return only_error(books.transact("ACME", [=](auto& all) -> result<void> {
                    ENTITABLE_TRY(auto one, all.template get<invoice>(1));
                    one.customer = customer;
                    one.account = customer;
                    one.cents += more;
                    all.replace(one);
                    return {};
                }));
            }};
}
template <class Table>
actor<Table> removes() {
    return {"remove",
        [](Table const& books) { return only_error(books.remove(invoice{"ACME", 1, {}, {}, {}, {}, 0}, any_etag)); }};
}
template <class Table>
actor<Table> archives(std::int32_t number) {
    return {"archive", [=](Table const& books) {
                return only_error(books.template remove<invoice>("ACME", number, any_etag, removal::archived));
            }};
}
/// Computes the sums again, while they are ready.
template <class Table>
actor<Table> builds() {
    return {"build", [](Table const& books) {
                if constexpr (lists<daily_sales, Table>) { return only_error(books.template build<daily_sales>()); }
                return result<void>{};
            }};
}
template <class Table>
actor<Table> replaces(std::string const& day) {
    return {"insert_or_replace", [=](Table const& books) {
                return only_error(books.insert_or_replace(invoice{"ACME", 1, "zoe", {}, "blue", day, 9}));
            }};
}

/// The state of sums before the first move.
enum class sums_at_first : std::uint8_t { ready, building };

template <class Table>
testing::interleaving_report walk(std::vector<actor<Table>> const& actors, testing::interleaving_limits limits,
    sums_at_first sums = sums_at_first::ready) {
    limits.most_states = entitable_test::rounds(150, 100'000, 3'000);
    limits.most_requests = 500;
    return testing::interleavings(
        [&](testing::stage& on) {
            auto const books = open<Table>(on.store(), on.time(), 98);
            books.create().value();
            books.insert(invoice{"ACME", 1, "eve", {}, "red", "mon", 100}).value();
            if (sums == sums_at_first::building) {
                table<daily_sales>{on.store(), "books"}.remove("ACME", "mon", any_etag).value();
                row_builder state{"~!index!", "~!index!daily_sales"};
                state.add("State", value_view{std::string_view{"building"}});
                call context;
                any_store{on.store()}
                    .execute(write_entity{"books", mutation::merge(state.build(), any_etag)}, context)
                    .value();
            }
            std::uint64_t seed = 0;
            for (actor<Table> const& each : actors) {
                ++seed;
                on.add(
                    each.name,
                    [&on, each, seed] {
                        auto const runs = [each, seed](any_store way, entitable::clock& time) {
                            return each.does(open<Table>(each.defect ? each.defect(way) : way, time, seed));
                        };
                        return testing::program<result<void>>{runs, on.time().steady()};
                    },
                    [](result<void> const&) {});
            }
            if (sums == sums_at_first::ready) {
                on.always([&on] { return wrong_in<Table>(on.store(), false); });
            }
            on.at_end([&on, sums] {
                auto const at_last = open<Table>(on.store(), on.time(), 97);
                at_last.repair().value();
                if (sums != sums_at_first::ready) { at_last.build().value(); } // where the build was refused
                if (std::string const wrong = wrong_in<Table>(on.store(), true); !wrong.empty()) { return wrong; }
                return (at_last.verify)().value().good() ? std::string{} : std::string{"verify finds faults"};
            });
        },
        limits);
}

void check(testing::interleaving_report const& told) {
    CAPTURE(told.schedule);
    CHECK(told.problem == "");
}

testing::interleaving_limits const quiet{.faults = 0, .late = 0};
testing::interleaving_limits const faulty{.faults = 1, .late = 1, .crashes = 1};

/// Rows whose key begins like this are written in any version.
through_defect unconditional(std::string const& prefix) {
    return with_transactions([prefix](transact& all) {
        for (mutation& each : all.changes) {
            if (!each.entity.row_key().starts_with(prefix)) { continue; }
            each.condition = any_etag;
            if (each.kind == mutation_kind::insert) { each.kind = mutation_kind::insert_or_replace; }
        }
    });
}
/// Rows of sums are not written where something is archived.
through_defect archiving_past_sums() {
    return with_transactions([](transact& all) {
        bool const archives = std::ranges::any_of(
            all.changes, [](mutation const& each) { return each.entity.row_key().starts_with("~!sum!"); });
        std::erase_if(
            all.changes, [&](mutation const& each) { return archives && each.entity.row_key().starts_with("SALES:"); });
    });
}
template <class Table>
actor<Table> with(through_defect defect, actor<Table> one) {
    one.defect = std::move(defect);
    return one;
}

} // namespace

TEMPLATE_TEST_CASE("companions: each pair of writers can run in any order", "", with_index, with_sums, with_both,
    with_two_types, with_elsewhere) {
    using pair = std::vector<actor<TestType>>;
    for (pair const& each : {
             pair{inserts<TestType>(2, "mon"), inserts<TestType>(3, "mon")},
             pair{inserts<TestType>(2, "tue"), inserts<TestType>(3, "tue")}, // into sums that do not exist
             pair{updates<TestType>("ann", 1), updates<TestType>("bob", 2)},
             pair{changes<TestType>("ann", 1), updates<TestType>("bob", 2)},
             pair{changes<TestType>("ann", 1), changes<TestType>("bob", 2)},
             pair{updates<TestType>("ann", 1), removes<TestType>()},
             pair{changes<TestType>("ann", 1), removes<TestType>()},
             pair{replaces<TestType>("tue"), removes<TestType>()},
             pair{replaces<TestType>("tue"), updates<TestType>("ann", 1)},
             pair{archives<TestType>(1), updates<TestType>("ann", 1)},
             pair{archives<TestType>(1), removes<TestType>()},
             pair{archives<TestType>(1), inserts<TestType>(2, "mon")},
             pair{archives<TestType>(1), builds<TestType>()},
             pair{inserts<TestType>(2, "mon"), builds<TestType>()},
         }) {
        INFO(each.front().name << ", " << each.back().name);
        check(walk<TestType>(each, quiet));
    }
}

TEMPLATE_TEST_CASE("companions: a writer survives lost and late requests and a crash", "", with_index, with_sums,
    with_both, with_two_types, with_elsewhere) {
    for (actor<TestType> const& each : {inserts<TestType>(2, "tue"), updates<TestType>("ann", 1),
             changes<TestType>("ann", 1), removes<TestType>(), archives<TestType>(1), replaces<TestType>("tue")}) {
        INFO(each.name);
        check(walk<TestType>({each}, faulty));
    }
}

TEST_CASE("companions: sums are built concurrently with each writer, in every interleaving") {
    for (auto const& each : {archives<with_sums>(1), removes<with_sums>(), inserts<with_sums>(2, "mon"),
             inserts<with_sums>(2, "tue"), updates<with_sums>("ann", 1)}) {
        INFO(each.name);
        check(walk(std::vector{each, builds<with_sums>()}, quiet, sums_at_first::building));
    }
    check(walk(std::vector{archives<with_sums>(1), builds<with_sums>()}, faulty, sums_at_first::building));
    CHECK(walk(std::vector{with(archiving_past_sums(), archives<with_sums>(1)), builds<with_sums>()}, quiet,
              sums_at_first::building)
              .problem != "");
}

TEST_CASE("companions: each guard in the protocol is necessary") {
    auto const problem = [](auto const& actors) { return walk(actors, quiet).problem; };
    auto const sums_any = unconditional("SALES:");
    // The version of the sums, and the insert of sums that do not exist, where two writers change different entities.
    CHECK(problem(std::vector{
              with(sums_any, inserts<with_sums>(2, "mon")), with(sums_any, inserts<with_sums>(3, "mon"))}) != "");
    CHECK(problem(std::vector{
              with(sums_any, inserts<with_sums>(2, "tue")), with(sums_any, inserts<with_sums>(3, "tue"))}) != "");
    // A recomputation that does not see that something was archived loses it.
    CHECK(problem(std::vector{with(archiving_past_sums(), archives<with_sums>(1)), builds<with_sums>()}) != "");
    CHECK(problem(std::vector{archives<with_sums>(1), builds<with_sums>()}) == "");
    // The version of the entity, where only an index depends on it.
    auto const entity_any = unconditional("00");
    CHECK(problem(std::vector{
              with(entity_any, changes<with_index>("ann", 1)), with(entity_any, changes<with_index>("bob", 2))}) != "");
}
