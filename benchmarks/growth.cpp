// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// How the cost of a row grows with the number of rows, partitions and columns, and with the size of values, in memory and in a file, compared with
// the growth of a peer: std::map in memory (SQLite for columns; for partitions a map of maps with a lock each), SQLite with typed columns in a file.
// A cost that grows by more than 1.5 times as much as that of the peer is marked. CPU time, the least of some rounds.
//   g++ -std=c++20 -O2 -DNDEBUG -I . -I include -I tests benchmarks/growth.cpp -o growth -lsqlite3 -lpthread
//   ./growth [most rows, 1000000] [rows, partitions, columns or sizes ...]

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>

#include <benchmarks/support/measure.hpp>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#define TEN(p) p##0, p##1, p##2, p##3, p##4, p##5, p##6, p##7, p##8, p##9
#define FIFTY(p) TEN(p##0), TEN(p##1), TEN(p##2), TEN(p##3), TEN(p##4)

namespace benchmark_growth {

struct keys {
    std::string place;
    std::string id;
};
struct text_row : keys {
    std::string text;
    std::int32_t number{};
    template <class Take>
    void values(Take const& take) const {
        take(text);
        take(number);
    }
    static constexpr int columns = 2;
};
struct columns_5 : keys {
    std::int32_t p00{}, p01{}, p02{}, p03{}, p04{};
    template <class Take>
    void values(Take const& take) const {
        for (std::int32_t const each : {p00, p01, p02, p03, p04}) { take(each); }
    }
    static constexpr int columns = 5;
};
struct columns_50 : keys {
    std::int32_t FIFTY(p);
    template <class Take>
    void values(Take const& take) const {
        for (std::int32_t const each : {FIFTY(p)}) { take(each); }
    }
    static constexpr int columns = 50;
};
struct columns_250 : keys {
    std::int32_t FIFTY(p), FIFTY(q), FIFTY(r), FIFTY(s), FIFTY(t);
    template <class Take>
    void values(Take const& take) const {
        for (std::int32_t const each : {FIFTY(p), FIFTY(q), FIFTY(r), FIFTY(s), FIFTY(t)}) { take(each); }
    }
    static constexpr int columns = 250;
};

ENTITABLE(text_row, partition_key(place), row_key(id), properties(text, number))
ENTITABLE(columns_5, partition_key(place), row_key(id), properties(p00, p01, p02, p03, p04))
ENTITABLE(columns_50, partition_key(place), row_key(id), properties(FIFTY(p)))
ENTITABLE(columns_250, partition_key(place), row_key(id), properties(FIFTY(p)), properties(FIFTY(q)),
    properties(FIFTY(r)), properties(FIFTY(s)), properties(FIFTY(t)))

} // namespace benchmark_growth

using namespace entitable;
using namespace benchmark_growth;

namespace {

volatile std::uint64_t sink = 0;
std::size_t most_rows = 1'000'000;

/// What is measured at one point of an axis.
struct shape {
    std::size_t rows;
    std::size_t each; ///< rows of a partition
    std::size_t bytes;
    bool locks{}; ///< the peer in memory has a lock for each partition
};

std::string numbered(char const* name, std::size_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "%s%09zu", name, number);
    return text;
}
template <class Entity>
Entity made(shape const& of, std::size_t at) {
    Entity one{};
    one.place = numbered("place-", at / of.each);
    one.id = numbered("row-", at);
    if constexpr (std::is_same_v<Entity, text_row>) {
        one.text.assign(of.bytes, static_cast<char>('a' + at % 26));
        one.number = static_cast<std::int32_t>(at % 1000);
    } else {
        one.p00 = static_cast<std::int32_t>(at);
    }
    return one;
}

template <class Entity>
class ours {
public:
    explicit ours(any_store store) : all_(std::move(store), "rows") { all_.create().value(); }
    void load(std::vector<Entity> const& some) const { bulk_insert(all_, some).value().all().value(); }
    void insert(Entity const& one) const { all_.insert(one).value(); }
    void replace(Entity const& one) const { all_.replace(one, any_etag).value(); }
    void get(Entity const& like) const { sink = sink + all_.get(like.place, like.id).value().id.size(); }
    void scan() const {
        all_.scan_table().for_each([](Entity const& each) { sink = sink + each.id.size(); }).value();
    }
    void count() const { sink = sink + all_.scan_table().count().value(); }

private:
    table<Entity> all_;
};

template <class Entity>
class in_map {
public:
    void load(std::vector<Entity> const& some) {
        for (Entity const& each : some) { insert(each); }
    }
    void insert(Entity const& one) { all_.emplace(std::pair{one.place, one.id}, one); }
    void replace(Entity const& one) { all_.find({one.place, one.id})->second = one; }
    void get(Entity const& like) const {
        Entity const read = all_.find({like.place, like.id})->second;
        sink = sink + read.id.size();
    }
    void scan() const {
        for (auto const& [key, each] : all_) {
            Entity const read = each; // ours makes an entity too
            sink = sink + read.id.size();
        }
    }
    void count() const {
        for (auto const& each : all_) { sink = sink + (each.first.second.empty() ? 0 : 1); }
    }

private:
    std::map<std::pair<std::string, std::string>, Entity> all_;
};

/// What a user would write for rows in partitions that several threads use.
template <class Entity>
class in_partitions {
public:
    void load(std::vector<Entity> const& some) {
        for (Entity const& each : some) { insert(each); }
    }
    void insert(Entity const& one) {
        auto const to = made(one.place);
        std::unique_lock const guard{to->lock};
        to->rows.emplace(one.id, one);
    }
    void replace(Entity const& one) {
        auto const to = found(one.place);
        std::unique_lock const guard{to->lock};
        to->rows.find(one.id)->second = one;
    }
    void get(Entity const& like) const {
        auto const in = found(like.place);
        std::shared_lock const guard{in->lock};
        Entity const read = in->rows.find(like.id)->second;
        sink = sink + read.id.size();
    }
    void scan() const {
        each_partition([](partition const& in) {
            for (auto const& [key, each] : in.rows) {
                Entity const read = each;
                sink = sink + read.id.size();
            }
        });
    }
    void count() const {
        each_partition([](partition const& in) { sink = sink + in.rows.size(); });
    }

private:
    struct partition {
        mutable std::shared_mutex lock;
        std::map<std::string, Entity> rows;
    };

    std::shared_ptr<partition> found(std::string const& place) const {
        std::shared_lock const guard{lock_};
        auto const at = all_.find(place);
        return at != all_.end() ? at->second : nullptr;
    }
    std::shared_ptr<partition> made(std::string const& place) {
        if (auto known = found(place)) { return known; }
        std::unique_lock const guard{lock_};
        auto& at = all_[place];
        if (!at) { at = std::make_shared<partition>(); }
        return at;
    }
    /// Without the lock of the directory while a partition is visited.
    template <class Visit>
    void each_partition(Visit const& visit) const {
        std::shared_ptr<partition> at;
        for (std::string place;;) {
            {
                std::shared_lock const guard{lock_};
                auto const next = all_.upper_bound(place);
                if (next == all_.end()) { return; }
                place = next->first;
                at = next->second;
            }
            std::shared_lock const guard{at->lock};
            visit(*at);
        }
    }

    mutable std::shared_mutex lock_;
    std::map<std::string, std::shared_ptr<partition>> all_;
};

void must(int code) {
    if (code != SQLITE_OK) {
        std::printf("SQLite says %d\n", code);
        std::exit(1);
    }
}

template <class Entity>
class in_sqlite {
public:
    explicit in_sqlite(std::string const& path) {
        must(sqlite3_open(path.c_str(), &database_));
        run("pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = "
            "-32768");
        std::string columns;
        std::string places = "?, ?";
        std::string changes;
        for (int at = 0; at < Entity::columns; ++at) {
            std::string const name = "c" + std::to_string(at);
            columns += ", " + name;
            places += ", ?" + std::to_string(at + 3);
            changes += (at == 0 ? "" : ", ") + name + " = ?" + std::to_string(at + 3);
        }
        run(("create table one(place text, id text" + columns + ", primary key(place, id)) without rowid").c_str());
        insert_ = prepared("insert into one values(" + places + ")");
        replace_ = prepared("update one set " + changes + " where place = ?1 and id = ?2");
        get_ = prepared("select place, id" + columns + " from one where place = ?1 and id = ?2");
        scan_ = prepared("select place, id" + columns + " from one");
        count_ = prepared("select count(*) from one");
    }
    in_sqlite(in_sqlite const&) = delete;
    in_sqlite& operator=(in_sqlite const&) = delete;
    ~in_sqlite() {
        for (sqlite3_stmt* each : {insert_, replace_, get_, scan_, count_}) { sqlite3_finalize(each); }
        sqlite3_close(database_);
    }
    /// In transactions of at most 100 rows of one partition, as the library.
    void load(std::vector<Entity> const& some) {
        std::size_t begun = 0; // the first row of the transaction
        for (std::size_t row = 0; row < some.size(); ++row) {
            if (row == begun) { run("begin"); }
            insert(some[row]);
            if (row + 1 == some.size() || row + 1 == begun + 100 || some[row + 1].place != some[row].place) {
                run("commit");
                begun = row + 1;
            }
        }
    }
    void insert(Entity const& one) { write(insert_, one); }
    void replace(Entity const& one) { write(replace_, one); }
    void get(Entity const& like) {
        bind(get_, like);
        read(get_);
    }
    void scan() { read(scan_); }
    void count() {
        sqlite3_step(count_);
        sink = sink + static_cast<std::uint64_t>(sqlite3_column_int64(count_, 0));
        sqlite3_reset(count_);
    }

private:
    void run(char const* text) { must(sqlite3_exec(database_, text, nullptr, nullptr, nullptr)); }
    sqlite3_stmt* prepared(std::string const& text) {
        sqlite3_stmt* statement = nullptr;
        must(sqlite3_prepare_v3(database_, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
        return statement;
    }
    static void bind(sqlite3_stmt* to, Entity const& one) {
        sqlite3_bind_text(to, 1, one.place.data(), static_cast<int>(one.place.size()), SQLITE_STATIC);
        sqlite3_bind_text(to, 2, one.id.data(), static_cast<int>(one.id.size()), SQLITE_STATIC);
    }
    static void write(sqlite3_stmt* with, Entity const& one) {
        bind(with, one);
        int at = 3;
        one.values([&](auto const& each) {
            if constexpr (std::is_same_v<decltype(each), std::string const&>) {
                sqlite3_bind_text(with, at++, each.data(), static_cast<int>(each.size()), SQLITE_STATIC);
            } else {
                sqlite3_bind_int(with, at++, each);
            }
        });
        sqlite3_step(with);
        must(sqlite3_reset(with));
    }
    /// Reads into strings and numbers, as an entity has them.
    static void read(sqlite3_stmt* from) {
        constexpr bool has_text = std::is_same_v<Entity, text_row>;
        std::string words[3];
        std::int32_t numbers[Entity::columns] = {};
        while (sqlite3_step(from) == SQLITE_ROW) {
            for (int at = 0; at < (has_text ? 3 : 2); ++at) {
                words[at].assign(reinterpret_cast<char const*>(sqlite3_column_text(from, at)),
                    static_cast<std::size_t>(sqlite3_column_bytes(from, at)));
            }
            for (int at = has_text ? 1 : 0; at < Entity::columns; ++at) {
                numbers[at] = sqlite3_column_int(from, at + 2);
            }
            sink = sink + words[1].size() + static_cast<std::uint64_t>(numbers[0]);
        }
        sqlite3_reset(from);
    }

    sqlite3* database_ = nullptr;
    sqlite3_stmt* insert_;
    sqlite3_stmt* replace_;
    sqlite3_stmt* get_;
    sqlite3_stmt* scan_;
    sqlite3_stmt* count_;
};

constexpr std::size_t operations = 6;
constexpr char const* names[operations] = {
    "a row of a load", "insert", "get", "replace", "a row of a scan", "a row of a count"};
using costs = std::array<double, operations>;

/// Measures a store that is empty.
template <class Entity, class Store>
costs measured(Store& store, shape const& of) {
    constexpr std::size_t times = 2'000;
    constexpr int rounds = 3;
    costs least;
    least.fill(1e300);
    malloc_trim(0); // each side gets its memory from the system
    double load = 0;
    std::vector<Entity> some;
    std::size_t const at_once = std::max<std::size_t>(1, std::min<std::size_t>(10'000, 10'000'000 / (of.bytes + 100)));
    for (std::size_t at = 0; at < of.rows; ++at) {
        some.push_back(made<Entity>(of, at));
        if (some.size() == at_once || at + 1 == of.rows) {
            load += measure::timed(of.rows, [&] { store.load(some); });
            some.clear();
        }
    }
    least[0] = load;
    for (int round = 0; round < rounds; ++round) {
        std::vector<Entity> asked;
        std::vector<Entity> fresh;
        std::uint64_t random = static_cast<std::uint64_t>(round) + 7;
        for (std::size_t at = 0; at < times; ++at) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            asked.push_back(made<Entity>(of, (random >> 24U) % of.rows));
            fresh.push_back(made<Entity>(of, (random >> 24U) % of.rows));
            fresh.back().id += numbered("-", at + static_cast<std::size_t>(round) * times);
        }
        auto const least_of = [&](std::size_t operation, std::size_t count, auto const& work) {
            least[operation] = std::min(least[operation], measure::timed(count, work));
        };
        auto const all = [](auto const& rows, auto const& one) {
            return [&] {
                for (auto const& each : rows) { one(each); }
            };
        };
        least_of(1, times, all(fresh, [&](Entity const& each) { store.insert(each); }));
        least_of(2, times, all(asked, [&](Entity const& each) { store.get(each); }));
        least_of(3, times, all(asked, [&](Entity const& each) { store.replace(each); }));
        std::size_t const rows = of.rows + static_cast<std::size_t>(round + 1) * times;
        least_of(4, rows, [&] { store.scan(); });
        least_of(5, rows, [&] { store.count(); });
    }
    return least;
}

struct point {
    std::string name;
    costs peer;
    costs ours;
};

/// Prints the costs at each point, and the growth from the first to the dearest.
void print(std::string const& title, std::vector<point> const& points) {
    std::printf("\n%s\n%-18s", title.c_str(), "ns: peer / library");
    for (point const& each : points) { std::printf(" %18s", each.name.c_str()); }
    std::printf("   growth: peer, library\n");
    for (std::size_t operation = 0; operation < operations; ++operation) {
        std::printf("%-18s", names[operation]);
        double most[2] = {1, 1};
        for (point const& each : points) {
            std::printf(" %8.0f / %7.0f", each.peer[operation], each.ours[operation]);
            most[0] = std::max(most[0], each.peer[operation] / points.front().peer[operation]);
            most[1] = std::max(most[1], each.ours[operation] / points.front().ours[operation]);
        }
        std::printf("   %6.2f %6.2f%s\n", most[0], most[1], most[1] > 1.5 * most[0] ? "  <- MORE" : "");
    }
    std::fflush(stdout);
}

template <class Entity>
point in_memory(std::string name, shape const& of) {
    ours<Entity> library{memory_backend{}};
    if constexpr (std::is_same_v<Entity, text_row>) {
        if (of.locks) {
            in_partitions<Entity> peer;
            return {std::move(name), measured<Entity>(peer, of), measured<Entity>(library, of)};
        }
        in_map<Entity> peer;
        return {std::move(name), measured<Entity>(peer, of), measured<Entity>(library, of)};
    } else {
        in_sqlite<Entity> peer{":memory:"};
        return {std::move(name), measured<Entity>(peer, of), measured<Entity>(library, of)};
    }
}

template <class Entity>
point in_file(std::string name, shape const& of) {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    file_options how;
    how.durability = durability::relaxed;
    ours<Entity> library{file_backend{folder / "entities.db", how}};
    in_sqlite<Entity> peer{folder / "typed.db"};
    return {std::move(name), measured<Entity>(peer, of), measured<Entity>(library, of)};
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1) { most_rows = std::strtoull(arguments[1], nullptr, 10); }
    auto const wanted = [&](std::string_view axis) {
        return count <= 2 || std::find(arguments + 2, arguments + count, axis) != arguments + count;
    };
    auto const both = [](std::string const& title, auto const& points_of) {
        print("In memory, " + title, points_of([](auto one, std::string name, shape const& of) {
            return in_memory<decltype(one)>(std::move(name), of);
        }));
        print("In a file, " + title, points_of([](auto one, std::string name, shape const& of) {
            return in_file<decltype(one)>(std::move(name), of);
        }));
    };
    if (wanted("rows")) {
        both("rows of 100 bytes, 1,000 a partition", [](auto const& at) {
            std::vector<point> points;
            for (std::size_t rows = 10'000; rows <= most_rows; rows *= 10) {
                points.push_back(at(text_row{}, std::to_string(rows) + " rows", shape{rows, 1'000, 100}));
            }
            return points;
        });
    }
    if (wanted("partitions")) {
        both("partitions of the same rows", [](auto const& at) {
            std::vector<point> points;
            std::size_t const rows = std::min<std::size_t>(most_rows, 100'000);
            for (std::size_t each = rows; each >= 1; each /= each == rows ? 100 : 10) {
                points.push_back(at(text_row{}, std::to_string(rows / each), shape{rows, each, 100, true}));
            }
            return points;
        });
    }
    if (wanted("columns")) {
        both("columns of four bytes", [](auto const& at) {
            shape const of{2'000, 1'000, 100};
            return std::vector<point>{
                at(columns_5{}, "5", of), at(columns_50{}, "50", of), at(columns_250{}, "250", of)};
        });
    }
    if (wanted("sizes")) {
        both("bytes of a value", [](auto const& at) {
            std::vector<point> points;
            for (std::size_t const bytes : std::array<std::size_t, 4>{100, 1'000, 10'000, 32'000}) {
                points.push_back(at(text_row{}, std::to_string(bytes), shape{2'000, 1'000, bytes}));
            }
            return points;
        });
    }
}
