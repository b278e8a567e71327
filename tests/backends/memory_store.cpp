// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The rules of ordered_store, one by one, and a comparison with std::map. Tests with threads are in
// concurrency/memory_store.cpp, tests of running out of memory in memory_store_allocation.cpp.

#include <entitable/local/memory/memory_store.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/store.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <type_traits>

using namespace entitable;
using namespace entitable_test;
using namespace std::string_literals;

namespace {

static_assert(ordered_store<memory_store>);
static_assert(store_transaction<memory_store::transaction>);
static_assert(!std::is_copy_constructible_v<memory_store> && !std::is_copy_assignable_v<memory_store>);

struct store_with_table : memory_store {
    store_with_table() { REQUIRE(create_table("t", "Table").value()); }
};

std::vector<std::string> table_names(memory_store& store, std::string_view from) {
    std::vector<std::string> names;
    store
        .tables(from,
            [&](std::string_view key, std::string_view shown_name) {
                names.push_back(std::string{key} + "=" + std::string{shown_name});
                return true;
            })
        .value();
    return names;
}

} // namespace

TEST_CASE("memory_store: tables are created, listed and dropped") {
    memory_store store;
    CHECK(store.create_table("b", "B").value());
    CHECK(store.create_table("a", "A").value());
    CHECK(store.create_table("c", "C").value());
    CHECK_FALSE(store.create_table("b", "other").value());
    CHECK(table_names(store, "") == std::vector<std::string>{"a=A", "b=B", "c=C"});
    CHECK(table_names(store, "b") == std::vector<std::string>{"b=B", "c=C"});
    CHECK(table_names(store, "bb") == std::vector<std::string>{"c=C"});
    CHECK(table_names(store, "d").empty());

    int visited = 0;
    store.tables("", [&](std::string_view, std::string_view) { return ++visited < 2; }).value();
    CHECK(visited == 2);

    CHECK(store.drop_table("b").value());
    CHECK_FALSE(store.drop_table("b").value());
    CHECK(table_names(store, "") == std::vector<std::string>{"a=A", "c=C"});
}

TEST_CASE("memory_store: tables can be created and dropped while a visitor lists them") {
    memory_store store;
    for (char const key : {'a', 'b', 'c', 'd'}) { REQUIRE(store.create_table(std::string(1, key), "").value()); }
    // Not allowed by the contract but harmless here: nothing is locked while a table visitor runs.
    std::string seen;
    store
        .tables("",
            [&](std::string_view key, std::string_view) {
                seen += key;
                if (key == "b") {
                    CHECK(store.drop_table("b").value());
                    CHECK(store.drop_table("c").value());
                    CHECK(store.create_table("bb", "").value());
                }
                return true;
            })
        .value();
    CHECK(seen == "abbbd");
}

TEST_CASE("memory_store: reports which table, partition or row is missing") {
    store_with_table store;
    REQUIRE(put(store, "t", "p", "r", "bytes") == lookup::found);

    auto const no_visit = [](std::string_view) { FAIL("visited"); };
    CHECK(store.get("none", "p", "r", no_visit).value() == lookup::no_table);
    CHECK(store.get("t", "none", "r", no_visit).value() == lookup::absent);
    CHECK(store.get("t", "p", "none", no_visit).value() == lookup::absent);
    std::size_t visits = 0;
    CHECK(
        store.get("t", "p", "r", [&](std::string_view bytes) { visits += bytes == "bytes"; }).value() == lookup::found);
    CHECK(visits == 1);

    auto const no_scan = [](std::string_view, std::string_view, std::string_view) -> bool {
        throw std::logic_error{""};
    };
    CHECK(store.scan("none", {}, no_scan).value() == lookup::no_table);
    CHECK(store.scan("t", {"p", "s", std::nullopt}, no_scan).value() == lookup::absent);
    CHECK(store.scan("t", {"", "", "o"}, no_scan).value() == lookup::absent);

    auto const no_body = [](memory_store::transaction&) -> bool { throw std::logic_error{""}; };
    CHECK(store.update("none", "p", no_body).value() == lookup::no_table);
    CHECK(store.update("t", "p", [](memory_store::transaction&) { return false; }).value() == lookup::absent);
    CHECK(store.update("t", "p", [](memory_store::transaction&) { return true; }).value() == lookup::found);
}

TEST_CASE("memory_store rule 1: keys are compared as bytes, and shorter keys come first") {
    memory_store store;
    std::vector<std::string> const keys{"", "\0"s, "\0\0"s, "\0\x01"s, "\x01", "A", "a", "a\0"s, "a\0b"s, "aa", "b",
        "\x7f", "\x80", "\xff", "\xff\xff"};
    for (std::string const& table : keys) { REQUIRE(store.create_table(table, "").value()); }
    std::vector<stored_row> expected;
    for (std::string const& partition : keys) {
        for (std::string const& row : keys) { expected.push_back({partition, row, partition + '|' + row}); }
    }
    std::mt19937 random{7};
    auto shuffled = expected;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (std::string const& table : {""s, "\0"s, "a\0b"s}) {
        for (stored_row const& each : shuffled) {
            REQUIRE(put(store, table, each.partition, each.row, each.bytes) == lookup::found);
        }
        CHECK(rows(store, table) == expected);
    }
    for (stored_row const& each : expected) {
        CHECK(read(store, "a\0b"s, each.partition, each.row) == each.bytes);
        CHECK_FALSE(read(store, "a\0"s, each.partition, each.row));
    }
}

TEST_CASE("memory_store rules 1 and 5: a scan returns its range in key order") {
    store_with_table store;
    for (char const* const partition : {"c", "a", "b"}) {
        for (char const* const row : {"2", "3", "1"}) { REQUIRE(put(store, "t", partition, row, "") == lookup::found); }
    }
    auto const keys = [&](scan_range const& range) {
        std::string joined;
        for (stored_row const& each : rows(store, "t", range)) { joined += each.partition + each.row + " "; }
        return joined;
    };
    CHECK(keys({}) == "a1 a2 a3 b1 b2 b3 c1 c2 c3 ");
    CHECK(keys({"a", "2", std::nullopt}) == "a2 a3 b1 b2 b3 c1 c2 c3 ");
    CHECK(keys({"a", "2", "b"}) == "a2 a3 b1 b2 b3 ");
    CHECK(keys({"a", "4", "b"}) == "b1 b2 b3 ");
    CHECK(keys({"aa", "2", "b"}) == "b1 b2 b3 ");
    CHECK(keys({"b", "2", "b"}) == "b2 b3 ");
    CHECK(keys({"b", "2", "bb"}) == "b2 b3 ");
    CHECK(keys({"b", "", "a"}).empty());
    CHECK(keys({"", "", ""}).empty());

    int visited = 0;
    auto const stop = [&](std::string_view, std::string_view, std::string_view) { return ++visited < 5; };
    CHECK(store.scan("t", {}, stop).value() == lookup::found);
    CHECK(visited == 5);
}

TEST_CASE("memory_store rule 2: an update is applied as a whole or not at all") {
    store_with_table store;
    REQUIRE(put(store, "t", "p", "kept", "1") == lookup::found);
    REQUIRE(put(store, "t", "p", "gone", "2") == lookup::found);
    auto const before = rows(store, "t");

    auto const change = [&](bool commit) {
        return store
            .update("t", "p",
                [&](memory_store::transaction& transaction) {
                    transaction.put("kept", "new"s);
                    transaction.put("added", "3"s);
                    transaction.erase("gone");
                    transaction.erase("never there");
                    // rule 3: committed changes are read, staged ones are not
                    std::string bytes;
                    CHECK(transaction.get("kept", [&](std::string_view row) { bytes = row; }));
                    CHECK(bytes == "1");
                    CHECK_FALSE(transaction.get("added", [](std::string_view) {}));
                    CHECK(transaction.get("gone", [](std::string_view) {}));
                    return commit;
                })
            .value();
    };
    CHECK(change(false) == lookup::absent);
    CHECK(rows(store, "t") == before);
    CHECK(change(true) == lookup::found);
    CHECK(rows(store, "t") == std::vector<stored_row>{{"p", "added", "3"}, {"p", "kept", "new"}});
}

TEST_CASE("memory_store: the last of several changes to one row wins") {
    store_with_table store;
    // p: put, e: erase; with and without the row before
    for (bool const there : {false, true}) {
        for (std::string const steps :
            {"pp", "pe", "ep", "ee", "ppp", "ppe", "pep", "pee", "epp", "epe", "eep", "eee"}) {
            for (bool const commit : {false, true}) {
                CAPTURE(there, steps, commit);
                (void)erase(store, "t", "p", "r");
                if (there) { (void)put(store, "t", "p", "r", "before"); }
                (void)store
                    .update("t", "p",
                        [&](memory_store::transaction& transaction) {
                            for (std::size_t step = 0; step < steps.size(); ++step) {
                                steps[step] == 'p' ? transaction.put("r", std::to_string(step))
                                                   : transaction.erase("r");
                            }
                            return commit;
                        })
                    .value();
                auto const expected = !commit ? there ? std::optional{"before"s} : std::nullopt
                    : steps.back() == 'p'     ? std::optional{std::to_string(steps.size() - 1)}
                                              : std::nullopt;
                CHECK(read(store, "t", "p", "r") == expected);
                CHECK(rows(store, "t").size() == (expected ? 1 : 0));
            }
        }
    }
}

TEST_CASE("memory_store: an exception from a body or a visitor is passed on, and nothing changes") {
    store_with_table store;
    REQUIRE(put(store, "t", "p", "r", "bytes") == lookup::found);
    auto const before = rows(store, "t");
    auto const failing_body = [](memory_store::transaction& transaction) -> bool {
        transaction.put("r", "other"s);
        transaction.put("s", "more"s);
        transaction.erase("r");
        throw std::runtime_error{"body"};
    };
    CHECK_THROWS_WITH(store.update("t", "p", failing_body), "body");
    CHECK_THROWS_WITH(store.update("t", "new", failing_body), "body");
    auto const failing_read = [](std::string_view) { throw std::runtime_error{"visitor"}; };
    CHECK_THROWS_WITH(store.get("t", "p", "r", failing_read), "visitor");
    CHECK_THROWS_WITH(
        store.update("t", "p", [&](memory_store::transaction& rows_of_p) { return rows_of_p.get("r", failing_read); }),
        "visitor");
    CHECK_THROWS_WITH(
        store.scan("t", {},
            [](std::string_view, std::string_view, std::string_view) -> bool { throw std::runtime_error{"visitor"}; }),
        "visitor");
    CHECK_THROWS_WITH(
        store.tables("", [](std::string_view, std::string_view) -> bool { throw std::runtime_error{"visitor"}; }),
        "visitor");
    CHECK(rows(store, "t") == before);
    // No lock is left.
    CHECK(put(store, "t", "p", "r", "other") == lookup::found);
    CHECK(put(store, "t", "new", "r", "other") == lookup::found);
    CHECK(store.drop_table("t").value());
    CHECK(store.create_table("t", "").value());
}

TEST_CASE("memory_store rule 8: dropping a table deletes its rows") {
    store_with_table store;
    for (int partition = 0; partition < 100; ++partition) {
        for (int row = 0; row < 10; ++row) {
            REQUIRE(put(store, "t", std::to_string(partition), std::to_string(row), "old") == lookup::found);
        }
    }
    REQUIRE(store.create_table("other", "").value());
    REQUIRE(put(store, "other", "7", "7", "stays") == lookup::found);
    REQUIRE(store.drop_table("t").value());
    CHECK(put(store, "t", "7", "7", "bytes") == lookup::no_table);
    CHECK(store.get("t", "7", "7", [](std::string_view) {}).value() == lookup::no_table);

    REQUIRE(store.create_table("t", "again").value());
    CHECK(rows(store, "t").empty());
    CHECK_FALSE(read(store, "t", "7", "7"));
    REQUIRE(put(store, "t", "7", "7", "new") == lookup::found);
    CHECK(rows(store, "t") == std::vector<stored_row>{{"7", "7", "new"}});
    CHECK(read(store, "other", "7", "7") == "stays");
}

TEST_CASE("memory_store rule 8: an update of a table that is dropped in the meantime ends with no_table") {
    for (bool const listed : {false, true}) {
        for (bool const commit : {false, true}) {
            for (bool const again : {false, true}) {
                CAPTURE(listed, commit, again);
                store_with_table store;
                if (listed) { REQUIRE(put(store, "t", "p", "r", "old") == lookup::found); }
                // The contract lets only another thread do this; here the body plays that thread.
                auto const body = [&](memory_store::transaction& transaction) {
                    transaction.put("r", "bytes"s);
                    CHECK(store.drop_table("t").value());
                    if (again) { CHECK(store.create_table("t", "").value()); }
                    return commit;
                };
                CHECK(store.update("t", "p", body).value() == lookup::no_table);
                if (!again) { REQUIRE(store.create_table("t", "").value()); }
                CHECK(rows(store, "t").empty());
                CHECK(put(store, "t", "p", "r", "new") == lookup::found);
                CHECK(read(store, "t", "p", "r") == "new");
            }
        }
    }
}

TEST_CASE("memory_store: update_row decides about one row with its bytes") {
    store_with_table store;
    using change = row_update::change;
    std::optional<std::string> seen;
    auto const decided = [&](std::string_view row, row_update made) {
        return store
            .update_row("t", "p", row,
                [&](std::string_view const* stored) {
                    seen = stored != nullptr ? std::optional{std::string{*stored}} : std::nullopt;
                    return made;
                })
            .value();
    };
    CHECK(store.update_row("none", "p", "r", [](std::string_view const*) { return row_update{}; }).value() ==
        lookup::no_table);
    CHECK(decided("r", {}) == lookup::absent);
    CHECK(decided("r", {change::erase}) == lookup::found);
    CHECK(rows(store, "t").empty());
    CHECK(decided("r", {change::put, "short", 7}) == lookup::found);
    CHECK_FALSE(seen);
    CHECK(decided("r", {}) == lookup::absent);
    CHECK(seen == "short");
    CHECK(read(store, "t", "p", "r") == "short");
    // The store writes the Timestamp into its copy.
    std::string const bytes(row_format::header_size + 3, 'x');
    CHECK(decided("r", {change::put, bytes, 7}) == lookup::found);
    CHECK(seen == "short");
    auto const stored = read(store, "t", "p", "r").value();
    CHECK(row_view{{}, {}, stored}.timestamp() == date_time{7});
    CHECK(stored.substr(0, 8) == bytes.substr(0, 8));
    CHECK(stored.substr(16) == bytes.substr(16));
    CHECK(decided("s", {change::put, "other", 8}) == lookup::found);
    CHECK(decided("r", {change::erase}) == lookup::found);
    CHECK(seen == stored);
    CHECK(rows(store, "t") == std::vector<stored_row>{{"p", "s", "other"}});
    CHECK(decided("s", {change::erase}) == lookup::found); // with the last row the partition disappears
    CHECK(rows(store, "t").empty());
    CHECK(decided("s", {change::put, "again", 9}) == lookup::found);
    CHECK(rows(store, "t") == std::vector<stored_row>{{"p", "s", "again"}});
    CHECK_THROWS_WITH(store.update_row("t", "p", "s",
                          [](std::string_view const*) -> row_update { throw std::runtime_error{"decision"}; }),
        "decision");
    CHECK(decided("s", {}) == lookup::absent); // no lock is left
}

TEST_CASE("memory_store: update_row stores and removes thousands of rows like a map") {
    store_with_table store;
    std::map<std::string, std::string> expected;
    std::mt19937 random{1}; // NOLINT: the same numbers each time
    for (std::size_t step = 0; step < 40'000; ++step) {
        bool const grows = step < 20'000;
        std::string const row = std::to_string(random() % 6'000);
        bool const erases = random() % 4 < (grows ? 1U : 3U);
        std::string const bytes = "bytes of step " + std::to_string(step);
        auto const at = expected.find(row);
        bool same = true;
        (void)store
            .update_row("t", "p", row,
                [&](std::string_view const* stored) -> row_update {
                    same = at == expected.end() ? stored == nullptr : stored != nullptr && *stored == at->second;
                    if (erases) { return {row_update::change::erase}; }
                    return {row_update::change::put, std::string_view{bytes}.substr(0, 15), 0};
                })
            .value();
        REQUIRE(same);
        if (erases) {
            expected.erase(row);
        } else {
            expected[row] = bytes.substr(0, 15);
        }
    }
    auto const found = rows(store, "t");
    REQUIRE(found.size() == expected.size());
    CHECK(std::equal(found.begin(), found.end(), expected.begin(),
        [](stored_row const& one, auto const& other) { return one.row == other.first && one.bytes == other.second; }));
}

TEST_CASE("memory_store: a transaction sees the rows that it changed at once, and undoes them") {
    store_with_table store;
    for (std::string const& row : {"a"s, "b"s, "c"s}) {
        REQUIRE(put(store, "t", "p", row, "old " + row) == lookup::found);
    }
    auto const before = rows(store, "t");
    auto const change = [](memory_store::transaction& all, std::string_view row, row_update made) {
        std::optional<std::string> seen;
        all.update_row(row, [&](std::string_view const* stored) {
            if (stored != nullptr) { seen = *stored; }
            return made;
        });
        return seen;
    };
    row_update const erased{row_update::change::erase};
    auto const written = [](std::string_view bytes) { return row_update{row_update::change::put, bytes, 0}; };
    auto const body = [&](memory_store::transaction& all) {
        all.put("c", "staged");
        CHECK(change(all, "b", erased) == "old b");
        CHECK_FALSE(all.get("b", [](std::string_view) {}));
        CHECK_FALSE(change(all, "b", erased));
        CHECK_FALSE(change(all, "b", written("new b")));
        CHECK(change(all, "c", written("new c")) == "staged");
        CHECK(change(all, "a", erased) == "old a");
        CHECK_FALSE(change(all, "x", {}));
        CHECK_FALSE(change(all, "ab", written("new ab")));
    };
    CHECK(store
              .update("t", "p",
                  [&](memory_store::transaction& all) {
                      body(all);
                      return false;
                  })
              .value() == lookup::absent);
    CHECK(rows(store, "t") == before);
    CHECK_THROWS_AS((void)store.update("t", "p",
                        [&](memory_store::transaction& all) -> bool {
                            body(all);
                            throw std::runtime_error{""};
                        }),
        std::runtime_error);
    CHECK(rows(store, "t") == before);
    CHECK(store
              .update("t", "p",
                  [&](memory_store::transaction& all) {
                      body(all);
                      return true;
                  })
              .value() == lookup::found);
    auto const after = rows(store, "t");
    REQUIRE(after.size() == 3);
    CHECK(after[0].row + "=" + after[0].bytes == "ab=new ab");
    CHECK(after[1].row + "=" + after[1].bytes == "b=new b");
    CHECK(after[2].row + "=" + after[2].bytes == "c=new c");
}

TEST_CASE("memory_store rule 8: update_row of a table that is dropped in the meantime ends with no_table") {
    for (bool const listed : {false, true}) {
        for (auto const kind : {row_update::change::none, row_update::change::put, row_update::change::erase}) {
            CAPTURE(listed, static_cast<int>(kind));
            store_with_table store;
            if (listed) { REQUIRE(put(store, "t", "p", "r", "old") == lookup::found); }
            auto const decide = [&](std::string_view const*) -> row_update { // this plays another thread
                CHECK(store.drop_table("t").value());
                CHECK(store.create_table("t", "").value());
                return {kind, "bytes", 0};
            };
            CHECK(store.update_row("t", "p", "r", decide).value() == lookup::no_table);
            CHECK(rows(store, "t").empty());
            CHECK(put(store, "t", "p", "r", "new") == lookup::found);
        }
    }
}

TEST_CASE("memory_store: a partition can have 100,000 rows") {
    store_with_table store;
    auto const key = [](std::size_t number) {
        std::string const digits = std::to_string(number);
        return "event-" + std::string(10 - digits.size(), '0') + digits + "__Full";
    };
    std::size_t const count = 100'000;
    // up, down and scattered
    for (std::size_t number = 0; number < count / 4; ++number) {
        REQUIRE(put(store, "t", "p", key(number), std::to_string(number)) == lookup::found);
    }
    for (std::size_t number = count; number-- > count / 2;) {
        REQUIRE(put(store, "t", "p", key(number), std::to_string(number)) == lookup::found);
    }
    for (std::size_t step = 0; step < count / 4; ++step) {
        std::size_t const number = count / 4 + step * 7919 % (count / 4);
        REQUIRE(put(store, "t", "p", key(number), std::to_string(number)) == lookup::found);
    }
    std::size_t next = 0;
    auto const in_order = [&](std::string_view, std::string_view row, std::string_view bytes) {
        return row == key(next) && bytes == std::to_string(next) && ++next > 0;
    };
    CHECK(store.scan("t", {}, in_order).value() == lookup::found);
    CHECK(next == count);
    next = 77'777;
    CHECK(store.scan("t", {"p", key(next), "p"}, in_order).value() == lookup::found);
    CHECK(next == count);
    for (std::size_t number = 0; number < count; number += 97) {
        REQUIRE(read(store, "t", "p", key(number)) == std::to_string(number));
    }
    for (std::size_t number = 0; number < count; ++number) {
        if (number % 10'000 != 0) { REQUIRE(erase(store, "t", "p", key(number * 7919 % count)) == lookup::found); }
    }
    CHECK(rows(store, "t").size() == 10);
}

TEST_CASE("memory_store: a scan in runs says before its first row how many rows of the partition are ahead") {
    store_with_table store;
    auto const key = [](std::size_t number) { return std::to_string(10'000 + number); };
    auto const ahead = [&](std::size_t from, std::optional<std::string> const& last) {
        std::string const first = key(from);
        std::size_t told = 0;
        std::size_t told_first = 0;
        std::size_t visited = 0;
        scan_range range{"p", first, "p", last ? std::optional<std::string_view>{*last} : std::nullopt};
        range.rows_to_come = &told;
        auto const visit = [&](std::span<row_view const> run) {
            told_first = visited == 0 ? told : told_first;
            for (row_view const& each : run) {
                if (last && each.row_key > *last) { return false; }
                ++visited;
            }
            return true;
        };
        store.scan_runs("t", range, visit).value();
        if (visited < 1'000) { CHECK(told_first == visited); }
        return std::pair{told_first, visited};
    };
    for (std::size_t const rows : {1U, 3U, 64U, 65U, 1'000U, 10'000U}) {
        for (std::size_t row = 0; row < rows; ++row) { REQUIRE(put(store, "t", "p", key(row), "x") == lookup::found); }
        CAPTURE(rows);
        ahead(0, std::nullopt);
        for (std::size_t const from : {0U, 1U, 63U, 500U}) {
            for (std::size_t const last : {0U, 1U, 64U, 500U, 501U, 999U}) {
                if (last >= from) { ahead(from, key(last)); }
            }
            ahead(from, key(from) + "+");
            ahead(from, std::nullopt);
        }
    }
    auto const [told, visited] = ahead(0, std::nullopt);
    CHECK(visited == 10'000);
    CHECK(told >= 64 * 16); // it looks at 64 leaves
    CHECK(told <= visited);
}

TEST_CASE("memory_store: partition lookups are correct for any number of partitions") {
    store_with_table store;
    std::size_t const count = 3'000;
    auto const key = [](std::size_t number) { return "partition-" + std::to_string(number); };
    std::size_t wrong = 0;
    auto const check = [&](std::size_t first, std::size_t last) { // exactly these exist
        for (std::size_t number = 0; number < count; ++number) {
            auto const found = read(store, "t", key(number), "r");
            wrong += found.has_value() == (number >= first && number < last) ? 0U : 1U;
            wrong += found && *found != std::to_string(number) ? 1U : 0U;
        }
    };
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(put(store, "t", key(number), "r", std::to_string(number)) == lookup::found);
        if (number % 250 == 0) { check(0, number + 1); }
    }
    for (std::size_t number = 0; number < count; ++number) {
        REQUIRE(erase(store, "t", key(number), "r") == lookup::found);
        if (number % 250 == 0) { check(number + 1, count); }
    }
    CHECK(wrong == 0);
    CHECK(rows(store, "t").empty());
}

TEST_CASE("memory_store: random updates match std::map") {
    std::size_t const seeds = rounds(2, 2'000);
    for (std::size_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };

        store_with_table store;
        std::map<std::pair<std::string, std::string>, std::string> model;
        std::size_t const partitions = 1 + below(8);
        std::size_t const key_range = std::size_t{10} << below(12);
        std::size_t const style = below(4);
        std::size_t ticket = 0;
        auto const some_row = [&](std::string const& partition) {
            if (below(2) == 0) { // an existing partition, or its neighbour
                auto const at = model.lower_bound({partition, std::to_string(below(key_range))});
                if (at != model.end() && at->first.first == partition) { return at->first.second; }
            }
            std::string const number = std::to_string(style == 1 ? ++ticket : below(key_range));
            return style == 2 ? std::string(8 - number.size(), '0') + number + std::string(below(3), 'x')
                : style == 3  ? std::string(below(20), '\0') + number
                              : number;
        };

        std::size_t const steps = 3'000;
        for (std::size_t step = 0; step < steps; ++step) {
            std::size_t const phase = step * 5 / steps; // grows, mixes, shrinks, grows, shrinks
            std::size_t const erase_of_8 = phase == 0 || phase == 3 ? 1 : phase == 1 ? 4 : 7;
            std::string const partition = "p" + std::to_string(below(partitions));
            std::map<std::string, std::optional<std::string>> changes;
            std::size_t const count = below(20) == 0 ? below(300) : below(6);
            while (changes.size() < count && changes.size() < key_range / 2) {
                std::string const row = some_row(partition);
                bool const erases = below(8) < erase_of_8;
                changes[row] =
                    erases ? std::optional<std::string>{} : std::string(below(40), 'v') + std::to_string(step);
                if (erases && phase > 1 && model.empty()) { break; }
            }
            bool const commit = below(10) != 0;
            std::size_t const way = below(3); // staged, at once, or both
            std::vector<std::pair<std::string, std::optional<std::string>>> ordered{changes.begin(), changes.end()};
            if (below(3) == 0) { std::reverse(ordered.begin(), ordered.end()); }
            auto const outcome = store.update("t", partition, [&](memory_store::transaction& transaction) {
                for (auto const& [row, bytes] : ordered) {
                    auto const known = model.find({partition, row});
                    std::string seen;
                    bool const there = transaction.get(row, [&](std::string_view found) { seen = found; });
                    REQUIRE(there == (known != model.end()));
                    REQUIRE((!there || seen == known->second));
                    if (way == 0 || (way == 1 && below(2) == 0)) {
                        bytes ? transaction.put(row, std::string{*bytes}) : transaction.erase(row);
                        continue;
                    }
                    bool same = false;
                    transaction.update_row(row, [&](std::string_view const* stored) -> row_update {
                        same = (stored != nullptr) == there && (!there || *stored == known->second);
                        if (!bytes) { return {row_update::change::erase}; }
                        bool const has_version = bytes->size() >= row_format::header_size;
                        return {row_update::change::put, *bytes,
                            has_version ? row_format::load<std::int64_t>(bytes->data() + row_format::timestamp_offset)
                                        : 0};
                    });
                    REQUIRE(same);
                }
                return commit;
            });
            REQUIRE(outcome.value() == (commit ? lookup::found : lookup::absent));
            if (commit) {
                for (auto const& [row, bytes] : changes) {
                    if (bytes) {
                        model[{partition, row}] = *bytes;
                    } else {
                        model.erase({partition, row});
                    }
                }
            }
            std::string const row = some_row(partition);
            auto const known = model.find({partition, row});
            REQUIRE(read(store, "t", partition, row) ==
                (known == model.end() ? std::nullopt : std::optional{known->second}));

            std::size_t left = step % 500 == 499 ? model.size() + 1 : 1 + below(20);
            auto at = model.lower_bound({partition, row});
            auto const same_as_model = [&](std::string_view found_partition, std::string_view found_row,
                                           std::string_view bytes) {
                REQUIRE(at != model.end());
                REQUIRE(at->first.first == found_partition);
                REQUIRE(at->first.second == found_row);
                REQUIRE(at->second == bytes);
                ++at;
                return --left > 0;
            };
            (void)store.scan("t", {partition, row, std::nullopt}, same_as_model).value();
            REQUIRE((left == 0 || at == model.end()));
        }
    }
}
