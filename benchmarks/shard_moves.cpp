// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A virtual shard of 10,000 rows in 100 partitions moves from store to store while two threads write to it; in memory, from file to file, and
// from server to server through the protocol, in one process. Measures the pauses of writes and reads without the waits for leases, and compares
// the copying with a bare copy of the same rows into a table of the same kind of store, in batches of 100, in turns: in wall time, and in CPU
// time of the copying thread. The writers run only during the move. Medians of rounds.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/shard_moves.cpp -o shard_moves -lsqlite3 -lssl -lcrypto -lsimdjson -pthread

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/server.hpp>
#include <entitable/shards.hpp>

#include <support/temporary_folder.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <map>
#include <thread>

using namespace entitable;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 5)), properties(text))

constexpr int rows = 10'000;
constexpr auto short_lease = std::chrono::milliseconds{500};

double milliseconds(std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>{time}.count(); }
double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

/// The duration of something.
struct taken {
    std::chrono::steady_clock::time_point begun{std::chrono::steady_clock::now()};
    double processor{processor_time()};

    [[nodiscard]] static double processor_time() {
        timespec read{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &read);
        return static_cast<double>(read.tv_sec) * 1e3 + static_cast<double>(read.tv_nsec) / 1e6;
    }
    void note(std::vector<double>& by_clock, std::vector<double>& by_processor) const {
        by_clock.push_back(milliseconds(std::chrono::steady_clock::now() - begun));
        by_processor.push_back(processor_time() - processor);
    }
};

/// Copies the table in the simplest way: pages of 1,000 rows, batches of 100.
void bare_copy(any_store const& from, std::string const& source, any_store const& to, std::string const& target,
    std::vector<double>& by_clock, std::vector<double>& by_processor) {
    call context;
    to.execute(create_table{target}, context).value();
    taken const time;
    query_entities asked{source, {}, {}, {}, 1000, {}};
    do {
        auto found = from.execute(asked, context).value();
        batch_packer packer{target, to.profile()};
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            packer.add(mutation::insert(row{found.rows[index]})).value();
        }
        while (auto batch = packer.take()) { to.execute(*batch, context).value(); }
        asked.continuation = std::move(found.continuation);
    } while (asked.continuation);
    time.note(by_clock, by_processor);
    to.execute(delete_table{target}, context).value();
}

void measure(char const* name, store_opener const& open) {
    lookup_map_options brief;
    brief.lease = short_lease;
    auto const map = lookup_map::make(memory_backend{}, "shardmap", virtual_shards{1}, {"a"}, open, brief).value();
    sharded const cloud{map, open};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < rows; number += 100) {
        auto batch = items.batch();
        for (int each = number; each < number + 100; ++each) {
            batch.insert({"g" + std::to_string(number / 100), each, std::string(900, 'x')});
        }
        batch.submit().value();
    }
    std::vector<double> writes, reads, waits, copying, copying_processor, bare, bare_processor;
    for (int round = 0; round < 7; ++round) {
        std::string const from = round % 2 == 0 ? "a" : "b";
        std::string const to = round % 2 == 0 ? "b" : "a";
        {
            auto const now = map.state().fresh({}).value();
            auto const& place = now->places[0];
            bare_copy(open(from).value(),
                detail::shard_table_name("items", 0, (std::max)(place.row.epoch, now->tables[0].epoch)),
                open(to).value(), "bare" + std::to_string(round), bare, bare_processor);
        }
        std::atomic<bool> stop{false};
        std::vector<std::thread> writers;
        for (int writer = 0; writer < 2; ++writer) {
            writers.emplace_back([&, writer] {
                for (int number = writer; !stop; number = (number + 37) % rows) {
                    static_cast<void>(items.insert_or_replace({"g" + std::to_string(number / 100), number, "changed"}));
                    std::this_thread::sleep_for(std::chrono::milliseconds{2});
                }
            });
        }
        auto plan = plan_move(cloud, 0, to).value();
        std::optional<taken> copy;
        auto const done = plan.run([&](move_progress const& at) {
                                  if (at.step == move_step::copying && !copy) { copy.emplace(); }
                                  if (at.step == move_step::catching_up && copying.size() < bare.size()) {
                                      copy->note(copying, copying_processor);
                                  }
                                  return true;
                              })
                              .value();
        stop = true;
        for (auto& each : writers) { each.join(); }
        writes.push_back(milliseconds(done.writes_paused));
        reads.push_back(milliseconds(done.reads_paused));
        waits.push_back(milliseconds(std::chrono::nanoseconds{short_lease} * 106 / 100));
    }
    std::printf("%-8s writes paused %7.1f ms, of it %5.1f for the short lease; reads %6.1f ms\n", name, median(writes),
        median(waits), median(reads));
    std::printf(
        "%-8s copied in %7.1f ms, bare copy %7.1f ms, ratio %4.2f; of the processor %7.1f and %7.1f ms, ratio %4.2f\n",
        "", median(copying), median(bare), median(bare) / median(copying), median(copying_processor),
        median(bare_processor), median(bare_processor) / median(copying_processor));
}

} // namespace

int main() {
    std::map<std::string, memory_backend> memory;
    measure("memory", [&](std::string_view name) -> result<any_store> { return any_store{memory[std::string{name}]}; });
    entitable_test::temporary_folder const folder;
    std::map<std::string, any_store> files;
    measure("files", [&](std::string_view name) -> result<any_store> {
        auto const known = files.find(std::string{name});
        return known != files.end()
            ? known->second
            : files.emplace(std::string{name}, any_store{file_backend{folder / (std::string{name} + ".db")}})
                  .first->second;
    });
    std::map<std::string, any_store> servers;
    measure("servers", [&](std::string_view name) -> result<any_store> {
        constexpr std::string_view key = "c2hhcmRz";
        auto const known = servers.find(std::string{name});
        if (known != servers.end()) { return known->second; }
        server_options options;
        options.accounts.push_back({"acct", std::string{key}, {}, {}});
        any_store made{rest{table_server{any_store{memory_backend{}}, options},
            text::joined({"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=", key})}};
        return servers.emplace(name, made).first->second;
    });
}
