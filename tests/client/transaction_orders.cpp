// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Transactions of one partition in every order in which their requests can reach the store, with lost and late requests and programs
// that end. Then the same with defects, each of which is detected.

#include "support/catch.hpp"
#include "support/defects.hpp"
#include <entitable/entitable.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>

#include <algorithm>

using namespace entitable;
using entitable_test::through_defect;
using entitable_test::with_defect;

namespace {

struct account {
    std::string bank;
    std::int32_t number{};
    std::int64_t cents{};
};
ENTITABLE(account, partition_key(bank), row_key(literal("account:"), number), properties(cents))

struct booking {
    std::string bank;
    std::int64_t id{};
    std::int64_t cents{};
};
ENTITABLE(booking, partition_key(bank), row_key(literal("booking:"), id), properties(cents))

using ledger = table<account, booking>;
using on_ledger = transaction<account, booking>;
using body = std::function<result<void>(on_ledger&)>;
using outcome = result<transacted>;

/// How many ended with each outcome.
struct tally {
    int good{};
    int unknown{};
    int refused{};

    void add(outcome const& done) {
        if (done) {
            ++good;
        } else if (done.error().effect == effect::unknown) {
            ++unknown;
        } else if (done.error().code != error_code::transport_failed) { // a read was lost
            ++refused;
        }
    }
};

struct cast {
    std::string name;
    body does;
    bool announces{};
    through_defect defect{};
};

/// Walks through all orders of some bodies over a bank of three accounts, each with `opening` cents.
testing::interleaving_report walk(std::vector<cast> const& actors, std::int64_t opening,
    std::function<std::string(ledger const&, tally const&)> const& check, testing::interleaving_limits limits = {},
    bool operation_rows = false) {
    limits.most_states = 20'000;
    return testing::interleavings(
        [&](testing::stage& on) {
            ledger const books{on.store(), "books"};
            books.create().value();
            for (std::int32_t const number : {1, 2, 3}) { books.insert(account{"first", number, opening}).value(); }
            auto& told = on.keep<tally>();
            for (cast const& each : actors) {
                on.add(
                    each.name,
                    [&on, each, operation_rows] {
                        auto const runs = [each, operation_rows](any_store way, entitable::clock& time) {
                            any_store over = each.defect ? each.defect(way) : way;
                            if (operation_rows) {
                                over = retrying{over,
                                    {.policy = retry_policy::fixed(6, std::chrono::milliseconds{1}),
                                        .operation_rows = true,
                                        .time = &time,
                                        .seed = each.name.size()}};
                            }
                            return ledger{over, "books"}.transact("first", each.does,
                                {.max_attempts = 3, .time = &time, .seed = 1, .announces = each.announces});
                        };
                        return testing::program<outcome>{runs, on.time().steady()};
                    },
                    [&told](outcome const& done) { told.add(done); });
            }
            on.remember([&told] {
                return std::to_string(told.good) + ' ' + std::to_string(told.unknown) + ' ' +
                    std::to_string(told.refused);
            });
            on.always([&on, &told, check] { return check(ledger{on.store(), "books"}, told); });
        },
        limits);
}

result<void> transfer(on_ledger& all, std::int32_t from, std::int32_t to) {
    ENTITABLE_CHECK(all.update<account>(from, [](account& payer) { payer.cents -= 1; }));
    ENTITABLE_CHECK(all.update<account>(to, [](account& payee) { payee.cents += 1; }));
    return {};
}

std::int64_t sum(ledger const& books) {
    using a = fields<account>;
    return books.where(a::bank == "first").sum(a::cents).value();
}

/// Reads two accounts one by one. The error reports a pair of values that never existed.
result<void> looks(on_ledger& all) {
    ENTITABLE_TRY(auto one, all.get<account>(1));
    ENTITABLE_TRY(auto two, all.get<account>(2));
    return one.cents + two.cents == 20 ? result<void>{} : result<void>{failure{error_code::out_of_range_input, "torn"}};
}

/// Changes of a transaction in reverse order.
constexpr auto reversed = []<class Request>(any_store const& below, Request const& request, call& context) {
    if constexpr (std::same_as<Request, transact>) {
        transact turned = request;
        std::reverse(turned.changes.begin(), turned.changes.end());
        auto answer = below.execute(turned, context);
        if (!answer && answer.error().operation_index) {
            failure refused{answer.error()};
            refused.error().operation_index = turned.changes.size() - 1 - *answer.error().operation_index;
            return result<transact::response>{std::move(refused)};
        }
        return answer;
    } else {
        return below.execute(request, context);
    }
};

/// Answers a confirmation with the rows that were read before.
struct confirms_unseen {
    std::shared_ptr<page> seen = std::make_shared<page>();
    template <class Request>
    result<response_of<Request>> operator()(any_store const& below, Request const& request, call& context) const {
        if constexpr (std::same_as<Request, query_entities>) {
            query_entities::response told;
            told.rows = std::exchange(*seen, page{});
            return told;
        } else {
            auto answer = below.execute(request, context);
            if constexpr (std::same_as<Request, get_entity>) {
                if (answer) { seen->append(answer->entity); }
            }
            return answer;
        }
    }
};

} // namespace

TEST_CASE("transaction: transfers keep the sum, and readers never see a partial transfer, in any order") {
    auto const constant = [](ledger const& books, tally const& told) -> std::string {
        return sum(books) != 30 ? "money came or went" : told.refused > 0 ? "an outcome that cannot be" : "";
    };
    auto const there = [](on_ledger& all) { return transfer(all, 1, 2); };
    auto const back = [](on_ledger& all) { return transfer(all, 2, 1); };
    auto const faults = walk({{"there", there}, {"back", back}}, 10, constant, {.faults = 1, .late = 1, .crashes = 1});
    CHECK(faults.problem == "");
    CHECK(faults.complete);
    auto const reader = walk({{"there", there}, {"reader", looks}}, 10, constant, {.faults = 0, .late = 0});
    CHECK(reader.problem == "");
    CHECK(reader.complete);
    // Without the confirmation the reader reports a state that never existed.
    auto const torn = walk({{"there", there}, {"reader", looks, false, with_defect(confirms_unseen{})}}, 10, constant,
        {.faults = 0, .late = 0});
    CHECK(torn.problem == "an outcome that cannot be");
}

TEST_CASE("transaction: numbers have no gaps, in any order and with outcomes resolved by operation rows") {
    auto const next = [](on_ledger& all) -> result<void> {
        ENTITABLE_TRY(auto counted, all.get<account>(3));
        counted.cents += 1;
        all.replace(counted).insert(booking{"first", counted.cents, 0});
        return {};
    };
    auto const gapless = [](ledger const& books, tally const& told) -> std::string {
        using b = fields<booking>;
        auto const there = books.where(b::bank == "first").count().value();
        auto const counted = static_cast<std::uint64_t>(books.get<account>("first", 3)->cents);
        auto const good = static_cast<std::uint64_t>(told.good);
        return there != counted ? "a gap" : there < good ? "one is lost" : told.refused > 0 ? "refused" : "";
    };
    auto const plain = walk({{"one", next}, {"other", next}}, 0, gapless, {.faults = 1, .late = 1, .crashes = 1});
    CHECK(plain.problem == "");
    CHECK(plain.complete);
    auto const told_all = [&](ledger const& books, tally const& told) -> std::string {
        if (auto wrong = gapless(books, told); !wrong.empty()) { return wrong; }
        auto const counted = books.get<account>("first", 3)->cents;
        return told.unknown > 0              ? "an unknown outcome"
            : counted > 2                    ? "one was made twice"
            : told.good == 2 && counted != 2 ? "one is lost"
                                             : "";
    };
    auto const settled = walk({{"one", next}, {"other", next}}, 0, told_all, {.faults = 1, .late = 0}, true);
    auto const late = walk({{"one", next}, {"other", next}}, 0, told_all, {.faults = 0, .late = 1}, true);
    CHECK(late.problem == "");
    CHECK(settled.problem == "");
    CHECK(settled.complete);
}

TEST_CASE("transaction: decisions based on missing rows are only safe in exclusive bodies") {
    // At most one of the bookings 1 and 2 may exist.
    auto const takes = [](std::int64_t own, bool exclusive) {
        return [own, exclusive](on_ledger& all) -> result<void> {
            if (exclusive) { ENTITABLE_CHECK(all.exclusive()); }
            ENTITABLE_TRY(auto other, all.find<booking>(3 - own));
            if (!other) { all.insert(booking{"first", own, 1}); }
            return {};
        };
    };
    auto const not_both = [](ledger const& books, tally const&) -> std::string {
        using b = fields<booking>;
        return books.where(b::bank == "first").count().value() > 1 ? "both are there" : "";
    };
    testing::interleaving_limits const calm{.faults = 0, .late = 0};
    CHECK(walk({{"one", takes(1, true)}, {"two", takes(2, true)}}, 0, not_both, {.faults = 1, .late = 1, .crashes = 1})
              .problem == "");
    CHECK(walk({{"one", takes(1, false)}, {"two", takes(2, false)}}, 0, not_both, calm).problem == "both are there");
    CHECK(walk({{"one", takes(1, true)}, {"two", takes(2, false)}}, 0, not_both, calm).problem == "both are there");
    // An announcing body conflicts with an exclusive one, and announcing bodies do not conflict with each other.
    auto const blind = [](on_ledger& all) -> result<void> {
        all.insert(booking{"first", 2, 1});
        return {};
    };
    auto const sees = [](on_ledger& all) -> result<void> {
        ENTITABLE_CHECK(all.exclusive());
        ENTITABLE_TRY(auto other, all.find<booking>(2));
        if (!other) { // it did not exist before
            all.insert(account{"first", 50, 0});
        } else {
            all.insert(account{"first", 60, 0});
        }
        return {};
    };
    auto const marks = [](ledger const& books, tally const& told) -> std::string {
        bool const early = books.find<account>("first", 50).value().has_value();
        bool const late = books.find<account>("first", 60).value().has_value();
        return (early && late) || told.refused > 0 ? "it was made twice" : "";
    };
    CHECK(walk({{"exclusive", sees}, {"announced", blind, true}}, 0, marks, calm).problem == "");
}

TEST_CASE("transaction: exact versions come first in the request") {
    // Account 3 records whether booking 1 exists. A body that sees that it does requires it, or inserts 2 next to it.
    auto const leaves = [](on_ledger& all) -> result<void> {
        ENTITABLE_TRY(auto flag, all.get<account>(3));
        flag.cents = 0;
        all.replace(flag).remove(booking{"first", 1, 0}, any_etag).insert_or_replace(booking{"first", 2, 0});
        return {};
    };
    auto const uses = [](bool requires_it) {
        return [requires_it](on_ledger& all) -> result<void> {
            ENTITABLE_TRY(auto flag, all.get<account>(3));
            if (flag.cents != 0 && requires_it) {
                all.require<booking>(1).insert_or_replace(account{"first", 8, 0});
            } else if (flag.cents != 0) {
                all.insert(booking{"first", 2, 0});
            }
            return {};
        };
    };
    auto const right = [](ledger const&, tally const& told) -> std::string {
        return told.refused > 0 ? "refused for what was not so any more" : "";
    };
    testing::interleaving_limits const calm{.faults = 0, .late = 0};
    auto const opened = [&](bool requires_it, through_defect const& defect) {
        // The booking exists from the start: a body that creates it first is not needed.
        return testing::interleavings(
            [&](testing::stage& on) {
                ledger const books{on.store(), "books"};
                books.create().value();
                books.insert(account{"first", 3, 1}).value();
                books.insert(booking{"first", 1, 0}).value();
                auto& told = on.keep<tally>();
                auto const add = [&](std::string const& name, body const& does, through_defect const& way) {
                    on.add(
                        name,
                        [&on, does, way] {
                            auto const runs = [does, way](any_store through, entitable::clock& time) {
                                return ledger{way ? way(through) : through, "books"}.transact(
                                    "first", does, {.max_attempts = 3, .time = &time, .seed = 1});
                            };
                            return testing::program<outcome>{runs, on.time().steady()};
                        },
                        [&told](outcome const& done) { told.add(done); });
                };
                add("leaves", leaves, {});
                add("uses", uses(requires_it), defect);
                on.remember([&told] { return std::to_string(told.good) + ' ' + std::to_string(told.refused); });
                on.always([&on, &told, right] { return right(ledger{on.store(), "books"}, told); });
            },
            calm);
    };
    // "leaves" could be refused only if its own insert-or-replace found no row, and it never is.
    CHECK(opened(true, {}).problem == "");
    CHECK(opened(true, with_defect(reversed)).problem == "refused for what was not so any more");
    CHECK(opened(false, with_defect(reversed)).problem == "refused for what was not so any more");
}
