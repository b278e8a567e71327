// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The command sync: a file and each kind of store. Whole outputs, exit codes, and what both sides have afterwards.

#include "places.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>
#include <entitable/open.hpp>
#include <entitable/tables.hpp>

#include <support/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace entitable_test;

namespace tool_sync {

struct runner {
    std::string club;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner, partition_key(club), row_key(literal("BIB:"), width(bib, 5)), properties(name))

struct by_name : runner {};
ENTITABLE(by_name, partition_key(club), row_key(literal("NAME:"), name, width(bib, 5)), properties())

} // namespace tool_sync

namespace {

std::string const jsonl_of_ann = R"({"PartitionKey":"ann","RowKey":"a","Text":"one"}
{"PartitionKey":"ann","RowKey":"b","Text":"two","Stars":2}
)";

void fill(std::string const& address, std::string const& table, std::string const& lines) {
    REQUIRE(run_tool_with({.in = lines}, {"put", address, table, "--create", "--yes"}).code == 0);
}
std::string rows_of(std::string const& address, std::string const& table) {
    return run_tool("query", address, table, "--scan", "--format", "jsonl").out;
}
std::string row_text(std::string const& key, std::string const& text) {
    return R"({"PartitionKey":"ann","RowKey":")" + key + R"(","Text":")" + text + "\"}\n";
}
std::string content_of(std::string const& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

TEST_CASE("sync: a file and each kind of store get the same rows, and conflicts have their three sides", "[stores]") {
    for (place const& cloud : places()) {
        CAPTURE(cloud.kind);
        scratch_store const laptop;
        scratch_store const phone;
        auto const sync = [&](scratch_store const& device, std::vector<std::string> more = {}) {
            more.insert(more.begin(), {"sync", device.path(), "notes", cloud.address, cloud.table});
            return run_tool_with({}, more);
        };
        std::vector<std::string> const create{"--whole-table", "--create"};
        std::vector<std::string> const of_ann{"--partition", "ann"};
        fill(laptop.path(), "notes", jsonl_of_ann);
        tool_outcome const sent = sync(laptop, create);
        CHECK(sent.err.empty());
        CHECK(sent.out == "1 partition: 0 rows pulled, 2 pushed\n");
        CHECK(sent.code == 0);
        CHECK(sync(phone, create).out == "1 partition: 2 rows pulled, 0 pushed\n");
        CHECK(rows_of(phone.path(), "notes") == jsonl_of_ann);
        CHECK(rows_of(cloud.address, cloud.table) == jsonl_of_ann);

        CHECK(run_tool("delete", phone.path(), "notes", "ann", "b", "--yes").code == 0);
        fill(phone.path(), "notes", row_text("a", "phone"));
        CHECK(sync(phone, of_ann).out == "1 partition: 0 rows pulled, 2 pushed\n");
        fill(laptop.path(), "notes", row_text("a", "laptop"));
        std::vector<std::string> both{"--partition", "ann", "--conflicts", "both", "--device", "laptop"};
        tool_outcome const settled = sync(laptop, both);
        CHECK(settled.err.empty());
        CHECK(settled.out ==
            "1 partition: 2 rows pulled, 1 pushed, 1 conflict\n"
            "conflict \"ann\" / \"a\": both\n"
            "  base   Text=one\n"
            "  local  Text=laptop\n"
            "  cloud  Text=phone\n");
        CHECK(settled.code == 0);
        std::string const merged = row_text("a", "phone") + row_text("a~laptop", "laptop");
        CHECK(rows_of(laptop.path(), "notes") == merged);
        CHECK(rows_of(cloud.address, cloud.table) == merged);
        CHECK(sync(laptop, of_ann).out == "1 partition: 0 rows pulled, 0 pushed\n");
    }
}

TEST_CASE("sync: --conflicts decides, and --log has the contents") {
    for (auto const& [words, wanted] :
        std::vector<std::pair<std::string, std::string>>{{"theirs", "theirs"}, {"mine", "mine"}, {"merge", "theirs"}}) {
        CAPTURE(words);
        scratch_store const laptop;
        scratch_store const log;
        std::string const cloud = "memory:tool-sync-" + words;
        fill(laptop.path(), "notes", row_text("a", "old"));
        CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--whole-table", "--create").code == 0);
        fill(laptop.path(), "notes", row_text("a", "here"));
        fill(cloud, "notes", row_text("a", "there"));
        tool_outcome const done = run_tool(
            "sync", laptop.path(), "notes", cloud, "--partition", "ann", "--conflicts", words, "--log", log.path());
        CHECK(done.code == 0);
        CHECK(done.out.find("conflict \"ann\" / \"a\": ") != std::string::npos);
        CHECK(rows_of(cloud, "notes") == row_text("a", wanted == "mine" ? "here" : "there"));
        CHECK(rows_of(laptop.path(), "notes") == rows_of(cloud, "notes"));
        CHECK(content_of(log.path()) ==
            R"({"PartitionKey":"ann","RowKey":"a","base":{"PartitionKey":"ann","RowKey":"a","Text":"old"},)"
            R"("local":{"PartitionKey":"ann","RowKey":"a","Text":"here"},)"
            R"("cloud":{"PartitionKey":"ann","RowKey":"a","Text":"there"}})"
            "\n");
    }
}

TEST_CASE("sync: a removed side, control characters and many conflicts are shown in short") {
    scratch_store const laptop;
    std::string const cloud = "memory:tool-sync-many";
    std::string lines;
    for (int number = 10; number < 32; ++number) { lines += row_text("n" + std::to_string(number), "old"); }
    fill(laptop.path(), "notes", lines);
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--whole-table", "--create").code == 0);
    std::string changed;
    std::string const large(200, 'x');
    for (int number = 10; number < 32; ++number) {
        changed += row_text("n" + std::to_string(number), "\\u001b" + large);
    }
    fill(cloud, "notes", changed);
    fill(laptop.path(), "notes", changed + row_text("n10", "here"));
    CHECK(run_tool("delete", laptop.path(), "notes", "ann", "n11", "--yes").code == 0);
    for (int number = 12; number < 32; ++number) {
        fill(laptop.path(), "notes", row_text("n" + std::to_string(number), "here"));
    }
    tool_outcome const done = run_tool("sync", laptop.path(), "notes", cloud, "--partition", "ann");
    CHECK(done.code == 0);
    CHECK(done.err.empty());
    CHECK(done.out.find("1 partition: 22 rows pulled, 0 pushed, 22 conflicts\n") == 0);
    CHECK(
        done.out.find("conflict \"ann\" / \"n11\": theirs\n  base   Text=old\n  local  no row\n") != std::string::npos);
    CHECK(done.out.find('\x1b') == std::string::npos);
    CHECK(done.out.ends_with("  and 2 other conflicts\n"));
    std::istringstream text{done.out};
    for (std::string line; std::getline(text, line);) { CHECK(line.size() <= 80); }
}

TEST_CASE("sync: a conflict shows the properties that differ") {
    scratch_store const laptop;
    std::string const cloud = "memory:tool-sync-differ";
    auto const row = [](std::string const& more) {
        return R"({"PartitionKey":"ann","RowKey":"a","Same":1)" + more + "}\n";
    };
    fill(laptop.path(), "notes", row(R"(,"Text":"old","Number":1)"));
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--whole-table", "--create").code == 0);
    fill(laptop.path(), "notes", row(R"(,"Text":"new","Number":1)"));
    fill(cloud, "notes", row(R"(,"Number@odata.type":"Edm.Int64","Number":"1")"));
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--partition", "ann", "--conflicts", "mine").out ==
        "1 partition: 0 rows pulled, 1 pushed, 1 conflict\n"
        "conflict \"ann\" / \"a\": mine\n"
        "  base   Text=old  Number=1\n"
        "  local  Text=new  Number=1\n"
        "  cloud  Number=1\n");
    fill(laptop.path(), "notes", row(R"(,"Text":"newest","Number":1)"));
    fill(cloud, "notes", row(""));
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--partition", "ann").out ==
        "1 partition: 1 row pulled, 0 pushed, 1 conflict\n"
        "conflict \"ann\" / \"a\": theirs\n"
        "  base   Text=new  Number=1\n"
        "  local  Text=newest  Number=1\n"
        "  cloud  nothing else\n");
}

TEST_CASE("sync: held rows and failed partitions end with 3, and with 1 if nothing was synchronised") {
    scratch_store const laptop;
    std::string const cloud = "memory:tool-sync-held";
    std::string const key(510, 'k');
    fill(laptop.path(), "notes", row_text("a", "one") + row_text(key, "long"));
    tool_outcome const held = run_tool("sync", laptop.path(), "notes", cloud, "--whole-table", "--create");
    CHECK(held.code == 3);
    CHECK(held.out == "1 partition: 0 rows pulled, 1 pushed, 1 held back\n");
    CHECK(held.err.find("held back \"ann\" / \"" + key + "\": ") == 0);

    std::string lines;
    for (int number = 10; number < 30; ++number) {
        lines += R"({"PartitionKey":"bo","RowKey":")" + std::to_string(number) + "\"}\n";
    }
    fill(laptop.path(), "notes", lines);
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--partition", "bo").code == 0);
    CHECK(run_tool_with({.in = lines}, {"delete", cloud, "notes", "--yes"}).code == 0);
    tool_outcome const some = run_tool("sync", laptop.path(), "notes", cloud, "--partition", "bo", "--partition", "cy");
    CHECK(some.code == 3);
    tool_outcome const none = run_tool("sync", laptop.path(), "notes", cloud, "--partition", "bo");
    CHECK(none.code == 1);
    CHECK(none.out == "1 partition: 0 rows pulled, 0 pushed, 1 partition failed\n");
    CHECK(none.err ==
        "partition \"bo\" failed: the synchronisation would remove 20 of 20 rows of the partition from the local "
        "table: repeat the command with --allow-many-removals if that is intended (ManyRemovals)\n");

    std::vector<std::string> const many{
        "sync", laptop.path(), "notes", cloud, "--partition", "bo", "--allow-many-removals"};
    std::string const question = "Permit to remove most or all rows of a partition of notes, on either side?";
    CHECK(run_tool_with({}, many).err ==
        "entitable: nobody can be asked \"" + question + "\": repeat the command with --yes\n");
    CHECK(run_tool_with({.in = "n\n", .is_terminal = true}, many).err ==
        question + " [y/N] entitable: nothing was changed\n");
    CHECK(run_tool("count", laptop.path(), "notes", "--partition", "bo").out == "20\n");
    CHECK(run_tool_with({.in = "y\n", .is_terminal = true}, many).out == "1 partition: 20 rows pulled, 0 pushed\n");
    CHECK(run_tool("count", laptop.path(), "notes", "--partition", "bo").out == "0\n");
}

TEST_CASE("sync: a restored file is reported, and progress is shown on a terminal") {
    scratch_store const laptop;
    scratch_store const backup;
    std::string const cloud = "memory:tool-sync-restored";
    fill(laptop.path(), "notes", row_text("a", "one"));
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--whole-table", "--create").code == 0);
    CHECK(run_tool("backup", laptop.path(), backup.path()).code == 0);
    fill(laptop.path(), "notes", row_text("a", "two"));
    std::vector<std::string> const of_ann{"sync", laptop.path(), "notes", cloud, "--partition", "ann"};
    tool_outcome const shown = run_tool_with({.is_terminal = true}, of_ann);
    CHECK(shown.err.find("\r1 of 1 partitions, 0 pulled, 1 pushed") != std::string::npos);
    CHECK(shown.err.ends_with('\r'));
    tool_outcome const restored = run_tool("sync", backup.path(), "notes", cloud, "--partition", "ann");
    CHECK(restored.code == 0);
    CHECK(restored.err ==
        "partition \"ann\": the local rows are older than what was sent: the file was restored, or copied\n");
    CHECK(rows_of(backup.path(), "notes") == row_text("a", "two"));
}

TEST_CASE("sync: Ctrl-C ends between requests, and the same command continues") {
    scratch_store const laptop;
    std::string const cloud = "memory:tool-sync-interrupted";
    fill(laptop.path(), "notes", jsonl_of_ann);
    fill(cloud, "notes", row_text("c", "cloud"));
    for (std::string const words : {"--whole-table", "--partition=ann"}) {
        CAPTURE(words);
        entitable::cancellation_source stop;
        stop.cancel();
        std::ostringstream out;
        std::ostringstream err;
        std::istringstream in;
        tool::console with{out, err, in};
        with.interrupted = stop.token();
        CHECK(static_cast<int>(tool::run_tool({"sync", laptop.path(), "notes", cloud, words}, with)) == 1);
        CHECK(err.str() == "entitable: interrupted; the same command continues\n");
    }
    CHECK(rows_of(cloud, "notes") == row_text("c", "cloud"));
    CHECK(run_tool("sync", laptop.path(), "notes", cloud, "--partition", "ann").out ==
        "1 partition: 1 row pulled, 2 pushed\n");
}

TEST_CASE("sync: tables that only their program may write, absent tables and one table twice are refused") {
    scratch_store const laptop;
    std::string const cloud = "memory:tool-sync-refused";
    fill(laptop.path(), "notes", jsonl_of_ann);
    auto const sync = [&](std::string const& table, std::string const& to, std::vector<std::string> more) {
        more.insert(more.begin(), {"sync", laptop.path(), table, to});
        return run_tool_with({}, more);
    };
    CHECK(sync("notes", cloud, {}).err ==
        "entitable: choose partitions with --partition, or permit all of both tables with --whole-table\n");
    CHECK(sync("notes", laptop.path(), {"--whole-table"}).err == "entitable: both sides are the same table\n");
    CHECK(
        sync("notes", "file:" + laptop.path(), {"--whole-table"}).err == "entitable: both sides are the same table\n");
    CHECK(sync("notes", cloud, {"--whole-table"}).err ==
        "entitable: the table \"notes\" of the other side does not exist: --create creates it\n");
    REQUIRE(entitable::row_table(entitable::open(cloud).value(), "notes").create());
    CHECK(sync("noted", cloud, {"notes", "--whole-table"}).err ==
        "entitable: the local table \"noted\" does not exist: --create creates it\n");
    CHECK(sync("notes", cloud, {"--whole-table", "--conflicts", "newest"}).code == 2);
    CHECK(sync("notes", cloud, {"--whole-table", "--device", "a/b"}).code == 2);
    CHECK(sync("notes", cloud, {"--whole-table", "--partition", "p"}).code == 2);

    entitable::table<tool_sync::runner, tool_sync::by_name> const runners{entitable::open(cloud).value(), "notes"};
    REQUIRE(runners.create_if_absent());
    REQUIRE(runners.insert(tool_sync::runner{"ann", 7, "Ann"}));
    for (std::vector<std::string> const& words :
        {std::vector<std::string>{"--whole-table"}, std::vector<std::string>{"--partition", "ann", "--create"}}) {
        tool_outcome const refused = sync("notes", cloud, words);
        CHECK(refused.code == 1);
        CHECK(refused.err.find("has indexes or sums") != std::string::npos);
        CHECK(refused.err.find("--unmaintained") == std::string::npos);
    }
    CHECK(sync("notes", cloud, {"--whole-table", "--unmaintained"}).code == 2);
    CHECK(rows_of(laptop.path(), "notes") == jsonl_of_ann);

    entitable::table_queue<tool_sync::runner> const parcels{entitable::open(cloud).value(), "parcels"};
    REQUIRE(parcels.create());
    tool_outcome const queue = sync("notes", cloud, {"parcels", "--whole-table"});
    CHECK(queue.code == 1);
    CHECK(queue.err ==
        "entitable: the table \"parcels\" has a queue, which sync does not maintain: synchronise with the program that "
        "keeps them\n");
}
