// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Comparisons of key components with values that no stored key can have, at any position in a key.

#include <entitable/memory.hpp>

#include <support/catch.hpp>
#include <support/runners.hpp>

#include <functional>

using namespace entitable;
using namespace entitable_test;

namespace comparison_test {

enum class shade : std::uint8_t { red, red_dark, none };

/// 0 to 100, in three digits.
struct percent {
    int value{};
};

} // namespace comparison_test

template <>
struct entitable::enum_names<comparison_test::shade> {
    static constexpr entitable::enum_name<comparison_test::shade> values[] = {
        {comparison_test::shade::red, "red"}, {comparison_test::shade::red_dark, "red__dark"}};
};

template <>
struct entitable::key_codec<comparison_test::percent> : entitable::detail::key_codec_base<comparison_test::percent> {
    static bool append(std::string& out, comparison_test::percent value) {
        return value.value >= 0 && value.value <= 100 && width_codec<int, 3>::append(out, value.value);
    }
    static bool parse(std::string_view text, comparison_test::percent& out) {
        return width_codec<int, 3>::parse(text, out.value);
    }
};

namespace comparison_test {

struct visit {
    std::string tenant;
    std::string user;
    std::int32_t number{};
};
ENTITABLE(visit,
    partition_key(tenant, user),
    row_key(number))

/// The same in the row key, with another text and literals around.
struct step {
    std::string group;
    std::string tenant;
    std::string user;
    std::string note;
};
ENTITABLE(step,
    partition_key(group),
    row_key(literal("S:"), tenant, literal("U:"), user, note))

struct spread {
    std::string tenant;
    std::string user;
    std::int32_t number{};
};
ENTITABLE(spread,
    partition_key(salted(tenant, 2), user),
    row_key(number))

struct paint {
    shade colour{};
    std::string name;
    std::int32_t number{};
};
ENTITABLE(paint,
    partition_key(colour, name),
    row_key(number))

/// `width` first, in the middle, and last.
struct line {
    std::string part;
    std::int32_t first{};
    std::uint8_t middle{};
    std::int64_t last{};
};
ENTITABLE(line,
    partition_key(part),
    row_key(literal("L"), width(first, 3), width(middle, 2), width(last, 4)))

struct share {
    std::string part;
    percent portion;
    std::string name;
};
ENTITABLE(share,
    partition_key(part),
    row_key(portion, name))

template <class Entity>
table<Entity> table_of(std::vector<Entity> const& rows) {
    table<Entity> all{memory_backend{}, "rows"};
    all.create().value();
    for (Entity const& one : rows) { all.insert(one).value(); }
    return all;
}

/// A condition, and its result for one row.
template <class Entity>
struct asked {
    std::string words;
    predicate_nodes nodes;
    std::function<bool(Entity const&)> naive;
};

constexpr shape_set free_shape = shape_set::of(0);

/// Each condition and its opposite, compared with a naive evaluation.
template <class Entity>
void check(table<Entity> const& all, std::vector<Entity> const& rows, std::vector<asked<Entity>> const& questions) {
    for (asked<Entity> const& asks : questions) {
        std::uint64_t expected = 0;
        for (Entity const& one : rows) { expected += asks.naive(one) ? 1U : 0U; }
        predicate<Entity, free_shape, free_shape> const condition{asks.nodes};
        INFO(asks.words << '\n' << all.scan_table(condition).explain()->to_string());
        CHECK(all.scan_table(condition).count().value() == expected);
        CHECK(all.scan_table(condition).to().value().size() == expected);
        CHECK(all.scan_table(!condition).count().value() == rows.size() - expected);
    }
}

template <class Entity, class Field, class Value, class Read>
void add_equality(std::vector<asked<Entity>>& to, Field field, Value const& value, Read read) {
    to.push_back({"==", (field == value).nodes(), [=](Entity const& one) { return read(one) == value; }});
    to.push_back({"!=", (field != value).nodes(), [=](Entity const& one) { return read(one) != value; }});
    std::vector<Value> const list{value, value};
    to.push_back({"in", in(field, list).nodes(), [=](Entity const& one) { return read(one) == value; }});
}

template <class Entity, class Field, class Value, class Read>
void add_comparisons(std::vector<asked<Entity>>& to, Field field, Value const& value, Read read) {
    add_equality<Entity>(to, field, value, read);
    to.push_back({"<", (field < value).nodes(), [=](Entity const& one) { return read(one) < value; }});
    to.push_back({"<=", (field <= value).nodes(), [=](Entity const& one) { return read(one) <= value; }});
    to.push_back({">", (field > value).nodes(), [=](Entity const& one) { return read(one) > value; }});
    to.push_back({">=", (field >= value).nodes(), [=](Entity const& one) { return read(one) >= value; }});
    to.push_back(
        {"between", between(field, value, value).nodes(), [=](Entity const& one) { return read(one) == value; }});
}

std::vector<std::string> const hard_texts{
    "a", "a_", "a__", "a___", "a__b", "a__b__c", "_", "__", "__b", "_x", "b", "", "a_b", "a__U:b", "b__c", "c"};

} // namespace comparison_test

using namespace comparison_test;

TEST_CASE("a text that cannot be a component of a key equals no stored key") {
    std::vector<visit> const rows{{"a", "b__c", 1}, {"a", "_x", 2}, {"a", "", 3}, {"", "b", 4}, {"a", "b", 5}};
    auto const all = table_of(rows);
    using f = fields<visit>;
    std::vector<asked<visit>> questions;
    for (std::string const& tenant : hard_texts) {
        add_equality<visit>(questions, f::tenant, tenant, [](visit const& one) { return one.tenant; });
        questions.push_back({"starts_with", starts_with(f::tenant, tenant).nodes(),
            [=](visit const& one) { return one.tenant.starts_with(tenant); }});
        for (std::string const& user : hard_texts) {
            questions.push_back({tenant + " and " + user, (f::tenant == tenant && f::user == user).nodes(),
                [=](visit const& one) { return one.tenant == tenant && one.user == user; }});
            questions.push_back({tenant + " and in " + user,
                (in(f::tenant, {tenant, user}) && starts_with(f::user, user) && f::number >= 1).nodes(),
                [=](visit const& one) {
                    return (one.tenant == tenant || one.tenant == user) && one.user.starts_with(user);
                }});
        }
    }
    check(all, rows, questions);
    // By each access path.
    CHECK(all.where(f::tenant == "a__b" && f::user == "c" && f::number == 1).count().value() == 0);
    CHECK(all.where(f::tenant == "a__b" && f::user == "c" && f::number >= 1).count().value() == 0);
    CHECK(all.where(f::tenant == "a__b" && f::user == "c").count().value() == 0);
    CHECK(all.where(f::tenant == "a__b").count().value() == 0);
    CHECK(all.where(f::tenant == "a_").count().value() == 0);
    CHECK(all.where(f::tenant == "a_").explain()->requests == 0);
    CHECK(all.where(f::tenant == "a").count().value() == 4);
}

TEST_CASE("a text that cannot be a component of a row key equals no stored key") {
    std::vector<step> const rows{{"g", "a", "b__c", "n"}, {"g", "a", "_x", "n"}, {"g", "a", "b", "c__n"},
        {"g", "", "b", ""}, {"g", "a", "b", "_"}};
    std::vector<step> stored;
    table<step> const all{memory_backend{}, "rows"};
    all.create().value();
    for (step const& one : rows) {
        if (all.insert(one)) {
            stored.push_back(one); // the others are refused because they could not be read back
        }
    }
    CHECK(stored.size() == 4);
    using f = fields<step>;
    std::vector<asked<step>> questions;
    for (std::string const& tenant : hard_texts) {
        add_equality<step>(questions, f::tenant, tenant, [](step const& one) { return one.tenant; });
        add_comparisons<step>(questions, f::note, tenant, [](step const& one) { return one.note; });
        for (std::string const& user : hard_texts) {
            questions.push_back(
                {tenant + " and " + user, (f::group == "g" && f::tenant == tenant && f::user == user).nodes(),
                    [=](step const& one) { return one.tenant == tenant && one.user == user; }});
        }
    }
    check(all, stored, questions);
}

TEST_CASE("a text that cannot be a component equals no stored key in any bucket") {
    std::vector<spread> rows;
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        rows.push_back({std::string(1, letter), "b", 1});
        rows.push_back({std::string(1, letter), "b__c", 1});
        rows.push_back({std::string(1, letter), "_c", 1});
    }
    auto const all = table_of(rows);
    using f = fields<spread>;
    std::vector<asked<spread>> questions;
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        for (char const* behind : {"", "_", "__b", "__"}) {
            std::string const tenant = letter + std::string{behind};
            add_equality<spread>(questions, f::tenant, tenant, [](spread const& one) { return one.tenant; });
            questions.push_back({tenant, (f::tenant == tenant && f::user == "c").nodes(),
                [=](spread const& one) { return one.tenant == tenant && one.user == "c"; }});
        }
    }
    check(all, rows, questions);
}

TEST_CASE(
    "a name of an enumeration that cannot be a component equals no stored key, and an unnamed value equals none") {
    std::vector<paint> const rows{{shade::red, "dark__q", 1}, {shade::red, "q", 2}, {shade::red, "", 3}};
    auto const all = table_of(rows);
    CHECK(all.insert({shade::red_dark, "q", 1}).error().code == error_code::key_not_splittable);
    CHECK(all.insert({shade::none, "q", 1}).error().code == error_code::out_of_range_input);
    using f = fields<paint>;
    std::vector<asked<paint>> questions;
    for (shade const colour : {shade::red, shade::red_dark, shade::none}) {
        add_equality<paint>(questions, f::colour, colour, [](paint const& one) { return one.colour; });
        questions.push_back({"q", (f::colour == colour && f::name == "q").nodes(),
            [=](paint const& one) { return one.colour == colour && one.name == "q"; }});
    }
    check(all, rows, questions);
}

TEST_CASE("a number that does not fit its width sorts before or after all stored numbers, anywhere in a key") {
    std::vector<line> rows;
    for (std::int32_t const first : {0, 5, 999}) {
        for (std::uint8_t const middle : {std::uint8_t{0}, std::uint8_t{99}}) {
            for (std::int64_t const last : {std::int64_t{0}, std::int64_t{42}, std::int64_t{9999}}) {
                rows.push_back({"p", first, middle, last});
            }
        }
    }
    auto const all = table_of(rows);
    using f = fields<line>;
    std::vector<asked<line>> questions;
    for (std::int32_t const value : {std::numeric_limits<std::int32_t>::min(), -5, -1, 0, 1, 5, 999, 1000,
             std::numeric_limits<std::int32_t>::max()}) {
        add_comparisons<line>(questions, f::first, value, [](line const& one) { return one.first; });
        questions.push_back({"behind a point", (f::part == "p" && f::first == 5 && f::last > value).nodes(),
            [=](line const& one) { return one.first == 5 && one.last > value; }});
        questions.push_back({"a range beside an absent one", (f::first >= value && f::first <= 5).nodes(),
            [=](line const& one) { return one.first >= value && one.first <= 5; }});
    }
    for (int const value : {0, 1, 99, 100, 255}) {
        auto const middle = static_cast<std::uint8_t>(value);
        add_comparisons<line>(questions, f::middle, middle, [](line const& one) { return one.middle; });
        questions.push_back({"in the middle", (f::part == "p" && f::first == 5 && f::middle <= middle).nodes(),
            [=](line const& one) { return one.first == 5 && one.middle <= middle; }});
        questions.push_back({"in the middle", (f::part == "p" && f::first == 5 && f::middle > middle).nodes(),
            [=](line const& one) { return one.first == 5 && one.middle > middle; }});
    }
    for (std::int64_t const value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0},
             std::int64_t{9999}, std::int64_t{10000}, std::numeric_limits<std::int64_t>::max()}) {
        add_comparisons<line>(questions, f::last, value, [](line const& one) { return one.last; });
        questions.push_back({"at the end",
            (f::part == "p" && f::first == 5 && f::middle == std::uint8_t{99} && f::last <= value).nodes(),
            [=](line const& one) { return one.first == 5 && one.middle == 99 && one.last <= value; }});
    }
    check(all, rows, questions);
}

TEST_CASE("a value without a text equals no stored key, and its place in the order is unknown") {
    std::vector<share> const rows{{"p", {0}, "a"}, {"p", {50}, "b"}, {"p", {100}, "c"}};
    auto const all = table_of(rows);
    using f = fields<share>;
    percent const too_much{200};
    CHECK(all.where(f::part == "p" && f::portion == too_much).count().value() == 0);
    CHECK(all.where(f::part == "p" && f::portion != too_much).count().value() == 3);
    CHECK(all.where(f::part == "p" && f::portion <= percent{50}).count().value() == 2);
    auto const refused = all.where(f::part == "p" && f::portion <= too_much).count();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::out_of_range_input);
    CHECK_THAT(refused.error().message, ContainsSubstring("\"portion\""));
    CHECK(
        all.where(f::part == "p" && !(f::portion > too_much)).explain().error().code == error_code::out_of_range_input);
}
