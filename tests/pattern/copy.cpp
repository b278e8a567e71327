// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/copy.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

using namespace entitable;
using entitable_test::ContainsSubstring;
using testing::fault;
using testing::make_row;

namespace copy_test {

struct sale {
    std::int32_t year{};
    std::int32_t month{};
    std::int32_t number{};
    std::string what;
};

struct sale_by_year : sale {};
ENTITABLE(sale_by_year, partition_key(year), row_key(month, number), properties(what))

struct sale_by_month : sale {};
ENTITABLE(sale_by_month, partition_key(year, month), row_key(number), properties(what))

static_assert(operation<detail::copy_operation>);

struct stage {
    stage() {
        by_year.create().value();
        by_month.create().value();
        for (int number = 0; number < 250; ++number) {
            by_year.insert({{2000 + number / 100, 1 + number % 12, number, "sale " + std::to_string(number)}}).value();
        }
    }
    memory_backend source;
    memory_backend store;
    testing::faulty<memory_backend> target{store};
    table<sale_by_year> by_year{source, "sales"};
    table<sale_by_month> by_month{store, "months"};
    table<sale_by_year> same{target, "copies"};
};

} // namespace copy_test

using namespace copy_test;

TEST_CASE("a copy contains all rows, and reading it back verifies it") {
    stage s;
    s.same.create().value();
    copy_progress const done = copy(s.by_year, s.same).value();
    CHECK(done.read == 250);
    CHECK(done.written == 250);
    CHECK(done.present == 0);
    CHECK(done.verified == 250);
    CHECK_FALSE(done.next);
    auto const from = testing::read_contents(s.source).value().tables.begin()->second;
    auto const to = testing::read_contents(s.store, {"copies"}).value().tables.begin()->second;
    CHECK(from.size() == 250);
    CHECK(to.size() == 250);
}

TEST_CASE("a copy that is repeated writes nothing") {
    stage s;
    s.same.create().value();
    (void)copy(s.by_year, s.same).value();
    copy_progress const again = copy(s.by_year, s.same).value();
    CHECK(again.written == 0);
    CHECK(again.present == 250);
    CHECK(again.verified == 250);
}

TEST_CASE("a copy under other keys can split partitions") {
    stage s;
    auto const done =
        copy(s.by_year, s.by_month, [](sale_by_year const& one) { return sale_by_month{one}; }, {.page_size = 33})
            .value();
    CHECK(done.read == 250);
    CHECK(done.pages == 8);
    using m = fields<sale_by_month>;
    CHECK(s.by_month.where(m::year == 2001 && m::month == 5).count().value() == 9);
    CHECK(s.by_month.get(2001, 5, 112)->what == "sale 112");
    CHECK(s.by_month.scan_table().count().value() == 250);
}

TEST_CASE("a change function may drop rows and may fail") {
    stage s;
    auto const even = copy(s.by_year, s.by_month, [](sale_by_year const& one) -> std::optional<sale_by_month> {
        return one.number % 2 == 0 ? std::optional{sale_by_month{one}} : std::nullopt;
    });
    CHECK(even->left_out == 125);
    CHECK(even->written == 125);
    auto const refused = copy(s.by_year, s.by_month, [](sale_by_year const& one) -> result<sale_by_month> {
        if (one.number == 77) { return failure{error_code::invalid_input, "not this one"}; }
        return sale_by_month{one};
    });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "not this one");
}

TEST_CASE("two rows with the same key are refused, and no row of their page is written") {
    stage s;
    auto const refused = copy(s.by_year, s.by_month, [](sale_by_year const& one) {
        sale_by_month made{one};
        made.number = 1;
        return made;
    });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::invalid_duplicate_row);
    CHECK_THAT(refused.error().detail, ContainsSubstring("PartitionKey"));
    CHECK(s.by_month.scan_table().count().value() == 0);
}

TEST_CASE("an existing row that differs ends the copy, or is replaced on request") {
    stage s;
    s.same.create().value();
    s.same.insert({{2000, 1, 24, "mine"}}).value();
    auto const refused = copy(s.by_year, s.same);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::entity_already_exists);
    CHECK(s.same.get(2000, 1, 24)->what == "mine");
    auto const done = copy(s.by_year, s.same, {.overwrite = true}).value();
    CHECK(done.written + done.present == 250);
    CHECK(done.written >= 1);
    CHECK(s.same.get(2000, 1, 24)->what == "sale 24");
}

TEST_CASE("a stopped copy resumes at its position") {
    stage s;
    s.same.create().value();
    s.target.plan({fault::lost_after(), 3, "transact"});
    std::optional<std::string> next;
    std::vector<std::uint64_t> pages;
    auto const hear = [&](copy_progress const& progress) {
        next = progress.next;
        pages.push_back(progress.read);
    };
    auto const each = [](sale_by_year const& one) { return one; };
    auto const stopped = copy(s.by_year, s.same, each, hear, {.page_size = 50});
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().effect == effect::unknown);
    REQUIRE(next);
    CHECK(pages.size() < 5);
    auto const rest = copy(s.by_year, s.same, each, hear, {.page_size = 50, .from = next}).value();
    CHECK(rest.read < 250);
    CHECK(rest.present > 0); // the subject of the lost answer
    CHECK(pages.back() == rest.read);
    CHECK(s.same.scan_table().count().value() == 250);
    CHECK(s.target.all_fired());
}

TEST_CASE("a value that the store did not preserve is found when it is read back") {
    stage s;
    s.same.create().value();
    testing::scripted target;
    target.expect<transact>().answers(transact::response{std::vector<written>(100)});
    target.expect<query_entities>().answers(query_entities::response{});
    auto const refused = copy_rows(s.source, "sales", target, "copies");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::row_mismatch);
    CHECK_THAT(refused.error().message, ContainsSubstring("\"copies\""));
}

TEST_CASE("keys of every kind are copied from a store in nasty mode, with pages of any size") {
    local_options options;
    options.nasty.emplace().seed = 3;
    memory_backend const nasty{options};
    memory_backend const plain;
    call context;
    for (auto const& store : {any_store{nasty}, any_store{plain}}) {
        store.execute(create_table{"rows"}, context).value();
    }
    std::size_t count = 0;
    for (std::string const partition : {"", "a", "\xEF\xBD\x9E", "\xF0\x9F\x98\x80", "O'Hara"}) {
        for (std::string const row : {"", "b", "b__", "\xEF\xBD\x9E", "\xF0\x9F\x98\x80", "%2F"}) {
            any_store{nasty}
                .execute(write_entity{"rows", mutation::insert(make_row(partition, row, {{"N", 1.5}}))}, context)
                .value();
            ++count;
        }
    }
    auto const done = copy_rows(nasty, "rows", plain, "rows").value();
    CHECK(done.written == count);
    CHECK(done.verified == count);
    CHECK(copy_rows(plain, "rows", nasty, "rows").value().present == count);
}
