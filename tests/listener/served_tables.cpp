// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables over libcurl and a socket: the conformance suite, and a server that is killed during writes.

#include "listening.hpp"
#include <entitable/cloud/rest/azure_backend.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/conformance.hpp>
#include <entitable/testing/rows.hpp>

#include <server/served.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// A client of the server that listens on this port. Its limits are those of the service.
azure_backend client_of(std::uint16_t port) {
    rest_options options;
    options.limits = storage_profile();
    return azure_backend{text::joined({"DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=", planted_key,
                             ";TableEndpoint=http://127.0.0.1:", std::to_string(port), "/acct"}),
        options};
}

void conforms(any_store const& store) {
    listening const local{table_server{store, with_account()}};
    auto const client = client_of(local.port());
    for (std::string const& failure : testing::conformance::run([&]() -> any_store { return client; })) {
        FAIL_CHECK(failure.substr(0, 2000));
    }
}

} // namespace

TEST_CASE("conformance: a memory_backend served over a socket") { conforms(memory_backend{}); }

TEST_CASE("conformance: a file_backend served over a socket") {
    if (rounds(0, 1) == 0) { // the short form tests the file behind the protocol without a socket
        return;
    }
    temporary_folder const folder;
    file_options options;
    options.durability = durability::relaxed;
    conforms(file_backend{folder / "served.db", options});
}

TEST_CASE("a killed server has stored every write that it acknowledged") {
    temporary_folder const folder;
    std::string const path = folder / "served.db";
    struct seen {
        std::atomic<int> port{0};
    };
    constexpr int writers = 3;
    std::vector<std::string> acknowledged[writers];
    std::size_t const rounds_wanted = rounds(4, 200, 20);
    for (std::size_t round = 0; round < rounds_wanted; ++round) {
        shared_memory<seen> shared;
        child_process server{[&] {
            http_listener listener{table_server{file_backend{path}, with_account()}, {.port = 0}};
            if (!listener.listen()) { return false; }
            shared->port = listener.port();
            return listener.run().has_value();
        }};
        for (int waited = 0; waited < 10'000 && shared->port == 0; ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        REQUIRE(shared->port != 0);
        auto const client = client_of(static_cast<std::uint16_t>(shared->port.load()));
        call context;
        static_cast<void>(client.execute(create_table{"Orders"}, context));
        std::atomic<std::size_t> done{0};
        std::vector<std::thread> threads;
        for (int writer = 0; writer < writers; ++writer) {
            threads.emplace_back([&, writer] {
                for (int number = 0;; ++number) {
                    std::string const key = std::to_string(round) + "-" + std::to_string(number);
                    call mine;
                    if (!client.execute(
                            write_entity{"Orders",
                                mutation::insert(testing::make_row("w" + std::to_string(writer), key, {{"N", 1}}))},
                            mine)) {
                        return;
                    }
                    acknowledged[writer].push_back(key);
                    ++done;
                }
            });
        }
        for (int waited = 0; waited < 5'000 && done < 30 + 7 * round; ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        server.kill();
        for (std::thread& each : threads) { each.join(); }
        REQUIRE(done >= 30);
    }
    file_backend const left{path};
    for (int writer = 0; writer < writers; ++writer) {
        for (std::string const& key : acknowledged[writer]) {
            call context;
            CHECK(left.execute(get_entity{"Orders", "w" + std::to_string(writer), key, {}}, context));
        }
    }
    auto const report = left.verify();
    REQUIRE(report);
    CHECK(report->sound());
}
