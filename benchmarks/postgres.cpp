// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// `table<E>` on postgres_backend compared with hand-written code on libpq: the same statements, prepared, in binary and in pipelines,
// over tables of the same form, and rows put together byte by byte. And an update that locks the row of its partition compared with a
// SERIALIZABLE one, both by hand. All in wall time. An argument names one part: calls, threads, isolation.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests -I /usr/include/postgresql benchmarks/postgres.cpp -o postgres -lpq -pthread
//     tests/tools/postgres run durable ./postgres

#include <entitable/local/postgres/detail/pg_schema.hpp>
#include <entitable/postgres.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/business_bytes.hpp>
#include <benchmarks/support/measure.hpp>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#include <support/postgres_server.hpp>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>

namespace {

using entitable::postgres_backend;
using entitable::detail::pg_number;
using entitable::detail::pg_statement;
using measure::business;
using table = entitable::table<business>;

constexpr std::size_t preloaded = 20'000;
std::atomic<std::uint64_t> checksum{0}; ///< so that nothing is optimised away

// ---- by hand ----------------------------------------------------------------------------------------

/// Keys of the benchmark are ASCII.
std::string wide(std::string const& text) {
    std::string made;
    for (char const each : text) {
        made += '\0';
        made += each;
    }
    return made;
}
std::int64_t number_of(char const* bytes, std::size_t size) {
    std::uint64_t made = 0;
    for (std::size_t at = 0; at < size; ++at) { made = made << 8U | static_cast<unsigned char>(bytes[at]); }
    return static_cast<std::int64_t>(made);
}

class by_hand {
public:
    struct clear {
        void operator()(PGresult* answer) const noexcept { PQclear(answer); }
    };
    using rows = std::unique_ptr<PGresult, clear>;

    /// Uses the tables that a postgres_backend created.
    explicit by_hand(entitable::postgres_options const& options) : on_(PQconnectdb(std::getenv("ENTITABLE_POSTGRES"))) {
        rows const set{PQexec(on_, entitable::detail::pg_session_text(options).c_str())};
        for (int each = 0; each < static_cast<int>(pg_statement::count); ++each) {
            auto const which = static_cast<pg_statement>(each);
            prepare(name_of(which), entitable::detail::pg_statement_text(which, options.schema));
        }
        prepare("serializable", "BEGIN ISOLATION LEVEL SERIALIZABLE");
        prepare("no_partition", "SELECT id, 0::int8 FROM " + options.schema + ".tables WHERE key = $1::bytea");
        prepare("read_version",
            "SELECT t.id, p.version, r.value FROM " + options.schema + ".tables t JOIN " + options.schema +
                ".partitions p ON p.table_id = t.id AND p.partition_key = $2::bytea LEFT JOIN " + options.schema +
                ".rows r ON r.table_id = t.id AND r.partition_key = $2::bytea AND r.row_key = $3::bytea WHERE t.key = "
                "$1::bytea");
        if (PQenterPipelineMode(on_) == 0) { stop(); }
    }
    ~by_hand() { PQfinish(on_); }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;

    bool get(std::string const& region, std::string const& id, business& out) {
        std::string const partition = wide(region);
        std::string const row = wide(id);
        send(name_of(pg_statement::get), {"businesses", partition, row});
        run();
        bool const found = PQntuples(answers_[0].get()) > 0 && PQgetisnull(answers_[0].get(), 0, 0) == 0;
        if (found) {
            out.region = region;
            out.id = id;
            measure::take_business(PQgetvalue(answers_[0].get(), 0, 0), out);
        }
        return found;
    }
    void insert(business const& made) {
        std::string const partition = wide(made.region);
        std::string const row = wide(made.id);
        entitable::detail::pg_array array;
        array.add(row);
        std::int64_t const version = lock(partition, array.finish());
        row_.clear();
        measure::put_business(row_, made);
        send(name_of(pg_statement::put), {pg_number{table_}, partition, row, row_});
        finish(partition, version);
    }
    /// Entities of one partition.
    void insert(business const* from, std::size_t count) {
        std::string const partition = wide(from->region);
        entitable::detail::pg_array keys;
        for (std::size_t at = 0; at < count; ++at) { keys.add(wide(from[at].id)); }
        std::int64_t const version = lock(partition, keys.finish());
        entitable::detail::pg_array values;
        for (std::size_t at = 0; at < count; ++at) {
            row_.clear();
            measure::put_business(row_, from[at]);
            values.add(row_);
        }
        send(name_of(pg_statement::put_many), {pg_number{table_}, partition, keys.finish(), values.finish()});
        finish(partition, version);
    }
    void page(std::string const& region, std::string const& from, std::int64_t count, business& reused) {
        std::string const partition = wide(region);
        std::string const row = wide(from);
        send(name_of(pg_statement::scan_partition), {"businesses", partition, row, pg_number{count}});
        run();
        PGresult* const found = answers_[0].get();
        for (int at = 0; at < PQntuples(found); ++at) {
            reused.region = region;
            reused.id.clear();
            char const* const key = PQgetvalue(found, at, 1);
            for (int unit = 1; unit < PQgetlength(found, at, 1); unit += 2) { reused.id += key[unit]; }
            measure::take_business(PQgetvalue(found, at, 2), reused);
            checksum += reused.name.size();
        }
    }

    // ---- the same update, once with a lock and once SERIALIZABLE

    /// Rows that are incremented. Returns how often the transaction was run.
    std::size_t replace_locked(std::string const& partition, std::string const& row, std::string const& bytes) {
        entitable::detail::pg_array array;
        array.add(row);
        std::int64_t const version = lock(partition, array.finish());
        send(name_of(pg_statement::put), {pg_number{table_}, partition, row, bytes});
        finish(partition, version);
        return 1;
    }
    /// Without `versioned` the partition gets no version: then transactions on different rows do not conflict.
    std::size_t replace_serializable(
        std::string const& partition, std::string const& row, std::string const& bytes, bool versioned) {
        for (std::size_t tries = 1;; ++tries) {
            send("serializable", {});
            if (versioned) {
                send("read_version", {"businesses", partition, row});
            } else {
                send("no_partition", {"businesses"});
                send(name_of(pg_statement::get), {"businesses", partition, row});
            }
            if (!run(true)) { continue; }
            table_ = static_cast<std::int32_t>(number_of(PQgetvalue(answers_[1].get(), 0, 0), 4));
            std::int64_t const version = number_of(PQgetvalue(answers_[1].get(), 0, 1), 8) + 1;
            send(name_of(pg_statement::put), {pg_number{table_}, partition, row, bytes});
            if (versioned) {
                send(name_of(pg_statement::raise_version), {pg_number{table_}, partition, pg_number{version}});
            }
            send(name_of(pg_statement::commit), {});
            if (run(true)) { return tries; }
        }
    }

private:
    static char const* name_of(pg_statement which) {
        static std::string const* const names = [] {
            auto* const made = new std::string[static_cast<std::size_t>(pg_statement::count)];
            for (std::size_t at = 0; at < static_cast<std::size_t>(pg_statement::count); ++at) {
                made[at] = "s" + std::to_string(at);
            }
            return made;
        }();
        return names[static_cast<std::size_t>(which)].c_str();
    }
    void prepare(char const* name, std::string const& text) {
        rows const done{PQprepare(on_, name, text.c_str(), 0, nullptr)};
        if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) { stop(); }
    }
    [[noreturn]] void stop() {
        std::printf("%s\n", PQerrorMessage(on_));
        std::abort();
    }
    void send(char const* name, std::initializer_list<std::string_view> values) {
        char const* at[8];
        int sizes[8];
        int formats[8];
        int count = 0;
        for (std::string_view const value : values) {
            at[count] = value.data();
            sizes[count] = static_cast<int>(value.size());
            formats[count++] = 1;
        }
        if (PQsendQueryPrepared(on_, name, count, at, sizes, formats, 1) == 0) { stop(); }
    }
    /// False if the server reports that another transaction was first, and `may_fail`; then the transaction is rolled
    /// back.
    bool run(bool may_fail = false) {
        answers_.clear();
        if (PQpipelineSync(on_) == 0) { stop(); }
        bool good = true;
        for (;;) {
            rows answer{PQgetResult(on_)};
            if (answer == nullptr) { continue; }
            auto const status = PQresultStatus(answer.get());
            if (status == PGRES_PIPELINE_SYNC) { break; }
            if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
                answers_.push_back(std::move(answer));
            } else if (status != PGRES_PIPELINE_ABORTED) {
                char const* const state = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
                good = false;
                if (!may_fail || state == nullptr || std::strcmp(state, "40001") != 0) { stop(); }
            }
        }
        if (!good && PQtransactionStatus(on_) != PQTRANS_IDLE) {
            send(name_of(pg_statement::rollback), {});
            run();
        }
        return good;
    }
    /// Increments the version of the partition.
    std::int64_t lock(std::string const& partition, std::string const& keys) {
        send(name_of(pg_statement::begin), {});
        send(name_of(pg_statement::lock_partition), {"businesses", partition});
        send(name_of(pg_statement::read_partition), {"businesses", partition, keys});
        run();
        table_ = static_cast<std::int32_t>(number_of(PQgetvalue(answers_[2].get(), 0, 0), 4));
        return number_of(PQgetvalue(answers_[2].get(), 0, 1), 8);
    }
    void finish(std::string const& partition, std::int64_t version) {
        send(name_of(pg_statement::raise_version), {pg_number{table_}, partition, pg_number{version + 1}});
        send(name_of(pg_statement::commit), {});
        run();
    }

    PGconn* on_;
    std::int32_t table_{};
    std::vector<rows> answers_;
    std::string row_;
};

// ---- the measurements -------------------------------------------------------------------------------

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

/// Both with the same rows, each in a schema of its own.
struct contenders {
    entitable::postgres_options hand_options = entitable_test::own_schema();
    entitable::postgres_options options = entitable_test::own_schema();
    postgres_backend hand_store;
    postgres_backend store;
    table ours{store, "businesses"};

    contenders()
        : hand_store(postgres_backend::connect(std::getenv("ENTITABLE_POSTGRES"), hand_options).value()), store([&] {
              options.connections = 32;
              return postgres_backend::connect(std::getenv("ENTITABLE_POSTGRES"), options).value();
          }()) {
        table{hand_store, "businesses"}.create().value();
        ours.create().value();
        by_hand hand{hand_options};
        auto const all = measure::make_businesses(0, preloaded, 1'000'000);
        insert_all(hand, all);
        insert_all(ours, all);
    }
};

void calls() {
    contenders both;
    by_hand hand{both.hand_options};
    std::string const region = measure::region_of(0, 1'000'000);
    std::mt19937_64 random{1};
    std::vector<std::string> ids;
    for (std::size_t index = 0; index < 500; ++index) {
        ids.push_back(measure::id_of(random() % preloaded, 1'000'000));
    }
    measure::compare(
        "point read", 1.3, 31,
        [&] {
            return measure::wall(ids.size(), [&] {
                for (std::string const& id : ids) {
                    business found;
                    checksum += hand.get(region, id, found) ? found.name.size() : 0;
                }
            });
        },
        [&] {
            return measure::wall(ids.size(), [&] {
                for (std::string const& id : ids) { checksum += both.ours.get(region, id).value().name.size(); }
            });
        });
    std::size_t hand_next = preloaded;
    std::size_t next = preloaded;
    auto const fresh = [](std::size_t& from, std::size_t count) {
        auto made = measure::make_businesses(from, from + count, 1'000'000);
        from += count;
        return made;
    };
    measure::compare(
        "insert", 1.3, 31,
        [&] {
            auto const all = fresh(hand_next, 100);
            return measure::wall(all.size(),
                [&] { std::for_each(all.begin(), all.end(), [&](business const& each) { hand.insert(each); }); });
        },
        [&] {
            auto const all = fresh(next, 100);
            return measure::wall(all.size(), [&] {
                std::for_each(
                    all.begin(), all.end(), [&](business const& each) { (void)both.ours.insert(each).value(); });
            });
        });
    measure::compare(
        "batch of 100, per row", 1.3, 21,
        [&] {
            auto const all = fresh(hand_next, 1'000);
            return measure::wall(all.size(), [&] { insert_all(hand, all); });
        },
        [&] {
            auto const all = fresh(next, 1'000);
            return measure::wall(all.size(), [&] { insert_all(both.ours, all); });
        });
    using b = entitable::fields<business>;
    measure::compare(
        "page of 1,000, per row", 1.3, 31,
        [&] {
            business reused;
            return measure::wall(10'000, [&] {
                for (std::size_t at = 0; at < 10; ++at) {
                    hand.page(region, measure::id_of(at * 1'000, 1'000'000), 1'000, reused);
                }
            });
        },
        [&] {
            return measure::wall(10'000, [&] {
                for (std::size_t at = 0; at < 10; ++at) {
                    auto const rows =
                        both.ours.where(b::region == region && b::id >= measure::id_of(at * 1'000, 1'000'000))
                            .take(1'000);
                    for (business const& each : rows) { checksum += each.name.size(); }
                }
            });
        });
}

/// Microseconds per operation of this number of concurrent threads.
double per_operation(std::size_t threads, std::function<void(std::size_t thread, std::size_t count)> const& operation) {
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> done{0};
    std::vector<std::thread> running;
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            for (std::size_t count = 0; !stop; ++count, ++done) { operation(thread, count); }
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{400});
    stop = true;
    for (std::thread& each : running) { each.join(); }
    std::chrono::duration<double, std::nano> const time = std::chrono::steady_clock::now() - begin;
    return time.count() / static_cast<double>(done);
}

void threads() {
    contenders both;
    std::vector<std::unique_ptr<by_hand>> hands;
    for (std::size_t count = 0; count < 32; ++count) { hands.push_back(std::make_unique<by_hand>(both.hand_options)); }
    std::string const region = measure::region_of(0, 1'000'000);
    std::size_t next = 0;
    for (std::size_t const count : {std::size_t{8}, std::size_t{32}}) {
        auto const id = [&](std::size_t thread, std::size_t at) {
            return measure::id_of((thread * 977 + at * 131) % preloaded, 1'000'000);
        };
        measure::compare(("point reads by " + std::to_string(count) + " threads").c_str(), 1.3, 11,
            [&] {
                return per_operation(count, [&](std::size_t thread, std::size_t at) {
                    business found;
                    checksum += hands[thread]->get(region, id(thread, at), found) ? found.name.size() : 0;
                });
            },
            [&] {
                return per_operation(count, [&](std::size_t thread, std::size_t at) {
                    checksum += both.ours.get(region, id(thread, at)).value().name.size();
                });
            });
        auto const made = [&](std::size_t thread, std::size_t at) {
            business each = measure::make_business(next + at, 100'000'000);
            each.region = "thread" + std::to_string(thread);
            return each;
        };
        measure::compare(("inserts by " + std::to_string(count) + " threads").c_str(), 1.3, 11,
            [&] {
                next += 100'000;
                return per_operation(
                    count, [&](std::size_t thread, std::size_t at) { hands[thread]->insert(made(thread, at)); });
            },
            [&] {
                return per_operation(count,
                    [&](std::size_t thread, std::size_t at) { (void)both.ours.insert(made(thread, at)).value(); });
            });
    }
}

void isolation() {
    contenders both;
    std::vector<std::unique_ptr<by_hand>> hands;
    for (std::size_t count = 0; count < 32; ++count) { hands.push_back(std::make_unique<by_hand>(both.hand_options)); }
    std::string const bytes(300, 'x');
    struct shape {
        char const* name;
        std::size_t threads;
        bool hot; ///< all in one partition, each on a row of its own
    };
    for (shape const& each : {shape{"1 thread", 1, false}, shape{"8 threads, a partition each", 8, false},
             shape{"32 threads, a partition each", 32, false}, shape{"8 threads, one partition", 8, true},
             shape{"32 threads, one partition", 32, true}}) {
        std::atomic<std::size_t> runs{0};
        std::atomic<std::size_t> updates{0};
        auto const with = [&](auto const& replace) {
            return [&, replace] {
                return per_operation(each.threads, [&](std::size_t thread, std::size_t) {
                    std::string const partition = wide(each.hot ? "hot" : "own" + std::to_string(thread));
                    runs += replace(*hands[thread], partition, wide("row" + std::to_string(thread)));
                    ++updates;
                });
            };
        };
        auto const locked = with([&](by_hand& hand, std::string const& partition, std::string const& row) {
            return hand.replace_locked(partition, row, bytes);
        });
        std::printf("%s\n", each.name);
        for (bool const versioned : {true, false}) {
            auto const serializable = with([&](by_hand& hand, std::string const& partition, std::string const& row) {
                return hand.replace_serializable(partition, row, bytes, versioned);
            });
            (void)locked(); // so that the rows exist
            runs = 0;
            updates = 0;
            measure::compare(versioned ? "  SERIALIZABLE beside the lock" : "  the same without versions", 1, 7, locked,
                serializable);
            // about half of the updates were locked ones, and those run once
            std::printf("    %zu updates, %zu of them run again\n", updates.load(), runs.load() - updates.load());
        }
    }
}

} // namespace

int main(int count, char** words) {
    if (std::getenv("ENTITABLE_POSTGRES") == nullptr) {
        std::puts("skipped: there is no PostgreSQL server (tests/tools/postgres run starts one)");
        return 0;
    }
    std::string_view const only = count > 1 ? words[1] : "";
    measure::heading();
    if (only.empty() || only == "calls") { calls(); }
    if (only.empty() || only == "threads") { threads(); }
    if (only.empty() || only == "isolation") { isolation(); }
    std::printf("(%llu)\n", static_cast<unsigned long long>(checksum.load()));
}
