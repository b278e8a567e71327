// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite on PostgreSQL, and the longest keys there.

#include <entitable/entitable.hpp>
#include <entitable/local/postgres/detail/pg_key.hpp>
#include <entitable/postgres.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>
#include <support/postgres_server.hpp>

#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

struct page_of_text {
    std::string book;
    std::string chapter;
    std::int32_t number{};
};
ENTITABLE(page_of_text, partition_key(book), row_key(chapter), properties(number))

void conforms(postgres_options const& options) {
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    for (std::string const& failure : testing::conformance::run([&]() -> any_store { return store; })) {
        FAIL_CHECK(failure.substr(0, 2000));
    }
}

/// 512 code units of UTF-16, the maximum of a key.
std::string longest(char const* unit, std::size_t units, std::string const& end) {
    std::string made;
    for (std::size_t count = 0; count < units; ++count) { made += unit; }
    return made + end;
}

} // namespace

TEST_CASE("conformance: postgres_backend") {
    if (postgres_server() != nullptr) { conforms(own_schema()); }
}

TEST_CASE("conformance: postgres_backend in nasty mode with small pages") {
    if (postgres_server() != nullptr) {
        auto options = own_schema();
        options.local.page_bytes = 1;
        options.local.page_examined = 3;
        options.local.nasty.emplace().seed = 7;
        conforms(options);
    }
}

TEST_CASE("postgres: the longest keys of Chinese text fit into the index, in UTF-16 order") {
    if (postgres_server() == nullptr) { return; }
    auto const store = postgres_backend::connect(postgres_server(), own_schema()).value();
    table<page_of_text> const pages{store, "pages"};
    pages.create().value();
    std::string const book = longest("\xE9\xBE\x8D", 512, "");
    // Surrogates sort before U+E000; in UTF-8 the order is reversed.
    std::vector<std::string> const chapters{longest("\xE4\xB8\x80", 512, ""), longest("\xE9\xBE\x8D", 510, "12"),
        longest("\xE9\xBE\x8D", 512, ""), longest("\xE9\xBE\x8D", 510, "\xED\x9F\xBFx"),
        longest("\xE9\xBE\x8D", 510, "\xF0\x9F\x98\x80"), longest("\xE9\xBE\x8D", 510, "\xEE\x80\x80x"),
        longest("\xE9\xBE\x8D", 510, "\xEF\xBD\x9Ex")};
    for (std::size_t at = chapters.size(); at-- > 0;) {
        pages.insert({book, chapters[at], static_cast<std::int32_t>(at)}).value();
    }
    std::vector<std::string> found;
    using p = fields<page_of_text>;
    for (page_of_text const& each : pages.where(p::book == book)) { found.push_back(each.chapter); }
    CHECK((found == chapters)); // without printing them
    CHECK(pages.get(book, chapters[4]).value().number == 4);
    CHECK(pages.insert({book, chapters[3], 1}).error().code == error_code::entity_already_exists);
}

TEST_CASE("postgres: keys are converted to UTF-16 and back, and invalid keys are refused") {
    std::string to;
    std::string back;
    for (std::string const key : {"", "a", "\xC3\xA4", "\xED\x9F\xBF", "\xFE\x80\x80", "\xFF\xBD\x9E",
             "\xF0\x9F\x98\x80", "a\xF4\x8F\xBF\xBFz"}) {
        to.clear();
        CHECK(detail::append_utf16_key(key, to));
        CHECK(detail::assign_stored_key(to, back));
        CHECK(back == key);
    }
    for (std::string const wrong :
        {"\x80", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xE0\x80\x80", "\xF4\x90\x80\x80", "\xF8"}) {
        to.clear();
        CHECK_FALSE(detail::append_utf16_key(wrong, to));
    }
    using namespace std::string_view_literals;
    CHECK_FALSE(detail::assign_stored_key("\xD8\x00"sv, back));
    CHECK_FALSE(detail::assign_stored_key("\xDC\x00"sv, back));
    CHECK_FALSE(detail::assign_stored_key("\x00"sv, back));
}
