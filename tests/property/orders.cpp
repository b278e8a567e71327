// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// For any rows, `order_by`, `top`, `bottom`, `distinct` and `exists` return the same as a loop with `std::stable_sort` over all rows. The
/// comparisons of the loop share nothing with the library. Values come from the alphabet that is difficult for keys and orders.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <rapidcheck.h>
#include <support/catch.hpp>
#include <support/draw.hpp>
#include <support/utf8.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace entitable;

namespace entitable_test {

struct piece {
    std::string group;
    std::string tag;
    std::int32_t number{};
    std::string name;
    std::optional<std::string> remark;
    std::int64_t size{};
    std::optional<double> weight;
    bool spare{};
    guid id;
    binary bytes;
    std::optional<date_time> made;
};
ENTITABLE(piece,
    partition_key(escaped(group)),
    row_key(escaped(tag), descending(number)),
    properties(name, remark, size, weight, spare, id, bytes, made))

using p = fields<piece>;

double any_double(draw& from) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double values[] = {0.0, -0.0, 1.5, -1.5, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
    return values[from.below(std::size(values))];
}

piece any_piece(draw& from, std::string const& like) {
    piece made;
    made.group = from.one_in(2) ? "a" : "a_";
    made.tag = from.text_like(like);
    made.number = from.integer<std::int32_t>();
    made.name = from.text_like(like);
    if (!from.one_in(3)) { made.remark = from.text_like(like); }
    made.size = from.one_in(2) ? static_cast<std::int64_t>(from.below(3)) : from.integer<std::int64_t>();
    if (!from.one_in(3)) { made.weight = any_double(from); }
    made.spare = from.one_in(2);
    made.id.bytes[from.below(16)] = static_cast<std::uint8_t>(from.below(3) * 100);
    for (std::size_t left = from.below(3); left > 0; --left) {
        made.bytes.push_back(static_cast<std::byte>(from.below(2) * 200));
    }
    if (!from.one_in(3)) { made.made = date_time::from_date(2026, 1, 1 + static_cast<unsigned>(from.below(3))); }
    return made;
}

/// Rank of a value without an order: 0 for a value, 1 for a NaN, 2 for an absent value.
template <class T>
std::pair<int, T> rank(std::optional<T> const& value) {
    return value ? std::pair{0, *value} : std::pair{2, T{}};
}
std::pair<int, double> rank(std::optional<double> const& value) {
    if (!value) { return {2, 0.0}; }
    return std::isnan(*value) ? std::pair{1, 0.0} : std::pair{0, *value};
}
std::pair<int, std::u16string> rank(std::optional<std::string> const& value) {
    return value ? std::pair{0, utf16(*value)} : std::pair{2, std::u16string{}};
}

/// Compares two values in one direction; values without an order come last.
template <class T>
int compared(std::optional<T> const& left, std::optional<T> const& right, bool reversed) {
    auto const ours = rank(left);
    auto const theirs = rank(right);
    if (ours.first != theirs.first) { return ours.first < theirs.first ? -1 : 1; }
    if (ours.second == theirs.second) { return 0; }
    return (ours.second < theirs.second) != reversed ? -1 : 1;
}
template <class T>
int compared(T const& left, T const& right, bool reversed) {
    return compared(std::optional<T>{left}, std::optional<T>{right}, reversed);
}

std::string keys_of(std::vector<piece> const& all) {
    std::string keys;
    for (piece const& each : all) {
        keys += text::printable(partition_key_of(each).value() + " " + row_key_of(each).value()) + "\n";
    }
    return keys;
}

/// Returns rows as a service does that has no order of keys.
struct shuffled_pages {
    using is_transport = void;
    memory_backend store;
    [[nodiscard]] entitable::profile profile() const {
        auto limits = store.profile();
        limits.ordered = false;
        return limits;
    }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        auto made = store.execute(request, context);
        if constexpr (std::same_as<Request, query_entities>) {
            if (made) {
                page reversed;
                for (std::size_t index = made->rows.size(); index > 0; --index) {
                    reversed.append(row{made->rows[index - 1]});
                }
                made->rows = std::move(reversed);
            }
        }
        return made;
    }
};

/// Compares one order of the query with a sort of all its rows.
template <class Query, class Less, class... Terms>
void compare_order(draw& from, Query const& query, std::vector<piece> expected, Less const& before,
    std::string_view rule, Terms... terms) {
    std::stable_sort(expected.begin(), expected.end(), before);
    auto const sorted = query.order_by(terms...);
    auto const all = sorted.to().value();
    require(keys_of(all) == keys_of(expected), rule, keys_of(all), keys_of(expected));
    std::size_t const most = from.below(expected.size() + 3);
    auto const first = sorted.take(most).to().value();
    expected.resize((std::min)(most, expected.size()));
    require(keys_of(first) == keys_of(expected), rule, keys_of(first), keys_of(expected));
    require(sorted.take(most).count().value() == expected.size(), rule);
    require(sorted.take(most).exists().value() == !expected.empty(), rule);
}

template <class Query>
void compare_all(draw& from, Query const& query, std::vector<piece> const& rows) {
    auto const by = [&](auto member, bool reversed) {
        return [member, reversed](piece const& left, piece const& right) {
            return compared(left.*member, right.*member, reversed) < 0;
        };
    };
    switch (from.below(12)) {
        case 0: return compare_order(from, query, rows, by(&piece::name, false), "text", p::name);
        case 1:
            return compare_order(from, query, rows, by(&piece::remark, true), "optional text", descending(p::remark));
        case 2: return compare_order(from, query, rows, by(&piece::size, true), "integer", descending(p::size));
        case 3: return compare_order(from, query, rows, by(&piece::weight, false), "double", p::weight);
        case 4:
            return compare_order(
                from, query, rows, by(&piece::weight, true), "double descending", descending(p::weight));
        case 5: return compare_order(from, query, rows, by(&piece::spare, false), "bool", ascending(p::spare));
        case 6:
            return compare_order(
                from, query, rows,
                [](piece const& left, piece const& right) {
                    return std::lexicographical_compare(
                        left.bytes.begin(), left.bytes.end(), right.bytes.begin(), right.bytes.end());
                },
                "binary", p::bytes);
        case 7:
            return compare_order(
                from, query, rows, [](piece const& left, piece const& right) { return left.id.bytes < right.id.bytes; },
                "guid", p::id);
        case 8: return compare_order(from, query, rows, by(&piece::made, true), "time", descending(p::made));
        case 9:
            return compare_order(from, query, rows, by(&piece::number, false), "component of the row key", p::number);
        case 10:
            return compare_order(
                from, query, rows,
                [](piece const& left, piece const& right) {
                    int const order = compared(left.weight, right.weight, true);
                    return order != 0 ? order < 0 : compared(left.name, right.name, false) < 0;
                },
                "two members", descending(p::weight), p::name);
        default:
            return compare_order(
                from, query, rows,
                [](piece const& left, piece const& right) { return left.name.size() < right.name.size(); }, "computed",
                computed([](std::string const& name) { return name.size(); }, p::name));
    }
}

} // namespace entitable_test
using namespace entitable_test;

TEST_CASE("sorted queries equal a stable sort of all rows, over stores with and without an order") {
    check_draws([](draw& from) {
        memory_backend const store;
        table<piece> const ordered{store, "pieces"};
        ordered.create().value();
        std::string const like = from.text();
        for (std::size_t left = from.below(from.one_in(20) ? 60 : 8); left > 0; --left) {
            static_cast<void>(ordered.insert_or_replace(any_piece(from, like))); // a key may be too long
        }
        auto const pages = static_cast<std::uint32_t>(1 + from.below(5));
        auto const rows = ordered.scan_table().to().value();
        compare_all(from, ordered.scan_table().page_size(pages), rows);
        table<piece> const unordered{shuffled_pages{store}, "pieces"};
        compare_all(from, unordered.scan_table().page_size(pages), rows);

        std::vector<std::string> names;
        for (piece const& each : rows) { names.push_back(each.name); }
        std::sort(
            names.begin(), names.end(), [](auto const& left, auto const& right) { return utf16(left) < utf16(right); });
        names.erase(std::unique(names.begin(), names.end()), names.end());
        require(ordered.scan_table().page_size(pages).distinct(p::name).value() == names, "distinct");
        auto const selected = ordered.scan_table().select(p::size).top(3, p::name).to().value();
        auto const whole = ordered.scan_table().top(3, p::name).to().value();
        require(selected.size() == whole.size(), "selected");
        for (std::size_t at = 0; at < whole.size(); ++at) {
            require(selected[at][p::size] == whole[at].size && selected[at][p::tag] == whole[at].tag, "selected");
        }
    });
}
