// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A file of entities compared with SQLite with a table of typed columns and the same key. Run by `benchmarks/run`.
//   g++ -std=c++20 -O2 -DNDEBUG -I . -I include -I tests benchmarks/beside_typed_sqlite.cpp -o beside_typed_sqlite -lsqlite3 -lpthread

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/peers.hpp>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>

#include <bit>
#include <cstdlib>
#include <cstring>

using namespace entitable;
using measure::business;
using b = fields<business>;

namespace {

volatile std::uint64_t sink = 0;
constexpr std::size_t rows_each = 1'000;
std::size_t const rows = std::getenv("ROWS") != nullptr ? std::strtoull(std::getenv("ROWS"), nullptr, 10) : 20'000;

void must(int code) {
    if (code != SQLITE_OK) {
        std::printf("SQLite says %d\n", code);
        std::exit(1);
    }
}

/// A connection, and statements that are prepared once.
class typed {
public:
    explicit typed(std::string const& path, bool fills = true) {
        must(sqlite3_open(path.c_str(), &database_));
        for (char const* each : {"pragma page_size = 16384", "pragma journal_mode = wal", "pragma synchronous = normal",
                 "pragma cache_size = -32768"}) {
            must(sqlite3_exec(database_, each, nullptr, nullptr, nullptr));
        }
        if (!fills) { return; }
        must(sqlite3_exec(database_,
            "create table business(region text, id text, name text, description text, city text, category text, "
            "employees integer, founded integer, rating real, turnover real, open integer, visits integer, "
            "changed integer, owner blob, primary key(region, id)) without rowid; begin",
            nullptr, nullptr, nullptr));
        sqlite3_stmt* const insert = prepared("insert into business values(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
        for (std::size_t at = 0; at < rows; ++at) {
            business const one = measure::make_business(at, rows_each);
            int column = 0;
            for (std::string const* each :
                {&one.region, &one.id, &one.name, &one.description, &one.city, &one.category}) {
                sqlite3_bind_text(insert, ++column, each->c_str(), -1, SQLITE_STATIC);
            }
            sqlite3_bind_int(insert, ++column, one.employees);
            sqlite3_bind_int(insert, ++column, one.founded);
            sqlite3_bind_double(insert, ++column, one.rating);
            sqlite3_bind_double(insert, ++column, one.turnover);
            sqlite3_bind_int(insert, ++column, one.open ? 1 : 0);
            sqlite3_bind_int64(insert, ++column, one.visits);
            sqlite3_bind_int64(insert, ++column, one.changed.ticks);
            sqlite3_bind_blob(insert, ++column, &one.owner, sizeof one.owner, SQLITE_STATIC);
            sqlite3_step(insert);
            must(sqlite3_reset(insert));
        }
        must(sqlite3_exec(database_, "commit", nullptr, nullptr, nullptr));
    }
    typed(typed const&) = delete;
    typed& operator=(typed const&) = delete;
    ~typed() {
        for (sqlite3_stmt* each : statements_) { sqlite3_finalize(each); }
        sqlite3_close(database_);
    }
    sqlite3_stmt* prepared(char const* text) {
        sqlite3_stmt* made = nullptr;
        must(sqlite3_prepare_v3(database_, text, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr));
        statements_.push_back(made);
        return made;
    }
    /// Runs a statement, and adds up its first column.
    measure::peers::work runs(char const* text) {
        sqlite3_stmt* const one = prepared(text);
        return [one] {
            while (sqlite3_step(one) == SQLITE_ROW) {
                sink = sink + static_cast<std::uint64_t>(sqlite3_column_int64(one, 0));
            }
            sqlite3_reset(one);
        };
    }

private:
    sqlite3* database_ = nullptr;
    std::vector<sqlite3_stmt*> statements_;
};

template <class T>
T taken(char const*& at) {
    T value{};
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}
std::string_view taken_text(char const*& at) {
    auto const size = taken<std::uint32_t>(at);
    std::string_view const read{at, size};
    at += size;
    return read;
}

std::string_view words_of(sqlite3_stmt* row, int column) {
    auto const* const begin = static_cast<char const*>(sqlite3_column_blob(row, column));
    return std::string_view{begin, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}
std::uint64_t shape_hash(typed& of) {
    sqlite3_stmt* const shape = of.prepared("SELECT shape FROM entitable_shape WHERE id = 1");
    sqlite3_step(shape);
    std::uint64_t const hash = detail::row_hash::of(words_of(shape, 0), 0);
    sqlite3_reset(shape);
    return hash;
}
/// The values of a row of the first shape, after its checksum was compared, as the library does.
std::string_view checked_row(sqlite3_stmt* row, std::uint64_t shape) {
    static std::string partition;
    static std::uint64_t partition_hash = 0;
    if (words_of(row, 2) != partition) {
        partition = words_of(row, 2);
        partition_hash = detail::partition_checksum(1, partition);
    }
    std::string_view stored = words_of(row, 1);
    char const* const trailer = stored.data() + stored.size() - 12;
    stored.remove_suffix(12);
    std::uint64_t const key = detail::row_hash::of(words_of(row, 0), partition_hash);
    if (row_format::load<std::uint64_t>(trailer + 4) !=
        detail::row_hash::of(stored, partition_hash + shape) + std::rotl(key, 1)) {
        std::puts("a checksum differs");
        std::exit(1);
    }
    return stored.substr(8);
}
std::int32_t employees_of(std::string_view values) {
    char const* at = values.data();
    for (int text = 0; text < 4; ++text) { static_cast<void>(taken_text(at)); }
    return taken<std::int32_t>(at);
}

} // namespace

int main(int count, char** arguments) {
    measure::peers all{count, arguments};
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    typed peer{folder / "typed.db"};
    file_options how;
    how.durability = durability::relaxed;
    file_backend const store{folder / "entities.db", how};
    table<business> const ours{store, "businesses"};
    ours.create().value();
    std::vector<business> some;
    for (std::size_t at = 0; at < rows; ++at) {
        some.push_back(measure::make_business(at, rows_each));
        if (some.size() == 10'000 || at + 1 == rows) {
            bulk_insert(ours, some).value().all().value();
            some.clear();
        }
    }
    store.checkpoint().value();
    auto const whole = ours.scan_table();
    auto const one = ours.where(b::region == measure::region_of(0, rows_each));
    constexpr int times = 20; // a partition is small
    auto const repeated = [](auto const& of) {
        return [of] {
            for (int time = 0; time < times; ++time) { of(); }
        };
    };
    std::string const compared = ", compared with a typed table";
    all.reads("file: count of a partition" + compared, 1.8, rows_each * times,
        repeated(peer.runs("select count(*) from business where region = 'region-000000'")),
        repeated([&] { sink = sink + one.count().value(); }));
    all.reads("file: count of the table" + compared, rows <= 100'000 ? 40 : 2, rows,
        peer.runs("select count(*) from business"), [&] { sink = sink + whole.count().value(); });
    all.reads("file: sum" + compared, 2.6, rows, peer.runs("select sum(employees) from business"),
        [&] { sink = sink + static_cast<std::uint64_t>(whole.sum(b::employees).value()); });
    all.reads("file: min and max" + compared, 2.6, rows,
        peer.runs("select min(employees), max(employees) from business"),
        [&] { sink = sink + (whole.fold((entitable::min)(b::employees), (entitable::max)(b::employees)) ? 1 : 0); });
    all.reads("file: count of a condition" + compared, 2.6, rows,
        peer.runs("select count(*) from business where employees < 20"),
        [&] { sink = sink + ours.scan_table(b::employees < 20).count().value(); });

    std::vector<business> loaded;
    for (std::size_t at = 0; at < 10'000; ++at) { loaded.push_back(measure::make_business(at, rows_each)); }
    std::size_t files = 0;
    auto const into = [&](auto const& load) {
        return [&, load]() -> measure::peers::work {
            table<business> const empty{file_backend{folder / (std::to_string(files++) + ".db"), how}, "businesses"};
            empty.create().value();
            return [load, empty] { load(empty); };
        };
    };
    all.row("file: bulk_insert, compared with batches", 1.1, loaded.size(), into([&](table<business> const& to) {
        for (std::size_t at = 0; at < loaded.size(); at += 100) {
            auto batch = to.batch();
            for (std::size_t each = at; each < at + 100; ++each) { batch.insert(loaded[each]); }
            batch.submit().value();
        }
    }),
        into([&](table<business> const& to) { bulk_insert(to, loaded).value().all().value(); }));

    typed file{folder / "entities.db", false};
    std::uint64_t const shape = shape_hash(file);
    sqlite3_stmt* const checked =
        file.prepared("SELECT row_key, value, partition_key FROM entitable_row "
                      "WHERE table_id = 1 AND partition_key >= '' ORDER BY partition_key, row_key");
    auto const by_hand = [&](auto const& of) {
        return [&, of] {
            while (sqlite3_step(checked) == SQLITE_ROW) { sink = sink + of(checked_row(checked, shape)); }
            sqlite3_reset(checked);
        };
    };
    auto const few = [](std::string_view values) { return std::uint64_t{employees_of(values) < 20 ? 1U : 0U}; };
    all.reads("file: count of a condition, compared with checksums by hand", 1.3, rows, by_hand(few),
        [&] { sink = sink + ours.scan_table(b::employees < 20).count().value(); });
    all.reads("file: sum, compared with checksums by hand", 1.3, rows,
        by_hand([](std::string_view values) { return static_cast<std::uint64_t>(employees_of(values)); }),
        [&] { sink = sink + static_cast<std::uint64_t>(whole.sum(b::employees).value()); });
    all.reads("file: cursor and checksums by hand" + compared, 2.6, rows,
        peer.runs("select count(*) from business where employees < 20"), by_hand(few));
    sqlite3_stmt* const stored =
        file.prepared("SELECT row_key, value, partition_key FROM entitable_row WHERE table_id = 1 AND partition_key >= "
                      "'' ORDER BY partition_key, row_key");
    all.reads(
        "file: whole entities, compared with decoding by hand", 1.3, rows,
        [&] {
            business read;
            while (sqlite3_step(stored) == SQLITE_ROW) {
                auto const words = [&](int column) {
                    auto const* const begin = static_cast<char const*>(sqlite3_column_blob(stored, column));
                    return std::string_view{begin, static_cast<std::size_t>(sqlite3_column_bytes(stored, column))};
                };
                read.id = words(0);
                read.region = words(2);
                char const* at = words(1).data() + 8;
                read.name = taken_text(at);
                read.description = taken_text(at);
                read.city = taken_text(at);
                read.category = taken_text(at);
                read.employees = taken<std::int32_t>(at);
                read.founded = taken<std::int32_t>(at);
                read.rating = taken<double>(at);
                read.turnover = taken<double>(at);
                read.open = taken<bool>(at);
                read.visits = taken<std::int64_t>(at);
                read.changed = taken<date_time>(at);
                read.owner = taken<guid>(at);
                sink = sink + read.name.size();
            }
            sqlite3_reset(stored);
        },
        [&] { whole.for_each([](business const& each) { sink = sink + each.name.size(); }).value(); });
}
