// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// `table<E>` on postgres_backend compared with hand-written code on libpq over a natural table: a typed column for each property, text keys,
// a version, prepared statements in binary, a batch as one pipeline. Ratios of the processor time of the client, of all processes of the
// server, of both, of the wall time, each the least of the interleaved rounds of one run, and the WAL. An argument names one part: calls, threads, many.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests -I /usr/include/postgresql benchmarks/postgres.cpp -o postgres -lpq -pthread
//     tests/tools/postgres run [durable] ./postgres

#include <entitable/async.hpp>
#include <entitable/bulk.hpp>
#include <entitable/postgres.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/measure.hpp>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#include <support/postgres_server.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>

namespace {

using entitable::any_store;
using entitable::async_table;
using entitable::event_loop;
using entitable::postgres_backend;
using entitable::task;
using measure::business;
using table = entitable::table<business>;

constexpr std::size_t preloaded = 20'000;
std::atomic<std::uint64_t> checksum{0}; ///< so that nothing is optimised away

// ---- by hand ----------------------------------------------------------------------------------------

template <class Number>
void put_number(std::string& to, Number number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    for (std::size_t at = sizeof number; at-- > 0;) { to += bytes[at]; }
}
template <class Number>
void take_number(char const* from, Number& number) {
    char bytes[sizeof number];
    for (std::size_t at = 0; at < sizeof number; ++at) { bytes[sizeof number - 1 - at] = from[at]; }
    std::memcpy(&number, bytes, sizeof number);
}

/// The parameters of one statement. Numbers are kept in one string, whose memory is reused.
class parameters {
public:
    void clear() {
        count_ = 0;
        numbers_.clear();
        numbers_.reserve(256);
    }
    void add(std::string const& text) { set(text.data(), text.size()); }
    template <class Number>
    void add(Number number) {
        std::size_t const begin = numbers_.size();
        put_number(numbers_, number);
        set(numbers_.data() + begin, sizeof number);
    }
    void add_properties(business const& of) {
        add(of.name);
        add(of.description);
        add(of.city);
        add(of.category);
        add(of.employees);
        add(of.founded);
        add(of.rating);
        add(of.turnover);
        add(of.open);
        add(of.visits);
        add(of.changed.ticks);
        set(reinterpret_cast<char const*>(of.owner.bytes.data()), 16);
    }
    [[nodiscard]] int count() const { return count_; }
    char const* values[20];
    int sizes[20];
    int formats[20];

private:
    void set(char const* bytes, std::size_t size) {
        values[count_] = bytes;
        sizes[count_] = static_cast<int>(size);
        formats[count_++] = 1;
    }
    int count_{};
    std::string numbers_;
};

struct clear_answer {
    void operator()(PGresult* answer) const noexcept { PQclear(answer); }
};
using answer = std::unique_ptr<PGresult, clear_answer>;

/// What code by hand promises. `guarded`: what the library promises for each row. A version is greater than all that its key ever had, also after
/// a removal, whatever the clocks of the clients do; a transaction of a partition excludes writes that create or remove its rows; a write returns
/// its version, a removal the number of removals. The statements are those of the library, without the look-up of a table.
/// `told_apart`: a missing table is told from a missing row as well, in a schema whose tables are rows of a table, so that making one needs no DDL.
enum class promise { natural, guarded, told_apart };

class by_hand {
public:
    explicit by_hand(std::string const& schema, promise keeps = promise::natural)
        : on_(PQconnectdb(std::getenv("ENTITABLE_POSTGRES"))),
          guarded_(keeps != promise::natural),
          told_apart_(keeps == promise::told_apart) {
        run("SET search_path = " + schema);
        run("SET client_min_messages = warning");
        run("CREATE TABLE IF NOT EXISTS natural_rows (region text COLLATE \"C\", id text COLLATE \"C\", name text NOT "
            "NULL, "
            "description text NOT NULL, city text NOT NULL, category text NOT NULL, employees int4 NOT NULL, founded "
            "int4 NOT "
            "NULL, rating float8 NOT NULL, turnover float8 NOT NULL, open bool NOT NULL, visits int8 NOT NULL, changed "
            "int8 "
            "NOT NULL, owner uuid NOT NULL, version int8 NOT NULL, PRIMARY KEY (region, id))");
        std::string const columns = "name, description, city, category, employees, founded, rating, turnover, open, "
                                    "visits, changed, owner, version";
        prepare("get", "SELECT " + columns + " FROM natural_rows WHERE region = $1 AND id = $2");
        prepare(
            "page", "SELECT " + columns + ", id FROM natural_rows WHERE region = $1 AND id >= $2 ORDER BY id LIMIT $3");
        prepare("count", "SELECT count(*) FROM natural_rows WHERE region = $1");
        prepare("update",
            "UPDATE natural_rows SET (" + columns +
                ") = ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) WHERE region = $1 AND id = $2");
        if (!guarded_) {
            prepare("insert",
                "INSERT INTO natural_rows VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)");
            prepare("remove", "DELETE FROM natural_rows WHERE region = $1 AND id = $2");
            return;
        }
        run("CREATE TABLE IF NOT EXISTS guarded_rows (LIKE natural_rows INCLUDING ALL)");
        for (char const* each : {"draws", "base", "removals"}) {
            run(std::string{"CREATE SEQUENCE IF NOT EXISTS hand_"} + each);
            run(std::string{"SELECT nextval('hand_"} + each + "')");
        }
        std::string const locks =
            "pg_advisory_xact_lock_shared($PART) IS NOT NULL AND pg_advisory_xact_lock($KEY) IS NOT NULL";
        auto const with_locks = [&](std::string text, char const* partition, char const* key) {
            text.replace(text.find("$PART"), 5, partition);
            text.replace(text.find("$KEY"), 4, key);
            return text;
        };
        run("CREATE TABLE IF NOT EXISTS hand_tables (id int4 PRIMARY KEY, name text COLLATE \"C\" NOT NULL UNIQUE)");
        run("INSERT INTO hand_tables VALUES (1, 'businesses') ON CONFLICT DO NOTHING");
        std::string const in_table = told_apart_ ? "FROM hand_tables WHERE name = " : "";
        prepare("insert",
            with_locks("INSERT INTO guarded_rows SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
                       "nextval('hand_draws') + pg_sequence_last_value('hand_base') " +
                    (told_apart_ ? in_table + "$17 AND " : "WHERE ") + locks + " RETURNING version",
                "$15", "$16"));
        prepare("remove",
            with_locks("DELETE FROM guarded_rows WHERE region = (SELECT $1::text " +
                    (told_apart_ ? in_table + "$5 AND " : "WHERE ") + locks +
                    ") AND id = $2 RETURNING nextval('hand_removals')",
                "$3", "$4"));
    }
    ~by_hand() { PQfinish(on_); }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;

    bool get(std::string const& region, std::string const& id, business& out) {
        keys(region, id);
        answer const found = call("get");
        if (PQntuples(found.get()) == 0) { return false; }
        out.region = region;
        out.id = id;
        take(found.get(), 0, out);
        return true;
    }
    void insert(business const& made) { write("insert", made); }
    void update(business const& made) { write("update", made); }
    void remove(std::string const& region, std::string const& id) {
        keys(region, id);
        if (guarded_) { add_locks(region, id); }
        call("remove");
    }
    /// One transaction in one pipeline.
    void insert(business const* from, std::size_t count) {
        if (PQenterPipelineMode(on_) == 0) { stop(); }
        PQsendQueryParams(on_, "BEGIN", 0, nullptr, nullptr, nullptr, nullptr, 1);
        for (std::size_t at = 0; at < count; ++at) {
            fill(from[at]);
            PQsendQueryPrepared(on_, "insert", with_.count(), with_.values, with_.sizes, with_.formats, 1);
        }
        PQsendQueryParams(on_, "COMMIT", 0, nullptr, nullptr, nullptr, nullptr, 1);
        if (PQpipelineSync(on_) == 0) { stop(); }
        for (;;) {
            answer const one{PQgetResult(on_)};
            if (one == nullptr) { continue; }
            auto const status = PQresultStatus(one.get());
            if (status == PGRES_PIPELINE_SYNC) { break; }
            if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) { stop(); }
        }
        if (PQexitPipelineMode(on_) == 0) { stop(); }
    }
    void page(std::string const& region, std::string const& from, std::int64_t count, business& reused) {
        keys(region, from);
        with_.add(count);
        answer const found = call("page");
        for (int at = 0; at < PQntuples(found.get()); ++at) {
            reused.region = region;
            reused.id.assign(
                PQgetvalue(found.get(), at, 13), static_cast<std::size_t>(PQgetlength(found.get(), at, 13)));
            take(found.get(), at, reused);
            checksum += reused.name.size();
        }
    }
    std::int64_t count(std::string const& region) {
        with_.clear();
        with_.add(region);
        answer const found = call("count");
        std::int64_t number = 0;
        take_number(PQgetvalue(found.get(), 0, 0), number);
        return number;
    }
    /// Bytes of WAL so far.
    std::int64_t wal() {
        answer const said{PQexec(on_, "SELECT pg_current_wal_insert_lsn() - '0/0'")};
        return std::strtoll(PQgetvalue(said.get(), 0, 0), nullptr, 10);
    }

    void run(std::string const& text) {
        answer const done{PQexec(on_, text.c_str())};
        auto const status = PQresultStatus(done.get());
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) { stop(); }
    }

private:
    void prepare(char const* name, std::string const& text) {
        answer const done{PQprepare(on_, name, text.c_str(), 0, nullptr)};
        if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) { stop(); }
    }
    [[noreturn]] void stop() {
        std::printf("%s\n", PQerrorMessage(on_));
        std::abort();
    }
    void keys(std::string const& region, std::string const& id) {
        with_.clear();
        with_.add(region);
        with_.add(id);
    }
    void fill(business const& made) {
        keys(made.region, made.id);
        with_.add_properties(made);
        if (guarded_) {
            add_locks(made.region, made.id);
        } else {
            with_.add(entitable::system_clock().now().ticks); // the version
        }
    }
    /// FNV-1a of the keys, as the library locks them.
    void add_locks(std::string const& region, std::string const& id) {
        std::uint64_t hash = 0xcbf29ce484222325U;
        for (char const each : region) { hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U; }
        with_.add(static_cast<std::int64_t>(hash));
        for (char const each : id) { hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U; }
        with_.add(static_cast<std::int64_t>(hash));
        if (told_apart_) { with_.add(table_name_); }
    }
    void write(char const* name, business const& made) {
        fill(made);
        call(name);
    }
    answer call(char const* name) {
        answer done{PQexecPrepared(on_, name, with_.count(), with_.values, with_.sizes, with_.formats, 1)};
        auto const status = PQresultStatus(done.get());
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) { stop(); }
        return done;
    }
    static void take(PGresult* from, int row, business& out) {
        auto const text = [&](int column, std::string& to) {
            to.assign(PQgetvalue(from, row, column), static_cast<std::size_t>(PQgetlength(from, row, column)));
        };
        text(0, out.name);
        text(1, out.description);
        text(2, out.city);
        text(3, out.category);
        take_number(PQgetvalue(from, row, 4), out.employees);
        take_number(PQgetvalue(from, row, 5), out.founded);
        take_number(PQgetvalue(from, row, 6), out.rating);
        take_number(PQgetvalue(from, row, 7), out.turnover);
        take_number(PQgetvalue(from, row, 8), out.open);
        take_number(PQgetvalue(from, row, 9), out.visits);
        take_number(PQgetvalue(from, row, 10), out.changed.ticks);
        std::memcpy(out.owner.bytes.data(), PQgetvalue(from, row, 11), 16);
    }

    PGconn* on_;
    bool guarded_;
    bool told_apart_;
    std::string table_name_{"businesses"};
    parameters with_;
};

// ---- the measurements -------------------------------------------------------------------------------

/// Nanoseconds of processor time of all processes of the server that the test started.
double server_time() {
    std::string const text = std::getenv("ENTITABLE_POSTGRES");
    std::size_t const host = text.find("host=") + 5;
    std::string const folder = text.substr(host, text.find(' ', host) - host);
    long server = 0;
    std::ifstream{folder + "/data.pid"} >> server;
    double sum = 0;
    std::string processes = std::to_string(server);
    std::ifstream children{"/proc/" + processes + "/task/" + processes + "/children"};
    for (std::string each = processes; !each.empty();) {
        double spent = 0;
        std::ifstream{"/proc/" + each + "/schedstat"} >> spent;
        sum += spent;
        each.clear();
        children >> each;
    }
    return sum;
}

struct cost {
    double client{}, server{}, wall{}, wal{};
};

/// Runs `work` and divides what it cost by the number of operations, which it returns.
cost of(by_hand& meter, std::function<std::size_t()> const& work) {
    double const wal = static_cast<double>(meter.wal());
    double const client = measure::cpu_now();
    double const server = server_time();
    auto const begin = std::chrono::steady_clock::now();
    auto const count = static_cast<double>(work());
    std::chrono::duration<double, std::nano> const time = std::chrono::steady_clock::now() - begin;
    double const client_end = measure::cpu_now();
    double const server_end = server_time();
    return {(client_end - client) / count, (server_end - server) / count, time.count() / count,
        (static_cast<double>(meter.wal()) - wal) / count};
}

constexpr double no_limit = 0; ///< of a row that shows what code by hand costs if it promises the same

void compare(by_hand& meter, char const* name, double limit, bool of_wall, std::size_t rounds,
    std::function<std::size_t()> const& hand, std::function<std::size_t()> const& ours) {
    // The least of all rounds: other programs of the machine only add.
    constexpr double none = std::numeric_limits<double>::max();
    std::array<double, 4> hands{none, none, none, none};
    std::array<double, 4> own = hands;
    auto const keep_least = [](std::array<double, 4>& least, cost const& round) {
        double const all[] = {round.client, round.server, round.client + round.server, round.wall};
        for (std::size_t at = 0; at < least.size(); ++at) { least[at] = std::min(least[at], all[at]); }
    };
    static_cast<void>(hand());
    static_cast<void>(ours());
    double wal[2] = {};
    for (std::size_t round = 0; round < rounds; ++round) {
        cost const first = of(meter, hand);
        cost const second = of(meter, ours);
        keep_least(hands, first);
        keep_least(own, second);
        wal[0] += first.wal;
        wal[1] += second.wal;
    }
    double const judged = own[of_wall ? 3 : 2] / hands[of_wall ? 3 : 2];
    std::printf("%-38s %8.1f %8.1f  %6.2f %6.2f %6.2f %6.2f  %7.0f %7.0f", name, hands[2] / 1000, own[2] / 1000,
        own[0] / hands[0], own[1] / hands[1], own[2] / hands[2], own[3] / hands[3],
        wal[0] / static_cast<double>(rounds), wal[1] / static_cast<double>(rounds));
    if (limit > 0) {
        std::printf("  limit %.2f%s%s", limit, of_wall ? " of time" : "", judged <= limit ? "" : "  MISSED");
    }
    std::puts("");
    std::fflush(stdout);
}

void insert_all(table const& into, std::vector<business> const& all) {
    for (std::size_t at = 0; at < all.size(); at += 100) {
        auto batch = into.batch();
        for (std::size_t index = at; index < at + 100; ++index) { batch.insert(all[index]); }
        batch.submit().value();
    }
}
void insert_all(by_hand& into, std::vector<business> const& all) {
    for (std::size_t at = 0; at < all.size(); at += 100) { into.insert(&all[at], 100); }
}

/// Both with the same rows, in one schema.
struct contenders {
    entitable::postgres_options options = entitable_test::own_schema();
    postgres_backend store;
    table ours{store, "businesses"};
    by_hand hand;
    by_hand guarded; ///< by hand, with the promises of the library
    by_hand told;    ///< and with the look-up of the table
    by_hand meter;

    contenders()
        : store([&] {
              options.connections = 32;
              return postgres_backend::connect(std::getenv("ENTITABLE_POSTGRES"), options).value();
          }()),
          hand(options.schema),
          guarded(options.schema, promise::guarded),
          told(options.schema, promise::told_apart),
          meter(options.schema) {
        ours.create().value();
        auto const all = measure::make_businesses(0, preloaded, 1'000'000);
        insert_all(hand, all);
        insert_all(ours, all);
    }
};

void calls() {
    contenders both;
    by_hand& hand = both.hand;
    std::string const region = measure::region_of(0, 1'000'000);
    std::mt19937_64 random{1};
    std::vector<std::string> ids;
    for (std::size_t index = 0; index < 1000; ++index) {
        ids.push_back(measure::id_of(random() % preloaded, 1'000'000));
    }
    compare(
        both.meter, "point read", 1.2, false, 21,
        [&] {
            for (std::string const& id : ids) {
                business found;
                checksum += hand.get(region, id, found) ? found.name.size() : 0;
            }
            return ids.size();
        },
        [&] {
            for (std::string const& id : ids) { checksum += both.ours.get(region, id).value().name.size(); }
            return ids.size();
        });
    std::size_t hand_next = preloaded;
    std::size_t next = preloaded;
    auto const fresh = [](std::size_t& from, std::size_t count) {
        auto made = measure::make_businesses(from, from + count, 1'000'000);
        from += count;
        return made;
    };
    // The entities are made before the clock starts.
    std::vector<business> hand_made;
    std::vector<business> made;
    auto const prepared = [&](std::size_t count) {
        hand_made = fresh(hand_next, count);
        made = fresh(next, count);
    };
    auto const in_rounds = [&](char const* name, double limit, std::size_t rounds, std::size_t count, auto const& by,
                               auto const& us) {
        // Twice as many as one round needs: `compare` warms up once.
        prepared(count * (rounds + 1));
        std::size_t hand_at = 0;
        std::size_t at = 0;
        compare(
            both.meter, name, limit, false, rounds,
            [&] {
                by(&hand_made[hand_at], count);
                hand_at += count;
                return count;
            },
            [&] {
                us(&made[at], count);
                at += count;
                return count;
            });
    };
    auto const hand_inserts = [&](business const* all, std::size_t count) {
        std::for_each(all, all + count, [&](business const& each) { hand.insert(each); });
    };
    in_rounds("insert", 1.3, 21, 500, hand_inserts, [&](business const* all, std::size_t count) {
        std::for_each(
            all, all + count, [&](business const& each) { static_cast<void>(both.ours.insert(each).value()); });
    });
    in_rounds("  by hand, guarded", no_limit, 21, 500, hand_inserts, [&](business const* all, std::size_t count) {
        std::for_each(all, all + count, [&](business const& each) { both.guarded.insert(each); });
    });
    in_rounds(
        "  and the table looked up", no_limit, 21, 500, hand_inserts, [&](business const* all, std::size_t count) {
            std::for_each(all, all + count, [&](business const& each) { both.told.insert(each); });
        });
    std::size_t turn = 0;
    auto const changed = [&](std::size_t index) {
        business one = measure::make_business(index, 1'000'000);
        one.employees = static_cast<std::int32_t>(++turn);
        return one;
    };
    auto const rows = [&](auto const& each) {
        return [&] {
            for (std::size_t index = 0; index < 500; ++index) { each(random() % preloaded); }
            return std::size_t{500};
        };
    };
    auto const hand_update = [&](std::size_t index) { hand.update(changed(index)); };
    auto const our_replace = [&](std::size_t index) { both.ours.replace(changed(index), entitable::any_etag).value(); };
    auto const our_put = [&](std::size_t index) { both.ours.insert_or_replace(changed(index)).value(); };
    compare(both.meter, "replace / UPDATE", 1.3, false, 21, rows(hand_update), rows(our_replace));
    compare(both.meter, "insert_or_replace / UPDATE", 1.3, false, 21, rows(hand_update), rows(our_put));
    auto const comes_and_goes = [](by_hand& on) {
        return [&on](business const* all, std::size_t count) {
            std::for_each(all, all + count, [&](business const& each) {
                on.insert(each);
                on.remove(each.region, each.id);
            });
        };
    };
    in_rounds("remove / DELETE (after an insert)", 1.3, 15, 500, comes_and_goes(hand),
        [&](business const* all, std::size_t count) {
            std::for_each(all, all + count, [&](business const& each) {
                both.ours.insert(each).value();
                both.ours.remove(each.region, each.id, entitable::any_etag).value();
            });
        });
    in_rounds("  by hand, guarded", no_limit, 15, 500, comes_and_goes(hand), comes_and_goes(both.guarded));
    in_rounds("  and the table looked up", no_limit, 15, 500, comes_and_goes(hand), comes_and_goes(both.told));
    in_rounds(
        "batch of 100, per row", 1.2, 15, 1'000,
        [&](business const* all, std::size_t count) { insert_all(hand, std::vector<business>(all, all + count)); },
        [&](business const* all, std::size_t count) {
            insert_all(both.ours, std::vector<business>(all, all + count));
        });
    using b = entitable::fields<business>;
    compare(
        both.meter, "page of 1,000, per row", 1.1, false, 21,
        [&] {
            business reused;
            for (std::size_t at = 0; at < 10; ++at) {
                hand.page(region, measure::id_of(at * 1'000, 1'000'000), 1'000, reused);
            }
            return std::size_t{10'000};
        },
        [&] {
            for (std::size_t at = 0; at < 10; ++at) {
                auto const some =
                    both.ours.where(b::region == region && b::id >= measure::id_of(at * 1'000, 1'000'000)).take(1'000);
                for (business const& each : some) { checksum += each.name.size(); }
            }
            return std::size_t{10'000};
        });
    auto const count = [&](char const* name) {
        compare(
            both.meter, name, 1.2, false, 15,
            [&] {
                checksum += static_cast<std::uint64_t>(hand.count(region));
                return std::size_t{1};
            },
            [&] {
                checksum += both.ours.where(b::region == region).count().value();
                return std::size_t{1};
            });
    };
    count("count");
    // As autovacuum does it, which is off here.
    both.meter.run("VACUUM (ANALYZE) natural_rows");
    both.meter.run("VACUUM (ANALYZE) entities");
    count("count, after a vacuum");
}

void threads() {
    contenders both;
    constexpr std::size_t count = 16;
    std::vector<std::unique_ptr<by_hand>> hands;
    std::vector<std::unique_ptr<by_hand>> guarded;
    for (std::size_t each = 0; each < count; ++each) {
        hands.push_back(std::make_unique<by_hand>(both.options.schema));
        guarded.push_back(std::make_unique<by_hand>(both.options.schema, promise::guarded));
    }
    std::atomic<std::size_t> next{10'000'000};
    auto const by_all = [&](bool hot, auto const& insert) {
        return [&, hot] {
            std::atomic<std::size_t> done{0};
            std::vector<std::thread> running;
            for (std::size_t thread = 0; thread < count; ++thread) {
                running.emplace_back([&, thread] {
                    business made = measure::make_business(1, 1'000'000);
                    made.region = hot ? "hot" : "thread" + std::to_string(thread);
                    auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds{300};
                    while (std::chrono::steady_clock::now() < end) {
                        made.id = std::to_string(next++);
                        insert(thread, made);
                        ++done;
                    }
                });
            }
            for (std::thread& each : running) { each.join(); }
            return done.load();
        };
    };
    auto const hand = [&](std::size_t thread, business const& made) { hands[thread]->insert(made); };
    auto const ours = [&](std::size_t, business const& made) { both.ours.insert(made).value(); };
    compare(both.meter, "inserts, 16 threads, one partition", 2, true, 11, by_all(true, hand), by_all(true, ours));
    compare(
        both.meter, "inserts, 16 threads, a partition each", 1.3, true, 11, by_all(false, hand), by_all(false, ours));
    auto const as_safe = [&](std::size_t thread, business const& made) { guarded[thread]->insert(made); };
    compare(both.meter, "  by hand, guarded", no_limit, true, 11, by_all(false, hand), by_all(false, as_safe));
}

task<> read_one(async_table<business> from, std::string region, std::string id) {
    auto const found = co_await from.get(region, id);
    checksum += found ? found->name.size() : 0;
}
task<> insert_one(async_table<business> into, business const* made) {
    checksum += (co_await into.insert(*made)) ? 1U : 0U;
}

/// Many requests at once from one thread.
void many() {
    contenders both;
    any_store const all{both.store};
    event_loop loop;
    async_table<business> const awaited{loop, all, "businesses"};
    std::string const region = measure::region_of(0, 1'000'000);
    std::mt19937_64 random{1};
    std::vector<std::string> ids;
    for (std::size_t index = 0; index < 5000; ++index) {
        ids.push_back(measure::id_of(random() % preloaded, 1'000'000));
    }
    compare(
        both.meter, "500 reads in flight / blocking reads", 0.5, false, 15,
        [&] {
            for (std::string const& id : ids) { checksum += both.ours.get(region, id).value().name.size(); }
            return ids.size();
        },
        [&] {
            for (std::string const& id : ids) { loop.spawn(read_one(awaited, region, id)); }
            loop.run();
            return ids.size();
        });
    // Each row in a partition of its own; by hand all of them are one transaction in one pipeline.
    std::size_t next = 0;
    auto const fresh = [&](char const* of) {
        auto made = measure::make_businesses(next, next + 400, 1'000'000);
        for (business& each : made) { each.region = std::string{of}.append(std::to_string(next++)); }
        return made;
    };
    std::vector<std::vector<business>> rows[6];
    for (std::size_t round = 0; round < 5 * 16; ++round) { rows[0].push_back(fresh("h")); }
    for (std::size_t round = 0; round < 16; ++round) {
        rows[1].push_back(fresh("b"));
        rows[2].push_back(fresh("a"));
        rows[3].push_back(fresh("f"));
        rows[4].push_back(fresh("g"));
        rows[5].push_back(fresh("t"));
    }
    std::size_t at[6] = {};
    auto const by_hand_once = [&] {
        both.hand.insert(rows[0][at[0]++].data(), 400);
        return std::size_t{400};
    };
    compare(both.meter, "bulk_insert, 400 partitions, per row", 1.5, false, 15, by_hand_once, [&] {
        static_cast<void>(entitable::bulk_insert(both.ours, rows[1][at[1]++]).value());
        return std::size_t{400};
    });
    entitable::bulk_options wide;
    wide.in_flight = 400;
    compare(both.meter, "the same, 400 in flight", 1.5, false, 15, by_hand_once, [&] {
        static_cast<void>(entitable::bulk_insert(both.ours, rows[3][at[3]++], wide).value());
        return std::size_t{400};
    });
    compare(both.meter, "  by hand, guarded, one transaction", no_limit, false, 15, by_hand_once, [&] {
        both.guarded.insert(rows[4][at[4]++].data(), 400);
        return std::size_t{400};
    });
    compare(both.meter, "  and the table looked up", no_limit, false, 15, by_hand_once, [&] {
        both.told.insert(rows[5][at[5]++].data(), 400);
        return std::size_t{400};
    });
    compare(both.meter, "400 awaited inserts, per row", 1.5, false, 15, by_hand_once, [&] {
        for (business const& each : rows[2][at[2]]) { loop.spawn(insert_one(awaited, &each)); }
        loop.run();
        ++at[2];
        return std::size_t{400};
    });
}

} // namespace

int main(int count, char** words) {
    if (std::getenv("ENTITABLE_POSTGRES") == nullptr) {
        std::puts("skipped: there is no PostgreSQL server (tests/tools/postgres run starts one)");
        return 0;
    }
    std::string_view const only = count > 1 ? words[1] : "";
    std::printf("%-38s %8s %8s  %6s %6s %6s %6s  %7s %7s\n", "", "hand us", "ours us", "client", "server", "both",
        "time", "WAL", "ours");
    if (only.empty() || only == "calls") { calls(); }
    if (only.empty() || only == "threads") { threads(); }
    if (only.empty() || only == "many") { many(); }
    std::printf("(%llu)\n", static_cast<unsigned long long>(checksum.load()));
}
