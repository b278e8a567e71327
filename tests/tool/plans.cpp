// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The commands plan and stress: whole outputs. Times and rates of a stress test differ from run to run, so its output is compared without numbers.

#include "tool_run.hpp"

#include <support/catch.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

using namespace entitable_test;

namespace {

/// A page that a command writes; it is removed at the end.
class scratch_page {
public:
    explicit scratch_page(std::string const& name)
        : path_((std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()) + ".html")).string()) {
        std::filesystem::remove(path_);
    }
    scratch_page(scratch_page const&) = delete;
    scratch_page& operator=(scratch_page const&) = delete;
    ~scratch_page() { std::filesystem::remove(path_); }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::string content() const {
        std::ifstream in{path_, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }

private:
    std::string path_;
};

/// The text with `T` for times and `N` for other numbers, and one space between columns.
std::string shape_of(std::string const& text) {
    static std::regex const time{R"(\b[0-9][0-9.,]* (ns|us|ms|s|min)\b)"};
    static std::regex const number{R"(\b[0-9][0-9.,]*)"};
    static std::regex const verdict{R"(verdict  \w+)"};
    static std::regex const spaces{" +"};
    std::string made = std::regex_replace(std::regex_replace(text, time, "T"), number, "N");
    made = std::regex_replace(std::regex_replace(made, verdict, "verdict V"), spaces, " ");
    return std::regex_replace(made, std::regex{"\n "}, "\n");
}

void fill(std::string const& store) {
    REQUIRE(run_tool("put", store, "notes", "ann", "a", "--create", "--set", "Text=one").code == 0);
    REQUIRE(run_tool("put", store, "notes", "ann", "b", "--set", "Text=two").code == 0);
    REQUIRE(run_tool("put", store, "notes", "bo", "c", "--set", "Text=three").code == 0);
}

} // namespace

TEST_CASE("plan: from the partitions of now to more throughput") {
    tool_outcome const done = run_tool("plan", "--partitions", "5", "--to", "150000");
    CHECK(done.code == 0);
    CHECK(done.err.empty());
    CHECK(done.out ==
        "Throughput of a container\n"
        "=========================\n"
        "\n"
        "Request units\n"
        "=============\n"
        "from              5 physical partitions to 150,000 RU/s\n"
        "instant maximum   50,000 RU/s: not enough, partitions must be split\n"
        "direct raise      15 partitions of 10,000 RU/s\n"
        "even raise        raise to 200,000 RU/s first (20 partitions), then lower to 150,000: 7,500 RU/s each\n"
        "lowest afterwards 2,000 RU/s; as a maximum of autoscale 20,000 RU/s\n"
        "autoscale         15,000 to 150,000 RU/s\n"
        "count partitions  in the portal: Insights > Throughput > Normalized RU Consumption (%) By "
        "PartitionKeyRangeID; it shows 50 ranges at most: for more, count those returned by the REST call Get "
        "Partition Key Ranges\n"
        "timetable\n"
        "  hour 0        set 50,000 RU/s, the instant maximum, which may be enough: check the share of 429 responses "
        "again\n"
        "                to undo: lower it at any time, immediately\n"
        "  hour 0 to 6   set 200,000 RU/s: every partition is split 2 times, typically 4 to 6 hours for the whole "
        "operation (assumed at most 12 hours, if each split takes as long); the data stay available; a change of "
        "regions pauses the split, which resumes by itself\n"
        "                to undo: not possible: split partitions stay split, and the minimum RU/s rises to 2,000\n"
        "  hour 6        set 150,000 RU/s: takes effect immediately; each of the 20 partitions gets 7,500\n"
        "                to undo: raise it again to 200,000, immediately\n"
        "values from the provider's page as of 2025-07-23\n");
}

TEST_CASE("plan: by the instant maximum, with stored data, after the page of 2021") {
    tool_outcome const done = run_tool("plan", "--to", "150000", "--instant-maximum", "30000", "--storage", "500",
        "--highest-ever", "200000", "--page", "2021");
    CHECK(done.code == 0);
    CHECK(done.out ==
        "Throughput of a container\n"
        "=========================\n"
        "\n"
        "Request units\n"
        "=============\n"
        "from              3 physical partitions to 150,000 RU/s\n"
        "instant maximum   30,000 RU/s: not enough, partitions must be split\n"
        "direct raise      15 partitions of 10,000 RU/s\n"
        "even raise        raise to 240,000 RU/s first (24 partitions), then lower to 150,000: 6,250 RU/s each\n"
        "lowest afterwards 5,000 RU/s; as a maximum of autoscale 50,000 RU/s\n"
        "autoscale         15,000 to 150,000 RU/s\n"
        "count partitions  in the portal: Insights > Throughput > Normalized RU Consumption (%) By "
        "PartitionKeyRangeID; it shows 50 ranges at most: for more, count those returned by the REST call Get "
        "Partition Key Ranges\n"
        "timetable\n"
        "  hour 0        set 30,000 RU/s, the instant maximum, which may be enough: check the share of 429 responses "
        "again\n"
        "                to undo: lower it at any time, immediately\n"
        "  hour 0 to 6   set 240,000 RU/s: every partition is split 3 times, typically 4 to 6 hours for the whole "
        "operation (assumed at most 18 hours, if each split takes as long); the data stay available; a change of "
        "regions pauses the split, which resumes by itself\n"
        "                to undo: not possible: split partitions stay split, and the minimum RU/s rises to 5,000\n"
        "  hour 6        set 150,000 RU/s: takes effect immediately; each of the 24 partitions gets 6,250\n"
        "                to undo: raise it again to 240,000, immediately\n"
        "values from the provider's page as of 2021-08-20\n");
}

TEST_CASE("plan: before much data is written, as text and as a page") {
    scratch_page const page{"entitable-plan"};
    tool_outcome const done = run_tool("plan", "--ingest", "1000", "--html", page.path());
    CHECK(done.code == 0);
    CHECK(done.err.empty());
    std::string const text =
        "Throughput of a container\n"
        "=========================\n"
        "\n"
        "Request units for bulk data\n"
        "===========================\n"
        "to write          1,000 GB in entities of 1 KB, 10 RU a write\n"
        "partitions        25, each 80 % full (40 of 50 GB)\n"
        "timetable\n"
        "  hour 0        create the container with 150,000 RU/s: it begins with 25 physical partitions\n"
        "                to undo: delete it\n"
        "  hour 0        set 250,000 RU/s: takes effect immediately, because the partitions exist\n"
        "                to undo: lower it at any time, immediately\n"
        "  hour 0 to 11.1 write in shuffled order, so that the writes of each second go to many partitions: at least "
        "11.1 hours\n"
        "                to undo: stop at any time\n"
        "  hour 11.1     lower it to what the application needs, at least 2,500 RU/s\n"
        "                to undo: raise it again to 250,000, immediately\n"
        "values from the provider's page as of 2025-07-23\n";
    CHECK(done.out == text);
    CHECK(page.content().find("<svg") != std::string::npos);
    tool_outcome const again = run_tool("plan", "--ingest", "1000", "--html", page.path());
    CHECK(again.code == 1);
    CHECK(again.out.empty());
    CHECK(again.err ==
        "entitable: nobody can be asked \"" + page.path() +
            " exists. Overwrite it?\": repeat the command with --yes\n");
    CHECK(run_tool("plan", "--ingest", "1000", "--html", page.path(), "--yes").out == text);
    CHECK(run_tool("plan", "--ingest", "1000", "--autoscale", "--fill", "30", "--item-kb", "2", "--ru-per-write", "20")
              .out ==
        "Throughput of a container\n"
        "=========================\n"
        "\n"
        "Request units for bulk data\n"
        "===========================\n"
        "to write          1,000 GB in entities of 2 KB, 20 RU a write\n"
        "partitions        34, each 60 % full (30 of 50 GB)\n"
        "timetable\n"
        "  hour 0        create the container with 340,000 RU/s as the autoscale maximum: it begins with 34 physical "
        "partitions\n"
        "                to undo: delete it\n"
        "  hour 0 to 8.17 write in shuffled order, so that the writes of each second go to many partitions: at least "
        "8.2 hours\n"
        "                to undo: stop at any time\n"
        "  hour 8.17     lower it to what the application needs, at least 3,400 RU/s\n"
        "                to undo: raise it again to 340,000, immediately\n"
        "values from the provider's page as of 2025-07-23\n");
}

TEST_CASE("plan: shares of refused requests, and what is refused") {
    CHECK(run_tool("plan", "--refused", "120", "--of", "10000").out ==
        "1.20 % of the requests were answered with 429: healthy, if the latency is acceptable: the provisioned "
        "throughput is used\n");
    CHECK(run_tool("plan", "--refused", "1000", "--of", "10000").out ==
        "10.00 % of the requests were answered with 429: too many: look for a hot partition first, then raise to the "
        "instant maximum and look again\n");
    CHECK(run_tool("plan", "--refused", "0", "--of", "1").out ==
        "0.00 % of the requests were answered with 429: there is throughput to spare\n");
    std::string const both = "entitable: --refused N --of M means that N of M requests were answered with 429\n";
    for (std::vector<std::string> const& words : std::vector<std::vector<std::string>>{{"plan", "--refused", "5"},
             {"plan", "--of", "5"}, {"plan", "--refused", "0", "--of", "0"}, {"plan", "--refused", "2", "--of", "1"}}) {
        tool_outcome const refused = run_tool_with({}, words);
        CHECK(refused.code == 2);
        CHECK(refused.err == both);
        CHECK(refused.out.empty());
    }
    std::string const one = "entitable: give one of --to, --ingest and --refused; see entitable plan --help\n";
    CHECK(run_tool("plan").err == one);
    CHECK(run_tool("plan", "--to", "5000", "--ingest", "5").err == one);
    CHECK(run_tool("plan", "--to", "-1").code == 2);
    tool_outcome const little = run_tool("plan", "--partitions", "5", "--to", "5");
    CHECK(little.code == 1);
    CHECK(little.err ==
        "entitable: the desired throughput must be from 400 to 10,000,000,000,000 RU/s (OutOfRangeInput)\n");
}

TEST_CASE("stress: the report has its steps and kinds of calls, and the table of the test is removed") {
    std::string const store = "memory:tool-stress";
    fill(store);
    scratch_page const page{"entitable-stress"};
    tool_outcome const done = run_tool("stress", store, "notes", "--seconds", "0.1", "--steps", "2", "--peak", "20",
        "--target", "30", "--html", page.path());
    CHECK(done.err.empty());
    CHECK(done.out.find("2 rows of one partition\nverdict  ") == 0);
    CHECK(
        (done.code == 0) == (done.out.find("\nverdict  fits: ") != std::string::npos)); // a stall of the machine counts
    // A store in memory serves more than the target, unless the machine stalls.
    std::string report = done.out;
    std::size_t const note = report.find("         above the target: ");
    if (note != std::string::npos) { report.erase(note, report.find('\n', note) + 1 - note); }
    CHECK(shape_of(report) ==
        "N rows of one partition\n"
        "verdict V: carried N entities/s of a peak of N; the target of a partition is N\n"
        "wanted/s served/s calls unsent failed attempts median N % longest errors\n"
        "N N N N N N T T T\n"
        "N N N N N N T T T\n"
        "\n"
        "by kind of call, in all steps\n"
        "kind served/s calls failed throttled median N % longest\n"
        "read N N N N T T T\n"
        "write N N N N T T T\n");
    CHECK(page.content().find("<svg") != std::string::npos);
    CHECK(run_tool("tables", store).out == "notes\n");
    CHECK(run_tool("count", store, "notes", "--scan").out == "3\n");
}

TEST_CASE("stress: more than a store carries ends with 1, with reads alone and writes alone") {
    std::string const store = "memory:tool-stress-hot";
    fill(store);
    for (std::vector<std::string> const& words :
        std::vector<std::vector<std::string>>{{"--writes", "0"}, {"--reads", "0"}}) {
        std::vector<std::string> all{"stress", store, "notes", "--partition", "bo", "--seconds", "0.02", "--steps", "2",
            "--peak", "100000000", "--target", "100", "--test-table", "hot"};
        all.insert(all.end(), words.begin(), words.end());
        tool_outcome const done = run_tool_with({}, all);
        CHECK(done.code == 1);
        CHECK(done.err.empty());
        CHECK(done.out.find("1 row of one partition\nverdict  hot_at_once: carried ") == 0);
        CHECK(shape_of(done.out) ==
            "N row of one partition\n"
            "verdict V: carried N entities/s of a peak of N; the target of a partition is N\n"
            "wanted/s served/s calls unsent failed attempts median N % longest errors\n"
            "N N N N N N T T T\n");
        CHECK(run_tool("tables", store).out == "notes\n");
    }
}

TEST_CASE("stress: what is refused changes nothing") {
    std::string const store = "memory:tool-stress-refused";
    fill(store);
    auto const stress = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"stress", store});
        return run_tool_with({}, more);
    };
    CHECK(stress({"notes", "--reads", "0", "--writes", "0"}).code == 2);
    CHECK(stress({"notes", "--reads", "0", "--writes", "0"}).err ==
        "entitable: --reads and --writes must not both be 0\n");
    CHECK(stress({"notes", "--steps", "0"}).err ==
        "entitable: a stress test must have 1 to 1,000 steps and 1 to 10,000 workers (OutOfRangeInput)\n");
    CHECK(stress({"notes", "--workers", "0"}).code == 1);
    CHECK(stress({"notes", "--partition", "cy"}).err ==
        "entitable: the table notes has no rows to test with in this partition\n");
    CHECK(stress({"nothing"}).err ==
        "entitable: the table \"nothing\" does not exist: \"entitable tables STORE\" lists the tables\n");
    CHECK(stress({"notes", "--test-table", "notes"}).err ==
        "entitable: the table \"notes\" already exists (TableAlreadyExists)\n");
    CHECK(run_tool("tables", store, "--count").out == "table  rows  bytes\nnotes     3    116\n");
}
