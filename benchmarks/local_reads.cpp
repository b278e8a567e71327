// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Folds, counts and scans on local backends compared with loops written by hand over the same bytes: in memory over the visitor of the
// store, in a file over sqlite3_step of a connection to that very file. CPU time. An argument names one part: memory, file, batch.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/local_reads.cpp -o local_reads -lsqlite3 -pthread

#include <entitable/file.hpp>
#include <entitable/local/local.hpp>
#include <entitable/local/memory/memory_store.hpp>
#include <entitable/memory.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/measure.hpp>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>

#include <cstring>
#include <map>

namespace {

using measure::business;
using table = entitable::table<business>;
using b = entitable::fields<business>;
using memory_tables = entitable::local<entitable::memory_store>; ///< a memory_backend whose store is accessible

constexpr std::size_t rows = 20'000; ///< all rows of one partition
constexpr std::size_t rows_each = 1'000'000;
std::uint64_t checksum = 0; ///< so that nothing is optimised away

void fill(table const& into) {
    into.create().value();
    for (std::size_t at = 0; at < rows; at += 100) {
        auto batch = into.batch();
        for (std::size_t index = at; index < at + 100; ++index) {
            batch.insert(measure::make_business(index, rows_each));
        }
        batch.submit().value();
    }
}

// ---- values by hand: four texts, then the numbers ----------------------------------------

template <class T>
T number(char const* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}
std::string_view text(char const*& at) {
    std::string_view const read{at + 4, number<std::uint32_t>(at)};
    at += 4 + read.size();
    return read;
}
struct found {
    std::string_view category;
    std::int32_t employees;
};
found category_and_employees(char const* values) {
    text(values);
    text(values);
    text(values);
    std::string_view const category = text(values);
    return {category, number<std::int32_t>(values)};
}
void whole(char const* values, business& out) {
    out.name = text(values);
    out.description = text(values);
    out.city = text(values);
    out.category = text(values);
    auto const take = [&](auto& to) {
        std::memcpy(&to, values, sizeof to);
        values += sizeof to;
    };
    take(out.employees);
    take(out.founded);
    take(out.rating);
    take(out.turnover);
    take(out.open);
    take(out.visits);
    take(out.changed);
    take(out.owner);
}

/// Over the bytes in memory. `visit(row key, where the values begin)`.
struct memory_by_hand {
    memory_tables store;
    std::string region;

    template <class Visit>
    void scan(Visit const& visit) const {
        (void)store.store().scan(
            "businesses", {region, {}, region}, [&](std::string_view, std::string_view row, std::string_view bytes) {
                visit(row, bytes.data() + 16 + number<std::uint32_t>(bytes.data() + 4));
                return true;
            });
    }
    [[nodiscard]] std::int64_t count() const {
        std::int64_t counted = 0;
        (void)store.store().scan(
            "businesses", {region, {}, region}, [&](std::string_view, std::string_view row, std::string_view) {
                counted += row < "~!" || row >= "~\"" ? 1 : 0;
                return true;
            });
        return counted;
    }
};

/// Over the bytes in the file.
struct file_by_hand {
    file_by_hand(std::string const& path, std::string partition) : region(std::move(partition)) {
        sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
        sqlite3_exec(database, "PRAGMA cache_size = -32769", nullptr, nullptr, nullptr);
        auto const prepared = [&](char const* sql) {
            sqlite3_stmt* made = nullptr;
            sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
            return made;
        };
        rows = prepared("SELECT row_key, value FROM entitable_row WHERE table_id = 1 AND partition_key = ?1 "
                        "AND row_key >= '' ORDER BY row_key");
        counting = prepared("SELECT count(*) FROM entitable_row WHERE table_id = 1 AND partition_key = ?1 "
                            "AND NOT (row_key >= CAST('~!' AS BLOB) AND row_key < CAST('~\"' AS BLOB))");
    }
    ~file_by_hand() {
        sqlite3_finalize(rows);
        sqlite3_finalize(counting);
        sqlite3_close(database);
    }
    file_by_hand(file_by_hand const&) = delete;
    file_by_hand& operator=(file_by_hand const&) = delete;

    template <class Visit>
    void scan(Visit const& visit) const {
        bind(rows);
        while (sqlite3_step(rows) == SQLITE_ROW) {
            auto const* const key = static_cast<char const*>(sqlite3_column_blob(rows, 0));
            visit(std::string_view{key, static_cast<std::size_t>(sqlite3_column_bytes(rows, 0))},
                static_cast<char const*>(sqlite3_column_blob(rows, 1)) + 8);
        }
        sqlite3_reset(rows);
    }
    [[nodiscard]] std::int64_t count() const {
        bind(counting);
        std::int64_t const counted = sqlite3_step(counting) == SQLITE_ROW ? sqlite3_column_int64(counting, 0) : -1;
        sqlite3_reset(counting);
        return counted;
    }
    void bind(sqlite3_stmt* to) const {
        sqlite3_bind_blob(to, 1, region.data(), static_cast<int>(region.size()), SQLITE_STATIC);
    }

    std::string region;
    sqlite3* database{};
    sqlite3_stmt *rows{}, *counting{};
};

// ---- the measurements -------------------------------------------------------------------------------

double each_of(std::function<void()> const& scan) { return measure::timed(rows, scan); }

template <class ByHand>
void measure_all(std::string const& where, ByHand const& hand, table const& ours, double limit_of_count) {
    constexpr std::size_t rounds = 21;
    std::string const region = hand.region;
    auto const all = ours.where(b::region == region);
    auto const compare = [&](std::string const& name, double limit, std::function<void()> const& by_hand,
                             std::function<void()> const& by_us) {
        measure::compare(
            (where + name).c_str(), limit, rounds, [&] { return each_of(by_hand); }, [&] { return each_of(by_us); });
    };
    compare(
        "count()", limit_of_count, [&] { checksum += static_cast<std::uint64_t>(hand.count()); },
        [&] { checksum += all.count().value(); });
    compare(
        "fold(count(), sum(f))", 1.3,
        [&] {
            std::int64_t sum = 0;
            std::uint64_t counted = 0;
            hand.scan([&](std::string_view, char const* values) {
                sum += category_and_employees(values).employees;
                ++counted;
            });
            checksum += static_cast<std::uint64_t>(sum) + counted;
        },
        [&] {
            auto const [counted, sum] = all.fold(entitable::count(), entitable::sum(b::employees)).value();
            checksum += static_cast<std::uint64_t>(sum) + counted;
        });
    compare(
        "min, max, sum, average of one", 1.3,
        [&] {
            std::int32_t least = 1'000'000;
            std::int32_t most = 0;
            std::int64_t sum = 0;
            double total = 0;
            hand.scan([&](std::string_view, char const* values) {
                std::int32_t const employees = category_and_employees(values).employees;
                least = std::min(least, employees);
                most = std::max(most, employees);
                sum += employees;
                total += employees;
            });
            checksum += static_cast<std::uint64_t>(sum + least + most) + static_cast<std::uint64_t>(total / rows);
        },
        [&] {
            auto const [least, most, sum, mean] =
                all.fold((entitable::min)(b::employees), (entitable::max)(b::employees), entitable::sum(b::employees),
                       entitable::average(b::employees))
                    .value();
            checksum += static_cast<std::uint64_t>(sum + *least + *most) + static_cast<std::uint64_t>(*mean);
        });
    compare(
        "group_by(text, count(), sum(f))", 1.3,
        [&] {
            std::map<std::string, std::pair<std::uint64_t, std::int64_t>, std::less<>> groups;
            hand.scan([&](std::string_view, char const* values) {
                auto const read = category_and_employees(values);
                auto at = groups.find(read.category);
                if (at == groups.end()) {
                    at = groups.emplace(std::string{read.category}, std::pair<std::uint64_t, std::int64_t>{}).first;
                }
                ++at->second.first;
                at->second.second += read.employees;
            });
            checksum += groups.size();
        },
        [&] {
            checksum += all.group_by(b::category, entitable::count(), entitable::sum(b::employees)).value().size();
        });
    business reused;
    compare(
        "for_each of whole entities", 1.3,
        [&] {
            hand.scan([&](std::string_view row, char const* values) {
                reused.region = region;
                reused.id = row;
                whole(values, reused);
                checksum += reused.name.size();
            });
        },
        [&] { (void)all.for_each([&](business const& each) { checksum += each.name.size(); }); });
    compare(
        "select(two) beside whole entities", 1.0,
        [&] { (void)all.for_each([&](business const& each) { checksum += each.category.size(); }); },
        [&] {
            (void)all.select(b::category, b::employees).for_each([&](auto const& each) {
                checksum += each[b::category].size();
            });
        });
}

void memory() {
    memory_tables const store;
    table const ours{store, "businesses"};
    fill(ours);
    measure_all("memory: ", memory_by_hand{store, measure::region_of(0, rows_each)}, ours, 1.3);
}

void file() {
    entitable_test::temporary_folder const folder;
    entitable::file_backend const store{folder / "ours.db"};
    table const ours{store, "businesses"};
    fill(ours);
    measure_all("file: ", file_by_hand{folder / "ours.db", measure::region_of(0, rows_each)}, ours, 3.0);
}

void batches() {
    table const ours{entitable::memory_backend{}, "businesses"};
    ours.create().value();
    std::vector<business> all;
    for (std::size_t index = 0; index < 1'000; ++index) { all.push_back(measure::make_business(index, rows_each)); }
    std::uint64_t submitting = 0;
    std::uint64_t whole = 0;
    for (std::size_t round = 0; round < 2; ++round) { // the first run fills the caches
        submitting = 0;
        std::uint64_t const begin = measure::allocations;
        for (std::size_t at = 0; at < all.size(); at += 100) {
            auto batch = ours.batch();
            for (std::size_t index = at; index < at + 100; ++index) {
                round == 0 ? batch.insert(all[index]) : batch.insert_or_replace(all[index]);
            }
            std::uint64_t const before = measure::allocations;
            batch.submit().value();
            submitting += measure::allocations - before;
        }
        whole = measure::allocations - begin;
        double const count = static_cast<double>(all.size());
        double const each = static_cast<double>(submitting) / count;
        std::printf("%-46s %17.2f   limit 1.35%s   (%.2f with the making of rows)\n",
            round == 0 ? "memory: allocations an inserted entity, submit"
                       : "memory: allocations a replaced entity, submit",
            each, each <= 1.35 ? "" : "  MISSED", static_cast<double>(whole) / count);
    }
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const part = argc > 1 ? argv[1] : "all";
    auto const wanted = [&](std::string_view name) { return part == "all" || part == name; };
    measure::heading();
    if (wanted("memory")) { memory(); }
    if (wanted("file")) { file(); }
    if (wanted("batch")) { batches(); }
    return checksum == 1 ? 1 : 0;
}
