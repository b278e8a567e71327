// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "books.hpp"
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>

using namespace entitable;
using namespace bulk_test;
using entitable_test::ContainsSubstring;
using entitable_test::temporary_folder;

namespace {

/// Stores the latest text in memory, and all earlier ones.
struct kept_texts : counted {
    std::optional<std::string> now;
    std::vector<std::string> all;
};
struct memory_checkpoint {
    shared<kept_texts> kept = shared<kept_texts>::make();
    [[nodiscard]] result<std::optional<std::string>> load() const { return kept->now; }
    [[nodiscard]] result<void> save(std::string_view text) const {
        kept->now.emplace(text);
        kept->all.emplace_back(text);
        return {};
    }
    [[nodiscard]] result<void> clear() const {
        kept->now.reset();
        return {};
    }
};

struct stage {
    stage() { books.create().value(); }

    memory_backend store;
    testing::manual_clock clock;
    testing::spy<memory_backend> spy{store};
    table<book> books{spy, "books"};
    memory_checkpoint checkpoint;

    [[nodiscard]] bulk_options options() {
        bulk_options made;
        made.seed = 1;
        made.time = &clock;
        made.window = 500;
        made.checkpoint = checkpoint;
        return made;
    }
    /// Loads until `row` is read and cancels the load there.
    [[nodiscard]] result<bulk_report> load_until(std::vector<book> const& input, std::size_t row) {
        cancellation_source cancel;
        bulk_options stopping = options();
        stopping.cancellation = cancel.token();
        auto const until = numbered{static_cast<std::int32_t>(input.size()), [&](std::int32_t at) {
                                        if (static_cast<std::size_t>(at) == row) { cancel.cancel(); }
                                        return input[static_cast<std::size_t>(at)];
                                    }};
        return bulk_insert(books, until, stopping);
    }
};

} // namespace

static_assert(checkpoint_place<file_checkpoint> && checkpoint_place<row_checkpoint>);

TEST_CASE("a cancelled load resumes at its checkpoint") {
    stage s;
    auto input = some_books(5'000);
    input[4].title = too_long();
    auto const ended = s.load_until(input, 3'000);
    REQUIRE(ended.error().code == error_code::cancelled);
    REQUIRE(s.checkpoint.kept->now);
    std::uint64_t const before = s.books.scan_table().count().value();
    CHECK(before >= 2'000);

    auto const report = bulk_insert(s.books, input, s.options()).value();
    CHECK(report.read == 5'000);
    CHECK(report.written + report.already_there == 4'999);
    CHECK(report.refused == 1);
    CHECK(report.refusals.empty()); // reported before
    CHECK(report.already_there <= 500);
    CHECK(s.books.scan_table().count().value() == 4'999);
    CHECK_FALSE(s.checkpoint.kept->now); // the end of it
}

TEST_CASE("resuming from any saved checkpoint gives the same table and repeats at most one window") {
    stage s;
    auto const input = some_books(4'000, 40);
    REQUIRE(bulk_insert(s.books, input, s.options()));
    auto const texts = s.checkpoint.kept->all;
    REQUIRE(texts.size() >= 6);
    std::uint64_t before = 0;
    for (std::string const& text : texts) {
        std::uint64_t const written = detail::read_bulk_position(text, {"books", "insert", ""})->counts.written;
        CHECK(written - before <= 500); // the rows that are sent again if it ends just before this one
        before = written;
        s.checkpoint.kept->now = text;
        auto const report = bulk_insert(s.books, input, s.options()).value();
        CHECK(report.read == 4'000);
        CHECK(report.written + report.already_there == 4'000);
    }
    CHECK(4'000 - before <= 500);
    CHECK(s.books.scan_table().count().value() == 4'000);
}

TEST_CASE("no checkpoint counts a row as done before its outcome is known") {
    stage s;
    auto const input = some_books(3'000, 30);
    detail::bulk_identity const identity{"books", "insert", ""};
    struct looking {
        stage* s;
        std::vector<book> const* input;
        detail::bulk_identity identity;
        int* wrong;
        [[nodiscard]] result<std::optional<std::string>> load() const { return std::optional<std::string>{}; }
        [[nodiscard]] result<void> save(std::string_view text) const {
            auto const says = detail::read_bulk_position(text, identity).value();
            for (std::uint64_t index = 0; index < says.read; ++index) {
                book const& each = (*input)[index];
                *wrong += says.is_settled(index) && !table<book>{s->store, "books"}.get(each.year, each.id) ? 1 : 0;
            }
            return {};
        }
        [[nodiscard]] result<void> clear() const { return {}; }
    };
    int wrong = 0;
    bulk_options options = s.options();
    options.checkpoint = looking{&s, &input, identity, &wrong};
    REQUIRE(bulk_insert(s.books, input, options));
    CHECK(wrong == 0);
}

TEST_CASE("a load with a checkpoint completes with any window, even if it is cancelled and resumed") {
    random_source random{7};
    for (std::size_t round = 0; round < entitable_test::rounds(60, 1000); ++round) {
        stage one;
        auto const rows = static_cast<std::int32_t>(random.bits() % 3000);
        auto const input = some_books(rows, round % 2 == 0 ? 1 : 7);
        auto options = one.options();
        options.window =
            static_cast<std::uint32_t>(round < 4 ? 1 + round * 56 : 1 + random.bits() % 200); // 1, 57, 113, 169
        INFO("round " << round << ": " << rows << " rows, window " << options.window);
        if (random.bits() % 2 == 0 && rows > 0) {
            cancellation_source cancel;
            auto stopping = options;
            stopping.cancellation = cancel.token();
            auto const until = static_cast<std::int32_t>(random.bits() % static_cast<std::uint64_t>(rows));
            static_cast<void>(bulk_insert(one.books,
                numbered{rows,
                    [&](std::int32_t at) {
                        if (at == until) { cancel.cancel(); }
                        return input[static_cast<std::size_t>(at)];
                    }},
                stopping));
        }
        auto const done = bulk_insert(one.books, input, options);
        INFO((done ? "" : done.error().to_string()));
        REQUIRE(done);
        CHECK(one.books.scan_table().count().value() == input.size());
        CHECK(!one.checkpoint.kept->now);
    }
}

TEST_CASE("a checkpoint from a different load is refused before anything is sent") {
    stage s;
    auto input = some_books(5'000);
    REQUIRE_FALSE(s.load_until(input, 3'000));
    std::string const text = *s.checkpoint.kept->now;
    s.spy.forget();
    auto const refused = [&](result<bulk_report> const& outcome, std::string_view why) {
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == error_code::checkpoint_invalid);
        CHECK(outcome.error().effect == effect::none);
        CHECK_THAT(outcome.error().message, ContainsSubstring(std::string{why}));
        CHECK(s.spy.seen().empty());
        CHECK(s.checkpoint.kept->now == text);
    };
    SECTION("the checkpoint belongs to a different table") {
        refused(bulk_insert(table<book>{s.spy, "others"}, input, s.options()), "a different table");
    }
    SECTION("the checkpoint belongs to a different kind of load") {
        refused(bulk_upsert(s.books, input, s.options()), "a different kind");
    }
    SECTION("the checkpoint belongs to an input with a different name") {
        bulk_options named = s.options();
        named.input = "others.csv";
        refused(bulk_insert(s.books, input, named), "a different input");
    }
    SECTION("the checkpoint belongs to an input with a different row") {
        input[7].title = "another";
        refused(bulk_insert(s.books, input, s.options()), "a different input");
    }
    SECTION("the checkpoint belongs to an input with a different row near its position") {
        input[2'900].title = "another";
        refused(bulk_insert(s.books, input, s.options()), "a different input");
    }
    SECTION("the checkpoint belongs to a longer input") {
        input.resize(1'000);
        refused(bulk_insert(s.books, input, s.options()), "this input ends earlier");
    }
    SECTION("the checkpoint is damaged") {
        std::string const whole = text;
        for (std::size_t const at : {std::size_t{25}, whole.size() / 2, whole.size() - 3}) {
            std::string other = whole;
            other[at] ^= 1;
            auto const read = detail::read_bulk_position(other, {"books", "insert", ""});
            REQUIRE_FALSE(read);
            CHECK_THAT(read.error().message, ContainsSubstring("damaged"));
            CHECK_FALSE(detail::read_bulk_position(whole.substr(0, at), {"books", "insert", ""}));
        }
    }
    SECTION("the checkpoint has a newer version, or the text is not a checkpoint") {
        CHECK_THAT(
            detail::read_bulk_position("entitable bulk load 2\n", {}).error().message, ContainsSubstring("version"));
        CHECK_THAT(detail::read_bulk_position("a shopping list", {}).error().message,
            ContainsSubstring("does not belong to a bulk load"));
    }
}

TEST_CASE("the text of a checkpoint matches the documented format") {
    detail::bulk_position position;
    detail::row_digest digest;
    for (std::uint64_t index = 0; index < 1'030; ++index) {
        digest.add(row{"p", std::to_string(index), {}}.view());
        static_cast<void>(position.read(digest.value()));
        if (index < 1'024 || index == 1'026) { position.settle(index); }
    }
    std::string const text = position.text({"books", "insert", "50%\n"}, {1'020, 3, 0, 2, 99});
    CHECK(text ==
        "entitable bulk load 1\n"
        "table books\n"
        "mode insert\n"
        "input 50%25%0a\n"
        "position 1024 b0d70976cd77d70f\n"
        "read 1030 7b604a91fb622c57\n"
        "settled 40\n"
        "written 1020\n"
        "already_there 3\n"
        "superseded 0\n"
        "refused 2\n"
        "bytes 99\n"
        "sum 624af6b70848a619\n");
    auto const read = detail::read_bulk_position(text, {"books", "insert", "50%\n"}).value();
    CHECK(read.from == 1'024);
    CHECK(read.read == 1'030);
    CHECK(read.is_settled(1'026));
    CHECK_FALSE(read.is_settled(1'027));
    CHECK(read.counts.refused == 2);
}

TEST_CASE("a checkpoint in a file is optional and is replaced atomically") {
    temporary_folder const folder{temporary_folder::memory()};
    file_checkpoint const place{folder / "load.checkpoint"};
    CHECK_FALSE(place.load().value());
    CHECK(place.clear());
    REQUIRE(place.save("one"));
    REQUIRE(place.save(std::string(100'000, 'x')));
    CHECK(place.load().value() == std::string(100'000, 'x'));
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path()}, {}) == 1);
    REQUIRE(place.clear());
    CHECK_FALSE(place.load().value());
    file_checkpoint const nowhere{folder / "no folder/load.checkpoint"};
    CHECK(nowhere.save("one").error().code == error_code::store_failed);

    stage s;
    bulk_options options = s.options();
    options.checkpoint = nowhere;
    CHECK(bulk_insert(s.books, some_books(2'000), options).error().code == error_code::store_failed);
}

TEST_CASE("a checkpoint can be stored in a table as a system row") {
    stage s;
    row_checkpoint const place{s.store, "books", "imports", "books of 2026"};
    CHECK_FALSE(place.load().value());
    CHECK(place.clear());
    std::string const text(70'000, 'x');
    REQUIRE(place.save(text));
    CHECK(place.load().value() == text);
    REQUIRE(place.save("short"));
    CHECK(place.load().value() == "short");
    CHECK(s.books.scan_table().count().value() == 0);
    bulk_options options = s.options();
    REQUIRE(place.clear());
    options.checkpoint = place;
    CHECK(bulk_insert(s.books, some_books(2'000), options).value().written == 2'000);
    CHECK_FALSE(place.load().value());
}

TEST_CASE("a load that is killed at any point resumes in another process, with the same resulting table") {
    temporary_folder const folder{temporary_folder::memory()};
    std::size_t const kills = entitable_test::rounds(5, 50);
    std::int32_t const rows = 4'000;
    std::string const path = folder / "books.db";
    std::string const kept = folder / "load.checkpoint";
    auto const open = [&] {
        file_options options;
        options.durability = durability::relaxed; // a killed process loses nothing
        return file_backend{path, options};
    };
    auto const load = [&](std::uint64_t& repeated) {
        table<book> const books{open(), "books"};
        bulk_options options;
        options.window = 500;
        options.checkpoint = file_checkpoint{kept};
        auto const report = bulk_insert(books, some_books(rows, 50), options).value();
        repeated = report.already_there;
        return report.written + report.already_there == static_cast<std::uint64_t>(rows);
    };
    random_source random{7};
    std::uint64_t unused = 0;
    for (std::size_t kill = 0; kill < kills; ++kill) {
        std::filesystem::remove(path);
        std::filesystem::remove(kept);
        { REQUIRE(table<book>{open(), "books"}.create()); }
        std::size_t deaths = 0;
        bool whole = false;                      // all rows existed before: a completed load starts over
        for (; deaths < 2 && !whole; ++deaths) { // killed again while it continues
            entitable_test::child_process child{[&] { return load(unused); }};
            std::this_thread::sleep_for(std::chrono::milliseconds{5 + random.bits() % 60});
            child.kill();
            whole = table<book>{open(), "books"}.scan_table().count().value() == static_cast<std::uint64_t>(rows);
        }
        entitable_test::child_process last{[&] {
            std::uint64_t repeated = 0;
            return load(repeated) && (whole || repeated <= (deaths + 1) * 500);
        }};
        REQUIRE(last.succeeds(std::chrono::seconds{60}));
        table<book> const books{open(), "books"};
        auto const input = some_books(rows, 50);
        std::uint64_t found = 0;
        for (book const& each : books.scan_table()) {
            found += each.title == input[static_cast<std::size_t>(each.id)].title ? 1 : 0;
        }
        REQUIRE(found == static_cast<std::uint64_t>(rows));
        REQUIRE_FALSE(std::filesystem::exists(kept));
    }
}
