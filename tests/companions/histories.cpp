// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Two programs that write at random through a table with every kind of companion, in random orders, with lost and late requests and crashes:
// after each request every companion is what the entities alone say. Index rows in another table may be too many until `repair`.

#include "companions/drawn.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/bulk.hpp>
#include <entitable/core/random.hpp>
#include <entitable/expiry.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/unit_of_work.hpp>

#include <algorithm>

using namespace companion_tests;

namespace {

/// A clock whose time of day makes every row old.
struct years_later final : entitable::clock {
    explicit years_later(entitable::clock& of) : time(of) {}
    date_time now() noexcept override { return date_time::from_date(2100, 1, 1); }
    steady_time steady() noexcept override { return time.steady(); }
    void wait_until(steady_time until) noexcept override { time.wait_until(until); }
    entitable::clock& time;
};

/// Makes one write, and ignores its outcome.
void write_something(all_books const& books, drawn& from, entitable::clock* books_time) {
    auto const one = from.any_invoice();
    auto const back = from.any_refund();
    auto const change = [&](invoice& each) {
        each.cents += from.below(3);
        each.customer = from.one_of({"ann", "b!b", ""});
        each.account = from.one_of({"red", "blue"});
    };
    auto const few = [&] { // one of each number, so that a load has each key once
        std::vector<invoice> rows;
        for (std::int32_t number = 1; number <= 3; ++number) {
            rows.push_back(from.any_invoice());
            rows.back().number = number;
        }
        return rows;
    };
    bulk_options how;
    how.time = books_time;
    how.seed = 5;
    auto const kept_in_sums = from.below(2) == 0 ? removal::archived : removal::subtracted;
    how.sums = kept_in_sums;
    switch (from.below(24)) {
        case 0: static_cast<void>(books.insert(one)); break;
        case 1: static_cast<void>(books.insert_or_replace(one)); break;
        case 2: static_cast<void>(books.insert_or_merge(one)); break;
        case 3: static_cast<void>(books.replace(one, any_etag)); break;
        case 4: static_cast<void>(books.merge(one, any_etag)); break;
        case 5: static_cast<void>(books.update<invoice>("ACME", one.number, change)); break;
        case 6: static_cast<void>(books.remove<invoice>("ACME", one.number, any_etag, kept_in_sums)); break;
        case 7: static_cast<void>(books.insert_or_replace(back)); break;
        case 8: static_cast<void>(books.remove_if_present<refund>("ACME", back.number, any_etag, kept_in_sums)); break;
        case 9:
            static_cast<void>(books.merge(at("ACME", one.number), i::reference = absent, i::day = one.day, any_etag));
            break;
        case 10: {
            auto all = books.batch();
            all.insert_or_replace(one).insert_or_replace(back).insert_or_replace(counter{"ACME", from.below(9)});
            if (from.below(2) == 0) {
                invoice other = one;
                other.number = 1 + one.number % 3;
                all.remove(other, any_etag, kept_in_sums);
            }
            static_cast<void>(all.submit());
            break;
        }
        case 11:
            static_cast<void>(books.transact("ACME", [&](transaction<counter, invoice, refund>& all) -> result<void> {
                ENTITABLE_TRY(auto const found, all.find<invoice>(one.number));
                if (found) {
                    all.remove(*found, kept_in_sums)
                        .insert_or_replace(refund{"ACME", back.number, found->day, found->cents});
                } else {
                    all.insert(one);
                }
                return {};
            }));
            break;
        case 12: {
            unit_of_work work{books};
            for (std::int32_t number = 1; number <= 3; ++number) {
                auto const found = work.find<invoice>("ACME", number);
                if (found && *found != nullptr) { change(**found); }
            }
            auto const refunded = work.find<refund>("ACME", back.number);
            if (refunded && *refunded != nullptr) {
                work.remove(**refunded, kept_in_sums);
            } else if (refunded) {
                work.add(back);
            }
            save_options saving;
            saving.mode = from.below(2) == 0 ? save_mode::each : save_mode::batch;
            static_cast<void>(work.save(saving));
            static_cast<void>(work.save(saving)); // settles what was lost
            break;
        }
        case 13: static_cast<void>(bulk_insert(books, few(), how)); break;
        case 14: static_cast<void>(bulk_upsert(books, few(), how)); break;
        case 15: static_cast<void>(bulk_update(books, books.where(i::tenant == "ACME"), change, how)); break;
        case 16:
            static_cast<void>(bulk_remove(books, books.where(i::tenant == "ACME" && i::number <= one.number), how));
            break;
        case 17: static_cast<void>(books.build<daily_sales>()); break; // beside the other writer
        case 18: static_cast<void>(books.build<balance>()); break;
        case 19: {
            years_later time{*books_time};
            how.time = &time;
            static_cast<void>(expire(books, books.where(i::tenant == "ACME"), std::chrono::hours{1}, how));
            break;
        }
        case 20: { // a message is a system row in the transaction of the changes
            table_queue<counter> const queue{books.store(), "notices"};
            auto all = books.batch();
            all.insert_or_replace(one);
            queue.outbox(all, counter{"ACME", 1}, "n" + std::to_string(from.below(1'000'000)));
            static_cast<void>(all.submit());
            break;
        }
        case 21: {
            invoice moved = one;
            moved.number = 1 + one.number % 3;
            auto const stored = books.find<invoice>("ACME", one.number);
            if (stored && *stored) { static_cast<void>(books.rekey(**stored, moved)); }
            break;
        }
        case 22: {
            auto const stored = books.get_stored<invoice>("ACME", one.number);
            if (!stored) { break; }
            static_cast<void>(books.transact("ACME", [&](transaction<counter, invoice, refund>& all) -> result<void> {
                all.replace(one, stored->etag).insert_or_replace(back);
                return {};
            }));
            break;
        }
        default: {
            auto const stored = books.get_stored<invoice>("ACME", one.number);
            if (stored) { static_cast<void>(books.replace(one, stored->etag)); }
        }
    }
}

table_options options_for(entitable::clock& time, std::uint64_t seed) {
    table_options how;
    how.time = &time;
    how.seed = seed;
    how.max_attempts = 4;
    return how;
}

struct limits_of_run {
    testing::interleaving_limits limits;
    std::int32_t writes;
};

std::string run(std::uint64_t seed, limits_of_run const& with, std::vector<std::string>* schedule = nullptr) {
    auto limits = with.limits;
    limits.most_states = 5'000;
    limits.most_requests = 2'000;
    auto const told = testing::random_interleaving(
        [&](testing::stage& on) {
            auto const first = open_books(on.store(), options_for(on.time(), 99));
            first.create().value();
            drawn start{random_source{seed}};
            for (std::int32_t each = 0; each < 2; ++each) { static_cast<void>(first.insert(start.any_invoice())); }
            for (std::uint64_t writer : {1U, 2U}) {
                on.add(
                    "writer " + std::to_string(writer),
                    [&on, writer, seed, &with] {
                        auto const runs = [writer, seed, &with](any_store way, entitable::clock& time) {
                            auto const books = open_books(way, options_for(time, writer));
                            drawn from{random_source{seed * 2 + writer}};
                            for (std::int32_t each = 0; each < with.writes; ++each) {
                                write_something(books, from, &time);
                            }
                            return result<void>{};
                        };
                        return testing::program<result<void>>{runs, on.time().steady()};
                    },
                    [](result<void> const&) {});
            }
            on.always([&on] { return wrong_in(on.store(), false); });
            on.at_end([&on] {
                auto const books = open_books(on.store(), options_for(on.time(), 97));
                books.repair().value();
                if (std::string const wrong = wrong_in(on.store(), true); !wrong.empty()) { return wrong; }
                return (books.verify)().value().good() ? std::string{} : std::string{"verify finds faults"};
            });
        },
        limits, seed);
    if (schedule != nullptr) { *schedule = told.schedule; }
    return told.problem;
}

void check_runs(std::size_t count, limits_of_run const& with) {
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        std::string const problem = run(seed, with);
        if (!problem.empty()) {
            std::vector<std::string> schedule;
            static_cast<void>(run(seed, with, &schedule));
            std::string text;
            for (std::string const& each : schedule) { text += each + "\n"; }
            FAIL("seed " << seed << ": " << problem << "\n" << text);
        }
    }
    SUCCEED();
}

} // namespace

TEST_CASE("companions: stay correct under random programs with two writers") {
    check_runs(entitable_test::rounds(24, 20'000, 1'000), {{.faults = 0, .late = 0}, 4});
}

TEST_CASE("companions: stay correct under random programs with two writers and lost and late requests") {
    check_runs(entitable_test::rounds(24, 50'000, 1'500), {{.faults = 3, .late = 2}, 3});
}

TEST_CASE("companions: stay correct under random programs with two writers and crashes") {
    check_runs(entitable_test::rounds(24, 50'000, 1'500), {{.faults = 2, .late = 1, .crashes = 1}, 3});
}
