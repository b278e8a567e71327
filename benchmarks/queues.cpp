// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of a message compared with a queue written by hand on SQLite with the same settings: put in, then claimed and completed; one by one, and in
// groups of 32. The one by hand promises the same as ours: an id is put in once and remembered when it is done, receipts, deliveries that are counted,
// dead letters; it has no lanes. Then what a claim costs behind 100,000 messages that are delayed, that others have, or that wait, and the requests of a
// saga. CPU of the process, user and system, the least of rounds in turns; by the clock medians.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/queues.cpp -o queues -lsqlite3 -pthread && ./queues
//     ./queues hand        the first part alone; depth or saga the others
//     valgrind --tool=callgrind ./queues ours work 1 640        a profile: (hand, ours or memory) (put or work) GROUP MESSAGES

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/spy.hpp>

#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/measure.hpp>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>

#include <cstdlib>
#include <random>
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

/// What a program without a library would write for the same promises: ids that are put in once, receipts, deliveries that are counted, dead letters.
class queue_by_hand {
public:
    struct job {
        std::string id;
        errand message;
        int deliveries{};
        std::string claim;
    };

    queue_by_hand(std::string const& path, bool durable) {
        check(sqlite3_open(path.c_str(), &database_) == SQLITE_OK);
        run("PRAGMA journal_mode = WAL");
        run(durable ? "PRAGMA synchronous = EXTRA" : "PRAGMA synchronous = NORMAL");
        run("CREATE TABLE queue (number_of_row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, state INTEGER NOT NULL, "
            "visible "
            "INTEGER NOT NULL, deliveries INTEGER NOT NULL, claim TEXT, town TEXT, number INTEGER, text TEXT)");
        run("CREATE INDEX queue_visible ON queue (visible) WHERE state = 0");
        begin_ = made("BEGIN IMMEDIATE");
        commit_ = made("COMMIT");
        insert_ = made("INSERT OR IGNORE INTO queue (id, state, visible, deliveries, town, number, text) "
                       "VALUES (?, 0, ?, 0, ?, ?, ?)");
        select_ =
            made("SELECT number_of_row, id, town, number, text, deliveries FROM queue WHERE state = 0 AND visible <= ? "
                 "ORDER BY visible LIMIT ?");
        claim_ = made("UPDATE queue SET visible = ?, deliveries = ?, claim = ? WHERE number_of_row = ?");
        bury_ = made("UPDATE queue SET state = 2 WHERE number_of_row = ?");
        done_ =
            made("UPDATE queue SET state = 1, town = NULL, number = NULL, text = NULL WHERE id = ? AND state = 0 AND "
                 "claim = ?");
    }
    queue_by_hand(queue_by_hand const&) = delete;
    queue_by_hand& operator=(queue_by_hand const&) = delete;
    ~queue_by_hand() {
        for (sqlite3_stmt* each : {begin_, commit_, insert_, select_, claim_, bury_, done_}) { sqlite3_finalize(each); }
        sqlite3_close(database_);
    }

    /// Their ids.
    std::vector<std::string> enqueue(std::span<errand const> all) {
        std::vector<std::string> ids;
        ids.reserve(all.size());
        step(begin_);
        for (errand const& each : all) {
            ids.push_back(fresh());
            sqlite3_bind_text(insert_, 1, ids.back().data(), static_cast<int>(ids.back().size()), SQLITE_STATIC);
            sqlite3_bind_int64(insert_, 2, now());
            sqlite3_bind_text(insert_, 3, each.town.data(), static_cast<int>(each.town.size()), SQLITE_STATIC);
            sqlite3_bind_int64(insert_, 4, each.number);
            sqlite3_bind_text(insert_, 5, each.text.data(), static_cast<int>(each.text.size()), SQLITE_STATIC);
            step(insert_);
        }
        step(commit_);
        return ids;
    }
    /// In one commit.
    std::vector<job> claim(int most) {
        std::vector<std::int64_t> rows, used_up;
        std::vector<job> got;
        std::string const claim = fresh();
        step(begin_);
        sqlite3_bind_int64(select_, 1, now());
        sqlite3_bind_int(select_, 2, most);
        while (sqlite3_step(select_) == SQLITE_ROW) {
            int const deliveries = sqlite3_column_int(select_, 5);
            if (deliveries >= 5) {
                used_up.push_back(sqlite3_column_int64(select_, 0));
                continue;
            }
            rows.push_back(sqlite3_column_int64(select_, 0));
            got.push_back({text(1), {text(2), sqlite3_column_int64(select_, 3), text(4)}, deliveries + 1, claim});
        }
        sqlite3_reset(select_);
        for (std::int64_t const row : used_up) {
            sqlite3_bind_int64(bury_, 1, row);
            step(bury_);
        }
        for (std::size_t index = 0; index < rows.size(); ++index) {
            sqlite3_bind_int64(claim_, 1, now() + 30'000'000);
            sqlite3_bind_int(claim_, 2, got[index].deliveries);
            sqlite3_bind_text(claim_, 3, claim.data(), static_cast<int>(claim.size()), SQLITE_STATIC);
            sqlite3_bind_int64(claim_, 4, rows[index]);
            step(claim_);
        }
        step(commit_);
        return got;
    }
    /// In one commit. How many were not lost.
    std::size_t complete(std::vector<job> const& all) {
        std::size_t done = 0;
        step(begin_);
        for (job const& each : all) {
            sqlite3_bind_text(done_, 1, each.id.data(), static_cast<int>(each.id.size()), SQLITE_STATIC);
            sqlite3_bind_text(done_, 2, each.claim.data(), static_cast<int>(each.claim.size()), SQLITE_STATIC);
            step(done_);
            done += static_cast<std::size_t>(sqlite3_changes(database_));
        }
        step(commit_);
        return done;
    }

private:
    static void check(bool good) {
        if (!good) {
            std::printf("SQLite failed\n");
            std::abort();
        }
    }
    static std::int64_t now() { return date_time::now().ticks / 10; }
    /// 32 hexadecimal digits that begin with the time.
    std::string fresh() {
        char made[33];
        std::snprintf(made, sizeof made, "%016llx%016llx", static_cast<unsigned long long>(now()),
            static_cast<unsigned long long>(random_()));
        return made;
    }
    [[nodiscard]] std::string text(int column) const {
        auto const* const bytes = reinterpret_cast<char const*>(sqlite3_column_text(select_, column));
        return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(select_, column))};
    }
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
    sqlite3_stmt *begin_{}, *commit_{}, *insert_{}, *select_{}, *claim_{}, *bury_{}, *done_{};
    std::mt19937_64 random_{std::random_device{}()};
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

/// What some work costs.
struct spent {
    double wall{}; ///< ns
    double cpu{};  ///< ns, user and system
    double allocations{};
};
spent spent_by(std::function<void()> const& work) {
    std::uint64_t const before = measure::allocations;
    double const cpu = measure::cpu_now();
    double const wall = seconds(work) * 1e9;
    return {wall, measure::cpu_now() - cpu, static_cast<double>(measure::allocations - before)};
}

void put_by_hand(queue_by_hand& queue, std::span<errand const> all, std::size_t group) {
    for (std::size_t at = 0; at < all.size(); at += group) { (void)queue.enqueue(all.subspan(at, group)); }
}
void work_by_hand(queue_by_hand& queue, std::size_t messages, std::size_t group) {
    for (std::size_t done = 0; done < messages;) { done += queue.complete(queue.claim(static_cast<int>(group))); }
}
void put(table_queue<errand> const& queue, std::span<errand const> all, std::size_t group) {
    for (std::size_t at = 0; at < all.size(); at += group) {
        if (group == 1) {
            (void)queue.enqueue(all[at]).value();
        } else {
            (void)queue.enqueue_all(all.subspan(at, group)).value();
        }
    }
}
void work(table_queue<errand> const& queue, std::size_t messages, std::size_t group) {
    for (std::size_t done = 0; done < messages;) {
        if (group == 1) {
            queue.claim().value()->complete().value();
            ++done;
        } else {
            auto some = queue.claim_some(static_cast<std::uint32_t>(group)).value();
            done += some.size();
            (void)queue.complete_all(some).value();
        }
    }
}

struct figures {
    std::vector<spent> by_hand, ours;

    /// The least of each: what else the machine does only adds.
    static double least(std::vector<spent> const& of, double spent::* what) {
        return (*std::ranges::min_element(of, {}, what)).*what;
    }
    void print(char const* name, char const* what, std::size_t messages, bool durable) const {
        auto const count = static_cast<double>(messages);
        double const cpu = least(by_hand, &spent::cpu) / least(ours, &spent::cpu);
        std::vector<double> walls;
        for (std::size_t round = 0; round < ours.size(); ++round) {
            walls.push_back(by_hand[round].wall / ours[round].wall);
        }
        double const wall = measure::median(walls);
        std::printf(
            "  %-22s %-21s CPU by hand %6.1f us a message, ours %6.1f, x %.2f of its rate, at least 0.50%s; by the "
            "clock x %.2f%s%s; %.1f allocations a message, by hand %.1f\n",
            name, what, least(by_hand, &spent::cpu) / count / 1e3, least(ours, &spent::cpu) / count / 1e3, cpu,
            cpu >= 0.5 ? "" : "  MISSED", wall, durable ? ", at least 0.90" : "",
            durable && wall < 0.9 ? "  MISSED" : "", least(ours, &spent::allocations) / count,
            least(by_hand, &spent::allocations) / count);
    }
};

void beside_hand(char const* name, bool durable, std::size_t group, std::size_t messages, int rounds) {
    entitable_test::temporary_folder const folder;
    file_options options;
    options.durability = durable ? durability::full : durability::relaxed;
    queue_by_hand hand{folder / "hand.db", durable};
    table_queue<errand> const ours{file_backend{folder / "ours.db", options}, "errands"};
    ours.create().value();
    auto const all = errands(messages);
    figures puts, works;
    for (int round = 0; round < rounds; ++round) {
        puts.by_hand.push_back(spent_by([&] { put_by_hand(hand, all, group); }));
        puts.ours.push_back(spent_by([&] { put(ours, all, group); }));
        works.by_hand.push_back(spent_by([&] { work_by_hand(hand, messages, group); }));
        works.ours.push_back(spent_by([&] { work(ours, messages, group); }));
    }
    puts.print(name, "put in", messages, durable);
    works.print(name, "claimed and completed", messages, durable);
}

/// One contender alone, for a profile: queues (hand or ours) (put or work) GROUP MESSAGES.
int alone(std::string_view who, std::string_view what, std::size_t group, std::size_t messages) {
    entitable_test::temporary_folder const folder;
    file_options options;
    options.durability = durability::relaxed;
    auto const all = errands(messages);
    if (who == "hand") {
        queue_by_hand queue{folder / "hand.db", false};
        put_by_hand(queue, all, group);
        if (what == "work") { work_by_hand(queue, messages, group); }
        return 0;
    }
    table_queue<errand> const queue{
        who == "memory" ? any_store{memory_backend{}} : any_store{file_backend{folder / "ours.db", options}},
        "errands"};
    queue.create().value();
    put(queue, all, group);
    if (what == "work") { work(queue, messages, group); }
    return 0;
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

/// Counts the requests to a store, and the rows that its pages have.
struct counted_store {
    using is_transport = void;
    any_store below;
    std::size_t* requests;
    std::size_t* rows;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++*requests;
        auto answer = below.execute(request, context);
        if constexpr (std::same_as<Request, query_entities>) { *rows += answer ? answer->rows.size() : 0; }
        return answer;
    }
};

/// What a claim costs that finds nothing, and what a message does that is put in, claimed and completed.
struct claim_cost {
    double requests{};
    double rows{};
    double cpu{}; ///< ns, the least of some rounds

    static claim_cost of_rounds(
        std::size_t count, std::size_t& requests, std::size_t& rows, std::function<void()> const& one) {
        constexpr int rounds = 9;
        requests = rows = 0;
        std::vector<double> each;
        for (int round = 0; round < rounds; ++round) {
            each.push_back(measure::timed(count, [&] {
                for (std::size_t index = 0; index < count; ++index) { one(); }
            }));
        }
        auto const total = static_cast<double>(rounds * count);
        return {
            static_cast<double>(requests) / total, static_cast<double>(rows) / total, *std::ranges::min_element(each)};
    }
    void print(char const* what, claim_cost const& empty) const {
        bool const good = requests <= 1.2 * empty.requests && cpu <= 1.2 * empty.cpu;
        std::printf("    %-8s %5.2f requests, x %.2f, %5.2f rows, %6.1f us of CPU, x %.2f   limit 1.20%s\n", what,
            requests, requests / empty.requests, rows, cpu / 1e3, cpu / empty.cpu, good ? "" : "  MISSED");
    }
};

void behind_what_is_not_due(char const* where, std::function<any_store()> const& fresh_store) {
    constexpr std::size_t many = 100'000;
    claim_cost idle, busy;
    for (std::string_view const what : {"nothing", "delayed", "claimed", "waiting"}) {
        any_store const store = fresh_store();
        queue_options how;
        how.visibility = std::chrono::hours{24};
        table_queue<errand> const others{store, "errands", how};
        others.create().value();
        if (what == "nothing") { // as many rows in another table: a tree of pages is as deep
            table_queue<errand> const elsewhere{store, "elsewhere", how};
            elsewhere.create().value();
            (void)elsewhere.enqueue_all(errands(many)).value();
        }
        if (what == "delayed") {
            for (std::size_t index = 0; index < many; ++index) {
                (void)others.enqueue({"Ulm", 1, text_of_200}, {.delay = std::chrono::hours{1}}).value();
            }
        } else if (what != "nothing") {
            (void)others.enqueue_all(errands(many)).value();
        }
        for (std::size_t got = 0; what == "claimed" && got < many;) { got += others.claim_some(32).value().size(); }
        std::size_t requests = 0, rows = 0;
        how.visibility = std::chrono::seconds{30};
        table_queue<errand> const worker{counted_store{store, &requests, &rows}, "errands", how};
        for (int index = 0; index < 32; ++index) {
            if (auto first = worker.claim().value()) { // in each lane it looks ahead at first
                first->complete().value();
            }
        }
        std::printf("  %s, behind %zu messages: %s\n", where, what == "nothing" ? 0 : many, std::string{what}.c_str());
        if (what != "waiting") {
            auto const cost = claim_cost::of_rounds(200, requests, rows, [&] { (void)worker.claim().value(); });
            idle = what == "nothing" ? cost : idle;
            cost.print("a claim", idle);
        }
        auto const cost = claim_cost::of_rounds(300, requests, rows, [&] {
            (void)others.enqueue({"Ulm", 1, text_of_200}).value();
            worker.claim().value()->complete().value();
        });
        busy = what == "nothing" ? cost : busy;
        cost.print("a message", busy);
    }
}
void behind_what_is_not_due() {
    behind_what_is_not_due("memory", [] { return any_store{memory_backend{}}; });
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    int files = 0;
    behind_what_is_not_due("file", [&] {
        file_options options;
        options.durability = durability::relaxed;
        return any_store{file_backend{folder / (std::to_string(++files) + ".db"), options}};
    });
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
    for (std::size_t index = from; index < seen.size(); ++index) { partitions.insert(seen[index].partition); }
    std::printf("; a new worker reads and claims in %zu requests, of %zu partitions (one is the number of lanes)\n",
        seen.size() - from, partitions.size());
}

} // namespace

int main(int count, char const* const* words) {
    if (count == 5) {
        return alone(words[1], words[2], std::strtoul(words[3], nullptr, 10), std::strtoul(words[4], nullptr, 10));
    }
    std::string_view const only = count > 1 ? words[1] : "";
    if (only.empty() || only == "hand") {
        std::printf("compared with a queue by hand\n");
        beside_hand("relaxed, one by one", false, 1, 2'000, 7);
        beside_hand("relaxed, groups of 32", false, 32, 6'400, 7);
        beside_hand("durable, one by one", true, 1, 100, 7);
        beside_hand("durable, groups of 32", true, 32, 1'600, 7);
    }
    if (only.empty() || only == "depth") {
        std::printf("\nwhat others have\n");
        behind_claimed();
        std::printf("\nclaims behind what is not due\n");
        behind_what_is_not_due();
    }
    if (only.empty() || only == "saga") {
        std::printf("\nrequests\n");
        saga_requests();
    }
    return 0;
}
