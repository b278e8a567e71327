// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Values for tests/tools/gdb_printers, each with the text that gdb has to show.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

using namespace entitable;

struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    std::optional<double> hours;
};
ENTITABLE(runner, partition_key(race), row_key(literal("BIB:"), bib), properties(name, age, hours))

struct by_age : runner {};
ENTITABLE(by_age, partition_key(race), row_key(literal("AGE:"), width(age, 3), literal(":"), bib), properties(name))

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
    memory_backend store;
    // gdb: runners -> table<runner> "runners"
    table<runner> runners{store, "runners"};
    // gdb: pair -> table<runner, by_age> "races"
    table<runner, by_age> pair{store, "races"};
    // gdb: read_only -> reader<runner> "runners"
    reader<runner> read_only{store, "runners"};
    using r = fields<runner>;
    // gdb: condition -> race == "Boston" && (age < 20 || !(name == "Ann \"A\""))
    auto condition = r::race == "Boston" && (r::age < 20 || !(r::name == "Ann \"A\""));
    // gdb: young -> query of "runners", 1 key range: PartitionKey == "Boston" && RowKey >= "BIB:" && RowKey < "BIB;"; server filter: age < 20 || !(name == "Ann \"A\""); take 5
    auto young = runners.where(condition).take(5);
    // gdb: first_bibs -> 1 key range: PartitionKey == "Boston"
    auto first_bibs = runners.where(r::race == "Boston" && r::bib < 7);
    // gdb: either_race -> 2 key ranges: PartitionKey == "Berlin"
    auto either_race =
        runners.scan_table((r::race == "Boston" && r::hours >= 2.5) || (r::race == "Berlin" && r::name == "Ben"));
    // gdb: whole_table -> query of "runners", 1 key range: RowKey
    auto whole_table = runners.scan_table();
    // gdb: of_nothing -> empty query
    query<runner, access_path::table> of_nothing;
    // gdb: too_complex -> query of "runners", error: query_too_complex: the predicate needs more than 1000 key ranges
    std::vector<std::string> const races = [] {
        std::vector<std::string> all;
        for (int number = 0; number <= 1000; ++number) { all.push_back(std::to_string(number)); }
        return all;
    }();
    auto too_complex = runners.where(in(r::race, races));
    // gdb: text_value -> "it's"
    value const text_value{value_view{"it's"}};
    // gdb: float_value -> -0.25
    value const float_value{value_view{-0.25}};
    // gdb: bool_value -> true
    value const bool_value{value_view{true}};
    // gdb: time_value -> 2026-11-25T01:02:03.5Z
    value const time_value{value_view{day}};
    // gdb: bytes_value -> X'00ff'
    value const bytes_value{value_view{edm_type::binary, std::string_view{"\0\xff", 2}}};
    stop_here();
    return day == last || invalid == day || id == guid{} || version == none || unusual == none ||
            !bad.has_value() == good.has_value() || done.has_value() == taken.has_value() ||
            borrowed.row_key == named.row_key
        ? 0
        : 1;
}
