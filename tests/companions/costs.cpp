// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// The requests of each write of a table with an index and sums, and the operations of its transaction.

#include "companions/books.hpp"
#include "support/catch.hpp"

using namespace companion_tests;

namespace {

struct counts {
    std::size_t requests{};
    std::size_t operations{}; ///< of the last write
};

/// Counts the requests that pass.
struct counting {
    using is_transport = void;
    any_store below;
    counts* to;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        ++to->requests;
        if constexpr (std::same_as<Request, transact>) { to->operations = request.changes.size(); }
        if constexpr (std::same_as<Request, write_entity>) { to->operations = 1; }
        return below.execute(request, context);
    }
};

using books_table = table<counter, invoice, by_customer, daily_sales>;

struct opened {
    memory_backend store;
    counts counted;
    books_table books{counting{store, &counted}, "books"};

    opened() {
        books.create().value();
        books.insert(invoice{"ACME", 1, "ann", {}, "red", "mon", 100}).value();
        books.insert(invoice{"ACME", 2, "bob", {}, "red", "tue", 100}).value();
    }
    /// The requests and operations of a write.
    template <class Write>
    std::pair<std::size_t, std::size_t> cost_of(Write const& write) {
        counted = {};
        auto const done = write();
        CHECK(done.has_value());
        return {counted.requests, counted.operations};
    }
};

using cost = std::pair<std::size_t, std::size_t>;

} // namespace

TEST_CASE("companions: each write costs the documented requests and operations") {
    opened in;
    auto const& books = in.books;
    // One read of the sum, and one transaction of entity, index row and sum.
    CHECK(in.cost_of([&] { return books.insert(invoice{"ACME", 3, "cid", {}, "red", "mon", 1}); }) == cost{2, 3});
    // Nothing else is read or written for an entity without companions.
    CHECK(in.cost_of([&] { return books.insert(counter{"ACME", 3}); }) == cost{1, 1});
    // What changes neither the index row nor the sum: one read, one transaction of one.
    CHECK(in.cost_of([&] { return books.merge(at("ACME", 3), i::account = "blue", any_etag); }) == cost{2, 1});
    // The key of the index row: removed and put.
    CHECK(in.cost_of([&] { return books.merge(at("ACME", 3), i::customer = "dan", any_etag); }) == cost{2, 3});
    // The sum, in the same row; the index row has the price.
    CHECK(in.cost_of([&] { return books.merge(at("ACME", 3), i::cents = std::int64_t{2}, any_etag); }) == cost{3, 3});
    // Another sum.
    CHECK(in.cost_of([&] { return books.merge(at("ACME", 3), i::day = "tue", any_etag); }) == cost{4, 3});
    CHECK(in.cost_of([&] { return books.update<invoice>("ACME", 3, [](invoice& one) { one.account = "green"; }); }) ==
        cost{2, 1});
    CHECK(in.cost_of([&] { return books.remove<invoice>("ACME", 3, any_etag); }) == cost{3, 3});
    // The archive row is read and written as well.
    in.books.insert(invoice{"ACME", 3, "cid", {}, "red", "mon", 1}).value();
    CHECK(in.cost_of([&] { return books.remove<invoice>("ACME", 3, any_etag, removal::archived); }) == cost{4, 4});
    // Ten inserts into one sum: it is read and written once.
    CHECK(in.cost_of([&] {
        auto all = books.batch();
        for (std::int32_t number = 10; number < 20; ++number) {
            all.insert(invoice{"ACME", number, "ann", {}, "red", "mon", 1});
        }
        return all.submit();
    }) == cost{2, 21});
    // The counter is read and written once, the invoice is written without a read.
    CHECK(in.cost_of([&] {
        return books.transact("ACME", [](transaction<counter, invoice>& all) -> result<void> {
            ENTITABLE_TRY(auto next, all.get<counter>());
            ++next.last;
            all.replace(next).insert(invoice{"ACME", 30, "ann", {}, "red", "mon", 1});
            return {};
        });
    }) == cost{3, 4});
    CHECK(in.cost_of([&] { return books.remove<counter>("ACME", any_etag, removal::archived); }) == cost{1, 1});
}

TEST_CASE("companions: a transaction with too many rows is refused before anything is sent") {
    opened in;
    auto all = in.books.batch();
    for (std::int32_t number = 10; number < 70; ++number) {
        all.insert(invoice{"ACME", number, "ann", {}, "red", "mon", 1});
    }
    auto const refused = all.submit();
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(refused.error().effect == effect::none);
    CHECK(in.books.where(i::tenant == "ACME").count().value() == 2);
}

TEST_CASE("companions: a bulk load packs fewer entities into a transaction if the table has companions") {
    opened const in;
    CHECK(in.books.of<invoice>().store().profile().max_operations == 20); // 1 + 2 for the index, 2 for the sum
}
