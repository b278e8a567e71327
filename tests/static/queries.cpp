// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Valid and invalid queries, and what the type of an answer shows. Operators check their operands inside, so that a
/// mistake is one message; those mistakes are in tests/compile_fail.

#include <entitable/entitable.hpp>

#include <support/runners.hpp>

#include <ranges>
#include <span>

using namespace entitable;
using entitable_test::l;
using entitable_test::r;
using entitable_test::result_line;
using entitable_test::runner;

namespace {

// ---- which operands can be compared ----

template <class Left, class Right>
concept can_and = requires(Left left, Right right) { left&& right; };
template <class Left, class Right>
concept can_or = requires(Left left, Right right) { left || right; };
template <class T>
concept can_not = requires(T operand) { !operand; };
template <class Field, class Value>
concept can_compare = requires(Field field, Value value) {
    field == value;
    field != value;
    field < value;
    field <= value;
    field > value;
    field >= value;
};

using of_runner = decltype(r::bib >= 1);
using of_property = decltype(r::name == "John");
using of_line = decltype(l::place >= 1);
using maybe = decltype(when(true, r::bib >= 1));
using bib = std::remove_const_t<decltype(r::bib)>;
using age = std::remove_const_t<decltype(r::age)>;

static_assert(can_compare<bib, std::int32_t> && can_compare<age, std::int32_t> && can_compare<age, std::int8_t>);
static_assert(!can_compare<runner, std::int32_t> && !can_compare<of_runner, std::int32_t>);
static_assert(can_and<of_runner, of_runner> && can_and<of_runner, of_property> && can_and<of_property, of_runner>);
static_assert(can_or<of_runner, of_runner> && can_or<of_runner, of_property> && can_or<of_property, of_runner>);
static_assert(can_not<of_runner> && can_not<of_property>);
static_assert(can_and<maybe, of_runner> && can_and<of_runner, maybe> && can_and<maybe, maybe>);
// A condition does not convert to bool. A condition on two entities and a member used alone as a condition are compile errors: see
// conditions_of_two_entities and member_alone_as_a_condition.
static_assert(!can_and<of_runner, bool> && !can_or<of_runner, bool> && !can_or<bool, of_runner>);
static_assert(!std::is_convertible_v<of_runner, bool> && !std::is_constructible_v<bool, of_runner>);

// ---- clauses ----

template <class Field, class Low, class High>
concept can_between = requires(Field field, Low low, High high) { between(field, low, high); };
template <class Field, class Values>
concept can_in = requires(Field field, Values values) { in(field, values); };
template <class Field, class Text>
concept can_start = requires(Field field, Text text) { starts_with(field, text); };
template <class Flag, class Condition>
concept can_when = requires(Flag flag, Condition condition) { when(flag, condition); };
using name = std::remove_const_t<decltype(r::name)>;

static_assert(can_between<bib, std::int32_t, std::int8_t> && can_between<age, std::int32_t, std::int32_t>);
static_assert(
    !can_between<std::int32_t, std::int32_t, std::int32_t> && !can_between<of_runner, std::int32_t, std::int32_t>);
static_assert(can_in<bib, std::vector<std::int32_t>> && can_in<bib, std::span<std::int32_t const>>);
static_assert(can_in<name, std::vector<std::string>> && can_in<name, std::vector<std::string_view>>);
static_assert(!can_in<std::int32_t, std::vector<std::int32_t>> && !can_in<of_runner, std::vector<std::int32_t>>);
static_assert(can_start<name, char const*> && can_start<name, std::string> && can_start<name, std::string_view>);
static_assert(!can_start<name, int> && !can_start<std::string, std::string>);
static_assert(can_when<bool, of_runner> && can_when<bool, maybe>);
static_assert(!can_when<bool, bool> && !can_when<bool, bib> && !can_when<of_runner, bool>);

// ---- options of a query ----

using asked = decltype(std::declval<table<runner>>().scan_table());
template <class Query, class Argument>
concept can_take = requires(Query const query, Argument argument) { query.take(argument); };
template <class Query, class Argument>
concept can_page = requires(Query const query, Argument argument) { query.page_size(argument); };
template <class Query, class Argument>
concept can_fly = requires(Query const query, Argument argument) { query.in_flight(argument); };
template <class Query, class Argument>
concept can_resume = requires(Query const query, Argument argument) { query.resume(argument); };
template <class Query>
concept can_run = requires(Query const query) {
    { query.first() } -> std::same_as<result<std::optional<typename Query::value_type>>>;
    { query.count() } -> std::same_as<result<std::uint64_t>>;
    { query.to() } -> std::same_as<result<std::vector<typename Query::value_type>>>;
    {
        query.for_each([](auto const&) {})
    } -> std::same_as<result<void>>;
    {
        query.fold(0, [](int so_far, auto const&) { return so_far; })
    } -> std::same_as<result<int>>;
    { query.explain() } -> std::same_as<result<explanation>>;
    { query.analyze() } -> std::same_as<query_cost>;
    query.pages().next();
};

static_assert(can_take<asked, int> && !can_take<asked, char const*>);
static_assert(can_page<asked, unsigned> && !can_page<asked, std::string>);
static_assert(can_fly<asked, int> && !can_fly<asked, std::string>);
static_assert(
    can_resume<asked, std::string> && can_resume<asked, char const*> && !can_resume<asked, std::optional<std::string>>);
static_assert(can_run<asked> && can_run<decltype(std::declval<asked>().select(r::name))>);
static_assert(std::same_as<decltype((std::declval<asked>().min)(r::age)), result<std::optional<std::int32_t>>>);
static_assert(std::same_as<decltype((std::declval<asked>().max)(r::name)), result<std::optional<std::string>>>);
static_assert(std::same_as<decltype(std::declval<asked>().sum(r::bib)), result<std::int64_t>>);
static_assert(std::same_as<decltype(std::declval<asked>().sum(r::pace)), result<double>>);

// A where() takes conditions on its own entity.
template <class Condition>
concept can_scan = requires(table<runner> const of, Condition condition) { of.scan_table(condition); };
static_assert(can_scan<of_runner> && can_scan<of_property> && can_scan<maybe>);
static_assert(!can_scan<of_line> && !can_scan<bool> && !can_scan<char const*> && !can_scan<bib>);

static_assert(std::ranges::input_range<asked> && std::ranges::view<asked> && !std::ranges::forward_range<asked>);

// ---- the access path is part of the type, whatever is decided at run time ----

template <class Predicate>
constexpr access_path path = path_of(Predicate::shapes, mapping<typename Predicate::entity_type>::partition_layout,
    mapping<typename Predicate::entity_type>::row_layout);
inline auto const boston = r::event == "Boston" && r::distance == "Full";
using in_boston = std::remove_const_t<decltype(boston)>;

static_assert(path<decltype(boston && r::bib == 1)> == access_path::point);
static_assert(path<decltype(boston && in(r::bib, {1, 2}))> == access_path::point);
static_assert(path<decltype(boston && (r::bib == 1 || r::bib == 2))> == access_path::point);
static_assert(path<decltype(boston && between(r::bib, 1, 2))> == access_path::row_range);
static_assert(path<decltype(boston && !(r::bib < 1))> == access_path::row_range);
static_assert(path<decltype(boston && !(r::bib != 1))> == access_path::point);
static_assert(path<decltype(boston && !(r::bib < 1 || r::bib > 5))> == access_path::row_range);
static_assert(path<decltype(boston && !in(r::bib, {1, 2}))> == access_path::partition);
static_assert(path<decltype(boston && !between(r::bib, 1, 2))> == access_path::row_range);
static_assert(path<decltype(boston && r::bib != 1)> == access_path::partition);
static_assert(path<decltype(boston && when(true, r::bib == 1))> == access_path::partition);
static_assert(path<decltype(when(true, r::bib == 1) && boston && r::bib > 1)> == access_path::row_range);
static_assert(path<in_boston> == access_path::partition);
static_assert(path<decltype(in(r::event, {"Boston"}) && in(r::distance, {"Full"}))> == access_path::partition);
static_assert(path<decltype(r::event == "Boston")> == access_path::partition_range);
static_assert(path<decltype(r::event == "Boston" && starts_with(r::distance, "F"))> == access_path::partition_range);
static_assert(path<decltype(starts_with(r::event, "B"))> == access_path::partition_range);
static_assert(path<decltype(!starts_with(r::event, "B"))> == access_path::table);
static_assert(path<decltype(r::bib == 1)> == access_path::table);
static_assert(path<decltype(starts_with(r::name, "J"))> == access_path::table);
static_assert(path<decltype(boston || r::age == 1)> == access_path::table);
static_assert(path<decltype(when(true, boston))> == access_path::table);
// The negation of a comparison narrows nothing if a component may be absent.
static_assert(path<decltype(l::series == "A" && l::year < 1)> == access_path::row_range);
static_assert(path<decltype(l::series == "A" && !(l::year < 1))> == access_path::partition);

// ---- selected rows ----

using chosen = decltype(std::declval<asked>().select(r::name, r::age))::value_type;
static_assert(std::same_as<decltype(std::declval<chosen const&>()[r::name]), std::string const&>);
static_assert(std::same_as<decltype(std::declval<chosen const&>()[r::bib]), std::int32_t const&>);
static_assert(std::same_as<decltype(std::declval<chosen const&>().get<1>()), std::optional<std::int32_t> const&>);
static_assert(std::tuple_size_v<chosen> == 2);
static_assert(std::same_as<std::tuple_element_t<0, chosen>, std::string const>);

} // namespace
