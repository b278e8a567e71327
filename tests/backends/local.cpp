// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Behaviour that the conformance suite cannot see from outside: page ends, the format of tokens, clocks, nasty mode.

#include <entitable/local/local.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/local/memory/memory_store.hpp>
#include <entitable/testing/conformance/trial.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/verdict.hpp>

#include <support/catch.hpp>

#include <set>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

template <class Request>
auto send(any_store const& store, Request const& request) {
    call context;
    return store.execute(request, context);
}

/// Rows "000".. in partition "p" of table "Orders", each with `bytes` bytes of text.
memory_backend filled(local_options const& options, std::size_t rows, std::size_t bytes = 1) {
    memory_backend store{options};
    REQUIRE(send(store, create_table{"Orders"}));
    for (std::size_t row = 0; row < rows; ++row) {
        auto const entity = make_row("p", testing::conformance::padded(row, 3), {{"T", std::string(bytes, 't')}});
        REQUIRE(send(store, write_entity{"Orders", mutation::insert(entity)}));
    }
    return store;
}

/// The sizes of the pages of a query.
std::vector<std::size_t> page_sizes(memory_backend const& store, query_entities query) {
    std::vector<std::size_t> sizes;
    do {
        auto const page = send(store, query);
        REQUIRE(page);
        sizes.push_back(page->rows.size());
        query.continuation = page->continuation;
    } while (query.continuation);
    return sizes;
}

query_entities everything(std::uint32_t page_size = 1000) {
    query_entities query;
    query.table = "Orders";
    query.page_size = page_size;
    return query;
}

} // namespace

TEST_CASE("local: a page ends at a limit of rows, bytes, scanned rows or time") {
    using sizes = std::vector<std::size_t>;
    CHECK(page_sizes(filled({}, 7), everything(3)) == sizes{3, 3, 1});
    CHECK(page_sizes(filled({}, 6), everything(3)) == sizes{3, 3});

    local_options small;
    small.page_bytes = 2000;
    CHECK(page_sizes(filled(small, 7, 900), everything()) == sizes{3, 3, 1}); // the page may exceed the limit by a row
    small.page_bytes = 0;
    CHECK(page_sizes(filled(small, 3), everything()) == sizes{1, 1, 1});

    local_options few;
    few.page_examined = 4;
    auto query = everything();
    query.filter = testing::conformance::only(filter_operator::equal, "T", std::string_view{"none"});
    CHECK(page_sizes(filled(few, 10), query) == sizes{0, 0, 0});
    few.page_examined = 0;
    CHECK(page_sizes(filled(few, 3), query) == sizes{0, 0, 0});

    testing::manual_clock time;
    local_options slow;
    slow.time = &time;
    slow.page_time = std::chrono::seconds{5};
    auto const store = filled(slow, 200);
    CHECK(page_sizes(store, everything()) == sizes{200});
    time.advance_with_each_look(std::chrono::seconds{2});
    CHECK(page_sizes(store, everything()) == sizes{191, 9}); // the clock is read at every 64th row
}

TEST_CASE("local: tokens are in the format of version 1") {
    auto const store = filled({}, 3);
    auto page = send(store, everything(1)).value();
    CHECK(page.continuation == "1!" + page.continuation->substr(2, 16) + "!70!303031");
    // The first row of a partition may be omitted: a token with only a partition key.
    auto query = everything(1);
    query.continuation = detail::make_continuation(detail::fingerprint(query, "orders"), {"p", std::nullopt});
    CHECK(query.continuation->substr(18) == "!70");
    CHECK(send(store, query).value().rows[0].row_key == "000");
    query.continuation = detail::make_continuation(detail::fingerprint(query, "orders"), {"p", "001"});
    CHECK(query.continuation == page.continuation);
    CHECK(*query.continuation == "1!9996dd0e90dc1982!70!303031");
    CHECK(send(store, query).value().rows[0].row_key == "001");
    query.page_size = 2; // the page size may change
    CHECK(send(store, query).value().rows.size() == 2);
    query.continuation = "1!9996dd0e90dc1983!70!303031";
    CHECK(testing::fails_with(send(store, query), error_code::continuation_invalid));
}

TEST_CASE("local: a row between the last key read and the token is not returned") {
    auto const store = filled({}, 4);
    auto query = everything(2);
    query.continuation = send(store, query).value().continuation; // names 002
    REQUIRE(send(store, write_entity{"Orders", mutation::insert(make_row("p", "0015"))}));
    REQUIRE(send(store, write_entity{"Orders", mutation::insert(make_row("p", "0025"))}));
    auto const page = send(store, query).value();
    REQUIRE(page.rows.size() == 2);
    CHECK(page.rows[0].row_key == "002");
    CHECK(page.rows[1].row_key == "0025");
}

TEST_CASE("local: versions increase even if the clock is set back, and across deletions") {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    memory_backend const store{options};
    REQUIRE(send(store, create_table{"Orders"}));
    date_time last{};
    std::set<std::string> tags;
    for (int round = 0; round < 20; ++round) {
        if (round % 3 == 0) { time.set(date_time{time.now().ticks - 10'000'000}); }
        auto const kind = round % 4 == 0 ? mutation_kind::insert
            : round % 4 == 3             ? mutation_kind::remove
                                         : mutation_kind::merge;
        auto const done = send(store, write_entity{"Orders", {kind, make_row("p", "r"), any_etag}});
        REQUIRE(done);
        if (kind != mutation_kind::remove) {
            auto const read = send(store, get_entity{"Orders", "p", "r", {}}).value();
            CHECK(read.entity.view().timestamp() > last);
            CHECK(read.etag == done->etag);
            CHECK(tags.insert(read.etag.to_string()).second);
            last = read.entity.view().timestamp();
        }
    }
}

TEST_CASE("local: deadlines follow the clock of the backend") {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    memory_backend const store{options};
    call context;
    context.deadline = time.steady() + std::chrono::seconds{1};
    CHECK(testing::succeeds(store.execute(create_table{"Orders"}, context)));
    time.advance(std::chrono::seconds{1});
    CHECK(testing::fails_with(store.execute(delete_table{"Orders"}, context), error_code::deadline_exceeded));
    cancellation_source stop;
    call other;
    other.cancellation = stop.token();
    stop.cancel();
    CHECK(testing::fails_with(store.execute(delete_table{"Orders"}, other), error_code::cancelled));
}

TEST_CASE("local: in nasty mode pages are irregular") {
    std::set<std::size_t> sizes;
    std::size_t empty_with_token = 0;
    std::size_t without_row = 0;
    std::size_t last_with_token = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        local_options options;
        options.nasty.emplace().seed = seed;
        auto const store = filled(options, 12);
        for (std::string const partition : {"a", "b", "q", "r"}) {
            REQUIRE(send(store, write_entity{"Orders", mutation::insert(make_row(partition, "x"))}));
        }
        auto query = everything();
        std::size_t seen = 0;
        std::optional<std::string> before;
        do {
            auto const page = send(store, query).value();
            sizes.insert(page.rows.size());
            seen += page.rows.size();
            CHECK((!page.continuation || page.continuation != query.continuation)); // every page makes progress
            empty_with_token += page.rows.empty() && page.continuation ? 1U : 0U;
            last_with_token += seen == 16 && page.continuation ? 1U : 0U;
            if (page.continuation) {
                std::string const keys = page.continuation->substr(19);
                without_row += keys.find('!') == std::string::npos ? 1U : 0U;
            }
            query.continuation = page.continuation;
        } while (query.continuation);
        CHECK(seen == 16);
    }
    CHECK(sizes.size() > 10);
    CHECK(empty_with_token > 10);
    CHECK(without_row > 10);
    CHECK(last_with_token > 5);

    // The same seed gives the same behaviour.
    local_options options;
    options.nasty.emplace().seed = 7;
    CHECK(page_sizes(filled(options, 40), everything()) == page_sizes(filled(options, 40), everything()));
    // Each irregularity can be switched off.
    options.nasty->random_pages = false;
    options.nasty->partition_tokens = false;
    options.nasty->being_deleted = {};
    auto const tame = filled(options, 40);
    CHECK(page_sizes(tame, everything()) == std::vector<std::size_t>{40});
    CHECK(send(tame, delete_table{"Orders"}));
    CHECK(send(tame, create_table{"Orders"}));
}

TEST_CASE("local: nasty mode shuffles rows if the profile promises no order") {
    local_options options;
    options.limits = cosmos_profile();
    options.nasty.emplace();
    options.nasty->random_pages = false;
    auto const store = filled(options, 30);
    auto const page = send(store, everything()).value();
    REQUIRE(page.rows.size() == 30);
    std::set<std::string> keys;
    bool in_order = true;
    for (std::size_t row = 0; row < 30; ++row) {
        keys.emplace(page.rows[row].row_key);
        in_order = in_order && (row == 0 || page.rows[row - 1].row_key < page.rows[row].row_key);
    }
    CHECK(keys.size() == 30);
    CHECK_FALSE(in_order);
}

TEST_CASE("local: the limits of Cosmos DB are enforced") {
    local_options options;
    options.limits = cosmos_profile();
    memory_backend const store{options};
    REQUIRE(send(store, create_table{"Orders"}));
    CHECK(send(store, create_table{"orders"})); // another table
    CHECK(testing::fails_with(send(store, get_entity{"None", "p", "r", {}}), error_code::resource_not_found));
    CHECK(testing::fails_with(send(store, write_entity{"Orders", mutation::insert(make_row("p", "r", {{"id", 1}}))}),
        error_code::property_name_invalid));
    CHECK(
        testing::fails_with(send(store, write_entity{"Orders", mutation::insert(make_row("p", std::string(256, 'r')))}),
            error_code::key_value_too_large));
    CHECK(send(store, write_entity{"Orders", mutation::insert(make_row(std::string(2048, 'p'), "r"))}));
}

TEST_CASE("local: invalid stored rows are rejected when read") {
    local<memory_store> const store;
    REQUIRE(send(store, create_table{"Orders"}));
    REQUIRE(store.store().update("orders", "p", [](memory_store::transaction& rows) {
        rows.put("r", "short");
        return true;
    }));
    CHECK(testing::fails_with(send(store, get_entity{"Orders", "p", "r", {}}), error_code::row_malformed));
    CHECK(testing::fails_with(send(store, everything()), error_code::row_malformed));
    CHECK(testing::fails_with(
        send(store, write_entity{"Orders", mutation::merge(make_row("p", "r"), any_etag)}), error_code::row_malformed));
}

TEST_CASE("local: a visitor sees the same entity as a get, short or long, and never while a lock is held") {
    static_assert(answers<memory_backend, read_entity> && answers<any_store, read_entity>);
    // A payload of 1,024 bytes is the largest that is stored on the stack.
    for (std::size_t const bytes : {1U, 999U, 1'000U, 1'001U, 1'002U, 5'000U}) {
        auto const store = filled({}, 1, bytes);
        call context;
        auto const read = send(store, get_entity{"Orders", "p", "000", {}});
        REQUIRE(read);
        int shown = 0;
        auto const show = [&](row_view const& stored, etag const& version, bool stale) {
            ++shown;
            CHECK(stored.partition_key == "p");
            CHECK(stored.row_key == "000");
            CHECK(stored.payload == read->entity.payload());
            CHECK(stored.find("T")->as_string() == std::string(bytes, 't'));
            CHECK(version == read->etag);
            CHECK_FALSE(stale);
            auto const gone = mutation::remove(row{"p", "000", {}}, version);
            auto removed = send(store, write_entity{"Orders", gone});
            return removed ? result<void>{} : std::move(removed).as_failure();
        };
        entity_visitor const visit = show;
        auto const visited = store.execute(read_entity{"Orders", "p", "000", &visit}, context);
        CHECK(visited);
        CHECK(shown == 1);
        CHECK(send(store, get_entity{"Orders", "p", "000", {}}).error().code == error_code::resource_not_found);
    }
}

TEST_CASE("local: a visit that finds no entity returns the same error as a get") {
    auto const store = filled({}, 1);
    auto const refused = [&](read_entity address, call context = {}) {
        int shown = 0;
        auto const show = [&](row_view const&, etag const&, bool) {
            ++shown;
            return result<void>{};
        };
        entity_visitor const visit = show;
        address.visit = &visit;
        auto const visited = store.execute(address, context);
        auto const read = store.execute(get_entity{std::string{address.table}, std::string{address.partition_key},
                                            std::string{address.row_key}, {}},
            context);
        CHECK(shown == 0);
        REQUIRE_FALSE(visited);
        REQUIRE_FALSE(read);
        CHECK(visited.error().message == read.error().message);
        CHECK(visited.error().detail == read.error().detail);
        return visited.error().code;
    };
    CHECK(refused({"Orders", "p", "001"}) == error_code::resource_not_found);
    CHECK(refused({"Orders", "q", "000"}) == error_code::resource_not_found);
    CHECK(refused({"Others", "p", "000"}) == error_code::table_not_found);
    CHECK(refused({"Or ders", "p", "000"}) == error_code::invalid_resource_name);
    CHECK(refused({"Orders", "p/", "000"}) == error_code::out_of_range_input);
    CHECK(refused({"Orders", "p", "00\xFE"}) == error_code::invalid_input);
    call late;
    late.deadline = steady_time{};
    CHECK(refused({"Orders", "p", "000"}, late) == error_code::deadline_exceeded);
}

TEST_CASE("local: an invalid read counts no attempt, and a key is not mistaken for the stored form of another") {
    auto const store = filled({}, 1);
    REQUIRE(send(store, write_entity{"Orders", mutation::insert(make_row("p\xEE\x80\x80", "000"))}));
    auto const read = [&](std::string const& table, std::string const& partition) {
        call context;
        auto const found = store.execute(get_entity{table, partition, "000", {}}, context);
        return std::pair{found ? error_code{} : found.error().code, context.attempts};
    };
    CHECK(read("Orders", "p") == std::pair{error_code{}, 1U});
    CHECK(read("oRDERS", "p\xEE\x80\x80") == std::pair{error_code{}, 1U});
    CHECK(read("Orders", "q") == std::pair{error_code::resource_not_found, 1U});
    CHECK(read("Orders", "p\xFE\x80\x80") == std::pair{error_code::invalid_input, 0U}); // stored in this form
    CHECK(read("Orders", "p/") == std::pair{error_code::out_of_range_input, 0U});
    CHECK(read("Or ders", "p") == std::pair{error_code::invalid_resource_name, 0U});
}

TEST_CASE("local: the outcome of a call is final once it has returned, whichever service's limits the backend uses") {
    for (profile const& limits : {local_profile(), storage_profile(), cosmos_profile()}) {
        local_options options;
        options.limits = limits;
        CHECK(memory_backend{options}.profile().longest_late_application() == std::chrono::seconds{0});
    }
}

TEST_CASE("local: writes and pages report the time of the store") {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    memory_backend const store = filled(options, 1);
    auto const told = [&](auto const& request) {
        time.advance(std::chrono::seconds{1});
        call context;
        static_cast<void>(store.execute(request, context));
        return context.server_date == time.now();
    };
    CHECK(told(query_entities{"Orders", {}, {}, {}, 1, {}}));
    CHECK(told(write_entity{"Orders", mutation::insert(make_row("p", "x", {}))}));
    CHECK(told(write_entity{"Orders", mutation::insert(make_row("p", "x", {}))})); // refused
    CHECK(told(transact{"Orders", {mutation::remove(make_row("p", "x", {}), any_etag)}}));
}
