// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <support/catch.hpp>
#include <support/runners.hpp>
#include <support/wide.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";
auto const tens = in_boston && (r::bib < 5 || between(r::bib, 10, 14) || between(r::bib, 17, 19) || r::bib > 28);

/// All bibs, with a new query object for each page, as another process would have.
template <class Query>
std::vector<std::int32_t> resumed(Query const& query) {
    std::vector<std::int32_t> found;
    std::string token;
    for (;;) {
        auto pages = token.empty() ? query.pages() : query.resume(token).pages();
        auto const page = pages.next().value();
        if (!page) { return found; }
        CHECK(page->size() > 0);
        for (runner const& one : *page) { found.push_back(one.bib); }
        if (!page->token) { return found; }
        token = *page->token;
        for (char const character : token) { CHECK((character > ' ' && character <= '~')); }
    }
}

} // namespace

TEST_CASE("the pages together form the result, in one process and in several") {
    wide_transport store;
    auto const all = runners(store, 30);
    auto const dropping = tens && r::bib != 2 && r::bib != 12 && r::bib != 17 && r::bib != 18 && r::bib != 19;
    for (std::size_t const n : {1U, 3U}) {
        for (std::uint32_t const rows : {1U, 2U, 3U, 1000U}) {
            for (std::uint64_t const take : {1U, 4U, 7U, 100U}) {
                auto const query = all.where(tens).page_size(rows).in_flight(n).take(take);
                auto const some = all.where(dropping).page_size(rows).in_flight(n).take(take);
                CHECK(resumed(query) == bibs(query));
                CHECK(resumed(some) == bibs(some));
                CHECK(bibs(query).size() == std::min<std::size_t>(take, 14));
            }
        }
    }
    auto pages = all.where(tens).page_size(3).pages();
    std::vector<std::size_t> sizes;
    while (auto const page = pages.next().value()) { sizes.push_back(page->size()); }
    CHECK(sizes == std::vector<std::size_t>{3, 1, 3, 2, 3, 2});
    CHECK_FALSE(pages.next().value().has_value());
}

TEST_CASE("the other ways to run a query also continue from a token") {
    memory_backend store;
    auto const all = runners(store, 9);
    auto const query = all.where(in_boston).page_size(4);
    auto const token = *query.pages().next().value()->token;
    auto const rest = query.resume(token);
    CHECK(bibs(rest) == std::vector<std::int32_t>{5, 6, 7, 8, 9});
    CHECK(rest.count().value() == 5);
    CHECK(rest.first().value()->bib == 5);
    CHECK(rest.sum(r::bib).value() == 35);
    CHECK((rest.min)(r::age).value() == 25);
    CHECK(bibs(rest.take(6)) == std::vector<std::int32_t>{5, 6}); // a total, over all pages
    CHECK(bibs(rest.page_size(2)) == std::vector<std::int32_t>{5, 6, 7, 8, 9});
}

TEST_CASE("the last page has no token") {
    memory_backend store;
    auto const all = runners(store, 4);
    auto pages = all.where(in_boston).page_size(3).pages();
    CHECK(pages.next().value()->token.has_value());
    CHECK_FALSE(pages.next().value()->token.has_value());
    auto const taken = all.where(in_boston).page_size(3).take(3).pages().next().value();
    CHECK(taken->size() == 3);
    CHECK_FALSE(taken->token.has_value());
    CHECK_FALSE(all.where(in_boston && r::bib > 10).pages().next().value().has_value());
}

TEST_CASE("a token that is truncated, forged or from a different query is refused") {
    memory_backend store;
    auto const all = runners(store, 9);
    auto const token = *all.where(in_boston && r::age > 20).page_size(2).pages().next().value()->token;
    CHECK(token.starts_with("1!"));
    auto const refused = [&](auto const& query) {
        return query.count().error().code == error_code::continuation_invalid;
    };
    auto const same = all.where(in_boston && r::age > 20);
    CHECK(same.select(r::name).page_size(2).resume(token).pages().next().error().code ==
        error_code::continuation_invalid);
    CHECK(bibs(same.resume(token)) == std::vector<std::int32_t>{3, 5, 6, 7, 9});

    CHECK(refused(all.where(in_boston && r::age > 21).resume(token)));
    CHECK(refused(all.where(in_boston && r::age >= 20).resume(token)));
    CHECK(refused(all.where(in_boston && r::pace > 20).resume(token)));
    CHECK(refused(all.where(in_boston).resume(token)));
    CHECK(refused(all.where(in_boston && r::bib > 0 && r::age > 20).resume(token)));
    CHECK(refused(all.where(in_boston && r::age > 20 && r::bib != 3).resume(token)));
    CHECK(refused(all.where(r::event == "Boston" && r::distance == "Half" && r::age > 20).resume(token)));
    table<runner> other{store, "others"};
    other.create().value();
    CHECK(refused(other.where(in_boston && r::age > 20).resume(token)));

    for (std::size_t length = 0; length < token.size(); ++length) {
        CHECK(same.resume(token.substr(0, length)).to().error().code == error_code::continuation_invalid);
    }
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string forged = token;
        forged[at] = forged[at] == '0' ? '1' : '0';
        CHECK(same.resume(forged).to().error().code == error_code::continuation_invalid);
    }
    CHECK(same.resume(token + "0").to().error().code == error_code::continuation_invalid);
    CHECK_THAT(same.resume("2!abc").to().error().message, ContainsSubstring("later version"));
}

TEST_CASE("after a failed page the previous token is still valid") {
    wide_transport store;
    auto const all = runners(store, 30);
    auto const query = all.where(tens);
    auto pages = query.pages();
    auto const first = pages.next().value();
    store.log->failing = "0000000010";
    CHECK(pages.next().error().code == error_code::server_busy);
    store.log->failing.clear();
    auto const rest = bibs(query.resume(*first->token));
    CHECK(rest == std::vector<std::int32_t>{10, 11, 12, 13, 14, 17, 18, 19, 29, 30});
}
