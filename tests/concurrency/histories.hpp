// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Histories of random requests of several threads on one partition, for the search in linearizable.hpp.

#include "linearizable.hpp"
#include <entitable/core/transport/transport.hpp>
#include <entitable/testing/rows.hpp>

#include <atomic>
#include <random>
#include <thread>

namespace entitable_test {

/// Sends a random request to the partition and records its answer. `seen` contains versions for conditions, and the request adds the
/// versions it finds.
template <class Store>
timed_operation random_request(Store const& store, std::string const& partition, std::mt19937_64& random,
    std::vector<std::string>& seen, std::atomic<std::uint64_t>& time) {
    using namespace entitable;
    using testing::make_row;
    timed_operation done;
    std::size_t const chance = random() % 10;
    if (chance < 3) {
        done.kind = timed_operation::all_rows;
    } else if (chance < 5) {
        done.kind = timed_operation::one_row;
        done.row = random() % timed_operation::rows;
    }
    std::vector<mutation> changes;
    if (chance >= 5) {
        done.kind = timed_operation::changes;
        std::size_t const first = random() % timed_operation::rows;
        std::size_t const size = chance < 8 ? 1 : 2;
        for (std::size_t index = 0; index < size; ++index) {
            timed_operation::change change;
            change.row = (first + index) % timed_operation::rows;
            change.kind = static_cast<mutation_kind>(random() % 6);
            bool const any = random() % 2 == 0 || change.kind == mutation_kind::insert ||
                change.kind == mutation_kind::insert_or_merge || change.kind == mutation_kind::insert_or_replace;
            change.version = any ? "" : seen[seen.size() - 1 - random() % std::min<std::size_t>(seen.size(), 3)];
            done.parts.push_back(change);
            changes.push_back({change.kind, make_row(partition, std::to_string(change.row)),
                any ? etag_condition{any_etag} : etag_condition{etag{change.version}}});
        }
    }
    call context;
    done.begun = time++;
    if (done.kind == timed_operation::changes && changes.size() == 1) {
        auto const outcome = store.execute(write_entity{"Orders", changes[0]}, context);
        done.ended = time++;
        outcome ? done.succeeded({*outcome}) : done.failed(outcome.error().code, 0);
    } else if (done.kind == timed_operation::changes) {
        auto const outcome = store.execute(transact{"Orders", changes}, context);
        done.ended = time++;
        outcome ? done.succeeded(outcome->results)
                : done.failed(outcome.error().code, outcome.error().operation_index.value_or(99));
    } else if (done.kind == timed_operation::one_row) {
        auto const outcome = store.execute(get_entity{"Orders", partition, std::to_string(done.row), {}}, context);
        done.ended = time++;
        done.found[done.row] = outcome ? outcome->etag.to_string() : "";
    } else {
        query_entities query;
        query.table = "Orders";
        query.range.partition = key_interval::only(partition);
        auto const outcome = store.execute(query, context);
        done.ended = time++;
        for (std::size_t index = 0; outcome && index < outcome->rows.size(); ++index) {
            auto const row = outcome->rows[index];
            done.found[static_cast<std::size_t>(row.row_key[0] - '0')] = row.etag().to_string();
        }
    }
    for (std::string const& version : done.found) {
        if (!version.empty()) { seen.push_back(version); }
    }
    for (auto const& part : done.parts) {
        if (!part.made.empty()) { seen.push_back(part.made); }
    }
    return done;
}

/// Versions for the first conditions of `random_request`.
inline std::vector<std::string> no_versions() { return {"W/\"none\""}; }

/// Runs a history of random requests of several threads on one partition; `time` orders their beginnings and ends.
template <class Store>
std::vector<timed_operation> history(
    Store const& store, std::uint64_t seed, std::size_t threads, std::size_t each, std::atomic<std::uint64_t>& time) {
    std::vector<std::vector<timed_operation>> logs(threads);
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            std::mt19937_64 random{seed * 100 + thread};
            auto seen = no_versions();
            for (std::size_t count = 0; count < each; ++count) {
                logs[thread].push_back(random_request(store, "p", random, seen, time));
                if (random() % 4 == 0) { std::this_thread::yield(); }
            }
        });
    }
    for (std::thread& thread : running) { thread.join(); }
    std::vector<timed_operation> all;
    for (auto& log : logs) { all.insert(all.end(), log.begin(), log.end()); }
    return all;
}

} // namespace entitable_test
