// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// For any predicate, a query returns the same entities as a loop that evaluates it on every entity. The evaluation of the loop
/// shares nothing with the library: it compares members, and texts as UTF-16. Stored texts and operands come from one alphabet of
/// characters that are difficult for keys and orders: separators and parts of them, marks of absence and of system rows, ends of the
/// order of UTF-16, negative and too wide numbers, names that no key can have, long texts.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <rapidcheck.h>
#include <support/catch.hpp>
#include <support/draw.hpp>
#include <support/long.hpp>
#include <support/utf8.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

using namespace entitable;

namespace entitable_test {

enum class shade : std::uint8_t { red, red_dark, blue, none };

} // namespace entitable_test

template <>
struct entitable::enum_names<entitable_test::shade> {
    using shade = entitable_test::shade;
    static constexpr entitable::enum_name<shade> values[] = {
        {shade::red, "red"}, {shade::red_dark, "red__dark"}, {shade::blue, "_"}};
};

namespace entitable_test {

struct thing {
    std::string series;
    std::string user;
    std::optional<std::int32_t> year;
    std::string tag;
    std::int32_t part{};
    std::int32_t lap{};
    shade colour{};
    std::string group;
    std::string note;
    std::string name;
    std::optional<std::int32_t> age;
    double weight{};
    std::optional<std::string> remark;
};

ENTITABLE(thing,
    partition_key(salted(series, 2), user, year),
    row_key(escaped(tag), descending(part), width(lap, 2), colour, group, note),
    properties(name, age, weight, remark))

namespace {

using t = fields<thing>;
constexpr shape_set free_shape = shape_set::of(0);
/// All predicates in one type, so that their combination can be drawn at run time.
using any_predicate = predicate<thing, free_shape, free_shape>;
using question = std::function<bool(thing const&)>;

/// The same condition twice.
struct asked {
    any_predicate predicate;
    question naive;
};

template <class T>
T const& ordered(T const& value) {
    return value;
}
std::u16string ordered(std::string const& text) { return utf16(text); }

template <class T>
bool holds_naively(int operation, T const& left, T const& right) {
    auto const& one = ordered(left);
    auto const& other = ordered(right);
    switch (operation) {
        case 0: return one == other;
        case 1: return !(one == other);
        case 2: return one < other;
        case 3: return one <= other;
        case 4: return one > other;
        default: return one >= other;
    }
}
template <class T>
bool holds_naively(int operation, std::optional<T> const& left, T const& right) {
    return left && holds_naively(operation, *left, right);
}

template <class Shaped>
any_predicate erased(Shaped shaped) {
    return any_predicate{std::move(shaped).nodes()};
}

template <class Field, class Value>
any_predicate compared(int operation, Field field, Value const& value) {
    switch (operation) {
        case 0: return erased(field == value);
        case 1: return erased(field != value);
        case 2: return erased(field < value);
        case 3: return erased(field <= value);
        case 4: return erased(field > value);
        default: return erased(field >= value);
    }
}

draw* source = nullptr; // the draw of the running property
int below(int limit) { return static_cast<int>(source->below(static_cast<std::size_t>(limit))); }
template <class T>
T one_of(std::vector<T> const& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
}

/// Few values, so that they coincide, and sometimes longer repetitions of them.
std::string any_text() {
    static std::string const long_text(300, 'a');
    static std::vector<std::string> const texts{"", "a", "a_", "a__", "a___", "a__b", "_", "__", "___", "__b", "_b",
        "b", "ab", "a b", "a-", "~", "~!", "!", "a!", "'", "\uD7FF", "\uE000", "\uFFFD", "\uFF5E", "\U00010000",
        "\U0010FFFF", "a\uFFFD", "a\U00010000", "red", "dark", long_text, long_text + "_"};
    static std::vector<std::string> const parts{"a", "b", "_", "_", "__", "~", "!", "\uE000", "\U0010FFFF"};
    if (below(4) != 0) { return one_of(texts); }
    std::string text;
    for (int count = 1 + below(4); count > 0; --count) { text += one_of(parts); }
    return text;
}
std::string any_series() { return below(3) == 0 ? any_text() : one_of<std::string>({"a", "a_", "ab", "a__b", "b"}); }
std::string any_tag() { return below(3) == 0 ? one_of<std::string>({"a/b", "/", "#?", "\x01", "\u009F"}) : any_text(); }
std::int32_t any_lap() { return one_of<std::int32_t>({0, 1, 5, 99, 100, 1'000'000, -1, -2, -5}); }
shade any_shade() { return one_of<shade>({shade::red, shade::red_dark, shade::blue, shade::none}); }
std::int32_t any_number() {
    return one_of<std::int32_t>(
        {0, 1, 2, 3, -1, -2, 10, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()});
}
std::optional<std::int32_t> any_optional() { return below(3) == 0 ? std::nullopt : std::optional{any_number()}; }
double any_weight() { return one_of<double>({0.0, -0.0, 1.5, -1.5, 1e300, std::nan(""), HUGE_VAL}); }

/// Comparisons, between() and in() of a field with ordered values.
template <class Field, class Value, class Read>
asked about(Field field, std::function<Value()> const& draw, Read read) {
    Value const value = draw();
    switch (below(4)) {
        case 0: {
            Value const highest = draw();
            return {erased(between(field, value, highest)), [=](thing const& one) {
                        return holds_naively(5, read(one), value) && holds_naively(3, read(one), highest);
                    }};
        }
        case 1: {
            std::vector<Value> values;
            for (int count = below(4); count > 0; --count) { values.push_back(draw()); }
            return {erased(in(field, values)), [=](thing const& one) {
                        return std::any_of(values.begin(), values.end(),
                            [&](Value const& each) { return holds_naively(0, read(one), each); });
                    }};
        }
        default: {
            int const operation = below(6);
            return {compared(operation, field, value),
                [=](thing const& one) { return holds_naively(operation, read(one), value); }};
        }
    }
}

template <class Field, class Read>
asked about_prefix(Field field, std::string const& prefix, Read read) {
    return {erased(starts_with(field, prefix)), [=](thing const& one) {
                std::optional<std::string> const text = read(one);
                return text && text->compare(0, prefix.size(), prefix) == 0;
            }};
}

constexpr int first_of_properties = 11;

template <class Field, class Value, class Read>
asked about_equality(Field field, Value const& value, Value const& other, Read read) {
    switch (below(3)) {
        case 0: return {erased(field == value), [=](thing const& one) { return read(one) == value; }};
        case 1: return {erased(field != value), [=](thing const& one) { return read(one) != value; }};
        default:
            return {erased(in(field, std::vector<Value>{value, other, value})),
                [=](thing const& one) { return read(one) == value || read(one) == other; }};
    }
}

asked any_leaf(int first = 0) {
    int const kind = first + below(19 - first);
    switch (kind) {
        case 0:
        case 1:
            return about_equality(t::series, any_series(), any_series(), [](thing const& one) { return one.series; });
        case 2: return about_prefix(t::series, any_series(), [](thing const& one) { return one.series; });
        case 14:
        case 15: return about_equality(t::group, any_text(), any_text(), [](thing const& one) { return one.group; });
        case 18: return about_equality(t::user, any_text(), any_text(), [](thing const& one) { return one.user; });
        case 16:
            return about_equality(t::colour, any_shade(), any_shade(), [](thing const& one) { return one.colour; });
        case 17:
            return about<decltype(t::lap), std::int32_t>(t::lap, any_lap, [](thing const& one) { return one.lap; });
        case 3:
            return below(2) == 0
                ? asked{erased(t::year == std::nullopt), [](thing const& one) { return !one.year; }}
                : asked{erased(t::year != std::nullopt), [](thing const& one) { return one.year.has_value(); }};
        case 4:
        case 5:
            return about<decltype(t::year), std::int32_t>(
                t::year, any_number, [](thing const& one) { return one.year; });
        case 6: return about<decltype(t::tag), std::string>(t::tag, any_tag, [](thing const& one) { return one.tag; });
        case 7: return about_prefix(t::tag, any_tag(), [](thing const& one) { return one.tag; });
        case 8:
            return about<decltype(t::part), std::int32_t>(
                t::part, any_number, [](thing const& one) { return one.part; });
        case 9:
            return about<decltype(t::note), std::string>(t::note, any_text, [](thing const& one) { return one.note; });
        case 10: return about_prefix(t::note, any_text(), [](thing const& one) { return one.note; });
        case 11:
            return about<decltype(t::age), std::int32_t>(t::age, any_number, [](thing const& one) { return one.age; });
        case 12:
            return below(2) == 0
                ? about<decltype(t::weight), double>(t::weight, any_weight, [](thing const& one) { return one.weight; })
                : about<decltype(t::name), std::string>(t::name, any_text, [](thing const& one) { return one.name; });
        default:
            return below(2) == 0 ? about<decltype(t::remark), std::string>(
                                       t::remark, any_text, [](thing const& one) { return one.remark; })
                                 : about_prefix(t::remark, any_text(), [](thing const& one) { return one.remark; });
    }
}

asked both_of(asked left, asked right) {
    return {std::move(left.predicate) && std::move(right.predicate),
        [one = left.naive, other = right.naive](thing const& of) { return one(of) && other(of); }};
}
asked either_of(asked left, asked right) {
    return {std::move(left.predicate) || std::move(right.predicate),
        [one = left.naive, other = right.naive](thing const& of) { return one(of) || other(of); }};
}

asked any_question(int depth) {
    int const form = depth == 0 ? 0 : below(6);
    if (form == 0) { return any_leaf(); }
    asked left = any_question(depth - 1);
    question const one = left.naive;
    if (form == 1) {
        return {!std::move(left.predicate), [=](thing const& of) { return !one(of); }};
    }
    asked right = any_question(depth - 1);
    if (form == 2) {
        bool const present = below(2) == 0;
        return {erased(std::move(left.predicate) && when(present, std::move(right.predicate))),
            [=, other = right.naive](thing const& of) { return one(of) && (!present || other(of)); }};
    }
    return form <= 4 ? both_of(std::move(left), std::move(right)) : either_of(std::move(left), std::move(right));
}

/// Rows of one partition, of neighbouring ones with the same prefix, or of a series.
asked some_partitions(std::string const& series, std::int32_t year) {
    int const form = below(3);
    if (form == 0) {
        return {erased(t::series == series), [=](thing const& one) { return one.series == series; }};
    }
    if (form == 1) {
        return {erased(t::series == series) && erased(t::year == year),
            [=](thing const& one) { return one.series == series && one.year == year; }};
    }
    return {erased(t::series == series) && erased(t::year >= year),
        [=](thing const& one) { return one.series == series && one.year && *one.year >= year; }};
}

/// Similar alternatives: adjacent, overlapping and nested ranges, each with a condition of its own.
asked alternatives() {
    std::string const series = any_series();
    std::int32_t const year = any_number();
    asked whole = both_of(some_partitions(series, year), any_leaf(below(2) * first_of_properties));
    for (int count = 1 + below(3); count > 0; --count) {
        asked next =
            both_of(some_partitions(below(2) == 0 ? series : any_series(), below(2) == 0 ? year : any_number()),
                any_leaf(below(2) * first_of_properties));
        whole = either_of(std::move(whole), below(2) == 0 ? std::move(next) : both_of(std::move(next), any_leaf()));
    }
    return whole;
}

/// More comparisons than the service allows.
asked many_comparisons() {
    asked whole = any_leaf();
    for (int count = 0; count < 14; ++count) {
        std::int32_t const age = any_number();
        whole = both_of(std::move(whole), {!erased(t::age == age), [=](thing const& one) { return one.age != age; }});
    }
    return whole;
}

/// Bounds on the last component of a key whose others are fixed: with a wrong order of texts rows would be lost.
asked bounds_of_text() {
    asked whole{erased(t::series == "a") && erased(t::user == "a") && erased(t::year == 1) && erased(t::tag == "a") &&
            erased(t::lap == 1) && erased(t::colour == shade::red) && erased(t::group == "a") && erased(t::part == 1),
        [](thing const& one) {
            return one.series == "a" && one.user == "a" && one.year == 1 && one.tag == "a" && one.lap == 1 &&
                one.colour == shade::red && one.group == "a" && one.part == 1;
        }};
    for (int count = 1 + below(3); count > 0; --count) {
        whole = both_of(std::move(whole),
            about<decltype(t::note), std::string>(t::note, any_text, [](thing const& one) { return one.note; }));
    }
    return whole;
}

/// Some components of a key, then a comparison with the next one: there separators and bounds meet.
asked next_component() {
    std::string const series = below(3) == 0 ? any_series() : "a";
    asked whole{erased(t::series == series), [=](thing const& one) { return one.series == series; }};
    if (below(3) == 0) {
        return both_of(std::move(whole),
            about_equality(t::user, any_text(), any_text(), [](thing const& one) { return one.user; }));
    }
    whole = both_of(std::move(whole), {erased(t::tag == "a") && erased(t::part == 1), [](thing const& one) {
                                           return one.tag == "a" && one.part == 1;
                                       }});
    if (below(2) == 0) {
        return both_of(std::move(whole),
            about<decltype(t::lap), std::int32_t>(t::lap, any_lap, [](thing const& one) { return one.lap; }));
    }
    shade const colour = any_shade();
    whole = both_of(std::move(whole), {erased(t::lap == 1) && erased(t::colour == colour), [=](thing const& one) {
                                           return one.lap == 1 && one.colour == colour;
                                       }});
    return both_of(
        std::move(whole), about_equality(t::group, any_text(), any_text(), [](thing const& one) { return one.group; }));
}

/// A predicate as programs write them: some keys fixed, then anything. A hundred tables are drawn.
std::size_t const questions_a_table = entitable_test::rounds(6, 24, 24);

asked usual_question() {
    switch (below(9)) {
        case 7:
        case 8: return next_component();
        case 0: return many_comparisons();
        case 3: return bounds_of_text();
        case 1: return alternatives();
        case 2: {
            std::string const series = any_series();
            auto const year = any_optional();
            return both_of({erased(t::series == series) && erased(t::year == year),
                               [=](thing const& one) { return one.series == series && one.year == year; }},
                any_question(below(4)));
        }
        default: return any_question(below(4));
    }
}

/// The keys of an entity, in the order of the service.
using keys = std::pair<std::u16string, std::u16string>;
keys keys_of(thing const& one) { return {utf16(partition_key_of(one).value()), utf16(row_key_of(one).value())}; }

struct world {
    memory_backend unlimited;
    memory_backend limited{[] {
        local_options options;
        options.limits = storage_profile();
        options.limits.max_filter_size = one_of<std::size_t>({400, 1000, 8192});
        options.nasty.emplace(); // empty pages, short ones, tokens in between
        return options;
    }()};
    std::map<keys, thing> entities;

    world() {
        for (memory_backend const& store : {unlimited, limited}) { table<thing>{store, "things"}.create().value(); }
        for (int count = 40 + below(40); count > 0; --count) {
            thing one{any_series(), any_text(), any_optional(), any_tag(), any_number(), any_lap(), any_shade(),
                any_text(), any_text(), any_text(), any_optional(), any_weight(),
                below(3) == 0 ? std::nullopt : std::optional{any_text()}};
            if (below(2) == 0) { // they share their keys but one or two texts
                one.series = one.tag = "a";
                one.lap = one.part = one.year.emplace(1);
                one.colour = shade::red;
                one.user = below(3) == 0 ? one.user : "a";
                one.group = below(2) == 0 ? "a" : one.group;
            }
            if (!to_row(one) || !table<thing>{unlimited, "things"}.insert_or_replace(one)) {
                continue; // it could not be read back, or its key is too long
            }
            table<thing>{limited, "things"}.insert_or_replace(one).value();
            entities[keys_of(one)] = one;
        }
    }
    [[nodiscard]] std::vector<keys> expected(question const& asks) const {
        std::vector<keys> all;
        for (auto const& [key, one] : entities) {
            if (asks(one)) { all.push_back(key); }
        }
        return all;
    }
};

template <class Query>
std::vector<keys> all_of(Query const& query) {
    std::vector<keys> found;
    query.for_each([&](thing const& one) { found.push_back(keys_of(one)); }).value();
    return found;
}

/// Page by page, each from the token of the one before it.
template <class Query>
std::vector<keys> paged(Query const& query) {
    std::vector<keys> found;
    for (std::string token;;) {
        auto const page = (token.empty() ? query : query.resume(token)).pages().next().value();
        if (!page) { return found; }
        for (thing const& one : *page) { found.push_back(keys_of(one)); }
        if (!page->token) { return found; }
        token = *page->token;
    }
}

/// Each entity's key is in at most one range, and ranges are in key order.
void check_ranges(query_plan const& plan, std::map<keys, thing> const& entities) {
    std::size_t reached = 0;
    for (auto const& [key, one] : entities) {
        std::size_t in = 0;
        for (std::size_t index = 0; index < plan.ranges.size(); ++index) {
            if (plan.ranges[index].contains(partition_key_of(one).value(), row_key_of(one).value())) {
                ++in;
                RC_ASSERT(index >= reached);
                reached = index;
            }
        }
        RC_ASSERT(in <= 1U);
    }
    for (std::size_t index = 0; index < plan.ranges.size(); ++index) {
        RC_ASSERT(!plan.ranges[index].is_empty());
        for (std::size_t other = 0; other < index; ++other) {
            bool const meet = !intersection(plan.ranges[index].partition, plan.ranges[other].partition).is_empty() &&
                !intersection(plan.ranges[index].row, plan.ranges[other].row).is_empty();
            RC_ASSERT(!meet);
        }
    }
}

} // namespace

/// The least and the greatest text among the results, in the order of the service.
template <class Query>
void check_extremes(Query const& query, std::vector<keys> const& expected, std::map<keys, thing> const& entities) {
    std::optional<std::string> least;
    std::optional<std::string> greatest;
    for (keys const& key : expected) {
        std::string const& name = entities.at(key).name;
        least = !least || utf16(name) < utf16(*least) ? name : least;
        greatest = !greatest || utf16(*greatest) < utf16(name) ? name : greatest;
    }
    RC_ASSERT(query.min(t::name).value() == least);
    RC_ASSERT(query.max(t::name).value() == greatest);
}

TEST_CASE("a planned query returns the same rows as a naive evaluation of its predicate") {
    std::size_t questions = 0;
    std::size_t too_complex = 0;
    std::size_t rows = 0;
    std::size_t accepted = 0;
    CHECK(rc::check("plans", [&] {
        draw from{*rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>())};
        source = &from;
        world const here;
        table<thing> const things{here.unlimited, "things"};
        table<thing> const limited{here.limited, "things"};
        for (std::size_t count = 0; count < questions_a_table; ++count) {
            asked const asks = usual_question();
            auto const planned = things.scan_table(asks.predicate).explain();
            if (!planned) {
                RC_ASSERT(planned.error().code == error_code::query_too_complex);
                ++too_complex;
                continue;
            }
            RC_LOG() << planned->to_string() << '\n';
            ++questions;
            auto const expected = here.expected(asks.naive);
            rows += 3 * here.entities.size();
            accepted += expected.size();
            RC_ASSERT(all_of(things.scan_table(asks.predicate)) == expected);
            check_extremes(things.scan_table(asks.predicate), expected, here.entities);

            auto const size = static_cast<std::uint32_t>(1 + below(8));
            auto const in_flight = static_cast<std::size_t>(1 + below(4));
            auto const query = limited.scan_table(asks.predicate).page_size(size).in_flight(in_flight);
            RC_ASSERT(all_of(query) == expected);
            RC_ASSERT(paged(things.scan_table(asks.predicate).page_size(size).in_flight(in_flight)) == expected);
            RC_ASSERT(query.count().value() == expected.size());
            auto const first = query.first().value();
            RC_ASSERT(first.has_value() == !expected.empty());
            auto const take = static_cast<std::size_t>(below(6));
            auto const some = all_of(query.take(take));
            RC_ASSERT(some.size() == std::min(take, expected.size()));
            RC_ASSERT(std::equal(some.begin(), some.end(), expected.begin()));

            for (profile const& limits : {here.unlimited.profile(), here.limited.profile()}) {
                check_ranges(make_plan(asks.predicate.nodes(), access_path::table, mapping<thing>::partition_layout,
                                 mapping<thing>::row_layout, limits)
                                 .value(),
                    here.entities);
            }
        }
    }));
    INFO(
        questions << " questions, " << too_complex << " too complex, " << rows << " rows, " << accepted << " accepted");
    CHECK(rows >= 50 * questions);
    CHECK(accepted * 20 >= rows / 3); // the queries are meaningful
    CHECK(too_complex * 50 <= questions);
}

} // namespace entitable_test
