// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// Attacks on the change log: empty batches, positions at the end of the numbers, and writes that outlive their lease while the log is
// built.

#include "support/catch.hpp"
#include <entitable/bulk.hpp>
#include <entitable/changes.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/unit_of_work.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace entitable;

namespace {

struct order {
    std::string city;
    std::int32_t number{};
    std::string customer;
};
ENTITABLE(order, partition_key(city), row_key(literal("ORDER:"), number), properties(customer))

struct by_customer : order {};
ENTITABLE(by_customer, partition_key(city), row_key(literal("CUSTOMER:"), escaped(customer), number), properties())

struct note {
    std::string group;
    std::string name;
    std::string text;
};
ENTITABLE(note, partition_key(group), row_key(name), properties(text))

order make(std::int32_t number) { return {"Kiel", number, "ann"}; }

/// Calls a function before the next transaction.
struct delaying {
    using is_transport = void;
    any_store below;
    std::function<void()>* before;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            if (*before) { std::exchange(*before, nullptr)(); }
        }
        return below.execute(request, context);
    }
};

std::size_t rows_in(logged_changes const& page) {
    std::size_t rows = 0;
    for (logged_change const& each : page.changes) { rows += each.rows.size(); }
    return rows;
}

} // namespace

TEST_CASE("logged: an empty batch is refused as by other tables") {
    memory_backend const store;
    table<order, logged> const orders{store, "orders"};
    orders.create().value();
    auto const refused = orders.batch().submit();
    CHECK(refused.error().code == error_code::invalid_input);
    CHECK(refused.error().message == "the batch is empty");
}

TEST_CASE("changes_of: a position at the end of the numbers asks for a full read") {
    memory_backend const store;
    table<order, logged> const orders{store, "orders"};
    orders.create().value();
    orders.insert(make(1)).value();
    auto const begun = changes_of(orders, "Kiel").value().position;
    for (std::int64_t const number : {(std::numeric_limits<std::int64_t>::max)(), std::int64_t{2}}) {
        log_position made = begun;
        made.numbers.front() = number;
        log_position const at = log_position::parse(made.to_string()).value();
        auto const page = changes_of(orders, "Kiel", at).value();
        CHECK(page.needs_full_read);
        CHECK(page.position == begun);
    }
}

namespace {

/// Writes rows while the table has no log. In the middle of the transaction, which takes longer than the lease, another program builds the
/// log, and a reader takes its first position.
template <class Log, class... Indexes>
void write_late(std::int32_t rows) {
    using orders_table = table<order, Indexes..., Log>;
    CAPTURE(rows);
    testing::manual_clock time;
    memory_backend const store{{.time = &time}};
    std::function<void()> before;
    table_options how;
    how.time = &time;
    orders_table const builder{store, "orders", how};
    orders_table const writer{delaying{store, &before}, "orders", how};
    builder.create().value();
    builder.template retire<Log>().value();
    writer.insert(make(1000)).value();
    log_position begun;
    before = [&] {
        CHECK(builder.template build<Log>().has_value());
        begun = changes_of(builder, "Kiel").value().position;
    };
    auto batch = writer.batch();
    for (std::int32_t number = 0; number < rows; ++number) { batch.insert(make(number)); }
    CHECK(batch.submit().has_value());
    auto const page = changes_of(builder, "Kiel", begun).value();
    CHECK(!page.needs_full_read);
    CHECK(rows_in(page) == static_cast<std::size_t>(rows));
}

} // namespace

TEST_CASE("logged: a write without the log that outlives its lease is logged late") {
    for (std::int32_t const rows : {1, 98, 99, 100}) {
        write_late<logged>(rows);
        write_late<logged_with<log_options{.lanes = 64}>>(rows);
    }
    for (std::int32_t const rows : {1, 2, 50}) {
        write_late<logged, by_customer>(rows);
        write_late<logged_with<log_options{.lanes = 64}>, by_customer>(rows);
    }
}

namespace {

/// Loads rows with the longest keys, whose transactions are as large as possible.
template <class Log>
void load_long_keys(std::size_t size_of_text) {
    CAPTURE(size_of_text);
    memory_backend const store;
    table<note, Log> const notes{store, "notes"};
    notes.create().value();
    std::string key;
    for (int unit = 0; unit < 508; ++unit) { key += "\xe4\xb8\xad"; }
    std::vector<note> rows;
    for (std::size_t number = 0; number < 200; ++number) {
        rows.push_back({key, key + std::to_string(1000 + number), std::string(size_of_text + number, 'x')});
    }
    auto const report = bulk_insert(notes, rows).value();
    CHECK(report.written == rows.size());
    for (refused_row const& each : report.refusals) { UNSCOPED_INFO(each.error.message); }
    CHECK(report.refused == 0);
    unit_of_work work{notes};
    for (note& each : rows) {
        each.name.front() = '\xe5';
        work.add(each);
    }
    CHECK(work.save({.mode = save_mode::batch, .split = true})->good());
}

} // namespace

TEST_CASE("logged: bulk loads and units of work leave room for long keys in the entries") {
    for (std::size_t const size : {18'000U, 19'500U, 20'500U}) { load_long_keys<logged>(size); }
    for (std::size_t const size : {30'000U, 32'000U}) {
        load_long_keys<logged_with<log_options{.lanes = 16}>>(size);
        load_long_keys<logged_with<log_options{.lanes = 64}>>(size);
    }
}

namespace {

/// Another program drops the table and makes it again, while this program has a lease of its declaration, and writes until the new log has
/// as many changes.
template <class... Indexes>
void write_into_another_log() {
    testing::manual_clock time;
    memory_backend const store{{.time = &time}};
    table_options how;
    how.time = &time;
    table<order, Indexes..., logged> const orders{store, "orders", how};
    table<order, Indexes..., logged> const other{store, "orders", how};
    orders.create().value();
    auto at = changes_of(orders, "Kiel").value().position;
    for (std::int32_t number = 0; number < 5; ++number) { orders.insert(make(number)).value(); }
    at = changes_of(orders, "Kiel", at).value().position;
    other.drop().value();
    time.advance(std::chrono::seconds{40});
    other.create().value();
    for (std::int32_t number = 10; number < 15; ++number) { other.insert(make(number)).value(); }
    orders.insert(make(20)).value();
    CHECK(changes_of(orders, "Kiel", at)->needs_full_read);
    CHECK(changes_of(other, "Kiel", at)->needs_full_read);
    orders.insert(make(21)).value();
    CHECK(orders.where(fields<order>::city == "Kiel").count().value() == 7);
}

} // namespace

TEST_CASE("logged: a write into a table that was made again is no change of the earlier log") {
    write_into_another_log<>();
    write_into_another_log<by_customer>();
}
