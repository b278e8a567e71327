// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

namespace {

struct book {
    std::string author;
    std::string title;
    std::int32_t year{};
};
ENTITABLE(book, partition_key(author), row_key(title), properties(year))

struct order {
    std::string customer;
    std::int32_t number{};
    entitable::reference<book> wanted;
    std::optional<entitable::reference<order>> replaces;
};
ENTITABLE(order, partition_key(customer), row_key(number), properties(property(wanted, "Book"), replaces))

using entitable::error_code;

} // namespace

TEST_CASE("a reference consists of both keys of another entity and can be used for a point read") {
    entitable::memory_backend store;
    entitable::table<book> const books{store, "books"};
    entitable::table<order> const orders{store, "orders"};
    books.create().value();
    orders.create().value();
    book const lathe{"Le Guin", "The Lathe of Heaven", 1971};
    books.insert(lathe).value();

    orders.insert({"ann", 1, books.reference_to("Le Guin", "The Lathe of Heaven").value(), std::nullopt}).value();
    orders.insert({"ann", 2, entitable::reference_to(lathe).value(), orders.reference_to("ann", 1).value()}).value();
    auto const second = orders.get("ann", 2).value();
    CHECK(books.get(second.wanted).value().year == 1971);
    CHECK(orders.get(*second.replaces).value().number == 1);
    CHECK_FALSE(orders.get("ann", 1).value().replaces);
    CHECK((second.wanted == orders.get("ann", 1).value().wanted));

    auto const row = entitable::row_table{store, "orders"}.get("ann", "0000000002").value();
    CHECK(row.get<std::string>("Book_PartitionKey").value() == "Le Guin");
    CHECK(row.get<std::string>("Book_RowKey").value() == "The Lathe of Heaven");
    CHECK(row.get<std::string>("replaces_RowKey").value() == "0000000001");

    books.remove("Le Guin", "The Lathe of Heaven", entitable::any_etag).value();
    CHECK(books.get(second.wanted).error().code == error_code::resource_not_found);
    CHECK_FALSE(books.find(second.wanted).value());
    CHECK(books.get({"Le Guin", "~!op!1"}).error().code == error_code::key_reserved);

    using o = entitable::fields<order>;
    orders.merge(entitable::at("ann", 2), o::wanted = entitable::reference<book>{"Lem", "Solaris"}, entitable::any_etag)
        .value();
    CHECK(orders.get("ann", 2).value().wanted.row_key == "Solaris");
    orders.update("ann", 2, [](order& each) { each.replaces.reset(); }).value();
    CHECK_FALSE(orders.get("ann", 2).value().replaces);
}

TEST_CASE("a row with only half of a reference is a mismatch") {
    entitable::row_builder builder{"ann", "0000000001"};
    builder.add("Book_PartitionKey", entitable::value_view{std::string_view{"x"}});
    order read;
    auto const refused = entitable::from_row(builder.build(), read).error();
    CHECK(refused.code == error_code::row_mismatch);
    CHECK(refused.message.find("\"Book_RowKey\" is absent") != std::string::npos);
}
