// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What protects stored rows: questions, --yes, --if-match, --dry-run, and tables whose indexes the command does not maintain.

#include "tool_run.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/entitable.hpp>
#include <entitable/messaging.hpp>
#include <entitable/once.hpp>
#include <entitable/open.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>

#include <support/catch.hpp>

#include <map>
#include <string>
#include <vector>

using namespace entitable_test;

namespace tool_writes {

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(name))

struct by_name : runner {};
ENTITABLE(by_name, partition_key(race), row_key(literal("NAME:"), escaped(name), width(bib, 5)), properties())

} // namespace tool_writes

TEST_CASE("put inserts, and overwrites with consent only") {
    std::string const store = "memory:tool-put";
    auto const put = [&](std::vector<std::string> more, tool_setting const& setting = {}) {
        more.insert(more.begin(), {"put", store, "runners", "p", "r"});
        return run_tool_with(setting, more);
    };
    CHECK(timeless(put({"--set", "A=1", "--create"}).out) == "\"p\" / \"r\" inserted, ETag ETAG\n");
    tool_outcome const refused = put({"--set", "A=2"});
    CHECK(refused.code == 1);
    CHECK(refused.out.empty());
    CHECK(refused.err == "entitable: the row \"p\" / \"r\" is stored: repeat the command with --yes to overwrite it\n");

    tool_outcome const no = put({"--set", "A=2"}, {.in = "n\n", .is_terminal = true});
    CHECK(no.code == 1);
    CHECK(no.err == "The row \"p\" / \"r\" is stored: overwrite it? [y/N] entitable: nothing was changed\n");
    CHECK(put({"--set", "A=2"}, {.in = "", .is_terminal = true}).code == 1);
    CHECK(run_tool("query", store, "runners", "--partition", "p", "--select", "A", "--format", "csv").out == "A\n1\n");

    CHECK(put({"--set", "A=2"}, {.in = "y\n", .is_terminal = true}).code == 0);
    CHECK(run_tool("query", store, "runners", "--partition", "p", "--select", "A", "--format", "csv").out == "A\n2\n");
    CHECK(put({"--set", "A=3", "--yes"}).code == 0);
    CHECK(run_tool("query", store, "runners", "--partition", "p", "--select", "A", "--format", "csv").out == "A\n3\n");
}

TEST_CASE("option --if-match writes only the version that was read") {
    std::string const store = "memory:tool-match";
    CHECK(run_tool("put", store, "runners", "p", "r", "--create").code == 0);
    std::string const line = run_tool("get", store, "runners", "p", "r").out;
    std::size_t const at = line.find("W/");
    std::string const version = line.substr(at, line.find('\n', at) - at);
    CHECK(run_tool("merge", store, "runners", "p", "r", "--set", "A=1", "--if-match", version).code == 0);
    tool_outcome const late = run_tool("delete", store, "runners", "p", "r", "--if-match", version);
    CHECK(late.code == 1);
    CHECK(late.err == "entitable: the row \"p\" / \"r\" was changed since its ETag was read: get prints the new one\n");
    CHECK(run_tool("delete", store, "runners", "p", "r", "--if-match", version, "--dry-run").code == 1);
    CHECK(run_tool("count", store, "runners", "--scan").out == "1\n");
    CHECK(run_tool("delete", store, "runners", "p", "r", "--if-match", "nonsense").code == 1);
}

TEST_CASE("option --dry-run writes nothing") {
    std::string const store = "memory:tool-dry";
    CHECK(run_tool("put", store, "runners", "p", "r", "--create").code == 0);
    CHECK(run_tool("put", store, "runners", "p", "r", "--set", "A=1", "--dry-run").out ==
        "\"p\" / \"r\" would be replaced\n");
    CHECK(run_tool("put", store, "runners", "p", "new", "--dry-run").out == "\"p\" / \"new\" would be inserted\n");
    CHECK(run_tool("merge", store, "runners", "p", "r", "--set", "A=1", "--dry-run").out ==
        "\"p\" / \"r\" would be merged\n");
    CHECK(run_tool("delete", store, "runners", "p", "r", "--dry-run").out == "\"p\" / \"r\" would be deleted\n");
    CHECK(run_tool("delete", store, "runners", "p", "new", "--dry-run").code == 1);
    CHECK(run_tool("query", store, "runners", "--scan", "--format", "jsonl").out ==
        "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}\n");
}

TEST_CASE("refused lines are named, the others are written, and the exit code tells") {
    std::string const store = "memory:tool-lines";
    auto const put = [&](std::string const& text) {
        return run_tool_with({.in = text}, {"put", store, "runners", "--create"});
    };
    std::string const good = "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n";
    tool_outcome const mixed = put(good + "nonsense\n\n{\"RowKey\":\"2\"}\n");
    CHECK(mixed.code == 3);
    CHECK(mixed.out == "1 row inserted\n2 lines refused\n");
    CHECK(mixed.err ==
        "line 2: column 1: expected an object\n"
        "line 4: the member \"PartitionKey\" is missing or not a string\n");
    tool_outcome const again = put(good);
    CHECK(again.code == 1);
    CHECK(again.err == "line 1: the row \"p\" / \"1\" is stored: repeat the command with --yes to overwrite it\n");
    CHECK(put("{\"PartitionKey\":\"p\",\"RowKey\":\"~!x\"}\n").err ==
        "line 1: row keys that begin with \"~!\" are reserved for the library\n");
    CHECK(put("\xEF\xBB\xBF{\"PartitionKey\":\"p\",\"RowKey\":\"bom\"}\r\n").out == "1 row inserted\n");
    tool_outcome const removed = run_tool_with(
        {.in = good + "{\"PartitionKey\":\"p\",\"RowKey\":\"bom\"}"}, {"delete", store, "runners", "--yes"});
    CHECK(removed.out == "2 rows deleted\n");
    CHECK(run_tool("put", store, "runners", "p").err ==
        "entitable: a row has two keys: name PARTITION and ROW, or neither to read JSON lines\n");
}

TEST_CASE("a table with an index is not changed unless --unmaintained") {
    std::string const address = "memory:tool-index";
    entitable::table<tool_writes::runner, tool_writes::by_name> const runners{
        entitable::open(address).value(), "runners"};
    REQUIRE(runners.create_if_absent());
    REQUIRE(runners.insert({"Oslo", 7, "Ann"}));
    CHECK(run_tool("query", address, "runners", "--scan", "--select", "RowKey", "--format", "csv").out ==
        "RowKey\nBIB:00007\nNAME:Ann!00007\n");
    std::vector<std::vector<std::string>> const writes = {{"put", address, "runners", "Oslo", "BIB:00008"},
        {"merge", address, "runners", "Oslo", "BIB:00007", "--set", "name=Bo", "--yes"},
        {"delete", address, "runners", "Oslo", "BIB:00007", "--yes"}};
    for (auto const& each : writes) {
        CAPTURE(each.front());
        tool_outcome const refused = run_tool_with({}, each);
        CHECK(refused.code == 1);
        CHECK(refused.err.find("has indexes or sums") != std::string::npos);
        CHECK(refused.err.find("--unmaintained") != std::string::npos);
    }
    CHECK(runners.get("Oslo", 7).value().name == "Ann");
    std::vector<std::string> forced = writes[1];
    forced.push_back("--unmaintained");
    CHECK(run_tool_with({}, forced).code == 0);
    CHECK(runners.get("Oslo", 7).value().name == "Bo");
}

TEST_CASE("the first of several parts of a row is not changed unless --unmaintained") {
    std::string const address = "memory:tool-wide";
    entitable::row_table const rows{entitable::open(address).value(), "rows"};
    REQUIRE(rows.create());
    entitable::entity first{"p", "r"};
    first.set("WideParts", std::int32_t{2});
    REQUIRE(rows.insert(first));
    CHECK(run_tool("delete", address, "rows", "p", "r", "--yes").code == 1);
    CHECK(run_tool("put", address, "rows", "p", "r", "--yes").code == 1);
    CHECK(run_tool("delete", address, "rows", "p", "r", "--yes", "--unmaintained").code == 0);
}

TEST_CASE("tables of the library's own rows are not changed unless --unmaintained") {
    std::string const address = "memory:tool-own";
    entitable::any_store const store = entitable::open(address).value();
    auto const insert = [&](std::string const& table, entitable::entity const& row) {
        entitable::row_table const rows{store, table};
        REQUIRE(rows.create_if_absent());
        REQUIRE(rows.insert(row));
    };
    REQUIRE(entitable::table_queue<tool_writes::runner>{store, "queue"}.create());
    entitable::table_queue<tool_writes::runner> const headless{store, "headless"};
    REQUIRE(headless.create());
    REQUIRE(headless.enqueue({"Oslo", 7, "Ann"}));
    {
        entitable::call context;
        std::string const key{entitable::system_row::queue};
        REQUIRE(store.execute(entitable::write_entity{"headless",
                                  entitable::mutation::remove(entitable::row{key, key, {}}, entitable::any_etag)},
            context));
        std::string const view{entitable::system_row::view};
        REQUIRE(entitable::row_table(store, "view").create());
        entitable::row const generation = entitable::row_builder{view, view}.build();
        REQUIRE(store.execute(entitable::write_entity{"view", entitable::mutation::insert(generation)}, context));
    }
    REQUIRE(entitable::row_table(store, "identities").create());
    REQUIRE(entitable::sequence{store, "tickets"}.next());
    REQUIRE(entitable::row_table(store, "once").create());
    entitable::once const mails{store, "mail"};
    REQUIRE(mails.run("ann", [](entitable::once_run const&) -> entitable::result<void> { return {}; }));
    entitable::entity wide{"p", "r"};
    insert("wide", wide.set("WideParts", std::int32_t{2}));
    entitable::entity map{"map", "header"};
    insert("map", map.set("hash_version", std::int32_t{1}));
    entitable::entity backup{"backup", "header"};
    insert("backup", backup.set("state", "whole"));
    entitable::entity reference{"reference", "master"};
    insert("reference", reference.set("version", std::int64_t{1}));

    std::map<std::string, std::string> const content{{"queue", "a queue"}, {"headless", "a queue"},
        {"view", "the generations of a view, which are tables of this store"}, {"identities", "a sequence"},
        {"once", "keys of once"}, {"wide", "wide entities"}, {"map", "a map of shards"},
        {"backup", "a backup of shards"}, {"reference", "the state of a reference table"}};
    std::string const line = R"({"PartitionKey":"zoe","RowKey":"new"})";
    for (auto const& [table, holds] : content) {
        CAPTURE(table);
        std::string const refusal = "entitable: the table \"" + table + "\" has " + holds +
            ", which this command would leave wrong: write with the program that declares them, or repeat the command "
            "with --unmaintained and repair them afterwards\n";
        for (std::string const command : {"put", "merge", "delete"}) {
            CAPTURE(command);
            CHECK(run_tool(command, address, table, "zoe", "new", "--yes").err == refusal);
        }
        std::vector<std::string> import{"import", address, table, "-", "--format", "jsonl"};
        tool_outcome const refused = run_tool_with({.in = line}, import);
        CHECK(refused.code == 1);
        CHECK(refused.err == refusal);
        import.emplace_back("--unmaintained");
        CHECK(run_tool_with({.in = line}, import).code == 0);
        CHECK(run_tool("delete", address, table, "zoe", "new", "--yes", "--unmaintained").code == 0);
    }
}

TEST_CASE("rows that resemble those of the library are written") {
    std::string const address = "memory:tool-resembling";
    entitable::any_store const store = entitable::open(address).value();
    entitable::row_table const rows{store, "rows"};
    REQUIRE(rows.create());
    entitable::entity value{"identities", "a"};
    value.set("Value", "a text"); // numbers of a sequence are Int64
    REQUIRE(rows.insert(value));
    entitable::entity header{"map", "header"};
    REQUIRE(rows.insert(header.set("state", "x")));
    entitable::entity later{"zoe", "counter"}; // WideParts of a later row is found when that row is written
    REQUIRE(rows.insert(later.set("WideParts", std::int32_t{2})));
    CHECK(run_tool("put", address, "rows", "p", "new").code == 0);
    // Rows that a synchronisation, or a write with an id, adds to those of the program.
    entitable::call context;
    for (std::string_view const key : {entitable::system_row::synced, entitable::system_row::operation}) {
        entitable::row const beside = entitable::row_builder{"aaa", std::string{key}}.build();
        REQUIRE(store.execute(entitable::write_entity{"rows", entitable::mutation::insert(beside)}, context));
    }
    CHECK(run_tool("put", address, "rows", "p", "newer").code == 0);
}

TEST_CASE("types are written as they are named") {
    std::string const store = "memory:tool-types";
    CHECK(run_tool("put", store, "types", "p", "r", "--create", "--set", "S=a=b", "--set", "I:int32=-1", "--set",
              "L:int64=9223372036854775807", "--set", "D:double=1e300", "--set", "N:double=NaN", "--set",
              "B:boolean=false", "--set", "T:datetime=2026-01-31T12:00:00.5Z", "--set",
              "G:guid=c9da6455-213d-42c9-9a79-3e9149a57833", "--set", "X:binary=AAEC/w==", "--set", "E=")
              .code == 0);
    CHECK(run_tool("query", store, "types", "--scan", "--format", "jsonl").out ==
        "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"S\":\"a=b\",\"I\":-1,\"L@odata.type\":\"Edm.Int64\","
        "\"L\":\"9223372036854775807\",\"D\":1e+300,\"N@odata.type\":\"Edm.Double\",\"N\":\"NaN\",\"B\":false,"
        "\"T@odata.type\":\"Edm.DateTime\",\"T\":\"2026-01-31T12:00:00.5Z\",\"G@odata.type\":\"Edm.Guid\","
        "\"G\":\"c9da6455-213d-42c9-9a79-3e9149a57833\",\"X@odata.type\":\"Edm.Binary\",\"X\":\"AAEC/"
        "w==\",\"E\":\"\"}\n");
    for (char const* wrong : {"A:int32=x", "A:int32=2147483648", "A:int32=", "A:double=1x", "A:boolean=yes", "A:guid=1",
             "A:binary=abc", "A:binary=A===", "A:datetime=soon", "A:colour=red", "=1", "A"}) {
        CAPTURE(wrong);
        CHECK(run_tool("put", store, "types", "p", "new", "--set", wrong).code == 1);
    }
    CHECK(run_tool("count", store, "types", "--scan").out == "1\n");
}
