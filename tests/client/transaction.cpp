// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include "support/entities.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::account;
using entitable_test::booking;
using testing::fault;

namespace {

using all_of_bank = transaction<account, booking>;
using a = fields<account>;

struct bank {
    bank() {
        books.create().value();
        for (std::int32_t const number : {1, 2, 3}) { accounts.insert({"first", number, 100, {}}).value(); }
    }
    [[nodiscard]] std::int64_t cents(std::int32_t number) const { return accounts.get("first", number)->cents; }
    /// What another writer does in between.
    void put(std::int32_t number, std::int64_t to) const {
        accounts.insert_or_merge({"first", number, to, {}}).value();
    }
    template <class Body>
    [[nodiscard]] result<transacted> transact(Body&& body, std::uint32_t attempts = 5, bool announces = false) const {
        return table<account, booking>{watched, "books"}.transact(
            "first", body, {.max_attempts = attempts, .time = &time, .seed = 1, .announces = announces});
    }
    [[nodiscard]] std::vector<mutation> last_changes() const {
        return watched.all<entitable::transact>().back().changes;
    }

    mutable testing::manual_clock time;
    memory_backend store;
    testing::spy<memory_backend> watched{store};
    table<account, booking> books{store, "books"};
    table<account> accounts = books.unmaintained<account>();
};

result<void> transfer(all_of_bank& all, std::int32_t from, std::int32_t to, std::int64_t cents) {
    ENTITABLE_TRY(auto payer, all.get(from));
    ENTITABLE_TRY(auto payee, all.get(to));
    if (payer.cents < cents) { return failure{error_code::out_of_range_input, "not enough money"}; }
    payer.cents -= cents;
    payee.cents += cents;
    all.replace(payer).replace(payee);
    return {};
}

/// Pages of at most four rows.
struct small_pages {
    using is_transport = void;
    memory_backend store;
    [[nodiscard]] entitable::profile profile() const {
        auto limits = store.profile();
        limits.max_page_size = 4;
        return limits;
    }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        return store.execute(request, context);
    }
};

} // namespace

TEST_CASE("transaction: makes its reads, then one write request with all changes") {
    bank in;
    auto const done = in.transact([](all_of_bank& all) -> result<void> {
        ENTITABLE_CHECK(transfer(all, 1, 2, 30));
        all.insert(booking{"first", 7, 30});
        return {};
    });
    REQUIRE(done);
    CHECK(done->attempts == 1);
    CHECK(done->changed);
    CHECK_FALSE(done->after_retry);
    CHECK(in.cents(1) == 70);
    CHECK(in.cents(2) == 130);
    CHECK(in.books.get<booking>("first", 7)->cents == 30);
    CHECK(in.watched.seen().size() == 3);
    CHECK(in.last_changes().size() == 3);
}

TEST_CASE("transaction: nothing is written if the body returns an error") {
    bank in;
    auto const done = in.transact([](all_of_bank& all) -> result<void> {
        all.insert(booking{"first", 7, 30});
        return transfer(all, 1, 2, 101);
    });
    CHECK(done.error().message == "not enough money");
    CHECK(done.error().effect == effect::none);
    CHECK_FALSE(in.books.find<booking>("first", 7).value());
    CHECK(in.watched.all<entitable::transact>().empty());
}

TEST_CASE("transaction: starts over if a row that it read has changed") {
    bank in;
    int runs = 0;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto payer, all.get(1));
        if (++runs == 1) { in.put(1, 1000); }
        payer.cents -= 1;
        all.replace(payer);
        return {};
    });
    CHECK(done.value().attempts == 2);
    CHECK(runs == 2);
    CHECK(in.cents(1) == 999);
}

TEST_CASE("transaction: a row that was only read is guarded by its version") {
    bank in;
    int runs = 0;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto limit, all.get(3));
        if (++runs == 1) { in.put(3, 5); }
        all.insert(booking{"first", 1, limit.cents});
        return {};
    });
    CHECK(done.value().attempts == 2);
    CHECK(in.books.get<booking>("first", 1)->cents == 5);
    auto const sent = in.last_changes();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].kind == mutation_kind::merge); // before the insert
    CHECK_FALSE(sent[0].condition.any());
    CHECK(in.cents(3) == 5);
}

TEST_CASE("transaction: starts over if another writer first inserts a row that the body found missing and inserts") {
    bank in;
    int runs = 0;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto found, all.find(9));
        if (++runs == 1) { in.put(9, 5); }
        if (found) {
            found->cents += 1;
            all.replace(*found);
        } else {
            all.insert(account{"first", 9, 1, {}});
        }
        return {};
    });
    CHECK(done.value().attempts == 2);
    CHECK(in.cents(9) == 6);
    // A row that was never read is the caller's error, which names the keys.
    auto const blind = in.transact([](all_of_bank& all) -> result<void> {
        all.insert(account{"first", 1, 1, {}});
        return {};
    });
    CHECK(blind.error().code == error_code::entity_already_exists);
    CHECK(blind.error().effect == effect::none);
    CHECK(blind.error().detail.find("RowKey \"account:") != std::string::npos);
    CHECK_FALSE(blind.error().operation_index);
}

TEST_CASE("transaction: never returns data from a state that did not exist") {
    bank in;
    int runs = 0;
    std::int64_t sum = 0;
    auto const reads_all = [&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto one, all.get(1));
        if (++runs == 1) { // between the two reads
            in.put(1, 0);
            in.put(2, 200);
        }
        ENTITABLE_TRY(auto two, all.get(2));
        sum = one.cents + two.cents;
        return sum == 200 ? result<void>{} : result<void>{failure{error_code::out_of_range_input, "not the sum"}};
    };
    auto const done = in.transact(reads_all);
    CHECK(done.value().attempts == 2);
    CHECK_FALSE(done->changed);
    CHECK(sum == 200);
    CHECK(in.watched.all<query_entities>().size() == 2); // a confirmation for each attempt
    // A single read needs no confirmation.
    auto const single = in.transact([&](all_of_bank& all) -> result<void> { return all.get(7); });
    CHECK(single.error().code == error_code::resource_not_found);
    CHECK(in.watched.all<query_entities>().size() == 2);
    // A row that did not exist and does now counts as well.
    runs = 0;
    auto const missing = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto nobody, all.find(8));
        if (++runs == 1) { in.put(8, 1); }
        ENTITABLE_CHECK(all.get(1));
        return nobody ? result<void>{} : result<void>{failure{error_code::out_of_range_input, "nobody"}};
    });
    CHECK(missing.value().attempts == 2);
}

TEST_CASE("transaction: starts over if a query finds a different version of a row that was read") {
    bank in;
    int runs = 0;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto one, all.get(1));
        if (++runs == 1) { in.put(1, 50); }
        ENTITABLE_TRY(auto every, all.where(a::number >= 1));
        CHECK(every.size() == 3);
        std::int64_t sum = 0;
        for (account const& each : every) { sum += each.cents; }
        one.cents = sum;
        all.replace(one);
        return {};
    });
    CHECK(done.value().attempts == 2);
    CHECK(in.cents(1) == 250);
}

TEST_CASE("transaction: a query is limited to one page unless the body is exclusive") {
    bank in;
    auto opening = in.accounts.batch();
    for (std::int32_t number = 4; number <= 9; ++number) { opening.insert({"first", number, number, {}}); }
    opening.submit().value();
    table<account> const paged{small_pages{in.store}, "books"};
    std::size_t found = 0;
    auto const read_all = [&](bool alone) {
        return paged.transact("first", [&](transaction<account>& all) -> result<void> {
            if (alone) { ENTITABLE_CHECK(all.exclusive()); }
            ENTITABLE_TRY(auto every, all.where(a::cents >= 0));
            found = every.size();
            all.insert({"first", 100, static_cast<std::int64_t>(found), {}});
            return {};
        });
    };
    CHECK(read_all(false).error().code == error_code::query_too_complex);
    CHECK(read_all(true));
    CHECK(found == 9);
    // Two ranges are one request, and rows of another type do not conflict.
    std::size_t some = 0;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto ends, all.where(a::number <= 2 || (a::number >= 8 && a::cents == 8)));
        some = ends.size();
        return {};
    });
    CHECK(done);
    CHECK(some == 3);
    CHECK(in.watched.all<query_entities>().size() == 1);
}

TEST_CASE("transaction: several changes of a row are combined into one change") {
    struct expectation {
        std::string_view name;
        std::function<void(all_of_bank&, account&)> body;
        std::optional<mutation_kind> net;
        std::int64_t cents;
    };
    account const changed{"first", 1, 7, {}};
    expectation const each = GENERATE_COPY(values<expectation>({
        {"replace, replace", [=](auto& all, auto& one) { all.replace(one).replace(changed); }, mutation_kind::replace,
            7},
        {"replace, merge", [=](auto& all, auto& one) { all.replace(one).merge(changed); }, mutation_kind::replace, 7},
        {"merge, merge", [=](auto& all, auto& one) { all.merge(one).merge(changed); }, mutation_kind::merge, 7},
        {"merge, replace", [=](auto& all, auto& one) { all.merge(one).replace(changed); }, mutation_kind::replace, 7},
        {"replace, remove", [](auto& all, auto& one) { all.replace(one).remove(one); }, mutation_kind::remove, -1},
        {"remove, insert", [=](auto& all, auto& one) { all.remove(one).insert(changed); }, mutation_kind::replace, 7},
        {"upsert of what was read", [=](auto& all, auto&) { all.insert_or_replace(changed); }, mutation_kind::replace,
            7},
    }));
    CAPTURE(each.name);
    bank in;
    std::optional<account> seen;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto one, all.get(1));
        each.body(all, one);
        ENTITABLE_TRY(seen, all.find(1));
        return {};
    });
    REQUIRE(done);
    REQUIRE(in.last_changes().size() == 1);
    CHECK(in.last_changes()[0].kind == each.net);
    CHECK_FALSE(in.last_changes()[0].condition.any());
    CHECK((seen ? seen->cents : -1) == each.cents);
    auto const stored = in.accounts.find("first", 1).value();
    CHECK((stored ? stored->cents : -1) == each.cents);
}

TEST_CASE("transaction: several changes of a new row are also combined into one change") {
    bank in;
    account const first{"first", 9, 1, "new"};
    account const second{"first", 9, 2, {}};
    auto const run = [&](auto change) {
        in.accounts.remove_if_present("first", 9, any_etag).value();
        return in.transact([&](all_of_bank& all) -> result<void> {
            change(all);
            return {};
        });
    };
    CHECK(run([&](auto& all) { all.insert(first).merge(second, any_etag); }));
    CHECK(in.accounts.get("first", 9)->note == "new");
    CHECK(in.cents(9) == 2);
    CHECK(run([&](auto& all) { all.insert(first).replace(second, any_etag); }));
    CHECK_FALSE(in.accounts.get("first", 9)->note);
    auto const nothing = run([&](auto& all) { all.insert(first).remove(first, any_etag); });
    CHECK_FALSE(nothing.value().changed);
    CHECK_FALSE(in.accounts.find("first", 9).value());
    CHECK(run([&](auto& all) { all.insert_or_merge(first).insert_or_merge(second); }));
    CHECK(in.accounts.get("first", 9)->note == "new");
    CHECK(in.cents(9) == 2);
    // Combinations that one change cannot express, or that contradict each other, are refused.
    CHECK(run([&](auto& all) { all.insert(first).insert(second); }).error().code == error_code::entity_already_exists);
    CHECK(run([&](auto& all) { all.insert_or_replace(first).remove(first, any_etag); }).error().code ==
        error_code::invalid_input);
    CHECK(run([&](auto& all) { all.remove(first, any_etag).replace(second, any_etag); }).error().code ==
        error_code::resource_not_found);
    CHECK(run([&](auto& all) { all.replace(first); }).error().message.find("read it first, or pass any_etag") !=
        std::string::npos);
    auto const elsewhere = run([&](auto& all) { all.insert(account{"second", 9, 1, {}}); });
    CHECK(elsewhere.error().code == error_code::commands_in_batch_act_on_different_partitions);
    CHECK(elsewhere.error().detail.find("second") != std::string::npos);
    // A removed row must have existed.
    CHECK(run([&](auto& all) { all.remove(first, any_etag).insert(second); }).error().code ==
        error_code::resource_not_found);
    CHECK_FALSE(in.accounts.find("first", 9).value());
}

TEST_CASE("transaction: an update keeps undeclared properties") {
    bank in;
    row_table raw{in.store, "books"};
    table<account> const direct{in.store, "books"};
    auto const key = row_key_of(account{"first", 1, 0, {}}).value();
    entity wide{"first", key};
    wide.set("color", "red");
    raw.insert_or_merge(wide).value();
    direct.merge({"first", 1, 100, "keep?"}, any_etag).value();
    auto const done = in.transact([](all_of_bank& all) -> result<void> {
        ENTITABLE_CHECK(all.update<account>(1, [](account& found) {
            found.cents += 1;
            found.note.reset();
        }));
        ENTITABLE_CHECK(all.update<account>(1, [](account& found) { found.cents += 1; }));
        ENTITABLE_CHECK(all.update<account>(2, [](account&) { return false; }));
        return {};
    });
    REQUIRE(done);
    auto const stored = raw.get("first", key).value();
    CHECK(stored.get<std::string>("color").value() == "red");
    CHECK(stored.get<std::int64_t>("cents").value() == 102);
    CHECK_FALSE(stored.get<std::string>("note"));
    CHECK(in.last_changes().size() == 2); // the second operation is a guard
}

TEST_CASE("transaction: a change function that uses the transaction is applied on top of its changes") {
    bank in;
    entity wide{"first", row_key_of(account{"first", 1, 0, {}}).value()};
    wide.set("color", std::string(500, 'r'));
    row_table const raw{in.store, "books"};
    raw.insert_or_merge(wide).value();
    auto const done = in.transact([](all_of_bank& all) -> result<void> {
        all.merge(account{"first", 1, 5, "by merge"}, any_etag);
        ENTITABLE_CHECK(all.update<account>(1, [&](account& found) {
            all.merge(account{"first", 1, 6, "in the change"});
            CHECK(all.find(1).value()->cents == 6);
            found.cents += 1;
        }));
        return {};
    });
    REQUIRE(done);
    CHECK(in.cents(1) == 6);
    CHECK(raw.get("first", std::string{wide.row_key()})->get<std::string>("color").value() == std::string(500, 'r'));
    auto const gone = in.transact([](all_of_bank& all) -> result<void> {
        (void)all.update<account>(1, [&](account& found) { all.remove(found); });
        return {};
    });
    CHECK(gone.error().code == error_code::invalid_input);
}

TEST_CASE("transaction: a required row must exist, and other writers may change it") {
    bank in;
    auto const done = in.transact([&](all_of_bank& all) -> result<void> {
        all.require(3).insert(booking{"first", 1, 1});
        in.put(3, 1);
        return {};
    });
    CHECK(done.value().attempts == 1);
    auto const missing = in.transact([&](all_of_bank& all) -> result<void> {
        all.require(33).insert(booking{"first", 2, 1});
        return {};
    });
    CHECK(missing.error().code == error_code::resource_not_found);
    CHECK(missing.error().detail.find("account:") != std::string::npos);
    CHECK_FALSE(in.books.find<booking>("first", 2).value());
}

TEST_CASE("transaction: a required row exists at the end, whatever the order of its reads and changes") {
    bank in;
    auto const run = [&](auto body) {
        return in.transact([&](all_of_bank& all) -> result<void> {
            body(all);
            return {};
        });
    };
    auto const missing = run([](auto& all) { CHECK_FALSE(all.require(33).find(33).value()); });
    CHECK(missing.error().code == error_code::resource_not_found);
    CHECK(run([](auto& all) { all.require(3).remove(account{"first", 3, 0, {}}, any_etag); }).error().code ==
        error_code::resource_not_found);
    CHECK(run([](auto& all) {
        CHECK_FALSE(all.find(4).value());
        all.require(4).insert(account{"first", 4, 1, {}});
    }));
    CHECK(run(
        [](auto& all) { CHECK(all.require(4).where(a::cents >= 0).value().size() == 4); })); // it has changed nothing
    auto const own = in.transact([](all_of_bank& all) -> result<void> {
        ENTITABLE_CHECK(all.require(33).find(33));
        return failure{error_code::out_of_range_input, "the body's own"};
    });
    CHECK(own.error().message == "the body's own");
}

TEST_CASE("transaction: a row that is read after it was changed is guarded from then on") {
    bank in;
    int runs = 0;
    auto const lost = in.transact([&](all_of_bank& all) -> result<void> {
        all.merge(account{"first", 1, 100, "seen"}, any_etag);
        ENTITABLE_TRY(auto one, all.get(1));
        if (runs++ == 0) { in.accounts.merge(at("first", 1), a::note = "another's", any_etag).value(); }
        one.cents += 1;
        all.replace(one);
        return {};
    });
    CHECK(lost.value().attempts == 2);
    // A row that an upsert did not find is inserted.
    runs = 0;
    auto const upsert = in.transact([&](all_of_bank& all) -> result<void> {
        all.insert_or_merge(account{"first", 8, 1, {}});
        ENTITABLE_TRY(auto one, all.get(8));
        if (runs++ == 0) { in.accounts.insert({"first", 8, 5, "another's"}).value(); }
        all.insert(booking{"first", 8, one.note ? 1 : 0});
        return {};
    });
    CHECK(upsert.value().attempts == 2);
    CHECK(in.books.get<booking>("first", 8)->cents == 1);
    // A merge of a missing row is refused and reveals nothing.
    auto const nothing = in.transact([&](all_of_bank& all) -> result<void> {
        all.merge(account{"first", 9, 1, {}}, any_etag);
        CHECK_FALSE(all.find(9).value());
        return {};
    });
    CHECK(nothing.error().code == error_code::resource_not_found);
}

TEST_CASE("transaction: a transaction that is too large with its guards is refused before it is sent") {
    bank in;
    auto const done = in.transact([](all_of_bank& all) -> result<void> {
        ENTITABLE_CHECK(all.get(1));
        for (std::int32_t id = 0; id < 100; ++id) { all.insert(booking{"first", id, 1}); }
        return {};
    });
    CHECK(done.error().code == error_code::invalid_input);
    CHECK(done.error().message ==
        "the transaction has 101 operations; the limit is 100; 1 of them guard rows that were only read");
    CHECK(in.watched.all<entitable::transact>().empty());
}

TEST_CASE("transaction: a read error counts even if the body ignores it") {
    bank in;
    testing::faulty<memory_backend> broken{in.store, {.time = &in.time}};
    broken.plan({fault::busy(), 1, "get_entity"});
    auto const done = table<account>{broken, "books"}.transact("first", [](transaction<account>& all) -> result<void> {
        if (!all.get(1)) { all.insert({"first", 50, 1, {}}); }
        return {};
    });
    CHECK(done.error().http_status == 503);
    CHECK_FALSE(in.accounts.find("first", 50).value());
}

TEST_CASE("transaction: reads that found nothing are not repeated") {
    bank of;
    auto const none = of.transact([](all_of_bank& all) -> result<void> {
        CHECK(all.where(a::number == 7).value().empty());
        CHECK(all.where(a::number == 8).value().empty());
        return {};
    });
    CHECK_FALSE(none.value().changed);
    testing::faulty<memory_backend> broken{of.store, {.time = &of.time}};
    broken.plan({fault::lost_before(), 1, "get_entity"});
    broken.plan({fault::lost_before(), 2, "get_entity"});
    auto const lost = table<account>{broken, "books"}.transact("first", [](transaction<account>& all) -> result<void> {
        CHECK_FALSE(all.get(1));
        CHECK_FALSE(all.get(2));
        return {};
    });
    CHECK(lost.error().code == error_code::transport_failed);
}

TEST_CASE("transaction: an unknown effect ends the transaction without another attempt") {
    bank in;
    testing::faulty<memory_backend> broken{in.store, {.time = &in.time}};
    broken.plan({fault::lost_after(), 1, "transact"});
    int runs = 0;
    auto const done = table<account>{broken, "books"}.transact("first", [&](transaction<account>& all) -> result<void> {
        ++runs;
        return all.update(1, [](account& found) { found.cents += 1; });
    });
    CHECK(done.error().effect == effect::unknown);
    CHECK(runs == 1);
    CHECK(in.cents(1) == 101);
    // Settled by an operation row.
    retrying const patient{broken, {.operation_rows = true, .time = &in.time, .seed = 1}};
    broken.plan({fault::lost_after(), 1, "transact"});
    auto const settled =
        table<account>{patient, "books"}.transact("first", [&](transaction<account>& all) -> result<void> {
            return all.update(1, [](account& found) { found.cents += 1; });
        });
    CHECK(settled.value().after_retry);
    CHECK(in.cents(1) == 102);
}

TEST_CASE("transaction: gives up after the maximum number of attempts if other writers change its rows each time") {
    bank in;
    int runs = 0;
    auto const done = in.transact(
        [&](all_of_bank& all) -> result<void> {
            ENTITABLE_TRY(auto one, all.get(1));
            in.put(1, ++runs);
            all.replace(one);
            return {};
        },
        3);
    CHECK(done.error().code == error_code::update_condition_not_satisfied);
    CHECK(done.error().attempts == 3);
    CHECK(done.error().message.ends_with("; lost to other writers 3 times"));
    CHECK(runs == 3);
    CHECK(in.time.steady().time_since_epoch() > 0ns);
    // The deadline of the call applies as well.
    call_options hurried;
    hurried.timeout = 1ns;
    in.time.advance(1h); // the store uses the system clock, which lags behind
    auto const late = table<account>{in.store, "books", hurried}.transact("first",
        [&](transaction<account>& all) -> result<void> {
            return all.update(1, [](account& found) { found.cents += 1; });
        },
        {.time = &in.time});
    CHECK(late); // the clock did not advance
}

TEST_CASE("transaction: is applied once with an operation id") {
    bank in;
    retrying const patient{in.store, {.time = &in.time, .seed = 1}};
    call_options once;
    once.operation_id = "click-1";
    table<account> const accounts{patient, "books", once};
    int runs = 0;
    auto const add = [&](transaction<account>& all) -> result<void> {
        ++runs;
        return all.update(1, [](account& found) { found.cents += 1; });
    };
    CHECK(accounts.transact("first", add).value().attempts == 1);
    auto const again = accounts.transact("first", add).value();
    CHECK(again.attempts == 0);
    CHECK(again.after_retry);
    CHECK(runs == 1);
    CHECK(in.cents(1) == 101);
    // Between the check and the write.
    once.operation_id = "click-2";
    int nested = 0;
    auto const done = accounts.with(once).transact("first", [&](transaction<account>& all) -> result<void> {
        ENTITABLE_CHECK(all.get(2));
        if (++nested == 1) { CHECK(accounts.with(once).transact("first", add)); }
        return all.update(2, [](account& found) { found.cents += 1; });
    });
    CHECK(done.value().after_retry);
    CHECK(nested == 1);
    CHECK(in.cents(1) == 102);
    CHECK(in.cents(2) == 100);
    // No layer stores ids here.
    table<account> const plain{in.store, "books", once};
    CHECK(plain.transact("first", add).error().code == error_code::not_supported);
}

TEST_CASE("transaction: with an operation id no later error claims that nothing was written") {
    bank in;
    testing::faulty const service{in.store};
    retrying const once_only{service, {.policy = {.max_attempts = 1}, .time = &in.time, .seed = 1}};
    call_options once;
    once.operation_id = "click-1";
    table<account> const accounts{once_only, "books", once};
    auto const add = [&](transaction<account>& all) -> result<void> {
        return all.update(1, [](account& found) { found.cents += 1; });
    };
    service.plan({testing::fault::lost_after(), 1, "transact"});
    CHECK(accounts.transact("first", add).error().effect == effect::unknown); // it was applied
    for (auto const& fault : {testing::fault::lost_before(), testing::fault::busy()}) {
        service.plan({fault, 1, "get_entity"});
        auto const again = accounts.transact("first", add);
        REQUIRE(!again);
        CHECK(again.error().effect == effect::unknown);
    }
    CHECK(accounts.transact("first", add).value().after_retry);
    CHECK(in.cents(1) == 101);
}

TEST_CASE("transaction: exclusive() must come first, and its row is a system row") {
    bank in;
    auto const late = in.transact([](all_of_bank& all) -> result<void> {
        ENTITABLE_CHECK(all.get(1));
        return all.exclusive();
    });
    CHECK(late.error().message == "call exclusive() first in a body, before it reads or writes");
    auto const insert = [&](std::int32_t id) {
        return in.transact([=](all_of_bank& all) -> result<void> {
            ENTITABLE_CHECK(all.exclusive());
            ENTITABLE_CHECK(all.exclusive());
            all.insert(booking{"first", id, 1});
            return {};
        });
    };
    CHECK(insert(1));
    CHECK(insert(2));
    std::size_t rows = 0;
    in.books.for_each_in_partition("first", [&](auto const&) { ++rows; }).value();
    CHECK(rows == 5);
    // A body without writes writes nothing.
    auto const looked = in.transact([](all_of_bank& all) -> result<void> { return all.exclusive(); });
    CHECK_FALSE(looked.value().changed);
    // Bodies that announce themselves conflict.
    int runs = 0;
    auto const met = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_CHECK(all.exclusive());
        ENTITABLE_TRY(auto every, all.where(a::cents >= 0));
        if (++runs == 1) {
            CHECK(in.transact(
                [](all_of_bank& other) -> result<void> {
                    other.insert(account{"first", 70, 1, {}});
                    return {};
                },
                1, true));
        }
        all.insert(booking{"first", 70, static_cast<std::int64_t>(every.size())});
        return {};
    });
    CHECK(met.value().attempts == 2);
    CHECK(in.books.get<booking>("first", 70)->cents == 4);
}
