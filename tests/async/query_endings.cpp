// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Every kind of query has the same options and endings, with the same results: of a table, of a list, by an index, awaited. The one template
// below does not compile if a kind lacks one of them. Iteration and `analyze` are those of blocking queries of rows alone.

#include "companions/books.hpp"
#include "support/catch.hpp"
#include <entitable/async_tables.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <algorithm>

using namespace companion_tests;

namespace {

using lines = std::vector<std::string>;

std::string text(std::int64_t number) { return std::to_string(number); }

/// Takes the result of a blocking query.
struct blocking {
    template <class T>
    [[nodiscard]] T operator()(T made) const {
        return made;
    }
    template <class Pages>
    [[nodiscard]] auto next(Pages& pages) const {
        return pages.next();
    }
};

template <class Pages>
task<result<std::optional<page_of<invoice>>>> next_of(Pages& pages) {
    co_return co_await pages.next();
}

/// Awaits an awaited one.
struct awaiting {
    event_loop& loop;

    template <class T>
    [[nodiscard]] T operator()(task<T> made) const {
        return loop.run(std::move(made));
    }
    template <class Pages>
    [[nodiscard]] auto next(Pages& pages) const {
        return loop.run(next_of(pages));
    }
};

/// The results of all options and endings. `covered`: a field that `select` can take.
template <class Query, class Ask, class Field>
lines results_of(Query const& all, Ask const& ask, Field covered) {
    lines made;
    auto const numbers = [](auto const& of) {
        std::string found;
        for (auto const& each : of) { found += text(each.number) + " "; }
        return found;
    };
    made.push_back(numbers(ask(all.to()).value()));
    made.push_back(text(ask(all.first()).value().value().number));
    made.push_back(text(static_cast<std::int64_t>(ask(all.count()).value())));
    auto each = std::make_shared<std::string>();
    ask(all.for_each([each](invoice const& one) { *each += text(one.number) + ","; })).value();
    made.push_back(*each);
    made.push_back(text(
        ask(all.fold(std::int64_t{7}, [](std::int64_t sum, invoice const& one) { return sum + one.cents; })).value()));
    auto const folded = ask(all.fold(count(), (entitable::max)(i::cents), average(i::cents))).value();
    made.push_back(text(static_cast<std::int64_t>(std::get<0>(folded))) + " " + text(*std::get<1>(folded)) + " " +
        text(static_cast<std::int64_t>(*std::get<2>(folded) * 100)));
    for (auto const& [day, values] : ask(all.group_by(i::day, count(), sum(i::cents))).value()) {
        made.push_back(
            day + " " + text(static_cast<std::int64_t>(std::get<0>(values))) + " " + text(std::get<1>(values)));
    }
    made.push_back(text(ask((all.min)(i::cents)).value().value()));
    made.push_back(text(ask((all.max)(i::cents)).value().value()));
    made.push_back(text(ask(all.sum(i::cents)).value()));
    made.push_back(ask(all.exists()).value() ? "exists" : "is empty");
    made.push_back(ask(all.take(0).exists()).value() ? "exists" : "is empty");
    for (auto const& day : ask(all.distinct(i::day)).value()) { made.push_back(day); }
    auto const letter = [](std::string const& day) { return day.substr(0, 1); };
    for (auto const& first : ask(all.distinct(computed(letter, i::day))).value()) { made.push_back(first); }
    auto const last_digit = [](invoice const& one) { return one.number % 2; };
    for (auto const& [digit, values] : ask(all.group_by(last_digit, count())).value()) {
        made.push_back(text(digit) + " " + text(static_cast<std::int64_t>(std::get<0>(values))));
    }
    made.push_back(numbers(ask(all.top(2, i::cents).to()).value()));
    made.push_back(numbers(ask(all.bottom(2, i::cents).to()).value()));
    auto const sorted = all.order_by(descending(i::day), descending(i::number));
    made.push_back(numbers(ask(sorted.to()).value()));
    made.push_back(numbers(ask(sorted.page_size(1).in_flight(4).take(3).to()).value()));
    made.push_back(text(ask(sorted.first()).value().value().number));
    made.push_back(text(static_cast<std::int64_t>(ask(sorted.take(4).count()).value())));
    made.push_back(ask(sorted.take(0).exists()).value() ? "exists" : "is empty");
    made.push_back(text(ask(sorted.take(2).sum(i::cents)).value()));
    made.push_back(std::string{to_string(ask(sorted.most_rows(4).to()).error().code)});
    auto in_order = std::make_shared<std::string>();
    ask(sorted.take(2).for_each([in_order](invoice const& one) { *in_order += text(one.number) + ","; })).value();
    made.push_back(*in_order);
    auto const explained = ask(sorted.take(2).explain()).value();
    made.push_back(explained.sorted_by + " " + text(static_cast<std::int64_t>(explained.sorted_rows)));
    made.push_back(ask(all.explain()) ? "explained" : "");
    made.push_back(numbers(ask(all.take(2).to()).value()));
    made.push_back(numbers(ask(all.page_size(1).in_flight(4).to()).value()));
    made.push_back(text(static_cast<std::int64_t>(ask(all.select(covered).count()).value())));
    auto pages = all.page_size(2).pages();
    std::optional<std::string> token;
    while (auto page = ask.next(pages).value()) {
        made.push_back(numbers(page->items));
        if (!token) { token = page->token; }
    }
    made.push_back(numbers(ask(all.page_size(2).resume(token.value()).to()).value()));
    made.push_back(std::string{to_string(ask(all.resume("bad").to()).error().code)});
    made.push_back(std::string{to_string(ask(all.resume("bad").sum(i::cents)).error().code)});
    made.push_back(std::string{to_string(ask(all.page_size(0).fold(count())).error().code)});
    return made;
}

table_options options_at(testing::manual_clock& time) {
    table_options how;
    how.time = &time;
    return how;
}

struct opened {
    testing::manual_clock time; // `retire` waits until the leases of other writers have ended
    memory_backend store{local_options{.time = &time}};
    all_books books = open_books(store, options_at(time));
    table<invoice> alone{store, "alone"};

    opened() {
        books.create().value();
        alone.create().value();
        std::int64_t cents = 100;
        for (std::int32_t number = 1; number <= 5; ++number, cents += 10) {
            invoice const one{"ACME", number, "ann", {}, "red", number < 3 ? "mon" : "tue", cents};
            books.insert(one).value();
            alone.insert(one).value();
        }
    }
};

} // namespace

TEST_CASE("every kind of query supports the same options and terminal calls, with the same results") {
    opened const in;
    lines const expected = results_of(in.alone.where(i::tenant == "ACME"), blocking{}, i::cents);
    CHECK(expected[0] == "1 2 3 4 5 ");
    CHECK(expected.size() == 41);
    lines const added{"exists", "is empty", "mon", "tue", "m", "t", "0 2", "1 3", "5 4 ", "1 2 ", "5 4 3 2 1 ",
        "5 4 3 ", "5", "4", "is empty", "270", "QueryTooComplex", "5,4,", "day descending, number descending 2"};
    CHECK(std::search(expected.begin(), expected.end(), added.begin(), added.end()) != expected.end());
    CHECK(results_of(in.books.where(i::tenant == "ACME"), blocking{}, i::cents) == expected);
    auto const by_index =
        in.books.by<by_customer>().where(of_customer::tenant == "ACME" && of_customer::customer == "ann");
    CHECK(results_of(by_index, blocking{}, of_customer::cents) == expected);
    event_loop loop;
    async_table<invoice> const awaited_alone{loop, in.store, "alone"};
    CHECK(results_of(awaited_alone.where(i::tenant == "ACME"), awaiting{loop}, i::cents) == expected);
    async_table<counter, invoice, by_customer> const awaited_list{loop, in.store, "books"};
    CHECK(results_of(awaited_list.where(i::tenant == "ACME"), awaiting{loop}, i::cents) == expected);
}

TEST_CASE("pages of an index query skip removed entities, and an error is final") {
    opened in;
    auto const by_index =
        in.books.by<by_customer>().where(of_customer::tenant == "ACME" && of_customer::customer == "ann").page_size(2);
    auto pages = by_index.pages();
    CHECK(pages.next().value()->size() == 2);
    in.books.remove(invoice{"ACME", 3, {}, {}, {}, {}, 0}, any_etag).value();
    in.books.unmaintained<invoice>()
        .remove(invoice{"ACME", 4, {}, {}, {}, {}, 0}, any_etag)
        .value(); // its index row dangles
    auto const last = pages.next().value();
    REQUIRE(last);
    CHECK(last->items[0].number == 5);
    CHECK_FALSE(pages.next().value());
    CHECK(by_index.count().value() == 3);
    auto again = by_index.pages();
    CHECK(again.next());
    in.books.retire<by_customer>().value();
    CHECK(again.next().error().code == error_code::index_not_ready);
    CHECK(again.next().error().code == error_code::index_not_ready);
    CHECK(by_index.sum(i::cents).error().code == error_code::index_not_ready);
}
