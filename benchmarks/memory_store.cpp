// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// memory_store compared with hand-written code: 16 shards with a std::shared_mutex, each an unordered map of partitions
// of ordered maps. Rows of 300 bytes, copied out. All contenders do the same work in alternating rounds. The results are
// medians, and medians of the ratios per round, in CPU time of the process except with two threads. An argument names one
// part: memory, reads, writes, threads.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/memory_store.cpp -o memory_store -pthread

#include <entitable/local/memory/memory_store.hpp>

#include <benchmarks/support/measure.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace {

using entitable::lookup;
using entitable::memory_store;

class by_hand {
public:
    bool get(std::string_view partition, std::string_view row, std::string& out) {
        shard& place = shard_of(partition);
        std::shared_lock const lock{place.mutex};
        auto const rows = place.partitions.find(partition);
        if (rows == place.partitions.end()) { return false; }
        auto const at = rows->second.find(row);
        if (at == rows->second.end()) { return false; }
        out = at->second;
        return true;
    }
    void put(std::string_view partition, std::string_view row, std::string bytes) {
        shard& place = shard_of(partition);
        std::unique_lock lock{place.mutex};
        auto rows = place.partitions.find(partition);
        if (rows == place.partitions.end()) {
            rows = place.partitions.emplace(partition, std::map<std::string, std::string, std::less<>>{}).first;
        }
        auto const at = rows->second.lower_bound(row);
        if (at != rows->second.end() && at->first == row) {
            at->second.swap(bytes); // the old one is freed after unlocking
        } else {
            rows->second.emplace_hint(at, row, std::move(bytes));
        }
        lock.unlock();
    }
    /// Visits up to `limit` rows of a partition, from `row` on.
    template <class Visit>
    void page(std::string_view partition, std::string_view row, std::size_t limit, Visit const& visit) {
        shard& place = shard_of(partition);
        std::shared_lock const lock{place.mutex};
        auto const rows = place.partitions.find(partition);
        if (rows != place.partitions.end()) {
            for (auto at = rows->second.lower_bound(row); at != rows->second.end() && limit > 0; ++at, --limit) {
                visit(at->first, at->second);
            }
        }
    }

private:
    struct hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    struct alignas(64) shard {
        std::shared_mutex mutex;
        std::unordered_map<std::string, std::map<std::string, std::string, std::less<>>, hash, std::equal_to<>>
            partitions;
    };
    shard& shard_of(std::string_view partition) { return shards_[hash{}(partition) >> 60U]; }
    std::array<shard, 16> shards_;
};

struct keys {
    std::vector<std::string> partition;
    std::vector<std::string> row;
    std::vector<std::size_t> order; ///< a shuffle of all rows

    keys(std::size_t partitions, std::size_t rows_each) {
        char text[32];
        for (std::size_t p = 0; p < partitions; ++p) {
            for (std::size_t r = 0; r < rows_each; ++r) {
                std::snprintf(text, sizeof text, "partition%04zu", p);
                partition.emplace_back(text);
                std::snprintf(text, sizeof text, "event%010zu__", r * 7);
                row.emplace_back(text);
            }
        }
        order.resize(row.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), std::mt19937_64{1});
    }
    [[nodiscard]] std::size_t size() const { return row.size(); }
    [[nodiscard]] std::size_t bytes() const { return size() * (partition[0].size() + row[0].size() + 300); }
};

std::string const bytes_of_row(300, 'v');

template <class Store>
std::unique_ptr<Store> filled(keys const& all) {
    auto store = std::make_unique<Store>();
    if constexpr (std::is_same_v<Store, memory_store>) {
        (void)store->create_table("registrations", "registrations");
        for (std::size_t const at : all.order) {
            (void)store->update("registrations", all.partition[at], [&](memory_store::transaction& rows) {
                rows.put(all.row[at], bytes_of_row);
                return true;
            });
        }
    } else {
        for (std::size_t const at : all.order) { store->put(all.partition[at], all.row[at], bytes_of_row); }
    }
    return store;
}

std::uint64_t checksum = 0; ///< so that nothing is optimised away

double read_all(by_hand& store, keys const& all, std::size_t count) {
    std::string out;
    return measure::timed(count, [&] {
        for (std::size_t done = 0; done < count; ++done) {
            std::size_t const at = all.order[done % all.size()];
            checksum += store.get(all.partition[at], all.row[at], out) ? out.size() : 0;
        }
    });
}

bool read_one(memory_store& store, std::string_view partition, std::string_view row, std::string& out) {
    return *store.get("registrations", partition, row, [&](std::string_view bytes) { out.assign(bytes); }) ==
        lookup::found;
}

double read_all(memory_store& store, keys const& all, std::size_t count) {
    std::string out;
    return measure::timed(count, [&] {
        for (std::size_t done = 0; done < count; ++done) {
            std::size_t const at = all.order[done % all.size()];
            checksum += read_one(store, all.partition[at], all.row[at], out) ? out.size() : 0;
        }
    });
}

void write_one(memory_store& store, std::string_view partition, std::string_view row) {
    (void)store.update("registrations", partition, [&](memory_store::transaction& rows) {
        rows.put(row, bytes_of_row);
        return true;
    });
}

// ---- one thread -------------------------------------------------------------------------------------

void point_reads() {
    for (std::size_t const rows : {100U, 10'000U, 100'000U}) {
        keys const all{100, rows / 100};
        auto const hand = filled<by_hand>(all);
        auto const ours = filled<memory_store>(all);
        std::string const name = "point read, " + std::to_string(rows) + " rows, 100 partitions";
        measure::compare(
            name.c_str(), rows == 100 ? 2.0 : 1.3, 15, [&] { return read_all(*hand, all, 100'000); },
            [&] { return read_all(*ours, all, 100'000); });
    }
    keys const many{1'000, 100};
    keys const one{1, 100'000};
    auto const hand_many = filled<by_hand>(many);
    auto const hand_one = filled<by_hand>(one);
    auto const many_store = filled<memory_store>(many);
    auto const one_store = filled<memory_store>(one);
    measure::compare(
        "1 x 100,000 beside 1,000 x 100", 1.5, 15, [&] { return read_all(*many_store, many, 100'000); },
        [&] { return read_all(*one_store, one, 100'000); });
    measure::compare(
        "  the same by hand", 1.5, 15, [&] { return read_all(*hand_many, many, 100'000); },
        [&] { return read_all(*hand_one, one, 100'000); });
}

void inserts_and_scans() {
    keys const all{100, 1'000};
    std::unique_ptr<by_hand> hand;
    std::unique_ptr<memory_store> ours;
    measure::compare(
        "insert 100,000, random order", 1.3, 9,
        [&] {
            hand.reset();
            return measure::timed(all.size(), [&] { hand = filled<by_hand>(all); });
        },
        [&] {
            ours.reset();
            return measure::timed(all.size(), [&] { ours = filled<memory_store>(all); });
        });
    measure::compare(
        "replace", 1.3, 9,
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t const at : all.order) { hand->put(all.partition[at], all.row[at], bytes_of_row); }
            });
        },
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t const at : all.order) { write_one(*ours, all.partition[at], all.row[at]); }
            });
        });
    std::vector<std::string> page(1'000);
    measure::compare(
        "scan in pages of 1,000, bytes copied", 1.0, 15,
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t at = 0; at < all.size(); at += 1'000) {
                    std::size_t count = 0;
                    hand->page(all.partition[at], "", 1'000,
                        [&](std::string const&, std::string const& bytes) { page[count++] = bytes; });
                    checksum += count;
                }
            });
        },
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t at = 0; at < all.size(); at += 1'000) {
                    std::size_t count = 0;
                    (void)ours->scan("registrations", {all.partition[at], "", all.partition[at]},
                        [&](std::string_view, std::string_view, std::string_view bytes) {
                            page[count++].assign(bytes);
                            return count < 1'000;
                        });
                    checksum += count;
                }
            });
        });
    measure::compare(
        "the same in pages of 100", 1.0, 15,
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t at = 0; at < all.size(); at += 100) {
                    std::size_t count = 0;
                    hand->page(all.partition[at], all.row[at], 100,
                        [&](std::string const&, std::string const& bytes) { page[count++] = bytes; });
                    checksum += count;
                }
            });
        },
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t at = 0; at < all.size(); at += 100) {
                    std::size_t count = 0;
                    (void)ours->scan("registrations", {all.partition[at], all.row[at], all.partition[at]},
                        [&](std::string_view, std::string_view, std::string_view bytes) {
                            page[count++].assign(bytes);
                            return count < 100;
                        });
                    checksum += count;
                }
            });
        });
}

void memory() {
    struct shape {
        std::size_t partitions, rows;
    };
    for (auto const [partitions, rows] : {shape{100, 1'000}, shape{1, 100'000}, shape{1'000, 100}, shape{100'000, 1}}) {
        keys const all{partitions, rows};
        malloc_trim(0);
        std::size_t const before = measure::allocated_bytes();
        auto const ours = filled<memory_store>(all);
        std::size_t const used = measure::allocated_bytes() - before;
        double const ratio = static_cast<double>(used) / static_cast<double>(all.bytes());
        std::printf("memory, %6zu x %6zu rows: %4zu bytes a row, %.2f of keys and bytes   limit 1.50%s\n", partitions,
            rows, used / all.size(), ratio, ratio <= 1.5 ? "" : "  MISSED");
    }
}

// ---- two threads ------------------------------------------------------------------------------------

void two_threads(char const* name, keys const& all, double limit, int writes_of_100) {
    auto const ours = filled<memory_store>(all);
    auto const hand = filled<by_hand>(all);
    std::array<std::string, 2> out;
    auto const on_ours = [&](std::size_t thread, std::mt19937_64& random) {
        std::size_t const at = random() % all.size();
        if (static_cast<int>(random() % 100) < writes_of_100) {
            write_one(*ours, all.partition[at], all.row[at]);
        } else {
            (void)read_one(*ours, all.partition[at], all.row[at], out[thread]);
        }
    };
    auto const on_hand = [&](std::size_t thread, std::mt19937_64& random) {
        std::size_t const at = random() % all.size();
        if (static_cast<int>(random() % 100) < writes_of_100) {
            hand->put(all.partition[at], all.row[at], bytes_of_row);
        } else {
            (void)hand->get(all.partition[at], all.row[at], out[thread]);
        }
    };
    measure::two_threads(name, limit, on_hand, on_ours);
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const part = argc > 1 ? argv[1] : "all";
    auto const wanted = [&](std::string_view name) { return part == "all" || part == name; };
    if (wanted("memory")) { memory(); }
    measure::heading();
    if (wanted("reads")) { point_reads(); }
    if (wanted("writes")) { inserts_and_scans(); }
    if (wanted("threads")) {
        keys const spread{100, 1'000};
        keys const one{1, 100'000};
        keys const small{1, 100};
        two_threads("two threads, 100 partitions, reads", spread, 1.8, 0);
        two_threads("two threads, 100 partitions, 90 / 10", spread, 1.6, 10);
        two_threads("two threads, 100 partitions, updates", spread, 1.2, 100);
        two_threads("two threads, one partition, reads", one, 1.0, 0);
        two_threads("two threads, one partition, 90 / 10", one, 1.0, 10);
        two_threads("two threads, one partition, updates", one, 1.0, 100);
        two_threads("two threads, 100 rows in one, 90 / 10", small, 0, 10); // only the lock: no goal
    }
    return checksum == 1 ? 1 : 0;
}
