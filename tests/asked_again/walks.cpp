// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Walks over rows, repeated after an error at each of their requests: they never end or succeed without the remaining rows.

#include <entitable/async.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/unit_of_work.hpp>
#include <entitable/wide.hpp>

#include <support/asked_again.hpp>
#include <support/runners.hpp>

#include <ranges>
#include <stdexcept>

namespace asked_again {

/// More errors than can occur.
inline int throws = 0;

struct delicate {
    std::int32_t value{};
};

} // namespace asked_again

template <>
struct entitable::property_type<asked_again::delicate> {
    static constexpr edm_type type = edm_type::int32;
    static value_view view(asked_again::delicate value) noexcept { return value_view{value.value}; }
    static bool assign(asked_again::delicate& to, value_view from) {
        if (asked_again::throws > 0) {
            --asked_again::throws;
            throw std::runtime_error{"not now"};
        }
        return property_type<std::int32_t>::assign(to.value, from);
    }
};

using namespace entitable;
using namespace entitable_test;

namespace {

struct sponsor {
    std::string event;
    std::string distance;
    std::string name;
};
ENTITABLE(sponsor, partition_key(event, distance), row_key(literal("SPONSOR:"), name))

struct parcel {
    std::string place;
    std::int32_t number{};
    asked_again::delicate content;
};
ENTITABLE(parcel, partition_key(place), row_key(number), properties(content))
using p = fields<parcel>;

constexpr std::int32_t in_each = 12;
auto const in_boston = r::event == "Boston" && r::distance == "Full";
auto const in_both = r::event == "Boston" && (r::distance == "Full" || r::distance == "Half");

/// Reads pages until the end or an error that persists: then it is the same each time, and the token of the last page returns the rest.
template <class Query>
void check_pages(Query const& query, std::size_t all) {
    auto pages = query.pages();
    std::size_t found = 0;
    std::optional<std::string> token;
    std::optional<error> told;
    for (int errors = 0; errors < 4;) {
        auto page = pages.next();
        if (!page) {
            if (told) {
                CHECK(page.error().message == told->message);
                CHECK(page.error().code == told->code);
            }
            told = page.error();
            ++errors;
            continue;
        }
        REQUIRE_FALSE(told); // after an error neither an end nor a page
        if (!*page) {
            CHECK(found == all);
            return;
        }
        found += (*page)->size();
        token = (*page)->token;
    }
    auto const rest = token ? query.resume(*token).to() : query.to();
    CHECK(found + rest.value().size() == all);
}

/// The same with an iterator, of a query or of a view over it.
template <class Range>
void check_iterator(Range&& range, std::size_t all) {
    std::size_t found = 0;
    int errors = 0;
    std::optional<std::ranges::iterator_t<Range>> at;
    while (!at) {
        try {
            at.emplace(range.begin());
        } catch (error const&) {
            REQUIRE(++errors < 3); // a run that did not start starts again
        }
    }
    errors = 0;
    while (*at != range.end()) {
        if (errors == 0) { ++found; }
        try {
            ++*at;
            REQUIRE(errors == 0); // no row after an error
        } catch (error const& problem) {
            CHECK(problem.code != error_code::internal_error);
            if (++errors == 3) { return; }
        }
    }
    CHECK(errors == 0);
    CHECK(found == all);
}

} // namespace

TEST_CASE("repeated requests: pages are read from one range and from several, filtered, limited and selected") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const all = runners(store, in_each);
        auto const which = GENERATE(0, 1, 2, 3, 4);
        plan();
        switch (which) {
            case 0: check_pages(all.where(in_boston).page_size(5), in_each); break;
            case 1: check_pages(all.where(in_both).page_size(5).in_flight(2), 2 * in_each); break;
            case 2: check_pages(all.where(in_both).page_size(5).take(13), 13); break;
            case 3: check_pages(all.where(in_boston && r::name != "nobody").page_size(5), in_each); break;
            default: check_pages(all.where(in_boston).select(r::name).page_size(5), in_each);
        }
    });
}

TEST_CASE("repeated requests: queries, and views over queries, are iterated") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const all = runners(store, in_each);
        plan();
        check_iterator(all.where(in_both).page_size(5), 2 * in_each);
    });
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const all = runners(store, in_each);
        plan();
        check_iterator(
            all.where(in_both).page_size(5) | std::views::transform([](runner const& each) { return each.bib; }),
            2 * in_each);
    });
}

TEST_CASE("repeated requests: a query is run again, and the partitions of a table are listed") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const all = runners(store, in_each);
        auto const query = all.where(in_both).page_size(5);
        plan();
        CHECK(asked_until_success([&] { return query.to(); })->size() == 2 * in_each);
        CHECK(*asked_until_success([&] { return query.count(); }) == 2 * in_each);
        CHECK(*asked_until_success([&] { return query.sum(r::bib); }) == in_each * (in_each + 1));
        CHECK(asked_until_success([&] { return query.group_by(r::bib, count()); })->size() == in_each);
        CHECK(*asked_until_success([&] { return query.first(); }));
        CHECK(asked_until_success([&] { return all.partitions(); })->size() == 4);
        std::size_t seen = 0;
        static_cast<void>(asked_until_success([&] {
            seen = 0;
            return query.for_each([&](runner const&) { ++seen; });
        }));
        CHECK(seen == 2 * in_each);
    });
}

TEST_CASE("repeated requests: rows of any type are read from row_table and from a table with several types") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const all = runners(store, in_each);
        row_table const rows{store, "runners"};
        table<runner, sponsor> const each_type{store, "runners"};
        plan();
        std::size_t seen = 0;
        static_cast<void>(asked_until_success([&] {
            seen = 0;
            return rows.for_each({}, {}, [&](entity const&) { ++seen; });
        }));
        CHECK(seen == 4 * in_each);
        static_cast<void>(asked_until_success([&] {
            seen = 0;
            return each_type.for_each_in_partition("Boston__Full", [&](auto const&) { ++seen; });
        }));
        CHECK(seen == in_each);
    });
}

TEST_CASE("repeated requests: awaited pages are read, and awaited queries are run again") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        static_cast<void>(runners(store, in_each));
        event_loop loop;
        async_table<runner> const all{loop, store, "runners"};
        plan();
        auto const work = [&]() -> task<void> { // no co_await in a macro of Catch, which would evaluate it twice
            auto const query = all.where(in_both).page_size(5);
            auto pages = query.pages();
            std::size_t found = 0;
            int errors = 0;
            while (errors < 3) {
                auto const page = co_await pages.next();
                if (!page) {
                    ++errors;
                    continue;
                }
                REQUIRE(errors == 0);
                if (!*page) {
                    CHECK(found == 2 * in_each);
                    break;
                }
                found += (*page)->size();
            }
            auto rows = co_await query.to();
            for (int asked = 0; !rows && asked < 3; ++asked) { rows = co_await query.to(); }
            CHECK(rows.value().size() == 2 * in_each);
            auto number = co_await query.count();
            for (int asked = 0; !number && asked < 3; ++asked) { number = co_await query.count(); }
            CHECK(number.value() == 2 * in_each);
            auto keys = co_await all.partitions();
            for (int asked = 0; !keys && asked < 3; ++asked) { keys = co_await all.partitions(); }
            CHECK(keys.value().size() == 4);
        };
        loop.run(work());
    });
}

TEST_CASE("repeated requests: a unit of work tracks a query and saves") {
    with_each_request_failing([](faulty_store const& store, auto const& plan) {
        auto const all = runners(store, in_each);
        unit_of_work work{all};
        plan();
        auto const found = asked_until_success([&] { return work.track(all.where(in_boston).page_size(5)); });
        CHECK(found->size() == in_each);
        for (runner& each : *found) { each.name = "changed"; }
        for (int asked = 0;; ++asked) {
            auto const saved = work.save();
            if (saved && saved->good()) { break; }
            REQUIRE(asked < 5);
            for (runner& each : *found) { // a write without an answer conflicts with what may be its own row
                if (work.conflict_of(each).value()) { work.resolve(each, keep::mine); }
            }
        }
        auto const stored = asked_until_success([&] { return all.where(in_boston).to(); });
        for (runner const& each : *stored) { CHECK(each.name == "changed"); }
    });
}

TEST_CASE("repeated requests: rows that throw while they are read are not skipped") {
    memory_backend const store;
    table<parcel> const parcels{store, "parcels"};
    parcels.create().value();
    for (std::int32_t number = 0; number < 6; ++number) { parcels.insert({"kiel", number, {number}}).value(); }
    auto const query = parcels.where(p::place == "kiel").page_size(2);
    std::vector<std::int32_t> found;
    SECTION("the rows are read page by page") {
        auto pages = query.pages();
        for (bool more = true; more;) {
            asked_again::throws = found.size() == 2 ? 2 : 0;
            for (bool read = false; !read;) {
                try {
                    auto const page = pages.next().value();
                    read = true;
                    more = page.has_value();
                    for (std::size_t at = 0; page && at < page->size(); ++at) { found.push_back((*page)[at].number); }
                } catch (std::runtime_error const&) { CHECK(found.size() == 2); }
            }
        }
    }
    SECTION("the rows are read row by row") {
        auto at = query.begin();
        for (; at != query.end();) {
            found.push_back(at->number);
            asked_again::throws = found.size() == 3 ? 2 : 0;
            for (bool read = false; !read;) {
                try {
                    ++at;
                    read = true;
                } catch (std::runtime_error const&) { CHECK(at != query.end()); }
            }
        }
    }
    CHECK(found == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
}
