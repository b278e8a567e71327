// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// One table over two PostgreSQL servers, a file and memory: it conforms, virtual shards move between stores of all kinds under load, and a
// missing server only affects its own shards.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/postgres.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>

#include <shards/conformance.hpp>
#include <support/catch.hpp>
#include <support/maps.hpp>
#include <support/postgres_server.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>
#include <map>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::string text;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties(text))

/// Stores of all kinds by name: first and second are servers, file is a file, and any other is in memory.
class kinds {
public:
    [[nodiscard]] result<any_store> open(std::string_view name) {
        auto options = options_;
        options.connect_timeout = std::chrono::seconds{2};
        if (name == "first") { return connected(postgres_backend::connect(postgres_server() + quick_, options)); }
        if (name == "second") { return connected(postgres_backend::connect(second_server() + quick_, options)); }
        if (name == "file") {
            file_options relaxed;
            relaxed.durability = durability::relaxed;
            return any_store{file_backend{folder_ / "shard.db", relaxed}};
        }
        return any_store{memory_};
    }
    [[nodiscard]] store_opener opener() {
        return [this](std::string_view name) { return open(name); };
    }
    [[nodiscard]] static std::string second_server() {
        std::string said = postgres_server();
        return said.replace(said.find("port=5432"), 9, "port=5434");
    }

private:
    static result<any_store> connected(result<postgres_backend> made) {
        return made ? result<any_store>{any_store{*std::move(made)}} : std::move(made).as_failure();
    }
    std::string const quick_ = " options=-csynchronous_commit=off"; // losses by a kill are not tested here
    postgres_options options_ = own_schema();
    temporary_folder folder_;
    memory_backend memory_;
};

/// There are two servers.
bool has_two_servers() {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_POSTGRES_CONTROL") == nullptr) { return false; }
    static bool const made = control_postgres("another");
    REQUIRE(made);
    return true;
}

} // namespace

TEST_CASE("conformance: two PostgreSQL servers, a file and memory are the stores of one table") {
    if (!has_two_servers()) { return; }
    kinds stores;
    sharded const cloud{entitable_test::map_of(memory_backend{}, "shardmap", virtual_shards{4},
                            {"first", "second", "file", "memory"}, stores.opener()),
        stores.opener()};
    sharding::conforms([&]() -> testing::conformance::handles { return cloud; });
}

TEST_CASE("postgres: shards move between servers, files and memory while clients write") {
    if (!has_two_servers()) { return; }
    kinds stores;
    lookup_map_options brief;
    brief.lease = std::chrono::milliseconds{50};
    sharded const cloud = entitable_test::cloud_of(stores.open("first").value(), "shardmap", virtual_shards{4},
        {"first", "second", "file", "memory"}, brief, stores.opener());
    table<item> const items{cloud, "items"};
    items.create().value();
    std::atomic<bool> stop{false};
    std::atomic<int> total{0};
    std::map<std::string, int> acknowledged; // rows of each group
    std::thread writer{[&] {
        table<item> const through{retrying{any_store{cloud}}, "items"};
        for (int at = 0; !stop; ++at) {
            std::string const group = "g" + std::to_string(at % 12);
            int& rows = acknowledged[group];
            auto const outcome = through.insert_or_replace({group, rows, std::string(50, 'x')});
            rows += outcome ? 1 : 0;
            total += outcome ? 1 : 0;
        }
    }};
    struct move {
        int shard;
        char const* to;
    };
    std::string problem;
    for (auto const& [shard, to] :
        {move{0, "second"}, move{1, "file"}, move{2, "first"}, move{3, "second"}, move{0, "memory"}}) {
        int const before = total;
        for (int waited = 0; total < before + 15 && waited < 1000; ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        auto plan = plan_move(cloud, shard, to);
        auto done = plan ? plan->run() : std::move(plan).as_failure();
        if (!done) { problem += done.error().to_string() + "\n"; }
    }
    stop = true;
    writer.join();
    INFO(problem);
    CHECK(problem.empty());
    std::map<std::string, int> found;
    for (item const& each : items.scan_table().to().value()) { ++found[each.group]; }
    for (auto const& [group, rows] : acknowledged) {
        INFO(group << " has " << found[group] << " rows of " << rows);
        CHECK((found[group] == rows || found[group] == rows + 1)); // the last one may have been abandoned
    }
    CHECK(total > 50);
}

TEST_CASE("postgres: a missing server only affects its part of the table") {
    if (!has_two_servers()) { return; }
    kinds stores;
    sharded const cloud = entitable_test::cloud_of(stores.open("first").value(), "shardmap", virtual_shards{4},
        {"first", "second", "file", "memory"}, stores.opener());
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int at = 0; at < 40; ++at) { items.insert({"g" + std::to_string(at), 1, "x"}).value(); }
    std::this_thread::sleep_for(std::chrono::milliseconds{700}); // by then all is written: three times wal_writer_delay
    REQUIRE(control_postgres("kill another"));
    auto const all = items.scan_table().to();
    REQUIRE(!all);
    CHECK(all.error().to_string().find("second") != std::string::npos);
    auto const some =
        partial(cloud, [](any_store const& there) { return table<item>{there, "items"}.scan_table().to(); }).value();
    CHECK_FALSE(some.good());
    REQUIRE(some.missing().size() == 1);
    CHECK(some.missing()[0].store == "second");
    CHECK(some.missing()[0].error.code == error_code::transport_failed);
    std::size_t const came = some.value().size();
    CHECK(came > 20);
    CHECK(came < 40);
    std::size_t written = 0;
    for (int at = 0; at < 40; ++at) { written += items.insert({"g" + std::to_string(at), 2, "y"}) ? 1U : 0U; }
    CHECK(written == came);
    REQUIRE(control_postgres("start another"));
    CHECK(items.scan_table().count().value() == 40 + came);
}
