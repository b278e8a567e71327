// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Tables that other programs have written: `adopt` makes their indexes and sums ready; `build` makes all ready that are not.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include <entitable/testing/manual_clock.hpp>

using namespace companion_tests;

namespace {

invoice const first{"ACME", 1, "ann", {}, "red", "mon", 100};
invoice const second{"ACME", 2, "bob", {}, "red", "mon", 250};
std::chrono::seconds const lease_and_request{150};

/// An earlier program, which writes index rows and sums itself, and knows no declaration.
struct earlier_program {
    any_store store;
    table<counter, invoice, as_entity<by_customer>, as_entity<by_reference>, as_entity<daily_sales>, as_entity<balance>>
        books{store, "books"};
    table<by_account> accounts{store, "accounts"};

    template <class Index>
    static Index as(invoice const& one) {
        Index made;
        static_cast<invoice&>(made) = one;
        return made;
    }
    void create() const {
        books.create().value();
        accounts.create().value();
    }
    void insert(invoice const& one) const {
        accounts.insert(as<by_account>(one)).value();
        daily_sales sums = books.find<daily_sales>(one.tenant, one.day)->value_or(daily_sales{one.tenant, one.day});
        sums.add(one);
        std::string const row_key = row_key_of(one).value();
        std::int32_t const part = static_cast<std::int32_t>(detail::part_of_sums(row_key, 3));
        balance all = books.find<balance>(one.tenant, part)->value_or(balance{one.tenant, part});
        all.add(one);
        auto batch = books.batch();
        batch.insert(one)
            .insert(as<by_customer>(one))
            .insert(as<by_reference>(one))
            .insert_or_replace(sums)
            .insert_or_replace(all);
        batch.submit().value();
    }
};

/// Answers this number of requests; the next one and all after it fail, the next one perhaps after it was applied.
struct dying {
    using is_transport = void;
    any_store below;
    std::shared_ptr<int> left;
    bool applied{};

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (--*left >= 0) { return below.execute(request, context); }
        if (*left == -1 && applied) { static_cast<void>(below.execute(request, context)); }
        failure gone{error_code::transport_failed, "gone"};
        gone.error().effect = Request::writes ? effect::unknown : effect::none;
        return gone;
    }
};

/// Lets the earlier program write before every third request.
struct beside {
    using is_transport = void;
    any_store below;
    earlier_program const* before;
    std::int32_t* number;
    int* asked;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (++*asked % 3 == 0 && *number < 20) {
            before->insert(invoice{"ACME", ++*number, "ann", {}, "blue", "mon", *number});
        }
        return below.execute(request, context);
    }
};

table_options at(testing::manual_clock& time) {
    table_options how;
    how.time = &time;
    how.seed = 3;
    how.max_attempts = 3;
    return how;
}

void check_ready(all_books const& books) {
    CHECK(books.state<by_customer>().value() == index_state::ready);
    CHECK(books.state<by_reference>().value() == index_state::ready);
    CHECK(books.state<by_account>().value() == index_state::ready);
    CHECK(books.state<daily_sales>().value() == index_state::ready);
    CHECK(books.state<balance>().value() == index_state::ready);
    CHECK((books.verify)().value().good());
}

} // namespace

TEST_CASE("adopt: a table that has rows and no declaration is adopted with one wait") {
    memory_backend const store;
    testing::manual_clock time;
    earlier_program const before{store};
    before.create();
    before.insert(first);
    before.insert(second);
    auto const books = open_books(store, at(time));
    CHECK(books.insert(invoice{"ACME", 3, "cid", {}, "red", "mon", 1}).error().code == error_code::declaration_missing);
    auto const sums = before.books.get_stored<daily_sales>("ACME", "mon").value();
    auto const index = before.accounts.get_stored("red", "ACME", 1).value();
    auto const started = time.steady();
    auto const done = books.adopt().value();
    CHECK(time.steady() - started == lease_and_request);
    CHECK(done.written == 0); // all was correct
    CHECK(done.removed == 0);
    CHECK(before.books.get_stored<daily_sales>("ACME", "mon")->etag == sums.etag);
    CHECK(before.accounts.get_stored("red", "ACME", 1)->etag == index.etag);
    check_ready(books);
    CHECK(found_rows{store}.right());
    CHECK(books.insert(invoice{"ACME", 3, "cid", {}, "red", "mon", 1}));
    CHECK(books.sum(daily_sales{"ACME", "mon"})->invoices == 3);
    auto const again = time.steady();
    CHECK(books.adopt().has_value()); // nothing to do
    CHECK(time.steady() == again);
    CHECK(found_rows{store}.right());
}

TEST_CASE("adopt: rows that an earlier program did not maintain are corrected") {
    memory_backend const store;
    testing::manual_clock time;
    earlier_program const before{store};
    before.create();
    before.insert(first);
    before.books.insert(second).value(); // without its rows
    table<refund>{store, "books"}.insert(refund{"ACME", 1, "mon", 30}).value();
    before.books.insert_or_replace(daily_sales{"ACME", "tue", 7, 1}).value(); // of an invoice that was removed
    before.books.insert(earlier_program::as<by_customer>(invoice{"ACME", 9, "eve", {}, "red", "mon", 1})).value();
    auto const books = open_books(store, at(time));
    auto const done = books.adopt().value();
    CHECK(done.found.missing == 1); // the rows of one entity are written together
    CHECK(done.found.dangling == 1);
    CHECK(done.removed == 1);
    CHECK(done.written == 1 + 2 + 1); // an entity, two days, one part of the balance
    check_ready(books);
    CHECK(found_rows{store}.right());
}

TEST_CASE("adopt: missing index rows, sums and tables of indexes are created") {
    memory_backend const store;
    testing::manual_clock time;
    table<invoice> const before{store, "books"};
    before.create().value();
    before.insert(first).value();
    auto const books = open_books(store, at(time));
    CHECK(books.adopt()->written >= 5);
    check_ready(books);
    CHECK(found_rows{store}.right());
}

TEST_CASE("adopt: a program that itself maintains the rows may write during the adoption") {
    memory_backend const store;
    testing::manual_clock time;
    earlier_program const before{store};
    before.create();
    before.insert(first);
    std::int32_t number = 10;
    int asked = 0;
    auto const books = open_books(beside{store, &before, &number, &asked}, at(time));
    CHECK(books.adopt().has_value());
    CHECK(number == 20);
    check_ready(open_books(store, at(time)));
    CHECK(found_rows{store}.right());
}

TEST_CASE("adopt: an adoption that is interrupted at any request is completed by the next call") {
    for (bool const applied : {false, true}) {
        bool done = false;
        for (int requests = 0; !done; ++requests) {
            REQUIRE(requests < 400);
            CAPTURE(applied, requests);
            memory_backend const store;
            testing::manual_clock time;
            earlier_program const before{store};
            before.create();
            before.insert(first);
            before.books.insert(second).value(); // without its rows
            auto const left = std::make_shared<int>(requests);
            done = open_books(dying{store, left, applied}, at(time)).adopt().has_value();
            auto const books = open_books(store, at(time));
            // What is not ready is not used.
            if (books.by<by_customer>().where(of_customer::tenant == "ACME").to()) {
                CHECK(books.by<by_customer>().where(of_customer::tenant == "ACME").to()->size() == 2);
            }
            if (auto const sums = books.sum(daily_sales{"ACME", "mon"})) { CHECK(sums->cents == 350); }
            CHECK(books.adopt().has_value());
            check_ready(books);
            CHECK(found_rows{store}.right());
        }
    }
}

TEST_CASE("build: all companions that are not ready are built with one wait") {
    memory_backend const store;
    testing::manual_clock time;
    table<counter, invoice, by_customer> const narrow{store, "books", at(time)};
    narrow.create().value();
    narrow.insert(first).value();
    narrow.insert(second).value();
    auto const books = open_books(store, at(time));
    table<by_account>{store, "accounts"}.create().value();
    CHECK(books.state<by_customer>().value() == index_state::ready);
    auto const started = time.steady();
    auto const done = books.build().value();
    CHECK(time.steady() - started == lease_and_request);
    CHECK(done.written == 2 + 2 + 1 + 2); // two indexes, one day, two parts of the balance
    check_ready(books);
    CHECK(found_rows{store}.right());
    auto const again = time.steady();
    CHECK(books.build()->written == 0);
    CHECK(time.steady() == again);
    // A retired one is built again; a table without a declaration needs no wait.
    CHECK(books.retire<daily_sales>());
    CHECK(books.insert(invoice{"ACME", 3, "cid", {}, "red", "mon", 1}));
    CHECK(books.build()->written == 1);
    check_ready(books);
    memory_backend const other;
    table<invoice>{other, "books"}.create().value();
    table<invoice>{other, "books"}.insert(first).value();
    table<by_account>{other, "accounts"}.create().value();
    auto const there = open_books(other, at(time));
    auto const now = time.steady();
    CHECK(there.build().has_value());
    CHECK(time.steady() == now);
    check_ready(there);
}

TEST_CASE("build: a build that is interrupted at any request is completed by the next call") {
    bool done = false;
    for (int requests = 0; !done; ++requests) {
        REQUIRE(requests < 400);
        CAPTURE(requests);
        memory_backend const store;
        testing::manual_clock time;
        table<counter, invoice, by_customer> const narrow{store, "books", at(time)};
        narrow.create().value();
        narrow.insert(first).value();
        table<by_account>{store, "accounts"}.create().value();
        auto const left = std::make_shared<int>(requests);
        done = open_books(dying{store, left, true}, at(time)).build().has_value();
        auto const books = open_books(store, at(time));
        CHECK(books.build().has_value());
        check_ready(books);
        CHECK(found_rows{store}.right());
    }
}

TEST_CASE("adopt and build: do nothing for a list without indexes and sums") {
    memory_backend const store;
    table<counter, refund> const plain{store, "plain"};
    CHECK(plain.adopt()->written == 0);
    CHECK(plain.build()->written == 0);
}
