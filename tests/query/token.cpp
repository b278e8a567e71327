// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/query/reading.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

query_parts parts_of(std::size_t ranges) {
    query_parts parts{"runners", {}, {}, {}};
    for (std::size_t index = 0; index < ranges; ++index) {
        parts.plan.ranges.push_back({key_interval::only("p" + std::to_string(index)), {}});
    }
    return parts;
}

} // namespace

TEST_CASE("tokens of version 1 have their golden values") {
    auto const parts = parts_of(3);
    CHECK(make_token(parts, {}, {2, 40, "1!abc!def"}) == "1!75b8c3495b65dce2!2!40!1!abc!def");
    CHECK(make_token(parts, {"name"}, {0, 7, std::nullopt}) == "1!ee2219b732d021b3!0!7");
}

TEST_CASE("a token is parsed back, whatever bytes the service's continuation contains") {
    auto const parts = parts_of(3);
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) { bytes += static_cast<char>(static_cast<unsigned char>(byte)); }
    for (std::string const& continuation :
        {bytes, std::string{}, std::string{"!"}, std::string{"%"}, std::string{"a%4"}}) {
        auto const token = make_token(parts, {}, {2, 40, continuation});
        auto const read = read_token(parts, {}, token).value();
        CHECK(read.range == 2);
        CHECK(read.taken == 40);
        CHECK(read.continuation == continuation);
        CHECK(token.find_first_not_of(
                  "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") ==
            std::string::npos);
    }
    CHECK_FALSE(read_token(parts, {}, make_token(parts, {}, {0, 0, std::nullopt})).value().continuation.has_value());
}

TEST_CASE("a token belongs to one table, plan and projection") {
    auto const parts = parts_of(3);
    auto const token = make_token(parts, {"name"}, {1, 1, "x"});
    auto const refused = [&](query_parts const& other, projection const& select) {
        return read_token(other, select, token).error().code == error_code::continuation_invalid;
    };
    CHECK(read_token(parts, {"name"}, token).has_value());
    CHECK(refused(parts, {}));
    CHECK(refused(parts, {"name", "age"}));
    CHECK(refused(parts_of(2), {"name"}));
    query_parts other = parts;
    other.table = "walkers";
    CHECK(refused(other, {"name"}));
    other = parts;
    other.plan.server.nodes.push_back({filter_operator::equal, "age", value_view{50}});
    CHECK(refused(other, {"name"}));
    other = parts;
    other.plan.client.emplace_back();
    CHECK(refused(other, {"name"}));
}
