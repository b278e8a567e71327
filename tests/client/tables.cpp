// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "client/entities.hpp"
#include "support/catch.hpp"
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

using namespace entitable;
using client_tests::address;
using client_tests::order;
using any_entity = tables<order, address>::any_entity;

namespace {

struct shop {
    memory_backend store;
    tables<order, address> customers{store, "customers"};
    row_table raw{store, "customers"};

    shop() { customers.create().value(); }
};

} // namespace

TEST_CASE("entities of two types share a batch and are read back with their types") {
    shop in;
    auto batch = in.customers.batch();
    batch.insert(order{"ann", 1, 2.5}).insert(address{"ann", "home", "Main Street"}).insert(order{"ann", 2, 4});
    REQUIRE(batch.submit().value().size() == 3);

    std::vector<std::size_t> kinds;
    double total = 0;
    in.customers
        .for_each_in_partition("ann",
            [&](any_entity const& any) {
                kinds.push_back(any.index());
                if (auto const* found = std::get_if<order>(&any)) { total += found->total; }
            })
        .value();
    CHECK(kinds == std::vector<std::size_t>{1, 0, 0}); // "address:" sorts before "order:"
    CHECK(total == 6.5);
}

TEST_CASE("a row of an unknown type stays an entity with all its properties") {
    shop in;
    entity note{"ann", "note:1"};
    note.set("text", "call back").set("urgent", true);
    in.raw.insert(note).value();
    in.customers
        .for_each_in_partition("ann",
            [](any_entity const& any) {
                auto const& kept = std::get<entity>(any);
                CHECK(kept.get<std::string>("text").value() == "call back");
                CHECK(kept.get<bool>("urgent").value());
            })
        .value();
}

TEST_CASE("a row that has the keys of a type but does not fit it is an error and not an unknown row") {
    shop in;
    entity broken{"ann", "order:0000000001"};
    broken.set("total", "much");
    in.raw.insert(broken).value();
    CHECK(in.customers.for_each_in_partition("ann", [](auto const&) {}).error().code == error_code::row_mismatch);
}

TEST_CASE("the entities of one type can be queried as if they were alone in the table") {
    shop in;
    in.customers.of<order>().insert({"ann", 1, 2.5}).value();
    in.customers.of<address>().insert({"ann", "home", "Main Street"}).value();
    using o = fields<order>;
    CHECK(in.customers.of<order>().where(o::customer == "ann" && o::id >= 0).count().value() == 1);
    CHECK(in.customers.of<address>().get("ann", "home").value().street == "Main Street");
}

TEST_CASE("an entity without a schema keeps the property types it was given") {
    shop in;
    entity mixed{"p", "r"};
    mixed.set("flag", false).set("count", std::int64_t{0}).set("text", "").set("ratio", 3.0);
    in.raw.insert(mixed).value();
    entity other{"p", "s"};
    other.set("count", "many"); // the same name, another type
    in.raw.insert(other).value();

    entity const read = in.raw.get("p", "r").value();
    CHECK(read.properties() == mixed.properties());
    CHECK(read.get<std::int64_t>("count").value() == 0);
    CHECK(read.get<std::optional<std::int64_t>>("count").value() == 0);
    CHECK_FALSE(read.get<std::optional<std::int64_t>>("none").value());
    CHECK(read.get<std::optional<double>>("count").error().code == error_code::row_mismatch);
    CHECK(read.get<std::int32_t>("count").error().code == error_code::row_mismatch);
    CHECK(read.get<double>("absent").error().code == error_code::resource_not_found);
    CHECK_FALSE(read.etag().empty());
    CHECK(in.raw.get("p", "s").value().get<std::string>("count").value() == "many");

    entity changed = read;
    CHECK(changed.erase("flag"));
    CHECK_FALSE(changed.erase("flag"));
    in.raw.replace(changed, read.etag()).value();
    CHECK(in.raw.get("p", "r").value().find("flag") == nullptr);
    CHECK(in.raw.replace(changed, read.etag()).error().code == error_code::update_condition_not_satisfied);
    CHECK(in.raw.remove("p", "r", any_etag));
    CHECK(in.raw.get("p", "r").error().code == error_code::resource_not_found);
}
