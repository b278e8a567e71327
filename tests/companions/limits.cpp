// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Transactions that are too large, and entities whose index rows or sums cannot be written: the error names the companion and the entity, and
// nothing is written.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include <entitable/retrying.hpp>

using namespace companion_tests;
using entitable_test::ContainsSubstring;

namespace {

struct day_of_others {
    std::string tenant;
    std::string day;
    std::int64_t cents{};
    static day_of_others key(invoice const& of) { return {of.account, of.day}; } // another partition
    void add(invoice const& one) { cents += one.cents; }
    void subtract(invoice const& one) { cents -= one.cents; }
};
ENTITABLE(day_of_others, partition_key(tenant), row_key(literal("OTHERS:"), day), properties(cents))

struct by_day : invoice {};
ENTITABLE(by_day, partition_key(tenant), row_key(literal("DAY:"), day, number), properties(cents))

struct named {
    std::string tenant;
    std::string name;
    std::string account;
    std::string text;
};
ENTITABLE(named, partition_key(tenant), row_key(literal("NAMED:"), name), properties(account, text))
struct named_by_account : named {};
ENTITABLE(named_by_account, partition_key(account), row_key(literal("BY:"), escaped(tenant), name), properties())
struct named_by_length : named {};
ENTITABLE(named_by_length, partition_key(tenant), row_key(literal("LENGTH:"), account, name), properties(text))

invoice const one{"ACME", 1, "ann", {}, "red", "mon", 100};

struct opened {
    memory_backend store;
    all_books books = open_books(store);

    opened() { books.create().value(); }
    /// Everything that is stored, with versions.
    [[nodiscard]] std::multiset<std::string> rows() const {
        std::multiset<std::string> all;
        for (auto const* name : {"books", "accounts"}) {
            auto const add = [&](entity const& each) {
                all.insert(each.partition_key() + " " + each.row_key() + " " + each.etag().to_string());
            };
            row_table{store, name}.for_each({}, {}, add, system_rows::shown).value();
        }
        return all;
    }
};

template <class Outcome>
void check_refused(Outcome const& made, error_code code, std::string const& words, std::string const& detail) {
    REQUIRE_FALSE(made);
    CHECK(made.error().code == code);
    CHECK(made.error().effect == effect::none);
    CHECK_THAT(made.error().message, ContainsSubstring(words));
    CHECK_THAT(made.error().detail, ContainsSubstring(detail));
}

} // namespace

TEST_CASE("limits: the error of a transaction with too many operations counts them by kind") {
    memory_backend const store;
    table<counter, invoice, by_customer, by_day, daily_sales> const books{store, "books"};
    books.create().value();
    auto all = books.batch();
    for (std::int32_t number = 0; number < 40; ++number) {
        all.insert(invoice{"ACME", number, "ann", {}, "red", "mon", 1});
    }
    auto const refused = all.submit();
    check_refused(refused, error_code::invalid_input,
        "the transaction has 121 operations; the limit is 100: 40 entities, 80 index rows, 1 sum", "");
    CHECK_THAT(refused.error().message, !ContainsSubstring("only read"));
    auto const guarded = books.transact("ACME", [&](transaction<counter, invoice>& in) -> result<void> {
        ENTITABLE_CHECK(in.find<counter>());
        for (std::int32_t number = 0; number < 50; ++number) {
            in.insert(invoice{"ACME", number, "ann", {}, "red", std::to_string(number % 2), 1});
        }
        return {};
    });
    check_refused(guarded, error_code::invalid_input,
        "the transaction has 152 operations; the limit is 100: 50 entities, 100 index rows, 2 sums", "");
    books.insert(counter{"ACME", 1}).value();
    auto const read = books.transact("ACME", [&](transaction<counter, invoice>& in) -> result<void> {
        ENTITABLE_CHECK(in.find<counter>());
        for (std::int32_t number = 0; number < 33; ++number) {
            in.insert(invoice{"ACME", number, "ann", {}, "red", "mon", 1});
        }
        return {};
    });
    check_refused(read, error_code::invalid_input,
        "the transaction has 101 operations; the limit is 100: 33 entities, 66 index rows, 1 sum, 1 row that was only "
        "read",
        "");
    CHECK(books.scan_table<invoice>().count().value() == 0);
}

TEST_CASE("limits: a transaction with the maximum number of entities is written") {
    memory_backend const store;
    table<invoice, by_customer, by_day, daily_sales> const books{store, "books"};
    books.create().value();
    auto all = books.batch();
    for (std::int32_t number = 0; number < 33; ++number) {
        all.insert(invoice{"ACME", number, "ann", {}, "red", "mon", 1});
    }
    CHECK(all.submit()->size() == 33); // 100 operations
    CHECK((books.verify)().value().good());
}

TEST_CASE("limits: with an elsewhere index, a transaction that is too large is refused before anything is written") {
    opened const in;
    auto const before = in.rows();
    auto all = in.books.batch();
    for (std::int32_t number = 0; number < 25; ++number) { // 4 each, the day, and 3 parts of the balance
        all.insert(invoice{"ACME", number, "ann", {}, "red", "mon", number});
    }
    check_refused(all.submit(), error_code::invalid_input,
        "the transaction has 104 operations; the limit is 100: 25 entities, 50 index rows, 4 sums, 25 intents", "");
    CHECK(in.rows() == before);
    auto good = in.books.batch();
    for (std::int32_t number = 0; number < 24; ++number) {
        good.insert(invoice{"ACME", number, "ann", {}, "red", "mon", number});
    }
    CHECK(good.submit()->size() == 24); // 100 operations
    CHECK(found_rows{in.store}.right());
}

TEST_CASE("limits: with operation rows, a transaction can have one operation fewer") {
    memory_backend const store;
    retrying const through{
        store, {.policy = retry_policy::fixed(3, std::chrono::milliseconds{1}), .operation_rows = true}};
    auto const books = open_books(through);
    books.create().value();
    for (std::int32_t const count : {24, 23}) {
        auto all = books.batch();
        for (std::int32_t number = 0; number < count; ++number) {
            all.insert(invoice{"ACME", number, "ann", {}, "red", "mon", number});
        }
        auto const made = all.submit();
        CHECK(made.has_value() == (count == 23));
        if (!made) { CHECK_THAT(made.error().message, ContainsSubstring("the limit is 99")); }
    }
    CHECK(found_rows{store}.right());
}

TEST_CASE("limits: a transaction with too many bytes is refused before anything is written to other tables") {
    memory_backend const store;
    table<named, named_by_length, elsewhere<named_by_account>> const all{store, "named"};
    all.create().value();
    auto large = all.batch();
    for (int number = 0; number < 33; ++number) {
        large.insert(named{"ACME", std::to_string(number), "red", std::string(32'700, 'x')});
    }
    check_refused(large.submit(), error_code::request_body_too_large, "33 entities, 33 index rows, 33 intents", "");
    std::size_t rows = 0;
    auto const count = [&](entity const& each) { rows += each.partition_key() == "~!index!" ? 0U : 1U; };
    row_table{store, "named"}.for_each({}, {}, count, system_rows::shown).value();
    CHECK(rows == 0);
}

TEST_CASE("limits: the error for an index key that cannot be written names the index and the entity") {
    opened const in;
    auto const before = in.rows();
    auto wrong = one;
    wrong.cents = 1'000'000'000; // 10 digits in a key of 9
    check_refused(in.books.insert(wrong), error_code::out_of_range_input, "the index by_reference: ", "0000000001");
    auto all = in.books.batch();
    all.insert(invoice{"ACME", 2, "bob", {}, "red", "mon", 1}).insert(wrong);
    auto const refused = all.submit();
    check_refused(refused, error_code::out_of_range_input, "the index by_reference: ", "0000000001");
    CHECK(refused.error().operation_index == 1U);
    CHECK(in.rows() == before);
}

TEST_CASE("limits: the error for an index key that is too long names the index and the entity") {
    opened const in;
    auto const before = in.rows();
    auto wrong = one;
    wrong.customer = std::string(600, 'c');
    auto const refused = in.books.insert(wrong);
    check_refused(refused, error_code::key_value_too_large, "the index by_customer: ", "0000000001");
    CHECK(in.rows() == before);
    CHECK(in.books.repair()->intents == 0);
    wrong = one;
    wrong.account = std::string(600, 'c');
    check_refused(in.books.insert(wrong), error_code::key_value_too_large, "the index by_account: ", "0000000001");
    CHECK(in.rows() == before);
    wrong = one;
    wrong.day = std::string(600, 'c');
    check_refused(in.books.insert(wrong), error_code::key_value_too_large, "the sum daily_sales: ", "0000000001");
    CHECK(in.rows() == before);
}

TEST_CASE("limits: the error for an archive row key that is too long names the sum and the entity") {
    opened const in;
    auto wrong = one;
    wrong.day = std::string(506, 'd'); // "SALES:" and 506 characters fit, "~!sum!" in front of it does not
    CHECK(in.books.insert(wrong));
    auto const before = in.rows();
    check_refused(in.books.remove(wrong, any_etag, removal::archived), error_code::key_value_too_large,
        "the sum daily_sales: ", "0000000001");
    CHECK(in.rows() == before);
    CHECK(in.books.remove(wrong, any_etag));
}

TEST_CASE("limits: an entity is refused before anything is written if the key of its intent is too long") {
    memory_backend const store;
    table<named, elsewhere<named_by_account>> const all{store, "named"};
    all.create().value();
    named const long_key{"ACME", std::string(480, 'n'), "red", ""};
    check_refused(
        all.insert(long_key), error_code::key_value_too_large, "the intent of the index named_by_account: ", "NAMED:n");
    CHECK(all.insert(named{"ACME", std::string(468, 'n'), "red", ""})); // 474 with its literal
    CHECK((all.verify)().value().good());
}

TEST_CASE("limits: the error for a sum in another partition names the sum and the entity") {
    memory_backend const store;
    table<invoice, day_of_others> const books{store, "books"};
    books.create().value();
    check_refused(books.insert(one), error_code::invalid_input, "the sum day_of_others: ", "0000000001");
    CHECK(books.scan_table<invoice>().count().value() == 0);
}
