// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The whole output of each command that reads and writes rows, on each kind of store that is there: memory, a file, a served store, and
// those that the environment names (ENTITABLE_POSTGRES, ENTITABLE_AZURITE).

#include "places.hpp"

#include <support/catch.hpp>

using namespace entitable_test;

namespace {

constexpr char const* rows_text =
    R"({"PartitionKey":"Boston","RowKey":"0007","Name":"Ann","Age":36,"Fee":9.5,"Paid":true}
{"PartitionKey":"Boston","RowKey":"0012","Name":"Bo","Age":5,"Fee":0.25}
{"PartitionKey":"Oslo","RowKey":"0007","Name":"Cy","Age":70,"Big@odata.type":"Edm.Int64","Big":"9007199254740993"}
)";

tool_outcome fill(place const& at) {
    return run_tool_with({.in = rows_text}, {"put", at.address, at.table, "--create"});
}

} // namespace

TEST_CASE("put, query, get, count, sum, group, merge and delete print the same on every store", "[stores]") {
    for (place const& at : places()) {
        CAPTURE(at.kind);
        auto const run = [&](std::string const& command, std::vector<std::string> more = {}) {
            more.insert(more.begin(), {command, at.address, at.table});
            return run_tool_with({}, more);
        };
        tool_outcome const filled = fill(at);
        CHECK(filled.err.empty());
        CHECK(filled.out == "3 rows inserted\n");
        CHECK(filled.code == 0);

        CHECK(run("query", {"--scan"}).out ==
            "PartitionKey  RowKey  Name  Age   Fee  Paid               Big\n"
            "Boston        0007    Ann    36   9.5  true\n"
            "Boston        0012    Bo      5  0.25\n"
            "Oslo          0007    Cy     70              9007199254740993\n");
        CHECK(run("query", {"--scan", "--format", "jsonl"}).out == rows_text);
        CHECK(run("query", {"--scan", "--format", "csv"}).out ==
            "PartitionKey,RowKey,Name,Age,Fee,Paid,Big\n"
            "Boston,0007,Ann,36,9.5,true,\n"
            "Boston,0012,Bo,5,0.25,,\n"
            "Oslo,0007,Cy,70,,,9007199254740993\n");
        CHECK(run("query", {"--partition", "Boston", "--select", "Name,RowKey", "--format", "csv"}).out ==
            "Name,RowKey\nAnn,0007\nBo,0012\n");
        CHECK(
            run("query",
                {"--partition", "Boston", "--filter", "Age gt 30 and Fee lt 10", "--format", "csv", "--select", "Name"})
                .out == "Name\nAnn\n");
        CHECK(run("query", {"--filter", "PartitionKey eq 'Oslo'", "--select", "Big", "--format", "jsonl"}).out ==
            "{\"Big@odata.type\":\"Edm.Int64\",\"Big\":\"9007199254740993\"}\n");
        CHECK(run("query", {"--scan", "--top", "1", "--select", "RowKey", "--format", "csv"}).out == "RowKey\n0007\n");

        CHECK(timeless(run("get", {"Boston", "0007"}).out) ==
            "property      type          value\n"
            "PartitionKey  Edm.String    Boston\n"
            "RowKey        Edm.String    0007\n"
            "Timestamp     Edm.DateTime  TIME\n"
            "odata.etag                  ETAG\n"
            "Name          Edm.String    Ann\n"
            "Age           Edm.Int32     36\n"
            "Fee           Edm.Double    9.5\n"
            "Paid          Edm.Boolean   true\n");
        CHECK(run("get", {"Boston", "1"}).err ==
            "entitable: the table \"" + at.table + "\" has no row \"1\" in the partition \"Boston\"\n");

        CHECK(run("count", {"--scan"}).out == "3\n");
        CHECK(run("count", {"--partition", "Boston", "--filter", "Age lt 10"}).out == "1\n");
        CHECK(run("sum", {"Age,Fee", "--scan"}).out ==
            "property  count   sum  minimum  maximum   mean\n"
            "Age           3   111        5       70   37.0\n"
            "Fee           2  9.75     0.25      9.5  4.875\n");
        CHECK(run("group", {"PartitionKey", "--scan", "--sum", "Age"}).out ==
            "PartitionKey  rows  sum of Age\n"
            "Boston           2          41\n"
            "Oslo             1          70\n");

        CHECK(timeless(run("merge", {"Oslo", "0007", "--set", "Club=Fjord", "--yes"}).out) ==
            "\"Oslo\" / \"0007\" merged, ETag ETAG\n");
        CHECK(run("query", {"--partition", "Oslo", "--select", "Name,Club", "--format", "csv"}).out ==
            "Name,Club\nCy,Fjord\n");
        CHECK(run("delete", {"Oslo", "0007", "--yes"}).out == "\"Oslo\" / \"0007\" deleted\n");
        CHECK(run("count", {"--scan"}).out == "2\n");
        std::string const names = run_tool("tables", at.address).out;
        CHECK(("\n" + names).find("\n" + at.table + "\n") != std::string::npos);
    }
}

TEST_CASE("tables are listed, with their sizes on request") {
    std::string const store = "memory:tool-tables";
    CHECK(run_tool("tables", store).out.empty());
    CHECK(run_tool_with({.in = rows_text}, {"put", store, "runners", "--create"}).code == 0);
    CHECK(run_tool("put", store, "clubs", "NO", "1", "--create").code == 0);
    CHECK(run_tool("tables", store).out == "clubs\nrunners\n");
    CHECK(run_tool("tables", store, "--count").out ==
        "table    rows  bytes\nclubs       1     10\nrunners     3    279\n");
    CHECK(run_tool_with({}, {"tables", store, "--nonsense"}).code == 2);
}

TEST_CASE("option --rows takes half-open ranges, open ends and single keys") {
    std::string const store = "memory:tool-rows";
    for (char const* row : {"a", "b", "c", "d"}) {
        CHECK(run_tool("put", store, "letters", "p", row, "--create").code == 0);
    }
    auto const rows = [&](std::string const& range) {
        return run_tool(
            "query", store, "letters", "--partition", "p", "--rows", range, "--format", "csv", "--select", "RowKey")
            .out;
    };
    CHECK(rows("b..d") == "RowKey\nb\nc\n");
    CHECK(rows("b..") == "RowKey\nb\nc\nd\n");
    CHECK(rows("..b") == "RowKey\na\n");
    CHECK(rows("..") == "RowKey\na\nb\nc\nd\n");
    CHECK(rows("c") == "RowKey\nc\n");
    CHECK(rows("d..b").empty());
    CHECK(rows("b..b").empty());
    tool_outcome const refused = run_tool("query", store, "letters", "--partition", "p", "--rows", "a..b..c");
    CHECK(refused.code == 1);
    CHECK(refused.err ==
        "entitable: --rows has more than one \"..\": write --filter \"RowKey ge 'FROM' and RowKey lt 'TO'\"\n");
}

TEST_CASE("conditions on keys become the range that is read, and numbers without suffix meet every type of number") {
    auto const explained = [](std::string const& filter) {
        return run_tool("query", "memory:", "runners", "--explain", "--filter", filter).out;
    };
    CHECK(explained("PartitionKey eq 'Oslo' and RowKey ge '1' and Name eq 'Ann'") ==
        "access         row_range, begins with 1 request\n"
        "key range      PartitionKey == \"Oslo\" && RowKey >= \"1\"\n"
        "server filter  Name == \"Ann\"\n"
        "client filter  none\n"
        "system rows    skipped by the client\n");
    CHECK(explained("PartitionKey eq 'Oslo' or Name eq 'Ann'") ==
        "access         table, begins with 1 request\n"
        "key range      all keys\n"
        "server filter  PartitionKey == \"Oslo\" || Name == \"Ann\"\n"
        "client filter  none\n"
        "system rows    skipped by the client\n");
    CHECK(explained("not (PartitionKey eq 'Oslo') and (RowKey eq '1' and A lt 1.5)") ==
        "access         table, begins with 1 request\n"
        "key range      RowKey == \"1\"\n"
        "server filter  !(PartitionKey == \"Oslo\") && A < 1.5\n"
        "client filter  none\n"
        "system rows    skipped by the client\n");
    std::string const store = "memory:tool-numbers";
    for (char const* value : {"N:int32=2", "N:int64=2", "N:double=2"}) {
        CHECK(
            run_tool("put", store, "numbers", "p", std::string{value}.substr(2, 5), "--set", value, "--create").code ==
            0);
    }
    CHECK(run_tool("count", store, "numbers", "--partition", "p", "--filter", "N gt 1").out == "3\n");
    CHECK(run_tool("count", store, "numbers", "--partition", "p", "--filter", "N eq 2L").out == "1\n");
    CHECK(run_tool("count", store, "numbers", "--partition", "p", "--filter", "not (N eq 2)").out == "0\n");
}

TEST_CASE("an empty table has no rows, and a table that does not exist is an error with what to do") {
    std::string const store = "memory:tool-empty";
    CHECK(run_tool("put", store, "runners", "p", "r", "--create").code == 0);
    CHECK(run_tool("delete", store, "runners", "p", "r", "--yes").code == 0);
    CHECK(run_tool("query", store, "runners", "--scan").out.empty());
    CHECK(run_tool_with({.is_terminal = true}, {"query", store, "runners", "--scan"}).err == "no rows\n");
    CHECK(run_tool("count", store, "runners", "--scan").out == "0\n");
    CHECK(run_tool("sum", store, "runners", "Age", "--scan").out ==
        "property  count  sum  minimum  maximum  mean\nAge           0    0\n");
    CHECK(run_tool("group", store, "runners", "Age", "--scan").out == "Age  rows\n");
    tool_outcome const absent = run_tool("query", store, "runers", "--scan");
    CHECK(absent.code == 1);
    CHECK(absent.out.empty());
    CHECK(
        absent.err == "entitable: the table \"runers\" does not exist: \"entitable tables STORE\" lists the tables\n");
    CHECK(run_tool("put", store, "runers", "p", "r").err ==
        "entitable: the table \"runers\" does not exist: --create creates it\n");
}

TEST_CASE("a text that ends early, or a missing property, is reported") {
    std::string const store = "memory:tool-columns";
    std::string lines;
    for (int number = 10'000; number < 11'000; ++number) {
        lines += "{\"PartitionKey\":\"p\",\"RowKey\":\"" + std::to_string(number) + "\",\"A\":1}\n";
    }
    lines += "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"B\":1}\n";
    CHECK(run_tool_with({.in = lines}, {"put", store, "rows", "--create"}).out == "1001 rows inserted\n");
    tool_outcome const csv = run_tool("query", store, "rows", "--partition", "p", "--format", "csv");
    CHECK(csv.code == 3);
    CHECK(csv.err ==
        "properties of later rows without a column: B (1 rows): --select chooses columns, --format jsonl shows all\n");
    CHECK(run_tool("query", store, "rows", "--partition", "p", "--format", "csv", "--select", "RowKey,A,B").code == 0);
    CHECK(run_tool("group", store, "rows", "RowKey", "--scan", "--max-groups", "1000").err ==
        "entitable: there are more than 1000 groups: choose other properties, or permit more with --max-groups\n");
}
