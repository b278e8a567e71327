// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A copy of a table takes the data: each kind of system row is checked against the register, the page that documents it, and the feature
// that writes it.

#include <entitable/bulk.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/copy.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/entitable.hpp>
#include <entitable/expiry.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/sequence.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>
#include <entitable/views.hpp>
#include <entitable/wide.hpp>

#include <support/catch.hpp>
#include <support/entities.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;
using entitable_test::sale;
using system_row::copying;
using testing::make_row;

namespace {

struct note {
    std::string book;
    std::string title;
    std::int32_t stars{};
};
ENTITABLE(note, partition_key(book), row_key(title), properties(stars))

struct sheet {
    std::string book;
    std::string name;
    std::string a, b, c, d, e;
};
ENTITABLE(sheet, partition_key(book), row_key(name),
    properties(chunked(a), chunked(b), chunked(c), chunked(d), chunked(e)))
/// The table of sheets, as seen by a program that does not know that they are wide.
struct bare_sheet {
    std::string book;
    std::string name;
    std::optional<std::int32_t> pages;
};
ENTITABLE(bare_sheet, partition_key(book), row_key(name), properties(pages))

struct errand {
    std::string town;
    std::int32_t number{};
};
ENTITABLE(errand, partition_key(town), row_key(number), properties())

struct runner {
    std::string race;
    std::int32_t bib{};
    std::int32_t age{};
    std::string club;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), width(bib, 5)), properties(age, club))
struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), width(bib, 5)), properties())
struct by_club : runner {};
ENTITABLE(by_club, partition_key(club), row_key(race, width(bib, 5)), properties())

struct tally {
    std::string all;
    std::string book;
    std::int32_t notes{};

    static tally key(note const& of) { return {"all", of.book, 0}; }
    void add(note const&) { ++notes; }
};
ENTITABLE(tally, partition_key(all), row_key(book), properties(notes))

struct sales_of_day {
    std::string shop;
    std::string day;
    std::int64_t cents{};

    static sales_of_day key(sale const& of) { return {of.shop, of.day}; }
    void add(sale const& one) { cents += one.cents; }
    void subtract(sale const& one) { cents -= one.cents; }
};
ENTITABLE(sales_of_day, partition_key(shop), row_key(literal("SUM:"), day), properties(cents))

/// Two stores with one clock, and the same table in both.
struct stores {
    testing::manual_clock time;
    memory_backend source{local_options{.time = &time}};
    memory_backend target{local_options{.time = &time}};

    [[nodiscard]] result<copy_progress> copied(std::string const& table) const {
        (void)row_table{target, table}.create_if_absent().value();
        return copy_rows(source, table, target, table);
    }
    [[nodiscard]] result<copy_progress> changed(std::string const& table) const {
        (void)row_table{target, table}.create_if_absent().value();
        return copy_rows(source, table, target, table, detail::same_row, [](copy_progress const&) {});
    }
    void put(row made) const {
        call context;
        source.execute(write_entity{"notes", mutation::insert(std::move(made))}, context).value();
    }
    [[nodiscard]] static std::size_t rows_in(memory_backend const& store, std::string const& table) {
        auto const all = testing::read_contents(store).value().tables;
        auto const found = all.find(table);
        return found == all.end() ? 0 : found->second.size();
    }
};

/// Answers this number of requests, and none after them.
struct dying {
    using is_transport = void;
    any_store below;
    std::shared_ptr<int> left;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if (--*left < 0) { return failure{error_code::transport_failed, "gone"}; }
        return below.execute(request, context);
    }
};

queue_options queue_at(entitable::clock& time) {
    queue_options how;
    how.lanes = 2;
    how.time = &time;
    how.seed = 5;
    how.max_deliveries = 2;
    return how;
}

std::size_t intents_in(memory_backend const& store) {
    auto const all = testing::read_contents(store).value();
    std::size_t count = 0;
    for (auto const& [keys, properties] : all.tables.at("runners")) {
        count += keys.second.starts_with(system_row::intent) ? 1U : 0U;
    }
    return count;
}

std::string_view word_of(copying how) {
    return how == copying::taken_along ? "taken along" : how == copying::left_behind ? "left behind" : "refused";
}

/// The cells of each line of a table in the documentation, by the first cell.
std::map<std::string, std::vector<std::string>> documented_kinds() {
    // Tests run in a build folder inside the sources; the compiler may know them by relative paths.
    auto folder = std::filesystem::current_path();
    while (!exists(folder / "docs" / "stored_formats.md") && folder != folder.parent_path()) {
        folder = folder.parent_path();
    }
    std::ifstream page{folder / "docs" / "stored_formats.md"};
    std::map<std::string, std::vector<std::string>> found;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `~!")) { continue; }
        std::vector<std::string> cells;
        for (std::size_t at = 1; at < line.size();) {
            std::size_t const end = line.find('|', at);
            std::string cell = line.substr(at, end - at);
            cell.erase(0, cell.find_first_not_of(' '));
            cell.erase(cell.find_last_not_of(' ') + 1);
            cells.push_back(cell);
            at = end == std::string::npos ? line.size() : end + 1;
        }
        if (cells.size() == 5) { // the register; other tables have fewer columns
            found.emplace(cells[0], cells);
        }
    }
    return found;
}

} // namespace

TEST_CASE("system rows: the register and its guide page describe copying in the same way") {
    auto const page = documented_kinds();
    CHECK(page.size() == std::size(system_row::kinds));
    for (system_row::kind const& kind : system_row::kinds) {
        INFO(kind.prefix);
        auto const line = page.find("`" + std::string{kind.prefix} + "`");
        REQUIRE(line != page.end());
        CHECK(line->second[3] == word_of(kind.copied));
        CHECK(line->second[4] == word_of(kind.changed));
        CHECK_FALSE(kind.holds.empty());
        CHECK_FALSE(kind.keeper.empty());
        CHECK(system_row::kind_of(std::string{kind.prefix} + "x") == &kind);
        // A copy that changes rows never drops data silently, except rows that such a copy invalidates.
        CHECK((kind.copied != copying::taken_along || kind.changed == copying::refused ||
            kind.prefix == system_row::index || kind.prefix == system_row::migrated ||
            kind.prefix == system_row::base || kind.prefix == system_row::synced || kind.prefix == system_row::log));
    }
    CHECK(system_row::kind_of("~!new!x") == &system_row::unknown);
    CHECK(system_row::kind_of("~x") == nullptr);
}

TEST_CASE("copy: each kind of system row is copied, skipped or refused as its kind requires") {
    std::vector<system_row::kind> all{std::begin(system_row::kinds), std::end(system_row::kinds)};
    all.push_back({"~!new!", "", "", copying::refused, copying::refused, false, "", ""});
    for (system_row::kind const& kind : all) {
        for (bool const changes : {false, true}) {
            INFO(kind.prefix << (changes ? ", changed" : ""));
            stores at;
            table<note>{at.source, "notes"}.create().value();
            table<note>{at.source, "notes"}.insert({"b", "one", 1}).value();
            at.put(make_row("b", std::string{kind.prefix} + "0", {{"stars", 7}}));
            auto const done = changes ? at.changed("notes") : at.copied("notes");
            copying const how = changes ? kind.changed : kind.copied;
            if (how == copying::refused) {
                REQUIRE_FALSE(done);
                CHECK(done.error().code == error_code::not_supported);
                CHECK_THAT(
                    done.error().message, ContainsSubstring("the table \"notes\" holds " + std::string{kind.holds}));
                CHECK(stores::rows_in(at.target, "notes") == 0);
                continue;
            }
            REQUIRE(done);
            std::size_t const data = how == copying::taken_along ? 1 : 0;
            CHECK(done->read == 1 + data);
            CHECK(done->system_rows == data);
            CHECK(done->verified == 1 + data);
            CHECK(stores::rows_in(at.target, "notes") == 1 + data);
            auto const again = changes ? at.changed("notes") : at.copied("notes");
            CHECK(again.value().present == 1 + data);
        }
    }
}

TEST_CASE("copy: wide entities are copied with their parts, and refused if parts would be lost") {
    stores at;
    table<wide<sheet>> const sheets{at.source, "sheets"};
    sheets.create().value();
    for (int number = 0; number < 3; ++number) {
        std::size_t const units = 400'000 - 100 * static_cast<std::size_t>(number);
        sheets
            .insert({"b", "s" + std::to_string(number), std::string(units, 'a'), std::string(units, 'b'),
                std::string(units, 'c'), "d", "e"})
            .value();
    }
    auto const done = at.copied("sheets").value();
    CHECK(done.system_rows == done.read - 3);
    CHECK(done.system_rows >= 6);
    table<wide<sheet>> const copies{at.target, "sheets"};
    for (int number = 0; number < 3; ++number) {
        auto const one = sheets.get("b", "s" + std::to_string(number)).value();
        auto const other = copies.get("b", "s" + std::to_string(number)).value();
        CHECK((one.a == other.a && one.b == other.b && one.c == other.c && one.d == other.d && one.e == other.e));
    }
    copies.update("b", "s1", [](sheet& each) { each.a = "short"; }).value();
    copies.remove("b", "s2", any_etag).value();
    CHECK(copies.get("b", "s1").value().a == "short");
    CHECK(sheets.get("b", "s1").value().a.size() == 399'900);

    auto const refused = at.changed("sheets");
    CHECK(refused.error().code == error_code::not_supported);
    CHECK(refused.error().message ==
        "the table \"sheets\" holds wide entities; a copy that changes rows would lose them: copy the table as it is, "
        "or "
        "use table<wide<E>>");

    table<bare_sheet> const bare{at.source, "sheets"};
    table<bare_sheet> const elsewhere{at.target, "bare"};
    elsewhere.create().value();
    auto const by_query = bulk_copy(bare.scan_table(), elsewhere);
    CHECK(by_query.error().code == error_code::not_supported);
    CHECK_THAT(by_query.error().message, ContainsSubstring("the table \"sheets\" holds wide entities"));
    CHECK(elsewhere.scan_table().count().value() == 0);
}

TEST_CASE("bulk_remove and expire: a wide entity is refused and keeps its parts") {
    stores at;
    table<wide<sheet>> const sheets{at.source, "sheets"};
    sheets.create().value();
    sheets.insert({"b", "wide", std::string(400'000, 'a'), std::string(400'000, 'b'), "", "", ""}).value();
    table<bare_sheet> const bare{at.source, "sheets"};
    bare.insert({"b", "plain", 1}).value();
    bulk_options how;
    how.time = &at.time;
    at.time.advance(24h);
    bool const by_age = GENERATE(false, true);
    auto const done = by_age ? expire(bare, bare.scan_table(), 1h, how) : bulk_remove(bare, bare.scan_table(), how);
    REQUIRE(done);
    CHECK(done->written == 1);
    REQUIRE(done->refusals.size() == 1);
    CHECK(done->refusals[0].row_key == "wide");
    CHECK(done->refusals[0].error.code == error_code::not_supported);
    CHECK(done->all().error().code == error_code::not_supported);
    CHECK_FALSE(bare.find("b", "plain").value());
    CHECK(sheets.get("b", "wide").value().a.size() == 400'000);
    sheets.remove("b", "wide", any_etag).value();
    CHECK(stores::rows_in(at.source, "sheets") == 0);
}

TEST_CASE(
    "copy: a queue is copied with its messages, claims, dead letters and identities, and can be processed to the end") {
    stores at;
    table_queue<errand> const queue{at.source, "errands", queue_at(at.time)};
    queue.create().value();
    for (std::int32_t number = 0; number < 8; ++number) {
        queue.enqueue({"York", number}, {.id = "id" + std::to_string(number)}).value();
    }
    queue.enqueue({"York", 8}, {.delay = 1h, .id = "late"}).value();
    for (auto& each : queue.claim_some(32).value()) { // messages of one lane
        CHECK(each.fail("broken"));
    }
    for (auto& each : queue.claim_some(32).value()) { CHECK(each.fail("broken")); }
    std::set<std::int32_t> done;
    while (auto item = queue.claim().value()) { // two are completed, the others stay claimed, for the second time
        if (done.size() < 2) {
            done.insert(item->message().number);
            item->complete().value();
        }
    }
    at.time.advance(31s);
    CHECK_FALSE(queue.claim().value()); // was claimed twice: they are dead letters now
    auto const before = queue.approximate_size().value();
    queue.requeue(queue.dead_letters().value().front()).value();
    queue.requeue(queue.dead_letters().value().front()).value();
    auto claimed_there = queue.claim().value(); // claimed, at the source
    REQUIRE(claimed_there);
    auto const size = queue.approximate_size().value();
    CHECK(before.dead_letters == 6);
    CHECK(size.ready == 1);
    CHECK(size.held == 2); // the claimed one and the delayed one
    CHECK(size.dead_letters == 4);

    table_queue<errand> const copied{at.target, "errands", queue_at(at.time)};
    copied.create().value(); // the table may exist
    auto const progress = at.copied("errands").value();
    CHECK(progress.read == progress.system_rows);
    CHECK(progress.read == 1 + 9 + 3 + 4); // the header, an identity of each, messages, dead letters
    CHECK(progress.present == 1);
    auto const there = copied.approximate_size().value();
    CHECK(there.ready == size.ready);
    CHECK(there.held == size.held);
    CHECK(there.dead_letters == size.dead_letters);
    CHECK(copied.enqueue({"York", 0}, {.id = "id0"}).value().already_there); // ids are remembered
    CHECK(claimed_there->complete());                                        // at the source, for every copy

    for (auto const& dead : copied.dead_letters().value()) { copied.requeue(dead).value(); }
    at.time.advance(2h);
    std::set<std::int32_t> ended = done;
    while (auto item = copied.claim().value()) {
        CHECK(ended.insert(item->message().number).second);
        CHECK(item->complete());
    }
    CHECK(ended.size() == 9);
    auto const last = copied.approximate_size().value();
    CHECK(last.ready + last.held + last.dead_letters == 0);
    CHECK_FALSE(copied.enqueue({"York", 9}, {.id = "fresh"}).value().already_there);
    CHECK(copied.claim().value()->complete());
}

TEST_CASE("copy: a queue or a view is refused if a query selects its rows") {
    stores at;
    table_queue<errand> const queue{at.source, "errands", queue_at(at.time)};
    queue.create().value();
    queue.enqueue({"York", 1}).value();
    table<errand> const seen{at.source, "errands"};
    table<errand> const to{at.target, "errands"};
    to.create().value();
    auto const refused = [](auto const& done) {
        REQUIRE_FALSE(done);
        CHECK(done.error().code == error_code::not_supported);
        CHECK(done.error().effect == effect::none);
        CHECK(done.error().message ==
            "the table \"errands\" holds a queue, which queries do not return: use table_queue");
    };
    refused(bulk_copy(seen.scan_table(), to));
    refused(bulk_copy(seen.scan_table(), to, [](errand const& each) { return each; }));
    refused(bulk_remove(seen, seen.scan_table()));
    refused(bulk_update(seen, seen.scan_table(), [](errand&) {}));
    refused(expire(seen, seen.scan_table(), 1h));
    CHECK(at.changed("errands").error().message ==
        "the table \"errands\" holds a queue; a copy that changes rows would lose them: copy the table as it is, or "
        "use "
        "table_queue");
    CHECK(queue.approximate_size().value().ready == 1);

    table<note> const notes{at.source, "notes"};
    notes.create().value();
    notes.insert({"b", "one", 1}).value();
    materialized_view<tally> const view{at.source, "tallies"};
    view.create().value();
    view.refresh(notes.scan_table()).value();
    auto const copied = at.copied("tallies");
    CHECK(copied.error().code == error_code::not_supported);
    CHECK(copied.error().message ==
        "the table \"tallies\" holds the generations of a view, which are tables of this store, and cannot be copied: "
        "use "
        "materialized_view::refresh at the target");
    table<tally> const tallies{at.source, "tallies"};
    CHECK(bulk_remove(tallies, tallies.scan_table()).error().code == error_code::not_supported);
    // The advice in the error works: the sources are copied, and the view is refreshed.
    (void)at.copied("notes").value();
    materialized_view<tally> const there{at.target, "views"};
    there.create().value();
    there.refresh(table<note>{at.target, "notes"}.scan_table()).value();
    CHECK(there.read([](auto const& rows) { return rows.scan_table().to(); }).value().value.at(0).notes == 1);
}

TEST_CASE("copy: messages of an outbox are copied with their entity and relayed once") {
    stores at;
    table<note> const notes{at.source, "notes"};
    notes.create().value();
    table_queue<errand> const queue{at.source, "errands", queue_at(at.time)};
    queue.create().value();
    auto batch = notes.batch();
    batch.insert({"b", "one", 1});
    std::string const id = queue.outbox(batch, {"York", 1});
    batch.submit().value();
    CHECK(at.copied("notes").value().system_rows == 1);
    CHECK_THAT(at.changed("notes").error().message, ContainsSubstring("holds messages of an outbox"));

    CHECK(queue.relay(at.source, "notes").value() == 1);
    CHECK(queue.relay(at.target, "notes").value() == 1); // into the same queue: it exists once
    auto item = queue.claim().value();
    REQUIRE(item);
    CHECK(item->id() == id);
    CHECK(item->complete());
    CHECK_FALSE(queue.claim().value());
}

TEST_CASE("copy: a table with indexes is copied with its index and the index states") {
    stores at;
    auto const open = [](any_store const& store) {
        return table<runner, by_age, elsewhere<by_club>>{store, "runners", in_table<by_club>{store, "clubs"}};
    };
    auto const runners = open(at.source);
    runners.create().value();
    for (std::int32_t bib = 1; bib <= 20; ++bib) {
        runners.insert({"NYC", bib, 20 + bib, bib % 2 == 0 ? "Reds" : "Blues"}).value();
    }
    SECTION("the table has not changed") {
        auto const done = at.copied("runners").value();
        CHECK(done.system_rows == 2);
        (void)at.copied("clubs").value();
        auto const copies = open(at.target);
        CHECK(copies.state<by_age>().value() == index_state::ready);
        CHECK(copies.state<by_club>().value() == index_state::ready);
        CHECK((copies.verify)().value().good());
        using a = fields<by_age>;
        using c = fields<by_club>;
        CHECK(copies.by<by_age>().where(a::race == "NYC" && a::age == 25).to().value().size() == 1);
        CHECK(copies.by<by_club>().where(c::club == "Reds").to().value().size() == 10);
        copies.insert({"NYC", 21, 41, "Reds"}).value();
        CHECK((copies.verify)().value().good());
    }
    SECTION("the table has an intent of an unfinished writer") {
        std::size_t intents = 0;
        for (int requests = 1; requests < 12; ++requests) {
            INFO(requests);
            stores other;
            open(other.source).create().value();
            open(other.source).insert({"NYC", 2, 22, "Reds"}).value();
            dying const way{other.source, std::make_shared<int>(requests)};
            table<runner, by_age, elsewhere<by_club>> const ends{
                way, "runners", table_options{.max_attempts = 1, .time = &other.time}, in_table<by_club>{way, "clubs"}};
            (void)ends.update("NYC", 2, [](runner& each) { each.club = "Greens"; });
            std::size_t const here = intents_in(other.source);
            intents += here;
            (void)other.copied("runners").value();
            (void)other.copied("clubs").value();
            CHECK(intents_in(other.target) == 0);
            // At most some extra index rows: readers skip them, and a repair removes them.
            auto const copies = open(other.target);
            using c = fields<by_club>;
            std::string const club = copies.get("NYC", 2).value().club;
            for (std::string const each : {"Reds", "Greens"}) {
                CHECK(copies.by<by_club>().where(c::club == each).to().value().size() == (each == club ? 1U : 0U));
            }
            CHECK((copies.verify)().value().indexes.missing == 0);
            copies.repair().value();
            CHECK((copies.verify)().value().good());
            // At the source the writer's intent still exists, for the next repair.
            CHECK(open(other.source).apply_pending().value().intents == here);
        }
        CHECK(intents > 0);
    }
}

TEST_CASE("copy: rows of sums and of sequences are ordinary data") {
    stores at;
    table<sale, sales_of_day> const sales{at.source, "sales"};
    sales.create().value();
    for (std::int32_t number = 1; number <= 5; ++number) { sales.insert({"kiel", number, "mon", 100}).value(); }
    (void)at.copied("sales").value();
    table<sale, sales_of_day> const copies{at.target, "sales"};
    CHECK(copies.sum({"kiel", "mon"}).value().cents == 500);
    copies.insert({"kiel", 6, "mon", 50}).value();
    CHECK(copies.sum({"kiel", "mon"}).value().cents == 550);
    CHECK(copies.verify<sales_of_day>("kiel").value().good());

    sequence const numbers{at.source, "Orders"};
    CHECK(numbers.next().value().value == 1);
    CHECK(numbers.next().value().value == 2);
    (void)at.copied("identities").value();
    CHECK(sequence{at.target, "Orders"}.next().value().value == 3);
}
