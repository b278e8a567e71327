// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The command changes: groups, their positions, output that fails, tables without announcements, and runs that are interrupted or killed.

#include "tool_run.hpp"
#include <entitable/changes.hpp>
#include <entitable/entitable.hpp>
#include <entitable/open.hpp>

#include <fcntl.h>
#include <support/catch.hpp>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

using namespace entitable_test;

namespace {

struct parcel {
    std::string city;
    std::int32_t number{};
};
ENTITABLE(parcel, partition_key(city), row_key(number))

/// Takes text and loses it, as a full disk.
struct full_disk : std::stringbuf {
    int sync() override { return -1; }
};

/// The text with random ids replaced.
std::string without_ids(std::string const& text) {
    static std::regex const id{"[0-9a-f]{8}-[0-9a-f-]{27}"};
    return std::regex_replace(timeless(text), id, "ID");
}

/// Starts the program `changes --follow` with its output at the end of a file; returns its process.
pid_t start_following(char const* program, std::string const& store, std::string const& output) {
    pid_t const child = ::fork();
    if (child == 0) {
        ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDOUT_FILENO);
        ::execl(program, program, "changes", store.c_str(), "parcels", "--group", "s", "--follow", nullptr);
        ::_exit(127);
    }
    return child;
}

/// The row keys in the whole lines of a file; a killed program may have written a part of its last line.
std::set<std::string> rows_in_lines(std::string const& path) {
    std::set<std::string> found;
    std::ifstream in{path};
    std::string const key = "\"RowKey\":\"";
    for (std::string line; std::getline(in, line) && !in.eof();) {
        std::size_t const at = line.find(key);
        if (at != std::string::npos) { found.insert(line.substr(at + key.size(), 10)); }
    }
    return found;
}

} // namespace

TEST_CASE("changes: a group gets each change once it has joined, and again if its line was not written") {
    std::string const address = "memory:tool-changes";
    auto const store = entitable::open(address).value();
    entitable::table<parcel, entitable::announced> const parcels{store, "parcels"};
    parcels.create().value();
    parcels.insert(parcel{"Kiel", 1}).value();
    CHECK(run_tool("changes", address, "parcels").code == 1);
    CHECK(run_tool("changes", address, "parcels", "--group", "s").err ==
        "entitable: the table \"parcels\" has no group \"s\": --create registers it, --status lists the groups\n");
    CHECK(run_tool("changes", address, "parcels", "--group", "s", "--create").out ==
        "{\"Change\":\"partition\",\"PartitionKey\":\"Kiel\"}\n");
    CHECK(run_tool("changes", address, "parcels", "--group", "s").out.empty());
    parcels.remove("Kiel", 1, entitable::any_etag).value();
    std::string const line =
        "{\"Change\":\"removed\",\"PartitionKey\":\"Kiel\",\"RowKey\":\"0000000001\",\"Id\":\"ID\","
        "\"Time\":\"TIME\",\"Number\":2,\"Lane\":0}\n";
    {
        full_disk disk;
        std::ostream full{&disk};
        std::ostringstream err;
        std::istringstream in;
        tool::console with{full, err, in};
        static_cast<void>(tool::run_tool({"changes", address, "parcels", "--group", "s"}, with));
    }
    CHECK(without_ids(run_tool("changes", address, "parcels", "--group", "s").out) == line);
    CHECK(run_tool("changes", address, "parcels", "--group", "s").out.empty());
    CHECK(timeless(run_tool("changes", address, "parcels", "--status").out) ==
        "group  joined  partitions behind  processed until\n"
        "s      yes                     0  TIME\n");
    CHECK(run_tool("changes", address, "parcels", "--group", "s", "--leave", "--yes").code == 0);
    CHECK(run_tool("changes", address, "parcels", "--status").out.empty());

    entitable::table<parcel, entitable::logged> const logged{store, "logged"};
    logged.create().value();
    CHECK(
        run_tool("changes", address, "logged", "--group", "s").err.find("does not announce them") != std::string::npos);
    entitable::table<parcel> const plain{store, "plain"};
    plain.create().value();
    CHECK(
        run_tool("changes", address, "plain", "--group", "s").err.find("no declared change log") != std::string::npos);
}

TEST_CASE("changes: programs that are interrupted or killed while another one writes have printed each change",
    "[.][interrupted]") {
    char const* const program = std::getenv("ENTITABLE_TOOL"); // NOLINT(concurrency-mt-unsafe)
    if (program == nullptr) {
        WARN("skipped: ENTITABLE_TOOL names no program");
        return;
    }
    scratch_store const at;
    std::string const output = at.path() + ".lines";
    auto const store = entitable::open("file:" + at.path() + "?create=true").value();
    entitable::table<parcel, entitable::announced> const parcels{store, "parcels"};
    parcels.create().value();
    REQUIRE(run_tool("changes", at.path(), "parcels", "--group", "s", "--create").code == 0);
    std::int32_t written = 0;
    constexpr int runs = 6;
    for (int run = 0; run < runs; ++run) {
        pid_t const child = start_following(program, at.path(), output);
        std::size_t const before = rows_in_lines(output).size();
        auto const patience = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        // Writes until the program has printed lines, then five rows more.
        for (std::size_t more = 0; more < 5 && std::chrono::steady_clock::now() < patience;) {
            parcels.insert(parcel{"Kiel", ++written}).value();
            std::this_thread::sleep_for(std::chrono::milliseconds{20 + 7 * run});
            if (rows_in_lines(output).size() > before) { ++more; }
        }
        bool const kills = run == runs - 1; // the last one: who is killed keeps its lease for 30 seconds
        ::kill(child, kills ? SIGKILL : SIGINT);
        parcels.insert(parcel{"Kiel", ++written}).value();
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        INFO("run " << run);
        if (kills) {
            CHECK(WIFSIGNALED(status));
        } else {
            CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
        }
    }
    auto const patience = std::chrono::steady_clock::now() + std::chrono::seconds{90};
    std::set<std::string> found = rows_in_lines(output);
    while (found.size() < static_cast<std::size_t>(written) && std::chrono::steady_clock::now() < patience) {
        std::ofstream{output, std::ios::app} << '\n' << run_tool("changes", at.path(), "parcels", "--group", "s").out;
        found = rows_in_lines(output);
        std::this_thread::sleep_for(std::chrono::milliseconds{500});
    }
    CHECK(found.size() == static_cast<std::size_t>(written));
    std::filesystem::remove(output);
}
