// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// What a write of a table with indexes and sums returns about its attempts, and about rows that it could not remove.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include <entitable/testing.hpp>

#include <functional>

using namespace companion_tests;

namespace {

invoice const first{"ACME", 1, "ann", {}, "red", "mon", 100};

static_assert(sizeof(written) == sizeof(etag) + 16); // the charge, and the numbers in what was padding

/// Calls a function before the next transaction, and refuses writes of a table.
struct watched {
    using is_transport = void;
    any_store below;
    std::function<void()>* before;
    std::string const* broken;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            if (auto const once = std::exchange(*before, nullptr)) { once(); }
        }
        if constexpr (std::same_as<Request, write_entity>) {
            if (request.table == *broken && request.change.kind == mutation_kind::remove) {
                return failure{error_code::authorization_failure, "not allowed"};
            }
        }
        return below.execute(request, context);
    }
};

struct opened {
    memory_backend store;
    std::function<void()> before;
    std::string broken;
    all_books books = open_books(watched{store, &before, &broken});
    all_books others = open_books(store);

    opened() {
        books.create().value();
        books.insert(first).value();
    }
    /// Another writer changes the sums in front of the next transaction.
    void contend() {
        before = [this] { others.insert(invoice{"ACME", 9, "zoe", {}, "blue", "mon", 900}).value(); };
    }
};

struct numbers {
    std::uint64_t attempts;
    std::uint64_t healed;
    std::uint64_t unsettled;
    bool operator==(numbers const&) const = default;
};
template <class Outcome>
numbers of(Outcome const& made) {
    return {made.attempts, made.healed, made.unsettled};
}

} // namespace

TEST_CASE("outcomes: each write reports its attempts") {
    opened in;
    CHECK(of(in.books.insert(invoice{"ACME", 2, "bob", {}, "red", "mon", 1}).value()) == numbers{1, 0, 0});
    CHECK(of(in.books.insert(counter{"ACME", 2}).value()) == numbers{1, 0, 0}); // no index or sum of it
    CHECK(of(in.books.unmaintained<counter>().insert_or_replace(counter{"ACME", 2}).value()) == numbers{0, 0, 0});
    in.contend();
    CHECK(
        of(in.books.of<invoice>().insert(invoice{"ACME", 3, "bob", {}, "red", "mon", 2}).value()) == numbers{2, 0, 0});
    in.others.remove<invoice>("ACME", 9, any_etag).value();
    in.contend();
    auto const both = in.books.batch()
                          .insert(refund{"ACME", 4, "mon", 2})
                          .insert(invoice{"ACME", 5, "bob", {}, "red", "mon", 5})
                          .submit()
                          .value();
    CHECK(of(both[0]).attempts == 2);
    CHECK(of(both[1]).attempts == 2);
    CHECK(found_rows{in.store}.right());
}

TEST_CASE("outcomes: a write reports missing index rows and rows that it could not remove") {
    opened in;
    table<as_entity<by_customer>, as_entity<daily_sales>> const rows{in.store, "books"};
    rows.remove<by_customer>("ACME", "ann", 1, any_etag).value();
    CHECK(of(in.books.merge(at("ACME", 1), i::customer = "bob", any_etag).value()) == numbers{1, 1, 0});
    in.broken = "accounts";
    CHECK(of(in.books.merge(at("ACME", 1), i::account = "blue", any_etag).value()) == numbers{1, 0, 1});
    rows.remove<by_customer>("ACME", "bob", 1, any_etag).value();
    auto const done = in.books.transact("ACME", [](transaction<counter, invoice, refund>& all) -> result<void> {
        ENTITABLE_CHECK(all.update<invoice>(1, [](invoice& one) { one.customer = "cid", one.account = "green"; }));
        return {};
    });
    CHECK(of(done.value()) == numbers{1, 1, 1});
    CHECK(in.books.by<by_account>().where(of_account::account == "green").to()->size() == 1);
    in.broken.clear();
    CHECK(in.books.repair()->intents == 2);
    CHECK(found_rows{in.store}.right());
    CHECK((in.books.verify)().value().good());
}
