// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The library over a store in memory, compared with std::map and std::unordered_map, and with the same requests by hand. Run by `benchmarks/run`.
//   g++ -std=c++20 -O2 -DNDEBUG -I . -I include -I tests benchmarks/beside_map.cpp -o beside_map -lpthread

#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/peers.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>

namespace benchmark_beside_map {

struct counter {
    std::string tenant;
    std::int64_t last{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("counter")), properties(last))

struct invoice {
    std::string tenant;
    std::int64_t number{};
    std::string customer;
    double total{};
};
ENTITABLE(invoice, partition_key(tenant), row_key(literal("invoice:"), number), properties(customer, total))

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 7)), properties(name, age, club))

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 7)), properties(name))

struct keys {
    std::string region;
    std::string id;
    friend bool operator==(keys const&, keys const&) = default;
};
struct keys_hash {
    std::size_t operator()(keys const& of) const noexcept {
        return std::hash<std::string>{}(of.region) ^ (std::hash<std::string>{}(of.id) * 31);
    }
};

} // namespace benchmark_beside_map

using namespace entitable;
using namespace benchmark_beside_map;
using measure::business;
using b = fields<business>;
using map_of_businesses = std::map<std::pair<std::string, std::string>, business>;

namespace {

volatile std::uint64_t sink = 0;
constexpr std::size_t rows_each = 1'000;
constexpr std::size_t rows = 10'000;

std::vector<business> businesses(std::size_t count, std::size_t each_partition = rows_each) {
    std::vector<business> made;
    for (std::size_t at = 0; at < count; ++at) { made.push_back(measure::make_business(at, each_partition)); }
    return made;
}
table<business> opened() {
    table<business> made{memory_backend{}, "businesses"};
    made.create().value();
    return made;
}
table<business> filled(std::vector<business> const& all) {
    auto made = opened();
    bulk_insert(made, all).value().all().value();
    return made;
}

void singles(measure::peers& all_peers) {
    auto const all = businesses(rows);
    auto const ours = filled(all);
    map_of_businesses peer;
    for (business const& each : all) { peer.emplace(std::pair{each.region, each.id}, each); }
    constexpr std::size_t times = 1'000;
    auto const nth = [&](std::size_t at) -> business const& { return all[at * 7 % rows]; };
    all_peers.reads(
        "replace in memory, compared with std::map", 2.4, times,
        [&] {
            for (std::size_t at = 0; at < times; ++at) { peer.find({nth(at).region, nth(at).id})->second = nth(at); }
        },
        [&] {
            for (std::size_t at = 0; at < times; ++at) { ours.replace(nth(at), any_etag).value(); }
        });
    all_peers.reads(
        "update in memory, compared with std::map", 3.6, times,
        [&] {
            for (std::size_t at = 0; at < times; ++at) {
                auto const found = peer.find({nth(at).region, nth(at).id});
                business changed = found->second;
                ++changed.visits;
                found->second = changed;
            }
        },
        [&] {
            for (std::size_t at = 0; at < times; ++at) {
                ours.update(nth(at).region, nth(at).id, [](business& each) { ++each.visits; }).value();
            }
        });
    auto const few = businesses(100);
    auto const ours_few = filled(few);
    map_of_businesses peer_few;
    for (business const& each : few) { peer_few.emplace(std::pair{each.region, each.id}, each); }
    all_peers.reads(
        "point read of 100 rows in memory, compared with std::map", 1.6, times,
        [&] {
            for (std::size_t at = 0; at < times; ++at) {
                business const& wanted = few[at % few.size()];
                business const read = peer_few.find({wanted.region, wanted.id})->second;
                sink = sink + read.name.size();
            }
        },
        [&] {
            for (std::size_t at = 0; at < times; ++at) {
                business const& wanted = few[at % few.size()];
                sink = sink + ours_few.get(wanted.region, wanted.id).value().name.size();
            }
        });
    auto const one = ours.where(b::region == measure::region_of(0, rows_each));
    all_peers.reads(
        "one partition into a vector, compared with std::map", 1.1, rows_each,
        [&] {
            std::vector<business> read;
            std::string const region = measure::region_of(0, rows_each);
            for (auto at = peer.lower_bound({region, ""}); at != peer.end() && at->first.first == region; ++at) {
                read.push_back(at->second);
            }
            sink = sink + read.size();
        },
        [&] { sink = sink + one.to().value().size(); });
    auto const alone = filled(businesses(rows, 1));
    all_peers.reads(
        "count, one row a partition, compared with 1,000 a partition", 4, rows,
        [&] { sink = sink + ours.scan_table().count().value(); },
        [&] { sink = sink + alone.scan_table().count().value(); });
}

void memory(measure::peers& all_peers) {
    constexpr std::size_t many = 100'000;
    for (std::size_t const each : {std::size_t{1}, rows_each}) {
        std::string const name =
            "memory of 10^5 rows, " + std::to_string(each) + " a partition, compared with their keys and values";
        if (!all_peers.wanted(name)) { continue; }
        auto const all = businesses(many, each);
        std::size_t stored = 0;
        for (business const& one : all) {
            row const made = to_row(one).value();
            stored += made.partition_key().size() + made.row_key().size() + made.payload().size();
        }
        all_peers.bytes<table<business>>(name, 1.35, stored, [&] { return filled(all); });
    }
}

void by_hand(measure::peers& all_peers) {
    constexpr std::size_t times = 1'000;
    using books = table<counter, invoice>;
    auto const ledger_with = [times](auto const& one) {
        return [times, one]() -> measure::peers::work {
            books const ledger{memory_backend{}, "ledger"};
            ledger.create().value();
            ledger.insert(counter{"ACME", 0}).value();
            return [times, one, ledger, counters = ledger.unmaintained<counter>()] {
                for (std::size_t at = 0; at < times; ++at) { one(counters, ledger); }
            };
        };
    };
    all_peers.row("partition transaction, compared with the same by hand", 1.12, times,
        ledger_with([](table<counter> const& counters, books const& ledger) {
            auto counted = counters.get_stored("ACME").value();
            counted.entity.last += 1;
            auto both = ledger.batch();
            both.replace(counted.entity, counted.etag).insert(invoice{"ACME", counted.entity.last, "ann", 12.5});
            both.submit().value();
        }),
        ledger_with([](table<counter> const&, books const& ledger) {
            ledger
                .transact("ACME",
                    [](transaction<counter, invoice>& both) -> result<void> {
                        ENTITABLE_TRY(auto counted, both.get<counter>());
                        counted.last += 1;
                        both.replace(counted).insert(invoice{"ACME", counted.last, "ann", 12.5});
                        return {};
                    })
                .value();
        }));
    auto const numbered = [](std::size_t bib) {
        return runner{"NYC", static_cast<std::int32_t>(bib), "a name of some length",
            static_cast<std::int32_t>(20 + bib % 60), "Ajax"};
    };
    auto const index_row_of = [](runner const& one) {
        by_age made;
        static_cast<runner&>(made) = one;
        return made;
    };
    using indexed = table<runner, by_age>;
    using plain = table<runner, as_entity<by_age>>;
    auto const runners_with = [=](bool full, auto const& one) {
        return [=]() -> measure::peers::work {
            memory_backend const store;
            indexed const runners{store, "runners"};
            runners.create().value();
            for (std::size_t bib = 0; full && bib < times; ++bib) { runners.insert(numbered(bib)).value(); }
            return [times, one, runners, both = plain{store, "runners"}] {
                for (std::size_t bib = 0; bib < times; ++bib) { one(runners, both, bib); }
            };
        };
    };
    all_peers.row("indexed insert, compared with the same by hand", 1.3, times,
        runners_with(false,
            [=](indexed const&, plain const& both, std::size_t bib) {
                runner const one = numbered(bib);
                auto pair = both.batch();
                pair.insert(one).insert_or_replace(index_row_of(one));
                pair.submit().value();
            }),
        runners_with(false,
            [=](indexed const& runners, plain const&, std::size_t bib) { runners.insert(numbered(bib)).value(); }));
    all_peers.row("indexed update, compared with the same by hand", 1.25, times,
        runners_with(true,
            [=](indexed const&, plain const& both, std::size_t bib) {
                auto found = both.get_stored<runner>("NYC", static_cast<std::int32_t>(bib)).value();
                by_age const before = index_row_of(found.entity);
                found.entity.age += 1;
                auto all = both.batch();
                all.replace(found.entity, found.etag)
                    .remove(before, any_etag)
                    .insert_or_replace(index_row_of(found.entity));
                all.submit().value();
            }),
        runners_with(true, [=](indexed const& runners, plain const&, std::size_t bib) {
            runners.update("NYC", static_cast<std::int32_t>(bib), [](runner& each) { each.age += 1; }).value();
        }));
    memory_backend const store;
    indexed const runners{store, "runners"};
    runners.create().value();
    for (std::size_t bib = 0; bib < 5'000; ++bib) { runners.insert(numbered(bib)).value(); }
    all_peers.reads(
        "verify of an index, compared with two scans", 1.25, 5'000,
        [&] {
            runners.scan_table().for_each([](runner const& each) { sink = sink + each.name.size(); }).value();
            table<by_age>{store, "runners"}
                .scan_table()
                .for_each([](by_age const& each) { sink = sink + each.name.size(); })
                .value();
        },
        [&] { sink = sink + runners.verify().value().indexes.index_rows; });
}

void loads(measure::peers& all_peers) {
    auto const in_turn = [](std::vector<business> const& all) {
        std::vector<business> turned;
        for (std::size_t at = 0; at < rows_each; ++at) {
            for (std::size_t from = at; from < all.size(); from += rows_each) { turned.push_back(all[from]); }
        }
        return turned;
    };
    auto const ordered = businesses(rows);
    auto const turned = in_turn(ordered);
    auto const into = [](auto const& load) {
        return [load]() -> measure::peers::work { return [load, ours = opened()] { load(ours); }; };
    };
    auto const by_order = [&ordered](table<business> const& ours) {
        for (std::size_t at = 0; at < ordered.size(); at += 100) {
            auto batch = ours.batch();
            for (std::size_t each = at; each < at + 100; ++each) { batch.insert(ordered[each]); }
            batch.submit().value();
        }
    };
    auto const by_partition = [&turned](table<business> const& ours) {
        std::map<std::string, batch<business>> batches;
        for (business const& each : turned) {
            auto& batch = batches.try_emplace(each.region, ours.batch()).first->second;
            batch.insert(each);
            if (batch.size() == 100) {
                batch.submit().value();
                batch.clear();
            }
        }
    };
    all_peers.row("bulk_insert in memory, partition after partition, compared with batches", 1.2, rows, into(by_order),
        into([&ordered](table<business> const& ours) { bulk_insert(ours, ordered).value().all().value(); }));
    all_peers.row("bulk_insert in memory, partitions in turn, compared with batches", 1.2, rows, into(by_partition),
        into([&turned](table<business> const& ours) { bulk_insert(ours, turned).value().all().value(); }));
}

void tracked(measure::peers& all_peers) {
    constexpr std::size_t count = 10'000;
    auto const ours = opened();
    unit_of_work work{ours};
    std::unordered_map<keys, std::unique_ptr<business>, keys_hash> plain;
    auto const all = businesses(count);
    for (business const& each : all) {
        plain.emplace(keys{each.region, each.id}, std::make_unique<business>(each));
        work.add(each);
    }
    all_peers.reads(
        "tracked(keys), compared with std::unordered_map", 2.5, count,
        [&] {
            for (business const& each : all) { sink = sink + (plain.contains(keys{each.region, each.id}) ? 1 : 0); }
        },
        [&] {
            for (business const& each : all) { sink = sink + (work.tracked(each.region, each.id) != nullptr ? 1 : 0); }
        });
}

/// Copies a table and verifies the copy, by hand: notes what was read and written, reads the keys of the source again, and compares the whole
/// copy. Without guard rows, tables of later attempts, steps that can be repeated, and a map.
class verified_copy {
public:
    verified_copy(any_store from, any_store to) : from_(std::move(from)), to_(std::move(to)) {}

    void run() {
        transact batch{"businesses", {}};
        std::vector<noted*> written;
        auto const flush = [&] {
            if (batch.changes.empty()) { return; }
            call context;
            auto const done = to_.execute(batch, context).value();
            for (std::size_t at = 0; at < written.size(); ++at) { written[at]->target = done.results[at].etag; }
            batch.changes.clear();
            written.clear();
        };
        for_each_row(from_, {}, [&](row_view const& each) {
            if (!batch.changes.empty() &&
                (batch.changes.size() == 99 || batch.changes.front().entity.partition_key() != each.partition_key)) {
                flush();
            }
            batch.changes.push_back(mutation::insert(row{each.partition_key, each.row_key, each.payload}));
            written.push_back(&rows_[std::string{each.partition_key}][std::string{each.row_key}]);
            *written.back() = {each.etag(), {}, digest_of(each)};
        });
        flush();
        for_each_row(
            from_, {"PartitionKey", "RowKey"}, [&](row_view const& each) { check(find(each).source == each.etag()); });
        std::size_t met = 0;
        for_each_row(to_, {}, [&](row_view const& each) {
            noted const& known = find(each);
            check(known.target == each.etag() && known.digest == digest_of(each));
            ++met;
        });
        check(met == rows);
    }

private:
    struct noted {
        etag source;
        etag target;
        std::size_t digest{};
    };

    static void check(bool holds) {
        if (!holds) { std::abort(); }
    }
    static std::size_t digest_of(row_view const& of) {
        return std::hash<std::string_view>{}(of.payload.substr(row_format::header_size));
    }
    noted const& find(row_view const& each) {
        if (partition_ == nullptr || partition_->first != each.partition_key) {
            partition_ = &*rows_.find(each.partition_key);
        }
        return partition_->second.find(each.row_key)->second;
    }
    template <class Visit>
    static void for_each_row(any_store const& of, projection select, Visit const& visit) {
        query_entities asked{"businesses", {}, {}, std::move(select), 1000, {}};
        do {
            call context;
            auto page = of.execute(asked, context).value();
            for (row_view const each : page.rows) { visit(each); }
            asked.continuation = std::move(page.continuation);
        } while (asked.continuation);
    }

    any_store from_;
    any_store to_;
    using partition_rows = std::map<std::string, noted, std::less<>>;
    std::map<std::string, partition_rows, std::less<>> rows_;
    std::pair<std::string const, partition_rows> const* partition_{};
};

void moves(measure::peers& all_peers) {
    auto const all = businesses(rows, 20);
    memory_backend const source;
    table<business> const from{source, "businesses"};
    from.create().value();
    bulk_insert(from, all).value().all().value();
    auto const copied = [&]() -> measure::peers::work {
        return [&from, to = opened()] {
            query_entities asked{"businesses", {}, {}, {}, 1000, {}};
            do {
                call own;
                auto page = from.store().execute(asked, own).value();
                transact batch{"businesses", {}};
                auto const flush = [&] {
                    if (batch.changes.empty()) { return; }
                    call each;
                    to.store().execute(batch, each).value();
                    batch.changes.clear();
                };
                for (std::size_t at = 0; at < page.rows.size(); ++at) {
                    row_view const each = page.rows[at];
                    if (!batch.changes.empty() &&
                        (batch.changes.size() == 100 ||
                            batch.changes.front().entity.partition_key() != each.partition_key)) {
                        flush();
                    }
                    batch.changes.push_back(mutation::insert(row{each.partition_key, each.row_key, each.payload}));
                }
                flush();
                asked.continuation = std::move(page.continuation);
            } while (asked.continuation);
        };
    };
    auto const moved = [&]() -> measure::peers::work {
        auto const stores = std::make_shared<std::map<std::string, any_store, std::less<>>>();
        auto const open = [stores](std::string_view name) -> result<any_store> {
            return stores->try_emplace(std::string{name}, memory_backend{}).first->second;
        };
        auto const map = lookup_map::make(memory_backend{}, "shardmap", virtual_shards{1}, {"one"}, open,
            {std::chrono::milliseconds{1}, &system_clock()});
        sharded const cloud{map.value(), open};
        table<business> const into{cloud, "businesses"};
        into.create().value();
        bulk_insert(into, all).value().all().value();
        move_options how;
        how.off_line = true;
        auto plan = std::make_shared<move_plan>(plan_move(cloud, 0, "two", how).value());
        return [plan, cloud] { plan->run().value(); };
    };
    all_peers.row("move off line in memory, with its verification, compared with a copy", 1.79, rows, copied, moved);
    auto const verified = [&]() -> measure::peers::work {
        return [made = std::make_shared<verified_copy>(from.store(), opened().store())] { made->run(); };
    };
    all_peers.row("move off line in memory, compared with a verified copy by hand", 1.25, rows, verified, moved);
    all_peers.row("verified copy by hand in memory, compared with a copy", 1.79, rows, copied, verified);
}

} // namespace

int main(int count, char** arguments) {
    measure::peers all{count, arguments};
    singles(all);
    by_hand(all);
    loads(all);
    tracked(all);
    moves(all);
    memory(all); // last: malloc joins the many blocks that it leaves, in whatever follows
}
