// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Folds, counts and loops that a local backend evaluates while it reads its store, compared with paged reads: the outcomes
// are the same for all rows and queries. Then the limits of user functions during the read.

#include <entitable/core/decorators/metered.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/local/local.hpp>
#include <entitable/local/memory/memory_store.hpp>
#include <entitable/retrying.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <limits>
#include <random>
#include <sstream>
#include <thread>

namespace client_local_reads {

using namespace entitable;
using testing::make_row;

struct sample {
    std::string site;
    std::string id;
    std::string name;
    std::int32_t size{};
    std::optional<std::string> remark;
    double weight{};
    bool open{};
    std::optional<std::int64_t> visits;
    date_time changed;
    guid owner;
    binary bytes;
};
ENTITABLE(sample,
    partition_key(site),
    row_key(id),
    properties(name, size, remark, weight, open, visits, changed, owner, bytes))
using s = fields<sample>;

struct numbered {
    std::string site;
    std::int32_t number{};
    std::int64_t size{};
};
ENTITABLE(numbered, partition_key(site), row_key(number), properties(size))
using n = fields<numbered>;

/// A transport that only knows pages.
template <class T>
struct paging {
    using is_transport = void;
    T store;
    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
    template <table_request Request>
    result<response_of<Request>> execute(Request const& request, call& context) const {
        return store.execute(request, context);
    }
};
static_assert(answers<memory_backend, read_entities> && answers<file_backend, read_entities> &&
    answers<any_store, read_entities>);
static_assert(!answers<paging<memory_backend>, read_entities> &&
    !answers<testing::spy<memory_backend>, read_entities> && !answers<testing::faulty<memory_backend>, read_entities> &&
    !answers<retrying<memory_backend>, read_entities>);

// ---- the outcome, as text ----

template <class T>
std::string shown(T const& value) {
    std::ostringstream out;
    out.precision(17);
    if constexpr (requires { out << value; }) {
        out << value;
    } else if constexpr (requires { value.ticks; }) {
        out << value.ticks;
    } else if constexpr (requires { value.to_string(); }) {
        out << value.to_string();
    } else {
        out << value.size() << " bytes";
    }
    return out.str();
}
template <class T>
std::string shown(std::optional<T> const& value) {
    return value ? shown(*value) : "none";
}
template <class... T>
std::string shown(std::tuple<T...> const& values) {
    return std::apply([](auto const&... each) { return ((shown(each) + " ") + ... + ""); }, values);
}
std::string shown(sample const& each) {
    std::string bytes;
    for (std::byte const byte : each.bytes) { bytes += std::to_string(static_cast<int>(byte)) + " "; }
    return shown(std::tuple{each.site, each.id, each.name, each.size, each.remark, each.weight, each.open, each.visits,
               each.changed, each.owner}) +
        bytes;
}
std::string shown(numbered const& each) { return shown(std::tuple{each.site, each.number, each.size}); }
template <class E, class... Fields>
std::string shown(selected<E, Fields...> const& each) {
    return shown(std::tuple{each[Fields{}]...}) + each.etag().to_string() + " " + shown(each.timestamp());
}
template <class Key, class Values>
std::string shown(std::vector<std::pair<Key, Values>> const& groups) {
    std::string all;
    for (auto const& [key, values] : groups) { all += shown(key) + ": " + shown(values) + "\n"; }
    return all;
}
std::string shown(error const& problem) { return std::string{to_string(problem.code)} + ": " + problem.message; }
template <class T>
std::string shown(result<T> const& outcome) {
    return outcome ? shown(*outcome) : shown(outcome.error());
}

/// What a loop received, and how it ended.
template <class Query>
std::string walked(Query const& asked) {
    std::string all;
    auto const done = asked.for_each([&](auto const& each) { all += shown(each) + "\n"; });
    return all + (done ? "end" : shown(done.error()));
}

/// What a comparison covers besides results: the costs of folds, and those of counts unless the store counts by itself.
enum class costs : std::uint8_t { none, folds, all };

/// Everything that can be called on a query.
template <class Query>
std::vector<std::string> everything(Query const& asked, costs compared) {
    std::vector<std::string> all{
        shown(asked.count()),
        walked(asked),
        walked(asked.select(s::size, s::visits)),
        walked(asked.select(s::remark)),
        walked(asked.select(s::id, s::bytes)),
        shown(asked.fold(count())),
        shown(asked.fold(count(), min(s::size), max(s::size), sum(s::size), average(s::size))),
        shown(asked.fold(min(s::weight), max(s::weight), sum(s::weight), average(s::visits), sum(s::visits))),
        shown(asked.fold(max(s::name), min(s::remark), max(s::changed), min(s::owner), max(s::site), min(s::id))),
        shown(asked.fold(
            std::size_t{}, [](std::size_t length, auto const& each) { return length + shown(each).size(); })),
        shown(asked.group_by(s::site, count(), sum(s::size))),
        shown(asked.group_by(s::remark, count(), max(s::visits))),
        shown(asked.group_by(s::open, count(), min(s::name))),
        shown(asked.min(s::weight)),
        shown(asked.sum(s::visits)),
    };
    if (compared != costs::none) {
        for (auto const& run : {asked, asked.page_size(7), asked.take(5)}) {
            all.push_back(shown(run.fold(count(), sum(s::size))) + "\n");
            all.back() += run.analyze().to_string();
            all.push_back(shown(run.count()) + "\n");
            if (compared == costs::all) { all.back() += run.analyze().to_string(); }
        }
    }
    return all;
}

// ---- rows and queries at random ----

class dice {
public:
    explicit dice(std::uint64_t seed) : random_(seed) {}
    std::size_t operator()(std::size_t sides) { return random_() % sides; }
    template <class T, std::size_t Size>
    T one_of(T const (&all)[Size]) {
        return all[(*this)(Size)];
    }
    std::string text() {
        using namespace std::string_literals;
        std::string const all[] = {""s, "a"s, "b"s, "Z\xC3\xBCrich"s, "\xEE\x80\x80"s, "\xF0\x9F\x98\x80"s,
            "with\0zero"s, std::string(300, 'x'), "~"s};
        return one_of(all);
    }
    std::string key() {
        std::string const all[] = {
            "", "a", "b", "b0", "Z\xC3\xBCrich", "\xEE\x80\x80", "\xF0\x9F\x98\x80", "~", "~z", "!"};
        return one_of(all);
    }
    double number() {
        using limits = std::numeric_limits<double>;
        double const all[] = {
            0.0, -0.0, 1.5, -2.25, 1e300, limits::infinity(), -limits::infinity(), limits::quiet_NaN()};
        return one_of(all);
    }
    std::int64_t integer() {
        using limits = std::numeric_limits<std::int64_t>;
        std::int64_t const all[] = {0, 1, -1, 7, 1'000'000, limits::max() / 4, limits::min() / 4};
        return one_of(all);
    }

private:
    std::mt19937_64 random_;
};

sample any_sample(dice& any) {
    sample made;
    made.site = any(2) == 0 ? "a" : any.key(); // one with many rows
    made.id = any.key() + std::to_string(any(60));
    made.name = any.text();
    made.size = static_cast<std::int32_t>(any.integer());
    if (any(2) == 0) { made.remark = any.text(); }
    made.weight = any.number();
    made.open = any(2) == 0;
    if (any(2) == 0) { made.visits = any.integer(); }
    made.changed = date_time{static_cast<std::int64_t>(any(1000)) * 10'000'000};
    made.owner.bytes[any(16)] = static_cast<std::remove_reference_t<decltype(made.owner.bytes[0])>>(any(256));
    made.bytes.assign(any(4), std::byte{7});
    return made;
}

/// A row that is not a `sample`, or not exactly: another order, a narrower type, a missing value, a value of another type, or an
/// additional one.
row odd_row(dice& any, std::string const& site, std::string const& id) {
    std::size_t const oddity = any(6);
    row_builder made{site, id};
    if (oddity == 0) { made.add("size", std::int32_t{5}); }
    made.add("name", value_view{"odd"});
    if (oddity == 1) {
        made.add("size", value_view{"a text"});
    } else if (oddity != 0 && oddity != 2) {
        made.add("size", std::int32_t{5});
    }
    made.add("weight", 1.0);
    made.add("open", true);
    made.add("visits", std::int32_t{3});
    made.add("changed", date_time{7});
    guid const none{};
    made.add("owner", property_type<guid>::view(none));
    binary const empty{};
    made.add("bytes", property_type<binary>::view(empty));
    if (oddity == 4) { made.add("further", true); }
    return made.build();
}

template <class Table>
auto any_query(dice& any, Table const& in) {
    using query_type = decltype(in.scan_table());
    std::vector<query_type> const all{in.scan_table(), in.scan_table(s::size > 0),
        in.scan_table(s::size > 0 || s::id == "a1"), in.scan_table(s::remark == std::nullopt),
        in.scan_table(!(s::name == any.text()) && s::weight <= any.number())};
    return all[any(all.size())];
}

template <class Body>
void with_limits(dice& any, auto query, Body const& body) {
    if (any(3) == 0) { query = query.take(any(40)); }
    if (any(2) == 0) { query = query.page_size(static_cast<std::uint32_t>(1 + any(30))); }
    body(query);
}

template <class Store>
void compare(std::uint64_t seed, Store const& store, bool odd, costs compared) {
    dice any{seed};
    call_options how;
    how.reading = any.one_of({reading::standard, reading::strict, reading::lenient});
    std::string const name = "Samples" + std::to_string(seed);
    table<sample> const shown_table{store, name, how};
    table<sample> const paged_table{paging<Store>{store}, name, how};
    shown_table.create().value();
    for (std::size_t count = any(compared != costs::none ? 400 : 100); count > 0; --count) {
        shown_table.insert_or_replace(any_sample(any)).value();
    }
    for (std::size_t count = odd ? 1 + any(3) : 0; count > 0; --count) {
        call context;
        auto const made =
            store.execute(write_entity{name, mutation::insert_or_replace(odd_row(any, any.key(), any.key()))}, context);
        REQUIRE(made);
    }
    call context; // a system row in each of some partitions
    for (std::string const site : {"a", "b", ""}) {
        REQUIRE(store.execute(
            write_entity{name, mutation::insert_or_replace(row_builder{site, "~!tx!"}.build())}, context));
    }
    for (int round = 0; round < 4; ++round) {
        INFO("seed " << seed << ", round " << round);
        dice first{seed * 100 + static_cast<std::uint64_t>(round)};
        dice second = first;
        dice third = first;
        auto const compare_queries = [&](auto const& ask) {
            std::vector<std::string> one;
            std::vector<std::string> other;
            with_limits(first, ask(first, shown_table), [&](auto const& query) { one = everything(query, compared); });
            with_limits(
                second, ask(second, paged_table), [&](auto const& query) { other = everything(query, compared); });
            std::vector<std::string> by_pages; // not returned by any query
            with_limits(third, ask(third, paged_table),
                [&](auto const& query) { by_pages = everything(query.in_flight(2), costs::none); });
            for (std::size_t index = 0; index < by_pages.size(); ++index) {
                INFO("question " << index << ", by pages");
                REQUIRE(one[index] == by_pages[index]);
            }
            REQUIRE(one.size() == other.size());
            for (std::size_t index = 0; index < one.size(); ++index) {
                INFO("question " << index);
                REQUIRE(one[index] == other[index]);
            }
        };
        compare_queries([](dice& dice, auto const& in) { return any_query(dice, in); });
        compare_queries([](dice&, auto const& in) { return in.where(s::site == "a"); });
        compare_queries([](dice& dice, auto const& in) { return in.where(s::site == "a" && s::id < dice.key()); });
        compare_queries([](dice& dice, auto const& in) { return in.where(s::site == dice.key()); });
        compare_queries(
            [](dice& dice, auto const& in) { return in.where(s::site == dice.key() && s::id > dice.key()); });
        compare_queries([](dice& dice, auto const& in) {
            return in.where(s::site == dice.key() && s::id >= dice.key() && s::id <= dice.key() && s::open == true);
        });
        compare_queries([](dice& dice, auto const& in) {
            return in.where((s::site == dice.key() && s::id == "a1") || (s::site == dice.key() && s::size < 5));
        });
        compare_queries([](dice& dice, auto const& in) {
            return in.where(s::site >= dice.key() && s::site <= dice.key() && s::id > dice.key());
        });
    }
}

} // namespace client_local_reads

using namespace client_local_reads;

TEST_CASE("local reads: in memory the results equal those of paged reads") {
    std::uint64_t const seeds = std::getenv("ENTITABLE_TEST_LONG") != nullptr ? 400 : 8;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) { compare(seed, memory_backend{}, seed % 2 == 0, costs::all); }
}

TEST_CASE("local reads: in a file the results equal those of paged reads") {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    std::uint64_t const seeds = std::getenv("ENTITABLE_TEST_LONG") != nullptr ? 100 : 2;
    file_options how;
    how.durability = durability::relaxed;
    file_backend const store{folder / "a.db", how};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) { compare(seed, store, seed % 2 == 0, costs::folds); }
}

TEST_CASE("local reads: in nasty mode the results equal those of paged reads") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        local_options options;
        options.nasty.emplace().seed = seed;
        compare(seed, memory_backend{options}, seed % 2 == 0, costs::none);
        options.limits.ordered = false;
        memory_backend const unordered{options};
        table<numbered> const rows{unordered, "Rows"};
        while (!rows.create()) {}
        for (std::int32_t number = 0; number < 50; ++number) { rows.insert({"a", number, number}).value(); }
        CHECK(rows.where(n::site == "a").sum(n::size).value() == 49 * 25);
        CHECK(rows.where(n::site == "a").count().value() == 50);
    }
}

TEST_CASE(
    "local reads: a vector gets room for the rows of a partition at once, but not for rows that a query leaves out") {
    table<numbered> const all{memory_backend{}, "numbers"};
    all.create().value();
    for (std::int32_t number = 0; number < 700; ++number) { all.insert({"Oslo", number, number % 100}).value(); }
    auto const oslo = all.where(n::site == "Oslo");
    auto const room = [](auto const& asked) {
        std::vector<numbered> const read = asked.to().value();
        return std::pair{read.size(), read.capacity()};
    };
    CHECK(room(oslo) == std::pair<std::size_t, std::size_t>{700, 700});
    CHECK(room(all.where(n::site == "Oslo" && n::number >= 650)) == std::pair<std::size_t, std::size_t>{50, 50});
    CHECK(room(all.where(n::site == "Oslo" && n::size == 7)).second < 16);
    CHECK(room(oslo.take(3)).second < 16);
    auto const [size, capacity] = room(oslo.page_size(100));
    CHECK(size == 700);
    CHECK(capacity == 700);
}

TEST_CASE("local reads: a query ends at the same row and costs the same as with paged reads") {
    memory_backend const store;
    table<numbered> const rows{store, "Rows"};
    rows.create().value();
    call context;
    for (std::string const site : {"a", "b", "c"}) {
        for (std::int32_t number = 0; number < 90; ++number) { rows.insert({site, number, number}).value(); }
        REQUIRE(store.execute(write_entity{"Rows", mutation::insert(row_builder{site, "~!tx!"}.build())}, context));
    }
    auto const some = rows.scan_table(n::size >= 7 || n::number == 3);
    for (auto const& asked : {rows.scan_table(), some, some.page_size(50), rows.scan_table().page_size(50)}) {
        auto const paged = asked.in_flight(2);
        CHECK(asked.count().value() == paged.count().value());
        CHECK(asked.analyze().to_string() == paged.analyze().to_string());
        CHECK(asked.take(100).count().value() == 100);
        CHECK(
            asked.take(100).fold(count(), max(n::size)).value() == paged.take(100).fold(count(), max(n::size)).value());
    }
}

TEST_CASE("local reads: a file counts in one request, without system rows") {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    file_options how;
    how.durability = durability::relaxed;
    file_backend const store{folder / "a.db", how};
    table<sample> const rows{store, "Rows"};
    rows.create().value();
    call context;
    std::vector<std::string> const keys{
        "", "~", "~ z", "~!", "~!tx!", "~!\xEE\x80\x80", "~\"", "~\"a", "~~", "a", "\xEF\xBF\xBD"};
    for (std::string const site : {"", "a", "b", "~!"}) {
        for (std::string const& key : keys) {
            REQUIRE(store.execute(write_entity{"Rows", mutation::insert(row_builder{site, key}.build())}, context));
        }
    }
    auto const agrees = [&](auto const& asked, std::size_t requests) {
        auto const counted = asked.count();
        REQUIRE(counted);
        CHECK(asked.analyze().requests <= requests); // an empty range sends none
        CHECK(*counted == asked.in_flight(2).count().value());
        CHECK(*counted == asked.page_size(1).count().value());
    };
    agrees(rows.scan_table(), 1);
    agrees(rows.where(s::site == "a"), 1);
    agrees(rows.where(s::site == "~!"), 1);
    agrees(rows.where(s::site == "none"), 1);
    agrees(rows.scan_table(s::site > "a"), 1);
    agrees(rows.scan_table(s::site >= "a" && s::site < "b"), 1);
    CHECK(rows.where(s::site == "a").count().value() == 8);
    CHECK(rows.scan_table().count().value() == 32);
    for (std::string const& from : keys) {
        if (system_row::is_one(from)) { continue; }
        agrees(rows.where(s::site == "a" && s::id >= from), 1);
        agrees(rows.where(s::site == "a" && s::id > from), 1);
        agrees(rows.where(s::site == "a" && s::id < from), 1);
        agrees(rows.where(s::site == "a" && s::id <= from), 1);
        for (std::string const& to : keys) {
            if (!system_row::is_one(to)) { agrees(rows.where(s::site == "a" && s::id >= from && s::id < to), 1); }
        }
    }
}

TEST_CASE("local reads: a long count in a file ends with its call") {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    testing::manual_clock time;
    file_options how;
    how.durability = durability::relaxed;
    how.local.time = &time;
    file_backend const store{folder / "a.db", how};
    table<numbered> const rows{store, "Rows"};
    rows.create().value();
    std::vector<numbered> all;
    for (std::int32_t number = 0; number < 30'000; ++number) { all.push_back({"a", number, number}); }
    for (std::size_t at = 0; at < all.size(); at += 100) {
        auto batch = rows.batch();
        for (std::size_t each = at; each < at + 100; ++each) { batch.insert(all[each]); }
        REQUIRE(batch.submit());
    }
    /// The third look at the clock, and all after it, find the deadline passed.
    class passing_clock final : public clock {
    public:
        [[nodiscard]] date_time now() noexcept override { return of_.now(); }
        [[nodiscard]] steady_time steady() noexcept override {
            return of_.steady() + (looks++ < 2 ? std::chrono::seconds{0} : std::chrono::seconds{10});
        }
        void wait_until(steady_time until) noexcept override { of_.wait_until(until); }
        explicit passing_clock(clock& of) : of_(of) {}
        int looks{};

    private:
        clock& of_;
    } passing{time};
    how.local.time = &passing;
    file_backend const late{folder / "a.db", how};
    CHECK(table<numbered>{late, "Rows"}.where(n::site == "a").count().value() == 30'000); // no deadline
    call context;
    context.deadline = time.steady() + std::chrono::seconds{5};
    passing.looks = 0;
    query_entities asked{"Rows", {}, {}, {}, 1000, {}};
    asked.range.partition = key_interval::only("a"); // its rows are visited; a whole table may be counted by its pages
    page_visitor const nothing{[](std::span<row_view const>) {}};
    auto const counted = late.execute(read_entities{"Rows", &asked, &nothing, false, true, true}, context);
    REQUIRE_FALSE(counted);
    CHECK(counted.error().code == error_code::deadline_exceeded);
    CHECK(passing.looks > 2);
    CHECK(table<numbered>{late, "Rows"}.scan_table().count().value() == 30'000); // the connection is good
}

TEST_CASE("local reads: a page ends at its byte limit and at an invalid row") {
    local<memory_store> const store;
    table<sample> const rows{store, "Rows"};
    rows.create().value();
    sample large;
    large.site = "a";
    large.bytes.assign(60'000, std::byte{1});
    for (std::size_t number = 10; number < 99; ++number) {
        large.id = std::to_string(number);
        rows.insert(large).value();
    }
    auto const all = rows.where(s::site == "a");
    auto const paged = all.in_flight(2);
    CHECK(all.count().value() == 89);
    CHECK(all.analyze().requests > 1);
    std::size_t seen = 0;
    auto const look = [&](sample const&) { ++seen; };
    REQUIRE(all.for_each(look));
    REQUIRE(paged.for_each(look));
    CHECK(seen == 2 * 89);
    CHECK(all.analyze().to_string() == paged.analyze().to_string());
    REQUIRE(store.store().update("rows", "a", [](memory_store::transaction& change) {
        change.put("50", "short");
        return true;
    }));
    CHECK(all.count().error().code == error_code::row_malformed);
    CHECK(all.sum(s::size).error().code == error_code::row_malformed);
    seen = 0;
    CHECK(all.page_size(1).for_each(look).error().code == error_code::row_malformed);
    CHECK(seen == 40);
}

TEST_CASE("local reads: a fold fails at a key of a different type") {
    memory_backend const store;
    table<numbered> const rows{store, "Rows"};
    table<numbered> const paged{paging<memory_backend>{store}, "Rows"};
    rows.create().value();
    rows.insert({"a", 1, 2}).value();
    CHECK(shown(rows.scan_table().fold(count(), sum(n::size))) == "1 2 ");
    call context;
    REQUIRE(store.execute(write_entity{"Rows", mutation::insert(row_builder{"a", "no number"}.build())}, context));
    for (table<numbered> const* each : {&rows, &paged}) {
        CHECK(each->scan_table().fold(count()).error().code == error_code::row_mismatch);
        CHECK(each->scan_table().count().value() == 2); // counts rows without reading them
        CHECK(each->where(n::site == "a" && n::number < 5).sum(n::size).value() == 2);
    }
    table<numbered> const none{store, "Nothing"};
    CHECK(none.scan_table().count().error().code == error_code::table_not_found);
    CHECK(none.scan_table().fold(count()).error().code == error_code::table_not_found);
}

namespace client_local_reads {

/// Functions that write to the rows being read, and throw.
void write_while_reading(any_store const& store, std::string const& name) {
    table<numbered> const rows{store, name};
    rows.create().value();
    for (std::int32_t number = 0; number < 30; ++number) { rows.insert({"a", number, number}).value(); }
    std::vector<std::int64_t> seen;
    auto const change = [&](auto const& each) {
        seen.push_back(each.size);
        if (each.number % 10 == 0) { // the first row of a page: the others were read before
            for (std::int32_t number = each.number; number < 30; ++number) {
                rows.insert_or_replace({"a", number, 1000 + number}).value();
            }
        }
        if (each.number == 25) {
            rows.remove("a", 29, any_etag).value();
            throw each.number;
        }
    };
    CHECK_THROWS_AS((void)rows.where(n::site == "a").page_size(10).for_each(change), std::int32_t);
    REQUIRE(seen.size() == 26);
    CHECK(seen[0] == 0);
    CHECK(seen[9] == 9);
    CHECK(seen[10] == 1010);
    CHECK(seen[19] == 1019);
    CHECK(seen[20] == 1020);
    CHECK(rows.where(n::site == "a").count().value() == 29); // nothing is locked any more
    std::size_t selected = 0;
    REQUIRE(rows.where(n::site == "a").select(n::size).for_each([&](auto const& each) {
        ++selected;
        rows.insert_or_replace({"a", each[n::number], 5}).value();
    }));
    CHECK(selected == 29);
    CHECK(rows.where(n::site == "a").sum(n::size).value() == 29 * 5);
    // A fold of the user is a function of the user.
    CHECK(rows.where(n::site == "a")
              .fold(0,
                  [&](int made, numbered const& each) {
                      rows.insert_or_replace({"a", each.number, 6}).value();
                      return made + 1;
                  })
              .value() == 29);
    CHECK(rows.where(n::site == "a").sum(n::size).value() == 29 * 6);
}

/// A value whose codec calls a table, though it looks like a plain type.
struct trap {
    std::int32_t value{};
    static inline std::function<void()> springs{};
};

struct trapped {
    std::string site;
    std::int32_t number{};
    trap size;
};
struct trapped_by_number : trapped {};

} // namespace client_local_reads

template <>
struct entitable::property_type<client_local_reads::trap> {
    static constexpr edm_type type = edm_type::int32;
    static value_view view(client_local_reads::trap const& value) noexcept { return value.value; }
    static bool assign(client_local_reads::trap& to, value_view from) {
        if (client_local_reads::trap::springs) { client_local_reads::trap::springs(); }
        to.value = from.as_int32();
        return from.type() == type;
    }
};

namespace client_local_reads {

ENTITABLE(trapped, partition_key(site), row_key(number), properties(size))
ENTITABLE(trapped_by_number, partition_key(site), row_key(literal("I:"), number), properties(size))

class with_setter {
public:
    std::string site;
    std::int32_t number{};
    [[nodiscard]] std::int32_t size() const { return size_; }
    void set_size(std::int32_t value) { size_ = value; }

private:
    std::int32_t size_{};
};
ENTITABLE(with_setter, partition_key(site), row_key(number), properties(accessors(Size, size, set_size)))

static_assert(detail::is_read_by_library<sample> && detail::is_read_by_library<numbered> &&
    detail::is_read_by_library<selected<sample, decltype(s::remark)>>);
static_assert(!detail::is_read_by_library<trapped> && !detail::is_read_by_library<with_setter>);

/// A type whose default members use a table.
struct ticketed {
    static inline std::function<std::int32_t()> tickets{};
    static std::int32_t next_ticket() { return tickets ? tickets() : 0; }

    std::string site;
    std::int32_t number{};
    std::int32_t ticket = next_ticket();
};
ENTITABLE(ticketed, partition_key(site), row_key(number), properties(ticket))

static_assert(!detail::is_read_by_library<ticketed>);

/// Counts the events of an observer.
struct telling final : observer {
    std::vector<std::string> told;
    void on_operation(operation_record const& done) noexcept override { tell("operation", done); }
    void on_attempt(attempt_record const& done) noexcept override { tell("attempt", done); }
    void on_wait(wait_record const&) noexcept override { told.push_back("wait"); }
    template <class Record>
    void tell(std::string const& what, Record const& done) {
        told.push_back(what + " " + std::string{done.name} + " " + std::to_string(done.outcome.rows.value_or(999)) +
            (done.outcome.error ? " " + std::string{to_string(*done.outcome.error)} : ""));
    }
};

} // namespace client_local_reads

TEST_CASE("local reads: functions of the user may write to the table they read, and may throw") {
    write_while_reading(memory_backend{}, "Memory");
    write_while_reading(paging<memory_backend>{memory_backend{}}, "Pages");
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    file_options how;
    how.durability = durability::relaxed;
    write_while_reading(file_backend{folder / "log.db", how}, "File");
    how.journal = file_journal::rollback;
    write_while_reading(file_backend{folder / "rollback.db", how}, "File");
}

TEST_CASE("local reads: codecs of user types run outside the locks of the store") {
    table<trapped> const rows{memory_backend{}, "Rows"};
    rows.create().value();
    for (std::int32_t number = 0; number < 10; ++number) { rows.insert({"a", number, {number}}).value(); }
    using t = fields<trapped>;
    int sprung = 0;
    trap::springs = [&] {
        trap::springs = {};
        rows.insert_or_replace({"a", 50 + ++sprung, {1}}).value(); // would wait forever under the lock of the partition
    };
    std::size_t counted = 0;
    CHECK(rows.where(t::site == "a").select(t::size).for_each([&](auto const&) { ++counted; }));
    CHECK(counted == 10);
    CHECK(sprung == 1);
    trap::springs = [&] {
        trap::springs = {};
        rows.insert_or_replace({"a", 50 + ++sprung, {1}}).value();
    };
    CHECK(rows.where(t::site == "a").for_each([](trapped const&) {}));
    CHECK(sprung == 2);
}

TEST_CASE("local reads: a verification decodes entities outside the locks of the store") {
    table<trapped, trapped_by_number> const rows{memory_backend{}, "Rows"};
    rows.create().value();
    for (std::int32_t number = 0; number < 10; ++number) { rows.insert(trapped{"a", number, {number}}).value(); }
    int sprung = 0;
    trap::springs = [&] {
        trap::springs = {};
        rows.insert_or_replace(trapped{"a", 50 + ++sprung, {1}})
            .value(); // would wait forever under the lock of the partition
    };
    CHECK(rows.verify());
    CHECK(sprung == 1);
    auto const again = rows.verify().value();
    CHECK(again.good());
    CHECK(again.indexes.index_rows == 11);
}

TEST_CASE("local reads: default members that use the table are created outside the locks of the store") {
    memory_backend const store;
    table<ticketed> const rows{store, "Rows"};
    rows.create().value();
    for (std::int32_t number = 0; number < 10; ++number) { rows.insert({"a", number, number}).value(); }
    using t = fields<ticketed>;
    std::int32_t drawn = 0;
    bool drawing = false;
    ticketed::tickets = [&] {
        if (!std::exchange(drawing, true)) {
            rows.insert_or_replace({"a", 0, ++drawn}).value(); // would wait forever under the lock of the partition
            drawing = false;
        }
        return drawn;
    };
    CHECK(rows.where(t::site == "a").to().value().size() == 10);
    CHECK(rows.where(t::site == "a").for_each([](ticketed const&) {}));
    CHECK(rows.where(t::site == "a" && t::number > 0).sum(t::ticket).value() == 45);
    ticketed::tickets = {};
    CHECK(drawn > 1);
}

TEST_CASE("local reads: a cancellation or a deadline ends the query between two pages") {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    memory_backend const store{options};
    cancellation_source source;
    call_options how;
    how.cancellation = source.token();
    table<numbered> const rows{store, "Rows", how};
    rows.create().value();
    for (std::int32_t number = 0; number < 30; ++number) { rows.insert({"a", number, number}).value(); }
    std::size_t seen = 0;
    auto const done = rows.where(n::site == "a").page_size(10).for_each([&](numbered const&) {
        if (++seen == 5) { source.cancel(); }
    });
    REQUIRE_FALSE(done);
    CHECK(done.error().code == error_code::cancelled);
    CHECK(seen == 10);
    CHECK(rows.where(n::site == "a").count().error().code == error_code::cancelled);
    CHECK(rows.where(n::site == "a").fold(count(), sum(n::size)).error().code == error_code::cancelled);
}

TEST_CASE("local reads: observers see each page as with paged reads") {
    memory_backend const store;
    std::vector<std::vector<std::string>> told;
    table<numbered>{store, "Rows"}.create().value();
    for (std::int32_t number = 0; number < 25; ++number) {
        table<numbered>{store, "Rows"}.insert({"a", number, number}).value();
    }
    for (any_store const& each :
        {any_store{store}, any_store{paging<memory_backend>{store}}, any_store{metered{store}}}) {
        telling watch;
        call_options how;
        how.watch = &watch;
        table<numbered> const rows{each, "Rows", how};
        auto const all = rows.where(n::site == "a").page_size(10);
        (void)all.count().value();
        (void)all.sum(n::size).value();
        (void)all.for_each([](numbered const&) {});
        (void)table<numbered>{each, "Nothing", how}.scan_table().count();
        told.push_back(watch.told);
    }
    REQUIRE(told[0].size() == 2 * (3 * 3 + 1));
    CHECK(told[1] == told[0]);
    CHECK(told[2] == told[0]);
}

TEST_CASE("local reads: layers in front of a store are not bypassed") {
    memory_backend const store;
    table<numbered>{store, "Rows"}.create().value();
    for (std::int32_t number = 0; number < 25; ++number) {
        table<numbered>{store, "Rows"}.insert({"a", number, number}).value();
    }
    testing::faulty<memory_backend> const bad{store};
    table<numbered> const through_bad{bad, "Rows"};
    auto const all = through_bad.where(n::site == "a").page_size(10);
    bad.plan({testing::fault::lost_before(), 2, "query_entities", "Rows"});
    CHECK(all.sum(n::size).error().code == error_code::transport_failed);
    bad.plan({testing::fault::lost_before(), 3, "query_entities", "Rows"});
    CHECK(all.count().error().code == error_code::transport_failed);
    // A repeated request is counted once.
    testing::manual_clock time;
    table<numbered> const retried{retrying{bad}, "Rows"};
    bad.plan({testing::fault::half_answer(), 2, "query_entities", "Rows"});
    CHECK(shown(retried.where(n::site == "a").page_size(10).fold(count(), sum(n::size))) == "25 300 ");
    testing::spy<memory_backend> const watched{store};
    CHECK(table<numbered>{watched, "Rows"}.where(n::site == "a").page_size(10).count().value() == 25);
    CHECK(watched.count<query_entities>() == 3);
    CHECK(watched.count<read_entities>() == 0);
    metered<memory_backend> const counted{store};
    CHECK(table<numbered>{counted, "Rows"}.where(n::site == "a").page_size(10).count().value() == 25);
    REQUIRE(counted.counted().size() == 1);
    CHECK(counted.counted()[0].operations == 3);
}

TEST_CASE("local reads: a transaction is seen completely or not at all") {
    entitable_test::temporary_folder const folder{entitable_test::temporary_folder::memory()};
    file_options how;
    how.durability = durability::relaxed;
    for (any_store const& store : {any_store{memory_backend{}}, any_store{file_backend{folder / "a.db", how}}}) {
        table<numbered> const rows{store, "Rows"};
        rows.create().value();
        auto setup = rows.batch();
        for (std::int32_t number = 0; number < 90; ++number) { setup.insert({"a", number, 100}); }
        setup.submit().value();
        std::atomic<bool> stop{false};
        std::thread writer{[&] {
            std::mt19937 random{1};
            while (!stop) {
                auto const moved = static_cast<std::int64_t>(random() % 50);
                auto move = rows.batch();
                auto const from = static_cast<std::int32_t>(random() % 45);
                auto const to = 89 - static_cast<std::int32_t>(random() % 45);
                move.insert_or_replace({"a", from, 100 - moved}).insert_or_replace({"a", to, 100 + moved});
                move.submit().value();
                auto back = rows.batch();
                back.insert_or_replace({"a", from, 100}).insert_or_replace({"a", to, 100});
                back.submit().value();
            }
        }};
        bool whole = true;
        for (int round = 0; round < 150; ++round) {
            whole = whole && rows.where(n::site == "a").sum(n::size).value() == 9000;
            std::int64_t sum = 0;
            rows.where(n::site == "a").for_each([&](numbered const& each) { sum += each.size; }).value();
            whole = whole && sum == 9000;
        }
        stop = true;
        writer.join();
        CHECK(whole);
    }
}
