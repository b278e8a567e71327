// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Devices that were offline for a year, local files that are deleted or cannot grow, clouds that are full or whose credentials end in the
// middle of a push, and two processes on one local file: nothing is lost, nothing comes back, and the report says what was not done.

#include <entitable/bulk.hpp>
#include <entitable/changes.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/sync.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/defects.hpp>
#include <support/long.hpp>
#include <support/memory_disk.hpp>
#include <support/temporary_folder.hpp>

#include <cstdio>
#include <set>
#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

struct leaf {
    std::string tree;
    std::string name;
    std::string text;
};
ENTITABLE(leaf, partition_key(tree), row_key(name), properties(text))

template <class Table>
struct side_of {
    any_store store;
    Table leaves{store, "leaves"};
    explicit side_of(any_store on = any_store{memory_backend{}}) : store(std::move(on)) {
        leaves.create_if_absent().value();
    }
    void put(std::string const& tree, std::string const& name, std::string const& text) const {
        leaves.upsert({tree, name, text}).value();
    }
    [[nodiscard]] std::set<std::string> all() const {
        std::set<std::string> made;
        leaves.scan_table()
            .for_each([&](leaf const& each) { made.insert(each.tree + "/" + each.name + "=" + each.text); })
            .value();
        return made;
    }
};
using side = side_of<table<leaf>>;
using logged_side = side_of<table<leaf, logged>>;
std::string numbered(std::size_t number) { return std::to_string(1'000'000 + number); }
sync_options of_all() {
    sync_options how;
    how.whole_table = true;
    how.delays = {.base = {}, .least = {}, .most = {}, .jitter = 0};
    return how;
}
template <class Table>
sync_report sync(side_of<Table> const& device, side_of<Table> const& cloud, sync_options const& how = of_all()) {
    auto made = synchronize(device.leaves, cloud.leaves, how).value();
    for (auto const& each : made.failed) { UNSCOPED_INFO(each.partition_key << ": " << each.error.to_string()); }
    for (auto const& each : made.held) { UNSCOPED_INFO(each.row_key << ": " << each.error.to_string()); }
    return made;
}

} // namespace

TEST_CASE("synchronize: a device that was offline for a year reads each row once, and brings nothing back") {
    std::size_t const large = rounds(2'500, 50'000, 50'000);
    std::size_t const partitions = rounds(25, 500, 500);
    constexpr std::size_t each_has = 100;
    side cloud;
    side used;
    side const away;
    for (std::size_t index = 0; index < large; ++index) { used.put("large", numbered(index), "old"); }
    for (std::size_t tree = 0; tree < partitions; ++tree) {
        for (std::size_t index = 0; index < each_has; ++index) {
            used.put("t" + numbered(tree), numbered(index), "old");
        }
    }
    CHECK(sync(used, cloud).good());
    CHECK(sync(away, cloud).good());
    // The year: a tenth is removed, a tenth changed, a tenth added, again and again.
    for (leaf const& each : used.leaves.scan_table().to_vector().value()) {
        switch (std::stoul(each.name) % 10) {
            case 0: used.leaves.remove(each, any_etag).value(); break;
            case 1: used.put(each.tree, each.name, "new"); break;
            case 2: used.put(each.tree, each.name + "x", "added"); break;
            default: break;
        }
    }
    CHECK(sync(used, cloud).good());
    // What the device did: it changed rows that nobody else changed, in each partition.
    std::size_t edited = 0;
    for (std::size_t tree = 0; tree < partitions; ++tree) {
        away.put("t" + numbered(tree), numbered(7), "offline");
        ++edited;
    }
    testing::spy<any_store> counted{cloud.store};
    side const through{any_store{counted}};
    std::size_t const before = counted.seen().size();
    auto how = of_all();
    how.whole_table = false;
    how.partitions = away.leaves.partitions().value();
    auto const back = sync(away, through, how);
    std::size_t const requests = counted.seen().size() - before;
    CHECK(back.good());
    CHECK(back.conflicts.empty());
    CHECK(back.pushed == edited);
    CHECK(back.pulled == (large + partitions * each_has) / 10 * 3);
    // One page and one push for each small partition; each page of the large one twice, so that it is one point in time; its receipt.
    std::size_t const pages = (large + 1 + 999) / 1000; // with the receipt of the other device
    CHECK(requests == partitions * 2 + pages * 2 + 1);
    std::printf("a year offline: %zu rows, %zu requests\n", large + partitions * each_has, requests);
    CHECK(away.all() == cloud.all());
    CHECK(sync(used, cloud).good());
    CHECK(used.all() == cloud.all());
    for (std::string const& each : cloud.all()) { CHECK(each.find("0=old") == std::string::npos); }
}

TEST_CASE(
    "synchronize: a device that was offline for a year, and a log that was trimmed: one scan, and no row returns") {
    std::size_t const rows = rounds(3'500, 100'000, 100'000);
    logged_side const cloud;
    logged_side const used;
    logged_side const away;
    sync_options how = of_all();
    how.whole_table = false;
    how.partitions = {"oak"};
    std::vector<leaf> old;
    for (std::size_t index = 0; index < rows; ++index) { old.push_back({"oak", numbered(index), "old"}); }
    bulk_insert(cloud.leaves, old).value();
    CHECK(sync(used, cloud, how).good());
    CHECK(sync(away, cloud, how).good());
    // The year: a tenth is removed, a tenth changed, a tenth added.
    for (std::size_t index = 0; index < rows; ++index) {
        switch (index % 10) {
            case 0: used.leaves.remove("oak", numbered(index), any_etag).value(); break;
            case 1: used.put("oak", numbered(index), "new"); break;
            case 2: used.put("oak", numbered(index) + "x", "added"); break;
            default: break;
        }
    }
    CHECK(sync(used, cloud, how).good());
    auto const heads = changes_of(cloud.leaves, "oak").value().position;
    CHECK(trim_changes(cloud.leaves, "oak", heads, {std::chrono::nanoseconds{}}).value() > 0);
    for (std::size_t index = 7; index < 100; index += 10) { away.put("oak", numbered(index), "offline"); }

    auto const pages = std::make_shared<std::size_t>(0);
    auto const others = std::make_shared<std::size_t>(0);
    auto const back = [&] {
        *pages = *others = 0;
        logged_side const through{with_defect([=]<class Request>(any_store const& below, Request const& request,
                                                  call& context) -> result<response_of<Request>> {
            bool is_page = false;
            if constexpr (std::same_as<Request, query_entities>) {
                is_page = request.range.partition.lower.key == "oak" && request.range.row == key_interval{};
            }
            ++*(is_page ? pages : others);
            return below.execute(request, context);
        })(cloud.store)};
        *pages = *others = 0;
        return sync(away, through, how);
    };
    auto const first = back();
    CHECK(first.good());
    CHECK(first.conflicts.empty());
    CHECK(first.pushed == 10);
    CHECK(first.pulled == rows / 10 * 3);
    std::printf(
        "a year offline, and a trimmed log: %zu rows, %zu pages and %zu other requests\n", rows, *pages, *others);
    CHECK(*pages == (rows + 2 + 999) / 1'000); // with the head of the log and the receipt of the other device
    CHECK(*others <= 8);
    CHECK(away.all() == cloud.all());
    CHECK(sync(used, cloud, how).good());
    CHECK(used.all() == cloud.all());
    for (std::string const& each : cloud.all()) { CHECK(each.find("0=old") == std::string::npos); }
    CHECK(back().good()); // its own push
    CHECK(back().pulled == 0);
    CHECK(*pages == 0);
}

TEST_CASE("synchronize: a transaction that arrives between two pages of a cloud with a log is not seen in part") {
    logged_side const behind;
    logged_side const device;
    std::vector<leaf> old;
    for (std::size_t index = 0; index < 2'501; ++index) { old.push_back({"oak", numbered(index), "old"}); }
    bulk_insert(behind.leaves, old).value();
    auto const seen = std::make_shared<int>(0);
    logged_side const cloud{with_defect([=]<class Request>(any_store const& below, Request const& request,
                                            call& context) -> result<response_of<Request>> {
        if constexpr (std::same_as<Request, query_entities>) {
            bool const is_page =
                request.range.partition.lower.key == "oak" && request.range.row.upper == key_interval{}.upper;
            if (is_page && ++*seen == 2) {
                behind.leaves
                    .transact("oak",
                        [](auto& all) -> result<void> {
                            all.insert_or_replace(leaf{"oak", numbered(0), "new"});
                            all.insert_or_replace(leaf{"oak", numbered(2'500), "new"});
                            return {};
                        })
                    .value();
            }
        }
        return below.execute(request, context);
    })(behind.store)};
    sync_options how = of_all();
    how.whole_table = false;
    how.partitions = {"oak"};
    auto const done = sync(device, cloud, how);
    CHECK(done.good());
    CHECK(done.torn.empty());
    CHECK(*seen > 3);
    CHECK(device.leaves.get("oak", numbered(0)).value().text == "new");
    CHECK(device.all() == behind.all());
}

TEST_CASE("synchronize: a local file that was deleted is filled again, and costs others nothing") {
    temporary_folder const folder;
    side cloud;
    side const other;
    {
        side const device{any_store{file_backend{folder / "device.db"}}};
        for (std::size_t index = 0; index < 50; ++index) { device.put("oak", numbered(index), "1"); }
        CHECK(sync(device, cloud).good());
    }
    CHECK(sync(other, cloud).good());
    other.leaves.remove("oak", numbered(0), any_etag).value();
    CHECK(sync(other, cloud).good());
    for (char const* end : {"", "-wal", "-shm"}) { std::remove((folder / "device.db" + end).c_str()); }
    side const device{any_store{file_backend{folder / "device.db"}}};
    auto const filled = sync(device, cloud);
    CHECK(filled.good());
    CHECK(filled.pulled == 49);
    CHECK(filled.pushed == 0);
    CHECK(filled.restored.empty());
    CHECK(device.all() == cloud.all());
}

TEST_CASE("synchronize: a local disk that is full loses nothing, in either direction") {
    bool const pulls = GENERATE(true, false);
    CAPTURE(pulls);
    temporary_folder const folder;
    memory_disk disk;
    file_options options;
    options.vfs = memory_disk::name;
    side const device{any_store{file_backend{folder / "device.db", options}}};
    side cloud;
    std::string const text(3'000, 'x');
    for (std::size_t index = 0; index < 300; ++index) { (pulls ? cloud : device).put("oak", numbered(index), text); }
    disk.quota = pulls ? 400'000 : 1'300'000;
    auto const full = sync(device, cloud);
    REQUIRE(full.failed.size() == 1);
    CHECK(full.failed[0].error.code == error_code::store_full);
    disk.quota = 100'000'000;
    auto const rest = sync(device, cloud);
    CHECK(rest.good());
    CHECK(rest.conflicts.empty());
    CHECK(full.pulled + rest.pulled + full.pushed + rest.pushed >= 300);
    CHECK(device.all().size() == 300);
    CHECK(device.all() == cloud.all());
}

TEST_CASE("synchronize: a cloud that refuses in the middle of a push, and what the next call does") {
    struct refusal {
        error_code code;
        std::uint16_t status;
        char const* message;
    };
    auto const how = GENERATE(refusal{error_code::store_full, 0, "the quota is used up"},
        refusal{error_code::authentication_failed, 401, "the token has expired"},
        refusal{error_code::authorization_failure, 403, "the signature has expired"},
        refusal{error_code::other_service_error, 403, "the account is disabled"});
    std::size_t const from = GENERATE(1, 2, 3, 4, 6);
    CAPTURE(how.status, from);
    side const behind;
    side const device;
    auto const left = std::make_shared<std::size_t>(from); // requests until the first that is refused
    side cloud{with_defect([=]<class Request>(any_store const& below, Request const& request,
                               call& context) -> result<response_of<Request>> {
        if constexpr (!std::same_as<Request, create_table>) {
            if (*left == 0 || --*left == 0) {
                error why{how.code, how.message};
                why.http_status = how.status;
                return failure{std::move(why)};
            }
        }
        return below.execute(request, context);
    })(behind.store)};
    for (std::size_t index = 0; index < 250; ++index) { device.put("oak", numbered(index), "x"); }
    sync_options one;
    one.partitions = {"oak"};
    auto const refused = sync(device, cloud, one);
    if (from > 4) {
        CHECK(refused.good());
    } else {
        REQUIRE(refused.failed.size() == 1);
        CHECK(refused.failed[0].error.message == how.message);
        CHECK(refused.held.empty());
        CHECK(refused.pushed == (from < 2 ? 0 : (from - 2) * 97));
        CHECK(behind.all().size() == refused.pushed);
    }
    CHECK(device.all().size() == 250);
    device.put("oak", numbered(3), "y");
    auto const rest = sync(device, behind, one);
    CHECK(rest.good());
    CHECK(rest.conflicts.empty());
    CHECK(device.all() == behind.all());
    CHECK(behind.all().size() == 250);
}

TEST_CASE("synchronize: two processes on one local file and one cloud in a file") {
    temporary_folder const folder;
    auto const open = [&](char const* name) { return side{any_store{file_backend{folder / name}}}; };
    {
        side const device = open("device.db");
        side const cloud = open("cloud.db");
    }
    auto const work = [&](char const* who) {
        return [&, who] {
            side const device = open("device.db");
            side const cloud = open("cloud.db");
            sync_options one;
            one.partitions = {"oak"};
            for (std::size_t index = 0; index < 25; ++index) {
                device.put("oak", who + numbered(index), "x");
                if (index % 2 == 1) {
                    if (!device.leaves.remove("oak", who + numbered(index - 1), any_etag)) { return false; }
                }
                auto const done = synchronize(device.leaves, cloud.leaves, one);
                if (!done || !done->held.empty() || !done->conflicts.empty() || !done->restored.empty()) {
                    return false;
                }
                for (auto const& each : done->failed) {
                    if (each.error.code != error_code::sync_running && each.error.code != error_code::store_busy) {
                        std::fprintf(stderr, "%s\n", each.error.to_string().c_str());
                        return false;
                    }
                }
            }
            return true;
        };
    };
    child_process first{work("a")};
    child_process second{work("b")};
    CHECK(first.succeeds(std::chrono::seconds{120}));
    CHECK(second.succeeds(std::chrono::seconds{120}));
    side const device = open("device.db");
    side const cloud = open("cloud.db");
    CHECK(sync(device, cloud).good());
    CHECK(device.all().size() == 26);
    CHECK(device.all() == cloud.all());
}
