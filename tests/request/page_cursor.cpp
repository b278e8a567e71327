// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/request/requests.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

using namespace entitable;

namespace {

/// A list of five tables in pages of two.
result<list_tables::response> listed(list_tables const& asked) {
    std::vector<std::string> const all{"a", "b", "c", "d", "e"};
    std::size_t const from = asked.continuation ? static_cast<std::size_t>(std::stoul(*asked.continuation)) : 0;
    list_tables::response page;
    for (std::size_t at = from; at < all.size() && at < from + 2; ++at) { page.tables.push_back(all[at]); }
    if (from + 2 < all.size()) { page.continuation = std::to_string(from + 2); }
    return page;
}

} // namespace

TEST_CASE("a page cursor requests each page once, and ends after the page without a continuation", "[request]") {
    detail::page_cursor pages{list_tables{}};
    std::string read;
    std::size_t asked = 0;
    while (pages.more()) {
        auto const found = pages.take(listed(pages.request()));
        REQUIRE(found);
        CHECK_FALSE(found->continuation);
        for (std::string const& each : found->tables) { read += each; }
        ++asked;
    }
    CHECK(read == "abcde");
    CHECK(asked == 3);
    CHECK_FALSE(pages.request().continuation);
}

TEST_CASE("after an error the same page is requested again", "[request]") {
    detail::page_cursor pages{list_tables{}};
    REQUIRE(pages.take(listed(pages.request())));
    std::optional<std::string> const token = pages.request().continuation;
    CHECK(token == "2");
    CHECK_FALSE(pages.take(failure{error_code::server_busy, "busy"}));
    CHECK(pages.more());
    CHECK(pages.request().continuation == token);
    auto const found = pages.take(listed(pages.request()));
    REQUIRE(found);
    CHECK(found->tables == std::vector<std::string>{"c", "d"});
}

TEST_CASE("a page cursor that starts over requests the first page, even at the end", "[request]") {
    detail::page_cursor pages{list_tables{}};
    while (pages.more()) { REQUIRE(pages.take(listed(pages.request()))); }
    pages.restart();
    CHECK(pages.more());
    CHECK_FALSE(pages.request().continuation);
    REQUIRE(pages.take(listed(pages.request())));
    pages.restart();
    CHECK_FALSE(pages.request().continuation);
}

TEST_CASE("an empty page with a continuation is not the last page", "[request]") {
    detail::page_cursor pages{query_entities{}};
    query_entities::response empty;
    empty.continuation = "more";
    REQUIRE(pages.take(std::move(empty)));
    CHECK(pages.more());
    CHECK(pages.request().continuation == "more");
    REQUIRE(pages.take(query_entities::response{}));
    CHECK_FALSE(pages.more());
}
