// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Changes of a transaction under an ETag of the caller: without indexes and sums, and with them.

#include "support/catch.hpp"
#include "support/entities.hpp"
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

using namespace entitable;
using entitable_test::account;
using entitable_test::booking;

namespace {

struct by_cents : account {};
ENTITABLE(by_cents, partition_key(bank), row_key(literal("cents:"), width(cents, 9), number), properties(note))

struct total {
    std::string bank;
    std::int64_t cents{};
    static total key(account const& of) { return {of.bank}; }
    void add(account const& one) { cents += one.cents; }
    void subtract(account const& one) { cents -= one.cents; }
};
ENTITABLE(total, partition_key(bank), row_key(literal("total")), properties(cents))

using all_of_bank = transaction<account, booking>;
using plain_bank = table<account, booking>;
using maintained_bank = table<account, booking, by_cents, total>;

/// Refuses a transaction without naming the change.
struct nameless {
    using is_transport = void;
    any_store below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if (!answer) {
            failure refused{answer.error()};
            refused.error().operation_index.reset();
            return refused;
        }
        return answer;
    }
};

template <class Books>
struct bank {
    explicit bank(bool names = true) {
        books.create().value();
        for (std::int32_t const number : {1, 2}) { books.insert(account{"first", number, 100, {}}).value(); }
        if (!names) { used = Books{nameless{store}, "books"}; }
    }
    template <class Body>
    result<transacted> transact(Body&& body) {
        runs = 0;
        return used.transact("first",
            [&](all_of_bank& all) {
                ++runs;
                return body(all);
            },
            {.max_attempts = 5, .time = &time, .seed = 1});
    }
    [[nodiscard]] etag version(std::int32_t number) const {
        return books.template get_stored<account>("first", number)->etag;
    }
    void put(std::int32_t number, std::int64_t cents) const { // by another writer
        books.insert_or_merge(account{"first", number, cents, {}}).value();
    }
    [[nodiscard]] account stored(std::int32_t number) const {
        return books.template get<account>("first", number).value();
    }
    [[nodiscard]] bool is_right() const {
        if constexpr (std::same_as<Books, maintained_bank>) { return (books.verify)().value().good(); }
        return true;
    }
    [[nodiscard]] std::size_t reads() const { return watched.template all<get_entity>().size(); }

    testing::manual_clock time;
    memory_backend store;
    testing::spy<memory_backend> watched{store};
    Books books{store, "books"};
    Books used{watched, "books"};
    int runs{};
};

constexpr auto changed = error_code::update_condition_not_satisfied;

} // namespace

TEMPLATE_TEST_CASE(
    "transaction: a change under an ETag is applied if the entity has this ETag", "", plain_bank, maintained_bank) {
    bank<TestType> in;
    REQUIRE(in.transact([&](all_of_bank& all) -> result<void> {
        all.replace(account{"first", 1, 70, "paid"}, in.version(1)).insert(booking{"first", 1, 30});
        return {};
    }));
    CHECK(in.stored(1).cents == 70);
    REQUIRE(in.transact([&](all_of_bank& all) -> result<void> {
        all.merge(account{"first", 1, 71, {}}, in.version(1));
        return {};
    }));
    CHECK(in.stored(1).cents == 71);
    CHECK(in.stored(1).note == "paid");
    REQUIRE(in.transact([&](all_of_bank& all) -> result<void> {
        all.remove(account{"first", 1, 0, {}}, in.version(1));
        return {};
    }));
    CHECK_FALSE(in.books.template find<account>("first", 1).value());
    CHECK(in.is_right());
}

TEST_CASE("transaction: without companions, the caller's ETag becomes the condition of the request and costs no read") {
    bank<plain_bank> in;
    auto const version = in.version(1);
    REQUIRE(in.transact([&](all_of_bank& all) -> result<void> {
        all.replace(account{"first", 1, 70, {}}, version);
        return {};
    }));
    REQUIRE(in.watched.seen().size() == 1);
    auto const sent = in.watched.all<transact>().back().changes;
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].condition.version() == version);
}

TEMPLATE_TEST_CASE("transaction: a mismatch with the caller's ETag is returned, and the body does not start over", "",
    plain_bank, maintained_bank) {
    bank<TestType> in{GENERATE(true, false)};
    auto const old = in.version(1);
    in.put(1, 50);
    enum { replace, merge, remove };
    for (int const what : {replace, merge, remove}) {
        auto const refused = in.transact([&](all_of_bank& all) -> result<void> {
            account const to{"first", 1, 70, {}};
            all.insert(booking{"first", 1, 30});
            what == replace ? all.replace(to, old) : what == merge ? all.merge(to, old) : all.remove(to, old);
            return {};
        });
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == changed);
        CHECK(refused.error().effect == effect::none);
        CHECK(refused.error().detail.find(row_key_of(account{"first", 1, 0, {}}).value()) != std::string::npos);
        CHECK(in.runs == 1);
    }
    CHECK(in.stored(1).cents == 50);
    CHECK_FALSE(in.books.template find<booking>("first", 1).value());
    auto const missing = in.transact([&](all_of_bank& all) -> result<void> {
        all.replace(account{"first", 9, 1, {}}, old);
        return {};
    });
    CHECK(missing.error().code == error_code::resource_not_found);
    CHECK(missing.error().detail.find(row_key_of(account{"first", 9, 0, {}}).value()) != std::string::npos);
    CHECK(in.runs == 1);
    auto const nothing = in.transact([&](all_of_bank& all) -> result<void> {
        all.replace(account{"first", 1, 1, {}}, etag{});
        return {};
    });
    CHECK_FALSE(nothing); // an empty ETag is that of no entity
    CHECK(in.runs == 1);
    CHECK(in.is_right());
}

TEMPLATE_TEST_CASE("transaction: another writer changes the entity between the body and the write request", "",
    plain_bank, maintained_bank) {
    bank<TestType> in{GENERATE(true, false)};
    auto const old = in.version(1);
    // The other writer changes the entity with the ETag: the outcome.
    auto const refused = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto const seen, all.template get<account>(1));
        all.replace(account{"first", 1, seen.cents + 1, {}}, old);
        in.put(1, 50);
        return {};
    });
    CHECK(refused.error().code == changed);
    CHECK(in.runs == 1);
    CHECK(in.stored(1).cents == 50);
    // The other writer changes a row that the body has only read: the body runs again.
    auto const now = in.version(1);
    REQUIRE(in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto const seen, all.template get<account>(2));
        all.replace(account{"first", 1, seen.cents, {}}, now);
        if (in.runs == 1) { in.put(2, 60); }
        return {};
    }));
    CHECK(in.runs == 2);
    CHECK(in.stored(1).cents == 60);
    // Both: the ETag decides, then or in the next run.
    auto const last = in.version(1);
    auto const both = in.transact([&](all_of_bank& all) -> result<void> {
        ENTITABLE_TRY(auto const seen, all.template get<account>(2));
        all.replace(account{"first", 1, seen.cents, {}}, last);
        in.put(1, 1);
        in.put(2, 1);
        return {};
    });
    CHECK(both.error().code == changed);
    CHECK(in.runs == 1);
    CHECK(in.is_right());
}

TEMPLATE_TEST_CASE(
    "transaction: a body can read an entity that it changes under an ETag", "", plain_bank, maintained_bank) {
    bank<TestType> in;
    auto const old = in.version(1);
    in.put(1, 50);
    auto const now = in.version(1);
    auto const run = [&](auto body) {
        return in.transact([&](all_of_bank& all) -> result<void> {
            body(all);
            return {};
        });
    };
    // Read before, with another version.
    auto refused = run([&](all_of_bank& all) {
        CHECK(all.template get<account>(1)->cents == 50);
        all.replace(account{"first", 1, 70, {}}, old);
    });
    CHECK(refused.error().code == changed);
    CHECK(in.runs == 1);
    // Read after, although nothing needs it: a merge.
    refused = run([&](all_of_bank& all) {
        all.merge(account{"first", 1, 70, {}}, old);
        CHECK(all.template get<account>(1).error().code == changed);
    });
    CHECK(refused.error().code == changed);
    CHECK(in.runs == 1);
    // The right one, before and after.
    CHECK(run([&](all_of_bank& all) {
        CHECK(all.template get<account>(1)->cents == 50);
        all.merge(account{"first", 1, 70, {}}, now);
        CHECK(all.template get<account>(1)->cents == 70);
    }));
    CHECK(run([&](all_of_bank& all) {
        all.merge(account{"first", 1, 71, {}}, in.version(1));
        CHECK(all.template get<account>(1)->cents == 71);
    }));
    // A row that was found missing.
    refused = run([&](all_of_bank& all) {
        CHECK_FALSE(all.template find<account>(9).value());
        all.replace(account{"first", 9, 70, {}}, now);
    });
    CHECK(refused.error().code == error_code::resource_not_found);
    // A query.
    refused = run([&](all_of_bank& all) {
        CHECK(all.where(fields<account>::bank == "first")->size() == 2);
        all.remove(account{"first", 1, 0, {}}, old);
    });
    CHECK(refused.error().code == changed);
    CHECK(in.stored(1).cents == 71);
    CHECK(in.is_right());
}

TEMPLATE_TEST_CASE("transaction: an ETag is checked even if the body changes the entity several times", "", plain_bank,
    maintained_bank) {
    bank<TestType> in;
    auto const old = in.version(2);
    in.put(2, 50);
    account const two{"first", 2, 1, "x"};
    account const other{"first", 2, 2, {}};
    auto const run = [&](auto body) {
        auto made = in.transact([&](all_of_bank& all) -> result<void> {
            body(all, in.version(2));
            return {};
        });
        CHECK(in.runs == 1);
        return made;
    };
    using bodies = all_of_bank&;
    // Twice: one ETag is that of the stored entity, regardless of what the body has done with it.
    REQUIRE(run([&](bodies all, etag const& now) { all.replace(two, now).merge(other, now); }));
    CHECK(in.stored(2).cents == 2);
    CHECK(in.stored(2).note == "x");
    CHECK(run([&](bodies all, etag const& now) { all.replace(two, now).replace(other, old); }).error().code == changed);
    CHECK(run([&](bodies all, etag const& now) { all.replace(two, old).replace(other, now); }).error().code == changed);
    // With any_etag before or after: the ETag still holds.
    CHECK(run([&](bodies all, etag const&) { all.replace(two, any_etag).merge(other, old); }).error().code == changed);
    CHECK(run([&](bodies all, etag const&) { all.merge(two, old).remove(other, any_etag); }).error().code == changed);
    REQUIRE(run([&](bodies all, etag const& now) { all.merge(two, any_etag).merge(other, now); }));
    // After an upsert, which then needs the entity.
    CHECK(run([&](bodies all, etag const&) { all.insert_or_replace(two).merge(other, old); }).error().code == changed);
    REQUIRE(run([&](bodies all, etag const& now) { all.insert_or_merge(two).merge(other, now); }));
    CHECK(run([&](bodies all, etag const& now) {
        all.insert_or_replace(account{"first", 9, 1, {}}).replace(account{"first", 9, 2, {}}, now);
    })
              .error()
              .code == error_code::resource_not_found);
    // After a removal, and an insert after it.
    CHECK(run([&](bodies all, etag const& now) { all.remove(two, now).replace(other, now); }).error().code ==
        error_code::resource_not_found);
    CHECK(run([&](bodies all, etag const&) { all.remove(two, old).insert(other); }).error().code == changed);
    REQUIRE(run([&](bodies all, etag const& now) { all.remove(two, now).insert(other); }));
    CHECK(in.stored(2).cents == 2);
    CHECK_FALSE(in.stored(2).note);
    // After an insert, whose entity has no ETag yet.
    CHECK(run([&](bodies all, etag const& now) {
        all.insert(account{"first", 9, 1, {}}).replace(account{"first", 9, 2, {}}, now);
    })
              .error()
              .message.find("this body has inserted it") != std::string::npos);
    CHECK(run([&](bodies all, etag const& now) {
        CHECK_FALSE(all.template find<account>(9).value());
        all.insert_or_replace(account{"first", 9, 1, {}}).remove(account{"first", 9, 2, {}}, now);
    })
              .error()
              .code == changed);
    CHECK_FALSE(in.books.template find<account>("first", 9).value());
    // Required as well.
    REQUIRE(run([&](bodies all, etag const& now) { (all.template require<account>)(2).merge(two, now); }));
    CHECK(in.is_right());
}
