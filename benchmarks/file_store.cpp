// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// `table<E>` on file_backend compared with hand-written code on SQLite with the same settings: one table, prepared
// statements, and rows put together byte by byte. Durable writes and threads are measured in wall time, the rest in CPU time.
// An argument names one part: writes, reads, threads, size, journals, large. `large` is not part of all: it makes a file of 10
// million rows, or the number in the second argument, in the folder for temporary files, and prints the time and space.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/file_store.cpp -o file_store -lsqlite3 -pthread

#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/business_bytes.hpp>
#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/measure.hpp>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>

namespace {

using entitable::file_backend;
using entitable::file_options;
using measure::business;
using table = entitable::table<business>;

constexpr std::size_t preloaded = 20'000;
std::uint64_t checksum = 0; ///< so that nothing is optimised away

// ---- by hand ----------------------------------------------------------------------------------------

class by_hand {
public:
    explicit by_hand(std::string const& path) {
        sqlite3_open_v2(
            path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
        run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32769;"
            "PRAGMA wal_autocheckpoint = 512; CREATE TABLE business (region BLOB NOT NULL, id BLOB NOT NULL,"
            "value BLOB NOT NULL, PRIMARY KEY (region, id)) WITHOUT ROWID");
        begin_ = prepared("BEGIN IMMEDIATE");
        commit_ = prepared("COMMIT");
        insert_ = prepared("INSERT INTO business VALUES (?1, ?2, ?3)");
        get_ = prepared("SELECT value FROM business WHERE region = ?1 AND id = ?2");
        scan_ = prepared("SELECT id, value FROM business WHERE region = ?1 AND id >= ?2 ORDER BY id");
    }
    ~by_hand() {
        for (sqlite3_stmt* const each : {begin_, commit_, insert_, get_, scan_}) { sqlite3_finalize(each); }
        sqlite3_close(database_);
    }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;

    void begin() { step(begin_); }
    void commit() { step(commit_); }
    void insert(business const& made) {
        row_.clear();
        measure::put_business(row_, made);
        bind(insert_, 1, made.region);
        bind(insert_, 2, made.id);
        bind(insert_, 3, row_);
        step(insert_);
    }
    bool get(std::string const& region, std::string const& id, business& out) {
        bind(get_, 1, region);
        bind(get_, 2, id);
        bool const found = sqlite3_step(get_) == SQLITE_ROW;
        if (found) {
            out.region = region;
            out.id = id;
            measure::take_business(static_cast<char const*>(sqlite3_column_blob(get_, 0)), out);
        }
        sqlite3_reset(get_);
        return found;
    }
    template <class Visit>
    void scan_bytes(std::string const& region, std::string const& from, std::size_t limit, Visit const& visit) {
        bind(scan_, 1, region);
        bind(scan_, 2, from);
        for (; limit > 0 && sqlite3_step(scan_) == SQLITE_ROW; --limit) { visit(column(0), column(1)); }
        sqlite3_reset(scan_);
    }
    void scan(std::string const& region, std::string const& from, std::size_t limit, business& out) {
        scan_bytes(region, from, limit, [&](std::string_view id, std::string_view row) {
            out.region = region;
            out.id = id;
            measure::take_business(row.data(), out);
            checksum += out.name.size();
        });
    }

private:
    [[nodiscard]] std::string_view column(int at) const {
        return {static_cast<char const*>(sqlite3_column_blob(scan_, at)),
            static_cast<std::size_t>(sqlite3_column_bytes(scan_, at))};
    }
    void run(char const* text) {
        char* problem = nullptr;
        if (sqlite3_exec(database_, text, nullptr, nullptr, &problem) != SQLITE_OK) {
            std::printf("%s\n", problem);
            std::abort();
        }
    }
    sqlite3_stmt* prepared(char const* text) {
        sqlite3_stmt* made = nullptr;
        sqlite3_prepare_v3(database_, text, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
        return made;
    }
    static void bind(sqlite3_stmt* to, int at, std::string const& bytes) {
        sqlite3_bind_blob(to, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    }
    void step(sqlite3_stmt* statement) {
        if (sqlite3_step(statement) != SQLITE_DONE) {
            std::printf("%s\n", sqlite3_errmsg(database_));
            std::abort();
        }
        sqlite3_reset(statement);
    }

    sqlite3* database_{};
    sqlite3_stmt *begin_{}, *commit_{}, *insert_{}, *get_{}, *scan_{};
    std::string row_;
};

// ---- the measurements -------------------------------------------------------------------------------

void insert_all(table const& into, std::vector<business> const& all) {
    for (std::size_t at = 0; at < all.size(); at += 100) {
        auto batch = into.batch();
        for (std::size_t index = at; index < std::min(at + 100, all.size()); ++index) { batch.insert(all[index]); }
        batch.submit().value();
    }
}
void insert_all(by_hand& into, std::vector<business> const& all) {
    for (std::size_t at = 0; at < all.size(); at += 100) {
        into.begin();
        for (std::size_t index = at; index < std::min(at + 100, all.size()); ++index) { into.insert(all[index]); }
        into.commit();
    }
}

/// Both stores with the same rows.
struct contenders {
    entitable_test::temporary_folder folder;
    by_hand hand{folder / "hand.db"};
    file_backend store{folder / "ours.db"};
    table ours{store, "businesses"};
    std::size_t next{preloaded};

    contenders() {
        ours.create().value();
        auto const all = measure::make_businesses(0, preloaded, 1'000'000);
        insert_all(hand, all);
        insert_all(ours, all);
    }
};

void writes() {
    contenders both;
    std::size_t hand_next = preloaded;
    measure::compare(
        "batch of 100, per row, wall", 1.3, 15,
        [&] {
            auto const all = measure::make_businesses(hand_next, hand_next + 2'000, 1'000'000);
            hand_next += 2'000;
            return measure::wall(2'000, [&] { insert_all(both.hand, all); });
        },
        [&] {
            auto const all = measure::make_businesses(both.next, both.next + 2'000, 1'000'000);
            both.next += 2'000;
            return measure::wall(2'000, [&] { insert_all(both.ours, all); });
        });
    measure::compare(
        "single durable insert, wall", 1.1, 31,
        [&] {
            auto const all = measure::make_businesses(hand_next, hand_next + 200, 1'000'000);
            hand_next += 200;
            return measure::wall(200, [&] {
                for (business const& each : all) {
                    both.hand.begin();
                    both.hand.insert(each);
                    both.hand.commit();
                }
            });
        },
        [&] {
            auto const all = measure::make_businesses(both.next, both.next + 200, 1'000'000);
            both.next += 200;
            return measure::wall(200, [&] {
                for (business const& each : all) { both.ours.insert(each).value(); }
            });
        });
}

void reads() {
    contenders both;
    std::string const region = measure::region_of(0, 1'000'000);
    std::mt19937_64 random{1};
    std::vector<std::string> ids;
    for (std::size_t index = 0; index < 4'000; ++index) {
        ids.push_back(measure::id_of(random() % preloaded, 1'000'000));
    }
    measure::compare(
        "point read", 1.3, 31,
        [&] {
            return measure::timed(ids.size(), [&] {
                for (std::string const& id : ids) {
                    business found;
                    checksum += both.hand.get(region, id, found) ? found.name.size() : 0;
                }
            });
        },
        [&] {
            return measure::timed(ids.size(), [&] {
                for (std::string const& id : ids) { checksum += both.ours.get(region, id).value().name.size(); }
            });
        });
    using b = entitable::fields<business>;
    std::string key;
    std::string bytes;
    measure::compare(
        "scan, per row, key and bytes copied out", 1.3, 31,
        [&] {
            return measure::timed(10'000, [&] {
                for (std::size_t at = 0; at < 10; ++at) {
                    both.hand.scan_bytes(region, measure::id_of(at * 1'000, 1'000'000), 1'000,
                        [&](std::string_view id, std::string_view row) {
                            key = id;
                            bytes = row;
                        });
                }
            });
        },
        [&] {
            return measure::timed(10'000, [&] {
                for (std::size_t at = 0; at < 10; ++at) {
                    std::size_t rows = 0;
                    (void)both.store.store().scan("businesses", {region, measure::id_of(at * 1'000, 1'000'000), region},
                        [&](std::string_view, std::string_view id, std::string_view row) {
                            key = id;
                            bytes = row;
                            return ++rows < 1'000;
                        });
                }
            });
        });
    measure::compare(
        "scan, per row, decoded", 1.3, 31,
        [&] {
            business reused;
            return measure::timed(10'000, [&] {
                for (std::size_t at = 0; at < 10; ++at) {
                    both.hand.scan(region, measure::id_of(at * 1'000, 1'000'000), 1'000, reused);
                }
            });
        },
        [&] {
            return measure::timed(10'000, [&] {
                for (std::size_t at = 0; at < 10; ++at) {
                    auto const rows =
                        both.ours.where(b::region == region && b::id >= measure::id_of(at * 1'000, 1'000'000))
                            .take(1'000);
                    for (business const& each : rows) { checksum += each.name.size(); }
                }
            });
        });
    entitable_test::temporary_folder const folder;
    std::vector<std::unique_ptr<table>> shapes;
    std::vector<std::size_t> const rows_each{100, 100'000};
    for (std::size_t const rows : rows_each) {
        file_backend const store{folder / (std::to_string(rows) + ".db")};
        shapes.push_back(std::make_unique<table>(store, "businesses"));
        shapes.back()->create().value();
        for (std::size_t at = 0; at < 100'000; at += 10'000) {
            insert_all(*shapes.back(), measure::make_businesses(at, at + 10'000, rows));
        }
    }
    auto const read = [&](std::size_t shape) {
        return measure::timed(4'000, [&] {
            for (std::size_t index = 0; index < 4'000; ++index) {
                std::size_t const at = random() % 100'000;
                checksum += shapes[shape]
                                ->get(measure::region_of(at, rows_each[shape]), measure::id_of(at, rows_each[shape]))
                                .value()
                                .name.size();
            }
        });
    };
    measure::compare(
        "one of 100,000 beside 1,000 x 100: point read", 1.5, 15, [&] { return read(0); }, [&] { return read(1); });
}

/// Durable inserts per second with this number of threads, each into a partition of its own.
double inserts_a_second(table const& into, std::size_t threads, std::size_t& next) {
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> done{0};
    std::vector<std::thread> running;
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            for (std::size_t index = 0; !stop; ++index) {
                business each = measure::make_business(next + index, 100'000'000);
                each.region = "thread" + std::to_string(thread);
                into.insert(each).value();
                ++done;
            }
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{400});
    stop = true;
    for (std::thread& each : running) { each.join(); }
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
    next += 100'000;
    return static_cast<double>(done) / time.count();
}

void threads() {
    entitable_test::temporary_folder const folder;
    file_backend const store{folder / "ours.db"};
    table const ours{store, "businesses"};
    ours.create().value();
    std::size_t next = 0;
    std::vector<double> one;
    std::vector<double> by_eight;
    std::vector<double> by_many;
    for (int round = 0; round < 11; ++round) {
        one.push_back(inserts_a_second(ours, 1, next));
        by_eight.push_back(inserts_a_second(ours, 8, next) / one.back());
        by_many.push_back(inserts_a_second(ours, 32, next) / one.back());
    }
    std::printf("durable inserts by one thread: %.0f a second\n", measure::median(one));
    std::printf("by 8 threads:  x %.2f   limit 2.50%s\n", measure::median(by_eight),
        measure::median(by_eight) >= 2.5 ? "" : "  MISSED");
    std::printf("by 32 threads: x %.2f   limit 6.00%s\n", measure::median(by_many),
        measure::median(by_many) >= 6 ? "" : "  MISSED");
}

std::uintmax_t size_of(std::string const& path) { return std::filesystem::file_size(path); }

void size() {
    struct order {
        char const* name;
        bool shuffled;
    };
    for (order const each : {order{"in key order", false}, order{"in random order", true}}) {
        entitable_test::temporary_folder const folder;
        file_backend const store{folder / "ours.db"};
        table const ours{store, "businesses"};
        ours.create().value();
        auto all = measure::make_businesses(0, 50'000, 1'000'000);
        if (each.shuffled) { std::shuffle(all.begin(), all.end(), std::mt19937_64{1}); }
        insert_all(ours, all);
        store.checkpoint().value();
        auto const report = store.verify().value();
        double const ratio = static_cast<double>(size_of(folder / "ours.db")) / static_cast<double>(report.bytes);
        std::printf("size of 50,000 rows inserted %s: x %.2f of keys and values   limit 1.40%s\n", each.name, ratio,
            ratio <= 1.4 ? "" : "  MISSED");
    }
}

void journals() {
    entitable_test::temporary_folder const folder;
    struct mode {
        char const* name;
        entitable::file_journal journal;
        entitable::durability durable;
    };
    std::vector<mode> const modes{
        {"write-ahead log, full", entitable::file_journal::automatic, entitable::durability::full},
        {"rollback journal, full", entitable::file_journal::rollback, entitable::durability::full},
        {"write-ahead log, relaxed", entitable::file_journal::automatic, entitable::durability::relaxed},
        {"rollback journal, relaxed", entitable::file_journal::rollback, entitable::durability::relaxed}};
    std::vector<table> tables;
    for (mode const& each : modes) {
        file_options options;
        options.journal = each.journal;
        options.durability = each.durable;
        tables.emplace_back(file_backend{folder / (std::string{each.name} + ".db"), options}, "businesses");
        tables.back().create().value();
    }
    std::vector<std::vector<double>> singles(modes.size());
    std::vector<std::vector<double>> batches(modes.size());
    std::vector<std::vector<double>> point_reads(modes.size());
    std::mt19937_64 random{1};
    for (std::size_t round = 0; round < 11; ++round) {
        auto const one_by_one = measure::make_businesses(round * 3'000, round * 3'000 + 100, 1'000'000);
        auto const by_hundred = measure::make_businesses(round * 3'000 + 100, round * 3'000 + 2'100, 1'000'000);
        for (std::size_t at = 0; at < modes.size(); ++at) {
            singles[at].push_back(measure::wall(100, [&] {
                for (business const& each : one_by_one) { tables[at].insert(each).value(); }
            }));
            batches[at].push_back(measure::wall(2'000, [&] { insert_all(tables[at], by_hundred); }));
            point_reads[at].push_back(measure::timed(2'000, [&] {
                for (std::size_t read = 0; read < 2'000; ++read) {
                    auto const& wanted = by_hundred[random() % by_hundred.size()];
                    checksum += tables[at].get(wanted.region, wanted.id).value().name.size();
                }
            }));
        }
    }
    for (std::size_t at = 0; at < modes.size(); ++at) {
        std::printf("%-28s single insert %6.1f us, batch of 100 %5.1f us a row, point read %5.2f us\n", modes[at].name,
            measure::median(singles[at]) / 1e3, measure::median(batches[at]) / 1e3,
            measure::median(point_reads[at]) / 1e3);
    }
}

double resident_megabytes() {
    std::ifstream about{"/proc/self/statm"};
    double pages = 0;
    about >> pages >> pages;
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

void large(std::size_t rows) {
    entitable_test::temporary_folder const folder;
    auto const seconds = [begin = std::chrono::steady_clock::now()] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    {
        file_options options;
        options.durability = entitable::durability::relaxed;
        file_backend const store{folder / "large.db", options};
        table const ours{store, "businesses"};
        ours.create().value();
        for (std::size_t at = 0; at < rows; at += 10'000) {
            insert_all(ours, measure::make_businesses(at, std::min(at + 10'000, rows), 10'000));
        }
    }
    std::printf("%zu rows: %.1f minutes to write with relaxed durability, in batches of 100, %.2f GB\n", rows,
        seconds() / 60, static_cast<double>(size_of(folder / "large.db")) / 1e9);
    double const opening = measure::wall(1, [&] { (void)file_backend{folder / "large.db"}; });
    file_backend const store{folder / "large.db"};
    table const ours{store, "businesses"};
    std::mt19937_64 random{1};
    auto const read = [&] {
        return measure::wall(20'000, [&] {
            for (std::size_t index = 0; index < 20'000; ++index) {
                std::size_t const at = random() % rows;
                checksum += ours.get(measure::region_of(at, 10'000), measure::id_of(at, 10'000)).value().name.size();
            }
        });
    };
    double const cold = read();
    double const warm = read();
    std::printf("open and close: %.2f ms; point read: %.1f us, again %.1f us\n", opening / 1e6, cold / 1e3, warm / 1e3);
    double const before = resident_megabytes();
    double most = before;
    std::size_t scanned = 0;
    double const begin = seconds();
    for (business const& each : ours.scan_table()) {
        checksum += each.name.size();
        if (++scanned % 100'000 == 0) { most = std::max(most, resident_megabytes()); }
    }
    std::printf("full scan of %zu rows: %.1f s; resident memory %.1f MB before, %.1f MB at most\n", scanned,
        seconds() - begin, before, most);
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const part = argc > 1 ? argv[1] : "all";
    auto const wanted = [&](std::string_view name) { return part == "all" || part == name; };
    measure::heading();
    if (wanted("writes")) { writes(); }
    if (wanted("reads")) { reads(); }
    if (wanted("threads")) { threads(); }
    if (wanted("size")) { size(); }
    if (wanted("journals")) { journals(); }
    if (part == "large") {
        large(argc > 2 ? static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10)) : 10'000'000);
    }
    return checksum == 1 ? 1 : 0;
}
