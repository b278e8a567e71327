// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The command advise: whole outputs over a small table, and workloads that are refused.

#include "tool_run.hpp"

#include <support/catch.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace entitable_test;

namespace {

/// A file that is removed at the end.
class scratch_file {
public:
    explicit scratch_file(std::string const& name, std::string const& content = {})
        : path_(
              (std::filesystem::temp_directory_path() / ("entitable-" + std::to_string(::getpid()) + name)).string()) {
        std::filesystem::remove(path_);
        if (!content.empty()) { std::ofstream{path_, std::ios::binary} << content; }
    }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    ~scratch_file() { std::filesystem::remove(path_); }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }

private:
    std::string path_;
};

constexpr char const* orders_text =
    R"({"PartitionKey":"ann","RowKey":"0000","City":"Oslo","Cents":0}
{"PartitionKey":"bo","RowKey":"0001","City":"Kiel","Cents":100}
{"PartitionKey":"bo","RowKey":"0002","City":"Oslo","Cents":200}
{"PartitionKey":"ann","RowKey":"0003","City":"Kiel","Cents":300}
{"PartitionKey":"bo","RowKey":"0004","City":"Oslo","Cents":400}
{"PartitionKey":"bo","RowKey":"0005","City":"Kiel","Cents":500}
{"PartitionKey":"ann","RowKey":"0006","City":"Oslo","Cents":600}
{"PartitionKey":"bo","RowKey":"0007","City":"Kiel","Cents":700}
{"PartitionKey":"bo","RowKey":"0008","City":"Oslo","Cents":800}
{"PartitionKey":"ann","RowKey":"0009","City":"Kiel","Cents":900}
{"PartitionKey":"bo","RowKey":"0010","City":"Oslo","Cents":1000}
{"PartitionKey":"bo","RowKey":"0011","City":"Kiel","Cents":1100}
)";
constexpr char const* load_text =
    R"({"queries": [{"name": "of a customer", "where": [["PartitionKey", "==", "ann"]], "per_second": 50},
             {"name": "of a city", "where": [["City", "==", "Oslo"], ["Cents", ">=", 300]], "per_second": 2, "latency_ms": 20}],
 "writes": [{"name": "orders", "per_second": 5}]}
)";

std::string filled(std::string const& store) {
    REQUIRE(run_tool_with({.in = orders_text}, {"put", store, "orders", "--create"}).code == 0);
    return store;
}

} // namespace

TEST_CASE("advise: data, queries, candidate keys and the simulated load") {
    std::string const store = filled("memory:tool-advise");
    scratch_file const load{"load.json", load_text};
    scratch_file const page{"advice.html"};
    tool_outcome const done =
        run_tool("advise", store, "orders", "--workload", load.path(), "--minutes", "1", "--html", page.path());
    CHECK(done.code == 0);
    CHECK(done.err.empty());
    CHECK(done.out ==
        "Advice on orders\n"
        "================\n"
        "\n"
        "Data\n"
        "keys        partition_key(PartitionKey), row_key(RowKey)\n"
        "entities    12, 800 B, 66.7 B each\n"
        "partitions  2: mean 6 entities, median 4, 90 % have at most 8, 99 % at most 8\n"
        "largest     bo: 8 entities, 66.7 % of all; Gini 0.167\n"
        "growth      partition keys and time of writing: rank correlation 0.20\n"
        "  member        place     type    present  values  most frequent   share  growth\n"
        "  PartitionKey  key       String    100 %  2       \"bo\"           66.7 %    0.20\n"
        "  RowKey        key       String    100 %  unique                           1.00\n"
        "  City          property  String    100 %  2       \"Oslo\"         50.0 %   -0.14\n"
        "  Cents         property  Int32     100 %  unique                           1.00\n"
        "\n"
        "Workload\n"
        "  'of a customer': one key property: PartitionKey is the PartitionKey\n"
        "  query          access     partitions  examined  returned  requests     time  load/s  figures\n"
        "  of a customer  partition           1      6.67      6.67         1  5.13 ms     333  mean over "
        "PartitionKey\n"
        "  of a city      table               2        12         4         1  5.24 ms      24  as written\n"
        "\n"
        "Findings\n"
        "  note: only 2 partitions [few_partitions]\n"
        "    because  the busiest has 286 of 2,000 entities/s; together they can serve 4,000\n"
        "    cure     append RowKey to the partition key (12 partitions, the largest 1 instead of 8 entities)\n"
        "\n"
        "Candidate keys, best first\n"
        "     keys                                                                    cost  busiest/s  partitions  "
        "largest\n"
        "  1  partition_key(PartitionKey), row_key(RowKey)                           0.292        286           2      "
        "  8  present\n"
        "  2  partition_key(literal(\"all\")), row_key(escaped(PartitionKey), RowKey)  0.292        362           1    "
        "   12\n"
        "  3  partition_key(RowKey), row_key(PartitionKey)                           0.297       52.4          12      "
        "  1\n"
        "  4  partition_key(salted(RowKey, 4)), row_key(PartitionKey)                0.297       52.4          12      "
        "  1\n"
        "\n"
        "Load over time, simulated\n"
        "=========================\n"
        "simulated   60 s, request by request, seed 1\n"
        "requests    21,972 new, 21,972 sent; served 21,972, given up 0 (0.00 %), 503 responses 0\n"
        "latency     mean 5.56 ms, median 5.51 ms, 99 % 6.23 ms, 99.9 % 6.62 ms, longest 6.97 ms\n"
        "servers     up to 1 at work; 0 splits, 0 moves, 0 joins of ranges\n"
        "model       a partition 2,000, a server 2,000, an account 20,000 entities/s; ranges that are too hot for 5 "
        "min are split or moved, which takes 5 s; a request waits at most 1 s\n");
    CHECK(std::filesystem::file_size(page.path()) > 1000);
    CHECK(run_tool("advise", store, "orders", "--html", page.path()).err ==
        "entitable: nobody can be asked \"" + page.path() +
            " exists. Overwrite it?\": repeat the command with --yes\n");
    tool_outcome const named =
        run_tool("advise", store, "orders", "--partition-key", "customer", "--row-key", "number");
    CHECK(named.code == 0);
    CHECK(named.out ==
        "Advice on orders\n"
        "================\n"
        "\n"
        "Data\n"
        "keys        partition_key(customer), row_key(number)\n"
        "entities    12, 800 B, 66.7 B each\n"
        "partitions  2: mean 6 entities, median 4, 90 % have at most 8, 99 % at most 8\n"
        "largest     bo: 8 entities, 66.7 % of all; Gini 0.167\n"
        "growth      partition keys and time of writing: rank correlation 0.20\n"
        "  member        place          type    present  values  most frequent   share  growth\n"
        "  PartitionKey  key            String    100 %  2       \"bo\"           66.7 %    0.20\n"
        "  customer      partition key  String    100 %  2       \"bo\"           66.7 %    0.20\n"
        "  number        row key        String    100 %  unique                           1.00\n"
        "  City          property       String    100 %  2       \"Oslo\"         50.0 %   -0.14\n"
        "  Cents         property       Int32     100 %  unique                           1.00\n"
        "\n"
        "Workload\n"
        "  nothing\n"
        "\n"
        "Findings\n"
        "  note: only 2 partitions [few_partitions]\n"
        "    because  the busiest has 0 of 2,000 entities/s; together they can serve 4,000\n"
        "    cure     append number to the partition key (12 partitions, the largest 1 instead of 8 entities)\n"
        "\n"
        "Candidate keys, best first\n"
        "     keys                                            cost  busiest/s  partitions  largest\n"
        "  1  partition_key(customer), row_key(number)           0          0           2        8  present\n"
        "  2  partition_key(number), row_key(customer)           0          0          12        1\n"
        "  3  partition_key(literal(\"all\")), row_key(number)     0          0           1       12\n");
}

TEST_CASE("advise: what is refused") {
    std::string const store = filled("memory:tool-advise-refused");
    CHECK(run_tool("advise", store, "order").err ==
        "entitable: the table \"order\" does not exist: \"entitable tables STORE\" lists the tables\n");
    CHECK(run_tool("advise", store, "orders", "--row-key", "number").code == 2);
    CHECK(run_tool("advise", store, "orders", "--partition-key", "a,", "--row-key", "b").code == 1);
    CHECK(run_tool("advise", store, "orders", "--rows", "0").code == 2);
    CHECK(run_tool("advise", store, "orders", "--minutes", "-1").code == 2);
    CHECK(run_tool("advise", store, "orders", "--workload", "/nowhere/load.json").err ==
        "entitable: cannot read /nowhere/load.json\n");
    std::string const number = "'q': per_second must be a number from 0 to 1,000,000,000";
    std::vector<std::pair<std::string, std::string>> const workloads{{"{\n\"queries\": [}", "line 2: this is no JSON"},
        {R"({"queries": [{"name": "q", "per_second": -1}]})", number},
        {R"({"queries": [{"name": "q", "per_second": "many"}]})", number},
        {R"({"writes": [{"name": "q", "per_second": 1e10}]})", number},
        {R"({"queries": [{"name": "q", "where": [["Town", "==", 1]]}]})", "'q' asks for Town, which no entity has"},
        {R"({"queries": [{"name": "q", "where": [["City", "=", 1]]}]})",
            "a condition of 'q' is not [\"member\", \"==\", value]"},
        {R"({"queries": [{"name": "q", "where": [["Cents", "==", null]]}]})",
            "the value of a condition on Cents is not a text, a number, true or false"},
        {R"({"queries": [{"name": "q", "where": [["Cents", "==", 1e300]]}]})",
            "the value of a condition on Cents must be an integer of 32 bits"},
        {R"({"queries": [{"name": "q", "where": [["RowKey", "==", 1.5]]}]})",
            "the value of a condition on RowKey must be an integer of 64 bits"}};
    for (auto const& [text, wanted] : workloads) {
        CAPTURE(text);
        scratch_file const load{"refused.json", text};
        tool_outcome const refused = run_tool("advise", store, "orders", "--workload", load.path());
        CHECK(refused.code == 1);
        CHECK(refused.out.empty());
        CHECK(refused.err == "entitable: " + load.path() + ": " + wanted + "\n");
    }
}

TEST_CASE("advise: an empty table, one row, and names with control characters") {
    std::string const store = "memory:tool-advise-small";
    REQUIRE(run_tool("put", store, "rows", "p", "r", "--create", "--set", "Text=\x1b[31m").code == 0);
    tool_outcome const one = run_tool("advise", store, "rows");
    CHECK(one.code == 0);
    CHECK(one.out.find("\nentities    1, ") != std::string::npos);
    CHECK(one.out.find('\x1b') == std::string::npos);
    REQUIRE(run_tool("delete", store, "rows", "p", "r", "--yes").code == 0);
    tool_outcome const none = run_tool("advise", store, "rows");
    CHECK(none.code == 0);
    CHECK(none.out.find("\nentities    0, 0 B\n") != std::string::npos);
    scratch_file const load{"empty.json", "{}"};
    CHECK(run_tool("advise", store, "rows", "--workload", load.path()).out == none.out);
}
