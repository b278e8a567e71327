// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The command changes: groups, their positions, output that fails, and tables without announcements.

#include "tool_run.hpp"
#include <entitable/changes.hpp>
#include <entitable/entitable.hpp>
#include <entitable/open.hpp>

#include <support/catch.hpp>

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
