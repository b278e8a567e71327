// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The whole output of the commands that check, back up and operate a store, on each kind of store that is there. What a store cannot do is
// refused with the sentence that says what can. The command serve ends by a signal, and is not here.

#include "places.hpp"
#include <entitable/changes.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>
#include <entitable/open.hpp>

#include <support/catch.hpp>

#include <filesystem>
#include <utility>

using namespace entitable_test;

namespace tool_stores {

struct parcel {
    std::string city;
    std::int32_t number{};
};
ENTITABLE(parcel, partition_key(city), row_key(number))

struct letter {
    std::string to;
    std::int32_t number{};
    double grams{};
};
ENTITABLE(letter, partition_key(to), row_key(number), properties(grams))

} // namespace tool_stores

namespace {

using tool_stores::letter;
using tool_stores::parcel;

constexpr char const* notes_text =
    R"({"PartitionKey":"ann","RowKey":"a","Text":"one"}
{"PartitionKey":"bo","RowKey":"b","Text":"two"}
)";

void fill(place const& at) {
    REQUIRE(run_tool_with({.in = notes_text}, {"put", at.address, at.table, "--create"}).code == 0);
}

void drop(place const& at, std::string const& table) {
    REQUIRE(entitable::row_table{entitable::open(at.address).value(), table}.drop());
}

/// The text with each match of an expression replaced.
std::string without(std::string const& text, char const* expression, char const* by) {
    return std::regex_replace(text, std::regex{expression}, by);
}

/// Tables and rows that a store has already: a database may be that of other tests too.
std::pair<int, int> counted(place const& at) {
    std::smatch found;
    std::string const out = run_tool("check", at.address).out;
    bool const has_counts = std::regex_search(out, found, std::regex{R"(tables: (\d+), rows: (\d+)\n)"});
    return has_counts ? std::pair{std::stoi(found[1]), std::stoi(found[2])} : std::pair{0, 0};
}

} // namespace

TEST_CASE("check: what a store contains", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        auto const [tables, rows] = counted(at);
        fill(at);
        tool_outcome const sound = run_tool("check", at.address);
        CHECK(sound.err.empty());
        CHECK(sound.code == 0);
        CHECK(sound.out ==
            std::string{at.kind == "file" ? "file: 2 rows, 67 bytes of keys and values, 0 damaged rows\n" : ""} +
                "tables: " + std::to_string(tables + 1) + ", rows: " + std::to_string(rows + 2) +
                "\nno problems found\n");
        drop(at, at.table);
    }
}

TEST_CASE("queue: lengths, dead letters, requeue and purge on every store", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        entitable::queue_options options;
        options.max_deliveries = 1;
        options.lanes = 1;
        fill(at); // makes the store
        entitable::table_queue<letter> const letters{entitable::open(at.address).value(), at.table + "q", options};
        REQUIRE(letters.create());
        letter const sent{"Berlin", 1, 1.5};
        REQUIRE(letters.enqueue(sent, {{}, "id-1"}));
        REQUIRE(letters.claim().value()->fail("no such address", {}));
        REQUIRE_FALSE(letters.claim().value()); // makes it a dead letter
        auto const queue = [&](std::vector<std::string> more) {
            more.insert(more.begin(), {"queue", at.address, at.table + "q"});
            tool_outcome const done = run_tool_with({}, more);
            return without(done.out, R"(\d+:\d\d)", "AGE") + done.err;
        };
        CHECK(queue({}) == "ready         0\nheld          0\ndead letters  1\noldest        -\n");
        CHECK(queue({"--dead"}) ==
            "id    deliveries  reason           message\n"
            "id-1           1  no such address  grams=1.5\n");
        CHECK(queue({"requeue", "id-1"}) == "1 dead letter requeued\n");
        CHECK(queue({}) == "ready         1\nheld          0\ndead letters  0\noldest        AGE\n");
        CHECK(queue({"requeue", "id-1"}) == "entitable: the queue has no dead letter with the id id-1\n");
        REQUIRE(letters.claim().value()->fail("again", {}));
        REQUIRE_FALSE(letters.claim().value());
        CHECK(queue({"purge", "--all", "--yes"}) == "1 dead letter deleted\n");
        CHECK(queue({}) == "ready         0\nheld          0\ndead letters  0\noldest        -\n");
        drop(at, at.table + "q");
        drop(at, at.table);
    }
}

TEST_CASE("backup and restore: a file is copied, and other stores name what copies them", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        scratch_store const copy;
        scratch_store const back;
        fill(at);
        tool_outcome const backed_up = run_tool("backup", at.address, copy.path());
        tool_outcome const into = run_tool("restore", copy.path(), at.address);
        if (at.kind == "file") {
            CHECK(backed_up.err.empty());
            CHECK(backed_up.out == "2 rows copied to " + copy.path() + ", each read and compared with its checksum\n");
            CHECK(into.code == 1); // never overwrites
            tool_outcome const restored = run_tool("restore", copy.path(), back.path());
            CHECK(restored.err.empty());
            CHECK(restored.out == "2 rows restored to " + back.path() + ", each read and compared with its checksum\n");
            CHECK(run_tool("query", back.path(), at.table, "--scan", "--format", "jsonl").out == notes_text);
        } else {
            CHECK(backed_up.code == 1);
            CHECK(backed_up.out.empty());
            CHECK(backed_up.err ==
                "entitable: backup is for files and for shards:CATALOGUE/MAP; entitable copy copies the tables of "
                "other stores\n");
            CHECK(into.code == 1);
            CHECK(into.err == "entitable: restore writes a file, or the fleet at shards:CATALOGUE/MAP\n");
        }
        CHECK(run_tool("query", at.address, at.table, "--scan", "--format", "jsonl").out == notes_text);
        drop(at, at.table);
    }
}

TEST_CASE("shards: a map over every store, which is backed up into it and restored", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        fill(at); // makes the store
        auto const set = [](char const* name, std::string const& value) {
            ::setenv(name, value.c_str(), 1); // NOLINT(concurrency-mt-unsafe): no thread reads it now
        };
        scratch_store const catalogue;
        scratch_store const second;
        set("ENTITABLE_STORE_toolplace", at.address);
        std::string const map = "shards:" + catalogue.path() + "/map";
        CHECK(run_tool("shards", map, "make-ranges", "b", "toolplace").out ==
            "map version 1, 2 virtual shards by ranges\n"
            "  0 below \"b\" -> toolplace (open, epoch 1)\n"
            "  1 from \"b\" -> toolplace (open, epoch 1)\n");
        std::string const table = at.table + "s";
        tool_outcome const filled = run_tool_with({.in = notes_text}, {"put", map, table, "--create"});
        CHECK(filled.err.empty());
        CHECK(filled.out == "2 rows inserted\n");
        CHECK(run_tool("query", map, table, "--scan", "--format", "jsonl").out == notes_text);
        CHECK(run_tool("shards", map, "split", "0", "ann").out == "shard 2 has the keys from \"ann\" on\n");
        CHECK(run_tool("query", map, table, "--scan", "--format", "jsonl").out == notes_text);

        tool_outcome const archived = run_tool("backup", map, at.address, "--name", "monday");
        CHECK(archived.err.empty());
        CHECK(archived.out == "2 rows in 3 parts copied, read back and compared\n");
        scratch_store const other;
        set("ENTITABLE_STORE_toolother", "file:" + other.path());
        std::string const fresh = "shards:" + second.path() + "/map";
        REQUIRE(run_tool("shards", fresh, "make", "1", "toolother").code == 0);
        CHECK(run_tool("restore", at.address, fresh, "--name", "monday").out ==
            "2 rows of the backup, 2 written, all compared\n");
        CHECK(run_tool("query", fresh, table, "--scan", "--format", "jsonl").out == notes_text);
        CHECK(run_tool("shards", at.address, "status").err ==
            "entitable: the address of a shard map has the form shards:CATALOGUE/MAP\n");
    }
}

TEST_CASE("advise and plan: the sample of every store gives the same advice", "[stores]") {
    std::string first;
    for (place const& at : places()) {
        CAPTURE(at.kind);
        fill(at);
        tool_outcome const done = run_tool("advise", at.address, at.table);
        CHECK(done.err.empty());
        CHECK(done.code == 0);
        std::string const shown = without(without(done.out, at.table.c_str(), "TABLE"), "=+\n", "=\n");
        CHECK(shown.starts_with("Advice on TABLE\n=\n\nData\n"
                                "keys        partition_key(PartitionKey), row_key(RowKey)\n"
                                "entities    2, 74 B, 37 B each\n"
                                "partitions  2: mean 1 entities, median 1, 90 % have at most 1, 99 % at most 1\n"
                                "largest     ann: 1 entities, 50.0 % of all; Gini 0.000\n"));
        if (first.empty()) { first = shown; }
        CHECK(shown == first);
        drop(at, at.table);
    }
    // The command plan is about throughput alone, and takes no store.
    tool_outcome const planned = run_tool("plan", "shop.db", "--partitions", "5", "--to", "150000");
    CHECK(planned.code == 2);
}

TEST_CASE("stress: every store is measured, and the table of the test is removed", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        fill(at);
        std::string const name = "stress" + at.table;
        tool_outcome const done =
            run_tool("stress", at.address, at.table, "--test-table", name, "--seconds", "0.2", "--steps", "1", "--peak",
                "10", "--target", "10", "--most", "10", "--reads", "1", "--writes", "0", "--workers", "2");
        CHECK(done.err.empty());
        // Figures and the verdict depend on the machine.
        std::string shape = without(done.out, R"(\d[\d,.]*)", "N");
        shape = without(shape, "\n +above the target: [^\n]*", "");
        shape = without(shape, "verdict +[a-z_]+: ", "verdict V: ");
        shape = without(without(without(shape, "N (ns|us|ms|s|min)\\b", "T"), " +", " "), "\n ", "\n");
        CHECK(shape ==
            "N row of one partition\n"
            "verdict V: carried N entities/s of a peak of N; the target of a partition is N\n"
            "wanted/s served/s calls unsent failed attempts median N % longest errors\n"
            "N N N N N N T T T\n");
        CHECK(run_tool("tables", at.address).out.find(name) == std::string::npos);
        drop(at, at.table);
    }
}

TEST_CASE("changes: a group reads the same lines on every store", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        fill(at); // makes the store
        std::string const name = at.table + "c";
        entitable::table<parcel, entitable::announced> const parcels{entitable::open(at.address).value(), name};
        REQUIRE(parcels.create());
        REQUIRE(parcels.insert(parcel{"Kiel", 1}));
        tool_outcome const joined = run_tool("changes", at.address, name, "--group", "s", "--create");
        CHECK(joined.out == "{\"Change\":\"partition\",\"PartitionKey\":\"Kiel\"}\n");
        CHECK(
            joined.err == "the group s is registered: changes are kept until it has read them, or leaves by --leave\n");
        REQUIRE(parcels.insert(parcel{"Kiel", 2}));
        REQUIRE(parcels.remove("Kiel", 1, entitable::any_etag));
        CHECK(without(timeless(run_tool("changes", at.address, name, "--group", "s").out), "[0-9a-f]{8}-[0-9a-f-]{27}",
                  "ID") ==
            "{\"Change\":\"written\",\"PartitionKey\":\"Kiel\",\"RowKey\":\"0000000002\",\"Id\":\"ID\","
            "\"Time\":\"TIME\",\"Number\":2,\"Lane\":0}\n"
            "{\"Change\":\"removed\",\"PartitionKey\":\"Kiel\",\"RowKey\":\"0000000001\",\"Id\":\"ID\","
            "\"Time\":\"TIME\",\"Number\":3,\"Lane\":0}\n");
        CHECK(timeless(run_tool("changes", at.address, name, "--status").out) ==
            "group  joined  partitions behind  processed until\n"
            "s      yes                     0  TIME\n");
        CHECK(
            run_tool("changes", at.address, name, "--group", "s", "--leave", "--yes").err == "the group s has left\n");
        CHECK(run_tool("changes", at.address, at.table, "--group", "s").code == 1);
        drop(at, name);
        drop(at, at.table);
    }
}
