// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include "support/long.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/interleavings.hpp>
#include <entitable/testing/program.hpp>
#include <entitable/wide.hpp>

using namespace entitable;

namespace {

struct sheet {
    std::string book;
    std::string name;
    std::string a, b, c, d, e;
    std::optional<std::string> f;
};
ENTITABLE(sheet, partition_key(book), row_key(name),
    properties(chunked(a), chunked(b), chunked(c), chunked(d), chunked(e), chunked(f)))

constexpr std::size_t units = 32768;
constexpr std::size_t most = 15 * units;

table<wide<sheet>> new_sheets(any_store through = memory_backend{}, wide_options how = {}) {
    table<wide<sheet>> sheets{std::move(through), "sheets", how};
    sheets.create_if_absent().value();
    return sheets;
}

bool same(sheet const& one, sheet const& other) {
    return one.book == other.book && one.name == other.name && one.a == other.a && one.b == other.b &&
        one.c == other.c && one.d == other.d && one.e == other.e && one.f == other.f;
}
sheet sheet_of(std::size_t a, std::size_t b = 0, std::size_t c = 0, std::size_t d = 0, std::size_t e = 0) {
    return {"b", "s", std::string(a, 'a'), std::string(b, 'b'), std::string(c, 'c'), std::string(d, 'd'),
        std::string(e, 'e'), {}};
}

/// The number of rows in the table, including system rows.
std::size_t rows_in(any_store const& store) {
    call context;
    std::size_t count = 0;
    query_entities asked{"sheets", {}, {}, {}, 1000, {}};
    for (;;) {
        auto page = store.execute(asked, context).value();
        count += page.rows.size();
        if (!page.continuation) { return count; }
        asked.continuation = std::move(page.continuation);
    }
}

/// A row with this number of properties of this number of bytes, like the row of an entity with as many members.
row wide_row(std::size_t properties, std::size_t size = 1) {
    row_builder builder{"b", "s"};
    for (std::size_t index = 0; index < properties; ++index) {
        builder.add("p" + std::to_string(index), value_view{edm_type::binary, std::string(size, 'x')});
    }
    return builder.build();
}

} // namespace

TEST_CASE("a wide entity is read back as it was written, at each boundary") {
    memory_backend store;
    auto const sheets = new_sheets(store);
    sheets.insert(sheet_of(1)).value();
    CHECK(sheets.insert(sheet_of(2)).error().code == error_code::entity_already_exists);
    // 64 KiB in one property, 1 MiB in one row, several rows, and back again.
    for (auto const& [written, parts] :
        std::vector<std::pair<sheet, std::size_t>>{{sheet_of(units), 1}, {sheet_of(units + 1), 1}, {sheet_of(most), 1},
            {sheet_of(most, 2 * units), 2}, {sheet_of(most, most), 2}, {sheet_of(most, most, most, most), 4},
            {sheet_of(most, most, most, most, 3 * units), 5}, {sheet_of(most, units), 2}, {sheet_of(5), 1}}) {
        INFO(parts);
        auto const done = sheets.insert_or_replace(written).value();
        CHECK(done.parts == parts);
        CHECK(rows_in(store) == parts + 1); // a smaller one removes the unneeded rows
        auto const read = sheets.get_stored("b", "s").value();
        CHECK(same(read.entity, written));
        CHECK(read.etag == done.etag);
    }
    sheets.remove("b", "s", any_etag).value();
    CHECK(rows_in(store) == 0);
    CHECK_FALSE(sheets.find("b", "s").value());
    CHECK(sheets.replace(sheet_of(1), any_etag).error().code == error_code::resource_not_found);
}

TEST_CASE("limits of wide entities are checked before anything is sent") {
    testing::spy<memory_backend> service{memory_backend{}};
    any_store const through{service};
    auto const limits = service.profile();
    auto const parts = [&](row const& whole) { return detail::split_wide(whole.view(), 7, "sheet", limits); };
    CHECK(parts(wide_row(0)).value().size() == 2);
    CHECK(parts(wide_row(251)).value().size() == 2);
    CHECK(parts(wide_row(252)).value().size() == 3);
    CHECK(parts(wide_row(502)).value().size() == 3);
    CHECK(parts(wide_row(503)).value().size() == 4);
    CHECK(parts(wide_row(251 * 99)).value().size() == 100);
    auto refused = parts(wide_row(251 * 99 + 1)).error();
    CHECK(refused.code == error_code::entity_too_large);
    CHECK(refused.message.find("sheet needs more than 99 rows") != std::string::npos);
    CHECK(refused.effect == effect::none);
    CHECK(parts(wide_row(63, 65536)).value().size() == 6);
    refused = parts(wide_row(64, 65536)).error();
    CHECK(refused.code == error_code::request_body_too_large);
    CHECK(refused.message.find("4194304") != std::string::npos);
    for (row const& part : parts(wide_row(63, 65536)).value()) {
        CHECK(service_size(part.view()) <= limits.max_entity_size);
    }
    // Operation rows leave one operation less.
    auto fewer = limits;
    fewer.max_operations = 99;
    CHECK(detail::split_wide(wide_row(251 * 98).view(), 7, "sheet", fewer).value().size() == 99);
    CHECK_FALSE(detail::split_wide(wide_row(251 * 98 + 1).view(), 7, "sheet", fewer));
    CHECK(parts([] {
        row_builder builder{"b", "s"};
        builder.add("WideParts", value_view{std::int32_t{1}});
        return builder.build();
    }())
              .error()
              .code == error_code::invalid_input);
}

TEST_CASE("golden: the rows of a wide entity have not changed") {
    auto const rows = detail::split_wide(wide_row(252).view(), -5, "sheet", local_profile()).value();
    CHECK(rows[0].row_key() == "~!w!s!00");
    CHECK(rows[1].row_key() == "~!w!s!01");
    CHECK(rows[0].view().find("WideGeneration")->as_int64() == -5);
    CHECK(rows[1].view().find("p251"));
    CHECK(rows[2].row_key() == "s");
    CHECK(rows[2].view().find("WideGeneration")->as_int64() == -5);
    CHECK(rows[2].view().find("WideParts")->as_int32() == 2);
}

TEST_CASE("a wide entity is changed under its version") {
    memory_backend store;
    auto const sheets = new_sheets(store);
    auto const first = sheets.insert(sheet_of(most, most)).value();
    auto const second = sheets.replace(sheet_of(3), first.etag).value();
    CHECK(sheets.replace(sheet_of(4), first.etag).error().code == error_code::update_condition_not_satisfied);
    CHECK(sheets.remove("b", "s", first.etag).error().code == error_code::update_condition_not_satisfied);
    sheets.update("b", "s", [](sheet& each) { each.f = "set"; }).value();
    CHECK(sheets.get("b", "s").value().f == "set");
    sheets.update("b", "s", [](sheet& each) { each.f.reset(); }).value();
    CHECK_FALSE(sheets.get("b", "s").value().f);
    CHECK(sheets.update("b", "none", [](sheet&) {}).error().code == error_code::resource_not_found);
    // Another entity whose key looks like the key of a part.
    sheet other = sheet_of(2);
    other.name = "s!00";
    sheets.insert(other).value();
    CHECK(same(sheets.get("b", "s!00").value(), other));
    CHECK(same(sheets.get("b", "s").value(), sheet_of(3)));
    // An entity with parts that were removed by hand is not a shorter entity.
    row_table const rows{store, "sheets"};
    call context;
    any_store{store}
        .execute(write_entity{"sheets", mutation{mutation_kind::remove, row{"b", "~!w!s!00", {}}, any_etag}}, context)
        .value();
    CHECK(sheets.get("b", "s").error().code == error_code::row_malformed);
    CHECK(second.parts == 1);
}

namespace {

/// The entities of the walk: `size` is the number of rows. All letters are the same, so that parts of two writes are
/// visible.
struct strip {
    std::string book;
    std::string name;
    std::string a, b, c;
};
ENTITABLE(strip, partition_key(book), row_key(name), properties(a, b, c))

/// A service whose rows have at most two properties, and whose pages have one row: so a few properties are a wide entity that is read
/// with several requests.
struct narrow {
    using is_transport = void;
    any_store behind;
    [[nodiscard]] entitable::profile profile() const {
        entitable::profile limits = behind.profile();
        limits.max_properties = 2;
        return limits;
    }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, query_entities>) {
            query_entities one = request;
            one.page_size = 1;
            return behind.execute(one, context);
        } else {
            return behind.execute(request, context);
        }
    }
};

table<wide<strip>> strips(any_store through, entitable::clock& time, std::uint64_t seed) {
    wide_options how;
    how.max_attempts = 3;
    how.time = &time;
    how.seed = seed;
    return table<wide<strip>>{narrow{std::move(through)}, "strips", how};
}
strip strip_of(char letter, bool longer) {
    return {"b", "s", std::string(1, letter), longer ? std::string(1, letter) : std::string{}, std::string(1, letter)};
}
bool is_whole(strip const& seen) { return seen.a == seen.c && (seen.b.empty() || seen.b == seen.a); }

struct wide_actor {
    std::string name;
    std::function<result<void>(table<wide<strip>> const&)> does;
};
result<void> read_whole(table<wide<strip>> const& table) {
    auto seen = table.find("b", "s");
    if (!seen) { return std::move(seen).as_failure(); }
    return !*seen || is_whole(**seen) ? result<void>{} : result<void>{failure{error_code::invalid_input, "torn"}};
}
template <class T>
result<void> only_whether(result<T> done) {
    return done ? result<void>{} : result<void>{std::move(done).as_failure()};
}

testing::interleaving_report walk(std::vector<wide_actor> const& actors, testing::interleaving_limits limits,
    bool same_seeds = false, std::size_t states = 0) {
    limits.most_states = states != 0 ? states : entitable_test::rounds(60, 100'000, 2'000);
    return testing::interleavings(
        [&](testing::stage& on) {
            auto const begun = strips(on.store(), on.time(), 98);
            begun.create().value();
            begun.insert(strip_of('0', true)).value();
            auto& torn = on.keep<std::string>();
            std::uint64_t seed = 0;
            for (wide_actor const& each : actors) {
                seed += same_seeds ? 0U : 1U;
                on.add(
                    each.name,
                    [&on, each, seed = same_seeds ? 98 : seed] {
                        auto const runs = [each, seed](any_store way, entitable::clock& time) {
                            return each.does(strips(std::move(way), time, seed));
                        };
                        return testing::program<result<void>>{runs, on.time().steady()};
                    },
                    [&torn](result<void> const& done) {
                        if (!done &&
                            (done.error().code == error_code::invalid_input ||
                                done.error().code == error_code::row_malformed)) {
                            torn = done.error().message;
                        }
                    });
            }
            on.remember([&torn] { return torn; });
            on.always([&torn] { return torn; });
            on.at_end([&on] {
                auto const last = strips(on.store(), on.time(), 97).find("b", "s");
                return !last ? last.error().message : !*last || is_whole(**last) ? "" : std::string{"torn at the end"};
            });
        },
        limits);
}

} // namespace

TEST_CASE("a reader never sees parts of two writes, in any order, with lost answers and crashes") {
    wide_actor const reader{"reader", read_whole};
    wide_actor const longer{
        "longer", [](auto const& all) { return only_whether(all.insert_or_replace(strip_of('1', true))); }};
    wide_actor const shorter{
        "shorter", [](auto const& all) { return only_whether(all.replace(strip_of('2', false), any_etag)); }};
    wide_actor const removes{"removal", [](auto const& all) { return only_whether(all.remove("b", "s", any_etag)); }};
    wide_actor const again{"removal and insert", [](auto const& all) -> result<void> {
                               ENTITABLE_CHECK(all.remove("b", "s", any_etag));
                               return only_whether(all.insert(strip_of('3', true)));
                           }};
    testing::interleaving_limits limits;
    limits.crashes = 1;
    for (auto const& actors : std::vector<std::vector<wide_actor>>{{reader, longer}, {reader, shorter},
             {reader, removes}, {reader, again}, {longer, shorter}, {shorter, removes}, {reader, longer, shorter}}) {
        auto const found = walk(actors, limits);
        std::string schedule;
        for (auto const& each : found.schedule) { schedule += each + "\n"; }
        INFO(schedule);
        CHECK(found.problem.empty());
    }
}

TEST_CASE("a generation that is used twice is detected") {
    wide_actor const reader{"reader", read_whole};
    wide_actor const writer{
        "writer", [](auto const& all) { return only_whether(all.replace(strip_of('1', true), any_etag)); }};
    testing::interleaving_limits limits;
    limits.faults = limits.late = 0;
    CHECK(walk({reader, writer}, limits, true, 2'000).problem == "torn");
    CHECK(walk({reader, writer}, limits, false, 400).problem.empty());
}
