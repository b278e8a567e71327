// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Terminals, pipes, errors and help.

#include "commands.hpp"
#include "text.hpp"
#include "tool_run.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/entitable.hpp>
#include <entitable/open.hpp>

#include <support/catch.hpp>

#include <algorithm>

using namespace entitable_test;

namespace {

/// A stream that refuses everything after some bytes, as a closed pipe or a full disk.
class short_output : public std::streambuf {
public:
    explicit short_output(std::size_t room) : room_(room) {}
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }

protected:
    int_type overflow(int_type next) override { return take(1) == 1 ? next : traits_type::eof(); }
    std::streamsize xsputn(char const*, std::streamsize count) override {
        return static_cast<std::streamsize>(take(static_cast<std::size_t>(count)));
    }

private:
    std::size_t take(std::size_t count) {
        std::size_t const taken = (std::min)(count, room_);
        room_ -= taken;
        refused_ += count - taken;
        return taken;
    }
    std::size_t room_;
    std::size_t refused_{};
};

void fill_large(std::string const& address, int rows) {
    entitable::row_table const large{entitable::open(address).value(), "rows"};
    REQUIRE(large.create_if_absent());
    for (int number = 0; number < rows; ++number) {
        entitable::entity made{"p", std::to_string(100'000 + number)};
        made.set("Text", std::string(50, 'x'));
        REQUIRE(large.insert(made));
    }
}

} // namespace

TEST_CASE("a table fits a terminal of 40 columns") {
    std::string const store = "memory:tool-narrow";
    CHECK(run_tool("put", store, "books", "p", "r", "--create", "--set", "Title=A very long title that does not fit",
              "--set", "Pages:int32=352", "--set", "Author=Somebody with a long name")
              .code == 0);
    tool_outcome const narrow = run_tool_with({.is_terminal = true, .width = 40}, {"query", store, "books", "--scan"});
    CHECK(narrow.out ==
        "Parti..  RowKey  Title    Pages  Author\n"
        "p        r       A ver..    352  Someb..\n");
    std::istringstream lines{narrow.out};
    for (std::string line; std::getline(lines, line);) { CHECK(tool::display_width(line) <= 40); }

    tool_outcome const tiny = run_tool_with({.is_terminal = true, .width = 20}, {"query", store, "books", "--scan"});
    CHECK(tiny.out == "PartitionKey  RowKey\np             r\n");
    CHECK(tiny.err == "3 more columns do not fit: --select chooses columns, --format jsonl shows all\n");
    CHECK(
        run_tool_with({.is_terminal = true, .colours = true}, {"query", store, "books", "--scan", "--select", "Pages"})
            .out == "\x1b[1mPages\x1b[0m\n  352\n");
}

TEST_CASE("control characters of rows do not reach the terminal") {
    std::string const store = "memory:tool-control";
    std::string const line =
        R"({"PartitionKey":"it's \"p\"","RowKey":"\u00e9\u65e5","A":"\u001b[31mred\n\t\u0000\u202eend","B":"\u009b"})";
    CHECK(run_tool_with({.in = line}, {"put", store, "rows", "--create"}).out == "1 row inserted\n");
    for (bool const terminal : {false, true}) {
        std::string const out = run_tool_with({.is_terminal = terminal}, {"query", store, "rows", "--scan"}).out;
        CHECK(out ==
            "PartitionKey  RowKey  A                             B\n"
            "it's \"p\"      \xc3\xa9\xe6\x97\xa5     \\x1b[31mred\\n\\t\\x00\\u202eend  \\x9b\n");
    }
    std::string const json = run_tool("query", store, "rows", "--scan", "--format", "jsonl").out;
    CHECK(json.find('\x1b') == std::string::npos);
    CHECK(json.find("\\u001b[31mred\\n\\t\\u0000") != std::string::npos);
    // What is printed is read back to the same row.
    CHECK(run_tool_with({.in = json}, {"put", store, "rows", "--yes"}).out == "1 row replaced\n");
    CHECK(run_tool("query", store, "rows", "--scan", "--format", "jsonl").out == json);
    tool_outcome const wrong = run_tool("query", store, "rows\x1b[31m", "--scan");
    CHECK(wrong.code == 1);
    CHECK(wrong.err.find('\x1b') == std::string::npos);
}

TEST_CASE("texts are cut by their width on the screen") {
    CHECK(tool::printable("a\xff"
                          "b") == "a\\xffb");
    CHECK(tool::display_width("\xe6\x97\xa5\xc3\xa9") == 3);
    CHECK(tool::display_width("e\xcc\x81") == 1);
    CHECK(tool::cut("abcdef", 6) == "abcdef");
    CHECK(tool::cut("abcdefg", 6) == "abcd..");
    CHECK(tool::cut("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 5) == "\xe6\x97\xa5..");
    CHECK(tool::cut("abc", 1) == ".");
}

TEST_CASE("huge cells move their own line only") {
    std::string const store = "memory:tool-huge";
    std::string const lines = "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"A\":\"" + std::string(30'000, 'x') +
        "\",\"B\":1}\n{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"A\":\"y\",\"B\":2}\n";
    REQUIRE(run_tool_with({.in = lines}, {"put", store, "rows", "--create"}).code == 0);
    std::string const out = run_tool("query", store, "rows", "--scan").out;
    CHECK(out.size() < 31'000);
    CHECK(out.find("p             2       y" + std::string(59, ' ') + "  2\n") != std::string::npos);
}

TEST_CASE("a closed pipe ends a query early and without a word, and a full disk is an error") {
    std::string const store = "memory:tool-pipe";
    fill_large(store, 5'000);
    for (bool const closed : {true, false}) {
        short_output room{1'000};
        std::ostream out{&room};
        std::ostringstream err;
        std::istringstream in;
        tool::console with{out, err, in};
        with.output_closed = [&] { return closed && room.refused() > 0; };
        with.output_error = [] { return std::string{"No space left on device"}; };
        int const code = static_cast<int>(tool::run_tool({"query", store, "rows", "--partition", "p"}, with));
        CHECK(code == (closed ? 0 : 1));
        CHECK(err.str() == (closed ? "" : "entitable: cannot write the output: No space left on device\n"));
        CHECK(room.refused() < 100'000); // and not 300,000: it stopped to read
    }
}

TEST_CASE("errors are one sentence with what to do, and have their exit codes") {
    struct mistake {
        std::vector<std::string> arguments;
        int code;
        std::string message;
    };
    std::string const address = "the address of a store begins with memory:, file:, postgres://, https://, shards: or "
                                "env:, ends in .db, or is a "
                                "connection string";
    mistake const all[] = {
        {{"query", "nonsense", "rows", "--scan"}, 1, address},
        {{"tables", "env:ENTITABLE_NOT_SET_ANYWHERE"}, 1, "ENTITABLE_NOT_SET_ANYWHERE"},
        {{"tables", "/nowhere/at/all.db"}, 1, "the file of the store does not exist"},
        {{"tables", "file:x.db?nonsense=1"}, 1, "nonsense"},
        {{"query", "memory:", "rows"}, 1,
            "this would read the whole table: choose a partition with --partition, or permit it with --scan"},
        {{"query", "memory:", "rows", "--scan", "--filter", "A eq"}, 1, "--filter: Syntax error at position"},
        {{"query", "memory:", "rows", "--scan", "--filter", "A lt 'x' and"}, 1, "--filter: "},
        {{"query", "memory:", "rows", "--scan", "--select", "A,,B"}, 1, "a name is missing in \"A,,B\""},
        {{"query", "memory:", "rows", "--scan", "--format", "xml"}, 2, "--format"},
        {{"query", "memory:", "rows", "--top", "-1"}, 2, "--top"},
        {{"query", "memory:"}, 2, "TABLE"},
        {{"nonsense"}, 2, "nonsense"},
        {{"completion", "tcsh"}, 2, "tcsh"},
    };
    for (mistake const& each : all) {
        CAPTURE(each.arguments);
        tool_outcome const made = run_tool_with({}, each.arguments);
        CHECK(made.code == each.code);
        CHECK(made.out.empty());
        CHECK_THAT(made.err, ContainsSubstring(each.message));
        CHECK(std::count(made.err.begin(), made.err.end(), '\n') == 1);
        CHECK(made.err.starts_with("entitable: "));
    }
    CHECK(run_tool_with({}, {}).code == 2);
}

TEST_CASE("no error contains a secret of an address") {
    for (char const* address :
        {"postgres://ann:hunter2@127.0.0.1:1/none", "https://acct.table.core.windows.net?sv=1&sig=hunter2&nonsense",
            "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=aHVudGVyMg==;TableEndpoint=http://127.0.0.1:1/"
            "a;nonsense"}) {
        tool_outcome const made = run_tool("tables", address);
        CAPTURE(made.err);
        CHECK(made.code == 1);
        CHECK(made.err.find("hunter2") == std::string::npos);
        CHECK(made.err.find("aHVudGVyMg") == std::string::npos);
    }
}

TEST_CASE("every command has help with an example, and stands in the manual and in the completions") {
    std::string const overview = run_tool("--help").out;
    std::string const manual = run_tool("--man").out;
    std::string const bash = run_tool("completion", "bash").out;
    std::string const zsh = run_tool("completion", "zsh").out;
    std::string const fish = run_tool("completion", "fish").out;
    for (char const* name :
        {"tables", "get", "query", "count", "sum", "group", "put", "merge", "delete", "check", "completion"}) {
        CAPTURE(name);
        tool_outcome const help = run_tool(name, "--help");
        CHECK(help.code == 0);
        CHECK(help.err.empty());
        CHECK_THAT(help.out, ContainsSubstring("Examples:\n  "));
        CHECK_THAT(help.out, ContainsSubstring(std::string{"entitable "} + name));
        CHECK_THAT(overview, ContainsSubstring(std::string{"\n  "} + name + " "));
        CHECK_THAT(manual, ContainsSubstring(std::string{".SS "} + name + "\n"));
        CHECK_THAT(bash, ContainsSubstring(std::string{name} + ") words="));
        CHECK_THAT(zsh, ContainsSubstring(std::string{"'"} + name + ":"));
        CHECK_THAT(fish, ContainsSubstring(std::string{" -a "} + name + " -d "));
    }
    CHECK(run_tool("--version").out.starts_with("entitable 0."));
    std::istringstream lines{run_tool_with({.width = 70}, {"query", "--help"}).out};
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK((line.size() <= 70 || line.starts_with("  entitable ")));
    }
}

TEST_CASE("check reports what is wrong") {
    scratch_store const file;
    CHECK(run_tool("put", file.path(), "rows", "p", "r", "--create", "--set", "A:int32=1").code == 0);
    tool_outcome const sound = run_tool("check", file.path());
    CHECK(sound.code == 0);
    CHECK(sound.out.starts_with("file: 1 rows, "));
    CHECK(sound.out.ends_with(" 0 damaged rows\ntables: 1, rows: 1\nno problems found\n"));

    std::string const address = "memory:tool-check";
    auto const store = entitable::open(address).value();
    REQUIRE(entitable::row_table{store, "rows"}.create());
    entitable::call context;
    for (char const* key : {"~!ix!intent", "~!w!part!01"}) {
        REQUIRE(store.execute(
            entitable::write_entity{"rows", entitable::mutation::insert(entitable::row_builder{"p", key}.build())},
            context));
    }
    tool_outcome const broken = run_tool("check", address);
    CHECK(broken.code == 1);
    CHECK_THAT(broken.out, ContainsSubstring("tables: 1, rows: 2\nproblem: table rows: 1 times: "));
    CHECK_THAT(broken.out, ContainsSubstring("2 problems found\n"));
    CHECK(run_tool("query", address, "rows", "--scan").out.empty());
    CHECK(run_tool("count", address, "rows", "--scan", "--system").out == "2\n");
}
