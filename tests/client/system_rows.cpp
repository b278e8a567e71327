// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Rows of the library among the rows of an application: readers of entities do not see them, and writers of entities cannot
// create them. The conformance suite covers which rows every reader returns; here are the plans, the refusals and the special
// cases.

#include <entitable/copy.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

#include <array>

namespace client_system_rows {

using namespace entitable;
using entitable_test::ContainsSubstring;
using testing::make_row;

struct note {
    std::string book;
    std::string title;
    std::int32_t stars{};
};
ENTITABLE(note, partition_key(book), row_key(title), properties(stars))

struct line {
    std::string book;
    std::int32_t number{};
    std::int32_t stars{};
};
ENTITABLE(line, partition_key(book), row_key(number), properties(stars))

struct spread {
    std::string book;
    std::string title;
    std::int32_t stars{};
};
ENTITABLE(spread, partition_key(book), row_key(salted(title, 10)), properties(stars))

struct seldom {
    std::string book;
    std::optional<std::int32_t> number;
    std::int32_t stars{};
};
ENTITABLE(seldom, partition_key(book), row_key(number), properties(stars))

struct seldom_first {
    std::string book;
    std::optional<std::int32_t> number;
    std::string title;
    std::int32_t stars{};
};
ENTITABLE(seldom_first, partition_key(book), row_key(number, title), properties(stars))

struct listed {
    std::string book;
    std::string title;
    std::int32_t stars{};
};
ENTITABLE(listed, partition_key(book), row_key(literal("note:"), title), properties(stars))

struct behind_tilde {
    std::string book;
    std::string title;
    std::int32_t stars{};
};
ENTITABLE(behind_tilde, partition_key(book), row_key(literal("~"), title), properties(stars))

struct quoted {
    std::string book;
    std::string title;
    std::int32_t number{};
    std::int32_t stars{};
};
ENTITABLE(quoted, partition_key(book), row_key(escaped(title), number), properties(stars))

/// As users write them: created from scratch, with two arbitrary characters.
struct code {
    std::array<char, 2> letters{'A', 'A'};
    friend bool operator==(code const&, code const&) = default;
};

} // namespace client_system_rows

template <>
struct entitable::key_codec<client_system_rows::code> {
    using value_type = client_system_rows::code;
    using argument = client_system_rows::code const&;
    static constexpr bool ordered = true;
    static constexpr bool reversed = false;
    static constexpr bool variable = false;
    static constexpr bool optional = false;
    static constexpr bool escaped = false;
    static bool append(std::string& out, argument value) {
        out.append(value.letters.data(), 2);
        return true;
    }
    static bool parse(std::string_view text, client_system_rows::code& out) {
        if (text.size() != 2) { return false; }
        out.letters = {text[0], text[1]};
        return true;
    }
};

namespace client_system_rows {

struct coded {
    std::string book;
    code letters;
    std::int32_t stars{};
};
ENTITABLE(coded, partition_key(book), row_key(letters), properties(stars))

static_assert(sorts_before_system_rows(mapping<line>::row_layout));
static_assert(sorts_before_system_rows(mapping<spread>::row_layout));
static_assert(sorts_before_system_rows(mapping<seldom>::row_layout));
static_assert(sorts_before_system_rows(mapping<listed>::row_layout));
static_assert(!sorts_before_system_rows(mapping<note>::row_layout));
static_assert(!sorts_before_system_rows(mapping<seldom_first>::row_layout));
static_assert(!sorts_before_system_rows(mapping<behind_tilde>::row_layout));
static_assert(!sorts_before_system_rows(mapping<quoted>::row_layout));
static_assert(!sorts_before_system_rows(mapping<coded>::row_layout));
static_assert(!is_reserved(mapping<behind_tilde>::row_layout));

template <class Query>
std::string explained(Query const& query) {
    return query.explain().value().to_string();
}

constexpr char const* left_out = "system rows    skipped by the client";

TEST_CASE("system rows: the planner ends key ranges before them if the type of the row key allows it") {
    memory_backend const store;
    auto const whole = [&]<class Entity>(Entity const*) {
        using f = fields<Entity>;
        return explained(table<Entity>{store, "Notes"}.where(f::book == "b"));
    };
    std::string const cut = "PartitionKey == \"b\" && RowKey < \"~!\"\n";
    for (std::string const& text : {whole(static_cast<line*>(nullptr)), whole(static_cast<spread*>(nullptr)),
             whole(static_cast<seldom*>(nullptr))}) {
        CHECK_THAT(text, ContainsSubstring(cut));
        CHECK_THAT(text, !ContainsSubstring(left_out));
    }
    CHECK_THAT(whole(static_cast<listed*>(nullptr)), ContainsSubstring("RowKey >= \"note:\" && RowKey < \"note;\""));
    CHECK_THAT(whole(static_cast<listed*>(nullptr)), !ContainsSubstring(left_out));
    for (std::string const& text : {whole(static_cast<note*>(nullptr)), whole(static_cast<seldom_first*>(nullptr)),
             whole(static_cast<behind_tilde*>(nullptr)), whole(static_cast<quoted*>(nullptr)),
             whole(static_cast<coded*>(nullptr))}) {
        CHECK_THAT(text, !ContainsSubstring("~!"));
        CHECK_THAT(text, ContainsSubstring(left_out));
    }
}

TEST_CASE("system rows: a range that cannot contain system rows is read without checking for them") {
    memory_backend const store;
    table<note> const notes{store, "Notes"};
    using n = fields<note>;
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title < "m")), !ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title == "m")), !ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title >= "~\"")), !ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title < "~!")), !ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title <= "~!")), ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title > "m")), ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.where(n::book == "b" && n::title == "~!op!x")), ContainsSubstring(left_out));
    CHECK_THAT(explained(notes.scan_table()), ContainsSubstring(left_out));
    table<line> const lines{store, "Lines"};
    using l = fields<line>;
    CHECK_THAT(explained(lines.scan_table()), ContainsSubstring("key range      RowKey < \"~!\"\n"));
    CHECK_THAT(explained(lines.where(l::book == "b" && l::number >= 7)),
        ContainsSubstring("RowKey >= \"0000000007\" && RowKey < \"~!\"\n"));
    CHECK_THAT(
        explained(lines.where(l::book == "b" && l::number == 7)), ContainsSubstring("RowKey == \"0000000007\"\n"));
}

TEST_CASE("system rows: a plain reader does not see the operation rows of a writer") {
    memory_backend const store;
    table<note> const writer{retrying{store, {.operation_rows = true}}, "Notes"};
    table<note> const reader{store, "Notes"};
    using n = fields<note>;
    writer.create().value();
    for (std::int32_t stars = 1; stars <= 3; ++stars) {
        (void)writer.insert({"b", std::to_string(stars), stars}).value();
    }
    CHECK(testing::read_contents(store)->tables.at("Notes").size() == 6);
    CHECK(testing::without_system_rows(*testing::read_contents(store)).tables.at("Notes").size() == 3);
    for (table<note> const& each : {reader, writer}) {
        CHECK(each.where(n::book == "b").count().value() == 3);
        CHECK(each.where(n::book == "b").sum(n::stars).value() == 6);
        CHECK(each.where(n::book == "b").to()->size() == 3);
    }
}

TEST_CASE("system rows: pages that contain only system rows are skipped, and continuation tokens still work") {
    memory_backend const store;
    table<note> const notes{store, "Notes"};
    using n = fields<note>;
    notes.create().value();
    call own;
    for (int index = 0; index < 10; ++index) {
        row const one = make_row("b", "~!op!" + std::to_string(index), {{"OperationVersion", 1}});
        (void)store.execute(write_entity{"Notes", mutation::insert(one)}, own).value();
    }
    for (char const* title : {"a", "b", "~z"}) { (void)notes.insert({"b", title, 1}).value(); }
    auto const query = notes.where(n::book == "b").page_size(1);
    std::vector<std::string> titles;
    std::optional<std::string> token;
    do {
        auto pages = (token ? query.resume(*token) : query).pages();
        auto const page = pages.next().value();
        if (!page) { break; }
        REQUIRE(page->size() == 1);
        titles.push_back((*page)[0].title);
        token = page->token;
    } while (token);
    CHECK(titles == std::vector<std::string>{"a", "b", "~z"});
    CHECK(query.take(3).to()->size() == 3);
    CHECK(notes.where(n::book == "b" && n::title > "b").page_size(4).first().value()->title == "~z");
    CHECK(
        notes.where(n::book == "b" && (n::title == "a" || n::title > "c")).in_flight(2).page_size(2).count().value() ==
        2);
    auto counted = notes.where(n::book == "b");
    for (auto const& each : counted) { CHECK(each.stars == 1); }
    CHECK(counted.analyze().accepted == 3);
    CHECK(counted.analyze().received == 13);
}

TEST_CASE("system rows: an entity can be neither written nor read under a key of a system row") {
    testing::faulty const seen{memory_backend{}};
    table<note> const notes{seen, "Notes"};
    notes.create().value();
    auto const before = seen.requests();
    auto const refused = [&](auto const& outcome) {
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == error_code::key_reserved);
        CHECK(outcome.error().effect == effect::none);
        CHECK_THAT(outcome.error().message, ContainsSubstring("begins with \"~!\""));
        CHECK(outcome.error().detail == "~!op!x");
    };
    note const bad{"b", "~!op!x", 1};
    refused(notes.insert(bad));
    refused(notes.replace(bad, any_etag));
    refused(notes.merge(bad, any_etag));
    refused(notes.insert_or_replace(bad));
    refused(notes.insert_or_merge(bad));
    refused(notes.remove("b", "~!op!x", any_etag));
    refused(notes.update("b", "~!op!x", [](note& each) { each.stars = 2; }));
    refused(notes.get("b", "~!op!x"));
    refused(notes.find("b", "~!op!x"));
    refused(notes.get_stored("b", "~!op!x"));
    refused(row_key_of(bad));
    refused(to_row(bad));
    auto batch = notes.batch();
    batch.insert({"b", "a", 1}).insert(bad);
    auto const submitted = batch.submit();
    refused(submitted);
    CHECK(submitted.error().operation_index == 1);
    row_table const rows{seen, "Notes"};
    refused(rows.insert({"b", "~!op!x"}));
    refused(rows.replace({"b", "~!op!x"}, any_etag));
    refused(rows.merge({"b", "~!op!x"}, any_etag));
    refused(rows.insert_or_replace({"b", "~!op!x"}));
    refused(rows.insert_or_merge({"b", "~!op!x"}));
    refused(rows.remove("b", "~!op!x", any_etag));
    CHECK(seen.requests() == before);
    // A key that only begins the same way, and a partition key, are allowed.
    CHECK(notes.insert({"~!", "~", 1}));
    CHECK(notes.insert({"~!", "~\"", 1}));
    CHECK(notes.insert({"~!", "!~", 1}));
}

TEST_CASE("system rows: values that would form a system row's key are also refused") {
    memory_backend const store;
    table<behind_tilde> const tildes{store, "Notes"};
    tildes.create().value();
    CHECK(tildes.insert({"b", "x", 1}));
    CHECK(tildes.insert({"b", "!x", 1}).error().code == error_code::key_reserved);
    table<coded> const codes{store, "Codes"};
    codes.create().value();
    CHECK(codes.insert({"b", {{'~', '~'}}, 1}));
    CHECK(codes.insert({"b", {{'~', '!'}}, 1}).error().code == error_code::key_reserved);
    using c = fields<coded>;
    CHECK(codes.where(c::book == "b").count().value() == 1);
    table<quoted> const quotes{store, "Quotes"};
    quotes.create().value();
    CHECK(quotes.insert({"b", "~!", 1, 1})); // is stored as "~0..."
    CHECK(quotes.get("b", "~!", 1)->title == "~!");
}

TEST_CASE("system rows: a reader without a schema returns them on request") {
    memory_backend const store;
    row_table const rows{retrying{store, {.operation_rows = true}}, "Notes"};
    rows.create().value();
    (void)rows.insert(entity{"b", "a"}).value();
    std::vector<std::string> seen;
    auto const keep = [&](entity const& each) { seen.push_back(each.row_key()); };
    CHECK(rows.for_each({}, {}, keep));
    CHECK(seen == std::vector<std::string>{"a"});
    seen.clear();
    CHECK(rows.for_each({}, {}, keep, system_rows::shown));
    REQUIRE(seen.size() == 2);
    CHECK(rows.get("b", seen[1])->row_key() == seen[1]);
    CHECK_THAT(testing::dump(store), ContainsSubstring("\"b\" / \"~!op!"));
}

TEST_CASE("system rows: a copy omits them and does not create any") {
    memory_backend const store;
    memory_backend const target;
    table<note> const from{retrying{store, {.operation_rows = true}}, "Notes"};
    table<note> const to{target, "Notes"};
    from.create().value();
    to.create().value();
    for (std::int32_t stars = 1; stars <= 3; ++stars) {
        (void)from.insert({"b", std::to_string(stars), stars}).value();
    }
    auto const done = copy(from, to, {.page_size = 1}).value();
    CHECK(done.read == 3);
    CHECK(done.written == 3);
    CHECK(testing::read_contents(target)->tables.at("Notes").size() == 3);
    auto const refused = copy_rows(
        store, "Notes", target, "Notes",
        [](row_view) -> result<std::optional<row>> { return std::optional{make_row("b", "~!op!1")}; },
        [](copy_progress const&) {});
    CHECK(refused.error().code == error_code::key_reserved);
}

TEST_CASE(
    "operation id: with an id a call or a batch is applied once, and is refused if no layer stores operation rows") {
    memory_backend const store;
    table<note> const plain{store, "Notes"};
    plain.create().value();
    CHECK(plain.with({.operation_id = "x"}).insert({"b", "a", 1}).error().code == error_code::not_supported);
    auto alone = plain.with({.operation_id = "x"}).batch();
    CHECK(alone.insert({"b", "a", 1}).submit().error().code == error_code::not_supported);
    CHECK(plain.with({.operation_id = "x"}).update("b", "a", [](note& each) { each.stars = 2; }).error().code ==
        error_code::not_supported);
    table<note> const kept{retrying{store, {}}, "Notes"};
    for (int click = 0; click < 2; ++click) {
        auto batch = kept.with({.operation_id = "order-17"}).batch();
        auto const done = batch.insert({"b", "a", 1}).insert({"b", "c", 1}).submit();
        REQUIRE(done);
        CHECK(done->size() == 2);
        CHECK((*done)[0].after_retry == (click == 1));
    }
    using n = fields<note>;
    CHECK(plain.where(n::book == "b").count().value() == 2);
}

} // namespace client_system_rows
