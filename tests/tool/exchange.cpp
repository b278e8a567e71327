// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "places.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/open.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>

namespace {

/// A folder that is removed at the end.
class scratch {
public:
    scratch() : path_(std::filesystem::temp_directory_path() / ("tool-" + entitable::guid::random().to_string())) {
        std::filesystem::create_directories(path_);
    }
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::string operator/(std::string const& name) const { return (path_ / name).string(); }
    std::string write(std::string const& name, std::string const& content) const {
        std::ofstream{*this / name, std::ios::binary} << content;
        return *this / name;
    }
    [[nodiscard]] std::string read(std::string const& name) const {
        std::ifstream in{*this / name, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    [[nodiscard]] bool has(std::string const& name) const { return std::filesystem::exists(*this / name); }

private:
    std::filesystem::path path_;
};

/// What a command printed.
struct printed {
    int code{};
    std::string out;
    std::string err;
};

printed run(std::vector<std::string> const& arguments, std::string const& input = {},
    entitable::cancellation_token const& interrupted = {}) {
    std::ostringstream out;
    std::ostringstream err;
    std::istringstream in{input};
    tool::console with{out, err, in};
    with.interrupted = interrupted;
    with.handle_interrupt = [] {};
    int const code = static_cast<int>(tool::run_tool(arguments, with));
    return {code, out.str(), err.str()};
}

std::string export_of(std::string const& store, std::string const& format = "jsonl") {
    return run({"export", store, "rows", "--format", format}).out;
}

/// A name of a store in memory that no other test uses.
std::string new_memory() { return "memory:" + entitable::guid::random().to_string(); }

/// All types, and the texts that formats confuse.
constexpr char const* all_types =
    R"({"PartitionKey":"","RowKey":"","a":2.5}
{"PartitionKey":"p","RowKey":"1","a":1,"big@odata.type":"Edm.Int64","big":"9007199254740993","d":1.5,"whole":2.0,"nul":"a\u0000b","e":"","q":"\",\n\r\\","g@odata.type":"Edm.Guid","g":"01234567-89ab-cdef-0123-456789abcdef","b@odata.type":"Edm.Binary","b":"AAEC/w==","t@odata.type":"Edm.DateTime","t":"2026-01-31T12:00:00.1234567Z","f":false,"n@odata.type":"Edm.Double","n":"NaN","i@odata.type":"Edm.Double","i":"-Infinity","b0@odata.type":"Edm.Binary","b0":""}
{"PartitionKey":"p","RowKey":"2","a":"text","q":" spaced ","digits":"007"}
)";

TEST_CASE("An import of CSV shows types and counts, and stores the rows") {
    scratch const folder;
    std::string const file = folder.write("runners.csv",
        "\xEF\xBB\xBF"
        "event,distance,bib,Full name,age,paid\r\n"
        "Boston,42,7,\"Ann \"\"A\"\" Lee\",33,true\r\n"
        "\r\n"
        "Boston,42,12,Bob,,false\r\n");
    std::string const store = new_memory();
    auto const done = run({"import", store, "rows", file, "--partition", "event+distance", "--row", "'BIB:'+bib:5"});
    CHECK(done.code == 0);
    CHECK(done.err.empty());
    CHECK(done.out ==
        file +
            ": 2 rows\n"
            "  event      PartitionKey\n"
            "  distance   PartitionKey\n"
            "  bib        RowKey\n"
            "  Full name  String, as Full_name\n"
            "  age        Int32\n"
            "  paid       Boolean\n"
            "2 rows read: 2 written, 0 already there, 0 refused\n");
    CHECK(export_of(store) ==
        R"({"PartitionKey":"Boston__42","RowKey":"BIB:00007","Full_name":"Ann \"A\" Lee","age":33,"paid":true}
{"PartitionKey":"Boston__42","RowKey":"BIB:00012","Full_name":"Bob","paid":false}
)");
    // Nothing is left to do, and no state is left behind.
    CHECK(run({"import", store, "rows", file, "--partition", "event+distance", "--row", "'BIB:'+bib:5"})
            .out.ends_with("2 rows read: 0 written, 2 already there, 0 refused\n"));
    CHECK_FALSE(folder.has("runners.csv.import"));
    CHECK_FALSE(folder.has("runners.csv.refused"));
}

TEST_CASE("An export is imported to the same bytes, in both formats") {
    scratch const folder;
    std::string const first = new_memory();
    REQUIRE(run({"import", first, "rows", folder.write("types.jsonl", all_types)}).code == 0);
    CHECK(export_of(first) == all_types);
    std::string const csv = export_of(first, "csv");
    CHECK(csv.starts_with("PartitionKey,RowKey,a:String,a:Int32,"));
    CHECK(csv.find("a:Double") != std::string::npos);
    std::string const second = new_memory();
    REQUIRE(run({"import", second, "rows", folder.write("types.csv", csv)}).code == 0);
    CHECK(export_of(second) == all_types);
    CHECK(export_of(second, "csv") == csv);
}

TEST_CASE("Imports, copies and exports print the same on every store", "[stores]") {
    scratch const folder;
    std::string const lines = folder.write("types.jsonl", all_types);
    for (entitable_test::place const& at : entitable_test::places()) {
        CAPTURE(at.kind);
        auto const imported = run({"import", at.address, at.table, lines});
        CHECK(imported.err.empty());
        CHECK(imported.out.ends_with("\n3 rows read: 3 written, 0 already there, 0 refused\n"));
        CHECK(run({"export", at.address, at.table}).out == all_types);
        CHECK(run({"import", at.address, at.table, lines})
                .out.ends_with("\n3 rows read: 0 written, 3 already there, 0 refused\n"));
        std::string const back = new_memory();
        std::string const state = folder / "state";
        std::string const report = "3 rows read: 3 written, 0 already there, 3 read back and compared\n";
        CHECK(run({"copy", at.address, at.table, back, "rows", "--state", state}).out == report);
        CHECK(export_of(back) == all_types);
        CHECK(run({"copy", back, "rows", at.address, at.table + "x", "--state", state}).out == report);
        CHECK(run({"export", at.address, at.table + "x"}).out == all_types);
        CHECK(run({"export", at.address, at.table + "x", "--partition", "p", "--format", "csv", "--plain"}).code == 1);
    }
}

TEST_CASE("10,000 books in a file are byte for byte reversible") {
    scratch const folder;
    std::string text = "book_id,authors,title,year,rating\n";
    for (int book = 0; book < 10'000; ++book) {
        text += std::to_string(book) + ",Author " + std::to_string(book % 97) + ",\"Title \"\"" + std::to_string(book) +
            "\"\",\n second line\"," + (book % 11 == 0 ? "" : std::to_string(1900 + book % 120)) + "," +
            std::to_string(book % 5) + ".5\n";
    }
    std::string const first = folder / "first.db";
    REQUIRE(
        run({"import", first, "rows", folder.write("books.csv", text), "--partition", "authors", "--row", "book_id:10"})
            .code == 0);
    std::string const lines = export_of(first);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 10'000);
    for (std::string const format : {"jsonl", "csv"}) {
        std::string const file = folder / ("exported." + format);
        std::string const store = folder / (format + ".db");
        REQUIRE(run({"export", first, "rows", "-o", file}).err == "10,000 rows exported to " + file + "\n");
        REQUIRE(run({"import", store, "rows", file}).code == 0);
        CHECK(export_of(store) == lines);
    }
    CHECK(run({"copy", first, "rows", folder / "copy.db", "rows"}).out ==
        "10,000 rows read: 10,000 written, 0 already there, 10,000 read back and compared\n");
    CHECK(export_of(folder / "copy.db") == lines);
    CHECK(run({"backup", first, folder / "backup.db"}).code == 0);
    CHECK(run({"restore", folder / "backup.db", folder / "restored.db"}).out ==
        "10,000 rows restored to " + (folder / "restored.db") + ", each read and compared with its checksum\n");
    CHECK(export_of(folder / "restored.db") == lines);
    CHECK(run({"restore", folder / "backup.db", folder / "restored.db"}).code == 1); // never overwrites
}

TEST_CASE("Refused rows are in a file that can be mended and imported") {
    scratch const folder;
    std::string const file = folder.write("rows.csv", "id,age\n1,2\n2\n3,4,5\n1,9\n1,2\n4/4,1\n5,\"6\n6,\"7\"8\n7,\n");
    std::string const store = new_memory();
    auto const done = run({"import", store, "rows", file, "--partition", "id", "--row", "id"});
    CHECK(done.code == 3);
    CHECK(done.out.ends_with("9 rows read: 2 written, 1 already there, 6 refused\n"));
    CHECK(folder.read("rows.csv.refused") == "id,age\n2\n3,4,5\n1,9\n4/4,1\n5,\"6\n6,\"7\"8\n");
    std::string const reasons = folder.read("rows.csv.refused.reasons");
    CHECK(reasons ==
        "line 3: the record has 1 field, and the first line names 2 columns\n"
        "line 4: the record has 3 fields, and the first line names 2 columns\n"
        "line 5: the table \"rows\" already has an entity with this key\n"
        "line 7: the PartitionKey holds \"/\" at byte 1; / \\ # ? and control characters are not allowed in keys\n"
        "line 8: text follows the second quote of a field\n"
        "line 9: text follows the second quote of a field\n");
    CHECK(done.err.find("line 9: text follows") != std::string::npos);
    // The file of refused rows is not overwritten.
    auto const again = run({"import", store, "rows", file, "--partition", "id", "--row", "id"});
    CHECK(again.code == 1);
    CHECK(again.err.find("--yes") != std::string::npos);
    CHECK(run({"import", store, "rows", file, "--partition", "id", "--row", "id", "--yes"}).code == 3);
}

TEST_CASE("A value that does not have the type of its column is refused") {
    scratch const folder;
    std::string const file = folder.write("rows.csv", "id,age\n1,2\n2,x\n");
    std::string const store = new_memory();
    CHECK(run({"import", store, "rows", file, "--partition", "id", "--row", "id", "--types", "age=Int32"}).code == 3);
    CHECK(folder.read("rows.csv.refused.reasons") ==
        "line 3: the column age holds \"x\", which is not of type Int32; --types age=String keeps it as text\n");
    CHECK(run({"import", new_memory(), "rows", file, "--partition", "id", "--row", "id:3", "--yes"}).code == 0);
    CHECK(run({"import", store, "rows", file, "--partition", "id", "--row", "id", "--types", "nope=Int32", "--yes"})
              .code == 1);
    CHECK(run({"import", store, "rows", file, "--partition", "id", "--row", "id", "--types", "age"}).code == 2);
    CHECK(run({"import", store, "rows", file, "--partition", "id+", "--row", "id"}).code == 2);
    CHECK(run({"import", store, "rows", file, "--partition", "id:20", "--row", "id"}).code == 2);
}

TEST_CASE("Types are guessed only if the text can be written back") {
    scratch const folder;
    std::string const file = folder.write("rows.csv",
        "id,zip,big,huge,plus,when,day,guid,upper,mixed,digits,empty\n"
        "1,007,3000000000,9223372036854775808,+1,2026-01-31T12:00:00Z,2026-01-31,01234567-89ab-cdef-0123-456789abcdef,"
        "01234567-89AB-CDEF-0123-456789ABCDEF,1,0.12345678901234567890,\n"
        "2,1,1,1,1,2026-01-31T12:00:00Z,2026-01-31,01234567-89ab-cdef-0123-456789abcdef,"
        "01234567-89AB-CDEF-0123-456789ABCDEF,1.5,1,\n");
    auto const done = run({"import", new_memory(), "rows", file, "--partition", "id", "--row", "id", "--dry-run"});
    CHECK(done.out ==
        file +
            ": 2 rows\n"
            "  id      PartitionKey and RowKey\n"
            "  zip     String\n"
            "  big     Int64\n"
            "  huge    String\n"
            "  plus    String\n"
            "  when    DateTime\n"
            "  day     String\n"
            "  guid    Guid\n"
            "  upper   String\n"
            "  mixed   Double\n"
            "  digits  String\n"
            "  empty   String\n"
            "dry run, nothing was written: 2 rows read: 2 can be written, 0 refused\n");
}

TEST_CASE("Files that cannot be imported are refused with what to do") {
    scratch const folder;
    auto const error_of = [&](std::string const& content) {
        auto const done = run({"import", new_memory(), "rows", folder.write("rows.csv", content)});
        CHECK(done.code == 1);
        return done.err;
    };
    CHECK(error_of("").find("is empty; its first line must name the columns") != std::string::npos);
    CHECK(error_of("id,name\n") ==
        "entitable: the file has no column PartitionKey; --partition names the columns of the PartitionKey; "
        "its columns are id, name\n");
    CHECK(error_of("a,a\n").find("the column a is there twice") != std::string::npos);
    CHECK(error_of("a b,a_b\n").find("would both become the property a_b") != std::string::npos);
    CHECK(error_of("\xFF\xFE"
                   "a")
              .find("UTF-16") != std::string::npos);
    CHECK(run({"import", new_memory(), "rows", folder / "missing.csv"}).err.find("No such file") != std::string::npos);
    CHECK(run({"import", new_memory(), "rows", folder / "."}).err.find("is a folder") != std::string::npos);
}

TEST_CASE("250 columns, and keys that are too long") {
    scratch const folder;
    std::string header = "PartitionKey,RowKey";
    std::string record = "p,1";
    for (int column = 0; column < 250; ++column) {
        header += ",c" + std::to_string(column);
        record += "," + std::to_string(column);
    }
    std::string const store = new_memory();
    CHECK(run({"import", store, "rows", folder.write("wide.csv", header + "\n" + record + "\n")}).code == 0);
    std::string const csv = export_of(store, "csv");
    CHECK(std::count(csv.begin(), csv.end(), ',') == 2 * 251);
    CHECK(run({"import", store, "rows",
                  folder.write("keys.csv",
                      "PartitionKey,RowKey\np," + std::string(512, 'x') + "\np," + std::string(1'025, 'y') + "\n")})
            .out.ends_with("2 rows read: 1 written, 0 already there, 1 refused\n"));
}

TEST_CASE("The standard input is imported; it cannot be resumed") {
    std::string const store = new_memory();
    CHECK(run({"import", store, "rows", "-", "--format", "jsonl"}, all_types).out ==
        "3 rows read: 3 written, 0 already there, 0 refused\n");
    CHECK(export_of(store) == all_types);
    CHECK(run({"import", store, "rows", "-", "--resume"}).code == 1);
}

TEST_CASE("Rows that exist are changed only on request") {
    scratch const folder;
    std::string const store = new_memory();
    REQUIRE(run({"import", store, "rows", folder.write("one.csv", "PartitionKey,RowKey,a,b\np,1,1,1\n")}).code == 0);
    std::string const other = folder.write("two.csv", "PartitionKey,RowKey,a\np,1,2\n");
    CHECK(run({"import", store, "rows", other, "--replace"}).code == 1);
    CHECK(run({"import", store, "rows", other, "--merge", "--yes"}).code == 0);
    CHECK(export_of(store) == "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"a\":2,\"b\":1}\n");
    CHECK(run({"import", store, "rows", other, "--replace", "--yes"}).code == 0);
    CHECK(export_of(store) == "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"a\":2}\n");
}

TEST_CASE("A stopped import continues, and refuses a changed file") {
    scratch const folder;
    std::string text = "id,n\n";
    for (int row = 0; row < 3'000; ++row) { text += std::to_string(row) + "," + std::to_string(row % 7) + "\n"; }
    std::string const bad = "x,1\ny,2,3\nz,3\n";
    std::string const file = folder.write("rows.csv", text + bad + "3000,1\n");
    std::vector<std::string> const command{
        "import", folder / "shop.db", "rows", file, "--partition", "n", "--row", "id:6"};
    auto const with = [&](std::initializer_list<std::string> more) {
        std::vector<std::string> all = command;
        all.insert(all.end(), more);
        return run(all);
    };
    auto const stopped = with({"--max-refused", "1"});
    CHECK(stopped.code == 1);
    CHECK(stopped.err.find("--resume continues") != std::string::npos);
    REQUIRE(folder.has("rows.csv.import"));
    CHECK(run(command).err.find("--restart starts over") != std::string::npos);

    folder.write("rows.csv", text + bad + "3000,1\n3001,1\n");
    CHECK(with({"--resume"}).err.find("--restart starts over") != std::string::npos);
    CHECK(with({"--restart"}).out.ends_with(" already there, 3 refused\n"));
    CHECK_FALSE(folder.has("rows.csv.import"));
    CHECK_FALSE(folder.has("rows.csv.import.refused"));

    // Refusals of the run that was stopped are reported by the run that continues it, once.
    std::filesystem::remove(folder / "shop.db");
    REQUIRE(with({"--max-refused", "1", "--yes"}).code == 1);
    CHECK(with({"--resume", "--yes"}).out.ends_with(" 3 refused\n"));
    CHECK(folder.read("rows.csv.refused") == "id,n\n" + bad);
    CHECK_FALSE(folder.has("rows.csv.import"));
}

TEST_CASE("A copy has other keys, is not onto itself, and does not overwrite") {
    scratch const folder;
    std::string const store = new_memory();
    REQUIRE(
        run({"import", store, "rows", folder.write("one.csv", "PartitionKey,RowKey,year,n\np,1,1999,3\np,2,2000,12\n")})
            .code == 0);
    std::string const state = folder / "state";
    CHECK(
        run({"copy", store, "rows", store, "rows"}).err == "entitable: the source and the target are the same table\n");
    CHECK(run({"copy", store, "rows", store, "years", "--partition", "year", "--row", "n:4+RowKey", "--state", state})
              .out == "2 rows read: 2 written, 0 already there, 2 read back and compared\n");
    CHECK(run({"export", store, "years"}).out ==
        "{\"PartitionKey\":\"1999\",\"RowKey\":\"0003__1\",\"year\":1999,\"n\":3}\n"
        "{\"PartitionKey\":\"2000\",\"RowKey\":\"0012__2\",\"year\":2000,\"n\":12}\n");
    REQUIRE(run({"import", store, "rows", folder.write("two.csv", "PartitionKey,RowKey,year,n\np,1,1999,4\n"),
                    "--replace", "--yes"})
                .code == 0);
    REQUIRE(
        run({"copy", store, "rows", store, "years", "--partition", "year", "--row", "RowKey", "--state", state}).code ==
        0);
    REQUIRE(run({"import", store, "rows", folder.write("three.csv", "PartitionKey,RowKey,year,n\np,1,1999,5\n"),
                    "--replace", "--yes"})
                .code == 0);
    auto const differs =
        run({"copy", store, "rows", store, "years", "--partition", "year", "--row", "RowKey", "--state", state});
    CHECK(differs.code == 1);
    CHECK(differs.err.find("--overwrite --yes replaces") != std::string::npos);
    CHECK(run({"copy", store, "rows", store, "years", "--partition", "year", "--row", "RowKey", "--state", state,
                  "--overwrite", "--yes"})
            .out.starts_with("2 rows read: 1 written, 1 already there"));
    CHECK(run({"copy", store, "rows", store, "years", "--partition", "absent", "--state", state})
              .err.find("the column absent has no value") != std::string::npos);
    CHECK(run({"copy", store, "missing", store, "years", "--state", state}).code == 1);
}

TEST_CASE("An interrupted copy continues where it stopped") {
    scratch const folder;
    std::string const store = new_memory();
    std::string text = "PartitionKey,RowKey\n";
    for (int row = 0; row < 2'500; ++row) { text += "p," + std::to_string(10'000 + row) + "\n"; }
    REQUIRE(run({"import", store, "rows", folder.write("rows.csv", text)}).code == 0);
    std::vector<std::string> command{"copy", store, "rows", folder / "copy.db", "rows", "--state", folder / "state"};
    entitable::cancellation_source ctrl_c;
    ctrl_c.cancel();
    CHECK(
        run(command, {}, ctrl_c.token()).err == "entitable: interrupted; --resume continues where the copy stopped\n");
    CHECK(run(command).err.find("--resume continues it, --restart starts over") != std::string::npos);
    std::vector<std::string> other = command;
    other[5 - 1] = "others";
    other.emplace_back("--resume");
    CHECK(run(other).err.find("the state is of a copy of other tables or keys") != std::string::npos);
    command.emplace_back("--resume");
    CHECK(run(command).out ==
        "resumed after 1,000 rows\n1,500 rows read: 1,500 written, 0 already there, 1,500 read back and compared\n");
    CHECK(export_of(folder / "copy.db") == export_of(store));
    CHECK_FALSE(folder.has("state"));
}

TEST_CASE("A shard map is made, shown, split, closed, backed up and restored") {
    scratch const folder;
    auto const set = [&](char const* name, std::string const& file) {
        ::setenv(name, ("file:" + (folder / file)).c_str(), 1); // NOLINT(concurrency-mt-unsafe): no thread reads it now
    };
    set("ENTITABLE_STORE_tooleast", "east.db");
    set("ENTITABLE_STORE_toolwest", "west.db");
    set("ENTITABLE_STORE_toolspare", "spare.db");
    set("TOOL_CATALOGUE", "catalogue.db");
    std::string const map = "shards:env:TOOL_CATALOGUE/map";
    CHECK(run({"shards", "shards:" + (folder / "catalogue.db") + "/map", "make-ranges", "m", "tooleast", "toolwest"})
              .out ==
        "map version 1, 2 virtual shards by ranges\n"
        "  0 below \"m\" -> tooleast (open, epoch 1)\n"
        "  1 from \"m\" -> toolwest (open, epoch 1)\n");
    std::string text = "PartitionKey,RowKey,n\n";
    for (char const* each : {"a", "b", "n", "z"}) { text += std::string{each} + ",1,7\n"; }
    CHECK(run({"import", map, "rows", folder.write("rows.csv", text)}).code == 0);
    std::string const status = run({"shards", map, "status"}).out;
    CHECK(status.starts_with("tooleast: 1 shard"));
    CHECK(run({"shards", map, "split", "0", "b", "--dry-run"}).out == "shard 0 would be split at \"b\"\n");
    CHECK(run({"shards", map, "split", "0", "b"}).out == "shard 2 has the keys from \"b\" on\n");
    CHECK(run({"shards", map, "move", "1", "tooleast", "--dry-run"}).code == 0);
    CHECK(run({"shards", map, "verify"}).code == 0);
    CHECK(run({"shards", map, "move", "1"}).code == 2);
    CHECK(run({"shards", map, "move", "x", "toolwest"}).err == "entitable: \"x\" is not the number of a shard\n");
    CHECK(run({"shards", map, "forget", "toolwest"}).code == 1);
    CHECK(run({"shards", folder / "east.db", "map"}).code == 1);

    std::string const archive = folder / "archive.db";
    CHECK(run({"backup", map, archive, "--name", "monday", "--snapshot"}).out ==
        "4 rows in 3 parts copied, read back and compared\n");
    std::string const other = "shards:" + (folder / "second.db") + "/map";
    REQUIRE(run({"shards", other, "make", "2", "toolspare"}).code == 0);
    CHECK(
        run({"restore", archive, other, "--name", "monday"}).out == "4 rows of the backup, 4 written, all compared\n");
    CHECK(export_of(other) == export_of(map));
    CHECK(export_of(map).starts_with("{\"PartitionKey\":\"a\",\"RowKey\":\"1\",\"n\":7}\n"));
}

struct parcel {
    std::string to;
    std::int32_t number{};
    double kilos{};
};
ENTITABLE(parcel, partition_key(to), row_key(number), properties(kilos))

TEST_CASE("A queue shows its lengths and dead letters, which are requeued and purged") {
    std::string const store = new_memory();
    entitable::queue_options options;
    options.max_deliveries = 1;
    options.lanes = 1;
    entitable::table_queue<parcel> const queue{entitable::open(store).value(), "parcels", options};
    REQUIRE(queue.create());
    for (int number = 0; number < 3; ++number) {
        parcel const sent{"Berlin", number, 1.5 * number};
        REQUIRE(queue.enqueue(sent, {{}, "id-" + std::to_string(number)}));
    }
    for (int number = 0; number < 2; ++number) {
        auto claim = queue.claim().value();
        REQUIRE(claim->fail("no such address", {}));
    }
    REQUIRE(queue.claim().value()); // makes dead letters of both, and holds the third message
    CHECK(run({"queue", store, "parcels"})
            .out.starts_with("ready         0\nheld          1\ndead letters  2\noldest        0:0"));
    auto const letters = run({"queue", store, "parcels", "--dead"}).out;
    CHECK(letters.find("id-0") != std::string::npos);
    CHECK(letters.find("no such address  kilos=1.5") != std::string::npos);
    CHECK(run({"queue", store, "parcels", "requeue", "id-0"}).out == "1 dead letter requeued\n");
    CHECK(run({"queue", store, "parcels", "requeue", "id-0"}).err ==
        "entitable: the queue has no dead letter with the id id-0\n");
    CHECK(run({"queue", store, "parcels", "purge", "--all"}).code == 1);
    CHECK(run({"queue", store, "parcels", "purge"}).code == 1);
    CHECK(run({"queue", store, "parcels", "purge", "--all", "--yes"}).out == "1 dead letter deleted\n");
    CHECK(run({"queue", store, "parcels"}).out.starts_with("ready         1\nheld          1\ndead letters  0\n"));
    // What an export would lose is refused; a copy takes it along.
    CHECK(run({"export", store, "parcels"}).err.find("contains a queue, which an export would lose") !=
        std::string::npos);
}

} // namespace
