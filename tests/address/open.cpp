// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Addresses of stores: each form, each option, each error; no error contains a secret.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/open.hpp>
#include <entitable/shards.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <cstdlib>
#include <random>

using namespace entitable;
using entitable_test::temporary_folder;

namespace {

struct pebble {
    std::string beach;
    std::int32_t number{};
    std::string colour;
    friend bool operator==(pebble const&, pebble const&) = default;
};

ENTITABLE(pebble, partition_key(beach), row_key(number), properties(colour))

/// An environment variable until the end of a block.
class variable {
public:
    variable(std::string name, std::string const& value) : name_(std::move(name)) {
        ::setenv(name_.c_str(), value.c_str(), 1);
    }
    ~variable() { ::unsetenv(name_.c_str()); }
    variable(variable const&) = delete;
    variable& operator=(variable const&) = delete;

private:
    std::string name_;
};

result<any_store> opened(std::string_view address) { return open(address, {memory_stores, file_stores, shard_stores}); }

std::string refusal(std::string_view address) {
    auto const made = opened(address);
    return made ? "opened" : made.error().to_string();
}

bool has(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

table<pebble> pebbles_in(any_store const& store) { return table<pebble>{store, "pebbles"}; }

} // namespace

TEST_CASE("open: a name after memory: is one store of the process, no name is a new store") {
    auto const first = pebbles_in(opened("memory:open-test").value());
    first.create().value();
    first.insert({"north", 1, "grey"}).value();
    CHECK(pebbles_in(opened("memory:open-test").value()).get("north", 1).value().colour == "grey");
    CHECK(pebbles_in(opened("memory:another").value()).get("north", 1).error().code == error_code::table_not_found);
    auto const fresh = pebbles_in(opened("memory:").value());
    fresh.create().value();
    CHECK(pebbles_in(opened("memory:").value()).get("north", 1).error().code == error_code::table_not_found);
    CHECK(opened("memory:x?create=true"));
    CHECK(opened("memory:x?create=false"));
}

TEST_CASE("open: a file is made only if the address says create=true") {
    temporary_folder const folder;
    std::string const path = folder / "a?b%c.db";
    std::string const escaped = folder / "a%3Fb%25c.db";
    CHECK(opened(path).error().code == error_code::store_failed);
    CHECK(has(refusal(path), "the file does not exist: file:PATH?create=true makes it"));
    CHECK(opened("file:" + escaped).error().code == error_code::store_failed);
    CHECK(opened("file:" + escaped + "?create=false").error().code == error_code::store_failed);
    CHECK_FALSE(std::filesystem::exists(path));
    pebbles_in(
        opened("file:" + escaped + "?create=true&durability=relaxed&journal=rollback&busy_timeout_ms=100").value())
        .create()
        .value();
    CHECK(std::filesystem::exists(path));
    auto const again = pebbles_in(opened(path).value());
    again.insert({"north", 2, "white"}).value();
    CHECK(pebbles_in(opened("file:" + escaped).value()).get("north", 2).value().colour == "white");
}

TEST_CASE("open: env:NAME stands for an address that is not in the program") {
    variable const where{"ENTITABLE_TEST_STORE", "memory:by-variable"};
    variable const nested{"ENTITABLE_TEST_NESTED", "env:ENTITABLE_TEST_STORE"};
    variable const empty{"ENTITABLE_TEST_EMPTY", ""};
    pebbles_in(opened("env:ENTITABLE_TEST_STORE").value()).create().value();
    CHECK(pebbles_in(opened("memory:by-variable").value()).insert({"north", 1, "red"}));
    CHECK(has(refusal("env:ENTITABLE_TEST_NESTED"), "ENTITABLE_TEST_NESTED refers to another environment variable"));
    CHECK(has(refusal("env:ENTITABLE_TEST_EMPTY"), "ENTITABLE_TEST_EMPTY is not set"));
    CHECK(has(refusal("env:ENTITABLE_TEST_NONE"), "ENTITABLE_TEST_NONE is not set"));
    CHECK(has(refusal("env:"), "env: is followed by something other than the name"));
    CHECK(has(refusal("env:A=B"), "env: is followed by something other than the name"));
}

TEST_CASE("open: options are checked, and the errors name them") {
    CHECK(has(refusal("memory:x?durability=full"), "unknown option durability; it accepts: create"));
    CHECK(has(refusal("file:x?creat=true"),
        "unknown option creat; it accepts: create, durability, journal, busy_timeout_ms"));
    CHECK(has(refusal("file:x?create=yes"), "the option create of the address accepts: false, true"));
    CHECK(has(refusal("file:x?create"), "an option without a name and a value"));
    CHECK(has(refusal("file:x?=true"), "an option without a name and a value"));
    CHECK(has(refusal("file:x?&create=true"), "an option without a name and a value"));
    CHECK(has(refusal("file:x?create=true&create=true"), "the option create of the address is given twice"));
    CHECK(has(refusal("file:x?create=%tr"), "the option create of the address has a % without two hexadecimal digits"));
    CHECK(
        has(refusal("file:x?busy_timeout_ms=-1"), "busy_timeout_ms of the address is not a number from 0 to 3600000"));
    CHECK(has(refusal("file:x?busy_timeout_ms="), "busy_timeout_ms of the address is not a number"));
    CHECK(has(refusal("file:x?busy_timeout_ms=1s"), "busy_timeout_ms of the address is not a number"));
    CHECK(has(refusal("file:x?busy_timeout_ms=3600001"), "busy_timeout_ms of the address is not a number"));
    CHECK(has(
        refusal("file:x?busy_timeout_ms=99999999999999999999999"), "busy_timeout_ms of the address is not a number"));
    CHECK(has(refusal("file:"), "file: is not followed by a path"));
    CHECK(has(refusal("file:?create=true"), "file: is not followed by a path"));
    CHECK(has(refusal("file:%4"), "the path after file: has a %"));
}

TEST_CASE("open: text of no known form is refused without a word of it") {
    for (char const* each : {"", " ", "x", "secret", "sqlite:secret", "Memory:", "MEMORY:x", "file",
             "redis://u:secret@h", "ftp://secret", "sqlite:secret.db", "=secret", "secret=", "a b=secret"}) {
        auto const made = opened(each);
        if (std::string_view{each} == "secret=" ||
            std::string_view{each} == "a b=secret") { // connection strings by their form
            CHECK(made.error().code == error_code::not_supported);
        } else {
            CHECK(made.error().code == error_code::invalid_input);
        }
        CHECK_FALSE(has(made.error().to_string(), "secret"));
    }
}

TEST_CASE("open: a component that the program does not contain is named") {
    CHECK(has(refusal("postgres://u:secret@h/d"), "NotSupported"));
    CHECK(has(refusal("postgres://u:secret@h/d"), "the component postgres (entitable::postgres_stores)"));
    CHECK(has(refusal("postgresql:///d"), "the component postgres (entitable::postgres_stores)"));
    CHECK(has(refusal("https://a.table.core.windows.net?sig=secret"), "the component azure (entitable::azure_stores)"));
    CHECK(has(refusal("UseDevelopmentStorage=true"), "the component azure (entitable::azure_stores)"));
    CHECK(has(open("x.db", {memory_stores}).error().to_string(), "the component file (entitable::file_stores)"));
    CHECK(has(open("memory:", {file_stores}).error().to_string(), "entitable::memory_stores"));
    CHECK(has(open("shards:memory%3A/m", {memory_stores}).error().to_string(), "entitable::shard_stores"));
    CHECK(open("memory:", std::span<store_kind const>{}).error().code == error_code::not_supported);
    CHECK_FALSE(has(refusal("postgres://u:secret@h/d"), "secret"));
}

TEST_CASE("open: random text is opened or refused, and never repeated in the error") {
    std::mt19937 draw{7};
    std::string_view const parts[] = {"memory:", "env:", "shards:", "?", "&", "=", "%", "%2", "%41", "/", "create",
        "true", "\x00Q", "\xff", "z", "Secret", "AccountKey", ";", ":", "env:HOME", "\n", "postgres://", "https://"};
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (std::size_t count = draw() % 7; count > 0; --count) { text += parts[draw() % std::size(parts)]; }
        if (text.starts_with("shards:memory") || text.starts_with("env:") || text.ends_with(".db")) { continue; }
        auto const made = opened(text);
        if (!made) {
            INFO(text);
            std::string const said = made.error().to_string();
            bool const is_option = has(said, "option");
            CHECK((is_option || !has(said, "Secret")));
        }
    }
}

TEST_CASE("open: a shard map is opened by its address, with its stores from the environment") {
    variable const catalogue{"ENTITABLE_TEST_CATALOGUE", "memory:catalogue"};
    lookup_map_options brief;
    brief.lease = std::chrono::milliseconds{20};
    std::string const table = GENERATE(as<std::string>{}, "hash", "first", "jump", "ranges");
    variable const own_east{"ENTITABLE_STORE_east_1", "memory:east-" + table};
    variable const own_west{"ENTITABLE_STORE_west", "memory:west-" + table};
    auto const own = [&](std::string_view name) {
        return opened((name == "east-1" ? "memory:east-" : "memory:west-") + table);
    };
    virtual_shards const shards = table == "hash" ? virtual_shards{8}
        : table == "first"                        ? virtual_shards::by_first_component(8)
        : table == "jump"                         ? virtual_shards::jump(8)
                                                  : virtual_shards::ranges({"m"});
    lookup_map::make(opened("memory:catalogue").value(), table, shards, {"east-1", "west"}, own, brief).value();
    for (std::string const& address :
        {"shards:env:ENTITABLE_TEST_CATALOGUE/" + table, "shards:memory%3Acatalogue/" + table}) {
        auto const store = opened(address).value();
        auto const pebbles = pebbles_in(store);
        pebbles.create_if_absent().value();
        for (char const* beach : {"north", "south", "east", "west"}) { pebbles.upsert({beach, 1, "grey"}).value(); }
        CHECK(pebbles.scan_table().to().value().size() == 4);
    }
    CHECK(pebbles_in(own("east-1").value()).get("north", 1).error().code == error_code::table_not_found);
}

TEST_CASE("open: a shard map that an address cannot open is refused with the reason") {
    auto const store = opened("memory:refused").value();
    auto const self = [&](std::string_view) -> result<any_store> { return store; };
    lookup_map::make(store, "byfunction",
        virtual_shards{2, [](std::string_view key) { return std::optional<std::uint32_t>{key.empty() ? 0U : 1U}; }},
        {"one"}, self)
        .value();
    CHECK(has(refusal("shards:memory%3Arefused/byfunction"), "assigns partitions by a function of a program"));
    CHECK(has(refusal("shards:memory%3Arefused/nothing"), "MapUnavailable"));
    CHECK(has(refusal("shards:shards%3Aa%2Fb/m"), "contains another address of shards"));
    CHECK(has(refusal("shards:memory%3A/m?create=true"), "unknown option create: it accepts none"));
    for (char const* each : {"shards:", "shards:/", "shards:x", "shards:memory%3A/", "shards:/map"}) {
        CHECK(has(refusal(each), "shards:CATALOGUE/MAP"));
    }
    CHECK(has(refusal("shards:%/map"), "has a % without two hexadecimal digits"));
}

TEST_CASE("open: a store of a map without its environment variable fails by name at its first request") {
    auto const catalogue = opened("memory:half").value();
    auto const self = [&](std::string_view name) { return opened("memory:half-" + std::string{name}); };
    lookup_map::make(catalogue, "map", virtual_shards{4}, {"there", "gone"}, self).value();
    variable const there{"ENTITABLE_STORE_there", "memory:half-there"};
    auto const store = opened("shards:memory%3Ahalf/map").value();
    auto const said = pebbles_in(store).create().error().to_string();
    CHECK(has(said, "ENTITABLE_STORE_gone is not set"));
}
