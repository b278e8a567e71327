// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The rows of queues: those of format 1, as a program of that format has left them, are read, worked off and refilled; those of format 2 as they
// are written; headers of later formats; and programs of both formats that work on one queue.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>

#include <map>
#include <regex>
#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace {

struct chore {
    std::string room;
    std::int32_t number{};
    std::string what{};
};
ENTITABLE(chore, partition_key(room), row_key(number), properties(what))

/// A queue of three lanes, a claim that holds for a minute and two deliveries, filled by a program of format 1. Each row: PartitionKey, RowKey, and
/// properties with their types: s String, i Int32, l Int64, t DateTime in ticks. `held`, `renewed`: claimed for a minute and for five. `forward`, `back`:
/// sagas of the steps a, b and c.
constexpr char const* rows_of_format_1[] = {
    "lane000|~!id!01dc7ab1990f778011dec55f129453fb|Queue_Key=s:~!q!0134116992110000000!"
    "01dc7ab1990f778011dec55f129453fb",
    "lane000|~!id!failed|Queue_Key=s:~!q!0134116992050000000!failed",
    "lane000|~!id!held|Queue_Key=s:~!q!0134116992080000000!held",
    "lane000|~!id!waiting|Queue_Key=s:~!q!0134116992110000000!waiting",
    "lane000|~!q!0134116992050000000!failed|what=s:failed|Queue_Partition=s:hall|Queue_Row=s:0000000004|"
    "Queue_VisibleAt=t:134116998060000000|Queue_Deliveries=i:1|Queue_Claim=s:24b9365ffd30c928c5a241f4e2868073|"
    "Queue_Why=s:no soap",
    "lane000|~!q!0134116992080000000!held|what=s:held|Queue_Partition=s:hall|Queue_Row=s:0000000007|"
    "Queue_VisibleAt=t:134116992690000000|Queue_Deliveries=i:1|Queue_Claim=s:a12352a74d20b470f984f4d8e229f05c",
    "lane000|~!q!0134116992110000000!01dc7ab1990f778011dec55f129453fb|what=s:nameless|Queue_Partition=s:hall|"
    "Queue_Row=s:0000000012",
    "lane000|~!q!0134116992110000000!waiting|what=s:waiting|Queue_Partition=s:hall|Queue_Row=s:0000000011",
    "lane001|~!dead!dead|what=s:dead|Queue_Partition=s:hall|Queue_Row=s:0000000003|Queue_VisibleAt=t:"
    "134116992050000000|"
    "Queue_Deliveries=i:2|Queue_Claim=s:ac77d307bfc3aafe40dd50fe20b43446|Queue_Why=s:no water|"
    "Queue_Key=s:~!q!0134116992030000000!dead",
    "lane001|~!id!dead|Queue_Key=s:~!q!0134116992030000000!dead",
    "lane001|~!id!done|Queue_Key=s:~!q!0134116992000000000!done|Queue_State=s:done|"
    "Queue_Claim=s:cfcbbc26a92eae528802092099f2d5c0",
    "lane001|~!id!forward|Queue_Key=s:~!q!0134116992060000000!forward",
    "lane001|~!q!0134116992060000000!forward|what=s:forward|Queue_Partition=s:trip|Queue_Row=s:0000000005|"
    "Queue_VisibleAt=t:134116995070000000|Queue_Deliveries=i:1|Queue_Claim=s:3dc80b9972609f68f719f98ea479948d|Queue_"
    "Step=i:1|"
    "Queue_Steps=l:-2251905511418073618",
    "lane002|~!id!01dc7ab199a80e0059fdad7ee4eb3e27|Queue_Key=s:~!q!0134116992120000000!"
    "01dc7ab199a80e0059fdad7ee4eb3e27",
    "lane002|~!id!01dc7ab199a80e009f848c202b9baf61|Queue_Key=s:~!q!0134116992120000000!"
    "01dc7ab199a80e009f848c202b9baf61",
    "lane002|~!id!01dc7ab199a80e00b6948b0e854e52eb|Queue_Key=s:~!q!0134116992120000000!"
    "01dc7ab199a80e00b6948b0e854e52eb",
    "lane002|~!id!back|Queue_Key=s:~!q!0134116992070000000!back",
    "lane002|~!id!delayed|Queue_Key=s:~!q!0134116992100000000!delayed",
    "lane002|~!id!purged|Queue_Key=s:~!q!0134116992010000000!purged|Queue_State=s:purged",
    "lane002|~!id!released|Queue_Key=s:~!q!0134116992100000000!released",
    "lane002|~!id!renewed|Queue_Key=s:~!q!0134116992090000000!renewed",
    "lane002|~!q!0134116992070000000!back|what=s:back|Queue_Partition=s:trip|Queue_Row=s:0000000006|"
    "Queue_VisibleAt=t:134116995080000000|Queue_Deliveries=i:1|Queue_Claim=s:a27f39496fd680b7f2a197109280d549|"
    "Queue_Step=i:-2|Queue_Steps=l:-2251905511418073618|Queue_Why=s:OutOfRangeInput (400): no c",
    "lane002|~!q!0134116992090000000!renewed|what=s:renewed|Queue_Partition=s:hall|Queue_Row=s:0000000008|"
    "Queue_VisibleAt=t:134116995100000000|Queue_Deliveries=i:1|Queue_Claim=s:567ca31c7044baf40dda9672fe07b45c",
    "lane002|~!q!0134116992100000000!delayed|what=s:delayed|Queue_Partition=s:hall|Queue_Row=s:0000000009|"
    "Queue_VisibleAt=t:134117028100000000",
    "lane002|~!q!0134116992100000000!released|what=s:released|Queue_Partition=s:hall|Queue_Row=s:0000000010|"
    "Queue_VisibleAt=t:134116992110000000|Queue_Deliveries=i:1|Queue_Claim=s:a14d8d0347d584ef58a9aee52c5208e6",
    "lane002|~!q!0134116992120000000!01dc7ab199a80e0059fdad7ee4eb3e27|what=s:group|Queue_Partition=s:yard|"
    "Queue_Row=s:0000000015",
    "lane002|~!q!0134116992120000000!01dc7ab199a80e009f848c202b9baf61|what=s:group|Queue_Partition=s:yard|"
    "Queue_Row=s:0000000014",
    "lane002|~!q!0134116992120000000!01dc7ab199a80e00b6948b0e854e52eb|what=s:group|Queue_Partition=s:yard|"
    "Queue_Row=s:0000000013",
    "~!queue!|~!queue!|Queue_Lanes=i:3",
};
/// Beside it two messages in an outbox, one of an id that the queue has.
constexpr char const* rows_of_the_outbox[] = {
    "attic|0000000016|what=s:tidy",
    "attic|~!out!chores!posted|what=s:posted|Queue_Partition=s:attic|Queue_Row=s:0000000016|"
    "Queue_Key=s:~!q!0134116992120000000!posted",
    "attic|~!out!chores!waiting|what=s:posted again|Queue_Partition=s:attic|Queue_Row=s:0000000017|"
    "Queue_Key=s:~!q!0134116992120000000!waiting",
};
constexpr date_time when_they_were_written{134116992120000000};

/// What today's code writes, sorted; # for 32 hexadecimal digits that are drawn.
constexpr char const* rows_of_format_2[] = {
    "lane000|~!dead!dead|what=s:dead|Queue_Partition=s:hall|Queue_Row=s:0000000002|Queue_VisibleAt=t:"
    "134116992030000000|"
    "Queue_Deliveries=i:2|Queue_Claim=s:#!0134116992010000000|Queue_Why=s:no "
    "water|Queue_Key=s:~!q!0134116992010000000!dead",
    "lane000|~!id!#.00|Queue_State=s:done|Queue_Claim=s:#!0134116992070000000",
    "lane000|~!id!#|Queue_Key=s:~!q!0134116992090000000!#",
    "lane000|~!id!#|Queue_State=s:done|Queue_Claim=s:#!0134116992060000000",
    "lane000|~!id!#|Queue_State=s:group",
    "lane000|~!id!#|Queue_State=s:group",
    "lane000|~!id!dead|Queue_Key=s:~!q!0134116992010000000!dead",
    "lane000|~!id!delayed|Queue_Key=s:~!q!0134117028090000000!delayed",
    "lane000|~!id!done|Queue_Key=s:~!q!0134116992000000000!done|Queue_State=s:done|Queue_Claim=s:#!0134116992000000000",
    "lane000|~!id!failed|Queue_Key=s:~!q!0134116992030000000!failed",
    "lane000|~!id!held|Queue_Key=s:~!q!0134116992040000000!held",
    "lane000|~!id!renewed|Queue_Key=s:~!q!0134116992050000000!renewed",
    "lane000|~!q!0134116992070000000!#.01|what=s:given back|Queue_Partition=s:yard|Queue_Row=s:0000000008|"
    "Queue_VisibleAt=t:134116992090000000|Queue_Deliveries=i:1|Queue_Claim=s:#!0134116992070000000",
    "lane000|~!q!0134116992090000000!#|what=s:waiting|Queue_Partition=s:hall|Queue_Row=s:0000000010",
    "lane000|~!q!0134116992650000000!held|what=s:held|Queue_Partition=s:hall|Queue_Row=s:0000000004|"
    "Queue_VisibleAt=t:134116992650000000|Queue_Deliveries=i:1|Queue_Claim=s:#!0134116992040000000",
    "lane000|~!q!0134116992660000000!renewed|what=s:renewed|Queue_Partition=s:hall|Queue_Row=s:0000000005|"
    "Queue_VisibleAt=t:134116995060000000|Queue_Deliveries=i:1|Queue_Claim=s:#!0134116992050000000",
    "lane000|~!q!0134116998040000000!failed|what=s:failed|Queue_Partition=s:hall|Queue_Row=s:0000000003|"
    "Queue_VisibleAt=t:134116998040000000|Queue_Deliveries=i:1|Queue_Claim=s:#!0134116992030000000|Queue_Why=s:no soap",
    "lane000|~!q!0134117028090000000!delayed|what=s:delayed|Queue_Partition=s:hall|Queue_Row=s:0000000009|"
    "Queue_VisibleAt=t:134117028090000000",
    "~!queue!|~!queue!|Queue_Format=i:2|Queue_LaneCount=i:1",
};

void put(memory_backend const& store, std::string const& table, std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
        std::size_t const end = (std::min)(text.find('|', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    row_builder made{parts.at(0), parts.at(1)};
    for (std::size_t index = 2; index < parts.size(); ++index) {
        std::size_t const equals = parts[index].find('=');
        std::string_view const name = parts[index].substr(0, equals);
        std::string const content{parts[index].substr(equals + 3)};
        switch (parts[index][equals + 1]) {
            case 's': made.add(name, value_view{content}); break;
            case 'i': made.add(name, value_view{std::stoi(content)}); break;
            case 'l': made.add(name, value_view{static_cast<std::int64_t>(std::stoll(content))}); break;
            default: made.add(name, value_view{date_time{std::stoll(content)}}); break;
        }
    }
    call own;
    store.execute(write_entity{table, mutation::insert(made.build())}, own).value();
}

/// The rows of a table in the same form.
std::vector<std::string> dump(memory_backend const& store, std::string const& table) {
    call own;
    auto const all = store.execute(query_entities{table, {}, {}, {}, 1000, {}}, own).value();
    std::vector<std::string> lines;
    for (std::size_t index = 0; index < all.rows.size(); ++index) {
        row_view const each = all.rows[index];
        std::string line = std::string{each.partition_key}.append("|").append(each.row_key);
        property_cursor cursor{each.payload};
        property_view one;
        while (cursor.next(one)) {
            line.append("|").append(one.name).append("=");
            switch (one.value.type()) {
                case edm_type::string: line.append("s:").append(one.value.as_string()); break;
                case edm_type::int32: line.append("i:").append(std::to_string(one.value.as_int32())); break;
                case edm_type::int64: line.append("l:").append(std::to_string(one.value.as_int64())); break;
                default: line.append("t:").append(std::to_string(one.value.as_date_time().ticks)); break;
            }
        }
        lines.push_back(std::move(line));
    }
    return lines;
}
std::size_t count_of(std::vector<std::string> const& lines, std::string_view part) {
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](std::string const& each) { return each.find(part) != std::string::npos; }));
}

struct house {
    testing::manual_clock time{when_they_were_written};
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    queue_options how = [&] {
        queue_options made;
        made.visibility = 60s;
        made.max_deliveries = 2;
        made.time = &time;
        made.seed = 11;
        return made;
    }();

    [[nodiscard]] table_queue<chore> queue() const { return table_queue<chore>{store, "chores", how}; }
    /// Puts the golden rows there.
    void fill() {
        call own;
        for (auto const* table : {"chores", "rooms"}) { store.execute(create_table{table}, own).value(); }
        for (char const* each : rows_of_format_1) { put(store, "chores", each); }
        for (char const* each : rows_of_the_outbox) { put(store, "rooms", each); }
    }
    /// Completes all that can be claimed now; the ids with the numbers of their deliveries.
    std::multimap<std::string, std::uint32_t> work_off(table_queue<chore> const& of) const {
        std::multimap<std::string, std::uint32_t> done;
        while (auto item = of.claim().value()) {
            done.emplace(std::string{item->id()}, item->deliveries());
            CHECK(item->complete());
        }
        return done;
    }
};

using seen_ids = std::multimap<std::string, std::uint32_t>;

} // namespace

TEST_CASE("queue formats: a queue of format 1 with messages is processed") {
    house in;
    in.fill();
    auto const queue = in.queue();
    CHECK_FALSE(queue.create().value()); // it is there, with its own lanes
    auto const size = queue.approximate_size().value();
    CHECK(size.ready == 6);
    CHECK(size.held == 6);
    CHECK(size.dead_letters == 1);
    CHECK(queue.peek().value().size() == 6);
    CHECK(queue.oldest_age().value() == 7s);
    for (char const* id : {"done", "purged", "dead", "waiting", "delayed", "held"}) {
        CHECK(queue.enqueue({"hall", 99, "twice"}, {.delay = {}, .id = id}).value().already_there);
    }
    std::vector<std::string> ready{"waiting", "released", "01dc7ab1990f778011dec55f129453fb",
        "01dc7ab199a80e0059fdad7ee4eb3e27", "01dc7ab199a80e009f848c202b9baf61", "01dc7ab199a80e00b6948b0e854e52eb"};
    seen_ids expected;
    for (std::string const& each : ready) { expected.emplace(each, each == "released" ? 2 : 1); }
    CHECK(in.work_off(queue) == expected);
    in.time.advance(56s);
    CHECK(in.work_off(queue).empty());
    in.time.advance(2s); // the claim of a minute is over
    CHECK((in.work_off(queue) == seen_ids{{"held", 2}}));
    in.time.advance(4min + 1s);
    auto const third = in.work_off(queue);
    CHECK((third == seen_ids{{"forward", 2}, {"back", 2}, {"renewed", 2}}));
    in.time.advance(5min);
    CHECK((in.work_off(queue) == seen_ids{{"failed", 2}}));
    in.time.advance(50min);
    CHECK((in.work_off(queue) == seen_ids{{"delayed", 1}}));
    CHECK(queue.approximate_size().value().held == 0);
    auto const left = dump(in.store, "chores");
    CHECK(count_of(left, "|~!q!") == 0);
    CHECK(count_of(left, "Queue_State=s:done") ==
        count_of(left, "|~!id!") - 2); // but for the dead letter, and the one that was purged
    CHECK(left.back() == "~!queue!|~!queue!|Queue_Lanes=i:3");
}

TEST_CASE("queue formats: dead letters of format 1 are read") {
    for (bool const again : {false, true}) {
        house in;
        in.fill();
        auto const queue = in.queue();
        static_cast<void>(in.work_off(queue));
        auto const dead = queue.dead_letters().value();
        REQUIRE(dead.size() == 1);
        CHECK(dead[0].id == "dead");
        CHECK(dead[0].reason == "no water");
        CHECK(dead[0].deliveries == 2);
        CHECK(dead[0].message.what == "dead");
        CHECK((again ? queue.requeue(dead[0]) : queue.purge(dead[0])));
        CHECK((in.work_off(queue) == (again ? seen_ids{{"dead", 1}} : seen_ids{})));
        CHECK(queue.enqueue({"hall", 3, "dead"}, {.delay = {}, .id = "dead"}).value().already_there);
        CHECK(queue.dead_letters().value().empty());
    }
}

TEST_CASE("queue formats: an outbox of format 1 is relayed once, and ids already in the queue are skipped") {
    house in;
    in.fill();
    auto const queue = in.queue();
    CHECK(queue.relay(in.store, "rooms").value() == 2);
    CHECK(queue.relay(in.store, "rooms").value() == 0);
    std::multiset<std::string> what;
    while (auto item = queue.claim().value()) {
        what.insert(item->message().what);
        CHECK(item->complete());
    }
    CHECK((what == std::multiset<std::string>{"waiting", "nameless", "released", "group", "group", "group", "posted"}));
}

TEST_CASE("queue formats: sagas of format 1 resume where they were, forward or compensating") {
    house in;
    in.fill();
    auto const queue = in.queue();
    static_cast<void>(in.work_off(queue));
    in.time.advance(5min - 2s);
    std::map<std::string, std::string> log;
    auto const noted = [&](std::string what) {
        return [&log, what](chore const& of) -> result<void> {
            log[of.what] += what;
            return {};
        };
    };
    auto const trip = saga_for<chore>("trip", step("a", noted("a"), noted("-a")), step("b", noted("b"), noted("-b")),
        step("c", noted("c"), noted("-c")));
    std::map<std::string, saga_outcome> ends;
    while (auto item = queue.claim().value()) {
        if (item->message().room == "trip") { ends[item->message().what] = trip.resume(*item).value(); }
        CHECK(item->complete());
    }
    REQUIRE(ends.size() == 2);
    CHECK(ends["forward"].end == saga_end::completed);
    CHECK(log["forward"] == "bc");
    CHECK(ends["back"].end == saga_end::compensated);
    CHECK(log["back"] == "-a");
    CHECK_THAT(ends["back"].reason, ContainsSubstring("no c"));
}

TEST_CASE("queue formats: a queue of format 1 is refilled in its own format") {
    house in;
    in.fill();
    auto const queue = in.queue();
    static_cast<void>(in.work_off(queue));
    auto const ids = queue.enqueue_all(std::vector<chore>(40, chore{"yard", 50, "new"})).value();
    CHECK(queue.enqueue({"yard", 51, "new"}, {.delay = 10s, .id = "later"}).value().id == "later");
    auto rows = dump(in.store, "chores");
    CHECK(count_of(rows, "Queue_State=s:group") == 0);
    for (auto const& each : ids) { // each has an identity: a program of format 1 can complete it
        CHECK(count_of(rows, "|~!id!" + each.id + "|Queue_Key=s:~!q!") == 1);
    }
    std::size_t done = 0;
    for (;;) {
        auto some = queue.claim_some(32).value();
        if (some.empty()) { break; }
        done += queue.complete_all(some).value();
    }
    CHECK(done == 40);
    in.time.advance(10s);
    CHECK((in.work_off(queue) == seen_ids{{"later", 1}}));
    rows = dump(in.store, "chores");
    for (auto const& each : ids) { CHECK(count_of(rows, "|~!id!" + each.id + "|Queue_Key=s:~!q!") == 1); }
    CHECK(rows.back() == "~!queue!|~!queue!|Queue_Lanes=i:3");
    in.time.advance(48h);
    CHECK(queue.sweep().value() > 40);
    static_cast<void>(in.work_off(queue));
    in.time.advance(48h);
    CHECK(queue.sweep().value() > 0);
    rows = dump(in.store, "chores");
    CHECK(count_of(rows, "|~!id!") == 1); // of the dead letter
}

// ---- what is written ---------------------------------------------------------------------------------

TEST_CASE("queue formats: the golden rows of format 2 have not changed") {
    house in;
    in.how.lanes = 1;
    in.time.set({134116992000000000});
    auto const queue = in.queue();
    queue.create().value();
    auto const take = [&] {
        in.time.advance(1s);
        return std::move(*queue.claim().value());
    };
    CHECK(queue.enqueue({"hall", 1, "done"}, {.delay = {}, .id = "done"}));
    CHECK(take().complete());
    CHECK(queue.enqueue({"hall", 2, "dead"}, {.delay = {}, .id = "dead"}));
    CHECK(take().release());
    CHECK(take().fail("no water"));
    CHECK_FALSE(queue.claim().value());
    CHECK(queue.enqueue({"hall", 3, "failed"}, {.delay = {}, .id = "failed"}));
    CHECK(take().fail("no soap", 10min));
    CHECK(queue.enqueue({"hall", 4, "held"}, {.delay = {}, .id = "held"}));
    auto const held = take();
    CHECK(queue.enqueue({"hall", 5, "renewed"}, {.delay = {}, .id = "renewed"}));
    auto renewed = take();
    CHECK(renewed.renew(300s));
    CHECK(queue.enqueue_all(std::vector<chore>(2, chore{"yard", 6, "completed together"})));
    in.time.advance(1s);
    auto some = queue.claim_some(2).value();
    CHECK(queue.complete_all(some).value() == 2);
    CHECK(queue.enqueue_all(std::vector<chore>{{"yard", 7, "completed alone"}, {"yard", 8, "given back"}}));
    CHECK(take().complete());
    CHECK(take().release());
    CHECK(queue.enqueue({"hall", 9, "delayed"}, {.delay = 1h, .id = "delayed"}));
    CHECK(queue.enqueue({"hall", 10, "waiting"}));
    std::vector<std::string> lines;
    std::regex const drawn{"[0-9a-f]{32}"};
    for (std::string const& each : dump(in.store, "chores")) { lines.push_back(std::regex_replace(each, drawn, "#")); }
    std::sort(lines.begin(), lines.end()); // whatever ids were drawn
    REQUIRE(lines.size() == std::size(rows_of_format_2));
    for (std::size_t index = 0; index < lines.size(); ++index) { CHECK(lines[index] == rows_of_format_2[index]); }
}

TEST_CASE("queue formats: a queue of format 2 with messages is processed") {
    house in;
    call own;
    in.store.execute(create_table{"chores"}, own).value();
    int drawn = 0;
    for (std::string line : rows_of_format_2) {
        if (line.find("~!id!#|Queue_State=s:done") != std::string::npos) {
            continue; // the mark of a group: one id more than there are places for below
        }
        std::string const id = (line.find(".0") != std::string::npos || line.find("group") != std::string::npos)
            ? std::string(31, '0') + (line.find("State=s:group") != std::string::npos ? std::to_string(drawn++) : "1")
            : std::string(32, 'a');
        for (std::size_t at = line.find('#'); at != std::string::npos; at = line.find('#')) {
            line.replace(at, 1, line.compare(at, 2, "#!") == 0 ? std::string(32, 'c') : id);
        }
        put(in.store, "chores", line);
    }
    in.time.set({134116992090000000});
    auto const queue = in.queue();
    auto const size = queue.approximate_size().value();
    CHECK(size.ready == 2);
    CHECK(size.held == 4);
    CHECK(size.dead_letters == 1);
    std::string const waiting(32, 'a');
    std::string const group = std::string(31, '0') + "1";
    CHECK((in.work_off(queue) == seen_ids{{group + ".01", 2}, {waiting, 1}}));
    CHECK(queue.requeue(queue.dead_letters().value().at(0)));
    CHECK((in.work_off(queue) == seen_ids{{"dead", 1}}));
    in.time.advance(56s);
    CHECK((in.work_off(queue) == seen_ids{{"held", 2}}));
    in.time.advance(4min + 2s);
    CHECK((in.work_off(queue) == seen_ids{{"renewed", 2}}));
    in.time.advance(1h);
    CHECK((in.work_off(queue) == seen_ids{{"failed", 2}, {"delayed", 1}}));
    CHECK(queue.enqueue({"hall", 1}, {.delay = {}, .id = "done"}).value().already_there);
    in.time.advance(48h);
    CHECK(queue.sweep().value() > 0);
    auto const left = dump(in.store, "chores");
    CHECK(left.size() == 1); // the header
    CHECK(left.back() == "~!queue!|~!queue!|Queue_Format=i:2|Queue_LaneCount=i:1");
}

// ---- headers -----------------------------------------------------------------------------------------

TEST_CASE("queue formats: every call on a queue of a later format returns StoreNewer") {
    house in;
    call own;
    in.store.execute(create_table{"chores"}, own).value();
    in.store.execute(create_table{"rooms"}, own).value();
    put(in.store, "chores", "~!queue!|~!queue!|Queue_Format=i:3|Queue_LaneCount=i:3");
    auto const queue = in.queue();
    auto const code_of = [](auto const& answer) { return answer ? error_code{} : answer.error().code; };
    std::vector<chore> const many(2, chore{"hall", 1});
    for (error_code const each : {code_of(queue.create()), code_of(queue.enqueue({"hall", 1})),
             code_of(queue.enqueue_all(many)), code_of(queue.claim()), code_of(queue.claim_some(4)),
             code_of(queue.peek()), code_of(queue.approximate_size()), code_of(queue.oldest_age()),
             code_of(queue.dead_letters()), code_of(queue.sweep()), code_of(queue.relay(in.store, "rooms"))}) {
        CHECK(each == error_code::store_newer);
    }
    CHECK_THAT(queue.claim().error().message, ContainsSubstring("format 3") && ContainsSubstring("up to 2"));
    CHECK(dump(in.store, "chores").size() == 1);
}

TEST_CASE("queue formats: a header that lacks the number of lanes is refused") {
    for (char const* header : {"~!queue!|~!queue!", "~!queue!|~!queue!|Queue_Format=i:2",
             "~!queue!|~!queue!|Queue_Format=i:2|Queue_Lanes=i:3", "~!queue!|~!queue!|Queue_LaneCount=i:3",
             "~!queue!|~!queue!|Queue_Lanes=i:0", "~!queue!|~!queue!|Queue_Lanes=i:1001"}) {
        house in;
        call own;
        in.store.execute(create_table{"chores"}, own).value();
        put(in.store, "chores", header);
        CAPTURE(header);
        CHECK(in.queue().claim().error().code == error_code::row_malformed);
    }
}
