// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tasks in a loop. 5,000 point reads with 500 in flight, each answered after 200 ms: bare libcurl (one multi handle), then coroutines over
// `azure_backend`, which sign and decode. CPU time of an awaited read compared with a blocking one. `co_await` on memory compared with the
// blocking call. The memory of 100,000 tasks that wait for an answer. The servers are other processes; interleaved rounds, medians.
//   g++ -std=c++20 -O3 -I . -I include -I tests benchmarks/async.cpp -o async -lcurl -lssl -lcrypto -lsimdjson
//
// With `blocking N` or `awaited N` it only reads N times from memory: for callgrind, as the difference of two N. With `parked N` or `stacks N` it
// parks N tasks, or N stacks of their own, and prints the peak of its memory.

#include <entitable/async.hpp>
#include <entitable/memory.hpp>

#include <benchmarks/support/bare_curl.hpp>
#include <benchmarks/support/loopback_server.hpp>
#include <benchmarks/support/measure.hpp>
#include <benchmarks/support/point_reads.hpp>
#include <malloc.h>
#include <sys/resource.h>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

using measure::reads;
using measure::silent;
constexpr std::size_t in_flight = 500;

task<std::size_t> on_memory(async_table<book> books, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t each = 0; each < count; ++each) { found += (co_await books.get("a", "b")) ? 1U : 0U; }
    co_return found;
}

/// A read on a stack of its own.
struct reading_code {
    table<book> from;

    result<void> operator()() const {
        auto found = from.get("a", "b");
        return found ? result<void>{} : std::move(found).as_failure();
    }
};

/// The bytes that a task uses while it waits for the answer to a point read.
double parked_bytes(std::size_t count, std::size_t limit, bool on_stacks = false) {
    event_loop loop{{.in_flight = limit}};
    any_store const store = silent{};
    async_table<book> const books{loop, store, "Reads"};
    reading_code const work{{loop_transport{loop, store}, "Reads"}};
    auto const used = [] {
        auto const now = mallinfo2();
        return static_cast<double>(now.uordblks + now.hblkhd);
    };
    double const before = used();
    for (std::size_t each = 0; each < count; ++each) {
        loop.spawn(on_stacks ? on_own_stack(loop, work) : measure::read_one(books, "a", "b"));
    }
    while (loop.wakes_at() == steady_time::min()) { (void)loop.turn(); }
    return (used() - before) / static_cast<double>(count);
}

void line(char const* name, double ours, char const* unit, double ratio, double limit) {
    std::printf(
        "%-58s %8.1f %-9s %5.2f   limit %.2f%s\n", name, ours, unit, ratio, limit, ratio <= limit ? "" : " MISSED");
}

/// One entity.
memory_backend one_read() {
    memory_backend store;
    table<book> const plain{store, "Reads"};
    plain.create().value();
    plain.insert({"a", "b", "a name", 1, 2.5}).value();
    return store;
}
int only(std::string_view what, std::size_t count) {
    if (what == "parked" || what == "stacks") {
        auto const peak = [] {
            rusage used{};
            (void)getrusage(RUSAGE_SELF, &used);
            return static_cast<double>(used.ru_maxrss) / 1024;
        };
        double const before = peak();
        (void)parked_bytes(count, count, what == "stacks");
        std::printf(
            "%zu %s: peak %.1f MiB, %.1f MiB before\n", count, what == "parked" ? "tasks" : "stacks", peak(), before);
        return 0;
    }
    memory_backend const store = one_read();
    table<book> const plain{store, "Reads"};
    event_loop loop;
    std::size_t found = 0;
    if (what == "awaited") {
        found = loop.run(on_memory(async_table<book>{loop, store, "Reads"}, count));
    } else {
        for (std::size_t each = 0; each < count; ++each) { found += plain.get("a", "b") ? 1U : 0U; }
    }
    return found == count ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3) { return only(argv[1], static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10))); }
    std::string const answer = measure::point_read_response();
    measure::loopback_server const late{answer, nullptr, {200ms, 0, {}}};
    measure::loopback_server const quick{answer, nullptr};
    curl_global_init(CURL_GLOBAL_DEFAULT);
    any_store const far = measure::backend_of(late);
    table<book> const blocking{measure::backend_of(quick), "Reads"};
    measure::bare_curl yardstick{{late.origin(), late.origin()}, reads, in_flight};

    std::vector<double> elapsed[2]; // ms
    std::vector<double> cpu[3];     // us a read
    auto const timed = [](std::vector<double>* times, std::vector<double>& of_cpu, std::size_t count,
                           auto const& work) {
        auto const begin = std::chrono::steady_clock::now();
        of_cpu.push_back(measure::timed(count, work) / 1e3);
        if (times != nullptr) {
            times->push_back(
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        }
    };
    for (int round = 0; round < 6; ++round) {
        timed(&elapsed[0], cpu[0], reads, [&] { yardstick.run(); });
        timed(&elapsed[1], cpu[1], reads, [&] { measure::read_in_a_loop(far, in_flight); });
        timed(nullptr, cpu[2], 500, [&] {
            for (int each = 0; each < 500; ++each) { blocking.get("a", "b").value(); }
        });
        if (round == 0) { // warm
            for (auto* const each : {&elapsed[0], &elapsed[1], &cpu[0], &cpu[1], &cpu[2]}) { each->clear(); }
        }
    }
    double const ours = measure::median(elapsed[1]);
    double const ours_cpu = measure::median(cpu[1]);
    std::printf("%-58s %8s %-9s ratio\n", "", "ours", "");
    line("5,000 reads, 500 under way, 200 ms: elapsed over libcurl", ours, "ms", ours / measure::median(elapsed[0]),
        1.15);
    line("the same: CPU over libcurl", ours_cpu, "us/read", ours_cpu / measure::median(cpu[0]), 1.15);
    line("CPU of a read over the blocking call's", ours_cpu, "us/read", ours_cpu / measure::median(cpu[2]), 0.6);

    memory_backend const near = one_read();
    table<book> const plain{near, "Reads"};
    std::vector<double> of_memory[2];
    constexpr std::size_t count = 100'000;
    event_loop loop;
    async_table<book> const books{loop, near, "Reads"};
    for (int round = 0; round < 11; ++round) {
        of_memory[0].push_back(measure::timed(count, [&] {
            for (std::size_t each = 0; each < count; ++each) { (void)plain.get("a", "b").value(); }
        }));
        of_memory[1].push_back(measure::timed(count, [&] { (void)loop.run(on_memory(books, count)); }));
    }
    double const awaited = measure::median(of_memory[1]);
    line("co_await on memory over the blocking call", awaited, "ns", awaited / measure::median(of_memory[0]), 1.5);

    double const sent = parked_bytes(100'000, 100'000);
    line("a parked task, its request under way (over 1,024 bytes)", sent, "bytes", sent / 1024, 1);
    double const queued = parked_bytes(100'000, 1);
    line("a parked task that waits for its turn (over 1,024 bytes)", queued, "bytes", queued / 1024, 1);
}
