// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// The mistakes that users make at run time: each is made, and its error must have the right code and name what is wrong, and the limit.

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include <entitable/azure.hpp>
#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>
#include <entitable/wide.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

using namespace entitable;
using entitable_test::ContainsSubstring;
using namespace std::chrono_literals;

namespace {

enum class state : std::int32_t { open, paid };
} // namespace
template <>
struct entitable::enum_names<state> {
    static constexpr enum_name<state> values[] = {{state::open, "open"}, {state::paid, "paid"}};
};
namespace {

struct order {
    std::string shop;
    std::int32_t number{};
    std::string customer{};
    std::int64_t cents{};
    date_time at{date_time::from_date(2026, 1, 31)};
    state status{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(customer, cents, at, status))
using o = fields<order>;

/// The same rows with other members.
struct later_order {
    std::string shop;
    std::int32_t number{};
    std::string customer{};
    std::int32_t discount{};
};
ENTITABLE(later_order, partition_key(shop), row_key(literal("ORDER:"), number), properties(customer, discount))
struct narrower_order {
    std::string shop;
    std::int32_t number{};
    std::string customer{};
    std::int32_t cents{};
};
ENTITABLE(narrower_order, partition_key(shop), row_key(literal("ORDER:"), number), properties(customer, cents))

struct by_customer : order {};
ENTITABLE(by_customer, partition_key(shop), row_key(literal("CUSTOMER:"), escaped(customer), number), properties())

/// Keys of two texts, of digits, and of a byte.
struct part {
    std::string maker;
    std::string type;
    std::string name;
};
ENTITABLE(part, partition_key(maker, type), row_key(name), properties())
struct ticket {
    std::string hall;
    std::int32_t number{};
};
ENTITABLE(ticket, partition_key(hall), row_key(width(number, 4)), properties())
struct seat {
    std::string hall;
    std::uint8_t row{};
};
ENTITABLE(seat, partition_key(hall), row_key(row), properties())
struct photo {
    std::string owner;
    std::string name;
    binary bytes;
};
ENTITABLE(photo, partition_key(owner), row_key(name), properties(bytes))

bool const shown = std::getenv("ENTITABLE_SHOW_MISTAKES") != nullptr;

/// Whether the error has the code, and its message the words; prints the message for the list of mistakes.
void told(char const* mistake, error const& problem, error_code code, std::initializer_list<char const*> words) {
    if (shown) { std::printf("| %s | %s |\n", mistake, problem.to_string().c_str()); }
    INFO(mistake << ": " << problem.to_string() << " [" << problem.detail << "]");
    CHECK(to_string(problem.code) == to_string(code));
    for (char const* const word : words) { CHECK_THAT(problem.to_string(), ContainsSubstring(word)); }
    CHECK(problem.to_string().size() < 400);
}
template <class Result>
void told(char const* mistake, Result const& outcome, error_code code, std::initializer_list<char const*> words) {
    INFO(mistake);
    REQUIRE_FALSE(outcome.has_value());
    told(mistake, outcome.error(), code, words);
}

struct in_memory {
    memory_backend store;
    table<order> orders{store, "orders"};

    in_memory() {
        orders.create().check();
        orders.insert({"A", 1, "Ann", 100}).check();
    }
};

} // namespace

TEST_CASE("mistakes: the table", "[mistakes]") {
    memory_backend const store;
    table<order> const missing{store, "orders"};
    told("insert into a table that does not exist", missing.insert({"A", 1}), error_code::table_not_found, {"orders"});
    told("get from a table that does not exist", missing.get("A", 1), error_code::table_not_found, {"orders"});
    told("a query of a table that does not exist", missing.where(o::shop == "A").to(), error_code::table_not_found,
        {"orders"});
    told("update in a table that does not exist", missing.update("A", 1, [](order& one) { one.cents = 1; }),
        error_code::table_not_found, {"orders"});
    told("drop a table that does not exist", missing.drop(), error_code::resource_not_found, {"orders"});
    auto changes = missing.batch();
    changes.insert({"A", 1});
    told("a batch in a table that does not exist", changes.submit(), error_code::table_not_found, {"orders"});
    missing.create().check();
    told("create a table twice", missing.create(), error_code::table_already_exists, {"orders"});
    told("a name of two letters", table<order>{store, "ab"}.create(), error_code::out_of_range_input, {"3", "63"});
    told("a name of 64 letters", table<order>{store, std::string(64, 'a')}.create(), error_code::out_of_range_input,
        {"3", "63"});
    told("a name that begins with a digit", table<order>{store, "1orders"}.create(), error_code::invalid_resource_name,
        {"1orders", "letter"});
    told("a name with an underscore", table<order>{store, "my_orders"}.create(), error_code::invalid_resource_name,
        {"my_orders"});
    told("an empty name", table<order>{store, ""}.create(), error_code::out_of_range_input, {"3", "63"});
    told("the reserved name tables", table<order>{store, "tables"}.create(), error_code::invalid_resource_name,
        {"tables"});
    auto moved = missing;
    auto const taken = std::move(moved);
    told("a table that was moved from", moved.get("A", 1), error_code::invalid_input, {"moved from"}); // NOLINT
}

TEST_CASE("mistakes: keys", "[mistakes]") {
    in_memory const all;
    table<part> const parts{all.store, "orders"};
    table<ticket> const tickets{all.store, "orders"};
    table<seat> const seats{all.store, "orders"};
    told("a key of 1025 bytes", all.orders.insert({std::string(1025, 'a'), 1}), error_code::key_value_too_large,
        {"PartitionKey", "512"});
    told("a slash in a key", all.orders.insert({"A/B", 1}), error_code::out_of_range_input, {"PartitionKey", "/"});
    told(
        "a question mark in a key", parts.insert({"A", "B", "what?"}), error_code::out_of_range_input, {"RowKey", "?"});
    told("a control character in a key", all.orders.insert({"A\n", 1}), error_code::out_of_range_input,
        {"PartitionKey"});
    told("a key that is not UTF-8", all.orders.insert({"A\xff", 1}), error_code::invalid_input,
        {"PartitionKey", "UTF-8"});
    told("the separator in an inner text", parts.insert({"A__B", "C", "D"}), error_code::key_not_splittable,
        {"maker", "__"});
    told("a row key of the library", parts.insert({"A", "B", "~!x"}), error_code::key_reserved, {"~!"});
    told("a number with too many digits for width", tickets.insert({"A", 12'345}), error_code::out_of_range_input,
        {"number", "digits"});
    told("a negative number in width", tickets.insert({"A", -1}), error_code::out_of_range_input,
        {"number", "negative"});
    told("a literal outside of the key's type", seats.get("A", 300), error_code::out_of_range_input, {"row"});
    told("a key that was found in a text of the user", all.orders.get("A/B", 1), error_code::out_of_range_input,
        {"PartitionKey"});
}

TEST_CASE("mistakes: values", "[mistakes]") {
    in_memory const all;
    table<photo> const photos{all.store, "orders"};
    order one{"A", 2};
    one.customer = std::string(40'000, 'a');
    told("a text of 40,000 characters", all.orders.insert(one), error_code::property_value_too_large,
        {"customer", "32768", "chunked(customer)"});
    told("a binary of 70,000 bytes", photos.insert({"A", "x", binary(70'000)}), error_code::property_value_too_large,
        {"bytes", "65536", "chunked(bytes)"});
    one.customer = "\xff";
    told("a text that is not UTF-8", all.orders.insert(one), error_code::invalid_input, {"customer", "UTF-8"});
    one.customer = "Ann";
    one.at = date_time{};
    one.at.ticks = -1;
    told("a date before 1601", all.orders.insert(one), error_code::out_of_range_input, {"at", "1601"});
    one.at = date_time::from_date(2026, 1, 31);
    one.status = static_cast<state>(9);
    told("an enumerator without a name", all.orders.insert(one), error_code::out_of_range_input, {"status"});
    row_table const rows{all.store, "orders"};
    entity many{"A", "x"};
    for (int i = 0; i < 253; ++i) { many.set("P" + std::to_string(i), i); }
    told("253 properties", rows.insert(many), error_code::too_many_properties, {"252"});
    entity large{"A", "x"};
    for (int i = 0; i < 20; ++i) { large.set("P" + std::to_string(i), std::string(32'000, 'a')); }
    told("an entity over 1 MiB", rows.insert(large), error_code::entity_too_large, {"1048576"});
    told("a property name with a space", rows.insert(entity{"A", "x"}.set("unit price", 1)),
        error_code::property_name_invalid, {"unit price"});
    told("an empty property name", rows.insert(entity{"A", "x"}.set("", 1)), error_code::property_name_invalid,
        {"\"\"", "identifier"});
    told("a property name of 256 characters", rows.insert(entity{"A", "x"}.set(std::string(256, 'a'), 1)),
        error_code::property_name_too_long, {"255"});
    told("a property called RowKey", rows.insert(entity{"A", "x"}.set("RowKey", 1)), error_code::property_name_invalid,
        {"RowKey"});
    told("a property of a row that is not there", entity{"A", "x"}.get<std::int32_t>("Age"),
        error_code::resource_not_found, {"Age"});
    told("a property of a row with another type", entity{"A", "x"}.set("Age", "nine").get<std::int32_t>("Age"),
        error_code::row_mismatch, {"Age"});
}

TEST_CASE("mistakes: reads and writes", "[mistakes]") {
    in_memory const all;
    auto const& orders = all.orders;
    auto const was = orders.get_stored("A", 1).value().etag;
    orders.merge(at("A", 1), o::cents = 200, any_etag).check();
    order const absent{"A", 9};
    order const first{"A", 1};
    told("get of an absent key", orders.get("A", 9), error_code::resource_not_found, {"orders"});
    told("insert of an entity that exists", orders.insert(first), error_code::entity_already_exists, {"orders"});
    told("replace of an absent entity", orders.replace(absent, any_etag), error_code::resource_not_found, {"orders"});
    told("replace with an old ETag", orders.replace(first, was), error_code::update_condition_not_satisfied, {"ETag"});
    told("replace with a malformed ETag", orders.replace(first, etag{"5"}), error_code::invalid_input, {"ETag"});
    told("replace with an empty ETag", orders.replace(first, etag{}), error_code::invalid_input, {"ETag"});
    told("remove of an absent entity", orders.remove("A", 9, any_etag), error_code::resource_not_found, {"orders"});
    told("remove with an old ETag", orders.remove("A", 1, was), error_code::update_condition_not_satisfied, {"ETag"});
    told("merge into an absent entity", orders.merge(at("A", 9), o::cents = 1, any_etag),
        error_code::resource_not_found, {"orders"});
    told("update of an absent entity", orders.update("A", 9, [](order& one) { one.cents = 1; }),
        error_code::resource_not_found, {"orders"});
    told("update that changes a key", orders.update("A", 1, [](order& one) { one.number = 2; }),
        error_code::invalid_input, {"key"});
    told("a member that was added later", table<later_order>{all.store, "orders"}.get("A", 1), error_code::row_mismatch,
        {"discount", "std::optional"});
    told("a member whose type was changed", table<narrower_order>{all.store, "orders"}.get("A", 1),
        error_code::row_mismatch, {"cents", "Int64"});
    row_table const rows{all.store, "orders"};
    rows.insert_or_merge(entity{"A", row_key_of(first).value()}.set("status", "lost")).check();
    told("a stored name that the enumeration lacks", orders.get("A", 1), error_code::row_mismatch, {"status"});
    told("a call with no time", orders.with({.timeout = 0ns}).get("A", 1), error_code::deadline_exceeded, {});
    cancellation_source stop;
    stop.cancel();
    told("a call that was cancelled", orders.with({.cancellation = stop.token()}).get("A", 1), error_code::cancelled,
        {});
    told("an operation id without retrying", orders.with({.operation_id = "1"}).insert(absent),
        error_code::not_supported, {"retrying"});
}

TEST_CASE("mistakes: batches", "[mistakes]") {
    in_memory const all;
    auto const& orders = all.orders;
    auto two = orders.batch();
    two.insert({"A", 2}).insert({"B", 2});
    told("a batch over two partitions", two.submit(), error_code::commands_in_batch_act_on_different_partitions, {"1"});
    auto many = orders.batch();
    for (int i = 0; i < 101; ++i) { many.insert({"C", i}); }
    told("a batch of 101 changes", many.submit(), error_code::invalid_input, {"100", "101"});
    told("an empty batch", orders.batch().submit(), error_code::invalid_input, {"empty"});
    auto doubled = orders.batch();
    doubled.insert({"A", 3}).insert({"A", 3});
    told("a batch with an entity twice", doubled.submit(), error_code::invalid_duplicate_row, {"1"});
    auto clashing = orders.batch();
    clashing.insert({"A", 4}).insert({"A", 1});
    told(
        "a batch with an insert of what exists", clashing.submit(), error_code::entity_already_exists, {"operation 1"});
    auto absent = orders.batch();
    absent.replace({"A", 9}, any_etag);
    told("a batch with a replacement of what is absent", absent.submit(), error_code::resource_not_found,
        {"operation 0"});
    auto large = orders.batch();
    order one{"A", 0, std::string(32'000, 'a')};
    for (int i = 0; i < 70; ++i) {
        one.number = 100 + i;
        large.insert(one);
    }
    told("a batch over 4 MiB", large.submit(), error_code::request_body_too_large, {"4194304"});
}

TEST_CASE("mistakes: queries", "[mistakes]") {
    in_memory const all;
    auto const& orders = all.orders;
    auto const mine = orders.where(o::shop == "A");
    told("pages of no rows", mine.page_size(0).to(), error_code::invalid_input, {"1000"});
    told("pages of 5000 rows", mine.page_size(5000).to(), error_code::invalid_input, {"1000", "5000"});
    told("a malformed token", mine.resume("garbage").to(), error_code::continuation_invalid, {"token"});
    for (int i = 2; i < 5; ++i) { orders.insert({"A", i, "Bob", std::numeric_limits<std::int64_t>::max()}).check(); }
    auto pages = mine.page_size(1).pages();
    auto const page = pages.next().value();
    told("a token of another query", orders.where(o::shop == "B").resume(page->token.value()).to(),
        error_code::continuation_invalid, {"token"});
    std::vector<std::int32_t> numbers;
    for (int i = 0; i < 1001; ++i) { numbers.push_back(2 * i); }
    told("1001 values of a key", orders.where(o::shop == "A" && in(o::number, numbers)).to(),
        error_code::query_too_complex, {"1000"});
    told("a sum that overflows", mine.sum(o::cents), error_code::out_of_range_input, {"sum"});
    told("an empty query", query<order, access_path::point>{}.to(), error_code::invalid_input, {"query"});
    try {
        static_cast<void>(orders.get("A", 99).value());
        FAIL("value() of an error returned");
    } catch (std::exception const& thrown) {
        CHECK_THAT(thrown.what(), ContainsSubstring("orders") && ContainsSubstring("ResourceNotFound"));
    }
}

TEST_CASE("mistakes: transactions", "[mistakes]") {
    in_memory const all;
    auto const& orders = all.orders;
    using body = transaction<order>;
    told("a replacement of a row that the body has not read",
        orders.transact("A",
            [](body& tx) -> result<void> {
                tx.replace({"A", 1});
                return {};
            }),
        error_code::invalid_input, {"read"});
    told("get of an absent row in a body", orders.transact("A", [](body& tx) -> result<void> { return tx.get(9); }),
        error_code::resource_not_found, {"order", "partition"});
    told("an error of the body",
        orders.transact(
            "A", [](body&) -> result<void> { return failure{error_code::out_of_range_input, "the account is empty"}; }),
        error_code::out_of_range_input, {"the account is empty"});
    told("an entity of another partition",
        orders.transact("A",
            [](body& tx) -> result<void> {
                tx.insert({"B", 1});
                return {};
            }),
        error_code::commands_in_batch_act_on_different_partitions, {"partition"});
    told("an update that changes a key",
        orders.transact("A", [](body& tx) -> result<void> { return tx.update(1, [](order& one) { one.number = 7; }); }),
        error_code::invalid_input, {"key"});
    told("101 changes",
        orders.transact("A",
            [](body& tx) -> result<void> {
                for (int i = 10; i < 111; ++i) { tx.insert({"A", i}); }
                return {};
            }),
        error_code::invalid_input, {"100"});
    told("an insert of what exists",
        orders.transact("A",
            [](body& tx) -> result<void> {
                tx.insert({"A", 1});
                return {};
            }),
        error_code::entity_already_exists, {"orders"});
}

TEST_CASE("mistakes: indexes", "[mistakes]") {
    in_memory const all;
    table<order, by_customer> const indexed{all.store, "orders"};
    told("a write in a table whose index is not declared", indexed.insert({"A", 7}), error_code::declaration_missing,
        {"orders"});
    told("a query by an index that is not built",
        indexed.by<by_customer>()
            .where(fields<by_customer>::shop == "A" && fields<by_customer>::customer == "Ann")
            .to(),
        error_code::index_not_ready, {"by_customer"});
    told("retire of an index that is not there", indexed.retire("by_age"), error_code::resource_not_found, {"by_age"});
}

TEST_CASE("mistakes: files", "[mistakes]") {
    entitable_test::temporary_folder const folder;
    told("a folder as a store", file_backend::open(folder.path().string()), error_code::store_failed,
        {"regular file", "directory"});
    std::ofstream{folder / "notes.txt"}
        << "This is a text, and no store. It has more than one hundred bytes, because a store begins with a header.\n";
    told("a text file as a store", file_backend::open(folder / "notes.txt"), error_code::store_foreign,
        {"not a database"});
    told("a store in a folder that does not exist", file_backend::open(folder / "none/orders.db"),
        error_code::store_failed, {"cannot create", "No such file"});
    told("an empty path", file_backend::open(""), error_code::invalid_input, {"path"});
}

TEST_CASE("mistakes: queues, numbers, units and loads", "[mistakes]") {
    in_memory const all;
    table_queue<order> const jobs{all.store, "jobs"};
    told("a queue that was not created", jobs.enqueue({"A", 1}), error_code::table_not_found, {"jobs"});
    jobs.create().check();
    jobs.enqueue({"A", 1}).value();
    auto mine = std::move(*jobs.claim().value());
    mine.complete().check();
    told("a message completed twice", mine.complete(), error_code::invalid_input, {"completed"});
    told("a visibility of one second", table_queue<order>{all.store, "jobs", {.visibility = 1s}}.claim(),
        error_code::out_of_range_input, {"visibility", "2"});
    told("no lanes", table_queue<order>{all.store, "jobs", {.lanes = 0}}.create(), error_code::out_of_range_input,
        {"lanes"});
    told("a block of no numbers", sequence{all.store, "numbers"}.reserve(0), error_code::out_of_range_input,
        {"block", "1"});
    std::vector<order> const rows{{"A", 1, "Bob", 5}, {"A", 2}};
    told("a load into a table that does not exist", bulk_insert(table<order>{all.store, "other"}, rows),
        error_code::table_not_found, {"other", "0 rows"});
    CHECK(bulk_insert(table<order>{all.store, "other"}, rows).error().effect == effect::none);
    auto const report = bulk_insert(all.orders, rows).value();
    CHECK(report.refused == 1);
}

TEST_CASE("mistakes: the service", "[mistakes]") {
    told("an empty connection string", parse_connection_string(""), error_code::invalid_input, {"AccountKey"});
    told("a connection string without pairs", parse_connection_string("localhost:1234"), error_code::invalid_input,
        {"="});
    told("a connection string without a key",
        parse_connection_string("DefaultEndpointsProtocol=https;AccountName=shop"), error_code::invalid_input,
        {"AccountKey"});
    told("a key that is not Base64", parse_connection_string("AccountName=shop;AccountKey=no key"),
        error_code::invalid_input, {"AccountKey", "base64"});
    table<order> const there{
        azure_backend{"AccountName=shop;AccountKey=c2VjcmV0;TableEndpoint=http://127.0.0.1:9/shop"}, "orders"};
    told("a service that is not there", there.get("A", 1), error_code::transport_failed, {"127.0.0.1"});
}
