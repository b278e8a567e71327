// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/filter.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/utf8.hpp>

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace entitable;
using entitable_test::utf8;

namespace {

using op = filter_operator;
constexpr op comparisons[] = {op::equal, op::not_equal, op::less, op::less_equal, op::greater, op::greater_equal};
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

filter just(std::string name, op comparison, value_view operand) { return {{{comparison, std::move(name), operand}}}; }
filter operator!(filter inner) {
    inner.nodes.push_back({op::negation, {}, {}});
    return inner;
}
filter join(filter left, filter const& right, op connective) {
    left.nodes.insert(left.nodes.end(), right.nodes.begin(), right.nodes.end());
    left.nodes.push_back({connective, {}, {}});
    return left;
}
filter operator&&(filter left, filter const& right) { return join(std::move(left), right, op::all_of); }
filter operator||(filter left, filter const& right) { return join(std::move(left), right, op::any_of); }

row runner() {
    row_builder builder{"2011 New York City Marathon__Full", "0000001234"};
    builder.add("age", std::int32_t{55});
    builder.add("name", "John");
    builder.add("total", std::int64_t{120});
    builder.add("pace", 4.5);
    builder.add("broken", not_a_number);
    builder.add("club", edm_type::string, std::nullopt);
    builder.add("empty", "");
    return builder.build();
}

/// The comparisons that are true, in the order of `comparisons`: '1' for true.
std::string held(std::string_view name, value_view operand) {
    std::string out;
    for (op const comparison : comparisons) { out += satisfies(runner(), comparison, name, operand) ? '1' : '0'; }
    return out;
}

} // namespace

TEST_CASE("a comparison is true according to the order of its operands") {
    CHECK(held("age", std::int32_t{55}) == "100101");
    CHECK(held("age", std::int32_t{54}) == "010011");
    CHECK(held("age", std::int32_t{56}) == "011100");
    CHECK(held("name", "John") == "100101");
    CHECK(held("name", "Joh") == "010011");
    CHECK(held("name", "john") == "011100");
    CHECK(held("empty", "") == "100101");
}

TEST_CASE("every comparison is false for a property that is absent or of a different type") {
    CHECK(held("club", "") == "000000");
    CHECK(held("club", "Harriers") == "000000");
    CHECK(held("no such name", "x") == "000000");
    CHECK(held("Age", std::int32_t{55}) == "000000");
    CHECK(held("age", std::int64_t{55}) == "000000");
    CHECK(held("age", 55.0) == "000000");
    CHECK(held("age", "55") == "000000");
    CHECK(held("total", std::int32_t{120}) == "000000");
    CHECK(held("name", value_view{edm_type::binary, std::string_view{"John"}}) == "000000");
    CHECK(held("PartitionKey", std::int32_t{1}) == "000000");
    CHECK(held("Timestamp", "1601-01-01T00:00:00Z") == "000000");
}

TEST_CASE("NaN is unequal to everything and unordered") {
    CHECK(held("broken", not_a_number) == "010000");
    CHECK(held("broken", 1.0) == "010000");
    CHECK(held("pace", not_a_number) == "010000");
    CHECK(held("broken", std::int32_t{1}) == "000000");
}

TEST_CASE("the negation of a filter is its opposite, even if a property is absent") {
    auto const one = runner();
    CHECK(satisfies(one, !just("club", op::equal, "x")));
    CHECK(satisfies(one, !just("club", op::not_equal, "x")));
    CHECK(satisfies(one, !just("age", op::equal, std::int64_t{55})));
    CHECK_FALSE(satisfies(one, !just("age", op::equal, std::int32_t{55})));
    CHECK(satisfies(one, !!just("age", op::equal, std::int32_t{55})));
    CHECK_FALSE(satisfies(one, !just("broken", op::not_equal, not_a_number)));
}

TEST_CASE("keys and the Timestamp are compared like properties") {
    auto const one = runner();
    CHECK(satisfies(one, just("PartitionKey", op::equal, "2011 New York City Marathon__Full")));
    CHECK(satisfies(one, just("RowKey", op::greater_equal, "0000001000") && just("RowKey", op::less, "0000002000")));
    CHECK(satisfies(one, just("Timestamp", op::equal, date_time{})));
    CHECK_FALSE(satisfies(one, just("Timestamp", op::greater, date_time{})));
    row_builder shadow{"p", "r"};
    shadow.add("PartitionKey", "other");
    CHECK(satisfies(shadow.build(), just("PartitionKey", op::equal, "p")));
}

TEST_CASE("an empty filter accepts every row") {
    CHECK(filter{}.empty());
    CHECK(filter{}.comparisons() == 0);
    CHECK(filter{}.to_string().empty());
    CHECK(satisfies(runner(), filter{}));
    CHECK(satisfies(row{}, filter{}));
}

TEST_CASE("an empty row satisfies only comparisons on keys and the Timestamp") {
    CHECK_FALSE(satisfies(row{}, just("age", op::not_equal, std::int32_t{1})));
    CHECK(satisfies(row{}, just("PartitionKey", op::equal, "")));
    CHECK(satisfies(row{}, just("Timestamp", op::equal, date_time{})));
}

namespace {

/// A condition as a tree, evaluated and written in the simplest way.
struct tree {
    op operation{};
    std::string name;
    value operand;
    std::unique_ptr<tree> left;
    std::unique_ptr<tree> right;
};

using properties = std::vector<std::pair<std::string, std::optional<value>>>;

template <class T>
bool compare(op comparison, T const& left, T const& right) {
    switch (comparison) {
        case op::equal: return left == right;
        case op::not_equal: return left != right;
        case op::less: return left < right;
        case op::less_equal: return left <= right;
        case op::greater: return left > right;
        default: return left >= right;
    }
}

bool naive(tree const& at, properties const& stored) {
    switch (at.operation) {
        case op::negation: return !naive(*at.left, stored);
        case op::all_of: return naive(*at.left, stored) && naive(*at.right, stored);
        case op::any_of: return naive(*at.left, stored) || naive(*at.right, stored);
        default: break;
    }
    for (auto const& [name, content] : stored) {
        if (name != at.name || !content || content->type() != at.operand.type()) { continue; }
        auto const ours = content->view();
        auto const theirs = at.operand.view();
        switch (ours.type()) {
            case edm_type::string:
                return compare(
                    at.operation, entitable_test::utf16(ours.bytes()), entitable_test::utf16(theirs.bytes()));
            case edm_type::float64: return compare(at.operation, ours.as_float64(), theirs.as_float64());
            case edm_type::boolean: return compare(at.operation, ours.as_boolean(), theirs.as_boolean());
            default: return compare(at.operation, ours.as_int64(), theirs.as_int64());
        }
    }
    return false;
}

void flatten(tree const& at, filter& out) {
    if (at.left) { flatten(*at.left, out); }
    if (at.right) { flatten(*at.right, out); }
    out.nodes.push_back({at.operation, at.name, at.operand});
}

struct generator {
    std::mt19937 random;

    std::size_t below(std::size_t bound) { return random() % bound; }
    value any_value() {
        static std::vector<value> const all = {value_view{std::int32_t{-1}}, value_view{std::int32_t{0}},
            value_view{std::int32_t{7}}, value_view{std::int64_t{0}}, value_view{std::int64_t{7}}, value_view{0.0},
            value_view{-0.0}, value_view{1.5}, value_view{not_a_number}, value_view{true}, value_view{false},
            value_view{""}, value_view{"a"}, value_view{std::string_view{utf8(0xFF5E)}},
            value_view{std::string_view{utf8(0x1F600)}}};
        return all[below(all.size())];
    }
    std::string any_name() { return std::string(1, static_cast<char>('x' + below(3))); }
    std::unique_ptr<tree> any_tree(std::size_t depth) {
        auto made = std::make_unique<tree>();
        std::size_t const choice = depth == 0 ? 0 : below(5);
        if (choice < 2) {
            made->operation = comparisons[below(6)];
            made->name = any_name();
            made->operand = any_value();
            return made;
        }
        made->operation = choice == 2 ? op::negation : choice == 3 ? op::all_of : op::any_of;
        made->left = any_tree(depth - 1);
        if (choice != 2) { made->right = any_tree(depth - 1); }
        return made;
    }
    properties any_properties() {
        properties all;
        for (char const* const name : {"x", "y", "z"}) {
            switch (below(4)) {
                case 0: break;
                case 1: all.emplace_back(name, std::nullopt); break;
                default: all.emplace_back(name, any_value()); break;
            }
        }
        return all;
    }
};

row row_of(properties const& all) {
    row_builder builder{"p", "r"};
    for (auto const& [name, content] : all) {
        if (content) {
            builder.add(name, *content);
        } else {
            builder.add(name, edm_type::int32, std::nullopt);
        }
    }
    return builder.build();
}

} // namespace

TEST_CASE("random filters give the same result as the condition evaluated as a tree") {
    auto const seed = static_cast<unsigned>(std::random_device{}());
    CAPTURE(seed);
    generator make{std::mt19937{seed}};
    for (std::size_t round = 0; round < entitable_test::rounds(3'000, 300'000); ++round) {
        auto const condition = make.any_tree(6);
        filter flat;
        flatten(*condition, flat);
        for (int rows = 0; rows < 4; ++rows) {
            auto const stored = make.any_properties();
            if (satisfies(row_of(stored), flat) != naive(*condition, stored)) {
                CAPTURE(round, flat.to_string());
                FAIL("the two evaluations differ");
            }
        }
    }
}

TEST_CASE("a filter is formatted with only the necessary brackets") {
    auto const a = just("a", op::equal, std::int32_t{1});
    auto const b = just("b", op::not_equal, "x");
    auto const c = just("c", op::greater_equal, true);
    CHECK(a.to_string() == "a == 1");
    CHECK(just("a", op::less, 2.0).to_string() == "a < 2.0");
    CHECK(just("a", op::less_equal, std::int64_t{2}).to_string() == "a <= 2");
    CHECK(just("a", op::greater, date_time{}).to_string() == "a > 1601-01-01T00:00:00Z");
    CHECK((!a).to_string() == "!(a == 1)");
    CHECK((!!a).to_string() == "!(!(a == 1))");
    CHECK((a && b && c).to_string() == "a == 1 && b != \"x\" && c >= true");
    CHECK((a && (b && c)).to_string() == "a == 1 && b != \"x\" && c >= true");
    CHECK((a && (b || c)).to_string() == "a == 1 && (b != \"x\" || c >= true)");
    CHECK(((a && b) || c).to_string() == "(a == 1 && b != \"x\") || c >= true");
    CHECK((!(a || b) && c).to_string() == "!(a == 1 || b != \"x\") && c >= true");
    CHECK(((a || b) && (b || c)).to_string() == "(a == 1 || b != \"x\") && (b != \"x\" || c >= true)");
}

TEST_CASE("a malformed filter is printed as malformed, so that an error can show it") {
    filter_node const leaf{op::equal, "a", value_view{std::int32_t{1}}};
    auto const node = [](op operation) { return filter_node{operation, {}, {}}; };
    for (auto const& nodes :
        {std::vector{node(op::all_of)}, std::vector{node(op::negation)}, std::vector{leaf, node(op::any_of)},
            std::vector{leaf, leaf}, std::vector{leaf, leaf, node(op::all_of), node(op::all_of)}}) {
        CHECK(filter{nodes}.to_string() == "a malformed filter of " + std::to_string(nodes.size()) + " nodes");
    }
}

TEST_CASE("a filter counts its comparisons but not its connectives") {
    auto const a = just("a", op::equal, std::int32_t{1});
    CHECK(a.comparisons() == 1);
    CHECK((!a).comparisons() == 1);
    CHECK((a && (a || !a)).comparisons() == 3);
}

TEST_CASE("filters are equal if all their nodes are equal") {
    auto const a = just("a", op::equal, std::int32_t{1});
    CHECK(a == just("a", op::equal, std::int32_t{1}));
    CHECK_FALSE(a == just("a", op::equal, std::int64_t{1}));
    CHECK_FALSE(a == just("b", op::equal, std::int32_t{1}));
    CHECK_FALSE(a == just("a", op::less, std::int32_t{1}));
    CHECK_FALSE(a == !a);
}

TEST_CASE("every operator has a symbol") {
    std::string all;
    for (int number = 0; number <= static_cast<int>(op::negation); ++number) {
        all += std::string{to_string(static_cast<op>(number))} + " ";
        CHECK(is_comparison(static_cast<op>(number)) == (number < 6));
    }
    CHECK(all == "== != < <= > >= && || ! ");
}
