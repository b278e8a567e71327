// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// When SQLite itself is the better choice: 200,000 readings of 400 stations in a file of entities, and in a table with typed columns and the
// same key. Loading, counting, folds over all rows, groups, one row by its key; best of rounds in turns. The table of
// docs/guide/offline.md.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/beside_sqlite.cpp -o beside_sqlite -lsqlite3 -pthread

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <sqlite3.h>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int how_many = 200'000;

struct reading {
    std::string station;
    std::int64_t second{};
    double celsius{};
    std::optional<std::string> remark;
};

ENTITABLE(reading, partition_key(station), row_key(second), properties(celsius, remark))

reading nth(int n) {
    reading one{"S" + std::to_string(n % 400), n, (n % 700) / 10.0 - 20, {}};
    if (n % 1000 == 0) { one.remark = "calibrated"; }
    return one;
}

double milliseconds(std::function<void()> const& work) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

class by_hand {
public:
    explicit by_hand(std::string const& path) {
        must(sqlite3_open(path.c_str(), &database_));
        for (char const* each : {"pragma journal_mode = wal", "pragma synchronous = normal",
                 "create table reading(station text, second integer, celsius real, remark text, primary key(station, "
                 "second)) "
                 "without rowid"}) {
            must(sqlite3_exec(database_, each, nullptr, nullptr, nullptr));
        }
    }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;
    ~by_hand() { sqlite3_close(database_); }

    void load() {
        sqlite3_stmt* insert = nullptr;
        must(sqlite3_prepare_v2(database_, "insert into reading values(?, ?, ?, ?)", -1, &insert, nullptr));
        for (int n = 0; n < how_many; ++n) {
            if (n % 100 == 0) { // the number of rows in one of our transactions
                must(sqlite3_exec(database_, n == 0 ? "begin" : "commit; begin", nullptr, nullptr, nullptr));
            }
            reading const one = nth(n);
            sqlite3_bind_text(insert, 1, one.station.c_str(), -1, SQLITE_TRANSIENT);
            sqlite3_bind_int64(insert, 2, one.second);
            sqlite3_bind_double(insert, 3, one.celsius);
            one.remark ? sqlite3_bind_text(insert, 4, one.remark->c_str(), -1, SQLITE_TRANSIENT)
                       : sqlite3_bind_null(insert, 4);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        sqlite3_finalize(insert);
        must(sqlite3_exec(database_, "commit; pragma wal_checkpoint(truncate)", nullptr, nullptr, nullptr));
    }
    void ask(char const* question, int times = 1) {
        sqlite3_stmt* statement = nullptr;
        must(sqlite3_prepare_v2(database_, question, -1, &statement, nullptr));
        for (int time = 0; time < times; ++time) {
            while (sqlite3_step(statement) == SQLITE_ROW) {}
            must(sqlite3_reset(statement));
        }
        must(sqlite3_finalize(statement));
    }

private:
    static void must(int code) {
        if (code != SQLITE_OK) {
            std::printf("SQLite says %d\n", code);
            std::exit(1);
        }
    }
    sqlite3* database_ = nullptr;
};

void line(char const* name, int rounds, std::function<void()> const& sqlite, std::function<void()> const& ours) {
    double least_sqlite = 1e99;
    double least_ours = 1e99;
    for (int round = 0; round < rounds; ++round) {
        least_sqlite = std::min(least_sqlite, milliseconds(sqlite));
        least_ours = std::min(least_ours, milliseconds(ours));
    }
    std::printf("| %-38s | %8.2f | %8.2f | %6.2f |\n", name, least_sqlite, least_ours, least_ours / least_sqlite);
}

} // namespace

int main() {
    entitable_test::temporary_folder const folder;
    entitable::file_options how;
    how.durability = entitable::durability::relaxed;
    by_hand typed{folder / "typed.db"};
    entitable::file_backend const store{folder / "entities.db", how};
    entitable::table<reading> const readings{store, "readings"};
    readings.create().value();
    using r = entitable::fields<reading>;
    auto const all = readings.scan_table();

    std::printf("| %-38s | SQLite   | entities | ratio  |\n| --- | --- | --- | --- |\n", "200,000 rows, ms");
    line(
        "load, 100 rows a transaction", 1, [&] { typed.load(); },
        [&] {
            std::vector<reading> all_of_them;
            for (int n = 0; n < how_many; ++n) { all_of_them.push_back(nth(n)); }
            (void)entitable::bulk_insert(readings, all_of_them).value();
            store.checkpoint().value();
        });
    line("count", 9, [&] { typed.ask("select count(*) from reading"); }, [&] { (void)all.count().value(); });
    line(
        "count, least, greatest, mean", 9,
        [&] { typed.ask("select count(*), min(celsius), max(celsius), avg(celsius) from reading"); },
        [&] { (void)all.fold(entitable::count(), min(r::celsius), max(r::celsius), average(r::celsius)).value(); });
    line(
        "count and mean of each station", 9,
        [&] { typed.ask("select station, count(*), avg(celsius) from reading group by station"); },
        [&] { (void)all.group_by(r::station, entitable::count(), average(r::celsius)).value(); });
    line(
        "one station, every row", 9, [&] { typed.ask("select * from reading where station = 'S7'"); },
        [&] { (void)readings.where(r::station == "S7").to().value(); });
    line(
        "one row by its key, 1,000 times", 9,
        [&] { typed.ask("select * from reading where station = 'S7' and second = 407", 1000); },
        [&] {
            for (int n = 0; n < 1000; ++n) { (void)readings.get("S7", 407).value(); }
        });
    std::printf("| %-38s | %8.2f | %8.2f | %6.2f |\n", "file, MB",
        static_cast<double>(std::filesystem::file_size(folder / "typed.db")) / 1e6,
        static_cast<double>(std::filesystem::file_size(folder / "entities.db")) / 1e6,
        static_cast<double>(std::filesystem::file_size(folder / "entities.db")) /
            static_cast<double>(std::filesystem::file_size(folder / "typed.db")));
    return 0;
}
