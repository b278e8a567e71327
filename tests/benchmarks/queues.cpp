// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Messages per second compared with a queue written by hand on SQLite with the same settings: enqueued, then claimed and completed; one by one,
// and in groups of 32. The hand-written queue has no identities, no receipts and no lanes. Then the cost of a claim behind 100,000 messages that
// others have claimed, and the requests of a saga. Wall time; rounds in turns.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I include -I tests tests/benchmarks/queues.cpp -o queues -lsqlite3 -pthread && ./queues

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/spy.hpp>

#include <benchmarks/support/measure.hpp>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>

#include <cstdlib>
#include <set>
#include <span>
#include <string>

using namespace entitable;

namespace {

struct errand {
    std::string town;
    std::int64_t number{};
    std::string text;
};
ENTITABLE(errand, partition_key(town), row_key(number), properties(text))

std::string const text_of_200(200, 'x');

/// A queue as a program would write it without a library.
class queue_by_hand {
public:
    queue_by_hand(std::string const& path, bool durable) {
        check(sqlite3_open(path.c_str(), &database_) == SQLITE_OK);
        run("PRAGMA journal_mode = WAL");
        run(durable ? "PRAGMA synchronous = EXTRA" : "PRAGMA synchronous = NORMAL");
        run("CREATE TABLE queue (id INTEGER PRIMARY KEY, visible INTEGER NOT NULL, deliveries INTEGER NOT NULL, town "
            "TEXT, number "
            "INTEGER, text TEXT)");
        run("CREATE INDEX queue_visible ON queue (visible, id)");
        begin_ = made("BEGIN IMMEDIATE");
        commit_ = made("COMMIT");
        insert_ = made("INSERT INTO queue (visible, deliveries, town, number, text) VALUES (?, 0, ?, ?, ?)");
        select_ = made("SELECT id, town, number, text FROM queue WHERE visible <= ? ORDER BY visible, id LIMIT ?");
        claim_ = made("UPDATE queue SET visible = ?, deliveries = deliveries + 1 WHERE id = ?");
        remove_ = made("DELETE FROM queue WHERE id = ?");
    }
    queue_by_hand(queue_by_hand const&) = delete;
    queue_by_hand& operator=(queue_by_hand const&) = delete;
    ~queue_by_hand() {
        for (sqlite3_stmt* each : {begin_, commit_, insert_, select_, claim_, remove_}) {
            sqlite3_finalize(each);
        }
        sqlite3_close(database_);
    }

    void enqueue(std::span<errand const> all) {
        step(begin_);
        for (errand const& each : all) {
            sqlite3_bind_int64(insert_, 1, now());
            sqlite3_bind_text(insert_, 2, each.town.data(), static_cast<int>(each.town.size()), SQLITE_STATIC);
            sqlite3_bind_int64(insert_, 3, each.number);
            sqlite3_bind_text(insert_, 4, each.text.data(), static_cast<int>(each.text.size()), SQLITE_STATIC);
            step(insert_);
        }
        step(commit_);
    }
    /// Claims a group in one commit, and completes it in another.
    std::size_t work(int most) {
        std::vector<std::int64_t> ids;
        std::vector<errand> got;
        step(begin_);
        sqlite3_bind_int64(select_, 1, now());
        sqlite3_bind_int(select_, 2, most);
        while (sqlite3_step(select_) == SQLITE_ROW) {
            ids.push_back(sqlite3_column_int64(select_, 0));
            got.push_back({reinterpret_cast<char const*>(sqlite3_column_text(select_, 1)),
                sqlite3_column_int64(select_, 2), reinterpret_cast<char const*>(sqlite3_column_text(select_, 3))});
        }
        sqlite3_reset(select_);
        for (std::int64_t const id : ids) {
            sqlite3_bind_int64(claim_, 1, now() + 30'000'000);
            sqlite3_bind_int64(claim_, 2, id);
            step(claim_);
        }
        step(commit_);
        step(begin_);
        for (std::int64_t const id : ids) {
            sqlite3_bind_int64(remove_, 1, id);
            step(remove_);
        }
        step(commit_);
        return ids.size();
    }

private:
    static void check(bool good) {
        if (!good) {
            std::printf("SQLite failed\n");
            std::abort();
        }
    }
    static std::int64_t now() { return date_time::now().ticks / 10; }
    void run(char const* sql) { check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK); }
    sqlite3_stmt* made(char const* sql) {
        sqlite3_stmt* one = nullptr;
        check(sqlite3_prepare_v2(database_, sql, -1, &one, nullptr) == SQLITE_OK);
        return one;
    }
    static void step(sqlite3_stmt* one) {
        check(sqlite3_step(one) == SQLITE_DONE);
        sqlite3_reset(one);
    }

    sqlite3* database_{};
    sqlite3_stmt *begin_{}, *commit_{}, *insert_{}, *select_{}, *claim_{}, *remove_{};
};

std::vector<errand> errands(std::size_t count) {
    std::vector<errand> all;
    for (std::size_t index = 0; index < count; ++index) {
        all.push_back({"Ulm", static_cast<std::int64_t>(index), text_of_200});
    }
    return all;
}

double seconds(std::function<void()> const& work) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void beside_hand(char const* name, bool durable, std::size_t group, std::size_t messages, int rounds) {
    entitable_test::temporary_folder const folder;
    file_options options;
    options.durability = durable ? durability::full : durability::relaxed;
    queue_by_hand hand{folder / "hand.db", durable};
    table_queue<errand> const ours{file_backend{folder / "ours.db", options}, "errands"};
    ours.create().value();
    auto const all = errands(messages);
    std::vector<double> puts[2], works[2], put_ratios, work_ratios;
    for (int round = 0; round < rounds; ++round) {
        auto const by_hand_put = seconds([&] {
            for (std::size_t at = 0; at < messages; at += group) {
                hand.enqueue({all.data() + at, group});
            }
        });
        auto const our_put = seconds([&] {
            for (std::size_t at = 0; at < messages; at += group) {
                if (group == 1) {
                    (void)ours.enqueue(all[at]).value();
                } else {
                    (void)ours.enqueue_all({all.data() + at, group}).value();
                }
            }
        });
        auto const by_hand_work = seconds([&] {
            for (std::size_t done = 0; done < messages;) {
                done += hand.work(static_cast<int>(group));
            }
        });
        auto const our_work = seconds([&] {
            for (std::size_t done = 0; done < messages;) {
                if (group == 1) {
                    ours.claim().value()->complete().value();
                    ++done;
                } else {
                    auto some = ours.claim_some(static_cast<std::uint32_t>(group)).value();
                    done += some.size();
                    (void)ours.complete_all(some).value();
                }
            }
        });
        auto const count = static_cast<double>(messages);
        puts[0].push_back(count / by_hand_put);
        puts[1].push_back(count / our_put);
        works[0].push_back(count / by_hand_work);
        works[1].push_back(count / our_work);
        put_ratios.push_back(by_hand_put / our_put);
        work_ratios.push_back(by_hand_work / our_work);
    }
    auto const line = [&](char const* what, std::vector<double> const(&rates)[2], std::vector<double> const& ratios) {
        double const ratio = measure::median(ratios);
        std::printf("  %-26s %-22s by hand %8.0f a second, ours %8.0f   x %.2f   at least 0.80%s\n", name, what,
            measure::median(rates[0]), measure::median(rates[1]), ratio, ratio >= 0.8 ? "" : "  MISSED");
    };
    line("put in", puts, put_ratios);
    line("claimed and completed", works, work_ratios);
}

void behind_claimed() {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    file_options options;
    options.durability = durability::relaxed;
    file_backend const store{folder / "deep.db", options};
    queue_options how;
    how.lanes = 1;
    how.visibility = std::chrono::hours{24};
    auto const claims = [&](char const* name, std::size_t before) {
        table_queue<errand> const others{store, name, how};
        others.create().value();
        (void)others.enqueue_all(errands(before)).value();
        std::vector<claimed<errand>> held;
        for (std::size_t claimed_ones = 0; claimed_ones < before;) {
            auto some = others.claim_some(32).value();
            claimed_ones += some.size();
        }
        (void)others.enqueue_all(errands(2'000)).value();
        how.visibility = std::chrono::seconds{30};
        table_queue<errand> const worker{store, name, how};
        double const first = seconds([&] { held.push_back(*worker.claim().value()); });
        std::vector<double> each;
        double const total = seconds([&] {
            for (int index = 0; index < 1'500; ++index) {
                each.push_back(seconds([&] { held.push_back(*worker.claim().value()); }));
            }
        });
        how.visibility = std::chrono::hours{24};
        std::printf("  %6zu claimed messages at the head: the first claim %8.0f us, the median of 1500 behind it %5.1f "
                    "us, their mean "
                    "%5.1f us\n",
            before, first * 1e6, measure::median(each) * 1e6, total / 1'500 * 1e6);
        return measure::median(each);
    };
    double const none = claims("None", 0);
    double const many = claims("Many", 100'000);
    std::printf("  a claim behind 100,000 claimed ones costs x %.2f   limit 2.00%s\n", many / none,
        many <= 2 * none ? "" : "  MISSED");
}

void saga_requests() {
    testing::spy<memory_backend> const store{memory_backend{}};
    queue_options how;
    how.lanes = 1;
    table_queue<errand> const queue{store, "errands", how};
    queue.create().value();
    queue.enqueue({"Ulm", 1, ""}).value();
    auto const effect = [&](errand const&, lane_changes& changes) -> result<void> {
        changes.add(mutation::insert(
            row_builder{changes.partition_key(), "mine" + std::to_string(store.seen().size())}.build()));
        return {};
    };
    auto const nothing = [](errand const&) -> result<void> { return {}; };
    auto const steps = saga_for<errand>("s", step("a", nothing), step("b", nothing), step("c", nothing));
    auto const inside = saga_for<errand>("t", step("a", effect), step("b", effect), step("c", effect));
    auto const requests = [&](auto const& work) {
        std::size_t const before = store.seen().size();
        work();
        return store.seen().size() - before;
    };
    auto item = *queue.claim().value();
    std::printf(
        "  a saga of 3 steps: %zu requests besides the effects", requests([&] { (void)steps.resume(item).value(); }));
    item.complete().value();
    queue.enqueue({"Ulm", 2, ""}).value();
    auto other = *queue.claim().value();
    std::printf(
        "; with effects in the lane, these included: %zu", requests([&] { (void)inside.resume(other).value(); }));
    std::size_t const before = store.seen().size();
    (void)inside.resume(other).value();
    std::printf("; resumed at its end: %zu more", store.seen().size() - before);
    // Another worker, which finds the message and continues.
    (void)other.release().value();
    std::size_t const from = store.seen().size();
    table_queue<errand> const second{store, "errands", how};
    auto again = *second.claim().value();
    (void)inside.resume(again).value();
    std::set<std::string> partitions;
    auto const seen = store.seen();
    for (std::size_t index = from; index < seen.size(); ++index) {
        partitions.insert(seen[index].partition);
    }
    std::printf("; a new worker reads and claims in %zu requests, of %zu partitions (one is the number of lanes)\n",
        seen.size() - from, partitions.size());
}

} // namespace

int main() {
    std::printf("beside a queue by hand\n");
    beside_hand("relaxed, one by one", false, 1, 2'000, 7);
    beside_hand("relaxed, groups of 32", false, 32, 6'400, 7);
    beside_hand("durable, one by one", true, 1, 100, 7);
    beside_hand("durable, groups of 32", true, 32, 1'600, 7);
    std::printf("\nwhat others have\n");
    behind_claimed();
    std::printf("\nrequests\n");
    saga_requests();
    return 0;
}
