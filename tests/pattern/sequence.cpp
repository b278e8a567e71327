// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/watcher.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;
using testing::fault;
using testing::make_row;

namespace {

static_assert(operation<detail::reservation>);

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

struct stage {
    sequence make(sequence_options how = {}) {
        how.time = &time;
        how.seed = 1;
        return sequence{service, "Orders", how};
    }
    value counted(std::string const& partition = "identities") {
        call context;
        auto const read = store.execute(get_entity{"identities", partition, "Orders", {}}, context);
        return read ? value{*read->entity.view().find("Value")} : value{value_view{"none"}};
    }
    void put(row content) {
        call context;
        (void)store.execute(create_table{"identities"}, context);
        (void)store.execute(write_entity{"identities", mutation::insert_or_replace(std::move(content))}, context)
            .value();
    }

    testing::manual_clock time;
    memory_backend store;
    testing::faulty<memory_backend> service{store, {.time = &time}};
};

struct racing {
    using is_transport = void;
    any_store below;
    sequence other;
    std::shared_ptr<int> left;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, write_entity>) {
            if (*left > 0) {
                --*left;
                (void)other.next().value();
            }
        }
        return below.execute(request, context);
    }
};

struct twin {
    using is_transport = void;
    any_store below;
    memory_backend store;
    std::shared_ptr<std::int64_t> other = std::make_shared<std::int64_t>(0);
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& on_its_way) const {
        if constexpr (std::same_as<Request, write_entity>) {
            if (*other == 0 && request.change.kind == mutation_kind::insert) {
                *other = sequence{store, "Orders"}.next()->value;
            }
        }
        return below.execute(request, on_its_way);
    }
};

value int64(std::int64_t number) { return value{value_view{number}}; }

} // namespace

TEST_CASE("sequence: counts from 1, and creates its table and its row") {
    stage on;
    sequence const numbers = on.make();
    for (std::int64_t expected = 1; expected <= 5; ++expected) {
        auto const number = numbers.next();
        REQUIRE(number);
        CHECK(number->value == expected);
        CHECK(number->attempts == 1);
    }
    CHECK(on.counted() == int64(5));
}

TEST_CASE("sequence: the stored form has not changed") {
    stage on;
    CHECK(on.make().next());
    CHECK(testing::dump(on.store) ==
        "table identities\n"
        "  \"identities\" / \"Orders\"\n"
        "    Value = Edm.Int64 1\n");
}

TEST_CASE("sequence: start, step and the location of the row can be set") {
    stage on;
    sequence const numbers = on.make({.table = "counters", .partition_key = "c", .start = 100, .step = 10});
    CHECK(numbers.next()->value == 100);
    CHECK(numbers.next()->value == 110);
    call context;
    CHECK(on.store.execute(get_entity{"counters", "c", "Orders", {}}, context));
    stage zero;
    CHECK(zero.make({.start = 0, .step = greatest}).next()->value == 0);
    CHECK(zero.make({.start = 0, .step = greatest}).next()->value == greatest);
    CHECK(zero.make({.start = 0, .step = greatest}).next().error().code == error_code::out_of_range_input);
}

TEST_CASE("sequence: continues from an existing row, and keeps its type and its other properties") {
    stage on;
    on.put(make_row("identities", "Orders", {{"Value", 41}, {"Owner", "billing"}}));
    CHECK(on.make().next()->value == 42);
    CHECK(on.counted() == value{value_view{42}}); // still an Int32
    call context;
    auto const read = on.store.execute(get_entity{"identities", "identities", "Orders", {}}, context);
    CHECK(testing::has_property(read->entity, "Owner", "billing"));
}

TEST_CASE("sequence: a new counter can be an Int32, which programs with an Int32 read") {
    stage on;
    sequence const narrow = on.make({.value_type = edm_type::int32});
    CHECK(narrow.next()->value == 1);
    CHECK(narrow.reserve(41)->first == 2);
    CHECK(testing::dump(on.store) ==
        "table identities\n"
        "  \"identities\" / \"Orders\"\n"
        "    Value = Edm.Int32 42\n");
    CHECK(on.make().next()->value == 43); // the row keeps its type
    CHECK(on.counted() == value{value_view{43}});
    stage wide;
    wide.make().next().value();
    CHECK(wide.make({.value_type = edm_type::int32}).next()->value == 2);
    CHECK(wide.counted() == int64(2));

    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    stage end;
    sequence const last = end.make({.start = most, .step = most, .value_type = edm_type::int32});
    CHECK(last.next()->value == most); // the first write makes the row with 0
    CHECK(last.next().error().code == error_code::out_of_range_input);
    // Refused before the first request: a later error of the same code would leave a row behind.
    stage refused;
    for (sequence_options const& wrong : {sequence_options{.start = most + 1, .value_type = edm_type::int32},
             sequence_options{.step = most + 1, .value_type = edm_type::int32}}) {
        auto const over = refused.make(wrong).next();
        CHECK(over.error().code == error_code::out_of_range_input);
        CHECK_THAT(over.error().message, ContainsSubstring("must not exceed 2,147,483,647"));
        CHECK(refused.service.requests() == 0);
    }
    auto const text_value = refused.make({.value_type = edm_type::string}).next();
    CHECK(text_value.error().code == error_code::out_of_range_input);
    CHECK_THAT(text_value.error().message, ContainsSubstring("value_type of the sequence must be int64 or int32"));
    CHECK(refused.service.requests() == 0);
    sequence_options shard;
    shard.value_type = edm_type::int32;
    sharded_sequence const spread{any_store{refused.store}, "Orders", 2, shard};
    CHECK(spread.next()->value >= 1);
    CHECK(spread.total().value() == 1);
    CHECK_THAT(testing::dump(refused.store), ContainsSubstring("Value = Edm.Int32 1"));
}

TEST_CASE("sequence: does not wrap") {
    stage on;
    on.put(make_row("identities", "Orders", {{"Value", std::numeric_limits<std::int32_t>::max() - 1}}));
    CHECK(on.make().reserve(2).error().code == error_code::out_of_range_input);
    CHECK(on.make().next()->value == std::numeric_limits<std::int32_t>::max());
    CHECK(on.make().next().error().code == error_code::out_of_range_input);
    on.put(make_row("identities", "Orders", {{"Value", greatest - 10}}));
    CHECK(on.make().reserve(11).error().code == error_code::out_of_range_input);
    CHECK(on.make({.step = 11}).next().error().code == error_code::out_of_range_input);
    CHECK(on.counted() == int64(greatest - 10));
    CHECK(on.make().reserve(10)->first == greatest - 9);
    auto const over = on.make().next();
    CHECK(over.error().code == error_code::out_of_range_input);
    CHECK_THAT(over.error().message, ContainsSubstring("does not wrap"));
    CHECK(on.counted() == int64(greatest));
    stage at_end;
    CHECK(at_end.make({.start = greatest}).next()->value == greatest);
    CHECK(at_end.make({.start = greatest}).next().error().code == error_code::out_of_range_input);
}

TEST_CASE("sequence: invalid options are refused") {
    auto const refused = [](sequence_options how) {
        stage on;
        sequence const numbers = on.make(how);
        CHECK(numbers.reserve(1).error().code == error_code::out_of_range_input);
        return numbers.next().error().code == error_code::out_of_range_input && on.service.requests() == 0;
    };
    CHECK(refused({.start = -1}));
    CHECK(refused({.start = std::numeric_limits<std::int64_t>::min()}));
    CHECK(refused({.step = 0}));
    CHECK(refused({.step = -1}));
    CHECK(refused({.block = 0}));
    CHECK(refused({.max_attempts = 0}));
    CHECK(refused({.delays = {.base = -1ns}}));
    stage on;
    CHECK(on.make().reserve(0).error().code == error_code::out_of_range_input);
    CHECK(on.service.requests() == 0);
    CHECK(on.make({.table = "a-b"}).next().error().code == error_code::invalid_resource_name);
}

TEST_CASE("sequence: a row without a number is reported") {
    for (auto const& content : {make_row("identities", "Orders", {{"Value", "17"}}), make_row("identities", "Orders"),
             make_row("identities", "Orders", {{"Value", 1.5}}), make_row("identities", "Orders", {{"value", 1}})}) {
        stage on;
        on.put(content);
        CHECK(on.make().next().error().code == error_code::row_mismatch);
    }
    stage on;
    on.put(make_row("identities", "Orders", {{"Value", std::int64_t{5}}, {"Shards", 4}}));
    CHECK(on.make().next().error().code == error_code::row_mismatch);
}

TEST_CASE("sequence: retries if other writers interfere, and reports the number of writes") {
    stage on;
    sequence const mine = on.make();
    sequence const other{on.store, "Orders"};
    CHECK(mine.next()->value == 1);
    auto const left = std::make_shared<int>(3);
    sequence_options how;
    how.time = &on.time;
    entitable_test::watcher eyes;
    how.calls.watch = &eyes;
    sequence const beaten{racing{on.store, other, left}, "Orders", how};
    auto const number = beaten.next();
    REQUIRE(number);
    CHECK(number->value == 5);
    CHECK(number->attempts == 4);
    auto const waits = eyes.all("wait");
    CHECK(waits.size() == 3);
    for (auto const& each : waits) { CHECK(each.wait.cause == wait_cause::contention); }

    *left = 1'000;
    auto const begun = on.time.steady();
    auto const never = beaten.next();
    REQUIRE_FALSE(never);
    CHECK(never.error().code == error_code::update_condition_not_satisfied);
    CHECK(never.error().attempts == 50);
    CHECK_THAT(never.error().message, ContainsSubstring("gave up after 50 attempts"));
    CHECK(on.time.steady() - begun > 1s);
    CHECK(on.time.steady() - begun < 5s);
}

TEST_CASE("sequence: a number whose write has an unknown effect is never returned") {
    for (fault const& lost : {fault::lost_after(), fault::lost_before(), fault::late(), fault::status(500, true),
             fault::status(503, false), fault::half_answer()}) {
        CAPTURE(lost.name);
        stage on;
        sequence const numbers = on.make();
        CHECK(numbers.next()->value == 1);
        on.service.plan({lost, 1, "write_entity"});
        auto const number = numbers.next();
        REQUIRE(number);
        bool const late = lost.applied == fault::commit::late; // it comes behind the next read, and is in the way once
        bool const taken = late || lost.applied == fault::commit::before;
        CHECK(number->value == (taken ? 3 : 2));
        CHECK(number->attempts == (late ? 3 : 2));
        CHECK(numbers.next()->value == number->value + 1);
        CHECK(on.service.all_fired());
    }
}

TEST_CASE("sequence: two programs that create the row concurrently do not share a number") {
    // With a retrying below, an insert that meets its twin looks like its own.
    stage on;
    call context;
    (void)on.store.execute(create_table{"identities"}, context).value();
    retrying through{on.service, {.policy = retry_policy::fixed(3, 1s), .time = &on.time}};
    on.service.plan({fault::lost_before(), 1, "write_entity"});
    twin const between{through, on.store};
    sequence_options how;
    how.time = &on.time;
    auto const number = sequence{between, "Orders", how}.next();
    CHECK(*between.other == 1);
    CHECK(number->value == 2);
    CHECK(on.service.all_fired());
}

TEST_CASE("sequence: reserve() takes many numbers with one write") {
    stage on;
    sequence const numbers = on.make({.step = 2});
    CHECK(numbers.next()->value == 1);
    auto const before = on.service.requests();
    auto const block = numbers.reserve(100);
    CHECK(on.service.requests() - before == 2);
    REQUIRE(block);
    CHECK(block->first == 3);
    CHECK(block->count == 100);
    CHECK((*block)[0] == 3);
    CHECK((*block)[99] == 201);
    CHECK(numbers.next()->value == 203);
}

TEST_CASE("sequence: a block is reserved") {
    stage on;
    sequence const numbers = on.make({.block = 10});
    sequence const copy = numbers;
    CHECK(numbers.next()->attempts == 1);
    auto const requests = on.service.requests();
    for (std::int64_t expected = 2; expected <= 10; ++expected) {
        auto const number = (expected % 2 == 0 ? copy : numbers).next();
        CHECK(number->value == expected);
        CHECK(number->attempts == 0);
    }
    CHECK(on.service.requests() == requests);
    CHECK(on.counted() == int64(10));
    CHECK(numbers.reserve(3)->first == 11);
    sequence const other = on.make({.block = 10});
    CHECK(other.next()->value == 14);
    CHECK(numbers.next()->value == 24);
    CHECK(other.next()->value == 15);
}

TEST_CASE("sequence: errors of the transport are returned, and lose no numbers") {
    stage on;
    sequence const numbers = on.make();
    CHECK(numbers.next()->value == 1);
    on.service.plan({fault::busy(), 1});
    CHECK(numbers.next().error().code == error_code::server_busy);
    on.service.plan({fault::busy(), 1, "write_entity"});
    CHECK(numbers.next().error().code == error_code::server_busy);
    CHECK(numbers.next()->value == 2);
    on.service.plan({fault::lost_after(), 1, "create_table"});
    sequence const elsewhere = on.make({.table = "others"});
    CHECK(elsewhere.next()->value == 1); // the table is there after all
}

TEST_CASE("sequence: a deadline or a cancellation ends a call") {
    stage on;
    CHECK(on.make().next()->value == 1);
    cancellation_source source;
    sequence_options how;
    how.calls.cancellation = source.token();
    source.cancel();
    CHECK(on.make(how).next().error().code == error_code::cancelled);
    CHECK(on.counted() == int64(1));
}

TEST_CASE("sequence: many threads share one object, or each thread has its own object") {
    memory_backend const store;
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 300;
    sequence const common{store, "Orders"};
    std::vector<std::vector<std::int64_t>> got(threads * 2);
    std::vector<std::thread> running;
    for (std::size_t index = 0; index < threads * 2; ++index) {
        running.emplace_back([&, index] {
            sequence const own{store, "Orders"};
            sequence const& numbers = index < threads ? common : own;
            for (std::size_t count = 0; count < each; ++count) { got[index].push_back(numbers.next().value().value); }
        });
    }
    for (std::thread& one : running) { one.join(); }
    std::set<std::int64_t> all;
    for (auto const& numbers : got) {
        CHECK(std::is_sorted(numbers.begin(), numbers.end()));
        all.insert(numbers.begin(), numbers.end());
    }
    CHECK(all.size() == threads * 2 * each);
    CHECK(*all.rbegin() == static_cast<std::int64_t>(threads * 2 * each)); // no gap: no answer was lost
}

TEST_CASE("sharded sequence: numbers are unique, and the total is exact") {
    stage on;
    sequence_options how;
    how.time = &on.time;
    how.seed = 3;
    how.start = 10;
    how.step = 5;
    sharded_sequence const numbers{on.service, "Orders", 4, how};
    CHECK(numbers.total().value() == 0);
    std::set<std::int64_t> seen;
    for (int count = 0; count < 200; ++count) {
        auto const number = numbers.next();
        REQUIRE(number);
        CHECK(number->value >= 10);
        CHECK((number->value - 10) % 5 == 0);
        seen.insert(number->value);
    }
    CHECK(seen.size() == 200);
    CHECK(numbers.total().value() == 200);
    std::int64_t sum = 0;
    for (char const* partition : {"identities__000", "identities__001", "identities__002", "identities__003"}) {
        sum += on.counted(partition).view().as_int64();
    }
    CHECK(sum == 200);
    CHECK_THAT(testing::dump(on.store), ContainsSubstring("Shards = Edm.Int32 4"));
}

TEST_CASE("sharded sequence: a different or invalid number of shards is refused") {
    stage on;
    sequence_options how;
    how.time = &on.time;
    sharded_sequence const four{on.service, "Orders", 4, how};
    for (int count = 0; count < 50; ++count) { (void)four.next().value(); }
    CHECK(sharded_sequence(on.service, "Orders", 3, how).next().error().code == error_code::row_mismatch);
    CHECK(sharded_sequence(on.service, "Orders", 3, how).total().error().code == error_code::row_mismatch);
    for (std::uint32_t const shards : {0U, 1U, 1001U}) {
        sharded_sequence const bad{on.service, "Orders", shards, how};
        CHECK(bad.next().error().code == error_code::out_of_range_input);
        CHECK(bad.total().error().code == error_code::out_of_range_input);
    }
    how.start = greatest;
    sharded_sequence const ending{on.service, "Ends", 2, how};
    std::size_t given = 0;
    for (int count = 0; count < 20; ++count) { given += ending.next() ? 1U : 0U; }
    CHECK(given == 1);
}

TEST_CASE("sharded sequence: no shard issues a number if the declaration has more shards than the counter") {
    stage on;
    sequence_options how;
    how.time = &on.time;
    sharded_sequence const few{on.service, "Orders", 2, how};
    (void)few.next().value();
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        how.seed = seed;
        sharded_sequence const many{on.service, "Orders", 1000, how};
        CHECK(many.next().error().code == error_code::row_mismatch);
        CHECK(many.total().error().code == error_code::row_mismatch);
    }
    CHECK(few.total().value() == 1);
}

// ---- numbers as keys --------------------------------------------------------------------------------

namespace sequence_tests {

struct ticket {
    std::string desk;
    std::int64_t number{};
    std::string holder;
};

ENTITABLE(ticket, partition_key(desk), row_key(descending(number)), properties(holder))

struct receipt {
    std::string desk;
    std::int64_t number{};
};

ENTITABLE(receipt, partition_key(desk), row_key(number))

} // namespace sequence_tests

TEST_CASE("sequence: numbers can be keys, in ascending order or newest first") {
    using namespace sequence_tests;
    memory_backend const store;
    table<ticket> const tickets{store, "tickets"};
    table<receipt> const receipts{store, "receipts"};
    tickets.create().value();
    receipts.create().value();
    sequence const numbers{store, "tickets"};
    for (int count = 0; count < 120; ++count) {
        std::int64_t const number = numbers.next()->value;
        tickets.insert({"A", number, "holder"}).value();
        receipts.insert({"A", number}).value();
    }
    using t = fields<ticket>;
    auto newest = tickets.where(t::desk == "A").take(10);
    static_assert(decltype(newest)::access == access_path::partition);
    std::vector<std::int64_t> last;
    for (ticket const& each : newest) { last.push_back(each.number); }
    CHECK(last == std::vector<std::int64_t>{120, 119, 118, 117, 116, 115, 114, 113, 112, 111});
    auto since = tickets.where(t::desk == "A" && t::number > 110);
    static_assert(decltype(since)::access == access_path::row_range);
    CHECK(since.count().value() == 10);
    CHECK(since.analyze().examined == 10);
    using r = fields<receipt>;
    CHECK(receipts.where(r::desk == "A" && r::number >= 9 && r::number <= 11).first().value()->number == 9);
}
