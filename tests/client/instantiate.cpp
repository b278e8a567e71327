// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <support/catch.hpp>

#include <memory>
#include <optional>

namespace instantiate_test {

struct order {
    std::string shop;
    std::int32_t number{};
    std::string status;
    std::optional<std::int64_t> cents;
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(status, cents))

struct by_status {
    std::string shop;
    std::string status;
    std::int32_t number{};
    by_status() = default;
    explicit by_status(order const& from) : shop(from.shop), status(from.status), number(from.number) {}
};
ENTITABLE(by_status, partition_key(shop), row_key(literal("STATUS:"), escaped(status), number), properties())

// Can be moved and not copied.
struct photo {
    std::string album;
    std::int32_t number{};
    std::unique_ptr<int> cached;
};
ENTITABLE(photo, partition_key(album), row_key(number), properties())

} // namespace instantiate_test

ENTITABLE_EXTERN(instantiate_test::order)
ENTITABLE_EXTERN(instantiate_test::by_status)
ENTITABLE_EXTERN(instantiate_test::photo)

ENTITABLE_INSTANTIATE(instantiate_test::order)
ENTITABLE_INSTANTIATE(instantiate_test::by_status)
ENTITABLE_INSTANTIATE(instantiate_test::photo)

namespace instantiate_test {

TEST_CASE("an instantiated entity is written, read, changed and queried") {
    entitable::memory_backend store;
    entitable::table<order> orders{store, "orders"};
    orders.create().value();
    using o = entitable::fields<order>;

    orders.insert({"north", 1, "new", 250}).value();
    orders.insert({"north", 2, "paid", std::nullopt}).value();
    CHECK(orders.get("north", 1).value().cents == 250);
    CHECK_FALSE(orders.find("north", 3).value());
    CHECK(orders.find("north", 2).value()->status == "paid");
    CHECK(orders.get_stored("north", 2).value().entity.status == "paid");
    CHECK(orders.get("north", 3).error().code == entitable::error_code::resource_not_found);

    auto const changed = orders.update("north", 1, [](order& found) { found.status = "paid"; }).value();
    CHECK(changed.changed);
    CHECK(changed.entity.status == "paid");
    CHECK(orders.where(o::shop == "north").to().value().size() == 2);
    CHECK(orders.where(o::shop == "north" && o::number > 1).first().value()->number == 2);
    CHECK_FALSE(orders.where(o::shop == "south").first().value());
    std::int64_t numbers = 0;
    for (order const& each : orders.where(o::shop == "north" && o::status == "paid")) { numbers += each.number; }
    CHECK(numbers == 3);
    CHECK(orders.scan_table().count().value() == 2);
}

TEST_CASE("an instantiated entity is one of a list of types") {
    entitable::memory_backend store;
    entitable::table<order, by_status> orders{store, "orders"};
    orders.create().value();
    orders.insert(order{"north", 1, "new", 250}).value();
    orders.insert(by_status{order{"north", 1, "new", 250}}).value();
    using s = entitable::fields<by_status>;
    CHECK(orders.where<by_status>(s::shop == "north").to().value().at(0).number == 1);
}

TEST_CASE("an instantiated entity may be movable only") {
    entitable::memory_backend store;
    entitable::table<photo> photos{store, "photos"};
    photos.create().value();
    photos.insert({"summer", 1, nullptr}).value();
    CHECK(photos.get("summer", 1).value().number == 1);
}

} // namespace instantiate_test
