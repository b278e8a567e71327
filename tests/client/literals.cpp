// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Literals, and values on the left, in comparisons with integer keys: they compare as integers, whatever type the key has.

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <set>
#include <utility>

using namespace entitable;

namespace {

struct tiny {
    std::string in;
    std::uint8_t n{};
};
ENTITABLE(tiny, partition_key(in), row_key(n), properties())
struct tiny_signed {
    std::string in;
    std::int8_t n{};
};
ENTITABLE(tiny_signed, partition_key(in), row_key(n), properties())
struct newest {
    std::string in;
    std::uint16_t n{};
};
ENTITABLE(newest, partition_key(in), row_key(descending(n)), properties())
struct narrow {
    std::string in;
    std::uint32_t n{};
};
ENTITABLE(narrow, partition_key(in), row_key(width(n, 3)), properties())
struct large {
    std::string in;
    std::uint64_t n{};
};
ENTITABLE(large, partition_key(in), row_key(n), properties())
struct maybe {
    std::string in;
    std::optional<std::uint8_t> n;
};
ENTITABLE(maybe, partition_key(in), row_key(n), properties())
struct spread {
    std::uint8_t n{};
    std::string name;
};
ENTITABLE(spread, partition_key(salted(n, 4)), row_key(name), properties())

constexpr int literals[] = {-2'000'000'000, -300, -129, -128, -127, -1, 0, 1, 5, 9, 10, 99, 100, 127, 128, 254, 255,
    256, 999, 1000, 65'534, 65'535, 65'536, 2'000'000'000};

template <class Entity, class Query>
std::multiset<long long> numbers(Query const& query) {
    std::multiset<long long> found;
    for (Entity const& each : query.to().value()) {
        if constexpr (requires { each.n.has_value(); }) {
            found.insert(static_cast<long long>(*each.n));
        } else {
            found.insert(static_cast<long long>(each.n));
        }
    }
    return found;
}

template <class Entity>
void compare_all(std::vector<long long> const& stored) {
    using f = fields<Entity>;
    memory_backend store;
    table<Entity> all{store, "numbers"};
    all.create().value();
    for (long long const each : stored) {
        using type = typename detail::held_by<decltype(Entity::n)>::type;
        all.insert({"p", static_cast<type>(each)}).value();
    }
    if constexpr (std::same_as<Entity, maybe>) {
        all.insert({"p", std::nullopt}).value(); // satisfies none of the comparisons
    }
    for (int const literal : literals) {
        CAPTURE(literal);
        auto const expected = [&](auto const& holds) {
            std::multiset<long long> kept;
            for (long long const each : stored) {
                if (holds(each, static_cast<long long>(literal))) { kept.insert(each); }
            }
            return kept;
        };
        auto const there = f::in == "p";
        auto const found = [&](auto condition) { return numbers<Entity>(all.where(std::move(condition))); };
        CHECK(found(there && f::n == literal) == expected(std::equal_to<>{}));
        CHECK(found(there && f::n < literal) == expected(std::less<>{}));
        CHECK(found(there && f::n <= literal) == expected(std::less_equal<>{}));
        CHECK(found(there && f::n > literal) == expected(std::greater<>{}));
        CHECK(found(there && f::n >= literal) == expected(std::greater_equal<>{}));
        if constexpr (!std::same_as<Entity, maybe>) { // an absent key is another value
            CHECK(found(there && f::n != literal) == expected(std::not_equal_to<>{}));
            CHECK(found(there && literal != f::n) == expected(std::not_equal_to<>{}));
            CHECK(found(there && !(f::n <= literal)) == expected(std::greater<>{}));
            CHECK(found(there && !(f::n != literal)) == expected(std::equal_to<>{}));
        }
        CHECK(found("p" == f::in && literal == f::n) == expected(std::equal_to<>{}));
        CHECK(found(there && literal > f::n) == expected(std::less<>{}));
        CHECK(found(there && literal >= f::n) == expected(std::less_equal<>{}));
        CHECK(found(there && literal < f::n) == expected(std::greater<>{}));
        CHECK(found(there && literal <= f::n) == expected(std::greater_equal<>{}));
        CHECK(found(there && in(f::n, {literal, literal, 7})) ==
            expected([](long long each, long long given) { return each == given || each == 7; }));
        for (int const other : {-1, 100, 70'000}) {
            CHECK(found(there && between(f::n, literal, other)) ==
                expected([&](long long each, long long given) { return given <= each && each <= other; }));
        }
    }
}

} // namespace

TEST_CASE("literals: integer keys are compared as integers, even with literals that are out of range") {
    compare_all<tiny>({0, 1, 5, 7, 127, 128, 254, 255});
    compare_all<tiny_signed>({-128, -127, -1, 0, 1, 5, 7, 127});
    compare_all<newest>({0, 5, 7, 255, 256, 65'534, 65'535});
    compare_all<narrow>({0, 1, 5, 7, 99, 100, 254, 999});
    compare_all<large>({0, 1, 5, 7, 256, 5'000'000'000});
    compare_all<maybe>({0, 1, 5, 7, 254, 255});
}

TEST_CASE("literals: get() and find() take a literal as a key") {
    memory_backend store;
    table<tiny> all{store, "numbers"};
    all.create().value();
    all.insert({"p", 200}).value();
    CHECK(all.get("p", 200)->n == 200);
    CHECK_FALSE(all.find("p", 7).value());
    for (int const beyond : {-1, 256, 456}) { // 456 and 200 have the same lower bits
        CHECK(all.get("p", beyond).error().code == error_code::out_of_range_input);
        CHECK(all.remove("p", beyond, any_etag).error().code == error_code::out_of_range_input);
    }
    auto batch = all.batch();
    batch.remove(at("p", 456), any_etag);
    CHECK(batch.submit().error().code == error_code::out_of_range_input);
    CHECK(all.remove("p", 200, any_etag));

    table<maybe> optional{store, "optional"};
    optional.create().value();
    optional.insert({"p", std::uint8_t{44}}).value();
    CHECK(optional.get("p", 44));
    CHECK(optional.get("p", 300).error().code == error_code::out_of_range_input);
    CHECK_FALSE(optional.find("p", std::nullopt).value());
}

TEST_CASE("literals: rows with literals are found in the buckets of a salted key") {
    memory_backend store;
    table<spread> all{store, "numbers"};
    all.create().value();
    for (int number = 0; number < 20; ++number) { all.insert({static_cast<std::uint8_t>(number * 13), "x"}).value(); }
    using s = fields<spread>;
    CHECK(all.where(s::n == 26).count().value() == 1);
    CHECK(all.where(26 == s::n).count().value() == 1);
    CHECK(all.where(s::n == 282).count().value() == 0); // 26 and 256
    CHECK(all.where(s::n <= 1000).count().value() == 20);
    CHECK(all.where(s::n < -5).count().value() == 0);
    CHECK(all.where(-5 < s::n).count().value() == 20);
    CHECK(all.where(between(s::n, -5, 26)).count().value() == 3);
}
