// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Values for tests/tools/gdb_printers, each with the text that gdb has to show.

#include <entitable/client/mapping/reference.hpp>
#include <entitable/core/row/row.hpp>

using namespace entitable;

struct book {
    int pages{};
};

__attribute__((noinline)) void stop_here() { asm volatile(""); }

int main() {
    // gdb: day -> 2026-11-25T01:02:03.5Z
    date_time const day{date_time::from_date(2026, 11, 25).ticks + 3723 * date_time::ticks_per_second + 5'000'000};
    // gdb: last -> 9999-12-31T23:59:59.9999999Z
    date_time const last{date_time::max_ticks};
    // gdb: invalid -> date_time out of range (-1 ticks)
    date_time const invalid{-1};
    // gdb: id -> c9da6455-213d-42c9-9a79-3e9149a57833
    guid const id = guid::parse("c9da6455-213d-42c9-9a79-3e9149a57833").value_or(guid{});
    // gdb: version -> etag of 2026-11-25T01:02:03.5Z
    etag const version = etag::of(day);
    // gdb: unusual -> "v\1"
    etag const unusual{"\"v\\1\""};
    // gdb: none -> no etag
    etag const none;
    // gdb: bad -> error: resource_not_found: the table lacks it
    // gdb: bad -> detail = "Ann"
    error missing{error_code::resource_not_found, "the table lacks it"};
    missing.detail = "Ann";
    result<book> const bad{failure{missing}};
    // gdb: good -> pages = 7
    result<book> const good{book{7}};
    // gdb: done -> OK
    result<void> const done;
    // gdb: taken -> error that was moved out
    result<book> taken{failure{missing}};
    (void)std::move(taken).as_failure();
    // gdb: missing -> resource_not_found: the table lacks it
    // gdb: whole -> "p" / "r\n" and
    row_builder builder{"p", "r\n"};
    builder.add("n", value_view{std::int32_t{5}});
    row const whole = builder.build();
    // gdb: borrowed -> "p" / "r\n"
    row_view const borrowed = whole.view();
    // gdb: named -> "sf" / "a\"b"
    reference<book> const named{"sf", "a\"b"};
    stop_here();
    return day == last || invalid == day || id == guid{} || version == none || unusual == none ||
            !bad.has_value() == good.has_value() || done.has_value() == taken.has_value() ||
            borrowed.row_key == named.row_key
        ? 0
        : 1;
}
