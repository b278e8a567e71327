// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A bulk load compared with loops by hand: one that knows the partitions, which follow one another, and one with a batch for each, as rows
// of 100 partitions alternate. In memory (CPU time), and in a file in memory (wall time, without fsync, so that nothing hides the cost of
// the load). Then an endless input into a transport that counts its rows: measures the allocations.
//   g++ -std=c++20 -O3 -I . -I include -I tests benchmarks/bulk.cpp -o bulk -lsqlite3
//   ./bulk [rows into the counting transport, 2000000]

#include <entitable/azure.hpp>
#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/measure.hpp>
#include <support/child_process.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <thread>

using namespace entitable;
using measure::business;

namespace {

constexpr std::size_t rows = 100'000;
constexpr std::size_t partitions = 100;

/// All rows of a partition, then of the next one; or rows of all partitions in turn.
std::vector<business> made(bool in_turn) {
    std::vector<business> all;
    for (std::size_t index = 0; index < rows; ++index) {
        std::size_t const at = in_turn ? index % partitions * (rows / partitions) + index / partitions : index;
        all.push_back(measure::make_business(at, rows / partitions));
    }
    return all;
}

void known(table<business> const& into, std::vector<business> const& all) {
    for (std::size_t at = 0; at < all.size(); at += 100) {
        auto batch = into.batch();
        for (std::size_t index = at; index < at + 100; ++index) { batch.insert(all[index]); }
        batch.submit().value();
    }
}

/// Many threads, each with the batches of some partitions.
void known_by_threads(table<business> const& into, std::vector<business> const& all) {
    constexpr std::size_t threads = 32;
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> running;
    for (std::size_t number = 0; number < threads; ++number) {
        running.emplace_back([&] {
            for (std::size_t at = next.fetch_add(100); at < all.size(); at = next.fetch_add(100)) {
                auto batch = into.batch();
                for (std::size_t index = at; index < at + 100; ++index) { batch.insert(all[index]); }
                batch.submit().value();
            }
        });
    }
    for (std::thread& each : running) { each.join(); }
}

void sorted_out(table<business> const& into, std::vector<business> const& all) {
    std::map<std::string, batch<business>> batches;
    for (business const& each : all) {
        auto& batch = batches.try_emplace(each.region, into.batch()).first->second;
        batch.insert(each);
        if (batch.size() == 100) {
            batch.submit().value();
            batch.clear();
        }
    }
}

void loaded(table<business> const& into, std::vector<business> const& all, bulk_options const& options = {}) {
    bulk_insert(into, all, options).value().all().value();
}

/// Accepts rows and stores none.
struct counting {
    using is_transport = void;
    std::uint64_t* count;
    [[nodiscard]] entitable::profile profile() const { return {}; }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call&) const {
        if constexpr (std::same_as<Request, transact>) {
            *count += request.changes.size();
            return transact::response{std::vector<written>(request.changes.size())};
        } else if constexpr (std::same_as<Request, write_entity>) {
            ++*count;
            return written{};
        } else {
            return failure{error_code::not_supported, "it only counts"};
        }
    }
};

struct endless {
    struct iterator {
        using iterator_concept = std::input_iterator_tag;
        using value_type = business;
        using difference_type = std::ptrdiff_t;
        business operator*() const { return measure::make_business(at, 1'000); }
        iterator& operator++() {
            ++at;
            return *this;
        }
        void operator++(int) { ++at; }
        friend bool operator==(iterator const& left, iterator const& right) { return left.at == right.at; }
        std::size_t at{};
    };
    [[nodiscard]] iterator begin() const { return {0}; }
    [[nodiscard]] iterator end() const { return {count}; }
    std::size_t count;
};

/// CPU ns per row, or wall ns.
template <class Backend, class Work>
double one(bool wall, Backend const& store, Work const& work) {
    table<business> const into{store, "businesses"};
    into.drop_if_present().value();
    into.create().value();
    auto const begin = std::chrono::steady_clock::now();
    double const cpu = measure::timed(rows, [&] { work(into); });
    std::chrono::duration<double, std::nano> const time = std::chrono::steady_clock::now() - begin;
    return wall ? time.count() / static_cast<double>(rows) : cpu;
}

} // namespace

int main(int argc, char** argv) {
    measure::heading();
    constexpr double limit = 1 / 0.85;
    auto const in_order = made(false);
    auto const in_turn = made(true);
    constexpr std::size_t rounds = 11;
    auto const memory = [](auto const& work) { return [&work] { return one(false, memory_backend{}, work); }; };
    auto const by_order = [&](table<business> const& into) { known(into, in_order); };
    auto const ours_by_order = [&](table<business> const& into) { loaded(into, in_order); };
    auto const by_turn = [&](table<business> const& into) { sorted_out(into, in_turn); };
    auto const ours_by_turn = [&](table<business> const& into) { loaded(into, in_turn); };
    measure::compare("memory, one partition after the other", limit, rounds, memory(by_order), memory(ours_by_order));
    measure::compare("memory, partitions in turn", limit, rounds, memory(by_turn), memory(ours_by_turn));

    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    file_options relaxed;
    relaxed.durability = durability::relaxed;
    file_backend const store{folder / "bulk.db", relaxed};
    auto const file = [&](auto const& work) { return [&] { return one(true, store, work); }; };
    auto const with_checkpoint = [&](table<business> const& into) {
        bulk_options options;
        options.checkpoint = file_checkpoint{folder / "bulk.checkpoint"};
        loaded(into, in_turn, options);
    };
    measure::compare("file, one partition after the other", limit, rounds, file(by_order), file(ours_by_order));
    measure::compare("file, partitions in turn", limit, rounds, file(by_turn), file(ours_by_turn));
    measure::compare(
        "file, partitions in turn, with a checkpoint", limit, rounds, file(by_turn), file(with_checkpoint));

    entitable_test::shared_memory<std::atomic<std::uint16_t>> const port;
    entitable_test::child_process const server{[&] {
        listener_options options;
        options.port = 0;
        http_listener listener{table_server{memory_backend{}}, options};
        if (!listener.listen()) { return false; }
        *port = listener.port();
        return listener.run().has_value();
    }};
    while (*port == 0) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    served_account const account = served_account::development();
    azure_backend const service{text::joined({"DefaultEndpointsProtocol=http;AccountName=", account.name,
        ";AccountKey=", account.key, ";TableEndpoint=http://127.0.0.1:", std::to_string(*port), "/", account.name})};
    auto const rest = [&](auto const& work) { return [&] { return one(true, service, work); }; };
    auto const by_threads = [&](table<business> const& into) { known_by_threads(into, in_order); };
    measure::compare("REST, against one batch at a time", limit, 5, rest(by_order), rest(ours_by_order));
    measure::compare("REST, against 32 threads", limit, 5, rest(by_threads), rest(ours_by_order));

    std::size_t const many = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
    std::uint64_t counted = 0;
    std::size_t most = 0;
    std::size_t early = 0; // when a tenth is loaded
    bulk_options options;
    options.watch_every = std::chrono::milliseconds{20};
    options.checkpoint = file_checkpoint{folder / "count.checkpoint"};
    options.watch = [&](bulk_progress const& now) {
        std::size_t const allocated = measure::allocated_bytes();
        most = std::max(most, allocated);
        early = now.written <= many / 10 ? std::max(early, allocated) : early;
    };
    auto const begin = std::chrono::steady_clock::now();
    auto const report = bulk_insert(table<business>{counting{&counted}, "businesses"}, endless{many}, options).value();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    std::printf("%zu rows into a transport that counts: %llu counted, %.0f ns a row; allocated at most %.1f MB, in the "
                "first tenth %.1f MB\n",
        many, static_cast<unsigned long long>(counted), took.count() * 1e9 / static_cast<double>(many),
        static_cast<double>(most) / 1e6, static_cast<double>(early) / 1e6);
    return report.written == many ? 0 : 1;
}
