// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random loads under random faults, including lost answers, compared with an oracle that applies the input row by row.

#include "books.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <map>

using namespace entitable;
using namespace bulk_test;
using testing::fault;

namespace {

using key = std::pair<std::int32_t, std::int32_t>;

struct random_load {
    explicit random_load(std::uint64_t seed) : random(seed) {
        plain.create().value();
        upsert = draw(2) == 0;
        auto const years = static_cast<std::int32_t>(1 + draw(6));
        auto const ids = static_cast<std::int32_t>(20 + draw(400));
        for (std::uint64_t count = draw(60); count > 0; --count) {
            book const there = any(years, ids);
            plain.insert_or_replace(there).value();
            expected.insert_or_assign({there.year, there.id}, there.title);
        }
        for (std::uint64_t count = draw(700); count > 0; --count) {
            input.push_back(any(years, ids));
            if (draw(60) == 0) { input.back().title = too_long(); }
        }
        options.seed = seed;
        options.time = &clock;
        options.window = 1 + draw(300);
        options.in_flight = 1 + draw(40);
        options.on_refused = [this](refused_row const& each) { ++refused[each.index]; };
        std::vector<fault> const choices{fault::refused(), fault::lost_before(), fault::lost_after(),
            fault::half_answer(), fault::late(), fault::throttled(), fault::busy(std::chrono::milliseconds{200}),
            fault::status(500, false), fault::status(500, true), fault::status(408, false)};
        faults.plan_random(seed, draw(12), 30, choices);
    }

    std::uint64_t draw(std::uint64_t below) { return random.bits() % below; }
    book any(std::int32_t years, std::int32_t ids) {
        return {2000 + static_cast<std::int32_t>(draw(static_cast<std::uint64_t>(years))),
            static_cast<std::int32_t>(draw(static_cast<std::uint64_t>(ids))), "title " + std::to_string(draw(3)), {}};
    }

    /// The required result of the load, row by row.
    void apply() {
        for (std::size_t index = 0; index < input.size(); ++index) {
            book const& each = input[index];
            auto const found = expected.find({each.year, each.id});
            bool const there = found != expected.end();
            if (each.title == too_long()) {
                // If it conflicts with a row, another rule is broken too: either answer is right.
                expected_refused[index] = 1;
            } else if (there && !upsert) {
                if (found->second != each.title) { expected_refused[index] = 1; }
            } else {
                expected[{each.year, each.id}] = each.title;
            }
        }
    }

    [[nodiscard]] std::map<key, std::string> stored() const {
        std::map<key, std::string> all;
        for (book const& each : plain.scan_table()) { all[{each.year, each.id}] = each.title; }
        return all;
    }

    random_source random;
    memory_backend store;
    testing::manual_clock clock;
    testing::faulty<memory_backend> faults{store, {.time = &clock}};
    table<book> plain{store, "books"};
    table<book> books{faults, "books"};
    bool upsert{};
    std::vector<book> input;
    bulk_options options;
    std::map<key, std::string> expected;
    std::map<std::uint64_t, int> expected_refused;
    std::map<std::uint64_t, int> refused;
};

} // namespace

TEST_CASE("under random faults a load writes its rows and reports each refused row once") {
    std::size_t const loads = entitable_test::rounds(40, 5'000);
    for (std::size_t seed = 1; seed <= loads; ++seed) {
        CAPTURE(seed);
        random_load each{seed};
        each.apply();
        auto const done = each.upsert ? bulk_upsert(each.books, each.input, each.options)
                                      : bulk_insert(each.books, each.input, each.options);
        each.faults.arrive(); // a change that is still delayed does not matter
        REQUIRE(done);
        REQUIRE(done->read == each.input.size());
        REQUIRE(done->written + done->already_there + done->refused == done->read);
        REQUIRE(each.refused == each.expected_refused);
        REQUIRE(each.stored() == each.expected);
    }
}

TEST_CASE("under random faults each removed row is deleted and each updated row is changed once") {
    std::size_t const loads = entitable_test::rounds(16, 2'000);
    for (std::size_t seed = 1; seed <= loads; ++seed) {
        CAPTURE(seed);
        random_load each{seed};
        std::vector<book> const there = some_books(400, 4);
        REQUIRE(bulk_upsert(each.plain, there));
        std::size_t const others = each.stored().size();
        using b = fields<book>;
        auto const found = each.plain.scan_table(b::title >= "book 2" && b::title < "book 4");
        std::uint64_t const wanted = found.count().value();
        if (seed % 2 == 0) {
            auto const done = bulk_remove(each.books, found, each.options);
            REQUIRE(done);
            REQUIRE(done->refused == 0);
            REQUIRE(found.count().value() == 0);
            REQUIRE(each.stored().size() == others - wanted);
        } else {
            auto const more = [](book& one) { one.rating = one.rating.value_or(0) + 1; };
            auto const done = bulk_update(each.books, found, more, each.options);
            REQUIRE(done);
            REQUIRE(done->written == wanted);
            REQUIRE(each.plain.scan_table(b::rating == 1.0).count().value() == wanted);
            REQUIRE(each.plain.scan_table(b::rating > 1.0).count().value() == 0);
        }
    }
}
