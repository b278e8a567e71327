// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tests a small application with the library's testing tools.

#include "library.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <cstdio>

using namespace entitable;
using testing::require;

namespace {

/// The condition is true, or the program ends and prints the line.
void holds(bool so, std::string why, int line = __builtin_LINE()) {
    require(so ? testing::verdict::yes() : testing::verdict::no(std::move(why)), __FILE__, line);
}

/// The whole application in memory, and its stored rows as text.
void books_are_lent() {
    testing::manual_clock time;
    local_options options;
    options.time = &time;
    memory_backend const store{options};
    lending library{store};
    require(testing::succeeds(library.open()));
    require(testing::succeeds(library.add("poetry", 7)));
    require(testing::succeeds(library.add("poetry", 8)));
    require(testing::fails_with(library.add("poetry", 7), error_code::entity_already_exists));

    auto const before = testing::read_contents(store).value();
    holds(library.lend("poetry", 7, "Ada").value(), "the first reader gets the book");
    holds(!library.lend("poetry", 7, "Bob").value(), "the second does not");
    require(testing::fails_with(library.lend("poetry", 9, "Ada"), error_code::resource_not_found));
    holds(library.at_home("poetry").value() == 1, "one book is left");

    auto const changed = testing::difference(before, testing::read_contents(store).value());
    holds(changed == "~ Loans \"poetry\" / \"0000000007\" reader: absent -> \"Ada\"\n", changed);
    auto const text = testing::dump(store);
    holds(text ==
            "table Loans\n"
            "  \"poetry\" / \"0000000007\"\n"
            "    reader = \"Ada\"\n"
            "  \"poetry\" / \"0000000008\"\n",
        text);
    require(testing::has_entity(store, "Loans", "poetry", "0000000008"));
}

/// Pages of any size, including empty ones: the application must not depend on them.
void pages_do_not_matter() {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        local_options options;
        options.nasty.emplace().seed = seed;
        lending library{memory_backend{options}};
        require(testing::succeeds(library.open()));
        for (std::int32_t book = 0; book < 20; ++book) { require(testing::succeeds(library.add("poetry", book))); }
        holds(library.at_home("poetry").value() == 20, "all books are counted, seed " + std::to_string(seed));
    }
}

/// The exact requests.
void nothing_is_read_twice() {
    testing::spy<memory_backend> const watched{memory_backend{}};
    lending library{watched};
    require(testing::succeeds(library.open()));
    require(testing::succeeds(library.add("poetry", 7)));
    watched.forget();
    require(testing::succeeds(library.lend("poetry", 7, "Ada")));
    holds(watched.count<get_entity>() == 1 && watched.count<write_entity>() == 1, "one read, one write");
    auto const sent = watched.all<write_entity>();
    holds(!sent.front().change.condition.any(), "the write is conditional");
}

/// Answers that no store would give.
void a_busy_service_is_asked_again() {
    testing::scripted service;
    get_entity::response book;
    book.entity = testing::make_row("poetry", "0000000007");
    book.etag = book.entity.view().etag();
    service.expect<get_entity>().answers(book);
    service.expect<write_entity>().fails(error_code::server_busy);
    service.expect<get_entity>([](get_entity const& asked) { return asked.row_key == "0000000007"; }).answers(book);
    service.expect<write_entity>().answers(written{});
    lending library{service};
    holds(library.lend("poetry", 7, "Ada").value(), "lent at the second attempt");
    require(service.finished());

    testing::scripted broken;
    broken.expect<get_entity>().fails(error_code::operation_timed_out);
    broken.expect<get_entity>();
    lending other{broken};
    require(testing::fails_with(other.lend("poetry", 7, "Ada"), error_code::operation_timed_out));
    holds(!broken.finished(), "an expectation is left");
}

} // namespace

int main() {
    books_are_lent();
    pages_do_not_matter();
    nothing_is_read_twice();
    a_busy_service_is_asked_again();
    std::puts("the library lends");
}
