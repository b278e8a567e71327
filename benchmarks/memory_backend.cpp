// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// `table<E>` on memory_backend compared with hand-written code: 16 shards with a std::shared_mutex, each a map of
// partitions of ordered maps that hold the struct, copied out. An argument names one part: memory, reads, writes, threads.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/memory_backend.cpp -o memory_backend -pthread

#include <entitable/memory.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/count_allocations.hpp>
#include <benchmarks/support/measure.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <unordered_map>

namespace {

using measure::business;

class by_hand {
public:
    std::optional<business> get(std::string_view partition, std::string_view row) {
        shard& place = shard_of(partition);
        std::shared_lock const lock{place.mutex};
        auto const rows = place.partitions.find(partition);
        if (rows == place.partitions.end()) { return std::nullopt; }
        auto const at = rows->second.find(row);
        return at == rows->second.end() ? std::nullopt : std::optional{at->second->entity};
    }
    /// Creates the Timestamp, which is also the ETag, and returns it.
    entitable::etag put(business const& entity) {
        auto made = std::make_shared<held>(held{entity, entitable::system_clock().now()});
        auto const version = made->timestamp;
        shard& place = shard_of(entity.region);
        std::unique_lock lock{place.mutex};
        auto rows = place.partitions.find(entity.region);
        if (rows == place.partitions.end()) { rows = place.partitions.emplace(entity.region, row_map{}).first; }
        auto const at = rows->second.lower_bound(entity.id);
        if (at != rows->second.end() && at->first == entity.id) {
            at->second.swap(made); // the old one is freed after unlocking
        } else {
            rows->second.emplace_hint(at, entity.id, std::move(made));
        }
        lock.unlock();
        return entitable::etag::of(version);
    }
    /// Up to `size` entities of a partition, from `row` on. The lock is released when the caller sees them.
    void page(std::string_view partition, std::string_view row, std::size_t size, std::vector<business>& out) {
        shard& place = shard_of(partition);
        std::shared_lock const lock{place.mutex};
        auto const rows = place.partitions.find(partition);
        out.clear();
        if (rows != place.partitions.end()) {
            for (auto at = rows->second.lower_bound(row); at != rows->second.end() && out.size() < size; ++at) {
                out.push_back(at->second->entity);
            }
        }
    }

private:
    struct held {
        business entity;
        entitable::date_time timestamp;
    };
    using row_map = std::map<std::string, std::shared_ptr<held>, std::less<>>;
    struct hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    struct alignas(64) shard {
        std::shared_mutex mutex;
        std::unordered_map<std::string, row_map, hash, std::equal_to<>> partitions;
    };
    shard& shard_of(std::string_view partition) { return shards_[hash{}(partition) >> 60U]; }
    std::array<shard, 16> shards_;
};

using table = entitable::table<business>;

/// Entities in memory, and the order in which they are read.
struct workload {
    std::vector<business> entities;
    std::vector<std::size_t> order; ///< all indices, shuffled
    std::size_t rows_each;

    workload(std::size_t partitions, std::size_t rows) : rows_each(rows) {
        for (std::size_t index = 0; index < partitions * rows; ++index) {
            entities.push_back(measure::make_business(index, rows));
        }
        order.resize(entities.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), std::mt19937_64{1});
    }
    [[nodiscard]] std::size_t size() const { return entities.size(); }
};

std::unique_ptr<by_hand> filled_by_hand(workload const& all) {
    auto store = std::make_unique<by_hand>();
    for (std::size_t const at : all.order) { (void)store->put(all.entities[at]); }
    return store;
}

table filled(workload const& all) {
    table made{entitable::memory_backend{}, "businesses"};
    made.create().value();
    for (std::size_t const at : all.order) { made.insert(all.entities[at]).value(); }
    return made;
}

std::uint64_t checksum = 0; ///< so that nothing is optimised away

double read_all(by_hand& store, workload const& all, std::size_t count) {
    return measure::timed(count, [&] {
        for (std::size_t done = 0; done < count; ++done) {
            business const& wanted = all.entities[all.order[done % all.size()]];
            auto const found = store.get(wanted.region, wanted.id);
            checksum += found ? found->name.size() : 0;
        }
    });
}

double read_all(table const& store, workload const& all, std::size_t count) {
    return measure::timed(count, [&] {
        for (std::size_t done = 0; done < count; ++done) {
            business const& wanted = all.entities[all.order[done % all.size()]];
            auto const found = store.get(wanted.region, wanted.id);
            checksum += found ? found->name.size() : 0;
        }
    });
}

template <class Work>
void print_allocations(char const* name, std::size_t operations, Work const& work) {
    std::uint64_t const before = measure::allocations;
    work();
    std::printf("    %-42s %.2f allocations\n", name,
        static_cast<double>(measure::allocations - before) / static_cast<double>(operations));
}

// ---- one thread -------------------------------------------------------------------------------------

void point_reads() {
    for (std::size_t const rows : {100U, 10'000U, 100'000U}) {
        workload const all{100, rows / 100};
        auto const hand = filled_by_hand(all);
        auto const ours = filled(all);
        std::string const name = "point read, " + std::to_string(rows) + " rows, 100 partitions";
        measure::compare(
            name.c_str(), rows == 100 ? 2.0 : 1.3, 15, [&] { return read_all(*hand, all, 100'000); },
            [&] { return read_all(ours, all, 100'000); });
        print_allocations("by hand", 10'000, [&] { (void)read_all(*hand, all, 10'000); });
        print_allocations("ours", 10'000, [&] { (void)read_all(ours, all, 10'000); });
    }
    workload const many{1'000, 100};
    workload const one{1, 100'000};
    auto const hand_many = filled_by_hand(many);
    auto const hand_one = filled_by_hand(one);
    auto const ours_many = filled(many);
    auto const ours_one = filled(one);
    std::printf("%-46s %8s %8s   ratio\n", "", "1,000x100", "1x100,000");
    measure::compare(
        "ours, 1 x 100,000 beside 1,000 x 100", 1.5, 15, [&] { return read_all(ours_many, many, 100'000); },
        [&] { return read_all(ours_one, one, 100'000); });
    measure::compare(
        "  the same by hand", 1.5, 15, [&] { return read_all(*hand_many, many, 100'000); },
        [&] { return read_all(*hand_one, one, 100'000); });
    measure::heading();
}

void inserts_and_scans() {
    workload const all{100, 1'000};
    std::unique_ptr<by_hand> hand;
    std::optional<table> ours;
    auto const fill_by_hand = [&] {
        hand.reset();
        return measure::timed(all.size(), [&] { hand = filled_by_hand(all); });
    };
    auto const fill = [&] {
        ours.reset();
        return measure::timed(all.size(), [&] { ours = filled(all); });
    };
    measure::compare("insert 100,000, random order", 1.3, 9, fill_by_hand, fill);
    print_allocations("by hand", all.size(), fill_by_hand);
    print_allocations("ours", all.size(), fill);
    measure::compare(
        "replace", 1.3, 9,
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t const at : all.order) {
                    checksum += static_cast<std::uint64_t>(hand->put(all.entities[at]).empty());
                }
            });
        },
        [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t const at : all.order) {
                    checksum += static_cast<std::uint64_t>(
                        ours->replace(all.entities[at], entitable::any_etag).value().etag.empty());
                }
            });
        });
    for (std::uint32_t const size : {1'000U, 100U}) {
        std::vector<business> page;
        std::string const name = "scan in pages of " + std::to_string(size);
        auto const scan_by_hand = [&] {
            return measure::timed(all.size(), [&] {
                for (std::size_t at = 0; at < all.size(); at += size) {
                    hand->page(all.entities[at].region, all.entities[at].id, size, page);
                    for (business const& each : page) { checksum += each.name.size(); }
                }
            });
        };
        auto const scan = [&] {
            return measure::timed(all.size(), [&] {
                using b = entitable::fields<business>;
                for (std::size_t at = 0; at < all.size(); at += all.rows_each) {
                    for (auto const& each : ours->where(b::region == all.entities[at].region).page_size(size)) {
                        checksum += each.name.size();
                    }
                }
            });
        };
        measure::compare(name.c_str(), 1.0, 15, scan_by_hand, scan);
        print_allocations("by hand", all.size(), scan_by_hand);
        print_allocations("ours", all.size(), scan);
    }
}

void memory() {
    struct shape {
        std::size_t partitions, rows;
    };
    for (auto const [partitions, rows] : {shape{100, 1'000}, shape{1, 100'000}, shape{1'000, 100}, shape{100'000, 1}}) {
        workload const all{partitions, rows};
        std::size_t needed = 0; // an encoded entity and its keys
        for (business const& each : all.entities) {
            auto const row = entitable::to_row(each).value();
            needed += row.payload().size() + row.partition_key().size() + row.row_key().size();
        }
        malloc_trim(0);
        std::size_t const before = measure::allocated_bytes();
        auto const ours = filled(all);
        std::size_t const used = measure::allocated_bytes() - before;
        double const ratio = static_cast<double>(used) / static_cast<double>(needed);
        std::printf("memory, %6zu x %6zu rows: %4zu bytes an entity, %.2f of keys and encoded bytes   limit 1.50%s\n",
            partitions, rows, used / all.size(), ratio, ratio <= 1.5 ? "" : "  MISSED");
    }
}

// ---- two threads ------------------------------------------------------------------------------------

void two_threads(char const* name, workload const& all, double limit, std::uint64_t writes_of_100) {
    auto const ours = filled(all);
    auto const hand = filled_by_hand(all);
    measure::two_threads(
        name, limit,
        [&](std::size_t, std::mt19937_64& random) {
            business const& wanted = all.entities[random() % all.size()];
            if (random() % 100 < writes_of_100) {
                (void)hand->put(wanted);
            } else {
                (void)hand->get(wanted.region, wanted.id);
            }
        },
        [&](std::size_t, std::mt19937_64& random) {
            business const& wanted = all.entities[random() % all.size()];
            if (random() % 100 < writes_of_100) {
                ours.replace(wanted, entitable::any_etag).value();
            } else {
                (void)ours.get(wanted.region, wanted.id).value();
            }
        });
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
        workload const spread{100, 1'000};
        workload const one{1, 100'000};
        two_threads("two threads, 100 partitions, reads", spread, 1.8, 0);
        two_threads("two threads, 100 partitions, 90 / 10", spread, 1.6, 10);
        two_threads("two threads, 100 partitions, updates", spread, 1.2, 100);
        two_threads("two threads, one partition, reads", one, 1.0, 0);
        two_threads("two threads, one partition, 90 / 10", one, 1.0, 10);
        two_threads("two threads, one partition, updates", one, 1.0, 100);
    }
    return checksum == 1 ? 1 : 0;
}
